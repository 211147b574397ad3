// The core grid on a canvas, and what one does with it by pointer and keys. One pixel per core is kept in an off-screen picture.

import { channelsOf, ownerColour, pixel } from './colour.js';
import { announce, element, setText } from './dom.js';
import { draw, inSight } from './heatdraw.js';
import { BROKEN, eachCore, TAKEN } from './layers.js';
import { ARROW_KEYS, SHIFT_ARROW_KEYS, Surface } from './surface.js';

/** An eighth of a pixel's colour, the rest of another's. */
const faded = (pixel, ground) => (((pixel >>> 3) & 0x1f1f1f) + 7 * ((ground >>> 3) & 0x1f1f1f)) | 0xff000000;

export class HeatMap extends Surface {
  #anchor = -1; // where a box of chosen cores begins

  /** chip: whose cores these are; absent, by core: 1 where there is none; region: of a mapping. describe(core): what one hears of a core; hint: while
   * there is none. needLinks(): links come in sight; without it none are drawn. onBox({x0, y0, x1, y1}): where cores are chosen by dragging. */
  constructor(view, { label, chip, absent, region = null, describe, hint = '', needLinks = null, onBox = null, signal }) {
    super('canvas.heat-canvas', { kind: 'heat map', label, signal });
    Object.assign(this, { view, needLinks, region, absent, onBox });
    this.describe = (core) => announce(describe(core));
    this.router = chip.cores_per_router ?? [1, 1];
    this.die = null;
    this.pins = []; // rectangles with a name
    this.links = null;
    this.showLinks = needLinks !== null;
    this.labelOf = null;
    this.kinds = null; // who has which core (layers.js): painted, and marked
    this.bandsOf = null; // [[colour, share]] of a core
    this.lit = null; // by core: 0 where others are to be seen; null: all are
    this.overlay = null; // draws on top
    this.box = null;
    this.controls([
      ['Zoom in', '+ =', 'plus', () => this.#zoomMiddle(1.6)],
      ['Zoom out', '-', 'minus', () => this.#zoomMiddle(1 / 1.6)],
      region && ['Region of the mapping', 'r', 'region', () => this.showRegion()],
      ['Whole chip', '0', 'fit', () => view.reset()],
      ['Go from core to core', ARROW_KEYS, null, (way) => this.#walk(way)],
      [onBox ? 'Choose cores, as by dragging' : 'Move the picture', SHIFT_ARROW_KEYS, null, (way) => (onBox ? this.#stretch(way) : this.#pan(way))],
      ['Select the core', 'Enter Space', null, () => view.cursor >= 0 && view.set('selected', view.cursor)],
      ['Select none', 'Escape', null, () => view.set('selected', -1)],
    ]);
    this.picture = element('canvas', { width: view.width, height: view.height });
    this.image = this.picture.getContext('2d').createImageData(view.width, view.height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.tell = () => setText(this.readout, describe(view.looked) || hint);
    view.onChange(() => {
      this.tell();
      this.redraw();
    });
    this.tell();
    this.on('dblclick', ({ offsetX, offsetY }) => this.zoomed(2, offsetX, offsetY));
    this.on('blur', () => view.set('cursor', -1));
  }

  /** A colour of the page as a pixel. */
  tone(name) {
    return pixel(channelsOf(getComputedStyle(this.canvas).getPropertyValue(`--heat-${name}`)));
  }

  /** Call after `pixels` changed, of all cores or of a box [x0, y0, x1, y1], which `of` may tell, or `kinds`: cores of others are theirs in every picture. */
  repaint(box = [0, 0, this.view.width - 1, this.view.height - 1], of = null) {
    const { pixels, absent, lit } = this,
      { kind, owner, owners } = this.kinds ?? {},
      colours = owners?.map((_, number) => pixel(ownerColour(number))),
      [broken, empty] = [this.tone('broken'), this.tone('empty')],
      [x0, y0, x1, y1] = box;
    eachCore([box], this.view.width, this.view.height, (core) => {
      if (of) pixels[core] = of(core);
      if (kind?.[core] === TAKEN) pixels[core] = colours[owner[core]];
      else if (kind?.[core] === BROKEN) pixels[core] = broken;
      if (absent?.[core]) pixels[core] = 0;
      else if (lit?.[core] === 0) pixels[core] = faded(pixels[core], empty);
    });
    this.picture.getContext('2d').putImageData(this.image, 0, 0, x0, y0, x1 + 1 - x0, y1 + 1 - y0);
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

  get whole() {
    return this.view.zoom === 1;
  }

  #coreAt(x, y) {
    return this.view.coreAt(x, y, ...this.size);
  }

  hovered(x, y) {
    this.view.set('hover', this.#coreAt(x, y));
  }

  began(x, y, fingers) {
    if (this.onBox) this.#anchor = fingers === 1 ? this.#coreAt(x, y) : -1;
  }

  dragged(dx, dy, at) {
    if (this.onBox && this.#anchor >= 0) this.#choose(this.#coreAt(...at));
    else this.view.panBy(dx, dy, ...this.size);
  }

  pressed(x, y) {
    this.view.set('cursor', -1);
    this.view.set('selected', this.#coreAt(x, y));
  }

  zoomed(factor, x, y) {
    this.view.zoomAt(factor, x, y, ...this.size);
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

  #stretch(way) {
    if (!this.box) this.#anchor = this.view.cursor;
    this.#walk(way);
    this.#choose(this.view.cursor);
  }

  #pan([dx, dy]) {
    const [width, height] = this.size;
    this.view.panBy((-dx * width) / 5, (-dy * height) / 5, width, height);
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
