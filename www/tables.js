// The tables of a mapping: key figures, metrics, tries, candidates, scenarios, busiest cores, options, downloads. Metrics are made from what the
// server's own table says of each: label, unit, and which way is better.

import { getBuffer, mappingUrl } from './api.js';
import { element, facts, linkTo, saveAs, section, select } from './dom.js';
import { aboveBound, count, difference, duration, energy, NONE, percent, si, time, valueText, withTimes, words } from './format.js';
import { busiest, LAYERS } from './layers.js';
import { kindRows, kindSwatch, valueSwatch } from './picture.js';
import { actButton } from './problem.js';
import { figures, NUMBER, table, tableSection } from './table.js';

const KEY_FIGURES = ['cores_used', 'step_ns', 'energy_step_pj', 'energy_pj', 'latency_mean_ns', 'latency_max_ns', 'congestion_max', 'connectivity'];
const BUSIEST = 12;
const POPULATIONS = 200; // rows of the table of populations

/** The figures that say most of a mapping; `cores`: of the chip. */
export function keyFigures(metricList, metrics, cores) {
  return facts(
    KEY_FIGURES.filter((name) => name in metrics).map((name) => {
      const metric = metricList.find((entry) => entry.name === name);
      const note = name === 'cores_used' && cores ? `${percent(metrics[name] / cores)} of the chip` : metric.unit;
      return [metric.label, [metricText(metric, metrics), note && element('small', note)], metric.note];
    }),
    'figures',
  );
}

/** What holds a time step up, and how far its busiest core is from what no partition can do; null for older mappings. */
export function stepLine({ metrics, report }) {
  if (!metrics?.step_limit) return null;
  const bound = report?.step_bound;
  return element(
    'p.quiet.step-line',
    `A time step takes ${time(metrics.step_ns)}: ${withTimes(metrics.step_limit)}`,
    metrics.barrier_ns > 0 ? `, and the barrier takes ${time(metrics.barrier_ns)}. ` : '. ',
    bound?.ns > 0 && `No partition on these cores has a busiest core below ${time(bound.ns)}; this one’s is ${aboveBound(1 + bound.gap_percent / 100)}.`,
  );
}

/** A mapping of a network whose rates vary: the time and energy of a step in every scenario; null for other networks. */
export function scenariosTable(scenarios) {
  if (!scenarios) return null;
  const together = (name) => ({ name: name === scenarios.objective ? `${name} (objective)` : name, metrics: scenarios[name] }),
    all = [...scenarios.each, together('worst'), together('mean')];
  const node = tableSection(
    'Scenarios',
    all.map(({ name, metrics }) => ({ ...metrics, name })),
    [
      ['Scenario', 'name'],
      ...figures(time, { 'Busiest core': 'core_ns_max', 'Time step': 'step_ns' }),
      ...figures(energy, { 'Energy of a step': 'energy_step_pj', 'Energy of hops': 'energy_pj' }),
    ],
  );
  node.id = 'scenarios';
  return node;
}

export function metricsTable(metricList, metrics) {
  return tableSection(
    { label: 'Metrics', of: (metric) => ({ 'data-metric': metric.name }), kind: 'metrics' },
    metricList.filter((metric) => isShown(metric, metrics)),
    [
      ['Metric', (metric) => element('span', { title: metric.note }, metric.label)],
      ['Value', (metric) => element('span', { title: String(metrics[metric.name]) }, metricText(metric, metrics)), NUMBER],
      ['Unit', (metric) => metric.unit ?? '', 'quiet'],
    ],
  );
}

const GROUPS = [
  ['Time', /_ns|saturation/],
  ['Energy', /_pj/],
  ['Traffic', /hop|link|port|congestion|border/],
  ['Partition', /./],
];

/** Both mappings' metrics by subjects, with the difference of B to A; better or worse is said in words too, not by colour alone. */
export function comparisonTable(a, b) {
  const judged = ({ name, better }) => verdict({ better }, a.metrics[name], b.metrics[name]);
  const word = (metric) => ['worse', '', 'better'][judged(metric) + 1];
  const columns = (title) => [
    [title, (metric) => element('span', { title: metric.note }, metric.label)],
    ['A', (metric) => metricText(metric, a.metrics), NUMBER],
    ['B', (metric) => metricText(metric, b.metrics), NUMBER],
    ['B to A', (metric) => element('span', { class: word(metric) }, difference(a.metrics[metric.name], b.metrics[metric.name])), NUMBER],
    ['Verdict', word, 'quiet'],
    ['Unit', (metric) => metric.unit ?? '', 'quiet wide-only'],
  ];
  const shown = a.metricList.filter((metric) => isShown(metric, a.metrics) || isShown(metric, b.metrics));
  const group = (metric) => GROUPS.find(([, names]) => names.test(metric.name))[0];
  return section(
    'Metrics',
    GROUPS.map(([title]) =>
      table(
        { label: `${title} of both mappings`, of: (metric) => ({ 'data-metric': metric.name }), kind: 'metrics' },
        shown.filter((metric) => group(metric) === title),
        columns(title),
      ),
    ),
  );
}

