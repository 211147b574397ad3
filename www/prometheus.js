// The server's metrics (text of Prometheus) as numbers.

/** Map of name -> [{ labels, value }]. */
export function parseMetrics(text) {
  const metrics = new Map();
  for (const line of text.split('\n')) {
    const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!match) continue;
    const [, name, inner = '', value] = match;
    const labels = Object.fromEntries([...inner.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, one]) => [key, one]));
    if (!metrics.has(name)) metrics.set(name, []);
    metrics.get(name).push({ labels, value: Number(value) });
  }
  return metrics;
}

/** The sum of a metric over its labels; NaN where there is none. */
export function total(metrics, name) {
  const all = metrics.get(name);
  return all ? all.reduce((sum, { value }) => sum + value, 0) : NaN;
}
