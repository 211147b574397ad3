// Networks for bench/int8: written as text, encoded by protoc, run by ONNX Runtime and as programs.
// node int8.js COREMAP CHIP WORK JSON
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const ort = require('onnxruntime-node');

const [coremap, chip, work, json] = process.argv.slice(2);
const SCALE = 0.02, ZERO = 128; // of activations: about -2.6 to 2.5

let state = 1;
function random() {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 4294967296;
}

const number = (x) => (Number.isInteger(x) ? `${x}` : x.toPrecision(9));
const list = (values) => Array.from(values, number).join(', ');

/** A graph under construction, in integers or in float32. */
class Network {
  constructor(form, dims) {
    Object.assign(this, { form, dims, nodes: [], constants: [], count: 0, at: 'x', products: 0 });
    this.input = dims;
    if (form !== 'float') this.activation = [this.float([], [SCALE]), this.bytes(2, [], [ZERO])];
    if (form === 'qdq') this.real = this.node('DequantizeLinear', ['x', ...this.activation]);
  }
  name(stem) {
    return `${stem}${this.count++}`;
  }
  constant(type, dims, field, values) {
    const name = this.name('c');
    this.constants.push(
      `initializer { name: "${name}" data_type: ${type} ${dims.map((d) => `dims: ${d}`).join(' ')} ${field}: [${list(values)}] }`,
    );
    return name;
  }
  float(dims, values) {
    return this.constant(1, dims, 'float_data', values);
  }
  bytes(type, dims, values) {
    return this.constant(type, dims, 'int32_data', values);
  }
  node(op, inputs, attributes = '', output = this.name('v')) {
    this.nodes.push(
      `node { op_type: "${op}" ${inputs.map((i) => `input: "${i}"`).join(' ')} output: "${output}" ${attributes} }`,
    );
    return output;
  }
  /** Weights of a product whose sums have as many terms, with a scale for each filter. */
  weights(dims, terms, filters, axis) {
    const largest = Math.sqrt(3 / terms),
      size = dims.reduce((a, b) => a * b, 1),
      whole = Array.from({ length: size }, () => Math.round(random() * 254 - 127)),
      scales = Array.from({ length: filters }, () => (largest / 127) * (0.5 + random()));
    const filterOf = (i) => (axis === 0 ? Math.floor(i / (size / filters)) : i % filters);
    return { dims, whole, scales: scales.map(Math.fround), real: whole.map((w, i) => w * Math.fround(scales[filterOf(i)])) };
  }
  product(op, w, axis, attributes, bias) {
    this.products++;
    if (this.form === 'float') {
      const inputs = [this.at, this.float(w.dims, w.real)];
      if (bias) inputs.push(this.float([bias.length], bias));
      this.at = this.node(op, inputs, attributes);
      return;
    }
    const [scale, zero] = this.activation,
      whole = this.bytes(3, w.dims, w.whole);
    if (this.form === 'integer') {
      this.at = this.node(op === 'Conv' ? 'ConvInteger' : 'MatMulInteger', [this.at, whole, zero], attributes);
      const cast = this.node('Cast', [this.at], 'attribute { name: "to" i: 1 type: INT }'),
        one = w.scales[0] * Math.fround(SCALE),
        real = this.node('Mul', [cast, this.float([], [one])]);
      this.at = this.node('QuantizeLinear', [real, scale, zero]);
      return;
    }
    const ws = this.float([w.scales.length], w.scales),
      wz = this.bytes(3, [w.scales.length], w.scales.map(() => 0));
    if (this.form === 'qlinear') {
      const inputs = [this.at, scale, zero, whole, ws, wz, scale, zero];
      if (bias)
        inputs.push(this.constant(6, [bias.length], 'int32_data', bias.map((b, i) => Math.round(b / (Math.fround(SCALE) * w.scales[i])))));
      this.at = this.node(`QLinear${op}`, inputs, attributes);
      return;
    }
    const inputs = [this.real, this.node('DequantizeLinear', [whole, ws, wz], `attribute { name: "axis" i: ${axis} type: INT }`)];
    if (bias) inputs.push(this.float([bias.length], bias));
    this.at = this.node('QuantizeLinear', [this.node(op, inputs, attributes), scale, zero]);
    this.real = this.node('DequantizeLinear', [this.at, scale, zero]);
  }
  conv(filters, kernel, stride, group) {
    const [n, c, h, w] = this.dims,
      pad = (kernel - 1) >> 1,
      terms = (c / group) * kernel * kernel;
    const ints = (name, values) => `attribute { name: "${name}" type: INTS ints: [${values.join(', ')}] }`;
    const weights = this.weights([filters, c / group, kernel, kernel], terms, filters, 0);
    const bias = Array.from({ length: filters }, () => random() - 0.5);
    this.product('Conv', weights, 0, `${ints('kernel_shape', [kernel, kernel])} ${ints('pads', [pad, pad, pad, pad])}
      ${ints('strides', [stride, stride])} attribute { name: "group" i: ${group} type: INT }`, this.form === 'integer' ? null : bias);
    this.dims = [n, filters, Math.floor((h - 1) / stride) + 1, Math.floor((w - 1) / stride) + 1];
  }
  matmul(columns) {
    const rows = this.dims.at(-1);
    this.product('MatMul', this.weights([rows, columns], rows, columns, 1), 1, '', null);
    this.dims = [...this.dims.slice(0, -1), columns];
  }
  write(file) {
    const shape = (dims) => `shape { ${dims.map((d) => `dim { dim_value: ${d} }`).join(' ')} }`,
      type = this.form === 'float' ? 1 : 2;
    const text = `ir_version: 8 opset_import { version: 13 } graph { name: "g" ${this.nodes.join('\n')} ${this.constants.join('\n')}
      input { name: "x" type { tensor_type { elem_type: ${type} ${shape(this.input)} } } }
      output { name: "${this.at}" type { tensor_type { elem_type: ${type} ${shape(this.dims)} } } } }`;
    fs.writeFileSync(file, execFileSync('protoc', ['--encode=onnx.ModelProto', '--proto_path=/usr/include', 'onnx/onnx.proto'], { input: text, maxBuffer: 1 << 28 }));
  }
}

