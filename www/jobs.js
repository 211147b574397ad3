// #/jobs: the list of jobs, newest first, kept current: by the events of those that are one's own, and by asking.

import { cancelJob, isOver, listJobs, watchJobs } from './api.js';
import { announce, element, fill, progressBar, setText } from './dom.js';
import { ago, moment, shortId } from './format.js';
import { badge, resultOf, runText, stateLine } from './jobparts.js';
import { problemWords } from './problem.js';

const PAGE = 25;
const BUSY_MS = 2000,
  CALM_MS = 8000,
  TOGETHER_MS = 200, // what happens at once is asked for once
  CLOCK_MS = 1000;

class Row {
  constructor(job, onCancel) {
    this.badge = badge();
    this.bar = progressBar('Progress');
    this.line = element('span', { class: 'job-line' });
    this.name = element('a', { class: 'job-name', href: `#/jobs/${encodeURIComponent(job.id)}` });
    this.network = element('span', { class: 'quiet job-network' });
    this.chip = element('td', { class: 'job-chip' });
    this.time = element('td', { class: 'number job-time' });
    this.when = element('td', { class: 'quiet job-when' });
    this.cancel = element(
      'button',
      { type: 'button', class: 'button small', onclick: () => onCancel(this) },
      'Cancel',
    );
    this.open = element('a', { class: 'button small primary' }, 'Open');
    this.node = element(
      'tr',
      { 'data-job': job.id },
      element('td', { class: 'job-state' }, this.badge.node),
      element('td', { class: 'job-what' }, this.name, this.network),
      this.chip,
      element('td', { class: 'job-progress' }, this.bar.node, this.line),
      this.time,
      this.when,
      element('td', { class: 'job-action' }, this.open, this.cancel),
    );
    this.update(job);
  }

  update(job) {
    const before = this.job?.state;
    this.job = job;
    this.badge.set(job.state);
    const title = job.name || `job ${shortId(job.id)}`;
    setText(this.name, title);
    setText(this.chip, job.chip || job.kind);
    setText(this.network, job.network_name || shortId(job.network));
    this.bar.set(job.state === 'done' ? 1 : job.state === 'running' ? (job.progress?.fraction ?? 0) : 0);
    this.bar.node.classList.toggle('unseen', job.state !== 'running');
    const problem = job.state === 'failed' ? problemWords(job.problem) : null;
    setText(this.line, problem ? problem.title : stateLine(job));
    this.line.title = problem?.detail ?? '';
    this.line.classList.toggle('error', job.state === 'failed');
    this.cancel.hidden = isOver(job);
    this.cancel.setAttribute('aria-label', `Cancel ${title}`);
    const result = resultOf(job);
    this.open.hidden = !result;
    if (result) {
      this.open.href = result.href;
      setText(this.open, result.verb);
      this.open.setAttribute('aria-label', `${result.verb} ${result.what} of ${title}`);
    }
    this.tick();
    if (before && before !== job.state) announce(`${title}: ${job.state}`);
  }

  tick() {
    setText(this.time, runText(this.job));
    setText(this.when, ago(this.job.created));
    const created = moment(this.job.created);
    if (!Number.isNaN(created)) this.when.title = new Date(created).toLocaleString();
  }
}

