// One mapping's heat map with what belongs to it: the layer painted on it, the legend, the line under it.

import { differences, kindColour, middle, paint, palette, pixel, position, range, STEPS, viridis } from './colour.js';
import { announce, element, fill } from './dom.js';
import { capital, count, dateText, si } from './format.js';
import { HeatMap } from './heatmap.js';
import { BROKEN, FREE, HERE, LAYERS, TAKEN } from './layers.js';
import { pinsOf } from './pins.js';
import { problemWords } from './problem.js';
import { onTheme } from './surface.js';

const COLOURS = palette(),
  DIFFERENCES = differences();
const TILES_PITCH = 4, // pixels of a core from which on each is looked at
  POPULATIONS_SHOWN = 24, // names in the legend
  OWNERS_SHOWN = 6;

/** A CSS colour as computed ("rgb(1, 2, 3)") to channels. */
export const channelsOf = (text) => (text.match(/[\d.]+/g) ?? [0, 0, 0]).slice(0, 3).map(Number);

/** The row of layer buttons: native radio buttons, so the arrow keys work. */
export function layerSwitch(layers, chosen, onChoose) {
  return element(
    'fieldset.segmented',
    element('legend.hidden', 'Layer of the heat map'),
    layers.map((layer) =>
      element(
        'label',
        element('input', { type: 'radio', name: 'layer', value: layer.id, checked: layer.id === chosen, onchange: () => onChoose(layer) }),
        element('span', layer.label),
      ),
    ),
  );
}

const css = (channels) => `rgb(${channels.join(' ')})`;
const model = (picture, layer) => picture.model.layer(layer.id);
/** Pale, so that what is mapped stays in front; owners by their place in the list of holders. */
export const ownerColour = (number) => kindColour(number + 2).map((channel) => Math.round(0.55 * channel + 0.45 * 190));

/** "taken by vision group until 14:02". */
export const holderText = ({ owner, until }) => `taken by ${owner}${until ? ` until ${dateText(until)}` : ''}`;

export class Picture {
  constructor(model, view, { label, signal }) {
    this.model = model;
    this.view = view;
    this.layer = LAYERS[0];
    this.onLinks = null; // told once when the links are there
    this.bounds = null;
    this.logarithmic = false;
    this.kinds = null;
    const { chip, absent } = model;
    this.map = new HeatMap(view, {
      ...{ label, chip, absent, signal },
      region: model.summary.region,
      describe: (core) => this.describe(core),
      needLinks: () => this.#fetchLinks(),
    });
    const dies = model.chip.dies ?? [1, 1];
    this.map.die = dies[0] * dies[1] > 1 ? model.chip.cores : null;
    this.map.pins = pinsOf(model.summary.options?.constraints, { width: model.width, height: model.height, router: this.map.router, die: model.chip.cores });
    this.map.markOf = (core) => [null, null, 'taken', 'broken'][this.kinds?.kind[core] ?? 0];
    this.map.labelOf = (core) => this.#figure(core);
    this.node = this.map.node;
    onTheme(() => this.#paint(), signal);
    const { tiles } = model;
    if (!tiles) return;
    view.onChange((what) => {
      const seen = what === 'view' && this.map.closer(TILES_PITCH);
      if (seen) tiles.near(seen).catch(() => {}); // asked for again with the next move
    });
    tiles.onRead = async () => {
      this.kinds &&= await model.occupancy(); // without asking again
      this.#paint();
      view.changed('cores');
    };
  }

  /** bounds: the scale to use, null for the layer's own. against: another mapping's model, the difference to which is shown. */
  async show(layer, { bounds = null, logarithmic = false, against = null } = {}) {
    this.layer = layer;
    this.against = against;
    this.logarithmic = logarithmic;
    const held = this.#holders();
    try {
      if (layer.details) await this.model.withDetails();
      if (layer.categories) await held;
    } catch (error) {
      if (error.name !== 'AbortError') announce(`This layer cannot be read: ${problemWords(error).title}`);
      return;
    }
    if (this.layer !== layer) return; // switched on while waiting
    this.bounds = layer.kinds || layer.categories ? null : (bounds ?? model(this, layer).bounds);
    this.map.bandsOf = layer.kinds ? (core) => this.#bands(core) : null;
    this.#paint();
  }

  /** Who has which cores: shown in every layer as soon as it is known. */
  async #holders() {
    if (this.kinds !== null) return;
    this.kinds = await this.model.occupancy().catch(() => undefined); // asked for once
    if (!this.kinds) return;
    this.#paint();
    this.onKinds?.();
  }

