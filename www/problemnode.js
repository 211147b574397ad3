// A problem on the page: title, explanation, place, figures.

import { element, facts } from './dom.js';
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
