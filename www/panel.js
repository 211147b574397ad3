// The panel beside the map: the questions that one has of a mapping, a tab each, and what one core holds.

import { bar, element, facts, fill, icon, rested, setText } from './dom.js';
import { choicesSection } from './fits.js';
import { flowOverlay, getFlows, neuronName, placeOf, questionOf, treeOverlay } from './flows.js';
import { aboveBound, capital, count, NONE, percent, si, time, withTimes, words } from './format.js';
import { DIRECTIONS } from './heatdraw.js';
import { histogramPlot, matrixTab } from './plots.js';
import { problemWords, shownIn, smallButton } from './problem.js';
import { figures, NUMBER, share, table } from './table.js';
import { metricText } from './tables.js';

const LINKS = 10,
  AXONS = 5,
  FOUND = 20,
  TARGETS = 6,
  TYPED_MS = 250,
  NEURONS = 500; // of a core's list at a time

const button = (text, onclick, about) => element('button.link', { 'aria-label': about, onclick }, text);

/** Cores by place, the neurons' names, and what a press on them does: the same in every tab. */
export class Panel {
  /** select(core, whether it is a block); picture: on which flows are drawn and cores lit; tell(text): what it shows now. */
  constructor(model, picture, { select, tell }, signal) {
    Object.assign(this, { model, picture, map: picture.map, select, tell, signal });
  }

  list(core) {
    return [
      { id: 'core', label: 'Core', show: () => core.node, again: true },
      { id: 'limits', label: 'Limits', show: () => this.limits() },
      { id: 'links', label: 'Links', show: () => this.links() },
      { id: 'bounds', label: 'Bounds', show: () => this.bounds() },
      { id: 'find', label: 'Find', show: () => this.find() },
      { id: 'matrix', label: 'Matrix', show: () => matrixTab(this.model) },
    ];
  }

  coreButton(x, y) {
    return button(`${x}, ${y}`, () => this.select(this.model.number(x, y)), `core ${x}, ${y}`);
  }

  /** Draws lists of flows over the map; nothing: takes them away. */
  draw(lists, text = '') {
    this.lay([lists && flowOverlay(this.map, lists), text]);
  }

  /** Lays a picture over the map and tells of it, once both are there; what went wrong instead. */
  async lay(made) {
    this.laid = made;
    const [overlay, text] = await Promise.resolve(made).catch((error) => [null, error.name === 'AbortError' ? '' : problemWords(error).detail]);
    if (this.laid !== made) return; // something else was asked for while waiting
    this.map.overlay = overlay;
    this.tell(text);
    this.map.redraw();
  }

  /** The flows of a core, a neuron, a population or a link. */
  async flows(question, text) {
    const made = async () => {
      const flows = await getFlows(this.model.id, question, this.signal);
      const told = ({ count: number, packets } = { count: 0, packets: 0 }) => `${count(packets, 'packets', si)}, ${count(number, 'flows')}`;
      const ways = flows.all.through ? `over it ${told(flows.all.through)}` : `out ${told(flows.all.out)}; in ${told(flows.all.in)}`;
      return [flowOverlay(this.map, { out: flows.out, in: flows.in }), `${text}: ${ways}`];
    };
    await this.lay(made());
  }

  /** The tree of one axon, with the tables on its way. */
  async tree({ neuron, axon = 0, ...named }) {
    const made = async () => {
      const tree = await this.model.ask(`/tree?neuron=${neuron}&axon=${axon}`),
        { packets, routers, link_count: links, target_count: targets } = tree,
        of = tree.axons > 1 ? `, axon ${axon + 1} of ${tree.axons}` : '';
      const text = [
        `${capital(neuronName({ neuron, ...named }))}${of}: ${count(links, 'links')} to ${count(targets, 'cores')}`,
        packets !== undefined && `${count(packets, 'packets', si)} to each`,
        routers.length > 0 &&
          `${count(routers.length, 'routing tables')} on the way, entries in the fullest: ${count(Math.max(...routers.map(({ entries }) => entries)))}`,
      ];
      return [await treeOverlay(this.map, this.model, tree), text.filter(Boolean).join('; ')];
    };
    await this.lay(made());
  }

  /* ---- limits: a histogram each, with the limit as a line; of a large chip of blocks of cores, by the most that one has ---- */

