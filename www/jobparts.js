// What the list of jobs and the page of one job share: the state's badge, the state in words, times,
// following a job.

import { getJob, isOver, watchJob } from './api.js';
import { element, pageOf, setText } from './dom.js';
import { count, duration, moment, words } from './format.js';

const POLL_MS = 2000;

export function badge(state = '') {
  const node = element('span'),
    set = (next) => {
      setText(node, next);
      node.className = `badge badge-${next}`;
    };
  set(state);
  return { node, set };
}

/** Which attempt this is after passing faults, when the next one comes, and why. */
export function retryText(job, now = Date.now()) {
  if (!job.retry?.count || isOver(job)) return '';
  const wait = job.state === 'queued' ? (moment(job.retry.not_before) - now) / 1000 : 0;
  return [`attempt ${count(job.retry.count + 1)} of ${count(job.retry.max + 1)}`, wait > 0 && `in ${duration(wait)}`, job.retry.problem?.detail]
    .filter(Boolean)
    .join(', ');
}

/** Between what and what the seconds that remain of a job lie, by all that was foreseen in the latter half of its time so far, points
 * {seconds, remaining_seconds}; null: nothing was. */
export function remainingRange(points, elapsed) {
  const wholes = points.filter(({ seconds, remaining_seconds: left }) => left >= 0 && seconds >= elapsed / 2).map((one) => one.seconds + one.remaining_seconds);
  return wholes.length > 0 ? [Math.min, Math.max].map((of) => Math.max(0, of(...wholes) - elapsed)) : null;
}

/** "3 min 05 s", or "3 to 5 min" where that is not sure. */
function leftText(seconds, range) {
  const [least, most] = range ?? [seconds, seconds];
  const unit = most >= 120 ? [60, 'min'] : [1, 's'],
    [low, high] = [Math.floor(least / unit[0]), Math.ceil(most / unit[0])];
  return most - least > 0.1 * most && most >= 2 ? `${count(low)} to ${count(high)} ${unit[1]} left` : `about ${duration(seconds)} left`;
}

/** A job's state in words; `range` of the seconds that remain, where it is known. */
export function stateLine(job, range = null) {
  const { phase, fraction, remaining_seconds: remaining, reason } = job.progress ?? {};
  let line = '';
  if (job.state === 'queued') line = job.reason || 'waiting';
  else if (reason) line = reason;
  else if (job.state === 'running')
    line = `${words(phase || 'starting')}${Number.isFinite(fraction) ? ` ${Math.round(fraction * 100)} %` : ''}${
      Number.isFinite(remaining) ? `, ${leftText(remaining, range)}` : ''
    }`;
  return [line, retryText(job)].filter(Boolean).join(' · ');
}

/** What the job has made: where it is, and what to call it; null while there is nothing. */
export function resultOf(job) {
  if (job.kind === 'sweep') return { href: pageOf('sweeps', job.id), verb: 'Open', what: 'the sweep' };
  if (job.mapping) return { href: pageOf('mappings', job.mapping), verb: 'Open', what: 'the mapping' };
  if (job.program) return { href: pageOf('programs', job.program), verb: 'Open', what: 'the program' };
  return null;
}

/** How long the job has run so far or took. */
export function runText(job, now = Date.now()) {
  const ended = moment(job.finished);
  return duration(((isOver(job) && !Number.isNaN(ended) ? ended : now) - moment(job.started)) / 1000);
}

/** Keeps a job current by events, and by asking where events do not come through. */
export function followJob(job, onChange, signal) {
  let known = job,
    silent = true;
  const take = (next) => {
    if (isOver(known)) return; // an answer that was under way when the job ended
    known = next;
    onChange(known);
    if (isOver(known)) stop();
  };
  const closeEvents = watchJob(
    job.id,
    {
      onProgress: (progress) => {
        silent = false;
        take({ ...known, progress: { ...known.progress, ...progress } });
      },
      onState: (next) => {
        silent = false;
        take({ ...known, ...next }); // after the first one they tell what has changed, and not of which job
      },
    },
    signal,
  );
  const timer = setInterval(() => {
    const heard = !silent;
    silent = true;
    // Events tell of a running job; a queue position has none and is asked for.
    if (document.hidden || (heard && known.state === 'running')) return;
    getJob(known.id, signal).then(take, () => {}); // asked again next time; the list's own poll reports a server that is gone
  }, POLL_MS);
  const stop = () => {
    clearInterval(timer);
    closeEvents();
  };
  signal.addEventListener('abort', stop, { once: true });
  return stop;
}
