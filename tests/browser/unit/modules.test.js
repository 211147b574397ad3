// The viewer's pure modules under node. CM_WWW is a copy of www/ that counts as ES modules (tests/browser/modules makes it).
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';

const load = (name) => import(pathToFileURL(join(process.env.CM_WWW, name)));
const { aboveBound, bytes, count, dateText, difference, duration, fragmentText, moment, partsText, percent, si } = await load('format.js');
const { coresOf, IN_BLOCK, NO_PART, parseCores, parseLinks } = await load('tiles.js');
const { channels, middle, paint, palette, pixel, position, range, union, viridis, wantsDarkInk } =
  await load('colour.js');
const { View } = await load('view.js');
const { Ways } = await load('heatdraw.js');
const { absentOf, BROKEN, busiest, categories, coreDetails, FREE, HERE, LAYERS, TAKEN } = await load('layers.js');
const { changesSince } = await load('chip.js');
const { mapLines } = await load('actions.js');
const { readLabels } = await load('actions.js');
const { largest } = await load('plots.js');
const { histogram } = await load('plots.js');
const { bands } = await load('plots.js');
const { pinsOf } = await load('layers.js');
const { paretoFront, spread } = await load('sweep.js');
const { isShown, metricsOf, metricText, verdict } = await load('tables.js');
const { Problem, problemWords } = await load('problem.js');
const { reportGroups } = await load('report.js');

const { busyTime, firstAfter, operatorsOf, parseTrace, spanAt, tickStep, TimeWindow, valueAt } = await load('trace.js');

const plain = (text) => text.replace(/\u202f/g, ' ');

const { parseMetrics, total } = await load('admin.js');

test('metrics are read with their labels', () => {
  const metrics = parseMetrics('# HELP a b\n# TYPE a gauge\na{user="ann",of="x"} 3\na{user="bob",of="x"} 4.5\nplain 7\n');
  assert.deepEqual(metrics.get('a')[0], { labels: { user: 'ann', of: 'x' }, value: 3 });
  assert.equal(total(metrics, 'a'), 7.5);
  assert.equal(total(metrics, 'plain'), 7);
  assert.ok(Number.isNaN(total(metrics, 'none')));
});

test('times are shown to the minute', () => {
  assert.match(dateText('2026-11-23T04:51:26.169Z'), /^2026-11-2[234] \d\d:\d\d$/);
  assert.equal(dateText(null), '–');
});

test('counts are grouped and never rounded', () => {
  assert.equal(plain(count(12345678)), '12 345 678');
  assert.equal(plain(count(999)), '999');
  assert.equal(plain(count(0)), '0');
  assert.equal(plain(count(-1234)), '-1 234');
  assert.equal(plain(count(0.0666666)), '0.06667');
  assert.equal(plain(count(1, 'packets')), '1 packet');
  assert.equal(plain(count(1200, 'inbound axons')), '1 200 inbound axons');
  assert.equal(plain(count(1, 'synapses', si)), '1 synapse');
  assert.equal(count(null), '–');
  assert.equal(count(undefined), '–');
  assert.equal(count(NaN), '–');
});

test('parts stand beside how few there could be', () => {
  assert.equal(plain(partsText(1291, undefined)), '1 291 parts');
  assert.equal(plain(partsText(1, { parts: 1, limit: null, reason: 'no limit asks for more' })), '1 part, 1 at least');
  assert.equal(
    plain(partsText(91, { parts: 64, limit: 'neurons', reason: '65536 neurons in all' })),
    '91 parts, 64 at least (65536 neurons in all)',
  );
});

test('fragmentation is told where there is any', () => {
  assert.equal(fragmentText(undefined), '');
  assert.equal(fragmentText({ value: 0, pieces: 1, largest_free_rectangle: 24 }), '');
  assert.equal(
    plain(fragmentText({ value: 0.8, pieces: 3, largest_free_rectangle: 3 })),
    ' (fragmentation 80.0 %: 3 pieces, largest rectangle 3)',
  );
});

test('SI prefixes cover small and large figures', () => {
  assert.equal(plain(si(2095632)), '2.10 M');
  assert.equal(plain(si(3.1e-6, 'J')), '3.10 µJ');
  assert.equal(plain(si(0, 'J')), '0 J');
  assert.equal(plain(si(42)), '42');
  assert.equal(plain(si(999.6, 's')), '1.00 ks');
  assert.equal(plain(si(999999)), '1.00 M');
  assert.equal(plain(si(-1500)), '-1 500', 'counts below 10 000 in full');
  assert.equal(si(0.7414), '0.7414', 'no prefix below one for counts');
  assert.equal(plain(si(12500)), '12.5 k');
  assert.equal(aboveBound(13.2), '13 times the bound');
  assert.equal(plain(aboveBound(1.25)), '25.0 % above the bound');
  assert.equal(plain(bytes(4.1e7)), '41.0 MB');
  assert.equal(si(NaN), '–');
  assert.equal(si(Infinity), '–');
});

