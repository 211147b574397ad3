// A user's way through the viewer: upload, job, mapping, core, layers, comparison, keyboard, themes, narrow screens.
// Numbers on the page are held against the server's own answers.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { grouped, openBrowser, PATIENCE_MS, plain } from './harness.js';
import { startServer } from './server.js';

const NETWORK = 'celegans_herm_chem.edges.csv';
const FILE = join(process.env.CM_SOURCE, 'tests', 'data', NETWORK);
const MORE = 'summary:text-is("More options")';
const LAYERS = ['Neurons', 'Synapses', 'Inbound axons', 'Traffic', 'Congestion', 'Step time', 'Fullest limit', 'Occupancy'];

let server, browser, page, api, getJson, go, trouble, expected;
let mappings = []; // ids of the finished jobs' mappings

const shot = (name, options = {}) =>
  page.screenshot({ path: join(process.env.CM_SCREENSHOTS, `${name}.png`), ...options });

/** The mapping's cores as the server states them: part -> the record, from the binary view. */
async function coresOf(id) {
  const response = await api.get(`${server.url}/v1/mappings/${id}/cores?format=bin`);
  const body = await response.body(),
    width = body.readUInt32LE(8),
    height = body.readUInt32LE(12),
    used = [];
  for (let core = 0; core < width * height; core++) {
    const at = 16 + core * 36,
      part = body.readUInt32LE(at);
    if (part === 0xffffffff) continue;
    used.push({
      x: core % width,
      y: Math.floor(core / width),
      part,
      neurons: body.readUInt32LE(at + 4),
      synapses: body.readUInt32LE(at + 8),
      inbound: body.readUInt32LE(at + 12),
    });
  }
  return used;
}

const pictureOf = (selector) => page.evaluate((canvas) => document.querySelector(canvas).toDataURL(), selector);
/** Waits until a canvas shows something else than a picture of it. */
const drawnAnew = (selector, before, nth = 0) =>
  page.waitForFunction(
    ([canvas, old, i]) => document.querySelectorAll(canvas)[i].toDataURL() !== old,
    [selector, before, nth],
  );
/** Waits until what is to be drawn is drawn. */
const drawn = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

const section = (title) => page.locator(`section:has(> h2:text-is("${title}"))`);

/** Presses a key until the readout names the core, from wherever the keyboard stands. */
async function walkTo({ x, y }) {
  for (let steps = 0; steps < 300; steps++) {
    const at = /Core (\d+), (\d+)/.exec(await page.textContent('.readout'));
    const [dx, dy] = at ? [x - Number(at[1]), y - Number(at[2])] : [1, 0];
    if (at && dx === 0 && dy === 0) return;
    await page.keyboard.press(
      dx > 0 ? 'ArrowRight' : dx < 0 ? 'ArrowLeft' : dy > 0 ? 'ArrowDown' : 'ArrowUp',
    );
    await page.waitForTimeout(5);
  }
  assert.fail(`the arrow keys do not reach core ${x}, ${y}`);
}

before(async () => {
  server = await startServer();
  ({ browser, page, api, getJson, go, trouble, expected } = await openBrowser(server, { width: 1280, height: 860 }));
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

test('the page comes with a policy that allows nothing from elsewhere', async () => {
  const response = await page.goto(`${server.url}/`);
  assert.match(response.headers()['content-security-policy'] ?? '', /default-src 'self'/);
  await page.waitForSelector('h1');
  assert.equal(await page.textContent('h1'), 'Jobs');
});

test('a network is uploaded through the page', async () => {
  await go('#/new');
  const known = (await getJson('/v1/networks')).networks.some((network) => network.name === NETWORK);
  await page.setInputFiles('#file', FILE);
  await page.waitForSelector('.uploaded');
  const shown = plain(await page.textContent('.uploaded'));
  const listed = (await getJson('/v1/networks')).networks.find((network) => network.name === NETWORK);
  assert.ok(listed, 'the server lists the network');
  assert.match(shown, known ? /was there already/ : /is uploaded/);
  for (const field of ['neurons', 'synapses', 'hyperedges'])
    assert.ok(shown.includes(grouped(listed[field])), `${field} of ${shown}`);
  assert.equal(await page.inputValue('#network'), listed.id);
  await page.waitForSelector('.reading'); // how it was read, before a job is made
  assert.match(plain(await page.textContent('.reading')), new RegExp(`^Read as ${listed.format}, by `));
});

test('a file that is no network is refused in words', async () => {
  expected.push(/status of 4\d\d/);
  await go('#/new');
  await page.setInputFiles('#file', {
    name: 'junk.bin',
    mimeType: 'application/octet-stream',
    buffer: Buffer.from('junk\u0001\u0002 is no network \u0000\u0003'),
  });
  await page.waitForSelector('.upload-outcome .problem');
  assert.ok((await page.textContent('.upload-outcome .problem-title')).length > 3);
  await shot('upload-refused');
  expected.pop();
});

test('a file that can be read in two ways is read again as the form says', async () => {
  expected.push(/status of 4\d\d/);
  await go('#/new');
  await page.setInputFiles('#file', { name: 'w.csv', mimeType: 'text/csv', buffer: Buffer.from('0,1,2\n3,0,4\n5,6,0\n') });
  await page.waitForSelector('.upload-outcome .problem');
  assert.match(plain(await page.textContent('.upload-outcome .problem')), /matrix of 3 neurons .*list of 3 edges/);
  await page.waitForSelector('#read-format'); // what a refusal names can be said at once
  await page.selectOption('#read-format', 'matrix');
  await shot('upload-read-again');
  await page.click('#read-again');
  await page.waitForSelector('.uploaded');
  const id = await page.inputValue('#network');
  const first = await getJson(`/v1/networks/${id}`);
  assert.deepEqual([first.format, first.neurons, first.synapses, first.directed], ['matrix', 3, 6, true]);
  await page.selectOption('#read-format', 'edges');
  await page.selectOption('#read-zeros', 'keep');
  await page.selectOption('#read-directed', 'yes');
  await page.click('#read-again');
  await page.waitForFunction(() => /edges/.test(document.querySelector('.uploaded')?.textContent));
  const second = await getJson(`/v1/networks/${id}`);
  assert.deepEqual([second.format, second.neurons, second.synapses], ['edges', 5, 3]);
  assert.equal(await page.inputValue('#network'), id);
  expected.pop();
});

test('a file is uploaded by drag and drop', async () => {
  await go('#/new');
  const transfer = await page.evaluateHandle(() => {
    const data = new DataTransfer();
    data.items.add(new File(['source,target,weight\na,b,1\nb,c,2\nc,a,3\n'], 'triangle.csv'));
    return data;
  });
  await page.dispatchEvent('.drop', 'dragover', { dataTransfer: transfer });
  await page.dispatchEvent('.drop', 'drop', { dataTransfer: transfer });
  await page.waitForSelector('.uploaded');
  assert.match(await page.textContent('.uploaded'), /triangle\.csv/);
});

test('rates of a second file make another network, which is chosen', async () => {
  const first = (await getJson('/v1/networks')).networks.find((network) => network.name === 'triangle.csv');
  await page.setInputFiles('#rates', {
    name: 'rates.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('neuron,rate_hz\na,10\nb,2.25\nc,0\n'),
  });
  await page.waitForFunction(() => /with the rates of rates\.csv/.test(document.querySelector('.uploaded')?.textContent));
  const chosen = await page.inputValue('#network');
  assert.notEqual(chosen, first.id);
  assert.equal((await getJson(`/v1/networks/${chosen}`)).synapses, 3);
});

/** What needs a library to be written: archives of arrays, lava-dl, a SONATA circuit. */
const WRITER = `
import io, json, os, sys, tarfile, zipfile
import h5py, numpy as np, scipy.sparse
os.chdir(sys.argv[1])
scipy.sparse.save_npz('matrix.npz', scipy.sparse.csr_matrix(np.eye(5, k=1)))
with h5py.File('layers.net', 'w') as h:
    for i, (kind, shape) in enumerate((('input', [4]), ('dense', [3]))):
        layer = h.create_group('layer/%d' % i)
        layer['type'], layer['shape'] = np.bytes_(kind), shape
        if kind == 'dense':
            layer['weight'] = np.ones((3, 4))
files = {'config.json': json.dumps({'networks': {'nodes': [{'nodes_file': 'n.h5'}], 'edges': [{'edges_file': 'e.h5'}]}}).encode()}
def h5(name, write):
    with h5py.File(io.BytesIO(), 'w') as h:
        write(h); h.flush(); files[name] = h.id.get_file_image()
def edges(h):
    g = h.create_group('edges/a_to_a')
    for end in ('source', 'target'):
        g[end + '_node_id'] = np.arange(3) if end == 'source' else np.array([1, 2, 0])
        g[end + '_node_id'].attrs['node_population'] = 'a'
    g['edge_type_id'], g['edge_group_id'], g['edge_group_index'] = [1] * 3, [0] * 3, range(3)
    g.create_group('0')
h5('n.h5', lambda h: h.create_dataset('nodes/a/node_type_id', data=[1, 1, 1]))
h5('e.h5', edges)
with zipfile.ZipFile('circuit.zip', 'w') as z, tarfile.open('circuit.tar.gz', 'w:gz') as t:
    for name, data in files.items():
        z.writestr(name, data)
        about = tarfile.TarInfo(name); about.size = len(data); t.addfile(about, io.BytesIO(data))
`;

test('files of every other kind are uploaded', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'coremap-pages-'));
  execFileSync('/usr/bin/python3', ['-c', WRITER, folder]);
  const made = (name) => readFileSync(join(folder, name));
  const file = (...path) => readFileSync(join(process.env.CM_SOURCE, 'tests', ...path));
  const seed = (...path) => file('fuzz', 'seeds', ...path);
  for (const [name, format, buffer] of [
    ['small.npy', 'numpy', seed('numpy', 'square').subarray(1)],
    ['graph.graphml', 'graphml', seed('graph', 'directed')],
    ['graph.gexf', 'gexf', seed('graph', 'gexf')],
    ['matrix.npz', 'numpy', made('matrix.npz')],
    ['layers.net', 'lava-dl', made('layers.net')],
    ['circuit.zip', 'sonata', made('circuit.zip')],
    ['circuit.tar.gz', 'sonata', made('circuit.tar.gz')],
    ['synapses.csv', 'edges', Buffer.from('pre_root_id,post_root_id,syn_count\n720575940,720575941,5\n')],
    ['braille.nir', 'nir', file('data', 'nir', 'braille_noDelay_bias_zero.nir')],
    ['edges.h5.gz', 'sonata', file('data', 'sonata', 'internal_internal_edges.h5.gz')],
  ]) {
    await go('#/new');
    await page.setInputFiles('#file', { name, mimeType: 'application/octet-stream', buffer });
    await page.waitForSelector('.uploaded');
    assert.ok(plain(await page.textContent('.uploaded')).includes(format), name);
    const chosen = await getJson(`/v1/networks/${await page.inputValue('#network')}`);
    assert.equal(chosen.format, format, name);
  }
  rmSync(folder, { recursive: true });
});

