// The section of a page that shows a schedule: the timeline, its legend, and the critical path and the units as tables.

import { element, folded, section } from './dom.js';
import { count, percent } from './format.js';
import { NUMBER, table } from './table.js';
import { reason, seconds, Timeline } from './timeline.js';

const PATH_ROWS = 500; // of the critical path as a table

/** The switch that leaves the critical path alone, and the path as a table. */
function pathSwitch(timeline) {
  if (!timeline.trace.path.length) return null;
  return element(
    'label.path-switch',
    element('input', { type: 'checkbox', onchange: (event) => timeline.choose(event.target.checked ? ({ critical }) => Boolean(critical) : null) }),
    ' only the critical path',
  );
}

function pathTable({ path, units }) {
  if (!path.length) return null;
  return folded(
    `Critical path as a table (${count(path.length, 'spans')})`,
    {},
    path.length > PATH_ROWS && element('p.quiet', `The first ${count(PATH_ROWS)}; the file has all.`),
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
    'div.legend-names',
    timeline.trace.kinds.map((kind) => {
      const swatch = element('span.swatch');
      swatch.style.background = `rgb(${timeline.colours.get(kind.name).join(' ')})`;
      return element('span.legend-key', swatch, `${kind.name || 'other'} ${seconds(kind.time)}`);
    }),
  );
}

function unitsTable(trace) {
  return folded(
    'Units as a table',
    {},
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
    element('p.quiet', `${count(spans, 'spans')} on ${count(trace.units.length, 'units')} in ${seconds(trace.end)}`),
    legend(timeline),
    timeline.figure(),
    pathSwitch(timeline),
    pathTable(trace),
    unitsTable(trace),
  );
  return { node, timeline, redraw: () => timeline.redraw() };
}
