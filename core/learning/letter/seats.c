#include "core/learning/letter/seats.h"

#include <math.h>

cm_status cm_letter_seats_new(const cm_environment *environment, uint32_t p, uint32_t axes, cm_distance distance, cm_letter_seats *seats,
                              cm_error *error)
{
  cm_letter_seats s = {.environment = environment, .nodes = environment->node_first[p + 1] - environment->node_first[p],
                       .node = environment->node + environment->node_first[p],
                       .places = cm_letter_places_of(environment, p, axes)};
  uint64_t *priority = NULL;
  s.rows = s.nodes * axes;
  cm_status status = CM_NEW_ALL(environment->memory, error, CM_ARRAY(s.free_core, s.places.sites), CM_ARRAY(s.wanted, s.nodes),
                                CM_ARRAY(s.core, s.nodes), CM_ARRAY(priority, s.nodes));
  if (status == CM_OK) {
    for (uint32_t i = 0; i < s.places.sites; i++)
      s.free_core[i] = environment->site[s.places.site_of[i]];
    for (uint32_t i = 0; i < s.nodes; i++)
      priority[i] = environment->priority[s.node[i]];
    const cm_assign_task task = {.chip = environment->chip, .free_core = s.free_core, .free_count = s.places.sites,
                                 .priority = priority, .nodes = s.nodes, .distance = distance};
    status = cm_assigner_new(&task, environment->memory, &s.assigner, error);
  }
  cm_free(priority);
  CM_END(status, *seats = s, cm_letter_seats_free(&s));
}

void cm_letter_seats_free(cm_letter_seats *seats)
{
  cm_assigner_free(seats->assigner);
  CM_FREE(seats->free_core, seats->wanted, seats->core);
  *seats = (cm_letter_seats){0};
}

void cm_letter_seats_by_node(cm_letter_seats *seats, const uint32_t *place, uint32_t *at)
{
  const cm_letter_places *l = &seats->places;
  const uint32_t width = seats->environment->chip->width;
  for (uint32_t i = 0; i < seats->nodes; i++) {
    const uint32_t *of = place + (size_t)i * l->axes;
    seats->wanted[i] = l->axes == 1 ? seats->free_core[of[0]] : (l->y0 + of[1]) * width + l->x0 + of[0];
  }
  cm_assigner_assign(seats->assigner, seats->wanted, seats->core);
  for (uint32_t i = 0; i < seats->nodes; i++)
    at[seats->node[i]] = seats->environment->site_on[seats->core[i]];
}

void cm_letter_seats_by_core(cm_letter_seats *seats, const float *mean, const float *deviation, double bound, uint32_t *at)
{
  const cm_letter_places *l = &seats->places;
  const uint32_t width = seats->environment->chip->width, axes = l->axes;
  uint32_t *left = seats->wanted, count = seats->nodes;
  for (uint32_t i = 0; i < count; i++)
    left[i] = i;
  for (uint32_t k = 0; k < l->sites && count > 0; k++) {
    const uint32_t core = seats->free_core[k], place[2] = {axes == 1 ? k : core % width - l->x0, core / width - l->y0};
    uint32_t best = 0;
    double most = -INFINITY;
    for (uint32_t j = 0; j < count; j++) {
      double density = 0; /* its logarithm */
      for (uint32_t a = 0; a < axes; a++) {
        const size_t r = (size_t)left[j] * axes + a;
        const double apart = (cm_position(place[a], l->count[a], bound) - (double)mean[r]) / (double)deviation[r];
        density -= apart * apart / 2 + log((double)deviation[r]);
      }
      if (density > most || (density == most && left[j] < left[best])) {
        most = density;
        best = j;
      }
    }
    at[seats->node[left[best]]] = l->site_of[k];
    left[best] = left[--count];
  }
}
