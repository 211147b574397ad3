// The binary views of a mapping (docs/mapping-formats.md): cores and links of the whole chip.

const HEADER = 16;
const CORE_BYTES = 36;
const DIRECTIONS = 4;
export const NO_PART = 0xffffffff;
export const EAST = 0,
  WEST = 1,
  SOUTH = 2,
  NORTH = 3;

function open(buffer, magic, recordBytes) {
  if (buffer.byteLength < HEADER)
    throw new Error(`a ${magic} file of ${buffer.byteLength} bytes is cut short`);
  const view = new DataView(buffer);
  for (let i = 0; i < 8; i++) {
    if (view.getUint8(i) !== magic.charCodeAt(i)) throw new Error(`no ${magic} file: the magic is wrong`);
  }
  const width = view.getUint32(8, true),
    height = view.getUint32(12, true);
  if (width === 0 || height === 0 || width * height > 1 << 24)
    throw new Error(`${magic}: impossible size ${width}x${height}`);
  const expected = HEADER + width * height * recordBytes;
  if (buffer.byteLength !== expected) {
    throw new Error(`a ${magic} file of ${width}x${height} has ${expected} bytes, not ${buffer.byteLength}`);
  }
  return { view, width, height };
}

/** Cores row by row, one column (typed array) per figure, so that a layer is one array. */
export function parseCores(buffer) {
  const { view, width, height } = open(buffer, 'CMCORES1', CORE_BYTES);
  const total = width * height;
  const cores = {
    width,
    height,
    part: new Uint32Array(total),
    neurons: new Uint32Array(total),
    synapses: new Uint32Array(total),
    inboundAxons: new Uint32Array(total),
    outboundAxons: new Uint32Array(total),
    targetCores: new Uint32Array(total),
    trafficIn: new Float32Array(total),
    trafficOut: new Float32Array(total),
    congestion: new Float32Array(total),
  };
  const counts = [
    cores.part,
    cores.neurons,
    cores.synapses,
    cores.inboundAxons,
    cores.outboundAxons,
    cores.targetCores,
  ];
  const rates = [cores.trafficIn, cores.trafficOut, cores.congestion];
  for (let core = 0, at = HEADER; core < total; core++, at += CORE_BYTES) {
    for (let i = 0; i < 6; i++) counts[i][core] = view.getUint32(at + 4 * i, true);
    for (let i = 0; i < 3; i++) rates[i][core] = view.getFloat32(at + 24 + 4 * i, true);
  }
  return cores;
}

/** Loads of the four links that leave each router: load[router * 4 + direction]. */
export function parseLinks(buffer) {
  const { view, width, height } = open(buffer, 'CMLINKS1', 4 * DIRECTIONS);
  const load = new Float32Array(width * height * DIRECTIONS);
  let max = 0;
  for (let i = 0; i < load.length; i++) {
    load[i] = view.getFloat32(HEADER + 4 * i, true);
    if (load[i] > max) max = load[i];
  }
  return { width, height, load, max };
}
