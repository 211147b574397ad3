// The tables of a mapping: key figures, metrics, tries, report, busiest cores, downloads.

import { mappingUrl } from './api.js';
import { element, facts, section } from './dom.js';
import { aboveBound, count, difference, duration, fragmentText, NONE, percent, si, words } from './format.js';
import { BROKEN, busiest, FREE, HERE, LAYERS } from './layers.js';
import { isShown, metricText, verdict } from './metrics.js';
import { kindSwatch, swatchColour } from './picture.js';

const KEY_FIGURES = [
  'cores_used',
  'energy_pj',
  'step_ns',
  'energy_step_pj',
  'latency_mean_ns',
  'latency_max_ns',
  'congestion_max',
  'connectivity',
];
const BUSIEST = 12;
const POPULATIONS = 200; // rows of the table of layers

export function keyFigures(model) {
  const cores = model.width * model.height;
  return facts(
    KEY_FIGURES.map((name) => {
      const metric = model.metricList.find((entry) => entry.name === name);
      const note =
        name === 'cores_used' ? `${percent((model.metrics[name] ?? 0) / cores)} of the chip` : metric.unit;
      return [metric.label, [metricText(metric, model.metrics), note && element('small', {}, note)]];
    }),
    'figures',
  );
}

/** What holds a time step up, and how far its busiest core is from what no partition can do; null for older mappings. */
export function stepLine({ metrics, report }) {
  if (!metrics?.step_limit) return null;
  const time = (ns) => si(ns * 1e-9, 's', 4);
  const bound = report?.step_bound;
  return element(
    'p',
    { class: 'quiet step-line' },
    `A time step takes ${time(metrics.step_ns)}: ${metrics.step_limit}`,
    metrics.barrier_ns > 0 ? `, and the barrier takes ${time(metrics.barrier_ns)}. ` : '. ',
    bound?.ns > 0 && `No partition on these cores has a busiest core below ${time(bound.ns)}; this one’s is ${aboveBound(1 + bound.gap_percent / 100)}.`,
  );
}

/** A mapping of a network whose rates vary: the time and energy of a step in every scenario; null for other networks. */
export function scenariosTable(scenarios) {
  if (!scenarios) return null;
  const time = (ns) => si(ns * 1e-9, 's', 4);
  const energy = (pj) => si(pj * 1e-12, 'J', 4);
  const row = (name, m) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, name),
      ...[time(m.core_ns_max), time(m.step_ns), energy(m.energy_step_pj), energy(m.energy_pj)].map((text) =>
        element('td', { class: 'number' }, text),
      ),
    );
  const together = (name) => row(name === scenarios.objective ? `${name} (objective)` : name, scenarios[name]);
  return element(
    'section',
    { class: 'panel', id: 'scenarios' },
    element('h2', {}, 'Scenarios'),
    scroller(
      'Scenarios',
      element(
        'table',
        {},
        element(
          'thead',
          {},
          element(
            'tr',
            {},
            ...['Scenario', 'Busiest core', 'Time step', 'Energy of a step', 'Energy of hops'].map((text) =>
              element('th', { scope: 'col' }, text),
            ),
          ),
        ),
        element('tbody', {}, ...scenarios.each.map(({ name, metrics }) => row(name, metrics)), together('worst'), together('mean')),
      ),
    ),
  );
}

function scroller(label, table) {
  return element('div', { class: 'scroller', tabindex: '0', role: 'region', 'aria-label': label }, table);
}

export function metricsTable(model) {
  const table = element(
    'table',
    { class: 'metrics' },
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        element('th', { scope: 'col' }, 'Metric'),
        element('th', { scope: 'col', class: 'number' }, 'Value'),
        element('th', { scope: 'col' }, 'Unit'),
      ),
    ),
    element(
      'tbody',
      {},
      model.metricList.filter((metric) => isShown(metric, model.metrics)).map((metric) =>
        element(
          'tr',
          { 'data-metric': metric.name },
          element('th', { scope: 'row', title: metric.note }, metric.label),
          element(
            'td',
            { class: 'number', title: String(model.metrics[metric.name]) },
            metricText(metric, model.metrics),
          ),
          element('td', { class: 'quiet' }, metric.unit ?? ''),
        ),
      ),
    ),
  );
  return section('Metrics', scroller('Metrics', table));
}

