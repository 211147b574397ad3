/* Cores for the parts that have none: the free core where a part's packets travel least, the part with the most traffic first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/partition/flows.h"
#include "core/partition/graph.h"
#include "core/placement/reassign/reassign.h"

typedef struct placing {
  cm_assignment *s;
  const cm_occupancy *occupancy;
  cm_run *run;
  uint32_t *part_at; /* [cores] part there, CM_NOWHERE: none */
  cm_graph *parts;  /* the traffic between them */
  uint32_t placed;
} placing;

/* Closes the gaps that empty parts leave, cores with them. */
static cm_status close_up(placing *r, cm_error *error)
{
  cm_assignment *s = r->s;
  uint32_t *number, next = 0;
  CM_TRY(CM_NEW(r->run->memory, number, s->parts, error));
  for (uint32_t v = 0; v < s->demand->network->vertex_count; v++)
    number[s->part[v]] = 1;
  for (uint32_t p = 0; p < s->parts; p++) {
    if (!number[p])
      continue;
    s->core[next] = s->core[p];
    s->kind[next] = s->kind[p];
    number[p] = next++;
  }
  for (uint32_t v = 0; v < s->demand->network->vertex_count; v++)
    s->part[v] = number[s->part[v]];
  s->parts = next;
  cm_free(number);
  return CM_OK;
}

static cm_status traffic_of_parts(placing *r, cm_error *error)
{
  const cm_topology *topology = r->s->demand->network;
  if (topology->directed)
    return cm_graph_of_axons(r->s->demand, r->s->part, r->s->parts, r->run, &r->parts, error);
  cm_graph *graph;
  CM_TRY(cm_graph_from_topology(r->s->demand, r->run, &graph, error));
  cm_status status = cm_graph_contract(graph, r->s->part, r->s->parts, r->run, &r->parts, error);
  cm_graph_free(graph);
  return status;
}

/* Packets times hops of a part on a core, to the partners that have one. */
static double travel(const placing *r, uint32_t part, uint32_t core, double enough)
{
  double sum = 0;
  for (uint64_t i = r->parts->first[part]; i < r->parts->first[part + 1] && sum <= enough; i++) {
    uint32_t other = r->s->core[r->parts->neighbour[i]];
    if (other != CM_NOWHERE)
      sum += (double)r->parts->weight[i] * cm_chip_distance(r->s->chip, core, other);
  }
  return sum;
}

/* Traffic between a part and those that have a core. */
static double traffic_with_placed(const placing *r, uint32_t part)
{
  double traffic = 0;
  for (uint64_t i = r->parts->first[part]; i < r->parts->first[part + 1]; i++)
    if (r->s->core[r->parts->neighbour[i]] != CM_NOWHERE)
      traffic += (double)r->parts->weight[i];
  return traffic;
}

static uint32_t middle_of(const placing *r)
{
  uint64_t x = 0, y = 0, count = 0;
  uint32_t width = r->s->chip->width;
  for (uint32_t p = 0; p < r->s->parts; p++)
    if (r->s->core[p] != CM_NOWHERE) {
      x += r->s->core[p] % width;
      y += r->s->core[p] / width;
      count++;
    }
  return count == 0 ? 0 : (uint32_t)(y / count) * width + (uint32_t)(x / count);
}

/* Where a part's packets come together: the mean place of its partners, by weight; the middle when it has none. */
static uint32_t pull_of(const placing *r, uint32_t part, uint32_t middle)
{
  double x = 0, y = 0, weight = 0;
  uint32_t width = r->s->chip->width;
  for (uint64_t i = r->parts->first[part]; i < r->parts->first[part + 1]; i++) {
    uint32_t core = r->s->core[r->parts->neighbour[i]];
    if (core == CM_NOWHERE)
      continue;
    double w = (double)r->parts->weight[i];
    x += w * (core % width);
    y += w * (core / width);
    weight += w;
  }
  return weight > 0 ? (uint32_t)(y / weight) * width + (uint32_t)(x / weight) : middle;
}

typedef struct choice {
  uint32_t core, off; /* off: distance from the middle, which breaks ties */
  double travel;
} choice;

static void try_router(const placing *r, uint32_t part, uint32_t x, uint32_t y, uint32_t middle, choice *best)
{
  const cm_chip *chip = r->s->chip;
  for (uint32_t behind = 0; behind < chip->router_x * chip->router_y; behind++) {
    uint32_t core =
        (y * chip->router_y + behind / chip->router_x) * chip->width + x * chip->router_x + behind % chip->router_x;
    if (r->occupancy->state[core] != CM_CORE_FREE || r->part_at[core] != CM_NOWHERE || cm_chip_kind_of(chip, core) != r->s->kind[part])
      continue;
    double here = travel(r, part, core, best->travel);
    uint32_t off = cm_chip_distance(chip, core, middle);
    if (here < best->travel || (here <= best->travel && (off < best->off || (off == best->off && core < best->core))))
      *best = (choice){core, off, here};
  }
}

