// Beside the form of a chip's page: the change as JSON, pins for the next mapping, and what happened to the chip within a day.

import { readLabels } from './actions.js';
import { getDeeds, getJson, getMe, pathOf, change as send } from './api.js';
import { element, field, fill, folded, link, pageOf, section, select, stamp } from './dom.js';
import { count, listed, words } from './format.js';
import { eachCore } from './layers.js';
import { smallButton } from './problem.js';
import { table } from './table.js';

const DAY_S = 86400,
  HISTORY_MOST = 50;

/** "core 3, 4" or "cores 3, 4 to 6, 7", of a rectangle. */
export const boxText = ([x0, y0, x1 = x0, y1 = y0]) => (x0 === x1 && y0 === y1 ? `core ${x0}, ${y0}` : `cores ${x0}, ${y0} to ${x1}, ${y1}`);

/** JSON of a text that somebody typed. */
export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`this is no JSON: ${error.message}`);
  }
}

/** An occupancy in which single cores have another holder. */
export function given({ taken = [], broken }, cores, to) {
  const going = new Set(cores.map(String)),
    rest = taken.map(({ owner, cores: of }) => {
      const single = [];
      eachCore(of, Infinity, Infinity, (_, x, y) => going.has(`${x},${y}`) || single.push([x, y]));
      return { owner, cores: single };
    });
  return { taken: [...rest, { owner: to, cores }].filter(({ cores: left }) => left.length > 0), broken };
}

/** The change that is about to be sent, or was sent last, as JSON that one edits and sends: {node, show(change)}. */
export function changeJson(send) {
  const text = element('textarea', { id: 'change-json', rows: '5', spellcheck: 'false' });
  return {
    node: folded(
      'The change as JSON',
      {},
      field('occupy, release, broken, repaired: lists of [x, y] and [x0, y0, x1, y1]; owner', text),
      smallButton('Send', () => send(parsed(text.value))),
    ),
    show: (change) => (text.value = JSON.stringify(change)),
  };
}

/** Things in words, each of which a press takes away. */
const takenAway = (list, text, change) =>
  list.map((one) =>
    element(
      'p.pin',
      `${text(one)} `,
      element('button.link', { 'aria-label': `Take ${text(one)} away`, onclick: () => change(list.filter((other) => other !== one)) }, 'take away'),
    ),
  );

/* Kinds of constraints: what a form asks of each beside `of`; "hops" is an order by distance. */
const KINDS = {
  pin: ['at'],
  not_here: ['at'],
  together: ['same'],
  apart: ['same', 'to'],
  adjacent: ['to'],
  connected: [],
  order: ['is', 'to'],
  hops: ['hops', 'to'],
};
const numberOr = (text) => (/^\d+$/.test(text) ? Number(text) : text);

/** A constraint in a line. */
const constraintText = ({ kind, of, at, ...more }) => {
  const where = at && (Number.isInteger(at[0]) ? boxText(at) : JSON.stringify(at));
  return kind === 'pin'
    ? `${of} on ${where}`
    : `${of}: ${words(kind)}${at ? `, ${where}` : ''}${listed(more, ([name, value]) => `, ${words(name)} ${value}`, '')}`;
};

/** Constraints of the next mapping on this chip, kept in the address: {node, list()}. at(): the chosen cores, [x0, y0, x1, y1]. */
export function pinsForm({ chip, begun, at, onChange }) {
  let pins = begun;
  const kind = select(
      { id: 'pin-kind', onchange: () => suit() },
      Object.keys(KINDS).map((one) => [one, words(one)]),
    ),
    text = (id, placeholder) => element('input', { type: 'text', id, maxlength: '200', placeholder }),
    of = text('pin-of', 'population, or neuron'),
    shown = element('div'),
    more = {
      same: ['The same, or not the same', select({ id: 'pin-same' }, ['core', 'router', 'chip', 'column', 'row'])],
      is: [
        'It lies',
        select(
          { id: 'pin-is' },
          ['left_of', 'right_of', 'above', 'below'].map((one) => [one, words(one)]),
        ),
      ],
      hops: ['Hops at most', element('input', { id: 'pin-hops', type: 'number', min: '0', value: '1' })],
      to: ['From, or to, whom', text('pin-to', 'empty: among themselves')],
    },
    nodes = Object.entries(more).map(([name, [label, control]]) => [name, field(label, control)]);
  const suit = () => nodes.forEach(([name, node]) => (node.hidden = !KINDS[kind.value].includes(name)));
  function draw() {
    fill(
      shown,
      takenAway(pins, constraintText, change),
      pins.length > 0 && link(`#/new?${new URLSearchParams({ chip, constraints: JSON.stringify(pins) })}`, 'Map with these constraints'),
    );
  }
  function change(next) {
    pins = next;
    draw();
    onChange(pins);
  }
  const add = () => {
    const who = of.value.trim(),
      one = { kind: kind.value === 'hops' ? 'order' : kind.value, of: numberOr(who) };
    if (!who) throw new Error('say who it is about: a population by name or pattern, or a neuron by name or number');
    for (const name of KINDS[kind.value]) {
      const value = name === 'at' ? at() : name === 'hops' ? Number(more.hops[1].value) : numberOr(more[name][1].value.trim());
      if (value !== '') one[name] = value;
    }
    change([...pins, one]);
  };
  draw();
  suit();
  return {
    node: folded(
      'Constraints of the next mapping',
      { open: pins.length > 0 },
      element(
        'div.field-row',
        field('Kind, at the chosen cores', kind),
        field('Who', of),
        nodes.map(([, node]) => node),
      ),
      element('div.buttons', smallButton('Add', add)),
      shown,
    ),
  };
}

