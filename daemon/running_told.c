/* What a running job tells, as events and as its progress: its own words, joined with what jobs like it took. */
#include <math.h>

#include "base/json.h"
#include "daemon/running.h"

/* Tells all who listen; takes over `body`, which may be NULL: then nothing is told. */
static void publish(cm_running *r, json_t *body, const char *phases, const cm_history_point *point)
{
  char *text = body != NULL ? cm_json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;
  json_decref(body);
  if (text != NULL) {
    cm_event_bus_progress(r->store->bus, r->job.id, text, phases, point);
    cm_event_bus_publish(r->store->bus, r->job.id, "progress", text);
  }
  free(text);
}

/* What a job tells is about its phase, and how much of itself is done; how far it is by that and by what like ones took goes to *point and
 * into the object, the caller's. NULL: no memory, or nonsense. */
static json_t *whole_progress(cm_running *r, const char *phase, const char *told, cm_history_point *point)
{
  json_t *body = cm_json_loadb(told, strlen(told), 0, NULL);
  const json_t *whole = json_object_get(body, "whole"), *metric = json_object_get(body, "metric");
  *point = (cm_history_point){.seconds = cm_store_time() - r->job.started, .metric = json_is_number(metric) ? json_number_value(metric) : NAN,
                              .bound = json_number_value(json_object_get(body, "bound"))};
  (void)snprintf(point->phase, sizeof point->phase, "%s", phase);
  cm_estimate_outlook(&r->outlook, point->seconds - r->job.waited, r->job.expected, r->known, json_is_number(whole) ? json_number_value(whole) : -1);
  point->fraction = r->outlook.fraction;
  point->remaining = r->outlook.remaining;
  (void)json_object_set(body, "phase_fraction", json_object_get(body, "fraction"));
  (void)json_object_del(body, "whole");
  (void)json_object_set_new(body, "fraction", json_real(point->fraction));
  (void)json_object_set_new(body, "remaining_seconds", json_real(point->remaining));
  return body;
}

/* The same as sound JSON on one line: a child may tell anything. The caller frees; NULL: no memory, or nonsense. */
static char *sound_phases(const char *phases)
{
  json_t *list = cm_json_loadb(phases, strlen(phases), 0, NULL);
  char *text = json_is_array(list) ? cm_json_dumps(list, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;
  json_decref(list);
  return text;
}

static void on_progress(void *user, const char *phase, const char *told, const char *phases_told)
{
  cm_running *r = user;
  cm_history_point point;
  json_t *progress = whole_progress(r, phase, told, &point);
  char *phases = sound_phases(phases_told);
  if (strcmp(r->phase, phase) != 0) {
    (void)snprintf(r->phase, sizeof r->phase, "%s", phase);
    cm_event_bus_log(r->store->bus, r->job.id, "phase %s", phase);
    cm_job_log(&r->job, "phase", phase);
  }
  if (phases == NULL) {
    json_decref(progress);
    return;
  }
  publish(r, progress, phases, &point);
  free(r->phases);
  r->phases = phases;
}

static void on_wait(void *user, const char *why, double ran)
{
  cm_running *r = user;
  const double seconds = cm_store_time() - r->job.started;
  r->job.waited = fmax(seconds - ran, 0);
  if (why == NULL || strcmp(why, r->waits) == 0)
    return;
  (void)snprintf(r->waits, sizeof r->waits, "%s", why);
  const cm_history_point point = {.phase = "cluster", .seconds = seconds, .remaining = r->job.expected, .metric = NAN};
  publish(r, json_pack("{s:s, s:f, s:f, s:s}", "phase", point.phase, "fraction", 0.0, "remaining_seconds", point.remaining, "reason", why), "[]", &point);
}

static void on_log(void *user, const char *line)
{
  cm_running *r = user;
  cm_event_bus_log(r->store->bus, r->job.id, "%s", line);
}

cm_work_watch cm_running_watch(cm_running *r)
{
  return (cm_work_watch){.progress = on_progress, .log = on_log, .wait = on_wait, .user = r};
}
