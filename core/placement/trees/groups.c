/* Happy path: the routers of the region are filled with parts -> the groups are placed by the ways between each two -> what stands
 * behind two routers is exchanged at a falling temperature, by what trees and tables cost. What can fail: memory, a stop. */
#include "core/placement/trees/group_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/annealing.h"
#include "base/order.h"
#include "core/chip/turns.h"
#include "core/partition/options.h"
#include "core/placement/ways/ways.h"

#define NO_SEAT UINT32_MAX

/* The routers of a region, and the group behind each: a seat is a router. */
typedef struct seating {
  const cm_casts *casts;
  const cm_chip *chip;
  const cm_interconnect *net;
  cm_run *run;
  uint32_t *slot;       /* [cores of the region] along the order of its ways, those of a router together */
  uint32_t *first_slot; /* [seats + 1] of each router of the region */
  uint32_t *router_at;  /* [seats] */
  uint32_t *seat_at;    /* [routers] NO_SEAT: not in the region */
  uint32_t seats;
  uint32_t *group;                  /* [parts] */
  uint32_t *size, *seat, *occupant; /* [seats] parts of a group, where it stands; who stands at a seat */
  cm_group_casts between;
  cm_group_state state;
  cm_random random;
  double price; /* of an entry, in what links cost */
} seating;

static inline uint32_t capacity_of(const seating *w, uint32_t seat)
{
  return w->first_slot[seat + 1] - w->first_slot[seat];
}

enum { SAMPLES = 100, CHECK_EVERY = 64 };

/* Of the effort, for exchanges by what trees cost: where the groups stand by the ways between each two, little is left to gain. */
static const double by_trees = 0.1;

/* Temperatures in mean changes of a proposal; what is left of the effort is spent going downhill. */
static const double hot = 0.2, cold = 0.005, annealed = 0.9;

/* ---- seats ---- */

/* Sorts the cores by router, routers in the order of their first core. */
static cm_status sort_slots(seating *w, const cm_region *region, cm_error *error)
{
  cm_memory *memory = w->run->memory;
  uint32_t *order, *next, count = region->core_count;
  CM_TRY(CM_NEW(memory, order, count, error));
  cm_status status = CM_NEW(memory, next, (size_t)count + 2, error);
  CM_THEN(status, cm_order_by_ways(w->chip, region, w->run, order, error));
  for (uint32_t i = 0; status == CM_OK && i < count; i++) {
    uint32_t router = cm_router_of(w->chip, region->cores[order[i]]);
    if (w->seat_at[router] == NO_SEAT) {
      w->router_at[w->seats] = router;
      w->seat_at[router] = w->seats++;
    }
    next[w->seat_at[router] + 1]++;
  }
  for (uint32_t s = 0; status == CM_OK && s < w->seats; s++) {
    next[s + 1] += next[s];
    w->first_slot[s + 1] = next[s + 1];
  }
  for (uint32_t i = 0; status == CM_OK && i < count; i++) {
    uint32_t core = region->cores[order[i]];
    w->slot[next[w->seat_at[cm_router_of(w->chip, core)]]++] = core;
  }
  CM_FREE(order, next);
  return status;
}

static cm_status prepare(seating *w, const cm_region *region, cm_error *error)
{
  cm_memory *memory = w->run->memory;
  uint32_t cores = region->core_count;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(w->slot, cores), CM_ARRAY(w->first_slot, (size_t)cores + 1),
                    CM_ARRAY(w->router_at, cores), CM_ARRAY(w->seat_at, w->net->routers), CM_ARRAY(w->group, w->casts->parts),
                    CM_ARRAY(w->size, cores), CM_ARRAY(w->seat, cores), CM_ARRAY(w->occupant, cores)));
  memset(w->seat_at, 0xff, w->net->routers * sizeof *w->seat_at);
  CM_TRY(sort_slots(w, region, error));
  for (uint32_t s = 0; s < w->seats; s++)
    w->seat[s] = w->occupant[s] = s;
  return CM_OK;
}

/* Puts parts behind one router after the other; some begin with one. */
static void fill(seating *w, const cm_part_order *order)
{
  uint32_t parts = w->casts->parts, left = w->first_slot[w->seats];
  for (uint32_t i = 0, g = 0; i < parts; i++) {
    uint32_t room = capacity_of(w, g) - w->size[g];
    while (w->size[g] == capacity_of(w, g) ||
           (order->begins != NULL && order->begins[order->part[i]] && w->size[g] > 0 && left - room >= parts - i)) {
      left -= capacity_of(w, g) - w->size[g];
      room = capacity_of(w, ++g);
    }
    left--;
    w->group[order->part[i]] = g;
    w->size[g]++;
  }
}

/* As much as a packet pays for a link. */
static double price_of(const cm_casts *casts, const cm_chip *chip)
{
  return (double)casts->packet * cm_cheapest_hop_units(chip);
}

