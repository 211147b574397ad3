// A schedule as a timeline on a canvas: a lane a unit, a bar whatever it does, coloured by kind.

import { CATEGORIES, wantsDarkInk } from './colour.js';
import { announce, setText } from './dom.js';
import { bytes, count, si } from './format.js';
import { ARROW_KEYS, SHIFT_ARROW_KEYS, Surface } from './surface.js';
import { firstAfter, Lanes, spanAt, tickStep, TimeWindow, valueAt, WAITS } from './trace.js';

const AXIS = 22; // pixels above the lanes
const LANE_MAX = 26;
const LANE_MIN = 3;
const NAMES = 112; // pixels left of the lanes
const FRAMED_LEAST = 5; // pixels of a span that gets a frame
const LABEL_WIDTH = 44; // from this width on a bar shows its name
const TRACK = 52; // of what is counted over time, below the lanes
// Why what is on the critical path begins when it does.
export const reason = (critical) => (WAITS[critical] ? `begins after ${WAITS[critical]}` : critical);
const amount = (value, unit) => (unit === 'bytes' ? bytes(value) : `${count(value)} ${unit}`);

export const seconds = (microseconds) => si(microseconds / 1e6, 's', 4);

/** The colour of each kind by its place; after ten they begin again. */
const colours = (kinds) => new Map(kinds.map((kind, i) => [kind.name, CATEGORIES[i % CATEGORIES.length]]));

export class Timeline extends Surface {
  #marked = null; // a span whose time is marked on all units
  #cursor = { unit: -1, span: -1 };
  onPick = () => {}; // told of a span that is pressed
  onLook = () => {}; // told when one looks elsewhere

