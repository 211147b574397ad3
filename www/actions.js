// What one does with anything that is kept: label, pin, show to others, delete and take back.

import { change, getJson } from './api.js';
import { element, fill, form, select, sends } from './dom.js';
import { listed } from './format.js';
import { attemptIn, smallButton } from './problemnode.js';

const PINNED = new Set(['networks', 'mappings', 'programs']);

/** "paper=fig3, draft=" as {paper: "fig3", draft: ""}. */
export function readLabels(text) {
  const pairs = text
    .split(',')
    .map((pair) => pair.trim())
    .filter(Boolean);
  return Object.fromEntries(pairs.map((pair) => [pair.split('=')[0].trim(), pair.includes('=') ? pair.slice(pair.indexOf('=') + 1).trim() : '']));
}
export const labelText = (labels) => listed(labels, ([key, value]) => (value === '' ? key : `${key}=${value}`));

export const pathOf = (kind, id) => `v1/${kind}/${encodeURIComponent(id)}`;

/** Deletes things of one kind, and tells how to take them back; onBack() when they are. */
export async function deleteThings(kind, ids, outcome, onBack = () => {}) {
  for (const id of ids) await change('DELETE', pathOf(kind, id));
  const back = async () => {
    for (const id of ids) await change('POST', `v1/bin/${encodeURIComponent(id)}/restore`);
    fill(outcome, element('p', { role: 'status' }, ids.length === 1 ? 'It is back.' : 'They are back.'));
    onBack();
  };
  fill(
    outcome,
    element(
      'p.undo',
      { role: 'status' },
      ids.length === 1 ? 'Deleted; it lies in the bin. ' : `${ids.length} are deleted and lie in the bin. `,
      smallButton('Undo', back),
    ),
  );
}

/** kind: networks, jobs, mappings or programs. */
export function actionBar(kind, id, signal) {
  const path = pathOf(kind, id),
    outcome = element('div'),
    act = attemptIn(outcome),
    labels = element('input', { type: 'text', 'aria-label': 'Labels', placeholder: 'paper=fig3, draft', maxlength: '1000' });
  const pin = element('input', {
    type: 'checkbox',
    onchange: () => act(() => change(pin.checked ? 'PUT' : 'DELETE', `${path}/pin`), pin.checked ? 'Pinned' : 'No longer pinned'),
  });
  const seen = select(
    { 'aria-label': 'Who sees it', onchange: () => act(() => change('PUT', `${path}/access`, { visibility: seen.value }), `Seen by ${seen.value}`) },
    ['lab', 'group', 'private'],
  );
  Promise.all([getJson(`${path}/labels`, signal), getJson(`${path}/access`, signal)]).then(
    ([{ labels: has }, access]) => {
      labels.value = labelText(has);
      seen.value = access.visibility;
      pin.checked = Boolean(access.pinned);
    },
    () => {},
  );
  return element(
    'div.stack',
    element(
      'div.buttons.action-bar',
      form(
        'form.buttons',
        () => act(() => change('PUT', `${path}/labels`, { labels: readLabels(labels.value) }), 'Labelled'),
        labels,
        sends('Label', 'button.button.small'),
      ),
      PINNED.has(kind) && element('label.check', pin, 'pin: retention leaves it'),
      element('label.check', 'seen by', seen),
      smallButton('Delete', () => deleteThings(kind, [id], outcome)),
    ),
    outcome,
  );
}
