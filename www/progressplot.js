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
    line = (list, of, kind) =>
      list.length > 1 ? svg('polyline', { class: kind, points: list.map((point) => `${x(point.seconds)},${HEIGHT * (1 - of(point))}`).join(' ') }) : null;
  const phases = bands(points),
    known = points.filter(({ metric }) => Number.isFinite(metric)),
    last = known.at(-1);
  /** A phase's objective, and what it cannot be below, as shares of its most: each phase has one of its own. */
  const objective = ({ phase, from, to }) => {
    const own = known.filter((point) => point.phase === phase && point.seconds >= from && point.seconds <= to),
      most = Math.max(...own.map(({ metric }) => metric), 1e-9);
    return [
      line(own, ({ metric }) => metric / most, 'metric'),
      line(
        own.filter(({ bound }) => bound > 0),
        ({ bound }) => bound / most,
        'bound',
      ),
    ];
  };
  return element(
    'figure.plot-box',
    svg(
      'svg',
      {
        viewBox: `0 -2 ${WIDTH} ${HEIGHT + 4}`,
        class: 'small-plot progress-plot',
        preserveAspectRatio: 'none',
        role: 'img',
        'aria-label': 'Progress over time',
      },
      phases.map(({ phase, from, to }, i) =>
        svg(
          'rect',
          { x: x(from), y: 0, width: Math.max(0, x(to) - x(from)), height: HEIGHT, class: i % 2 ? 'band odd' : 'band' },
          svg('title', {}, `${words(phase)}: ${duration(to - from)}`),
        ),
      ),
      line(points, ({ fraction }) => fraction, 'curve'),
      phases.flatMap(objective),
    ),
    element(
      'figcaption',
      element('span', 'share of the job done'),
      last && element('span', `dashed, each phase’s objective: ${si(last.metric)}`, last.bound > 0 && `; dotted, no result is below: ${si(last.bound)}`),
      element('span', duration(end)),
    ),
  );
}
