// A table of things: columns are [title, what a row shows there, class].

import { element } from './dom.js';

export function listTable(label, columns, rows, empty) {
  if (rows.length === 0) return element('p', { class: 'quiet' }, empty);
  return element(
    'div',
    { class: 'scroller', tabindex: '0', role: 'region', 'aria-label': label },
    element(
      'table',
      {},
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          columns.map(([title, , kind]) =>
            title
              ? element('th', { scope: 'col', class: kind }, title)
              : element('th', { scope: 'col' }, element('span', { class: 'hidden' }, 'Actions')),
          ),
        ),
      ),
      element(
        'tbody',
        {},
        rows.map((row) =>
          element(
            'tr',
            {},
            columns.map(([, show, kind]) => element('td', { class: kind }, show(row))),
          ),
        ),
      ),
    ),
  );
}
