// #/programs/ID: what a job made that compiles, with its schedule, or deploys; #/timeline: a schedule from a file of one's own.

import { actionBar } from './actions.js';
import { getJson, networkName, programUrl } from './api.js';
import { deploySections } from './deploy.js';
import { element, facts, fill, linkTo, pageHead, pageOf, section, stamp } from './dom.js';
import { bytes, count, energy, listed, NONE, percent, shortId, time, time as nanoseconds } from './format.js';
import { heldTable, nodesTable } from './nodes.js';
import { OperatorGraph } from './operatorgraph.js';
import { problemNode } from './problem.js';
import { NUMBER, table } from './table.js';
import { timelineSection } from './timelinesection.js';
import { operatorsOf, parseTrace } from './trace.js';

// What a job may have made, and what to call the button.
const FILES = [
  ['program', 'Program'],
  ['model', 'Model'],
  ['schedule', 'Timeline'],
  ['tiles', 'Tiles'],
  ['mapping', 'Core mapping'],
  ['images', 'Images'],
  ['binary', 'Images in binary'],
  ['commands', 'Commands'],
  ['bench', 'Test bench'],
  ['inputs', 'Input spikes'],
  ['expected', 'Expected spikes'],
  ['spikes', 'Spikes of the network'],
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
  return element('div.columns', groups.map(panel), more.length > 0 && panel(['More', Object.fromEntries(more)]));
}

/** What holds the program up: the operator with most of the critical path, and every node of the report (programs of older releases: none). */
function limitsSection(trace, { nodes, program }, timeline, graph) {
  const operators = trace ? operatorsOf(trace) : [],
    most = operators[0];
  return (
    (most || nodes) &&
    section(
      'What limits the program',
      most?.path > 0 &&
        element(
          'p.limits-program',
          `${most.name} (${most.kind}) limits most: ${percent(most.path / trace.end)} of the program’s time is its work on the critical path.`,
        ),
      nodes?.length > 0 && [nodesTable(nodes, operators, timeline, graph), heldTable(nodes, program.memory_bytes)],
    )
  );
}

/** A program at a glance: its time, how far that is from what no program beats, and what limits it. */
function headline(program, report) {
  const { time } = report?.program ?? {};
  return section(
    report?.images ? 'Images' : 'Program',
    facts([
      time && ['Time', nanoseconds(time.total_ns)],
      time?.lower_bound_ns > 0 && ['No program is below', nanoseconds(time.lower_bound_ns)],
      ['Chip', program.chip ? linkTo('chips', program.chip, program.chip) : NONE],
      ['Size', bytes(program.bytes)],
      ['Created', stamp(program.created)],
    ]),
    time?.limit && element('p.quiet', `What limits it: ${time.limit}`),
  );
}

export async function showProgram(main, { id, attach }, signal) {
  const program = await getJson(programUrl(id), signal);
  const [network, report, trace] = await Promise.all([
    networkName(program.network, signal),
    getJson(programUrl(id, '/report'), signal).catch(() => null),
    program.files?.schedule ? getJson(programUrl(id, '/schedule'), signal).then(parseTrace) : null, // images of cores and rewritten models have none
  ]);
  const schedule = trace && timelineSection(trace, signal),
    graph = report?.graph?.length > 0 ? new OperatorGraph(report.graph, report.nodes, schedule && ((one) => schedule.timeline.onPick(one))) : null;
  fill(
    main,
    pageHead(
      linkTo('networks', program.network, network || `Program ${shortId(id)}`),
      ['program ', element('code', id)],
      fileLinks(program.files),
      element('a.button', { href: pageOf('jobs', program.job) }, 'Job'),
    ),
    headline(program, report),
    limitsSection(trace, report ?? {}, schedule?.timeline, graph),
    schedule?.node,
    graph?.node,
    report?.images ? deploySections({ report }) : reportPanels(report),
    section('Keep, share', actionBar('programs', id, signal)),
  );
  attach();
  schedule?.redraw();
  return network || 'Program';
}

const SHOWN = 10; // programs on the page of timelines

