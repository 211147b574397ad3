// A canvas that is drawn at most once a frame, at its screen's own pixels, in the page's colours.

import { element, icon, saveAs, setText } from './dom.js';
import { svgContext } from './svgcontext.js';

/** Calls run() when the colours of the page become others. */
export function onTheme(run, signal) {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', run, { signal });
  document.addEventListener('themechange', run, { signal });
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
export const ARROW_KEYS = Object.keys(ARROWS).join(' '),
  SHIFT_ARROW_KEYS = ARROW_KEYS.replaceAll('Arrow', 'Shift+Arrow');
const CLICK_SLACK = 4; // pixels a press may move and still be one
let helps = 0; // so far, so that each has a name of its own

/** How far a turn of the wheel zooms. */
const wheelFactor = (event) => Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : event.deltaMode === 1 ? 0.05 : 0.0016));
const placeOf = ({ offsetX, offsetY }) => [offsetX, offsetY];

/** Beside draw() a subclass has what pointers do: hovered(x, y), -1 where none is; began(x, y, fingers); dragged(dx, dy, [x, y]); pressed(x, y); zoomed(factor,
 * x, y); and `whole`: the whole is seen, so that there is nothing to zoom out to. */
export class Surface {
  #frame = 0;
  #pointers = new Map();
  #still = null; // where a press began that has not moved yet

  constructor(look, { kind, label, signal }) {
    const id = `help-${++helps}`;
    this.canvas = element(look, { tabindex: '0', role: 'application', 'aria-roledescription': kind, 'aria-label': label, 'aria-describedby': id });
    this.help = element('p.hidden', { id });
    this.readout = element('output.readout', { 'aria-live': 'off' });
    const observer = new ResizeObserver(() => this.resized());
    observer.observe(this.canvas);
    onTheme(() => this.redraw(), signal);
    signal.addEventListener('abort', () => {
      observer.disconnect();
      cancelAnimationFrame(this.#frame);
    });
    this.on = (type, handler, options = {}) => this.canvas.addEventListener(type, handler, { signal, ...options });
    this.#listen();
  }

  #listen() {
    const released = ({ pointerId }) => {
      this.#pointers.delete(pointerId);
      this.#still = null;
      this.canvas.classList.remove('dragging');
    };
    const turned = (event) => {
      const factor = wheelFactor(event);
      if (factor < 1 && this.whole && !event.ctrlKey) return; // the page may scroll on
      event.preventDefault();
      this.zoomed(factor, ...placeOf(event));
    };
    this.on('wheel', turned, { passive: false });
    this.on('pointerdown', (event) => {
      if (event.button !== 0) return;
      this.canvas.setPointerCapture(event.pointerId);
      this.#pointers.set(event.pointerId, placeOf(event));
      this.#still = this.#pointers.size === 1 ? placeOf(event) : null;
      this.began(...placeOf(event), this.#pointers.size);
    });
    this.on('pointermove', (event) => this.#moved(event.pointerId, placeOf(event)));
    this.on('pointerup', (event) => {
      if (this.#still && this.#pointers.has(event.pointerId)) this.pressed(...placeOf(event));
      released(event);
    });
    this.on('pointercancel', released);
    this.on('pointerleave', () => this.hovered(-1, -1));
  }

  #moved(pointer, at) {
    const before = this.#pointers.get(pointer),
      way = (from) => [at[0] - from[0], at[1] - from[1]],
      fingers = this.#pointers.size;
    if (!before) this.hovered(...at);
    if (!before || (this.#still && Math.hypot(...way(this.#still)) <= CLICK_SLACK)) return;
    this.#still = null;
    this.canvas.classList.add('dragging');
    const spread = this.#spread();
    this.#pointers.set(pointer, at);
    this.dragged(...way(before).map((far) => far / fingers), at);
    const [a, b] = [...this.#pointers.values()];
    if (fingers === 2 && spread > 0) this.zoomed(this.#spread() / spread, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
  }

  #spread() {
    const [a, b] = [...this.#pointers.values()];
    return b ? Math.hypot(a[0] - b[0], a[1] - b[1]) : 0;
  }

  began() {}

  /** What keys do, and buttons beside the canvas: rows of [what, keys, picture of its button or null, run(way of an arrow)]. */
  controls(rows) {
    const all = [
      ...rows.filter(Boolean),
      ['Keep this picture as PNG', 'p', 'keep', () => this.keep('png')],
      ['Keep this picture as SVG', 'v', 'vector', () => this.keep('svg')],
    ];
    const byKey = new Map(all.flatMap(([, keys, , run]) => keys.split(' ').map((key) => [key, run])));
    this.on('keydown', (event) => {
      const arrow = ARROWS[event.key],
        run = byKey.get(arrow && event.shiftKey ? `Shift+${event.key}` : event.key === ' ' ? 'Space' : event.key);
      if (!run || event.altKey || event.metaKey || event.ctrlKey) return;
      event.preventDefault();
      run(arrow);
    });
    const button = ([what, keys, picture, run]) =>
      picture && element('button.icon-button', { title: `${what} (${keys.split(' ')[0]})`, 'aria-label': what, onclick: () => run() }, icon(picture));
    this.buttons = element('div.heat-zoom', { role: 'group', 'aria-label': 'Picture' }, all.map(button));
    setText(this.help, `${all.map(([what, keys]) => `${what}: ${keys.replace(/ArrowLeft.*/, 'arrow keys')}`).join('; ')}.`);
  }

  /** The canvas, below it what is said of it and its buttons; then `rest`. */
  figure(...rest) {
    return [element('div.heat-frame', this.canvas), element('div.map-foot', this.readout, this.buttons), rest, this.help];
  }

  resized() {
    this.redraw();
  }

  redraw() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.draw();
    });
  }

  /** What is seen now as a file: "png" or "svg". */
  keep(format) {
    this.kept = format === 'svg' ? svgContext(...this.size) : null;
    this.draw();
    saveAs(
      this.kept ? new Blob([this.kept.text()], { type: 'image/svg+xml' }) : this.canvas.toDataURL('image/png'),
      `${this.canvas.getAttribute('aria-label')}.${format}`,
    );
    this.kept = null;
  }

  get size() {
    return [this.canvas.clientWidth, this.canvas.clientHeight];
  }

  /** The cleared canvas: {context, ink}, the colours that it is drawn with; null where it has no size. */
  begin() {
    const { canvas } = this,
      [width, height] = this.size,
      ratio = window.devicePixelRatio || 1,
      pixels = [width * ratio, height * ratio].map(Math.round);
    if (!width || !height) return null;
    if (canvas.width !== pixels[0] || canvas.height !== pixels[1]) [canvas.width, canvas.height] = pixels;
    const style = getComputedStyle(canvas),
      context = this.kept?.context ?? canvas.getContext('2d', { alpha: false }),
      names = { lane: 'empty', line: 'line', strong: 'strong', link: 'link', idle: 'idle', accent: 'here' };
    const ink = Object.fromEntries(Object.entries(names).map(([of, name]) => [of, style.getPropertyValue(`--heat-${name}`)]));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = `12px ${style.fontFamily}`;
    context.fillStyle = ink.surface = style.backgroundColor;
    context.fillRect(0, 0, width, height);
    return { context, ink };
  }
}
