// The choice between few cores and short steps, as a mapping's report foresees it: each row can be mapped.

import { startJob } from './api.js';
import { section } from './dom.js';
import { count, energy, time } from './format.js';
import { actButton } from './problemnode.js';
import { NUMBER, table } from './table.js';

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
    table(
      'Steps foreseen on more and fewer cores, with what is proved',
      [
        ['Cores', mapped, NUMBER],
        ['Time step, about', (point) => time(point.step_ns), NUMBER],
        ['At least', (point) => time(point.bound_step_ns), NUMBER],
        ['Energy of a step, about', (point) => energy(point.energy_step_pj), NUMBER],
        ['At least', (point) => energy(point.bound_energy_step_pj), NUMBER],
      ],
      choices.points,
    ),
  );
}
