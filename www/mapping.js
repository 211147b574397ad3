// #/mappings/ID: one mapping as a heat map with a panel of questions beside it, its metrics, tries and files below; #/compare/A/B: two of one
// network side by side, and what moved and became fuller from A to B.

import { actionBar, mapCopies } from './actions.js';
import { change, getJob, getSchemas, listMappings, mappingUrl, startJob } from './api.js';
import { union } from './colour.js';
import { deploySection } from './deploy.js';
import { announce, element, fill, linkTo, MOVED_MS, pageHead, pageOf, rested, section, select, setText } from './dom.js';
import { flowOverlay } from './flows.js';
import { count, dateText, partsText, percent, shortId, si, time } from './format.js';
import { layersOf } from './layers.js';
import { Model } from './model.js';
import { CorePanel, Panel } from './panel.js';
import { layerTools, Picture } from './picture.js';
import { actButton } from './problem.js';
import { figures, NUMBER, table, tabs } from './table.js';
import * as tables from './tables.js';
import { comparisonTable } from './tables.js';
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
  if (width < view.width / 3 && height < view.height / 3) view.show({ x, y, width, height }, ...size, false);
}

/** What the simulator takes: axons, and as many cores behind a router as its packets can name. */
const SIMULATED_CORES_MOST = 60;

function canSimulate(network, chip) {
  const [x, y] = chip.cores_per_router ?? [1, 1];
  return network?.directed !== false && x * y <= SIMULATED_CORES_MOST;
}

