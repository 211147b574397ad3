#include "core/network/spike_ids.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"

cm_status cm_spike_ids_open(cm_spike_ids *ids, cm_memory *memory, cm_error *error)
{
  const cm_topology *t = ids->topology;
  uint32_t ignored;
  uint64_t number;
  if (t == NULL || t->label_text == NULL || ids->as == CM_SPIKE_IDS_POSITION)
    return CM_OK;
  ids->named = true;
  cm_status status = cm_names_open(&ids->names, memory, error);
  for (uint32_t v = 0; v < t->vertex_count && status == CM_OK; v++) {
    const char *name = t->label_text + t->label_first[v];
    status = cm_names_number(&ids->names, name, strlen(name), UINT32_MAX, &ignored, error);
    ids->numbers = ids->numbers || cm_whole_parse(name, &number);
  }
  if (status == CM_OK && ids->names.count < t->vertex_count)
    status = cm_fail(error, CM_BAD_OPTION,
                     "spikes cannot be told by name, for two neurons of the network have the same: give positions, from 0, "
                     "and spike_ids position");
  return status;
}

void cm_spike_ids_close(cm_spike_ids *ids)
{
  cm_names_close(&ids->names);
}

static bool find_name(const cm_spike_ids *ids, const char *id, bool number, uint32_t *neuron, char *why, size_t size)
{
  if (cm_names_find(&ids->names, id, strlen(id), neuron))
    return true;
  (void)snprintf(why, size, "no neuron of the network is named %.60s%s", id,
                 number ? "; if ids are positions, from 0, say so: spike_ids position"
                        : ": the spikes of this network are needed");
  return false;
}

bool cm_spike_ids_find(const cm_spike_ids *ids, const char *id, uint32_t *neuron, char *why, size_t size)
{
  uint64_t number;
  bool whole = cm_whole_parse(id, &number);
  *neuron = 0;
  if (ids->any)
    return true;
  if (ids->named && (!whole || ids->numbers || ids->as == CM_SPIKE_IDS_NAME))
    return find_name(ids, id, whole, neuron, why, size);
  if (whole && number < ids->neurons) {
    *neuron = (uint32_t)number;
    return true;
  }
  if (whole)
    (void)snprintf(why, size,
                   "neuron %llu, but the network has %u neurons, numbered from 0: the spikes of this network are needed",
                   (unsigned long long)number, ids->neurons);
  else
    (void)snprintf(why, size, "lines are STEP,NEURON, both whole numbers from 0");
  return false;
}
