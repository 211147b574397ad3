// What a simulation came to: a step, latency against load, and the map over time.

import { element, facts, fill, section } from './dom.js';
import { count, NONE, si, time as seconds } from './format.js';
import { histogramPlot, scatterPlot } from './plots.js';
import { simulationMap } from './simulationmap.js';
import { NUMBER, table } from './table.js';

const rate = (load) => si(load * 1e9, 'steps/s', 4);

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
