// #/sweeps/ID: the points of a sweep as a table and as a plot of any two metrics, with the best one and the Pareto front.

import { cancelJob, getJson, getMapping, getSchemas, isOver, mappingUrl, pathOf } from './api.js';
import { element, every, facts, fill, link, linkTo, pageHead, pageOf, section, select, stamp } from './dom.js';
import { count, duration, listed, words } from './format.js';
import { badge } from './job.js';
import { scatterPlot } from './plots.js';
import { actButton } from './problem.js';
import { NUMBER, tableSection } from './table.js';
import { metricsOf, metricText } from './tables.js';

const ROWS = 1000,
  ASK_MS = 3000;
const COLUMNS = ['cores_used', 'step_ns', 'energy_step_pj', 'energy_pj'];

/** Points that no other one beats in both metrics, by x. less: whether less is better, of x and y. */
export function paretoFront(points, [lessX, lessY]) {
  const better = (a, b, less) => (less ? a < b : a > b);
  const sorted = points.toSorted((a, b) => (a.x === b.x ? 0 : better(a.x, b.x, lessX) ? -1 : 1) || (better(a.y, b.y, lessY) ? -1 : 1));
  const front = [];
  for (const point of sorted) if (front.length === 0 || better(point.y, front.at(-1).y, lessY)) front.push(point);
  return front.toSorted((a, b) => a.x - b.x);
}

/** Smallest, median, largest of values. */
export function spread(values) {
  const sorted = values.filter(Number.isFinite).toSorted((a, b) => a - b);
  return sorted.length > 0 ? { least: sorted[0], median: sorted[sorted.length >> 1], most: sorted.at(-1) } : null;
}

/** What the mapping of a point cannot be below, by metric; nothing where it is not kept. */
async function boundsOf(mapping, signal) {
  const [{ bounds = [] }, { bound }] = await Promise.all([getJson(mappingUrl(mapping, '/certificate'), signal), getMapping(mapping, signal)]);
  const known = Object.fromEntries(bounds.filter((one) => one.bound > 0).map((one) => [one.metric, one.bound]));
  return bound?.parts > 0 ? { ...known, cores_used: bound.parts } : known;
}

