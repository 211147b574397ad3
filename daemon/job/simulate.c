/* Kind simulate: a mapping's packets in motion. The chip is the one that the mapping was made for. */
#include <coremap/simulate.h>
#include <stdlib.h>

#include "base/json.h"
#include "daemon/job/work_parts.h"

/* The options, with the path of the spikes that were sent in a file of their own. */
static cm_status make_options(const cm_work *w, char **text, cm_error *error)
{
  char path[CM_PATH_MAX];
  const uint64_t refusals = cm_json_refusals();
  json_t *options = cm_work_options(w);
  if (json_is_object(json_object_get(options, "spikes"))) {
    if (cm_work_path(w, CM_WORK_SPIKES, path, error) != CM_OK) {
      json_decref(options);
      return error->status;
    }
    (void)json_object_del(options, "spikes");
    (void)json_object_set_new(options, "spikes_file", json_string(path));
    (void)json_object_set_new(options, "spikes_name", json_string("the uploaded spikes"));
    (void)json_object_set_new(options, "confined", json_true()); /* where they are such a file, cm_executor_for saw to it */
  }
  if (w->job.time_limit > 0)
    (void)json_object_set_new(options, "time_limit", json_real(w->job.time_limit));
  if (cm_json_whole(refusals, "the job's options", error) == CM_OK)
    return cm_work_text(options, text, error);
  json_decref(options);
  return error->status;
}

static cm_status open_mapping(cm_work *w, const coremap_network *network, coremap_mapping **mapping, cm_error *error)
{
  char from[CM_PATH_MAX];
  coremap_error *why = NULL;
  if (cm_work_path(w, CM_WORK_FROM, from, error) != CM_OK)
    return error->status;
  return library_status(coremap_mapping_open(from, network, NULL, library_on_run, &w->run, mapping, &why), &why, error);
}

cm_status cm_work_simulate(cm_work *work, cm_error *error)
{
  coremap_network *network = NULL;
  coremap_mapping *mapping = NULL;
  coremap_error *why = NULL;
  char *options = NULL, *text;
  work->memory.limit_bytes = work->job.memory_limit;
  cm_status status = make_options(work, &options, error);
  if (status == CM_OK)
    status = cm_work_network(work, &network, error);
  if (status == CM_OK)
    status = open_mapping(work, network, &mapping, error);
  if (status == CM_OK)
    status = library_status(coremap_simulate(mapping, options, library_on_run, &work->run, &text, &why), &why, error);
  if (status == CM_OK)
    status = cm_work_tell(work, "report", library_json(text), error);
  free(options);
  coremap_mapping_free(mapping);
  coremap_network_free(network);
  return status;
}
