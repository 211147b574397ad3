/* Mappings: made, or opened from files. */
#include "core/mapping/options.h"
#include "core/solver/map.h"
#include "library/internal.h"
#include "library/private/levels.h"

static cm_status set_places(coremap_mapping *m, cm_error *error)
{
  const cm_mapped *mapped = &m->mapped;
  CM_TRY(CM_HEAP(m->place, 2 * ((size_t)mapped->parts + 1), "the places", error));
  for (uint32_t p = 0; p < mapped->parts; p++) {
    m->place[2 * (size_t)p] = (int32_t)(mapped->core[p] % mapped->chip->width);
    m->place[2 * (size_t)p + 1] = (int32_t)(mapped->core[p] / mapped->chip->width);
  }
  return CM_OK;
}

/* The mapping is of that network from now on. */
static void move_to(coremap_mapping *m, coremap_network **network)
{
  coremap_network_free(m->network);
  m->network = *network;
  *network = NULL;
}

/* The mapping's own network, where that has copies. */
static cm_status move_to_copies(coremap_mapping *m, cm_run *run, cm_error *error)
{
  coremap_network *copied = NULL;
  json_t *summary = json_pack("{s:O*}", "report", m->mapping->report);
  const bool outside = m->demand.outside_count > 0;
  cm_status status = cm_whole(summary != NULL, "the report", error);
  CM_THEN(status, library_network_copied(m->network, summary, run, &copied, error));
  json_decref(summary);
  if (status != CM_OK || copied == NULL)
    return status;
  move_to(m, &copied);
  cm_demand_clear(&m->demand);
  m->demand = cm_demand_of(m->network->topology);
  if (outside && cm_demand_set_outside(&m->demand, run->memory, error) != CM_OK)
    return error->status;
  return cm_chip_limit_neurons(m->chip->chip, &m->demand, run->memory, error);
}

static cm_status map(coremap_mapping *m, const char *options, const library_levels_key *levels, cm_run *run, cm_error *error)
{
  library_job job;
  cm_map_input input;
  cm_status status = library_job_begin(&job, options, m->network, &m->demand, m->chip, run, &input, error);
  if (status == CM_OK && levels != NULL) {
    input.cache = levels->cache;
    input.levels_id = levels->key;
    if (levels->before != NULL)
      status = library_job_carry(&job, levels->before, levels->key_before, run, &input, error);
  }
  CM_THEN(status, cm_map(&input, run, &m->mapping, error));
  if (status == CM_OK && job.measured != NULL)
    move_to(m, &job.measured);
  library_job_end(&job, run);
  CM_THEN(status, move_to_copies(m, run, error));
  CM_TRY(status);
  m->mapped = cm_mapped_by(m->mapping, &m->demand, m->chip->chip);
  return set_places(m, error);
}

static coremap_mapping *begin(const coremap_network *network, const coremap_chip *chip)
{
  coremap_mapping *m = calloc(1, sizeof *m);
  if (m == NULL)
    return NULL;
  atomic_init(&m->owners, 1);
  m->network = (coremap_network *)network;
  m->chip = (coremap_chip *)chip;
  cm_memory_init(&m->memory, 0);
  atomic_fetch_add(&m->network->owners, 1);
  if (chip != NULL)
    atomic_fetch_add(&m->chip->owners, 1);
  return m;
}

int library_map(const coremap_network *network, const coremap_chip *chip, const char *options, const library_levels_key *levels,
                coremap_progress progress, void *user, coremap_mapping **mapping, coremap_error **error)
{
  cm_error e;
  library_run r;
  coremap_mapping *m = begin(network, chip);
  library_begin(&r, progress, user);
  library_outlive(&r, m != NULL ? &m->memory : NULL);
  cm_status status = cm_whole(m != NULL, "a mapping", &e);
  CM_THEN(status, map(m, options, levels, r.run, &e));
  cm_run_finish(r.run);
  LIBRARY_END(status, *mapping = m, coremap_mapping_free(m));
}

int coremap_map(const coremap_network *network, const coremap_chip *chip, const char *options, coremap_progress progress,
                void *user, coremap_mapping **mapping, coremap_error **error)
{
  return library_map(network, chip, options, NULL, progress, user, mapping, error);
}

const uint32_t *coremap_mapping_region(const coremap_mapping *mapping, uint64_t *cores)
{
  const cm_region *region = mapping->mapping != NULL ? mapping->mapping->region : NULL;
  *cores = region != NULL ? region->core_count : 0;
  return region != NULL ? region->cores : NULL;
}

const uint32_t *coremap_mapping_parts(const coremap_mapping *mapping, uint64_t *neurons)
{
  *neurons = mapping->network->topology->vertex_count;
  return mapping->mapped.part;
}

const int32_t *coremap_mapping_places(const coremap_mapping *mapping, uint64_t *parts)
{
  *parts = mapping->mapped.parts;
  return mapping->place;
}

/* ---- from files ---- */

static cm_status open_mapping(coremap_mapping *m, const char *path, cm_run *run, cm_error *error)
{
  cm_chip *described;
  coremap_network *measured;
  cm_status status = cm_mapping_read_summary(path, run, &m->summary, error);
  CM_THEN(status, library_network_of_mapping(m->network, path, run, &measured, error));
  if (status == CM_OK && measured != NULL)
    move_to(m, &measured);
  m->demand = cm_demand_of(m->network->topology);
  CM_THEN(status, cm_mapping_set_inputs(m->summary, &m->demand, run->memory, error));
  if (status == CM_OK && m->chip == NULL) {
    status = cm_mapped_chip(m->summary, path, &described, error);
    CM_THEN(status, library_chip_own(described, NULL, 0, &m->chip, error));
  }
  CM_THEN(status, cm_chip_limit_neurons(m->chip->chip, &m->demand, run->memory, error));
  CM_THEN(status, cm_mapping_read_places(path, m->network->topology->vertex_count, m->chip->chip, run, &m->places, error));
  CM_TRY(status);
  m->mapped = cm_mapped_at(&m->places, &m->demand, m->chip->chip);
  return set_places(m, error);
}

int coremap_mapping_open(const char *path, const coremap_network *network, const coremap_chip *chip, coremap_progress progress,
                         void *user, coremap_mapping **mapping, coremap_error **error)
{
  cm_error e;
  library_run r;
  coremap_mapping *m = begin(network, chip);
  library_begin(&r, progress, user);
  library_outlive(&r, m != NULL ? &m->memory : NULL);
  cm_status status = cm_whole(m != NULL, "a mapping", &e);
  CM_THEN(status, open_mapping(m, path, r.run, &e));
  cm_run_finish(r.run);
  LIBRARY_END(status, *mapping = m, coremap_mapping_free(m));
}

void coremap_mapping_free(coremap_mapping *mapping)
{
  if (mapping == NULL || atomic_fetch_sub(&mapping->owners, 1) > 1)
    return;
  cm_mapping_free(mapping->mapping);
  json_decref(mapping->summary);
  cm_mapping_places_free(&mapping->places);
  cm_demand_clear(&mapping->demand);
  coremap_network_free(mapping->network);
  coremap_chip_free(mapping->chip);
  free(mapping->place);
  free(mapping);
}
