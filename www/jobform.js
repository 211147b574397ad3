// #/new: upload a network, then a job for it: a topology is mapped on a chip, a model is compiled, for a chip that runs programs or for none. Fields
// are an option each, as the server's own schemas have it; what is left as it is is not sent: the server's defaults are its own.

import { getChip, getJson, getMe, getNetwork, getOccupancy, getSchemas, listChips, startJob } from './api.js';
import { RUN, runFields } from './deploy.js';
import { element, field, fill, folded, optionsOf, pageHead, select, setText } from './dom.js';
import { bytes, count, fragmentText, shortId } from './format.js';
import { limitsOf } from './model.js';
import { form, sends } from './problem.js';
import { isModel, readingNode, sizeText, uploadPanel } from './upload.js';

const DEFAULT_CHIP = 'loihi64',
  TABLES = { map: 'MapOptions', compile: 'CompileOptions' };

async function chipText(entry, model, signal) {
  const description = await getChip(entry.name, signal);
  if (model) return `${bytes(description.machine.memory_bytes)} of on-chip memory · ${entry.description}`;
  const occupancy = await getOccupancy(entry.name, signal);
  const limits = limitsOf(description);
  return [
    `${count(entry.width)} × ${count(entry.height)} cores, ${count(occupancy.free)} free${fragmentText(occupancy.fragmentation)}`,
    limits.neurons && `${count(limits.neurons, 'neurons')} a core`,
    limits.synapses && count(limits.synapses, 'synapses'),
    limits.inbound_axons && count(limits.inbound_axons, 'inbound axons'),
  ]
    .filter(Boolean)
    .join(' · ');
}

