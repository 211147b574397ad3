// One model for bench/permutations: bytes as given, as ONNX Runtime leaves it, as we leave it, and the deviation of outputs.
// node permutations.js GIVEN OURS REPORT WORK COREMAP
//   -> "given theirs ours given_copies their_copies our_copies deviation given_ms ours_ms"
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const ort = require('onnxruntime-node');

const [given, ours, reportFile, work, coremap] = process.argv.slice(2);
const LIMIT = 1.5e9;

/** Inputs by the rule of the stored references: a linear congruential generator from 12345, in [-1, 1). */
function inputsOf(session) {
  let s = 12345;
  const feeds = {};
  session.inputMetadata.forEach((input) => {
    const dims = input.shape.map((dim) => (typeof dim === 'number' && dim > 0 ? dim : 1));
    const data = new Float32Array(dims.reduce((a, b) => a * b, 1));
    for (let i = 0; i < data.length; i++) {
      s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
      data[i] = (s / 4294967296) * 2 - 1;
    }
    feeds[input.name] = new ort.Tensor('float32', data, dims);
  });
  return feeds;
}

async function run(file) {
  const session = await ort.InferenceSession.create(file, { graphOptimizationLevel: 'disabled', logSeverityLevel: 3 });
  const outputs = await session.run(inputsOf(session));
  await session.release();
  return outputs;
}

/** Processor milliseconds of the fastest of some runs with ONNX Runtime's optimisations, on one thread, of models in turn. */
async function fastest(files) {
  const all = [];
  for (const file of files) {
    const session = await ort.InferenceSession.create(file, { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3 });
    all.push({ session, feeds: inputsOf(session), least: Infinity });
  }
  const end = performance.now() + 4000;
  for (let i = 0; i < 60 && (i < 5 || performance.now() < end); i++) {
    for (const one of all) {
      const begin = process.cpuUsage();
      await one.session.run(one.feeds);
      const { user, system } = process.cpuUsage(begin);
      one.least = Math.min(one.least, (user + system) / 1000);
    }
  }
  for (const { session } of all) await session.release();
  return all.map(({ least }) => least.toFixed(3));
}

async function main() {
  const { permutation_bytes: bytes, copy_bytes: copies } = JSON.parse(fs.readFileSync(reportFile));
  const theirs = path.join(work, 'ort.onnx');
  let theirBytes = 'null', theirCopies = 'null', deviation = 'null', givenMs = 'null', oursMs = 'null';
  try {
    const session = await ort.InferenceSession.create(given, {
      graphOptimizationLevel: 'extended',
      optimizedModelFilePath: theirs,
      logSeverityLevel: 3,
    });
    await session.release();
    const report = JSON.parse(
      execFileSync(coremap, ['compile', '--quiet', '--json', theirs, '-o', path.join(work, 'counted.onnx')]));
    theirBytes = report.permutation_bytes.before;
    theirCopies = report.copy_bytes.before;
  } catch (error) {
    console.error(`${path.basename(given)}: ${error.message}`);
  }
  if (fs.statSync(given).size < LIMIT) {
    const before = await run(given);
    const after = await run(ours);
    deviation = 0;
    for (const [name, { data }] of Object.entries(before)) {
      let largest = 0, worst = 0;
      data.forEach((value, i) => {
        largest = Math.max(largest, Math.abs(value));
        worst = Math.max(worst, Math.abs(value - after[name].data[i]));
      });
      deviation = Math.max(deviation, largest > 0 ? worst / largest : worst);
    }
    deviation = deviation.toExponential(1);
    [givenMs, oursMs] = await fastest([given, ours]);
  }
  console.log(bytes.before, theirBytes, bytes.after, copies.before, theirCopies, copies.after, deviation, givenMs, oursMs);
}

main();