const outcomeText = (attempt) =>
  attempt.broken || ['legal', attempt.by_axons && 'by the method for axons', attempt.moved && 'after single moves'].filter(Boolean).join(', ');

const cacheText = ({ coarsening_cached: cached, saved_seconds: saved, pairs_carried: carried, pairs_matched: matched }) =>
  cached ? `from the cache${saved > 0 ? `: ${duration(saved)} saved` : ''}` : carried >= 0 ? `${percent(carried / (carried + matched))} carried over` : 'done';

export function attemptsTable(attempts) {
  if (!attempts?.length) return null;
  // Whether levels came from the cache is told only where the server says so: it is no part of the mapping itself.
  const cached = attempts.some((attempt) => 'coarsening_cached' in attempt);
  return tableSection('Tries', attempts, [
    ['Try', (attempt) => String(attempts.indexOf(attempt) + 1)],
    ...figures(count, { Capacity: 'capacity', Parts: 'parts' }),
    ['Edge cut', (attempt) => si(attempt.edge_cut, '', 4), NUMBER],
    ...figures(count, { Levels: 'levels' }),
    ...(cached ? [['Coarsening', cacheText]] : []),
    ['Outcome', outcomeText],
  ]);
}

/** The mappings that stood side by side; the cheapest is the one that was taken. */
export function candidatesTable(candidates) {
  if (!candidates?.length) return null;
  const least = Math.min(...candidates.map(({ cost }) => cost));
  return tableSection('Candidates', candidates, [
    ['Mapper', 'mapper'],
    ['Preset', 'preset'],
    ['Objective', 'objective'],
    ['Cost', ({ cost }) => si(cost, '', 4), NUMBER],
    ['Outcome', ({ cost }) => (cost === least ? 'taken' : difference(least, cost))],
  ]);
}

/** The mappings between least time and least energy, and their plot; the mapping shown is one of them. */
export function paretoSection(id, pareto) {
  if (!pareto?.points?.length) return null;
  const name = ({ number }) => `${number}${number === pareto.chosen ? ' (shown)' : ''}`;
  const open = (point) =>
    point.mapping
      ? linkTo('mappings', point.mapping, name(point))
      : point.number === undefined
        ? 'lower bound'
        : element('a', { href: mappingUrl(id, `/pareto/${point.number}`), download: `${id}-pareto-${point.number}.json` }, name(point));
  const { bound } = pareto;
  return section(
    'Time against energy',
    element('img.plot', {
      src: mappingUrl(id, '/pareto?format=svg'),
      alt: 'Time of a step against energy of the network, with lower bounds; the table has the figures',
    }),
    table(
      'Mappings between least time and least energy',
      [...pareto.points, { ...bound, core_ns_max: bound.core_ns }],
      [
        ['Mapping', open],
        ...figures(time, { 'Busiest core': 'core_ns_max', 'Time step': 'step_ns' }),
        ...figures(energy, { 'Network energy': 'energy_network_pj', 'Energy of a step': 'energy_step_pj' }),
        ...figures(count, { Cores: 'parts' }),
      ],
    ),
  );
}

/** Options that differ from what the server does unless told; `table`: what it says of each. */
export function optionsTable(options, described) {
  const given = Object.entries(options ?? {})
    .filter(([name, value]) => value !== '' && value !== null && described?.[name]?.default !== value)
    .map(([name, value]) => [name, typeof value === 'object' ? JSON.stringify(value) : value]);
  return tableSection({ label: 'Options', empty: 'All as the server does it unless told.' }, given, [
    ['Option', ([name]) => element('code', { title: described?.[name]?.description }, name)],
    ['Value', ([, value]) => (value.length > 100 ? `${value.slice(0, 60)}… (${count(value.length)} characters)` : valueText(value, ', '))],
    ['Unless told', ([name]) => valueText(described?.[name]?.default ?? null, ', '), 'quiet'],
  ]);
}

/** The heat map in words: the busiest cores of the layer that is shown. */
export function busiestTable(picture, onSelect) {
  const { model, layer, bounds, logarithmic } = picture,
    { tiles } = model,
    coarse = tiles !== null, // blocks of cores, then
    valuesOf = (one) => (coarse ? model.blockValues(one) : model.layer(one.id).values),
    values = valuesOf(layer);
  // Beside the layer's own figure two others, to judge it by.
  const others = LAYERS.filter(({ id }) => ['neurons', 'traffic', 'congestion'].includes(id) && id !== layer.id).slice(0, 2);
  return table(`The cores with the most ${layer.unit}`, busiest(values, BUSIEST), [
    ['Core', (at) => element('button.link', { onclick: () => onSelect(at, coarse) }, coarse ? tiles.text(at) : `core ${model.place(at)}`)],
    coarse ? ['Used', (at) => tiles.usedText(at)] : ['Part', (core) => (model.partOf(core) < 0 ? NONE : count(model.partOf(core))), NUMBER],
    [layer.label, (core) => [valueSwatch(values[core], bounds, logarithmic), layer.show(values[core])], NUMBER],
    ...others.map((other) => [other.label, (at) => si(valuesOf(other)[at]), NUMBER]),
  ]);
}

