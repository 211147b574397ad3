// Where the time of a program goes: the schedule as a timeline with its critical path and units as tables; a row for each node of the model and each
// tensor that is moved, and what all of them come to.

import { element, fill, folded, section } from './dom.js';
import { bytes, count, NONE, percent, time } from './format.js';
import { figures, NUMBER, share, table } from './table.js';
import { reason, seconds, Timeline } from './timeline.js';
import { WAITS } from './trace.js';

const PATH_ROWS = 500; // of the critical path as a table

/** The switch that leaves the critical path alone, and the path as a table. */
function pathSwitch(timeline) {
  if (!timeline.trace.path.length) return null;
  return element(
    'label.path-switch',
    element('input', { type: 'checkbox', onchange: (event) => timeline.choose(event.target.checked ? ({ critical }) => Boolean(critical) : null) }),
    ' only the critical path',
  );
}

function pathTable({ path, units }) {
  if (!path.length) return null;
  return folded(
    `Critical path as a table (${count(path.length, 'spans')})`,
    {},
    path.length > PATH_ROWS && element('p.quiet', `The first ${count(PATH_ROWS)}; the file has all.`),
    table(
      { label: 'Critical path', kind: 'path' },
      path.slice(0, PATH_ROWS).map(({ unit, span }) => ({ ...units[unit].spans[span], unit: units[unit].name })),
      [
        ...figures(seconds, { Start: 'start' }),
        ['Unit', 'unit'],
        ['What', ({ name, kind }) => `${name} (${kind})`],
        ['Length', ({ start, finish }) => seconds(finish - start), NUMBER],
        ['Why then', ({ critical }) => reason(critical)],
      ],
    ),
  );
}

function legend(timeline) {
  return element(
    'div.legend-names',
    timeline.trace.kinds.map((kind) => {
      const swatch = element('span.swatch');
      swatch.style.background = `rgb(${timeline.colours.get(kind.name).join(' ')})`;
      return element('span.legend-key', swatch, `${kind.name || 'other'} ${seconds(kind.time)}`);
    }),
  );
}

function unitsTable(trace) {
  return folded(
    'Units as a table',
    {},
    table({ label: 'Units', kind: 'units' }, trace.units, [
      ['Unit', 'name'],
      ['Spans', ({ spans }) => count(spans.length), NUMBER],
      ...figures(seconds, { Busy: 'busy' }),
      ['Share', ({ busy }) => percent(trace.end > 0 ? busy / trace.end : 0), NUMBER],
    ]),
  );
}

/** The section of a page that shows a trace; draw it by `redraw` of what it returns once it is in the document. */
export function timelineSection(trace, signal) {
  const timeline = new Timeline(trace, signal);
  const spans = trace.units.reduce((sum, unit) => sum + unit.spans.length, 0);
  const node = section(
    'Schedule',
    element('p.quiet', `${count(spans, 'spans')} on ${count(trace.units.length, 'units')} in ${seconds(trace.end)}`),
    legend(timeline),
    timeline.figure(),
    pathSwitch(timeline),
    pathTable(trace),
    unitsTable(trace),
  );
  return { node, timeline, redraw: () => timeline.redraw() };
}

const SHOWN = 25,
  HELD_SHOWN = 10;

const outside = ({ memory }) => (memory ? memory.outside_read + memory.outside_written : 0);
const onChip = ({ memory }) => (memory ? memory.chip_read + memory.chip_written : 0);
const sum = (rows, of) => rows.reduce((all, row) => all + (of(row) ?? 0), 0);

/** Of rows: their time, their share of the critical path, and bytes by memory. */
export const totals = (rows) => ({
  node: 'all',
  operator: '',
  busy_ns: sum(rows, (row) => row.busy_ns),
  path_share: sum(rows, (row) => row.path_share),
  outside: sum(rows, outside),
  onChip: sum(rows, onChip),
  peak_bytes: sum(rows, (row) => row.peak_bytes),
});

const title = ({ node, operator }) => node || (operator === 'hops' ? 'between cores' : operator);

