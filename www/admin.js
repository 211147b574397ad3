// #/admin: for operators the queue with reasons, and disk; for admins users, quotas and the audit trail too; and draining.

import { change, getJson, getMe, getText, listJobs } from './api.js';
import { element, facts, fieldForm, fill, folded, linkTo, pageHead, section, select, stamp } from './dom.js';
import { bytes, count, duration, NONE, shortId, words } from './format.js';
import { stateLine } from './job.js';
import { shortList } from './lists.js';
import { attemptIn, problemNode, rowButton } from './problem.js';
import { NUMBER, table, tableSection } from './table.js';

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
    ['Workers', ({ workers }) => count(workers), NUMBER],
    ['Running', ({ running }) => count(running), NUMBER],
    ['Waiting', ({ queued }) => count(queued), NUMBER],
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
      ['User', ({ user }) => user],
      ['Does', (job) => stateLine(job)],
      ['Since', ({ started }) => stamp(started)],
      ['Last heard', ({ heard }) => stamp(heard)],
    ],
  );

/** Who has leased cores of which chip. */
async function leasePart(signal, attempt, again) {
  const { reservations } = await getJson('v1/reservations', signal);
  const release = ({ chip, id, owner }) =>
    attempt(() => change('DELETE', `v1/chips/${encodeURIComponent(chip)}/reservations/${id}`), again, `The lease of ${owner} is released`);
  return tableSection({ label: 'Leases', empty: 'Nobody has leased cores.' }, reservations, [
    ['Holder', ({ owner }) => owner],
    ['User', ({ user }) => user],
    ['Chip', ({ chip }) => linkTo('chips', chip, chip)],
    ['Cores', (lease) => count(lease.count), NUMBER],
    ['Until', ({ expires }) => stamp(expires)],
    ['Job', ({ job }) => job && linkTo('jobs', job, shortId(job))],
    ['', (lease) => rowButton('Release', `the lease of ${lease.owner}`, release(lease))],
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
function drainPart(metrics, attempt, again) {
  const draining = total(metrics, 'coremapd_draining') > 0;
  const press = (text, method, told, look) => element(`button.button${look}`, { onclick: attempt(() => change(method, 'v1/drain'), again, told) }, text);
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
      : folded('Drain…', {}, press('Drain and stop the server', 'PUT', 'The server drains', '.primary')),
  );
}

const QUOTAS = ['bytes', 'networks', 'queued', 'running', 'core_hours', 'cpu_seconds'].map((quota) => [quota, words(quota)]);

/** How a limit reads; null: `none`. */
export const limitText = (name, value, none = NONE) => (value === null || value === undefined ? none : name === 'bytes' ? bytes(value) : count(value));

/** Columns for `rules`, [name, label], of a row's limits. */
const limitColumns = (rules, of) => rules.map(([name, label]) => [label, (row) => limitText(name, of(row)[name]), NUMBER]);

async function quotaPart(signal, attempt, again) {
  const { quotas } = await getJson('v1/quotas', signal);
  const set = (limits, { of, name }) => attempt(() => change('PUT', `v1/quotas/${of}/${name}`, limits), again, 'The quota is set')(),
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
  const { entries } = await getJson(`v1/audit?limit=${AUDIT_MAX}`, signal);
  return tableSection(
    { label: 'Audit trail', empty: 'Nothing has been changed.' },
    entries,
    [
      ['When', (entry) => stamp(entry.at)],
      ['User', (entry) => entry.user],
      ['From', (entry) => entry.address],
      ['Did', (entry) => words(entry.action.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`))],
      ['To', (entry) => element('code', entry.object)],
      ['Effect', (entry) => entry.effect],
    ],
    element('p', element('a', { href: 'v1/audit?format=ndjson', download: 'audit.ndjson' }, 'All of it, a line an entry')),
  );
}

/** A part that this token may not see, or that fails, says so in its place. */
const guarded = (title, part) => part.catch((error) => section(title, problemNode(error)));

export async function showAdmin(page, context, signal) {
  const me = await getMe();
  const trouble = element('div'),
    parts = element('div.stack');
  const tried = attemptIn(trouble);
  const attempt = (what, then, told) => () => tried(() => Promise.resolve(what()).then(then), told);
  const show = async () => {
    const admin = me.role === 'admin';
    const metrics = parseMetrics(await getText('metrics', signal));
    const made = await Promise.all([
      guarded('Queue', queuePart(metrics, signal)),
      guarded('Leases', leasePart(signal, attempt, show)),
      diskPart(metrics),
      admin && guarded('Users', userPart(signal, attempt, show)),
      admin && guarded('Quotas', quotaPart(signal, attempt, show)),
      guarded('Retention', retentionPart(admin, attempt, show, signal)),
      admin && guarded('Audit trail', auditPart(signal)),
      drainPart(metrics, attempt, show),
    ]);
    fill(parts, made);
  };
  await show();
  fill(page, pageHead('Administration', null, element('button.button', { onclick: attempt(show, () => {}, 'Read anew') }, 'Refresh')), trouble, parts);
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
    (values) => set({ [values.which]: values.most === '' ? null : Number(values.most) }, { ...values, name: encodeURIComponent(values.name) }),
  );

async function userPart(signal, attempt, again) {
  const { users } = await getJson('v1/users', signal);
  const looked = element('div');
  const look = async (user) => {
    try {
      fill(looked, await onePart(user, attempt, () => look(user), signal));
    } catch (error) {
      if (!signal.aborted) fill(looked, problemNode(error));
    }
  };
  const add = ({ name, role, group }) => attempt(() => change('POST', 'v1/users', { name, role, ...(group && { group }) }), again, `User ${name} is added`)();
  const toggle = (user) =>
    attempt(
      () => change('PATCH', `v1/users/${encodeURIComponent(user.name)}`, { disabled: !user.disabled }),
      again,
      `${user.name} is ${user.disabled ? 'enabled' : 'disabled'}`,
    );
  return tableSection(
    { label: 'Users', empty: 'There are no users: whoever reaches the server may do all. The first one is made on its machine: coremapd user add.' },
    users,
    [
      ['Name', (user) => user.name],
      ['Role', (user) => roleOf(user, attempt, again)],
      ['Group', (user) => user.group],
      ['Share', (user) => String(user.share), NUMBER],
      ['', (user) => [rowButton(user.disabled ? 'Enable' : 'Disable', user.name, toggle(user)), ' ', rowButton('Look at', user.name, () => look(user.name))]],
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

/** Another role is another choice of the list. */
function roleOf({ name, role: has }, attempt, again) {
  const set = (role) => attempt(() => change('PATCH', `v1/users/${encodeURIComponent(name)}`, { role }), again, `${name} is ${role}`)();
  return select({ 'aria-label': `Role of ${name}`, onchange: (event) => set(event.target.value) }, ROLES, has);
}

/** Tokens; revoke(token): a press. */
export const tokensTable = (label, tokens, revoke) =>
  table({ label: label, empty: 'There are no tokens.' }, tokens, [
    ['Token', ({ id }) => element('code', id)],
    ['Name', ({ name }) => name],
    ['Scopes', ({ scopes }) => scopes.join(', ')],
    ['Expires', (token) => stamp(token.expires)],
    ['Last used', (token) => stamp(token.last_used)],
    ['', (token) => rowButton('Revoke', token.id, () => revoke(token))],
  ]);

/** A user's tokens, which can be revoked, and what he has used, month by month. */
async function onePart(user, attempt, again, signal) {
  const begin = new Date();
  begin.setUTCMonth(begin.getUTCMonth() - MONTHS + 1, 1);
  const asked = `user=${encodeURIComponent(user)}`,
    [{ tokens }, { months = [] }] = await Promise.all([
      getJson(`v1/tokens?${asked}`, signal),
      getJson(`v1/usage?${asked}&since=${begin.toISOString().slice(0, 7)}`, signal),
    ]);
  const revoke = (token) => attempt(() => change('DELETE', `v1/tokens/${encodeURIComponent(token.id)}`), again, `Token ${token.name || token.id} is revoked`);
  return [
    element('h3', `Tokens of ${user}`),
    tokensTable(`Tokens of ${user}`, tokens, (token) => revoke(token)()),
    element('h3', `Use of ${user}, month by month`),
    table({ label: `Use of ${user}`, empty: 'Nothing was used.' }, months, [
      ['Month', ({ month }) => month],
      ['Core hours', (month) => count(month.core_hours), NUMBER],
      ['Processor time', (month) => duration(month.cpu_seconds), NUMBER],
      ['Stored', (month) => bytes(month.bytes), NUMBER],
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
export async function retentionPart(admin, attempt, again, signal) {
  const { rules, bin_days: days } = await getJson('v1/retention', signal);
  const set = (limits, { name }) => attempt(() => change('PUT', `v1/retention/${name}`, limits), again, 'The rule is set')();
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
