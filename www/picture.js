// One mapping's heat map with what belongs to it: the layer painted on it, the legend, the line under it.

import { css, differences, kindColour, middle, ownerColour, painter, palette, pixel, position, range, STEPS, viridis } from './colour.js';
import { announce, element, fill, setText } from './dom.js';
import { capital, count, dateText, si } from './format.js';
import { HeatMap } from './heatmap.js';
import { BROKEN, firstLayer, FREE, HERE, LAYERS, pinsOf, TAKEN } from './layers.js';
import { problemWords } from './problem.js';
import { onTheme } from './surface.js';

const COLOURS = palette(),
  DIFFERENCES = differences();
const TILES_PITCH = 6, // pixels of a core from which on each is looked at
  POPULATIONS_SHOWN = 24, // names in the legend
  OWNERS_SHOWN = 6;

/** Which of `layers` is shown, to begin with as the `query` of an address has it, else the first that is not the same everywhere in a model, and how: {nodes,
 * layer, logarithmic, address: what an address says of it}. onChange(): after each change. */
export function layerTools(layers, model, query, onChange) {
  const usual = firstLayer(model, layers),
    scale = element('input', { type: 'checkbox', checked: query.has('log'), onchange: () => onChange() });
  const choose = (layer) => {
    tools.layer = layer;
    scale.disabled = Boolean(layer.categories || layer.kinds);
    announce(`Layer ${layer.label}`);
    onChange();
  };
  const tools = {
    layer: layers.find(({ id }) => id === query.get('layer')) ?? usual,
    get logarithmic() {
      return scale.checked;
    },
    get address() {
      return { ...(tools.layer !== usual && { layer: tools.layer.id }), ...(scale.checked && { log: 1 }) };
    },
  };
  // Native radio buttons, so the arrow keys work.
  const button = (layer) =>
    element(
      'label',
      element('input', { type: 'radio', name: 'layer', value: layer.id, checked: layer === tools.layer, onchange: () => choose(layer) }),
      element('span', layer.label),
    );
  tools.nodes = [
    element('fieldset.segmented', element('legend.hidden', 'Layer of the heat map'), layers.map(button)),
    element('label.check', scale, 'log scale'),
  ];
  return tools;
}

const model = (picture, layer) => picture.model.layer(layer.id);
/** "taken by vision group until 14:02". */
export const holderText = ({ owner, until }) => `taken by ${owner}${until ? ` until ${dateText(until)}` : ''}`;

/** Who has a core that no mapping here uses. */
export function whose(kinds, absent, core) {
  if (absent?.[core]) return 'no core here';
  const kind = kinds?.kind[core];
  return kind === TAKEN ? holderText(kinds.owners[kinds.owner[core]]) : kind === BROKEN ? 'broken' : 'free';
}

export class Picture {
  constructor(model, view, { label, hint, signal }) {
    this.model = model;
    this.view = view;
    this.layer = LAYERS[0];
    this.legend = new Legend();
    this.bounds = null;
    this.logarithmic = false;
    const { chip, absent } = model;
    this.map = new HeatMap(view, {
      ...{ label, hint, chip, absent, signal },
      region: model.summary.region,
      describe: (core) => this.describe(core),
      needLinks: () => this.#fetchLinks(),
    });
    const dies = model.chip.dies ?? [1, 1];
    this.map.die = dies[0] * dies[1] > 1 ? model.chip.cores : null;
    this.map.pins = pinsOf(model.summary.options?.constraints, { width: model.width, height: model.height, router: this.map.router, die: model.chip.cores });
    this.map.labelOf = (core) => this.#figure(core);
    onTheme(() => this.#paint(), signal);
    const { tiles } = model;
    if (!tiles) return;
    view.onChange((what) => what === 'view' && this.#look());
    tiles.onRead((box) => {
      this.map.kinds?.look(box);
      this.#paint(box);
      view.changed('cores');
    });
  }

  /** Of a large chip asks for the single cores in sight. */
  #look() {
    const seen = this.model.tiles && this.map.closer(TILES_PITCH);
    if (seen) this.model.tiles.near(seen).catch(() => {}); // asked for again with the next move
  }

  /** The map, its legend, and what else belongs to it. */
  figure(...rest) {
    return this.map.figure(this.legend.node, ...rest);
  }

  /** False: it is not shown. bounds: the scale to use, null for the layer's own. against: another mapping's model, the difference to which is shown. */
  async show(layer, { bounds = null, logarithmic = false, against = null } = {}) {
    this.layer = layer;
    this.against = against;
    against?.tiles?.onRead((box) => this.against === against && this.#paint(box));
    this.logarithmic = logarithmic;
    const held = this.#holders();
    try {
      if (layer.details) await Promise.all([this.model, against].map((one) => one?.withDetails()));
      this.#look();
      if (layer.categories) await held;
    } catch (error) {
      const text = `This layer cannot be read: ${problemWords(error).detail || problemWords(error).title}`;
      if (error.name !== 'AbortError') announce(text);
      setText(this.map.readout, text);
      return false;
    }
    if (this.layer !== layer) return false; // switched on while waiting
    this.bounds = layer.kinds || layer.categories ? null : against ? this.#differences() : (bounds ?? model(this, layer).bounds);
    this.map.bandsOf = layer.kinds ? (core) => this.#bands(core) : null;
    this.#paint();
    this.legend.update(this);
    this.map.tell();
    return true;
  }

  /** Who has which cores: shown in every layer as soon as it is known. */
  async #holders() {
    if (this.map.kinds !== null) return;
    this.map.kinds = await this.model.occupancy().catch(() => undefined); // asked for once
    if (!this.map.kinds) return;
    this.#paint();
  }

  get kinds() {
    return this.map.kinds;
  }

  #bands(core) {
    const { populations = [] } = this.model.details.at.get(core) ?? {};
    if (populations.length < 2) return [];
    const all = populations.reduce((sum, { neurons }) => sum + neurons, 0);
    return populations.map(({ population, neurons }) => [css(kindColour(population)), neurons / all]);
  }

