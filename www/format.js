// Numbers, times and sizes as people read them. Pure functions: tests/browser/unit runs them under node.

const NARROW = '\u202f'; // narrow no-break space: groups digits and joins a number to its unit
const PREFIXES = ['E', 'P', 'T', 'G', 'M', 'k', '', 'm', 'µ', 'n', 'p', 'f'].map((prefix, i) => [Number(`1e${18 - 3 * i}`), prefix]);
export const NONE = '–';

function significant(value, digits) {
  const text = value.toPrecision(digits);
  return text.includes('e') ? String(Number(text)) : text;
}

/** 12345678 -> "12 345 678"; what is no integer has four significant digits at most. Of something: (1, "packets") -> "1 packet". */
export function count(value, of, show = count) {
  if (of) return `${show(value)} ${Number(value) === 1 ? of.replace(/s\b/, '') : of}`;
  if (value === null || value === undefined || !Number.isFinite(Number(value))) return NONE;
  const number = Number(value);
  if (!Number.isInteger(number)) return Math.abs(number) >= 1e3 ? count(Math.round(number)) : String(Number(number.toPrecision(4)));
  return String(number).replace(/\B(?=(\d{3})+$)/g, NARROW);
}

/** " (fragmentation 80.0 %: 3 pieces, largest rectangle 3)": how broken up the free cores are; nothing where all are one rectangle or nothing is known. */
export function fragmentText(fragmentation) {
  if (!fragmentation || fragmentation.value === 0) return '';
  const { value, pieces, largest_free_rectangle: rectangle } = fragmentation;
  return ` (fragmentation ${percent(value)}: ${count(pieces, 'pieces')}, largest rectangle ${count(rectangle)})`;
}

/** "91 parts, 64 at least (65536 neurons in all, at most 1024 in a core)"; older mappings have no bound. */
export function partsText(parts, bound) {
  const parted = count(parts, 'parts');
  if (!bound) return parted;
  const why = bound.limit ? ` (${bound.reason})` : '';
  return `${parted}, ${count(bound.parts)} at least${why}`;
}

/** 2095632 with "" -> "2.10 M"; 0.0000031 with "J" -> "3.10 µJ". What has no unit is a count: in full below 10 000, no prefix below one. */
export function si(value, unit = '', digits = 3) {
  if (value === null || value === undefined || !Number.isFinite(Number(value))) return NONE;
  const number = Number(value);
  if (number === 0) return unit ? `0${NARROW}${unit}` : '0';
  const size = Math.abs(number);
  if (!unit && size < 1e4) return count(number);
  let at = PREFIXES.findIndex(([factor]) => size >= factor);
  if (at < 0) at = PREFIXES.length - 1;
  // 999.9996 must not come out as "1000": what rounds up to the next prefix takes it.
  if (at > 0 && Number((size / PREFIXES[at][0]).toPrecision(digits)) >= 1000) at -= 1;
  const [factor, prefix] = PREFIXES[at];
  const scaled = number / factor;
  const text = factor === 1 && Number.isInteger(number) ? String(number) : significant(scaled, digits);
  return prefix || unit ? `${text}${NARROW}${prefix}${unit}` : text;
}

export const time = (ns) => si(ns * 1e-9, 's', 4);
/** A text of the server, its nanoseconds as people read them. */
export const withTimes = (text) => text.replace(/\b([\d.]+(?:e[+-]?\d+)?) ns\b/g, (_, ns) => time(Number(ns)));
export const energy = (pj) => si(pj * 1e-12, 'J', 4);
export const bytes = (value) => si(value, 'B');

/** A share of one as percent: 0.0834 -> "8.3 %", 0.0004 -> "0.04 %". */
export function percent(share, digits = share > 0 && share < 0.01 ? 2 : 1) {
  if (!Number.isFinite(share)) return NONE;
  if (share > 0 && share * 100 < 0.5 * 10 ** -digits) return `< ${10 ** -digits}${NARROW}%`;
  return `${(share * 100).toFixed(digits)}${NARROW}%`;
}

/** Signed relative difference of b to a: "+12.4 %", "−3.0 %", "=" when equal, "–" when a is nothing to divide by. */
export function difference(a, b) {
  if (!Number.isFinite(a) || !Number.isFinite(b)) return NONE;
  if (a === b || Math.abs(b - a) < 5e-6 * Math.abs(a)) return '=';
  if (a === 0) return NONE;
  const share = (b - a) / Math.abs(a);
  const digits = Math.abs(share) < 0.001 ? 3 : Math.abs(share) < 10 ? 1 : 0;
  return `${share < 0 ? '−' : '+'}${(Math.abs(share) * 100).toFixed(digits)}${NARROW}%`;
}

/** Seconds as a person says them: "312 ms", "12.3 s", "3 min 05 s", "2 h 07 min". */
export function duration(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(Number(seconds))) return NONE;
  const value = Math.max(0, Number(seconds));
  if (value < 1) return `${Math.round(value * 1000)}${NARROW}ms`;
  if (value < 59.95) return `${value.toFixed(1)}${NARROW}s`;
  const whole = Math.round(value);
  const pad = (part) => String(part).padStart(2, '0');
  if (whole < 3600) return `${Math.floor(whole / 60)}${NARROW}min ${pad(whole % 60)}${NARROW}s`;
  return `${Math.floor(whole / 3600)}${NARROW}h ${pad(Math.floor((whole % 3600) / 60))}${NARROW}min`;
}

/** A time as the reader's clock shows it, to the minute. */
export function dateText(stamp) {
  const then = new Date(moment(stamp));
  if (Number.isNaN(then.getTime())) return NONE;
  const two = (number) => String(number).padStart(2, '0');
  return `${then.getFullYear()}-${two(then.getMonth() + 1)}-${two(then.getDate())} ${two(then.getHours())}:${two(then.getMinutes())}`;
}

/** Milliseconds since 1970 of a time stamp: ISO text, or seconds since 1970. NaN when there is none. */
export function moment(stamp) {
  if (stamp === null || stamp === undefined || stamp === '') return NaN;
  if (typeof stamp === 'number') return stamp > 1e12 ? stamp : stamp * 1000;
  return Date.parse(stamp);
}

/** A long identifier shortened for a table; the whole one belongs in the title. */
export function shortId(id) {
  const text = String(id ?? '');
  return text.length > 14 ? `${text.slice(0, 10)}…` : text;
}

/** "coarsening_cached" -> "coarsening cached". */
export const words = (name) => String(name).replace(/[_-]+/g, ' ');

/** How far above a bound, in words: never above it by rounding alone, and in times where per cent say nothing. */
export function aboveBound(ratio) {
  if (!(ratio > 1 + 1e-9)) return 'at the bound';
  return ratio < 2 ? `${percent(ratio - 1)} above the bound` : `${ratio < 10 ? ratio.toFixed(1) : count(Math.round(ratio))} times the bound`;
}

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Whatever a reply has for something, as people read it. */
export function valueText(value, between = ' × ') {
  if (value === null) return NONE;
  if (typeof value === 'number') return count(value);
  if (Array.isArray(value)) return value.map((one) => valueText(one)).join(between) || 'none';
  if (typeof value !== 'object') return String(value);
  if ('width' in value && 'height' in value) return `${count(value.width)} × ${count(value.height)}`;
  return listed(value, ([name, part]) => `${words(name)} ${valueText(part)}`);
}

/** The entries of an object, or of pairs, in a row. */
export const listed = (of, text, between = ', ') =>
  Object.entries(of ?? {})
    .map(text)
    .join(between);
