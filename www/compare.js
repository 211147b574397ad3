// #/compare/A/B: two mappings of one network side by side, on one colour scale, and what moved and became fuller from A to B.

import { listMappings } from './api.js';
import { union } from './colour.js';
import { announce, element, fill, pageHead, pageOf, section, setText } from './dom.js';
import { flowOverlay } from './flows.js';
import { count, partsText, percent, si, time } from './format.js';
import { firstLayer, layersOf } from './layers.js';
import { mappingName, startView } from './mapping.js';
import { Model } from './model.js';
import { layerSwitch, Legend, Picture } from './picture.js';
import { NUMBER, table } from './table.js';
import { comparisonTable } from './tables.js';
import { View } from './view.js';

const MOVES_DRAWN = 300,
  ROWS = 15;

const diffLine = (diff) =>
  `${count(diff.moved)} of ${count(diff.neurons)} neurons (${percent(diff.moved / diff.neurons)}) are on another core, by ${count(diff.move_count)} ways; ${count(diff.core_count)} cores have another load.`;

/** What moved where and what became fuller, as tables; show(lists): draws the ways of neurons over B's map. */
function differences(diff, select, show) {
  const place = ([x, y]) => element('button.link', { 'aria-label': `core ${x}, ${y}`, onclick: () => select(x, y) }, `${x}, ${y}`);
  const pair = (name, text) => (core) => [`${text(core[name][0])} → ${text(core[name][1])}`];
  const moves = element('input', {
    type: 'checkbox',
    onchange: () => show(moves.checked ? { in: diff.moves.slice(0, MOVES_DRAWN).map((move) => ({ ...move, packets: move.neurons })) } : null),
  });
  return section(
    'What changed from A to B',
    element('label.check', moves, 'draw the ways of moved neurons on B'),
    element(
      'div.columns',
      table(
        'Where neurons moved',
        [
          ['From', ({ from }) => place(from)],
          ['To', ({ to }) => place(to)],
          ['Neurons', ({ neurons }) => count(neurons), NUMBER],
        ],
        diff.moves.slice(0, ROWS),
        { empty: 'No neuron moved.' },
      ),
      table(
        'Cores whose load changed, those that became fuller first',
        [
          ['Core', ({ x, y }) => place([x, y])],
          ['Fullest limit', pair('fullest', percent), NUMBER],
          ['Neurons', pair('neurons', count), NUMBER],
          ['Traffic in', pair('traffic_in', si), NUMBER],
          ['Step time', pair('core_ns', time), NUMBER],
        ],
        diff.cores.slice(0, ROWS),
        { empty: 'No core changed.' },
      ),
    ),
  );
}

export async function showComparison(main, { a, b, query, replaceQuery, attach }, signal) {
  const models = await Promise.all([Model.load(a, signal), Model.load(b, signal)]);
  const { mappings } = await listMappings({ ids: [a, b].join(',') }, signal);
  const rows = models.map(({ id }) => mappings.find((row) => row.id === id));
  // Chips of different size cannot share a place on the grid: then each picture has its own view.
  const linked = models[0].width === models[1].width && models[0].height === models[1].height;
  const shared = new View(models[0].width, models[0].height);
  const views = [shared, linked ? shared : new View(models[1].width, models[1].height)];
  const layers = layersOf({}),
    usual = firstLayer(models[1], layers); // populations of two networks are not the same ones
  let layer = layers.find((entry) => entry.id === query.get('layer')) ?? usual;
  const logarithmic = element('input', { type: 'checkbox', onchange: () => present() }),
    apart = element('input', { type: 'checkbox', disabled: !linked, onchange: () => present() });

  const sides = models.map((model, i) => {
    const letter = 'AB'[i];
    const picture = new Picture(model, views[i], { label: `Heat map of mapping ${letter} on ${model.chip.name}`, signal });
    const readout = element('output.readout', { 'aria-live': 'off' });
    const idle = linked ? 'Both pictures move together' : 'The chips differ in size: the pictures move apart';
    const tell = () => {
      const core = views[i].looked;
      setText(readout, picture.describe(core) || idle);
    };
    views[i].onChange(tell);
    setText(readout, idle);
    const legend = new Legend();
    picture.onLinks = (loads) => legend.showLinks(loads, model.routing, model.metrics.port_load_max);
    return {
      model,
      picture,
      legend,
      tell,
      node: element(
        'section.panel.map-panel',
        { 'aria-label': `Mapping ${letter}` },
        element(
          'div.side-head',
          element('span.letter', letter),
          element(
            'div',
            element('a', { href: pageOf('mappings', model.id), title: model.id }, rows[i] ? mappingName(rows[i]) : model.id),
            element('p.quiet', `${model.networkName} on ${model.chip.name} · ${partsText(model.summary.parts, model.summary.bound)}`),
          ),
        ),
        picture.map.figure(readout, legend.node),
      ),
    };
  });

  await Promise.all(models.map(({ tiles }) => tiles?.all()));
  const changed = element('div'),
    said = element('p.diff-line', { role: 'status' });
  async function present() {
    if (layer.details) await Promise.all(models.map((model) => model.withDetails()));
    const bounds = layer.categories ? null : union(models[0].layer(layer.id).bounds, models[1].layer(layer.id).bounds);
    await Promise.all(
      sides.map(({ picture }, i) =>
        picture.show(layer, { bounds, logarithmic: logarithmic.checked, against: i === 1 && bounds && apart.checked ? models[0] : null }),
      ),
    );
    if (signal.aborted) return;
    logarithmic.disabled = Boolean(layer.categories);
    for (const side of sides) {
      side.legend.update(side.picture);
      side.tell();
    }
  }

  fill(
    main,
    pageHead('Comparison', said, element('a.button', { href: `#/compare/${encodeURIComponent(b)}/${encodeURIComponent(a)}` }, 'Swap A and B')),
    element(
      'div.map-tools.panel',
      layerSwitch(layers, layer.id, (chosen) => {
        layer = chosen;
        replaceQuery(new URLSearchParams(layer === usual ? {} : { layer: layer.id }));
        announce(`Layer ${chosen.label}`);
        present();
      }),
      element('label.check', logarithmic, 'log scale'),
      element('label.check', apart, 'B less A'),
    ),
    element(
      'div.sides',
      sides.map((side) => side.node),
    ),
    changed,
    comparisonTable(models[0], models[1]),
  );
  attach();
  const select = (x, y) => views.forEach((view, i) => (view.set('selected', models[i].number(x, y)), view.reveal(view.selected, ...sides[i].picture.map.size)));
  const show = (lists) => {
    const { map } = sides[1].picture;
    map.overlay = lists && flowOverlay(map, lists);
    map.redraw();
  };
  models[1].ask(`/diff?with=${encodeURIComponent(a)}&limit=${MOVES_DRAWN}`).then(
    (diff) => {
      setText(said, diffLine(diff));
      fill(changed, differences(diff, select, show));
    },
    (error) => error.name === 'AbortError' || fill(changed, section('What changed from A to B', element('p.quiet', error.message))),
  );
  const regions = models.map((model) => model.summary.region ?? { x: 0, y: 0, width: model.width, height: model.height });
  if (linked) startView(shared, regions, sides[0].picture.map.size);
  else sides.forEach(({ picture }, i) => startView(views[i], [regions[i]], picture.map.size));
  await present();
  return 'Comparison';
}
