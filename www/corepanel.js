// What one core holds: its budgets against the chip's limits, its traffic, its neurons page by page.

import { element, facts, fill, icon, setText } from './dom.js';
import { capital, count, NONE, percent, si, time, words } from './format.js';
import { shownIn } from './problemnode.js';

const DIRECTIONS = ['east', 'west', 'south', 'north']; // in the order of the links file
const BUDGETS = [
  ['neurons', 'Neurons'],
  ['synapses', 'Synapses'],
  ['inbound_axons', 'Inbound axons'],
  ['outbound_axons', 'Outbound axons'],
  ['target_cores', 'Target cores'],
];

/** How full a core is against every limit that there is: [label, value, limit, how both read]. */
async function budgets(model, core) {
  const of = await model.detailsOf(core),
    limits = model.limitsAt(core),
    rows = BUDGETS.map(([name, label]) => [label, of[name], limits[name]]);
  for (const [name, part] of Object.entries(of.shares ?? {})) {
    if (BUDGETS.some(([known]) => known === name)) continue;
    const limit = name === 'populations' ? limits.populations_per_core : limits[name];
    rows.push([capital(words(name)), Math.round(part * limit), limit]);
  }
  if (model.chip.table_entries) {
    const entries = await model.tableEntries();
    rows.push(['Table entries of its router', entries.of(core), entries.limit]);
  }
  if (of.core_ns !== undefined) rows.push(['Step time', of.core_ns, model.metrics.step_ns, time]);
  return rows;
}

function budget(label, value, limit, show = count) {
  const bar = element('div.bar-fill');
  bar.style.transform = `scaleX(${limit > 0 ? Math.min(value / limit, 1) : 0})`;
  return element(
    'div.budget',
    element(
      'div.budget-head',
      element('span', label),
      element('span.number', show(value), element('small', limit > 0 ? ` / ${show(limit)}, ${percent(value / limit)}` : ' no limit')),
    ),
    element(
      'div',
      limit > 0
        ? {
            class: 'bar',
            role: 'meter',
            'aria-label': label,
            'aria-valuemin': '0',
            'aria-valuemax': String(limit),
            'aria-valuenow': String(value),
            'aria-valuetext': `${show(value)} of ${show(limit)}, ${percent(value / limit)}`,
          }
        : { class: 'bar bar-none' },
      bar,
    ),
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

async function neuronList(model, part) {
  const { neurons } = await model.ask(`/neurons?part=${part}`),
    named = neurons.some(({ name }) => name);
  const item = ({ neuron, name }) => element('li', { title: `neuron ${neuron}` }, name ? [name, element('small', String(neuron))] : String(neuron));
  return [element('h3', `Neurons, ${count(neurons.length)}`), element('ol', { class: `neuron-list${named ? ' named' : ''}` }, neurons.map(item))];
}
