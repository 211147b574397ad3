// The cores of a large chip: blocks of them first, and tiles of single cores where one looks.

import { getBuffer, mappingUrl } from './api.js';
import { coresOf, parseCores } from './binary.js';
import { count } from './format.js';

const COARSE_FROM = 1 << 17, // cores
  BLOCKS = 1 << 15, // at most that many, nearly
  TILE = 128; // cores each way

/** Cores each way of a block, of so many cores; 0: each is asked for. */
const blockOf = (cores) => (cores > COARSE_FROM ? Math.ceil(Math.sqrt(cores / BLOCKS)) : 0);

export class Tiles {
  #asked = new Map(); // promises by box
  #known = new Set();
  read = 0; // grows as more is known
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

  /** Tells once of all that has come together. */
  async #read(boxes) {
    const before = this.#known.size;
    await Promise.all(boxes.map((box) => this.#put(box)));
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
