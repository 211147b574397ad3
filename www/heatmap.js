// The core grid on a canvas, and what one does with it by pointer and keys. One pixel per core is kept in an off-screen picture.

import { announce, element } from './dom.js';
import { draw, inSight } from './heatdraw.js';
import { Surface } from './surface.js';

const MAP_HELP =
  'Arrow keys walk from core to core, Enter selects, Escape clears, plus and minus zoom, ' +
  '0 shows the whole chip, R the region of the mapping, Shift with an arrow key moves the picture, P and V keep it as PNG and SVG.';
let maps = 0; // so far, so that each has a help of its own
const CLICK_SLACK = 4; // pixels a press may move and still be a click

export class HeatMap extends Surface {
  #pointers = new Map();
  #pressed = null;
  #pinch = 0;
  #anchor = -1; // where a box of chosen cores begins

  /** chip: whose cores these are; absent, by core: 1 where there is none; region: of a mapping. describe(core): what one hears of a core;
   * needLinks(): links come in sight; without it none are drawn. */
  constructor(view, { label, chip, absent, region = null, describe, needLinks = null, signal }) {
    const help = `map-help-${++maps}`;
    super('canvas.heat-canvas', { kind: 'heat map', label, help, signal });
    this.help = help;
    this.view = view;
    this.describe = (core) => announce(describe(core));
    this.needLinks = needLinks;
    this.router = chip.cores_per_router ?? [1, 1];
    this.die = null;
    this.region = region;
    this.pins = []; // rectangles with a name
    this.links = null;
    this.showLinks = needLinks !== null;
    this.labelOf = null;
    this.absent = absent;
    this.markOf = null; // 'taken', 'broken' or nothing
    this.bandsOf = null; // [[colour, share]] of a core
    this.lit = null; // by core: 1 where it is to be seen among others
    this.overlay = null; // draws on top
    this.onBox = null; // where cores are chosen by dragging: told of {x0, y0, x1, y1}
    this.box = null;
    this.node = element('div.heat-frame', this.canvas);
    this.buttons = this.buttonsWith([
      ['Zoom in', '+', 'plus', () => this.#zoomMiddle(1.6)],
      ['Zoom out', '−', 'minus', () => this.#zoomMiddle(1 / 1.6)],
      ['Region of the mapping', 'r', 'region', () => this.showRegion()],
      ['Whole chip', '0', 'fit', () => view.reset()],
    ]);
    this.picture = element('canvas', { width: view.width, height: view.height });
    this.image = this.picture.getContext('2d').createImageData(view.width, view.height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    view.onChange(() => this.redraw());
    this.#listen();
  }

  /** The canvas with what is said of it on the left and its buttons on the right below; then `rest`, and what its keys do. */
  figure(said, ...rest) {
    return [
      this.node,
      element('div.map-foot', said, this.buttons),
      rest,
      element('p.hidden', { id: this.help }, MAP_HELP, this.onBox && ' Dragging chooses cores.'),
    ];
  }

  /** Call after `pixels` changed. */
  repaint() {
    this.picture.getContext('2d').putImageData(this.image, 0, 0);
    this.redraw();
  }

  draw() {
    draw(this);
  }

  resized() {
    this.view.resized(...this.size);
  }

  /** The box of cores in sight, where they are as large as `pitch` pixels; null: smaller. */
  closer(pitch) {
    const { scale, ...seen } = inSight(this.view, this.size);
    return scale >= pitch ? seen : null;
  }

  /** The mapping's region, from wherever one is. */
  showRegion() {
    if (this.region) this.view.show(this.region, ...this.size);
  }

  #zoomMiddle(factor) {
    const [width, height] = this.size;
    const at = this.view.cursor >= 0 ? this.view.cursor : this.view.selected;
    if (at >= 0 && factor > 1) {
      const { scale, left, top } = this.view.frame(width, height);
      this.view.zoomAt(factor, left + ((at % this.view.width) + 0.5) * scale, top + (Math.floor(at / this.view.width) + 0.5) * scale, width, height);
      this.view.reveal(at, width, height);
    } else {
      this.view.zoomAt(factor, width / 2, height / 2, width, height);
    }
  }

  #listen() {
    const { canvas, on, view } = this;
    this.zoomsByWheel(
      () => view.zoom === 1,
      (factor, { offsetX, offsetY }) => view.zoomAt(factor, offsetX, offsetY, ...this.size),
    );
    on('pointerdown', (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      this.#pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
      if (this.onBox) this.#anchor = view.coreAt(event.offsetX, event.offsetY, ...this.size);
      this.#pressed = this.#pointers.size === 1 ? [event.offsetX, event.offsetY] : null;
      this.#pinch = this.#spread();
    });
    on('pointermove', (event) => this.#moved(event));
    on('pointerup', (event) => {
      if (this.#pressed && this.#pointers.has(event.pointerId)) {
        view.set('cursor', -1);
        view.set('selected', view.coreAt(event.offsetX, event.offsetY, ...this.size));
      }
      this.#released(event);
    });
    on('pointercancel', (event) => this.#released(event));
    on('pointerleave', () => view.set('hover', -1));
    on('dblclick', (event) => view.zoomAt(2, event.offsetX, event.offsetY, ...this.size));
    on('keydown', (event) => this.#key(event));
    on('blur', () => view.set('cursor', -1));
  }

  /** The box from where it began to a core. */
  #choose(core) {
    if (core < 0) return;
    if (this.#anchor < 0) this.#anchor = core;
    const { width } = this.view,
      [ax, ay, bx, by] = [this.#anchor % width, Math.floor(this.#anchor / width), core % width, Math.floor(core / width)];
    this.box = { x0: Math.min(ax, bx), y0: Math.min(ay, by), x1: Math.max(ax, bx), y1: Math.max(ay, by) };
    this.onBox(this.box);
    this.redraw();
  }

  #released(event) {
    this.#pointers.delete(event.pointerId);
    this.#pressed = null;
    this.#pinch = this.#spread();
    this.canvas.classList.remove('dragging');
  }

  #spread() {
    const [a, b] = [...this.#pointers.values()];
    return b ? Math.hypot(a[0] - b[0], a[1] - b[1]) : 0;
  }

  #moved(event) {
    const { view } = this,
      at = [event.offsetX, event.offsetY],
      before = this.#pointers.get(event.pointerId);
    if (!before) {
      view.set('hover', view.coreAt(...at, ...this.size));
      return;
    }
    if (this.#pressed && Math.hypot(at[0] - this.#pressed[0], at[1] - this.#pressed[1]) <= CLICK_SLACK) return;
    this.#pressed = null;
    this.#pointers.set(event.pointerId, at);
    if (this.#anchor >= 0 && this.#pointers.size === 1) {
      this.#choose(view.coreAt(...at, ...this.size));
      return;
    }
    this.canvas.classList.add('dragging');
    const fingers = this.#pointers.size;
    view.panBy((at[0] - before[0]) / fingers, (at[1] - before[1]) / fingers, ...this.size);
    if (fingers === 2) {
      const spread = this.#spread(),
        [a, b] = [...this.#pointers.values()];
      if (this.#pinch > 0) view.zoomAt(spread / this.#pinch, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2, ...this.size);
      this.#pinch = spread;
    }
  }

  #key(event) {
    if (event.altKey || event.metaKey || event.ctrlKey) return;
    const { view } = this,
      [width, height] = this.size;
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (step && event.shiftKey && this.onBox) {
      if (!this.box) this.#anchor = view.cursor;
      this.#walk(step);
      this.#choose(view.cursor);
    } else if (step && event.shiftKey) view.panBy((-step[0] * width) / 5, (-step[1] * height) / 5, width, height);
    else if (step) this.#walk(step);
    else if (event.key === '+' || event.key === '=') this.#zoomMiddle(1.6);
    else if (event.key === '-') this.#zoomMiddle(1 / 1.6);
    else if (event.key === '0') view.reset();
    else if (event.key === 'r') this.showRegion();
    else if ((event.key === 'Enter' || event.key === ' ') && view.cursor >= 0) view.set('selected', view.cursor);
    else if (event.key === 'Escape') view.set('selected', -1);
    else if (!this.keepsBy(event.key)) return;
    event.preventDefault();
  }

  #walk([dx, dy]) {
    const { view } = this;
    let core = view.cursor >= 0 ? view.cursor : view.selected;
    if (core < 0) {
      // Start in the middle of what is in sight.
      core = Math.floor(view.centreY) * view.width + Math.floor(view.centreX);
    } else {
      const x = Math.min(Math.max((core % view.width) + dx, 0), view.width - 1);
      const y = Math.min(Math.max(Math.floor(core / view.width) + dy, 0), view.height - 1);
      core = y * view.width + x;
    }
    view.reveal(core, ...this.size);
    view.set('cursor', core);
    this.describe(core);
  }
}
