/* Kind map: load the network and the chip with its occupancy, map, write the views. */
#include <coremap/map.h>
#include <math.h>

#include "base/json.h"
#include "daemon/job/work_parts.h"

typedef struct map_job {
  cm_work *work;
  char *options;
  coremap_chip *chip;
  coremap_network *network, *before; /* NULL: no levels are carried over */
  coremap_mapping *mapping;
} map_job;

/* The options, with the path of the mapping to start from in place of its id. */
static cm_status make_options(map_job *j, cm_error *error)
{
  char path[CM_PATH_MAX];
  const uint64_t refusals = cm_json_refusals();
  json_t *options = cm_work_options(j->work);
  const char *from = json_string_value(json_object_get(options, "from"));
  if (from != NULL && from[0] != '\0') {
    CM_TRY_OR(cm_work_path(j->work, CM_WORK_FROM, path, error), json_decref(options));
    (void)json_object_set_new(options, "from", json_string(path));
  }
  if (j->work->job.levels_before[0] != '\0') {
    (void)json_object_set(options, "levels_from_id", json_object_get(options, "levels_from"));
    (void)json_object_del(options, "levels_from");
  }
  (void)json_object_set_new(options, "alone", json_true());
  if (cm_work_name_spikes(j->work, options, error) == CM_OK && cm_json_whole(refusals, "the job's options", error) == CM_OK)
    return cm_work_text(options, &j->options, error);
  json_decref(options);
  return error->status;
}

static cm_status read_inputs(map_job *j, cm_error *error)
{
  cm_work *w = j->work;
  w->run.threads = w->job.threads;
  w->memory.limit_bytes = w->job.memory_limit;
  if (w->job.time_limit > 0)
    w->run.deadline = cm_now() + w->job.time_limit;
  CM_TRY(make_options(j, error));
  CM_TRY(cm_work_chip(w, &j->chip, error));
  if (j->chip == NULL)
    return cm_fail(error, CM_DAMAGED, "the job folder has no " CM_WORK_CHIP);
  return cm_work_network(w, &j->network, error);
}

/* The network that the job's was edited from. */
static cm_status read_before(map_job *j, cm_error *error)
{
  cm_work *w = j->work;
  char path[CM_PATH_MAX];
  coremap_error *why = NULL;
  if (w->job.levels_before[0] == '\0')
    return CM_OK;
  CM_TRY(cm_work_path(w, CM_WORK_BEFORE, path, error));
  return library_status(library_network_load(path, w->job.levels_before, library_on_run, &w->run, &j->before, &why), &why, error);
}

/* Whether every attempt found its levels in the cache. */
static bool all_cached(const json_t *attempts)
{
  const json_t *attempt;
  size_t i;
  bool cached = json_array_size(attempts) > 0;
  json_array_foreach(attempts, i, attempt)
    cached = cached && json_is_true(json_object_get(attempt, "coarsening_cached"));
  return cached;
}

/* What partitions took that were in the cache. */
static double saved_seconds(const json_t *attempts)
{
  const json_t *attempt;
  size_t i;
  double saved = 0;
  json_array_foreach(attempts, i, attempt) saved += json_number_value(json_object_get(attempt, "saved_seconds"));
  return saved;
}

static cm_status tell_region(map_job *j, cm_error *error)
{
  uint64_t count;
  const uint32_t *cores = coremap_mapping_region(j->mapping, &count);
  json_t *region = json_array();
  for (uint64_t i = 0; i < count; i++)
    CM_TRY_OR(cm_json_append(region, json_integer(cores[i]), "the job's region", error), json_decref(region));
  return cm_work_tell(j->work, "region", region, error);
}

