// #/me: what one uses against one's limits, one's tokens, and what one has deleted; signing in and out: a token is sent once, for a cookie that
// scripts cannot read.

import { limitText, tokensTable } from './admin.js';
import { change, getJson, getMe, pathOf, signIn, signOut } from './api.js';
import { element, field, fill, pageHead, section, stamp } from './dom.js';
import { bytes, words } from './format.js';
import { fieldForm, form, Problem, rowButton, sends } from './problem.js';
import { figures, NUMBER, table, tableSection } from './table.js';

/** Use against limits, one's own and one's group's. */
const usagePart = ({ quotas, group }) =>
  tableSection({ label: 'My use', empty: 'Nothing is counted.' }, Object.entries(quotas), [
    ['What', ([name]) => words(name)],
    ['Used', ([name, { use }]) => limitText(name, use), NUMBER],
    ['Limit', ([name, { quota }]) => limitText(name, quota, 'no limit'), NUMBER],
    ...(group ? [[`Group ${group}`, ([name, one]) => `${limitText(name, one.group_use)} of ${limitText(name, one.group_quota, 'no limit')}`, NUMBER]] : []),
  ]);

/** A form that makes a token, which is shown once. */
function tokenForm(again) {
  const outcome = element('div', { role: 'status' });
  const make = async ({ name, scope }) => {
    const made = await change('POST', 'v1/tokens', { name, scopes: [scope] });
    await again();
    fill(outcome, element('p', 'Copy it now, it is not shown again: ', element('code', made.token)));
  };
  const rows = [
    ['name', 'Name', { maxlength: '80' }],
    ['scope', 'Scope', ['submit', 'read', 'reserve', 'admin']],
  ];
  return fieldForm('token', rows, 'Make a token', make, outcome);
}

export async function showMe(page, context, signal) {
  const me = await getMe();
  const usage = await getJson('v1/usage', signal);
  const tokens = element('div'),
    bin = element('div');
  const showTokens = async (told) => {
    const { tokens: list } = await getJson('v1/tokens', signal);
    fill(tokens, tokensTable('My tokens', list, showTokens));
    return told;
  };
  const showBin = async (told) => {
    const { entries } = await getJson('v1/bin', signal);
    const restore = ({ id, kind }) => change('POST', pathOf('bin', id, 'restore')).then(() => showBin(`The ${kind} is back`));
    fill(
      bin,
      table({ label: 'Deleted things', empty: 'Nothing was deleted.' }, entries, [
        ['What', 'kind'],
        ['Id', (one) => element('code', one.id.slice(0, 20))],
        ['Name', 'name'],
        ...figures(bytes, { Size: 'bytes' }),
        ['Goes for good', (one) => stamp(one.until)],
        ['', (one) => rowButton('Bring back', one.id.slice(0, 20), () => restore(one))],
      ]),
    );
  };
  await Promise.all([showTokens(), showBin()]);
  fill(
    page,
    pageHead(me.user ? `Account of ${me.user}` : 'Account', me.user && `role ${me.role}${me.group ? `, group ${me.group}` : ''}`),
    usagePart(usage),
    !me.open && section('My tokens', tokens, tokenForm(showTokens)),
    section('Bin', bin),
  );
  return 'Account';
}

export const needsSignIn = (error) => error instanceof Problem && error.status === 401;

/** The page in place of one that needs a token; `done` when there is one. */
export function signInPage(page, done) {
  const token = element('input', { id: 'token', type: 'password', autocomplete: 'off', spellcheck: 'false', required: true, 'aria-describedby': 'token-note' }),
    note = element('p.note', { id: 'token-note' }, 'Whoever administers the server makes one for you.'),
    wrong = (error) => (token.select(), Promise.reject(error)),
    submit = () => signIn(token.value.trim()).then(done, wrong);
  fill(page, pageHead('Sign in'), form('form.panel.sign-in', submit, field('Token', token, note), sends('Sign in', 'button.button.primary')));
}

/** Who is signed in, beside the theme; nothing where there are no users. */
export async function showAccount(node, left) {
  const me = await getMe().catch(() => null); // nobody is signed in, or the server does not answer: the page says which
  node.hidden = !me || me.open;
  document.getElementById('admin-link').hidden = !me || (!me.open && me.role === 'user');
  document.getElementById('me-link').hidden = !me;
  document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' }); // it may have been hidden until now
  if (node.hidden) return;
  const out = () =>
    signOut().finally(() => {
      node.hidden = true;
      left();
    });
  fill(node, element('span', { title: me.role }, me.user), ' ', element('button.button', { onclick: out }, 'Sign out'));
}
