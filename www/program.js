// #/programs/ID: what a compile job made, with its schedule; #/timeline: a schedule from a file of one's own.

import { getJson, getProgram, getSchedule, networkName, programUrl } from './api.js';
import { actionBar } from './actions.js';
import { element, facts, fill, link, section, stamp } from './dom.js';
import { bytes, count, NONE, percent, shortId, si, time as nanoseconds } from './format.js';
import { Problem } from './problem.js';
import { problemNode } from './problemnode.js';
import { reportGroups } from './programreport.js';
import { NUMBER, share, table } from './table.js';
import { timelineSection } from './timelinesection.js';
import { operatorsOf, parseTrace } from './trace.js';

/** A program without a schedule (permutations alone) is no error. */
async function scheduleOf(id, signal) {
  try {
    return parseTrace(await getSchedule(id, signal));
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  }
}

// What a job may have made, and what to call the button.
const FILES = [
  ['program', 'Program'],
  ['model', 'Model'],
  ['schedule', 'Timeline'],
  ['tiles', 'Tiles'],
  ['mapping', 'Core mapping'],
  ['pieces', 'Pieces'],
];

const fileLinks = (files) =>
  FILES.filter(([name]) => files?.[name]).map(([name, label], i) =>
    element('a', { class: i === 0 ? 'button primary' : 'button', href: files[name], download: '' }, label),
  );

/** Panels side by side, a subject each. */
export function reportPanels(report) {
  if (!report) return null;
  const { groups, rest } = reportGroups(report);
  const more = Object.entries(rest).filter(([, value]) => value === null || typeof value !== 'object');
  const panel = ([title, rows]) => section(title, facts(Object.entries(rows), 'facts rows'));
  return element('div', { class: 'columns' }, groups.map(panel), more.length > 0 && panel(['More', Object.fromEntries(more)]));
}

const OPERATORS = 25;

/** Which operators hold the program up: of each what it takes, and how much of the critical path it is; a press shows it in the timeline, and
 * a span that is pressed there its operator here. */
function operatorsSection(trace, timeline) {
  const operators = operatorsOf(trace),
    seconds = (microseconds) => si(microseconds / 1e6, 's', 4),
    most = operators[0];
  if (!most) return null;
  const found = element('div', {});
  const show = (text) =>
    fill(
      found,
      table(
        'Operators, those that limit most first',
        [
          [
            'Operator',
            (one) =>
              element(
                'button',
                { type: 'button', class: 'link', onclick: () => (timeline.showOperator(one), timeline.canvas.scrollIntoView({ block: 'nearest' })) },
                one.name || one.kind,
              ),
          ],
          ['Kind', ({ kind }) => kind],
          ['On the critical path', ({ path }) => seconds(path), NUMBER],
          ['Of the program', ({ path }) => [percent(path / trace.end), share(path / trace.end)], NUMBER],
          ['All its work', ({ busy }) => seconds(busy), NUMBER],
          ['Spans', ({ spans }) => count(spans), NUMBER],
        ],
        operators.filter(({ name, kind }) => `${name} ${kind}`.toLowerCase().includes(text)).slice(0, OPERATORS),
        { empty: 'No operator has that name.' },
      ),
    );
  show('');
  const find = element('input', {
    type: 'search',
    placeholder: 'find an operator',
    'aria-label': 'Find an operator',
    oninput: () => show(find.value.trim().toLowerCase()),
  });
  timeline.onPick = (span) => {
    find.value = `${span.name} ${span.kind}`;
    find.dispatchEvent(new Event('input'));
    timeline.showOperator(span);
  };
  return section(
    'What limits the program',
    most.path > 0 &&
      element(
        'p',
        { class: 'limits-program' },
        `${most.name} (${most.kind}) limits most: ${percent(most.path / trace.end)} of the program’s time is its work on the critical path.`,
      ),
    find,
    found,
    operators.length > OPERATORS && element('p', { class: 'quiet' }, `${count(operators.length)} in all`),
  );
}

