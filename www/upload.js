// Uploads a network or model: a file chosen or dropped, how it is read, its progress, what it became.

import { change, getReadOptions, pathOf, uploadNetwork } from './api.js';
import { announce, element, facts, fill, icon, progressBar, setText } from './dom.js';
import { bytes, capital, count, percent, words } from './format.js';
import { optionFields, visibilityField } from './jobform.js';
import { problemNode } from './problem.js';

/** An operator-level model, which is compiled; other networks are mapped. */
export const isModel = (network) => network?.format === 'onnx';
export const sizeText = (network) => (isModel(network) ? count(network.operators, 'operators') : count(network.neurons, 'neurons'));

/** Rows of facts of a network; `more` before its size. */
export const networkRows = (network, more = []) => [
  ['Format', network.format],
  ...(isModel(network) ? ['operators'] : ['neurons', 'synapses', 'hyperedges']).map((name) => [capital(name), count(network[name])]),
  ...more,
  ['Size', bytes(network.bytes)],
];

/** A panel that uploads a file, for `me` to say who sees it, and hands the network that it became to onUploaded; onRemoved is told
 * which network made way for another reading of its file. */
export function uploadPanel(me, { onUploaded, onRemoved }, signal) {
  const visibility = visibilityField('network-visibility', 'Who sees what you upload', me);
  const input = element('input.hidden', {
    type: 'file',
    id: 'file',
    onchange: () => {
      if (input.files[0]) send(input.files[0]);
      input.value = '';
    },
  });
  const bar = progressBar('Upload');
  const line = element('p.upload-line', { role: 'status' });
  const progress = element('div.upload-progress', { hidden: true }, bar.node, line);
  const outcome = element('div.upload-outcome');
  const zone = element(
    'div.drop',
    icon('upload'),
    element('p', element('label.link-label', { for: 'file' }, 'Choose a file'), ' or drop it here'),
    element(
      'p.quiet',
      '.snn, METIS .graph, hMETIS .hgr, MatrixMarket .mtx, edge list or matrix (csv, tsv, txt), adjacency list, GML, Pajek, node-link JSON, SANA-FE .yaml, topology zip, NIR .nir, SONATA .h5, lava-dl .net, NumPy .npy and .npz, GraphML, GEXF, ONNX model; each may be gzipped',
    ),
    progress,
  );
  let busy = false;
  let last = null; // the file that was sent, and the network that it became unless that was there before
  const reading = readingFields(() => last && send(last.file), signal);

  // The same bytes are one network: another reading takes the place of the one just made.
  async function makeWay(file) {
    if (last?.file !== file || !last.made) return;
    await change('DELETE', pathOf('networks', last.made));
    onRemoved(last.made);
    last.made = null;
  }

  // A second file gives a network measured rates, or its neurons models and parameters; that makes another network.
  const tableNode = (network, table, label, hint) => {
    const input = element('input.hidden', { type: 'file', id: table, onchange: () => input.files[0] && send(input.files[0], { id: network.id, table }) });
    return element('p.quiet', input, element('label.link-label', { for: table }, label), ` (csv: ${hint})`);
  };
  const tableNodes = (network) => [
    tableNode(network, 'rates', 'Add measured rates', 'name,rate of every neuron that sends'),
    tableNode(network, 'parameters', 'Add models and parameters', 'neuron or population, model, tau, v_threshold and others'),
  ];

  async function send(file, of) {
    if (busy) return;
    busy = true;
    progress.hidden = false;
    fill(outcome);
    bar.set(0);
    setText(line, `${file.name}, ${bytes(file.size)}`);
    try {
      if (!of) await makeWay(file);
      if (!of) last = { file, made: null };
      const { network, known } = await uploadNetwork(
        file,
        { of, visibility: visibility.value(), ...reading.values() },
        (fraction) => {
          bar.set(fraction);
          setText(line, fraction >= 1 ? `${file.name}: the server reads it…` : `${file.name}: ${percent(fraction, 0)}`);
        },
        signal,
      );
      setText(line, '');
      if (!of && !known) last.made = network.id;
      fill(
        outcome,
        element(
          'div.uploaded',
          element(
            'p',
            element('strong', network.name || file.name),
            of ? ` with the ${of.table} of ${file.name}` : '',
            known ? ' was there already' : ' is uploaded',
          ),
          facts(networkRows(network), 'facts facts-5'),
          network.directed && !isModel(network) ? tableNodes(network) : '',
        ),
      );
      announce(`${file.name} uploaded: ${sizeText(network)}`);
      onUploaded(network);
    } catch (error) {
      if (error.name === 'AbortError') return;
      setText(line, '');
      fill(outcome, problemNode(error));
      reading.open();
    } finally {
      busy = false;
      reading.offer(last !== null);
      progress.hidden = true;
    }
  }

  const carriesFiles = (event) => [...event.dataTransfer.types].includes('Files');
  // Dropping beside the zone would make the browser leave the page for the file.
  for (const type of ['dragover', 'drop']) {
    window.addEventListener(
      type,
      (event) => {
        if (!carriesFiles(event)) return;
        event.preventDefault();
        zone.classList.toggle('over', type === 'dragover' && zone.contains(event.target));
        if (type === 'drop' && zone.contains(event.target) && event.dataTransfer.files[0]) send(event.dataTransfer.files[0]);
      },
      { signal },
    );
  }
  zone.addEventListener('dragleave', () => zone.classList.remove('over'));
  return element('section.panel', element('h2', 'Upload a network or model'), visibility.node, input, zone, outcome, reading.node);
}

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
  let fields = null;
  const box = element('div.field-row');
  const button = element('button.button', { id: 'read-again', hidden: true, onclick: again }, 'Read the last file again');
  const node = element('details.reading-fields', element('summary', 'How it is read'), box, element('div.buttons', button));
  async function ask() {
    if (!node.open || fields) return;
    const known = await getReadOptions(signal).catch(() => []); // the file's own words serve; another look asks again
    if (fields || known.length === 0) return;
    const labels = Object.fromEntries(known.map(({ name }) => [name, words(name)])),
      properties = Object.fromEntries(known.map(({ name, description, schema }) => [name, { ...schema, description }]));
    fields = optionFields(properties, {}, labels, (name) => `read-${name.replace('_', '-')}`);
    fill(box, fields.nodes(labels));
  }
  node.addEventListener('toggle', ask);
  return { node, values: () => fields?.values() ?? {}, offer: (there) => (button.hidden = !there), open: () => (node.open = true) };
}
