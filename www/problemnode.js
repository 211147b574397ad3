// A problem on the page: title, explanation, place, figures; and buttons whose failure is shown so.

import { announce, element, facts, fill } from './dom.js';
import { problemWords } from './problem.js';

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

/** The small one of these. */
export const smallButton = (text, act, outcome, more = {}) => actButton(text, act, { outcome, class: 'button small', ...more });

/** What one does to a row of a table. */
export const rowButton = (label, about, onclick) => element('button.button.small', { 'aria-label': `${label} ${about}`, onclick }, label);

/** A button that runs `act`, and cannot be pressed again until that is over; what goes wrong is shown in `outcome`. */
export function actButton(text, act, { outcome, ...properties } = {}) {
  const node = element(
    'button.button',
    {
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
