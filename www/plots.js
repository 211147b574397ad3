// Small SVG plots: a histogram with a limit, points with lines of bounds.

import { range } from './colour.js';
import { element, svg } from './dom.js';

const WIDTH = 320;

/** How many values are in each of `bins` steps from 0 to `most`. */
export function histogram(values, most, bins = 24) {
  const counts = new Array(bins).fill(0);
  for (const value of values) if (value === value) counts[Math.min(bins - 1, Math.max(0, Math.floor((value / most) * bins)))]++;
  return counts;
}

/** Of values, or of `counts` of them in equal steps up to `most`. onBrush(low, high): a range of values was pressed or dragged over. */
export function histogramPlot(label, values, { limit, most, show, of = 'cores', counts: known }, onBrush = () => {}) {
  const end = Math.max(limit ?? 0, most) || 1,
    counts = known ?? histogram(values, end),
    tallest = Math.max(...counts, 1),
    height = 54,
    step = WIDTH / counts.length;
  const bars = counts.map((number, i) => {
    const tall = number > 0 ? Math.max(2, (number / tallest) * height) : 0;
    return svg('rect', { x: i * step + 0.5, y: height - tall, width: step - 1, height: tall, class: 'bin' });
  });
  const plot = svg(
    'svg',
    { viewBox: `0 -2 ${WIDTH} ${height + 4}`, class: 'small-plot', role: 'img', 'aria-label': `${label}: how many ${of} have how much` },
    bars,
    svg('line', { x1: 0, x2: WIDTH, y1: height, y2: height, class: 'axis' }),
    limit ? svg('line', { x1: (limit / end) * WIDTH - 1, x2: (limit / end) * WIDTH - 1, y1: -2, y2: height, class: 'limit' }) : null,
  );
  let from = null;
  const bin = (event) => {
    const box = plot.getBoundingClientRect();
    return Math.min(counts.length - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * counts.length)));
  };
  const brush = (a, b) => {
    bars.forEach((bar, i) => bar.classList.toggle('lit', i >= a && i <= b));
    onBrush((a / counts.length) * end, b === counts.length - 1 ? Infinity : ((b + 1) / counts.length) * end);
  };
  plot.addEventListener('pointerdown', (event) => {
    plot.setPointerCapture(event.pointerId);
    from = bin(event);
    brush(from, from);
  });
  plot.addEventListener('pointermove', (event) => from !== null && brush(Math.min(from, bin(event)), Math.max(from, bin(event))));
  plot.addEventListener('pointerup', () => (from = null));
  return element('figure.plot-box', plot, element('figcaption', element('span', '0'), element('span', show(end))));
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
  const line = (x1, y1, x2, y2, kind) => svg('line', { x1, y1, x2, y2, class: kind });
  return svg(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, class: 'plot load-plot', role: 'group', 'aria-label': label },
    line(left, height - bottom, width - pad, height - bottom, 'axis'),
    line(left, pad, left, height - bottom, 'axis'),
    Number.isFinite(boundX) && line(x.at(boundX), pad, x.at(boundX), height - bottom, 'limit'),
    Number.isFinite(boundY) && line(left, y.at(boundY), width - pad, y.at(boundY), 'limit'),
    front.length > 1 && svg('polyline', { points: front.map((point) => `${x.at(point.x)},${y.at(point.y)}`).join(' '), class: 'curve' }),
    dots,
    text(left, height - bottom + 16, showX(x.min), 'start'),
    text(width - pad, height - bottom + 16, showX(x.max), 'end'),
    text((left + width - pad) / 2, height - 6, xLabel, 'middle'),
    text(left - 6, height - bottom, showY(y.min), 'end'),
    text(left - 6, pad + 10, showY(y.max), 'end'),
    text(8, pad - 4, yLabel, 'start'),
  );
}
