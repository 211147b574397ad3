// Plots, each in a frame with its caption that keeps it as a file: histograms, points with bounds, how a job went, matrices.

import { paint, palette, range } from './colour.js';
import { announce, element, select, svg } from './dom.js';
import { capital, count, duration, si, words } from './format.js';
import { keepButtons } from './plotfile.js';
import { shownIn } from './problem.js';
import { NUMBER, table } from './table.js';

/** A plot (an SVG or a canvas) with its caption, and buttons that keep it. */
export function framed(plot, ...caption) {
  return element(
    'figure.plot-box',
    plot,
    element(
      'figcaption',
      element('span.caption', caption),
      keepButtons(plot.getAttribute('aria-label'), () => plot),
    ),
  );
}

const line = (x1, y1, x2, y2, kind) => svg('line', { x1, y1, x2, y2, class: kind });
const polyline = (points, kind) => points.length > 1 && svg('polyline', { points: points.map((point) => point.join(',')).join(' '), class: kind });

/** How many values are in each of `bins` steps from 0 to `most`. */
export function histogram(values, most, bins = 24) {
  const counts = new Array(bins).fill(0);
  for (const value of values) if (value === value) counts[Math.min(bins - 1, Math.max(0, Math.floor((value / most) * bins)))]++;
  return counts;
}

/** Bars of a plot among which a range is chosen; take(first, last). */
function brushed(plot, bars, take) {
  let from = 0,
    to = -1;
  const inside = (bar) => Math.min(bars.length - 1, Math.max(0, bar)),
    at = ({ clientX }, { left, width } = plot.getBoundingClientRect()) => inside(Math.floor(((clientX - left) / width) * bars.length));
  const brush = (last, first = from) => {
    [from, to] = [first, last];
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    bars.forEach((bar, i) => bar.classList.toggle('lit', i >= low && i <= high));
    take(low, high);
  };
  plot.addEventListener('pointerdown', (event) => {
    plot.setPointerCapture(event.pointerId);
    brush(at(event), at(event));
  });
  plot.addEventListener('pointermove', (event) => plot.hasPointerCapture(event.pointerId) && brush(at(event)));
  plot.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step && event.key !== 'Escape') return;
    event.preventDefault();
    if (step) brush(inside(to + step), event.shiftKey ? from : inside(to + step));
    else brush(bars.length - 1, 0);
  });
}

/** Of values, or of `counts` of them in equal steps up to `most`. onBrush(low, high): a range of values was pressed, dragged over or walked to by the arrow
 * keys, which Shift stretches; of all after Escape. */
export function histogramPlot(label, values, { limit, most, show, of = 'cores', counts: known }, onBrush = null) {
  const beyond = limit > 4 * most && most > 0, // of what is nearly empty one would see a single bar
    end = (beyond ? most : Math.max(limit ?? 0, most)) || 1,
    counts = known ?? histogram(values, end),
    tallest = Math.max(...counts, 1),
    [width, height] = [320, 54],
    step = width / counts.length;
  const bars = counts.map((number, i) => {
    const tall = number > 0 ? Math.max(2, (number / tallest) * height) : 0;
    return svg('rect', { x: i * step + 0.5, y: height - tall, width: step - 1, height: tall, class: 'bin' }, svg('title', {}, count(number, of)));
  });
  const plot = svg(
    'svg',
    {
      ...{ viewBox: `0 -2 ${width} ${height + 4}`, class: 'small-plot', 'aria-label': `${label}: how many ${of} have how much` },
      ...(onBrush ? { role: 'application', 'aria-roledescription': 'histogram, arrow keys choose', tabindex: 0 } : { role: 'img' }),
    },
    bars,
    line(0, height, width, height, 'axis'),
    limit && !beyond && line((limit / end) * width - 1, -2, (limit / end) * width - 1, height, 'limit'),
  );
  if (onBrush)
    brushed(plot, bars, (a, b) => {
      const [low, high] = [a / bars.length, (b + 1) / bars.length].map((share) => share * end);
      onBrush(low, b === bars.length - 1 ? Infinity : high);
      announce(
        `${count(
          counts.slice(a, b + 1).reduce((sum, number) => sum + number, 0),
          of,
        )} from ${show(low)} to ${show(high)}`,
      );
    });
  return framed(plot, element('span', '0'), beyond && element('span', `limit ${show(limit)}, far to the right`), element('span', show(end)));
}