const pointName = ({ options, chip }, several) =>
  [
    ...(several ? [chip] : []),
    ...Object.entries(options ?? {})
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${words(name)} ${value}`),
  ].join(', ') || 'the point';

/** What points that differ by seed alone have of a metric: by their seeds, or a column of dots for each setting of all else, with medians joined; null
 * without seeds. */
function seedsPlot(done, by, several) {
  const settingOf = ({ options, chip }) => pointName({ options: { ...options, seed: undefined }, chip }, several),
    groups = [
      ...Map.groupBy(
        done.filter(({ options }) => options?.seed !== undefined),
        settingOf,
      ),
    ],
    alone = groups.length === 1;
  if (!groups.some(([, rows]) => rows.length > 1)) return null;
  const point = (row, x) => ({ x, y: row.metrics[by.name], label: `${pointName(row, several)}: ${metricText(by, row.metrics)}`, href: hrefOf(row) }),
    points = groups.flatMap(([, rows], x) => rows.map((row) => point(row, alone ? row.options.seed : x))),
    medians = groups.map(([, rows], x) => ({ x, y: spread(rows.map(({ metrics }) => metrics[by.name])).median }));
  const title = `${by.label} over seeds`,
    look = { showY: (y) => metricText(by, { [by.name]: y }), yLabel: by.label, front: alone ? [] : medians };
  return section(title, scatterPlot(title, points, { ...look, showX: alone ? count : (x) => groups[x][0], xLabel: alone ? 'seed' : 'medians are joined' }));
}

const hrefOf = (row) => (row.mapping ? pageOf('mappings', row.mapping) : pageOf('jobs', row.job));

export async function showSweep(main, { id, query, replaceQuery }, signal) {
  const metricList = metricsOf((await getSchemas(signal)).Metrics);
  const read = () => getJson(`${pathOf('sweeps', id)}?limit=${ROWS}`, signal);
  let sweep = await read(),
    bounds = {},
    bounded = null; // the mapping that they are of
  const body = element('div.stack');
  const of = (name) => metricList.find((metric) => metric.name === name);
  const chosen = { x: query.get('x') ?? 'energy_step_pj', y: query.get('y') ?? sweep.by[0] };
  if (chosen.x === chosen.y) chosen.x = chosen.y === 'step_ns' ? 'energy_step_pj' : 'step_ns';

  function draw() {
    const done = sweep.rows.filter(({ metrics }) => metrics),
      several = new Set(sweep.rows.map(({ chip }) => chip)).size > 1,
      best = sweep.rows.find(({ job }) => job === sweep.best?.job),
      by = of(sweep.by[0]);
    const less = (name) => of(name)?.better !== 1;
    const points = done.map((row) => ({
      x: row.metrics[chosen.x],
      y: row.metrics[chosen.y],
      label: `${pointName(row, several)}: ${of(chosen.x).label} ${metricText(of(chosen.x), row.metrics)}, ${of(chosen.y).label} ${metricText(of(chosen.y), row.metrics)}`,
      look: row === best ? 'best' : '',
      href: hrefOf(row),
    }));
    const range = spread(done.map(({ metrics }) => metrics[sweep.by[0]]));
    const axis = (which) =>
      select(
        {
          'aria-label': `Metric along ${which}`,
          onchange: (event) => ((chosen[which] = event.target.value), replaceQuery(new URLSearchParams(chosen)), draw()),
        },
        metricList.filter(({ name }) => done.some(({ metrics }) => Number.isFinite(metrics[name]))).map(({ name, label }) => [name, label]),
        chosen[which],
      );
    const show = (name) => (value) => metricText(of(name), { [name]: value });
    const shownMetrics = [...new Set([...sweep.by, ...COLUMNS])].map(of).filter(Boolean);
    fill(
      body,
      element(
        'section.panel',
        { 'aria-label': 'State' },
        best &&
          element(
            'p.best-line',
            'Best by ',
            by.label.toLowerCase(),
            ': ',
            linkTo('mappings', sweep.best.mapping, pointName(best, several)),
            `, ${show(by.name)(sweep.best.values[0])}`,
            range &&
              range.least !== range.most &&
              `; of all ${show(by.name)(range.least)} to ${show(by.name)(range.most)}, median ${show(by.name)(range.median)}`,
          ),
        facts([
          ['Points', count(sweep.jobs)],
          ['Done', count(sweep.done)],
          sweep.failed > 0 && ['Failed', count(sweep.failed)],
          sweep.cancelled > 0 && ['Cancelled', count(sweep.cancelled)],
          sweep.reused > 0 && ['Made before', count(sweep.reused)],
          ['Processor time', duration(sweep.cpu_seconds)],
          ['Axes', listed(sweep.axes, ([name, value]) => `${words(name)} ${[value].flat().join(', ')}`, '; ')],
          ['All have', listed(sweep.base, ([name, value]) => `${words(name)} ${value}`) || 'nothing else'],
          ['Kept', sweep.keep],
          sweep.stopped && ['Why the rest was left', sweep.stopped],
        ]),
      ),
      points.length > 1 &&
        section(
          'Two metrics of each point',
          element('div.map-tools', axis('y'), ' against ', axis('x')),
          scatterPlot('Points of the sweep', points, {
            xLabel: of(chosen.x).label,
            yLabel: of(chosen.y).label,
            showX: show(chosen.x),
            showY: show(chosen.y),
            boundX: bounds[chosen.x],
            boundY: bounds[chosen.y],
            front: paretoFront(points, [less(chosen.x), less(chosen.y)]),
          }),
          (bounds[chosen.x] || bounds[chosen.y]) &&
            element(
              'p.quiet.sweep-bounds',
              'Lines: what the best point cannot be below, ',
              [chosen.y, chosen.x]
                .filter((name) => bounds[name])
                .map((name) => `${of(name).label} ${show(name)(bounds[name])}`)
                .join('; '),
            ),
        ),
      by && seedsPlot(done, by, several),
      tableSection(
        { label: 'Points', of: (row) => ({ class: row === best ? 'best' : null, 'data-job': row.job }), empty: 'No points yet.' },
        sweep.rows,
        [
          ['Point', (row) => link(row.mapping && row.kept ? pageOf('mappings', row.mapping) : pageOf('jobs', row.job), pointName(row, several))],
          ['State', (row) => [badge(row.state).node, row.problem && ` ${row.problem.title}`]],
          ...shownMetrics.map((metric) => [metric.label, (row) => metricText(metric, row.metrics), NUMBER]),
          ['', (row) => (row === best ? 'best' : row.kept || row.state !== 'done' ? '' : 'not kept'), 'quiet'],
        ],
        sweep.next && element('p.quiet', `The first ${count(ROWS)}; the CSV has all.`),
      ),
    );
  }
  const cancel = actButton('Cancel', () => cancelJob(id).then(again));
  async function bound() {
    const best = sweep.best?.mapping;
    if (!best || best === bounded) return;
    bounded = best;
    bounds = await boundsOf(best, signal).catch(() => ({}));
    draw();
  }
  function show() {
    draw();
    bound();
    cancel.hidden = isOver(sweep);
  }
  const again = () => read().then((next) => ((sweep = next), show()));
  fill(
    main,
    pageHead(
      sweep.name || 'Sweep',
      ['sweep ', element('code', id), ' · ', stamp(sweep.created)],
      element('a.button', { href: `${pathOf('sweeps', id)}?format=csv`, download: `${id}.csv` }, 'CSV'),
      cancel,
    ),
    body,
  );
  show();
  every(ASK_MS, () => isOver(sweep) || again().catch(() => {}), signal);
  return sweep.name || 'Sweep';
}
