// What the heat map can show: a value of each core per layer; who has which core; pins.

import { percent, si, time } from './format.js';
import { NO_PART } from './tiles.js';

/** Of a core in use what columns of cores have of it. */
const used =
  (pick) =>
  ({ cores }, core) =>
    cores.part[core] === NO_PART ? NaN : pick(cores, core);

/** A layer by what cores.json tells of each core, and of a block of cores. */
const told = (pick, block = pick) => ({
  details: true,
  block,
  value: ({ details, summary }, core) => {
    const one = details.at.get(core);
    return one ? (pick(one, summary) ?? NaN) : NaN;
  },
});
/** One of mappings by profile: of a core, and the most of one of a block, which has names of its own. */
const measured = (id, label, unit, pick) => ({ id, label, unit, measured: true, ...told(pick) });
const fullest = ({ shares = {} }) => Object.values(shares).reduce((most, share) => Math.max(most ?? 0, share), undefined);

/** value(model, core): NaN where there is nothing to show. limit: the name of the chip limit that the layer's figure is held against. details: needs what
 * cores.json tells; block(told): of a block of cores. measured: of mappings by profile. show: how a value reads. */
export const LAYERS = [
  { id: 'neurons', label: 'Neurons', unit: 'neurons', limit: 'neurons', value: used((c, i) => c.neurons[i]) },
  { id: 'synapses', label: 'Synapses', unit: 'synapses', limit: 'synapses', value: used((c, i) => c.synapses[i]) },
  { id: 'axons', label: 'Inbound axons', unit: 'axons', limit: 'inbound_axons', value: used((c, i) => c.inboundAxons[i]) },
  { id: 'traffic', label: 'Traffic', unit: 'packets in and out', value: used((c, i) => c.trafficIn[i] + c.trafficOut[i]) },
  // Packets also pass cores that host no neurons; only where nothing passes is there nothing to show.
  { id: 'congestion', label: 'Congestion', unit: 'packets passing', value: ({ cores }, core) => cores.congestion[core] || NaN },
  { id: 'step', label: 'Step time', unit: 'of a step', show: time, ...told(({ core_ns: ns }) => ns) },
  { id: 'fullest', label: 'Fullest limit', unit: 'of the limit that is fullest', show: percent, ...told(fullest) },
  {
    id: 'population',
    label: 'Populations',
    unit: '',
    kinds: true, // values are numbers of the mapping's populations
    ...told(null, ({ population }) => population),
    value: ({ cores, summary }, core) => summary.populations.of_parts[cores.part[core]] ?? NaN,
  },
  measured(
    'rate',
    'Rates',
    'spikes a step of a neuron, in the mean',
    ({ spikes, neurons, neuron_spikes: most }, { measured: { steps } }) => (most ?? spikes / neurons) / steps,
  ),
  measured('silent', 'Silent', 'neurons that never spiked', ({ silent }) => silent),
  measured('peak', 'Peak spikes', 'spikes in its fullest step', ({ peaks, peak_spikes: most }) => most ?? peaks?.spikes),
  measured('peak-in', 'Peak packets', 'packets in, in its fullest step', ({ peaks, peak_packets_in: most }) => most ?? peaks?.packets_in),
  { id: 'occupancy', label: 'Occupancy', unit: '', categories: true },
].map((layer) => ({ show: si, ...layer }));

/** The layers that a mapping can show: one of a network without populations has none to colour by, and rates are measured by profiles. */
export const layersOf = ({ populations, measured }) =>
  LAYERS.filter((layer) => (!layer.kinds || populations?.of_parts?.length > 0) && (!layer.measured || measured));

/** The layer to begin with: the first that is not the same everywhere. */
export function firstLayer(model, layers) {
  const varies = (layer) => !layer.details && !layer.categories && model.layer(layer.id).bounds?.min < model.layer(layer.id).bounds?.max;
  return layers.find(varies) ?? layers[0];
}

/** What cores.json tells of each core, by its number, put in `known`: {at}. */
export function coreDetails({ width, cores }, known = { at: new Map() }) {
  for (const core of cores) known.at.set(core.y * width + core.x, core);
  return known;
}

export const FREE = 0,
  HERE = 1,
  TAKEN = 2,
  BROKEN = 3;

/** Calls take(core, x, y) for the cores of rectangles [x, y] and [x0, y0, x1, y1], as far as they are on the chip. */
export function eachCore(rectangles, width, height, take) {
  for (const [x0, y0, x1 = x0, y1 = y0] of rectangles ?? [])
    for (let y = Math.max(0, y0); y <= Math.min(y1, height - 1); y++)
      for (let x = Math.max(0, x0); x <= Math.min(x1, width - 1); x++) take(y * width + x, x, y);
}

