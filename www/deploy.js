// A network that runs: what it is asked for, before a map or alone, and what came of it; images of a chip's cores: how the chip's spikes differ from
// those of the network, and what each core holds.

import { startJob } from './api.js';
import { element, facts, field, link, section, select } from './dom.js';
import { bytes, count, NONE, percent, si, time } from './format.js';
import { optionFields } from './jobform.js';
import { grid, histogramPlot } from './plots.js';
import { actButton } from './problem.js';
import { figures, NUMBER, share, table, tableSection } from './table.js';

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
    table('Images by core', rows, [
      ['Core', ({ core, x, y }) => `${core}\u00a0(${x},\u00a0${y})`],
      ['Neurons in all', (core) => of(used(core), limits.neurons), NUMBER],
      ...figures(count, { Own: 'neurons', Copies: 'copies', Relays: 'relays', Biases: 'biases' }),
      ['Pool', ({ synapses }) => of(synapses, limits.synapses), NUMBER],
      ...figures(count, { Routes: 'routes' }),
      ['Spikes in a step', ({ spikes }) => of(spikes, limits.spikes), NUMBER],
    ]),
  );
}

function rasterSection({ raster, steps }) {
  const picture = (rows, title) => {
    const label = `${title}: neurons (rows) by ${count(steps, 'steps')} (columns)`;
    return grid(rows, label, title);
  };
  return section(
    'Who spiked when',
    element('div.rasters', picture(raster.reference, 'In floating point'), picture(raster.chip, 'On the chip'), picture(raster.differing, 'Where they differ')),
    element('p.quiet', `Neurons from the top down, ${count(steps, 'steps')} from left to right; the scale is logarithmic`),
  );
}

function populationsSection({ populations }) {
  if (!populations?.length) return null;
  return tableSection('Error by population', populations, [
    ['Population', 'name'],
    ...figures(count, { Spikes: 'spikes', Differing: 'differing' }),
    ['Of its spikes', ({ spikes, differing }) => (spikes > 0 ? percent(differing / spikes) : NONE), NUMBER],
    ...figures(si, { 'Units of weights': 'scale' }),
    ...figures(count, { 'v clamped': 'clamped_v' }),
  ]);
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
        ['A synapse takes', `${report.synapse_steps === 1 ? 'a step' : count(report.synapse_steps, 'steps')}, in a loop ${count(report.loop_steps)} at least`],
        ['Cores', count(images.cores)],
        ['A step', `${count(Math.round(report.clocks_per_step))} clocks`],
      ]),
      table('Spikes', stagesOf(report), [
        ['Run', 'name'],
        ...figures(count, { Spikes: 'spikes' }),
        ['Differ from the run above', ({ differing }) => (differing === undefined ? NONE : count(differing)), NUMBER],
        ['First in step', ({ first }) => (first === undefined || first === null ? NONE : count(first)), NUMBER],
      ]),
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

const INLINE_MAX = 1 << 20, // bytes of spikes that a request takes
  ADDRESS_MAX = 1 << 16; // that browsers take

/** Options of a run with their labels: of jobs that run alone `steps`, of maps `profile`. */
export const RUN = {
  ...{ profile: 'Steps to run', steps: 'Steps to run', dt: 'Seconds of a step' },
  ...{ poisson: 'Spikes a second of each input', semantics: 'Steps are taken as by' },
};

/** Fields for a run, by the properties of a schema: nodes, and values() with the options, null where no steps are given. `begun`: to begin with. */
export function runFields(properties, begun = {}) {
  const fields = optionFields(properties, begun, RUN, (name) => `run-${name === 'profile' ? 'steps' : name}`),
    spikes = element('input', { id: 'run-spikes', type: 'file' });
  return {
    nodes: [...fields.nodes(RUN), field('Spikes of the inputs (lines STEP,NEURON)', spikes)],
    async values() {
      const set = fields.values(),
        [file] = spikes.files;
      if (!(set.profile ?? set.steps)) return null;
      if (file && file.size > INLINE_MAX)
        throw new Error(`${file.name} has ${bytes(file.size)}; a page sends 1 MiB of spikes at most, and coremap submit --input sends more.`);
      if (file) set.spikes = await file.text();
      else if (begun.spikes !== undefined) set.spikes = begun.spikes;
      return set;
    },
  };
}

