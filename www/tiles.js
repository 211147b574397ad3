// The cores of a mapping from its binary views (docs/reference/mapping-formats.md): of a large chip blocks of them first, and tiles of single cores
// where one looks; and its links.

import { getBuffer, getJson, mappingUrl } from './api.js';
import { count } from './format.js';
import { coreDetails } from './layers.js';

const COARSE_FROM = 1 << 17, // cores
  BLOCKS = 3 << 13, // at most that many, nearly: a megabyte is sent at first
  TILE = 128; // cores each way

/** Cores each way of a block, of so many cores; 0: each is asked for. */
const blockOf = (cores) => (cores > COARSE_FROM ? Math.ceil(Math.sqrt(cores / BLOCKS)) : 0);

export class Tiles {
  #asked = new Map(); // promises by box
  #known = new Set();
  read = 0; // grows as more is known
  details = null; // what JSON tells, once it was asked for
  onRead = () => {};

  /** {cores, tiles} of a mapping on so many cores: tiles are null where all cores are known. */
  static async load(id, chipCores, signal) {
    const block = blockOf(chipCores),
      known = parseCores(await getBuffer(mappingUrl(id, `/cores?format=bin${block > 0 ? `&block=${block}` : ''}`), signal));
    if (block === 0) return { cores: known, tiles: null };
    const cores = coresOf(known);
    return { cores, tiles: new Tiles(id, known, cores, signal) };
  }

  constructor(id, blocks, cores, signal) {
    Object.assign(this, { id, blocks, cores, signal });
  }

  /** Puts a box of single cores, nothing: all, in its place; asked for once. */
  #put(box = '') {
    if (!this.#asked.has(box)) {
      const answer = getBuffer(mappingUrl(this.id, `/cores?format=bin${box && `&box=${box}`}`), this.signal).then((buffer) => {
        parseCores(buffer, this.cores);
        this.#known.add(box);
      });
      answer.catch(() => this.#asked.delete(box));
      this.#asked.set(box, answer);
    }
    return this.#asked.get(box);
  }

  /** What JSON tells of the cores of a box, put where `details` of others are; asked for once. */
  #tell(box) {
    const known = `told ${box}`;
    if (!this.#asked.has(known)) {
      const answer = getJson(mappingUrl(this.id, `/cores?format=json&box=${box}`), this.signal).then((told) => {
        coreDetails(told, this.details);
        this.#known.add(known);
      });
      answer.catch(() => this.#asked.delete(known));
      this.#asked.set(known, answer);
    }
    return this.#asked.get(known);
  }

  /** A promise of what JSON tells: by `blocks`, by their numbers, the most of a core; of cores where one has looked, as coreDetails has it. */
  async told() {
    const { block, width } = this.blocks,
      { blocks } = await getJson(mappingUrl(this.id, `/cores?format=json&block=${block}`), this.signal);
    this.details = coreDetails({ ...this.cores, cores: [] });
    this.details.blocks = new Map(blocks.map((one) => [(one.y / block) * width + one.x / block, one]));
    return this.details;
  }