/** By core 1 where a chip has none at this place; null: it has all. */
export function absentOf(chip, width, height) {
  const [rx, ry] = chip?.cores_per_router ?? [1, 1],
    dead = (chip?.dead_routers ?? []).map(([x0, y0, x1 = x0, y1 = y0]) => [x0 * rx, y0 * ry, x1 * rx + rx - 1, y1 * ry + ry - 1]);
  if (dead.length === 0 && !chip?.dead_cores?.length) return null;
  const absent = new Uint8Array(width * height);
  eachCore([...dead, ...(chip.dead_cores ?? [])], width, height, (core) => (absent[core] = 1));
  return absent;
}

/** Who has which core of a chip, as /holders tells it, with this mapping's own cores (`part`) on top: one category a core. look(box): more is known of the
 * mapping's cores in a box [x0, y0, x1, y1]. */
export function categories(holders, { width, height, part }, absent = null) {
  const held = new Uint8Array(width * height),
    owner = new Uint16Array(width * height),
    owners = [{ owner: '' }];
  for (const taken of holders?.taken ?? []) {
    owners.push({ ...taken, owner: taken.owner || 'no name' });
    eachCore(taken.cores, width, height, (core) => {
      held[core] = TAKEN;
      owner[core] = owners.length - 1;
    });
  }
  eachCore(holders?.broken, width, height, (core) => (held[core] = BROKEN));
  const kind = new Uint8Array(held.length),
    totals = [0, 0, 0, 0],
    counts = new Array(owners.length).fill(0);
  const count = (core, by) => {
    if (kind[core] !== HERE && absent?.[core]) return;
    totals[kind[core]] += by;
    if (kind[core] === TAKEN) counts[owner[core]] += by;
  };
  const take = (core) => {
    kind[core] = part && part[core] !== NO_PART ? HERE : held[core];
    count(core, 1);
  };
  for (let core = 0; core < kind.length; core++) take(core);
  const look = (box) => eachCore([box], width, height, (core) => (count(core, -1), take(core)));
  return { width, height, kind, owner, owners, counts, totals, look };
}

/** The largest box of free cores, {x0, y0, x1, y1}; null: none is free. The first from the top, then from the left. O(cores). */
export function largestFree({ kind, width, height }, absent = null) {
  const above = new Uint32Array(width + 1); // how many free cores end in this row, by column; behind the last none
  let best = null,
    most = 0;
  for (let y = 0; y < height; y++) {
    const stack = []; // columns from which on all are at least so tall, [x, tall], taller and taller
    for (let x = 0; x <= width; x++) {
      if (x < width) above[x] = kind[y * width + x] === FREE && !absent?.[y * width + x] ? above[x] + 1 : 0;
      let from = x;
      while (stack.length > 0 && stack.at(-1)[1] >= above[x]) {
        const [first, tall] = stack.pop();
        if (tall * (x - first) > most) [most, best] = [tall * (x - first), { x0: first, y0: y + 1 - tall, x1: x - 1, y1: y }];
        from = first;
      }
      stack.push([from, above[x]]);
    }
  }
  return best;
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

/** Rectangles {x, y, width, height, name} of all pins: at is [x, y], [x0, y0, x1, y1], a list of them, or columns, rows, a router, a chip. */
export function pinsOf(constraints, { width, height, router, die }) {
  const rectangle = ([x0, y0, x1 = x0, y1 = y0]) => ({ x: x0, y: y0, width: x1 - x0 + 1, height: y1 - y0 + 1 });
  const block = ([x, y], [wide, high]) => ({ x: x * wide, y: y * high, width: wide, height: high });
  const span = (value, most) => (value === undefined ? [0, most - 1] : Array.isArray(value) ? value : [value, value]);
  const boxes = (at) => {
    if (Array.isArray(at)) return Array.isArray(at[0]) ? at.map(rectangle) : [rectangle(at)];
    if (at.router) return [block(at.router, router)];
    if (at.chip) return [block(at.chip, die)];
    const [x0, x1] = span(at.columns ?? at.column, width),
      [y0, y1] = span(at.rows ?? at.row, height);
    return [rectangle([x0, y0, x1, y1])];
  };
  return (constraints ?? []).flatMap((one, number) =>
    one.kind === 'pin' ? boxes(one.at).map((box) => ({ ...box, name: one.name || `constraint ${number + 1}` })) : [],
  );
}