const COLUMNS = [
  ['Operator', 'operator'],
  ['Unit', ({ device }) => device ?? NONE],
  ['Time', ({ busy_ns: busy }) => (busy === undefined ? NONE : time(busy)), NUMBER],
  ['Of the critical path', (row) => [percent(row.path_share), share(row.path_share)], NUMBER],
  ['Unit in use', ({ utilisation }) => (utilisation === undefined ? NONE : percent(utilisation)), NUMBER],
  ['Outside the chip', (row) => bytes(row.outside ?? outside(row)), NUMBER],
  ['On the chip', (row) => bytes(row.onChip ?? onChip(row)), NUMBER],
  ['Held at the peak', ({ peak_bytes: held }) => (held === undefined ? NONE : bytes(held)), NUMBER],
  ['Begins after', ({ waits }) => WAITS[waits] ?? NONE],
];

/** A node's name; where the timeline has spans of it, a press shows them. */
function nameColumn(operators, timeline) {
  const shown = new Map(operators.map((one) => [one.name, one]));
  return [
    'Node',
    (row) =>
      shown.has(row.node)
        ? element(
            'button.link',
            { title: row.node, onclick: () => (timeline.showOperator(shown.get(row.node)), timeline.canvas.scrollIntoView({ block: 'nearest' })) },
            row.node,
          )
        : element('span', { title: row.node }, title(row)),
    'long',
  ];
}

/** Tensors that the chip's memory holds when most of it is held, the largest first. Reports of older releases do not say: null. */
export function heldTable(nodes, memory) {
  const held = nodes.filter((row) => row.peak_bytes > 0).toSorted((a, b) => b.peak_bytes - a.peak_bytes);
  return (
    held.length > 0 && [
      element('h3', `On the chip at the peak: ${bytes(sum(held, (row) => row.peak_bytes))} of ${bytes(memory)}`),
      table('Tensors at the peak of memory', held.slice(0, HELD_SHOWN), [
        ['Of', (row) => element('span', { title: row.node }, title(row)), 'long'],
        ['As', ({ operator }) => (operator === 'load' ? 'loaded' : `what ${operator} made`)],
        ['Bytes', (row) => [bytes(row.peak_bytes), share(row.peak_bytes / memory)], NUMBER],
        ...figures(time, { 'Last used': 'held_until_ns' }),
      ]),
      held.length > HELD_SHOWN && element('p.quiet', `The largest ${HELD_SHOWN} of ${count(held.length)}`),
    ]
  );
}

/** A report's nodes, those that take most of the critical path first, with a field to find one; the timeline, where there is one, shows the spans
 * of a node that is pressed, and a span that is pressed there finds its node here; the graph, where there is one, marks what is found. */
export function nodesTable(nodes, operators, timeline, graph) {
  const columns = [nameColumn(operators, timeline), ...COLUMNS];
  const rows = nodes.toSorted((a, b) => b.path_share - a.path_share || (b.busy_ns ?? 0) - (a.busy_ns ?? 0));
  const found = element('div');
  const show = (text) => {
    const matching = rows.filter(({ node, operator, device }) => `${node} ${operator} ${device}`.toLowerCase().includes(text));
    fill(
      found,
      table(
        { label: 'Nodes, those with most of the critical path first', empty: 'No node has that name.' },
        matching.length ? [...matching.slice(0, SHOWN), totals(matching)] : [],
        columns,
      ),
    );
  };
  show('');
  const find = element('input', {
    type: 'search',
    placeholder: 'find a node, an operator or a unit',
    'aria-label': 'Find a node',
    oninput: () => {
      const text = find.value.trim().toLowerCase();
      show(text);
      graph?.mark(text ? ({ name, operator }) => `${name} ${operator}`.toLowerCase().includes(text) : null);
    },
  });
  if (timeline)
    timeline.onPick = (span) => {
      find.value = span.name;
      show(span.name.toLowerCase());
      timeline.showOperator(span);
      graph?.mark(({ name }) => name === span.name, true);
    };
  return [find, found, rows.length > SHOWN && element('p.quiet', `${count(rows.length)} in all, which the last row sums up`)];
}
