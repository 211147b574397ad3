// What could be mapped instead: chips that would take a network, and more or fewer cores, as tables whose rows can be mapped.

import { change, startJob } from './api.js';
import { element, linkTo, section, stamp } from './dom.js';
import { count, duration, energy, time } from './format.js';
import { actButton, shownIn, smallButton } from './problem.js';
import { figures, NUMBER, table } from './table.js';

/** What helps where a job found no room, or a neuron was too large. */
export const HELPED = new Set(['no-room', 'neuron-too-large', 'limit-broken', 'no-route']);

/** job: {network, chip, options, problem}: what is mapped on another chip; without a problem: on any. */
export async function fitsTable({ network, chip, options = {}, problem }) {
  const { fits } = await change('POST', 'v1/fits', { network, chips: 'all' });
  const needed = problem?.needed ?? 0;
  const rank = ({ fits: answer, free, chip: name }) => (name === chip ? 3 : answer === 'yes' && free >= needed ? 0 : answer === 'unknown' ? 1 : 2);
  const start = (other, set) => startJob({ kind: 'map', network, chip: other, options: set });
  // An option of the job's own that is the limit in the way can be left out on the same chip.
  const { max_part_size: own, ...without } = options;
  const least = fits.find((fit) => fit.chip === chip);
  return element(
    'div.stack',
    own !== undefined &&
      own === problem?.limit &&
      least?.fits === 'yes' &&
      element(
        'p',
        `${chip} takes it without the job’s own limit of ${count(own, 'neurons')} in a core: `,
        actButton(`Map on ${chip} without it`, () => start(chip, without)),
      ),
    table(
      { label: 'Chips and whether they would take it', of: (fit) => ({ 'data-chip': fit.chip }) },
      fits.toSorted((a, b) => rank(a) - rank(b) || a.cores - b.cores),
      [
        ['Chip', (fit) => linkTo('chips', fit.chip, fit.chip)],
        ['Takes it', (fit) => (fit.fits === 'yes' && fit.free < needed ? 'not with these options' : fit.fits), 'once'],
        ['Cores needed', (fit) => (fit.cores_found ? count(Math.max(fit.cores_found, needed)) : fit.bound ? `${count(fit.bound.parts)} at least` : ''), NUMBER],
        ...figures(count, { Free: 'free' }),
        ['Takes about', (fit) => (rank(fit) < 2 ? duration(fit.seconds) : ''), NUMBER],
        ['', (fit) => rank(fit) < 2 && smallButton('Map', () => start(fit.chip, options), { 'aria-label': `Map on ${fit.chip}` })],
        ['Why not', (fit) => [fit.reason ?? '', fit.earliest && [' earliest ', stamp(fit.earliest)]], 'quiet wide-only why'],
      ],
    ),
  );
}

/** The same once it is known. */
export const fitsBox = (job) => shownIn(element('div.fits', element('p.quiet', 'Asking which chips would take it…')), fitsTable(job));

/** The table of a report's `choices`; null where the chip states no costs. Pressing a number of cores queues that mapping. */
export function choicesSection(choices, network, chip) {
  if (!choices?.points?.length) return null;
  const mapped = ({ cores }) =>
    actButton(count(cores), () => startJob({ kind: 'map', network, chip, options: { objective: choices.objective, cores } }), {
      class: 'link',
      title: `Map for the shortest step on at most ${cores} cores`,
    });
  return section(
    'More cores, or fewer',
    table('Steps foreseen on more and fewer cores, with what is proved', choices.points, [
      ['Cores', mapped],
      ...figures(time, { 'Time step, about': 'step_ns', 'At least': 'bound_step_ns' }),
      ...figures(energy, { 'Energy of a step, about': 'energy_step_pj', 'At least': 'bound_energy_step_pj' }),
    ]),
  );
}