/** Both mappings' metrics with the difference of B to A; better or worse is said in words too, not by colour alone. */
export function comparisonTable(a, b) {
  const row = (metric) => {
    const x = a.metrics[metric.name],
      y = b.metrics[metric.name],
      judged = verdict(metric, x, y);
    return element(
      'tr',
      { 'data-metric': metric.name },
      element('th', { scope: 'row', title: metric.note }, metric.label),
      element('td', { class: 'number' }, metricText(metric, a.metrics)),
      element('td', { class: 'number' }, metricText(metric, b.metrics)),
      element(
        'td',
        { class: `number ${judged > 0 ? 'better' : judged < 0 ? 'worse' : ''}` },
        difference(x, y),
      ),
      element('td', { class: 'quiet' }, judged > 0 ? 'better' : judged < 0 ? 'worse' : ''),
      element('td', { class: 'quiet wide-only' }, metric.unit ?? ''),
    );
  };
  const table = element(
    'table',
    { class: 'metrics' },
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        element('th', { scope: 'col' }, 'Metric'),
        element('th', { scope: 'col', class: 'number' }, 'A'),
        element('th', { scope: 'col', class: 'number' }, 'B'),
        element('th', { scope: 'col', class: 'number' }, 'B to A'),
        element('th', { scope: 'col' }, element('span', { class: 'hidden' }, 'Verdict')),
        element('th', { scope: 'col', class: 'wide-only' }, 'Unit'),
      ),
    ),
    element(
      'tbody',
      {},
      a.metricList.filter((metric) => isShown(metric, a.metrics) || isShown(metric, b.metrics)).map(row),
    ),
  );
  return section('Metrics', scroller('Metrics of both mappings', table));
}

/** Columns are [name, is it a number]; rows have a cell for each. */
export function plainTable(label, columns, rows) {
  const kind = (i) => (columns[i][1] ? 'number' : '');
  const table = element(
    'table',
    {},
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        columns.map(([name], i) => element('th', { scope: 'col', class: kind(i) }, name)),
      ),
    ),
    element(
      'tbody',
      {},
      rows.map((row) =>
        element(
          'tr',
          {},
          row.map((cell, i) =>
            element(i === 0 ? 'th' : 'td', { scope: i === 0 ? 'row' : null, class: kind(i) }, cell),
          ),
        ),
      ),
    ),
  );
  return element('div', { class: 'tries' }, scroller(label, table));
}

const outcomeText = (attempt) =>
  attempt.broken ||
  ['legal', attempt.by_axons && 'by the method for axons', attempt.moved && 'after single moves']
    .filter(Boolean)
    .join(', ');

const levelsText = (attempt) =>
  attempt.levels_available > 0
    ? `${count(attempt.levels)} (${count(attempt.levels_available)} along the heaviest edges available)`
    : count(attempt.levels);

const fromCache = (attempt) =>
  attempt.saved_seconds > 0 ? `the partition from the cache: ${duration(attempt.saved_seconds)} saved` : 'from the cache';

export function attemptsTable(attempts) {
  if (!attempts?.length) return null;
  // Whether levels came from the cache is told only where the server says so: it is no part of the mapping itself.
  const cached = attempts.some((attempt) => 'coarsening_cached' in attempt);
  return section(
    'Tries',
    plainTable(
      'Tries of the partition stage',
      [
        ['Try', true],
        ['Capacity', true],
        ['Parts', true],
        ['Edge cut', true],
        ['Levels', true],
        ...(cached ? [['Coarsening', false]] : []),
        ['Outcome', false],
      ],
      attempts.map((attempt, i) => [
        String(i + 1),
        count(attempt.capacity),
        count(attempt.parts),
        si(attempt.edge_cut, '', 4),
        levelsText(attempt),
        ...(cached ? [attempt.coarsening_cached ? fromCache(attempt) : 'done'] : []),
        outcomeText(attempt),
      ]),
    ),
  );
}

/** The mappings that stood side by side; the cheapest is the one that was taken. */
export function candidatesTable(candidates) {
  if (!candidates?.length) return null;
  const least = Math.min(...candidates.map(({ cost }) => cost));
  return section(
    'Candidates',
    plainTable(
      'Candidates',
      [
        ['Mapper', false],
        ['Preset', false],
        ['Objective', false],
        ['Cost', true],
        ['', false],
      ],
      candidates.map(({ mapper, preset, objective, cost }) => [
        mapper,
        preset,
        objective,
        si(cost, '', 4),
        cost === least ? 'taken' : difference(least, cost),
      ]),
    ),
  );
}

