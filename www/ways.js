// Links of any interconnect as lines between its routers: where routers stand, and which links a window may show.
// Lengths are in routers; a router with cores stands in the middle of its block.

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
