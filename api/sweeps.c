/* Sweeps: {"kind": "sweep"} of POST /v1/jobs. The table of what its jobs have found: sweep_table.c.
 *
 * A request is read whole before anything is queued: each point of the axes becomes the request of a job, which is checked as any
 * (api/submit.c), and what is wrong with one refuses them all. The points go up like the digits of a number: networks turn slowest, then
 * chips, then the axes as they stand in the request, of which the last turns fastest. */
#include <coremap/tables.h>

#include "api/handlers.h"
#include "api/submit.h"
#include "base/json.h"
#include "base/number.h"
#include "storage/sweep_jobs.h"

enum { AXES_MAX = 16, COMPARED_MAX = 2 };

/* ---- the request ---- */

static bool refuse(cm_request *request, const char *where, const char *why)
{
  (void)cm_fail(&request->error, CM_BAD_OPTION, "%s: %s", where, why);
  (void)cm_fail_at(&request->error, "%s", where);
  return cm_reply_error(request, &request->error);
}

/* The whole numbers of "1..20" as a list; NULL: it is none, or of more than a sweep may have. */
static json_t *range_of(const char *text)
{
  const char *dots = text != NULL ? strstr(text, "..") : NULL;
  char first[24];
  uint64_t from, to;
  if (dots == NULL || (size_t)(dots - text) >= sizeof first)
    return NULL;
  (void)snprintf(first, sizeof first, "%.*s", (int)(dots - text), text);
  if (!cm_whole_parse(first, &from) || !cm_whole_parse(dots + 2, &to) || from > to || to - from >= CM_SWEEP_POINTS_MAX)
    return NULL;
  json_t *list = json_array();
  for (uint64_t i = from; i <= to; i++)
    (void)json_array_append_new(list, json_integer((json_int_t)i));
  return list;
}

/* What is given once or as a list, as a list; NULL: the reply is set. */
static json_t *list_of(cm_request *request, const char *where, json_t *value)
{
  const char *word = json_string_value(value);
  json_t *list = json_is_array(value) ? json_incref(value) : range_of(word);
  if (list == NULL && word != NULL && strstr(word, "..") != NULL) {
    (void)refuse(request, where, "a range is two whole numbers, the first not above the last, of 10000 at most: \"1..20\"");
    return NULL;
  }
  if (list == NULL) {
    list = json_array();
    (void)json_array_append(list, value);
  }
  if (json_array_size(list) > 0)
    return list;
  json_decref(list);
  (void)refuse(request, where, "an empty list has no point: give at least one value");
  return NULL;
}

/* What a point is put together from: a list each, of networks, of chips and of every axis. */
typedef struct axes {
  const char *name[AXES_MAX + 2];
  json_t *values[AXES_MAX + 2];
  size_t count, points;
} axes;

static void clear_axes(axes *a)
{
  for (size_t i = 0; i < a->count; i++)
    json_decref(a->values[i]);
}

static bool add_axis(cm_request *request, axes *a, const char *folder, const char *name, json_t *value)
{
  char where[80];
  (void)snprintf(where, sizeof where, "%s/%.64s", folder, name);
  if (a->count == AXES_MAX + 2)
    return refuse(request, "/axes", "a sweep has 16 axes at most");
  a->values[a->count] = list_of(request, where, value);
  if (a->values[a->count] == NULL)
    return false;
  a->name[a->count] = name;
  a->points *= json_array_size(a->values[a->count++]);
  return a->points <= CM_SWEEP_POINTS_MAX || refuse(request, "/axes", "these axes have more than 10000 points together: narrow one");
}

static bool read_axes(cm_request *request, const json_t *body, axes *a)
{
  json_t *network = json_object_get(body, "network"), *chip = json_object_get(body, "chip"), *given = json_object_get(body, "axes"), *value;
  const char *name;
  a->points = 1;
  if (network == NULL || chip == NULL)
    return refuse(request, network == NULL ? "/network" : "/chip", network == NULL ? "the id of an uploaded network is needed, or a list of such"
                                                                                  : "the name of a chip is needed, or a list of such");
  if (given != NULL && !json_is_object(given))
    return refuse(request, "/axes", "expected an object: {option: [values]} or {option: \"1..20\"}");
  if (!add_axis(request, a, "", "network", network) || !add_axis(request, a, "", "chip", chip))
    return false;
  json_object_foreach(given, name, value) {
    if (json_object_get(json_object_get(body, "base"), name) != NULL)
      return refuse(request, "/base", "an option stands in base or in axes, not in both");
    if (!add_axis(request, a, "/axes", name, value))
      return false;
  }
  return true;
}

