// What one does with anything that is kept: label, pin, show to others, delete and take back.

import { change, getJson } from './api.js';
import { announce, element, fill } from './dom.js';
import { actButton, problemNode } from './problemnode.js';

const PINNED = new Set(['networks', 'mappings', 'programs']);

/** "paper=fig3, draft=" as {paper: "fig3", draft: ""}. */
export function readLabels(text) {
  const pairs = text.split(',').map((pair) => pair.trim()).filter(Boolean);
  return Object.fromEntries(pairs.map((pair) => [pair.split('=')[0].trim(), pair.includes('=') ? pair.slice(pair.indexOf('=') + 1).trim() : '']));
}
export const labelText = (labels) => Object.entries(labels ?? {}).map(([key, value]) => (value === '' ? key : `${key}=${value}`)).join(', ');

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
    element('p', { class: 'undo', role: 'status' }, ids.length === 1 ? 'Deleted; it lies in the bin. ' : `${ids.length} are deleted and lie in the bin. `, actButton('Undo', back, { outcome, class: 'button small' })),
  );
}

/** kind: networks, jobs, mappings or programs. */
export function actionBar(kind, id, signal) {
  const path = pathOf(kind, id),
    outcome = element('div', {}),
    labels = element('input', { type: 'text', 'aria-label': 'Labels', placeholder: 'paper=fig3, draft', maxlength: '1000' });
  const pin = element('input', { type: 'checkbox', onchange: () => act(() => change(pin.checked ? 'PUT' : 'DELETE', `${path}/pin`), pin.checked ? 'Pinned' : 'No longer pinned') });
  const seen = element(
    'select',
    { 'aria-label': 'Who sees it', onchange: () => act(() => change('PUT', `${path}/access`, { visibility: seen.value }), `Seen by ${seen.value}`) },
    ['lab', 'group', 'private'].map((value) => element('option', { value }, value)),
  );
  async function act(run, done) {
    fill(outcome);
    try {
      await run();
      announce(done);
    } catch (error) {
      fill(outcome, problemNode(error));
    }
  }
  Promise.all([getJson(`${path}/labels`, signal), getJson(`${path}/access`, signal)]).then(
    ([{ labels: has }, access]) => {
      labels.value = labelText(has);
      seen.value = access.visibility;
      pin.checked = Boolean(access.pinned);
    },
    () => {},
  );
  return element(
    'div',
    { class: 'stack' },
    element(
      'div',
      { class: 'buttons action-bar' },
      element('form', { class: 'buttons', onsubmit: (event) => (event.preventDefault(), act(() => change('PUT', `${path}/labels`, { labels: readLabels(labels.value) }), 'Labelled')) }, labels, element('button', { type: 'submit', class: 'button small' }, 'Label')),
      PINNED.has(kind) && element('label', { class: 'check' }, pin, 'pin: retention leaves it'),
      element('label', { class: 'check' }, 'seen by', seen),
      actButton('Delete', () => deleteThings(kind, [id], outcome), { outcome, class: 'button small' }),
    ),
    outcome,
  );
}
