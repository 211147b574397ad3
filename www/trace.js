// Timelines in the Chrome trace format: what `coremap` and the server write, and what others write alike; where one looks, and lanes as pictures.

import { pixel } from './colour.js';
import { element } from './dom.js';

/** What something on the critical path begins after. */
export const WAITS = { start: 'the start', lane: 'its unit', data: 'its data', room: 'free memory', issue: 'its turn' };

/** Anything wrong is an Error that says what was expected. */
export function parseTrace(json) {
  const events = Array.isArray(json) ? json : json?.traceEvents;
  if (!Array.isArray(events)) throw new Error('this is no trace: it has no "traceEvents"');
  const names = new Map(),
    lanes = new Map(),
    kinds = new Map(),
    counters = new Map();
  for (const event of events) {
    const lane = `${event.pid ?? 0} ${event.tid ?? 0}`;
    if (event.ph === 'M' && event.name === 'thread_name') names.set(lane, String(event.args?.name ?? ''));
    if (event.ph === 'M' && event.name === 'thread_name' && !lanes.has(lane)) lanes.set(lane, []);
    if (event.ph === 'C') count(counters, event);
    if (event.ph !== 'X') continue;
    const start = Number(event.ts),
      length = Number(event.dur ?? 0);
    if (!Number.isFinite(start) || !Number.isFinite(length) || length < 0)
      throw new Error(`event "${event.name}" has no time: "ts" ${event.ts}, "dur" ${event.dur}`);
    if (!lanes.has(lane)) lanes.set(lane, []);
    const kind = String(event.cat ?? '');
    lanes.get(lane).push({ start, finish: start + length, name: String(event.name ?? ''), kind, critical: event.args?.critical });
    const known = kinds.get(kind) ?? { name: kind, time: 0, spans: 0 };
    known.time += length;
    known.spans += 1;
    kinds.set(kind, known);
  }
  let end = 0;
  const units = [...lanes].map(([lane, spans]) => {
    spans.sort((a, b) => a.start - b.start || a.finish - b.finish);
    const last = spans.reduce((most, span) => Math.max(most, span.finish), 0);
    end = Math.max(end, last);
    return { name: names.get(lane) || `unit ${lane.split(' ')[1]}`, spans, busy: busyTime(spans) };
  });
  const ranked = [...kinds.values()].sort((a, b) => b.time - a.time || (a.name < b.name ? -1 : 1));
  const limits = json?.otherData?.limits ?? {};
  for (const counter of counters.values()) {
    counter.points.sort((a, b) => a.at - b.at);
    counter.most = counter.points.reduce((most, { value }) => Math.max(most, value), 0);
    counter.limit = Math.max(Number(limits[counter.name]) || 0, counter.most);
    end = Math.max(end, counter.points.at(-1).at);
  }
  return { name: String(json?.otherData?.name ?? ''), units, kinds: ranked, counters: [...counters.values()], path: criticalPath(units), end };
}

/** A counter event gives one or several values from a time on. */
function count(counters, { name, ts, args }) {
  for (const [unit, value] of Object.entries(args ?? {})) {
    if (!Number.isFinite(Number(ts)) || !Number.isFinite(value)) throw new Error(`counter "${name}" has no time or value`);
    const key = JSON.stringify([name, unit]);
    if (!counters.has(key)) counters.set(key, { name: String(name), unit, points: [] });
    counters.get(key).points.push({ at: Number(ts), value });
  }
}

/** The spans that explain the time, one after the other: [{unit, span}], places in `units`. */
function criticalPath(units) {
  return units
    .flatMap((unit, u) => unit.spans.flatMap((span, s) => (span.critical ? [{ unit: u, span: s, start: span.start }] : [])))
    .sort((a, b) => a.start - b.start)
    .map(({ unit, span }) => ({ unit, span }));
}

