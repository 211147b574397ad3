// What the report of a job that compiles says, by subjects.

import { element, facts, section } from './dom.js';
import { bytes, count, energy, listed, percent, time } from './format.js';

/** Panels side by side, a subject each. */
export const reportPanels = (report) =>
  report &&
  element(
    'div.columns',
    reportGroups(report).map(([title, rows]) => section(title, facts(Object.entries(rows), 'facts rows'))),
  );

const change = (text) => (pair) => (pair.before === pair.after ? text(pair.after) : `${text(pair.before)} → ${text(pair.after)}`);
const busy = ([device, { share, lanes }]) => `${device} ${percent(share)} of ${count(lanes, 'lanes')}`;
const terms = (bound) => listed(bound, ([name, ns]) => `${name.replace(/_ns$/, '')} ${time(ns)}`);
const tiled = (device) => `${device.name} ${count(device.tiles, 'tiles')} on ${count(device.units, 'units')}, busy for ${time(device.busy_ns)}`;
const errors = (list, name) =>
  list
    .toSorted((a, b) => b.error - a.error)
    .slice(0, 5)
    .map((one) => `${one[name]} ${percent(one.error)}`)
    .join(', ');
const yes = (flag) => (flag === null ? 'not computed' : flag ? 'yes' : 'no');

// A row: its label, where the report has it, and how it reads.
const GROUPS = {
  Operators: [
    ['Operators', 'operators', change(count)],
    ['Computed on the chip', 'split.computed', count],
    ['Cut in pieces', 'split.cut', count],
    ['Pieces', 'split.pieces', count],
    ['Cut along their sum', 'partial_sums.operators', count],
    ['Instructions', 'program.instructions', count],
    ['Turns; the schedule has the first', 'program.turns', count],
    ['Memory of the chip', 'program.memory_bytes', bytes],
    ['Least memory that does', 'smallest_memory.bytes', (n) => count(n, 'bytes')],
    ['With less', 'smallest_memory.below', String],
    ['Held at most', 'program.memory_held_bytes', bytes],
    ['Operator set', 'opset', String],
  ],
  '8-bit integers': [
    ['Products in integers', 'products.int8', count],
    ['Products in float32', 'products.float32', count],
    ['Constants', 'constant_bytes', change(bytes)],
    ['Samples', 'samples', count],
    ['Random samples', 'random', yes],
    ['Ranges by', 'method', String],
    ['Error of outputs', 'outputs', (list) => errors(list, 'name')],
    ['Worst products alone', 'layers', (list) => errors(list, 'output')],
  ],
  Traffic: [
    ['Activations in', 'program.traffic.loaded_bytes', bytes],
    ['Activations out', 'program.traffic.stored_bytes', bytes],
    ['Of layer by layer', 'program.traffic.ratio', percent],
    ['Layer by layer', 'program.traffic.layer_by_layer_bytes', bytes],
    ['Inputs and outputs once', 'program.traffic.compulsory_bytes', bytes],
    ['Parameters in', 'program.traffic.parameters.loaded_bytes', bytes],
    ['Parameters once', 'program.traffic.parameters.once_bytes', bytes],
    ['Moved on the chip', 'program.traffic.moved_on_chip_bytes', bytes],
  ],
  'Time by the cost model': [
    ['Program', 'program.time.total_ns', time],
    ['What limits it', 'program.time.limit', String],
    ['Critical path', 'program.time.critical_path.instructions', (length) => count(length, 'instructions')],
    ['Of it, by device', 'program.time.critical_path.units_ns', terms],
    ['No program is below', 'program.time.lower_bound_ns', time],
    ['Layer by layer', 'program.time.layer_by_layer_ns', time],
    ['Split evenly among units', 'program.time.even_split_ns', time],
    ['Busy', 'program.time.units', (devices) => Object.entries(devices).map(busy).join(', ')],
  ],
  'Order of operators': [
    ['Orders scored', 'program.order.scored', count],
    ['In the order of the file', 'program.order.file_order_ns', time],
    ['In the order chosen', 'program.order.best_ns', time],
    ['Gained by the order', 'program.order.order_gain', percent],
  ],
  'Search for pieces': [
    ['Programs scored', 'program.search.scored', count],
    ['Best', 'program.search.best_ns', time],
    ['Made for', 'program.search.made_for', (part) => (part === 'whole' ? 'the whole chip' : `${part}, which leaves the rest idle`)],
  ],
  Permutations: [
    ['Bytes moved', 'permutation_bytes', change(bytes)],
    ['Bytes copied in all', 'copy_bytes', change(bytes)],
    ['Permutations left', 'permutations', count],
    ['Steps of the pass', 'moves', count],
  ],
  Tiles: [
    ['Tiles', 'tiles.tiles', count],
    ['Edges between them', 'tiles.arcs', count],
    ['Moved between them', 'tiles.bytes_moved', bytes],
    ['Held by them', 'tiles.bytes_held', bytes],
    ['Largest', 'tiles.largest_bytes', bytes],
    ['By device', 'tiles.devices', (devices) => devices.map(tiled).join('; ')],
  ],
  'Tiles on cores': [
    ['Cores', 'tiles.mapping.parts', count],
    ['Bytes by hops', 'tiles.mapping.metrics.hop_traffic', count],
    ['Fullest link or port, bytes', 'tiles.mapping.metrics.link_load_max', count],
    ['Energy of hops', 'tiles.mapping.metrics.energy_pj', energy],
  ],
  Verification: [
    ['Same numbers', 'verified.equal', yes],
    ['Largest relative deviation', 'verified.largest_relative_deviation', (value) => value.toPrecision(2)],
    ['Why not', 'verified.why', String],
  ],
};

const at = (report, path) => path.split('.').reduce((value, name) => value?.[name], report);

/** The subjects of a report that it says something of, [title, {label: text}]; what has no row here stands in its file. */
export function reportGroups(report) {
  // A move or a permutation is an entry each.
  const figures = { ...report, moves: report.moves?.length, permutations: report.permutations?.length };
  return Object.entries(GROUPS)
    .map(([title, rows]) => [title, rows.filter(([, path]) => at(figures, path) !== undefined)])
    .filter(([, rows]) => rows.length > 0)
    .map(([title, rows]) => [title, Object.fromEntries(rows.map(([label, path, text]) => [label, text(at(figures, path))]))]);
}
