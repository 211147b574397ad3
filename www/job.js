// #/jobs/ID: one job live, with its phases, what came of it, or its problem and what would help.

import { actionBar } from './actions.js';
import { cancelJob, getJob, getJson, getMapOptions, getSchemas, isOver, networkName, startJob } from './api.js';
import { mapCopies } from './copyas.js';
import { deploySections } from './deploy.js';
import { announce, element, facts, fill, link, linkTo, pageHead, progressBar, section, setText, stamp } from './dom.js';
import { fitsBox, HELPED } from './fits.js';
import { bytes, count, duration, moment, NONE, shortId, words } from './format.js';
import { badge, followJob, remainingRange, resultOf, runText, stateLine } from './jobparts.js';
import { metricsOf } from './metrics.js';
import { phaseText } from './phases.js';
import { actButton, problemNode } from './problemnode.js';
import { reportPanels } from './program.js';
import { progressPlot } from './progressplot.js';
import { runSections } from './running.js';
import { simulationSections } from './simulation.js';
import { NUMBER, share, tableSection } from './table.js';
import { attemptsTable, keyFigures, optionsTable, stepLine } from './tables.js';

/** Single figures of a report in words, where a kind of job has no sections of its own. */
const plainSections = ({ report }) => {
  const single = Object.entries(report).filter(([, value]) => ['number', 'string', 'boolean'].includes(typeof value));
  return single.length > 0 && section('Report', facts(single.map(([name, value]) => [words(name), typeof value === 'number' ? count(value) : String(value)])));
};

/* What the page of each kind of job has: of its report, whether its options stand in the schema of maps, whether it can be edited in the form,
 * and whether network and chip are those of another result. */
const KINDS = {
  simulate: { sections: simulationSections, borrowed: true },
  compile: { sections: ({ report }) => reportPanels(report), edited: true },
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
  return tableSection(
    'Phases',
    [
      ['Phase', ({ name }) => element('span', { title: phaseText(name) }, words(name))],
      ['Time', ({ seconds }) => duration(seconds), NUMBER],
      ['Share', ({ seconds }) => share((seconds || 0) / longest), 'phase-bar'],
      ['Peak memory', ({ peak_bytes: peak }) => bytes(peak), NUMBER],
    ],
    phases,
    { kind: 'phases' },
  );
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
  const outcome = element('div');
  const cancel = actButton('Cancel', async () => update(await cancelJob(id).then(() => getJob(id, signal))));
  const again = actButton('Run again', () => {
    const { options, name } = job,
      of = kind.borrowed ? {} : { network: job.network, chip: job.chip || undefined };
    return startJob({ kind: job.kind, ...of, options, name: name || undefined });
  });
  const edit = element('a.button', { href: `#/new?${new URLSearchParams({ network: job.network, chip: job.chip, ...job.options })}` }, 'Edit and run');
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
          ['Network', linkTo('networks', job.network, network)],
          ['Chip', job.chip ? linkTo('chips', job.chip, job.chip) : NONE],
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
      job.report && (kind.sections ?? plainSections)(job, metricList, signal),
      element('div.columns', phasesTable(phases), job.options && optionsTable(job.options, described)),
      isOver(job) &&
        section('Keep, share, copy', actionBar('jobs', id, signal), kind.mapped && mapCopies({ network: job.network, chip: job.chip, options: job.options })),
    );
    if (job.started) drawProgress();
  }
  async function drawProgress() {
    // A picture of the way, not of the result: the page does without.
    const history = await getJson(`v1/jobs/${encodeURIComponent(id)}/history`, signal).catch(() => null);
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
        job.reused && ', made by an equal job before',
        ' · ',
        link(`v1/jobs/${encodeURIComponent(id)}/log`, 'log'),
        ' · ',
        link(`#/jobs?network=${encodeURIComponent(job.network)}`, 'jobs of this network'),
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
    const clock = setInterval(() => setText(time, runText(job)), 500);
    signal.addEventListener('abort', () => clearInterval(clock));
  }
  return title;
}
