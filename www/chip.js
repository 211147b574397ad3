// #/chips: the chips that there are; #/chips/NAME: who has which cores and until when, and what one does about it.

import { change, getChip, getHolders, getOccupancy, getSchemas, listChips, pathOf } from './api.js';
import { limitFacts, limitsForm } from './chiplimits.js';
import { boxText, changeJson, chipHistory, classesForm, given, pinsForm, pinsIn } from './chipplan.js';
import { element, every, facts, field, fill, linkTo, pageHead, section, setText, stamp } from './dom.js';
import { capital, count, duration, moment, percent } from './format.js';
import { HeatMap } from './heatmap.js';
import { absentOf, BROKEN, categories, eachCore, FREE, largestFree, pinsOf, TAKEN } from './layers.js';
import { ownerSwatch, whose } from './picture.js';
import { actButton, Problem, smallButton } from './problem.js';
import { onTheme } from './surface.js';
import { figures, NUMBER, table } from './table.js';
import { View } from './view.js';

const UNDO_MOST = 10;
const ASK_MS = 10000;

export async function showChips(main, _place, signal) {
  const { chips } = await listChips(signal);
  fill(
    main,
    pageHead('Chips'),
    element(
      'section.panel',
      table('Chips', chips, [
        ['Chip', (chip) => linkTo('chips', chip.name, chip.name)],
        ...figures(count, { Cores: 'cores' }),
        ['Array', (chip) => `${count(chip.width)} × ${count(chip.height)}`, NUMBER],
        ['Runs programs', (chip) => (chip.runs_programs ? 'yes' : '')],
        ['Of', (chip) => (chip.preset ? 'preset' : chip.user || 'own')],
        ['What it is', (chip) => chip.description, 'quiet wide-only'],
      ]),
    ),
  );
  return 'Chips';
}

/** What stands in the occupancy's place of a reply that says "412": who has changed what since. */
export function changesSince(before, now) {
  const text = [];
  for (let core = 0; core < now.kind.length && text.length < 5; core++) {
    const was = before.kind[core] === TAKEN ? before.owners[before.owner[core]].owner : before.kind[core];
    const is = now.kind[core] === TAKEN ? now.owners[now.owner[core]].owner : now.kind[core];
    if (was === is) continue;
    const place = `(${core % now.width},${Math.floor(core / now.width)})`;
    text.push(now.kind[core] === TAKEN ? `${is} took ${place}` : now.kind[core] === BROKEN ? `${place} broke` : `${place} became free`);
  }
  return text.join(', ');
}

