/* A job of kind map: load the network, take the chip's occupancy, map, write the views. An identical job that runs makes
 * it wait, and one that is done gives it its mapping. */
#include <stdlib.h>
#include <string.h>

#include "core/mapping/check/beside.h"
#include "core/mapping/export.h"
#include "core/network/topology_file.h"
#include "daemon/running.h"
#include "storage/leases.h"
#include "storage/occupancy.h"
#include "storage/networks.h"

static cm_status read_options(cm_running *r, cm_error *error)
{
  json_t *json = json_loads(r->job.options, 0, NULL);
  cm_status status = cm_map_options_parse(json, &r->map_options, error);
  json_decref(json);
  if (status != CM_OK)
    return status;
  cm_map_options_apply(r->map_options, &r->run);
  cm_running_bound(r, &r->run.threads, &r->memory.limit_bytes);
  return CM_OK;
}

/* A digest of all that shapes the result: network, chip, occupancy and the options that matter. */
static cm_status make_fingerprint(cm_running *r, cm_error *error)
{
  char *chip = NULL, *occupancy = NULL, *options = NULL, *all = NULL;
  json_t *shaping = cm_map_options_shaping_json(r->map_options);
  cm_status status = cm_chip_print(r->chip, &chip, error);
  if (status == CM_OK)
    status = cm_occupancy_print(r->occupancy, r->chip, &occupancy, error);
  options = shaping != NULL ? json_dumps(shaping, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
  json_decref(shaping);
  if (status == CM_OK &&
      (options == NULL || asprintf(&all, "%s\n%s\n%s\n%s", r->job.network, chip, occupancy, options) < 0)) {
    all = NULL;
    status = cm_fail(error, CM_NO_MEMORY, "out of memory while starting the job");
  }
  if (status == CM_OK)
    cm_store_sha256(all, strlen(all), r->fingerprint);
  free(chip);
  free(occupancy);
  free(options);
  free(all);
  return status;
}

/* Looks for an identical job that is running (r->deferred) or done (r->reused). */
static cm_status look_for_twin(cm_running *r, cm_error *error)
{
  cm_mapping_row found;
  if (r->job.reserve)
    return CM_OK;
  if (make_fingerprint(r, error) != CM_OK ||
      cm_jobs_identify(r->store, &r->job, r->fingerprint, &r->deferred, error) != CM_OK)
    return error->status;
  if (r->deferred)
    return CM_OK;
  cm_status status = cm_mappings_find(r->store, r->fingerprint, &found, error);
  if (status == CM_OK) {
    memcpy(r->reused, found.id, sizeof r->reused);
    cm_board_log(r->store->board, r->job.id, "an identical job has been done: its mapping %s is this job's too",
                 found.id);
  }
  return status == CM_NOT_FOUND ? CM_OK : status;
}

static cm_status load_network(cm_running *r, cm_error *error)
{
  char path[CM_PATH_MAX];
  cm_run_phase(&r->run, "load");
  cm_status status = cm_networks_path(r->store, r->job.network, path, error);
  if (status == CM_OK)
    status = cm_topology_load(path, &r->run, &r->topology, error);
  /* We wrote that file: what is wrong with it now happened on our disk. */
  if (status == CM_BAD_NETWORK)
    status = error->status = CM_DAMAGED;
  return status;
}

/* Cores that the lease of a job's mapping holds are free to a job that starts from it and takes none itself. */
static cm_status free_own_cores(cm_running *r, const char *job, cm_error *error)
{
  cm_lease *leases;
  size_t count;
  if (r->job.reserve)
    return CM_OK;
  cm_status status = cm_leases_list(r->store, r->job.chip, &leases, &count, error);
  if (status != CM_OK)
    return status;
  for (size_t i = 0; i < count; i++) {
    char owner[CM_ID_MAX + 8];
    (void)snprintf(owner, sizeof owner, "lease:%s", leases[i].id);
    for (uint32_t c = 0; strcmp(leases[i].job, job) == 0 && c < r->occupancy->width * r->occupancy->height; c++)
      if (r->occupancy->state[c] == CM_CORE_TAKEN && strcmp(r->occupancy->owners[r->occupancy->owner[c]], owner) == 0)
        r->occupancy->state[c] = CM_CORE_FREE;
    cm_lease_clear(&leases[i]);
  }
  free(leases);
  return CM_OK;
}

static cm_map_input map_input(const cm_running *r)
{
  return (cm_map_input){.topology = r->topology, .network_id = r->job.network, .chip = r->chip,
                        .occupancy = r->occupancy, .options = r->map_options, .scratch_folder = r->scratch};
}

static cm_status map(cm_running *r, cm_error *error)
{
  cm_level_cache cache = cm_cache_levels(r->store->cache);
  cm_map_input input = map_input(r);
  const char *from = cm_map_options_from(r->map_options);
  char folder[CM_PATH_MAX], path[CM_PATH_MAX];
  cm_mapping_row old;
  if (from != NULL) {
    if (cm_mappings_get(r->store, from, &old, error) != CM_OK || free_own_cores(r, old.job, error) != CM_OK ||
        cm_mappings_folder(r->store, from, folder, error) != CM_OK ||
        cm_path(path, error, "%s/%s", folder, cm_mapping_view_name(CM_VIEW_FULL_JSON)) != CM_OK)
      return error->status;
    input.from = path;
  }
  input.cache = &cache;
  return cm_map(&input, &r->run, &r->mapping, error);
}

static cm_status write_views(cm_running *r, cm_error *error)
{
  char folder[CM_PATH_MAX];
  cm_map_input input = map_input(r);
  cm_run_phase(&r->run, "write");
  if (cm_path(folder, error, "%s/mapping", r->scratch) != CM_OK ||
      cm_mapping_write_folder(r->mapping, r->topology, r->chip, r->job.network, folder, error) != CM_OK ||
      cm_mapping_write_beside(r->mapping, &input, &r->run, folder, error) != CM_OK)
    return error->status;
  return cm_running_place(r, folder, error);
}

cm_status cm_running_map(cm_running *r, cm_error *error)
{
  if (read_options(r, error) != CM_OK ||
      cm_occupancy_open(r->store, r->job.chip, &r->chip, &r->occupancy, error) != CM_OK ||
      look_for_twin(r, error) != CM_OK || r->deferred || r->reused[0] != '\0')
    return r->deferred || r->reused[0] != '\0' ? CM_OK : error->status;
  if (cm_running_scratch(r, error) != CM_OK || load_network(r, error) != CM_OK || map(r, error) != CM_OK)
    return error->status;
  return write_views(r, error);
}
