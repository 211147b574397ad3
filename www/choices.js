// The choice between few cores and short steps, as a mapping's report foresees it: each row can be mapped.

import { createJob } from './api.js';
import { element, fill, section } from './dom.js';
import { count, si } from './format.js';
import { problemNode } from './problemnode.js';
import { plainTable } from './tables.js';

/** The table of a report's `choices`; null where the chip states no costs. Pressing a number of cores queues that mapping. */
export function choicesSection(choices, network, chip) {
  if (!choices?.points?.length) return null;
  const refused = element('div', {});
  const time = (ns) => si(ns * 1e-9, 's', 3),
    energy = (pj) => si(pj * 1e-12, 'J', 3);
  const mapped = (cores) =>
    element(
      'button',
      {
        type: 'button',
        title: `Map for the shortest step on at most ${cores} cores`,
        onclick: async (event) => {
          event.target.disabled = true;
          try {
            const job = await createJob({ kind: 'map', network, chip, options: { objective: choices.objective, cores } });
            location.hash = `#/jobs/${encodeURIComponent(job.id)}`;
          } catch (problem) {
            event.target.disabled = false;
            fill(refused, problemNode(problem));
          }
        },
      },
      count(cores),
    );
  return section(
    'More cores, or fewer',
    plainTable(
      'Steps foreseen on more and fewer cores, with what is proved',
      [
        ['Cores', true],
        ['Time step, about', true],
        ['At least', true],
        ['Energy of a step, about', true],
        ['At least', true],
      ],
      choices.points.map((point) => [
        mapped(point.cores),
        time(point.step_ns),
        time(point.bound_step_ns),
        energy(point.energy_step_pj),
        energy(point.bound_energy_step_pj),
      ]),
    ),
    refused,
  );
}