/* ---- where groups begin: each is a vertex of a graph, placed on one core of a router ---- */

/* Groups as a graph: casts weigh between their sender's and each that they reach. */
static cm_status graph_of(const seating *w, uint32_t groups, cm_graph **graph, cm_error *error)
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
static uint32_t list_roomy(const seating *w, uint32_t largest, uint32_t *cores)
{
  uint32_t count = 0;
  for (uint32_t s = 0; s < w->seats; s++)
    if (capacity_of(w, s) >= largest)
      cores[count++] = w->slot[w->first_slot[s]];
  qsort(cores, count, sizeof *cores, cm_ascending);
  return count;
}

/* Seats the groups by the ways between each two, the empty ones where is room. */
static void take_seats(seating *w, uint32_t groups, const uint32_t *cores, const uint32_t *at)
{
  for (uint32_t s = 0; s < w->seats; s++)
    w->occupant[s] = NO_SEAT;
  for (uint32_t g = 0; g < groups; g++) {
    w->seat[g] = w->seat_at[cm_router_of(w->chip, cores[at[g]])];
    w->occupant[w->seat[g]] = g;
  }
  for (uint32_t s = 0, empty = groups; s < w->seats; s++)
    if (w->occupant[s] == NO_SEAT) {
      w->seat[empty] = s;
      w->occupant[s] = empty++;
    }
}

/* By the ways between each two, with so many looks, where enough routers have room for the largest. */
static cm_status seat_by_ways(seating *w, double looks, uint64_t seed, cm_error *error)
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

/* ---- exchanges ---- */

static double cost(const seating *w)
{
  return w->state.links + w->price * w->state.entries;
}

static cm_status book_group(seating *w, uint32_t group, uint32_t other, int32_t by, cm_error *error)
{
  const cm_group_casts *c = &w->between;
  const uint64_t *list = c->of_group;
  uint64_t i = list[group], k = list[other];
  while (i < list[group + 1] || k < list[other + 1]) { /* both ascend: each once */
    uint32_t a = i < list[group + 1] ? c->touching[i] : UINT32_MAX, b = k < list[other + 1] ? c->touching[k] : UINT32_MAX;
    i += a <= b;
    k += b <= a;
    CM_TRY(cm_group_state_book(&w->state, a < b ? a : b, by, error));
  }
  return CM_OK;
}

static void exchange(seating *w, uint32_t a, uint32_t b)
{
  uint32_t p = w->seat[a], q = w->seat[b];
  w->seat[a] = q;
  w->seat[b] = p;
  w->occupant[q] = a;
  w->occupant[p] = b;
  w->state.router[a] = w->router_at[q];
  w->state.router[b] = w->router_at[p];
}

/* A router that a random link leads to; the same where that is dead. */
static uint32_t beside(seating *w, uint32_t router)
{
  const cm_interconnect *net = w->net;
  uint32_t degree = net->first[router + 1] - net->first[router];
  if (degree == 0)
    return router;
  const cm_link *link = &net->link[net->first[router] + cm_random_below(&w->random, degree)];
  return link->dead ? router : link->to;
}

/* Draws two groups whose seats have room for each other: one, and who sits near a third that it talks with. */
static bool propose(seating *w, uint32_t *a, uint32_t *b)
{
  const cm_group_casts *c = &w->between;
  uint32_t group = (uint32_t)cm_random_below(&w->random, w->seats);
  uint64_t heard = c->of_group[group + 1] - c->of_group[group];
  w->state.steps++;
  if (heard == 0)
    return false;
  uint32_t cast = c->touching[c->of_group[group] + cm_random_below(&w->random, heard)], near = c->sender[cast];
  if (near == group)
    near = c->target[c->first[cast] + cm_random_below(&w->random, c->first[cast + 1] - c->first[cast])].group;
  uint32_t seat = w->seat_at[beside(w, w->state.router[near])];
  if (seat == NO_SEAT || seat == w->seat[group])
    return false;
  *a = group;
  *b = w->occupant[seat];
  return w->size[group] <= capacity_of(w, seat) && w->size[*b] <= capacity_of(w, w->seat[group]);
}

/* Makes an exchange; what it costs more. */
static cm_status make(seating *w, uint32_t a, uint32_t b, double *change, cm_error *error)
{
  double before = cost(w);
  CM_TRY(book_group(w, a, b, -1, error));
  exchange(w, a, b);
  CM_TRY(book_group(w, a, b, 1, error));
  *change = cost(w) - before;
  return CM_OK;
}

static cm_status mean_change(seating *w, double steps, double *mean, cm_error *error)
{
  uint32_t a, b, counted = 0;
  double sum = 0, change, end = w->state.steps + steps;
  for (uint32_t i = 0; i < SAMPLES && w->state.steps < end; i++) {
    if (!propose(w, &a, &b))
      continue;
    CM_TRY(make(w, a, b, &change, error));
    sum += fabs(change);
    counted++;
    CM_TRY(make(w, a, b, &change, error));
  }
  *mean = counted > 0 ? sum / counted : 0;
  return CM_OK;
}

