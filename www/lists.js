// #/jobs, #/mappings, #/networks, #/programs, #/sweeps: lists with search, filters in the address, columns, and pages that follow
// as one scrolls. One request a page; own jobs are kept current by events, others by asking.

import { deleteThings, labelText, readLabels } from './actions.js';
import { cancelJob, change, getJson, isOver, pathOf, watchJobs } from './api.js';
import { announce, element, fill, linkTo, pageHead, pageOf, progressBar, select, setText, stamp } from './dom.js';
import { bytes, count, energy, NONE, percent, shortId, si, time, words } from './format.js';
import { badge, resultOf, runText, stateLine } from './job.js';
import { actButton, form, Problem, problemNode, problemWords, sends, smallButton } from './problem.js';
import { headOf, rowOf, table } from './table.js';
import { sizeText } from './upload.js';

const PAGE = 50;
const CALM_MS = 8000,
  BUSY_MS = 2000,
  TOGETHER_MS = 250; // what happens at once, or is typed, is asked for once

/** Text that is typed: "paper=fig3" is a label, all else a part of the name. */
const searched = (text) => (text === '' ? {} : text.includes('=') ? { label: text } : { name: text });

export const showList =
  (kind) =>
  async (main, { query, replaceQuery }, signal) => {
    const list = LISTS[kind],
      rows = new Map(), // id -> {row, node, tick}
      chosen = new Set(),
      asked = new URLSearchParams(query);
    let cursor = null,
      loading = false;
    const names = () => asked.get('columns')?.split(',') ?? list.usual;
    const columns = () => list.columns.filter(([title]) => title === '' || names().includes(title));
    const body = element('tbody'),
      head = element('thead'),
      outcome = element('div'),
      emptyText = element('p'),
      total = element('p.quiet', { role: 'status' }),
      more = actButton('More', () => next());
    const frame = element('div.scroller.list', { tabindex: '0', role: 'region', 'aria-label': list.title }, element('table', head, body));
    const make = kind === 'programs' ? 'Compile a model' : 'Map a network',
      empty = element('div.panel.empty', { hidden: true }, emptyText, element('a.button.primary', { href: '#/new' }, make));

    const narrowed = () =>
      Object.fromEntries(['name', 'label', 'sort', ...Object.keys(list.filters)].filter((name) => asked.get(name)).map((name) => [name, asked.get(name)]));
    const get = (rest = {}) => getJson(`v1/${kind}?${new URLSearchParams({ ...narrowed(), limit: PAGE, ...rest })}`, signal);

    function line(row) {
      const tick = element('input', {
        type: 'checkbox',
        'aria-label': `Choose ${row.name || shortId(row.id)}`,
        checked: chosen.has(row.id),
        onchange: () => {
          if (tick.checked) chosen.add(row.id);
          else chosen.delete(row.id);
          actions();
        },
      });
      return rowOf(columns(), row, { 'data-id': row.id, 'data-job': kind === 'jobs' ? row.id : null }, element('td.tick', tick));
    }
    function put(row) {
      const known = rows.get(row.id),
        text = JSON.stringify(row);
      if (known?.text === text && isOver(row)) return known.node;
      if (known && known.row.state !== row.state) announce(`${row.name || shortId(row.id)}: ${row.state}`);
      const node = known?.node ?? line(row);
      rows.set(row.id, { row, node, text });
      // In place, and not where the focus is.
      if (known) columns().forEach(([, show], i) => node.children[i + 1].contains(document.activeElement) || fill(node.children[i + 1], show(row)));
      return node;
    }
    function drawHead() {
      const order = { sorted: asked.get('sort') ?? '-created', sort: (by) => ask('sort', by) };
      fill(head, headOf(columns(), order, element('th.tick', { scope: 'col' }, element('span.hidden', 'Chosen'))));
    }
    /** The first page again: what is new comes before what is shown; rows that stay are not moved, so focus and selection hold. */
    async function refresh() {
      const before = asked.toString(),
        answer = await get(rows.size === 0 ? { total: 'true' } : {});
      if (before !== asked.toString()) return;
      let at = body.firstElementChild;
      for (const row of answer[kind]) {
        const node = put(row);
        if (node === at) at = at.nextElementSibling;
        else body.insertBefore(node, at);
      }
      if (cursor === null || rows.size <= answer[kind].length) cursor = answer.next ?? null;
      if (answer.total !== undefined) setText(total, count(answer.total, kind));
      after();
    }
    async function next() {
      if (loading || !cursor) return;
      loading = true;
      try {
        const answer = await get({ cursor });
        for (const row of answer[kind]) if (!rows.has(row.id)) body.append(put(row));
        cursor = answer.next ?? null;
        after();
      } finally {
        loading = false;
      }
    }
    function after() {
      more.hidden = !cursor;
      setText(emptyText, Object.keys(narrowed()).some((name) => name !== 'sort') ? `No ${words(kind.slice(0, -1))} has that.` : `No ${kind} yet.`);
      empty.hidden = rows.size > 0;
      frame.hidden = rows.size === 0;
    }
    /** What went wrong; that the server does not answer stands above already. */
    const wrong = (error) => error instanceof Problem && fill(outcome, problemNode(error));
    let due = null;
    const soon = (wait = TOGETHER_MS) => {
      due ??= setTimeout(() => {
        due = null;
        refresh().catch(wrong);
      }, wait);
    };
    /** Asks for the list otherwise, and says so in the address. */
    function ask(name, value) {
      if (value) asked.set(name, value);
      else asked.delete(name);
      replaceQuery(asked);
      drawHead();
      rows.clear();
      fill(body);
      fill(outcome);
      cursor = null;
      soon();
    }

    const bar = element('div.buttons.list-actions');
    function actions() {
      const ids = [...chosen],
        picked = ids.map((id) => rows.get(id)?.row).filter(Boolean);
      const pair = picked.toSorted((a, b) => (a.created < b.created ? -1 : 1)).map(({ id }) => id),
        one = picked.length > 0 && picked.every((row) => row.network === picked[0].network);
      const label = element('input', { type: 'text', 'aria-label': 'Label for the chosen', placeholder: 'paper=fig3' });
      const done = () => {
        chosen.clear();
        actions();
        rows.clear();
        fill(body);
        soon(0);
      };
      const base = kind === 'sweeps' ? 'jobs' : kind;
      const labelled = async () => {
        for (const row of picked) await change('PUT', `${pathOf(base, row.id)}/labels`, { labels: { ...row.labels, ...readLabels(label.value) } });
        done();
      };
      fill(
        bar,
        ids.length > 0 && [
          element('span', `${count(ids.length)} chosen`),
          picked.some((row) => row.state && !isOver(row)) &&
            smallButton('Cancel', () => Promise.all(picked.filter((row) => !isOver(row)).map(({ id }) => cancelJob(id))).then(done)),
          list.compare && ids.length === 2 && one && element('a.button.small', { href: `#/compare/${pair.map(encodeURIComponent).join('/')}` }, 'Compare'),
          form('form.buttons', labelled, label, sends('Label', 'button.button.small')),
          smallButton('Delete', async () => (await deleteThings(base, ids, outcome, done), done())),
        ],
      );
    }

    const search = element('input', {
      type: 'search',
      value: asked.get('label') ?? asked.get('name') ?? '',
      placeholder: 'Name, or label=value',
      'aria-label': `Show ${kind} with this in their name, or with this label`,
    });
    search.addEventListener('input', () => {
      for (const name of ['name', 'label']) asked.delete(name);
      const [[name, value] = ['name', '']] = Object.entries(searched(search.value.trim()));
      ask(name, value);
    });
    const field = ([name, values]) =>
      values
        ? select(
            { 'aria-label': words(name), onchange: (event) => ask(name, event.target.value) },
            [['', `any ${words(name)}`], ...values],
            asked.get(name) ?? '',
          )
        : element('input.narrow', {
            type: 'text',
            value: asked.get(name) ?? '',
            placeholder: `any ${words(name)}`,
            'aria-label': words(name),
            onchange: (event) => ask(name, event.target.value.trim()),
          });
    const toggled = (title, on) => list.columns.flatMap(([one]) => ((one === title ? on : names().includes(one)) ? [one] : [])).join(',');
    const choice = element(
      'details.column-choice',
      element('summary', 'Columns'),
      element(
        'div.choices',
        list.columns
          .filter(([title]) => title)
          .map(([title]) => {
            const tick = element('input', { type: 'checkbox', checked: names().includes(title), onchange: () => ask('columns', toggled(title, tick.checked)) });
            return element('label.check', tick, title);
          }),
      ),
    );
    drawHead();
    await refresh();
    fill(
      main,
      pageHead(list.title, total, element('a.button.primary', { href: '#/new' }, 'New job')),
      element('div.list-tools', search, Object.entries(list.filters).map(field), choice),
      bar,
      outcome,
      frame,
      empty,
      element('p.more', more),
    );
    const seen = new IntersectionObserver((entries) => entries.some(({ isIntersecting }) => isIntersecting) && next().catch(() => {}), { rootMargin: '400px' });
    seen.observe(more);
    signal.addEventListener('abort', () => seen.disconnect());
    if (list.live) keepCurrent({ rows, put, refresh, soon, wrong }, signal);
    return list.title;
  };

