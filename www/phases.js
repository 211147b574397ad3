// What each phase of a job does, in a sentence.

import { words } from './format.js';

const SENTENCES = {
  load: 'The network is read from the server’s files',
  read: 'The model is read',
  check: 'Whether it can fit at all is counted before anything is searched',
  bound: 'How good any result could be is proved, to tell how far this one is',
  look: 'Steps on more and fewer cores are foreseen',
  coarsen: 'Neurons that belong together are merged, level by level',
  initial: 'The smallest level is partitioned many times; the best start stays',
  refine: 'On the way back to all neurons each level is improved by moves',
  grow: 'Parts are grown one after the other',
  anneal: 'Changes are tried at falling temperature, worse ones at first too',
  legalise: 'What is over a limit is moved until every limit holds',
  limits: 'Every limit of every core is counted',
  region: 'Free cores are chosen for the parts',
  order: 'What belongs together is put side by side',
  bisect: 'Parts and cores are halved together, over and over',
  place: 'Parts are put on cores',
  force: 'Parts are pulled towards those with whom they talk',
  reassign: 'Parts change places where that is shorter',
  links: 'The fullest links and ports are relieved',
  trees: 'Multicast trees are shortened',
  start: 'The first of several ways is made',
  metrics: 'Energy, latency, loads and the step are measured',
  write: 'The result is written',
  verify: 'A separate check goes over the result',
  routes: 'Routes without deadlock are made',
  shapes: 'Shapes of all tensors are found',
  permutations: 'Permutations are moved to where they cost least',
  search: 'Ways to cut the operators are tried, each as a whole program',
  memory: 'The least memory that does is looked for',
  split: 'Operators are cut into pieces that fit in memory',
  emit: 'Instructions and addresses are made',
  schedule: 'Each unit is told what to do when',
  link: 'The parts of the program are joined',
  tile: 'The pieces are laid on cores',
  quantise: 'Integers are found by running them',
  images: 'Cores are filled, and run with the chip’s queues',
  traffic: 'The packets of a step are made',
  steps: 'Time steps are simulated',
  saturation: 'The load is raised until the chip no longer keeps up',
  stream: 'A steady stream of packets is simulated',
};

/** A sentence, or the phase's name where there is none. */
export const phaseText = (name) => SENTENCES[name] ?? words(name ?? '');
