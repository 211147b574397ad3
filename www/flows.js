// Packets from core to core as lines over the heat map, as wide as they carry: what goes out of and into a core, a neuron, a
// population, or over a link; and neurons that have moved.

import { getJson, mappingUrl } from './api.js';

const FLOWS_MOST = 400; // lines at most each way
const WIDE = 7; // pixels of the widest

/** What a link or port is called, the same in a simulation and in a mapping, and how its flows are asked for. */
export const placeOf = ({ kind, port, x, y, direction, from, to }) =>
  direction ? `${x}, ${y} to the ${direction}` : from !== undefined ? `router ${from} to ${to}` : `${port ?? kind} of core ${x}, ${y}`;
export const questionOf = ({ x, y, direction, from, to }) =>
  direction ? { link: `${x},${y},${direction}` } : from !== undefined ? { link: `${from},${to}` } : { core: `${x},${y}` };
export const neuronName = ({ name, neuron }) => (name ? `${name} (${neuron})` : `neuron ${neuron}`);

/** {out, in, through}: lists of {from: [x, y], to: [x, y], packets}. `question`: core=X,Y, neuron=N, population=P or link=L. */
export async function getFlows(id, question, signal) {
  const { out, in: into, through } = await getJson(mappingUrl(id, `/flows?${new URLSearchParams({ ...question, limit: FLOWS_MOST })}`), signal);
  return { out: out?.flows ?? through?.flows ?? [], in: into?.flows ?? [], all: { out, in: into, through } };
}

/** Draws lines on a heat map; called at every frame. colours: CSS properties of the canvas by the name of each list. */
export function flowOverlay(map, lists) {
  const most = Math.max(...Object.values(lists).flatMap((list) => list.map(({ packets }) => packets)), 1e-9);
  return ({ context, ink, scale, left, top }) => {
    const colour = { out: ink.link, in: ink.accent };
    context.lineCap = 'round';
    for (const [way, list] of Object.entries(lists)) {
      context.strokeStyle = context.fillStyle = colour[way];
      for (const { from, to, packets } of list) {
        const [x0, y0, x1, y1] = [from[0], from[1], to[0], to[1]].map((at, i) => (i % 2 ? top : left) + (at + 0.5) * scale);
        const share = Math.sqrt(packets / most),
          bend = 0.12;
        context.globalAlpha = 0.3 + 0.6 * share;
        context.lineWidth = Math.max(1, WIDE * share);
        const mx = (x0 + x1) / 2 - (y1 - y0) * bend,
          my = (y0 + y1) / 2 + (x1 - x0) * bend;
        context.beginPath();
        context.moveTo(x0, y0);
        context.quadraticCurveTo(mx, my, x1, y1);
        context.stroke();
        context.beginPath();
        context.arc(x1, y1, Math.max(2, 0.8 * context.lineWidth), 0, 2 * Math.PI);
        context.fill();
      }
    }
    context.globalAlpha = 1;
  };
}