test('shares, differences and times', () => {
  assert.equal(plain(percent(0.0834)), '8.3 %');
  assert.equal(plain(percent(2 / 4096)), '0.05 %');
  assert.equal(plain(percent(1 / 1048576)), '< 0.01 %');
  assert.equal(plain(percent(0)), '0.0 %');
  assert.equal(plain(difference(200, 150)), '−25.0 %');
  assert.equal(plain(difference(100, 112.4)), '+12.4 %');
  assert.equal(difference(7, 7), '=');
  assert.equal(difference(0, 7), '–');
  assert.equal(difference(undefined, 7), '–');
  assert.equal(plain(duration(0.3121)), '312 ms');
  assert.equal(plain(duration(12.34)), '12.3 s');
  assert.equal(plain(duration(59.97)), '1 min 00 s');
  assert.equal(plain(duration(185)), '3 min 05 s');
  assert.equal(plain(duration(7620)), '2 h 07 min');
  assert.equal(moment('2026-01-02T03:04:05Z'), 1767323045000);
  assert.equal(moment(1767323045), 1767323045000);
  assert.ok(Number.isNaN(moment(null)));
});

function coresFile(width, height, fillCore) {
  const buffer = new ArrayBuffer(16 + width * height * 36),
    view = new DataView(buffer);
  [...'CMCORES1'].forEach((letter, i) => view.setUint8(i, letter.charCodeAt(0)));
  view.setUint32(8, width, true);
  view.setUint32(12, height, true);
  for (let core = 0; core < width * height; core++) {
    const values = fillCore(core),
      at = 16 + core * 36;
    values.slice(0, 6).forEach((value, i) => view.setUint32(at + 4 * i, value, true));
    values.slice(6).forEach((value, i) => view.setFloat32(at + 24 + 4 * i, value, true));
  }
  return buffer;
}

const small = () =>
  coresFile(3, 2, (core) =>
    core === 4
      ? [NO_PART, 0, 0, 0, 0, 0, 0, 0, 2.5]
      : [core, core + 10, core + 20, core + 30, core + 40, core + 50, core + 0.5, core + 0.25, 0],
  );

test('the cores file is read column by column', () => {
  const cores = parseCores(small());
  assert.deepEqual([cores.width, cores.height], [3, 2]);
  assert.equal(cores.part[4], NO_PART);
  assert.deepEqual(
    [
      cores.part[5],
      cores.neurons[5],
      cores.synapses[5],
      cores.inboundAxons[5],
      cores.outboundAxons[5],
      cores.targetCores[5],
    ],
    [5, 15, 25, 35, 45, 55],
  );
  assert.deepEqual([cores.trafficIn[3], cores.trafficOut[3], cores.congestion[4]], [3.5, 3.25, 2.5]);
});

test('a damaged cores or links file is refused', () => {
  const good = small();
  assert.throws(() => parseCores(good.slice(0, 10)), /cut short/);
  assert.throws(() => parseCores(good.slice(0, good.byteLength - 1)), /has 232 bytes, not 231/);
  assert.throws(() => parseLinks(good), /magic/);
  const huge = good.slice(0);
  new DataView(huge).setUint32(8, 0xffffffff, true);
  assert.throws(() => parseCores(huge), /impossible size/);
  const none = good.slice(0);
  new DataView(none).setUint32(12, 0, true);
  assert.throws(() => parseCores(none), /impossible size/);
});

test('the links file gives four loads a router', () => {
  const buffer = new ArrayBuffer(16 + 2 * 16),
    view = new DataView(buffer);
  [...'CMLINKS1'].forEach((letter, i) => view.setUint8(i, letter.charCodeAt(0)));
  view.setUint32(8, 2, true);
  view.setUint32(12, 1, true);
  for (let i = 0; i < 8; i++) view.setFloat32(16 + 4 * i, i * 1.5, true);
  const links = parseLinks(buffer);
  assert.deepEqual([...links.load], [0, 1.5, 3, 4.5, 6, 7.5, 9, 10.5]);
  assert.equal(links.max, 10.5);
});

// Links of a hexagonal torus, of a tree over the same routers, and of some pairs of routers.
function someWays(kind, columns, rows) {
  const from = [],
    to = [],
    at = (x, y) => ((y + rows) % rows) * columns + ((x + columns) % columns);
  let routers = columns * rows;
  for (let y = 0; y < rows; y++)
    for (let x = 0; x < columns; x++)
      if (kind === 'hexagonal')
        for (const [dx, dy] of [[1, 0], [0, -1], [-1, 0], [0, 1], [1, -1], [-1, 1]]) {
          from.push(at(x, y));
          to.push(at(x + dx, y + dy));
        }
      else if (kind === 'graph')
        for (const [dx, dy] of [[0, 3], [5, 1]]) {
          from.push(at(x, y));
          to.push(at(x + dx, y + dy));
        }
  if (kind === 'tree') {
    const above = (x, y) => columns * rows + Math.floor(y / 2) * (columns / 2) + Math.floor(x / 2);
    for (let y = 0; y < rows; y++) for (let x = 0; x < columns; x++) from.push(at(x, y)), to.push(above(x, y));
    for (let y = 0; y < rows; y += 2)
      for (let x = 0; x < columns; x += 2)
        for (const [dx, dy] of [[0, 0], [1, 0], [0, 1], [1, 1]]) from.push(above(x, y)), to.push(at(x + dx, y + dy));
    const top = columns * rows + (columns / 2) * (rows / 2);
    for (let s = columns * rows; s < top; s++) from.push(s), to.push(top);
    for (let s = columns * rows; s < top; s++) from.push(top), to.push(s);
    routers = top + 1;
  }
  return { routers, from: Uint32Array.from(from), to: Uint32Array.from(to) };
}

