// Who sends how much to whom: a matrix as a picture, and its largest entries as a table.

import { paint, palette, range } from './colour.js';
import { element, select } from './dom.js';
import { capital, count, si } from './format.js';
import { shownIn } from './problemnode.js';
import { NUMBER, table } from './table.js';

const LARGEST = 12;
const EMPTY = 0; // transparent: nothing is sent

/** The `most` largest entries of rows as {from, to, value}. */
export function largest(rows, most) {
  return rows
    .flatMap((row, from) => row.map((value, to) => ({ from, to, value })))
    .filter(({ value }) => value > 0)
    .sort((a, b) => b.value - a.value)
    .slice(0, most);
}

/** Rows of numbers as a picture, a pixel each. */
export function grid(rows, label) {
  const width = rows[0].length,
    height = rows.length,
    canvas = element('canvas.matrix', { width, height, role: 'img', 'aria-label': label });
  const context = canvas.getContext('2d'),
    image = context.createImageData(width, height),
    values = Float64Array.from(rows.flat(), (value) => (value > 0 ? value : NaN));
  paint(values, new Uint32Array(image.data.buffer), range(values), palette(), EMPTY, true);
  context.putImageData(image, 0, 0);
  return canvas;
}

export function matrixTab(model) {
  const shown = element('div.stack'),
    kinds = model.summary.populations?.list?.length > 0 ? ['population', 'part'] : ['part'];
  const read = async (by) => {
    const { unit, of, folded, names, rows } = await model.ask(`/matrix?by=${by}`);
    const name = (i) => names?.[i] ?? (folded > 1 ? `${i * folded}–${Math.min(of, (i + 1) * folded) - 1}` : String(i));
    return [
      grid(rows, `${unit} from each ${by} (row) to each (column), the table has the largest`),
      element(
        'p.quiet',
        `${unit} from ${by} (rows) to ${by} (columns), ${count(of)} of them${folded > 1 ? `, ${count(folded)} a row` : ''}; the scale is logarithmic`,
      ),
      table(
        `Largest entries, ${unit}`,
        [
          [`From ${by}`, ({ from }) => name(from)],
          [`To ${by}`, ({ to }) => name(to)],
          [capital(unit), ({ value }) => si(value), NUMBER],
        ],
        largest(rows, LARGEST),
        { empty: 'Nothing is sent from one to another.' },
      ),
    ];
  };
  const show = (by) => shownIn(shown, read(by));
  show(kinds[0]);
  return element(
    'div.stack',
    kinds.length > 1 &&
      select(
        { 'aria-label': 'Rows of the matrix', onchange: (event) => show(event.target.value) },
        kinds.map((kind) => [kind, `by ${kind}`]),
      ),
    shown,
  );
}
