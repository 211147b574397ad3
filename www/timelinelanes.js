// The lanes of a timeline: what is narrower than a few pixels goes into a picture of one pixel's height a lane, so that a schedule of
// many spans is drawn as fast as one of few; what is wider is drawn as bars.

import { pixel } from './colour.js';
import { element } from './dom.js';
import { firstAfter } from './trace.js';

const NARROW = 3; // pixels

const faint = (colour) => ((colour & 0xffffff) | 0x33000000) >>> 0;

export class Lanes {
  #picture = element('canvas', { width: 1, height: 1 });

  /** colours: channels by kind. */
  constructor(units, colours) {
    const number = new Map([...colours.keys()].map((kind, i) => [kind, i]));
    this.palette = Uint32Array.from([...colours.values()], (channels) => pixel(channels));
    // Spans as arrays: objects by the hundred thousand are slow to walk at every frame.
    this.lanes = units.map(({ spans }) => ({
      spans,
      start: Float64Array.from(spans, ({ start }) => start),
      finish: Float64Array.from(spans, ({ finish }) => finish),
      colour: Uint8Array.from(spans, ({ kind }) => number.get(kind)),
      off: null,
    }));
  }

  /** Spans that are not `wanted` are drawn faintly; null: none is. */
  choose(wanted) {
    this.wanted = wanted;
    for (const lane of this.lanes) lane.off = wanted && Uint8Array.from(lane.spans, (span) => (wanted(span) ? 0 : 1));
  }

  /** When the wanted spans begin and end. */
  extent() {
    let from = Infinity,
      to = 0;
    for (const { off, start, finish } of this.lanes)
      for (let k = 0; k < start.length; k++) if (!off[k]) [from, to] = [Math.min(from, start[k]), Math.max(to, finish[k])];
    return [from, to];
  }

  /** Draws all lanes, `width` pixels wide from `left` on, lane i from top(i) on; bar(span, x, width, i) draws what is wide. */
  draw(context, { left, width, top, height }, { from, length }, bar) {
    const columns = Math.ceil(width),
      scale = width / length,
      image = new ImageData(columns, Math.max(1, this.lanes.length)),
      pixels = new Uint32Array(image.data.buffer),
      wide = [];
    this.lanes.forEach(({ spans, start, finish, colour, off }, i) => {
      const row = i * columns;
      let filled = 0; // what comes first in a pixel is what one sees
      for (let k = Math.max(0, firstAfter(spans, from) - 1); k < start.length && start[k] <= from + length; k++) {
        const x0 = Math.max((start[k] - from) * scale, 0),
          x1 = Math.min((finish[k] - from) * scale, columns);
        if (x1 < filled) continue;
        if (x1 - x0 >= NARROW) {
          wide.push([spans[k], x0, x1 - x0, i]);
          filled = x1;
          continue;
        }
        const end = Math.max(Math.ceil(x1), Math.floor(x0) + 1),
          value = this.palette[colour[k]];
        for (let x = Math.max(Math.ceil(filled), Math.floor(x0)); x < end && x < columns; x++) pixels[row + x] = off?.[k] ? faint(value) : value;
        filled = end;
      }
    });
    this.#picture.width = columns;
    this.#picture.height = image.height;
    this.#picture.getContext('2d').putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    for (let i = 0; i < this.lanes.length; i++) context.drawImage(this.#picture, 0, i, columns, 1, left, top(i), columns, height);
    for (const [span, x, wideness, i] of wide) bar(span, left + x, wideness, i);
  }
}