export async function showChip(main, { name, query, replaceQuery, attach }, signal) {
  const [chip, schemas, entry] = await Promise.all([
    getChip(name, signal),
    getSchemas(signal),
    listChips(signal).then(({ chips }) => chips.find((one) => one.name === name) ?? {}),
  ]);
  const { width = chip.cores[0], height = chip.cores[1], cores = width * height } = entry;
  const absent = absentOf(chip, width, height),
    view = new View(width, height),
    path = pathOf('chips', name);
  let state = null, // categories
    holders = null,
    free = null, // the occupancy
    tag = '*',
    box = null;
  const undo = []; // changes that take the last ones back, newest last
  const hint = 'Drag, or Shift with arrow keys, chooses cores',
    map = new HeatMap(view, { label: `Cores of ${name}, ${width} by ${height}`, hint, chip, absent, describe, onBox: choose, signal });
  const chosen = element('p.chosen', { role: 'status' }, 'No cores are chosen.'),
    told = element('div', { role: 'status' }),
    kinds = element('div'),
    leases = element('div');
  const owner = element('input', { type: 'text', id: 'owner', maxlength: '127', placeholder: 'vision group' }),
    hours = element('input', { type: 'number', id: 'lease-hours', min: '0.1', max: '720', step: '0.1', value: '1' });

  const ttl = () => Number(hours.value) * 3600;
  function describe(core) {
    return core < 0 ? '' : `Core ${core % width}, ${Math.floor(core / width)}: ${whose(state, absent, core)}`;
  }
  function paint() {
    map.pixels.fill(map.tone('empty'));
    map.kinds = state;
    map.repaint();
  }
  const left = ({ until }) => element('span.countdown', { 'data-until': until }, countdown(until));
  const countdown = (until) => `${duration(Math.max(0, (moment(until) - Date.now()) / 1000))} left`;
  function draw() {
    paint();
    const rows = state.owners.map((holder, i) => ({ ...holder, number: i, cores_held: state.counts[i] })).slice(1);
    fill(
      kinds,
      facts([
        ['Free', count(state.totals[FREE])],
        ['Taken', count(state.totals[TAKEN])],
        ['Broken', count(state.totals[BROKEN])],
        free?.fragmentation && [
          'Largest free rectangle',
          smallButton(count(free.fragmentation.largest_free_rectangle, 'cores'), () => choose(largestFree(state, absent)), {
            class: 'link',
            title: 'Choose it',
          }),
        ],
        free?.fragmentation && ['Fragmentation', percent(free.fragmentation.value), 'how broken up the free cores are'],
      ]),
    );
    fill(
      leases,
      table({ label: 'Holders of cores', empty: 'Nobody has cores here.' }, rows, [
        ['Holder', (row) => [ownerSwatch(row.number), row.owner, row.job && [', ', linkTo('jobs', row.job, 'its job')]]],
        ...figures(count, { Cores: 'cores_held' }),
        ['Until', (row) => (row.until ? [stamp(row.until), ', ', left(row)] : 'given back')],
        [
          '',
          (row) => {
            const lease = `${path}/reservations/${encodeURIComponent(row.lease)}`,
              does = (label, done, run) => smallButton(label, () => act(done, run), { 'aria-label': `${label} the lease of ${row.owner}` });
            return (
              row.lease &&
              row.user !== undefined &&
              element(
                'div.buttons',
                does('Extend', 'extended', () => change('PUT', lease, { ttl: ttl() })),
                does('Hand over', 'handed over', () => change('PUT', lease, { owner: heir() })),
                does('Release', 'released', () => change('DELETE', lease)),
              )
            );
          },
        ],
      ]),
    );
  }
  async function read() {
    [holders, free] = await Promise.all([getHolders(name, signal), getOccupancy(name, signal, (of) => (tag = of))]);
    state = categories(holders, { width, height }, absent);
  }
  async function refresh() {
    const before = tag;
    await read();
    draw();
    if (tag !== before) past.refresh();
  }
  function choose(next) {
    box = next;
    map.box = next;
    if (next) json.show({ occupy: rectangle(), owner: named() });
    setText(
      chosen,
      next ? `Chosen: ${boxText(rectangle()[0])}, ${count((next.x1 + 1 - next.x0) * (next.y1 + 1 - next.y0), 'places')}.` : 'No cores are chosen.',
    );
    map.redraw();
  }
  async function act(done, run) {
    await run();
    await refresh();
    fill(told, element('p', `${boxed()} ${done}.`));
  }
  const boxed = () => (box ? capital(boxText(rectangle()[0])) : 'The lease is');
  /** `back`: the change that takes it back; null: nothing does; undefined: it takes the last one back. Sends a change of the state that one has seen, or the whole state that a function makes of it: where somebody else was faster, it is told what he did, and nothing is lost. */
  async function send(body, back, done) {
    const seen = state,
      whole = typeof body === 'function';
    if (!whole) json.show(body);
    try {
      await change(whole ? 'PUT' : 'PATCH', `${path}/occupancy`, whole ? body() : body, { 'If-Match': tag });
    } catch (error) {
      await refresh();
      if (error instanceof Problem && error.status === 412)
        throw new Error(`${changesSince(seen, state) || 'the chip has changed'} while you looked: nothing was changed; look again`);
      throw error;
    }
    if (back) undo.push(back);
    else if (back === null) undo.length = 0;
    else undo.pop();
    if (undo.length > UNDO_MOST) undo.shift();
    await refresh();
    fill(told, element('p', `${boxed()} ${done}. `, undo.length > 0 && smallButton('Undo', takeBack)));
  }
  const takeBack = () => send(undo.at(-1), undefined, 'as before');
  const rectangle = () => {
    if (!box) throw new Error('choose cores first: drag over them, or walk to one and press Enter');
    return [[box.x0, box.y0, box.x1, box.y1]];
  };
  function takenIn(rectangles) {
    const cores = [];
    eachCore(rectangles, width, height, (core) => state.kind[core] === TAKEN && cores.push([core % width, Math.floor(core / width)]));
    return cores;
  }
  /** The change that gives cores back to those who have them now. */
  function heldBy(cores) {
    const by = Map.groupBy(cores, ([x, y]) => state.owners[state.owner[y * width + x]].owner);
    return () => [...by].reduce((now, [who, of]) => given(now, of, who), given(free, [], ''));
  }
  function heir() {
    const to = owner.value.trim();
    if (!to) throw new Error('say in "For" who has them from now on');
    return to;
  }
  /** Cores of the box that somebody has go to another holder, in one change. */
  function handOver() {
    const cores = takenIn(rectangle());
    if (cores.length === 0) throw new Error('nobody has these cores: occupy them');
    const to = heir();
    return send(() => given(free, cores, to), heldBy(cores), `handed over to ${to}`);
  }
  const named = () => owner.value.trim() || 'no name';
  const past = chipHistory(name, signal),
    json = changeJson((body) => send(body, null, 'changed as JSON says')),
    geometry = { width, height, router: map.router, die: chip.cores },
    begun = pinsIn(query.get('constraints'));
  /** Pinned cores and classes of cores. */
  let classes = [],
    pinned = begun;
  const outline = () => {
    const named = [...pinned, ...classes.map(({ name: of, cores: at }) => ({ kind: 'pin', of, at }))];
    map.pins = pinsOf(
      named.map((one) => ({ ...one, name: String(one.of) })),
      geometry,
    );
    map.redraw();
  };
  const pins = pinsForm({
    chip: name,
    begun,
    at: () => rectangle()[0],
    onChange: (list) => {
      pinned = list;
      outline();
      replaceQuery(new URLSearchParams(list.length > 0 ? { constraints: JSON.stringify(list) } : {}));
    },
  });
  const tools = element(
    'div.chip-tools',
    chosen,
    element('div.field-row', field('For', owner), field('Hours of a lease', hours)),
    element(
      'div.buttons',
      actButton('Occupy', () => send({ occupy: rectangle(), owner: named() }, { release: rectangle() }, 'occupied')),
      actButton('Hand over', handOver),
      actButton('Free', () => send({ release: rectangle() }, heldBy(takenIn(rectangle())), 'free')),
      actButton('Lease', () =>
        act('leased', () => change('POST', `${path}/reservations`, { cores: rectangle(), owner: owner.value.trim() || undefined, ttl: ttl() })),
      ),
      actButton('Broken', () => send({ broken: rectangle() }, { repaired: rectangle() }, 'marked broken')),
      actButton('Repaired', () => send({ repaired: rectangle() }, { broken: rectangle() }, 'repaired')),
    ),
    told,
    json.node,
    pins.node,
    !chip.machine && classesForm(chip, entry.preset, rectangle, (list) => ((classes = list), outline())),
    limitsForm(chip, entry.preset, schemas),
  );
  view.onChange((what) => {
    if (what === 'selected' && view.selected >= 0)
      choose({ x0: view.selected % width, x1: view.selected % width, y0: Math.floor(view.selected / width), y1: Math.floor(view.selected / width) });
    if (what === 'selected' && view.selected < 0) choose(null);
  });
  await read();
  fill(
    main,
    pageHead(
      name,
      `${cores === width * height ? '' : `${count(cores, 'cores')} on `}${count(width)} × ${count(height)} ${cores === width * height ? 'cores' : 'places'}`,
      element('a.button.primary', { href: `#/new?chip=${encodeURIComponent(name)}` }, 'Map on it'),
      element('a.button', { href: `#/mappings?chip=${encodeURIComponent(name)}` }, 'Mappings'),
      element('a.button', { href: path, download: `${name}.json` }, 'JSON'),
    ),
    element(
      'div.map-layout',
      element('section.panel.map-panel', { 'aria-label': 'Cores' }, map.figure()),
      element('section.panel.side-panel', { 'aria-label': 'Occupancy' }, kinds, tools, leases),
    ),
    past.node,
    chipFacts(chip, width, height),
  );
  attach();
  outline();
  draw();
  past.refresh();
  every(1000, () => main.querySelectorAll('.countdown').forEach((node) => setText(node, countdown(node.dataset.until))), signal);
  every(ASK_MS, () => refresh().catch(() => {}), signal);
  onTheme(paint, signal);
  return name;
}

function chipFacts(chip, width, height) {
  return section(
    'What it is',
    element('p.quiet', chip.description ?? ''),
    facts([
      ['Array', `${count(width)} × ${count(height)}`],
      ['Interconnect', chip.interconnect?.kind ?? (chip.torus ? 'torus' : 'mesh')],
      chip.cores_per_router && ['Cores at a router', chip.cores_per_router.map((cores) => count(cores)).join(' × ')],
      chip.cluster && ['Cores of a cluster', chip.cluster.map((cores) => count(cores)).join(' × ')],
      ...limitFacts(chip),
    ]),
  );
}
