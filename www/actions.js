// What one does with anything that is kept: label, pin, show to others, delete and take back, copy its job as a line for curl, coremap and Python.

import { change, getJson, pathOf } from './api.js';
import { announce, element, fill, select } from './dom.js';
import { listed } from './format.js';
import { form, guarded, sends, smallButton } from './problem.js';

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

/** Deletes things of one kind, and tells how to take them back; onBack() when they are. */
export async function deleteThings(kind, ids, outcome, onBack = () => {}) {
  for (const id of ids) await change('DELETE', pathOf(kind, id));
  const back = async () => {
    for (const id of ids) await change('POST', pathOf('bin', id, 'restore'));
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
    labels = element('input', { type: 'text', 'aria-label': 'Labels', placeholder: 'paper=fig3, draft', maxlength: '1000' });
  const pin = element('input', {
    type: 'checkbox',
    onchange: guarded(() => change(pin.checked ? 'PUT' : 'DELETE', `${path}/pin`).then(() => (pin.checked ? 'Pinned' : 'No longer pinned'))),
  });
  const seen = select(
    { 'aria-label': 'Who sees it', onchange: guarded(() => change('PUT', `${path}/access`, { visibility: seen.value }).then(() => `Seen by ${seen.value}`)) },
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
        () => change('PUT', `${path}/labels`, { labels: readLabels(labels.value) }).then(() => 'Labelled'),
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

/** Options that are not as the server has them unless told. */
const given = (options, described) =>
  Object.entries(options ?? {}).filter(
    ([name, value]) => value !== '' && value !== null && (!described || (described[name]?.default !== value && (name in described || FILED[name]))),
  );

// What the command takes as a file: its flag, the file's name, and what stands in it.
const FILED = { constraints: ['constraints', 'constraints.json', (constraints) => JSON.stringify({ constraints })], spikes: ['input', 'spikes.csv', String] };
const quoted = (text) => `'${String(text).replaceAll("'", "'\\''")}'`;
const word = (text) => (/^[\w.-]+$/.test(String(text)) ? text : quoted(text));

/** {curl, coremap, python} of a job to map, which name the server's network by its id. Without `options` beside their defaults (`described`) only what differs is said. */
export function mapLines({ network, chip, options, described, server = location.origin }) {
  const set = given(options, described),
    job = { kind: 'map', network, chip, options: Object.fromEntries(set) };
  const files = set.filter(([key]) => FILED[key]).map(([key, value]) => `printf %s ${quoted(FILED[key][2](value))} > ${FILED[key][1]}; `),
    flag = (key, value) => (FILED[key] ? `${FILED[key][0]} ${FILED[key][1]}` : `${key.replaceAll('_', '-')} ${word(value)}`),
    words = set.map(([key, value]) => ` --${flag(key, value)}`).join('');
  const python = (value) => (typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value));
  return {
    curl: `curl -X POST ${quoted(`${server}/v1/jobs`)} -d ${quoted(JSON.stringify(job))}`,
    coremap: `${files.join('')}coremap submit ${network} --server ${server} --chip ${word(chip)}${words} --wait`,
    python: `coremap.map(${JSON.stringify(network)}, chip=${JSON.stringify(chip)}, server=${JSON.stringify(server)}${set.map(([key, value]) => `, ${key}=${python(value)}`).join('')})`,
  };
}

/** Buttons that copy each line, and the line that was copied. */
export function mapCopies(job) {
  if (!job.network || !job.chip) return null;
  const lines = mapLines(job),
    shown = element('code.copied');
  const copy = async (way) => {
    fill(shown, lines[way]);
    const failed = await Promise.resolve(navigator.clipboard?.writeText(lines[way]) ?? true).catch(() => true); // there is none without TLS
    announce(failed ? 'The line stands below, ready to be copied' : `Copied for ${way}`);
  };
  return element(
    'div.stack',
    element(
      'div.buttons',
      ['curl', 'coremap', 'Python'].map((way) => element('button.button.small', { onclick: () => copy(way.toLowerCase()) }, `Copy as ${way}`)),
    ),
    shown,
  );
}
