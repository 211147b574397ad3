// What the lists of jobs, mappings, programs, networks and sweeps show: columns, which of them usually, and what they are narrowed by.

import { labelText } from './actions.js';
import { element, linkTo, pageOf, progressBar, stamp } from './dom.js';
import { bytes, count, energy, NONE, percent, shortId, si, time } from './format.js';
import { badge, resultOf, runText, stateLine } from './job.js';
import { problemWords } from './problem.js';
import { sizeText } from './upload.js';

const gap = (of) => (value) => (value[of] === undefined ? NONE : value[of] < 1 ? percent(value[of]) : `${si(1 + value[of])} times`);
const figure = (name, show) => (value) => (value[name] === undefined ? NONE : show(value[name]));
const network = (row) => (row.network ? linkTo('networks', row.network, row.network_name || shortId(row.network)) : NONE);
const chip = (row) => (row.chip ? linkTo('chips', row.chip, row.chip) : NONE);
const labels = (row) => labelText(row.labels);
const created = (row) => stamp(row.created);

/** The state of a job: its badge, how far it is, what it waits for or why it failed. */
function state(row) {
  const problem = row.state === 'failed' ? problemWords(row.problem) : null;
  const bar = row.state === 'running' && progressBar('Progress');
  if (bar) bar.set(row.progress?.fraction ?? 0);
  const text = problem ? problem.title : stateLine(row);
  return [badge(row.state).node, bar && bar.node, text && element('span', { class: problem ? 'job-line error' : 'job-line', title: problem?.detail }, text)];
}

const named = (kind) => (row) => element('a.job-name', { href: pageOf(kind, row.id) }, row.name || `${kind.slice(0, -1)} ${shortId(row.id)}`);
const opened = (row) => {
  const result = resultOf(row);
  return result && element('a.button.small', { href: result.href, 'aria-label': `${result.verb} ${result.what} of ${row.name || row.id}` }, result.verb);
};

const NETWORK = ['Network', network, '', 'network_name'],
  CHIP = ['Chip', chip, '', 'chip'],
  STATES = ['queued', 'running', 'done', 'failed', 'cancelled'],
  KEPT = [
    ['Labels', labels],
    ['Created', created, '', 'created'],
  ];
const FIGURES = [
  ['Objective', (row) => row.objective ?? NONE, '', 'objective'],
  ['Preset', (row) => row.preset ?? NONE, '', 'preset'],
  ['Seed', figure('seed', count), 'number', 'seed'],
  ['Cores', figure('cores_used', count), 'number', 'cores_used'],
  ['Step', figure('step_ns', time), 'number', 'step_ns'],
  ['Energy of hops', figure('energy_pj', energy), 'number', 'energy_pj'],
  ['Energy of a step', figure('energy_step_pj', energy), 'number', 'energy_step_pj'],
  ['Gap of cores', gap('cores_gap'), 'number', 'cores_gap'],
  ['Gap of the step', gap('step_gap'), 'number', 'step_gap'],
];

/** columns: [title, what a row shows, class, what the server sorts by]. usual: those shown unless others are chosen. filters: query
 * arguments with a field of their own. */
export const LISTS = {
  jobs: {
    title: 'Jobs',
    columns: [
      ['Job', named('jobs'), 'wide', 'name'],
      ['State', state, 'job-state', 'state'],
      NETWORK,
      CHIP,
      ['Kind', (row) => row.kind, '', 'kind'],
      ...FIGURES,
      ['Time', runText, 'number'],
      ...KEPT,
      ['', opened],
    ],
    usual: ['Job', 'State', 'Network', 'Chip', 'Cores', 'Step', 'Energy of a step', 'Time', 'Created', ''],
    filters: { state: STATES, kind: ['map', 'compile', 'simulate', 'profile', 'deploy', 'sweep'], chip: null, network: null },
    live: true,
  },
  mappings: {
    title: 'Mappings',
    columns: [['Mapping', named('mappings'), 'wide', 'name'], NETWORK, CHIP, ...FIGURES, ['Size', figure('bytes', bytes), 'number', 'bytes'], ...KEPT],
    usual: ['Mapping', 'Network', 'Chip', 'Objective', 'Preset', 'Seed', 'Cores', 'Step', 'Energy of a step', 'Gap of the step', 'Created'],
    filters: { chip: null, network: null, preset: null, objective: null },
    compare: true,
  },
  programs: {
    title: 'Programs',
    columns: [
      ['Program', named('programs'), 'wide', 'name'],
      ['Model', network, '', 'network_name'],
      CHIP,
      ['Time', figure('time_ns', time), 'number', 'time_ns'],
      ['Gap', gap('time_gap'), 'number', 'time_gap'],
      ['Size', figure('bytes', bytes), 'number', 'bytes'],
      ...KEPT,
    ],
    usual: ['Program', 'Model', 'Chip', 'Time', 'Gap', 'Size', 'Created'],
    filters: { chip: null, network: null },
  },
  networks: {
    title: 'Networks',
    columns: [
      ['Network', named('networks'), 'wide', 'name'],
      ['Format', (row) => row.format, '', 'format'],
      ['Holds', (row) => sizeText(row), '', 'neurons'],
      ['Size', figure('bytes', bytes), 'number', 'bytes'],
      ...KEPT,
    ],
    usual: ['Network', 'Format', 'Holds', 'Size', 'Labels', 'Created'],
    filters: { format: null },
  },
  sweeps: {
    title: 'Sweeps',
    columns: [['Sweep', named('sweeps'), 'wide', 'name'], ['State', state, 'job-state', 'state'], NETWORK, CHIP, ...KEPT],
    usual: ['Sweep', 'State', 'Network', 'Chip', 'Labels', 'Created'],
    filters: { state: STATES, chip: null },
    live: true,
  },
};
