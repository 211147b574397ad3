// A plot (an SVG or a canvas) as a file: what its shapes look like on the page, which may load no picture that is made in it.

import { element, icon, saveAs } from './dom.js';

const LOOKS = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity', 'font-size', 'font-family', 'text-anchor', 'vector-effect'],
  DENSITY = 2;

const open = (viewBox) => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${viewBox}">`;

function svgOf(plot) {
  if (plot instanceof HTMLCanvasElement) {
    const { width, height } = plot;
    return `${open(`0 0 ${width} ${height}`)}<image width="${width}" height="${height}" image-rendering="pixelated" href="${plot.toDataURL()}"/></svg>`;
  }
  const copy = plot.cloneNode(true),
    from = plot.querySelectorAll('*');
  copy.querySelectorAll('*').forEach((node, i) => {
    const style = getComputedStyle(from[i]);
    for (const look of LOOKS) node.setAttribute(look, style.getPropertyValue(look));
  });
  return `${open(plot.getAttribute('viewBox'))}${copy.innerHTML}</svg>`;
}

/** The outline of a shape, by its element's name. */
const OUTLINES = {
  line: (of) => new Path2D(`M${of('x1')} ${of('y1')}L${of('x2')} ${of('y2')}`),
  polyline: (of) => new Path2D(`M${of('points').trim().split(/\s+/).join('L')}`),
  path: (of) => new Path2D(of('d')),
  rect: (of) => new Path2D(`M${of('x')} ${of('y')}h${of('width')}v${of('height')}h-${of('width')}Z`),
  circle: (of) => new Path2D(`M${of('cx')} ${of('cy')}m-${of('r')} 0a${of('r')} ${of('r')} 0 1 0 ${2 * of('r')} 0a${of('r')} ${of('r')} 0 1 0 -${2 * of('r')} 0`),
};

/** The same on a canvas, in the page's colours. */
function pngOf(plot) {
  if (plot instanceof HTMLCanvasElement) return plot.toDataURL();
  const { left, top, width, height } = plot.getBoundingClientRect(),
    canvas = element('canvas', { width: DENSITY * width, height: DENSITY * height }),
    context = canvas.getContext('2d'),
    page = new DOMMatrix([DENSITY, 0, 0, DENSITY, -DENSITY * left, -DENSITY * top]);
  context.fillStyle = getComputedStyle(document.body).backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  for (const node of plot.querySelectorAll([...Object.keys(OUTLINES), 'text'].join())) {
    const look = getComputedStyle(node),
      of = (name) => node.getAttribute(name) ?? 0,
      place = page.multiply(node.getScreenCTM());
    context.globalAlpha = look.opacity;
    context.fillStyle = look.fill === 'none' ? 'transparent' : look.fill;
    if (node.localName === 'text') {
      context.setTransform(place);
      context.font = `${look.fontSize} ${look.fontFamily}`;
      context.textAlign = look.textAnchor === 'middle' ? 'center' : look.textAnchor;
      context.fillText(node.textContent, of('x'), of('y'));
      continue;
    }
    const outline = new Path2D();
    outline.addPath(OUTLINES[node.localName](of), place);
    context.resetTransform();
    context.fill(outline);
    if (look.stroke === 'none') continue;
    const scale = look.vectorEffect === 'non-scaling-stroke' ? DENSITY : Math.hypot(place.a, place.b);
    context.strokeStyle = look.stroke;
    context.lineWidth = scale * parseFloat(look.strokeWidth);
    context.setLineDash(look.strokeDasharray === 'none' ? [] : look.strokeDasharray.split(',').map((part) => scale * parseFloat(part)));
    context.stroke(outline);
  }
  return canvas.toDataURL();
}

const FORMATS = [
  ['PNG', 'keep', pngOf],
  ['SVG', 'vector', (plot) => new Blob([svgOf(plot)], { type: 'image/svg+xml' })],
];

/** The buttons that keep what plot() gives. */
export const keepButtons = (label, plot) =>
  FORMATS.map(([format, picture, file]) =>
    element(
      'button.icon-button',
      {
        title: `Keep this picture as ${format}`,
        'aria-label': `Keep as ${format}: ${label}`,
        onclick: () => saveAs(file(plot()), `${label}.${format.toLowerCase()}`),
      },
      icon(picture),
    ),
  );
