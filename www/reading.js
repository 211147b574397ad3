// How a network's file is read: what the server understood of one, and the fields that say it otherwise.

import { getReadOptions } from './api.js';
import { element, field, fill } from './dom.js';
import { count, words } from './format.js';
import { controlOf } from './jobfields.js';

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
    'div.reading',
    lines.map((text) => element('p.quiet', text)),
    element(
      'ol.quiet',
      reading.rows.map((row) => element('li', rowText(row))),
    ),
  );
}

/** Fields for every option of reading, by the server's own list, which is asked for when they are first shown.
 * `again` reads the last file anew; offer(true) says that there is one, open() shows the fields. */
export function readingFields(again, signal) {
  let controls = [];
  const box = element('div.field-row');
  const button = element('button.button', { id: 'read-again', hidden: true, onclick: again }, 'Read the last file again');
  const node = element('details.reading-fields', element('summary', 'How it is read'), box, element('div.buttons', button));
  async function ask() {
    if (!node.open || controls.length > 0) return;
    const known = await getReadOptions(signal).catch(() => []); // the file's own words serve; another look asks again
    if (controls.length > 0) return;
    controls = known.map((option) => ({ ...option, control: controlOf(`read-${option.name.replace('_', '-')}`, option.schema) }));
    fill(
      box,
      controls.map(({ name, description, control }) => field(words(name), control, element('p.quiet.note', description))),
    );
  }
  node.addEventListener('toggle', ask);
  return {
    node,
    values: () => Object.fromEntries(controls.map(({ name, control }) => [name, control.value.trim() || undefined])),
    offer: (there) => (button.hidden = !there),
    open: () => (node.open = true),
  };
}
