// A canvas that is drawn at most once a frame, at its screen's own pixels, in the page's colours.

import { element, icon } from './dom.js';
import { svgContext } from './svgcontext.js';

/** Calls run() when the colours of the page become others. */
export function onTheme(run, signal) {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', run, { signal });
  document.addEventListener('themechange', run, { signal });
}

/** Buttons beside a canvas: [name, key, picture, what a press does]. */
const canvasButtons = (rows) =>
  element(
    'div.heat-zoom',
    { role: 'group', 'aria-label': 'Zoom' },
    rows.map(([name, key, picture, onclick]) => element('button.icon-button', { title: `${name} (${key})`, 'aria-label': name, onclick }, icon(picture))),
  );

/** How far a turn of the wheel zooms. */
const wheelFactor = (event) => Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : event.deltaMode === 1 ? 0.05 : 0.0016));

/** What a subclass draws in draw(). */
export class Surface {
  #frame = 0;

  constructor(look, { kind, label, help, signal }) {
    this.canvas = element(look, { tabindex: '0', role: 'application', 'aria-roledescription': kind, 'aria-label': label, 'aria-describedby': help });
    const observer = new ResizeObserver(() => this.resized());
    observer.observe(this.canvas);
    onTheme(() => this.redraw(), signal);
    signal.addEventListener('abort', () => {
      observer.disconnect();
      cancelAnimationFrame(this.#frame);
    });
    this.on = (type, handler, options = {}) => this.canvas.addEventListener(type, handler, { signal, ...options });
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
    const href = this.kept ? URL.createObjectURL(new Blob([this.kept.text()], { type: 'image/svg+xml' })) : this.canvas.toDataURL('image/png');
    this.kept = null;
    element('a', { href, download: `${this.canvas.getAttribute('aria-label')}.${format}` }).click();
  }

  /** Buttons beside the canvas: `rows`, and those that keep its picture. */
  buttonsWith(rows) {
    return canvasButtons([
      ...rows,
      ['Keep this picture as PNG', 'p', 'keep', () => this.keep('png')],
      ['Keep this picture as SVG', 'v', 'vector', () => this.keep('svg')],
    ]);
  }

  /** The wheel zooms: by(factor, event); where the whole is seen there is nothing to zoom out to, and the page may scroll on. */
  zoomsByWheel(whole, by) {
    const zoom = (event) => {
      const factor = wheelFactor(event);
      if (factor < 1 && whole() && !event.ctrlKey) return;
      event.preventDefault();
      by(factor, event);
    };
    this.on('wheel', zoom, { passive: false });
  }

  /** Whether a key keeps the picture. */
  keepsBy(key) {
    const format = { p: 'png', v: 'svg' }[key];
    if (format) this.keep(format);
    return Boolean(format);
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