test('a window shows each link that crosses it once, and no other', () => {
  const columns = 12,
    rows = 8;
  for (const kind of ['hexagonal', 'tree', 'graph']) {
    const ways = someWays(kind, columns, rows),
      drawn = new Ways(ways, columns, rows);
    for (const [x0, x1, y0, y1] of [[0, 12, 0, 8], [3.25, 5, 2, 2.5], [0, 1, 7, 8], [11, 12, 0, 1], [6, 6.1, 4, 4.1]]) {
      const shown = [];
      drawn.within({ x0, x1, y0, y1 }, (i) => shown.push(i));
      const wanted = [];
      for (let i = 0; i < ways.from.length; i++) {
        const { x, y, dx, dy } = drawn.line(i);
        if (Math.max(x, x + dx) >= x0 && Math.min(x, x + dx) <= x1 && Math.max(y, y + dy) >= y0 && Math.min(y, y + dy) <= y1)
          wanted.push(i);
      }
      assert.deepEqual(shown.sort((a, b) => a - b), wanted, `${kind} ${x0} ${y0}`);
    }
  }
  // By hand: router 0 east, and west round the edge; the switch over the first four routers stands amid them.
  const hexagonal = new Ways(someWays('hexagonal', columns, rows), columns, rows),
    tree = new Ways(someWays('tree', columns, rows), columns, rows);
  assert.deepEqual(hexagonal.line(0), { x: 0.5, y: 0.5, dx: 1, dy: 0 });
  assert.deepEqual(hexagonal.line(2), { x: 0.5, y: 0.5, dx: -0.5, dy: 0 });
  assert.deepEqual(tree.line(0), { x: 0.5, y: 0.5, dx: 0.5, dy: 0.5 });
});

test('a switch over routers in one line stands aside, so that its links are told from each other', () => {
  const from = Uint32Array.from([0, 1, 2, 3, 3, 3]),
    to = Uint32Array.from([3, 3, 3, 0, 1, 2]);
  const row = new Ways({ routers: 4, from, to }, 3, 1),
    column = new Ways({ routers: 4, from, to }, 1, 3);
  assert.deepEqual(row.line(0), { x: 0.5, y: 0.5, dx: 1, dy: 0.5 });
  assert.deepEqual(row.line(1), { x: 1.5, y: 0.5, dx: 0, dy: 0.5 });
  assert.deepEqual(column.line(2), { x: 0.5, y: 2.5, dx: 0.5, dy: -1 });
});

test('a job that waits for another try says which, when and why', async () => {
  const { retryText, stateLine } = await load('job.js');
  const now = Date.parse('2026-01-02T03:04:05Z');
  const retry = { count: 2, max: 5, not_before: '2026-01-02T03:04:13Z', problem: { detail: 'the disk is full' } };
  assert.match(retryText({ state: 'queued', retry }, now), /^attempt 3 of 6, in 8\.0\ss, the disk is full$/);
  assert.equal(retryText({ state: 'running', retry }, now), 'attempt 3 of 6, the disk is full');
  assert.equal(retryText({ state: 'done', retry }, now), '');
  assert.equal(stateLine({ state: 'queued', position: 0 }), 'waiting');
  assert.equal(stateLine({ state: 'running', retry, progress: { phase: 'place' } }), 'place · attempt 3 of 6, the disk is full');
});

test('of blocks of cores the used ones have the most, until a tile tells of each', () => {
  const cores = parseCores(coresFile(5, 3, (core) => (core % 3 === 1 ? [NO_PART, 0, 0, 0, 0, 0, 0, 0, core] : [core, core, 1, 0, 0, 0, 0, 0, core])));
  const rows = [[4, 6, 1, 0, 0, 0, 0, 0, 6], [3, 8, 1, 0, 0, 0, 0, 0, 8], [1, 9, 1, 0, 0, 0, 0, 0, 9], [1, 11, 1, 0, 0, 0, 0, 0, 11], [1, 12, 1, 0, 0, 0, 0, 0, 13], [1, 14, 1, 0, 0, 0, 0, 0, 14]];
  const buffer = new ArrayBuffer(36 + 36 * rows.length),
    view = new DataView(buffer);
  [...'CMCORES3'].forEach((letter, i) => view.setUint8(i, letter.charCodeAt(0)));
  [5, 3, 0, 0, 3, 2, 2].forEach((value, i) => view.setUint32(8 + 4 * i, value, true));
  rows.forEach((row, i) => row.forEach((value, k) => (k < 6 ? view.setUint32(36 + 36 * i + 4 * k, value, true) : view.setFloat32(36 + 36 * i + 4 * k, value, true))));
  const blocks = parseCores(buffer),
    known = coresOf(blocks);
  assert.deepEqual([blocks.width, blocks.height, blocks.block, blocks.chip], [3, 2, 2, [5, 3]]);
  assert.deepEqual([...known.part].map((part) => (part === IN_BLOCK ? 1 : 0)), [1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 1, 0, 1]);
  assert.deepEqual([...known.neurons], [6, 6, 8, 8, 9, 6, 6, 8, 0, 0, 11, 0, 12, 0, 14]);
  assert.deepEqual([...known.congestion].slice(0, 6), [6, 6, 8, 8, 9, 6], 'packets pass unused cores, too');
  parseCores(coresFile(5, 3, (core) => [cores.part[core], cores.neurons[core], cores.synapses[core], 0, 0, 0, 0, 0, core]), known);
  assert.deepEqual({ ...known }, { ...cores }, 'and all is as it is');
  assert.throws(() => parseCores(buffer.slice(0, -1)), /has 252 bytes, not 251/);
});

