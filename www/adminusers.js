// Of the page of administration: users with their roles, tokens and use by month, and how long things stay.

import { change, getJson } from './api.js';
import { element, fill, section, stamp } from './dom.js';
import { bytes, count, duration } from './format.js';
import { problemNode } from './problemnode.js';
import { NUMBER, table } from './table.js';

const ROLES = ['user', 'operator', 'admin'];
const MONTHS = 12; // of the ledger

const button = (label, about, onclick) => element('button', { type: 'button', class: 'button small', 'aria-label': `${label} ${about}`, onclick }, label);

export function field(id, label, input) {
  return element('div', { class: 'field' }, element('label', { for: id }, label), input);
}

export async function userPart(signal, attempt, again) {
  const { users } = await getJson('v1/users', signal);
  const name = element('input', { id: 'user-name', type: 'text', required: true, autocomplete: 'off' }),
    group = element('input', { id: 'user-group', type: 'text', autocomplete: 'off' }),
    role = element(
      'select',
      { id: 'user-role' },
      ROLES.map((one) => element('option', { value: one }, one)),
    ),
    looked = element('div', {});
  const look = async (user) => {
    try {
      fill(looked, await onePart(user, attempt, () => look(user), signal));
    } catch (error) {
      if (!signal.aborted) fill(looked, problemNode(error));
    }
  };
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
        ['Role', (user) => roleOf(user, attempt, again)],
        ['Group', (user) => user.group],
        ['Share', (user) => String(user.share), 'number'],
        ['', (user) => [button(user.disabled ? 'Enable' : 'Disable', user.name, toggle(user)), ' ', button('Look at', user.name, () => look(user.name))]],
      ],
      users,
      { empty: 'There are no users: whoever reaches the server may do all. The first one is made on its machine: coremapd user add.' },
    ),
    looked,
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

/** Another role is another choice of the list. */
function roleOf(user, attempt, again) {
  const select = element(
    'select',
    {
      'aria-label': `Role of ${user.name}`,
      onchange: () =>
        attempt(() => change('PATCH', `v1/users/${encodeURIComponent(user.name)}`, { role: select.value }), again, `${user.name} is ${select.value}`)(),
    },
    ROLES.map((role) => element('option', { value: role, selected: role === user.role }, role)),
  );
  return select;
}

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
    element('h3', {}, `Tokens of ${user}`),
    table(
      `Tokens of ${user}`,
      [
        ['Token', (token) => token.name || token.id],
        ['Scopes', ({ scopes }) => scopes.join(', ')],
        ['Last used', (token) => stamp(token.last_used)],
        ['Expires', (token) => stamp(token.expires)],
        ['', (token) => button('Revoke', token.name || token.id, revoke(token))],
      ],
      tokens,
      { empty: 'No tokens.' },
    ),
    element('h3', {}, `Use of ${user}, month by month`),
    table(
      `Use of ${user}`,
      [
        ['Month', ({ month }) => month],
        ['Core hours', (month) => count(month.core_hours), NUMBER],
        ['Processor time', (month) => duration(month.cpu_seconds), NUMBER],
        ['Stored', (month) => bytes(month.bytes), NUMBER],
      ],
      months,
      { empty: 'Nothing was used.' },
    ),
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
  const name = element('input', { id: 'rule-name', type: 'text', required: true, value: '*', autocomplete: 'off' }),
    which = element(
      'select',
      { id: 'rule-which' },
      RULES.map(([rule, label]) => element('option', { value: rule }, label)),
    ),
    most = element('input', { id: 'rule-most', type: 'number', min: '0', step: 'any' });
  const set = (event) => {
    event.preventDefault();
    const limit = most.value === '' ? null : Number(most.value);
    attempt(() => change('PUT', `v1/retention/${encodeURIComponent(name.value)}`, { [which.value]: limit }), again, 'The rule is set')();
  };
  const rule = ([rule, label]) => [label, (row) => (row[rule] === null ? '–' : rule === 'bytes' ? bytes(row[rule]) : count(row[rule])), NUMBER];
  return section(
    'Retention',
    table('Retention', [['User', ({ user }) => (user === '*' ? 'everyone' : user)], ...RULES.map(rule)], rules, {
      empty: 'Everything stays until somebody deletes it.',
    }),
    element('p', { class: 'note' }, `What is deleted lies in the bin for ${count(days)} days.`),
    admin &&
      element(
        'form',
        { class: 'form', onsubmit: set },
        element(
          'div',
          { class: 'field-row' },
          field('rule-name', 'User (*: everyone)', name),
          field('rule-which', 'Rule', which),
          field('rule-most', 'At most (empty: no limit)', most),
        ),
        element('div', { class: 'buttons' }, element('button', { type: 'submit', class: 'button' }, 'Set rule')),
      ),
  );
}
