// The fields of the form that makes a job: an option each.

import { element, select } from './dom.js';

const whole = (placeholder, min = 1, max = undefined) => ['input', { type: 'number', min, max, step: '1', placeholder }];
export const tick = (id) => element('input', { id, type: 'checkbox' });

// Options of jobs (docs/reference/options.md lists them all): name, label, kind of job that has it (none: all), control. What is left as it is is
// not sent: the server's defaults are its own. A control is a list of words with what they mean (the first one is the default and has none), an
// element, or "listed": its words are the server's own, asked for when such an option is first shown.
const BASIC = [
  ['preset', 'Preset', 'map', 'listed'],
  [
    'stop_after',
    'Last stage',
    'compile',
    {
      '': 'as far as the chip goes',
      permutations: 'fewer bytes moved',
      split: 'pieces that fit in memory',
      order: 'when each piece runs',
      tile: 'pieces as a network',
      program: 'instructions and addresses',
      mapping: 'pieces on cores',
    },
  ],
  ['seed', 'Seed', null, whole('1', 0, Number.MAX_SAFE_INTEGER)],
];
const LEARNED = { with: ['mapper', 'learned'] }; // another option, and the value that makes this one matter
const MORE = [
  [
    'objective',
    'Objective',
    'map',
    {
      '': 'auto: what suits the network',
      axon: 'each spike once per core reached',
      edge: 'weight of synapses between cores',
      time: 'the shortest time step',
      energy: 'the least energy of a step',
      edp: 'energy times time of a step',
      pareto: 'mappings between time and energy',
      knee: 'edp on the fewest cores that come near the best',
    },
  ],
  [
    'mapper',
    'Mapper',
    'map',
    {
      '': 'auto: by preset and network',
      integrated: 'parts and cores at once',
      'two-phase': 'partition, then placement',
      bisection: 'the published placement',
      learned: 'a trained policy places',
    },
  ],
  ['policy', 'Policy', 'map', 'listed', LEARNED],
  ['policy_objective', 'What the policy is refined for', 'map', 'listed', LEARNED],
  ['policy_refinement', 'Refinement of the policy', 'map', 'listed', LEARNED],
  ['traffic_model', 'Traffic model', 'map', { '': 'unicast: a packet to every core', multicast: 'one packet along a tree' }],
  ['max_part_size', 'Neurons per core at most', 'map', whole('the chip’s limit', 1, 4294967295)],
  ['inputs', 'Inputs of the network', 'map', { '': 'relay: each takes room on a core', outside: 'axons from the chip’s border' }],
  ['step_budget_ns', 'Time of a core at most, ns', 'map', whole('with objective energy')],
  ['scenarios', 'Rates that vary', 'map', { '': 'mean of the scenarios', worst: 'the worst scenario' }],
  ['parts', 'Number of cores', 'map', whole('as many as are needed', 1, 1048576)],
  ['memory', 'On-chip memory in bytes', 'compile', whole('the chip’s')],
  [
    'shape',
    'Shapes of open inputs',
    'compile',
    ['input', { type: 'text', maxlength: '2000', autocomplete: 'off', spellcheck: 'false', placeholder: 'input=1x3x224x224' }],
  ],
  ['order', 'Order of operators', 'compile', { '': 'search: the least memory traffic', file: 'as they stand' }],
  ['time_limit', 'Time limit in seconds', null, whole('none')],
  ['memory_limit', 'Memory limit in MB', null, whole('server’s default'), { unit: 1e6 }],
  ['threads', 'Threads', null, whole('server’s default', 1, 256)],
  ['verify', 'Verify on random inputs', 'compile', ['input', { type: 'checkbox' }]],
];

function made(id, control) {
  if (Array.isArray(control)) return element(control[0], { id, ...control[1] });
  return select({ id }, control === 'listed' ? [] : Object.entries(control).map(([word, text]) => [word, word ? `${word}: ${text}` : text]));
}

/** {name, label, for, more: below "More options", listed, with, unit: what the number is of, control()}. */
export const OPTIONS = [BASIC, MORE].flatMap((rows, more) =>
  rows.map(([name, label, kind, control, rest]) => ({
    name,
    label,
    for: kind,
    more: more > 0,
    listed: control === 'listed',
    ...rest,
    control: () => made(name.replaceAll('_', '-').replace(/^max-|-ns$/g, ''), control),
  })),
);