test('a box of a large chip fills only its own cores, also over the edge of a torus', () => {
  const buffer = new ArrayBuffer(32 + 4 * 36),
    view = new DataView(buffer);
  [...'CMCORES2'].forEach((letter, i) => view.setUint8(i, letter.charCodeAt(0)));
  [2048, 1024, 2047, 1023, 2, 2].forEach((value, i) => view.setUint32(8 + 4 * i, value, true));
  for (let i = 0; i < 4; i++) view.setUint32(32 + 36 * i, i, true);
  const cores = parseCores(buffer);
  const at = (x, y) => cores.part[y * 2048 + x];
  assert.deepEqual([at(2047, 1023), at(0, 1023), at(2047, 0), at(0, 0)], [0, 1, 2, 3]);
  assert.equal(at(5, 5), NO_PART);
  assert.throws(() => parseCores(buffer.slice(0, 100)), /has 176 bytes, not 100/);
  view.setUint32(16, 2048, true);
  assert.throws(() => parseCores(buffer), /impossible box/);
});

test('the colour scale runs from dark to light without turning back', () => {
  assert.deepEqual(viridis(0), [68, 1, 84]);
  assert.deepEqual(viridis(1), [253, 231, 37]);
  assert.deepEqual(channels(pixel([1, 2, 3])), [1, 2, 3]);
  const light = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
  const colours = [...palette()].map(channels);
  for (let i = 1; i < colours.length; i++)
    assert.ok(light(colours[i]) >= light(colours[i - 1]) - 0.8, `step ${i}`);
  assert.equal(wantsDarkInk(viridis(0)), false);
  assert.equal(wantsDarkInk(viridis(1)), true);
});

test('ranges leave out what is not a number', () => {
  assert.deepEqual(range([NaN, 3, 1, NaN, 2]), { min: 1, max: 3 });
  assert.equal(range([NaN]), null);
  assert.deepEqual(union({ min: 1, max: 3 }, { min: 2, max: 9 }), { min: 1, max: 9 });
  assert.deepEqual(union(null, { min: 2, max: 9 }), { min: 2, max: 9 });
  const bounds = { min: 0, max: 1000 };
  assert.equal(position(500, bounds), 0.5);
  assert.equal(position(0, bounds, true), 0);
  assert.equal(position(1000, bounds, true), 1);
  assert.ok(Math.abs(position(middle(bounds, true), bounds, true) - 0.5) < 1e-12);
  assert.equal(position(7, { min: 7, max: 7 }), 0.5);
  const pixels = new Uint32Array(3),
    colours = palette();
  paint([NaN, 0, 1000], pixels, bounds, colours, 42);
  assert.deepEqual([...pixels], [42, colours[0], colours[255]]);
});

test('zooming keeps the core under the pointer', () => {
  const view = new View(64, 64);
  const under = (px, py) => {
    const { scale, left, top } = view.frame(800, 600);
    return [(px - left) / scale, (py - top) / scale];
  };
  view.zoomAt(3, 400, 300, 800, 600);
  const before = under(420, 280);
  view.zoomAt(1.5, 420, 280, 800, 600);
  const after = under(420, 280);
  assert.ok(Math.hypot(before[0] - after[0], before[1] - after[1]) < 1e-9);
});

test('the view stays on the chip and between its zoom limits', () => {
  const view = new View(64, 64);
  view.zoomAt(0.01, 0, 0, 800, 600);
  assert.equal(view.zoom, 1);
  assert.equal(view.coreAt(1, 1, 800, 600), -1);
  assert.equal(view.coreAt(400, 300, 800, 600), 32 * 64 + 32);
  view.zoomAt(1e9, 400, 300, 800, 600);
  assert.ok(Math.abs(view.frame(800, 600).scale - 112) < 1e-9);
  view.panBy(1e6, 1e6, 800, 600);
  assert.equal(view.coreAt(12, 12, 800, 600), 0);
  view.reveal(63 * 64 + 63, 800, 600);
  const { scale, left, top } = view.frame(800, 600);
  assert.ok(left + 64 * scale <= 800 && top + 64 * scale <= 600);
  view.reset();
  view.show({ x: 10, y: 10, width: 4, height: 2 }, 800, 600);
  assert.equal(view.coreAt(400, 300, 800, 600), 11 * 64 + 12);
  const wide = new View(16, 8);
  wide.reset();
  assert.equal(wide.zoom, 1);
});

