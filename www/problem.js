// A problem reply (RFC 9457) in words: what, where, and the figures that came with it.

import { capital, count, words } from './format.js';

const KNOWN = new Set(['type', 'title', 'status', 'detail', 'code', 'where', 'instance']);

export class Problem extends Error {
  constructor(body, status) {
    super(body?.detail || body?.title || `the server answered ${status}`);
    this.body = body ?? {};
    this.status = status;
  }
}

function figureText(value) {
  if (typeof value === 'number') return count(value);
  if (Array.isArray(value)) return value.map(figureText).join(' × ');
  if (value && typeof value === 'object') {
    if ('width' in value && 'height' in value) return `${count(value.width)} × ${count(value.height)}`;
    return Object.entries(value)
      .map(([name, part]) => `${words(name)} ${figureText(part)}`)
      .join(', ');
  }
  return String(value);
}

/** { title, detail, where, figures: [[name, text]] } of a problem reply or of any error. */
export function problemWords(problem) {
  const body = problem instanceof Problem ? problem.body : problem instanceof Error ? { detail: problem.message } : (problem ?? {});
  const title = body.title || words(body.code || 'this did not work');
  const detail = body.detail && body.detail !== title ? body.detail : '';
  return {
    title: capital(title),
    detail: capital(detail || (problem instanceof Problem && !body.title ? problem.message : '')),
    where: body.where ? String(body.where) : '',
    figures: Object.entries(body)
      .filter(([name, value]) => !KNOWN.has(name) && value !== null)
      .filter(([name]) => name !== 'request' || body.status >= 500) // for whoever reads the log
      .map(([name, value]) => [capital(words(name)), figureText(value)]),
  };
}
