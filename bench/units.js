// Lines of bench/units, its means, and the chips that it scales.
const { appendFileSync, readFileSync, writeFileSync } = require('node:fs');

const read = (path) => JSON.parse(readFileSync(path, 'utf8'));

function line(model, chip, seconds, reportPath, linesPath) {
  const p = read(reportPath).program, { time, traffic } = p;
  const terms = Object.entries(time.bounds).flatMap(([kind, of]) => Object.entries(of).map(([name, ns]) => [`${kind} ${name.slice(0, -3)}`, ns]));
  const term = terms.reduce((a, b) => (b[1] > a[1] * 1.0001 ? b : a))[0];
  const moved = traffic.loaded_bytes + traffic.stored_bytes + traffic.parameters.loaded_bytes;
  const least = traffic.compulsory_bytes + traffic.parameters.once_bytes;
  const ratio = time.total_ns / time.lower_bound_ns;
  const settings = p.search.first_ns / p.search.best_ns, order = p.order ? p.order.file_order_ns / p.order.best_ns : 1;
  appendFileSync(linesPath, `${JSON.stringify({ model, chip, ns: time.total_ns, ratio, settings, order })}\n`);
  const number = (value, width, digits = 0) => value.toFixed(digits).padStart(width);
  console.log(`${model.padEnd(34)} ${chip.padEnd(14)} ${number(time.total_ns / 1e3, 12, 1)} ${number(time.lower_bound_ns / 1e3, 12, 1)} ` +
    `${number(ratio, 6, 3)} ${term.padEnd(14)} ${number(moved / least, 6, 2)} ${number(p.operators.pieces, 7)} ${number(p.instructions, 8)} ${number(100 * (settings - 1), 8, 1)} ${number(100 * (order - 1), 6, 2)} ${number(Number(seconds), 7, 1)}`);
}

function means(path) {
  const lines = readFileSync(path, 'utf8').trim().split('\n').map((text) => JSON.parse(text));
  for (const chip of new Set(lines.map((l) => l.chip))) {
    const some = lines.filter((l) => l.chip === chip && l.ns > 10e3);
    if (some.length === 0) continue;
    const worst = some.reduce((a, b) => (b.ratio > a.ratio ? b : a));
    const mean = (of) => Math.exp(some.reduce((sum, l) => sum + Math.log(l[of]), 0) / some.length);
    const gain = (of) => `${(100 * (mean(of) - 1)).toFixed(2)} % in the mean, ${(100 * (Math.min(...some.map((l) => l[of])) - 1)).toFixed(2)} % at least`;
    console.log(`${chip}: geometric mean ${mean('ratio').toFixed(3)} of ${some.length}, worst ${worst.ratio.toFixed(3)} (${worst.model})`);
    console.log(`${chip}: settings gain ${gain('settings')}; orders gain ${gain('order')}`);
  }
  for (const model of new Set(lines.map((l) => l.model))) {
    const some = lines.filter((l) => l.model === model && l.chip.startsWith('units-'));
    if (some.length > 1) console.log(`${model}: ${some.map((l) => `${l.chip.slice(6)}: ${(some[0].ns / l.ns).toFixed(2)} x`).join(', ')}`);
  }
}

function chip(from, count, to) {
  const made = read(from), k = Number(count);
  made.name = `units-${k}`;
  made.machine.memory_bytes = 2097152;
  made.cores = [1, 1];
  for (const device of made.machine.devices) {
    Object.assign(device, { cores: [[0, 0]], units: k }, device.operations_per_ns ? {} : { ports: 1 });
  }
  writeFileSync(to, JSON.stringify(made));
}

function stream(from, window, to) {
  const made = read(from);
  made.name += '-in-order';
  Object.assign(made.machine, { window: Number(window), code_bytes: 16 });
  writeFileSync(to, JSON.stringify(made));
}

const [what, ...rest] = process.argv.slice(2);
({ line, means, chip, stream })[what](...rest);
