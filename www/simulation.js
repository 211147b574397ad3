// What a simulation came to: a step, latency against load, and the grid of routers over time.

import { range, viridis } from './colour.js';
import { element, facts, fill, link, section, setText, svg } from './dom.js';
import { count, NONE, si, time as seconds } from './format.js';
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

/** Links and ports that most packets passed, with links to the mapping's page, where their axons stand. */
function hottestSection(hottest, mapping) {
  if (!hottest?.length) return null;
  return section(
    'Hottest links and ports',
    mapping && element('p', { class: 'quiet' }, link(`#/mappings/${encodeURIComponent(mapping)}?tab=links`, 'Their axons'), ' stand on the mapping’s page.'),
    table(
      'Hottest links and ports',
      [
        ['Link or port', ({ kind, x, y, direction, from, to }) => (direction ? `${x}, ${y} to the ${direction}` : from !== undefined ? `router ${from} to ${to}` : `${kind} of core ${x}, ${y}`)],
        ['Packets', ({ packets }) => count(packets), NUMBER],
        ['Packets a second', ({ packets_per_ns: pace }) => si(pace * 1e9), NUMBER],
      ],
      hottest,
    ),
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
    points.map(({ x, y, saturated }) =>
      svg('circle', { class: saturated ? 'point saturated' : 'point', cx: x, cy: y, r: 3.5 }),
    ),
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
    element(
      'p',
      {},
      `The network keeps up with ${rate(saturation.load)}; at ${rate(saturation.fails_at)} it does not.`,
    ),
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

// ---- the grid over time ----

const CELL_MOST = 40,
  GRID_MOST = 640;

function gridSection(frames) {
  if (!frames?.packets?.length) return null;
  const { columns, packets, ns } = frames;
  const rows = packets[0].length / columns;
  const most = Math.max(...packets.map((frame) => Math.max(...frame)), 1);
  const cell = Math.max(2, Math.min(CELL_MOST, Math.floor(GRID_MOST / Math.max(columns, rows))));
  const canvas = element('canvas', {
    class: 'plot',
    width: columns * cell,
    height: rows * cell,
    role: 'img',
    'aria-label': 'Packets that pass each router, in the time chosen',
  });
  const readout = element('output', { 'aria-live': 'polite' });
  const slider = element('input', {
    type: 'range',
    min: 0,
    max: packets.length - 1,
    value: 0,
    'aria-label': 'Time',
    oninput: () => show(Number(slider.value)),
  });
  function show(frame) {
    const context = canvas.getContext('2d');
    const passed = packets[frame];
    for (let i = 0; i < passed.length; i++) {
      context.fillStyle = `rgb(${viridis(passed[i] / most).join(' ')})`;
      context.fillRect((i % columns) * cell, Math.floor(i / columns) * cell, cell, cell);
    }
    const busiest = passed.indexOf(Math.max(...passed));
    setText(
      readout,
      `${seconds(frame * ns)} to ${seconds((frame + 1) * ns)}: ${count(passed.reduce((a, b) => a + b, 0))} packets passed routers, ` +
        `${count(passed[busiest])} the busiest, at ${busiest % columns}, ${Math.floor(busiest / columns)}`,
    );
  }
  show(0);
  return section(
    'The grid over time',
    element('p', { class: 'quiet' }, `What passes each router in the first step, in frames of ${seconds(ns)}; `,
      `brightest: ${count(most)} packets`),
    canvas,
    element('div', { class: 'map-tools' }, slider, readout),
  );
}

/** The sections of a simulation's report. */
export function simulationSections({ report: { steps, stream, saturation, frames }, options }) {
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
  return fill(node, stepsFacts(steps), hottestSection(steps?.hottest, options?.mapping), loadSection(saturation), streamed, gridSection(frames));
}