/* One router of a ring, around a torus; nothing outside a mesh. */
static void try_offset(const placing *r, uint32_t part, int64_t x, int64_t y, uint32_t middle, choice *best)
{
  const cm_chip *chip = r->s->chip;
  int64_t routers_x = cm_chip_routers_x(chip), routers_y = cm_chip_routers_y(chip);
  if (chip->torus_x)
    x = (x % routers_x + routers_x) % routers_x;
  if (chip->torus_y)
    y = (y % routers_y + routers_y) % routers_y;
  if (x >= 0 && y >= 0 && x < routers_x && y < routers_y)
    try_router(r, part, (uint32_t)x, (uint32_t)y, middle, best);
}

/* The free core where a part's packets travel least, looked for in rings around where they come together: by the
 * triangle inequality a core d hops from there costs at least d times the packets, less what that place costs. */
static uint32_t best_core(const placing *r, uint32_t part, uint32_t middle)
{
  const cm_chip *chip = r->s->chip;
  uint32_t pull = pull_of(r, part, middle);
  int64_t x = pull % chip->width / chip->router_x, y = pull / chip->width / chip->router_y;
  int64_t rings = (int64_t)cm_chip_routers_x(chip) + cm_chip_routers_y(chip);
  double packets = traffic_with_placed(r, part), at_pull = travel(r, part, pull, INFINITY);
  choice best = {CM_NOWHERE, UINT32_MAX, INFINITY};
  for (int64_t ring = 0; ring <= rings; ring++) {
    if (best.core != CM_NOWHERE && (double)ring * packets - at_pull > best.travel)
      break;
    for (int64_t i = -ring; i <= ring; i++) {
      int64_t j = ring - llabs(i);
      try_offset(r, part, x + i, y + j, middle, &best);
      if (j != 0)
        try_offset(r, part, x + i, y - j, middle, &best);
    }
    if (best.core != CM_NOWHERE && packets <= 0)
      break;
  }
  return best.core;
}

/* Gives cores to the parts without one, the one with the most traffic to those that have one first. `traffic` [parts]. */
static cm_status place_all(placing *r, const uint32_t *list, uint32_t count, double *traffic, cm_error *error)
{
  cm_assignment *s = r->s;
  uint32_t middle = middle_of(r);
  for (uint32_t i = 0; i < count; i++)
    traffic[list[i]] = traffic_with_placed(r, list[i]);
  for (; r->placed < count; r->placed++) {
    uint32_t next = CM_NOWHERE;
    for (uint32_t i = 0; i < count; i++)
      if (s->core[list[i]] == CM_NOWHERE && (next == CM_NOWHERE || traffic[list[i]] > traffic[next]))
        next = list[i];
    uint32_t core = best_core(r, next, middle);
    if (core == CM_NOWHERE)
      return cm_fail(error, CM_NO_ROOM, "%u parts are left without a core", count - r->placed);
    s->core[next] = core;
    r->part_at[core] = next;
    for (uint64_t i = r->parts->first[next]; i < r->parts->first[next + 1]; i++)
      traffic[r->parts->neighbour[i]] += (double)r->parts->weight[i];
    CM_TRY(cm_run_check(r->run, error));
  }
  return CM_OK;
}

static cm_status place(placing *r, cm_error *error)
{
  cm_assignment *s = r->s;
  uint32_t *list = NULL, count = 0;
  double *traffic = NULL;
  CM_TRY(close_up(r, error));
  CM_TRY(traffic_of_parts(r, error));
  CM_TRY(CM_NEW(r->run->memory, list, s->parts, error));
  memset(r->part_at, 0xff, cm_chip_cores(r->s->chip) * sizeof *r->part_at);
  for (uint32_t p = 0; p < s->parts; p++)
    if (s->core[p] != CM_NOWHERE)
      r->part_at[s->core[p]] = p;
    else
      list[count++] = p;
  cm_status status = CM_NEW(r->run->memory, traffic, s->parts, error);
  CM_THEN(status, place_all(r, list, count, traffic, error));
  CM_FREE(list, traffic);
  return status;
}

cm_status cm_place_new_parts(cm_assignment *assignment, const cm_occupancy *occupancy, uint32_t *part_at, cm_run *run,
                             uint32_t *placed, cm_error *error)
{
  placing r = {.s = assignment, .occupancy = occupancy, .run = run, .part_at = part_at};
  cm_status status = place(&r, error);
  cm_graph_free(r.parts);
  CM_END(status, *placed = r.placed, );
}
