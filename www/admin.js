// #/admin: for operators the queue with reasons, and disk; for admins users, quotas and the audit trail too; and draining.

import { change, getDeeds, getJson, getMe, getText, listJobs, pathOf } from './api.js';
import { element, facts, fill, folded, linkTo, pageHead, section, select, stamp } from './dom.js';
import { bytes, count, duration, NONE, shortId, words } from './format.js';
import { stateLine } from './job.js';
import { shortList } from './lists.js';
import { actButton, fieldForm, guarded, problemNode, rowButton } from './problem.js';
import { figures, NUMBER, table, tableSection } from './table.js';

const QUEUE_MAX = 50,
  AUDIT_MAX = 50;

const LANES = { short: 'Short jobs', long: 'Long jobs', cluster: 'Cluster' };

/** Jobs that wait and run, by where they run. */
function laneTable(metrics) {
  const of = (name, wanted) =>
    (metrics.get(name) ?? []).find(({ labels }) => Object.entries(wanted).every(([key, value]) => labels[key] === value))?.value ?? 0;
  const rows = Object.keys(LANES).map((lane) => ({
    lane,
    running: of('coremapd_lane_jobs', { lane, state: 'running' }),
    queued: of('coremapd_lane_jobs', { lane, state: 'queued' }),
    age: of('coremapd_queue_age_seconds', { lane }),
    workers: total(metrics, { short: 'coremapd_short_workers', long: 'coremapd_workers' }[lane]),
  }));
  return table('Lanes of the queue', rows, [
    ['Lane', ({ lane }) => LANES[lane]],
    ...figures(count, { Workers: 'workers', Running: 'running', Waiting: 'queued' }),
    ['Oldest waits', ({ queued, age }) => (queued > 0 ? duration(age) : ''), NUMBER],
  ]);
}

async function queuePart(metrics, signal) {
  const [{ jobs: running }, { jobs: queued }] = await Promise.all(['running', 'queued'].map((state) => listJobs({ state, limit: QUEUE_MAX }, signal)));
  const shown = shortList('jobs', ['Job', 'State', 'User', 'Network', 'Chip', 'Created'], queued.reverse(), { empty: 'Nothing waits.' });
  return section('Queue', element('div.stack', laneTable(metrics), element('h3', 'Executors'), executorTable(running), element('h3', 'Waiting'), shown));
}

/** What each executor that is busy does; on the cluster what Slurm says while a job stands in its queue. */
const executorTable = (running) =>
  table(
    { label: 'Executors', empty: 'Nothing runs.' },
    running.filter(({ kind }) => kind !== 'sweep'),
    [
      ['Where', ({ lane, progress }) => (lane !== 'cluster' ? LANES[lane] : `Cluster, ${progress?.phase === 'cluster' ? 'in its queue' : 'on a node'}`)],
      ['Job', (job) => linkTo('jobs', job.id, job.name || shortId(job.id))],
      ['User', 'user'],
      ['Does', (job) => stateLine(job)],
      ['Since', ({ started }) => stamp(started)],
      ['Last heard', ({ heard }) => stamp(heard)],
    ],
  );

/** Who has leased cores of which chip. */
async function leasePart(signal, again) {
  const { reservations } = await getJson('v1/reservations', signal);
  const release = ({ chip, id, owner }) => change('DELETE', pathOf('chips', chip, 'reservations', id)).then(() => again(`The lease of ${owner} is released`));
  return tableSection({ label: 'Leases', empty: 'Nobody has leased cores.' }, reservations, [
    ['Holder', 'owner'],
    ['User', 'user'],
    ['Chip', ({ chip }) => linkTo('chips', chip, chip)],
    ...figures(count, { Cores: 'count' }),
    ['Until', ({ expires }) => stamp(expires)],
    ['Job', ({ job }) => job && linkTo('jobs', job, shortId(job))],
    ['', (lease) => rowButton('Release', `the lease of ${lease.owner}`, () => release(lease))],
  ]);
}

function diskPart(metrics) {
  const users = new Map();
  for (const { labels, value } of metrics.get('coremapd_user_bytes') ?? []) users.set(labels.user, (users.get(labels.user) ?? 0) + value);
  const rows = [...users].sort((a, b) => b[1] - a[1]).slice(0, 20);
  return section(
    'Disk',
    facts([
      ['Free', bytes(total(metrics, 'coremapd_disk_free_bytes'))],
      ['Reserve', bytes(total(metrics, 'coremapd_disk_reserve_bytes')), 'Below it uploads are refused'],
      ['Cache', bytes(total(metrics, 'coremapd_cache_bytes'))],
      ['Memory of the server', bytes(total(metrics, 'process_resident_memory_bytes'))],
    ]),
    table({ label: 'Stored bytes by user', empty: 'Nothing is stored.' }, rows, [
      ['User', ([user]) => user || 'nobody'],
      ['Stored', ([, stored]) => bytes(stored), NUMBER],
    ]),
  );
}

