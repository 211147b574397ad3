// Small helpers that make elements. Text always goes in as text: nothing from outside is ever parsed as HTML.

import { dateText, moment, NONE } from './format.js';

const SVG = 'http://www.w3.org/2000/svg';

/** element('a.link.quiet', { href: '#/jobs', onclick: f }, 'text', node, null, [more]); properties may be left out. A button does not send its form unless told. */
export function element(name, ...children) {
  const [tag, ...classes] = name.split('.'),
    node = document.createElement(tag);
  if (tag === 'button') node.type = 'button';
  const given = children[0] && Object.getPrototypeOf(children[0]) === Object.prototype ? children.shift() : {};
  const look = [...classes, given.class].filter(Boolean).join(' ');
  if (look) node.className = look;
  for (const [property, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false || property === 'class') continue;
    if (property.startsWith('on')) node.addEventListener(property.slice(2), value);
    else if (['value', 'checked', 'disabled', 'selected'].includes(property)) node[property] = value;
    else node.setAttribute(property, value === true ? '' : value);
  }
  append(node, children);
  return node;
}

function append(node, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(node, child);
    else node.append(child);
  }
}

/** The same for a picture's shapes: attributes only. */
export function svg(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  append(node, children);
  return node;
}

const REACHED = 'a[href], button, input, select, textarea, summary, [tabindex]';

/** Where the keyboard stands on one of what goes, it stands on the same afterwards, or on what comes in its place. */
export function fill(node, ...children) {
  const was = document.activeElement,
    all = () => [...node.querySelectorAll(REACHED)],
    at = node !== was && node.contains(was) ? all().indexOf(was) : -1;
  node.replaceChildren();
  append(node, children);
  if (at < 0) return node;
  const now = all(),
    alike = (name) => was.getAttribute(name) && now.find((one) => one.getAttribute(name) === was.getAttribute(name));
  (alike('id') || alike('aria-label') || now.slice(0, at + 1).at(-1))?.focus({ preventScroll: true });
  return node;
}

/** Writes only when the text differs, so that live regions and selections are left alone. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

const ICONS = {
  light: 'M8 4.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7ZM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1.1 1.1M11.9 11.9 13 13M3 13l1.1-1.1M11.9 4.1 13 3',
  dark: 'M13.5 9.6A5.8 5.8 0 0 1 6.4 2.5a5.8 5.8 0 1 0 7.1 7.1Z',
  auto: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM8 2v12M10 4.5v7M12 6v4',
  upload: 'M8 11V2.5M4.5 6 8 2.5 11.5 6M2.5 10.5v3h11v-3',
  plus: 'M8 3v10M3 8h10',
  minus: 'M3 8h10',
  fit: 'M2.5 2.5h11v11h-11Z',
  keep: 'M8 2.5V10M5 7.5 8 10.5l3-3M3 13.5h10',
  vector: 'M3 12.5C3 5 13 11 13 3.5M1.5 11h3v3h-3ZM11.5 2h3v3h-3Z',
  region: 'M5 2.5H2.5V5M11 2.5h2.5V5M13.5 11v2.5H11M5 13.5H2.5V11M6 6h4v4H6Z',
  close: 'm4 4 8 8M12 4l-8 8',
};

export function icon(name) {
  return svg('svg', { viewBox: '0 0 16 16', class: 'icon', 'aria-hidden': 'true' }, svg('path', { d: ICONS[name] }));
}

/** A moment as the reader's clock has it; the exact one on hover. */
export function stamp(value) {
  const at = moment(value);
  if (Number.isNaN(at)) return NONE;
  const exact = new Date(at).toISOString();
  return element('time', { datetime: exact, title: exact }, dateText(value));
}

export const link = (href, ...text) => element('a', { href }, text);

/** The address of a page about something, and a link to it. */
export const pageOf = (kind, id) => `#/${kind}/${encodeURIComponent(id)}`;
export const linkTo = (kind, id, ...text) => link(pageOf(kind, id), text);

/** The head of a page: its title, a line below it (text, a list of it, or a node of its own), buttons beside it. */
export const pageHead = (title, note, ...buttons) =>
  element(
    'header.page-head',
    element('div', element('h1', { tabindex: '-1' }, title), note instanceof Node ? note : note && element('p.quiet', note)),
    buttons.length > 0 && element('div.buttons', buttons),
  );

/** A list to choose from: words, or [value, text]. */
export const select = (properties, choices = [], chosen = undefined) => element('select', properties, optionsOf(choices, chosen));
export const optionsOf = (choices, chosen = undefined) =>
  choices.map((choice) => [choice].flat()).map(([value, text = value]) => element('option', { value, selected: value === chosen }, text));

/** A control with its label above, and notes below. */
export const field = (label, control, ...notes) => element('div.field', element('label', { for: control.id }, label), control, notes);

/** A table of name and value rows. */
export function facts(rows, className = 'facts') {
  return element(
    'dl',
    { class: className },
    rows.filter(Boolean).map(([name, value, note]) => element('div', element('dt', { title: note }, name), element('dd', value))),
  );
}

export function section(title, ...children) {
  return element('section.panel', element('h2', title), children);
}

/** What shows when its title is pressed. */
export const folded = (title, properties, ...children) => element('details', properties, element('summary', title), children);

/** Hands a blob, or what an address has, to who looks as a file. */
export const saveAs = (content, download) => element('a', { href: content instanceof Blob ? URL.createObjectURL(content) : content, download }).click();

/** A bar that shows a share, whose width never moves what is around it: {node, set(share)}. */
export function bar(share, about = { 'aria-hidden': 'true' }) {
  const part = element('div.bar-fill');
  const set = (to) => (part.style.transform = `scaleX(${Math.min(Math.max(to || 0, 0), 1)})`);
  set(share);
  return { node: element('div.bar', about, part), set };
}

/** The same of something that goes on. */
export function progressBar(label) {
  const { node, set } = bar(0, { role: 'progressbar', 'aria-label': label, 'aria-valuemin': '0', 'aria-valuemax': '100' });
  const tell = (fraction) => {
    set(fraction);
    if (Number.isFinite(fraction)) node.setAttribute('aria-valuenow', String(Math.round(Math.min(Math.max(fraction, 0), 1) * 100)));
    else node.removeAttribute('aria-valuenow');
  };
  return { node, set: tell };
}

/** Runs every so many milliseconds while the page is there and seen. */
export function every(ms, run, signal) {
  const timer = setInterval(() => document.hidden || run(), ms);
  signal.addEventListener('abort', () => clearInterval(timer));
}

export const MOVED_MS = 200; // what one moves is in the address when it rests

/** run() once it has not been asked for again for so many milliseconds, while the page is there. */
export function rested(ms, run, signal) {
  let due = null;
  return () => {
    clearTimeout(due);
    due = setTimeout(() => signal.aborted || run(), ms);
  };
}

/** Says it to screen readers without moving the focus. */
export function announce(text) {
  setText(document.getElementById('announcer'), text);
}