  async limits() {
    const { model, picture } = this,
      { at, blocks } = await model.withDetails(),
      { tiles } = model,
      many = blocks ? tiles.blocks.part.length : model.width * model.height,
      rows = [];
    const light = (values, low, high) =>
      picture.light(
        Uint8Array.from(picture.map.pixels, (_, core) =>
          values[blocks ? tiles.blockOf(core) : core] >= low && values[blocks ? tiles.blockOf(core) : core] < high ? 1 : 0,
        ),
      );
    const add = (label, limit, pick, show) => {
      const values = new Float64Array(many).fill(NaN);
      let place = -1;
      for (const [number, one] of blocks ?? at) {
        values[number] = pick(one, number) ?? NaN;
        if (place < 0 || values[number] > values[place] || (values[number] === values[place] && number < place)) place = number;
      }
      if (place >= 0) rows.push({ label, limit: limit > 0 ? limit : null, most: values[place], place, values, show });
    };
    if (model.metrics.step_ns) add('Step time', model.metrics.step_ns, ({ core_ns: ns }) => ns, time);
    for (const name of new Set([...(blocks ?? at).values()].flatMap(({ shares }) => Object.keys(shares ?? {}))))
      add(capital(words(name)), 1, ({ shares }) => shares?.[name], percent);
    if (model.chip.table_entries && !blocks) {
      const { limit, of } = await model.tableEntries();
      add('Table entries of the router', limit, (_, core) => of(core), count);
    }
    const fullest = ({ place, most, show }) => [
      blocks ? button(tiles.text(place), () => this.select(place, true)) : this.coreButton(place % model.width, Math.floor(place / model.width)),
      ` has ${show(most)}`,
    ];
    return element(
      'div.stack',
      rows[0]?.label === 'Step time' &&
        element(
          'p.limits-step',
          'The step is limited so: ',
          withTimes(model.metrics.step_limit),
          '. The core that takes longest: ',
          blocks && 'one of ',
          ...fullest(rows[0]),
          '.',
        ),
      rows.map((row) =>
        element(
          'div.limit-row',
          element(
            'div.budget-head',
            element('h3', row.label),
            element('span', blocks ? 'one of ' : 'core ', ...fullest(row), row.limit && row.show !== percent ? ` of ${row.show(row.limit)}` : ''),
          ),
          histogramPlot(row.label, row.values, { ...row, of: blocks ? 'blocks of cores' : 'cores' }, (low, high) => light(row.values, low, high)),
        ),
      ),
      element(
        'p.quiet',
        'Press or drag over the bars: other cores fade. ',
        button('Show all alike', () => picture.light(null)),
      ),
    );
  }

  /* ---- links and ports, the fullest first ---- */

  async links() {
    const { links, ports = [] } = await this.model.ask(`/links?sort=load&limit=${LINKS}&axons=${AXONS}`);
    const draw = (one) => this.flows(questionOf(one), capital(placeOf(one)));
    const axon = (one) =>
      element(
        'li',
        button(neuronName(one), () => this.tree(one)),
        ` on ${one.x}, ${one.y}: ${count(one.packets, 'packets', si)}`,
      );
    const rows = [...links, ...ports].sort((a, b) => b.load - a.load).slice(0, LINKS);
    return element(
      'div.stack',
      element('p.quiet', 'The fullest links and ports, and the axons that fill each most. A press on one draws what passes, on an axon its tree.'),
      table({ label: 'Fullest links and ports', empty: 'No packet leaves its core.' }, rows, [
        ['Link or port', (one) => button(placeOf(one), () => draw(one))],
        ['Packets', (one) => [si(one.load), share(one.load / rows[0].load)], NUMBER],
        ['Axons', (one) => [element('p.quiet', `${count(one.axon_count)} pass`), element('ul.axons', (one.axons ?? []).map(axon))]],
      ]),
    );
  }

  /* ---- how far from what no mapping can beat ---- */

