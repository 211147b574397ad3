// Models of recurrent cells and of parts of values, for bench/units: written as ONNX files into a folder.
const { writeFileSync } = require('node:fs');

const varint = (n) => (n < 128 ? [n] : [(n % 128) + 128, ...varint(Math.floor(n / 128))]);
const number = (field, n) => Buffer.from([...varint(field * 8), ...varint(n)]);
const data = (field, bytes) => Buffer.concat([Buffer.from([...varint(field * 8 + 2), ...varint(bytes.length)]), bytes]);
const text = (field, string) => data(field, Buffer.from(string));
const message = (field, ...parts) => data(field, Buffer.concat(parts));

let seed = 1;
const random = () => {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
  return (seed / 2 ** 32 - 0.5) / 8;
};

class Model {
  constructor() {
    this.nodes = [];
    this.given = [];
    this.inputs = [];
    this.outputs = [];
    this.count = 0;
  }

  value(list, name, dims) {
    list.push(message(list === this.inputs ? 11 : 12, text(1, name),
      message(2, message(1, number(1, 1), message(2, ...dims.map((d) => message(1, number(1, d))))))));
    return name;
  }

  input(dims) {
    return this.value(this.inputs, `x${this.inputs.length}`, dims);
  }

  output(name, dims) {
    this.value(this.outputs, name, dims);
  }

  constant(dims, integers) {
    const name = `c${this.count++}`, size = dims.reduce((a, b) => a * b, 1);
    const raw = integers ? BigInt64Array.from(integers, BigInt) : Float32Array.from({ length: size }, random);
    this.given.push(message(5, ...dims.map((d) => number(1, d)), number(2, integers ? 7 : 1), text(8, name), data(9, Buffer.from(raw.buffer))));
    return name;
  }

  // Attributes: an integer, a list of them, or a text. One name for each output.
  node(op, inputs, attributes = {}, outputs = 1) {
    const names = Array.from({ length: outputs }, () => `v${this.count++}`);
    const kinds = Object.entries(attributes).map(([name, v]) => message(5, text(1, name),
      ...(Array.isArray(v) ? [...v.map((n) => number(8, n)), number(20, 7)] : typeof v === 'string' ? [text(4, v), number(20, 3)] : [number(3, v), number(20, 2)])));
    this.nodes.push(message(1, ...inputs.map((n) => text(1, n)), ...names.map((n) => text(2, n)), text(4, op), ...kinds));
    return outputs === 1 ? names[0] : names;
  }

  write(path) {
    writeFileSync(path, Buffer.concat([number(1, 8), message(7, ...this.nodes, text(2, 'g'), ...this.given, ...this.inputs, ...this.outputs), message(8, number(2, 13))]));
  }
}

// The sequence or the last state of a cell over `steps` of a batch of one.
function cell(op, steps, inputs, hidden, last) {
  const m = new Model(), gates = { LSTM: 4, GRU: 3, RNN: 1 }[op];
  const weights = [m.constant([1, gates * hidden, inputs]), m.constant([1, gates * hidden, hidden]), m.constant([1, 2 * gates * hidden])];
  const [all, state] = m.node(op, [m.input([steps, 1, inputs]), ...weights], { hidden_size: hidden }, 2);
  if (last) m.output(state, [1, 1, hidden]);
  else m.output(all, [steps, 1, 1, hidden]);
  return m;
}

// Frames through a convolution, of which some or all are read in parts.
function parts(op, count) {
  const m = new Model(), wide = 32, tall = 8 * count;
  const x = m.node('Conv', [m.input([1, 8, tall, wide]), m.constant([16, 8, 3, 3])], { pads: [1, 1, 1, 1] });
  const cut = op === 'Split' ? m.node('Split', [x], { axis: 2 }, count)
    : Array.from({ length: count }, (_, i) => m.node('Slice', [x, m.constant([1], [8 * i]), m.constant([1], [8 * i + 8]), m.constant([1], [2])]));
  cut.forEach((part) => m.output(m.node('Relu', [m.node('Conv', [part, m.constant([16, 16, 3, 3])], { pads: [1, 1, 1, 1] })]), [1, 16, 8, wide]));
  return m;
}

const [folder] = process.argv.slice(2);
cell('GRU', 50, 256, 256, false).write(`${folder}/gru_256_50.onnx`);
cell('GRU', 50, 256, 256, true).write(`${folder}/gru_256_50_last.onnx`);
cell('LSTM', 40, 64, 128, false).write(`${folder}/lstm_128_40.onnx`);
cell('RNN', 60, 32, 64, true).write(`${folder}/rnn_64_60_last.onnx`);
parts('Split', 16).write(`${folder}/split_16.onnx`);
parts('Slice', 16).write(`${folder}/slice_16.onnx`);
