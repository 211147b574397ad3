// The core grid on a canvas. One pixel per core is kept in an off-screen picture that is scaled up; where cores are
// large on the screen they are drawn one by one, with the links between their routers and their figures.

import { EAST, NORTH, SOUTH, WEST } from './binary.js';
import { channels, wantsDarkInk } from './colour.js';
import { element, icon } from './dom.js';
import { Ways } from './ways.js';

const GRID_PITCH = 7; // from this size of a core (pixels) on, lines part the cores
const CELL_PITCH = 24; // from here on cores are drawn one by one, links become visible
const LABEL_PITCH = 46; // from here on each core shows its figure
const GAP = 0.19; // share of the pitch that is left free around a cell for the links
const CLICK_SLACK = 4; // pixels a press may move and still be a click

export class HeatMap {
  #frame = 0;
  #pointers = new Map();
  #pressed = null;
  #pinch = 0;
  #picture;

  /** callbacks: describe(core) -> text for screen readers; needLinks() when links come in sight. */
  constructor(view, { label, help, describe, needLinks, signal }) {
    this.view = view;
    this.describe = describe;
    this.needLinks = needLinks;
    this.router = [1, 1];
    this.die = null;
    this.region = null;
    this.links = null;
    this.showLinks = true;
    this.labelOf = null;
    this.broken = null;
    this.canvas = element('canvas', {
      class: 'heat-canvas',
      tabindex: '0',
      role: 'application',
      'aria-roledescription': 'heat map',
      'aria-label': label,
      'aria-describedby': help,
    });
    const zoom = (factor) => () => this.#zoomMiddle(factor);
    const button = (name, key, picture, onclick) =>
      element(
        'button',
        { type: 'button', class: 'icon-button', title: `${name} (${key})`, 'aria-label': name, onclick },
        icon(picture),
      );
    this.node = element('div', { class: 'heat-frame' }, this.canvas);
    this.buttons = element(
      'div',
      { class: 'heat-zoom', role: 'group', 'aria-label': 'Zoom' },
      button('Zoom in', '+', 'plus', zoom(1.6)),
      button('Zoom out', '−', 'minus', zoom(1 / 1.6)),
      button('Region of the mapping', 'r', 'region', () => this.showRegion()),
      button('Whole chip', '0', 'fit', () => view.reset()),
    );
    this.#picture = element('canvas', { width: view.width, height: view.height });
    this.image = this.#picture.getContext('2d').createImageData(view.width, view.height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    view.onChange(() => this.redraw());
    this.#listen(signal);
  }

  /** Call after `pixels` changed. */
  repaint() {
    this.#picture.getContext('2d').putImageData(this.image, 0, 0);
    this.redraw();
  }

