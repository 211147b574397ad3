// #/programs/ID: what a compile job made, with its schedule; #/timeline: a schedule from a file of one's own.

import { getJson, getProgram, getSchedule, networkName, programUrl } from './api.js';
import { element, facts, fill } from './dom.js';
import { bytes, moment, NONE, shortId } from './format.js';
import { Problem } from './problem.js';
import { problemNode } from './problemnode.js';
import { reportGroups, tileRows } from './programreport.js';
import { detailsTable } from './tables.js';
import { timelineSection } from './timeline.js';
import { parseTrace } from './trace.js';

/** A program without a schedule (permutations alone) is no error. */
async function scheduleOf(id, signal) {
  try {
    return parseTrace(await getSchedule(id, signal));
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  }
}

// What a job may have made, and what to call the button.
const FILES = [
  ['program', 'Program'],
  ['model', 'Model'],
  ['schedule', 'Timeline'],
  ['tiles', 'Tiles'],
  ['mapping', 'Core mapping'],
  ['pieces', 'Pieces'],
];

const fileLinks = (files) =>
  FILES.filter(([name]) => files?.[name]).map(([name, label], i) =>
    element('a', { class: i === 0 ? 'button primary' : 'button', href: files[name], download: '' }, label),
  );

/** Panels side by side, a subject each; the tiles and what else there is below. */
function reportPanels(report) {
  if (!report) return null;
  const { groups, rest } = reportGroups(report);
  const { tiles, program, ...more } = rest;
  const { mapping, ...cut } = tiles ?? {};
  const { metrics, ...laid } = mapping ?? {};
  return [
    element('div', { class: 'columns' }, groups.map(([title, rows]) => detailsTable(title, rows))),
    element(
      'div',
      { class: 'columns' },
      detailsTable('Tiles', tileRows(cut)),
      detailsTable('Tiles on cores', { ...laid, ...metrics }),
    ),
    detailsTable('More', { ...more, ...program }),
  ];
}

export async function showProgram(main, { id, attach }, signal) {
  const [program, trace] = await Promise.all([getProgram(id, signal), scheduleOf(id, signal)]);
  const [network, report] = await Promise.all([
    networkName(program.network, signal),
    getJson(programUrl(id, '/report'), signal).catch(() => null),
  ]);
  const created = moment(program.created);
  const schedule = trace && timelineSection(trace, signal);
  fill(
    main,
    element(
      'header',
      { class: 'page-head' },
      element(
        'div',
        {},
        element('h1', { tabindex: '-1' }, network || `Program ${shortId(id)}`),
        element('p', { class: 'quiet' }, 'program ', element('code', {}, id)),
      ),
      element(
        'div',
        { class: 'buttons' },
        fileLinks(program.files),
        element('a', { class: 'button', href: `#/jobs/${encodeURIComponent(program.job)}` }, 'Job'),
      ),
    ),
    element(
      'section',
      { class: 'panel', 'aria-label': 'Program' },
      facts([
        ['Chip', program.chip || NONE],
        ['Size', bytes(program.bytes)],
        ['Created', Number.isNaN(created) ? NONE : new Date(created).toLocaleString()],
      ]),
    ),
    schedule?.node,
    reportPanels(report),
  );
  attach();
  schedule?.redraw();
  return network || 'Program';
}

export async function showTimeline(main, { attach }, signal) {
  const shown = element('div', { class: 'stack' });
  const open = async (file) => {
    try {
      const schedule = timelineSection(parseTrace(JSON.parse(await file.text())), signal);
      fill(shown, schedule.node);
      schedule.redraw();
    } catch (error) {
      fill(shown, problemNode(error instanceof SyntaxError ? new Error(`${file.name} is not JSON`) : error));
    }
  };
  const input = element('input', {
    type: 'file',
    id: 'trace-file',
    accept: '.json,application/json',
    onchange: () => input.files[0] && open(input.files[0]),
  });
  const drop = element(
    'section',
    {
      class: 'panel',
      'aria-label': 'File',
      ondragover: (event) => event.preventDefault(),
      ondrop: (event) => {
        event.preventDefault();
        if (event.dataTransfer.files[0]) open(event.dataTransfer.files[0]);
      },
    },
    element('label', { for: 'trace-file' }, 'A trace of coremap schedule, tile or run (Chrome trace format) '),
    input,
  );
  fill(
    main,
    element('header', { class: 'page-head' }, element('h1', { tabindex: '-1' }, 'Timeline')),
    drop,
    shown,
  );
  attach();
  return 'Timeline';
}
