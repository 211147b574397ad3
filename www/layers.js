// What the heat map can show: one array of values over all cores per layer. NaN: nothing to show at this core.

import { NO_PART } from './binary.js';

const ofParts = (pick) => (cores) => {
  const values = new Float64Array(cores.part.length);
  for (let i = 0; i < values.length; i++) values[i] = cores.part[i] === NO_PART ? NaN : pick(cores, i);
  return values;
};

/** limit: the name of the chip limit that the layer's figure is held against. */
export const LAYERS = [
  {
    id: 'neurons',
    label: 'Neurons',
    unit: 'neurons',
    limit: 'neurons',
    values: ofParts((c, i) => c.neurons[i]),
  },
  {
    id: 'synapses',
    label: 'Synapses',
    unit: 'synapses',
    limit: 'synapses',
    values: ofParts((c, i) => c.synapses[i]),
  },
  {
    id: 'axons',
    label: 'Inbound axons',
    unit: 'axons',
    limit: 'inbound_axons',
    values: ofParts((c, i) => c.inboundAxons[i]),
  },
  {
    id: 'traffic',
    label: 'Traffic',
    unit: 'packets in and out',
    values: ofParts((c, i) => c.trafficIn[i] + c.trafficOut[i]),
  },
  {
    id: 'congestion',
    label: 'Congestion',
    unit: 'packets passing',
    // Packets also pass cores that host no neurons; only where nothing passes is there nothing to show.
    values: (cores) => Float64Array.from(cores.congestion, (value) => (value > 0 ? value : NaN)),
  },
  {
    id: 'population',
    label: 'Layers',
    unit: '',
    kinds: true, // values are numbers of the mapping's populations
    values: (cores, { populations }) =>
      Float64Array.from(cores.part, (part) => (part === NO_PART ? NaN : populations.of_parts[part])),
  },
  { id: 'occupancy', label: 'Occupancy', unit: '', categories: true },
];

/** The layers that a mapping can show: one of a network without populations has none to colour by. */
export const layersOf = (summary) =>
  LAYERS.filter((layer) => !layer.kinds || summary.populations?.of_parts?.length > 0);

export const FREE = 0,
  HERE = 1,
  TAKEN = 2,
  BROKEN = 3;

/** The chip's occupancy now with this mapping's own cores on top: one category per core, and each owner's count. */
export function categories(occupancy, cores) {
  const { width, height } = cores;
  const kind = new Uint8Array(width * height),
    owner = new Uint16Array(width * height);
  const owners = [''],
    counts = [0];
  const fill = ([x0, y0, x1 = x0, y1 = y0], value, index) => {
    for (let y = Math.max(0, y0); y <= Math.min(y1, height - 1); y++) {
      for (let x = Math.max(0, x0); x <= Math.min(x1, width - 1); x++) {
        kind[y * width + x] = value;
        owner[y * width + x] = index;
      }
    }
  };
  for (const taken of occupancy?.taken ?? []) {
    owners.push(taken.owner || 'no name');
    for (const box of taken.cores) fill(box, TAKEN, owners.length - 1);
  }
  for (const box of occupancy?.broken ?? []) fill(box, BROKEN, 0);
  const totals = [0, 0, 0, 0];
  for (let i = 0; i < kind.length; i++) {
    if (cores.part[i] !== NO_PART) kind[i] = HERE;
    totals[kind[i]]++;
    if (kind[i] === TAKEN) counts[owner[i]] = (counts[owner[i]] ?? 0) + 1;
  }
  return { kind, owner, owners, counts, totals, fragmentation: occupancy?.fragmentation };
}

/** The `most` cores with the largest values, largest first; ties by core number. O(n log most). */
export function busiest(values, most) {
  const kept = [];
  for (let core = 0; core < values.length; core++) {
    const value = values[core];
    if (value !== value || (kept.length === most && value <= values[kept[most - 1]])) continue;
    let low = 0,
      high = kept.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (values[kept[mid]] >= value) low = mid + 1;
      else high = mid;
    }
    kept.splice(low, 0, core);
    if (kept.length > most) kept.pop();
  }
  return kept;
}