test('a network with layers, its inputs outside, is coloured by layer', async () => {
  await go('#/new');
  const network = (await getJson('/v1/networks')).networks.find((entry) => entry.name === 'braille.nir');
  await page.selectOption('#network', network.id);
  await page.selectOption('#chip', 'loihi1');
  await page.click(MORE);
  await page.fill('#part-size', '8');
  await page.selectOption('#inputs', 'outside');
  await page.click('button[type=submit]');
  await page.waitForURL(/#\/jobs\/.+/);
  await page.waitForSelector('.job-now .badge-done');
  const done = await getJson(`/v1/jobs/${decodeURIComponent(page.url().split('#/jobs/')[1])}`);
  const { populations, metrics } = await getJson(`/v1/mappings/${done.mapping}`);
  assert.equal(metrics.outside_inputs, 12);
  const named = new Map(); // every population of a core counts, not its largest one alone
  for (const core of (await getJson(`/v1/mappings/${done.mapping}/cores?format=json`)).cores)
    for (const { population } of core.populations) {
      const { name } = populations.list[population];
      named.set(name, (named.get(name) ?? 0) + 1);
    }
  await go(`#/mappings/${done.mapping}?layer=population`);
  await page.waitForSelector('.legend-names li');
  assert.equal(await page.textContent('input[name=layer]:checked + span'), 'Populations');
  const keys = (await page.locator('.legend-names li').allTextContents()).map(plain);
  assert.deepEqual(keys.sort(), [...named].map(([name, cores]) => `${name} ${cores}`).sort());
  const colours = await page
    .locator('.legend-names .swatch')
    .evaluateAll((all) => all.map((swatch) => swatch.style.backgroundColor));
  assert.equal(new Set(colours).size, named.size);
  const [number] = populations.of_parts,
    first = (await coresOf(done.mapping)).find((core) => core.part === 0);
  await page.focus('.heat-canvas');
  await walkTo(first);
  assert.match(await page.textContent('.readout'), new RegExp(`of ${populations.list[number].name.replace('.', '\\.')}`));
  await shot('by-layer');
  await page.check('input[name=layer][value=neurons]', { force: true });
  await page.waitForSelector('.legend-scale', { state: 'visible' });
});

for (const [seed, name] of [
  ['1', 'pages, first'],
  ['2', 'pages, second'],
]) {
  test(`a job with seed ${seed} runs from the form to its mapping`, async () => {
    await go('#/new');
    const network = (await getJson('/v1/networks')).networks.find((entry) => entry.name === NETWORK);
    await page.selectOption('#network', network.id);
    await page.selectOption('#chip', 'loihi64');
    await page.fill('#seed', seed);
    await page.fill('#name', name);
    await page.click(MORE);
    // The network fits on one core: smaller parts make a mapping worth looking at.
    await page.fill('#part-size', '24');
    await page.selectOption('#traffic-model', 'multicast');
    if (seed === '1') await shot('new-job');
    await page.click('button[type=submit]');
    await page.waitForURL(/#\/jobs\/.+/);
    const job = decodeURIComponent(page.url().split('#/jobs/')[1]);
    await page.waitForSelector('.job-now .badge-done');
    const done = await getJson(`/v1/jobs/${job}`);
    assert.equal(done.state, 'done');
    assert.deepEqual(done.options, {
      seed: Number(seed),
      traffic_model: 'multicast',
      max_part_size: 24,
    });
    assert.equal(await page.textContent('h1'), name);
    mappings.push(String(done.mapping));
    if (seed === '1') await shot('job');
    await page.click('text=Open the mapping');
    await page.waitForSelector('.heat-canvas');
    assert.ok(page.url().endsWith(`#/mappings/${done.mapping}`));
  });
}

test('the list of jobs shows them, for two requests', async () => {
  await go('#/new');
  const asked = [],
    note = (request) => asked.push(new URL(request.url()).pathname.replace(/.*\/v1\//, ''));
  page.on('request', note);
  await go('#/jobs');
  await page.locator('tr[data-job]').first().waitFor();
  page.off('request', note);
  assert.deepEqual([...new Set(asked)].filter((path) => path.startsWith('jobs/') || path.startsWith('networks/')), []);
  assert.ok(asked.filter((path) => path === 'jobs').length <= 2 && asked.filter((path) => path === 'events').length <= 1, asked.join(' '));
  const { jobs } = await getJson('/v1/jobs');
  const first = jobs.find((job) => String(job.mapping) === mappings[0]);
  const row = page.locator(`tr[data-job="${first.id}"]`);
  assert.equal(await row.locator('.badge').textContent(), 'done');
  assert.equal(await row.locator('td[data-title=Chip]').textContent(), 'loihi64');
  await page.waitForFunction(
    ([id, name]) => document.querySelector(`tr[data-job="${id}"] td[data-title=Network]`).textContent === name,
    [first.id, NETWORK],
  );
  await shot('jobs');
  await page.fill('input[type="search"]', 'nothing has this name');
  await page.waitForFunction(() => document.querySelectorAll('tr[data-job]').length === 0 && !document.querySelector('.empty').hidden);
  await page.fill('input[type="search"]', '');
  await row.waitFor();
});

test('the metrics are the server’s', async () => {
  await go(`#/mappings/${mappings[0]}`);
  const { metrics, parts } = await getJson(`/v1/mappings/${mappings[0]}`);
  const value = async (name) =>
    Number(await page.getAttribute(`tr[data-metric="${name}"] td.number span`, 'title'));
  for (const name of [
    'energy_pj',
    'latency_mean_ns',
    'connectivity',
    'edge_cut',
    'congestion_max',
    'cores_used',
    'most_inbound_axons',
  ]) {
    assert.equal(await value(name), metrics[name], name);
  }
  assert.equal(
    plain(await page.textContent('tr[data-metric="cores_used"] td.number')),
    grouped(metrics.cores_used),
  );
  assert.equal(metrics.cores_used, parts);
  const { candidates } = (await getJson(`/v1/mappings/${mappings[0]}`)).report;
  const ways = page.locator('section:has(h2:text-is("Candidates")) tbody tr');
  assert.ok(candidates.length >= 2);
  assert.equal(await ways.count(), candidates.length);
  const cheapest = candidates.reduce((best, one) => (one.cost < best.cost ? one : best));
  const taken = plain(await ways.filter({ hasText: 'taken' }).first().textContent());
  for (const name of ['mapper', 'preset', 'objective']) assert.ok(taken.includes(cheapest[name]), taken);
  await shot('mapping', { fullPage: true });
});

test('a policy is chosen of those that the server has, where the learned mapper is', async () => {
  await go('#/new');
  const network = (await getJson('/v1/networks')).networks.find((entry) => entry.name === NETWORK);
  await page.selectOption('#network', network.id);
  await page.selectOption('#chip', 'loihi64');
  await page.click(MORE);
  await page.fill('#part-size', '24');
  const offered = page.locator('#policy, #policy-objective, #policy-refinement').filter({ visible: true });
  assert.equal(await offered.count(), 0, 'no policy without the mapper');
  await page.selectOption('#mapper', 'learned');
  const { policy } = (await getJson('/openapi.json')).components.schemas.MapOptions.properties;
  await page.waitForSelector('#policy option[value=letter]', { state: 'attached' });
  assert.equal(await offered.count(), 3);
  const words = await page.locator('#policy option').evaluateAll((all) => all.map(({ value }) => value));
  assert.deepEqual(words, ['', ...policy.enum.filter((word) => word !== policy.default)]);
  assert.ok((await page.textContent('#policy option')).startsWith(policy.default));
  await page.selectOption('#policy', 'letter');
  await page.selectOption('#mapper', 'two-phase');
  assert.equal(await offered.count(), 0, 'and none with another mapper');
  await page.selectOption('#mapper', 'learned');
  assert.equal(await page.inputValue('#policy'), 'letter');
  await shot('policy');
  await page.click('button[type=submit]');
  await page.waitForURL(/#\/jobs\/.+/);
  await page.waitForSelector('.job-now .badge-done');
  const done = await getJson(`/v1/jobs/${decodeURIComponent(page.url().split('#/jobs/')[1])}`);
  assert.equal(done.options.policy, 'letter');
  assert.equal((await getJson(`/v1/mappings/${done.mapping}`)).report.learned.policy, 'letter');
});

test('a network is run: who spiked when, and a map at the rates', async () => {
  const { networks } = await getJson('/v1/networks');
  const { id: network } = networks.find(({ name }) => name === 'braille.nir');
  await go(`#/networks/${network}`);
  await page.click('button:text-is("Run")');
  await page.waitForSelector('.problem:has-text("how many steps")');
  await page.fill('#run-steps', '256');
  await page.fill('#run-dt', '1e-4');
  await page.setInputFiles('#run-spikes', join(process.env.CM_SOURCE, 'tests', 'data', 'nir', 'recorded', 'braille_input.csv'));
  await page.click('button:text-is("Run")');
  await page.waitForURL(/#\/jobs\/.+/);
  await page.waitForSelector('.job-now .badge-done');
  const { report } = await getJson(`/v1/jobs/${decodeURIComponent(page.url().split('#/jobs/')[1])}`);
  const spikes = section('Spikes');
  const told = plain(await spikes.textContent());
  assert.ok(told.includes(`Spikes of neurons${grouped(report.neurons.spikes)}`), told);
  assert.ok(told.includes(`${grouped(report.peak.worst)} at most, in step ${report.peak.step}`), told);
  const raster = section('Who spiked when').locator('canvas');
  assert.deepEqual(await raster.evaluate(({ width, height }) => [width, height]), [report.raster[0].length, report.raster.length]);
  const drawnPixels = await raster.evaluate((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((value, at) => at % 4 === 3 && value > 0).length;
  });
  assert.equal(drawnPixels, report.raster.flat().filter((value) => value > 0).length);
  assert.equal(await section('Rates').locator('tbody tr').count(), (report.populations ?? [1, 2]).length);
  await shot('run', { fullPage: true });
  await page.click('a:text-is("Map it at these rates")');
  await page.waitForSelector('#run-steps:visible');
  assert.deepEqual([await page.inputValue('#run-steps'), await page.inputValue('#run-dt')], ['256', '0.0001']);
  await page.selectOption('#chip', 'loihi1');
  await page.click('button[type=submit]');
  await page.waitForURL(/#\/jobs\/.+/);
  await page.waitForSelector('.job-now .badge-done');
  const mapped = await getJson(`/v1/jobs/${decodeURIComponent(page.url().split('#/jobs/')[1])}`);
  assert.deepEqual([mapped.options.profile, mapped.options.dt, mapped.options.spikes.length > 1000], [256, 1e-4, true]);
  assert.ok(mapped.report.metrics.step_ns > 0);
});

test('a network is deployed: what differs, and what each core holds', async () => {
  const { networks } = await getJson('/v1/networks');
  const { id: network } = networks.find(({ name }) => name === 'braille.nir');
  const started = async (button) => {
    for (const [name, value] of [['steps', '40'], ['dt', '1e-4'], ['poisson', '400']]) await page.fill(`#run-${name}`, value);
    await page.click(`button:text-is("${button}")`);
    await page.waitForURL(/#\/jobs\/.+/);
    await page.waitForSelector('.job-now .badge-done');
    return getJson(`/v1/jobs/${decodeURIComponent(page.url().split('#/jobs/')[1])}`);
  };
  await go(`#/networks/${network}`);
  await shot('deploy', { fullPage: true });
  await page.selectOption('#run-chip', 'catalyst-n1');
  const { report, options } = await started('Deploy');
  assert.deepEqual([options.steps, options.dt, options.poisson], [40, 1e-4, 400]);
  const stages = plain(await section('Spikes').locator('tbody').textContent());
  assert.ok(stages.includes(`In floating point${grouped(report.spikes.reference)}`), stages);
  assert.ok(stages.includes(`By the images${grouped(report.spikes.images)}0`), stages);
  assert.equal(await section('Who spiked when').locator('canvas').count(), 3);
  const cores = plain(await section('Images by core').locator('tbody').textContent());
  assert.ok(cores.includes(`of ${grouped(report.limits.neurons)}`) && cores.includes(`${report.cores[0].spikes} of ${report.limits.spikes}`), cores);
  assert.equal(await section('Error by population').locator('tbody tr').count(), report.populations.length);
  await shot('deployed', { fullPage: true });
  await page.click('a:text-is("Open the program")');
  await page.waitForSelector('a:text-is("Commands")');
  assert.equal(await section('Images by core').locator('tbody tr').count(), report.cores.length);
  const mapped = await api.post(`${server.url}/v1/jobs`, { data: { network, chip: 'catalyst-n1', options: { preset: 'fast', max_part_size: 20 } } });
  const { id: job } = await mapped.json();
  let mapping;
  while (!mapping) ({ mapping } = await getJson(`/v1/jobs/${job}?wait=30s`));
  await go(`#/mappings/${mapping}`);
  const by = await started('Deploy');
  assert.equal(by.options.mapping, mapping);
  assert.ok(by.report.cores.length > 1);
});

test('a job for short time steps, from the form to what holds a step up', async () => {
  await go('#/new');
  const network = (await getJson('/v1/networks')).networks.find((entry) => entry.name === NETWORK);
  await page.selectOption('#network', network.id);
  await page.selectOption('#chip', 'loihi1');
  await page.selectOption('#preset', 'fast'); // of those that the server has
  const { preset } = (await getJson('/openapi.json')).components.schemas.MapOptions.properties;
  const words = await page.locator('#preset option').evaluateAll((all) => all.map(({ value }) => value));
  assert.deepEqual(words, ['', ...preset.enum.filter((word) => word !== preset.default)]);
  await page.click(MORE);
  await page.selectOption('#objective', 'time');
  await page.fill('#parts', '128');
  await page.click('button[type=submit]');
  await page.waitForURL(/#\/jobs\/.+/);
  await page.waitForSelector('.job-now .badge-done');
  await page.click('text=Open the mapping');
  await page.waitForSelector('.heat-canvas');
  const id = decodeURIComponent(page.url().split('#/mappings/')[1]);
  const { metrics, report } = await getJson(`/v1/mappings/${id}`);
  const line = plain(await page.textContent('.step-line'));
  assert.ok(line.includes(metrics.step_limit.replace(/[\d.]+ ns.*/, '')), line);
  assert.match(line, /A time step takes \d\.\d+ µs/);
  assert.match(line, /the barrier takes 1\.[48]\d* µs/);
  assert.match(line, /this one’s is at the bound/);
  assert.equal(metrics.core_ns_max.toFixed(1), report.step_bound.ns.toFixed(1));
  const row = await page.getAttribute('tr[data-metric="step_ns"] td.number span', 'title');
  assert.equal(Number(row), metrics.step_ns);
  await shot('time-step', { fullPage: true });
  await page.click('[role=tab]:text-is("Bounds")');
  const choices = page.locator('section:has(> h2:text-is("More cores, or fewer")) tbody tr');
  await choices.first().waitFor();
  assert.equal(await choices.count(), report.choices.points.length);
  await choices.first().locator('button').click(); // the fewest cores, mapped
  await page.waitForURL(/#\/jobs\/.+/);
  await page.waitForSelector('.job-now .badge-done');
  const pressed = await getJson(`/v1/jobs/${decodeURIComponent(page.url().split('#/jobs/')[1])}`);
  assert.deepEqual([pressed.options.objective, pressed.options.cores], ['time', report.choices.points[0].cores]);
});

test('a set of mappings between time and energy, with its plot', async () => {
  await go('#/new');
  const some = readFileSync(FILE, 'utf8').split('\n').slice(0, 45).join('\n');
  await page.setInputFiles('#file', { name: 'some.csv', mimeType: 'text/csv', buffer: Buffer.from(some) });
  await page.waitForSelector('.uploaded');
  await page.selectOption('#chip', 'loihi1');
  await page.selectOption('#preset', 'fast');
  await page.click(MORE);
  await page.selectOption('#objective', 'pareto');
  await page.click('button[type=submit]');
  await page.waitForURL(/#\/jobs\/.+/);
  await page.waitForSelector('.job-now .badge-done');
  await page.click('text=Open the mapping');
  await page.waitForSelector('img.plot');
  await page.waitForFunction(() => document.querySelector('img.plot').naturalWidth === 640);
  const id = decodeURIComponent(page.url().split('#/mappings/')[1]);
  const { points, chosen } = await getJson(`/v1/mappings/${id}/pareto`);
  const rows = page.locator('section:has(h2:text-is("Time against energy")) tbody tr');
  assert.equal(await rows.count(), points.length + 1);
  assert.match(await rows.nth(chosen - 1).textContent(), /shown/);
  await page.locator('img.plot').scrollIntoViewIfNeeded();
  await page.locator('section:has(h2:text-is("Time against energy"))').screenshot({ path: join(process.env.CM_SCREENSHOTS, 'pareto.png') });
});

test('a mapping is simulated: latency against load, and the grid over time', async () => {
  await go(`#/mappings/${mappings[0]}`);
  await page.click('button:text-is("Simulate")');
  await page.waitForURL(/#\/jobs\/.+/);
  await page.waitForSelector('.job-now .badge-done');
  await page.waitForSelector('svg.load-plot');
  const { report } = await getJson(`/v1/jobs/${decodeURIComponent(page.url().split('#/jobs/')[1])}`);
  assert.equal(await page.locator('svg.load-plot circle').count(), report.saturation.curve.length);
  const { histogram, count: packets } = report.steps.latency,
    bars = page.locator('[aria-label^="Latency:"] >> nth=0');
  assert.equal(histogram.reduce((a, b) => a + b, 0), packets);
  const tall = await bars.locator('.bin').evaluateAll((all) => all.map((bar) => Number(bar.getAttribute('height'))));
  assert.deepEqual(tall.map((height) => height > 0), histogram.map((number) => number > 0));
  await page.waitForSelector('input[type=range]');
  const readout = page.locator('.passed');
  const first = await readout.textContent();
  await page.locator('input[type=range]').press('ArrowRight');
  const passed = report.frames.packets[1].reduce((a, b) => a + b, 0);
  assert.notEqual(await readout.textContent(), first);
  assert.equal(Number((await readout.textContent()).replace(/^.*: /, '').replace(/ packets.*$/, '').replace(/\D/g, '')), passed);
  // Played, it goes on by itself, to the end.
  const last = String(report.frames.packets.length - 1);
  await page.click('button:text-is("Play")');
  await page.waitForFunction((end) => document.querySelector('input[type=range]').value === end, last);
  await page.waitForSelector('button:text-is("Play")');
  // The axons beside a hot link or port are those that the mapping tells of it.
  const { links, ports } = await getJson(`/v1/mappings/${mappings[0]}/links?sort=load&limit=32&axons=3`),
    [hot] = report.steps.hottest,
    of = [...links, ...ports].find((one) => one.x === hot.x && one.y === hot.y && (one.port ?? 'link') === hot.kind && one.direction === hot.direction);
  const row = plain(await page.locator('[aria-label="Hottest links and ports"] tbody tr').first().textContent());
  assert.ok(of.axons.every(({ neuron, x, y }) => row.includes(String(neuron)) && row.includes(`on ${x}, ${y}`)), row);
  await page.locator('[aria-label="Hottest links and ports"] tbody button').first().click();
  await page.waitForFunction(() => /flows$/.test(document.querySelector('.map-told').textContent));
  await shot('simulation', { fullPage: true });
});

test('a click on a core shows its budgets and its neurons', async () => {
  await go(`#/mappings/${mappings[0]}`);
  const wanted = (await coresOf(mappings[0])).sort((a, b) => b.neurons - a.neurons)[0];
  // The busiest core is the first of the table; its place on the canvas is found by moving the pointer over the grid.
  const box = await page.locator('.heat-canvas').boundingBox();
  let hit = null;
  for (let y = 8; y < box.height && !hit; y += 12) {
    for (let x = 8; x < box.width && !hit; x += 12) {
      await page.mouse.move(box.x + x, box.y + y);
      if ((await page.textContent('.readout')).startsWith(`Core ${wanted.x}, ${wanted.y}:`)) hit = [x, y];
    }
  }
  assert.ok(hit, `core ${wanted.x}, ${wanted.y} is on the canvas`);
  await page.mouse.click(box.x + hit[0], box.y + hit[1]);
  await page.waitForSelector('.neuron-list li');
  assert.equal(await page.textContent('#core-title'), `Core ${wanted.x}, ${wanted.y}`);
  const meter = (label) => page.getAttribute(`[role="meter"][aria-label="${label}"]`, 'aria-valuenow');
  const limit = (label) => page.getAttribute(`[role="meter"][aria-label="${label}"]`, 'aria-valuemax');
  assert.equal(await meter('Neurons'), String(wanted.neurons));
  assert.equal(await limit('Neurons'), '1024');
  assert.equal(await meter('Inbound axons'), String(wanted.inbound));
  const { neurons } = await getJson(`/v1/mappings/${mappings[0]}/neurons?part=${wanted.part}`);
  assert.equal(neurons.length, wanted.neurons);
  assert.equal(await page.locator('.neuron-list li').count(), neurons.length);
  const text = await page.textContent('.neuron-list');
  assert.ok(text.includes(neurons[0].name || String(neurons[0].neuron)));
  assert.match(page.url(), new RegExp(`core=${wanted.x}(,|%2C)${wanted.y}`));
  await shot('core');
  await page.reload();
  await page.waitForSelector('.neuron-list li');
  assert.equal(
    await page.textContent('#core-title'),
    `Core ${wanted.x}, ${wanted.y}`,
    'a deep link to a core',
  );
});

test('layers switch, by the keyboard too', async () => {
  await go(`#/mappings/${mappings[0]}`);
  await page.focus('input[name=layer]:checked');
  const pictures = new Set();
  for (const [i, label] of LAYERS.entries()) {
    if (i > 0) await page.keyboard.press('ArrowRight');
    const checked = page.locator('input[name=layer]:checked + span');
    assert.equal(await checked.textContent(), label);
    if (label === 'Occupancy') await page.waitForSelector('.legend-names li');
    await page.waitForTimeout(120);
    await drawn();
    pictures.add(await pictureOf('.heat-canvas'));
    await page.locator('.map-layout').screenshot({
      path: join(process.env.CM_SCREENSHOTS, `layer-${label.toLowerCase().replace(' ', '-')}.png`),
    });
  }
  assert.ok(pictures.size >= LAYERS.length - 1, `${pictures.size} different pictures`);
  const { taken, broken, free, width, height } = await getJson('/v1/chips/loihi64/occupancy');
  assert.ok(Array.isArray(taken) && Array.isArray(broken) && free <= width * height);
  const total = [
    ...plain(await page.textContent('.legend-names')).matchAll(
      /(?:mapping|free|taken[^0-9]*|broken) ([\d ]+)/g,
    ),
  ].reduce((sum, [, digits]) => sum + Number(digits.replace(/ /g, '')), 0);
  assert.equal(total, width * height, 'the kinds of cores add up to the chip');
});

test('the heat map works without a mouse', async () => {
  await go(`#/mappings/${mappings[0]}`);
  const wanted = (await coresOf(mappings[0]))[0];
  await page.focus('.heat-canvas');
  await page.keyboard.press('0');
  await walkTo(wanted);
  assert.match(
    plain(await page.textContent('#announcer')),
    new RegExp(`Core ${wanted.x}, ${wanted.y}: part ${wanted.part},`),
    'spoken to screen readers',
  );
  await page.keyboard.press('Enter');
  await page.waitForFunction(
    (title) => document.getElementById('core-title').textContent === title,
    `Core ${wanted.x}, ${wanted.y}`,
  );
  const before = await pictureOf('.heat-canvas');
  await page.keyboard.press('+');
  await page.keyboard.press('+');
  await drawnAnew('.heat-canvas', before); // plus zooms in
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => document.getElementById('core-title').textContent === 'Core');
});

test('bars of a limit are chosen by keys, and what is seen stands in the address', async () => {
  await go(`#/mappings/${mappings[0]}?tab=limits&links=0&log=1`);
  const bars = page.locator('.limit-row svg.small-plot').first();
  await bars.focus();
  await drawn();
  const before = await pictureOf('.heat-canvas');
  for (const key of ['ArrowRight', 'ArrowRight', 'Shift+ArrowRight']) await page.keyboard.press(key);
  assert.equal(await bars.locator('.lit').count(), 2);
  assert.match(plain(await page.textContent('#announcer')), /^\d+ cores? from .* to /);
  await drawnAnew('.heat-canvas', before); // other cores fade
  await page.keyboard.press('Escape');
  await page.check('input[name=layer][value=traffic]', { force: true });
  await page.waitForFunction(() => /layer=traffic&log=1&tab=limits&links=0/.test(location.hash));
});

test('every control is reached by the Tab key, has a name and shows its focus', async () => {
  for (const hash of ['#/jobs', '#/new', `#/mappings/${mappings[0]}`]) {
    await go(hash);
    await page.waitForTimeout(150);
    const bad = await page.evaluate(() => {
      const name = (node) =>
        (
          node.getAttribute('aria-label') ||
          (node.labels && [...node.labels].map((label) => label.textContent).join(' ')) ||
          node.textContent ||
          node.title ||
          ''
        ).trim();
      return [...document.querySelectorAll('a[href], button, input, select, summary, canvas[tabindex]')]
        .filter((node) => node.offsetParent !== null && !name(node))
        .map((node) => node.outerHTML.slice(0, 120));
    });
    assert.deepEqual(bad, [], `nameless controls on ${hash}`);
    const seen = new Set();
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press('Tab');
      const at = await page.evaluate(() => {
        const node = document.activeElement;
        const mark = node.matches('.segmented input, #file') ? (node.nextElementSibling ?? node) : node;
        return node === document.body
          ? null
          : {
              tag: `${node.tagName} ${node.id} ${node.className} ${node.textContent.slice(0, 20)}`,
              outline: getComputedStyle(mark).outlineStyle,
              native: node.matches('.segmented input, #file'),
            };
      });
      if (!at) break;
      if (!at.native) assert.notEqual(at.outline, 'none', `focus is visible on ${at.tag}`);
      seen.add(at.tag);
    }
    assert.ok(seen.size >= 5, `${seen.size} stops on ${hash}`);
  }
});

test('a schedule of one\'s own as a timeline', async () => {
  const trace = join(process.env.CM_SCREENSHOTS, 'schedule.json');
  const tasks = join(process.env.CM_SOURCE, 'tests', 'data', 'schedule', 'topcuoglu10.txt');
  execFileSync(join(process.env.CM_BUILD, 'coremap'), ['schedule', tasks, '--quiet', '--method', 'list', '--trace', trace]);
  await go('#/timeline');
  await page.setInputFiles('#trace-file', trace);
  await page.waitForSelector('.timeline-canvas');
  assert.match(plain(await page.textContent('#main')), /10 spans on 3 units in 80.00 µs/);
  await drawn();
  const whole = await pictureOf('.timeline-canvas');
  // HEFT (table of the paper): task 1 runs first of all, from 0 to 9 on the third processor.
  await page.focus('.timeline-canvas');
  for (const key of ['ArrowRight', 'ArrowDown', 'ArrowDown', 'ArrowLeft', 'ArrowLeft']) await page.keyboard.press(key);
  assert.match(plain(await page.textContent('.readout')), /^unit 2: task 0, from 0 s to 9.000 µs, 9.000 µs long$/);
  await page.keyboard.press('+');
  await drawnAnew('.timeline-canvas', whole); // the picture follows the keyboard
  const unmarked = await pictureOf('.timeline-canvas');
  await page.keyboard.press('m');
  await drawnAnew('.timeline-canvas', unmarked);
  const [kept] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('p')]);
  assert.match(kept.suggestedFilename(), /^Timeline.*\.png$/);
  await page.click('details summary');
  assert.equal(await page.locator('table.units tbody tr').count(), 3);
  await shot('timeline', { fullPage: true });
  await page.setInputFiles('#trace-file', { name: 'no.json', mimeType: 'application/json', buffer: Buffer.from('{"a": 1}') });
  await page.waitForSelector('.problem');
  assert.match(await page.textContent('.problem'), /This is no trace/);
});

test('two mappings side by side', async () => {
  const [a, b] = mappings;
  await go(`#/compare/${a}/${b}`);
  await page.waitForSelector('.sides .legend');
  assert.equal(await page.locator('.heat-canvas').count(), 2);
  const [first, second] = await Promise.all([a, b].map((id) => getJson(`/v1/mappings/${id}`)));
  const x = first.metrics.energy_pj,
    y = second.metrics.energy_pj;
  const shown = plain(await page.locator('tr[data-metric="energy_pj"] td').nth(2).textContent());
  if (x === y) assert.equal(shown, '=');
  else if (Math.abs(y - x) / x >= 0.001)
    assert.equal(shown, `${y < x ? '−' : '+'}${((Math.abs(y - x) / x) * 100).toFixed(1)} %`);
  await drawn();
  const before = await page.evaluate(() => [...document.querySelectorAll('.heat-canvas')].map((canvas) => canvas.toDataURL()));
  await page.locator('.heat-canvas').first().hover();
  await page.mouse.wheel(0, -600);
  for (const side of [0, 1]) await drawnAnew('.heat-canvas', before[side], side); // both follow one wheel
  await shot('compare', { fullPage: true });
});

test('dark, remembered, and narrow', async () => {
  await go(`#/mappings/${mappings[0]}`);
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await page.click('#theme'); // auto -> light
  await page.click('#theme'); // light -> dark
  const dark = await background();
  assert.notEqual(dark, light);
  await page.reload();
  await page.waitForSelector('.heat-canvas');
  assert.equal(await background(), dark, 'the theme outlives the page');
  await shot('dark', { fullPage: true });
  await page.setViewportSize({ width: 400, height: 800 });
  for (const [name, hash] of [
    ['jobs', '#/jobs'],
    ['new', '#/new'],
    ['mapping', `#/mappings/${mappings[0]}`],
    ['compare', `#/compare/${mappings[0]}/${mappings[1]}`],
  ]) {
    await go(hash);
    await page.waitForTimeout(200);
    const over = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    assert.ok(over <= 0, `${name} is ${over} pixels too wide`);
    await shot(`narrow-${name}`, { fullPage: true });
  }
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.click('#theme'); // dark -> auto
});

test('what is copied runs, constraints too, and makes the same bytes', async () => {
  const { network, chip } = await getJson(`/v1/mappings/${mappings[0]}`),
    options = { preset: 'fast', max_part_size: 16, constraints: [{ kind: 'pin', of: 17, at: [0, 0, 3, 3], name: "it's" }] };
  const { id } = await (await api.post(`${server.url}/v1/jobs`, { data: { network: network.id, chip: chip.name, options } })).json(),
    ended = (job) => api.get(`${server.url}/v1/jobs/${job}/events`).then((events) => events.text()); // which then end too
  await ended(id);
  const { mapping } = await getJson(`/v1/jobs/${id}`);
  await go(`#/mappings/${mapping}`);
  const same = await (await api.get(`${server.url}/v1/mappings/${mapping}/content`)).text();
  const run = (line) => execFileSync('sh', ['-c', line], { cwd: process.env.CM_SCREENSHOTS, encoding: 'utf8', env: { ...process.env, PATH: `${process.env.CM_BUILD}:${process.env.PATH}` } });
  await page.click('text=Copy as Python');
  const python = `import coremap; ${await page.textContent('.copied')}.save('copied.json')`;
  execFileSync('/usr/bin/python3', ['-c', python], {
    cwd: process.env.CM_SCREENSHOTS,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: join(process.env.CM_SOURCE, 'python'), COREMAP_LIBRARY: join(process.env.CM_BUILD, 'library', 'libcoremap.so') },
  });
  assert.equal(readFileSync(join(process.env.CM_SCREENSHOTS, 'copied.json'), 'utf8'), same, 'Python');
  for (const way of ['curl', 'coremap']) {
    await page.click(`text=Copy as ${way}`);
    const told = run(await page.textContent('.copied'));
    const job = way === 'curl' && JSON.parse(told).id;
    if (job) await ended(job);
    const made = job ? (await getJson(`/v1/jobs/${job}`)).mapping : /^mapping (\w+)/m.exec(told)[1];
    assert.equal(await (await api.get(`${server.url}/v1/mappings/${made}/content`)).text(), same, way);
  }
});

test('the downloads are there', async () => {
  await go(`#/mappings/${mappings[0]}`);
  const links = await page.locator('.downloads a').evaluateAll((nodes) => nodes.map((node) => node.href));
  assert.ok(links.length >= 8);
  for (const link of links) {
    const response = await api.get(link);
    assert.equal(response.status(), 200, link);
    assert.ok((await response.body()).length > 0, link);
  }
  await page.selectOption('.exports select', 'sanafe');
  const [made] = await Promise.all([page.waitForEvent('download'), page.click('text="Export"')]);
  assert.equal(readFileSync(await made.path(), 'utf8'), await (await api.get(`${server.url}/v1/mappings/${mappings[0]}/export?to=sanafe`)).text());
});

test('links show the loads of the routing that the job chose', async () => {
  const { network } = (await getJson('/v1/jobs?limit=1&state=done')).jobs[0];
  const options = { max_part_size: 16, routing: 'west-first' };
  const created = await api.post(`${server.url}/v1/jobs`, { data: { network, chip: 'loihi1', options } });
  let job = { state: 'queued' };
  while (job.state === 'queued' || job.state === 'running') job = await getJson(`${created.headers().location}?wait=30s`);
  assert.equal(job.state, 'done');
  const { figures } = await getJson(`/v1/mappings/${job.mapping}/routes`);
  await go(`#/mappings/${job.mapping}`);
  await page.waitForSelector('.legend-notes >> text=west-first routes');
  const bytes = await (await api.get(`${server.url}/v1/mappings/${job.mapping}/routes?format=bin`)).body();
  let most = 0;
  for (let at = 16; at < bytes.length; at += 4) most = Math.max(most, bytes.readFloatLE(at));
  assert.ok(Math.abs(most - figures.link_load_max) < 1e-3 * most);
});

/** The file that a key on a canvas keeps. */
async function kept(canvas, key) {
  await page.focus(canvas);
  const [file] = await Promise.all([page.waitForEvent('download'), page.keyboard.press(key)]);
  return readFileSync(await file.path(), 'utf8');
}
/** How many shapes of each kind an SVG has; it fails on what is no XML. */
const shapesOf = (text) =>
  page.evaluate((svg) => {
    const root = new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement,
      count = (of) => root.querySelectorAll(of).length;
    return { is: root.localName, paths: count('path'), rects: count('rect'), texts: count('text'), images: count('image[href^="data:image/png"]') };
  }, text);

test('an address shows what was looked at, after going back too', async () => {
  await go(`#/mappings/${mappings[0]}`);
  await page.waitForSelector('.legend-notes >> text=fullest link');
  assert.ok(page.url().endsWith(mappings[0]), 'nothing is said of what one sees at first');
  await page.focus('.heat-canvas');
  for (const key of ['+', 'Shift+ArrowRight']) await page.keyboard.press(key);
  await page.waitForURL(/at=[\d.]+(,|%2C)/);
  const shown = page.url(),
    look = async () => {
      await page.waitForSelector('.legend-notes >> text=fullest link');
      const box = await page.locator('.heat-canvas').boundingBox(),
        told = [];
      for (const [x, y] of [[5, 5], [box.width - 5, box.height - 5]]) {
        await page.mouse.move(box.x + x, box.y + y);
        told.push(await page.textContent('.readout'));
      }
      return told.map((text) => /^Core \d+, \d+/.exec(text)[0]).join(' to ');
    };
  const seen = await look();
  await page.reload();
  assert.equal(await look(), seen);
  await page.click('nav a:text-is("Chips")');
  await page.waitForSelector('h1:text-is("Chips")');
  await page.goBack();
  assert.equal(await look(), seen);
  assert.equal(page.url(), shown);
});

test('plots and the matrix are kept as SVG and PNG', async () => {
  for (const [tab, has] of [
    ['matrix', 'images'],
    ['limits', 'rects'],
  ]) {
    await go(`#/mappings/${mappings[0]}?tab=${tab}`);
    const [file] = await Promise.all([page.waitForEvent('download'), page.locator('#tab-panel [aria-label^="Keep as SVG"]').first().click()]),
      shapes = await shapesOf(readFileSync(await file.path(), 'utf8'));
    assert.ok(shapes.is === 'svg' && shapes[has] > 0, JSON.stringify(shapes));
    const [picture] = await Promise.all([page.waitForEvent('download'), page.locator('#tab-panel [aria-label^="Keep as PNG"]').first().click()]),
      colours = await page.evaluate(async (bytes) => {
        const { width, height, data } = await createImageBitmap(new Blob([new Uint8Array(bytes)])).then((bitmap) => {
          const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
          context.drawImage(bitmap, 0, 0);
          return context.getImageData(0, 0, bitmap.width, bitmap.height);
        });
        return [width * height, new Set(new Uint32Array(data.buffer)).size];
      }, [...readFileSync(await picture.path())]);
    assert.ok(colours[0] > 0 && colours[1] > 1, `${tab}: ${colours[1]} colours in ${colours[0]} points`);
  }
});

test('what a map and a timeline show is kept as SVG', async () => {
  await go(`#/mappings/${mappings[0]}`);
  const plainMap = await shapesOf(await kept('.heat-canvas', 'v'));
  assert.equal(plainMap.is, 'svg');
  const [core] = (await coresOf(mappings[0])).sort((a, b) => b.neurons - a.neurons);
  await go(`#/mappings/${mappings[0]}?core=${core.x},${core.y}&flows=1`);
  await page.waitForFunction(() => /flows/.test(document.querySelector('.map-told').textContent));
  const { out, in: into } = await getJson(`/v1/mappings/${mappings[0]}/flows?core=${core.x},${core.y}&limit=400`),
    flowing = await shapesOf(await kept('.heat-canvas', 'v'));
  assert.ok(flowing.paths >= 2 * (out.flows.length + into.flows.length), `${flowing.paths} paths, ${out.flows.length} and ${into.flows.length} flows`);
  await go('#/timeline');
  const trace = { traceEvents: [0, 1, 2].map((i) => ({ ph: 'X', pid: 1, tid: i % 2, name: 'a<b', cat: 'work', ts: 10 * i, dur: 9 })) };
  await page.setInputFiles('#trace-file', { name: 'trace.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(trace)) });
  await page.waitForSelector('.timeline-canvas');
  const text = await kept('.timeline-canvas', 'v'),
    { is, rects } = await shapesOf(text);
  assert.ok(is === 'svg' && rects >= 5, `${is} of ${rects} rectangles`); // the ground, two lanes, three spans
  assert.ok(text.includes('a&#60;b'));
});

test('of a million cores blocks come first, then what one looks at', async () => {
  const { network } = (await getJson('/v1/jobs?limit=1&state=done')).jobs[0];
  const created = await api.post(`${server.url}/v1/jobs`, { data: { network, chip: 'loihi1024', options: { preset: 'fast', max_part_size: 1 } } });
  let job = { state: 'queued' };
  while (job.state === 'queued' || job.state === 'running') job = await getJson(`${created.headers().location}?wait=30s`);
  let bytes = 0;
  const asked = [],
    cdp = await page.context().newCDPSession(page);
  await cdp.send('Network.enable');
  cdp.on('Network.requestWillBeSent', ({ request }) => asked.push(request.url.split(job.mapping)[1] ?? ''));
  cdp.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  await go(`#/mappings/${job.mapping}`);
  await page.waitForSelector('[aria-label^="The cores with the most"] tbody tr');
  assert.ok(bytes > 0 && bytes < 1e6, `${bytes} bytes for the first picture`);
  assert.deepEqual(asked.filter((one) => one.startsWith('/cores')).map((one) => /block=\d|box=/.test(one)), asked.filter((one) => one.startsWith('/cores')).map(() => true));
  const { cores } = await getJson(`/v1/mappings/${job.mapping}/cores?format=json`),
    [wanted] = cores.toSorted((a, b) => b.synapses - a.synapses);
  await page.check('input[name=layer][value=synapses]', { force: true });
  const first = page.locator('[aria-label^="The cores with the most"] tbody tr').first();
  await page.waitForFunction((most) => document.querySelector('[aria-label^="The cores with the most"] tbody tr').textContent.includes(most), String(wanted.synapses));
  const [x0, y0, x1, y1] = (await first.locator('button').textContent()).match(/\d+/g).map(Number);
  const inside = cores.filter(({ x, y }) => x >= x0 && x <= x1 && y >= y0 && y <= y1);
  assert.equal(Math.max(...inside.map(({ synapses }) => synapses)), wanted.synapses);
  assert.ok(plain(await first.textContent()).includes(`${inside.length} of ${(x1 + 1 - x0) * (y1 + 1 - y0)} in use`));
  // What JSON alone tells comes by blocks too.
  const [slowest] = cores.toSorted((a, b) => b.core_ns - a.core_ns);
  await page.check('input[name=layer][value=step]', { force: true });
  await page.waitForSelector('[aria-label="The cores with the most of a step"]');
  const [sx0, sy0, sx1, sy1] = (await first.locator('button').textContent()).match(/\d+/g).map(Number);
  assert.ok(slowest.x >= sx0 && slowest.x <= sx1 && slowest.y >= sy0 && slowest.y <= sy1, `${sx0}, ${sy0} to ${sx1}, ${sy1}`);
  assert.ok(asked.filter((one) => one.startsWith('/cores')).every((one) => /block=\d|box=/.test(one)), asked.join(' '));
  await go(`#/mappings/${job.mapping}?core=${wanted.x},${wanted.y}`);
  await page.waitForSelector('[role=meter][aria-label="Neurons"]');
  assert.equal(await page.textContent('#core-title'), `Core ${wanted.x}, ${wanted.y}`);
  assert.equal(await page.getAttribute('[role=meter][aria-label="Neurons"]', 'aria-valuenow'), String(wanted.neurons));
  await page.waitForFunction((part) => document.querySelector('.readout').textContent.includes(`part ${part}`), wanted.part);
  await shot('million');
  await cdp.detach();
});

test('a compile job ends in a page with the program, its timeline and its files', async () => {
  const model = readFileSync(join(process.env.CM_SOURCE, 'tests', 'data', 'onnx', 'shuffle.onnx'));
  const network = await (await api.post(`${server.url}/v1/networks?name=shuffle`, { data: model })).json();
  await go('#/new');
  await page.selectOption('#network', network.id);
  assert.equal(await page.textContent('#form-title'), 'Compile it');
  assert.equal(await page.locator('#preset, #reserve').filter({ visible: true }).count(), 0, 'options of maps are away');
  const { chips } = await getJson('/v1/chips');
  assert.deepEqual(
    await page.locator('#chip option').evaluateAll((all) => all.map(({ value }) => value)),
    [...chips.filter((chip) => chip.runs_programs).map((chip) => chip.name), ''],
  );
  await page.selectOption('#chip', 'npu-mixed');
  await page.waitForFunction(() => document.body.textContent.includes('of on-chip memory'));
  await page.click(MORE);
  await page.check('#verify');
  await shot('new-compile-job');
  await page.click('button[type=submit]');
  await page.waitForURL(/#\/jobs\/.+/);
  let job = await getJson(`/v1/jobs/${decodeURIComponent(page.url().split('#/jobs/')[1])}`);
  assert.deepEqual([job.kind, job.chip, job.options], ['compile', 'npu-mixed', { verify: true }]);
  for (let i = 0; i < 60 && job.state !== 'done'; i++)
    job = await getJson(`/v1/jobs/${job.id}?wait=5s`);
  assert.equal(job.state, 'done');
  await go(`#/jobs/${job.id}`);
  await page.click('text=Open the program');
  await page.waitForSelector('.timeline-canvas');
  const report = await getJson(`/v1/programs/${job.program}/report`);
  const lanes = (await getJson(`/v1/programs/${job.program}/schedule`)).traceEvents.filter((event) => event.ph === 'M');
  assert.match(plain(await page.textContent('#main')), new RegExp(`on ${lanes.length} units`));
  // The critical path takes the whole time, the memory holds no more than there is: against the server's own figures.
  const path = report.program.time.critical_path;
  const trace = await getJson(`/v1/programs/${job.program}/schedule`);
  const events = trace.traceEvents.filter(({ ph, args }) => ph === 'X' && args?.critical);
  assert.equal(events.length, path.instructions);
  assert.match(plain(await page.textContent('#main')), new RegExp(`Critical path as a table \\(${grouped(events.length)} spans\\)`));
  const held = trace.traceEvents.filter(({ ph }) => ph === 'C').map(({ args }) => args.bytes);
  assert.ok(held.length > 2 && Math.max(...held) <= trace.otherData.limits.memory);
  await page.focus('.timeline-canvas');
  await page.keyboard.press('+');
  await page.waitForFunction(() => /[?&]at=[\d.]/.test(location.hash));
  await drawn();
  const zoomed = await pictureOf('.timeline-canvas');
  await page.reload();
  await page.waitForSelector('.timeline-canvas');
  await drawn();
  assert.ok((await pictureOf('.timeline-canvas')) === zoomed, 'an address shows what one saw');
  await page.focus('.timeline-canvas');
  await page.keyboard.press('0');
  await drawnAnew('.timeline-canvas', zoomed);
  const before = await pictureOf('.timeline-canvas');
  await page.check('.path-switch input');
  await drawnAnew('.timeline-canvas', before);
  const box = await page.locator('.timeline-canvas').boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height - 20);
  assert.match(plain(await page.textContent('.readout')), /^memory: [\d.]+ [kM]?B of [\d.]+ [kM]?B at /);
  await shot('critical-path', { fullPage: true });
  for (const name of ['Program', 'Timeline', 'Tiles', 'Core mapping'])
    assert.equal(await page.locator(`.buttons a:text-is("${name}")`).count(), 1, name);
  // Rows of nodes sum to what the program takes and moves.
  const nodes = page.locator('[aria-label^="Nodes"] tbody tr');
  assert.equal(await nodes.count(), Math.min(report.nodes.length, 25) + 1);
  const busy = Object.values(report.program.time.units).reduce((sum, { busy_ns: ns }) => sum + ns, 0);
  assert.ok(Math.abs(report.nodes.reduce((sum, { busy_ns: ns = 0 }) => sum + ns, 0) - busy) < 1e-6 * busy);
  assert.match(plain(await nodes.last().textContent()), /^all.*100(\.0)? %/);
  await page.fill('[aria-label="Find a node"]', 'store');
  assert.equal(await nodes.count(), report.nodes.filter(({ node, operator, device }) => `${node} ${operator} ${device}`.toLowerCase().includes('store')).length + 1);
  assert.ok(report.tiles.mapping.metrics.cores_used > 0);
  for (const subject of ['Operators', 'Traffic', 'Time by the cost model', 'Tiles', 'Tiles on cores'])
    assert.equal(await page.locator(`h2:text-is("${subject}")`).count(), 1, subject);
  assert.equal(await page.locator('h2:text-is("More")').count(), 0, 'every figure belongs to a subject');
  await page.setViewportSize({ width: 400, height: 800 });
  await page.waitForTimeout(100);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing sticks out');
  await page.setViewportSize({ width: 1280, height: 860 });
  await shot('program', { fullPage: true });
});

test('places that cannot be are told with the reason, those that can with their tiles', async () => {
  const ask = async (columns) => {
    const nodes = ['a', 'b'].map((name) => ({ name, kind: 'core' })),
      problem = { array: { columns, rows: 1, tiles: [{ kind: 'core', rows: [0, 0] }] }, nodes, edges: [{ from: 'a', to: 'b' }] };
    const { id } = await (await api.post(`${server.url}/v1/jobs`, { data: { kind: 'solve', options: { problem } } })).json();
    await api.get(`${server.url}/v1/jobs/${id}/events`).then((events) => events.text()); // which end with the job
    await go(`#/jobs/${id}`);
    return (await getJson(`/v1/jobs/${id}`)).report;
  };
  const { reason } = await ask(1);
  assert.ok((await section('Answer').textContent()).includes(reason.words.slice(1)));
  const { places } = await ask(2);
  assert.deepEqual(
    await section('Places').locator('tbody tr').evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent))),
    Object.entries(places).map(([name, at]) => [name, at.join(', ')]),
  );
});

test('a server that does not answer is told, and when it answers again', async () => {
  expected.push(/net::ERR_FAILED/);
  await go('#/jobs');
  const jobs = /\/v1\/jobs\?/,
    ask = (text) => page.fill('input[type=search]', text);
  await page.route(jobs, (route) => route.abort());
  await ask('x');
  await page.waitForSelector('#link-state', { state: 'visible' });
  await page.unroute(jobs);
  await ask('');
  await page.waitForSelector('#link-state', { state: 'hidden' });
  expected.pop();
});

test('what is not there is said', async () => {
  expected.push(/status of 404/);
  await go('#/mappings/nothing-here');
  assert.match(await page.textContent('h1'), /cannot be shown/);
  await go('#/no/such/page');
  assert.match(await page.textContent('.problem'), /no page/);
  await page.waitForTimeout(50);
  expected.pop();
});

test('with users one signs in with a token, by keyboard, and out again', async () => {
  const lab = await startServer({ own: true });
  const coremapd = (...words) =>
    execFileSync(join(process.env.CM_BUILD, 'coremapd'), [...words, '--data', lab.data], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  context.setDefaultTimeout(PATIENCE_MS);
  try {
    coremapd('user', 'add', 'ann', '--role', 'admin');
    const token = coremapd('token', 'add', '--user', 'ann', '--scope', 'admin');
    const tab = await context.newPage();
    const broken = [];
    tab.on('pageerror', (error) => broken.push(error.stack));
    await tab.goto(`${lab.url}/#/new`);
    await tab.waitForSelector('#token');
    assert.equal(await tab.textContent('h1'), 'Sign in');
    assert.equal(await tab.isVisible('#account'), false);
    await tab.focus('#token');
    await tab.keyboard.type('coremap_wrong');
    await tab.keyboard.press('Enter');
    await tab.waitForSelector('[role=alert]');
    assert.match(await tab.textContent('[role=alert]'), /wrong, or has been revoked/);
    await tab.screenshot({ path: join(process.env.CM_SCREENSHOTS, 'sign-in.png') });
    await tab.keyboard.type(token); // what was wrong is selected
    await tab.keyboard.press('Enter');
    await tab.waitForSelector('#account:not([hidden])');
    assert.match(await tab.textContent('#account'), /ann/);
    await tab.waitForSelector('h1:text-is("New job")');
    assert.equal(await tab.evaluate(() => document.cookie), '', 'no script sees the session');
    await tab.selectOption('#network-visibility', 'private');
    assert.deepEqual(
      await tab.$$eval('#visibility option', (options) => options.map(({ value }) => value)),
      ['', 'lab', 'private'],
      'who is in no group shows nothing to one',
    );
    await tab.setInputFiles('#file', FILE); // a change, by the session alone
    await tab.waitForFunction(() => /286/.test(document.body.textContent));
    await tab.selectOption('#visibility', 'private');
    await tab.click('form[aria-labelledby=form-title] button[type=submit]');
    await tab.waitForSelector('h1:not(:text-is("New job"))');
    const mine = async (path, name) => {
      const headers = { Authorization: `Bearer ${token}` };
      return (await (await context.request.get(`${lab.url}${path}`, { headers })).json())[name];
    };
    assert.deepEqual((await mine('/v1/networks', 'networks')).map(({ visibility }) => visibility), ['private']);
    assert.deepEqual((await mine('/v1/jobs', 'jobs')).map(({ visibility }) => visibility), ['private']);
    await tab.screenshot({ path: join(process.env.CM_SCREENSHOTS, 'signed-in.png') });
    /* What administrators and users see of the server. */
    await tab.click('#admin-link');
    await tab.waitForSelector('h1:text-is("Administration")');
    for (const title of ['Queue', 'Disk', 'Users', 'Quotas', 'Retention', 'Audit trail', 'Going down'])
      await tab.waitForSelector(`h2:text-is("${title}")`);
    assert.equal(await tab.locator('[role=alert]').count(), 0);
    assert.match(await tab.textContent('[aria-label=Users]'), /ann/);
    await tab.fill('#user-name', 'carl');
    await tab.focus('#user-name');
    await tab.keyboard.press('Enter');
    await tab.waitForSelector('[aria-label=Users] :is(td, th):text-is("carl")');
    const standsOn = () => tab.evaluate(() => document.activeElement.id || document.activeElement.getAttribute('aria-label'));
    assert.equal(await standsOn(), 'user-name', 'the keyboard keeps its place');
    await tab.fill('#quota-name', 'carl');
    await tab.selectOption('#quota-which', 'networks');
    await tab.fill('#quota-most', '12');
    await tab.keyboard.press('Enter');
    await tab.waitForSelector('[aria-label=Quotas] :is(td, th):text-is("12")');
    await tab.click('[aria-label="Disable carl"]');
    await tab.waitForSelector('[aria-label="Enable carl"]');
    assert.equal(await standsOn(), 'Enable carl');
    for (const effect of ['user carl, role user, group ""', 'networks none -> 12', 'enabled -> disabled'])
      await tab.waitForSelector(`[aria-label="Audit trail"] :is(td, th):text-is('${effect}')`);
    await tab.selectOption('[aria-label="Role of carl"]', 'operator');
    await tab.waitForSelector(`[aria-label="Audit trail"] td:text-is('role user -> operator')`);
    await tab.click('[aria-label="Look at ann"]');
    await tab.waitForSelector('[aria-label="Revoke ' + (await mine('/v1/tokens', 'tokens'))[0].id + '"]');
    await tab.fill('#rule-most', '30');
    await tab.press('#rule-most', 'Enter');
    await tab.waitForSelector('[aria-label=Retention] td:text-is("30")');
    await tab.focus('summary:text-is("Drain…")');
    assert.equal(await tab.isVisible('text=Drain and stop the server'), false);
    await tab.keyboard.press('Enter');
    assert.equal(await tab.isVisible('text=Drain and stop the server'), true);
    await tab.screenshot({ path: join(process.env.CM_SCREENSHOTS, 'administration.png'), fullPage: true });
    await tab.click('#me-link');
    await tab.waitForSelector('h1:text-is("Account of ann")');
    await tab.fill('#token-name', 'laptop');
    await tab.keyboard.press('Enter');
    await tab.waitForSelector('code:text-matches("^coremap_")');
    await tab.screenshot({ path: join(process.env.CM_SCREENSHOTS, 'account.png'), fullPage: true });
    await tab.goto(`${lab.url}/#/jobs`);
    await tab.reload();
    await tab.waitForSelector('#account:not([hidden])');
    await tab.click('#account button');
    await tab.waitForSelector('#token');
    await tab.reload();
    await tab.waitForSelector('#token');
    assert.deepEqual(broken, []);
  } finally {
    await context.close();
    await lab.stop();
  }
});

test('limits of a chip as a form beside its JSON; a refusal stands at its field', async () => {
  await go('#/chips/loihi1');
  await page.click('summary:text-is("Limits, and the chip as JSON")');
  await page.fill('#limit-limits-neurons', '0');
  expected.push(/400 \(Bad Request\)/);
  await page.click('button:text-is("Keep these limits")');
  await page.waitForFunction(() => !document.querySelector('#limit-limits-neurons-note').hidden);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'limit-limits-neurons');
  expected.pop();
  await page.fill('#limit-limits-neurons', '77');
  await page.fill('#limit-die_limits-synapses', '5000');
  const typed = JSON.parse(await page.inputValue('#chip-json'));
  assert.deepEqual([typed.limits.neurons, typed.die_limits], [77, { synapses: 5000 }]);
  await page.fill('#chip-json', JSON.stringify({ ...typed, table_entries: 640 }));
  assert.equal(await page.inputValue('#limit-table_entries'), '640');
  await shot('limits-form', { fullPage: true });
  await page.click('button:text-is("Keep these limits")');
  await page.waitForSelector('h1:text-is("loihi1-limits")');
  const kept = await getJson('/v1/chips/loihi1-limits');
  assert.deepEqual([kept.limits.neurons, kept.die_limits, kept.table_entries], [77, { synapses: 5000 }, 640]);
});

test('executors say what they do, and the cluster what waits there', async () => {
  const at = '2026-11-30T12:00:00.000Z',
    job = { kind: 'map', state: 'running', user: 'ann', network: '1', chip: 'loihi1', created: at, started: at, phases: [] },
    reason = 'PENDING in the queue of Slurm: Resources';
  const jobs = [
    { ...job, id: 'abc1', name: 'far', lane: 'cluster', progress: { phase: 'cluster', fraction: 0, reason } },
    { ...job, id: 'abc2', name: 'near', lane: 'long', heard: at, progress: { phase: 'partition', fraction: 0.25 } },
  ];
  const running = /\/v1\/jobs\?.*state=running/;
  await page.route(running, (route) => route.fulfill({ json: { jobs } }));
  await go('#/admin');
  const rows = await page.locator('[aria-label=Executors] tbody tr').allTextContents();
  await page.unroute(running);
  assert.equal(rows.length, 2);
  assert.ok(rows[0].includes('in its queue') && rows[0].includes(reason), rows[0]);
  assert.ok(/Long jobs/.test(rows[1]) && /partition 25 %/i.test(rows[1]) && (rows[1].match(/2026-11-30/g) ?? []).length === 2, rows[1]);
  await shot('executors', { fullPage: true });
});

test('nothing was said on the console, nothing broke the policy, nobody else was asked', () => {
  assert.deepEqual([...new Set(trouble)], []);
});
