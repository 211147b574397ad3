// How a job's progress went: its share over time, the objective of the phase under way, phases as bands.

import { element, svg } from './dom.js';
import { duration, si, words } from './format.js';

const WIDTH = 640,
  HEIGHT = 90;

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
  const end = points.at(-1).seconds || 1,
    x = (seconds) => (seconds / end) * WIDTH,
    metrics = points.filter(({ metric }) => Number.isFinite(metric)),
    most = Math.max(...metrics.map(({ metric }) => metric), 1e-9),
    line = (list, of, kind) => (list.length > 1 ? svg('polyline', { class: kind, points: list.map((point) => `${x(point.seconds)},${HEIGHT * (1 - of(point))}`).join(' ') }) : null);
  const phases = bands(points);
  return element(
    'figure',
    { class: 'plot-box' },
    svg(
      'svg',
      { viewBox: `0 -2 ${WIDTH} ${HEIGHT + 4}`, class: 'small-plot progress-plot', preserveAspectRatio: 'none', role: 'img', 'aria-label': 'Progress over time' },
      phases.map(({ phase, from, to }, i) => svg('rect', { x: x(from), y: 0, width: Math.max(0, x(to) - x(from)), height: HEIGHT, class: i % 2 ? 'band odd' : 'band' }, svg('title', {}, `${words(phase)}: ${duration(to - from)}`))),
      line(points, ({ fraction }) => fraction, 'curve'),
      line(metrics, ({ metric }) => metric / most, 'metric'),
    ),
    element('figcaption', {}, element('span', {}, `share of the job done${metrics.length > 1 ? `, and the phase’s objective (dashed, up to ${si(most)})` : ''}`), element('span', {}, duration(end))),
  );
}
