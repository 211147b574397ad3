// #/new: upload a network, then a job for it.

import { getJson, getMe, getSchemas, listChips } from './api.js';
import { element, fill, pageHead } from './dom.js';
import { jobForm } from './jobform.js';
import { uploadPanel } from './upload.js';

const NETWORKS_MAX = 400;

async function allNetworks(signal) {
  const networks = [];
  let cursor;
  do {
    const page = await getJson(`v1/networks${cursor ? `?cursor=${encodeURIComponent(cursor)}` : ''}`, signal);
    networks.push(...page.networks);
    cursor = page.next;
  } while (cursor && networks.length < NETWORKS_MAX);
  return networks;
}

export async function showCreate(main, { query }, signal) {
  const [networks, { chips }, me, schemas] = await Promise.all([allNetworks(signal), listChips(signal), getMe().catch(() => null), getSchemas(signal)]);
  const { form, list } = jobForm({ chips, me, schemas, wanted: Object.fromEntries(query) }, signal);
  list(networks, query.get('network'));
  const onRemoved = (removed) => {
    const at = networks.findIndex(({ id }) => id === removed);
    if (at >= 0) networks.splice(at, 1);
    list(networks);
  };
  const onUploaded = (uploaded) => {
    onRemoved(uploaded.id);
    networks.unshift(uploaded);
    list(networks, uploaded.id);
  };
  const upload = uploadPanel(me, { onUploaded, onRemoved }, signal);
  fill(main, pageHead('New job'), element('div.columns', upload, form));
  return 'New job';
}