test('a box that was shown stays in sight when the canvas changes size', () => {
  const sees = (view, x, y, ...size) => {
    const { scale, left, top } = view.frame(...size);
    return left + x * scale >= 0 && top + y * scale >= 0 && left + (x + 1) * scale <= size[0] && top + (y + 1) * scale <= size[1];
  };
  const view = new View(64, 64);
  view.show({ x: 0, y: 3, width: 9, height: 4 }, 1200, 300);
  view.resized(500, 900);
  assert.ok(sees(view, 0, 3, 500, 900) && sees(view, 8, 6, 500, 900));
  view.zoomAt(4, 250, 450, 500, 900); // who moves is not taken back, and stays on the chip
  const zoom = view.zoom;
  view.panBy(1e6, 0, 500, 900);
  view.resized(1200, 300);
  assert.equal(view.zoom, zoom);
  assert.equal(Math.floor((12 - view.frame(1200, 300).left) / view.frame(1200, 300).scale), 0);
});

test('layers and occupancy', () => {
  const cores = parseCores(small());
  const layer = (id) => LAYERS.find((entry) => entry.id === id);
  assert.ok(Number.isNaN(layer('neurons').value({ cores }, 4)));
  assert.equal(layer('traffic').value({ cores }, 3), 6.75);
  assert.equal(layer('congestion').value({ cores }, 4), 2.5);
  assert.ok(Number.isNaN(layer('congestion').value({ cores }, 0)));
  const kinds = categories({ taken: [{ owner: 'lab', cores: [[1, 1, 9, 9]] }], broken: [[1, 1]] }, cores);
  assert.deepEqual([...kinds.kind], [HERE, HERE, HERE, HERE, BROKEN, HERE]);
  assert.deepEqual(kinds.totals[FREE], 0);
  const empty = parseCores(coresFile(3, 2, () => [NO_PART, 0, 0, 0, 0, 0, 0, 0, 0]));
  const free = categories({ taken: [{ owner: 'lab', cores: [[1, 0, 2, 1]] }], broken: [] }, empty);
  assert.deepEqual([...free.kind], [FREE, TAKEN, TAKEN, FREE, TAKEN, TAKEN]);
  assert.equal(free.counts[1], 4);
  empty.part[1] = 0; // more of a large chip is known
  free.look([1, 0, 1, 1]);
  assert.deepEqual([free.totals, free.counts[1], free.kind[1]], [[2, 1, 3, 0], 3, HERE]);
  assert.deepEqual(busiest([5, NaN, 9, 5, 1], 3), [2, 0, 3]);
  assert.deepEqual(busiest([NaN], 3), []);
});

test('metrics have units and a better side', () => {
  const row = (type, unit, better, more) => ({ type, description: 'so', 'x-label': 'L', 'x-unit': unit, 'x-better': better, ...more });
  const [energy, load, reuse, largest, imbalance, border] = metricsOf({
    properties: {
      energy_pj: row('number', 'pJ', 'less'),
      saturation_load: row('number', 'steps / ns', 'more'),
      synaptic_reuse_mean: row('number', 'synapses per axon', 'more'),
      largest_part: row('integer', 'neurons', 'neither'),
      imbalance: row('number', '1', 'less'),
      step_limit: { type: 'string', description: 'words' },
      border_hops: row('number', 'packets * hops', 'less', { 'x-where': 'outside_inputs' }),
    },
  });
  assert.equal(plain(metricText(energy, { energy_pj: 1.031e11 })), '103.1 mJ');
  assert.equal(metricText(energy, {}), '–');
  assert.deepEqual([plain(metricText(imbalance, { imbalance: 0.0629 })), imbalance.unit], ['6.3 %', '']);
  assert.equal(plain(metricText(load, { saturation_load: 0.032 })), '32.00 M');
  assert.deepEqual([load.unit, reuse.unit, largest.unit, border.unit], ['steps a second', 'synapses per axon', 'neurons', 'packets × hops']);
  assert.equal(plain(metricText(largest, { largest_part: 12345 })), '12 345');
  assert.equal(verdict(energy, 10, 9), 1);
  assert.equal(verdict(energy, 9, 10), -1);
  assert.equal(verdict(reuse, 9, 10), 1);
  assert.equal(verdict(largest, 9, 10), 0);
  assert.ok(!isShown(border, { border_hops: 0, outside_inputs: 0 }) && isShown(border, { border_hops: 0, outside_inputs: 3 }));
});

test('problems are told in words with their figures', () => {
  const told = problemWords({
    title: 'no room',
    status: 409,
    code: 'no-room',
    detail: '301 cores are needed',
    where: '/chip',
    needed: 301,
    largest_free_rectangle: [16, 8],
  });
  assert.equal(told.title, 'No room');
  assert.equal(told.where, '/chip');
  assert.deepEqual(told.figures, [
    ['Needed', '301'],
    ['Largest free rectangle', '16 × 8'],
  ]);
  assert.equal(problemWords(new Problem(null, 502)).detail, 'The server answered 502');
  assert.equal(problemWords(new Error('no way')).detail, 'No way');
});

const spanEvent = (tid, ts, dur, name, cat) => ({ ph: 'X', pid: 1, tid, ts, dur, name, cat });