export async function showJobs(main, _place, signal) {
  const rows = new Map(); // id -> Row
  const body = element('tbody', {});
  const older = element('button', { type: 'button', class: 'button', hidden: true }, 'Older jobs');
  const emptyText = element('p', {});
  const empty = element(
    'div',
    { class: 'panel empty', hidden: true },
    emptyText,
    element('a', { class: 'button primary', href: '#/new' }, 'Map a network'),
  );
  const message = element('p', { class: 'error', role: 'alert' });
  const head = ['State', 'Job', 'Chip', 'Progress', 'Time', 'Created'];
  const table = element(
    'table',
    { class: 'jobs' },
    element('caption', { class: 'hidden' }, 'Jobs, newest first'),
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        head.map((name) => element('th', { scope: 'col', class: name === 'Time' ? 'number' : '' }, name)),
        element('th', { scope: 'col' }, element('span', { class: 'hidden' }, 'Actions')),
      ),
    ),
    body,
  );
  let cursor = null,
    only = {}; // what the list is narrowed by
  const narrow = element('input', {
    type: 'search',
    placeholder: 'Name, or label=value',
    'aria-label': 'Show jobs with this in their name, or with this label',
    oninput: () => {
      const text = narrow.value.trim();
      only = text === '' ? {} : text.includes('=') ? { label: text } : { name: text };
      rows.clear();
      fill(body);
      cursor = null;
      due ??= setTimeout(soon, TOGETHER_MS);
    },
  });

  const cancel = async (row) => {
    row.cancel.disabled = true;
    try {
      await cancelJob(row.job.id);
      await refresh();
    } catch (error) {
      setText(message, problemWords(error).title);
    }
    row.cancel.disabled = false;
  };
  const put = (job) => {
    const row = rows.get(job.id);
    if (row) row.update(job);
    else rows.set(job.id, new Row(job, cancel));
    return rows.get(job.id);
  };
  async function refresh() {
    const asked = only,
      page = await listJobs({ ...only, limit: PAGE }, signal);
    if (asked !== only) return page; // it is narrowed otherwise by now
    // What is new comes before what is shown; rows that stay are not moved, so focus and selection hold.
    let before = body.firstElementChild;
    for (const job of page.jobs) {
      const { node } = put(job);
      if (node === before) before = before.nextElementSibling;
      else body.insertBefore(node, before);
    }
    if (cursor === null || rows.size <= page.jobs.length) cursor = page.next ?? null;
    older.hidden = !cursor;
    setText(emptyText, only.name || only.label ? 'No job has that.' : 'No jobs yet.');
    empty.hidden = rows.size > 0;
    table.hidden = rows.size === 0;
    return page;
  }
  let due = null;
  const soon = () => {
    due = null;
    refresh().catch(() => {});
  };
  older.addEventListener('click', async () => {
    older.disabled = true;
    try {
      const page = await listJobs({ ...only, cursor, limit: PAGE }, signal);
      for (const job of page.jobs) {
        if (!rows.has(job.id)) body.append(put(job).node);
      }
      cursor = page.next ?? null;
      older.hidden = !cursor;
      announce(`${page.jobs.length} older jobs`);
    } catch (error) {
      if (error.name !== 'AbortError') setText(message, problemWords(error).title);
    }
    older.disabled = false;
  });

  await refresh();
  fill(
    main,
    element(
      'header',
      { class: 'page-head' },
      element('h1', { tabindex: '-1' }, 'Jobs'),
      narrow,
      element('a', { class: 'button primary', href: '#/new' }, 'New job'),
    ),
    message,
    table,
    empty,
    element('p', { class: 'more' }, older),
  );

  watchJobs(
    {
      onProgress: ({ job: id, ...progress }) => {
        const row = rows.get(id);
        if (row && !isOver(row.job)) row.update({ ...row.job, state: 'running', progress: { ...row.job.progress, ...progress } });
      },
      onState: () => {
        due ??= setTimeout(soon, TOGETHER_MS);
      },
    },
    signal,
  );
  const poll = async () => {
    const state = document.getElementById('link-state');
    if (!document.hidden) {
      try {
        await refresh();
        state.hidden = true;
      } catch (error) {
        if (signal.aborted) return;
        state.hidden = false;
        setText(state, problemWords(error).detail || 'no answer');
      }
    }
    if (!signal.aborted) {
      const busy = [...rows.values()].some(({ job }) => !isOver(job));
      timer = setTimeout(poll, busy ? BUSY_MS : CALM_MS);
    }
  };
  let timer = setTimeout(poll, BUSY_MS);
  const clock = setInterval(() => {
    if (!document.hidden) for (const row of rows.values()) row.tick();
  }, CLOCK_MS);
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    clearInterval(clock);
    document.getElementById('link-state').hidden = true;
  });
  return 'Jobs';
}
