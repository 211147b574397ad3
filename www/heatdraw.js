// How a core grid is drawn on its canvas: one pixel a core scaled up, or core by core with links, figures and marks.

import { channels, wantsDarkInk } from './colour.js';
import { BROKEN, eachCore, TAKEN } from './layers.js';

const GRID_PITCH = 7; // from this size of a core (pixels) on, lines part the cores
const CELL_PITCH = 24; // from here on cores are drawn one by one, links become visible
const LABEL_PITCH = 46; // from here on each core shows its figure
const GAP = 0.19; // share of the pitch that is left free around a cell for the links
export const DIRECTIONS = ['east', 'west', 'south', 'north']; // in the order of the links file
export const STEPS = [
  [1, 0],
  [-1, 0],
  [0, 1],
  [0, -1],
];
const MARK_PITCH = 5; // from here on taken cores are hatched and broken ones crossed out

/** What of a view is in sight on a canvas of this size: {x0, y0, x1, y1}, and pixels of a core. */
export function inSight(view, [width, height]) {
  const { scale, left, top } = view.frame(width, height);
  return {
    scale,
    x0: Math.max(0, Math.floor(-left / scale)),
    x1: Math.min(view.width, Math.ceil((width - left) / scale)),
    y0: Math.max(0, Math.floor(-top / scale)),
    y1: Math.min(view.height, Math.ceil((height - top) / scale)),
  };
}

export function draw(map) {
  const { canvas, view } = map,
    surface = map.begin();
  if (!surface) return;
  const { context, ink } = surface;
  const { left, top } = view.frame(...map.size),
    { scale, ...seen } = inSight(view, map.size);
  const place = { context, ink, scale, left, top, seen };
  const cells = scale >= CELL_PITCH && map.showLinks;
  const [rx, ry] = map.router,
    below = rx * ry > 1 || map.links?.ways; // links run behind the cores of their routers, and those of any interconnect from core to core
  if (cells && below) {
    drawRouters(map, place, ink.line, 2);
    if (!map.overlay) drawLinks(map, place);
  }
  if (cells) drawCells(map, place);
  else drawPicture(map, place);
  if (map.bandsOf && scale >= GRID_PITCH) drawBands(map, place, cells ? GAP * scale : 0);
  if (cells && !below && !map.overlay) drawLinks(map, place);
  if (map.kinds && scale >= MARK_PITCH) drawKinds(map, place, cells ? GAP * scale : 1);
  if (scale >= LABEL_PITCH) drawLabels(map, place, cells);
  drawBorders(map, place);
  map.overlay?.(place);
  drawPins(map, place);
  drawMarks(map, place, cells ? GAP * scale - 3 : 0);
  // At the whole chip there is nothing to pan: a finger scrolls the page.
  canvas.classList.toggle('whole', view.zoom === 1);
}

function drawPicture(map, { context, ink, scale, left, top, seen }) {
  const { x0, x1, y0, y1 } = seen;
  // Below a pixel per core, leaving cores out would hide them: let them mix instead.
  context.imageSmoothingEnabled = scale * (window.devicePixelRatio || 1) < 1;
  context.drawImage(map.picture, x0, y0, x1 - x0, y1 - y0, left + x0 * scale, top + y0 * scale, (x1 - x0) * scale, (y1 - y0) * scale);
  if (scale < GRID_PITCH) return;
  context.strokeStyle = ink.surface;
  context.lineWidth = Math.min(2, Math.max(0.75, scale / 20));
  drawGrid({ context, scale, left, top }, seen, [x0, y0], [1, 1]);
  drawRouters(map, { context, scale, left, top, seen }, ink.surface, Math.min(4, Math.max(1.5, scale / 6)));
}

/** Lines across a box of cores, from some on every few. */
function drawGrid({ context, scale, left, top }, { x0, x1, y0, y1 }, first, step) {
  const line = (ax, ay, bx, by) => {
    context.moveTo(left + ax * scale, top + ay * scale);
    context.lineTo(left + bx * scale, top + by * scale);
  };
  context.beginPath();
  for (let x = first[0]; x < x1; x += step[0]) line(x, y0, x, y1);
  for (let y = first[1]; y < y1; y += step[1]) line(x0, y, x1, y);
  context.stroke();
}

