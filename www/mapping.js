// #/mappings/ID: one mapping as a heat map with its core details, metrics, tries, report and files.

import { createJob, getPareto, listMappings } from './api.js';
import { choicesSection } from './choices.js';
import { CorePanel } from './corepanel.js';
import { announce, element, fill, setText } from './dom.js';
import { count, partsText, shortId, si } from './format.js';
import { LAYERS, layersOf } from './layers.js';
import { Model } from './model.js';
import { layerSwitch, Legend, Picture } from './picture.js';
import { problemNode } from './problemnode.js';
import {
  attemptsTable,
  busiestTable,
  candidatesTable,
  detailsTable,
  downloads,
  keyFigures,
  kindsTable,
  metricsTable,
  scenariosTable,
  paretoSection,
  populationsTable,
  stepLine,
} from './tables.js';
import { View } from './view.js';

const HINT = 'Drag to move, wheel or pinch to zoom, click a core for its details';
export const MAP_HELP =
  'Arrow keys walk from core to core, Enter selects, Escape clears, plus and minus zoom, ' +
  '0 shows the whole chip, R the region of the mapping, Shift with an arrow key moves the picture.';

/** A select of the mappings that there are, newest first; choosing one goes to the comparison with it. */
async function comparisonSelect(id, signal) {
  const { mappings } = await listMappings({ limit: 50 }, signal);
  const others = mappings.filter((mapping) => mapping.id !== id);
  if (!others.length) return element('span', { class: 'quiet' }, 'no other mapping yet');
  return element(
    'select',
    {
      'aria-label': 'Compare with another mapping',
      onchange: (event) => {
        if (event.target.value)
          location.hash = `#/compare/${encodeURIComponent(id)}/${encodeURIComponent(event.target.value)}`;
      },
    },
    element('option', { value: '' }, 'Compare with…'),
    others.map((mapping) =>
      element(
        'option',
        { value: mapping.id },
        `${mapping.name || mapping.network_name || shortId(mapping.network)} on ${mapping.chip} (${shortId(mapping.id)})`,
      ),
    ),
  );
}

/** A few cores on a large chip would be lost in the whole: start at what is mapped. */
export function startView(view, regions, size) {
  const x = Math.min(...regions.map((box) => box.x)),
    y = Math.min(...regions.map((box) => box.y));
  const width = Math.max(...regions.map((box) => box.x + box.width)) - x,
    height = Math.max(...regions.map((box) => box.y + box.height)) - y;
  if (width < view.width / 3 && height < view.height / 3) view.show({ x, y, width, height }, ...size);
}

/** What the simulator takes: axons, and as many cores behind a router as its packets can name. */
const SIMULATED_CORES_MOST = 60;

function canSimulate(network, chip) {
  const [x, y] = chip.cores_per_router ?? [1, 1];
  return network?.directed !== false && x * y <= SIMULATED_CORES_MOST;
}

/** A button that lets the packets of the mapping run, as a job whose page shows what came of it. */
function simulateButton(id, outcome) {
  const button = element(
    'button',
    {
      type: 'button',
      class: 'button',
      title: 'Let its packets run over the chip’s routers: step time under contention, latency against load',
      onclick: async () => {
        button.disabled = true;
        try {
          const job = await createJob({ kind: 'simulate', options: { mapping: id, steps: 1, saturation: true, packets: 20000 } });
          location.hash = `#/jobs/${encodeURIComponent(job.id)}`;
        } catch (error) {
          fill(outcome, problemNode(error));
          button.disabled = false;
        }
      },
    },
    'Simulate',
  );
  return button;
}

export function networkLine(network) {
  const kind = network?.directed === false ? ', undirected' : '';
  return `${count(network?.neurons)} neurons, ${si(network?.synapses)} synapses${kind}`;
}