test('a report of a compile job is told by subjects', () => {
  const groups = reportGroups({
    operators: { before: 9, after: 7 },
    moves: [{}, {}],
    stage: 'program',
    program: {
      chip: 'npu',
      traffic: { loaded_bytes: 2048, parameters: { once_bytes: 5 }, strange: 3 },
      time: { total_ns: 1500, units: { 'fast ones': { lanes: 2, share: 0.25, busy_ns: 750 }, dma: { lanes: 1, share: 1 } } },
    },
    verified: { equal: null, why: 'an operator is not known' },
    tiles: { count: 4, devices: [{ name: 'matrix', units: 2, tiles: 48, busy_ns: 833 }] },
  });
  const told = Object.fromEntries(groups);
  assert.deepEqual(told.Operators, { Operators: '9 → 7' });
  assert.deepEqual(Object.values(told.Traffic).map(plain), ['2.05 kB', '5 B']);
  assert.deepEqual(Object.values(told['Time by the cost model']).map(plain), ['1.500 µs', 'fast ones 25.0 % of 2 lanes, dma 100.0 % of 1 lane']);
  assert.deepEqual(told.Permutations, { 'Steps of the pass': '2' });
  assert.equal(told.Verification['Same numbers'], 'not computed');
  assert.ok(!('Order of operators' in told), 'what is not told has no panel');
  assert.equal(plain(told.Tiles['By device']), 'matrix 48 tiles on 2 units, busy for 833.0 ns');
});

test('traces become units with their spans in time, and kinds by the time they take', () => {
  const trace = parseTrace({
    otherData: { name: 'a model' },
    traceEvents: [
      { ph: 'M', pid: 1, tid: 0, name: 'thread_name', args: { name: 'DAU 0' } },
      { ph: 'M', pid: 1, tid: 2, name: 'thread_name', args: { name: 'idle one' } },
      spanEvent(1, 5, 1, 'c', 'matrix'),
      spanEvent(0, 4, 2.5, 'b', 'load'),
      spanEvent(0, 0, 4, 'a', 'load'),
    ],
  });
  assert.equal(trace.name, 'a model');
  assert.deepEqual(
    trace.units.map((unit) => [unit.name, unit.spans.map((span) => span.name).join(), unit.busy]),
    [['DAU 0', 'a,b', 6.5], ['idle one', '', 0], ['unit 1', 'c', 1]],
  );
  assert.deepEqual(trace.kinds, [
    { name: 'load', time: 6.5, spans: 2 },
    { name: 'matrix', time: 1, spans: 1 },
  ]);
  assert.equal(trace.end, 6.5);
  assert.deepEqual(parseTrace([]).units, []); // the bare array form
  for (const bad of [null, {}, { traceEvents: 3 }, [spanEvent(0, 'soon', 1)], [spanEvent(0, 1, -1)]])
    assert.throws(() => parseTrace(bad), Error, JSON.stringify(bad));
});

test('what a trace counts over time, and its critical path', () => {
  const critical = (event, why) => ({ ...event, args: { critical: why } });
  const memory = (ts, bytes) => ({ ph: 'C', pid: 1, name: 'memory', ts, args: { bytes } });
  const trace = parseTrace({
    otherData: { limits: { memory: 100 } },
    traceEvents: [
      critical(spanEvent(1, 2, 3, 'piece', 'matrix'), 'data'),
      spanEvent(0, 3, 1, 'other', 'load'),
      critical(spanEvent(0, 0, 2, 'weights', 'load'), 'start'),
      memory(5, 0),
      memory(0, 64),
      memory(2, 90),
    ],
  });
  const [counter] = trace.counters;
  assert.deepEqual([counter.name, counter.unit, counter.most, counter.limit], ['memory', 'bytes', 90, 100]);
  assert.deepEqual([-1, 0, 1.9, 2, 7].map((time) => valueAt(counter.points, time)), [0, 64, 64, 90, 0]);
  assert.deepEqual(
    trace.path.map(({ unit, span }) => [trace.units[unit].spans[span].name, trace.units[unit].spans[span].critical]),
    [['weights', 'start'], ['piece', 'data']],
  );
  assert.throws(() => parseTrace([{ ph: 'C', name: 'memory', ts: 0, args: { bytes: 'many' } }]), /no time or value/);
  assert.deepEqual(parseTrace([spanEvent(0, 0, 1)]).counters, []);
});

test('spans are found by time', () => {
  const spans = [
    { start: 0, finish: 4 },
    { start: 4, finish: 5 },
    { start: 8, finish: 9 },
  ];
  assert.deepEqual([-1, 0, 3.9, 4, 5, 8, 9].map((time) => spanAt(spans, time)), [-1, 0, 0, 1, -1, 2, -1]);
  assert.equal(firstAfter(spans, 4), 2);
  assert.equal(busyTime(spans), 6);
  assert.equal(busyTime([{ start: 0, finish: 5 }, { start: 1, finish: 3 }, { start: 4, finish: 7 }]), 7);
});

test('a window of time zooms about a moment and stays inside', () => {
  const window = new TimeWindow(100);
  window.zoomAt(4, 0.5);
  assert.deepEqual([window.from, window.length], [37.5, 25]);
  window.zoomAt(1 / 2, 0);
  assert.deepEqual([window.from, window.length], [37.5, 50]);
  window.panBy(-10);
  assert.equal(window.from, 50);
  window.reveal({ start: 10, finish: 20 });
  assert.deepEqual([window.from, window.length], [10, 50]);
  window.reveal({ start: 0, finish: 90 });
  assert.deepEqual([window.from, window.length], [0, 90]);
  window.zoomAt(1e-9, 0.3);
  assert.deepEqual([window.from, window.length], [0, 100]);
  assert.ok(new TimeWindow(0).length > 0);
});