/** Routers of several cores are cells with their cores inside. */
function drawRouters(map, place, colour, wide) {
  const { context, seen } = place,
    [rx, ry] = map.router,
    { width, height } = map.view;
  if (rx * ry === 1) return;
  context.lineWidth = wide;
  context.strokeStyle = colour;
  for (let y = seen.y0 - (seen.y0 % ry); y < seen.y1; y += ry)
    for (let x = seen.x0 - (seen.x0 % rx); x < seen.x1; x += rx) {
      let there = !map.absent;
      eachCore([[x, y, x + rx - 1, y + ry - 1]], width, height, (core) => (there ||= !map.absent[core]));
      if (there) context.strokeRect(...boxed(place, { x, y, width: rx, height: ry }));
    }
}

/** Calls take(core, x, y) for all cores in sight that there are. */
function each(map, seen, take) {
  for (let y = seen.y0; y < seen.y1; y++) {
    for (let x = seen.x0; x < seen.x1; x++) {
      const core = y * map.view.width + x;
      if (!map.absent?.[core]) take(core, x, y);
    }
  }
}

function drawCells(map, { context, scale, left, top, seen }) {
  const gap = GAP * scale,
    side = scale - 2 * gap,
    radius = Math.min(4, side / 8);
  each(map, seen, (core, x, y) => {
    const [r, g, b] = channels(map.pixels[core]);
    context.fillStyle = `rgb(${r} ${g} ${b})`;
    context.beginPath();
    context.roundRect(left + x * scale + gap, top + y * scale + gap, side, side, radius);
    context.fill();
  });
}

/** Cores of several populations: a band each, as wide as its share. */
function drawBands(map, { context, scale, left, top, seen }, gap) {
  const side = scale - 2 * Math.max(gap, 0.5);
  each(map, seen, (core, x, y) => {
    let from = left + x * scale + (scale - side) / 2;
    for (const [colour, share] of map.lit?.[core] === 0 ? [] : map.bandsOf(core)) {
      context.fillStyle = colour;
      context.fillRect(from, top + y * scale + (scale - side) / 2, share * side, side);
      from += share * side;
    }
  });
}

/** What is not this mapping's: taken cores hatched, broken ones crossed out. */
function drawKinds(map, { context, ink, scale, left, top, seen }, gap) {
  context.strokeStyle = ink.strong;
  context.lineWidth = Math.min(1.2, scale / 10);
  context.beginPath();
  each(map, seen, (core, i, j) => {
    const kind = map.kinds.kind[core];
    if (kind !== TAKEN && kind !== BROKEN) return;
    const x0 = left + i * scale + gap,
      y0 = top + j * scale + gap,
      side = scale - 2 * gap;
    if (kind === TAKEN)
      for (const at of [0.25, 0.5, 0.75, 1]) {
        context.moveTo(x0, y0 + at * side);
        context.lineTo(x0 + at * side, y0);
      }
    else {
      context.moveTo(x0, y0);
      context.lineTo(x0 + side, y0 + side);
      context.moveTo(x0 + side, y0);
      context.lineTo(x0, y0 + side);
    }
  });
  context.stroke();
}

/** Calls take(line, load) for the links that a window may show. Of a mesh a link out of the array exists only on a torus: told when something runs on it. */
function eachLink(map, window, take) {
  const { ways, width, height, load } = map.links;
  if (ways) {
    waysOf(map, map.links).within(window, (i, line) => take(line, ways.load[i]));
    return;
  }
  for (let j = Math.floor(window.y0); j < Math.min(height, Math.ceil(window.y1)); j++)
    for (let i = Math.floor(window.x0); i < Math.min(width, Math.ceil(window.x1)); i++)
      STEPS.forEach(([dx, dy], direction) => {
        const value = load[(j * width + i) * 4 + direction];
        if (value > 0 || (i + dx >= 0 && i + dx < width && j + dy >= 0 && j + dy < height)) take({ x: i + 0.5, y: j + 0.5, dx, dy }, value);
      });
}

/* A line for each link, each way on its own side, as on a road with right-hand traffic; of a mesh only what lies in the gap between neighbours. What
 * goes round an edge is a stub at either end. */
