// Links of any interconnect as lines between its routers: where routers stand, and which links a window may show.
// Lengths are in routers; a router with cores stands in the middle of its block.

const NEAR = 2; // links no longer than this along x and y are found by where they begin; others are few

export class Ways {
  /** ways: {routers, from, to}, a link each; columns, rows: of the routers with cores, numbered row by row. O(links). */
  constructor(ways, columns, rows) {
    this.ways = ways;
    this.columns = columns;
    this.rows = rows;
    this.places = placesOf(ways, columns, rows);
    const count = ways.from.length,
      line = {};
    this.far = [];
    // By cell of the routers' grid in which they begin: those of cell c that are near are near[first[c]] .. near[first[c + 1] - 1].
    this.first = new Uint32Array(columns * rows + 1);
    const cell = new Uint32Array(count);
    for (let i = 0; i < count; i++) {
      this.line(i, line);
      if (Math.abs(line.dx) > NEAR || Math.abs(line.dy) > NEAR) {
        this.far.push(i);
        cell[i] = columns * rows;
      } else {
        cell[i] = Math.min(Math.floor(line.y), rows - 1) * columns + Math.min(Math.floor(line.x), columns - 1);
        this.first[cell[i] + 1]++;
      }
    }
    for (let c = 0; c < columns * rows; c++) this.first[c + 1] += this.first[c];
    this.near = new Uint32Array(count - this.far.length);
    const next = this.first.slice();
    for (let i = 0; i < count; i++) if (cell[i] < columns * rows) this.near[next[cell[i]]++] = i;
  }

  /** Where link `i` begins and how far it goes; what goes round an edge of a torus is half a router long. */
  line(i, into) {
    const { ways, places, columns, rows } = this,
      grid = columns * rows,
      a = ways.from[i],
      b = ways.to[i];
    into.x = places[2 * a];
    into.y = places[2 * a + 1];
    into.dx = places[2 * b] - into.x;
    into.dy = places[2 * b + 1] - into.y;
    if (a >= grid || b >= grid) return;
    const across = Math.abs(into.dx) > 0.75 * columns,
      down = Math.abs(into.dy) > 0.75 * rows;
    if (across) into.dx = -Math.sign(into.dx) * 0.5;
    if (down) into.dy = -Math.sign(into.dy) * 0.5;
  }

  /** Calls take(i, line) for each link that may cross the window x0..x1, y0..y1. O(routers in it + far links). */
  within({ x0, x1, y0, y1 }, take) {
    const line = {};
    const offer = (i) => {
      this.line(i, line);
      if (
        Math.max(line.x, line.x + line.dx) >= x0 &&
        Math.min(line.x, line.x + line.dx) <= x1 &&
        Math.max(line.y, line.y + line.dy) >= y0 &&
        Math.min(line.y, line.y + line.dy) <= y1
      )
        take(i, line);
    };
    const left = Math.max(0, Math.floor(x0) - NEAR),
      right = Math.min(this.columns, Math.ceil(x1) + NEAR);
    for (let y = Math.max(0, Math.floor(y0) - NEAR); y < Math.min(this.rows, Math.ceil(y1) + NEAR); y++) {
      const row = y * this.columns;
      for (let k = this.first[row + left]; k < this.first[row + right]; k++) offer(this.near[k]);
    }
    this.far.forEach(offer);
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
