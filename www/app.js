// Entry: which page the address asks for, the theme, and what all pages share.

import { showAdmin } from './admin.js';
import { showChip, showChips } from './chip.js';
import { element, fill, icon, pageHead } from './dom.js';
import { showJob } from './job.js';
import { showCreate } from './jobform.js';
import { showList } from './lists.js';
import { showComparison, showMapping } from './mapping.js';
import { needsSignIn, showAccount, showMe, signInPage } from './me.js';
import { showNetwork } from './network.js';
import { actButton, problemNode } from './problem.js';
import { showProgram, showTimeline } from './program.js';
import { showSweep } from './sweep.js';

const main = document.getElementById('main');
let current = null;
let first = true;

const ROUTES = [
  ...['jobs', 'mappings', 'programs', 'networks', 'sweeps'].map((kind) => [new RegExp(`^/${kind}$`), kind, showList(kind), []]),
  [/^\/jobs\/([^/]+)$/, 'jobs', showJob, ['id']],
  [/^\/new$/, 'new', showCreate, []],
  [/^\/mappings\/([^/]+)$/, 'mappings', showMapping, ['id']],
  [/^\/programs\/([^/]+)$/, 'programs', showProgram, ['id']],
  [/^\/networks\/([^/]+)$/, 'networks', showNetwork, ['id']],
  [/^\/sweeps\/([^/]+)$/, 'sweeps', showSweep, ['id']],
  [/^\/chips$/, 'chips', showChips, []],
  [/^\/chips\/([^/]+)$/, 'chips', showChip, ['name']],
  [/^\/timeline$/, 'timeline', showTimeline, []],
  [/^\/me$/, 'me', showMe, []],
  [/^\/admin$/, 'admin', showAdmin, []],
  [/^\/compare\/([^/]+)\/([^/]+)$/, 'mappings', showComparison, ['a', 'b']],
];

function address() {
  const [path, query = ''] = location.hash.slice(1).split('?');
  return { path: path.replace(/\/$/, '') || '/jobs', query: new URLSearchParams(query) };
}

async function navigate() {
  if (location.hash === '#main') return; // the skip link
  const { path, query } = address();
  current?.abort();
  current = new AbortController();
  const { signal } = current;
  const found = ROUTES.map(([pattern, ...route]) => [pattern.exec(path), ...route]).find(([match]) => match);
  for (const link of document.querySelectorAll('nav [data-page]')) {
    if (found && link.dataset.page === found[1]) {
      link.setAttribute('aria-current', 'page');
      link.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    } else link.removeAttribute('aria-current');
  }
  // Only when the answer takes a while: a flash of "loading" would be one more jump.
  const wait = setTimeout(() => fill(main, element('p.loading', 'Loading…')), 250);
  signal.addEventListener('abort', () => clearTimeout(wait));
  let title = 'Not found';
  // A page fills this and never `main` itself, so that a page that was left cannot write over the next one.
  const page = element('div.page');
  try {
    if (!found) throw new Error(`there is no page ${path}`);
    const [match, , show, names] = found;
    const values = Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(match[i + 1])]));
    const replaceQuery = (next) => {
      const text = String(next);
      history.replaceState(null, '', `#${path}${text ? `?${text}` : ''}`);
    };
    // Pages with canvases call `attach` themselves: what is not in the document has neither size nor colours.
    title = await show(page, { ...values, query, replaceQuery, attach: () => attach(page, wait, signal) }, signal);
  } catch (error) {
    if (signal.aborted || error.name === 'AbortError') return;
    title = needsSignIn(error) ? 'Sign in' : 'Error';
    if (needsSignIn(error)) signInPage(page, enter);
    else
      fill(
        page,
        pageHead('This page cannot be shown'),
        problemNode(error),
        element('div.buttons', actButton('Try again', navigate), element('a.button', { href: '#/jobs' }, 'Back to the jobs')),
      );
  }
  if (signal.aborted) return;
  attach(page, wait, signal);
  document.title = `${title} · coremapd`;
  if (!first) (page.querySelector('h1') ?? main).focus({ preventScroll: true });
  first = false;
}

function attach(page, wait, signal) {
  if (signal.aborted || page.isConnected) return;
  clearTimeout(wait);
  main.replaceChildren(page);
  window.scrollTo(0, 0);
}

/** Again from the start, with other rights than before. */
function enter() {
  showAccount(document.getElementById('account'), enter);
  navigate();
}

function themes() {
  const button = document.getElementById('theme'),
    root = document.documentElement;
  const order = ['auto', 'light', 'dark'];
  const show = () => {
    const theme = root.dataset.theme ?? 'auto';
    fill(button, icon(theme));
    button.setAttribute('aria-label', `Theme: ${theme}`);
    button.title = `Theme: ${theme}`;
  };
  button.addEventListener('click', () => {
    const next = order[(order.indexOf(root.dataset.theme ?? 'auto') + 1) % order.length];
    root.dataset.theme = next;
    try {
      localStorage.setItem('coremapd-theme', next);
    } catch {
      // Not remembered, but in force.
    }
    show();
    document.dispatchEvent(new Event('themechange'));
  });
  show();
}

themes();
window.addEventListener('hashchange', navigate);
enter();
