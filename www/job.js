// #/jobs/ID: one job live, with its phases, what came of it, or its problem and what would help; and what lists of jobs say of one.

import { actionBar, mapCopies } from './actions.js';
import { cancelJob, getJob, getJson, getMapOptions, getSchemas, isOver, networkName, pathOf, query, startJob, watchJob } from './api.js';
import { deploySections, runSections } from './deploy.js';
import { announce, element, every, facts, fill, link, linkTo, pageHead, pageOf, progressBar, section, setText, stamp } from './dom.js';
import { fitsBox, HELPED } from './fits.js';
import { bytes, capital, count, duration, moment, shortId, words } from './format.js';
import { progressPlot } from './plots.js';
import { actButton, problemNode } from './problem.js';
import { reportPanels } from './report.js';
import { simulationSections } from './simulation.js';
import { figures, share, tableSection } from './table.js';
import { attemptsTable, keyFigures, metricsOf, optionsTable, stepLine } from './tables.js';

/** Places of nodes on tiles, or why there are none. */
const solveSections = ({ report: { answer, hops, optimal, reason, places } }) => [
  section(
    'Answer',
    facts([['Answer', answer], hops !== undefined && ['Hops', `${count(hops)}${optimal ? ', and no places have fewer' : ''}`]]),
    reason && element('p', `${capital(reason.words)}.`),
  ),
  places &&
    tableSection('Places', Object.entries(places), [
      ['Node', ([name]) => name],
      ['Tile', ([, at]) => at.join(', ')],
    ]),
];

/* What the page of each kind of job has: of its report, whether its options stand in the schema of maps, whether it can be edited in the form,
 * and whether network and chip are those of another result. */
const KINDS = {
  simulate: { sections: simulationSections, borrowed: true },
  compile: { sections: ({ report }) => reportPanels(report), edited: true },
  quantize: { sections: ({ report }) => reportPanels(report) },
  solve: { sections: solveSections },
  map: {
    sections: ({ report }, metricList) => [
      report.metrics && keyFigures(metricList, report.metrics),
      stepLine({ metrics: report.metrics, report: report.mapper }),
      attemptsTable(report.attempts),
    ],
    edited: true,
    mapped: true,
  },
  profile: { sections: runSections },
  deploy: { sections: deploySections },
  sweep: { once: true },
};

function phasesTable(phases) {
  if (!phases?.length) return null;
  const longest = Math.max(...phases.map((phase) => phase.seconds || 0), 1e-9);
  return tableSection({ label: 'Phases', kind: 'phases' }, phases, [
    ['Phase', ({ name }) => element('span', { title: phaseText(name) }, words(name))],
    ...figures(duration, { Time: 'seconds' }),
    ['Share', ({ seconds }) => share((seconds || 0) / longest), 'phase-bar'],
    ...figures(bytes, { 'Peak memory': 'peak_bytes' }),
  ]);
}

