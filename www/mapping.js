// #/mappings/ID: one mapping as a heat map with a panel of questions beside it, its metrics, tries and files below.

import { actionBar } from './actions.js';
import { change, getJob, getMapOptions, getSchemas, listMappings, mappingUrl, startJob } from './api.js';
import { mapCopies } from './copyas.js';
import { CorePanel } from './corepanel.js';
import { announce, element, fill, linkTo, pageHead, section, select, setText } from './dom.js';
import { count, dateText, partsText, shortId, si } from './format.js';
import { firstLayer, layersOf } from './layers.js';
import { Model } from './model.js';
import { Panel } from './panel.js';
import { layerSwitch, Legend, Picture } from './picture.js';
import { actButton } from './problemnode.js';
import { deploySection } from './running.js';
import * as tables from './tables.js';
import { tabs } from './tabs.js';
import { View } from './view.js';

const HINT = 'Drag to move, wheel or pinch to zoom, click a core for its details';
const OTHERS = 50; // mappings to compare with

/** What to call a mapping among others of its network. */
export const mappingName = ({ objective, preset, seed, created, name }) =>
  [name, objective, preset, seed !== undefined && `seed ${seed}`, dateText(created)].filter(Boolean).join(' · ');

/** A link to what changed since the mapping before, and a choice of others of the same network, newest first. */
async function comparisons(id, { network, chip }, signal) {
  if (!network?.id) return null;
  const { mappings } = await listMappings({ network: network.id, limit: OTHERS }, signal);
  const own = mappings.findIndex((mapping) => mapping.id === id),
    others = mappings.filter((mapping) => mapping.id !== id);
  if (!others.length) return null;
  const to = (other) => `#/compare/${encodeURIComponent(other)}/${encodeURIComponent(id)}`;
  const before = mappings.slice(own + 1).find((mapping) => mapping.chip === chip.name) ?? others.find((mapping) => mapping.chip === chip.name);
  return [
    before && element('a.button', { id: 'changed', href: to(before.id), title: mappingName(before) }, `Changed since ${dateText(before.created)}`),
    select({ 'aria-label': 'Compare with another mapping', onchange: (event) => event.target.value && (location.hash = to(event.target.value)) }, [
      ['', 'Compare with…'],
      ...others.map((mapping) => [mapping.id, `${mappingName(mapping)} · ${mapping.chip}`]),
    ]),
  ];
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

export function networkLine(network) {
  const kind = network?.directed === false ? ', undirected' : '';
  return `${count(network?.neurons)} neurons, ${si(network?.synapses)} synapses${kind}`;
}

/** Buttons that make something of a mapping: a simulation, another mapping, a lease, of which `outcome` tells. */
function makingButtons(id, summary, outcome) {
  const again = async () => {
    const { mappings } = await listMappings({ ids: id });
    const options = mappings[0]?.job ? (await getJob(mappings[0].job)).options : {};
    await startJob({ kind: 'map', network: summary.network.id, chip: summary.chip.name, options: { ...options, from: id } });
  };
  const reserve = async () => {
    const lease = await change('POST', mappingUrl(id, '/commit'), {});
    fill(
      outcome,
      element(
        'p',
        { role: 'status' },
        `${count(lease.count)} cores are reserved until ${dateText(lease.expires)}: `,
        linkTo('chips', summary.chip.name, 'see the chip'),
      ),
    );
  };
  return [
    canSimulate(summary.network, summary.chip) &&
      actButton('Simulate', () => startJob({ kind: 'simulate', options: { mapping: id, steps: 1, saturation: true, packets: 20000 } }), {
        title: 'Let its packets run over the chip’s routers: step time under contention, latency against load',
      }),
    summary.network?.id && actButton('Map again', again, { title: 'On the cores that are free now, from this mapping on' }),
    actButton('Reserve', reserve, { title: 'Lease these cores for an hour' }),
  ];
}

export async function showMapping(main, { id, query, replaceQuery, attach }, signal) {
  const model = await Model.load(id, signal);
  const view = new View(model.width, model.height);
  const { summary } = model;
  const { candidates, pareto } = summary.report ?? {};
  const layers = layersOf(summary),
    usual = firstLayer(model, layers);
  let layer = layers.find((entry) => entry.id === query.get('layer')) ?? usual;

  const picture = new Picture(model, view, { label: `Heat map of ${model.chip.name}, ${model.width} by ${model.height} cores`, signal });
  const legend = new Legend();
  picture.onLinks = (loads) => legend.showLinks(loads, model.routing, model.metrics.port_load_max);
  const readout = element('output.readout', { 'aria-live': 'off' }, HINT),
    told = element('p.map-told', { role: 'status' });
  const busiestTitle = element('h2'),
    busiestBody = element('div');
  const logarithmic = element('input', { type: 'checkbox', onchange: () => present() });
  const links = element('input', {
    type: 'checkbox',
    checked: true,
    onchange: () => {
      picture.map.showLinks = links.checked;
      picture.map.redraw();
    },
  });
  const flows = element('input', { type: 'checkbox', onchange: () => follow() });
  const select = (core, isBlock = false) => {
    if (isBlock) {
      view.show(model.tiles.box(core), ...picture.map.size);
      return;
    }
    view.set('selected', core);
    view.reveal(core, ...picture.map.size);
  };
  const corePanel = new CorePanel(model, { onClose: () => view.set('selected', -1), describe: (core) => picture.describe(core) });
  const panel = new Panel(model, picture.map, { select, tell: (text) => setText(told, text) }, signal);
  const side = tabs('About the mapping', panel.list(corePanel), remember);
  function remember() {
    const values = new URLSearchParams();
    if (layer !== usual) values.set('layer', layer.id);
    if (view.selected >= 0) values.set('core', `${view.selected % view.width},${Math.floor(view.selected / view.width)}`);
    if (side?.current && side.current !== 'core') values.set('tab', side.current);
    if (flows.checked) values.set('flows', '1');
    replaceQuery(values);
  }
  /** The flows of the selected core, where they are asked for. */
  function follow() {
    remember();
    const core = view.selected;
    if (flows.checked && core >= 0) panel.flows({ core: model.place(core).replace(' ', '') }, `Core ${model.place(core)}`);
    else panel.draw(null);
  }
  async function present() {
    await picture.show(layer, { logarithmic: logarithmic.checked });
    if (signal.aborted) return;
    legend.update(picture);
    logarithmic.disabled = Boolean(layer.categories || layer.kinds);
    setText(busiestTitle, layer.kinds ? 'Cores by population' : layer.categories ? 'Cores by kind' : 'Busiest cores');
    fill(busiestBody, layer.kinds ? tables.populationsTable(model) : layer.categories ? tables.kindsTable(picture) : tables.busiestTable(picture, select));
  }
  picture.onKinds = () => layer.categories || legend.update(picture);
  view.onChange((what) => {
    if (what === 'selected') {
      corePanel.show(view.selected);
      if (view.selected >= 0) side.open('core');
      announce(view.selected >= 0 ? `Selected. ${picture.describe(view.selected)}` : 'No core selected');
      follow();
    }
    const core = view.looked;
    setText(readout, picture.describe(core) || HINT);
  });

  const compare = element('span.compare-choice');
  const outcome = element('div');
  const region = summary.region ?? { x: 0, y: 0, width: model.width, height: model.height };
  const options = await getMapOptions(signal);
  fill(
    main,
    pageHead(
      [
        summary.network?.id ? linkTo('networks', summary.network.id, model.networkName) : model.networkName,
        element('span.on', ' on '),
        linkTo('chips', model.chip.name, model.chip.name ?? 'chip'),
      ],
      [
        `${networkLine(summary.network)} · ${partsText(summary.parts, summary.bound)} · `,
        `region ${count(region.width)} × ${count(region.height)} at ${count(region.x)}, ${count(region.y)} · mapping `,
        element('code', { title: id }, shortId(id)),
      ],
      compare,
      makingButtons(id, summary, outcome),
    ),
    outcome,
    element(
      'div.map-layout',
      element(
        'section.panel.map-panel',
        { 'aria-label': 'Heat map' },
        element(
          'div.map-tools',
          layerSwitch(layers, layer.id, (chosen) => {
            layer = chosen;
            remember();
            announce(`Layer ${chosen.label}`);
            present();
          }),
          element('label.check', logarithmic, 'log scale'),
          element('label.check', links, 'links'),
          element('label.check', flows, 'flows'),
        ),
        picture.map.figure(readout, legend.node, told),
      ),
      element('section.panel.side-panel', { 'aria-label': 'About the mapping' }, element('h2.hidden', 'About the mapping'), side.node),
    ),
    tables.keyFigures(model.metricList, model.metrics, model.width * model.height - (model.absent?.reduce((sum, one) => sum + one, 0) ?? 0)),
    tables.stepLine(summary),
    element(
      'div.columns',
      tables.metricsTable(model.metricList, model.metrics),
      element(
        'div.stack',
        element('section.panel', busiestTitle, busiestBody),
        tables.optionsTable(summary.options, options),
        tables.downloads(id, (await getSchemas(signal)).ExportFormat.enum),
      ),
    ),
    tables.scenariosTable(summary.scenarios),
    tables.attemptsTable(summary.attempts),
    tables.candidatesTable(candidates),
    tables.paretoSection(id, pareto && (await model.ask('/pareto'))),
    tables.mapperTable(summary.report),
    summary.network?.id && model.chip.images && deploySection({ network: summary.network, chip: summary.chip }, id),
    section(
      'Keep, share, copy',
      actionBar('mappings', id, signal),
      mapCopies({ network: summary.network?.id, chip: model.chip.name, options: summary.options, described: options }),
    ),
  );
  comparisons(id, summary, signal).then(
    (nodes) => fill(compare, nodes),
    () => {},
  );

  attach();
  startView(view, [region], picture.map.size);
  flows.checked = query.has('flows');
  await present();
  const wanted = /^(\d+),(\d+)$/.exec(query.get('core') ?? ''),
    tab = query.get('tab') ?? 'core';
  const core = wanted ? model.number(Number(wanted[1]), Number(wanted[2])) : -1;
  if (core >= 0) select(core);
  await side.open(tab);
  return `${model.networkName} on ${model.chip.name}`;
}