test('ticks are 1, 2 or 5 times a power of ten', () => {
  assert.deepEqual(
    [[100, 10], [100, 9], [100, 4], [0.3, 10], [7, 100]].map(([length, most]) => Number(tickStep(length, most).toPrecision(6))),
    [10, 20, 50, 0.05, 0.1],
  );
});

test('a core has the class and the limits that the chip file gives it', async () => {
  const { classesOf, Model } = await load('model.js');
  const chip = {
    limits: { neurons: 9 },
    core_classes: [
      { name: 'a', cores: [[0, 0], [2, 0, 2, 1]], limits: { synapse_bits: 64, bits_per_synapse: 8 } },
      { name: 'b', cores: [[1, 1]] },
    ],
  };
  assert.deepEqual([...classesOf(chip, 3, 2)], [1, 0, 1, 0, 2, 1]);
  assert.equal(classesOf({}, 3, 2), null);
  const model = new Model('m', { chip }, { cores: { width: 3, height: 2 }, tiles: null }, 'n', [], null);
  assert.equal(model.classAt(2).name, 'a');
  assert.equal(model.limitsAt(5).synapses, 8);
  assert.equal(model.limitsAt(4).neurons, 9);
  assert.equal(model.classAt(1), null);
});

test('a job that is followed keeps what later events leave out', async () => {
  const heard = new Map();
  globalThis.document ??= {};
  globalThis.EventSource = class {
    addEventListener(kind, listener) {
      heard.set(kind, (data) => listener({ data: JSON.stringify(data) }));
    }
    close() {}
  };
  const { followJob } = await load('job.js');
  const shown = [],
    leave = new AbortController();
  followJob({ id: 'a7', state: 'queued', network: 'n1' }, (job) => shown.push(job), leave.signal);
  heard.get('state')({ state: 'running' });
  heard.get('progress')({ phase: 'refine' });
  leave.abort();
  assert.deepEqual(shown.at(-1), { id: 'a7', state: 'running', network: 'n1', progress: { phase: 'refine' } });
});

test('places of a chip where there is no core are known, and no kind counts them', () => {
  const chip = { cores_per_router: [2, 1], dead_routers: [[1, 0]], dead_cores: [[0, 1]] };
  const absent = absentOf(chip, 4, 2);
  assert.deepEqual([...absent], [0, 0, 1, 1, 1, 0, 0, 0]);
  assert.equal(absentOf({}, 4, 2), null);
  const kinds = categories({ taken: [{ owner: 'ann', until: '2026-01-01T00:00:00Z', cores: [[0, 0]] }], broken: [] }, { width: 4, height: 2 }, absent);
  assert.deepEqual(kinds.totals, [4, 0, 1, 0]);
  assert.equal(kinds.owners[1].until, '2026-01-01T00:00:00Z');
  const later = categories({ taken: [{ owner: 'ann', cores: [[0, 0, 1, 0]] }], broken: [[3, 1]] }, { width: 4, height: 2 }, absent);
  assert.equal(changesSince(kinds, later), 'ann took (1,0), (3,1) broke');
});

test('the largest free box of a chip is found', async () => {
  const { largestFree } = await load('layers.js');
  const size = { width: 7, height: 5 };
  let seed = 5;
  const dice = (below) => (seed = (seed * 48271) % 2147483647) % below;
  for (let round = 0; round < 60; round++) {
    const kind = Uint8Array.from({ length: 35 }, () => (dice(10) < round % 9 ? TAKEN : FREE)),
      absent = Uint8Array.from({ length: 35 }, () => (dice(12) === 0 ? 1 : 0));
    let most = 0;
    const cores = (x0, y0, x1, y1, take) => {
      for (let y = y0; y <= y1; y++) for (let x = x0; x <= x1; x++) if (!take(y * 7 + x)) return false;
      return true;
    };
    const free = (core) => kind[core] === FREE && !absent[core];
    for (let y0 = 0; y0 < 5; y0++)
      for (let x0 = 0; x0 < 7; x0++)
        for (let y1 = y0; y1 < 5; y1++)
          for (let x1 = x0; x1 < 7; x1++) if (cores(x0, y0, x1, y1, free)) most = Math.max(most, (x1 + 1 - x0) * (y1 + 1 - y0));
    const box = largestFree({ kind, ...size }, absent);
    assert.equal(box ? (box.x1 + 1 - box.x0) * (box.y1 + 1 - box.y0) : 0, most);
    assert.ok(!box || cores(box.x0, box.y0, box.x1, box.y1, free));
  }
});

test('of a core the fullest of its limits is found', () => {
  const details = coreDetails({ width: 2, height: 1, cores: [{ x: 1, y: 0, core_ns: 12, shares: { neurons: 0.25, synapses: 0.75 } }] });
  const value = (id, core) => LAYERS.find((layer) => layer.id === id).value({ details }, core);
  assert.deepEqual([value('step', 1), value('fullest', 1)], [12, 0.75]);
  assert.ok(Number.isNaN(value('step', 0)));
});

