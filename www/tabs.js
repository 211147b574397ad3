// Tabs: one panel at a time, filled when it is first shown; arrow keys go from tab to tab.

import { element, fill } from './dom.js';
import { problemNode } from './problemnode.js';

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
