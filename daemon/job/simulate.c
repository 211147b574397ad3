/* Kind simulate: a mapping's packets in motion. The chip is the one that the mapping was made for. */
#include <coremap/simulate.h>

#include "daemon/job/work_parts.h"

static cm_status open_mapping(cm_work *w, const coremap_network *network, coremap_mapping **mapping, cm_error *error)
{
  char from[CM_PATH_MAX];
  coremap_error *why = NULL;
  CM_TRY(cm_work_path(w, CM_WORK_FROM, from, error));
  return library_status(coremap_mapping_open(from, network, NULL, library_on_run, &w->run, mapping, &why), &why, error);
}

cm_status cm_work_simulate(cm_work *work, cm_error *error)
{
  coremap_network *network = NULL;
  coremap_mapping *mapping = NULL;
  coremap_error *why = NULL;
  char *options = NULL, *text;
  work->memory.limit_bytes = work->job.memory_limit;
  cm_status status = cm_work_spiking_options(work, NULL, &options, error);
  CM_THEN(status, cm_work_network(work, &network, error));
  CM_THEN(status, open_mapping(work, network, &mapping, error));
  CM_THEN(status, library_status(coremap_simulate(mapping, options, library_on_run, &work->run, &text, &why), &why, error));
  CM_THEN(status, cm_work_tell(work, "report", library_json(text), error));
  free(options);
  coremap_mapping_free(mapping);
  coremap_network_free(network);
  return status;
}
