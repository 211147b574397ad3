// Packets from core to core as lines over the heat map, as wide as they carry: what goes out of and into a core, a neuron, a
// population, or over a link; neurons that have moved; and the links that one axon takes.

import { getJson, mappingUrl } from './api.js';
import { DIRECTIONS, STEPS, waysOf } from './heatdraw.js';

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

/** Draws the links of an axon's tree (`/tree`) on a heat map, as wide as they carry, and rings around its core and those that it reaches. */
export async function treeOverlay(map, model, { links, targets, x, y }) {
  const [rx, ry] = map.router,
    most = links[0]?.packets || 1,
    lines = [];
  if (links[0]?.direction)
    for (const { x: i, y: j, direction, packets } of links) {
      const [dx, dy] = STEPS[DIRECTIONS.indexOf(direction)],
        [columns, rows] = [model.width / rx, model.height / ry],
        [toX, toY] = [(i + dx + columns) % columns, (j + dy + rows) % rows],
        round = toX !== i + dx || toY !== j + dy ? 0.5 : 1; // the edge of a torus: a stub at either end
      lines.push({ x: i + 0.5, y: j + 0.5, dx: dx * round, dy: dy * round, packets });
      if (round < 1) lines.push({ x: toX + 0.5, y: toY + 0.5, dx: -dx * round, dy: -dy * round, packets });
    }
  else if (links.length > 0) {
    const loads = await model.links(),
      { ways } = loads,
      packets = new Map(links.map((link) => [link.from * ways.routers + link.to, link.packets]));
    for (let i = 0; i < ways.from.length; i++) {
      const carried = packets.get(ways.from[i] * ways.routers + ways.to[i]);
      if (carried) lines.push({ ...waysOf(map, loads).line(i), packets: carried });
    }
  }
  return ({ context, ink, scale, left, top }) => {
    context.lineCap = 'round';
    context.strokeStyle = ink.link;
    for (const { packets, ...line } of lines) {
      const share = Math.sqrt(packets / most),
        [fromX, fromY] = [left + line.x * rx * scale, top + line.y * ry * scale];
      context.lineWidth = Math.max(1.5, WIDE * share);
      context.beginPath();
      context.moveTo(fromX, fromY);
      context.lineTo(fromX + line.dx * rx * scale, fromY + line.dy * ry * scale);
      context.stroke();
    }
    context.lineWidth = 2;
    [{ x, y }, ...targets].forEach((core, i) => {
      context.strokeStyle = i === 0 ? ink.strong : ink.accent;
      context.beginPath();
      context.arc(left + (core.x + 0.5) * scale, top + (core.y + 0.5) * scale, Math.max(3, 0.3 * scale), 0, 2 * Math.PI);
      context.stroke();
    });
  };
}