  constructor(trace, signal) {
    super('canvas.heat-canvas.timeline-canvas', {
      kind: 'timeline',
      label: `Timeline of ${count(trace.units.length, 'units')} over ${seconds(trace.end)}`,
      signal,
    });
    this.trace = trace;
    this.window = new TimeWindow(trace.end);
    this.colours = colours(trace.kinds);
    this.lanes = new Lanes(trace.units, this.colours);
    this.controls([
      ['Zoom in', '+ = w', 'plus', () => this.#zoom(1.6, this.#focus)],
      ['Zoom out', '- s', 'minus', () => this.#zoom(1 / 1.6, this.#focus)],
      ['Whole schedule', '0', 'fit', () => this.#zoom(0)],
      ['Go from span to span and from unit to unit', ARROW_KEYS, null, (way) => this.#walk(way)],
      ['Move the picture', SHIFT_ARROW_KEYS, null, ([x]) => this.#pan(-x / 5)],
      ['Earlier', 'a', null, () => this.#pan(0.2)],
      ['Later', 'd', null, () => this.#pan(-0.2)],
      ['Show the span', 'f', null, () => this.#fitSpan()],
      ['Mark its time', 'm', null, () => this.#mark()],
      ['Show its operator', 'Enter', null, () => this.#pick(this.#cursor)],
      ['Show all alike', 'Escape', null, () => this.choose(null)],
    ]);
    const lane = Math.min(LANE_MAX, Math.max(LANE_MIN, 560 / Math.max(trace.units.length, 1)));
    this.lane = lane;
    this.canvas.style.height = `${Math.ceil(AXIS + lane * trace.units.length + 4 + TRACK * trace.counters.length)}px`;
    this.on('blur', () => {
      this.#cursor = { unit: -1, span: -1 };
      this.redraw();
    });
  }

  /** All but what is `wanted` is drawn faintly; null: nothing is. */
  choose(wanted) {
    this.lanes.choose(wanted);
    this.redraw();
  }

  /** Shows the whole of an operator {name, kind}, and what of all else is in sight faintly. */
  showOperator({ name, kind }) {
    this.choose((span) => span.name === name && span.kind === kind);
    const [from, to] = this.lanes.extent();
    this.window.show(from, to);
    setText(this.readout, `${name} (${kind}): from ${seconds(from)} to ${seconds(to)}`);
  }

  #zoom(factor, share = 0.5) {
    if (factor === 0) this.window.reset();
    else this.window.zoomAt(factor, share);
    this.redraw();
  }

  /** Where the keyboard stands, as a share of what is seen; the middle when it stands nowhere. */
  get #focus() {
    const span = this.#span;
    if (!span) return 0.5;
    const middle = (span.start + span.finish) / 2;
    return Math.min(Math.max((middle - this.window.from) / this.window.length, 0), 1);
  }

  get #width() {
    return Math.max(1, this.canvas.clientWidth - NAMES);
  }

  get whole() {
    return this.window.length >= this.window.end;
  }

  zoomed(factor, x) {
    this.#zoom(factor, Math.max(0, x - NAMES) / this.#width);
  }

  dragged(dx) {
    this.#pan(dx / this.#width);
  }

  pressed(x, y) {
    this.#cursor = this.#at(x, y);
    this.#pick(this.#cursor);
  }

  hovered(x, y) {
    setText(this.readout, this.#counterAt(x, y) ?? this.describe(x < 0 ? this.#cursor : this.#at(x, y)));
  }

  #pan(share) {
    this.window.panBy(share);
    this.redraw();
  }

  #at(x, y) {
    const unit = Math.floor((y - AXIS) / this.lane);
    const spans = this.trace.units[unit]?.spans;
    if (!spans || x < NAMES) return { unit: -1, span: -1 };
    return { unit, span: spanAt(spans, this.window.from + ((x - NAMES) / this.#width) * this.window.length) };
  }

  /** One line about what is counted where the pointer is; null where nothing is. */
  #counterAt(x, y) {
    const counter = this.trace.counters[Math.floor((y - this.#tracksTop) / TRACK)];
    if (!counter || x < NAMES) return null;
    const time = this.window.from + ((x - NAMES) / this.#width) * this.window.length;
    const value = amount(valueAt(counter.points, time), counter.unit);
    return `${counter.name}: ${value} of ${amount(counter.limit, counter.unit)} at ${seconds(time)}`;
  }

  get #tracksTop() {
    return AXIS + this.lane * this.trace.units.length + 4;
  }

  /** One line about a span: for the readout and for screen readers. */
  describe({ unit, span }) {
    const of = this.trace.units[unit];
    if (!of) return '';
    if (span < 0) return `${of.name}: idle`;
    const { name, kind, start, finish, critical } = of.spans[span];
    const what = kind && kind !== 'task' ? `${name} (${kind})` : name;
    const path = critical ? `; on the critical path: ${reason(critical)}` : '';
    return `${of.name}: ${what}, from ${seconds(start)} to ${seconds(finish)}, ${seconds(finish - start)} long${path}`;
  }

  get #span() {
    return this.trace.units[this.#cursor.unit]?.spans[this.#cursor.span] ?? null;
  }

  #mark() {
    this.#marked = this.#marked === this.#span ? null : this.#span;
    this.redraw();
  }

  /** Shows the span on which the keyboard stands, with as much on either side. */
  #fitSpan() {
    const span = this.#span;
    if (!span) return;
    const length = Math.max(span.finish - span.start, 1e-6);
    this.window.show(span.start - length, span.finish + length);
    this.redraw();
  }

  #pick({ unit, span }) {
    const of = this.trace.units[unit]?.spans[span];
    if (of) this.onPick(of);
    else this.choose(null);
  }

  /** The keyboard goes from span to span of a unit, and to what is under way then on another. */
  #walk([along, up]) {
    const { units } = this.trace;
    if (units.length === 0) return;
    let { unit, span } = this.#cursor;
    if (unit < 0) [unit, span] = [0, firstAfter(units[0].spans, this.window.from - 1e-9)];
    else if (up !== 0) {
      const at = units[unit].spans[span]?.start ?? this.window.from;
      unit = Math.min(Math.max(unit + up, 0), units.length - 1);
      span = Math.max(0, firstAfter(units[unit].spans, at) - 1);
    } else span += along;
    span = Math.min(Math.max(span, 0), units[unit].spans.length - 1);
    this.#cursor = { unit, span };
    if (span >= 0) this.window.reveal(units[unit].spans[span]);
    setText(this.readout, this.describe(this.#cursor));
    announce(this.describe(this.#cursor));
    this.redraw();
  }

  redraw() {
    super.redraw();
    this.onLook();
  }

  draw() {
    const surface = this.begin();
    if (!surface) return;
    const { context, ink } = surface;
    context.textBaseline = 'middle';
    this.#drawAxis(context, ink);
    this.#drawLanes(context, ink);
    this.#drawPath(context, ink);
    this.trace.counters.forEach((counter, i) => this.#drawCounter(context, ink, counter, this.#tracksTop + i * TRACK));
    this.canvas.classList.toggle('whole', this.whole);
  }

  #drawAxis(context, ink) {
    const { from, length } = this.window,
      step = tickStep(length, this.#width / 90);
    context.strokeStyle = ink.line;
    context.fillStyle = ink.strong;
    context.lineWidth = 1;
    context.beginPath();
    for (let tick = Math.ceil(from / step); tick * step <= from + length; tick++) {
      const x = NAMES + ((tick * step - from) / length) * this.#width;
      context.moveTo(x, AXIS - 5);
      context.lineTo(x, this.size[1]);
      context.fillText(seconds(tick * step), x + 3, AXIS / 2 - 1);
    }
    context.stroke();
  }

  get #bar() {
    return this.lane > 8 ? this.lane - 3 : this.lane - 0.5;
  }

  #drawLanes(context, ink) {
    const top = (i) => AXIS + i * this.lane,
      bar = this.#bar;
    this.trace.units.forEach((unit, i) => {
      context.fillStyle = ink.lane;
      context.fillRect(NAMES, top(i), this.#width, bar);
      if (this.lane < 11) return;
      context.fillStyle = ink.strong;
      context.fillText(unit.name, 4, top(i) + bar / 2, NAMES - 10);
    });
    this.lanes.draw(context, { left: NAMES, width: this.#width, top, height: bar }, this.window, (span, x, width, i) =>
      this.#drawBar(context, span, x, width, top(i), bar),
    );
    const span = this.#span;
    if (span) {
      context.strokeStyle = ink.link;
      context.lineWidth = 2;
      context.strokeRect(this.#x(span.start), top(this.#cursor.unit), Math.max(this.#x(span.finish) - this.#x(span.start), 2), bar);
    }
    if (!this.#marked) return;
    const [begin, end] = [this.#x(this.#marked.start), this.#x(this.#marked.finish)];
    context.globalAlpha = 0.2;
    context.fillStyle = ink.accent;
    context.fillRect(begin, AXIS, Math.max(end - begin, 1), this.#tracksTop - AXIS);
    context.globalAlpha = 1;
  }

  /** Where a time is in sight, or the end next to it. */
  #x(time) {
    return NAMES + Math.min(Math.max((time - this.window.from) / this.window.length, 0), 1) * this.#width;
  }

  /** The critical path: its spans framed, with a line from the end of each to the start of the next. */
  #drawPath(context, ink) {
    const { from, length } = this.window,
      scale = this.#width / length,
      bar = this.#bar,
      right = NAMES + this.#width;
    const x = (time) => NAMES + (time - from) * scale;
    context.save();
    context.beginPath();
    context.rect(NAMES, 0, this.#width, this.#tracksTop);
    context.clip();
    context.strokeStyle = ink.link;
    context.lineWidth = 1.5;
    context.beginPath();
    let before = null;
    for (const { unit, span } of this.trace.path) {
      const { start, finish } = this.trace.units[unit].spans[span];
      const top = AXIS + unit * this.lane;
      if (x(finish) >= NAMES && x(start) <= right) {
        const wide = Math.max(x(finish) - x(start), 1);
        if (wide >= FRAMED_LEAST) context.rect(x(start), top, wide, bar);
        else
          for (const edge of [top, top + bar]) {
            context.moveTo(x(start), edge); // a frame would hide it
            context.lineTo(x(start) + wide, edge);
          }
        if (before && before.unit !== unit) {
          context.moveTo(x(before.finish), AXIS + before.unit * this.lane + bar / 2);
          context.lineTo(x(start), top + bar / 2);
        }
      }
      before = { unit, finish };
    }
    context.stroke();
    context.restore();
  }

  /** A value over time as steps, of at most a step a pixel: the most of each. */
  #drawCounter(context, ink, { name, unit, points, limit, most }, top) {
    const { from, length } = this.window,
      height = TRACK - 12,
      bottom = top + 6 + height,
      full = most < limit / 4 ? most : limit, // a memory that is nearly empty would show nothing
      y = (value) => bottom - (full > 0 ? value / full : 0) * height;
    context.fillStyle = ink.lane;
    context.fillRect(NAMES, top + 6, this.#width, height);
    context.fillStyle = ink.strong;
    context.fillText(name, 4, top + 6 + height / 2 - 8, NAMES - 10);
    context.fillText(`≤ ${amount(most, unit)}`, 4, top + 6 + height / 2 + 8, NAMES - 10);
    const [colour] = this.colours.values();
    context.fillStyle = colour ? `rgb(${colour.join(' ')})` : ink.strong;
    let next = firstAfter(points, from),
      value = next > 0 ? points[next - 1].value : 0;
    for (let pixel = 0; pixel < this.#width; pixel++) {
      const until = from + ((pixel + 1) / this.#width) * length;
      let peak = value;
      for (; next < points.length && points[next].at < until; next++) {
        value = points[next].value;
        peak = Math.max(peak, value);
      }
      context.fillRect(NAMES + pixel, y(peak), 1, bottom - y(peak));
    }
  }

  #drawBar(context, span, left, width, top, height) {
    const colour = this.colours.get(span.kind),
      faint = this.lanes.wanted?.(span) === false;
    context.globalAlpha = faint ? 0.2 : 1;
    context.fillStyle = `rgb(${colour.join(' ')})`;
    context.fillRect(left, top, width - 0.5, height);
    context.globalAlpha = 1;
    if (faint || width < LABEL_WIDTH || height < 10) return;
    context.save();
    context.beginPath();
    context.rect(left, top, width, height);
    context.clip();
    context.fillStyle = wantsDarkInk(colour) ? '#14181c' : '#ffffff';
    context.fillText(span.name, left + 4, top + height / 2);
    context.restore();
  }
}
