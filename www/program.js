// #/programs/ID: what a job made that compiles, with its schedule, or deploys; #/timeline: a schedule from a file of one's own.

import { actionBar } from './actions.js';
import { getJson, networkName, programUrl } from './api.js';
import { deploySections } from './deploy.js';
import { element, facts, fill, linkTo, MOVED_MS, pageHead, pageOf, rested, section, stamp } from './dom.js';
import { bytes, NONE, percent, shortId, time as nanoseconds } from './format.js';
import { shortList } from './lists.js';
import { OperatorGraph } from './operatorgraph.js';
import { problemNode } from './problem.js';
import { reportPanels } from './report.js';
import { heldTable, nodesTable, timelineSection } from './schedule.js';
import { operatorsOf, parseTrace } from './trace.js';

// What a job may have made, and what to call the button.
const FILES = [
  ['program', 'Program'],
  ['model', 'Model'],
  ['schedule', 'Timeline'],
  ['tiles', 'Tiles'],
  ['mapping', 'Core mapping'],
  ['images', 'Images'],
  ['binary', 'Images in binary'],
  ['commands', 'Commands'],
  ['bench', 'Test bench'],
  ['inputs', 'Input spikes'],
  ['expected', 'Expected spikes'],
  ['spikes', 'Spikes of the network'],
  ['pieces', 'Pieces'],
];

const fileLinks = (files) =>
  FILES.filter(([name]) => files?.[name]).map(([name, label], i) =>
    element('a', { class: i === 0 ? 'button primary' : 'button', href: files[name], download: '' }, label),
  );

/** What holds the program up: the operator with most of the critical path, and every node of the report (programs of older releases: none). */
function limitsSection(trace, { nodes, program }, timeline, graph) {
  const operators = trace ? operatorsOf(trace) : [],
    most = operators[0];
  return (
    (most || nodes) &&
    section(
      'What limits the program',
      most?.path > 0 &&
        element(
          'p.limits-program',
          `${most.name} (${most.kind}) limits most: ${percent(most.path / trace.end)} of the program’s time is its work on the critical path.`,
        ),
      nodes?.length > 0 && [nodesTable(nodes, operators, timeline, graph), heldTable(nodes, program.memory_bytes)],
    )
  );
}

/** A program at a glance: its time, how far that is from what no program beats, and what limits it. */
function headline(program, report) {
  const { time } = report?.program ?? {};
  return section(
    report?.images ? 'Images' : 'Program',
    facts([
      time && ['Time', nanoseconds(time.total_ns)],
      time?.lower_bound_ns > 0 && ['No program is below', nanoseconds(time.lower_bound_ns)],
      ['Chip', program.chip ? linkTo('chips', program.chip, program.chip) : NONE],
      ['Size', bytes(program.bytes)],
      ['Created', stamp(program.created)],
    ]),
    time?.limit && element('p.quiet', `What limits it: ${time.limit}`),
  );
}

export async function showProgram(main, { id, query, replaceQuery, attach }, signal) {
  const program = await getJson(programUrl(id), signal);
  const [network, report, trace] = await Promise.all([
    networkName(program.network, signal),
    getJson(programUrl(id, '/report'), signal).catch(() => null),
    program.files?.schedule ? getJson(programUrl(id, '/schedule'), signal).then(parseTrace) : null, // images of cores and rewritten models have none
  ]);
  const schedule = trace && timelineSection(trace, signal),
    graph = report?.graph?.length > 0 ? new OperatorGraph(report.graph, report.nodes, schedule && ((one) => schedule.timeline.onPick(one))) : null;
  fill(
    main,
    pageHead(
      linkTo('networks', program.network, network || `Program ${shortId(id)}`),
      ['program ', element('code', id)],
      fileLinks(program.files),
      report && element('a.button', { href: programUrl(id, '/report'), download: `${id}-report.json` }, 'Report'),
      element('a.button', { href: pageOf('jobs', program.job) }, 'Job'),
    ),
    headline(program, report),
    limitsSection(trace, report ?? {}, schedule?.timeline, graph),
    schedule?.node,
    graph?.node,
    report?.images ? deploySections({ report }) : reportPanels(report),
    section('Keep, share', actionBar('programs', id, signal)),
  );
  attach();
  if (schedule) {
    const { window } = schedule.timeline;
    window.go(query.get('at'));
    schedule.timeline.onLook = rested(MOVED_MS, () => replaceQuery(new URLSearchParams(window.place && { at: window.place })), signal);
    schedule.redraw();
  }
  return network || 'Program';
}

const KEPT = 10; // programs on the page of timelines

export async function showTimeline(main, { attach }, signal) {
  const shown = element('div.stack');
  const open = async (file) => {
    try {
      const schedule = timelineSection(parseTrace(JSON.parse(await file.text())), signal);
      fill(shown, schedule.node);
      schedule.redraw();
    } catch (error) {
      fill(shown, problemNode(error instanceof SyntaxError ? new Error(`${file.name} is not JSON`) : error));
    }
  };
  const input = element('input', { type: 'file', id: 'trace-file', accept: '.json,application/json', onchange: () => input.files[0] && open(input.files[0]) });
  const drop = element(
    'section.panel',
    {
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
  const { programs } = await getJson(`v1/programs?limit=${KEPT}`, signal).catch(() => ({ programs: [] }));
  const kept = shortList('programs', ['Program', 'Chip', 'Time', 'Created'], programs);
  fill(main, pageHead('Timeline'), drop, shown, programs.length > 0 && section('Schedules of this server', kept));
  attach();
  return 'Timeline';
}
