// Colour scales. Viridis: even steps in lightness, readable with every kind of colour blindness and in print.

/** [r, g, b] of each hexadecimal colour in a row. */
const colours = (text) => text.split(' ').map((hex) => [16, 8, 0].map((shift) => (parseInt(hex, 16) >> shift) & 255));

const VIRIDIS = colours('440154 482878 3e4989 31688e 26828e 1f9e89 35b779 6ece58 b5de2b fde725');
export const STEPS = 256;

/** The colour at t in 0..1 as [r, g, b]. */
export function viridis(t) {
  const at = Math.min(Math.max(t, 0), 1) * (VIRIDIS.length - 1);
  const low = Math.min(Math.floor(at), VIRIDIS.length - 2),
    share = at - low;
  return VIRIDIS[low].map((channel, i) => Math.round(channel + (VIRIDIS[low + 1][i] - channel) * share));
}

/** Colours of populations, by their number, as pictures have them (docs/reference/pictures.md). */
const KINDS = colours('0072b2 e69f00 009e73 cc79a7 d55e00 56b4e9 f0e442 785ef0 646464 804000 00503c b41e5a');
/** Ten kinds of work, 3:1 and more against the light and the dark ground; hues apart, neighbours of different lightness. */
export const CATEGORIES = colours('1380ec a0520d 0c934f c6106b ef3838 0b7185 8c8214 8235ef 3e9215 b50fb5');

export const kindColour = (number) => KINDS[number % KINDS.length];

/** [r, g, b] as one pixel of image data seen as Uint32 (every browser's machine is little endian). */
export const pixel = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

/** A CSS colour as computed ("rgb(1, 2, 3)") to channels, and back. */
export const channelsOf = (text) => (text.match(/[\d.]+/g) ?? [0, 0, 0]).slice(0, 3).map(Number);
export const css = (channels) => `rgb(${channels.join(' ')})`;

/** Pale, so that what is mapped stays in front; owners by their place in the list of holders. */
export const ownerColour = (number) => kindColour(number + 2).map((channel) => Math.round(0.55 * channel + 0.45 * 190));

export const channels = (value) => [value & 255, (value >>> 8) & 255, (value >>> 16) & 255];

export function palette() {
  return Uint32Array.from({ length: STEPS }, (_, i) => pixel(viridis(i / (STEPS - 1))));
}

/** Smallest and largest value that is a number; null when there is none. */
export function range(values) {
  let min = Infinity,
    max = -Infinity;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return min <= max ? { min, max } : null;
}

/** From blue (less) by grey to orange (more), for differences; readable to the colour blind. */
export const differences = () =>
  Uint32Array.from({ length: STEPS }, (_, i) => {
    const t = (2 * i) / (STEPS - 1) - 1,
      end = t < 0 ? [23, 99, 190] : [214, 96, 12];
    return pixel(end.map((channel) => Math.round(190 + (channel - 190) * Math.abs(t))));
  });

/** The range that holds both (for two pictures on one scale). */
export function union(a, b) {
  if (!a || !b) return a || b;
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}

/** Where a value stands on the scale, 0..1. The logarithmic one shifts to log(1 + 999 t): zero stays drawable. */
export function position(value, bounds, logarithmic = false) {
  if (bounds.max <= bounds.min) return 0.5;
  const t = Math.min(Math.max((value - bounds.min) / (bounds.max - bounds.min), 0), 1);
  return logarithmic ? Math.log1p(999 * t) / Math.log(1000) : t;
}

/** The value that stands in the middle of the colour bar: what a logarithmic scale needs to be read. */
export function middle(bounds, logarithmic = false) {
  const t = logarithmic ? (Math.sqrt(1000) - 1) / 999 : 0.5;
  return bounds.min + t * (bounds.max - bounds.min);
}

/** The pixel of a value; what is not a number becomes `empty`. */
export const painter =
  (bounds, colours, empty, logarithmic = false) =>
  (value) =>
    value !== value || !bounds ? empty : colours[Math.round(position(value, bounds, logarithmic) * (STEPS - 1))];

/** Fills `pixels` (Uint32 view of image data) from values. */
export function paint(values, pixels, ...look) {
  const of = painter(...look);
  for (let i = 0; i < values.length; i++) pixels[i] = of(values[i]);
}

/** True when dark ink reads better than light ink on this colour (by relative luminance as in WCAG; small
 *  figures on middle tones read better in white than its 0.18 says). */
export function wantsDarkInk([r, g, b]) {
  const linear = [r, g, b].map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.24;
}
