// #/admin: for operators the queue with reasons, and disk; for admins users, quotas and the audit trail too; and draining.

import { limitForm, retentionPart, userPart } from './adminusers.js';
import { change, getJson, getMe, getText, listJobs } from './api.js';
import { element, facts, field, fill, folded, pageHead, pageOf, section, select, stamp } from './dom.js';
import { bytes, count, duration, shortId, words } from './format.js';
import { attemptIn, problemNode } from './problemnode.js';
import { parseMetrics, total } from './prometheus.js';
import { table, tableSection } from './table.js';

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
  }));
  return table(
    'Lanes of the queue',
    [
      ['Lane', ({ lane }) => LANES[lane]],
      ['Running', ({ running }) => count(running), 'number'],
      ['Waiting', ({ queued }) => count(queued), 'number'],
      ['Oldest waits', ({ queued, age }) => (queued > 0 ? duration(age) : ''), 'number'],
    ],
    rows,
  );
}

async function queuePart(metrics, signal) {
  const lists = await Promise.all(['running', 'queued'].map((state) => listJobs({ state, limit: QUEUE_MAX }, signal)));
  const jobs = [...lists[0].jobs, ...lists[1].jobs.reverse()];
  const waits = (job) => job.progress?.reason ?? job.reason ?? `${words(job.progress?.phase ?? 'starts')}, about ${duration(job.remaining_seconds)} left`;
  return section(
    'Queue',
    laneTable(metrics),
    table(
      'Queue',
      [
        ['Job', (job) => element('a', { href: pageOf('jobs', job.id) }, job.name || shortId(job.id))],
        ['State', (job) => job.state],
        ['User', (job) => job.user],
        ['Place', (job) => (job.state === 'queued' ? String(job.position) : ''), 'number'],
        ['Why', waits],
        ['Since', (job) => stamp(job.started ?? job.created)],
      ],
      jobs,
      { empty: 'Nothing runs and nothing waits.' },
    ),
  );
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
    table(
      'Stored bytes by user',
      [
        ['User', ([user]) => user || 'nobody'],
        ['Stored', ([, stored]) => bytes(stored), 'number'],
      ],
      rows,
      { empty: 'Nothing is stored.' },
    ),
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

const QUOTAS = ['bytes', 'networks', 'queued', 'running', 'core_hours', 'cpu_seconds'];

async function quotaPart(signal, attempt, again) {
  const { quotas } = await getJson('v1/quotas', signal);
  const of = select({ id: 'quota-of' }, [
      ['users', 'user'],
      ['groups', 'group'],
    ]),
    rules = QUOTAS.map((one) => [one, words(one)]);
  const set = (name, limits) => attempt(() => change('PUT', `v1/quotas/${of.value}/${name}`, limits), again, 'The quota is set')();
  const shown = (quota, value) => (value === null ? '–' : quota === 'bytes' ? bytes(value) : String(value));
  return tableSection(
    'Quotas',
    [['Of', (row) => `${row.of} ${row.name}`], ...QUOTAS.map((quota) => [words(quota), (row) => shown(quota, row.quotas[quota]), 'number'])],
    quotas,
    { empty: 'No quotas are set.' },
    limitForm({ id: 'quota', who: 'Name (*: everyone)', rules, label: 'Quota', before: field('Of a', of) }, set),
  );
}

async function auditPart(signal) {
  const { entries } = await getJson(`v1/audit?limit=${AUDIT_MAX}`, signal);
  return tableSection(
    'Audit trail',
    [
      ['When', (entry) => stamp(entry.at)],
      ['User', (entry) => entry.user],
      ['From', (entry) => entry.address],
      ['Did', (entry) => words(entry.action.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`))],
      ['To', (entry) => element('code', entry.object)],
      ['Effect', (entry) => entry.effect],
    ],
    entries,
    { empty: 'Nothing has been changed.' },
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
