// #/new: upload a network, then a job that maps it on a chip, or compiles it when it is an operator-level model.

import { createJob, getChip, getOccupancy, listChips, listNetworks, uploadNetwork } from './api.js';
import { announce, element, facts, fill, icon, progressBar, setText } from './dom.js';
import { bytes, count, fragmentText, percent, shortId } from './format.js';
import { limitsOf } from './model.js';
import { problemNode } from './problemnode.js';

const NETWORKS_MAX = 400;
// The presets that the mapper has; docs/options.md lists every option.
const PRESETS = [
  ['balanced', 'balanced: the default'],
  ['fast', 'fast: less effort'],
  ['best', 'best: most effort'],
  ['reference', 'reference: the published method'],
];

async function allNetworks(signal) {
  const networks = [];
  let cursor;
  do {
    const page = await listNetworks({ cursor }, signal);
    networks.push(...page.networks);
    cursor = page.next;
  } while (cursor && networks.length < NETWORKS_MAX);
  return networks;
}

const isModel = (network) => network?.format === 'onnx';
const sizeText = (network) =>
  isModel(network) ? `${count(network.operators)} operators` : `${count(network.neurons)} neurons`;

const networkFacts = (network) =>
  facts(
    [
      ['Format', network.format],
      ...(isModel(network)
        ? [['Operators', count(network.operators)]]
        : [
            ['Neurons', count(network.neurons)],
            ['Synapses', count(network.synapses)],
            ['Hyperedges', count(network.hyperedges)],
          ]),
      ['Size', bytes(network.bytes)],
    ],
    'facts facts-5',
  );

function uploadPanel(onUploaded, signal) {
  const input = element('input', {
    type: 'file',
    id: 'file',
    class: 'hidden',
    onchange: () => {
      if (input.files[0]) send(input.files[0]);
      input.value = '';
    },
  });
  const bar = progressBar('Upload');
  const line = element('p', { class: 'upload-line', role: 'status' });
  const progress = element('div', { class: 'upload-progress', hidden: true }, bar.node, line);
  const outcome = element('div', { class: 'upload-outcome' });
  const zone = element(
    'div',
    { class: 'drop' },
    icon('upload'),
    element(
      'p',
      {},
      element('label', { class: 'link-label', for: 'file' }, 'Choose a file'),
      ' or drop it here',
    ),
    element(
      'p',
      { class: 'quiet' },
      '.snn, METIS .graph, hMETIS .hgr, MatrixMarket .mtx, edge list (csv, tsv), topology zip; each may be gzipped',
    ),
    progress,
  );
  let busy = false;

  async function send(file) {
    if (busy) return;
    busy = true;
    progress.hidden = false;
    fill(outcome);
    bar.set(0);
    setText(line, `${file.name}, ${bytes(file.size)}`);
    try {
      const { network, known } = await uploadNetwork(
        file,
        (fraction) => {
          bar.set(fraction);
          setText(
            line,
            fraction >= 1 ? `${file.name}: the server reads it…` : `${file.name}: ${percent(fraction, 0)}`,
          );
        },
        signal,
      );
      setText(line, '');
      fill(
        outcome,
        element(
          'div',
          { class: 'uploaded' },
          element(
            'p',
            {},
            element('strong', {}, network.name || file.name),
            known ? ' was there already' : ' is uploaded',
          ),
          networkFacts(network),
        ),
      );
      announce(`${file.name} uploaded: ${sizeText(network)}`);
      onUploaded(network);
    } catch (error) {
      if (error.name === 'AbortError') return;
      setText(line, '');
      fill(outcome, problemNode(error));
    } finally {
      busy = false;
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
        if (type === 'drop' && zone.contains(event.target) && event.dataTransfer.files[0])
          send(event.dataTransfer.files[0]);
      },
      { signal },
    );
  }
  zone.addEventListener('dragleave', () => zone.classList.remove('over'));
  return element('section', { class: 'panel' }, element('h2', {}, 'Upload a network'), input, zone, outcome);
}

const field = (label, control, note) =>
  element(
    'div',
    { class: 'field' },
    element('label', { for: control.id }, label),
    control,
    note && (note instanceof Node ? note : element('p', { class: 'quiet' }, note)),
  );

