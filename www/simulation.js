// What a simulation came to: a step, latency against load; and on its mapping's own map packets over time, played or moved through, and the
// hottest links and ports with the axons that fill them.

import { paint, palette } from './colour.js';
import { element, facts, fill, link, section, setText } from './dom.js';
import { flowOverlay, getFlows, neuronName, placeOf, questionOf } from './flows.js';
import { count, NONE, si, time, time as seconds } from './format.js';
import { HeatMap } from './heatmap.js';
import { startView } from './mapping.js';
import { Model } from './model.js';
import { histogramPlot, scatterPlot } from './plots.js';
import { actButton, shownIn } from './problem.js';
import { onTheme } from './surface.js';
import { figures, NUMBER, table } from './table.js';
import { View } from './view.js';

const rate = (load) => `${si(load * 1e9, '', 4)} steps a second`;

/** How many packets take how long; reports of older releases do not say. */
const latencies = ({ histogram: counts, max_ns: most }) =>
  counts && [element('h3', 'How long packets take'), histogramPlot('Latency', [], { counts, most, show: seconds, of: 'packets' })];

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
    latencies(latency),
  );
}

/** Mean latency, by its logarithm, against load. */
function plot({ curve, load }) {
  const points = curve
    .filter((point) => point.load > 0 && point.latency_mean_ns > 0)
    .toSorted((a, b) => a.load - b.load)
    .map((point) => ({
      x: point.load,
      y: Math.log(point.latency_mean_ns),
      look: point.saturated ? 'saturated' : '',
      label: `${rate(point.load)}: ${seconds(point.latency_mean_ns)}`,
    }));
  if (points.length === 0) return null;
  return scatterPlot('Mean latency against load; the table has the figures', points, {
    xLabel: 'load',
    yLabel: 'mean latency, logarithmic',
    showX: rate,
    showY: (value) => seconds(Math.exp(value)),
    boundX: load,
    front: points,
  });
}

function loadSection(saturation) {
  if (!saturation) return null;
  return section(
    'Latency against load',
    element('p', `The network keeps up with ${rate(saturation.load)}; at ${rate(saturation.fails_at)} it does not.`),
    plot(saturation),
    table(
      'Mean latency at every load that was tried',
      saturation.curve.toSorted((a, b) => a.load - b.load),
      [
        ['Load', ({ load }) => rate(load)],
        ['Mean latency', ({ latency_mean_ns: latency }) => (latency > 0 ? seconds(latency) : NONE), NUMBER],
        ['Saturated', ({ saturated }) => (saturated ? 'yes' : 'no')],
      ],
    ),
  );
}

/** The sections of a simulation's report. */
export function simulationSections({ report, options }, _metricList, signal) {
  const { steps, stream, saturation } = report;
  const node = element('div.stack');
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
      latencies(stream.latency),
    );
  return fill(node, stepsFacts(steps), simulationMap(report, options.mapping, signal), loadSection(saturation), streamed);
}

const FRAME_MS = 250, // of the player
  FULLEST = 32, // links and ports that the mapping tells axons of
  AXONS = 3,
  COLOURS = palette();

/** The values of a frame by core: what passes its router; NaN: nothing does. */
export function frameValues(model, passed) {
  return Float64Array.from({ length: model.width * model.height }, (_, core) => passed[model.routerOf(core)] || NaN);
}