export async function showMapping(main, { id, query, replaceQuery, attach }, signal) {
  const model = await Model.load(id, signal);
  const view = new View(model.width, model.height);
  const { summary } = model;
  const { candidates, choices, pareto, ...report } = summary.report ?? {};
  const layers = layersOf(summary);
  let layer = layers.find((entry) => entry.id === query.get('layer')) ?? LAYERS[0];

  const picture = new Picture(model, view, {
    label: `Heat map of ${model.chip.name}, ${model.width} by ${model.height} cores`,
    help: 'map-help',
    signal,
  });
  const legend = new Legend();
  picture.onLinks = (loads) => legend.showLinks(loads, model.routing);
  const readout = element('output', { class: 'readout', 'aria-live': 'off' }, HINT);
  const busiestTitle = element('h2', {}),
    busiestBody = element('div', {});
  const panel = new CorePanel(model, () => view.set('selected', -1), signal);
  const logarithmic = element('input', { type: 'checkbox', onchange: () => present() });
  const links = element('input', {
    type: 'checkbox',
    checked: true,
    onchange: () => {
      picture.map.showLinks = links.checked;
      picture.map.redraw();
    },
  });
  const select = (core) => {
    view.set('selected', core);
    view.reveal(core, ...picture.map.size);
  };
  const remember = () => {
    const values = new URLSearchParams();
    if (layer !== LAYERS[0]) values.set('layer', layer.id);
    if (view.selected >= 0)
      values.set('core', `${view.selected % view.width},${Math.floor(view.selected / view.width)}`);
    replaceQuery(values);
  };
  async function present() {
    await picture.show(layer, { logarithmic: logarithmic.checked });
    if (signal.aborted) return;
    legend.update(picture);
    logarithmic.disabled = Boolean(layer.categories || layer.kinds);
    setText(
      busiestTitle,
      layer.kinds ? 'Cores by layer' : layer.categories ? 'Cores by kind' : 'Busiest cores',
    );
    fill(
      busiestBody,
      layer.kinds
        ? populationsTable(model)
        : layer.categories
          ? kindsTable(picture)
          : busiestTable(picture, select),
    );
  }
  view.onChange((what) => {
    if (what === 'selected') {
      panel.show(view.selected);
      announce(view.selected >= 0 ? `Selected. ${picture.describe(view.selected)}` : 'No core selected');
      remember();
    }
    const core = view.hover >= 0 ? view.hover : view.cursor >= 0 ? view.cursor : view.selected;
    setText(readout, picture.describe(core) || HINT);
  });

  const compare = element('span', { class: 'compare-choice' });
  const refused = element('div', {});
  const region = summary.region ?? { x: 0, y: 0, width: model.width, height: model.height };
  fill(
    main,
    element(
      'header',
      { class: 'page-head' },
      element(
        'div',
        {},
        element(
          'h1',
          { tabindex: '-1' },
          model.networkName,
          element('span', { class: 'on' }, ' on '),
          model.chip.name ?? 'chip',
        ),
        element(
          'p',
          { class: 'quiet' },
          `${networkLine(summary.network)} · ${partsText(summary.parts, summary.bound)} · `,
          `region ${count(region.width)} × ${count(region.height)} at ${count(region.x)}, ${count(region.y)}`,
          ' · mapping ',
          element('code', { title: id }, shortId(id)),
        ),
      ),
      canSimulate(summary.network, model.chip) && simulateButton(id, refused),
      compare,
    ),
    refused,
    keyFigures(model),
    stepLine(summary),
    element(
      'div',
      { class: 'map-layout' },
      element(
        'section',
        { class: 'panel map-panel', 'aria-label': 'Heat map' },
        element(
          'div',
          { class: 'map-tools' },
          layerSwitch(layers, layer.id, (chosen) => {
            layer = chosen;
            remember();
            announce(`Layer ${chosen.label}`);
            present();
          }),
          element('label', { class: 'check' }, logarithmic, 'log scale'),
          element('label', { class: 'check' }, links, 'links'),
        ),
        picture.node,
        element('div', { class: 'map-foot' }, readout, picture.map.buttons),
        legend.node,
        element('p', { class: 'hidden', id: 'map-help' }, MAP_HELP),
      ),
      panel.node,
    ),
    element(
      'div',
      { class: 'columns' },
      metricsTable(model),
      element(
        'div',
        { class: 'stack' },
        element('section', { class: 'panel' }, busiestTitle, busiestBody),
        downloads(id),
      ),
    ),
    scenariosTable(summary.scenarios),
    attemptsTable(summary.attempts),
    candidatesTable(candidates),
    choicesSection(choices, summary.network?.id, model.chip.name),
    paretoSection(id, pareto && (await getPareto(id, signal))),
    element(
      'div',
      { class: 'columns' },
      detailsTable('Report', report),
      detailsTable('Options', summary.options),
    ),
  );
  comparisonSelect(id, signal).then(
    (node) => fill(compare, node),
    () => {},
  );

  attach();
  startView(view, [region], picture.map.size);
  await present();
  const wanted = /^(\d+),(\d+)$/.exec(query.get('core') ?? '');
  if (wanted && Number(wanted[1]) < view.width && Number(wanted[2]) < view.height)
    select(Number(wanted[2]) * view.width + Number(wanted[1]));
  return `${model.networkName} on ${model.chip.name}`;
}