  /** What is shown of cores, all or those of a box. */
  #paint(box = [0, 0, this.model.width - 1, this.model.height - 1]) {
    if (!this.layer || (this.layer.details && !this.model.details)) return; // painted when they are there
    this.map.repaint(box, this.#painter());
  }

  /** The pixel of a core. */
  #painter() {
    const empty = this.map.tone('empty'),
      here = this.map.tone('here'),
      { layer, against, bounds, logarithmic } = this;
    if (layer.categories) return (core) => (this.kinds?.kind[core] === HERE ? here : empty);
    const { values } = model(this, layer);
    if (layer.kinds) return (core) => (values[core] === values[core] ? pixel(kindColour(values[core])) : empty);
    const of = against ? painter(bounds, DIFFERENCES, empty) : painter(bounds, COLOURS, empty, logarithmic),
      difference = against && this.#difference();
    return (core) => of(difference ? difference(core) : values[core]);
  }

  /** What a core has more, or less, than in the other mapping; 0 where one of them has none. */
  #difference() {
    const { values } = model(this, this.layer),
      there = this.against.layer(this.layer.id).values;
    return (core) => (values[core] !== values[core] && there[core] !== there[core] ? NaN : (values[core] || 0) - (there[core] || 0));
  }

  #differences() {
    const of = this.#difference(),
      { min, max } = range(Float64Array.from({ length: this.map.pixels.length }, (_, core) => of(core))) ?? { min: 0, max: 0 },
      most = Math.max(-min, max, 1e-12);
    return { min: -most, max: most };
  }

  /** Cores by 1 are to be seen among others; null: all alike. */
  light(lit) {
    this.map.lit = lit;
    this.#paint();
  }

  #fetchLinks() {
    if (this.asked) return;
    this.asked = true; // drawing asks at every frame until the answer is there
    this.model.links().then(
      (links) => {
        this.map.links = links;
        this.map.redraw();
        this.legend.showLinks(links, this.model);
      },
      (error) => {
        if (error.name !== 'AbortError') announce('The link loads cannot be read');
      },
    );
  }

  #figure(core) {
    if (this.layer.details && !this.model.details) return ''; // they are read
    if (this.layer.categories) return this.model.partOf(core) >= 0 ? String(this.model.partOf(core)) : '';
    if (this.layer.kinds) return this.model.populationOf(core).slice(0, 8);
    const value = model(this, this.layer).values[core];
    return value === value ? this.layer.show(value) : '';
  }

  /** One line about a core: for the readout and for screen readers. */
  describe(core) {
    if (core < 0) return '';
    const part = this.model.partOf(core),
      { cores } = this.model;
    const where = `Core ${this.model.place(core)}`;
    const congestion = cores.congestion[core];
    const block = this.model.blockOf(core);
    if (block >= 0)
      return `${capital(this.model.tiles.text(block))}: ${this.model.tiles.usedText(block)}, ${this.#figure(core)} ${this.layer.unit} at most; zoom in for each`;
    if (part < 0) return `${where}: ${whose(this.kinds, this.model.absent, core)}${congestion > 0 ? `, ${count(congestion, 'packets', si)} passing` : ''}`;
    if (this.layer.categories) return `${where}: this mapping, part ${part}`;
    if (this.layer.kinds) return `${where}: part ${part}, ${count(cores.neurons[core], 'neurons')}, ${this.#populations(core)}`;
    const own = this.layer.details ? `, ${this.layer.label.toLowerCase()} ${this.#figure(core)}` : '';
    return (
      `${where}: part ${part}${own}, ${count(cores.neurons[core], 'neurons')}, ${count(cores.synapses[core], 'synapses')}, ` +
      `${count(cores.inboundAxons[core])} inbound axons, traffic ${si(cores.trafficIn[core] + cores.trafficOut[core])}, ` +
      `congestion ${si(congestion)}`
    );
  }

  #populations(core) {
    const { list } = this.model.summary.populations;
    const of = this.model.details?.at.get(core)?.populations ?? [];
    return of.map(({ population, neurons }) => `${of.length > 1 ? `${count(neurons)} ` : ''}of ${list[population].name}`).join(', ');
  }
}