  /** Tells once of all that has come together. */
  async #read(boxes) {
    const before = this.#known.size;
    await Promise.all(boxes.flatMap((box) => [this.#put(box), box && this.details && this.#tell(box)]));
    if (this.#known.size === before) return;
    this.read++;
    this.onRead();
  }

  all() {
    return this.#read(['']);
  }

  /** A promise of the single cores of a box, {x0, y0, x1, y1}, x1 and y1 beyond it. */
  near({ x0, y0, x1, y1 }) {
    if (this.#asked.has('')) return this.all();
    const boxes = [];
    for (let y = y0; y < y1; y += TILE - (y % TILE)) for (let x = x0; x < x1; x += TILE - (x % TILE)) boxes.push(this.#tile(x, y));
    return this.#read(boxes);
  }

  #tile(x, y) {
    const { width, height } = this.cores,
      [left, top] = [x - (x % TILE), y - (y % TILE)];
    return `${left},${top},${Math.min(TILE, width - left)},${Math.min(TILE, height - top)}`;
  }

  /** Values of cores, where they are not known those of their blocks. */
  filled(values, ofBlocks) {
    const { block, width } = this.blocks,
      { part } = this.cores,
      all = values.slice();
    for (let y = 0, core = 0; y < this.cores.height; y++)
      for (let x = 0; x < this.cores.width; x++, core++)
        if (part[core] !== NO_PART && all[core] !== all[core]) all[core] = ofBlocks[Math.floor(y / block) * width + Math.floor(x / block)];
    return all;
  }

  /** The block of a core, by its number, where nothing else is known of the core; -1: it is known. */
  blockAt(core) {
    const { block, width } = this.blocks,
      [x, y] = [core % this.cores.width, Math.floor(core / this.cores.width)];
    return this.#known.has('') || this.#known.has(this.#tile(x, y)) ? -1 : Math.floor(y / block) * width + Math.floor(x / block);
  }
  /** The cores of a block, as a box and in words. */
  box(number) {
    const { block, width } = this.blocks,
      x = (number % width) * block,
      y = Math.floor(number / width) * block;
    return { x, y, width: Math.min(block, this.cores.width - x), height: Math.min(block, this.cores.height - y) };
  }

  text(number) {
    const { x, y, width, height } = this.box(number);
    return `cores ${x}, ${y} to ${x + width - 1}, ${y + height - 1}`;
  }
  usedText(number) {
    const { width, height } = this.box(number);
    return `${count(this.blocks.part[number])} of ${count(width * height)} in use`;
  }
}

const CORE_BYTES = 36;
const DIRECTIONS = 4;
export const NO_PART = 0xffffffff,
  IN_BLOCK = 0xfffffffe; // of a core of which only its block is known: one that is used

/* The head of a file, where its records begin, and the number of each one's core or router; of a file of blocks each one's own. */
function open(buffer, magic, recordBytes) {
  const view = new DataView(buffer),
    text = [...new Uint8Array(buffer.slice(0, 8))].map((byte) => String.fromCharCode(byte)).join('');
  const version = '123'.indexOf(text[7]);
  if (!text.startsWith(magic) || version < 0) throw new Error(buffer.byteLength < 8 ? `a ${magic} file is cut short` : `no ${magic} file: the magic is wrong`);
  const header = [16, 32, 36][version];
  if (buffer.byteLength < header) throw new Error(`a ${magic} file of ${buffer.byteLength} bytes is cut short`);
  const width = view.getUint32(8, true),
    height = view.getUint32(12, true);
  if (width === 0 || height === 0 || width * height > 1 << 24) throw new Error(`${magic}: impossible size ${width}x${height}`);
  const [x, y, columns, rows] = header === 16 ? [0, 0, width, height] : [16, 20, 24, 28].map((at) => view.getUint32(at, true));
  if (x >= width || y >= height || columns > width || rows > height)
    throw new Error(`${magic}: impossible box ${columns}x${rows} at ${x}, ${y} of ${width}x${height}`);
  const expected = header + columns * rows * recordBytes;
  if (buffer.byteLength !== expected) {
    throw new Error(`a ${magic} file of ${columns}x${rows} has ${expected} bytes, not ${buffer.byteLength}`);
  }
  if (version === 2) return { view, width: columns, height: rows, header, number: (i) => i, chip: [width, height], block: view.getUint32(32, true) };
  const number = (i) => ((y + Math.floor(i / columns)) % height) * width + ((x + (i % columns)) % width);
  return { view, width, height, header, records: columns * rows, number };
}

/** Cores row by row, one column (typed array) per figure, so that a layer is one array. */
function columnsOf(width, height) {
  const total = width * height;
  return {
    width,
    height,
    part: new Uint32Array(total).fill(NO_PART),
    neurons: new Uint32Array(total),
    synapses: new Uint32Array(total),
    inboundAxons: new Uint32Array(total),
    outboundAxons: new Uint32Array(total),
    targetCores: new Uint32Array(total),
    trafficIn: new Float32Array(total),
    trafficOut: new Float32Array(total),
    congestion: new Float32Array(total),
  };
}

/** The cores of a file; of a box of them in the columns of all that are known already, where they are given. A file of blocks of cores gives these as
 * columns: `part` is how many cores of each are used, all else the most of one, with `chip`, its size, and `block`, cores each way. */
export function parseCores(buffer, known = null) {
  const { view, width, height, header, number, records = width * height, ...blocks } = open(buffer, 'CMCORES', CORE_BYTES);
  const cores = known ?? { ...columnsOf(width, height), ...blocks };
  const counts = [cores.part, cores.neurons, cores.synapses, cores.inboundAxons, cores.outboundAxons, cores.targetCores];
  const rates = [cores.trafficIn, cores.trafficOut, cores.congestion];
  for (let i = 0, at = header; i < records; i++, at += CORE_BYTES) {
    const core = number(i);
    for (let k = 0; k < 6; k++) counts[k][core] = view.getUint32(at + 4 * k, true);
    for (let k = 0; k < 3; k++) rates[k][core] = view.getFloat32(at + 24 + 4 * k, true);
  }
  return cores;
}

/** The cores of blocks: the first of each, as many as it uses, have its most, and part IN_BLOCK; where packets pass, all of it. */
export function coresOf(blocks) {
  const { chip, block, width } = blocks,
    cores = columnsOf(...chip),
    pairs = ['neurons', 'synapses', 'inboundAxons', 'outboundAxons', 'targetCores', 'trafficIn', 'trafficOut'].map((name) => [cores[name], blocks[name]]),
    left = blocks.part.slice();
  for (let y = 0, core = 0; y < chip[1]; y++)
    for (let x = 0; x < chip[0]; x++, core++) {
      const from = Math.floor(y / block) * width + Math.floor(x / block);
      cores.congestion[core] = blocks.congestion[from];
      if (left[from] === 0) continue;
      left[from]--;
      cores.part[core] = IN_BLOCK;
      for (const [column, of] of pairs) column[core] = of[from];
    }
  return cores;
}

/** Loads of the four links that leave each router: load[router * 4 + direction]. */
export function parseLinks(buffer) {
  if (new TextDecoder().decode(buffer.slice(0, 8)) === 'CMLINKS3') return parseWays(buffer);
  const { view, width, height, header, records, number } = open(buffer, 'CMLINKS', 4 * DIRECTIONS);
  const load = new Float32Array(width * height * DIRECTIONS);
  let max = 0;
  for (let i = 0; i < records; i++)
    for (let d = 0; d < DIRECTIONS; d++) {
      const value = view.getFloat32(header + 4 * (i * DIRECTIONS + d), true);
      load[number(i) * DIRECTIONS + d] = value;
      if (value > max) max = value;
    }
  return { width, height, load, max };
}

/** Links of an interconnect that is no plain mesh: from[i], to[i], load[i]. */
function parseWays(buffer) {
  const view = new DataView(buffer),
    count = buffer.byteLength >= 16 ? view.getUint32(12, true) : 0;
  if (buffer.byteLength !== 16 + 12 * count) throw new Error(`a CMLINKS3 file of ${count} links has ${16 + 12 * count} bytes, not ${buffer.byteLength}`);
  const ways = { routers: view.getUint32(8, true), from: new Uint32Array(count), to: new Uint32Array(count), load: new Float32Array(count) };
  let max = 0;
  for (let i = 0, at = 16; i < count; i++, at += 12) {
    ways.from[i] = view.getUint32(at, true);
    ways.to[i] = view.getUint32(at + 4, true);
    ways.load[i] = view.getFloat32(at + 8, true);
    if (ways.load[i] > max) max = ways.load[i];
  }
  return { ways, max };
}