  redraw() {
    if (!this.#frame) {
      this.#frame = requestAnimationFrame(() => {
        this.#frame = 0;
        this.#draw();
      });
    }
  }

  /** The mapping's region, from wherever one is. */
  showRegion() {
    if (this.region) this.view.show(this.region, ...this.size);
  }

  get size() {
    return [this.canvas.clientWidth, this.canvas.clientHeight];
  }

  #zoomMiddle(factor) {
    const [width, height] = this.size;
    const at = this.view.cursor >= 0 ? this.view.cursor : this.view.selected;
    if (at >= 0 && factor > 1) {
      const { scale, left, top } = this.view.frame(width, height);
      this.view.zoomAt(
        factor,
        left + ((at % this.view.width) + 0.5) * scale,
        top + (Math.floor(at / this.view.width) + 0.5) * scale,
        width,
        height,
      );
      this.view.reveal(at, width, height);
    } else {
      this.view.zoomAt(factor, width / 2, height / 2, width, height);
    }
  }

  #listen(signal) {
    const { canvas, view } = this;
    const on = (type, handler, options = {}) =>
      canvas.addEventListener(type, handler, { signal, ...options });
    const observer = new ResizeObserver(() => view.resized(...this.size));
    observer.observe(canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.redraw(), { signal });
    document.addEventListener('themechange', () => this.redraw(), { signal });
    signal.addEventListener('abort', () => {
      observer.disconnect();
      cancelAnimationFrame(this.#frame);
    });

    on(
      'wheel',
      (event) => {
        const factor = Math.exp(
          -event.deltaY * (event.ctrlKey ? 0.01 : event.deltaMode === 1 ? 0.05 : 0.0016),
        );
        // At the whole chip there is nothing to zoom out to: the page may scroll on.
        if (factor < 1 && view.zoom === 1 && !event.ctrlKey) return;
        event.preventDefault();
        view.zoomAt(factor, event.offsetX, event.offsetY, ...this.size);
      },
      { passive: false },
    );
    on('pointerdown', (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      this.#pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
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
    if (this.#pressed && Math.hypot(at[0] - this.#pressed[0], at[1] - this.#pressed[1]) <= CLICK_SLACK)
      return;
    this.#pressed = null;
    this.canvas.classList.add('dragging');
    this.#pointers.set(event.pointerId, at);
    const fingers = this.#pointers.size;
    view.panBy((at[0] - before[0]) / fingers, (at[1] - before[1]) / fingers, ...this.size);
    if (fingers === 2) {
      const spread = this.#spread(),
        [a, b] = [...this.#pointers.values()];
      if (this.#pinch > 0)
        view.zoomAt(spread / this.#pinch, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2, ...this.size);
      this.#pinch = spread;
    }
  }

  #key(event) {
    if (event.altKey || event.metaKey || event.ctrlKey) return;
    const { view } = this,
      [width, height] = this.size;
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (step && event.shiftKey) view.panBy((-step[0] * width) / 5, (-step[1] * height) / 5, width, height);
    else if (step) this.#walk(step);
    else if (event.key === '+' || event.key === '=') this.#zoomMiddle(1.6);
    else if (event.key === '-') this.#zoomMiddle(1 / 1.6);
    else if (event.key === '0') view.reset();
    else if (event.key === 'r') this.showRegion();
    else if ((event.key === 'Enter' || event.key === ' ') && view.cursor >= 0)
      view.set('selected', view.cursor);
    else if (event.key === 'Escape') view.set('selected', -1);
    else return;
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

  #draw() {
    const { canvas, view } = this,
      [width, height] = this.size;
    if (!width || !height) return;
    const ratio = window.devicePixelRatio || 1;
    const deviceWidth = Math.round(width * ratio),
      deviceHeight = Math.round(height * ratio);
    if (canvas.width !== deviceWidth || canvas.height !== deviceHeight) {
      canvas.width = deviceWidth;
      canvas.height = deviceHeight;
    }
    const style = getComputedStyle(canvas);
    const ink = {
      surface: style.backgroundColor,
      line: style.getPropertyValue('--heat-line'),
      strong: style.getPropertyValue('--heat-strong'),
      link: style.getPropertyValue('--heat-link'),
      idle: style.getPropertyValue('--heat-idle'),
    };
    const context = canvas.getContext('2d', { alpha: false });
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = ink.surface;
    context.fillRect(0, 0, width, height);
    const { scale, left, top } = view.frame(width, height);
    const seen = {
      x0: Math.max(0, Math.floor(-left / scale)),
      x1: Math.min(view.width, Math.ceil((width - left) / scale)),
      y0: Math.max(0, Math.floor(-top / scale)),
      y1: Math.min(view.height, Math.ceil((height - top) / scale)),
    };
    const place = { context, ink, scale, left, top, seen };
    const cells = scale >= CELL_PITCH && this.showLinks;
    if (cells) this.#drawCells(place);
    else this.#drawPicture(place);
    if (cells) this.#drawLinks(place);
    if (scale >= LABEL_PITCH) this.#drawLabels(place, cells);
    this.#drawBorders(place);
    this.#drawMarks(place, cells ? GAP * scale - 3 : 0);
    // At the whole chip there is nothing to pan: a finger scrolls the page.
    canvas.classList.toggle('whole', view.zoom === 1);
  }

  #drawPicture({ context, ink, scale, left, top, seen }) {
    const { x0, x1, y0, y1 } = seen;
    // Below a pixel per core, leaving cores out would hide them: let them mix instead.
    context.imageSmoothingEnabled = scale * (window.devicePixelRatio || 1) < 1;
    context.drawImage(
      this.#picture,
      x0,
      y0,
      x1 - x0,
      y1 - y0,
      left + x0 * scale,
      top + y0 * scale,
      (x1 - x0) * scale,
      (y1 - y0) * scale,
    );
    if (scale < GRID_PITCH) return;
    context.strokeStyle = ink.surface;
    context.lineWidth = Math.min(2, Math.max(0.75, scale / 20));
    context.beginPath();
    for (let x = x0; x <= x1; x++) {
      context.moveTo(left + x * scale, top + y0 * scale);
      context.lineTo(left + x * scale, top + y1 * scale);
    }
    for (let y = y0; y <= y1; y++) {
      context.moveTo(left + x0 * scale, top + y * scale);
      context.lineTo(left + x1 * scale, top + y * scale);
    }
    context.stroke();
  }

  #drawCells({ context, scale, left, top, seen }) {
    const gap = GAP * scale,
      side = scale - 2 * gap,
      radius = Math.min(4, side / 8);
    for (let y = seen.y0; y < seen.y1; y++) {
      for (let x = seen.x0; x < seen.x1; x++) {
        const [r, g, b] = channels(this.pixels[y * this.view.width + x]);
        context.fillStyle = `rgb(${r} ${g} ${b})`;
        context.beginPath();
        context.roundRect(left + x * scale + gap, top + y * scale + gap, side, side, radius);
        context.fill();
      }
    }
  }

  // Each pair of neighbours has two lanes in the gap between them, one for each way, as on a road with right-hand traffic.
  #drawLinks({ context, ink, scale, left, top, seen }) {
    if (!this.links) {
      this.needLinks();
      return;
    }
    if (this.links.ways) {
      this.#drawWays({ context, ink, scale, left, top, seen });
      return;
    }
    const { width, height, load, max } = this.links,
      [rx, ry] = this.router;
    const lane = 0.11 * scale,
      length = 2 * GAP * scale;
    const cols = [Math.floor(seen.x0 / rx), Math.min(width, Math.ceil(seen.x1 / rx))];
    const rows = [Math.floor(seen.y0 / ry), Math.min(height, Math.ceil(seen.y1 / ry))];
    for (let j = rows[0]; j < rows[1]; j++) {
      for (let i = cols[0]; i < cols[1]; i++) {
        const x = left + (i + 0.5) * rx * scale,
          y = top + (j + 0.5) * ry * scale;
        const east = left + (i + 1) * rx * scale,
          west = left + i * rx * scale;
        const south = top + (j + 1) * ry * scale,
          north = top + j * ry * scale;
        for (let direction = 0; direction < 4; direction++) {
          const value = load[(j * width + i) * 4 + direction],
            share = max > 0 ? Math.sqrt(value / max) : 0;
          const across = direction === EAST || direction === WEST;
          // A link out of the array exists only on a torus: draw it only when something runs on it.
          const outside =
            (direction === EAST && i === width - 1) ||
            (direction === WEST && i === 0) ||
            (direction === SOUTH && j === height - 1) ||
            (direction === NORTH && j === 0);
          if (outside && value === 0) continue;
          const thick = value > 0 ? Math.max(1.2, share * 0.16 * scale) : 0.8;
          context.globalAlpha = value > 0 ? 0.45 + 0.55 * share : 1;
          context.fillStyle = value > 0 ? ink.link : ink.idle;
          const side = direction === EAST || direction === NORTH ? 1 : -1;
          const edge =
            direction === EAST ? east : direction === WEST ? west : direction === SOUTH ? south : north;
          if (across) context.fillRect(edge - length / 2, y + side * lane - thick / 2, length, thick);
          else context.fillRect(x + side * lane - thick / 2, edge - length / 2, thick, length);
        }
      }
    }
    context.globalAlpha = 1;
  }

  // A line for each link; what goes round an edge is a stub at either end.
  #drawWays({ context, ink, scale, left, top, seen }) {
    const { ways, max } = this.links,
      [rx, ry] = this.router;
    const drawn = (this.links.drawn ??= new Ways(ways, this.view.width / rx, this.view.height / ry));
    context.lineCap = 'round';
    drawn.within({ x0: seen.x0 / rx, x1: seen.x1 / rx, y0: seen.y0 / ry, y1: seen.y1 / ry }, (i, line) => {
      const value = ways.load[i],
        share = max > 0 ? Math.sqrt(value / max) : 0;
      const x = left + line.x * rx * scale,
        y = top + line.y * ry * scale,
        dx = line.dx * rx * scale,
        dy = line.dy * ry * scale,
        length = Math.hypot(dx, dy) || 1;
      // Each way on its own side of the line between both.
      const off = 0.06 * scale,
        ox = (-dy / length) * off,
        oy = (dx / length) * off;
      context.globalAlpha = value > 0 ? 0.35 + 0.6 * share : 0.5;
      context.strokeStyle = value > 0 ? ink.link : ink.idle;
      context.lineWidth = value > 0 ? Math.max(1.2, share * 0.14 * scale) : 0.8;
      context.beginPath();
      context.moveTo(x + ox, y + oy);
      context.lineTo(x + dx + ox, y + dy + oy);
      context.stroke();
    });
    context.globalAlpha = 1;
  }

  #drawLabels({ context, scale, left, top, seen }, cells) {
    if (!this.labelOf) return;
    context.font = `${Math.round(Math.min(13, scale / 5))}px system-ui, sans-serif`;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    const room = cells ? scale * (1 - 2 * GAP) - 3 : scale - 6;
    for (let y = seen.y0; y < seen.y1; y++) {
      for (let x = seen.x0; x < seen.x1; x++) {
        const core = y * this.view.width + x,
          text = this.labelOf(core);
        if (!text) continue;
        context.fillStyle = wantsDarkInk(channels(this.pixels[core])) ? '#101418' : '#ffffff';
        context.fillText(text, left + (x + 0.5) * scale, top + (y + 0.5) * scale, room);
      }
    }
  }

  #drawBorders({ context, ink, scale, left, top }) {
    const { view } = this;
    context.lineWidth = 1;
    context.strokeStyle = ink.line;
    context.strokeRect(left - 0.5, top - 0.5, view.width * scale + 1, view.height * scale + 1);
    if (this.die) {
      context.strokeStyle = ink.strong;
      context.beginPath();
      for (let x = this.die[0]; x < view.width; x += this.die[0]) {
        context.moveTo(left + x * scale, top);
        context.lineTo(left + x * scale, top + view.height * scale);
      }
      for (let y = this.die[1]; y < view.height; y += this.die[1]) {
        context.moveTo(left, top + y * scale);
        context.lineTo(left + view.width * scale, top + y * scale);
      }
      context.stroke();
    }
    if (this.region && this.region.width * this.region.height < view.width * view.height) {
      const { x, y, width, height } = this.region;
      context.strokeStyle = ink.strong;
      context.setLineDash([5, 4]);
      context.strokeRect(
        left + x * scale - 0.5,
        top + y * scale - 0.5,
        width * scale + 1,
        height * scale + 1,
      );
      context.setLineDash([]);
    }
  }

  #drawMarks({ context, ink, scale, left, top, seen }, inset) {
    const { view } = this;
    const box = (core, outset) => {
      const size = Math.max(scale - 2 * inset, 5),
        shift = (size - scale) / 2;
      return [
        left + (core % view.width) * scale - shift - outset,
        top + Math.floor(core / view.width) * scale - shift - outset,
        size + 2 * outset,
        size + 2 * outset,
      ];
    };
    if (this.broken && scale >= 9) {
      context.strokeStyle = ink.strong;
      context.lineWidth = 1.2;
      context.beginPath();
      for (let y = seen.y0; y < seen.y1; y++) {
        for (let x = seen.x0; x < seen.x1; x++) {
          if (!this.broken(y * view.width + x)) continue;
          const cx = left + (x + 0.5) * scale,
            cy = top + (y + 0.5) * scale,
            arm = scale * 0.18;
          context.moveTo(cx - arm, cy - arm);
          context.lineTo(cx + arm, cy + arm);
          context.moveTo(cx + arm, cy - arm);
          context.lineTo(cx - arm, cy + arm);
        }
      }
      context.stroke();
    }
    if (view.hover >= 0) {
      context.strokeStyle = ink.strong;
      context.lineWidth = 1.5;
      context.strokeRect(...box(view.hover, 0.5));
    }
    for (const [core, dashed] of [
      [view.selected, false],
      [view.cursor, true],
    ]) {
      if (core < 0) continue;
      // White inside dark: visible on every colour of the scale.
      context.strokeStyle = '#000000';
      context.lineWidth = 4.5;
      context.strokeRect(...box(core, 1.5));
      context.strokeStyle = '#ffffff';
      context.lineWidth = 2;
      if (dashed) context.setLineDash([4, 3]);
      context.strokeRect(...box(core, 1.5));
      context.setLineDash([]);
    }
  }
}
