// A program's operators as a graph: blocks between points through which one value goes, open or not; shapes on edges; colour by share of the
// critical path. Pure functions first, then the drawing.

import { element, fill, section, setText, svg } from './dom.js';
import { count, NONE, percent, time } from './format.js';
import { keepButtons } from './plotfile.js';

const WIDTH = 180,
  HEIGHT = 34,
  GAP = 26, // between ranks, for shapes
  SPACE = 60, // between slots, and right of the last for shapes
  LETTERS = 25, // of a line of a box
  CHAIN = 8, // operators of a block without branches, at most
  OPEN_MOST = 40; // operators that are shown one by one to begin with

/** Items [{name, operator, from: Map(name of an item -> text of shapes)}], inputs first: nodes of one name are one. */
export function itemsOf(graph) {
  const items = new Map(),
    made = new Set(graph.map(({ node }) => node));
  for (const { reads } of graph) for (const { from } of reads) if (!made.has(from)) items.set(from, { name: from, operator: 'input', from: new Map() });
  for (const { node, operator, reads } of graph) {
    const item = items.get(node) ?? { name: node, operator, from: new Map() };
    items.set(node, item);
    for (const { from, type, shape } of reads) if (from !== node) item.from.set(from, `${type} ${shape === null ? NONE : shape.join('×') || 'scalar'}`);
  }
  return [...items.values()];
}

/** Blocks of items: each ends where all that goes on comes from its last item; those of one item are joined, few at a time. O(items + edges). */
export function blocksOf(items) {
  const place = new Map(items.map(({ name }, i) => [name, i])),
    last = items.map((_, i) => i); // the last item that reads an item
  items.forEach(({ from }, i) => {
    for (const name of from.keys()) last[place.get(name)] = Math.max(last[place.get(name)], i);
  });
  const blocks = [];
  let begun = 0,
    reach = 0; // of all items before this one
  items.forEach((_, i) => {
    const waist = reach <= i;
    reach = Math.max(reach, last[i]);
    if (!waist && i + 1 < items.length) return;
    const block = items.slice(begun, i + 1),
      before = blocks.at(-1);
    if (block.length === 1 && before?.chain && before.items.length < CHAIN) before.items.push(block[0]);
    else blocks.push({ items: block, chain: block.length === 1 });
    begun = i + 1;
  });
  return blocks;
}

/** Places of boxes, each behind those that its `from` has as keys: Map(box -> {rank, slot}); slots near those of what is read. */
export function layout(boxes) {
  const at = new Map(),
    ranks = [];
  for (const box of boxes) {
    const above = [...box.from.keys()].filter((one) => at.has(one)).map((one) => at.get(one)),
      rank = above.reduce((most, one) => Math.max(most, one.rank + 1), 0),
      taken = (ranks[rank] ??= new Set());
    let slot = above.length ? Math.round(above.reduce((sum, one) => sum + one.slot, 0) / above.length) : 0;
    while (taken.has(slot)) slot += 1;
    taken.add(slot);
    at.set(box, { rank, slot });
  }
  return at;
}

const shorten = (text) => (text.length > LETTERS ? `…${text.slice(1 - LETTERS)}` : text);

/** A line from one box to another with the shape of what it carries. */
const edgeShape = ([x1, y1], [x2, y2], shape) => {
  const from = [x1 + WIDTH / 2, y1 + HEIGHT],
    to = [x2 + WIDTH / 2, y2],
    middle = (from[1] + to[1]) / 2;
  return svg(
    'g',
    {},
    svg('path', { class: 'graph-edge', d: `M${from}C${from[0]} ${middle} ${to[0]} ${middle} ${to}` }),
    svg('text', { class: 'graph-shape', x: to[0] + 5, y: to[1] - 6 }, shape),
  );
};

/** What a box says: its operators, and the figures of its items. */
function described({ items, block }, figures) {
  const path = items.reduce((sum, { name }) => sum + (figures.get(name)?.path ?? 0), 0),
    busy = items.reduce((sum, { name }) => sum + (figures.get(name)?.busy ?? 0), 0),
    kinds = new Map();
  for (const { operator } of items) kinds.set(operator, (kinds.get(operator) ?? 0) + 1);
  const operators = [...kinds].map(([kind, times]) => (times > 1 ? `${kind} ×${times}` : kind)).join(', ');
  const title = block ? `${count(items.length, 'operators')}, ${shorten(items.at(-1).name)}` : shorten(items[0].name);
  return { title, operators, path, busy };
}

/** The same by mouse and keyboard. */
function pressed(node, press) {
  node.addEventListener('click', press);
  node.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    press();
  });
  return node;
}

/** Time and share of the critical path by name, of a report's rows of nodes. */
function figuresOf(nodes) {
  const figures = new Map();
  for (const { node, operator, busy_ns: busy, path_share: path } of nodes) {
    if (operator === 'store' || operator === 'hops') continue;
    const known = figures.get(node) ?? { busy: 0, path: 0 };
    figures.set(node, { busy: known.busy + busy, path: known.path + path });
  }
  return figures;
}