export async function showJob(main, { id }, signal) {
  let job = await getJob(id, signal);
  const network = (await networkName(job.network, signal)) || shortId(job.network);
  const metricList = metricsOf((await getSchemas(signal)).Metrics),
    kind = KINDS[job.kind] ?? {},
    described = kind.mapped ? await getMapOptions(signal) : null;
  let foreseen = []; // seconds that remained, by the seconds that it ran
  const mark = badge();
  const bar = progressBar('Progress');
  const line = element('p.job-line');
  const time = element('span');
  const outcome = element('div.stack');
  const cancel = actButton('Cancel', async () => update(await cancelJob(id).then(() => getJob(id, signal))));
  const again = actButton('Run again', () => {
    const { options, name } = job,
      of = kind.borrowed ? {} : { network: job.network, chip: job.chip || undefined };
    return startJob({ kind: job.kind, ...of, options, name: name || undefined });
  });
  const asText = (value) => (typeof value === 'object' ? JSON.stringify(value) : value),
    wanted = Object.fromEntries(Object.entries(job.options ?? {}).map(([name, value]) => [name, asText(value)])),
    edit = element('a.button', { href: `#/new${query({ network: job.network, chip: job.chip, ...wanted })}` }, 'Edit and run');
  const open = element('a.button.primary', { hidden: true }, 'Open the mapping');
  const rest = element('div.stack');
  const progress = element('div'),
    doing = element('p.quiet');
  const dates = element('div');
  const title = job.name || `Job ${shortId(id)}`;

  function update(next, started = false) {
    const changed = started || next.state !== job.state;
    job = next;
    mark.set(job.state);
    bar.set(job.state === 'done' ? 1 : (job.progress?.fraction ?? 0));
    bar.node.classList.toggle('bar-over', job.state === 'failed' || job.state === 'cancelled');
    const elapsed = (Date.now() - moment(job.started)) / 1000;
    if (job.state === 'running') foreseen.push({ seconds: elapsed, remaining_seconds: job.progress?.remaining_seconds });
    setText(line, stateLine(job, remainingRange(foreseen, elapsed)) || (isOver(job) ? `after ${runText(job)}` : ''));
    setText(doing, job.state === 'running' ? `${phaseText(job.progress?.phase)}.` : '');
    cancel.hidden = isOver(job);
    again.hidden = !isOver(job) || Boolean(kind.once);
    edit.hidden = !isOver(job) || !kind.edited;
    const result = resultOf(job);
    open.hidden = !result;
    if (result) {
      open.href = result.href;
      setText(open, `${result.verb} ${result.what}`);
    }
    setText(time, runText(job));
    if (!changed) return;
    if (!started) announce(`${title}: ${job.state}`);
    const helped = job.state === 'failed' && kind.mapped && HELPED.has(job.problem?.code);
    fill(outcome, job.state === 'failed' && problemNode(job.problem), helped && section('What would help', fitsBox(job)));
    fill(
      dates,
      facts(
        [
          job.network && ['Network', linkTo('networks', job.network, network)],
          job.chip && ['Chip', linkTo('chips', job.chip, job.chip)],
          ['Created', stamp(job.created)],
          ['Started', stamp(job.started)],
          ['Time', time],
        ],
        'facts facts-5',
      ),
    );
    drawRest();
  }
  function drawRest(phases = job.phases) {
    fill(
      rest,
      job.report && kind.sections?.(job, metricList, signal),
      element('div.columns', phasesTable(phases), job.options && optionsTable(job.options, described)),
      isOver(job) &&
        section('Keep, share, copy', actionBar('jobs', id, signal), kind.mapped && mapCopies({ network: job.network, chip: job.chip, options: job.options })),
    );
    if (job.started) drawProgress();
  }
  async function drawProgress() {
    // A picture of the way, not of the result: the page does without.
    const history = await getJson(pathOf('jobs', id, 'history'), signal).catch(() => null);
    if (!history || signal.aborted) return;
    fill(progress, progressPlot(history.points));
    foreseen = [...history.points];
  }
  update(job, true);
  fill(
    main,
    pageHead(
      title,
      [
        'job ',
        element('code', id),
        job.sweep && [', of ', linkTo('sweeps', job.sweep, 'a sweep')],
        job.reused && [', made by ', link(`#/jobs${query({ network: job.network, chip: job.chip, kind: job.kind })}`, 'an equal job'), ' before'],
        ' · ',
        link(pathOf('jobs', id, 'log'), 'log'),
        job.network && [' · ', link(`#/jobs${query({ network: job.network })}`, 'jobs of this network')],
      ],
      open,
      edit,
      again,
      cancel,
    ),
    element('section.panel', { 'aria-label': 'State' }, element('div.job-now', mark.node, line), bar.node, doing, dates, progress),
    outcome,
    rest,
  );
  if (!isOver(job)) {
    followJob(
      job,
      async (next) => {
        const phase = job.progress?.phase;
        // The event of the end does not carry the report.
        update(isOver(next) ? await getJob(id, signal).catch(() => next) : next);
        if (isOver(next) || next.progress?.phase === phase) return;
        // Events of progress do not carry the phases that are over.
        const { phases } = await getJob(id, signal).catch(() => job);
        if (!signal.aborted && !isOver(job)) drawRest(phases);
      },
      signal,
    );
    every(500, () => setText(time, runText(job)), signal);
  }
  return title;
}

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

const SENTENCES = {
  load: 'The network is read from the server’s files',
  read: 'The model is read',
  check: 'Whether it can fit at all is counted before anything is searched',
  bound: 'How good any result could be is proved, to tell how far this one is',
  look: 'Steps on more and fewer cores are foreseen',
  coarsen: 'Neurons that belong together are merged, level by level',
  starts: 'The network is partitioned many times; the best starts stay',
  initial: 'The smallest level is partitioned many times; the best start stays',
  refine: 'On the way back to all neurons each level is improved by moves',
  grow: 'Parts are grown one after the other',
  anneal: 'Changes are tried at falling temperature, worse ones at first too',
  legalise: 'What is over a limit is moved until every limit holds',
  limits: 'Every limit of every core is counted',
  region: 'Free cores are chosen for the parts',
  order: 'What belongs together is put side by side',
  bisect: 'Parts and cores are halved together, over and over',
  place: 'Parts are put on cores',
  force: 'Parts are pulled towards those with whom they talk',
  reassign: 'Parts change places where that is shorter',
  links: 'The fullest links and ports are relieved',
  trees: 'Multicast trees are shortened',
  start: 'The first of several ways is made',
  metrics: 'Energy, latency, loads and the step are measured',
  write: 'The result is written',
  verify: 'A separate check goes over the result',
  routes: 'Routes without deadlock are made',
  shapes: 'Shapes of all tensors are found',
  permutations: 'Permutations are moved to where they cost least',
  search: 'Ways to cut the operators are tried, each as a whole program',
  memory: 'The least memory that does is looked for',
  split: 'Operators are cut into pieces that fit in memory',
  emit: 'Instructions and addresses are made',
  schedule: 'Each unit is told what to do when',
  link: 'The parts of the program are joined',
  tile: 'The pieces are laid on cores',
  quantise: 'Integers are found by running them',
  images: 'Cores are filled, and run with the chip’s queues',
  explain: 'The fewest constraints that leave no places are looked for',
  calibrate: 'Samples are run to learn the ranges of all values',
  judge: 'The integers’ outputs are held against those of floating point',
  traffic: 'The packets of a step are made',
  steps: 'Time steps are simulated',
  saturation: 'The load is raised until the chip no longer keeps up',
  stream: 'A steady stream of packets is simulated',
};

/** A sentence, or the phase's name where there is none. */
export const phaseText = (name) => SENTENCES[name] ?? words(name ?? '');
