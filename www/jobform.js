// The form that makes a job: a topology is mapped on a chip, a model is compiled, for a chip that runs programs or for none.

import { getChip, getNetwork, getOccupancy, startJob } from './api.js';
import { element, field, fill, folded, form, optionsOf, sends, setText } from './dom.js';
import { bytes, count, fragmentText, shortId } from './format.js';
import { OPTIONS, optionFields, tick } from './jobfields.js';
import { limitsOf } from './model.js';
import { problemNode } from './problemnode.js';
import { readingNode } from './reading.js';
import { RUN_OPTIONS, runFields } from './running.js';
import { isModel, sizeText } from './upload.js';
import { visibilityField } from './visibility.js';

const DEFAULT_CHIP = 'loihi64',
  TABLES = { map: 'MapOptions', compile: 'CompileOptions' };

async function chipText(entry, model, signal) {
  const description = await getChip(entry.name, signal);
  if (model) return `${bytes(description.machine.memory_bytes)} of on-chip memory · ${entry.description}`;
  const occupancy = await getOccupancy(entry.name, signal);
  const limits = limitsOf(description);
  return [
    `${count(entry.width)} × ${count(entry.height)} cores, ${count(occupancy.free)} free${fragmentText(occupancy.fragmentation)}`,
    limits.neurons && `${count(limits.neurons)} neurons a core`,
    limits.synapses && `${count(limits.synapses)} synapses`,
    limits.inbound_axons && `${count(limits.inbound_axons)} inbound axons`,
  ]
    .filter(Boolean)
    .join(' · ');
}

/** Options of an address that the form has no field for, as they were. */
function others(wanted) {
  const known = new Set(['network', 'chip', ...RUN_OPTIONS, ...OPTIONS]);
  const value = (text) => (/^(true|false|-?\d+(\.\d+)?|\[.*\])$/.test(text) ? JSON.parse(text) : text);
  return Object.fromEntries(
    Object.entries(wanted)
      .filter(([name]) => !known.has(name))
      .map(([name, text]) => [name, value(text)]),
  );
}

/** The form, and list(networks, id), which shows other networks in it and chooses one. `wanted`: a chip and options to begin with. */
export function jobForm({ chips, me, schemas, wanted }, signal) {
  const network = element('select', { id: 'network', required: true });
  const networkNote = element('p.quiet.note');
  const readingBox = element('div');
  const chip = element('select', { id: 'chip' });
  const chipNote = element('p.quiet.note');
  const name = element('input', { id: 'name', type: 'text', maxlength: '120', autocomplete: 'off', placeholder: 'optional' });
  const reserve = tick('reserve');
  const title = element('h2', { id: 'form-title' }, 'Map it on a chip');
  const submit = sends('Start the job', 'button.button.primary');
  const outcome = element('div');
  const basic = element('div.field-row'),
    more = element('div.field-row');
  const reserveNode = element('label.check', reserve, 'Reserve the cores on the chip when done');
  const kept = others(wanted),
    run = runFields(wanted);
  const runNode = folded('Run it first, and map it at its rates', { open: wanted.profile !== undefined }, element('div.field-row', run.nodes));
  const visibility = visibilityField('visibility', 'Who sees the result', me);
  let networks = [];

  const kind = () => (isModel(networks.find(({ id }) => id === network.value)) ? 'compile' : 'map');

  let describing = 0;
  async function describeChip() {
    const mine = ++describing,
      entry = chips.find((one) => one.name === chip.value);
    setText(chipNote, entry ? entry.description || ' ' : 'the rewritten model is the result');
    if (!entry) return;
    const text = await chipText(entry, kind() === 'compile', signal).catch(() => null); // the form works without the note
    if (text && mine === describing) setText(chipNote, text);
  }

  /* The chips that this kind of job can have. */
  function listChips() {
    const model = kind() === 'compile',
      before = chip.value || wanted.chip;
    const fitting = chips.filter((entry) => !model || entry.runs_programs);
    fill(
      chip,
      model && optionsOf([['', 'none: permutations only']]),
      optionsOf(fitting.map(({ name: of, width, height, preset }) => [of, `${of} · ${count(width)} × ${count(height)}${preset ? '' : ' · own'}`])),
    );
    const has = (one) => fitting.some((entry) => entry.name === one);
    chip.value = has(before) ? before : model ? '' : has(DEFAULT_CHIP) ? DEFAULT_CHIP : fitting[0]?.name;
    describeChip();
  }

  /** How the chosen network's file was read. */
  async function describeReading(entry) {
    fill(readingBox);
    if (!entry || isModel(entry)) return;
    const whole = await getNetwork(entry.id, signal).catch(() => null); // the job is made without
    if (whole && network.value === entry.id) fill(readingBox, readingNode(whole));
  }

  let shown, fields;
  function describeNetwork() {
    const entry = networks.find(({ id }) => id === network.value);
    setText(
      networkNote,
      isModel(entry)
        ? sizeText(entry)
        : entry
          ? `${count(entry.neurons)} neurons, ${count(entry.synapses)} synapses, ${count(entry.hyperedges)} hyperedges`
          : ' ',
    );
    submit.disabled = !entry;
    describeReading(entry);
    if (shown === kind()) return;
    shown = kind();
    setText(title, shown === 'compile' ? 'Compile it' : 'Map it on a chip');
    fields = optionFields(schemas[TABLES[shown]].properties, wanted);
    fill(basic, fields.basic);
    fill(more, fields.more);
    reserveNode.hidden = runNode.hidden = shown === 'compile';
    listChips();
  }

  async function start() {
    submit.disabled = true;
    fill(outcome);
    const sent = { ...kept, ...fields.values() };
    try {
      if (kind() === 'map') Object.assign(sent, await run.values());
      await startJob({
        kind: kind(),
        network: network.value,
        ...(chip.value && { chip: chip.value }),
        ...(kind() === 'map' && { reserve: reserve.checked }),
        options: sent,
        ...(visibility.value() && { visibility: visibility.value() }),
        ...(name.value.trim() && { name: name.value.trim() }),
      });
    } catch (error) {
      fill(outcome, problemNode(error));
      submit.disabled = false;
    }
  }

  const node = form(
    'form.panel.form',
    start,
    { 'aria-labelledby': 'form-title' },
    title,
    field('Network', network, networkNote),
    readingBox,
    field('Chip', chip, chipNote),
    basic,
    field('Name', name),
    visibility.node,
    folded('More options', {}, more),
    runNode,
    reserveNode,
    outcome,
    element('div.buttons', submit),
  );
  chip.addEventListener('change', describeChip);
  network.addEventListener('change', describeNetwork);

  return {
    form: node,
    list(all, id) {
      networks = all;
      fill(
        network,
        networks.length === 0 && optionsOf([['', 'upload a network first']]),
        optionsOf(networks.map((entry) => [entry.id, `${entry.name || shortId(entry.id)} · ${entry.format} · ${sizeText(entry)}`])),
      );
      if (id) network.value = id;
      describeNetwork();
    },
  };
}