/** Two presses, so that no stray one stops the server. */
function drainPart(metrics, again) {
  const draining = total(metrics, 'coremapd_draining') > 0;
  const press = (text, method, told, look) => actButton(text, () => change(method, 'v1/drain').then(() => again(told)), { class: look });
  return section(
    'Going down',
    element(
      'p.note',
      draining
        ? 'The server takes no new jobs, and stops when those that run have ended.'
        : 'Draining takes no new jobs, lets those that run end, and stops the server; the queue goes on at the next start.',
    ),
    draining
      ? press('Take jobs again', 'DELETE', 'Jobs are taken again', '')
      : folded('Drain…', {}, press('Drain and stop the server', 'PUT', 'The server drains', 'primary')),
  );
}

const QUOTAS = ['bytes', 'networks', 'queued', 'running', 'core_hours', 'cpu_seconds'].map((quota) => [quota, words(quota)]);

/** How a limit reads; null: `none`. */
export const limitText = (name, value, none = NONE) => (value === null || value === undefined ? none : name === 'bytes' ? bytes(value) : count(value));

/** Columns for `rules`, [name, label], of a row's limits. */
const limitColumns = (rules, of) => rules.map(([name, label]) => [label, (row) => limitText(name, of(row)[name]), NUMBER]);

async function quotaPart(signal, again) {
  const { quotas } = await getJson('v1/quotas', signal);
  const set = (limits, { of, name }) => change('PUT', pathOf('quotas', of, name), limits).then(() => again('The quota is set')),
    ofs = [
      ['users', 'user'],
      ['groups', 'group'],
    ];
  return tableSection(
    { label: 'Quotas', empty: 'No quotas are set.' },
    quotas,
    [['Of', (row) => `${row.of} ${row.name}`], ...limitColumns(QUOTAS, (row) => row.quotas)],
    limitForm('quota', 'Name (*: everyone)', QUOTAS, 'Quota', set, [['of', 'Of a', ofs]]),
  );
}

async function auditPart(signal) {
  const [{ entries }, deed] = await Promise.all([getJson(`v1/audit?limit=${AUDIT_MAX}`, signal), getDeeds(signal)]);
  return tableSection(
    { label: 'Audit trail', empty: 'Nothing has been changed.' },
    entries,
    [
      ['When', (entry) => stamp(entry.at)],
      ['User', 'user'],
      ['From', 'address'],
      ['Did', (entry) => deed(entry.action), 'once'],
      ['To', (entry) => element('code', entry.object)],
      ['Effect', 'effect'],
    ],
    element('p', element('a', { href: 'v1/audit?format=ndjson', download: 'audit.ndjson' }, 'All of it, a line an entry')),
  );
}

/** A part that this token may not see, or that fails, says so in its place. */
const orWhyNot = (title, part) => part.catch((error) => section(title, problemNode(error)));

export async function showAdmin(page, context, signal) {
  const me = await getMe();
  const parts = element('div.stack'),
    admin = me.role === 'admin';
  const show = async (told) => {
    const metrics = parseMetrics(await getText('metrics', signal));
    const made = await Promise.all([
      orWhyNot('Queue', queuePart(metrics, signal)),
      orWhyNot('Leases', leasePart(signal, show)),
      diskPart(metrics),
      admin && orWhyNot('Users', userPart(signal, show)),
      admin && orWhyNot('Quotas', quotaPart(signal, show)),
      orWhyNot('Retention', retentionPart(admin, show, signal)),
      admin && orWhyNot('Audit trail', auditPart(signal)),
      drainPart(metrics, show),
    ]);
    fill(parts, made);
    return told;
  };
  await show();
  fill(
    page,
    pageHead(
      'Administration',
      null,
      actButton('Refresh', () => show('Read anew')),
    ),
    parts,
  );
  return 'Administration';
}

const ROLES = ['user', 'operator', 'admin'];
const MONTHS = 12; // of the ledger

/** A form that sets one limit of somebody: which of `rules` ([name, label]), and how much; empty: none. set(limits, values). */
const limitForm = (id, who, rules, label, set, before = []) =>
  fieldForm(
    id,
    [
      ...before,
      ['name', who, { required: true, value: '*' }],
      ['which', label, rules],
      ['most', 'At most (empty: no limit)', { type: 'number', min: '0', step: 'any' }],
    ],
    `Set ${label.toLowerCase()}`,
    (values) => set({ [values.which]: values.most === '' ? null : Number(values.most) }, values),
  );