/** Rows of jobs follow what happens: by events, and by asking where these do not come through. */
function keepCurrent({ rows, put, refresh, soon, wrong }, signal) {
  watchJobs(
    {
      onProgress: ({ job: id, ...progress }) => {
        const row = rows.get(id)?.row;
        if (row && !isOver(row)) put({ ...row, state: 'running', progress: { ...row.progress, ...progress } });
      },
      onState: () => soon(),
    },
    signal,
  );
  const poll = async () => {
    if (!document.hidden) await refresh().catch(wrong);
    if (!signal.aborted) timer = setTimeout(poll, [...rows.values()].some(({ row }) => !isOver(row)) ? BUSY_MS : CALM_MS);
  };
  let timer = setTimeout(poll, BUSY_MS);
  signal.addEventListener('abort', () => clearTimeout(timer));
}

const gap = (of) => (value) => (value[of] === undefined ? NONE : value[of] < 1 ? percent(value[of]) : `${si(1 + value[of])} times`);
const figure = (name, show) => (value) => (value[name] === undefined ? NONE : show(value[name]));
const network = (row) => (row.network ? linkTo('networks', row.network, row.network_name || shortId(row.network)) : NONE);
const chip = (row) => (row.chip ? linkTo('chips', row.chip, row.chip) : NONE);
const labels = (row) => labelText(row.labels);
const created = (row) => stamp(row.created);

