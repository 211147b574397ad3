// #/compare/A/B: two mappings side by side, looked at through one view and on one colour scale.

import { union } from './colour.js';
import { announce, element, fill, setText } from './dom.js';
import { count, partsText, shortId } from './format.js';
import { LAYERS, layersOf } from './layers.js';
import { MAP_HELP, networkLine, startView } from './mapping.js';
import { Model } from './model.js';
import { layerSwitch, Legend, Picture } from './picture.js';
import { comparisonTable } from './tables.js';
import { View } from './view.js';

export async function showComparison(main, { a, b, query, replaceQuery, attach }, signal) {
  const models = await Promise.all([Model.load(a, signal), Model.load(b, signal)]);
  // Chips of different size cannot share a place on the grid: then each picture has its own view.
  const linked = models[0].width === models[1].width && models[0].height === models[1].height;
  const shared = new View(models[0].width, models[0].height);
  const views = [shared, linked ? shared : new View(models[1].width, models[1].height)];
  const layers = layersOf({}); // populations of two networks are not the same ones
  let layer = layers.find((entry) => entry.id === query.get('layer')) ?? LAYERS[0];
  const logarithmic = element('input', { type: 'checkbox', onchange: () => present() });

  const sides = models.map((model, i) => {
    const letter = 'AB'[i];
    const picture = new Picture(model, views[i], {
      label: `Heat map of mapping ${letter} on ${model.chip.name}`,
      help: 'map-help',
      signal,
    });
    const readout = element('output', { class: 'readout', 'aria-live': 'off' });
    const idle = linked ? 'Both pictures move together' : 'The chips differ in size: the pictures move apart';
    const tell = () => {
      const core =
        views[i].hover >= 0 ? views[i].hover : views[i].cursor >= 0 ? views[i].cursor : views[i].selected;
      setText(readout, picture.describe(core) || idle);
    };
    views[i].onChange(tell);
    setText(readout, idle);
    const legend = new Legend();
    picture.onLinks = (loads) => legend.showLinks(loads, model.routing);
    return {
      model,
      picture,
      legend,
      tell,
      node: element(
        'section',
        { class: 'panel map-panel', 'aria-label': `Mapping ${letter}` },
        element(
          'div',
          { class: 'side-head' },
          element('span', { class: 'letter' }, letter),
          element(
            'div',
            {},
            element(
              'a',
              { href: `#/mappings/${encodeURIComponent(model.id)}` },
              `${model.networkName} on ${model.chip.name}`,
            ),
            element(
              'p',
              { class: 'quiet' },
              `${networkLine(model.summary.network)} · ${partsText(model.summary.parts, model.summary.bound)} · `,
              element('code', { title: model.id }, shortId(model.id)),
            ),
          ),
        ),
        picture.node,
        element('div', { class: 'map-foot' }, readout, picture.map.buttons),
        legend.node,
      ),
    };
  });

  async function present() {
    const bounds = layer.categories
      ? null
      : union(models[0].layer(layer.id).bounds, models[1].layer(layer.id).bounds);
    await Promise.all(
      sides.map(({ picture }) => picture.show(layer, { bounds, logarithmic: logarithmic.checked })),
    );
    if (signal.aborted) return;
    logarithmic.disabled = Boolean(layer.categories);
    for (const side of sides) {
      side.legend.update(side.picture);
      side.tell();
    }
  }

  fill(
    main,
    element(
      'header',
      { class: 'page-head' },
      element(
        'div',
        {},
        element('h1', { tabindex: '-1' }, 'Comparison'),
        element('p', { class: 'quiet' }, 'Both pictures use one colour scale.'),
      ),
      element(
        'a',
        { class: 'button', href: `#/compare/${encodeURIComponent(b)}/${encodeURIComponent(a)}` },
        'Swap A and B',
      ),
    ),
    element(
      'div',
      { class: 'map-tools panel' },
      layerSwitch(layers, layer.id, (chosen) => {
        layer = chosen;
        replaceQuery(new URLSearchParams(layer === LAYERS[0] ? {} : { layer: layer.id }));
        announce(`Layer ${chosen.label}`);
        present();
      }),
      element('label', { class: 'check' }, logarithmic, 'log scale'),
    ),
    element(
      'div',
      { class: 'sides' },
      sides.map((side) => side.node),
    ),
    element('p', { class: 'hidden', id: 'map-help' }, MAP_HELP),
    comparisonTable(models[0], models[1]),
  );
  attach();
  const regions = models.map(
    (model) => model.summary.region ?? { x: 0, y: 0, width: model.width, height: model.height },
  );
  if (linked) startView(shared, regions, sides[0].picture.map.size);
  else sides.forEach(({ picture }, i) => startView(views[i], [regions[i]], picture.map.size));
  await present();
  return 'Comparison';
}
