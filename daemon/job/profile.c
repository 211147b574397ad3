/* Kind profile: a network that runs. */
#include <coremap/profile.h>

#include "base/json.h"
#include "daemon/job/work_parts.h"

/* The report, with the spikes of every neuron. */
static cm_status tell(cm_work *work, const coremap_network *network, const coremap_profile *profile, cm_error *error)
{
  char *text;
  coremap_error *why = NULL;
  const uint64_t refusals = cm_json_refusals(), *count = coremap_profile_counts(profile);
  CM_TRY(library_status(coremap_profile_report(profile, &text, &why), &why, error));
  json_t *report = library_json(text), *counts = json_array();
  for (uint32_t v = 0; v < coremap_network_neurons(network); v++)
    (void)json_array_append_new(counts, json_integer((json_int_t)count[v]));
  (void)json_object_set_new(report, "counts", counts);
  cm_status status = cm_json_whole(refusals, "the report", error);
  if (status == CM_OK)
    return cm_work_tell(work, "report", report, error);
  json_decref(report);
  return status;
}

cm_status cm_work_profile(cm_work *work, cm_error *error)
{
  coremap_network *network = NULL;
  coremap_profile *profile = NULL;
  coremap_error *why = NULL;
  char *options = NULL;
  work->memory.limit_bytes = work->job.memory_limit;
  if (work->job.options != NULL)
    (void)json_object_set_new(work->job.options, "alone", json_true()); /* nobody else reads the network */
  cm_status status = cm_work_spiking_options(work, NULL, &options, error);
  CM_THEN(status, cm_work_network(work, &network, error));
  CM_THEN(status, library_status(coremap_profile_run(network, options, library_on_run, &work->run, &profile, &why), &why, error));
  CM_THEN(status, tell(work, network, profile, error));
  free(options);
  coremap_profile_free(profile);
  coremap_network_free(network);
  return status;
}
