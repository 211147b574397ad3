// A simulation on its mapping's own map: packets that pass in each frame, played or moved through; and the hottest links and ports with
// the axons that fill them.

import { paint, palette, pixel } from './colour.js';
import { element, link, section, setText } from './dom.js';
import { flowOverlay, getFlows, neuronName, placeOf, questionOf } from './flows.js';
import { count, si, time } from './format.js';
import { HeatMap } from './heatmap.js';
import { startView } from './mapping.js';
import { Model } from './model.js';
import { channelsOf } from './picture.js';
import { actButton, shownIn } from './problemnode.js';
import { onTheme } from './surface.js';
import { NUMBER, table } from './table.js';
import { View } from './view.js';

const FRAME_MS = 250, // of the player
  FULLEST = 32, // links and ports that the mapping tells axons of
  AXONS = 3,
  COLOURS = palette();

/** The values of a frame by core: what passes its router; NaN: nothing does. */
export function frameValues(model, passed) {
  return Float64Array.from({ length: model.width * model.height }, (_, core) => passed[model.routerOf(core)] || NaN);
}

/** The first step on the map: {node, draw(flows, text)}. */
function player(model, { packets, ns }, signal) {
  const view = new View(model.width, model.height),
    most = packets.reduce((top, frame) => frame.reduce((a, b) => Math.max(a, b), top), 1);
  let at = 0,
    timer = null;
  const passing = (core) => `${count(packets[at][model.routerOf(core)])} packets pass its router`,
    describe = (core) => (core < 0 ? '' : `Core ${model.place(core)}: ${passing(core)}`);
  const { chip, absent } = model,
    map = new HeatMap(view, { label: `Packets on ${chip.name} over time`, chip, absent, region: model.summary.region, describe, signal });
  const readout = element('output.readout'),
    told = element('p.map-told', { role: 'status' });
  const slider = element('input', {
    type: 'range',
    min: 0,
    max: packets.length - 1,
    value: 0,
    'aria-label': 'Time',
    oninput: () => show(Number(slider.value)),
  });
  const play = element('button.button.small', { onclick: () => (timer ? stop() : start()) }, 'Play');
  function show(frame) {
    at = frame;
    slider.value = String(frame);
    const empty = pixel(channelsOf(getComputedStyle(map.canvas).getPropertyValue('--heat-empty')));
    paint(frameValues(model, packets[at]), map.pixels, { min: 0, max: most }, COLOURS, empty);
    if (model.absent) for (let i = 0; i < model.absent.length; i++) if (model.absent[i]) map.pixels[i] = 0;
    map.repaint();
    const busiest = packets[at].reduce((best, value, i) => (value > packets[at][best] ? i : best), 0),
      columns = model.routersX;
    setText(
      readout,
      `${time(at * ns)} to ${time((at + 1) * ns)}: ${count(packets[at].reduce((a, b) => a + b, 0))} packets passed routers, ` +
        `${count(packets[at][busiest])} the busiest, at ${busiest % columns}, ${Math.floor(busiest / columns)}`,
    );
  }
  function stop() {
    clearInterval(timer);
    timer = null;
    setText(play, 'Play');
  }
  function start() {
    if (at === packets.length - 1) show(0);
    timer = setInterval(() => (at < packets.length - 1 ? show(at + 1) : stop()), FRAME_MS);
    setText(play, 'Stop');
  }
  view.onChange(() => {
    const core = view.looked;
    if (core >= 0 || told.textContent.startsWith('Core')) setText(told, describe(core));
  });
  signal.addEventListener('abort', stop);
  onTheme(() => show(at), signal);
  return {
    node: section(
      'The first step on the map',
      element('p.quiet', `What passes each router, in frames of ${time(ns)}; brightest: ${count(most)} packets`),
      element('div.map-tools', play, slider, readout),
      map.figure(told),
    ),
    begin: () => {
      if (map.region) startView(view, [map.region], map.size);
      show(0);
    },
    draw: (flows, text) => {
      map.overlay = flowOverlay(map, flows);
      setText(told, text);
      map.redraw();
      map.node.scrollIntoView({ block: 'nearest' });
    },
  };
}

function hottestTable(model, hottest, axons, onDraw) {
  const known = new Map(axons.map((one) => [placeOf(one), one.axons]));
  const draw = async (one) => {
    const flows = await getFlows(model.id, questionOf(one));
    onDraw({ out: flows.out, in: flows.in }, `${placeOf(one)}: ${count(flows.out.length + flows.in.length)} flows`);
  };
  return [
    table(
      'Hottest links and ports',
      [
        ['Link or port', (one) => (onDraw ? actButton(placeOf(one), () => draw(one), { class: 'link' }) : placeOf(one))],
        ['Packets', ({ packets }) => count(packets), NUMBER],
        ['Packets a second', ({ packets_per_ns: pace }) => si(pace * 1e9), NUMBER],
        [
          'Axons that fill it most',
          (one) => {
            const list = known.get(placeOf(one)) ?? [];
            return list.length === 0 ? 'none of the fullest by rates' : list.map((one) => `${neuronName(one)} on ${one.x}, ${one.y}`).join('; ');
          },
        ],
      ],
      hottest,
    ),
  ];
}

/** What a simulation shows on the map of its mapping, once that is read; nothing where the mapping is gone. */
export function simulationMap({ frames, steps }, id, signal) {
  async function read() {
    const model = await Model.load(id, signal),
      shown = frames?.packets?.length > 0 && player(model, frames, signal),
      { links = [], ports = [] } = steps?.hottest?.length > 0 ? await model.ask(`/links?sort=load&limit=${FULLEST}&axons=${AXONS}`) : {};
    if (shown) requestAnimationFrame(shown.begin); // when it has a size
    return [
      shown && shown.node,
      steps?.hottest?.length > 0 &&
        section(
          'Hottest links and ports',
          element('p.quiet', shown && 'A press draws what passes. ', link(`#/mappings/${encodeURIComponent(id)}?tab=links`, 'The mapping'), ' has more.'),
          hottestTable(model, steps.hottest, [...links, ...ports], shown && shown.draw),
        ),
    ];
  }
  return shownIn(element('div.stack'), read());
}
