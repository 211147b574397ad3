// What one core holds: its budgets against the chip's limits, its traffic, its neurons page by page.

import { getNeurons } from './api.js';
import { element, facts, fill, icon, setText } from './dom.js';
import { count, NONE, percent, si } from './format.js';
import { problemWords } from './problem.js';

const PAGE = 100;
const DIRECTIONS = ['east', 'west', 'south', 'north']; // in the order of the links file
const BUDGETS = [
  ['neurons', 'Neurons', 'neurons'],
  ['synapses', 'Synapses', 'synapses'],
  ['inboundAxons', 'Inbound axons', 'inbound_axons'],
  ['outboundAxons', 'Outbound axons', 'outbound_axons'],
  ['targetCores', 'Target cores', 'target_cores'],
];

function budget(label, value, limit) {
  const share = limit > 0 ? Math.min(value / limit, 1) : 0;
  const bar = element('div', { class: 'bar-fill' });
  bar.style.transform = `scaleX(${share})`;
  return element(
    'div',
    { class: 'budget' },
    element(
      'div',
      { class: 'budget-head' },
      element('span', {}, label),
      element(
        'span',
        { class: 'number' },
        count(value),
        element('small', {}, limit > 0 ? ` / ${count(limit)}` : ' no limit'),
      ),
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
            'aria-valuetext': `${count(value)} of ${count(limit)}, ${percent(value / limit)}`,
          }
        : { class: 'bar bar-none' },
      bar,
    ),
  );
}

export class CorePanel {
  #stop = null;

  constructor(model, onClose, signal) {
    this.model = model;
    this.onClose = onClose;
    this.signal = signal;
    this.title = element('h2', { id: 'core-title' }, 'Core');
    this.body = element('div', { class: 'core-body' });
    this.close = element(
      'button',
      {
        type: 'button',
        class: 'icon-button',
        'aria-label': 'Close the core',
        hidden: true,
        onclick: onClose,
      },
      icon('close'),
    );
    this.node = element(
      'section',
      { class: 'panel core-panel', 'aria-labelledby': 'core-title' },
      element('div', { class: 'panel-head' }, this.title, this.close),
      this.body,
    );
    signal.addEventListener('abort', () => this.#stop?.abort());
    this.show(-1);
  }

  show(core) {
    this.#stop?.abort();
    this.#stop = new AbortController();
    const { model } = this,
      part = model.partOf(core);
    this.close.hidden = core < 0;
    if (core < 0) {
      setText(this.title, 'Core');
      fill(
        this.body,
        element(
          'p',
          { class: 'quiet' },
          'Click a core, or walk to one with the arrow keys and press Enter, to see its budgets and its neurons.',
        ),
      );
      return;
    }
    setText(this.title, `Core ${model.place(core)}`);
    const { cores } = model;
    const limits = model.limitsAt(core);
    const kind = model.classAt(core);
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
    const links = facts(
      DIRECTIONS.map((name) => [name, NONE, `load of the link from this core's router to the ${name}`]),
      'facts facts-4',
    );
    const linkPanel = element('div', {}, element('h3', {}, 'Link loads'), links);
    this.#links(links, core, this.#stop.signal);
    if (part < 0) {
      fill(
        this.body,
        element('p', { class: 'quiet' }, 'No neurons of this mapping run here.'),
        traffic,
        linkPanel,
      );
      return;
    }
    const list = element('div', { class: 'neurons' });
    fill(
      this.body,
      element(
        'div',
        { class: 'budgets' },
        BUDGETS.map(([field, label, limit]) => budget(label, cores[field][core], limits[limit] ?? 0)),
      ),
      traffic,
      linkPanel,
      list,
    );
    this.#neurons(list, part, this.#stop.signal);
  }

  async #links(node, core, signal) {
    let loads;
    try {
      loads = await this.model.linksOf(core);
    } catch {
      return; // the dashes stay
    }
    if (signal.aborted) return;
    node.querySelectorAll('dd').forEach((value, i) => setText(value, si(loads[i])));
  }

  async #neurons(node, part, signal) {
    fill(node, element('h3', {}, 'Neurons'), element('p', { class: 'quiet' }, 'Reading…'));
    let neurons;
    try {
      ({ neurons } = await getNeurons(this.model.id, part, signal));
    } catch (error) {
      if (error.name === 'AbortError') return;
      fill(node, element('h3', {}, 'Neurons'), element('p', { class: 'error' }, problemWords(error).title));
      return;
    }
    const entries = neurons.map((entry) => ({ number: entry.neuron, name: entry.name || '' }));
    const named = entries.some((entry) => entry.name);
    const list = element('ol', { class: `neuron-list${named ? ' named' : ''}` });
    const range = element('span', { class: 'number', 'aria-live': 'polite' });
    let page = 0,
      shown = entries;
    const pages = () => Math.max(1, Math.ceil(shown.length / PAGE));
    const draw = () => {
      const from = page * PAGE,
        some = shown.slice(from, from + PAGE);
      fill(
        list,
        some.map((entry) =>
          element(
            'li',
            { title: `neuron ${entry.number}` },
            entry.name ? [entry.name, element('small', {}, String(entry.number))] : String(entry.number),
          ),
        ),
      );
      setText(
        range,
        shown.length ? `${count(from + 1)}–${count(from + some.length)} of ${count(shown.length)}` : 'none',
      );
      back.disabled = page === 0;
      next.disabled = page >= pages() - 1;
    };
    const turn = (step) => () => {
      page = Math.min(Math.max(page + step, 0), pages() - 1);
      draw();
    };
    const back = element(
      'button',
      { type: 'button', class: 'icon-button', 'aria-label': 'Previous neurons', onclick: turn(-1) },
      icon('back'),
    );
    const next = element(
      'button',
      { type: 'button', class: 'icon-button', 'aria-label': 'Next neurons', onclick: turn(1) },
      icon('next'),
    );
    const find = element('input', {
      type: 'search',
      class: 'neuron-find',
      placeholder: 'find',
      'aria-label': 'Find a neuron on this core',
      oninput: () => {
        const wanted = find.value.trim().toLowerCase();
        shown = entries.filter(
          (entry) => entry.name.toLowerCase().includes(wanted) || String(entry.number).includes(wanted),
        );
        page = 0;
        draw();
      },
    });
    fill(
      node,
      element(
        'div',
        { class: 'neuron-head' },
        element('h3', {}, 'Neurons'),
        entries.length > 12 && find,
        range,
        back,
        next,
      ),
      list,
    );
    draw();
  }
}
