// A problem on the page: title, explanation, place, figures; and buttons whose failure is shown so.

import { element, facts, fill } from './dom.js';
import { problemWords } from './problem.js';

export function problemNode(problem) {
  const { title, detail, where, figures } = problemWords(problem);
  return element(
    'div',
    { class: 'problem', role: 'alert' },
    element('p', { class: 'problem-title' }, title),
    detail && element('p', {}, detail),
    where && element('p', {}, 'Where: ', element('code', {}, where)),
    figures.length > 0 && facts(figures, 'facts'),
  );
}

/** A button that runs `act`, and cannot be pressed again until that is over; what goes wrong is shown in `outcome`. */
export function actButton(text, act, { outcome, ...properties } = {}) {
  const node = element(
    'button',
    {
      type: 'button',
      class: 'button',
      ...properties,
      onclick: async () => {
        node.disabled = true;
        if (outcome) fill(outcome);
        try {
          await act();
        } catch (error) {
          if (error.name !== 'AbortError' && outcome) fill(outcome, problemNode(error));
        }
        node.disabled = false;
      },
    },
    text,
  );
  return node;
}