/* Whether one of the mappings that a sweep keeps so far is as good in all that it compares, and better in something beyond rounding. */
static bool is_beaten(const json_t *rivals, const json_t *metrics)
{
  const double rounding = 1e-9;
  const json_t *rival, *name;
  size_t k, i;
  json_array_foreach(json_object_get(rivals, "values"), k, rival) {
    bool covered = true, better = false;
    json_array_foreach(json_object_get(rivals, "by"), i, name) {
      const json_t *value = json_object_get(metrics, json_string_value(name));
      const double way = json_number_value(json_array_get(json_object_get(rivals, "better"), i)), ours = way * json_number_value(value),
                   theirs = way * json_number_value(json_array_get(rival, i));
      covered = covered && json_is_number(value) && theirs >= ours;
      better = better || theirs > ours + rounding * fabs(ours);
    }
    if (covered && better)
      return true;
  }
  return false;
}

/* *stored: the result is to have the mapping. */
static cm_status tell(map_job *j, bool *stored, cm_error *error)
{
  char *text;
  size_t size;
  coremap_error *why = NULL;
  CM_TRY(library_status(coremap_mapping_text(j->mapping, "report", &text, &size, &why), &why, error));
  json_t *made = library_json(text), *attempts = json_object_get(made, "attempts");
  json_t *report =
    json_pack("{s:O, s:O, s:b, s:f, s:O, s:O, s:O*}", "parts", json_object_get(made, "parts"), "bound",
              json_object_get(made, "bound"), "coarsening_cached", all_cached(attempts), "saved_seconds", saved_seconds(attempts),
              "attempts", attempts, "metrics", json_object_get(made, "metrics"), "mapper", json_object_get(made, "report"));
  json_decref(made);
  *stored = !is_beaten(j->work->job.rivals, json_object_get(report, "metrics"));
  if (cm_work_tell(j->work, "report", report, error) != CM_OK || (!*stored && cm_work_tell(j->work, "beaten", json_true(), error) != CM_OK))
    return error->status;
  return j->work->job.region ? tell_region(j, error) : CM_OK;
}

/* The other mappings of a Pareto set, each as a mapping of its own. */
static cm_status store_points(map_job *j, cm_error *error)
{
  cm_work *w = j->work;
  uint32_t chosen;
  const uint32_t count = library_mapping_points(j->mapping, &chosen);
  if (count == 0)
    return CM_OK;
  CM_TRY(cm_folder_make(w->points, error));
  for (uint32_t k = 1; k <= count; k++) {
    coremap_error *why = NULL;
    char point[CM_PATH_MAX];
    if (k == chosen)
      continue;
    CM_TRY(cm_path(point, error, "%s/%u", w->points, k));
    CM_TRY(library_status(library_mapping_store_point(j->mapping, k, point, library_on_run, &w->run, &why), &why, error));
  }
  return CM_OK;
}

static cm_status run(map_job *j, cm_error *error)
{
  cm_work *w = j->work;
  coremap_error *why = NULL;
  CM_TRY(read_inputs(j, error));
  CM_TRY(read_before(j, error));
  const library_levels_key levels = {.cache = w->watch->levels, .key = w->job.levels[0] != '\0' ? w->job.levels : NULL, .before = j->before,
                                     .key_before = w->job.levels_before};
  int result = library_map(j->network, j->chip, j->options, &levels, library_on_run, &w->run, &j->mapping, &why);
  bool stored = false;
  if (library_status(result, &why, error) != CM_OK || tell(j, &stored, error) != CM_OK || !stored)
    return error->status;
  result = library_mapping_store(j->mapping, w->made, library_on_run, &w->run, &why);
  if (result == 0)
    result = library_mapping_check(j->mapping, w->made, library_on_run, &w->run, &why);
  return library_status(result, &why, error) == CM_OK ? store_points(j, error) : error->status;
}

cm_status cm_work_map(cm_work *work, cm_error *error)
{
  map_job j = {.work = work};
  cm_status status = run(&j, error);
  coremap_mapping_free(j.mapping);
  coremap_network_free(j.network);
  coremap_network_free(j.before);
  coremap_chip_free(j.chip);
  free(j.options);
  return status;
}
