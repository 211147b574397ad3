// One mapping's heat map with what belongs to it: the layer painted on it, the legend, the line under it.

import { kindColour, middle, paint, palette, pixel, position, STEPS, viridis } from './colour.js';
import { announce, element, fill, setText } from './dom.js';
import { count, si } from './format.js';
import { HeatMap } from './heatmap.js';
import { BROKEN, FREE, HERE, LAYERS, TAKEN } from './layers.js';
import { problemWords } from './problem.js';

const COLOURS = palette();
const POPULATIONS_SHOWN = 24; // names in the legend

/** A CSS colour as computed ("rgb(1, 2, 3)") to channels. */
const rgb = (text) => (text.match(/[\d.]+/g) ?? [0, 0, 0]).slice(0, 3).map(Number);

/** The row of layer buttons: native radio buttons, so the arrow keys work. */
export function layerSwitch(layers, chosen, onChoose) {
  return element(
    'fieldset',
    { class: 'segmented' },
    element('legend', { class: 'hidden' }, 'Layer of the heat map'),
    layers.map((layer) =>
      element(
        'label',
        {},
        element('input', {
          type: 'radio',
          name: 'layer',
          value: layer.id,
          checked: layer.id === chosen,
          onchange: () => onChoose(layer),
        }),
        element('span', {}, layer.label),
      ),
    ),
  );
}

export class Picture {
  constructor(model, view, { label, help, signal }) {
    this.model = model;
    this.view = view;
    this.layer = LAYERS[0];
    this.onLinks = null; // told once when the links are there
    this.bounds = null;
    this.logarithmic = false;
    this.kinds = null;
    this.map = new HeatMap(view, {
      label,
      help,
      signal,
      describe: (core) => announce(this.describe(core)),
      needLinks: () => this.#fetchLinks(),
    });
    this.map.router = model.chip.cores_per_router ?? [1, 1];
    const dies = model.chip.dies ?? [1, 1];
    this.map.die = dies[0] * dies[1] > 1 ? model.chip.cores : null;
    this.map.region = model.summary.region ?? null;
    this.map.labelOf = (core) => this.#figure(core);
    this.node = this.map.node;
    const recolour = () => this.#paint();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', recolour, { signal });
    document.addEventListener('themechange', recolour, { signal });
  }

  /** bounds: the scale to use, null for the layer's own. */
  async show(layer, { bounds = null, logarithmic = false } = {}) {
    this.layer = layer;
    this.logarithmic = logarithmic;
    if (layer.categories) {
      try {
        this.kinds = await this.model.occupancy();
      } catch (error) {
        if (error.name === 'AbortError') return;
        announce(`The occupancy of the chip cannot be read: ${problemWords(error).title}`);
        this.kinds = null;
      }
      if (this.layer !== layer) return; // switched on while waiting
    } else {
      this.bounds = layer.kinds ? null : (bounds ?? this.model.layer(layer.id).bounds);
    }
    this.map.broken = layer.categories && this.kinds ? (core) => this.kinds.kind[core] === BROKEN : null;
    this.#paint();
  }

  #paint() {
    const style = getComputedStyle(this.map.canvas);
    const colour = (name) => pixel(rgb(style.getPropertyValue(name)));
    const empty = colour('--heat-empty');
    if (this.layer.categories) {
      if (!this.kinds) {
        this.map.pixels.fill(empty);
      } else {
        const of = [];
        of[FREE] = empty;
        of[HERE] = colour('--heat-here');
        of[TAKEN] = colour('--heat-taken');
        of[BROKEN] = colour('--heat-broken');
        const { kind } = this.kinds;
        for (let i = 0; i < kind.length; i++) this.map.pixels[i] = of[kind[i]];
      }
    } else if (this.layer.kinds) {
      const { values } = this.model.layer(this.layer.id);
      for (let i = 0; i < values.length; i++)
        this.map.pixels[i] = values[i] === values[i] ? pixel(kindColour(values[i])) : empty;
    } else {
      paint(
        this.model.layer(this.layer.id).values,
        this.map.pixels,
        this.bounds,
        COLOURS,
        empty,
        this.logarithmic,
      );
    }
    this.map.repaint();
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
    const value = this.model.layer(this.layer.id).values[core];
    return value === value ? si(value) : '';
  }

  /** One line about a core: for the readout and for screen readers. */
  describe(core) {
    if (core < 0) return '';
    const part = this.model.partOf(core),
      { cores } = this.model;
    const where = `Core ${this.model.place(core)}`;
    if (this.layer.categories && this.kinds) {
      const owner = this.kinds.owners[this.kinds.owner[core]];
      const kind = ['free', `this mapping, part ${part}`, `taken by ${owner}`, 'broken'][
        this.kinds.kind[core]
      ];
      return `${where}: ${kind}`;
    }
    if (this.layer.kinds && part >= 0)
      return `${where}: part ${part}, ${count(cores.neurons[core])} neurons, most of ${this.model.populationOf(core)}`;
    const congestion = cores.congestion[core];
    if (part < 0) return `${where}: unused${congestion > 0 ? `, ${si(congestion)} packets pass` : ''}`;
    return (
      `${where}: part ${part}, ${count(cores.neurons[core])} neurons, ${count(cores.synapses[core])} synapses, ` +
      `${count(cores.inboundAxons[core])} inbound axons, traffic ${si(cores.trafficIn[core] + cores.trafficOut[core])}, ` +
      `congestion ${si(congestion)}`
    );
  }
}