  async bounds() {
    const { model } = this,
      { bounds = [] } = await model.ask('/certificate');
    const of = (name) => model.metricList.find((metric) => metric.name === name) ?? { name, label: words(name), show: count };
    const rows = [...bounds];
    const parts = model.summary.bound;
    if (parts) rows.unshift({ metric: 'cores_used', value: model.metrics.cores_used, bound: parts.parts });
    return element(
      'div.stack',
      table({ label: 'Distance from lower bounds', of: ({ metric }) => ({ 'data-bound': metric }), empty: 'There are no bounds of this mapping.' }, rows, [
        ['Metric', ({ metric }) => element('span', { title: of(metric).note }, of(metric).label)],
        ['Value', ({ metric, value }) => metricText(of(metric), { [metric]: value }), NUMBER],
        [
          'No mapping is below',
          ({ metric, bound }) => [metricText(of(metric), { [metric]: bound }), share(bound / rows.find((row) => row.metric === metric).value)],
          NUMBER,
        ],
        ['Gap', ({ value, bound }) => (bound > 0 ? aboveBound(value / bound) : 'no bound')],
      ]),
      parts?.limit && element('p.quiet', `Fewer than ${count(parts.parts, 'cores')} cannot be: ${parts.reason}.`),
      choicesSection(model.summary.report?.choices, model.summary.network?.id, model.chip.name),
    );
  }

  /* ---- a neuron, a core, a part, a population ---- */

  find() {
    const found = element('div.stack', { 'aria-live': 'polite' });
    const typed = rested(TYPED_MS, () => shownIn(found, this.look(input.value.trim())), this.signal);
    const input = element('input', {
      type: 'search',
      id: 'find-text',
      placeholder: 'name or number, 12,7 or part 5',
      autocomplete: 'off',
      oninput: typed,
    });
    return element('div.stack', element('label', { for: 'find-text' }, 'Find a neuron, a core, a part or a population'), input, found);
  }

  async look(text) {
    const { model } = this,
      place = /^(\d+)\s*,\s*(\d+)$/.exec(text),
      part = /^part\s+(\d+)$/i.exec(text);
    if (text === '') return '';
    if (place || part) {
      if (part) await model.tiles?.all();
      const core = place ? model.number(Number(place[1]), Number(place[2])) : model.cores.part.indexOf(Number(part[1]));
      if (core >= 0) this.select(core);
      return core < 0 && element('p.quiet', `There is no ${text} here.`);
    }
    const { count: all, neurons } = await model.ask(`/neurons?find=${encodeURIComponent(text)}&limit=${FOUND}`),
      like = (model.summary.populations?.list ?? []).filter(({ name }) => name.toLowerCase().includes(text.toLowerCase())),
      [first] = neurons,
      named = ({ name }) => [button(name, () => this.flows({ population: name }, `Population ${name}`)), ' '];
    if (first && (String(first.neuron) === text || first.name === text)) this.flows({ neuron: first.neuron }, `Neuron ${first.neuron}`);
    return [
      like.length > 0 && element('p', 'Populations: ', like.map(named)),
      element('p.quiet', all === 0 ? 'No neuron has that number or name.' : count(all, 'neurons')),
      neurons.map((neuron) => this.neuron(neuron)),
    ];
  }

  neuron({ neuron, name, part, x, y, population, fan_in: fanIn, fan_out: fanOut, targets }) {
    return element(
      'article.found',
      { 'data-neuron': String(neuron) },
      element(
        'h3',
        button(name ? `${name} (neuron ${neuron})` : `Neuron ${neuron}`, () => this.flows({ neuron }, `Neuron ${neuron}`)),
      ),
      element('p', 'on core ', this.coreButton(x, y), `, part ${count(part)}${population ? `, population ${population}` : ''}`),
      element('p.quiet', `${count(fanIn, 'synapses')} in, ${count(fanOut)} out${targets.length ? ', to cores:' : ''}`),
      targets.length > 0 &&
        table(`Targets of neuron ${neuron}`, targets.slice(0, TARGETS), [
          ['Core', (to) => this.coreButton(to.x, to.y)],
          ...figures(count, { Synapses: 'synapses' }),
          ...figures(si, { Packets: 'packets' }),
        ]),
      targets.length > TARGETS && element('p.quiet', `and ${count(targets.length - TARGETS, 'cores')} more`),
    );
  }
}

const BUDGETS = ['neurons', 'synapses', 'inbound_axons', 'outbound_axons', 'target_cores'];

/** How full a core is against every limit that there is: [label, value, limit, how both read]. */
async function budgets(model, core) {
  const of = await model.detailsOf(core),
    limits = model.limitsAt(core),
    { shares = {} } = of;
  const rows = [...new Set([...BUDGETS, ...Object.keys(shares)])].map((name) => {
    const limit = limits[name === 'populations' ? 'populations_per_core' : name];
    return [capital(words(name)), BUDGETS.includes(name) ? of[name] : Math.round(shares[name] * limit), limit];
  });
  if (model.chip.table_entries) {
    const entries = await model.tableEntries();
    rows.push(['Table entries of its router', entries.of(core), entries.limit]);
  }
  if (of.core_ns !== undefined) rows.push(['Step time', of.core_ns, model.metrics.step_ns, time]);
  return rows;
}

