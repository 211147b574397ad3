// #/jobs/ID: one job live, with its phases, its problem or its mapping.

import { cancelJob, getJob, isOver, networkName, programUrl } from './api.js';
import { announce, element, fill, progressBar, section, setText } from './dom.js';
import { bytes, duration, moment, NONE, shortId, words } from './format.js';
import { badge, followJob, resultOf, runText, stateLine } from './jobparts.js';
import { problemNode } from './problemnode.js';
import { simulationSections } from './simulation.js';
import { detailsTable } from './tables.js';

/* Kinds of jobs whose report shows more than a table does. */
const reportSections = { simulate: simulationSections };

function stamp(value) {
  const at = moment(value);
  return Number.isNaN(at) ? NONE : new Date(at).toLocaleString();
}

function phasesTable(phases) {
  if (!phases?.length) return null;
  const longest = Math.max(...phases.map((phase) => phase.seconds || 0), 1e-9);
  return section(
    'Phases',
    element(
      'table',
      { class: 'phases' },
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          element('th', { scope: 'col' }, 'Phase'),
          element('th', { scope: 'col', class: 'number' }, 'Time'),
          element('th', { scope: 'col', class: 'phase-bar' }, element('span', { class: 'hidden' }, 'Share')),
          element('th', { scope: 'col', class: 'number' }, 'Peak memory'),
        ),
      ),
      element(
        'tbody',
        {},
        phases.map((phase) => {
          const bar = element('div', { class: 'bar-fill' });
          bar.style.transform = `scaleX(${(phase.seconds || 0) / longest})`;
          return element(
            'tr',
            {},
            element('th', { scope: 'row' }, words(phase.name)),
            element('td', { class: 'number' }, duration(phase.seconds)),
            element(
              'td',
              { class: 'phase-bar', 'aria-hidden': 'true' },
              element('div', { class: 'bar' }, bar),
            ),
            element('td', { class: 'number' }, bytes(phase.peak_bytes)),
          );
        }),
      ),
    ),
  );
}

export async function showJob(main, { id }, signal) {
  let job = await getJob(id, signal);
  const network = (await networkName(job.network, signal)) || shortId(job.network);
  const mark = badge();
  const bar = progressBar('Progress');
  const line = element('p', { class: 'job-line' });
  const time = element('dd', { class: 'number' });
  const cancel = element(
    'button',
    {
      type: 'button',
      class: 'button',
      onclick: async () => {
        cancel.disabled = true;
        try {
          await cancelJob(id);
          update(await getJob(id, signal));
        } catch (error) {
          if (error.name !== 'AbortError') fill(outcome, problemNode(error));
        }
        cancel.disabled = false;
      },
    },
    'Cancel',
  );
  const open = element('a', { class: 'button primary', hidden: true }, 'Open the mapping');
  const moves = element('a', { class: 'button', hidden: true }, 'Report of all moves');
  const outcome = element('div', {});
  const rest = element('div', { class: 'stack' });
  const dates = element('dl', { class: 'facts facts-5' });
  const title = job.name || `Job ${shortId(id)}`;

  function update(next, started = false) {
    const changed = started || next.state !== job.state;
    job = next;
    mark.set(job.state);
    bar.set(job.state === 'done' ? 1 : (job.progress?.fraction ?? 0));
    bar.node.classList.toggle('bar-over', job.state === 'failed' || job.state === 'cancelled');
    setText(line, stateLine(job) || (isOver(job) ? `after ${runText(job)}` : ''));
    cancel.hidden = isOver(job);
    const result = resultOf(job);
    open.hidden = !result;
    moves.hidden = !job.program;
    if (result) {
      open.href = result.href;
      setText(open, `${result.verb} ${result.what}`);
    }
    if (job.program) moves.href = programUrl(job.program, '/report');
    setText(time, runText(job));
    if (!changed) return;
    if (!started) announce(`${title}: ${job.state}`);
    fill(outcome, job.state === 'failed' && problemNode(job.problem));
    fill(
      dates,
      [
        ['Network', network],
        ['Chip', job.chip || NONE],
        ['Created', stamp(job.created)],
        ['Started', stamp(job.started)],
      ].map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
      element('div', {}, element('dt', {}, 'Time'), time),
    );
    drawRest();
  }
  function drawRest(phases = job.phases) {
    const sections = job.report && reportSections[job.kind];
    const { frames, saturation, ...report } = job.report ?? {};
    fill(
      rest,
      sections && sections(job.report),
      phasesTable(phases),
      element(
        'div',
        { class: 'columns' },
        detailsTable('Report', sections ? report : job.report),
        detailsTable('Options', job.options),
      ),
    );
  }
  update(job, true);
  fill(
    main,
    element(
      'header',
      { class: 'page-head' },
      element(
        'div',
        {},
        element('h1', { tabindex: '-1' }, title),
        element('p', { class: 'quiet' }, 'job ', element('code', {}, id)),
      ),
      element('div', { class: 'buttons' }, open, moves, cancel),
    ),
    element(
      'section',
      { class: 'panel', 'aria-label': 'State' },
      element('div', { class: 'job-now' }, mark.node, line),
      bar.node,
      dates,
    ),
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
    const clock = setInterval(() => setText(time, runText(job)), 500);
    signal.addEventListener('abort', () => clearInterval(clock));
  }
  return title;
}
