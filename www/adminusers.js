// Of the page of administration: users with their roles, tokens and use by month, and how long things stay.

import { change, getJson } from './api.js';
import { element, field, fill, form, select, sends, stamp } from './dom.js';
import { bytes, count, duration } from './format.js';
import { problemNode, rowButton } from './problemnode.js';
import { NUMBER, table, tableSection } from './table.js';

const ROLES = ['user', 'operator', 'admin'];
const MONTHS = 12; // of the ledger

/** A form that sets one limit of somebody: which of `rules` ([name, label]), and how much; empty: none. set(name, limits). */
export function limitForm({ id, who, rules, before = null, label }, set) {
  const name = element('input', { id: `${id}-name`, type: 'text', required: true, value: '*', autocomplete: 'off' }),
    which = select({ id: `${id}-which` }, rules),
    most = element('input', { id: `${id}-most`, type: 'number', min: '0', step: 'any' });
  return form(
    'form.form',
    () => set(encodeURIComponent(name.value), { [which.value]: most.value === '' ? null : Number(most.value) }),
    element('div.field-row', before, field(who, name), field(label, which), field('At most (empty: no limit)', most)),
    element('div.buttons', sends(`Set ${label.toLowerCase()}`)),
  );
}

export async function userPart(signal, attempt, again) {
  const { users } = await getJson('v1/users', signal);
  const name = element('input', { id: 'user-name', type: 'text', required: true, autocomplete: 'off' }),
    group = element('input', { id: 'user-group', type: 'text', autocomplete: 'off' }),
    role = select({ id: 'user-role' }, ROLES),
    looked = element('div');
  const look = async (user) => {
    try {
      fill(looked, await onePart(user, attempt, () => look(user), signal));
    } catch (error) {
      if (!signal.aborted) fill(looked, problemNode(error));
    }
  };
  const add = () =>
    attempt(
      () => change('POST', 'v1/users', { name: name.value, role: role.value, ...(group.value ? { group: group.value } : {}) }),
      again,
      `User ${name.value} is added`,
    )();
  const toggle = (user) =>
    attempt(
      () => change('PATCH', `v1/users/${encodeURIComponent(user.name)}`, { disabled: !user.disabled }),
      again,
      `${user.name} is ${user.disabled ? 'enabled' : 'disabled'}`,
    );
  return tableSection(
    'Users',
    [
      ['Name', (user) => user.name],
      ['Role', (user) => roleOf(user, attempt, again)],
      ['Group', (user) => user.group],
      ['Share', (user) => String(user.share), 'number'],
      ['', (user) => [rowButton(user.disabled ? 'Enable' : 'Disable', user.name, toggle(user)), ' ', rowButton('Look at', user.name, () => look(user.name))]],
    ],
    users,
    { empty: 'There are no users: whoever reaches the server may do all. The first one is made on its machine: coremapd user add.' },
    looked,
    users.length > 0 &&
      form(
        'form.form',
        add,
        element('div.field-row', field('Name', name), field('Group', group)),
        element('div.field-row', field('Role', role)),
        element('div.buttons', sends('Add user')),
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
  table(
    label,
    [
      ['Token', ({ id }) => element('code', id)],
      ['Name', ({ name }) => name],
      ['Scopes', ({ scopes }) => scopes.join(', ')],
      ['Expires', (token) => stamp(token.expires)],
      ['Last used', (token) => stamp(token.last_used)],
      ['', (token) => rowButton('Revoke', token.id, () => revoke(token))],
    ],
    tokens,
    { empty: 'There are no tokens.' },
  );

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
  const set = (user, limits) => attempt(() => change('PUT', `v1/retention/${user}`, limits), again, 'The rule is set')();
  const rule = ([rule, label]) => [label, (row) => (row[rule] === null ? '–' : rule === 'bytes' ? bytes(row[rule]) : count(row[rule])), NUMBER];
  return tableSection(
    'Retention',
    [['User', ({ user }) => (user === '*' ? 'everyone' : user)], ...RULES.map(rule)],
    rules,
    { empty: 'Everything stays until somebody deletes it.' },
    element('p.note', `What is deleted lies in the bin for ${count(days)} days.`),
    admin && limitForm({ id: 'rule', who: 'User (*: everyone)', rules: RULES, label: 'Rule' }, set),
  );
}