function budget(label, value, limit, show = count) {
  const text = `${show(value)} of ${show(limit)}, ${percent(value / limit)}`,
    meter = { 'aria-label': label, 'aria-valuemin': '0', 'aria-valuemax': String(limit), 'aria-valuenow': String(value), 'aria-valuetext': text };
  return element(
    'div.budget',
    element(
      'div.budget-head',
      element('span', label),
      element('span.number', show(value), element('small', limit > 0 ? ` / ${show(limit)}, ${percent(value / limit)}` : ' no limit')),
    ),
    limit > 0 ? bar(value / limit, { role: 'meter', ...meter }).node : bar(0, { class: 'bar-none' }).node,
  );
}

export class CorePanel {
  /** describe(core): who has it, where the mapping has not. */
  constructor(model, { onClose, describe }) {
    Object.assign(this, { model, describe });
    this.title = element('h2', { id: 'core-title' }, 'Core');
    this.body = element('div');
    this.close = element('button.icon-button', { 'aria-label': 'Close the core', hidden: true, onclick: onClose }, icon('close'));
    this.node = element('div.core-panel', element('div.panel-head', this.title, this.close), this.body);
    this.show(-1);
  }

  show(core) {
    this.close.hidden = core < 0;
    setText(this.title, core < 0 ? 'Core' : `Core ${this.model.place(core)}`);
    fill(
      this.body,
      core < 0
        ? element('p.quiet', 'Click a core, or walk to one with the arrow keys and press Enter, to see its budgets and its neurons.')
        : shownIn(element('div.core-body'), this.#content(core)),
    );
  }

  async #content(core) {
    const { model } = this,
      { cores } = model,
      [x0, y0] = [core % model.width, Math.floor(core / model.width)];
    if (model.blockOf(core) >= 0) await model.tiles.near({ x0, y0, x1: x0 + 1, y1: y0 + 1 });
    const part = model.partOf(core),
      kind = model.classAt(core);
    const traffic = facts(
      [
        ['Part', part < 0 ? 'none' : count(part)],
        ...(kind ? [['Class', kind.name, kind.labels ? `takes ${kind.labels.join(', ')}` : 'takes any label']] : []),
        ['Traffic in', si(cores.trafficIn[core]), 'packets that end here'],
        ['Traffic out', si(cores.trafficOut[core]), 'packets that start here'],
        ['Congestion', si(cores.congestion[core]), 'packets that pass through this core or end here'],
      ],
      'facts facts-4',
    );
    const wayOf = (name) => [name, NONE, `load of the link from this core's router to the ${name}`],
      links = facts(DIRECTIONS.map(wayOf), 'facts facts-4');
    model.linksOf(core).then(
      (loads) => links.querySelectorAll('dd').forEach((value, i) => setText(value, si(loads[i]))),
      () => {}, // the dashes stay
    );
    const told = [traffic, element('div', element('h3', 'Link loads'), links)];
    if (part < 0) return [element('p', this.describe(core)), told];
    const full = budgets(model, core).then((rows) => rows.map((row) => budget(...row)));
    return [shownIn(element('div.budgets'), full), told, shownIn(element('div.neurons', element('h3', 'Neurons')), neuronList(model, part))];
  }
}

/** Neurons page by page: a core may hold thousands. */
async function neuronList(model, part) {
  const { neurons } = await model.ask(`/neurons?part=${part}`),
    named = neurons.some(({ name }) => name);
  const item = ({ neuron, name }) => element('li', { title: `neuron ${neuron}` }, name ? [name, element('small', String(neuron))] : String(neuron));
  const list = element('ol', { class: `neuron-list${named ? ' named' : ''}` }),
    more = smallButton('More', () => add());
  function add() {
    const from = list.children.length;
    list.append(...neurons.slice(from, from + NEURONS).map(item));
    more.hidden = list.children.length === neurons.length;
  }
  add();
  return [element('h3', `Neurons, ${count(neurons.length)}`), list, more];
}