/* A section whose buttons, [label, title, job(), more options], start jobs that run as its fields say. */
function startSection(title, fields, buttons, ...more) {
  const start = async (job, others) => {
    const options = await fields.values();
    if (!options) throw new Error('Say how many steps it is to run.');
    await startJob({ ...job(), options: { ...options, ...others } });
  };
  return section(
    title,
    element('div.field-row', fields.nodes, more),
    element(
      'div.buttons',
      buttons.map(([label, about, job, others]) => actButton(label, () => start(job, others), { title: about })),
    ),
  );
}

const MAKES_IMAGES = 'Make images of the cores that spike as it does, and the spikes to expect';

/** The section of a network's page that runs it alone, or by images of one of `chips` that take such. */
export function runSection(network, chips, schemas) {
  const chip = select(
    { id: 'run-chip' },
    chips.map(({ name }) => name),
  );
  const run = ['Run', null, () => ({ kind: 'profile', network })],
    deploy = ['Deploy', MAKES_IMAGES, () => ({ kind: 'deploy', network, chip: chip.value })],
    fields = runFields(schemas.ProfileOptions.properties);
  return chips.length > 0 ? startSection('Run it', fields, [run, deploy], field('Chip to deploy on', chip)) : startSection('Run it', fields, [run]);
}

/** The same of a mapping's page. */
export const deploySection = ({ network, chip }, mapping, schemas) =>
  startSection('Deploy it', runFields(schemas.DeployOptions.properties), [
    ['Deploy', MAKES_IMAGES, () => ({ kind: 'deploy', network: network.id, chip: chip.name }), { mapping }],
  ]);

const rateText = ({ rate, rate_hz: hz }) => `${si(rate)} a step${hz !== undefined ? `, ${si(hz, 'Hz')}` : ''}`;

function groupTable({ neurons, inputs, populations }) {
  const rows = populations ?? [
    { name: 'inputs', ...inputs },
    { name: 'neurons', ...neurons },
  ];
  return table(
    populations ? 'Populations' : 'Inputs and neurons',
    rows.filter((one) => one.neurons > 0),
    [
      [populations ? 'Population' : 'Which', ({ name, kind }) => `${name}${kind ? ` (${kind})` : ''}`],
      ...figures(count, { Neurons: 'neurons', Silent: 'silent', Spikes: 'spikes' }),
      ['Rate', rateText, NUMBER],
      ['Highest rate', (one) => `${si(one.largest_rate)} a step`, NUMBER],
    ],
  );
}

/** Of a job that ran a network: figures, who spiked when, how rates are spread; and the way to a map at these rates. */
export function runSections({ report, options, network }) {
  const { neurons, peak, raster, steps, counts } = report,
    rates = counts.map((spikes) => spikes / steps),
    begun = { ...options, profile: steps };
  delete begun.steps;
  const address = `#/new?${new URLSearchParams({ network, ...begun })}`;
  return [
    section(
      'Spikes',
      facts([
        ['Steps', `${count(steps)}${report.dt > 0 ? ` of ${time(report.dt * 1e9)}` : ''}`],
        ['Taken as by', report.semantics],
        ['Spikes of neurons', count(neurons.spikes)],
        ['Mean rate', rateText(neurons)],
        ['Silent neurons', `${count(neurons.silent)}, ${percent(neurons.neurons > 0 ? neurons.silent / neurons.neurons : 0)}`],
        ['Spikes in a step', `${si(peak.mean)} in the mean, ${count(peak.p99)} in 99 of 100, ${count(peak.worst)} at most, in step ${count(peak.step)}`],
        ['Synaptic events', count(report.synaptic_events)],
      ]),
      report.note && element('p.note', `${report.note}.`),
      address.length < ADDRESS_MAX && element('p', link(address, 'Map it at these rates')),
    ),
    section(
      'Who spiked when',
      grid(raster, `Spikes of ${count(counts.length, 'neurons')} (rows) over ${count(steps, 'steps')} (columns)`),
      element('p.quiet', `${count(counts.length, 'neurons')} from the top down, ${count(steps, 'steps')} from left to right; the scale is logarithmic`),
    ),
    section(
      'Rates',
      histogramPlot('Spikes a step', rates, { most: rates.reduce((a, b) => Math.max(a, b), 0), show: (value) => `${si(value)} spikes a step`, of: 'neurons' }),
      groupTable(report),
    ),
  ];
}
