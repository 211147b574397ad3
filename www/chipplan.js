// Beside the form of a chip's page: the change as JSON, pins for the next mapping, and what happened to the chip within a day.

import { readLabels } from './actions.js';
import { change as send, getJson, getMe } from './api.js';
import { element, field, fill, folded, link, pageOf, section, stamp } from './dom.js';
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

/** Pins as constraints of the next mapping on this chip, kept in the address: {node, list()}. at(): where to pin, [x0, y0, x1, y1]. */
export function pinsForm({ chip, begun, at, onChange }) {
  let pins = begun;
  const of = element('input', { type: 'text', id: 'pin-of', maxlength: '200', placeholder: 'population, or neuron' }),
    shown = element('div');
  function draw() {
    fill(
      shown,
      takenAway(pins, ({ of: who, at: where }) => `${who} on ${where.join(', ')}`, change),
      pins.length > 0 && link(`#/new?${new URLSearchParams({ chip, constraints: JSON.stringify(pins) })}`, 'Map with these pins'),
    );
  }
  function change(next) {
    pins = next;
    draw();
    onChange(pins);
  }
  const pin = () => {
    const who = of.value.trim();
    if (!who) throw new Error('say who is pinned: a population by name or pattern, or a neuron by name or number');
    change([...pins, { kind: 'pin', of: /^\d+$/.test(who) ? Number(who) : who, at: at() }]);
  };
  draw();
  return {
    node: folded('Pins for the next mapping', { open: pins.length > 0 }, field('Who is pinned to the chosen cores', of), smallButton('Pin here', pin), shown),
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
    await send('PUT', `v1/chips/${encodeURIComponent(as.value)}`, { ...chip, name: as.value, core_classes: classes.length > 0 ? classes : undefined });
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

/** Pins of an address; what is none there is nothing here. */
export function pinsIn(text) {
  try {
    return JSON.parse(text ?? '[]').filter(({ kind, of, at }) => kind === 'pin' && of !== undefined && Array.isArray(at));
  } catch {
    return [];
  }
}

const WORDS = {
  patchOccupancy: 'cores changed',
  putOccupancy: 'state replaced',
  postReservation: 'leased',
  putReservation: 'lease kept alive',
  deleteReservation: 'lease released',
  putChip: 'chip changed',
};

/** What happened to a chip within a day, for those who may read the audit trail: {node, refresh()}. */
export function chipHistory(name, signal) {
  const body = element('div'),
    node = section('Within a day', body);
  let admin = null;
  node.hidden = true;
  async function refresh() {
    const since = Math.floor(Date.now() / 1000) - DAY_S,
      about = new URLSearchParams({ object: `/v1/chips/${encodeURIComponent(name)}`, since, limit: HISTORY_MOST });
    admin ??= getMe().then(({ role }) => role === 'admin');
    if (!(await admin)) return; // nobody else reads the audit trail
    const answer = await getJson(`v1/audit?${about}`, signal);
    fill(
      body,
      table(
        'What happened within a day',
        [
          ['When', (one) => stamp(one.at)],
          ['Who', (one) => one.user || one.address],
          ['What', (one) => WORDS[one.action] ?? one.action],
          ['With', (one) => one.effect],
        ],
        answer.entries,
        { empty: 'Nothing.' },
      ),
      answer.next && element('p.quiet', `The newest ${count(HISTORY_MOST)}; the audit trail has all.`),
    );
    node.hidden = false;
  }
  return { node, refresh: () => refresh().catch(() => {}) };
}