test('a job is written as lines for others, with what differs from the defaults alone', () => {
  const described = { seed: { default: 1 }, preset: { default: 'balanced' }, max_part_size: { default: 0 } };
  const lines = mapLines({ network: 'ab', chip: "it's", server: 'http://h', options: { seed: 3, preset: 'balanced', max_part_size: 16 }, described });
  assert.equal(lines.coremap, "coremap submit ab --server http://h --chip 'it'\\''s' --seed 3 --max-part-size 16 --wait");
  assert.equal(lines.python, 'coremap.map("ab", chip="it\'s", server="http://h", seed=3, max_part_size=16)');
  assert.deepEqual(JSON.parse(/-d '(.*)'$/.exec(lines.curl)[1].replaceAll("'\\''", "'")), { kind: 'map', network: 'ab', chip: "it's", options: { seed: 3, max_part_size: 16 } });
  assert.deepEqual(readLabels('paper=fig3, draft'), { paper: 'fig3', draft: '' });
});

test('values fall into steps, rows into their largest entries, points into phases', () => {
  assert.deepEqual(histogram([0, 1, 5, 10, NaN], 10, 2), [2, 2]);
  assert.deepEqual(largest([[0, 2], [5, 1]], 2), [{ from: 1, to: 0, value: 5 }, { from: 0, to: 1, value: 2 }]);
  assert.deepEqual(bands([{ phase: 'a', seconds: 0 }, { phase: 'a', seconds: 1 }, { phase: 'b', seconds: 3 }]), [{ phase: 'a', from: 0, to: 3 }, { phase: 'b', from: 3, to: 3 }]);
});

test('what no other point beats is the front, whichever way is better', () => {
  const points = [{ x: 1, y: 5 }, { x: 2, y: 3 }, { x: 3, y: 4 }, { x: 4, y: 1 }];
  assert.deepEqual(paretoFront(points, [true, true]).map(({ x }) => x), [1, 2, 4]);
  assert.deepEqual(paretoFront(points, [false, true]).map(({ x }) => x), [4]);
  assert.deepEqual(spread([3, NaN, 1, 2]), { least: 1, median: 2, most: 3 });
});

test('operators are ranked by what they take of the critical path', () => {
  const trace = parseTrace({ traceEvents: [{ ...spanEvent(0, 0, 4, 'a', 'load'), args: { critical: 'start' } }, spanEvent(1, 0, 9, 'b', 'matrix'), { ...spanEvent(0, 4, 1, 'a', 'load'), args: { critical: 'lane' } }] });
  const [first, second] = operatorsOf(trace);
  assert.deepEqual([first.name, first.path, first.busy, first.spans], ['a', 5, 5, 2]);
  assert.deepEqual([second.name, second.path, second.busy], ['b', 0, 9]);
});

test('pins are rectangles, however they are written', () => {
  const chip = { width: 8, height: 6, router: [2, 3], die: [4, 6] };
  const at = (place, name) => pinsOf([{ kind: 'apart', of: 'a' }, { kind: 'pin', of: 'a', at: place, name }], chip);
  assert.deepEqual(at([3, 4]), [{ x: 3, y: 4, width: 1, height: 1, name: 'constraint 2' }]);
  assert.deepEqual(at([1, 2, 3, 2], 'io'), [{ x: 1, y: 2, width: 3, height: 1, name: 'io' }]);
  assert.equal(at([[0, 0], [1, 1, 2, 2]]).length, 2);
  assert.deepEqual(at({ column: 5 }, 'c'), [{ x: 5, y: 0, width: 1, height: 6, name: 'c' }]);
  assert.deepEqual(at({ rows: [4, 5], columns: [1, 2] }, 'b'), [{ x: 1, y: 4, width: 2, height: 2, name: 'b' }]);
  assert.deepEqual(at({ router: [1, 1] }, 'r'), [{ x: 2, y: 3, width: 2, height: 3, name: 'r' }]);
  assert.deepEqual(at({ chip: [1, 0] }, 'd'), [{ x: 4, y: 0, width: 4, height: 6, name: 'd' }]);
  assert.deepEqual(pinsOf(undefined, chip), []);
});

test('what remains of a job is a range of what was foreseen of late', async () => {
  const { remainingRange, stateLine } = await load('job.js');
  const points = [[1, 900], [60, 240], [80, 200], [100, 320], [100, undefined]].map(([seconds, left]) => ({ seconds, remaining_seconds: left }));
  assert.deepEqual(remainingRange(points, 120), [160, 300]);
  assert.equal(remainingRange([], 1), null);
  const line = (range, left) => plain(stateLine({ state: 'running', progress: { phase: 'refine', fraction: 0.5, remaining_seconds: left } }, range));
  assert.equal(line([160, 300], 250), 'refine 50 %, 2 to 5 min left');
  assert.equal(line([3.2, 7.9], 5), 'refine 50 %, 3 to 8 s left');
  assert.equal(line([244, 250], 250), 'refine 50 %, about 4 min 10 s left');
  assert.equal(line(null, 0.5), 'refine 50 %, about 500 ms left');
});
