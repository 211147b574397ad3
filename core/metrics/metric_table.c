/* The one table of metrics: what files, reports and the HTTP interface's schema say of each is made from it. */
#include "core/metrics/metrics.h"

#include <stddef.h>
#include <string.h>

typedef enum metric_kind { METRIC_REAL, METRIC_COUNT, METRIC_LONG_COUNT, METRIC_TEXT } metric_kind;

typedef struct metric {
  const char *name;
  metric_kind kind; /* double, uint32_t, uint64_t, char [] */
  size_t offset;
  const char *where; /* it is about things that this metric counts; NULL: always of interest */
  const char *label, *unit;
  int better;       /* -1: less, 1: more, 0: neither */
  const char *about;
} metric;

#define ROW(kind, name, where, since, ...) {#name, kind, offsetof(cm_metrics, name), where, __VA_ARGS__},
#define REAL(...) ROW(METRIC_REAL, __VA_ARGS__)
#define COUNT(...) ROW(METRIC_COUNT, __VA_ARGS__)
#define LONG_COUNT(...) ROW(METRIC_LONG_COUNT, __VA_ARGS__)
#define TEXT(...) ROW(METRIC_TEXT, __VA_ARGS__)
static const metric table[] = {
#include "core/metrics/metrics.def"
};
#undef REAL
#undef COUNT
#undef LONG_COUNT
#undef TEXT
enum { METRICS = sizeof table / sizeof *table };

static const struct renamed {
  const char *name, *was;
  double more; /* it stood by so much higher */
} renamed[] = {
#define REAL(...)
#define COUNT(...)
#define LONG_COUNT(...)
#define TEXT(...)
#define WAS(name, was, more) {#name, #was, more},
#include "core/metrics/metrics.def"
};
enum { RENAMED = sizeof renamed / sizeof *renamed };

static json_t *value_of(const metric *m, const cm_metrics *metrics)
{
  const void *field = (const char *)metrics + m->offset;
  switch (m->kind) {
    case METRIC_REAL: return json_real(*(const double *)field);
    case METRIC_COUNT: return json_integer(*(const uint32_t *)field);
    case METRIC_LONG_COUNT: return json_integer((json_int_t) * (const uint64_t *)field);
    default: return json_string(field);
  }
}

json_t *cm_metrics_json(const cm_metrics *metrics)
{
  json_t *json = json_object();
  for (size_t i = 0; i < METRICS && json != NULL; i++)
    if (json_object_set_new(json, table[i].name, value_of(&table[i], metrics)) != 0) {
      json_decref(json);
      return NULL;
    }
  return json;
}

bool cm_metric_is_of_interest(const char *name, const json_t *metrics)
{
  for (size_t i = 0; i < METRICS; i++)
    if (strcmp(table[i].name, name) == 0)
      return table[i].where == NULL || json_number_value(json_object_get(metrics, table[i].where)) > 0;
  return true;
}

/* Of one object of metrics; false: no memory. */
static bool rename_metrics(json_t *metrics)
{
  bool good = true;
  for (size_t i = 0; i < RENAMED && good; i++) {
    const struct renamed *r = &renamed[i];
    const json_t *value = json_object_get(metrics, r->was);
    if (!json_is_number(value) || json_object_get(metrics, r->name) != NULL)
      continue;
    good = json_object_set_new(metrics, r->name, json_real(json_number_value(value) - r->more)) == 0;
    (void)json_object_del(metrics, r->was);
  }
  return good;
}

bool cm_metrics_rename(json_t *object)
{
  json_t *scenarios = json_object_get(object, "scenarios"), *scenario;
  size_t i;
  bool good = rename_metrics(json_object_get(object, "metrics"));
  json_array_foreach(json_is_object(scenarios) ? json_object_get(scenarios, "each") : scenarios, i, scenario)
    good = good && rename_metrics(json_object_get(scenario, "metrics"));
  return good;
}

bool cm_metrics_have_old_names(const char *text)
{
  char quoted[64];
  for (size_t i = 0; i < RENAMED; i++) {
    (void)snprintf(quoted, sizeof quoted, "\"%s\"", renamed[i].was);
    if (strstr(text, quoted) != NULL)
      return true;
  }
  return false;
}

json_t *cm_metrics_schema(void)
{
  static const char *const types[] = {"number", "integer", "integer", "string"};
  json_t *properties = json_object();
  for (size_t i = 0; i < METRICS; i++) {
    const metric *m = &table[i];
    json_t *one = json_pack("{s:s, s:s}", "type", types[m->kind], "description", m->about);
    if (m->kind != METRIC_TEXT) {
      (void)json_object_set_new(one, "x-label", json_string(m->label));
      (void)json_object_set_new(one, "x-unit", json_string(m->unit));
      (void)json_object_set_new(one, "x-better", json_string(m->better < 0 ? "less" : m->better > 0 ? "more" : "neither"));
      if (m->where != NULL)
        (void)json_object_set_new(one, "x-where", json_string(m->where));
    }
    if (json_object_set_new(properties, m->name, one) != 0) {
      json_decref(properties);
      return NULL;
    }
  }
  return json_pack("{s:s, s:o}", "type", "object", "properties", properties);
}

double cm_figure_step_ns(const cm_metrics *m)
{
  return m->step_ns;
}

double cm_figure_core_ns_max(const cm_metrics *m)
{
  return m->core_ns_max;
}

double cm_figure_energy_step_pj(const cm_metrics *m)
{
  return m->energy_step_pj;
}
