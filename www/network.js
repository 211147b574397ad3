// #/networks/ID: a network or model as it was read, what was made of it, and which chips would take it.

import { actionBar } from './actions.js';
import { getNetwork, getSchemas, listChips, listJobs, listMappings, pathOf } from './api.js';
import { runSection } from './deploy.js';
import { element, facts, fill, link, pageHead, section, stamp } from './dom.js';
import { fitsTable } from './fits.js';
import { count, shortId } from './format.js';
import { shortList } from './lists.js';
import { actButton } from './problem.js';
import { isModel, networkRows, readingNode } from './upload.js';

const SHOWN = 10,
  MAPPINGS = ['Mapping', 'Chip', 'Objective', 'Preset', 'Seed', 'Cores', 'Step', 'Energy of a step', 'Created'];

export async function showNetwork(main, { id }, signal) {
  const network = await getNetwork(id, signal),
    model = isModel(network);
  const only = { network: id, limit: SHOWN };
  const [{ mappings }, { jobs }, { chips }, schemas] = await Promise.all([
    model ? { mappings: [] } : listMappings(only, signal),
    listJobs(only, signal),
    listChips(signal),
    getSchemas(signal),
  ]);
  const fits = element('div'),
    more = (kind) => element('p.more', link(`#/${kind}?network=${encodeURIComponent(id)}`, `All ${kind}`));
  const { duplicates, self_loops: loops, empty_nets: empty, zeros } = network.report ?? {};
  fill(
    main,
    pageHead(
      network.name || shortId(id),
      [model ? 'model ' : 'network ', element('code', { title: id }, shortId(id))],
      element('a.button.primary', { href: `#/new?network=${encodeURIComponent(id)}` }, model ? 'Compile it' : 'Map it'),
      element('a.button', { href: pathOf('networks', id, 'content'), download: '' }, 'Download'),
    ),
    section(
      'What it is',
      facts([
        ...networkRows(network, [
          network.populations > 0 && ['Populations', count(network.populations)],
          network.inputs > 0 && ['Inputs', count(network.inputs)],
          network.inhibitory > 0 && ['Inhibitory synapses', count(network.inhibitory)],
          duplicates > 0 && ['Merged', `${count(duplicates)} that stood twice`],
          loops > 0 && ['Left out', `${count(loops)} of neurons to themselves`],
          empty > 0 && ['Nets without targets', count(empty)],
          zeros > 0 && ['Synapses of weight 0', count(zeros)],
        ]),
        ['Uploaded', stamp(network.created)],
      ]),
      readingNode(network),
    ),
    !model &&
      section(
        'Which chips would take it',
        actButton('Ask', async () => fill(fits, await fitsTable({ network: id }))),
        fits,
      ),
    !model &&
      runSection(
        id,
        chips.filter((chip) => chip.takes_images),
        schemas,
      ),
    mappings.length > 0 && section('Mappings', shortList('mappings', MAPPINGS, mappings), more('mappings')),
    section('Jobs', shortList('jobs', ['Job', 'Kind', 'State', 'Chip', 'Created'], jobs, { empty: 'No jobs yet.' }), more('jobs')),
    section('Keep, share', actionBar('networks', id, signal)),
  );
  return network.name || 'Network';
}
