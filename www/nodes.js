// Where the time of a program goes: a row for each node of the model and each tensor that is moved, and what all of them come to.

import { element, fill } from './dom.js';
import { bytes, count, NONE, percent, time } from './format.js';
import { NUMBER, share, table } from './table.js';
import { WAITS } from './trace.js';

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
  ['Operator', ({ operator }) => operator],
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
      table(
        'Tensors at the peak of memory',
        [
          ['Of', (row) => element('span', { title: row.node }, title(row)), 'long'],
          ['As', ({ operator }) => (operator === 'load' ? 'loaded' : `what ${operator} made`)],
          ['Bytes', (row) => [bytes(row.peak_bytes), share(row.peak_bytes / memory)], NUMBER],
          ['Last used', ({ held_until_ns: until }) => time(until), NUMBER],
        ],
        held.slice(0, HELD_SHOWN),
      ),
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
      table('Nodes, those with most of the critical path first', columns, matching.length ? [...matching.slice(0, SHOWN), totals(matching)] : [], {
        empty: 'No node has that name.',
      }),
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