static cm_status anneal(seating *w, double steps, cm_error *error)
{
  double mean = 0, done = 0, temperature = 0, change;
  if (w->seats < 2)
    return CM_OK;
  CM_TRY(mean_change(w, steps / 10, &mean, error));
  double begin = w->state.steps;
  for (uint64_t i = 0; done < 1 && mean > 0; i++) {
    uint32_t a, b;
    if (i % CHECK_EVERY == 0) {
      done = (w->state.steps - begin) / steps;
      temperature = done > annealed ? 0 : cm_cooled(mean * hot, cold / hot, done / annealed);
      CM_TRY(cm_run_progress(w->run, fmin(done, 1), -1, w->casts->parts, NAN, error));
    }
    if (!propose(w, &a, &b))
      continue;
    CM_TRY(make(w, a, b, &change, error));
    CM_TRY_IF(!cm_metropolis(&w->random, change, temperature, CM_HOPELESS), make(w, a, b, &change, error));
  }
  return CM_OK;
}

/* ---- all of it ---- */

static void take_cores(seating *w, const uint32_t *order, uint32_t *core)
{
  memset(w->size, 0, w->seats * sizeof *w->size);
  for (uint32_t i = 0; i < w->casts->parts; i++) {
    uint32_t g = w->group[order[i]];
    core[order[i]] = w->slot[w->first_slot[w->seat[g]] + w->size[g]++];
  }
}

/* Books all trees with the groups where they are. */
static cm_status enter(seating *w, cm_error *error)
{
  uint32_t *router;
  CM_TRY(CM_NEW(w->run->memory, router, w->seats, error));
  for (uint32_t g = 0; g < w->seats; g++)
    router[g] = w->router_at[w->seat[g]];
  cm_status status = cm_group_state_new(&w->between, w->net, router, w->run, &w->state, error);
  cm_free(router);
  return status;
}

static cm_group_cost told(const seating *w)
{
  return (cm_group_cost){.links = w->state.links, .entries = w->state.entries, .sum = cost(w)};
}

static void seating_free(seating *w)
{
  CM_FREE(w->slot, w->first_slot, w->router_at, w->seat_at, w->group, w->size, w->seat, w->occupant);
  cm_group_casts_free(&w->between);
  cm_group_state_free(&w->state);
}

cm_status cm_place_groups(const cm_casts *casts, const cm_place_task *task, const cm_part_order *order, uint32_t *core,
                          cm_group_cost *cost_made, cm_error *error)
{
  seating w = {.casts = casts, .chip = task->chip, .net = task->chip->interconnect, .run = task->run};
  cm_random_init(&w.random, task->seed, CM_STREAM_TREES, 1);
  cm_status status = cm_interconnect_prepare(w.net, error);
  CM_THEN(status, prepare(&w, task->region, error));
  if (status == CM_OK) {
    fill(&w, order);
    w.price = price_of(casts, task->chip);
    status = cm_group_casts_new(casts, w.group, w.seats, task->run->memory, &w.between, error);
  }
  CM_THEN(status, seat_by_ways(&w, order->steps, task->seed, error));
  CM_THEN(status, enter(&w, error));
  CM_THEN(status, anneal(&w, by_trees * order->steps, error));
  if (status == CM_OK) {
    take_cores(&w, order->part, core);
    *cost_made = told(&w);
  }
  seating_free(&w);
  return status;
}

cm_status cm_group_cost_of(const cm_casts *casts, const cm_chip *chip, const uint32_t *core, cm_run *run,
                           cm_group_cost *cost_made, cm_error *error)
{
  seating w = {.casts = casts, .chip = chip, .net = chip->interconnect, .run = run};
  uint32_t *router = NULL, groups = w.net->columns * w.net->rows;
  cm_status status = cm_interconnect_prepare(w.net, error);
  CM_THEN(status, CM_NEW_ALL(run->memory, error, CM_ARRAY(w.group, casts->parts), CM_ARRAY(router, groups)));
  if (status == CM_OK) {
    for (uint32_t r = 0; r < groups; r++)
      router[r] = r;
    for (uint32_t p = 0; p < casts->parts; p++)
      w.group[p] = cm_router_of(chip, core[p]);
    w.price = price_of(casts, chip);
    status = cm_group_casts_new(casts, w.group, groups, run->memory, &w.between, error);
  }
  CM_THEN(status, cm_group_state_new(&w.between, w.net, router, run, &w.state, error));
  if (status == CM_OK)
    *cost_made = told(&w);
  cm_free(router);
  seating_free(&w);
  return status;
}
