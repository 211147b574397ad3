// Which chips would take a network, as a table whose rows can be mapped: for a job that found no room, and on a network's page.

import { change, startJob } from './api.js';
import { element, linkTo, stamp } from './dom.js';
import { count, duration } from './format.js';
import { actButton, shownIn, smallButton } from './problemnode.js';
import { NUMBER, table } from './table.js';

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
        `${chip} takes it without the job’s own limit of ${count(own)} neurons in a core: `,
        actButton(`Map on ${chip} without it`, () => start(chip, without)),
      ),
    table(
      'Chips and whether they would take it',
      [
        ['Chip', (fit) => linkTo('chips', fit.chip, fit.chip)],
        ['Takes it', (fit) => (fit.fits === 'yes' && fit.free < needed ? 'not with these options' : fit.fits)],
        ['Cores needed', (fit) => (fit.cores_found ? count(Math.max(fit.cores_found, needed)) : fit.bound ? `${count(fit.bound.parts)} at least` : ''), NUMBER],
        ['Free', (fit) => count(fit.free), NUMBER],
        ['Takes about', (fit) => duration(fit.seconds), NUMBER],
        ['Why not', (fit) => [fit.reason ?? '', fit.earliest && [' earliest ', stamp(fit.earliest)]], 'quiet wide-only'],
        ['', (fit) => rank(fit) < 2 && smallButton('Map', () => start(fit.chip, options), { 'aria-label': `Map on ${fit.chip}` })],
      ],
      fits.toSorted((a, b) => rank(a) - rank(b) || a.cores - b.cores),
      { of: (fit) => ({ 'data-chip': fit.chip }) },
    ),
  );
}

/** The same once it is known. */
export const fitsBox = (job) => shownIn(element('div.fits', element('p.quiet', 'Asking which chips would take it…')), fitsTable(job));