/** The colour bar, or the names of the categories, of what a picture shows. */
export class Legend {
  constructor() {
    this.bar = element('canvas', { class: 'legend-bar', width: STEPS, height: 1, 'aria-hidden': 'true' });
    const context = this.bar.getContext('2d'),
      image = context.createImageData(STEPS, 1);
    new Uint32Array(image.data.buffer).set(COLOURS);
    context.putImageData(image, 0, 0);
    this.low = element('span', {});
    this.mid = element('span', {});
    this.high = element('span', {});
    this.unit = element('span', { class: 'legend-unit' });
    this.limit = element('span', { class: 'legend-limit' });
    this.scale = element(
      'div',
      { class: 'legend-scale' },
      this.bar,
      element('div', { class: 'legend-ticks' }, this.low, this.mid, this.high),
    );
    this.names = element('ul', { class: 'legend-names' });
    this.links = element(
      'span',
      { class: 'legend-key', hidden: true },
      element('i', { class: 'swatch swatch-link' }),
      '',
    );
    this.empty = element(
      'span',
      { class: 'legend-key' },
      element('i', { class: 'swatch swatch-empty' }),
      'unused',
    );
    this.node = element(
      'div',
      { class: 'legend' },
      this.scale,
      this.names,
      element('div', { class: 'legend-notes' }, this.unit, this.limit, this.empty, this.links),
    );
  }

  /** Says how much the thickest link stands for. */
  showLinks(links, routing = '') {
    this.links.hidden = false;
    this.links.lastChild.textContent = `links up to ${si(links.max)} packets${routing && `, ${routing} routes`}`;
  }

  update(picture) {
    const { layer, bounds, logarithmic, model } = picture;
    this.scale.hidden = Boolean(layer.categories || layer.kinds);
    this.names.hidden = !layer.categories && !layer.kinds;
    this.empty.hidden = Boolean(layer.categories);
    if (layer.categories) {
      this.unit.textContent = '';
      this.limit.textContent = '';
      this.#categories(picture.kinds);
      return;
    }
    if (layer.kinds) {
      this.unit.textContent = 'most neurons of a core';
      this.limit.textContent = '';
      this.empty.lastChild.textContent = 'unused';
      this.#populations(model.populations);
      return;
    }
    setText(this.low, bounds ? si(bounds.min) : '');
    setText(this.mid, bounds ? si(middle(bounds, logarithmic)) : '');
    setText(this.high, bounds ? si(bounds.max) : '');
    setText(this.unit, bounds ? `${layer.unit} per core` : 'nothing to show');
    const limit = model.limits[layer.limit];
    setText(this.limit, layer.limit ? (model.chip.core_classes ? 'limit by class' : limit ? `limit ${count(limit)}` : 'no limit') : '');
    this.empty.lastChild.textContent = layer.id === 'congestion' ? 'nothing passes' : 'unused';
  }

  #populations(populations) {
    const shown = populations.slice(0, POPULATIONS_SHOWN);
    const rest = populations.length - shown.length;
    fill(
      this.names,
      shown.map(({ name, number, cores }) =>
        element('li', { class: 'legend-key' }, kindSwatch(number), `${name} ${count(cores)}`),
      ),
      rest > 0 ? element('li', {}, `and ${count(rest)} more`) : '',
    );
  }

  #categories(kinds) {
    if (!kinds) {
      fill(this.names, element('li', {}, 'The occupancy of this chip cannot be read.'));
      return;
    }
    const row = (swatch, text, cores) =>
      element(
        'li',
        { class: 'legend-key' },
        element('i', { class: `swatch swatch-${swatch}` }),
        `${text} ${count(cores)}`,
      );
    const owners = kinds.owners
      .map((owner, i) => [owner, kinds.counts[i] ?? 0])
      .slice(1)
      .filter(([, cores]) => cores > 0);
    fill(
      this.names,
      row('here', 'this mapping', kinds.totals[HERE]),
      row('empty', 'free', kinds.totals[FREE]),
      row(
        'taken',
        owners.length
          ? `taken (${owners
              .slice(0, 4)
              .map(([owner]) => owner)
              .join(', ')}${owners.length > 4 ? ', …' : ''})`
          : 'taken',
        kinds.totals[TAKEN],
      ),
      row('broken', 'broken', kinds.totals[BROKEN]),
    );
  }
}

/** The swatch of a population. */
export function kindSwatch(number) {
  const swatch = element('i', { class: 'swatch' });
  swatch.style.backgroundColor = `rgb(${kindColour(number).join(' ')})`;
  return swatch;
}

/** CSS colour of a value on a scale (for the swatches of tables). */
export function swatchColour(value, bounds, logarithmic) {
  return `rgb(${viridis(position(value, bounds, logarithmic)).join(' ')})`;
}