async function userPart(signal, again) {
  const { users } = await getJson('v1/users', signal);
  const looked = element('div');
  const look = async (user, told) => (fill(looked, await onePart(user, (of) => look(user, of), signal)), told);
  const add = ({ name, role, group }) => change('POST', 'v1/users', { name, role, ...(group && { group }) }).then(() => again(`User ${name} is added`));
  const set = ({ name }, what, told) => change('PATCH', pathOf('users', name), what).then(() => again(`${name} is ${told}`));
  const toggle = (user) => set(user, { disabled: !user.disabled }, user.disabled ? 'enabled' : 'disabled');
  /** Another role is another choice of the list. */
  const roleOf = (user) => {
    const role = ({ target }) => set(user, { role: target.value }, target.value);
    return select({ 'aria-label': `Role of ${user.name}`, onchange: guarded(role) }, ROLES, user.role);
  };
  return tableSection(
    { label: 'Users', empty: 'There are no users: whoever reaches the server may do all. The first one is made on its machine: coremapd user add.' },
    users,
    [
      ['Name', 'name'],
      ['Role', roleOf],
      ['Group', 'group'],
      ...figures(count, { Share: 'share' }),
      [
        '',
        (user) => [rowButton(user.disabled ? 'Enable' : 'Disable', user.name, () => toggle(user)), ' ', rowButton('Look at', user.name, () => look(user.name))],
      ],
    ],
    looked,
    users.length > 0 &&
      fieldForm(
        'user',
        [
          ['name', 'Name', { required: true }],
          ['group', 'Group'],
          ['role', 'Role', ROLES],
        ],
        'Add user',
        add,
      ),
  );
}

/** Tokens that can be revoked; again(told): after that. */
export const tokensTable = (label, tokens, again) =>
  table({ label, empty: 'There are no tokens.' }, tokens, [
    ['Token', ({ id }) => element('code', id)],
    ['Name', 'name'],
    ['Scopes', ({ scopes }) => scopes.join(', ')],
    ['Expires', (token) => stamp(token.expires)],
    ['Last used', (token) => stamp(token.last_used)],
    ['', ({ id, name }) => rowButton('Revoke', id, () => change('DELETE', pathOf('tokens', id)).then(() => again(`Token ${name || id} is revoked`)))],
  ]);

/** A user's tokens, which can be revoked, and what he has used, month by month. */
async function onePart(user, again, signal) {
  const begin = new Date();
  begin.setUTCMonth(begin.getUTCMonth() - MONTHS + 1, 1);
  const asked = `user=${encodeURIComponent(user)}`,
    [{ tokens }, { months = [] }] = await Promise.all([
      getJson(`v1/tokens?${asked}`, signal),
      getJson(`v1/usage?${asked}&since=${begin.toISOString().slice(0, 7)}`, signal),
    ]);
  return [
    element('h3', `Tokens of ${user}`),
    tokensTable(`Tokens of ${user}`, tokens, again),
    element('h3', `Use of ${user}, month by month`),
    table({ label: `Use of ${user}`, empty: 'Nothing was used.' }, months, [
      ['Month', 'month'],
      ...figures(count, { 'Core hours': 'core_hours' }),
      ...figures(duration, { 'Processor time': 'cpu_seconds' }),
      ...figures(bytes, { Stored: 'bytes' }),
    ]),
  ];
}

const RULES = [
  ['networks_days', 'Networks, days since used'],
  ['mappings_days', 'Results, days'],
  ['jobs_days', 'Jobs, days'],
  ['bytes', 'Bytes of results'],
];

/** The rules by which things go to the bin; admins set them. */
async function retentionPart(admin, again, signal) {
  const { rules, bin_days: days } = await getJson('v1/retention', signal);
  const set = (limits, { name }) => change('PUT', pathOf('retention', name), limits).then(() => again('The rule is set'));
  return tableSection(
    { label: 'Retention', empty: 'Everything stays until somebody deletes it.' },
    rules,
    [['User', ({ user }) => (user === '*' ? 'everyone' : user)], ...limitColumns(RULES, (row) => row)],
    element('p.note', `What is deleted lies in the bin for ${count(days)} days.`),
    admin && limitForm('rule', 'User (*: everyone)', RULES, 'Rule', set),
  );
}

/** Map of name -> [{ labels, value }]. */
export function parseMetrics(text) {
  const metrics = new Map();
  for (const line of text.split('\n')) {
    const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!match) continue;
    const [, name, inner = '', value] = match;
    const labels = Object.fromEntries([...inner.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, one]) => [key, one]));
    if (!metrics.has(name)) metrics.set(name, []);
    metrics.get(name).push({ labels, value: Number(value) });
  }
  return metrics;
}

/** The sum of a metric over its labels; NaN where there is none. */
export function total(metrics, name) {
  const all = metrics.get(name);
  return all ? all.reduce((sum, { value }) => sum + value, 0) : NaN;
}