/** The first step on the map: {node, draw(flows, text)}. */
function player(model, { packets, ns }, signal) {
  const view = new View(model.width, model.height),
    most = packets.reduce((top, frame) => frame.reduce((a, b) => Math.max(a, b), top), 1);
  let at = 0,
    timer = null;
  const passing = (core) => `${count(packets[at][model.routerOf(core)], 'packets')} through its router`,
    describe = (core) => (core < 0 ? '' : `Core ${model.place(core)}: ${passing(core)}`);
  const { chip, absent } = model,
    map = new HeatMap(view, { label: `Packets on ${chip.name} over time`, chip, absent, region: model.summary.region, describe, signal });
  const passed = element('p.passed', { role: 'status' }),
    told = element('p.map-told', { role: 'status' });
  const slider = element('input', {
    type: 'range',
    min: 0,
    max: packets.length - 1,
    value: 0,
    'aria-label': 'Time',
    oninput: () => show(Number(slider.value)),
  });
  const play = element('button.button.small', { onclick: () => (timer ? stop() : start()) }, 'Play');
  function show(frame) {
    at = frame;
    slider.value = String(frame);
    paint(frameValues(model, packets[at]), map.pixels, { min: 0, max: most }, COLOURS, map.tone('empty'));
    map.repaint();
    const busiest = packets[at].reduce((best, value, i) => (value > packets[at][best] ? i : best), 0),
      columns = model.routersX;
    setText(
      passed,
      `${time(at * ns)} to ${time((at + 1) * ns)}: ${count(
        packets[at].reduce((a, b) => a + b, 0),
        'packets',
      )} passed routers, ` + `${count(packets[at][busiest])} the busiest, at ${busiest % columns}, ${Math.floor(busiest / columns)}`,
    );
  }
  function stop() {
    clearInterval(timer);
    timer = null;
    setText(play, 'Play');
  }
  function start() {
    if (at === packets.length - 1) show(0);
    timer = setInterval(() => (at < packets.length - 1 ? show(at + 1) : stop()), FRAME_MS);
    setText(play, 'Stop');
  }
  signal.addEventListener('abort', stop);
  onTheme(() => show(at), signal);
  return {
    node: section(
      'The first step on the map',
      element('p.quiet', `What passes each router, in frames of ${time(ns)}; brightest: ${count(most, 'packets')}`),
      element('div.map-tools', play, slider, passed),
      map.figure(told),
    ),
    begin: () => {
      if (map.region) startView(view, [map.region], map.size);
      show(0);
    },
    draw: (flows, text) => {
      map.overlay = flowOverlay(map, flows);
      setText(told, text);
      map.redraw();
      map.canvas.scrollIntoView({ block: 'nearest' });
    },
  };
}

function hottestTable(model, hottest, axons, onDraw) {
  const known = new Map(axons.map((one) => [placeOf(one), one.axons.map((axon) => `${neuronName(axon)} on ${axon.x}, ${axon.y}`).join('; ')]));
  const draw = async (one) => {
    const flows = await getFlows(model.id, questionOf(one));
    onDraw({ out: flows.out, in: flows.in }, `${placeOf(one)}: ${count(flows.out.length + flows.in.length, 'flows')}`);
  };
  return table('Hottest links and ports', hottest, [
    ['Link or port', (one) => (onDraw ? actButton(placeOf(one), () => draw(one), { class: 'link' }) : placeOf(one))],
    ...figures(count, { Packets: 'packets' }),
    ['Packets a second', ({ packets_per_ns: pace }) => si(pace * 1e9), NUMBER],
    ['Axons that fill it most', (one) => known.get(placeOf(one)) || 'none of the fullest by rates'],
  ]);
}

/** What a simulation shows on the map of its mapping, once that is read; nothing where the mapping is gone. */
export function simulationMap({ frames, steps }, id, signal) {
  async function read() {
    const model = await Model.load(id, signal),
      shown = frames?.packets?.length > 0 && player(model, frames, signal),
      { links = [], ports = [] } = steps?.hottest?.length > 0 ? await model.ask(`/links?sort=load&limit=${FULLEST}&axons=${AXONS}`) : {};
    if (shown) requestAnimationFrame(shown.begin); // when it has a size
    return [
      shown && shown.node,
      steps?.hottest?.length > 0 &&
        section(
          'Hottest links and ports',
          element('p.quiet', shown && 'A press draws what passes. ', link(`#/mappings/${encodeURIComponent(id)}?tab=links`, 'The mapping'), ' has more.'),
          hottestTable(model, steps.hottest, [...links, ...ports], shown && shown.draw),
        ),
    ];
  }
  return shownIn(element('div.stack'), read());
}