/** Classes of cores, made of chosen ones, for the chip itself or, of a preset, for one of another name. at(): cores, [[x0, y0, x1, y1]]. */
export function classesForm(chip, preset, at, onChange) {
  let classes = chip.core_classes ?? [];
  const input = (id, more) => element('input', { id, type: 'text', maxlength: '63', ...more }),
    name = input('class-name'),
    labels = input('class-labels', { placeholder: 'any', maxlength: '400' }),
    pinned = element('input', { id: 'class-pinned', type: 'checkbox' }),
    as = input('class-chip', { value: preset ? `${chip.name}-classes` : chip.name }),
    limits = input('class-limits', { placeholder: 'neurons=512', maxlength: '400' }),
    shown = element('div');
  function change(next) {
    classes = next;
    onChange(classes);
    const ownLimits = ({ limits: of }) => Object.fromEntries(Object.entries(of ?? {}).filter(([limit, most]) => most !== chip.limits?.[limit])),
      limitText = ([limit, most]) => `, ${words(limit)} ${count(most)}`,
      text = (one) =>
        `${one.name}: ${one.cores.map(boxText).join('; ')}${listed(ownLimits(one), limitText, '')}${one.pinned_only ? ', for pinned neurons alone' : ''}`;
    fill(shown, takenAway(classes, text, change));
  }
  function add() {
    const own = Object.entries(readLabels(limits.value)).map(([limit, most]) => [limit, Number(most)]),
      takes = Object.keys(readLabels(labels.value)),
      one = { name: name.value, cores: at(), labels: takes, limits: { ...chip.limits, ...Object.fromEntries(own) }, pinned_only: pinned.checked };
    if (takes.length === 0) delete one.labels;
    if (own.length === 0) delete one.limits;
    change([...classes.filter((other) => other.name !== one.name), one]);
  }
  const keep = async () => {
    await send('PUT', pathOf('chips', as.value), { ...chip, name: as.value, core_classes: classes.length > 0 ? classes : undefined });
    location.hash = pageOf('chips', as.value);
  };
  change(classes);
  return folded(
    'Classes of cores',
    {},
    element('div.field-row', field('Class of the chosen cores', name), field('Labels that it takes', labels), field('Limits of its own', limits)),
    element('label.check', pinned, 'for pinned neurons alone'),
    element('div.buttons', smallButton('Make it a class', add)),
    shown,
    element('div.field-row', field('Chip', as)),
    element('div.buttons', smallButton('Keep the chip', keep)),
  );
}

/** Constraints of an address; what is none there is nothing here. */
export function pinsIn(text) {
  try {
    return JSON.parse(text ?? '[]').filter(({ kind, of }) => Object.hasOwn(KINDS, kind) && of !== undefined);
  } catch {
    return [];
  }
}

/** What happened to a chip within a day, for those who may read the audit trail: {node, refresh()}. */
export function chipHistory(name, signal) {
  const body = element('div'),
    node = section('Within a day', body);
  let admin = null;
  node.hidden = true;
  async function refresh() {
    const since = Math.floor(Date.now() / 1000) - DAY_S,
      about = new URLSearchParams({ object: `/${pathOf('chips', name)}`, since, limit: HISTORY_MOST });
    admin ??= getMe().then(({ role }) => role === 'admin');
    if (!(await admin)) return; // nobody else reads the audit trail
    const [answer, deed] = await Promise.all([getJson(`v1/audit?${about}`, signal), getDeeds(signal)]);
    fill(
      body,
      table({ label: 'What happened within a day', empty: 'Nothing.' }, answer.entries, [
        ['When', (one) => stamp(one.at)],
        ['Who', (one) => one.user || one.address],
        ['What', (one) => deed(one.action)],
        ['With', (one) => one.effect],
      ]),
      answer.next && element('p.quiet', `The newest ${count(HISTORY_MOST)}; the audit trail has all.`),
    );
    node.hidden = false;
  }
  return { node, refresh: () => refresh().catch(() => {}) };
}
