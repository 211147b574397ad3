// The section of a page that shows a schedule: the timeline, its legend, and the critical path and the units as tables.

import { element, section } from './dom.js';
import { count, percent } from './format.js';
import { NUMBER, table } from './table.js';
import { reason, seconds, Timeline } from './timeline.js';

const PATH_ROWS = 500; // of the critical path as a table

/** The switch that leaves the critical path alone, and the path as a table. */
function pathSwitch(timeline) {
  if (!timeline.trace.path.length) return null;
  return element(
    'label',
    { class: 'path-switch' },
    element('input', { type: 'checkbox', onchange: (event) => timeline.choose(event.target.checked ? ({ critical }) => Boolean(critical) : null) }),
    ' only the critical path',
  );
}

function pathTable({ path, units }) {
  if (!path.length) return null;
  return element(
    'details',
    {},
    element('summary', {}, `Critical path as a table (${count(path.length)} spans)`),
    path.length > PATH_ROWS && element('p', { class: 'quiet' }, `The first ${count(PATH_ROWS)}; the file has all.`),
    table(
      'Critical path',
      [
        ['Start', ({ start }) => seconds(start), NUMBER],
        ['Unit', ({ unit }) => unit],
        ['What', ({ name, kind }) => `${name} (${kind})`],
        ['Length', ({ start, finish }) => seconds(finish - start), NUMBER],
        ['Why then', ({ critical }) => reason(critical)],
      ],
      path.slice(0, PATH_ROWS).map(({ unit, span }) => ({ ...units[unit].spans[span], unit: units[unit].name })),
      { kind: 'path' },
    ),
  );
}

function legend(timeline) {
  return element(
    'div',
    { class: 'legend-names' },
    timeline.trace.kinds.map((kind) => {
      const swatch = element('span', { class: 'swatch' });
      swatch.style.background = `rgb(${timeline.colours.get(kind.name).join(' ')})`;
      return element('span', { class: 'legend-key' }, swatch, `${kind.name || 'other'} ${seconds(kind.time)}`);
    }),
  );
}

function unitsTable(trace) {
  return element(
    'details',
    {},
    element('summary', {}, 'Units as a table'),
    table(
      'Units',
      [
        ['Unit', ({ name }) => name],
        ['Spans', ({ spans }) => count(spans.length), NUMBER],
        ['Busy', ({ busy }) => seconds(busy), NUMBER],
        ['Share', ({ busy }) => percent(trace.end > 0 ? busy / trace.end : 0), NUMBER],
      ],
      trace.units,
      { kind: 'units' },
    ),
  );
}

/** The section of a page that shows a trace; draw it by `redraw` of what it returns once it is in the document. */
export function timelineSection(trace, signal) {
  const timeline = new Timeline(trace, signal);
  const spans = trace.units.reduce((sum, unit) => sum + unit.spans.length, 0);
  const node = section(
    'Schedule',
    element('p', { class: 'quiet' }, `${count(spans)} spans on ${count(trace.units.length)} units in ${seconds(trace.end)}`),
    element(
      'p',
      { class: 'hidden', id: 'timeline-help' },
      'Arrow keys go from span to span and from unit to unit, plus and minus or w and s zoom, a and d move, f shows the span, Enter its operator, 0 the whole schedule.',
    ),
    legend(timeline),
    element('div', { class: 'timeline-frame' }, timeline.canvas),
    element('div', { class: 'timeline-foot' }, timeline.readout, timeline.buttons),
    pathSwitch(timeline),
    pathTable(trace),
    unitsTable(trace),
  );
  return { node, timeline, redraw: () => timeline.redraw() };
}