function drawLinks(map, { context, ink, scale, left, top, seen }) {
  if (!map.links) {
    map.needLinks();
    return;
  }
  const { ways, max } = map.links,
    [rx, ry] = map.router,
    off = (ways ? 0.06 : 0.11) * scale;
  context.lineCap = ways ? 'round' : 'butt';
  const gone = (x, y) => map.absent?.[Math.floor(y * ry) * map.view.width + Math.floor(x * rx)] === 1;
  eachLink(map, { x0: seen.x0 / rx, x1: seen.x1 / rx, y0: seen.y0 / ry, y1: seen.y1 / ry }, (line, value) => {
    if (value === 0 && (gone(line.x, line.y) || gone(line.x + line.dx, line.y + line.dy))) return;
    const share = max > 0 ? Math.sqrt(value / max) : 0,
      dx = line.dx * rx * scale,
      dy = line.dy * ry * scale,
      length = Math.hypot(dx, dy) || 1,
      cut = ways ? 0 : 0.5 - (GAP * scale) / length,
      x = left + line.x * rx * scale + cut * dx - (dy / length) * off,
      y = top + line.y * ry * scale + cut * dy + (dx / length) * off;
    context.globalAlpha = value > 0 ? 0.45 + 0.55 * share : 1;
    context.strokeStyle = value > 0 ? ink.link : ink.idle;
    context.lineWidth = value > 0 ? Math.max(1.2, share * 0.16 * scale) : 0.8;
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x + (1 - 2 * cut) * dx, y + (1 - 2 * cut) * dy);
    context.stroke();
  });
  context.globalAlpha = 1;
}

function drawLabels(map, { context, scale, left, top, seen }, cells) {
  if (!map.labelOf) return;
  context.font = `${Math.round(Math.min(13, scale / 5))}px system-ui, sans-serif`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  const room = cells ? scale * (1 - 2 * GAP) - 3 : scale - 6;
  each(map, seen, (core, x, y) => {
    const text = map.labelOf(core);
    if (!text) return;
    context.fillStyle = wantsDarkInk(channels(map.pixels[core])) ? '#101418' : '#ffffff';
    context.fillText(text, left + (x + 0.5) * scale, top + (y + 0.5) * scale, room);
  });
}

/** A box of cores in pixels, a little larger. */
const boxed = ({ scale, left, top }, { x, y, width, height }, by = 0) => [
  left + x * scale - by,
  top + y * scale - by,
  width * scale + 2 * by,
  height * scale + 2 * by,
];

function drawBorders(map, place) {
  const { view, region } = map,
    { context, ink } = place;
  context.lineWidth = 1;
  context.strokeStyle = ink.line;
  context.strokeRect(...boxed(place, { x: 0, y: 0, ...view }, 0.5));
  context.strokeStyle = ink.strong;
  if (map.die) drawGrid(place, { x0: 0, y0: 0, x1: view.width, y1: view.height }, map.die, map.die);
  if (region && region.width * region.height < view.width * view.height) {
    context.setLineDash([5, 4]);
    context.strokeRect(...boxed(place, region, 0.5));
    context.setLineDash([]);
  }
}

/* Cores that constraints pin somebody to. */
function drawPins(map, place) {
  const { context, ink } = place;
  context.strokeStyle = context.fillStyle = ink.strong;
  context.lineWidth = 2;
  context.font = '12px system-ui, sans-serif';
  context.textAlign = 'left';
  context.textBaseline = 'bottom';
  for (const pin of map.pins) {
    const [x, y, ...size] = boxed(place, pin);
    context.strokeRect(x, y, ...size);
    context.fillText(pin.name, x + 2, y - 1);
  }
  context.lineWidth = 1;
}

