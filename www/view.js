// Where one looks at the core grid: a centre in core coordinates and a zoom (1: the whole chip fits). Kept apart
// from the canvas so that two pictures of different size can share one view.

const MARGIN = 10; // pixels kept free around the chip at zoom 1
const PITCH_MAX = 112; // pixels per core at most
const PITCH_SHOWN = 64; // pixels per core at most when a box of cores is shown

export class View {
  #listeners = new Set();
  #shown = null; // the box that was asked for last, until one moves
  #moved = false; // from where a page begins

  constructor(width, height) {
    this.width = width;
    this.height = height;
    this.centreX = width / 2;
    this.centreY = height / 2;
    this.zoom = 1;
    this.hover = -1; // core under the pointer
    this.cursor = -1; // core that the keyboard stands on
    this.selected = -1; // core whose details are shown
  }

  #left() {
    this.#shown = null;
    this.#moved = true;
  }

  /** The core that one looks at; -1: none. */
  get looked() {
    return [this.hover, this.cursor, this.selected].find((core) => core >= 0) ?? -1;
  }

  onChange(listener) {
    this.#listeners.add(listener);
  }

  changed(what) {
    for (const listener of this.#listeners) listener(what);
  }

  set(what, core) {
    if (this[what] === core) return;
    this[what] = core;
    this.changed(what);
  }

  /** Pixels per core at zoom 1 on a canvas of this size. */
  fit(canvasWidth, canvasHeight) {
    return Math.max(0.01, Math.min((canvasWidth - 2 * MARGIN) / this.width, (canvasHeight - 2 * MARGIN) / this.height));
  }

  /** scale: pixels per core; left, top: the pixel of the chip's north-west corner. */
  frame(canvasWidth, canvasHeight) {
    const scale = this.fit(canvasWidth, canvasHeight) * this.zoom;
    return { scale, left: canvasWidth / 2 - this.centreX * scale, top: canvasHeight / 2 - this.centreY * scale };
  }

  /** The core at a pixel, or -1 outside the chip. */
  coreAt(px, py, canvasWidth, canvasHeight) {
    const { scale, left, top } = this.frame(canvasWidth, canvasHeight);
    const x = Math.floor((px - left) / scale),
      y = Math.floor((py - top) / scale);
    return x >= 0 && y >= 0 && x < this.width && y < this.height ? y * this.width + x : -1;
  }

  /** Zooms by a factor; what is under the pixel stays there, as far as the chip's edge allows. */
  zoomAt(factor, px, py, canvasWidth, canvasHeight) {
    this.#left();
    const fit = this.fit(canvasWidth, canvasHeight),
      before = this.frame(canvasWidth, canvasHeight);
    const zoom = Math.min(Math.max(this.zoom * factor, 1), Math.max(1, PITCH_MAX / fit));
    const x = (px - before.left) / before.scale,
      y = (py - before.top) / before.scale;
    this.zoom = zoom;
    this.centreX = x + (canvasWidth / 2 - px) / (fit * zoom);
    this.centreY = y + (canvasHeight / 2 - py) / (fit * zoom);
    this.#clamp(canvasWidth, canvasHeight);
    this.changed('view');
  }

  panBy(dx, dy, canvasWidth, canvasHeight) {
    this.#left();
    const { scale } = this.frame(canvasWidth, canvasHeight);
    this.centreX -= dx / scale;
    this.centreY -= dy / scale;
    this.#clamp(canvasWidth, canvasHeight);
    this.changed('view');
  }

  reset() {
    this.#left();
    this.zoom = 1;
    this.centreX = this.width / 2;
    this.centreY = this.height / 2;
    this.changed('view');
  }

  /** Where one looks, for an address: what is in the middle and the zoom; nothing until one has moved. */
  get place() {
    return this.#moved ? [this.centreX, this.centreY, this.zoom].map((value) => Number(value.toFixed(3))).join(',') : '';
  }

  /** Looks where `place` said; false where that says nothing. */
  go(place, canvasWidth, canvasHeight) {
    const [x, y, zoom] = (place ?? '').split(',').map(Number);
    if (!(zoom >= 1) || !Number.isFinite(x + y + zoom)) return false;
    this.#left();
    [this.centreX, this.centreY] = [x, y];
    this.zoomAt(zoom / this.zoom, canvasWidth / 2, canvasHeight / 2, canvasWidth, canvasHeight);
    return true;
  }

  /** Shows a box of cores with a little room around it; `moved`: one has asked for it. */
  show(box, canvasWidth, canvasHeight, moved = true) {
    const { x, y, width, height } = box;
    this.#shown = box;
    this.#moved = moved;
    const fit = this.fit(canvasWidth, canvasHeight);
    const room = Math.max(1, 0.06 * Math.max(width, height));
    const wanted = Math.min((canvasWidth - 2 * MARGIN) / (width + 2 * room), (canvasHeight - 2 * MARGIN) / (height + 2 * room));
    this.zoom = Math.min(Math.max(wanted / fit, 1), Math.max(1, PITCH_SHOWN / fit));
    this.centreX = x + width / 2;
    this.centreY = y + height / 2;
    this.#clamp(canvasWidth, canvasHeight);
    this.changed('view');
  }

  /** The canvas has another size now: what was asked for is in sight again, or what one moved to as far as the chip's edge allows. */
  resized(canvasWidth, canvasHeight) {
    if (this.#shown) {
      this.show(this.#shown, canvasWidth, canvasHeight, this.#moved);
      return;
    }
    this.#clamp(canvasWidth, canvasHeight);
    this.changed('view');
  }

  /** Moves just as far as needed to have the core and its neighbours in sight. */
  reveal(core, canvasWidth, canvasHeight) {
    const { scale, left, top } = this.frame(canvasWidth, canvasHeight);
    const shift = (low, size) => {
      const room = Math.min(1.5 * scale, size / 4);
      if (low < room) return room - low;
      return low + scale > size - room ? size - room - (low + scale) : 0;
    };
    const dx = shift(left + (core % this.width) * scale, canvasWidth);
    const dy = shift(top + Math.floor(core / this.width) * scale, canvasHeight);
    if (dx || dy) this.panBy(dx, dy, canvasWidth, canvasHeight);
  }

  #clamp(canvasWidth, canvasHeight) {
    const { scale } = this.frame(canvasWidth, canvasHeight);
    const hold = (centre, cores, pixels) => {
      const half = (pixels / 2 - MARGIN) / scale;
      return cores <= 2 * half ? cores / 2 : Math.min(Math.max(centre, half), cores - half);
    };
    this.centreX = hold(this.centreX, this.width, canvasWidth);
    this.centreY = hold(this.centreY, this.height, canvasHeight);
  }
}