/** The mappings between least time and least energy, and their plot; the mapping shown is one of them. */
export function paretoSection(id, pareto) {
  if (!pareto?.points?.length) return null;
  const time = (ns) => si(ns * 1e-9, 's', 4),
    energy = (pj) => si(pj * 1e-12, 'J', 4);
  const link = ({ number, mapping }) =>
    element(
      'a',
      mapping
        ? { href: `#/mappings/${encodeURIComponent(mapping)}` }
        : { href: mappingUrl(id, `/pareto/${number}`), download: `${id}-pareto-${number}.json` },
      `${number}${number === pareto.chosen ? ' (shown)' : ''}`,
    );
  return section(
    'Time against energy',
    element('img', {
      class: 'plot',
      src: mappingUrl(id, '/pareto?format=svg'),
      alt: 'Time of a step against energy of the network, with lower bounds; the table has the figures',
    }),
    plainTable(
      'Mappings between least time and least energy',
      [
        ['Mapping', false],
        ['Busiest core', true],
        ['Time step', true],
        ['Network energy', true],
        ['Energy of a step', true],
        ['Cores', true],
      ],
      [
        ...pareto.points.map((point) => [
          link(point),
          time(point.core_ns_max),
          time(point.step_ns),
          energy(point.energy_network_pj),
          energy(point.energy_step_pj),
          count(point.parts),
        ]),
        [
          'lower bound',
          time(pareto.bound.core_ns),
          NONE,
          energy(pareto.bound.energy_network_pj),
          energy(pareto.bound.energy_step_pj),
          NONE,
        ],
      ],
    ),
  );
}

// A report is whatever the stages want to tell: names are joined to paths, lists of plain values to one line.
function flatten(value, path, rows) {
  if (value === null || typeof value !== 'object') {
    rows.push([
      path,
      typeof value === 'number'
        ? count(value)
        : typeof value === 'boolean'
          ? value
            ? 'yes'
            : 'no'
          : value === null
            ? NONE
            : String(value),
    ]);
  } else if (Array.isArray(value) && value.every((entry) => entry === null || typeof entry !== 'object')) {
    rows.push([
      path,
      value.length > 24
        ? `${count(value.length)} values`
        : value.map((entry) => (typeof entry === 'number' ? count(entry) : String(entry))).join(', ') ||
          'none',
    ]);
  } else {
    for (const [name, entry] of Object.entries(value))
      flatten(entry, path ? `${path} › ${words(name)}` : words(name), rows);
  }
  return rows;
}

export function detailsTable(title, value) {
  const rows = value && typeof value === 'object' ? flatten(value, '', []) : [];
  if (!rows.length) return null;
  const limit = 200;
  return section(
    title,
    scroller(
      title,
      element(
        'table',
        { class: 'report' },
        element(
          'tbody',
          {},
          rows
            .slice(0, limit)
            .map(([name, text]) =>
              element('tr', {}, element('th', { scope: 'row' }, name), element('td', {}, text)),
            ),
          rows.length > limit &&
            element(
              'tr',
              {},
              element('td', { colspan: '2' }, `and ${count(rows.length - limit)} more in the JSON`),
            ),
        ),
      ),
    ),
  );
}

