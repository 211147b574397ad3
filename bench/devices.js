// Chips and models of bench/devices, its rule for two devices and its lines.
const { readFileSync, writeFileSync } = require('node:fs');

const ROWS = 960, DEPTH = 64; // of MatMul [960, 64] x [64, 64]
const BYTES_PER_NS = 1e6, OPERATIONS_A_ROW = DEPTH * DEPTH;

function chip(fast, slow, issue, to) {
  const unit = (name, rate, more) => ({ name, units: 1, operations_per_ns: { matrix: { other: rate }, ...more } });
  writeFileSync(to, JSON.stringify({
    name: 'pair', cores: [1, 1], latency_ns: { router: 0, link: 0 },
    machine: { memory_bytes: 1 << 24, issue_ns: Number(issue), devices: [
      { name: 'data', units: 1, bytes_per_ns: BYTES_PER_NS },
      unit('fast', Number(fast), { vector: { other: Number(fast) } }), unit('slow', Number(slow))] },
  }));
}

// Protocol buffers, as far as a model needs them.
const varint = (value) => (value < 128 ? [value] : [value % 128 + 128, ...varint(Math.floor(value / 128))]);
const number = (field, value) => Buffer.from([...varint(field * 8), ...varint(value)]);
const bytes = (field, ...parts) => {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return Buffer.concat([Buffer.from([...varint(field * 8 + 2), ...varint(body.length)]), body]);
};

function model(to) {
  const FLOAT = 1;
  const value = (field, name, dims) => bytes(field, bytes(1, name), bytes(2, bytes(1, number(1, FLOAT),
    bytes(2, ...dims.map((dim) => bytes(1, number(1, dim)))))));
  const weights = Buffer.from(Float32Array.from({ length: DEPTH * DEPTH }, (_, k) => (k * 7 % 13 - 6) / 16).buffer);
  const graph = bytes(7, bytes(1, bytes(1, 'x'), bytes(1, 'w'), bytes(2, 'y'), bytes(3, 'product'), bytes(4, 'MatMul')),
    bytes(2, 'product'), bytes(5, number(1, DEPTH), number(1, DEPTH), number(2, FLOAT), bytes(8, 'w'), bytes(9, weights)),
    value(11, 'x', [ROWS, DEPTH]), value(12, 'y', [ROWS, DEPTH]));
  writeFileSync(to, Buffer.concat([number(1, 8), graph, bytes(8, number(2, 13))]));
}

// The source's rule: each device gets one stretch of rows, as long as its capability is large; the best of all pairs of
// stretches, each load and store taking its issue and its bytes on the one port.
function rule(fast, slow, issue) {
  const row = DEPTH * 4 / BYTES_PER_NS, load = issue + OPERATIONS_A_ROW * 4 / BYTES_PER_NS;
  let best = { ns: Infinity };
  for (let rows = 1; rows < ROWS; rows++) {
    for (const order of [0, 1]) {
      let port = load;
      const jobs = [{ rows, rate: fast }, { rows: ROWS - rows, rate: slow }];
      for (const job of order ? [...jobs].reverse() : jobs) {
        port += issue + job.rows * row;
        job.end = port + issue + job.rows * OPERATIONS_A_ROW / job.rate;
      }
      for (const job of jobs.sort((a, b) => a.end - b.end)) port = Math.max(port, job.end) + issue + job.rows * row;
      if (port < best.ns) best = { ns: port, rows };
    }
  }
  return best;
}

function pair(fast, slow, issue, reportPath) {
  const ns = JSON.parse(readFileSync(reportPath, 'utf8')).program.time.total_ns, best = rule(Number(fast), Number(slow), Number(issue));
  console.log(`${`${fast} : ${slow}`.padEnd(12)} ${issue.padStart(6)} ${`${best.rows} : ${ROWS - best.rows}`.padStart(12)} ` +
    `${best.ns.toFixed(0).padStart(8)} ${ns.toFixed(0).padStart(8)} ${(ns / best.ns).toFixed(4).padStart(8)}`);
}

function shares(name, folder) {
  const time = (division) => JSON.parse(readFileSync(`${folder}/${division}.json`, 'utf8')).program.time;
  const { total_ns: ns, lower_bound_ns: bound } = time('capability');
  console.log(`${name.padEnd(30)} ${(ns / 1e3).toFixed(1).padStart(10)} ${(ns / bound).toFixed(3).padStart(8)} ` +
    ['even', 'unsplit', 'layers'].map((other) => (time(other).total_ns / ns).toFixed(2).padStart(8)).join(' '));
}

const [what, ...rest] = process.argv.slice(2);
({ chip, model, pair, shares })[what](...rest);
