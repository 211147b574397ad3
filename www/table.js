// Tables: columns are [title, what a row shows there, class]; the first column names the row.

import { element, section } from './dom.js';

export const NUMBER = 'number';

function cell(show, kind, row, first) {
  const shown = show(row);
  return first ? element('th', { scope: 'row', class: kind }, shown) : element('td', { class: kind }, shown);
}

/** `of`: attributes of a row's line. A wide table scrolls in its own box. */
export function table(label, columns, rows, { empty = 'none', of = () => ({}), kind = null } = {}) {
  if (rows.length === 0) return element('p.quiet', empty);
  const body = element('tbody');
  const add = (more) =>
    body.append(
      ...more.map((row) =>
        element(
          'tr',
          of(row),
          columns.map(([, show, look], i) => cell(show, look, row, i === 0)),
        ),
      ),
    );
  add(rows);
  const node = element(
    'div.scroller',
    { tabindex: '0', role: 'region', 'aria-label': label },
    element(
      'table',
      { class: kind },
      element(
        'thead',
        element(
          'tr',
          columns.map(([title, , look]) => element('th', { scope: 'col', class: look }, title || element('span.hidden', 'Actions'))),
        ),
      ),
      body,
    ),
  );
  return node;
}

/** A bar in a cell: how much of something this is. */
export function share(part) {
  const bar = element('div.bar-fill');
  bar.style.transform = `scaleX(${Math.min(Math.max(part || 0, 0), 1)})`;
  return element('div.bar', { 'aria-hidden': 'true' }, bar);
}

/** A section that is a table, and what else belongs to it. */
export const tableSection = (title, columns, rows, options, ...rest) => section(title, table(title, columns, rows, options), rest);