/** The graph of a report, whose rows of nodes say what each takes; `pick` is told of an operator {name, kind} that is pressed. */
export class OperatorGraph {
  #blocks;
  #figures;
  #open;
  #pick;
  #marked = null; // a test of items; null: none is marked
  #frame = element('div.graph-frame', { tabindex: '0', role: 'group', 'aria-label': 'Operators of the program' });
  #readout = element('p.quiet', { 'aria-live': 'polite' });

  constructor(graph, nodes, pick) {
    this.#blocks = blocksOf(itemsOf(graph));
    this.#figures = figuresOf(nodes);
    this.#open = new Set(graph.length <= OPEN_MOST ? this.#blocks : []);
    this.#pick = pick;
    this.#draw();
    this.node = section(
      'Graph of operators',
      element(
        'p.quiet',
        'Lines carry values from above; darker boxes take more time, bars are shares of the critical path. A press opens a block, or shows an operator on the timeline.',
      ),
      this.#frame,
      element(
        'div.buttons',
        element('button.button', { onclick: () => this.#toggle() }, 'Open or close all blocks'),
        keepButtons('Operators of the program', () => this.#frame.firstElementChild),
      ),
      this.#readout,
    );
  }

  /** Leaves all items faint but those that a test takes (where it is null or takes none: none faint); `opened`: in open blocks, the first of them in sight. */
  mark(test, opened = false) {
    this.#marked = test && this.#blocks.some(({ items }) => items.some(test)) ? test : null;
    if (opened && this.#marked) for (const block of this.#blocks) if (block.items.some(test)) this.#open.add(block);
    this.#draw();
    if (opened) this.#frame.querySelector('.graph-node:not(.faint)')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  #toggle() {
    if (this.#open.size) this.#open.clear();
    else for (const block of this.#blocks) this.#open.add(block);
    this.#draw();
  }

  /** What is drawn as one: items, and the closed block that they are. */
  #boxes() {
    const of = (block) =>
      this.#open.has(block) || block.items.length === 1 ? block.items.map((item) => ({ items: [item] })) : [{ items: block.items, block }];
    const boxes = this.#blocks.flatMap(of),
      box = new Map(boxes.flatMap((one) => one.items.map(({ name }) => [name, one])));
    for (const one of boxes) {
      one.from = new Map(one.items.flatMap(({ from }) => [...from].map(([name, shape]) => [box.get(name), shape])));
      one.from.delete(one);
    }
    return boxes;
  }

  #draw() {
    const boxes = this.#boxes(),
      at = layout(boxes),
      places = [...at.values()],
      told = boxes.map((one) => described(one, this.#figures)),
      longest = told.reduce((most, { busy }) => Math.max(most, busy), 1e-9),
      width = (Math.max(...places.map(({ slot }) => slot)) + 1) * (WIDTH + SPACE),
      height = (Math.max(...places.map(({ rank }) => rank)) + 1) * (HEIGHT + GAP),
      corner = (one) => [at.get(one).slot * (WIDTH + SPACE) + SPACE / 2, at.get(one).rank * (HEIGHT + GAP) + GAP / 2];
    const lines = boxes.flatMap((to) => [...to.from].map(([from, shape]) => edgeShape(corner(from), corner(to), shape)));
    fill(
      this.#frame,
      svg(
        'svg',
        { width, height, viewBox: `0 0 ${width} ${height}` },
        lines,
        boxes.map((one, i) => this.#box(one, corner(one), told[i], longest)),
      ),
    );
  }

  #box(one, [x, y], { title, operators, path, busy }, longest) {
    const names = one.items.map(({ name }) => name),
      faint = this.#marked && !one.items.some(this.#marked),
      figures = `${time(busy)}, ${percent(path)} of the critical path`,
      ground = svg('rect', { width: WIDTH, height: HEIGHT, rx: 4 });
    ground.style.setProperty('--time', `${Math.round((40 * busy) / longest)}%`);
    const press = () => {
      setText(this.#readout, `${operators}: ${one.block ? '' : `${names[0]}, `}${figures}`);
      if (one.block) {
        this.#open.add(one.block);
        this.#draw();
      } else this.#pick?.({ name: names[0], kind: one.items[0].operator });
    };
    return pressed(
      svg(
        'g',
        {
          class: `graph-node${one.block ? ' block' : ''}${faint ? ' faint' : ''}`,
          transform: `translate(${x} ${y})`,
          tabindex: '0',
          role: 'button',
          'aria-label': `${operators}, ${title}, ${figures}`,
        },
        svg('title', {}, [...names.slice(0, CHAIN), figures].join('\n')),
        ground,
        svg('rect', { class: 'share', width: WIDTH * Math.min(1, path), height: 4, y: HEIGHT - 4 }),
        svg('text', { x: 7, y: 13, class: 'graph-operator' }, operators.length > LETTERS ? `${operators.slice(0, LETTERS - 1)}…` : operators),
        svg('text', { x: 7, y: 26 }, title),
      ),
      press,
    );
  }
}