export async function showCreate(main, { query }, signal) {
  const [networks, { chips }] = await Promise.all([allNetworks(signal), listChips(signal)]);
  const network = element('select', { id: 'network', required: true });
  const networkNote = element('p', { class: 'quiet note' });
  const chip = element('select', { id: 'chip', required: true });
  const chipNote = element('p', { class: 'quiet note' });
  const preset = element(
    'select',
    { id: 'preset' },
    PRESETS.map(([value, label]) => element('option', { value }, label)),
  );
  const seed = element('input', {
    id: 'seed',
    type: 'number',
    min: '0',
    max: '9007199254740991',
    step: '1',
    value: '1',
  });
  const name = element('input', {
    id: 'name',
    type: 'text',
    maxlength: '120',
    autocomplete: 'off',
    placeholder: 'optional',
  });
  const partSize = element('input', {
    id: 'part-size',
    type: 'number',
    min: '1',
    max: '4294967295',
    step: '1',
    placeholder: 'the chip’s limit',
  });
  const tries = element('input', {
    id: 'tries',
    type: 'number',
    min: '1',
    max: '64',
    step: '1',
    placeholder: '8',
  });
  const threads = element('input', {
    id: 'threads',
    type: 'number',
    min: '1',
    max: '256',
    step: '1',
    placeholder: 'server’s default',
  });
  const timeLimit = element('input', {
    id: 'time-limit',
    type: 'number',
    min: '1',
    step: '1',
    placeholder: 'none',
  });
  const memoryLimit = element('input', {
    id: 'memory-limit',
    type: 'number',
    min: '1',
    step: '1',
    placeholder: 'server’s default',
  });
  const reserve = element('input', { id: 'reserve', type: 'checkbox' });
  const submit = element('button', { type: 'submit', class: 'button primary' }, 'Start the job');
  const outcome = element('div', {});

  function listed(chosen) {
    fill(
      network,
      networks.length === 0 && element('option', { value: '' }, 'upload a network first'),
      networks.map((entry) =>
        element(
          'option',
          { value: entry.id },
          `${entry.name || shortId(entry.id)} · ${entry.format} · ${sizeText(entry)}`,
        ),
      ),
    );
    if (chosen) network.value = chosen;
    describeNetwork();
  }
  function describeNetwork() {
    const entry = networks.find(({ id }) => id === network.value);
    setText(
      networkNote,
      isModel(entry)
        ? `${sizeText(entry)}: its permutations are placed where they move least; a chip and map options do not matter`
        : entry
          ? `${count(entry.neurons)} neurons, ${count(entry.synapses)} synapses, ${count(entry.hyperedges)} hyperedges`
          : ' ',
    );
    submit.disabled = !entry;
    chip.disabled = preset.disabled = reserve.disabled = isModel(entry);
  }
  let describing = 0;
  async function describeChip() {
    const mine = ++describing,
      entry = chips.find((one) => one.name === chip.value);
    setText(chipNote, entry?.description || ' ');
    if (!entry) return;
    try {
      const [description, occupancy] = await Promise.all([
        getChip(chip.value, signal),
        getOccupancy(chip.value, signal),
      ]);
      if (mine !== describing) return;
      const parts = [`${count(entry.width)} × ${count(entry.height)} cores, ${count(occupancy.free)} free${fragmentText(occupancy.fragmentation)}`];
      const limits = limitsOf(description);
      if (limits.neurons) parts.push(`${count(limits.neurons)} neurons a core`);
      if (limits.synapses) parts.push(`${count(limits.synapses)} synapses`);
      if (limits.inbound_axons) parts.push(`${count(limits.inbound_axons)} inbound axons`);
      setText(chipNote, parts.join(' · '));
    } catch {
      // The form works without the note.
    }
  }

  const form = element(
    'form',
    {
      class: 'panel form',
      'aria-labelledby': 'form-title',
      onsubmit: async (event) => {
        event.preventDefault();
        submit.disabled = true;
        fill(outcome);
        // Only what was chosen: the server's defaults are its own.
        const options = { preset: preset.value };
        for (const [key, control] of [
          ['seed', seed],
          ['max_part_size', partSize],
          ['coarsening_tries', tries],
          ['threads', threads],
          ['time_limit', timeLimit],
        ]) {
          if (control.value !== '') options[key] = Number(control.value);
        }
        if (memoryLimit.value !== '') options.memory_limit = Number(memoryLimit.value) * 1e6;
        try {
          const model = isModel(networks.find(({ id }) => id === network.value));
          if (model) for (const key of ['preset', 'max_part_size', 'coarsening_tries']) delete options[key];
          const job = await createJob({
            kind: model ? 'compile' : 'map',
            network: network.value,
            ...(!model && { chip: chip.value, reserve: reserve.checked }),
            options,
            ...(name.value.trim() && { name: name.value.trim() }),
          });
          location.hash = `#/jobs/${encodeURIComponent(job.id)}`;
        } catch (error) {
          fill(outcome, problemNode(error));
          submit.disabled = false;
        }
      },
    },
    element('h2', { id: 'form-title' }, 'Map it on a chip'),
    field('Network', network, networkNote),
    field('Chip', chip, chipNote),
    element('div', { class: 'field-row' }, field('Preset', preset), field('Seed', seed)),
    field('Name', name),
    element(
      'details',
      {},
      element('summary', {}, 'More options'),
      element(
        'div',
        { class: 'field-row' },
        field('Neurons per core at most', partSize),
        field('Coarsening tries', tries),
      ),
      element(
        'div',
        { class: 'field-row' },
        field('Time limit in seconds', timeLimit),
        field('Memory limit in MB', memoryLimit),
      ),
      element('div', { class: 'field-row' }, field('Threads', threads)),
    ),
    element('label', { class: 'check' }, reserve, 'Reserve the cores on the chip when done'),
    outcome,
    element('div', { class: 'buttons' }, submit),
  );

  fill(
    chip,
    chips.map((entry) =>
      element(
        'option',
        { value: entry.name },
        `${entry.name} · ${count(entry.width)} × ${count(entry.height)}${entry.preset ? '' : ' · own'}`,
      ),
    ),
  );
  chip.value = chips.some((entry) => entry.name === query.get('chip'))
    ? query.get('chip')
    : chips.some((entry) => entry.name === 'loihi64')
      ? 'loihi64'
      : chips[0]?.name;
  chip.addEventListener('change', describeChip);
  network.addEventListener('change', describeNetwork);
  listed(query.get('network'));
  describeChip();
  fill(
    main,
    element('header', { class: 'page-head' }, element('h1', { tabindex: '-1' }, 'New job')),
    element(
      'div',
      { class: 'columns' },
      uploadPanel((uploaded) => {
        const at = networks.findIndex(({ id }) => id === uploaded.id);
        if (at >= 0) networks.splice(at, 1);
        networks.unshift(uploaded);
        listed(uploaded.id);
      }, signal),
      form,
    ),
  );
  return 'New job';
}
