// The fields of the form that makes a job: an option each.

import { element } from './dom.js';

const select = (id, choices = []) =>
  element(
    'select',
    { id },
    choices.map(([value, label]) => element('option', { value }, label)),
  );
const whole = (id, placeholder, min = 1, max = undefined) =>
  element('input', { id, type: 'number', min, max, step: '1', placeholder });
const line = (id, placeholder) =>
  element('input', { id, type: 'text', maxlength: '2000', autocomplete: 'off', spellcheck: 'false', placeholder });
export const tick = (id) => element('input', { id, type: 'checkbox' });

// Options of jobs (docs/reference/options.md lists them all). What is left as it is is not sent: the server's defaults are its own.
// "For": the kind of job that has the option; none: both. "With": another option and the value that makes this one matter.
// "Listed": its choices are the server's own, asked for when such an option is first shown.
export const OPTIONS = [
  {
    name: 'preset',
    for: 'map',
    listed: true,
    label: 'Preset',
    control: () => select('preset'),
  },
  {
    name: 'stop_after',
    for: 'compile',
    label: 'Last stage',
    control: () =>
      select('stop-after', [
        ['', 'as far as the chip goes'],
        ['permutations', 'permutations: fewer bytes moved'],
        ['split', 'split: pieces that fit in memory'],
        ['order', 'order: when each piece runs'],
        ['tile', 'tile: pieces as a network'],
        ['program', 'program: instructions and addresses'],
        ['mapping', 'mapping: pieces on cores'],
      ]),
  },
  { name: 'seed', label: 'Seed', control: () => whole('seed', '1', 0, Number.MAX_SAFE_INTEGER) },
  {
    name: 'objective',
    for: 'map',
    more: true,
    label: 'Objective',
    control: () =>
      select('objective', [
        ['', 'auto: what suits the network'],
        ['axon', 'axon: each spike once per core reached'],
        ['edge', 'edge: weight of synapses between cores'],
        ['time', 'time: the shortest time step'],
        ['energy', 'energy: the least energy of a step'],
        ['edp', 'edp: energy times time of a step'],
        ['pareto', 'pareto: mappings between time and energy'],
        ['knee', 'knee: edp on the fewest cores that come near the best'],
      ]),
  },
  {
    name: 'mapper',
    for: 'map',
    more: true,
    label: 'Mapper',
    control: () =>
      select('mapper', [
        ['', 'auto: by preset and network'],
        ['integrated', 'integrated: parts and cores at once'],
        ['two-phase', 'two-phase: partition, then placement'],
        ['bisection', 'bisection: the published placement'],
        ['learned', 'learned: a trained policy places'],
      ]),
  },
  ...[
    ['policy', 'Policy'],
    ['policy_objective', 'What the policy is refined for'],
    ['policy_refinement', 'Refinement of the policy'],
  ].map(([name, label]) => ({
    name,
    for: 'map',
    more: true,
    with: ['mapper', 'learned'],
    listed: true,
    label,
    control: () => select(name.replace('_', '-')),
  })),
  {
    name: 'traffic_model',
    for: 'map',
    more: true,
    label: 'Traffic model',
    control: () =>
      select('traffic-model', [
        ['', 'unicast: a packet to every core'],
        ['multicast', 'multicast: one packet along a tree'],
      ]),
  },
  {
    name: 'max_part_size',
    for: 'map',
    more: true,
    label: 'Neurons per core at most',
    control: () => whole('part-size', 'the chip’s limit', 1, 4294967295),
  },
  {
    name: 'inputs',
    for: 'map',
    more: true,
    label: 'Inputs of the network',
    control: () =>
      select('inputs', [
        ['', 'relay: each takes room on a core'],
        ['outside', 'outside: axons from the chip’s border'],
      ]),
  },
  {
    name: 'step_budget_ns',
    for: 'map',
    more: true,
    label: 'Time of a core at most, ns',
    control: () => whole('step-budget', 'with objective energy'),
  },
  {
    name: 'scenarios',
    for: 'map',
    more: true,
    label: 'Rates that vary',
    control: () =>
      select('scenarios', [
        ['', 'mean of the scenarios'],
        ['worst', 'worst scenario'],
      ]),
  },
  {
    name: 'parts',
    for: 'map',
    more: true,
    label: 'Number of cores',
    control: () => whole('parts', 'as many as are needed', 1, 1048576),
  },
  {
    name: 'memory',
    for: 'compile',
    more: true,
    label: 'On-chip memory in bytes',
    control: () => whole('memory', 'the chip’s'),
  },
  {
    name: 'shape',
    for: 'compile',
    more: true,
    label: 'Shapes of open inputs',
    control: () => line('shape', 'input=1x3x224x224'),
  },
  {
    name: 'order',
    for: 'compile',
    more: true,
    label: 'Order of operators',
    control: () =>
      select('order', [
        ['', 'search: the least memory traffic'],
        ['file', 'file: as they stand'],
      ]),
  },
  { name: 'time_limit', more: true, label: 'Time limit in seconds', control: () => whole('time-limit', 'none') },
  {
    name: 'memory_limit',
    more: true,
    label: 'Memory limit in MB',
    unit: 1e6,
    control: () => whole('memory-limit', 'server’s default'),
  },
  { name: 'threads', more: true, label: 'Threads', control: () => whole('threads', 'server’s default', 1, 256) },
  { name: 'verify', for: 'compile', more: true, label: 'Verify on random inputs', control: () => tick('verify') },
];
