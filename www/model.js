// One mapping as the pages use it: its summary, its cores, and what is fetched only when it comes in sight.

import { getBuffer, getHolders, getJson, getMapping, getSchemas, keeper, mappingUrl, networkName } from './api.js';
import { range } from './colour.js';
import { shortId } from './format.js';
import { absentOf, categories, coreDetails, eachCore, LAYERS } from './layers.js';
import { metricsOf } from './tables.js';
import { IN_BLOCK, NO_PART, parseLinks, Tiles } from './tiles.js';

/** A chip's limits by name, the synapse limit as a number of synapses even where the chip states it in bits. */
export function limitsOf(chip) {
  const limits = chip?.limits ?? {};
  if (!limits.synapse_bits || !limits.bits_per_synapse) return limits;
  return { ...limits, synapses: Math.floor(limits.synapse_bits / limits.bits_per_synapse) };
}

/** The class of each of so many cores: its number plus 1, 0 of none; null where a chip has no classes. */
export function classesOf(chip, width, height) {
  const classes = chip?.core_classes ?? [];
  if (classes.length === 0) return null;
  const of = new Uint8Array(width * height);
  classes.forEach(({ cores }, number) => eachCore(cores, width, height, (core) => (of[core] = number + 1)));
  return of;
}

export class Model {
  #values = new Map();
  #classes;
  #once = keeper();
  details = null; // what cores.json tells, once it is there

  /** tiles: of a large chip, of which not all cores are known (tiles.js), else null. */
  constructor(id, summary, { cores, tiles }, name, metricList, signal) {
    Object.assign(this, { id, summary, cores, tiles });
    this.chip = summary.chip ?? {};
    this.metrics = summary.metrics ?? {};
    this.metricList = metricList; // what there is to say of each
    this.networkName = name || shortId(summary.network?.id) || 'network';
    this.signal = signal;
    this.absent = absentOf(this.chip, cores.width, cores.height);
  }

  static async load(id, signal) {
    const [summary, schemas] = await Promise.all([getMapping(id, signal), getSchemas(signal)]),
      { width, height } = summary.chip,
      [known, name] = await Promise.all([Tiles.load(id, width * height, signal), networkName(summary.network?.id, signal)]);
    return new Model(id, summary, known, name, metricsOf(schemas.Metrics), signal);
  }

  get width() {
    return this.cores.width;
  }
  get height() {
    return this.cores.height;
  }
  get limits() {
    return limitsOf(this.chip);
  }

