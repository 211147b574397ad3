/* Happy path: choices of kinds -> what neurons of each say, part by part -> how far every core is from cores that take them. What can fail: memory. */
#include "core/placement/kinds/pulls.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/chip/classes.h"
#include "core/chip/geometry.h"
#include "core/chip/turns.h"

enum { TABLE_MAX = 1 << 26, FAR = UINT32_MAX / 4 };

/* Neurons of a part that the same kinds take. */
typedef struct record {
  uint32_t part, choice;
  double weight;
} record;

CM_ORDER(by_part, record, CM_RISING(part) CM_RISING(choice))

/* What the neurons say and are told. */
static cm_status weigh(const cm_pulls_input *in, cm_run *run, double **weight, cm_error *error)
{
  const cm_topology *t = in->demand->network;
  CM_TRY(CM_NEW(run->memory, *weight, t->vertex_count, error));
  for (uint32_t e = 0; e < t->net_count; e++) {
    const double packets = (double)cm_demand_net_weight(in->demand, e);
    if (t->directed)
      (*weight)[cm_topology_source(t, e)] += packets;
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      (*weight)[t->pin[i]] += packets;
  }
  return CM_OK;
}

/* Choices, ascending and each once, of neurons that some core does not take. */
static cm_status list_choices(const cm_pulls_input *in, uint64_t all, cm_run *run, uint64_t **list, uint32_t *count, cm_error *error)
{
  const uint32_t n = in->demand->network->vertex_count;
  uint32_t listed = 0;
  CM_TRY(CM_NEW(run->memory, *list, n, error));
  for (uint32_t v = 0; v < n; v++)
    if ((in->allowed[v] & all) != all)
      (*list)[listed++] = in->allowed[v];
  if (listed > 0)
    qsort(*list, listed, sizeof **list, cm_ascending_long);
  *count = 0;
  for (uint32_t i = 0; i < listed; i++)
    if (*count == 0 || (*list)[*count - 1] != (*list)[i])
      (*list)[(*count)++] = (*list)[i];
  return CM_OK;
}

static cm_status gather(const cm_pulls_input *in, uint64_t all, const uint64_t *list, cm_pulls *p, cm_run *run, cm_error *error)
{
  const uint32_t n = in->demand->network->vertex_count;
  uint32_t count = 0, merged = 0;
  double *weight = NULL;
  record *made = NULL;
  cm_status status = weigh(in, run, &weight, error);
  CM_THEN(status, CM_NEW(run->memory, made, n, error));
  for (uint32_t v = 0; status == CM_OK && v < n; v++) {
    if ((in->allowed[v] & all) == all)
      continue;
    const uint64_t *found = bsearch(&in->allowed[v], list, p->choices, sizeof *list, cm_ascending_long);
    made[count++] = (record){in->part[v], (uint32_t)(found - list), weight[v]};
  }
  if (status == CM_OK && count > 0)
    qsort(made, count, sizeof *made, by_part);
  for (uint32_t i = 0; i < count; i++)
    if (merged > 0 && by_part(&made[merged - 1], &made[i]) == 0)
      made[merged - 1].weight += made[i].weight;
    else
      made[merged++] = made[i];
  CM_THEN(status, CM_NEW_ALL(run->memory, error, CM_ARRAY(p->first, (size_t)in->parts + 1), CM_ARRAY(p->choice, merged),
                             CM_ARRAY(p->weight, merged)));
  for (uint32_t i = 0; status == CM_OK && i < merged; i++) {
    p->first[made[i].part + 1]++;
    p->choice[i] = made[i].choice;
    p->weight[i] = made[i].weight;
  }
  for (uint32_t i = 0; status == CM_OK && i < in->parts; i++)
    p->first[i + 1] += p->first[i];
  CM_FREE(weight, made);
  return status;
}

static void nearer(uint32_t *hops, const uint32_t *from)
{
  *hops = *from + 1 < *hops ? *from + 1 : *hops;
}

/* Hops of every router from the nearest with hops 0, along the plane: there and back, twice on a torus. */
static void spread(const cm_chip *chip, uint32_t *hops)
{
  const uint32_t wide = cm_chip_routers_x(chip), high = cm_chip_routers_y(chip), count = wide * high;
  for (int pass = 0; pass < (chip->torus_x || chip->torus_y ? 2 : 1); pass++) {
    for (uint32_t r = 0; r < count; r++) {
      const uint32_t x = r % wide, y = r / wide;
      if (x > 0 || chip->torus_x)
        nearer(&hops[r], &hops[x > 0 ? r - 1 : r + wide - 1]);
      if (y > 0 || chip->torus_y)
        nearer(&hops[r], &hops[y > 0 ? r - wide : r + count - wide]);
    }
    for (uint32_t r = count; r-- > 0;) {
      const uint32_t x = r % wide, y = r / wide;
      if (x + 1 < wide || chip->torus_x)
        nearer(&hops[r], &hops[x + 1 < wide ? r + 1 : r + 1 - wide]);
      if (y + 1 < high || chip->torus_y)
        nearer(&hops[r], &hops[y + 1 < high ? r + wide : x]);
    }
  }
}

/* On cores that do not take them neurons pay a hop and the way. */
static cm_status find_far(const cm_pulls_input *in, const uint64_t *list, cm_pulls *p, cm_run *run, cm_error *error)
{
  const cm_chip *chip = in->chip;
  const uint32_t routers = cm_chip_routers_x(chip) * cm_chip_routers_y(chip), units = 2 * cm_cheapest_hop_units(chip);
  uint32_t *hops;
  CM_TRY(CM_NEW(run->memory, hops, routers, error));
  cm_status status = CM_NEW(run->memory, p->far, (size_t)p->choices * p->cores, error);
  for (uint32_t k = 0; status == CM_OK && k < p->choices; k++) {
    uint32_t *far = p->far + (size_t)k * p->cores;
    for (uint32_t r = 0; r < routers; r++)
      hops[r] = FAR;
    for (uint32_t c = 0; c < p->cores; c++)
      if (in->usable[c] && (list[k] >> cm_chip_kind_of(chip, c) & 1) != 0)
        hops[cm_router_of(chip, c)] = 0;
    spread(chip, hops);
    for (uint32_t c = 0; c < p->cores; c++)
      far[c] = (list[k] >> cm_chip_kind_of(chip, c) & 1) != 0 ? 0 : (1 + hops[cm_router_of(chip, c)]) * units;
    status = cm_run_check(run, error);
  }
  cm_free(hops);
  return status;
}

cm_status cm_pulls_make(const cm_pulls_input *in, cm_run *run, cm_pulls *pulls, bool *fits, cm_error *error)
{
  cm_pulls p = {.usable = in->usable, .cores = cm_chip_cores(in->chip)};
  uint64_t all = 0, *list = NULL;
  for (uint32_t c = 0; c < p.cores; c++)
    all |= in->usable[c] ? UINT64_C(1) << cm_chip_kind_of(in->chip, c) : 0;
  cm_status status = list_choices(in, all, run, &list, &p.choices, error);
  *fits = status == CM_OK && (uint64_t)p.choices * p.cores <= TABLE_MAX;
  if (*fits)
    status = gather(in, all, list, &p, run, error);
  if (*fits && status == CM_OK)
    status = find_far(in, list, &p, run, error);
  cm_free(list);
  if (*fits && status == CM_OK)
    *pulls = p;
  else
    cm_pulls_clear(&p);
  return status;
}

void cm_pulls_clear(cm_pulls *p)
{
  CM_FREE(p->first, p->choice, p->weight, p->far);
  *p = (cm_pulls){.cores = 0};
}
