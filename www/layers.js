// What the heat map can show: one array of values over all cores per layer. NaN: nothing to show at this core. Who has which core; pins.

import { percent, si, time } from './format.js';
import { NO_PART } from './tiles.js';

const ofParts = (pick) => (cores) => {
  const values = new Float64Array(cores.part.length);
  for (let i = 0; i < values.length; i++) values[i] = cores.part[i] === NO_PART ? NaN : pick(cores, i);
  return values;
};

const MEASURED = ['rate', 'silent', 'peak', 'peak-in'];

/** Of each core what cores.json has of it. */
const ofDetails =
  (pick) =>
  ({ part }, summary, { at }) => {
    const values = new Float64Array(part.length).fill(NaN);
    for (const [number, core] of at) values[number] = pick(core, summary);
    return values;
  };

/** limit: the name of the chip limit that the layer's figure is held against. details: needs what cores.json tells; block: of a block of cores. measured: of mappings
 * by profile. show: how a value reads. */
export const LAYERS = [
  { id: 'neurons', label: 'Neurons', unit: 'neurons', limit: 'neurons', values: ofParts((c, i) => c.neurons[i]) },
  { id: 'synapses', label: 'Synapses', unit: 'synapses', limit: 'synapses', values: ofParts((c, i) => c.synapses[i]) },
  { id: 'axons', label: 'Inbound axons', unit: 'axons', limit: 'inbound_axons', values: ofParts((c, i) => c.inboundAxons[i]) },
  { id: 'traffic', label: 'Traffic', unit: 'packets in and out', values: ofParts((c, i) => c.trafficIn[i] + c.trafficOut[i]) },
  {
    id: 'congestion',
    label: 'Congestion',
    unit: 'packets passing',
    // Packets also pass cores that host no neurons; only where nothing passes is there nothing to show.
    values: (cores) => Float64Array.from(cores.congestion, (value) => (value > 0 ? value : NaN)),
  },
  { id: 'step', label: 'Step time', unit: 'of a step', details: true, block: ({ core_ns }) => core_ns, show: time, values: (_, __, details) => details.ns },
  {
    id: 'fullest',
    label: 'Fullest limit',
    unit: 'of the limit that is fullest',
    details: true,
    block: ({ share }) => share,
    show: percent,
    values: (_, __, details) => details.fullest,
  },
  {
    id: 'population',
    label: 'Populations',
    unit: '',
    kinds: true, // values are numbers of the mapping's populations
    details: true,
    values: (cores, { populations }) => Float64Array.from(cores.part, (part) => (part === NO_PART ? NaN : populations.of_parts[part])),
  },
  {
    id: 'rate',
    label: 'Rates',
    unit: 'spikes a step of a neuron, in the mean',
    block: ({ neuron_spikes: spikes }, { measured }) => spikes / measured.steps,
    values: ofDetails(({ spikes, neurons }, { measured }) => spikes / neurons / measured.steps),
  },
  { id: 'silent', label: 'Silent', unit: 'neurons that never spiked', block: ({ silent }) => silent, values: ofDetails(({ silent }) => silent) },
  {
    id: 'peak',
    label: 'Peak spikes',
    unit: 'spikes in its fullest step',
    block: ({ peak_spikes: most }) => most,
    values: ofDetails(({ peaks }) => peaks?.spikes),
  },
  {
    id: 'peak-in',
    label: 'Peak packets',
    unit: 'packets in, in its fullest step',
    block: ({ peak_packets_in: most }) => most,
    values: ofDetails(({ peaks }) => peaks?.packets_in),
  },
  { id: 'occupancy', label: 'Occupancy', unit: '', categories: true },
].map((layer) => ({ show: si, ...layer, ...(MEASURED.includes(layer.id) && { details: true, measured: true }) }));

/** The layers that a mapping can show: one of a network without populations has none to colour by, and rates are measured by profiles. */
export const layersOf = ({ populations, measured }) =>
  LAYERS.filter((layer) => (!layer.kinds || populations?.of_parts?.length > 0) && (!layer.measured || measured));

/** The layer to begin with: the first that is not the same everywhere. */
export function firstLayer(model, layers) {
  const varies = (layer) => !layer.details && !layer.categories && model.layer(layer.id).bounds?.min < model.layer(layer.id).bounds?.max;
  return layers.find(varies) ?? layers[0];
}

/** What cores.json tells of each core by its number: ns of a step, how full the fullest limit is; and the core itself; put in what is `known`. */
export function coreDetails({ width, height, cores }, known = null) {
  const nothing = () => new Float64Array(width * height).fill(NaN),
    { ns, fullest, at } = known ?? { ns: nothing(), fullest: nothing(), at: new Map() };
  for (const core of cores) {
    const number = core.y * width + core.x;
    at.set(number, core);
    if (core.core_ns !== undefined) ns[number] = core.core_ns;
    const shares = Object.values(core.shares ?? {});
    if (shares.length > 0) fullest[number] = Math.max(...shares);
  }
  return { ns, fullest, at };
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

/** Who has which core of a chip, as /holders tells it, with this mapping's own cores (`part`) on top: one category a core. */
export function categories(holders, { width, height, part }, absent = null) {
  const kind = new Uint8Array(width * height),
    owner = new Uint16Array(width * height);
  const owners = [{ owner: '' }];
  for (const taken of holders?.taken ?? []) {
    owners.push({ ...taken, owner: taken.owner || 'no name' });
    eachCore(taken.cores, width, height, (core) => {
      kind[core] = TAKEN;
      owner[core] = owners.length - 1;
    });
  }
  eachCore(holders?.broken, width, height, (core) => {
    kind[core] = BROKEN;
    owner[core] = 0;
  });
  const totals = [0, 0, 0, 0],
    counts = new Array(owners.length).fill(0);
  for (let i = 0; i < kind.length; i++) {
    if (part && part[i] !== NO_PART) kind[i] = HERE;
    else if (absent?.[i]) continue;
    totals[kind[i]]++;
    if (kind[i] === TAKEN) counts[owner[i]]++;
  }
  return { width, height, kind, owner, owners, counts, totals };
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
