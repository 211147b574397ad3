// #/admin: for operators the queue with reasons, leases and disk; for admins users, quotas and the audit trail too; and draining.

import { change, getJson, getMe, getText, listChips, listJobs } from './api.js';
import { announce, element, facts, fill, section, stamp } from './dom.js';
import { bytes, count, duration, shortId, words } from './format.js';
import { problemNode } from './problemnode.js';
import { table } from './table.js';
import { parseMetrics, total } from './prometheus.js';

const QUEUE_MAX = 50,
  AUDIT_MAX = 50;

const button = (label, about, onclick) =>
  element('button', { type: 'button', class: 'button small', 'aria-label': `${label} ${about}`, onclick }, label);

async function queuePart(signal) {
  const lists = await Promise.all(['running', 'queued'].map((state) => listJobs({ state, limit: QUEUE_MAX }, signal)));
  const jobs = [...lists[0].jobs, ...lists[1].jobs.reverse()];
  const waits = (job) =>
    job.state === 'running' ? `${words(job.progress?.phase ?? 'starts')}, about ${duration(job.remaining_seconds)} left` : job.reason;
  return section(
    'Queue',
    table(
      'Queue',
      [
        ['Job', (job) => element('a', { href: `#/jobs/${encodeURIComponent(job.id)}` }, job.name || shortId(job.id))],
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

async function leasePart(signal) {
  const { chips } = await listChips(signal);
  const lists = await Promise.all(
    chips.map((chip) => getJson(`v1/chips/${encodeURIComponent(chip.name)}/reservations`, signal)),
  );
  const leases = lists.flatMap((list, i) => list.reservations.map((lease) => ({ ...lease, chip: chips[i].name })));
  return section(
    'Leases',
    table(
      'Leases',
      [
        ['Chip', (lease) => lease.chip],
        ['Lease', (lease) => element('code', {}, lease.id)],
        ['User', (lease) => lease.user],
        ['Holder', (lease) => lease.owner],
        ['Cores', (lease) => count(lease.core_count ?? lease.count), 'number'],
        ['Ends', (lease) => stamp(lease.expires)],
      ],
      leases,
      { empty: 'No cores are leased.' },
    ),
  );
}

function diskPart(metrics) {
  const users = new Map();
  for (const { labels, value } of metrics.get('coremapd_user_bytes') ?? [])
    users.set(labels.user, (users.get(labels.user) ?? 0) + value);
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
  const ask = (drain) => attempt(() => change(drain ? 'PUT' : 'DELETE', 'v1/drain'), again, drain ? 'The server drains' : 'Jobs are taken again');
  const sure = element('div', { class: 'buttons', hidden: true });
  const first = element('button', { type: 'button', class: 'button', 'aria-expanded': 'false' }, draining ? 'Take jobs again' : 'Drain…');
  if (draining) first.addEventListener('click', ask(false));
  else
    first.addEventListener('click', () => {
      sure.hidden = !sure.hidden;
      first.setAttribute('aria-expanded', String(!sure.hidden));
      if (!sure.hidden) sure.querySelector('button').focus();
    });
  fill(sure, element('button', { type: 'button', class: 'button primary', onclick: ask(true) }, 'Drain and stop the server'));
  return section(
    'Going down',
    element(
      'p',
      { class: 'note' },
      draining
        ? 'The server takes no new jobs, and stops when those that run have ended.'
        : 'Draining takes no new jobs, lets those that run end, and stops the server; the queue goes on at the next start.',
    ),
    element('div', { class: 'buttons' }, first),
    sure,
  );
}

function field(id, label, input) {
  return element('div', { class: 'field' }, element('label', { for: id }, label), input);
}

async function userPart(signal, attempt, again) {
  const { users } = await getJson('v1/users', signal);
  const name = element('input', { id: 'user-name', type: 'text', required: true, autocomplete: 'off' }),
    group = element('input', { id: 'user-group', type: 'text', autocomplete: 'off' }),
    role = element(
      'select',
      { id: 'user-role' },
      ['user', 'operator', 'admin'].map((one) => element('option', { value: one }, one)),
    );
  const add = (event) => {
    event.preventDefault();
    attempt(
      () => change('POST', 'v1/users', { name: name.value, role: role.value, ...(group.value ? { group: group.value } : {}) }),
      again,
      `User ${name.value} is added`,
    )();
  };
  const toggle = (user) =>
    attempt(
      () => change('PATCH', `v1/users/${encodeURIComponent(user.name)}`, { disabled: !user.disabled }),
      again,
      `${user.name} is ${user.disabled ? 'enabled' : 'disabled'}`,
    );
  return section(
    'Users',
    table(
      'Users',
      [
        ['Name', (user) => user.name],
        ['Role', (user) => user.role],
        ['Group', (user) => user.group],
        ['Share', (user) => String(user.share), 'number'],
        ['', (user) => button(user.disabled ? 'Enable' : 'Disable', user.name, toggle(user))],
      ],
      users,
      { empty: 'There are no users: whoever reaches the server may do all. The first one is made on its machine: coremapd user add.' },
    ),
    users.length > 0 &&
      element(
        'form',
        { class: 'form', onsubmit: add },
        element('div', { class: 'field-row' }, field('user-name', 'Name', name), field('user-group', 'Group', group)),
        element('div', { class: 'field-row' }, field('user-role', 'Role', role)),
        element('div', { class: 'buttons' }, element('button', { type: 'submit', class: 'button' }, 'Add user')),
      ),
  );
}

const QUOTAS = ['bytes', 'networks', 'queued', 'running', 'core_hours', 'cpu_seconds'];

async function quotaPart(signal, attempt, again) {
  const { quotas } = await getJson('v1/quotas', signal);
  const of = element('select', { id: 'quota-of' }, element('option', { value: 'users' }, 'user'), element('option', { value: 'groups' }, 'group')),
    name = element('input', { id: 'quota-name', type: 'text', required: true, value: '*', autocomplete: 'off' }),
    which = element('select', { id: 'quota-which' }, QUOTAS.map((one) => element('option', { value: one }, words(one)))),
    most = element('input', { id: 'quota-most', type: 'number', min: '0', step: 'any', 'aria-describedby': 'quota-note' });
  const set = (event) => {
    event.preventDefault();
    const limit = most.value === '' ? null : Number(most.value);
    attempt(
      () => change('PUT', `v1/quotas/${of.value}/${encodeURIComponent(name.value)}`, { [which.value]: limit }),
      again,
      'The quota is set',
    )();
  };
  const shown = (quota, value) => (value === null ? '–' : quota === 'bytes' ? bytes(value) : String(value));
  return section(
    'Quotas',
    table(
      'Quotas',
      [
        ['Of', (row) => `${row.of} ${row.name}`],
        ...QUOTAS.map((quota) => [words(quota), (row) => shown(quota, row.quotas[quota]), 'number']),
      ],
      quotas,
      { empty: 'No quotas are set.' },
    ),
    element(
      'form',
      { class: 'form', onsubmit: set },
      element('div', { class: 'field-row' }, field('quota-of', 'Of a', of), field('quota-name', 'Name (*: everyone)', name)),
      element('div', { class: 'field-row' }, field('quota-which', 'Quota', which), field('quota-most', 'At most', most)),
      element('p', { class: 'note', id: 'quota-note' }, 'Left empty, the limit is taken away.'),
      element('div', { class: 'buttons' }, element('button', { type: 'submit', class: 'button' }, 'Set quota')),
    ),
  );
}

async function auditPart(signal) {
  const { entries } = await getJson(`v1/audit?limit=${AUDIT_MAX}`, signal);
  return section(
    'Audit trail',
    table(
      'Audit trail',
      [
        ['When', (entry) => stamp(entry.at)],
        ['User', (entry) => entry.user],
        ['From', (entry) => entry.address],
        ['Did', (entry) => words(entry.action)],
        ['To', (entry) => element('code', {}, entry.object)],
        ['Effect', (entry) => entry.effect],
      ],
      entries,
      { empty: 'Nothing has been changed.' },
    ),
    element('p', {}, element('a', { href: 'v1/audit?format=ndjson', download: 'audit.ndjson' }, 'All of it, a line an entry')),
  );
}

/** A part that this token may not see, or that fails, says so in its place. */
async function guarded(title, part, signal) {
  try {
    return await part;
  } catch (error) {
    if (signal.aborted || error.name === 'AbortError') throw error;
    return section(title, problemNode(error));
  }
}

export async function showAdmin(page, context, signal) {
  const me = await getMe();
  const trouble = element('div', {}),
    parts = element('div', { class: 'stack' });
  const attempt = (what, then, told) => async () => {
    fill(trouble);
    try {
      await what();
      announce(told);
      await then();
    } catch (error) {
      if (!signal.aborted) fill(trouble, problemNode(error));
    }
  };
  const show = async () => {
    const admin = me.role === 'admin';
    const metrics = parseMetrics(await getText('metrics', signal));
    const made = await Promise.all([
      guarded('Queue', queuePart(signal), signal),
      guarded('Leases', leasePart(signal), signal),
      diskPart(metrics),
      admin && guarded('Users', userPart(signal, attempt, show), signal),
      admin && guarded('Quotas', quotaPart(signal, attempt, show), signal),
      admin && guarded('Audit trail', auditPart(signal), signal),
      drainPart(metrics, attempt, show),
    ]);
    fill(parts, made);
  };
  await show();
  fill(
    page,
    element(
      'header',
      { class: 'page-head' },
      element('h1', { tabindex: '-1' }, 'Administration'),
      element('div', { class: 'buttons' }, element('button', { type: 'button', class: 'button', onclick: attempt(show, () => {}, 'Read anew') }, 'Refresh')),
    ),
    trouble,
    parts,
  );
  return 'Administration';
}