/** The occupancy in words: how many cores are whose. */
export function kindsTable(picture) {
  if (!picture.kinds) return element('p.quiet', 'The occupancy of this chip cannot be read.');
  const all = picture.kinds.totals.reduce((sum, cores) => sum + cores, 0);
  return table(`Cores of ${picture.model.chip.name} by kind`, kindRows(picture), [
    ['Kind', ([swatch, text]) => [swatch, text]],
    ['Cores', ([, , cores]) => count(cores), NUMBER],
    ['Share', ([, , cores]) => percent(cores / all), NUMBER],
  ]);
}

/** How many cores hold neurons of which population. */
export function populationsTable(model) {
  return table('Cores by population', model.populations.slice(0, POPULATIONS), [
    ['Population', ({ name, number }) => [kindSwatch(number), name]],
    ['Kind', ({ kind }) => kind || NONE],
    ...figures(count, { Neurons: 'neurons', Cores: 'cores' }),
  ]);
}

/** How the mapper went about it: only what says something to who reads it. */
export function mapperTable(report) {
  const { placement, incremental, learned } = report ?? {};
  const rows = [
    placement?.method && ['Placed by', words(placement.method)],
    learned?.policy && ['Policy', learned.policy],
    incremental?.kept_neurons !== undefined && ['Neurons that stayed', count(incremental.kept_neurons)],
    report?.merged?.self_loops > 0 && ['Synapses of neurons to themselves, left out', count(report.merged.self_loops)],
    report?.merged?.duplicates > 0 && ['Synapses that stood twice, merged', count(report.merged.duplicates)],
  ].filter(Boolean);
  return rows.length > 0 ? section('How it was made', facts(rows)) : null;
}

// What of a mapping, where it is, in which formats; of several ?format= says which.
const FILES = [
  ['Summary', '', 'json'],
  ['Whole', '/content', 'json'],
  ['Neurons', '/neurons', 'csv json bin'],
  ['Cores', '/cores', 'csv json'],
  ['Links', '/links', 'csv'],
  ['Links', '/picture?layer=links', 'svg'],
  ['Routes', '/routes', 'json csv'],
  ['Certificate', '/certificate', 'json'],
  ['Parts', '/part', 'part'],
  ['Placement', '/placement', 'csv'],
];
const ASKED = /^.(neurons|cores|links|routes)$/; // by format

/** Files of a mapping, and what other tools read (`formats`), made when it is asked for. */
export function downloads(id, formats) {
  const row = ([what, rest, all]) =>
    all.split(' ').map((format) => {
      const href = mappingUrl(id, ASKED.test(rest) ? `${rest}?format=${format}` : rest);
      return element('li', element('a', { href, download: `${id}-${what.toLowerCase()}.${format}` }, what, element('small', format)));
    });
  const to = select({ 'aria-label': 'Tool to export for' }, formats);
  const make = async () => saveAs(new Blob([await getBuffer(mappingUrl(id, `/export?to=${to.value}`))]), `${id}.${to.value}`);
  return section('Downloads', element('ul.downloads', FILES.map(row)), element('div.buttons.exports', to, actButton('Export', make)));
}

const figure = (value) => si(value, '', 4);
// Units that are shown with a prefix of their own, or turned round; the others as they stand.
const UNITS = {
  pJ: { show: (value) => si(value * 1e-12, 'J', 4), unit: '' },
  ns: { show: (value) => si(value * 1e-9, 's', 4), unit: '' },
  'steps / ns': { show: (value) => figure(value * 1e9), unit: 'steps a second' },
  1: { show: percent, unit: '' },
};
const BETTER = { less: -1, more: 1, neither: 0 };

/** The metrics that are numbers, in the order of the schema of metrics in openapi.json.
 * better: -1 less is better, 1 more is better, 0 neither. where: shown where that metric is above 0. */
export const metricsOf = (schema) =>
  Object.entries(schema.properties)
    .filter(([, property]) => property.type !== 'string')
    .map(([name, property]) => ({
      name,
      label: property['x-label'],
      note: property.description,
      better: BETTER[property['x-better']],
      where: property['x-where'],
      unit: property['x-unit'].replace('*', '×'),
      show: property.type === 'integer' ? count : figure,
      ...UNITS[property['x-unit']],
    }));

/** Whether a mapping has something to say of a metric: it is among its metrics, and so is what it is about. */
export function isShown(metric, metrics) {
  return metric.name in metrics && (!metric.where || metrics[metric.where] > 0);
}

export function metricText(metric, metrics) {
  const value = metrics?.[metric.name];
  return value === null || value === undefined ? NONE : metric.show(value);
}

/** 1 when b is better than a, -1 when worse, 0 when equal or when the metric has no better side. */
export function verdict(metric, a, b) {
  if (!metric.better || !Number.isFinite(a) || !Number.isFinite(b) || a === b) return 0;
  return Math.sign(b - a) * metric.better;
}
