// One line of bench/programs: programs.js line MODEL MEMORY SECONDS REPORT RUN, and its end: programs.js means LINES.
const { readFileSync } = require('node:fs');

const read = (path) => JSON.parse(readFileSync(path, 'utf8'));

function line(model, memory, seconds, reportPath, runPath) {
  const program = read(reportPath).program, run = read(runPath), traffic = program.traffic;
  return {
    model, memory, memory_bytes: program.memory_bytes, pieces: program.operators.pieces, peak_bytes: run.peak_bytes ?? null,
    deviation: run.largest_relative_deviation ?? null, traffic: traffic.ratio,
    least: traffic.compulsory_bytes / traffic.layer_by_layer_bytes,
    parameters: traffic.parameters.loaded_bytes / Math.max(traffic.parameters.once_bytes, 1),
    time: program.time.total_ns / program.time.lower_bound_ns,
    order: (program.order?.file_order_ns ?? program.time.total_ns) / program.time.total_ns, seconds: Number(seconds),
  };
}

function table(l) {
  const text = (value, width, digits) => (value === null ? '-' : digits === undefined ? String(value) : value.toFixed(digits)).padStart(width);
  return `${l.model.padEnd(36)} ${l.memory.padStart(6)} ${text(l.pieces, 7)} ${text(l.peak_bytes, 8)} ` +
    `${(l.deviation === null ? '-' : l.deviation.toPrecision(2)).padStart(10)} ${text(l.traffic, 7, 4)} ${text(l.least, 7, 4)} ` +
    `${text(l.parameters, 7, 2)} ${text(l.time, 6, 2)} ${text(l.order, 6, 3)} ${text(l.seconds, 7, 2)}`;
}

function means(path) {
  const lines = readFileSync(path, 'utf8').trim().split('\n').map((text) => JSON.parse(text)).filter((l) => l.model.startsWith('light_'));
  const mean = (list) => Math.exp(list.reduce((sum, x) => sum + Math.log(x), 0) / list.length).toFixed(4);
  for (const memory of new Set(lines.map((l) => l.memory))) {
    const some = lines.filter((l) => l.memory === memory);
    console.error(`light models at ${memory}: traffic ${mean(some.map((l) => l.traffic))} of layer by layer, compulsory ` +
      `${mean(some.map((l) => l.least))} (geometric means of ${some.length})`);
  }
}

const [what, ...rest] = process.argv.slice(2);
if (what === 'means') means(rest[0]);
else if (what === 'table') console.log(table(JSON.parse(readFileSync(rest[0], 'utf8'))));
else console.log(JSON.stringify(line(...rest)));
