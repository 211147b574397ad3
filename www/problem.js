// A problem reply (RFC 9457) in words: what, where, and the figures that came with it; and buttons whose failure is shown so.

import { announce, element, facts, field, fill, select } from './dom.js';
import { capital, valueText, words } from './format.js';

const KNOWN = new Set(['type', 'title', 'status', 'detail', 'code', 'where', 'instance']);

export class Problem extends Error {
  constructor(body, status) {
    super(body?.detail || body?.title || `the server answered ${status}`);
    this.body = body ?? {};
    this.status = status;
  }
}

/** { title, detail, where, figures: [[name, text]] } of a problem reply or of any error. */
export function problemWords(problem) {
  const body = problem instanceof Problem ? problem.body : problem instanceof Error ? { detail: problem.message } : (problem ?? {});
  const title = body.title || words(body.code || 'this did not work');
  const detail = body.detail && body.detail !== title ? body.detail : '';
  return {
    title: capital(title),
    detail: capital(detail || (problem instanceof Problem && !body.title ? problem.message : '')),
    where: body.where ? String(body.where) : '',
    figures: Object.entries(body)
      .filter(([name, value]) => !KNOWN.has(name) && value !== null)
      .filter(([name]) => name !== 'request' || body.status >= 500) // for whoever reads the log
      .map(([name, value]) => [capital(words(name)), valueText(value)]),
  };
}

export function problemNode(problem) {
  const { title, detail, where, figures } = problemWords(problem);
  return element(
    'div.problem',
    { role: 'alert' },
    element('p.problem-title', title),
    detail && element('p', detail),
    where && element('p', 'Where: ', element('code', where)),
    figures.length > 0 && facts(figures, 'facts'),
  );
}

const awaited = new WeakMap();

/** Shows in a node what is promised, or what went wrong, unless something else was promised since; returns it. */
export function shownIn(node, promise) {
  const show = (shown) => awaited.get(node) === promise && fill(node, shown);
  awaited.set(node, promise);
  promise.then(show, (error) => error.name === 'AbortError' || show(problemNode(error)));
  return node;
}

/** A handler of events that runs act(event), and not again until that is over; a text that this returns is said to who listens; what goes wrong is shown
 * behind what the control stands in. */
export function guarded(act) {
  const trouble = element('div');
  return async (event) => {
    const node = event.submitter ?? event.currentTarget;
    event.preventDefault();
    if (node.ariaBusy) return;
    node.ariaBusy = 'true'; // not disabled: that would take the keyboard's place away
    trouble.remove();
    try {
      const told = await act(event);
      if (typeof told === 'string') announce(told);
    } catch (error) {
      const place = node.isConnected ? (node.closest('.page-head, .scroller') ?? node.closest('.buttons') ?? node) : document.querySelector('.page-head');
      if (error.name !== 'AbortError') place?.after(fill(trouble, problemNode(error)));
    }
    node.ariaBusy = null;
  };
}

/** A button that does so. */
export const actButton = (text, act, properties) => element('button.button', { ...properties, onclick: guarded(act) }, text);

/** The small one of those. */
export const smallButton = (text, act, more) => actButton(text, act, { class: 'small', ...more });

/** What one does to a row of a table. */
export const rowButton = (label, about, act) => smallButton(label, act, { 'aria-label': `${label} ${about}` });

/** A form that does so with what its fields have when it is sent. */
export const form = (name, act, ...children) => {
  const node = element(name, ...children);
  node.addEventListener('submit', guarded(act));
  return node;
};

/** The button that sends a form. */
export const sends = (label, name = 'button.button') => element(name, { type: 'submit' }, label);

/** A form of fields: rows of [name, label, what its input has, or words to choose from]; act(values) when it is sent by the button `label`. */
export function fieldForm(id, rows, label, act, ...rest) {
  const control = (name, of) =>
    Array.isArray(of) ? select({ id: `${id}-${name}` }, of) : element('input', { id: `${id}-${name}`, type: 'text', autocomplete: 'off', ...of });
  const controls = rows.map(([name, , of]) => [name, control(name, of)]),
    sent = () => act(Object.fromEntries(controls.map(([name, { value }]) => [name, value])));
  const fields = rows.map(([, text], i) => field(text, controls[i][1]));
  return form('form.form', sent, element('div.field-row', fields), element('div.buttons', sends(label)), rest);
}