function drawMarks(map, place, inset) {
  const { context, ink, scale } = place,
    { view, box } = map;
  const around = (core, by) => {
    const single = { x: core % view.width, y: Math.floor(core / view.width), width: 1, height: 1 };
    return boxed(place, single, (Math.max(scale - 2 * inset, 5) - scale) / 2 + by);
  };
  if (box) {
    const chosen = boxed(place, { x: box.x0, y: box.y0, width: box.x1 + 1 - box.x0, height: box.y1 + 1 - box.y0 });
    context.fillStyle = ink.accent;
    context.globalAlpha = 0.25;
    context.fillRect(...chosen);
    context.globalAlpha = 1;
    context.strokeStyle = ink.strong;
    context.lineWidth = 2;
    context.strokeRect(...chosen);
  }
  if (view.hover >= 0) {
    context.strokeStyle = ink.strong;
    context.lineWidth = 1.5;
    context.strokeRect(...around(view.hover, 0.5));
  }
  for (const [core, dashed] of [
    [view.selected, false],
    [view.cursor, true],
  ]) {
    if (core < 0) continue;
    // White inside dark: visible on every colour of the scale.
    context.strokeStyle = '#000000';
    context.lineWidth = 4.5;
    context.strokeRect(...around(core, 1.5));
    context.strokeStyle = '#ffffff';
    context.lineWidth = 2;
    if (dashed) context.setLineDash([4, 3]);
    context.strokeRect(...around(core, 1.5));
    context.setLineDash([]);
  }
}

/** The ways of loads of links that are no plain mesh's, made once. */
export function waysOf({ view, router: [rx, ry] }, links) {
  return (links.drawn ??= new Ways(links.ways, view.width / rx, view.height / ry));
}

/** Links of any interconnect as lines between its routers: where these stand, and which links a window may show. Lengths are in routers; one with
 * cores stands in the middle of its block. */
export class Ways {
  /** ways: {routers, from, to}, a link each; columns, rows: of the routers with cores, numbered row by row. O(links). */
  constructor(ways, columns, rows) {
    const places = placesOf(ways, columns, rows),
      grid = columns * rows,
      size = [columns, rows];
    // x, y, dx, dy of each: where it begins and how far it goes; what goes round an edge of a torus is half a router long.
    this.lines = new Float32Array(4 * ways.from.length);
    for (let i = 0; i < ways.from.length; i++)
      for (const axis of [0, 1]) {
        const [a, b] = [ways.from[i], ways.to[i]],
          far = places[2 * b + axis] - places[2 * a + axis];
        this.lines[4 * i + axis] = places[2 * a + axis];
        this.lines[4 * i + 2 + axis] = a < grid && b < grid && Math.abs(far) > 0.75 * size[axis] ? -Math.sign(far) * 0.5 : far;
      }
  }

  line(i) {
    const [x, y, dx, dy] = this.lines.subarray(4 * i, 4 * i + 4);
    return { x, y, dx, dy };
  }

  /** Calls take(i, line) for each link that may cross the window x0..x1, y0..y1. O(links). */
  within({ x0, x1, y0, y1 }, take) {
    for (let i = 0, at = 0; at < this.lines.length; i++, at += 4) {
      const [x, y, dx, dy] = [this.lines[at], this.lines[at + 1], this.lines[at + 2], this.lines[at + 3]];
      if (Math.max(x, x + dx) >= x0 && Math.min(x, x + dx) <= x1 && Math.max(y, y + dy) >= y0 && Math.min(y, y + dy) <= y1) take(i, this.line(i));
    }
  }
}

/**
 * Where routers are drawn, x and y of each: those with cores in their place, switches amid those they join (others that are
 * switches where there are none), half a place aside where all of these stand in one line.
 */
function placesOf(ways, columns, rows) {
  const places = new Float32Array(2 * ways.routers),
    grid = columns * rows;
  for (let r = 0; r < grid; r++) {
    places[2 * r] = (r % columns) + 0.5;
    places[2 * r + 1] = Math.floor(r / columns) + 0.5;
  }
  for (let i = 0, end; i < ways.from.length; i = end) {
    const at = ways.from[i],
      below = [];
    for (end = i; ways.from[end] === at; end++) if (at >= grid && ways.to[end] < at) below.push(ways.to[end]); // switches of lower numbers have their place already
    const cores = below.filter((r) => r < grid),
      joined = cores.length > 0 ? cores : below;
    if (joined.length === 0) continue;
    for (const axis of [0, 1]) {
      const sum = joined.reduce((all, r) => all + places[2 * r + axis], 0);
      places[2 * at + axis] = sum / joined.length;
    }
    const inLine = (axis) => joined.every((r) => places[2 * r + axis] === places[2 * joined[0] + axis]);
    if (joined.length > 1 && (inLine(0) || inLine(1))) places[2 * at + (inLine(1) ? 1 : 0)] += 0.5;
  }
  return places;
}
