// A problem reply (RFC 9457) in words: what, where, and the figures that came with it; and buttons whose failure is shown so.

import { announce, element, facts, fill } from './dom.js';
import { capital, count, words } from './format.js';

const KNOWN = new Set(['type', 'title', 'status', 'detail', 'code', 'where', 'instance']);

export class Problem extends Error {
  constructor(body, status) {
    super(body?.detail || body?.title || `the server answered ${status}`);
    this.body = body ?? {};
    this.status = status;
  }
}

function figureText(value) {
  if (typeof value === 'number') return count(value);
  if (Array.isArray(value)) return value.map(figureText).join(' × ');
  if (value && typeof value === 'object') {
    if ('width' in value && 'height' in value) return `${count(value.width)} × ${count(value.height)}`;
    return Object.entries(value)
      .map(([name, part]) => `${words(name)} ${figureText(part)}`)
      .join(', ');
  }
  return String(value);
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
      .map(([name, value]) => [capital(words(name)), figureText(value)]),
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

/** Shows in a node what is promised, or what went wrong; returns it. */
export function shownIn(node, promise) {
  promise.then(
    (shown) => fill(node, shown),
    (error) => error.name === 'AbortError' || fill(node, problemNode(error)),
  );
  return node;
}

/** Runs things one after the other, and says so to who listens; what goes wrong is shown in `outcome`. */
export const attemptIn = (outcome) => async (run, told) => {
  fill(outcome);
  try {
    await run();
    announce(told);
  } catch (error) {
    if (error.name !== 'AbortError') fill(outcome, problemNode(error));
  }
};

/** The small one of those below. */
export const smallButton = (text, act, more = {}) => actButton(text, act, { class: 'button small', ...more });

/** What one does to a row of a table. */
export const rowButton = (label, about, onclick) => element('button.button.small', { 'aria-label': `${label} ${about}`, onclick }, label);

/** A button that runs `act`, and cannot be pressed again until that is over; what goes wrong is shown behind what it stands in. */
export function actButton(text, act, properties = {}) {
  const trouble = element('div'),
    node = element('button.button', { ...properties, onclick: () => pressed() }, text);
  const place = () => (node.isConnected ? (node.closest('.page-head, .scroller') ?? node.closest('.buttons') ?? node) : document.querySelector('.page-head'));
  async function pressed() {
    node.disabled = true;
    trouble.remove();
    try {
      await act();
    } catch (error) {
      if (error.name !== 'AbortError') place()?.after(fill(trouble, problemNode(error)));
    }
    node.disabled = false;
  }
  return node;
}