/* The request of the job at a point. */
static json_t *point_of(const json_t *body, const axes *a, size_t point)
{
  json_t *job = json_object(), *base = json_object_get(body, "base"), *options = base != NULL ? json_deep_copy(base) : json_object();
  for (size_t i = a->count; i-- > 0;) {
    const size_t size = json_array_size(a->values[i]);
    (void)json_object_set(i < 2 ? job : options, a->name[i], json_array_get(a->values[i], point % size));
    point /= size;
  }
  (void)json_object_set_new(job, "options", options);
  static const char *const shared[] = {"name", "priority", "visibility", "labels", "cluster", NULL};
  for (size_t i = 0; shared[i] != NULL; i++)
    if (json_object_get(body, shared[i]) != NULL)
      (void)json_object_set(job, shared[i], json_object_get(body, shared[i]));
  return job;
}

/* ---- what is compared, kept and spent ---- */

/* 1: more of the metric is better, -1: less is, 0: there is none of the name, or neither. */
static int better(const char *metric)
{
  char *text = NULL;
  int way = 0;
  if (coremap_table("metrics", &text, NULL) != 0)
    return 0;
  json_t *schema = cm_json_loadb(text, strlen(text), 0, NULL);
  const char *word = json_string_value(json_object_get(json_object_get(json_object_get(schema, "properties"), metric), "x-better"));
  if (word != NULL)
    way = strcmp(word, "less") == 0 ? -1 : strcmp(word, "more") == 0 ? 1 : 0;
  json_decref(schema);
  coremap_text_free(text);
  return way;
}

static bool read_compared(cm_request *request, const json_t *body, json_t *spec)
{
  json_t *by = json_object_get(body, "by"), *name, *ways = json_array();
  size_t i;
  (void)json_object_set_new(spec, "better", ways);
  if (by == NULL)
    by = json_string("energy_pj"), (void)json_object_set_new(spec, "by", by);
  if (!json_is_array(by))
    (void)json_object_set_new(spec, "by", json_pack("[O]", by));
  by = json_object_get(spec, "by");
  if (json_array_size(by) < 1 || json_array_size(by) > COMPARED_MAX)
    return refuse(request, "/by", "expected the name of a metric, or two");
  json_array_foreach(by, i, name) {
    const int way = json_is_string(name) ? better(json_string_value(name)) : 0;
    if (way == 0)
      return refuse(request, "/by", "no mapping is better by this: name a metric such as energy_pj, step_ns or cores_used"
                                    " (schema Metrics of /openapi.json has them, with x-better)");
    (void)json_array_append_new(ways, json_integer(way));
  }
  return true;
}

static bool read_keep(cm_request *request, const json_t *body, json_t *spec)
{
  const json_t *keep = json_object_get(body, "keep");
  const char *word = keep != NULL ? json_string_value(keep) : "all";
  if (word == NULL || (strcmp(word, "best") != 0 && strcmp(word, "pareto") != 0 && strcmp(word, "all") != 0))
    return refuse(request, "/keep", "expected \"best\", \"pareto\" or \"all\"");
  (void)json_object_set_new(spec, "keep", json_string(word));
  return true;
}