/** The state of a job: its badge, how far it is, what it waits for or why it failed. */
function state(row) {
  const problem = row.state === 'failed' ? problemWords(row.problem) : null;
  const bar = row.state === 'running' && progressBar('Progress');
  if (bar) bar.set(row.progress?.fraction ?? 0);
  const text = problem ? problem.title : stateLine(row);
  return [badge(row.state).node, bar && bar.node, text && element('span', { class: problem ? 'job-line error' : 'job-line', title: problem?.detail }, text)];
}

const named = (kind) => (row) => element('a.job-name', { href: pageOf(kind, row.id) }, row.name || `${kind.slice(0, -1)} ${shortId(row.id)}`);
const opened = (row) => {
  const result = resultOf(row);
  return result && element('a.button.small', { href: result.href, 'aria-label': `${result.verb} ${result.what} of ${row.name || row.id}` }, result.verb);
};

const NETWORK = ['Network', network, '', 'network_name'],
  CHIP = ['Chip', chip, '', 'chip'],
  STATES = ['queued', 'running', 'done', 'failed', 'cancelled'],
  KEPT = [
    ['Labels', labels],
    ['Created', created, '', 'created'],
  ];
const FIGURES = [
  ['Objective', (row) => row.objective ?? NONE, '', 'objective'],
  ['Preset', (row) => row.preset ?? NONE, '', 'preset'],
  ['Seed', figure('seed', count), 'number', 'seed'],
  ['Cores', figure('cores_used', count), 'number', 'cores_used'],
  ['Step', figure('step_ns', time), 'number', 'step_ns'],
  ['Energy of hops', figure('energy_pj', energy), 'number', 'energy_pj'],
  ['Energy of a step', figure('energy_step_pj', energy), 'number', 'energy_step_pj'],
  ['Gap of cores', gap('cores_gap'), 'number', 'cores_gap'],
  ['Gap of the step', gap('step_gap'), 'number', 'step_gap'],
];

