// Tables: columns are [title, what a row shows there (a function, or the name of a property), class]; the first column names the row. Tabs: one panel at a time, filled when it is shown.

import { bar, element, fill, section } from './dom.js';
import { problemNode } from './problem.js';

export const NUMBER = 'number';

/** Columns of figures, {title: the property of a row that it shows}; show: how they read. */
export const figures = (show, of) => Object.entries(of).map(([title, name]) => [title, (row) => show(row[name]), NUMBER]);

/** A row's line: `of`, its attributes; cells `before` those of the columns. */
export const rowOf = (columns, row, of, ...before) =>
  element(
    'tr',
    of,
    before,
    columns.map(([title, show, look], i) =>
      element(
        i === 0 ? 'th' : 'td',
        { scope: i === 0 ? 'row' : null, class: look, 'data-title': title || null },
        typeof show === 'string' ? row[show] : show(row),
      ),
    ),
  );

/** The line of the head. A column's fourth entry is what it is sorted by: `sorted` says by which, "-name" the other way; sort(by) does so. */
export const headOf = (columns, { sorted, sort } = {}, ...before) => {
  const way = (by) => (sorted === by ? 'ascending' : sorted === `-${by}` ? 'descending' : null),
    button = (title, by) =>
      element('button.sort', { onclick: () => sort(way(by) === 'ascending' ? `-${by}` : by) }, title, { ascending: ' ▴', descending: ' ▾' }[way(by)]);
  return element(
    'tr',
    before,
    columns.map(([title, , look, by]) =>
      element(
        'th',
        { scope: 'col', class: look, 'aria-sort': by && sort && way(by) },
        !title ? element('span.hidden', 'Actions') : by && sort ? button(title, by) : title,
      ),
    ),
  );
};

/** about: its label, or {label, empty: what stands there without rows, of(row): attributes of a line, kind}. A wide table scrolls in its own box. */
export function table(about, rows, columns) {
  const { label, empty = 'none', of = () => ({}), kind = null } = about.label ? about : { label: about };
  if (rows.length === 0) return element('p.quiet', empty);
  const lines = rows.map((row) => rowOf(columns, row, of(row)));
  return element(
    'div.scroller',
    { tabindex: '0', role: 'region', 'aria-label': label },
    element('table', { class: kind }, element('thead', headOf(columns)), element('tbody', lines)),
  );
}

/** A bar in a cell: how much of something this is. */
export const share = (part) => bar(part).node;

/** A section that is a table, and what else belongs to it. */
export const tableSection = (about, rows, columns, ...rest) => section(about.label ?? about, table(about, rows, columns), rest);

/** list: {id, label, show(): a node or a promise of one, again: made anew each time}. open(id) shows one; onOpen is told. */
export function tabs(label, list, onOpen = () => {}) {
  const shown = new Map(),
    panel = element('div.tab-panel', { role: 'tabpanel', tabindex: '0', id: 'tab-panel' });
  let current = null;
  const buttons = list.map((one) =>
    element('button', { role: 'tab', id: `tab-${one.id}`, 'aria-controls': 'tab-panel', onclick: () => open(one.id), onkeydown: walk }, one.label),
  );
  function walk(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const at = (list.findIndex(({ id }) => id === current) + step + list.length) % list.length;
    open(list[at].id);
    buttons[at].focus();
    event.preventDefault();
  }
  async function open(id) {
    const at = Math.max(
        0,
        list.findIndex((one) => one.id === id),
      ),
      one = list[at];
    current = one.id;
    buttons.forEach((button, i) => {
      button.setAttribute('aria-selected', String(i === at));
      button.tabIndex = i === at ? 0 : -1;
    });
    panel.setAttribute('aria-labelledby', `tab-${one.id}`);
    onOpen(one.id);
    if (one.again || !shown.has(one.id)) {
      const wait = setTimeout(() => current === one.id && fill(panel, element('p.quiet', 'Reading…')), 150);
      try {
        shown.set(one.id, await one.show());
      } catch (error) {
        if (error.name === 'AbortError') return;
        if (current === one.id) fill(panel, problemNode(error));
        return;
      } finally {
        clearTimeout(wait);
      }
    }
    if (current === one.id) fill(panel, shown.get(one.id));
  }
  return {
    node: [element('div.tabs', { role: 'tablist', 'aria-label': label }, buttons), panel],
    open,
    get current() {
      return current;
    },
  };
}
