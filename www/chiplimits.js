// The limits of a chip as a form, beside the whole chip as JSON: either follows the other; what the server refuses is said at its field.

import { pathOf, change as send } from './api.js';
import { parsed } from './chipplan.js';
import { element, field, folded, pageOf, setText } from './dom.js';
import { capital, count, words } from './format.js';
import { problemWords, smallButton } from './problem.js';

const GROUPS = { limits: '', router_limits: ' of a router', die_limits: ' of a die', circuits: '' },
  CIRCUITS = { link: 'Circuits over a link', router_in: 'Circuits into a router', router_out: 'Circuits out of a router' };

const label = (group, name) => (group === 'table_entries' ? 'Table entries of a router' : (CIRCUITS[name] ?? `${capital(words(name))}${GROUPS[group]}`));

/** The limits that a chip has, as rows of facts. */
export const limitFacts = (chip) => [
  chip.table_entries && [label('table_entries'), count(chip.table_entries)],
  ...Object.keys(GROUPS).flatMap((group) =>
    Object.entries(chip[group] ?? {})
      .filter(([, value]) => value > 0)
      .map(([name, value]) => [label(group, name), count(value)]),
  ),
];

/** schemas: the server's; of a preset the chip is kept by another name. */
export function limitsForm(chip, preset, schemas) {
  const text = element('textarea', { id: 'chip-json', rows: '14', spellcheck: 'false', oninput: () => follow() }),
    as = element('input', { id: 'limits-chip', type: 'text', maxlength: '63', value: preset ? `${chip.name}-limits` : chip.name }),
    resolved = ({ $ref, allOf, ...schema }) => ($ref || allOf ? schemas[($ref ?? allOf[0].$ref).split('/').pop()] : schema);
  const places = Object.keys(GROUPS).flatMap((group) => Object.keys(resolved(schemas.Chip.properties[group]).properties).map((name) => [group, name]));
  const rows = [...places, ['table_entries']].map(([group, name]) => {
    const id = `limit-${[group, name].filter(Boolean).join('-')}`,
      note = element('p.note', { id: `${id}-note`, hidden: true }),
      more = { min: '1', step: '1', placeholder: 'none', 'aria-describedby': note.id },
      control = element('input', { id, type: 'number', ...more, oninput: () => take(group, name, control.value) });
    return { group, name, note, control, place: `/${group}${name ? `/${name}` : ''}`, node: field(label(group, name), control, note) };
  });
  const write = (whole) => (text.value = JSON.stringify(whole, null, 1));
  /** The fields say what the JSON says, while it is some. */
  function follow() {
    try {
      const whole = JSON.parse(text.value);
      for (const { group, name, control } of rows) control.value = (name ? whole[group]?.[name] : whole[group]) ?? '';
    } catch {
      // one types
    }
  }
  function take(group, name, value) {
    const whole = parsed(text.value),
      most = value === '' ? undefined : Number(value);
    whole[group] = name ? { ...whole[group], [name]: most } : most;
    if (name && Object.values(whole[group]).every((one) => one === undefined)) delete whole[group];
    write(whole);
  }
  async function keep() {
    rows.forEach(({ note }) => (note.hidden = true));
    try {
      await send('PUT', pathOf('chips', as.value), { ...parsed(text.value), name: as.value });
    } catch (error) {
      const { detail, where } = problemWords(error),
        row = rows.find(({ place }) => place === where);
      if (!row) throw error;
      setText(row.note, detail);
      row.note.hidden = false;
      row.control.focus();
      return;
    }
    location.hash = pageOf('chips', as.value);
  }
  write(chip);
  follow();
  return folded(
    'Limits, and the chip as JSON',
    {},
    element(
      'div.field-row',
      rows.map(({ node }) => node),
    ),
    field('The chip', text),
    field('Keep it as', as),
    element('div.buttons', smallButton('Keep these limits', keep)),
  );
}