/** The heat map in words: the busiest cores of the layer that is shown. */
export function busiestTable(picture, onSelect) {
  const { model, layer, bounds, logarithmic } = picture;
  const { values } = model.layer(layer.id);
  // Beside the layer's own figure two others, to judge it by.
  const others = ['neurons', 'traffic', 'congestion']
    .filter((id) => id !== layer.id)
    .slice(0, 2)
    .map((id) => LAYERS.find((entry) => entry.id === id));
  const rows = busiest(values, BUSIEST).map((core) => {
    const swatch = element('i', { class: 'swatch' });
    swatch.style.backgroundColor = swatchColour(values[core], bounds, logarithmic);
    const part = model.partOf(core);
    return element(
      'tr',
      {},
      element(
        'td',
        {},
        element(
          'button',
          { type: 'button', class: 'link', onclick: () => onSelect(core) },
          `core ${model.place(core)}`,
        ),
      ),
      element('td', { class: 'number' }, part < 0 ? NONE : count(part)),
      element('td', { class: 'number' }, swatch, si(values[core], '', 4)),
      others.map((other) => element('td', { class: 'number' }, si(model.layer(other.id).values[core]))),
    );
  });
  return scroller(
    'Busiest cores',
    element(
      'table',
      {},
      element('caption', { class: 'hidden' }, `The ${rows.length} cores with the most ${layer.unit}`),
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          ['Core', 'Part', layer.label, ...others.map((other) => other.label)].map((name, i) =>
            element('th', { scope: 'col', class: i ? 'number' : '' }, name),
          ),
        ),
      ),
      element('tbody', {}, rows),
    ),
  );
}

/** The occupancy in words: how many cores are whose. */
export function kindsTable({ model, kinds }) {
  if (!kinds) return element('p', { class: 'quiet' }, 'The occupancy of this chip cannot be read.');
  const all = model.width * model.height;
  const rows = [
    ['here', 'this mapping', kinds.totals[HERE]],
    ['empty', `free${fragmentText(kinds.fragmentation)}`, kinds.totals[FREE]],
    ...kinds.owners
      .map((owner, i) => ['taken', `taken by ${owner}`, kinds.counts[i] ?? 0])
      .slice(1)
      .filter(([, , cores]) => cores > 0),
    ['broken', 'broken', kinds.totals[BROKEN]],
  ];
  return scroller(
    'Cores by kind',
    element(
      'table',
      {},
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          ['Kind', 'Cores', 'Share'].map((name, i) =>
            element('th', { scope: 'col', class: i ? 'number' : '' }, name),
          ),
        ),
      ),
      element(
        'tbody',
        {},
        rows.map(([swatch, text, cores]) =>
          element(
            'tr',
            {},
            element('td', {}, element('i', { class: `swatch swatch-${swatch}` }), text),
            element('td', { class: 'number' }, count(cores)),
            element('td', { class: 'number' }, percent(cores / all)),
          ),
        ),
      ),
    ),
  );
}

/** Which population most neurons of how many cores are of. */
export function populationsTable(model) {
  return scroller(
    'Cores by layer',
    element(
      'table',
      {},
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          ['Layer', 'Kind', 'Neurons', 'Cores'].map((name, i) =>
            element('th', { scope: 'col', class: i > 1 ? 'number' : '' }, name),
          ),
        ),
      ),
      element(
        'tbody',
        {},
        model.populations
          .slice(0, POPULATIONS)
          .map(({ name, kind, neurons, number, cores }) =>
            element(
              'tr',
              {},
              element('td', {}, kindSwatch(number), name),
              element('td', {}, kind || NONE),
              element('td', { class: 'number' }, count(neurons)),
              element('td', { class: 'number' }, count(cores)),
            ),
          ),
      ),
    ),
  );
}

export function downloads(id) {
  const files = [
    ['Summary', 'JSON', '', 'summary.json'],
    ['Neurons', 'CSV', '/neurons?format=csv', 'neurons.csv'],
    ['Neurons', 'JSON', '/neurons?format=json', 'neurons.json'],
    ['Neurons', 'binary', '/neurons?format=bin', 'neurons.bin'],
    ['Cores', 'CSV', '/cores?format=csv', 'cores.csv'],
    ['Cores', 'JSON', '/cores?format=json', 'cores.json'],
    ['Links', 'CSV', '/links?format=csv', 'links.csv'],
    ['Routes', 'JSON', '/routes?format=json', 'routes.json'],
    ['Routes', 'CSV', '/routes?format=csv', 'routes.csv'],
    ['Certificate', 'JSON', '/certificate', 'certificate.json'],
    ['Parts', '.part', '/part', 'mapping.part'],
    ['Placement', 'CSV', '/placement', 'placement.csv'],
  ];
  const link = ([what, format, rest, name]) =>
    element(
      'li',
      {},
      element(
        'a',
        { href: mappingUrl(id, rest), download: `${id}-${name}` },
        what,
        element('small', {}, format),
      ),
    );
  return section('Downloads', element('ul', { class: 'downloads' }, files.map(link)));
}