const NETWORKS = {
  'four convolutions': (form) => {
    const n = new Network(form, [1, 32, 56, 56]);
    for (let i = 0; i < 4; i++) n.conv(64, 3, i === 2 ? 2 : 1, 1);
    return n;
  },
  'depthwise blocks': (form) => {
    const n = new Network(form, [1, 32, 48, 48]);
    for (let i = 0; i < 3; i++) {
      n.conv(n.dims[1], 3, 1 + (i % 2), n.dims[1]);
      n.conv(n.dims[1] * 2, 1, 1, 1);
    }
    return n;
  },
  'three products': (form) => {
    const n = new Network(form, [4, 96, 192]);
    for (const columns of [384, 256, 192]) n.matmul(columns);
    return n;
  },
};

const outputOf = async (file, level, data, dims) => {
  const session = await ort.InferenceSession.create(file, { graphOptimizationLevel: level, logSeverityLevel: 3 });
  const outputs = await session.run({ x: new ort.Tensor('uint8', data, dims) });
  await session.release();
  return Object.values(outputs)[0].data;
};

function compare(ours, theirs) {
  let differing = 0, steps = 0;
  ours.forEach((value, i) => {
    differing += value !== theirs[i];
    steps = Math.max(steps, Math.abs(value - theirs[i]));
  });
  return { differing, steps };
}

const compiled = (model, program) => {
  const out = execFileSync(coremap, ['compile', '--quiet', '--json', model, '--chip', chip, '-o', program], { maxBuffer: 1 << 28 });
  return JSON.parse(out);
};

async function main() {
  const rows = [];
  if (json !== 'true')
    console.log('network            form     products  differing of       steps  optimised steps    us  float32 us  ratio');
  for (const [name, make] of Object.entries(NETWORKS)) {
    state = 7;
    const plain = path.join(work, 'float.onnx');
    make('float').write(plain);
    const float = compiled(plain, path.join(work, 'float.program')).program.time.total_ns;
    for (const form of ['qdq', 'qlinear', 'integer']) {
      state = 7;
      const network = make(form), model = path.join(work, 'int8.onnx'), program = path.join(work, 'int8.program');
      network.write(model);
      const report = compiled(model, program);
      const input = Uint8Array.from({ length: network.input.reduce((a, b) => a * b, 1) }, () => Math.floor(random() * 256));
      fs.writeFileSync(path.join(work, 'x.raw'), input);
      fs.rmSync(path.join(work, 'out'), { recursive: true, force: true });
      execFileSync(coremap, ['run', program, '--check', '--input', path.join(work, 'x.raw'), '--output-dir', path.join(work, 'out')]);
      const [file] = fs.readdirSync(path.join(work, 'out'));
      const ours = new Uint8Array(fs.readFileSync(path.join(work, 'out', file)));
      const exact = compare(ours, await outputOf(model, 'disabled', input, network.input)),
        optimised = compare(ours, await outputOf(model, 'all', input, network.input));
      const row = { network: name, form, products: network.products, fused: report.quantized?.products ?? 0, values: ours.length,
        differing: exact.differing, steps: exact.steps, optimised_differing: optimised.differing, optimised_steps: optimised.steps,
        ns: report.program.time.total_ns, float32_ns: float, ratio: float / report.program.time.total_ns };
      rows.push(row);
      if (json !== 'true')
        console.log(`${name.padEnd(18)} ${form.padEnd(8)} ${String(row.products).padStart(8)} ${String(row.differing).padStart(10)} ${String(row.values).padEnd(8)} ${String(row.steps).padStart(5)} ${String(row.optimised_differing).padStart(10)} ${String(row.optimised_steps).padStart(5)} ${(row.ns / 1000).toFixed(1).padStart(8)} ${(float / 1000).toFixed(1).padStart(9)} ${row.ratio.toFixed(2).padStart(6)}`);
    }
  }
  if (json === 'true') console.log(JSON.stringify(rows, null, 1));
}

main();
