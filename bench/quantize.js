// Runs models for bench/quantize: node quantize.js TASKS.json. A task is a model, its inputs ({name: [type, dims]}), samples ({name: file}) and `out`: a folder
// that takes outputs as raw files, or null: then the least and largest number of each output are printed.
const fs = require('node:fs');
const path = require('node:path');
const ort = require('onnxruntime-node');

const ARRAYS = { float32: Float32Array, int8: Int8Array, uint8: Uint8Array };

async function main() {
  const told = [];
  for (const task of JSON.parse(fs.readFileSync(process.argv[2]))) {
    const session = await ort.InferenceSession.create(task.model, { graphOptimizationLevel: 'disabled', logSeverityLevel: 3 });
    const ranges = {};
    for (const [number, sample] of task.samples.entries()) {
      const feeds = {};
      for (const [name, [type, dims]] of Object.entries(task.inputs)) {
        const bytes = fs.readFileSync(sample[name]);
        feeds[name] = new ort.Tensor(type, new ARRAYS[type](bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)), dims);
      }
      for (const [name, tensor] of Object.entries(await session.run(feeds))) {
        if (task.out) {
          fs.writeFileSync(path.join(task.out, `${number}.${session.outputNames.indexOf(name)}`), Buffer.from(Float64Array.from(tensor.data, Number).buffer));
          continue;
        }
        const range = (ranges[name] ??= [0, 0]);
        for (const x of tensor.data) {
          if (x < range[0]) range[0] = x;
          if (x > range[1]) range[1] = x;
        }
      }
    }
    await session.release();
    told.push(ranges);
  }
  console.log(JSON.stringify(told));
}

main();