export async function showTimeline(main, { attach }, signal) {
  const shown = element('div.stack');
  const open = async (file) => {
    try {
      const schedule = timelineSection(parseTrace(JSON.parse(await file.text())), signal);
      fill(shown, schedule.node);
      schedule.redraw();
    } catch (error) {
      fill(shown, problemNode(error instanceof SyntaxError ? new Error(`${file.name} is not JSON`) : error));
    }
  };
  const input = element('input', { type: 'file', id: 'trace-file', accept: '.json,application/json', onchange: () => input.files[0] && open(input.files[0]) });
  const drop = element(
    'section.panel',
    {
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
      ['Program', (one) => linkTo('programs', one.id, one.name || one.network_name || shortId(one.id))],
      ['Chip', (one) => one.chip || NONE],
      ['Time', (one) => (one.time_ns ? nanoseconds(one.time_ns) : NONE), NUMBER],
      ['Created', (one) => stamp(one.created)],
    ],
    programs,
  );
  fill(main, pageHead('Timeline'), drop, shown, programs.length > 0 && section('Schedules of this server', kept));
  attach();
  return 'Timeline';
}

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
const GROUPS = [
  [
    'Operators',
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
  [
    '8-bit integers',
    ['Products in integers', 'products.int8', count],
    ['Products in float32', 'products.float32', count],
    ['Constants', 'constant_bytes', change(bytes)],
    ['Samples', 'samples', count],
    ['Random samples', 'random', yes],
    ['Ranges by', 'method', String],
    ['Error of outputs', 'outputs', (list) => errors(list, 'name')],
    ['Worst products alone', 'layers', (list) => errors(list, 'output')],
  ],
  [
    'Traffic',
    ['Activations in', 'program.traffic.loaded_bytes', bytes],
    ['Activations out', 'program.traffic.stored_bytes', bytes],
    ['Of layer by layer', 'program.traffic.ratio', percent],
    ['Layer by layer', 'program.traffic.layer_by_layer_bytes', bytes],
    ['Inputs and outputs once', 'program.traffic.compulsory_bytes', bytes],
    ['Parameters in', 'program.traffic.parameters.loaded_bytes', bytes],
    ['Parameters once', 'program.traffic.parameters.once_bytes', bytes],
    ['Moved on the chip', 'program.traffic.moved_on_chip_bytes', bytes],
  ],
  [
    'Time by the cost model',
    ['Program', 'program.time.total_ns', time],
    ['What limits it', 'program.time.limit', String],
    ['Critical path', 'program.time.critical_path.instructions', (length) => count(length, 'instructions')],
    ['Of it, by device', 'program.time.critical_path.units_ns', terms],
    ['No program is below', 'program.time.lower_bound_ns', time],
    ['Layer by layer', 'program.time.layer_by_layer_ns', time],
    ['Split evenly among units', 'program.time.even_split_ns', time],
    ['Busy', 'program.time.units', (devices) => Object.entries(devices).map(busy).join(', ')],
  ],
  [
    'Order of operators',
    ['Orders scored', 'program.order.scored', count],
    ['In the order of the file', 'program.order.file_order_ns', time],
    ['In the order chosen', 'program.order.best_ns', time],
    ['Gained by the order', 'program.order.order_gain', percent],
  ],
  [
    'Search for pieces',
    ['Programs scored', 'program.search.scored', count],
    ['Best', 'program.search.best_ns', time],
    ['Made for', 'program.search.made_for', (part) => (part === 'whole' ? 'the whole chip' : `${part}, which leaves the rest idle`)],
  ],
  [
    'Permutations',
    ['Bytes moved', 'permutation_bytes', change(bytes)],
    ['Bytes copied in all', 'copy_bytes', change(bytes)],
    ['Permutations left', 'permutations', count],
    ['Steps of the pass', 'moves', count],
  ],
  [
    'Tiles',
    ['Tiles', 'tiles.tiles', count],
    ['Edges between them', 'tiles.arcs', count],
    ['Moved between them', 'tiles.bytes_moved', bytes],
    ['Held by them', 'tiles.bytes_held', bytes],
    ['Largest', 'tiles.largest_bytes', bytes],
    ['By device', 'tiles.devices', (devices) => devices.map(tiled).join('; ')],
  ],
  [
    'Tiles on cores',
    ['Cores', 'tiles.mapping.parts', count],
    ['Bytes by hops', 'tiles.mapping.metrics.hop_traffic', count],
    ['Fullest link or port, bytes', 'tiles.mapping.metrics.link_load_max', count],
    ['Energy of hops', 'tiles.mapping.metrics.energy_pj', energy],
  ],
  [
    'Verification',
    ['Same numbers', 'verified.equal', yes],
    ['Largest relative deviation', 'verified.largest_relative_deviation', (value) => value.toPrecision(2)],
    ['Why not', 'verified.why', String],
  ],
];

// Said at the head of the page, or twice; and how it was searched, which the report itself tells.
const ELSEWHERE = ['program.chip', 'stage', 'program.operators', 'tiles.mapping', 'partial_sums', 'smallest_memory', 'program.subgraphs'].concat(
  ['order', 'time', 'search'].map((name) => `program.${name}`),
);

const at = (report, path) => path.split('.').reduce((value, name) => value?.[name], report);

/** A report without the value at a path, and without objects that are empty then. */
function without(report, [name, ...rest]) {
  if (report === null || typeof report !== 'object' || !(name in report)) return report;
  const { [name]: value, ...others } = report;
  const inner = rest.length ? without(value, rest) : undefined;
  return inner === undefined || (typeof inner === 'object' && inner && !Object.keys(inner).length) ? others : { ...others, [name]: inner };
}

/** The subjects of a report that it says something of, [title, {label: text}], and what belongs to none of them. */
export function reportGroups(report) {
  // A move or a permutation is an entry each: those are for the report's own file.
  const figures = { ...report, moves: report.moves?.length, permutations: report.permutations?.length };
  const groups = [];
  let rest = figures;
  for (const [title, ...rows] of GROUPS) {
    const told = rows.filter(([, path]) => at(figures, path) !== undefined);
    const texts = told.map(([label, path, text]) => [label, text(at(figures, path))]);
    if (texts.length) groups.push([title, Object.fromEntries(texts)]);
  }
  const paths = [...GROUPS.flatMap(([, ...rows]) => rows.map(([, path]) => path)), ...ELSEWHERE];
  for (const path of paths) rest = without(rest, path.split('.'));
  return { groups, rest };
}
