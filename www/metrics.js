// The metrics of a mapping: names as the server gives them, labels, units, and which way is better.

import { count, NONE, si } from './format.js';

const energy = (value) => si(value * 1e-12, 'J', 4);
const latency = (value) => si(value * 1e-9, 's', 4);
const figure = (value) => si(value, '', 4);

/** better: -1 less is better, 1 more is better, 0 neither. where: shown where that metric is above 0. */
export const METRICS = [
  { name: 'energy_pj', label: 'Energy', show: energy, better: -1, note: 'all packets, routers and links' },
  {
    name: 'step_ns',
    label: 'Time step',
    show: latency,
    better: -1,
    note: 'busiest core, port or link, and the barrier',
  },
  { name: 'core_ns_max', label: 'Busiest core', show: latency, better: -1, note: 'without contention' },
  { name: 'energy_step_pj', label: 'Energy of a step', show: energy, better: -1, note: 'packets, synapses, neurons, hops, and the way in of inputs outside' },
  { name: 'barrier_ns', label: 'Barrier', show: latency, better: -1, note: 'between steps, by the tiles in use' },
  { name: 'energy_packets_pj', label: 'Energy of packets', show: energy, better: -1, note: 'sent and received' },
  { name: 'energy_synapses_pj', label: 'Energy of synapses', show: energy, better: 0, note: 'the same in every mapping' },
  { name: 'energy_neurons_pj', label: 'Energy of neurons', show: energy, better: 0, note: 'the same in every mapping' },
  { name: 'latency_mean_ns', label: 'Latency, mean', show: latency, better: -1, note: 'weighted by traffic' },
  { name: 'latency_max_ns', label: 'Latency, maximum', show: latency, better: -1 },
  {
    name: 'congestion_mean',
    label: 'Congestion, mean',
    unit: 'packets',
    show: figure,
    better: -1,
    note: 'over all cores of the chip',
  },
  { name: 'congestion_max', label: 'Congestion, maximum', unit: 'packets', show: figure, better: -1 },
  {
    name: 'link_load_mean',
    label: 'Link load, mean',
    unit: 'packets',
    show: figure,
    better: -1,
    note: 'under the chip’s own routing',
  },
  {
    name: 'link_load_max',
    label: 'Link load, maximum',
    unit: 'packets',
    show: figure,
    better: -1,
    note: 'links, and inlets and outlets of cores',
  },
  { name: 'port_load_max', label: 'Port load, maximum', unit: 'packets', show: figure, better: -1, note: 'of a core' },
  {
    name: 'multicast_port_load_max',
    label: 'Multicast port load, maximum',
    unit: 'packets',
    show: figure,
    better: -1,
    note: 'of a core',
  },
  {
    name: 'saturation_load',
    label: 'Saturation load',
    unit: 'steps a second',
    show: (value) => figure(value * 1e9),
    better: 1,
    note: 'at which the busiest port or link is full',
  },
  {
    name: 'hop_traffic',
    label: 'Hop traffic',
    unit: 'packets × hops',
    show: figure,
    better: -1,
    note: 'once for each target core',
  },
  {
    name: 'multicast_hops',
    label: 'Multicast hops',
    unit: 'packets × links',
    show: figure,
    better: -1,
    note: 'union of the routes of an axon',
  },
  {
    name: 'multicast_energy_pj',
    label: 'Multicast energy',
    show: energy,
    better: -1,
    note: 'each axon once along that union',
  },
  { name: 'multicast_link_load_mean', label: 'Multicast link load, mean', unit: 'packets', show: figure, better: -1 },
  { name: 'multicast_link_load_max', label: 'Multicast link load, maximum', unit: 'packets', show: figure, better: -1 },
  {
    name: 'edge_hop_traffic',
    label: 'Hop traffic of synapses',
    unit: 'weight × hops',
    show: figure,
    better: -1,
    note: 'once for each synapse',
  },
  {
    name: 'connectivity',
    label: 'Connectivity',
    unit: 'weight',
    show: figure,
    better: -1,
    note: 'weight × (parts touched − 1)',
  },
  { name: 'cut_net', label: 'Cut nets', unit: 'weight', show: figure, better: -1 },
  { name: 'edge_cut', label: 'Edge cut', unit: 'weight', show: figure, better: -1 },
  {
    name: 'synaptic_reuse_mean',
    label: 'Synaptic reuse, mean',
    unit: 'synapses per axon',
    show: figure,
    better: 1,
  },
  {
    name: 'balance',
    label: 'Balance',
    unit: '× mean',
    show: figure,
    better: -1,
    note: 'largest part to mean part',
  },
  { name: 'cores_used', label: 'Cores used', show: count, better: -1 },
  { name: 'largest_part', label: 'Largest part', unit: 'neurons', show: count, better: 0 },
  { name: 'most_synapses', label: 'Most synapses on a core', show: count, better: 0 },
  { name: 'most_inbound_axons', label: 'Most inbound axons of a core', show: count, better: 0 },
  { name: 'most_outbound_axons', label: 'Most outbound axons of a core', show: count, better: 0 },
  { name: 'most_target_cores', label: 'Most target cores of a core', show: count, better: 0 },
  { name: 'outside_inputs', label: 'Inputs outside the chip', show: count, better: 0, where: 'outside_inputs' },
  {
    name: 'border_packets',
    label: 'Packets from the border',
    unit: 'packets',
    show: figure,
    better: 0,
    note: 'each once, of inputs outside the chip',
    where: 'outside_inputs',
  },
  {
    name: 'border_hops',
    label: 'Hops from the border',
    unit: 'packets × hops',
    show: figure,
    better: -1,
    note: 'to the core where they come in',
    where: 'outside_inputs',
  },
  {
    name: 'border_energy_pj',
    label: 'Energy from the border',
    show: energy,
    better: -1,
    note: 'not in the energy above',
    where: 'outside_inputs',
  },
];

/** Whether a mapping has something to say of a metric: it is among its metrics, and so is what it is about. */
export function isShown(metric, metrics) {
  return metric.name in metrics && (!metric.where || metrics[metric.where] > 0);
}

export function metricText(metric, metrics) {
  const value = metrics?.[metric.name];
  return value === null || value === undefined ? NONE : metric.show(value);
}

/** 1 when b is better than a, -1 when worse, 0 when equal or when the metric has no better side. */
export function verdict(metric, a, b) {
  if (!metric.better || !Number.isFinite(a) || !Number.isFinite(b) || a === b) return 0;
  return Math.sign(b - a) * metric.better;
}
