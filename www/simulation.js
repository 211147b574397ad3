// What a simulation came to: a step, latency against load, and the map over time.

import { range } from './colour.js';
import { element, facts, fill, section, svg } from './dom.js';
import { count, NONE, si, time as seconds } from './format.js';
import { simulationMap } from './simulationmap.js';
import { NUMBER, table } from './table.js';

const rate = (load) => si(load * 1e9, 'steps/s', 4);

function stepsFacts(steps) {
  if (!steps) return null;
  const { latency } = steps;
  return section(
    'Time steps',
    facts([
      ['Steps', count(steps.count)],
      ['Mean', seconds(steps.step_ns_mean)],
      ['Longest', seconds(steps.step_ns_max)],
      ['Without contention', seconds(steps.contention_free_ns_mean), 'what the busiest core alone takes'],
      ['Barrier, in each of them', seconds(steps.barrier_ns)],
      ['Latency, mean', seconds(latency.mean_ns)],
      ['Latency, 95 %', seconds(latency.p95_ns)],
      ['Latency, longest', seconds(latency.max_ns)],
      ['Packets', count(steps.packets)],
      ['Hops', count(steps.hops)],
      steps.deadlock && ['Deadlock', 'packets were stuck'],
    ]),
  );
}

// ---- latency against load ----

const WIDTH = 640,
  HEIGHT = 260,
  LEFT = 70,
  RIGHT = 20,
  TOP = 14,
  BOTTOM = 40;

/** The plot's points in pixels: load along x from 0, latency along y by its logarithm. */
export function curvePoints(curve) {
  const points = curve.filter((point) => point.load > 0 && point.latency_mean_ns > 0).toSorted((a, b) => a.load - b.load);
  if (points.length === 0) return { points: [], least: 0, most: 0, highest: 0 };
  const { min: least, max: most } = range(points.map((point) => point.latency_mean_ns));
  const highest = points.at(-1).load,
    span = Math.log(most / least) || 1;
  return {
    least,
    most,
    highest,
    points: points.map((point) => ({
      ...point,
      x: LEFT + ((WIDTH - LEFT - RIGHT) * point.load) / highest,
      y: HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * Math.log(point.latency_mean_ns / least)) / span,
    })),
  };
}

function plot(saturation) {
  const { points, least, most, highest } = curvePoints(saturation.curve);
  if (points.length === 0) return null;
  const full = LEFT + ((WIDTH - LEFT - RIGHT) * saturation.load) / highest;
  const text = (x, y, anchor, words) => svg('text', { x, y, 'text-anchor': anchor }, words);
  return svg(
    'svg',
    {
      class: 'plot load-plot',
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: 'img',
      'aria-label': 'Mean latency against load; the table has the figures',
    },
    svg('path', { class: 'axis', d: `M${LEFT} ${TOP}V${HEIGHT - BOTTOM}H${WIDTH - RIGHT}` }),
    svg('path', { class: 'full', d: `M${full} ${TOP}V${HEIGHT - BOTTOM}` }),
    svg('polyline', { class: 'curve', points: points.map(({ x, y }) => `${x},${y}`).join(' ') }),
    points.map(({ x, y, saturated }) => svg('circle', { class: saturated ? 'point saturated' : 'point', cx: x, cy: y, r: 3.5 })),
    text(LEFT - 8, HEIGHT - BOTTOM, 'end', seconds(least)),
    text(LEFT - 8, TOP + 8, 'end', seconds(most)),
    text(LEFT, HEIGHT - BOTTOM + 18, 'start', '0'),
    text(WIDTH - RIGHT, HEIGHT - BOTTOM + 18, 'end', rate(highest)),
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 4, 'middle', 'load; mean latency upwards, logarithmic'),
  );
}

function loadSection(saturation) {
  if (!saturation) return null;
  return section(
    'Latency against load',
    element('p', {}, `The network keeps up with ${rate(saturation.load)}; at ${rate(saturation.fails_at)} it does not.`),
    plot(saturation),
    table(
      'Mean latency at every load that was tried',
      [
        ['Load', ({ load }) => rate(load), NUMBER],
        ['Mean latency', ({ latency_mean_ns: latency }) => (latency > 0 ? seconds(latency) : NONE), NUMBER],
        ['Saturated', ({ saturated }) => (saturated ? 'yes' : 'no')],
      ],
      saturation.curve.toSorted((a, b) => a.load - b.load),
    ),
  );
}

/** The sections of a simulation's report. */
export function simulationSections({ report, options }, _metricList, signal) {
  const { steps, stream, saturation } = report;
  const node = element('div', { class: 'stack' });
  const streamed =
    stream &&
    section(
      'Steady stream',
      facts([
        ['Load', rate(stream.load)],
        ['Latency, mean', seconds(stream.latency.mean_ns)],
        ['Unhindered, mean', seconds(stream.unhindered_mean_ns)],
        ['Saturated', stream.saturated ? 'yes' : 'no'],
      ]),
    );
  return fill(node, stepsFacts(steps), simulationMap(report, options.mapping, signal), loadSection(saturation), streamed);
}