/** columns: [title, what a row shows, class, what the server sorts by]. usual: those shown unless others are chosen. filters: query
 * arguments with a field of their own. */
export const LISTS = {
  jobs: {
    title: 'Jobs',
    columns: [
      ['Job', named('jobs'), 'wide', 'name'],
      ['State', state, 'job-state', 'state'],
      NETWORK,
      CHIP,
      ['Kind', (row) => row.kind, '', 'kind'],
      ['User', (row) => row.user],
      ...FIGURES,
      ['Time', runText, 'number'],
      ...KEPT,
      ['', opened],
    ],
    usual: ['Job', 'State', 'Network', 'Chip', 'Cores', 'Step', 'Energy of a step', 'Time', 'Created', ''],
    filters: { state: STATES, kind: ['map', 'compile', 'quantize', 'simulate', 'profile', 'deploy', 'solve', 'sweep'], chip: null, network: null },
    live: true,
  },
  mappings: {
    title: 'Mappings',
    columns: [['Mapping', named('mappings'), 'wide', 'name'], NETWORK, CHIP, ...FIGURES, ['Size', figure('bytes', bytes), 'number', 'bytes'], ...KEPT],
    usual: ['Mapping', 'Network', 'Chip', 'Objective', 'Preset', 'Seed', 'Cores', 'Step', 'Energy of a step', 'Gap of the step', 'Created'],
    filters: { chip: null, network: null, preset: null, objective: null },
    compare: true,
  },
  programs: {
    title: 'Programs',
    columns: [
      ['Program', named('programs'), 'wide', 'name'],
      ['Model', network, '', 'network_name'],
      CHIP,
      ['Time', figure('time_ns', time), 'number', 'time_ns'],
      ['Gap', gap('time_gap'), 'number', 'time_gap'],
      ['Size', figure('bytes', bytes), 'number', 'bytes'],
      ...KEPT,
    ],
    usual: ['Program', 'Model', 'Chip', 'Time', 'Gap', 'Size', 'Created'],
    filters: { chip: null, network: null },
  },
  networks: {
    title: 'Networks',
    columns: [
      ['Network', named('networks'), 'wide', 'name'],
      ['Format', (row) => row.format, '', 'format'],
      ['Holds', (row) => sizeText(row), '', 'neurons'],
      ['Size', figure('bytes', bytes), 'number', 'bytes'],
      ...KEPT,
    ],
    usual: ['Network', 'Format', 'Holds', 'Size', 'Labels', 'Created'],
    filters: { format: null },
  },
  sweeps: {
    title: 'Sweeps',
    columns: [['Sweep', named('sweeps'), 'wide', 'name'], ['State', state, 'job-state', 'state'], NETWORK, CHIP, ...KEPT],
    usual: ['Sweep', 'State', 'Network', 'Chip', 'Labels', 'Created'],
    filters: { state: STATES, chip: null },
    live: true,
  },
};

/** Some of the columns of a list, by their titles, as a table. */
export const shortList = (kind, titles, rows, options) =>
  table(
    { label: LISTS[kind].title, ...options },
    rows,
    titles.map((title) => LISTS[kind].columns.find(([one]) => one === title)),
  );