  #bands(core) {
    const { populations = [] } = this.model.details.at.get(core) ?? {};
    if (populations.length < 2) return [];
    const all = populations.reduce((sum, { neurons }) => sum + neurons, 0);
    return populations.map(({ population, neurons }) => [css(kindColour(population)), neurons / all]);
  }

  #paint() {
    if (!this.layer || (this.layer.details && !this.model.details)) return; // painted when they are there
    const style = getComputedStyle(this.map.canvas);
    const colour = (name) => pixel(channelsOf(style.getPropertyValue(name)));
    const { pixels } = this.map,
      empty = colour('--heat-empty'),
      { kind, owner } = this.kinds ?? {};
    if (this.layer.categories) pixels.fill(empty);
    else {
      const { values } = model(this, this.layer);
      if (this.layer.kinds) for (let i = 0; i < values.length; i++) pixels[i] = values[i] === values[i] ? pixel(kindColour(values[i])) : empty;
      else if (this.against) this.#paintDifference(values, empty);
      else paint(values, pixels, this.bounds, COLOURS, empty, this.logarithmic);
    }
    const here = this.layer.categories && colour('--heat-here'),
      broken = colour('--heat-broken'),
      { absent } = this.model;
    for (let i = 0; i < (kind?.length ?? 0); i++) {
      if (kind[i] === TAKEN) pixels[i] = pixel(ownerColour(owner[i]));
      else if (kind[i] === BROKEN) pixels[i] = broken;
      else if (here && kind[i] === HERE) pixels[i] = here;
    }
    if (absent) for (let i = 0; i < absent.length; i++) if (absent[i]) pixels[i] = 0;
    this.map.repaint();
  }

  /** What a core has more, or less, than in the other mapping; 0 where one of them has none. */
  #paintDifference(values, empty) {
    const there = this.against.layer(this.layer.id).values,
      change = Float64Array.from(values, (value, i) => (value !== value && there[i] !== there[i] ? NaN : (value || 0) - (there[i] || 0)));
    const { min, max } = range(change) ?? { min: 0, max: 0 },
      most = Math.max(-min, max, 1e-12);
    this.bounds = { min: -most, max: most };
    paint(change, this.map.pixels, this.bounds, DIFFERENCES, empty);
  }

  #fetchLinks() {
    if (this.asked) return;
    this.asked = true; // drawing asks at every frame until the answer is there
    this.model.links().then(
      (links) => {
        this.map.links = links;
        this.map.redraw();
        this.onLinks?.(links);
      },
      (error) => {
        if (error.name !== 'AbortError') announce('The link loads cannot be read');
      },
    );
  }

  #figure(core) {
    if (this.layer.categories) return this.model.partOf(core) >= 0 ? String(this.model.partOf(core)) : '';
    if (this.layer.kinds) return this.model.populationOf(core).slice(0, 8);
    const value = model(this, this.layer).values[core];
    return value === value ? this.layer.show(value) : '';
  }

  /** What else there is of a core that the mapping does not use. */
  #other(core) {
    if (this.model.absent?.[core]) return 'no core here';
    const kind = this.kinds?.kind[core];
    return kind === TAKEN ? holderText(this.kinds.owners[this.kinds.owner[core]]) : kind === BROKEN ? 'broken' : 'free';
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
    if (part < 0) return `${where}: ${this.#other(core)}${congestion > 0 ? `, ${si(congestion)} packets pass` : ''}`;
    if (this.layer.categories) return `${where}: this mapping, part ${part}`;
    if (this.layer.kinds) return `${where}: part ${part}, ${count(cores.neurons[core])} neurons, ${this.#populations(core)}`;
    const own = this.layer.details ? `, ${this.layer.label.toLowerCase()} ${this.layer.show(model(this, this.layer).values[core])}` : '';
    return (
      `${where}: part ${part}${own}, ${count(cores.neurons[core])} neurons, ${count(cores.synapses[core])} synapses, ` +
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
  showLinks(links, routing = '', port = 0) {
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