/* *most: of the jobs, by the budget. */
static bool read_budget(cm_request *request, const json_t *body, json_t *spec, size_t *most)
{
  static const char *const names[] = {"jobs", "cpu_seconds", "idle", "gap", NULL};
  json_t *budget = json_object_get(body, "budget"), *value;
  const char *name, *by = json_string_value(json_array_get(json_object_get(spec, "by"), 0));
  if (budget == NULL)
    return true;
  if (!json_is_object(budget) || json_object_size(budget) == 0)
    return refuse(request, "/budget", "expected an object with jobs, cpu_seconds, idle or gap: leave it out for none");
  json_object_foreach(budget, name, value) {
    char where[40];
    size_t i = 0;
    (void)snprintf(where, sizeof where, "/budget/%.20s", name);
    while (names[i] != NULL && strcmp(names[i], name) != 0)
      i++;
    if (names[i] == NULL)
      return refuse(request, where, "a budget has jobs, cpu_seconds, idle and gap");
    const bool whole = i == 0 || i == 2;
    if (whole ? !json_is_integer(value) || json_integer_value(value) < 1 : !json_is_number(value) || !(json_number_value(value) >= 0))
      return refuse(request, where, whole ? "expected a whole number from 1 on" : "expected a number that is not negative");
  }
  if (json_object_get(budget, "gap") != NULL && strcmp(by, "step_ns") != 0 && strcmp(by, "cores_used") != 0)
    return refuse(request, "/budget/gap", "only step_ns and cores_used have a bound: compare by one of them first");
  if (json_object_get(budget, "jobs") != NULL && (size_t)json_integer_value(json_object_get(budget, "jobs")) < *most)
    *most = (size_t)json_integer_value(json_object_get(budget, "jobs"));
  return true;
}

/* ---- the start ---- */

typedef struct reading {
  axes axes;
  json_t *spec; /* the request with what is not given as it then is */
  cm_job sweep, *jobs;
  size_t count;
} reading;

static void clear(reading *r)
{
  for (size_t i = 0; r->jobs != NULL && i < r->count; i++)
    cm_job_clear(&r->jobs[i]);
  free(r->jobs);
  free(r->sweep.options);
  clear_axes(&r->axes);
  json_decref(r->spec);
}

/* Reads the jobs of all points; false: the reply is set. */
static bool read_points(cm_request *request, const json_t *body, reading *r, size_t count)
{
  if (!cm_reply_ok(request, CM_HEAP(r->jobs, count + 1, "the jobs of a sweep", &request->error)))
    return false;
  for (; r->count < count; r->count++) {
    json_t *point = point_of(body, &r->axes, r->count);
    const bool sound = cm_submit_read(request, point, &r->jobs[r->count]);
    json_decref(point);
    if (!sound)
      return false;
  }
  return true;
}

static bool read_sweep(cm_request *request, const json_t *body, reading *r)
{
  static const char *const names[] = {"kind", "network", "chip", "base", "axes", "keep", "by", "budget", "name", "priority", "visibility", "labels", "cluster", NULL};
  const json_t *base = json_object_get(body, "base");
  if (!cm_request_members(request, body, names))
    return false;
  if (base != NULL && !json_is_object(base))
    return refuse(request, "/base", "expected an object of options");
  r->spec = json_copy((json_t *)(uintptr_t)body);
  if (!read_axes(request, body, &r->axes) || !read_compared(request, body, r->spec) || !read_keep(request, body, r->spec))
    return false;
  size_t most = r->axes.points;
  if (!read_budget(request, body, r->spec, &most) || !read_points(request, body, r, most))
    return false;
  const cm_job *first = &r->jobs[0];
  r->sweep = (cm_job){.owner = first->owner, .shown = first->shown, .priority = first->priority};
  memcpy(r->sweep.name, first->name, sizeof first->name);
  memcpy(r->sweep.request, first->request, sizeof first->request);
  memcpy(r->sweep.network, first->network, sizeof first->network);
  memcpy(r->sweep.chip, first->chip, sizeof first->chip);
  memcpy(r->sweep.labels, first->labels, sizeof first->labels);
  r->sweep.options = cm_json_dumps(r->spec, JSON_COMPACT | JSON_REAL_PRECISION(15));
  if (r->sweep.options == NULL)
    cm_reply_text(request, 503, NULL, NULL, 0);
  return r->sweep.options != NULL;
}

void cm_sweep_submit(cm_request *request, const json_t *body, const cm_job_key *key)
{
  reading r = {0};
  cm_job_created result;
  char id[CM_ID_MAX];
  if (read_sweep(request, body, &r)) {
    const cm_sweep_request wanted = {.sweep = &r.sweep, .jobs = r.jobs, .count = r.count, .key = key};
    if (cm_reply_ok(request, cm_sweeps_create(request->store, &wanted, &result, id, &request->error)))
      cm_submit_reply(request, result, id);
  }
  clear(&r);
}
