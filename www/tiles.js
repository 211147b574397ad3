// The cores of a mapping from its binary views (docs/reference/mapping-formats.md): of a large chip blocks of them first, and tiles of single cores
// where one looks; and its links.

import { getBuffer, getJson, keeper, mappingUrl } from './api.js';
import { count } from './format.js';
import { coreDetails } from './layers.js';

const COARSE_FROM = 1 << 17, // cores
  BLOCKS = 1 << 14, // at most that many, nearly: less than a megabyte is sent at first
  TILE = 64; // cores each way

/** Cores each way of a block, of so many cores; 0: each is asked for. */
const blockOf = (cores) => (cores > COARSE_FROM ? Math.ceil(Math.sqrt(cores / BLOCKS)) : 0);

export class Tiles {
  #once = keeper(); // promises by box
  #whole = false; // all cores were asked for
  #known = new Set();
  #heard = [];
  read = []; // boxes of which more became known, [x0, y0, x1, y1], in turn
  details = null; // what JSON tells, once it was asked for

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

  /** heard(box): more of it is known. */
  onRead(heard) {
    this.#heard.push(heard);
  }

  #got(box) {
    this.read.push(box);
    for (const heard of this.#heard) heard(box);
  }

  /** Puts the single cores of a box in their place, and what JSON tells where it was asked for; asked for once. */
  #put(box, details) {
    const [x0, y0, x1, y1] = box,
      path = (format) => mappingUrl(this.id, `/cores?format=${format}&box=${x0},${y0},${x1 + 1 - x0},${y1 + 1 - y0}`);
    const put = (buffer) => {
      parseCores(buffer, this.cores);
      this.#known.add(String(box));
      this.#got(box);
    };
    return Promise.all([
      this.#once(path('bin'), () => getBuffer(path('bin'), this.signal).then(put)),
      details && this.#once(path('json'), () => getJson(path('json'), this.signal).then((told) => (coreDetails(told, details), this.#got(box)))),
    ]);
  }

  /** A promise of what JSON tells: by `blocks`, by their numbers, the most of a core; of cores where one has looked, as coreDetails has it. */
  async told() {
    const { block, width } = this.blocks,
      { blocks } = await getJson(mappingUrl(this.id, `/cores?format=json&block=${block}`), this.signal);
    this.details = { at: new Map() };
    this.details.blocks = new Map(blocks.map((one) => [(one.y / block) * width + one.x / block, one]));
    return this.details;
  }

  all() {
    this.#whole = true;
    return this.#put([0, 0, this.cores.width - 1, this.cores.height - 1]);
  }

  /** A promise of the single cores of a box, {x0, y0, x1, y1}, x1 and y1 beyond it. */
  near({ x0, y0, x1, y1 }) {
    if (this.#whole) return this.all();
    const boxes = [];
    for (let y = y0; y < y1; y += TILE - (y % TILE)) for (let x = x0; x < x1; x += TILE - (x % TILE)) boxes.push(this.#tile(x, y));
    return Promise.all(boxes.map((box) => this.#put(box, this.details)));
  }

  #tile(x, y) {
    const { width, height } = this.cores,
      [left, top] = [x - (x % TILE), y - (y % TILE)];
    return [left, top, Math.min(left + TILE, width) - 1, Math.min(top + TILE, height) - 1];
  }

  /** The number of a core's block. */
  blockOf(core) {
    const { block, width } = this.blocks;
    return Math.floor(Math.floor(core / this.cores.width) / block) * width + Math.floor((core % this.cores.width) / block);
  }

  /** The same where nothing else is known of the core; -1: it is known. */
  blockAt(core) {
    const tile = String(this.#tile(core % this.cores.width, Math.floor(core / this.cores.width)));
    return this.#whole || this.#known.has(tile) ? -1 : this.blockOf(core);
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
