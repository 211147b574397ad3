// The server's HTTP interface as functions. Every failure is thrown: a Problem with the server's own words,
// or an Error.

import { words } from './format.js';
import { Problem } from './problem.js';

async function request(path, { signal, method = 'GET', body, headers } = {}) {
  let response;
  const lost = document.getElementById('link-state');
  try {
    response = await fetch(path, { signal, method, body, headers });
    lost.hidden = true;
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    lost.hidden = false; // whatever page one is on, until it answers again
    throw new Error('the server does not answer');
  }
  // A reply that is not JSON (a proxy's page, a reset) still has its status.
  if (!response.ok) throw new Problem(await response.json().catch(() => null), response.status);
  return response;
}

/** The address of something, by what it is and its name, each as they come in paths. */
export const pathOf = (...parts) => ['v1', ...parts.map(encodeURIComponent)].join('/');
export const getJson = async (path, signal) => (await request(path, { signal, headers: { Accept: 'application/json' } })).json();
export const getText = async (path, signal) => (await request(path, { signal })).text();
export const getBuffer = async (path, signal) => (await request(path, { signal })).arrayBuffer();

/** once(key, make): the promise that make() gave for this key; one that fails is made again. */
export function keeper() {
  const kept = new Map();
  return (key, make) => {
    if (!kept.has(key)) {
      const answer = make();
      answer.catch(() => kept.delete(key));
      kept.set(key, answer);
    }
    return kept.get(key);
  };
}

/** What narrows an address: "?name=value&…" of what there is; empty where there is none. */
export function query(values) {
  const text = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== ''));
  return String(text) ? `?${text}` : '';
}

/** A change of something; its reply's body, null when there is none. */
export async function change(method, path, body, headers = {}) {
  const response = await request(path, {
    method,
    body: body === undefined ? undefined : JSON.stringify(body),
    headers: body === undefined ? headers : { 'Content-Type': 'application/json', ...headers },
  });
  return response.status === 204 ? null : response.json();
}

export const getMe = () => getJson('v1/me');
export const signIn = (token) => change('POST', 'v1/session', { token });
export const signOut = () => request('v1/session', { method: 'DELETE' });

/** `only`: cursor, limit, and what the list is narrowed by. */
export const listJobs = (only = {}, signal) => getJson(`v1/jobs${query(only)}`, signal);
export const getJob = (id, signal) => getJson(pathOf('jobs', id), signal);
export const cancelJob = (id) => change('POST', pathOf('jobs', id, 'cancel'));
export const listChips = (signal) => getJson('v1/chips', signal);
export const getNetwork = (id, signal) => getJson(pathOf('networks', id), signal);
export const getChip = (name, signal) => getJson(pathOf('chips', name), signal);
/** onTag(tag): the entity tag that a change of what was read is based on. */
export async function getOccupancy(name, signal, onTag = () => {}) {
  const response = await request(pathOf('chips', name, 'occupancy'), { signal });
  onTag(response.headers.get('ETag'));
  return response.json();
}
export const getHolders = (name, signal) => getJson(pathOf('chips', name, 'holders'), signal);
export const listMappings = (only = {}, signal) => getJson(`v1/mappings${query(only)}`, signal);
export const getMapping = (id, signal) => getJson(pathOf('mappings', id), signal);
export const mappingUrl = (id, rest = '') => pathOf('mappings', id) + rest;

let described = null;
/** The server's OpenAPI document; fetched once. */
const getDescription = async (signal) => (described ??= await getJson('openapi.json', signal));

/** Its schemas by name. */
export const getSchemas = async (signal) => (await getDescription(signal)).components.schemas;

/** What a change of the server does, by the name that the audit trail has for it. */
export async function getDeeds(signal) {
  const { paths } = await getDescription(signal),
    all = Object.values(paths).flatMap((path) => Object.values(path));
  return (name) => all.find(({ operationId }) => operationId === name)?.summary.split(',')[0] ?? words(name);
}

/** How a network's file can be read: name, description and schema of each option. */
export async function getReadOptions(signal) {
  const { paths, components } = await getDescription(signal);
  const resolved = ({ $ref, ...schema }) => ($ref ? components.schemas[$ref.split('/').pop()] : schema);
  return paths['/v1/networks'].post.parameters
    .filter(({ name }) => name !== 'name' && name !== 'visibility')
    .map((option) => ({ ...option, schema: resolved(option.schema) }));
}

/** Options of jobs of kind map by name, from the server's own table: words, default and description. */
export const getMapOptions = async (signal) => (await getSchemas(signal)).MapOptions.properties;

/** Makes a job, and goes to its page. */
export async function startJob(job) {
  location.hash = `#/jobs/${(await change('POST', 'v1/jobs', job)).id}`;
}

/** Sends a file as it is: a network, with the options of its reading, or a table of the network `of`. fetch cannot tell how
 * far an upload is, XMLHttpRequest can. */
export function uploadNetwork(file, { of, visibility, ...reading }, onProgress, signal) {
  return new Promise((resolve, reject) => {
    const upload = new XMLHttpRequest();
    const made = { name: file.name, visibility: visibility || undefined, ...reading };
    upload.open('POST', of ? pathOf('networks', of.id, of.table) : `v1/networks${query(made)}`);
    upload.setRequestHeader('Content-Type', 'application/octet-stream');
    upload.upload.onprogress = (event) => onProgress(event.lengthComputable ? event.loaded / event.total : NaN);
    upload.onload = () => {
      let body = null;
      try {
        body = JSON.parse(upload.responseText);
      } catch {
        // Judged by the status below.
      }
      if (upload.status >= 200 && upload.status < 300 && body) resolve({ network: body, known: upload.status === 200 });
      else reject(new Problem(body, upload.status));
    };
    upload.onerror = () => reject(new Error('the connection broke during the upload'));
    upload.onabort = () => reject(new DOMException('upload stopped', 'AbortError'));
    signal?.addEventListener('abort', () => upload.abort(), { once: true });
    upload.send(file);
  });
}

const names = new Map();

/** The name a network was uploaded under, remembered; null when it has none or is gone. */
export async function networkName(id, signal) {
  const gone = (error) => {
    if (error.name === 'AbortError') throw error;
    return {};
  };
  if (id && !names.has(id)) names.set(id, (await getNetwork(id, signal).catch(gone)).name || null);
  return names.get(id) ?? null;
}

/** Server-sent events until the signal aborts or what is returned is called. */
function watch(path, { onProgress, onState }, signal) {
  const source = new EventSource(path);
  const close = () => source.close();
  source.addEventListener('progress', (event) => onProgress(JSON.parse(event.data)));
  source.addEventListener('state', (event) => onState(JSON.parse(event.data)));
  signal.addEventListener('abort', close, { once: true });
  return close;
}

/** Those of one job, and of all jobs of who looks: of each event the job's id with what it tells. */
export const watchJob = (id, told, signal) => watch(pathOf('jobs', id, 'events'), told, signal);
export const watchJobs = (told, signal) => watch('v1/events', told, signal);

export const programUrl = (id, rest = '') => pathOf('programs', id) + rest;

export const isOver = (job) => job.state === 'done' || job.state === 'failed' || job.state === 'cancelled';
