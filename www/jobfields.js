// The fields of the form that makes a job: an option each, as the server's own schemas have it. What is left as it is is not sent: the server's
// defaults are its own.

import { element, field, optionsOf, select } from './dom.js';

export const tick = (id) => element('input', { id, type: 'checkbox' });

// Options of jobs (docs/reference/options.md lists them all) that the form has, with their labels.
const BASIC = { preset: 'Preset', stop_after: 'Last stage', seed: 'Seed' };
const MORE = {
  ...{ objective: 'Objective', mapper: 'Mapper' },
  ...{ policy: 'Policy', policy_objective: 'What the policy is refined for', policy_refinement: 'Refinement of the policy' },
  ...{ traffic_model: 'Traffic model', max_part_size: 'Neurons per core at most', inputs: 'Inputs of the network' },
  ...{ step_budget_ns: 'Time of a core at most, ns', scenarios: 'Rates that vary', parts: 'Number of cores' },
  ...{ memory: 'On-chip memory', shape: 'Shapes of open inputs', order: 'Order of operators', verify: 'Verify on random inputs' },
  ...{ time_limit: 'Time limit in seconds', memory_limit: 'Memory limit', threads: 'Threads' },
};
const LABELS = { ...BASIC, ...MORE };
export const OPTIONS = new Set(Object.keys(LABELS));
const NUMBERS = new Set(['integer', 'number']);

export function controlOf(id, { type, enum: words, default: normal, minimum, maximum, examples }) {
  if (words) return select({ id }, [['', `${normal ?? 'none'}: unless chosen`], ...words.filter((word) => word !== normal)]);
  if (type === 'boolean') return tick(id);
  const max = Math.min(maximum, Number.MAX_SAFE_INTEGER);
  if (NUMBERS.has(type)) return element('input', { id, type: 'number', min: minimum, max, step: type === 'integer' ? '1' : 'any', placeholder: normal || '' });
  return element('input', { id, type: 'text', maxlength: '2000', autocomplete: 'off', spellcheck: 'false', placeholder: examples?.[0] ?? '' });
}

/** The fields of a kind of job, by the properties of its schema: {basic, more}, nodes; values(): what is not as it was. `begun`: to begin with. */
export function optionFields(properties, begun) {
  const list = Object.keys(LABELS)
    .filter((name) => name in properties)
    .map((name) => {
      const schema = properties[name].anyOf?.[0] ?? properties[name],
        control = controlOf(name.replaceAll('_', '-').replace(/^max-|-ns$/g, ''), schema),
        note = element('p.quiet.note', properties[name].description);
      if (begun[name] !== undefined && control.type === 'checkbox') control.checked = begun[name] === 'true';
      else if (begun[name] !== undefined) {
        if (schema.enum && ![...control.options].some(({ value }) => value === begun[name])) control.append(...optionsOf([begun[name]]));
        control.value = begun[name];
      }
      const node = control.type === 'checkbox' ? element('label.check', control, LABELS[name]) : field(LABELS[name], control, note);
      return { name, control, node, numeric: NUMBERS.has([schema.type].flat()[0]) };
    });
  const mapper = list.find(({ name }) => name === 'mapper')?.control;
  const suit = () => list.forEach(({ name, node }) => (node.hidden = name.startsWith('policy') && mapper.value !== 'learned'));
  mapper?.addEventListener('change', suit);
  suit();
  const nodes = (of) => list.filter(({ name }) => name in of).map(({ node }) => node);
  const valueOf = ({ control, numeric }) =>
    control.type === 'checkbox' ? control.checked : numeric && Number(control.value) >= 0 ? Number(control.value) : control.value;
  return {
    basic: nodes(BASIC),
    more: nodes(MORE),
    values: () =>
      Object.fromEntries(
        list
          .filter(({ node, control }) => !node.hidden && (control.type === 'checkbox' ? control.checked : control.value !== ''))
          .map((one) => [one.name, valueOf(one)]),
      ),
  };
}