export function networkLine(network) {
  const kind = network?.directed === false ? ', undirected' : '';
  return `${count(network?.neurons, 'neurons')}, ${count(network?.synapses, 'synapses', si)}${kind}`;
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
        `${count(lease.count, 'cores')} reserved until ${dateText(lease.expires)}: `,
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
  const picture = new Picture(model, view, { label: `Heat map of ${model.chip.name}, ${model.width} by ${model.height} cores`, hint: HINT, signal });
  const tools = layerTools(layersOf(summary), model, query, () => (remember(), present()));
  const told = element('p.map-told', { role: 'status' });
  const busiestTitle = element('h2'),
    busiestBody = element('div');
  const links = element('input', {
    type: 'checkbox',
    checked: query.get('links') !== '0',
    onchange: () => {
      picture.map.showLinks = links.checked;
      picture.map.redraw();
      remember();
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
  const panel = new Panel(model, picture, { select, tell: (text) => setText(told, text) }, signal);
  const side = tabs('About the mapping', panel.list(corePanel), remember);
  /** What is shown stands in the address. */
  function remember() {
    const { selected, place } = view,
      tab = side?.current;
    replaceQuery(
      new URLSearchParams({
        ...tools.address,
        ...(selected >= 0 && { core: model.place(selected).replace(' ', '') }),
        ...(tab && tab !== 'core' && { tab }),
        ...(flows.checked && { flows: 1 }),
        ...(!links.checked && { links: 0 }),
        ...(place && { at: place }),
      }),
    );
  }
  /** The flows of the selected core, where they are asked for. */
  function follow() {
    remember();
    const core = view.selected;
    if (flows.checked && core >= 0) panel.flows({ core: model.place(core).replace(' ', '') }, `Core ${model.place(core)}`);
    else panel.draw(null);
  }
  async function present() {
    const { layer, logarithmic } = tools;
    if (!(await picture.show(layer, { logarithmic })) || signal.aborted) return;
    setText(busiestTitle, layer.kinds ? 'Cores by population' : layer.categories ? 'Cores by kind' : 'Busiest cores');
    fill(busiestBody, layer.kinds ? tables.populationsTable(model) : layer.categories ? tables.kindsTable(picture) : tables.busiestTable(picture, select));
  }
  view.onChange((what) => {
    if (what === 'selected') {
      corePanel.show(view.selected);
      if (view.selected >= 0) side.open('core');
      announce(view.selected >= 0 ? `Selected. ${picture.describe(view.selected)}` : 'No core selected');
      follow();
    }
  });

  const moved = rested(MOVED_MS, remember, signal);
  view.onChange((what) => what === 'view' && moved());
  const compare = element('span.compare-choice');
  const outcome = element('div');
  const region = summary.region ?? { x: 0, y: 0, width: model.width, height: model.height };
  const schemas = await getSchemas(signal),
    options = schemas.MapOptions.properties;
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
        element('div.map-tools', tools.nodes, element('label.check', links, 'links'), element('label.check', flows, 'flows')),
        picture.figure(told),
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
        tables.downloads(id, schemas.ExportFormat.enum),
      ),
    ),
    tables.scenariosTable(summary.scenarios),
    tables.attemptsTable(summary.attempts),
    tables.candidatesTable(candidates),
    tables.paretoSection(id, pareto && (await model.ask('/pareto'))),
    tables.mapperTable(summary.report),
    summary.network?.id && model.chip.images && deploySection({ network: summary.network, chip: summary.chip }, id, schemas),
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
  if (!view.go(query.get('at'), ...picture.map.size)) startView(view, [region], picture.map.size);
  flows.checked = query.has('flows');
  picture.map.showLinks = links.checked;
  const presented = present();
  const wanted = /^(\d+),(\d+)$/.exec(query.get('core') ?? ''),
    tab = query.get('tab') ?? 'core';
  const core = wanted ? model.number(Number(wanted[1]), Number(wanted[2])) : -1;
  if (core >= 0) select(core);
  await Promise.all([presented, side.open(tab)]);
  return `${model.networkName} on ${model.chip.name}`;
}

const MOVES_DRAWN = 300,
  ROWS = 15;

const diffLine = (diff) =>
  `${count(diff.moved)} of ${count(diff.neurons, 'neurons')} (${percent(diff.moved / diff.neurons)}) are on another core, by ${count(diff.move_count, 'ways')}; ${count(diff.core_count, 'cores')} with another load.`;

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
      table({ label: 'Where neurons moved', empty: 'No neuron moved.' }, diff.moves.slice(0, ROWS), [
        ['From', ({ from }) => place(from)],
        ['To', ({ to }) => place(to)],
        ...figures(count, { Neurons: 'neurons' }),
      ]),
      table({ label: 'Cores whose load changed, those that became fuller first', empty: 'No core changed.' }, diff.cores.slice(0, ROWS), [
        ['Core', ({ x, y }) => place([x, y])],
        ['Fullest limit', pair('fullest', percent), NUMBER],
        ['Neurons', pair('neurons', count), NUMBER],
        ['Traffic in', pair('traffic_in', si), NUMBER],
        ['Step time', pair('core_ns', time), NUMBER],
      ]),
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
  const remember = () => replaceQuery(new URLSearchParams({ ...tools.address, ...(apart.checked && { less: 1 }), ...(shared.place && { at: shared.place }) }));
  const tools = layerTools(layersOf({}), models[1], query, () => (remember(), present())), // populations of two networks are not the same ones
    apart = element('input', { type: 'checkbox', disabled: !linked, checked: linked && query.has('less'), onchange: () => (remember(), present()) }),
    hint = linked ? 'Both pictures move together' : 'The chips differ in size: the pictures move apart';

  const sides = models.map((model, i) => {
    const letter = 'AB'[i];
    const picture = new Picture(model, views[i], { label: `Heat map of mapping ${letter} on ${model.chip.name}`, hint, signal });
    return {
      picture,
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
        picture.figure(),
      ),
    };
  });

  const changed = element('div'),
    said = element('p.diff-line', { role: 'status' });
  async function present() {
    const { layer, logarithmic } = tools;
    const known = !layer.details || (await Promise.all(models.map((model) => model.withDetails())).catch(() => null)), // each picture says so
      bounds = layer.categories || !known ? null : union(models[0].layer(layer.id).bounds, models[1].layer(layer.id).bounds);
    await Promise.all(
      sides.map(({ picture }, i) => picture.show(layer, { bounds, logarithmic, against: i === 1 && bounds && apart.checked ? models[0] : null })),
    );
  }

  fill(
    main,
    pageHead('Comparison', said, element('a.button', { href: `#/compare/${encodeURIComponent(b)}/${encodeURIComponent(a)}` }, 'Swap A and B')),
    element('div.map-tools.panel', tools.nodes, element('label.check', apart, 'B less A')),
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
  if (linked && !shared.go(query.get('at'), ...sides[0].picture.map.size)) startView(shared, regions, sides[0].picture.map.size);
  const moved = rested(MOVED_MS, remember, signal);
  shared.onChange((what) => linked && what === 'view' && moved());
  if (!linked) sides.forEach(({ picture }, i) => startView(views[i], [regions[i]], picture.map.size));
  await present();
  return 'Comparison';
}
