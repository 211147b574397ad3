/* The orders that are tried. What can fail: memory, a stop. */
#include <math.h>
#include <string.h>

#include "core/placement/trees/groups_internal.h"

typedef struct trial {
  const cm_casts *casts;
  const cm_chip *chip;
  const cm_region *region;
  double steps;
  uint64_t seed;
  cm_run *run;
  uint32_t *order, *core; /* [parts] under way */
  uint8_t *begins;        /* [parts] */
  cm_inbound_casts inbound;
} trial;

/* Takes the placement over where it costs less than the cheapest so far. */
static cm_status try_order(trial *t, const uint8_t *begins, const char *name, uint32_t *core, cm_group_cost *least,
                           const char **order, cm_error *error)
{
  cm_group_cost made;
  if (cm_place_groups(t->casts, t->chip, t->region, t->order, begins, t->steps, t->seed, t->run, t->core, &made, error) != CM_OK)
    return error->status;
  if (made.sum < least->sum) {
    memcpy(core, t->core, t->casts->parts * sizeof *core);
    *least = made;
    *order = name;
  }
  return CM_OK;
}

/* Parts that no cast reaches which reaches the one before: where populations begin. Whether there are such. */
static bool find_begins(const cm_casts *casts, const cm_inbound_casts *in, uint8_t *begins)
{
  bool some = false;
  for (uint32_t p = 1; p < casts->parts; p++) {
    uint64_t i = in->first[p - 1], k = in->first[p], i_end = k, k_end = in->first[p + 1];
    while (i < i_end && k < k_end && in->cast[i] != in->cast[k])
      *(in->cast[i] < in->cast[k] ? &i : &k) += 1;
    bool shared = i < i_end && k < k_end, silent = in->first[p - 1] == k_end;
    begins[p] = !shared && !silent;
    some = some || begins[p];
  }
  return some;
}

static cm_status prepare(trial *t, cm_error *error)
{
  cm_memory *memory = t->run->memory;
  uint32_t parts = t->casts->parts;
  if (CM_NEW(memory, t->order, parts, error) != CM_OK || CM_NEW(memory, t->core, parts, error) != CM_OK ||
      CM_NEW(memory, t->begins, parts, error) != CM_OK)
    return error->status;
  for (uint32_t p = 0; p < parts; p++)
    t->order[p] = p;
  return cm_inbound_casts_new(t->casts, memory, &t->inbound, error);
}

cm_status cm_place_by_groups(const cm_casts *casts, const cm_chip *chip, const cm_region *region, double steps, uint64_t seed,
                             cm_run *run, uint32_t *core, cm_group_cost *cost, const char **order, cm_error *error)
{
  trial t = {.casts = casts, .chip = chip, .region = region, .steps = steps, .seed = seed, .run = run};
  cm_group_cost least = {.sum = INFINITY};
  const char *best = NULL;
  cm_status status = prepare(&t, error);
  if (status == CM_OK)
    status = try_order(&t, NULL, "as they come", core, &least, &best, error);
  if (status == CM_OK && find_begins(casts, &t.inbound, t.begins))
    status = try_order(&t, t.begins, "populations", core, &least, &best, error);
  if (status == CM_OK)
    status = cm_order_by_growth(casts, &t.inbound, chip->router_x * chip->router_y, run, t.order, error);
  if (status == CM_OK)
    status = try_order(&t, NULL, "grown", core, &least, &best, error);
  cm_free(t.order);
  cm_free(t.core);
  cm_free(t.begins);
  cm_inbound_casts_free(&t.inbound);
  if (status != CM_OK)
    return status;
  *cost = least;
  *order = best;
  return CM_OK;
}
