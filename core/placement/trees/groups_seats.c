/* Where groups begin: each is a vertex of a graph, placed on one core of a router. What can fail: memory, a stop. */
#include <stdlib.h>

#include "base/order.h"
#include "core/chip/turns.h"
#include "core/placement/trees/seating.h"
#include "core/placement/ways/ways.h"

/* Groups as a graph: casts weigh between their sender's and each that they reach. */
static cm_status graph_of(const cm_seating *w, uint32_t groups, cm_graph **graph, cm_error *error)
{
  const cm_group_casts *c = &w->between;
  uint64_t *first, *weight = NULL, most = 2 * c->first[c->count], count = 0;
  uint32_t *neighbour = NULL;
  cm_memory *memory = w->run->memory;
  cm_status status = CM_NEW(memory, first, (size_t)groups + 1, error);
  CM_THEN(status, CM_NEW_ALL(memory, error, CM_ARRAY(neighbour, most), CM_ARRAY(weight, most)));
  for (uint32_t g = 0; status == CM_OK && g < groups; g++) {
    for (uint64_t k = c->of_group[g]; k < c->of_group[g + 1]; k++) {
      uint32_t e = c->touching[k];
      for (uint64_t i = c->first[e]; i < c->first[e + 1]; i++) {
        uint32_t other = c->sender[e] == g ? c->target[i].group : c->sender[e];
        bool between = c->sender[e] == g ? other != g : c->target[i].group == g;
        if (!between)
          continue;
        neighbour[count] = other;
        weight[count++] = c->weight[e];
      }
    }
    first[g + 1] = count;
  }
  CM_THEN(status, cm_graph_from_rows(groups, first, neighbour, weight, w->run, graph, error));
  CM_FREE(first, neighbour, weight);
  return status;
}

/* One core of every router with room for the largest group. */
static uint32_t list_roomy(const cm_seating *w, uint32_t largest, uint32_t *cores)
{
  uint32_t count = 0;
  for (uint32_t s = 0; s < w->seats; s++)
    if (cm_seat_capacity(w, s) >= largest)
      cores[count++] = w->slot[w->first_slot[s]];
  qsort(cores, count, sizeof *cores, cm_ascending);
  return count;
}

/* Seats the groups by the ways between each two, the empty ones where is room. */
static void take_seats(cm_seating *w, uint32_t groups, const uint32_t *cores, const uint32_t *at)
{
  for (uint32_t s = 0; s < w->seats; s++)
    w->occupant[s] = CM_NO_SEAT;
  for (uint32_t g = 0; g < groups; g++) {
    w->seat[g] = w->seat_at[cm_router_of(w->chip, cores[at[g]])];
    w->occupant[w->seat[g]] = g;
  }
  for (uint32_t s = 0, empty = groups; s < w->seats; s++)
    if (w->occupant[s] == CM_NO_SEAT) {
      w->seat[empty] = s;
      w->occupant[s] = empty++;
    }
}

cm_status cm_seat_by_ways(cm_seating *w, double looks, uint64_t seed, cm_error *error)
{
  cm_region roomy = {0};
  cm_graph *graph = NULL;
  uint32_t *at = NULL, groups = 0, largest = 0;
  cm_way_options options = {.entries = looks, .layout = 0.5};
  cm_place_task task = {.chip = w->chip, .region = &roomy, .seed = seed, .run = w->run};
  cm_way_result result;
  for (; groups < w->seats && w->size[groups] > 0; groups++)
    largest = w->size[groups] > largest ? w->size[groups] : largest;
  cm_status status = CM_NEW_ALL(w->run->memory, error, CM_ARRAY(roomy.cores, w->seats), CM_ARRAY(at, w->seats));
  if (status == CM_OK)
    roomy.core_count = list_roomy(w, largest, roomy.cores);
  if (status == CM_OK && roomy.core_count >= groups) {
    status = graph_of(w, groups, &graph, error);
    CM_THEN(status, cm_place_by_ways(graph, &task, &options, at, &result, error));
    if (status == CM_OK)
      take_seats(w, groups, roomy.cores, at);
  }
  cm_graph_free(graph);
  CM_FREE(roomy.cores, at);
  return status;
}
