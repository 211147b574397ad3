// The metrics of a mapping, made from what the server's own table says of each: label, unit, and which way is better.

import { count, NONE, percent, si } from './format.js';

const figure = (value) => si(value, '', 4);
// Units that are shown with a prefix of their own, or turned round; the others as they stand.
const UNITS = {
  pJ: { show: (value) => si(value * 1e-12, 'J', 4), unit: '' },
  ns: { show: (value) => si(value * 1e-9, 's', 4), unit: '' },
  'steps / ns': { show: (value) => figure(value * 1e9), unit: 'steps a second' },
  1: { show: percent, unit: '' },
};
const BETTER = { less: -1, more: 1, neither: 0 };

/** The metrics that are numbers, in the order of the schema of metrics in openapi.json.
 * better: -1 less is better, 1 more is better, 0 neither. where: shown where that metric is above 0. */
export const metricsOf = (schema) =>
  Object.entries(schema.properties)
    .filter(([, property]) => property.type !== 'string')
    .map(([name, property]) => ({
      name,
      label: property['x-label'],
      note: property.description,
      better: BETTER[property['x-better']],
      where: property['x-where'],
      unit: property['x-unit'].replace('*', '×'),
      show: property.type === 'integer' ? count : figure,
      ...UNITS[property['x-unit']],
    }));

/** Whether a mapping has something to say of a metric: it is among its metrics, and so is what it is about. */
export function isShown(metric, metrics) {
  return metric.name in metrics && (!metric.where || metrics[metric.where] > 0);
}

export function metricText(metric, metrics) {
  const value = metrics?.[metric.name];
  return value === null || value === undefined ? NONE : metric.show(value);
}

/** 1 when b is better than a, -1 when worse, 0 when equal or when the metric has no better side. */
export function verdict(metric, a, b) {
  if (!metric.better || !Number.isFinite(a) || !Number.isFinite(b) || a === b) return 0;
  return Math.sign(b - a) * metric.better;
}
