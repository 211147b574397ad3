// Beside the form of a chip's page: the change as JSON, pins for the next mapping, and what happened to the chip within a day.

import { getJson, getMe } from './api.js';
import { element, field, fill, folded, link, section, stamp } from './dom.js';
import { count } from './format.js';
import { eachCore } from './layers.js';
import { pinsOf } from './pins.js';
import { smallButton } from './problemnode.js';
import { table } from './table.js';

const DAY_S = 86400,
  HISTORY_MOST = 50;

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
  return { taken: [...rest.filter(({ cores: left }) => left.length > 0), { owner: to, cores }], broken };
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

/** Pins as constraints of the next mapping on this chip, kept in the address: {node, list()}. at(): where to pin, [x0, y0, x1, y1]. */
export function pinsForm({ chip, begun, at, onChange }) {
  let pins = begun;
  const of = element('input', { type: 'text', id: 'pin-of', maxlength: '200', placeholder: 'population, or neuron' }),
    shown = element('div');
  const text = (list) => list.join(', ');
  function draw() {
    fill(
      shown,
      pins.map((pin, i) =>
        element(
          'p.pin',
          `${pin.of} on ${text(pin.at)} `,
          element('button.link', { 'aria-label': `Take the pin of ${pin.of} away`, onclick: () => change(pins.filter((_, k) => k !== i)) }, 'take away'),
        ),
      ),
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

/** Pins of an address; what is none there is nothing here. */
export function pinsIn(text) {
  try {
    return JSON.parse(text ?? '[]').filter(({ kind, of, at }) => kind === 'pin' && of !== undefined && Array.isArray(at));
  } catch {
    return [];
  }
}

/** Rectangles of pins for the map, with who is pinned. */
export const pinBoxes = (pins, chip) =>
  pinsOf(
    pins.map((pin) => ({ ...pin, name: String(pin.of) })),
    chip,
  );

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
