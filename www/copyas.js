// The same job as a line for curl, for coremap and for Python.

import { announce, element, fill } from './dom.js';

/** Options that are not as the server has them unless told. */
const given = (options, described) =>
  Object.entries(options ?? {}).filter(
    ([name, value]) =>
      value !== '' && value !== null && typeof value !== 'object' && (!described || described[name]?.default !== value) && (!described || name in described),
  );

const quoted = (text) => `'${String(text).replaceAll("'", "'\\''")}'`;
const word = (text) => (/^[\w.-]+$/.test(String(text)) ? text : quoted(text));

/** {curl, coremap, python} of a job to map, which name the server's network by its id. Without `options` beside their defaults (`described`) only what differs is said. */
export function mapLines({ network, chip, options, described, server = location.origin }) {
  const set = given(options, described),
    job = { kind: 'map', network, chip, options: Object.fromEntries(set) };
  const words = set.map(([key, value]) => ` --${key.replaceAll('_', '-')} ${word(value)}`).join('');
  const python = (value) => (typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value));
  return {
    curl: `curl -X POST ${quoted(`${server}/v1/jobs`)} -d ${quoted(JSON.stringify(job))}`,
    coremap: `coremap submit ${network} --server ${server} --chip ${word(chip)}${words} --wait`,
    python: `coremap.map(${JSON.stringify(network)}, chip=${JSON.stringify(chip)}, server=${JSON.stringify(server)}${set.map(([key, value]) => `, ${key}=${python(value)}`).join('')})`,
  };
}

/** Buttons that copy each line, and the line that was copied. */
export function mapCopies(job) {
  if (!job.network || !job.chip) return null;
  const lines = mapLines(job),
    shown = element('code.copied');
  const copy = async (way) => {
    fill(shown, lines[way]);
    const failed = await Promise.resolve(navigator.clipboard?.writeText(lines[way]) ?? true).catch(() => true); // there is none without TLS
    announce(failed ? 'The line stands below, ready to be copied' : `Copied for ${way}`);
  };
  return element(
    'div.stack',
    element(
      'div.buttons',
      [
        ['curl', 'Copy as curl'],
        ['coremap', 'Copy as coremap'],
        ['python', 'Copy as Python'],
      ].map(([way, label]) => element('button.button.small', { onclick: () => copy(way) }, label)),
    ),
    shown,
  );
}