/** Points of {x, y, label, look, href} with lines that bound them, and a line that joins others (`front`). show: how values of an axis read. */
export function scatterPlot(label, points, { xLabel, yLabel, showX, showY, boundX = null, boundY = null, front = [] }) {
  const width = 640,
    height = 300,
    pad = 16,
    left = 76,
    bottom = 40;
  const scale = (values, bound, low, high) => {
    const { min, max } = range(Number.isFinite(bound) ? [...values, bound] : values),
      span = max - min || Math.abs(max) || 1;
    return { at: (value) => low + ((value - min + 0.04 * span) / (1.08 * span)) * (high - low), min, max };
  };
  const values = (of) => points.map((point) => point[of]),
    x = scale(values('x'), boundX, left, width - pad),
    y = scale(values('y'), boundY, height - bottom, pad);
  const text = (at, below, words, anchor) => svg('text', { x: at, y: below, 'text-anchor': anchor }, words);
  const dots = points.map((point) =>
    svg(
      point.href ? 'a' : 'g',
      { ...(point.href && { href: point.href, 'aria-label': point.label }), class: `dot ${point.look ?? ''}` },
      svg('circle', { cx: x.at(point.x), cy: y.at(point.y), r: point.look === 'best' ? 7 : 5 }, svg('title', {}, point.label)),
    ),
  );
  const plot = svg(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, class: 'plot load-plot', role: 'group', 'aria-label': label },
    line(left, height - bottom, width - pad, height - bottom, 'axis'),
    line(left, pad, left, height - bottom, 'axis'),
    Number.isFinite(boundX) && line(x.at(boundX), pad, x.at(boundX), height - bottom, 'limit'),
    Number.isFinite(boundY) && line(left, y.at(boundY), width - pad, y.at(boundY), 'limit'),
    polyline(
      front.map((point) => [x.at(point.x), y.at(point.y)]),
      'curve',
    ),
    dots,
    text(left, height - bottom + 16, showX(x.min), 'start'),
    text(width - pad, height - bottom + 16, showX(x.max), 'end'),
    text((left + width - pad) / 2, height - 6, xLabel, 'middle'),
    text(left - 6, height - bottom, showY(y.min), 'end'),
    text(left - 6, pad + 16, showY(y.max), 'end'),
    text(8, pad - 4, yLabel, 'start'),
  );
  return framed(plot);
}

/** Phases in a row: {phase, from, to} in seconds. */
export function bands(points) {
  const list = [];
  for (const { phase, seconds } of points) {
    const last = list.at(-1);
    if (last?.phase === phase) last.to = seconds;
    else {
      if (last) last.to = seconds;
      list.push({ phase, from: seconds, to: seconds });
    }
  }
  return list;
}

