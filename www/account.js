// Signing in and out: a token is sent once, for a cookie that scripts cannot read.

import { getMe, signIn, signOut } from './api.js';
import { element, field, fill, form, pageHead, sends } from './dom.js';
import { Problem } from './problem.js';
import { problemNode } from './problemnode.js';

export const needsSignIn = (error) => error instanceof Problem && error.status === 401;

/** The page in place of one that needs a token; `done` when there is one. */
export function signInPage(page, done) {
  const outcome = element('div'),
    token = element('input', { id: 'token', type: 'password', autocomplete: 'off', spellcheck: 'false', required: true, 'aria-describedby': 'token-note' }),
    button = sends('Sign in', 'button.button.primary');
  const submit = async () => {
    button.disabled = true;
    fill(outcome);
    try {
      await signIn(token.value.trim());
      done();
    } catch (error) {
      fill(outcome, problemNode(error));
      token.select();
      token.focus();
    }
    button.disabled = false;
  };
  fill(
    page,
    pageHead('Sign in'),
    form(
      'form.panel.sign-in',
      submit,
      field('Token', token, element('p.note', { id: 'token-note' }, 'Whoever administers the server makes one for you.')),
      button,
      outcome,
    ),
  );
}

/** Who is signed in, beside the theme; nothing where there are no users. */
export async function showAccount(node, left) {
  const me = await getMe().catch(() => null); // nobody is signed in, or the server does not answer: the page says which
  node.hidden = !me || me.open;
  document.getElementById('admin-link').hidden = !me || (!me.open && me.role === 'user');
  document.getElementById('me-link').hidden = !me;
  if (node.hidden) return;
  const out = () =>
    signOut().finally(() => {
      node.hidden = true;
      left();
    });
  fill(node, element('span', { title: me.role }, me.user), ' ', element('button.button', { onclick: out }, 'Sign out'));
}
