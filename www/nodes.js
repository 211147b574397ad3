// Where the time of a program goes: a row for each node of the model and each tensor that is moved, and what all of them come to.

import { element, fill } from './dom.js';
import { bytes, count, NONE, percent, time } from './format.js';
import { NUMBER, share, table } from './table.js';

const SHOWN = 25;
const WAITS = { start: 'the start', lane: 'its unit', data: 'its data', room: 'free memory', issue: 'its turn' };

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
});

const COLUMNS = [
  ['Node', ({ node, operator }) => element('span', { title: node }, node || (operator === 'hops' ? 'between cores' : operator)), 'long'],
  ['Operator', ({ operator }) => operator],
  ['Unit', ({ device }) => device ?? NONE],
  ['Time', ({ busy_ns: busy }) => (busy === undefined ? NONE : time(busy)), NUMBER],
  ['Of the critical path', (row) => [percent(row.path_share), share(row.path_share)], NUMBER],
  ['Unit in use', ({ utilisation }) => (utilisation === undefined ? NONE : percent(utilisation)), NUMBER],
  ['Outside the chip', (row) => bytes(row.outside ?? outside(row)), NUMBER],
  ['On the chip', (row) => bytes(row.onChip ?? onChip(row)), NUMBER],
  ['Begins after', ({ waits }) => WAITS[waits] ?? NONE],
];

/** A report's nodes, those that take most of the critical path first, with a field to find one. */
export function nodesTable(nodes) {
  const rows = nodes.toSorted((a, b) => b.path_share - a.path_share || (b.busy_ns ?? 0) - (a.busy_ns ?? 0));
  const found = element('div', {});
  const show = (text) => {
    const matching = rows.filter(({ node, operator, device }) => `${node} ${operator} ${device}`.toLowerCase().includes(text));
    fill(
      found,
      table('Nodes, those with most of the critical path first', COLUMNS, matching.length ? [...matching.slice(0, SHOWN), totals(matching)] : [], {
        empty: 'No node has that name.',
      }),
    );
  };
  show('');
  return [
    element('input', {
      type: 'search',
      placeholder: 'find a node, an operator or a unit',
      'aria-label': 'Find a node',
      oninput: (event) => show(event.target.value.trim().toLowerCase()),
    }),
    found,
    rows.length > SHOWN && element('p', { class: 'quiet' }, `${count(rows.length)} in all, which the last row sums up`),
  ];
}
