// #/me: what one uses against one's limits, one's tokens, and what one has deleted.

import { tokensTable } from './adminusers.js';
import { change, getJson, getMe } from './api.js';
import { element, field, fill, form, pageHead, section, select, sends, stamp } from './dom.js';
import { bytes, words } from './format.js';
import { attemptIn, problemNode, rowButton } from './problemnode.js';
import { table, tableSection } from './table.js';

const figure = (quota, value) =>
  value === null || value === undefined ? 'no limit' : quota === 'bytes' ? bytes(value) : String(Math.round(value * 100) / 100);

/** Use and limits as rows of a table. */
export function quotaRows(usage) {
  return Object.entries(usage.quotas).map(([name, one]) => ({
    name: words(name),
    use: figure(name, one.use),
    quota: figure(name, one.quota),
    group: usage.group ? `${figure(name, one.group_use)} of ${figure(name, one.group_quota)}` : '',
  }));
}

const usagePart = (usage) =>
  tableSection(
    'My use',
    [
      ['What', ({ name }) => name],
      ['Used', ({ use }) => use, 'number'],
      ['Limit', ({ quota }) => quota, 'number'],
      ...(usage.group ? [[`Group ${usage.group}`, ({ group }) => group, 'number']] : []),
    ],
    quotaRows(usage),
    { empty: 'Nothing is counted.' },
  );

/** A form that makes a token, which is shown once. */
function tokenForm(again) {
  const name = element('input', { id: 'token-name', type: 'text', maxlength: '80' }),
    scope = select({ id: 'token-scope' }, ['read', 'submit', 'reserve', 'admin'], 'submit'),
    outcome = element('div', { role: 'status' });
  const submit = async () => {
    try {
      const made = await change('POST', 'v1/tokens', { name: name.value, scopes: [scope.value] });
      await again();
      fill(outcome, element('p', 'Copy it now, it is not shown again: ', element('code', made.token)));
    } catch (error) {
      fill(outcome, problemNode(error));
    }
  };
  return form(
    'form.form',
    submit,
    element('div.field-row', field('Name', name), field('Scope', scope)),
    element('div.buttons', sends('Make a token')),
    outcome,
  );
}

export async function showMe(page, context, signal) {
  const me = await getMe();
  const usage = await getJson('v1/usage', signal);
  const tokens = element('div'),
    bin = element('div'),
    trouble = element('div');
  const tried = attemptIn(trouble);
  const showTokens = async () => {
    const { tokens: list } = await getJson('v1/tokens', signal);
    const revoke = (one) => tried(() => change('DELETE', `v1/tokens/${encodeURIComponent(one.id)}`).then(showTokens), `Token ${one.id} is revoked`);
    fill(tokens, tokensTable('My tokens', list, revoke));
  };
  const showBin = async () => {
    const { entries } = await getJson('v1/bin', signal);
    const restore = (one) => tried(() => change('POST', `v1/bin/${encodeURIComponent(one.id)}/restore`).then(showBin), `The ${one.kind} is back`);
    fill(
      bin,
      table(
        'Deleted things',
        [
          ['What', (one) => one.kind],
          ['Id', (one) => element('code', one.id.slice(0, 20))],
          ['Name', (one) => one.name],
          ['Size', (one) => bytes(one.bytes), 'number'],
          ['Goes for good', (one) => stamp(one.until)],
          ['', (one) => rowButton('Bring back', one.id.slice(0, 20), () => restore(one))],
        ],
        entries,
        { empty: 'Nothing was deleted.' },
      ),
    );
  };
  await Promise.all([showTokens(), showBin()]);
  fill(
    page,
    pageHead(me.user ? `Account of ${me.user}` : 'Account', me.user && `role ${me.role}${me.group ? `, group ${me.group}` : ''}`),
    trouble,
    usagePart(usage),
    !me.open && section('My tokens', tokens, tokenForm(showTokens)),
    section('Bin', bin),
  );
  return 'Account';
}
