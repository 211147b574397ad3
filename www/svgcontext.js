// A drawing context whose picture is SVG: as much of a canvas's as the canvases here are drawn with.

const NS = 'xmlns="http://www.w3.org/2000/svg"',
  ANCHORS = { left: 'start', start: 'start', center: 'middle', right: 'end', end: 'end' },
  DOWN = { middle: '0.35em', bottom: '-0.2em' }; // of text, by its baseline

const round = (value) => String(Math.round(value * 100) / 100);
const escaped = (text) => String(text).replace(/[&<>"]/g, (one) => `&#${one.codePointAt(0)};`);
const tag = (name, attributes, text) =>
  `<${name} ${Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}="${escaped(typeof value === 'number' ? round(value) : value)}"`)
    .join(' ')}${text === undefined ? '/>' : `>${escaped(text)}</${name}>`}`;

/** {context, text()}: what is drawn on the context, and the file that it makes. */
export function svgContext(width, height) {
  // A canvas of its own keeps colours, fonts and lines, and saves and restores them.
  const state = document.createElement('canvas').getContext('2d'),
    parts = [],
    clips = []; // how many groups each save has opened
  let path = '',
    count = 0;
  const at = (letter, ...places) => (path += letter + places.map(round).join(' '));
  const put = (name, attributes, text) => parts.push(tag(name, { ...attributes, opacity: state.globalAlpha < 1 ? state.globalAlpha : undefined }, text));
  const filled = () => ({ fill: state.fillStyle });
  const stroked = () => ({
    ...{ fill: 'none', stroke: state.strokeStyle, 'stroke-width': state.lineWidth },
    ...{ 'stroke-linecap': state.lineCap, 'stroke-dasharray': state.getLineDash().join(' ') || undefined },
  });
  const methods = {
    setTransform() {},
    beginPath: () => (path = ''),
    moveTo: (...to) => at('M', ...to),
    lineTo: (...to) => at('L', ...to),
    quadraticCurveTo: (...to) => at('Q', ...to),
    rect: (x, y, w, h) => [at('M', x, y), at('h', w), at('v', h), at('h', -w), (path += 'z')],
    arc: (x, y, r) => [at('M', x - r, y), at('a', r, r, 0, 1, 0, 2 * r, 0), at('a', r, r, 0, 1, 0, -2 * r, 0)], // whole circles
    roundRect: (...box) => methods.rect(...box),
    fill: () => put('path', { d: path, ...filled() }),
    stroke: () => path && put('path', { d: path, ...stroked() }),
    fillRect: (x, y, w, h) => put('rect', { x, y, width: w, height: h, ...filled() }),
    strokeRect: (x, y, w, h) => put('rect', { x, y, width: w, height: h, ...stroked() }),
    fillText(text, x, y, most = Infinity) {
      const [size, ...family] = state.font.split(' '),
        font = { 'font-size': size, 'font-family': family.join(' ') };
      const wide = state.measureText(text).width > most ? { textLength: most, lengthAdjust: 'spacingAndGlyphs' } : {};
      put('text', { x, y, dy: DOWN[state.textBaseline], 'text-anchor': ANCHORS[state.textAlign], ...wide, ...font, ...filled() }, text);
    },
    drawImage(image, ...box) {
      const [sx, sy, sw, sh, x, y, w, h] = box,
        cut = document.createElement('canvas');
      [cut.width, cut.height] = [sw, sh];
      cut.getContext('2d').drawImage(image, sx, sy, sw, sh, 0, 0, sw, sh);
      const look = state.imageSmoothingEnabled ? undefined : 'pixelated';
      put('image', { x, y, width: w, height: h, preserveAspectRatio: 'none', 'image-rendering': look, href: cut.toDataURL() });
    },
    save() {
      state.save();
      clips.push(0);
    },
    clip() {
      parts.push(`<clipPath id="clip${++count}">${tag('path', { d: path })}</clipPath><g clip-path="url(#clip${count})">`);
      clips[clips.length - 1]++;
    },
    restore() {
      state.restore();
      parts.push('</g>'.repeat(clips.pop()));
    },
  };
  const context = new Proxy(state, {
    get: (_, name) => methods[name] ?? (typeof state[name] === 'function' ? state[name].bind(state) : state[name]),
    set: (_, name, value) => ((state[name] = value), true),
  });
  return {
    context,
    text: () => `<svg ${NS} width="${round(width)}" height="${round(height)}" viewBox="0 0 ${round(width)} ${round(height)}">\n${parts.join('\n')}\n</svg>\n`,
  };
}
