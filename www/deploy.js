// Images of a chip's cores: how the chip's spikes differ from those of the network, and what each core holds.

import { element, facts, section } from './dom.js';
import { count, NONE, percent, si } from './format.js';
import { grid } from './matrix.js';
import { NUMBER, share, table, tableSection } from './table.js';

/** The rows of spikes, each with what differs from the row before. */
export function stagesOf({ spikes, longer_loops: loops, quantising, mapping }) {
  return [
    { name: 'In floating point', spikes: spikes.reference },
    { name: 'With the chip’s loops', spikes: spikes.on_chip, ...differs(loops) },
    { name: 'In the chip’s integers', spikes: spikes.quantised, ...differs(quantising) },
    { name: 'By the images', spikes: spikes.images, ...differs(mapping) },
  ];
}

const differs = ({ spikes, first_step: first }) => ({ differing: spikes, first });

/** How full a core is: the share of its limits that comes nearest to one. */
export const fullness = (core, limits) =>
  Math.max(
    limits.neurons ? used(core) / limits.neurons : 0,
    limits.synapses ? core.synapses / limits.synapses : 0,
    limits.spikes ? core.spikes / limits.spikes : 0,
  );

const used = ({ neurons, copies, relays, biases }) => neurons + copies + relays + biases;

function of(value, limit) {
  if (!limit) return count(value);
  return [`${count(value)} of ${count(limit)}`, share(value / limit)];
}

function coresSection({ cores, limits }) {
  const rows = [...cores].sort((a, b) => fullness(b, limits) - fullness(a, limits) || a.core - b.core);
  return section(
    'Images by core',
    element('p.quiet', 'Fullest first; copies are for more routes, relays for spikes of other cores, biases spike in every step'),
    table(
      'Images by core',
      [
        ['Core', ({ core, x, y }) => `${core}\u00a0(${x},\u00a0${y})`],
        ['Neurons in all', (core) => of(used(core), limits.neurons), NUMBER],
        ['Own', ({ neurons }) => count(neurons), NUMBER],
        ['Copies', ({ copies }) => count(copies), NUMBER],
        ['Relays', ({ relays }) => count(relays), NUMBER],
        ['Biases', ({ biases }) => count(biases), NUMBER],
        ['Pool', ({ synapses }) => of(synapses, limits.synapses), NUMBER],
        ['Routes', ({ routes }) => count(routes), NUMBER],
        ['Spikes in a step', ({ spikes }) => of(spikes, limits.spikes), NUMBER],
      ],
      rows,
    ),
  );
}

function rasterSection({ raster, steps }) {
  const picture = (rows, title) => {
    const label = `${title}: neurons (rows) by ${count(steps)} steps (columns)`;
    return element('figure', element('figcaption', title), grid(rows, label));
  };
  return section(
    'Who spiked when',
    element('div.rasters', picture(raster.reference, 'In floating point'), picture(raster.chip, 'On the chip'), picture(raster.differing, 'Where they differ')),
    element('p.quiet', `Neurons from the top down, ${count(steps)} steps from left to right; the scale is logarithmic`),
  );
}

function populationsSection({ populations }) {
  if (!populations?.length) return null;
  return tableSection(
    'Error by population',
    [
      ['Population', ({ name }) => name],
      ['Spikes', ({ spikes }) => count(spikes), NUMBER],
      ['Differing', ({ differing }) => count(differing), NUMBER],
      ['Of its spikes', ({ spikes, differing }) => (spikes > 0 ? percent(differing / spikes) : NONE), NUMBER],
      ['Units of weights', ({ scale }) => si(scale), NUMBER],
      ['v clamped', ({ clamped_v: clamped }) => count(clamped), NUMBER],
    ],
    populations,
  );
}

const peakText = ({ most, step, limit, core }) =>
  most === 0 ? 'none' : `${count(most)} in step ${count(step)}${core === undefined ? '' : `, core ${core}`}${limit ? `; the chip takes ${count(limit)}` : ''}`;

/** Of a job that deploys, and of what it made. */
export function deploySections({ report }) {
  const { peaks, images } = report;
  return [
    section(
      'Spikes',
      facts([
        ['Steps', `${count(report.steps)}, ${count(report.chip_steps)} of the chip`],
        [
          'A synapse takes',
          `${report.synapse_steps === 1 ? 'a step' : `${count(report.synapse_steps)} steps`}, in a loop ${count(report.loop_steps)} at least`,
        ],
        ['Cores', count(images.cores)],
        ['A step', `${count(Math.round(report.clocks_per_step))} clocks`],
      ]),
      table(
        'Spikes',
        [
          ['Run', ({ name }) => name],
          ['Spikes', ({ spikes }) => count(spikes), NUMBER],
          ['Differ from the run above', ({ differing }) => (differing === undefined ? NONE : count(differing)), NUMBER],
          ['First in step', ({ first }) => (first === undefined || first === null ? NONE : count(first)), NUMBER],
        ],
        stagesOf(report),
      ),
    ),
    rasterSection(report),
    coresSection(report),
    section(
      'Most in a step',
      facts(
        [
          ['Spikes of a core', peakText(peaks.spikes)],
          ['Packets of a core', peakText(peaks.sent)],
          ['Packets of the chip', peakText(peaks.packets)],
          ['Delayed synapses of a core', peakText(peaks.delayed)],
        ],
        'facts rows',
      ),
    ),
    populationsSection(report),
  ];
}