export function progressPlot(points) {
  if (!points || points.length < 3) return null;
  const [width, height] = [640, 90],
    end = points.at(-1).seconds || 1,
    x = (seconds) => (seconds / end) * width,
    curve = (list, of, kind) =>
      polyline(
        list.map((point) => [x(point.seconds), height * (1 - of(point))]),
        kind,
      );
  const phases = bands(points),
    known = points.filter(({ metric }) => Number.isFinite(metric)),
    last = known.at(-1);
  /** A phase's objective, and what it cannot be below, as shares of its most: each phase has one of its own. */
  const objective = ({ phase, from, to }) => {
    const own = known.filter((point) => point.phase === phase && point.seconds >= from && point.seconds <= to),
      most = Math.max(...own.map(({ metric }) => metric), 1e-9);
    return [
      curve(own, ({ metric }) => metric / most, 'metric'),
      curve(
        own.filter(({ bound }) => bound > 0),
        ({ bound }) => bound / most,
        'bound',
      ),
    ];
  };
  const band = ({ phase, from, to }, i) =>
    svg(
      'rect',
      { x: x(from), y: 0, width: Math.max(0, x(to) - x(from)), height, class: i % 2 ? 'band odd' : 'band' },
      svg('title', {}, `${words(phase)}: ${duration(to - from)}`),
    );
  const look = { class: 'small-plot progress-plot', preserveAspectRatio: 'none', role: 'img', 'aria-label': 'Progress over time' };
  return framed(
    svg(
      'svg',
      { viewBox: `0 -2 ${width} ${height + 4}`, ...look },
      phases.map(band),
      curve(points, ({ fraction }) => fraction, 'curve'),
      phases.flatMap(objective),
    ),
    element('span', 'share of the job done'),
    last && element('span', `dashed, each phase’s objective: ${si(last.metric)}`, last.bound > 0 && `; dotted, no result is below: ${si(last.bound)}`),
    element('span', duration(end)),
  );
}

const LARGEST = 12;
const EMPTY = 0; // transparent: nothing is sent

/** The `most` largest entries of rows as {from, to, value}. */
export function largest(rows, most) {
  return rows
    .flatMap((row, from) => row.map((value, to) => ({ from, to, value })))
    .filter(({ value }) => value > 0)
    .sort((a, b) => b.value - a.value)
    .slice(0, most);
}

/** Rows of numbers as a picture, a pixel each, on a logarithmic scale. */
export function grid(rows, label, caption = '') {
  const width = rows[0].length,
    height = rows.length,
    canvas = element('canvas.matrix', { width, height, role: 'img', 'aria-label': label });
  const context = canvas.getContext('2d'),
    image = context.createImageData(width, height),
    values = Float64Array.from(rows.flat(), (value) => (value > 0 ? value : NaN));
  paint(values, new Uint32Array(image.data.buffer), range(values), palette(), EMPTY, true);
  context.putImageData(image, 0, 0);
  return framed(canvas, caption);
}

/** Who sends how much to whom: a matrix, and its largest entries as a table. */
export function matrixTab(model) {
  const shown = element('div.stack'),
    kinds = model.summary.populations?.list?.length > 0 ? ['population', 'part'] : ['part'];
  const read = async (by) => {
    const { unit, of, folded, names, rows } = await model.ask(`/matrix?by=${by}`);
    const name = (i) => names?.[i] ?? (folded > 1 ? `${i * folded}–${Math.min(of, (i + 1) * folded) - 1}` : String(i));
    return [
      grid(rows, `${unit} from each ${by} (row) to each (column), the table has the largest`),
      element(
        'p.quiet',
        `${unit} from ${by} (rows) to ${by} (columns), ${count(of)} of them${folded > 1 ? `, ${count(folded)} a row` : ''}; the scale is logarithmic`,
      ),
      table({ label: `Largest entries, ${unit}`, empty: 'Nothing is sent from one to another.' }, largest(rows, LARGEST), [
        [`From ${by}`, ({ from }) => name(from)],
        [`To ${by}`, ({ to }) => name(to)],
        [capital(unit), ({ value }) => si(value), NUMBER],
      ]),
    ];
  };
  const show = (by) => shownIn(shown, read(by));
  show(kinds[0]);
  return element(
    'div.stack',
    kinds.length > 1 &&
      select(
        { 'aria-label': 'Rows of the matrix', onchange: (event) => show(event.target.value) },
        kinds.map((kind) => [kind, `by ${kind}`]),
      ),
    shown,
  );
}