const key = (swatch, ...text) => element('li.legend-key', swatch, text);
const plain = (kind) => element('i', { class: `swatch swatch-${kind}` });

/** How many cores are whose: [swatch, text, cores]. */
export const kindRows = ({ kinds }) => [
  [plain('here'), 'this mapping', kinds.totals[HERE]],
  [plain('empty'), 'free', kinds.totals[FREE]],
  ...kinds.owners.slice(1).map((holder, i) => [ownerSwatch(i + 1), holderText(holder), kinds.counts[i + 1]]),
  [plain('broken'), 'broken', kinds.totals[BROKEN]],
];

/** The colour bar, or the names of the categories, of what a picture shows. */
export class Legend {
  node = element('div.legend');
  #links = element('span.legend-key');

  /** Says how much the thickest link stands for. */
  showLinks(links, { routing, metrics: { port_load_max: port } }) {
    const most = `fullest link ${si(links.max)}${port ? `, port ${si(port)}` : ''} packets${routing && `, ${routing} routes`}`;
    fill(this.#links, plain('link'), most);
  }

  update(picture) {
    const { layer, bounds } = picture;
    fill(
      this.node,
      layer.categories || layer.kinds
        ? element('ul.legend-names', layer.kinds ? this.#populations(picture.model.populations) : this.#categories(picture))
        : this.#scale(picture),
      element('div.legend-notes', layer.categories || this.#notes(picture.model, layer, bounds), this.#links),
    );
  }

  #scale({ layer, bounds, logarithmic, against }) {
    const bar = element('canvas.legend-bar', { width: STEPS, height: 1, 'aria-hidden': 'true' }),
      context = bar.getContext('2d'),
      image = context.createImageData(STEPS, 1),
      ticks = bounds ? [bounds.min, middle(bounds, logarithmic), bounds.max] : [];
    new Uint32Array(image.data.buffer).set(against ? DIFFERENCES : COLOURS);
    context.putImageData(image, 0, 0);
    return element(
      'div.legend-scale',
      bar,
      element(
        'div.legend-ticks',
        ticks.map((value) => element('span', layer.show(value))),
      ),
    );
  }

  #notes({ limits, chip }, layer, bounds) {
    const limit = chip.core_classes ? 'limit by class' : limits[layer.limit] ? `limit ${count(limits[layer.limit])}` : 'no limit';
    return [
      element('span.legend-unit', layer.kinds ? 'a band for each population of a core' : bounds ? `${layer.unit}, a core` : 'nothing to show'),
      layer.limit && element('span.legend-limit', limit),
      element('span.legend-key', plain('empty'), layer.id === 'congestion' ? 'nothing passes' : 'unused'),
    ];
  }

  #populations(populations) {
    const rest = populations.length - POPULATIONS_SHOWN;
    return [
      populations.slice(0, POPULATIONS_SHOWN).map(({ name, number, cores }) => key(kindSwatch(number), `${name} ${count(cores)}`)),
      rest > 0 && element('li', `and ${count(rest)} more`),
    ];
  }

  #categories(picture) {
    if (!picture.kinds) return element('li', 'The occupancy of this chip cannot be read.');
    const rows = kindRows(picture).map(([swatch, text, cores]) => key(swatch, `${text} ${count(cores)}`)),
      rest = picture.kinds.owners.length - 1 - OWNERS_SHOWN;
    return rest > 0 ? rows.toSpliced(2 + OWNERS_SHOWN, rest, element('li', `and ${count(rest)} holders more`)) : rows;
  }
}

const swatchOf = (colour) => {
  const swatch = element('i.swatch');
  swatch.style.backgroundColor = css(colour);
  return swatch;
};
export const ownerSwatch = (number) => swatchOf(ownerColour(number));

/** The swatch of a population. */
export const kindSwatch = (number) => swatchOf(kindColour(number));

/** That of a value on a scale. */
export const valueSwatch = (value, bounds, logarithmic) => swatchOf(viridis(position(value, bounds, logarithmic)));