  /** The class of a core as the chip file has it, null: of none. */
  classAt(core) {
    this.#classes ??= { of: classesOf(this.chip, this.width, this.height) };
    return this.chip.core_classes?.[(this.#classes.of?.[core] ?? 0) - 1] ?? null;
  }

  /** The limits of a core. */
  limitsAt(core) {
    const own = this.classAt(core);
    return own?.limits ? limitsOf(own) : this.limits;
  }

  /** -1: none, or not known yet. */
  partOf(core) {
    return core >= 0 && this.cores.part[core] < IN_BLOCK ? this.cores.part[core] : -1;
  }

  /** The block of a core of which nothing else is known; -1: it is known. */
  blockOf(core) {
    return this.tiles?.blockAt(core) ?? -1;
  }

  /** Values and their range of a layer that has a scale; one with `details` after withDetails. Colours stay as more of it is known. */
  layer(id) {
    const known = this.#values.get(id) ?? { values: new Float64Array(this.width * this.height), boxes: 0 },
      { values, boxes } = known,
      read = this.tiles?.read ?? [],
      layer = LAYERS.find((one) => one.id === id),
      ofBlocks = this.tiles && layer.block && this.details.blocks && this.blockValues(layer);
    const put = (core) => {
      const value = layer.value(this, core);
      values[core] = ofBlocks && value !== value && this.cores.part[core] !== NO_PART ? ofBlocks[this.tiles.blockOf(core)] : value;
    };
    if (this.#values.has(id)) eachCore(read.slice(boxes), this.width, this.height, put);
    else {
      for (let core = 0; core < values.length; core++) put(core);
      known.bounds = this.#boundsOf(values);
    }
    known.boxes = read.length;
    this.#values.set(id, known);
    return known;
  }

  /** Of a chip of which not all cores are known a scale begins at 0, since nothing is known below the most of a block; not where all are alike. */
  #boundsOf(values) {
    const bounds = range(values);
    return this.tiles && bounds?.min < bounds?.max ? { ...bounds, min: Math.min(0, bounds.min) } : bounds;
  }

  /** A promise of what cores.json tells, asked for once: of a large chip of its blocks, and of cores where one looks. */
  withDetails() {
    const read = () => this.tiles?.told() ?? this.ask('/cores?format=json').then((cores) => coreDetails(cores));
    return this.#once('details', () => read().then((told) => (this.details = told)));
  }

  /** The most that a core of each block has of a layer. */
  blockValues({ block, value }) {
    const { blocks, details } = this.tiles,
      of = block
        ? (_, number) => (details.blocks.has(number) ? block(details.blocks.get(number), this.summary) : NaN)
        : (_, number) => value({ cores: blocks }, number);
    return Float64Array.from(blocks.part, of);
  }

  /** The same of one core. */
  async detailsOf(core) {
    const box = `&box=${this.place(core).replace(' ', '')},1,1`,
      { at } = this.tiles ? coreDetails(await this.ask(`/cores?format=json${box}`)) : await this.withDetails();
    return at.get(core) ?? {};
  }

  /** A promise of an answer to a question about the mapping (`/links?limit=10`), the same one each time. */
  ask(question) {
    return this.#once(question, () => getJson(mappingUrl(this.id, question), this.signal));
  }

  /** All populations, with how many cores hold neurons of each (once there are details; else those of which it is the largest). */
  get populations() {
    const { list, of_parts: ofParts } = this.summary.populations;
    const cores = new Array(list.length).fill(0);
    if (this.details && !this.tiles)
      for (const { populations } of this.details.at.values()) for (const { population } of populations ?? []) cores[population]++;
    else for (const number of ofParts) cores[number]++;
    return list
      .map((population, number) => ({ ...population, number, cores: cores[number] }))
      .filter((population) => population.cores > 0)
      .sort((a, b) => b.cores - a.cores || a.number - b.number);
  }

  /** The name of the population that most neurons of a core are of; empty: none. */
  populationOf(core) {
    const { list, of_parts: ofParts } = this.summary.populations ?? {};
    const part = this.partOf(core);
    return part >= 0 && list ? list[ofParts[part]].name : '';
  }

  /** The turn rule that the job chose for its routes; empty: the chip's own routing. */
  get routing() {
    const rule = this.summary.options?.routing ?? 'auto';
    return rule === 'auto' ? '' : rule;
  }

  get routersX() {
    return this.width / (this.chip.cores_per_router ?? [1, 1])[0];
  }

  /** The number of a core's router, row by row. */
  routerOf(core) {
    const [rx, ry] = this.chip.cores_per_router ?? [1, 1];
    return Math.floor(Math.floor(core / this.width) / ry) * this.routersX + Math.floor((core % this.width) / rx);
  }

  /** A promise of {limit, of(core)}: the entries that the table of a core's router has. */
  async tableEntries() {
    const { limit, routers } = await this.ask('/routers'),
      entries = new Map(routers.map(({ router, x, y, entries: many }) => [router ?? y * this.routersX + x, many]));
    return { limit, of: (core) => entries.get(this.routerOf(core)) ?? 0 };
  }

  /** A promise, the same one each time: a big chip's links are 16 MB. Loads of the chosen routing where one was chosen. */
  links() {
    const address = mappingUrl(this.id, `/${this.routing ? 'routes' : 'links'}?format=bin`);
    return this.#once('link loads', () => getBuffer(address, this.signal).then(parseLinks));
  }

  /** Loads of the links that leave the core's router: east, west, south, north. */
  async linksOf(core) {
    const { ways, width, load } = await this.links();
    const columns = ways ? this.routersX : width;
    const router = this.routerOf(core);
    if (ways) {
      // Those to the routers drawn beside it.
      return [1, -1, columns, -columns].map((step) => {
        for (let i = 0; i < ways.from.length; i++) if (ways.from[i] === router && ways.to[i] === router + step) return ways.load[i];
        return 0;
      });
    }
    return load.subarray(router * 4, router * 4 + 4);
  }

  /** Who has which core of the chip now, the mapping's own cores on top. */
  async occupancy() {
    const holders = await this.#once('holders', () => getHolders(this.chip.name, this.signal));
    return categories(holders, this.cores, this.absent);
  }

  number(x, y) {
    return x < this.width && y < this.height ? y * this.width + x : -1;
  }

  place(core) {
    return `${core % this.width}, ${Math.floor(core / this.width)}`;
  }
}
