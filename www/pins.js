// Where a mapping's constraints pin somebody, for the map.

/** Rectangles {x, y, width, height, name} of all pins: at is [x, y], [x0, y0, x1, y1], a list of them, or columns, rows, a router, a chip. */
export function pinsOf(constraints, { width, height, router, die }) {
  const rectangle = ([x0, y0, x1 = x0, y1 = y0]) => ({ x: x0, y: y0, width: x1 - x0 + 1, height: y1 - y0 + 1 });
  const block = ([x, y], [wide, high]) => ({ x: x * wide, y: y * high, width: wide, height: high });
  const span = (value, most) => (value === undefined ? [0, most - 1] : Array.isArray(value) ? value : [value, value]);
  const boxes = (at) => {
    if (Array.isArray(at)) return Array.isArray(at[0]) ? at.map(rectangle) : [rectangle(at)];
    if (at.router) return [block(at.router, router)];
    if (at.chip) return [block(at.chip, die)];
    const [x0, x1] = span(at.columns ?? at.column, width),
      [y0, y1] = span(at.rows ?? at.row, height);
    return [rectangle([x0, y0, x1, y1])];
  };
  return (constraints ?? []).flatMap((one, number) =>
    one.kind === 'pin' ? boxes(one.at).map((box) => ({ ...box, name: one.name || `constraint ${number + 1}` })) : [],
  );
}
