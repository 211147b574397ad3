// How a network's file is read: what the server understood of one, and the fields that say it otherwise.

import { getReadOptions } from './api.js';
import { element, fill } from './dom.js';
import { count, words } from './format.js';

/** What the server understood of a network's file: so that a wrong reading shows before a job is made. */
export function readingNode({ reading, format }) {
  if (!reading) return '';
  const arrow = reading.directed ? '→' : '—';
  const rowText = ({ source, target, weight, delay }) =>
    `${source} ${arrow} ${target}, weight ${count(weight)}${delay === undefined ? '' : `, delay ${delay} ms`}`;
  const lines = [
    `Read as ${format}, by ${reading.why}; ${reading.directed ? 'directed' : 'undirected'}, ids are ${reading.ids}`,
    reading.columns.length > 0 && `Columns: ${reading.columns.join(', ')}${reading.header ? ', by a header' : ', by their order'}`,
    reading.ignored.length > 0 && `Ignored: ${reading.ignored.join(', ')}`,
    reading.merged + reading.dropped > 0 && `${count(reading.merged)} merged, ${count(reading.dropped)} dropped`,
  ].filter(Boolean);
  return element(
    'div',
    { class: 'reading' },
    lines.map((text) => element('p', { class: 'quiet' }, text)),
    element(
      'ol',
      { class: 'quiet' },
      reading.rows.map((row) => element('li', {}, rowText(row))),
    ),
  );
}

const idOf = (name) => `read-${name.replace('_', '-')}`;

function controlOf({ name, schema }) {
  if (!schema.enum) return element('input', { id: idOf(name), type: 'text', maxlength: '400', autocomplete: 'off', spellcheck: 'false' });
  const choices = schema.enum.map((word) => element('option', { value: word }, word));
  return element('select', { id: idOf(name) }, element('option', { value: '' }, 'as the file says'), choices);
}

/** Fields for every option of reading, by the server's own list, which is asked for when they are first shown.
 * `again` reads the last file anew; offer(true) says that there is one, open() shows the fields. */
export function readingFields(again, signal) {
  let controls = [];
  const box = element('div', { class: 'field-row' });
  const button = element('button', { type: 'button', class: 'button', id: 'read-again', hidden: true, onclick: again }, 'Read the last file again');
  const node = element('details', { class: 'reading-fields' }, element('summary', {}, 'How it is read'), box, element('div', { class: 'buttons' }, button));
  async function ask() {
    if (!node.open || controls.length > 0) return;
    try {
      const known = await getReadOptions(signal);
      if (controls.length > 0) return;
      controls = known.map((option) => ({ ...option, control: controlOf(option) }));
      const field = ({ name, description, control }) =>
        element('div', { class: 'field' }, element('label', { for: control.id }, words(name)), control, element('p', { class: 'quiet note' }, description));
      fill(box, controls.map(field));
    } catch {
      // The file's own words serve; another look asks again.
    }
  }
  node.addEventListener('toggle', ask);
  return {
    node,
    values: () => Object.fromEntries(controls.map(({ name, control }) => [name, control.value.trim() || undefined])),
    offer: (there) => (button.hidden = !there),
    open: () => (node.open = true),
  };
}