/** What a counter has at a time: the last point that is not after it; 0 before the first. */
export function valueAt(points, time) {
  const next = firstAfter(points, time);
  return next > 0 ? points[next - 1].value : 0;
}

/** How long at least one of the spans (sorted by start) is under way. */
export function busyTime(spans) {
  let busy = 0,
    until = -Infinity;
  for (const { start, finish } of spans) {
    busy += Math.max(0, finish - Math.max(start, until));
    until = Math.max(until, finish);
  }
  return busy;
}

/** The place of the first of spans or points, in order of time, that begins after `time`. */
export function firstAfter(spans, time) {
  let low = 0,
    high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[middle].start ?? spans[middle].at) <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The number of the span that is under way at `time`, or -1. Spans of one unit do not overlap. */
export function spanAt(spans, time) {
  const last = firstAfter(spans, time) - 1;
  return last >= 0 && spans[last].finish > time ? last : -1;
}

/** Where one looks: [from, from + length) in microseconds. */
export class TimeWindow {
  constructor(end) {
    this.end = Math.max(end, 1e-6);
    this.reset();
  }

  reset() {
    this.from = 0;
    this.length = this.end;
  }

  /** Where one looks, for an address; nothing for the whole. Looks where `place` said. */
  get place() {
    return this.length < this.end ? [this.from, this.length].map((value) => Number(value.toPrecision(9))).join(',') : '';
  }
  go(place) {
    const [from, length] = (place ?? '').split(',').map(Number);
    if (!(length > 0) || !Number.isFinite(from)) return;
    [this.from, this.length] = [from, Math.min(Math.max(length, this.end / 1e7), this.end)];
    this.#clamp();
  }

  /** Zooms by a factor; the moment at `share` of the width stays where it is, as far as the ends allow. */
  zoomAt(factor, share) {
    const at = this.from + share * this.length;
    this.length = Math.min(Math.max(this.length / factor, this.end / 1e7), this.end);
    this.from = at - share * this.length;
    this.#clamp();
  }

  /** From one moment to another, with a little around. */
  show(from, to) {
    this.length = Math.min(Math.max(1.1 * (to - from), this.end / 1e7), this.end);
    this.from = (from + to - this.length) / 2;
    this.#clamp();
  }

  panBy(share) {
    this.from -= share * this.length;
    this.#clamp();
  }

  /** Moves just so far that a span is in sight, and zooms out when it is longer than what is seen. */
  reveal({ start, finish }) {
    this.length = Math.min(Math.max(this.length, finish - start), this.end);
    if (finish > this.from + this.length) this.from = finish - this.length;
    if (start < this.from) this.from = start;
    this.#clamp();
  }

  #clamp() {
    this.from = Math.min(Math.max(this.from, 0), this.end - this.length);
  }
}

/** Steps between ticks: 1, 2 or 5 times a power of ten, at most `most` of them in `length`. */
export function tickStep(length, most) {
  const least = length / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= least * (1 - 1e-9));
}

/** Operators by what they take: {name, kind, spans, busy, path}: time of all spans, and on the critical path; what limits most first. O(spans). */
export function operatorsOf(trace) {
  const of = new Map();
  for (const { spans } of trace.units)
    for (const { name, kind, start, finish, critical } of spans) {
      const key = `${kind} ${name}`,
        known = of.get(key) ?? { name, kind, spans: 0, busy: 0, path: 0 };
      known.spans += 1;
      known.busy += finish - start;
      if (critical) known.path += finish - start;
      of.set(key, known);
    }
  return [...of.values()].sort((a, b) => b.path - a.path || b.busy - a.busy || (a.name < b.name ? -1 : 1));
}

const NARROW = 3; // pixels

const faint = (colour) => ((colour & 0xffffff) | 0x33000000) >>> 0;

/** The lanes of a timeline: what is narrower than a few pixels goes into a picture of one pixel's height a lane, so that a schedule of many spans is
 * drawn as fast as one of few; what is wider is drawn as bars. */
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
