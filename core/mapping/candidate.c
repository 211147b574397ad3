#include "core/mapping/candidate.h"

void cm_places_free(cm_places *places)
{
  cm_free(places->core);
  cm_region_free(places->region);
  json_decref(places->report);
  *places = (cm_places){0};
}

void cm_candidate_free(cm_candidate *c)
{
  cm_partition_free(c->partition);
  cm_free(c->use);
  cm_places_free(&c->places);
  cm_flows_free(c->flows);
  *c = (cm_candidate){0};
}

cm_mapping cm_candidate_view(const cm_candidate *c)
{
  cm_mapping view = {.vertex_count = c->partition->vertex_count,
                     .part_count = c->partition->part_count,
                     .part = c->partition->part,
                     .core = c->places.core,
                     .region = c->places.region,
                     .attempt_count = c->attempt_count,
                     .bound = c->bound};
  memcpy(view.attempts, c->attempts, sizeof view.attempts);
  return view;
}

cm_status cm_candidate_deliver(cm_candidate *c, cm_mapping **mapping, cm_error *error)
{
  cm_mapping *made;
  CM_TRY(CM_NEW(c->run->memory, made, 1, error));
  *made = cm_candidate_view(c);
  if (made->region != NULL) /* it may have been chosen of fewer cores than are free */
    cm_region_enclose(c->input->chip, c->input->occupancy, made->region);
  c->partition->part = NULL;
  c->places.core = NULL;
  c->places.region = NULL;
  *mapping = made;
  return CM_OK;
}