/** Options of an address that the form has no field for, as they were. */
function others(wanted) {
  const known = new Set(['network', 'chip', 'spikes', ...Object.keys(RUN), ...OPTIONS]);
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
  const basic = element('div.field-row'),
    more = element('div.field-row');
  const reserveNode = element('label.check', reserve, 'Reserve the cores on the chip when done');
  const kept = others(wanted),
    run = runFields(schemas.MapOptions.properties, wanted);
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
      optionsOf(fitting.map(({ name: of, width, height, preset }) => [of, `${of} · ${count(width)} × ${count(height)}${preset ? '' : ' · own'}`])),
      model && optionsOf([['', 'none: permutations only']]),
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
          ? `${count(entry.neurons, 'neurons')}, ${count(entry.synapses, 'synapses')}, ${count(entry.hyperedges, 'hyperedges')}`
          : ' ',
    );
    submit.disabled = !entry;
    describeReading(entry);
    if (shown === kind()) return;
    shown = kind();
    setText(title, shown === 'compile' ? 'Compile it' : 'Map it on a chip');
    fields = optionFields(schemas[TABLES[shown]].properties, wanted);
    fill(basic, fields.nodes(BASIC));
    fill(more, fields.nodes(MORE));
    reserveNode.hidden = runNode.hidden = shown === 'compile';
    listChips();
  }

  async function start() {
    const sent = { ...kept, ...fields.values() };
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

const NETWORKS_MAX = 400;

async function allNetworks(signal) {
  const networks = [];
  let cursor;
  do {
    const page = await getJson(`v1/networks${cursor ? `?cursor=${encodeURIComponent(cursor)}` : ''}`, signal);
    networks.push(...page.networks);
    cursor = page.next;
  } while (cursor && networks.length < NETWORKS_MAX);
  return networks;
}

export async function showCreate(main, { query }, signal) {
  const [networks, { chips }, me, schemas] = await Promise.all([allNetworks(signal), listChips(signal), getMe().catch(() => null), getSchemas(signal)]);
  const { form, list } = jobForm({ chips, me, schemas, wanted: Object.fromEntries(query) }, signal);
  list(networks, query.get('network'));
  const onRemoved = (removed) => {
    const at = networks.findIndex(({ id }) => id === removed);
    if (at >= 0) networks.splice(at, 1);
    list(networks);
  };
  const onUploaded = (uploaded) => {
    onRemoved(uploaded.id);
    networks.unshift(uploaded);
    list(networks, uploaded.id);
  };
  const upload = uploadPanel(me, { onUploaded, onRemoved }, signal);
  fill(main, pageHead('New job'), element('div.columns', upload, form));
  return 'New job';
}

/** A field with the choice; its value is '' for what the server's settings say. `me` is null where nobody is signed in. */
export function visibilityField(id, label, me) {
  const choices = [['', 'as the server has it'], ['lab', 'every user'], ...(me?.group ? [['group', `group ${me.group}`]] : []), ['private', 'only you']];
  const control = select({ id }, choices);
  const node = field(label, control);
  node.hidden = !me || me.open;
  return { node, value: () => (node.hidden ? '' : control.value) };
}

const tick = (id) => element('input', { id, type: 'checkbox' });

// Options of jobs (docs/reference/options.md lists them all) that the form has, with their labels.
const BASIC = { preset: 'Preset', stop_after: 'Last stage', seed: 'Seed' };
const MORE = {
  ...{ objective: 'Objective', mapper: 'Mapper' },
  ...{ policy: 'Policy', policy_objective: 'What the policy is refined for', policy_refinement: 'Refinement of the policy' },
  ...{ traffic_model: 'Traffic model', max_part_size: 'Neurons per core at most', inputs: 'Inputs of the network' },
  ...{ step_budget_ns: 'Time of a core at most, ns', scenarios: 'Rates that vary', parts: 'Number of cores' },
  ...{ memory: 'On-chip memory', shape: 'Shapes of open inputs', order: 'Order of operators', verify: 'Verify on random inputs' },
  ...{ time_limit: 'Time limit in seconds', memory_limit: 'Memory limit', threads: 'Threads' },
};
const LABELS = { ...BASIC, ...MORE };
export const OPTIONS = new Set(Object.keys(LABELS));
const NUMBERS = new Set(['integer', 'number']);

function controlOf(id, { type, enum: words, default: normal, minimum, maximum, examples }) {
  if (words) return select({ id }, [['', `${normal ?? 'none'} (unless chosen)`], ...words.filter((word) => word !== normal)]);
  if (type === 'boolean') return tick(id);
  const max = Math.min(maximum, Number.MAX_SAFE_INTEGER);
  if (NUMBERS.has(type)) return element('input', { id, type: 'number', min: minimum, max, step: type === 'integer' ? '1' : 'any', placeholder: normal || '' });
  return element('input', { id, type: 'text', maxlength: '2000', autocomplete: 'off', spellcheck: 'false', placeholder: examples?.[0] ?? '' });
}

/** The fields of a kind of job, by the properties of its schema, those that have `labels`: nodes(of), values(): what is not as it was. `begun`: to begin
 * with. idOf(name): of a control. */
export function optionFields(properties, begun, labels = LABELS, idOf = (name) => name.replaceAll('_', '-').replace(/^max-|-ns$/g, '')) {
  const list = Object.keys(labels)
    .filter((name) => name in properties)
    .map((name) => {
      const schema = properties[name].anyOf?.[0] ?? properties[name],
        control = controlOf(idOf(name), schema),
        note = element('p.quiet.note', properties[name].description);
      if (begun[name] !== undefined && control.type === 'checkbox') control.checked = begun[name] === 'true';
      else if (begun[name] !== undefined) {
        if (schema.enum && ![...control.options].some(({ value }) => value === begun[name])) control.append(...optionsOf([begun[name]]));
        control.value = begun[name];
      }
      const node = control.type === 'checkbox' ? element('label.check', control, labels[name]) : field(labels[name], control, note);
      return { name, control, node, numeric: NUMBERS.has([schema.type].flat()[0]) };
    });
  const mapper = list.find(({ name }) => name === 'mapper')?.control;
  const suit = () => list.forEach(({ name, node }) => (node.hidden = name.startsWith('policy') && mapper.value !== 'learned'));
  mapper?.addEventListener('change', suit);
  suit();
  const nodes = (of) => list.filter(({ name }) => name in of).map(({ node }) => node);
  const valueOf = ({ control, numeric }) =>
    control.type === 'checkbox' ? control.checked : numeric && Number(control.value) >= 0 ? Number(control.value) : control.value;
  return {
    nodes,
    values: () =>
      Object.fromEntries(
        list
          .filter(({ node, control }) => !node.hidden && (control.type === 'checkbox' ? control.checked : control.value !== ''))
          .map((one) => [one.name, valueOf(one)]),
      ),
  };
}
