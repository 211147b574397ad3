#include "core/mapping/mapping.h"

json_t *cm_attempts_json(const cm_attempt *attempts, uint32_t count, bool how)
{
  json_t *list = json_array();
  for (uint32_t i = 0; list != NULL && i < count; i++) {
    const cm_attempt *a = &attempts[i];
    json_t *row =
        json_pack("{s:I, s:I, s:f, s:I, s:I, s:b, s:b, s:s}", "capacity", (json_int_t)a->capacity, "parts",
                  (json_int_t)a->parts, "edge_cut", a->edge_cut, "levels", (json_int_t)a->levels,
                  "levels_available", (json_int_t)a->levels_available, "by_axons",
                  a->by_axons, "moved", a->moved, "broken", a->broken);
    if ((how && (json_object_set_new(row, "coarsening_cached", json_boolean(a->coarsening_cached)) != 0 ||
                 json_object_set_new(row, "saved_seconds", json_real(a->saved_seconds)) != 0)) ||
        (how && a->pairs_carried + a->pairs_matched > 0 &&
         (json_object_set_new(row, "pairs_carried", json_integer((json_int_t)a->pairs_carried)) != 0 ||
          json_object_set_new(row, "pairs_matched", json_integer((json_int_t)a->pairs_matched)) != 0)) ||
        json_array_append_new(list, row) != 0) {
      json_decref(list);
      return NULL;
    }
  }
  return list;
}

void cm_mapping_free(cm_mapping *mapping)
{
  if (mapping == NULL)
    return;
  for (uint32_t i = 0; i < mapping->point_count; i++) {
    cm_mapping *point = mapping->points[i];
    if (i == mapping->point_chosen) {
      point->part = point->core = NULL;
      point->region = NULL;
      point->pacing.turn = NULL;
      point->scenario = NULL;
      point->detail = (cm_metrics_detail){0};
    }
    cm_mapping_free(point);
  }
  CM_FREE(mapping->points, mapping->part, mapping->core, mapping->pacing.turn);
  cm_region_free(mapping->region);
  cm_metrics_detail_free(&mapping->detail);
  CM_FREE(mapping->scenario, mapping->peak);
  cm_topology_free(mapping->copied);
  json_decref(mapping->options);
  json_decref(mapping->report);
  cm_free(mapping);
}

double cm_mapping_mean(const cm_mapping *m, cm_metric_figure *figure)
{
  double sum = 0;
  for (uint32_t k = 0; k < m->scenario_count; k++)
    sum += figure(&m->scenario[k]);
  return sum / m->scenario_count;
}

double cm_mapping_worst(const cm_mapping *m, cm_metric_figure *figure)
{
  double most = 0;
  for (uint32_t k = 0; k < m->scenario_count; k++)
    most = figure(&m->scenario[k]) > most ? figure(&m->scenario[k]) : most;
  return most;
}

double cm_mapping_aimed(const cm_mapping *m, cm_metric_figure *figure)
{
  if (m->scenario_count == 0)
    return figure(&m->metrics);
  return m->scenarios_worst ? cm_mapping_worst(m, figure) : cm_mapping_mean(m, figure);
}