/** A program at a glance: its time, how far that is from what no program beats, and what limits it. */
function headline(program, report) {
  const { time } = report?.program ?? {};
  return section(
    'Program',
    facts([
      time && ['Time', nanoseconds(time.total_ns)],
      time?.lower_bound_ns > 0 && ['No program is below', nanoseconds(time.lower_bound_ns)],
      ['Chip', program.chip ? link(`#/chips/${encodeURIComponent(program.chip)}`, program.chip) : NONE],
      ['Size', bytes(program.bytes)],
      ['Created', stamp(program.created)],
    ]),
    time?.limit && element('p', { class: 'quiet' }, `What limits it: ${time.limit}`),
  );
}

export async function showProgram(main, { id, attach }, signal) {
  const [program, trace] = await Promise.all([getProgram(id, signal), scheduleOf(id, signal)]);
  const [network, report] = await Promise.all([networkName(program.network, signal), getJson(programUrl(id, '/report'), signal).catch(() => null)]);
  const schedule = trace && timelineSection(trace, signal);
  fill(
    main,
    element(
      'header',
      { class: 'page-head' },
      element(
        'div',
        {},
        element('h1', { tabindex: '-1' }, link(`#/networks/${encodeURIComponent(program.network)}`, network || `Program ${shortId(id)}`)),
        element('p', { class: 'quiet' }, 'program ', element('code', {}, id)),
      ),
      element(
        'div',
        { class: 'buttons' },
        fileLinks(program.files),
        element('a', { class: 'button', href: `#/jobs/${encodeURIComponent(program.job)}` }, 'Job'),
      ),
    ),
    headline(program, report),
    trace && operatorsSection(trace, schedule.timeline),
    schedule?.node,
    reportPanels(report),
    section('Keep, share', actionBar('programs', id, signal)),
  );
  attach();
  schedule?.redraw();
  return network || 'Program';
}

const SHOWN = 10; // programs on the page of timelines

export async function showTimeline(main, { attach }, signal) {
  const shown = element('div', { class: 'stack' });
  const open = async (file) => {
    try {
      const schedule = timelineSection(parseTrace(JSON.parse(await file.text())), signal);
      fill(shown, schedule.node);
      schedule.redraw();
    } catch (error) {
      fill(shown, problemNode(error instanceof SyntaxError ? new Error(`${file.name} is not JSON`) : error));
    }
  };
  const input = element('input', {
    type: 'file',
    id: 'trace-file',
    accept: '.json,application/json',
    onchange: () => input.files[0] && open(input.files[0]),
  });
  const drop = element(
    'section',
    {
      class: 'panel',
      'aria-label': 'File',
      ondragover: (event) => event.preventDefault(),
      ondrop: (event) => {
        event.preventDefault();
        if (event.dataTransfer.files[0]) open(event.dataTransfer.files[0]);
      },
    },
    element('label', { for: 'trace-file' }, 'A trace of coremap schedule, tile or run (Chrome trace format) '),
    input,
  );
  const { programs } = await getJson(`v1/programs?limit=${SHOWN}`, signal).catch(() => ({ programs: [] }));
  const kept = table(
    'Newest programs',
    [
      ['Program', (one) => link(`#/programs/${encodeURIComponent(one.id)}`, one.name || one.network_name || shortId(one.id))],
      ['Chip', (one) => one.chip || NONE],
      ['Time', (one) => (one.time_ns ? nanoseconds(one.time_ns) : NONE), NUMBER],
      ['Created', (one) => stamp(one.created)],
    ],
    programs,
  );
  fill(
    main,
    element('header', { class: 'page-head' }, element('h1', { tabindex: '-1' }, 'Timeline')),
    drop,
    shown,
    programs.length > 0 && section('Schedules of this server', kept),
  );
  attach();
  return 'Timeline';
}
