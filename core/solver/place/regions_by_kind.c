/* Happy path: cores that kinds may start from -> of each kind the nearest cores around the best of them -> parts placed there. What
 * can fail: too few cores of a kind, memory, cancel. */
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/chip/classes.h"
#include "core/chip/reach.h"
#include "core/placement/kinds/kinds.h"
#include "core/placement/placement.h"
#include "core/solver/place/methods.h"
#include "core/solver/presets.h"

enum { KINDS = CM_KINDS_MAX, ANCHORS = 48, REGIONS = 3 };

typedef struct search {
  cm_candidate *c;
  uint8_t *usable;                 /* [cores] */
  uint32_t needed[KINDS], room[KINDS]; /* parts of each kind, and cores to choose from */
  uint32_t *hops;                  /* [cores] from the anchor under way */
} search;

typedef struct anchor {
  double cost;
  uint32_t core;
} anchor;

CM_ORDER(by_cost, anchor, CM_RISING(cost) CM_RISING(core))

static cm_status count(search *s, cm_error *error)
{
  const cm_map_input *in = s->c->input;
  uint32_t cores = cm_chip_cores(in->chip), free[KINDS] = {0}, ignored;
  CM_TRY(CM_NEW_ALL(s->c->run->memory, error, CM_ARRAY(s->usable, cores), CM_ARRAY(s->hops, cores)));
  CM_TRY(cm_usable_cores(in->chip, in->occupancy, s->c->run->memory, s->usable, &ignored, error));
  for (uint32_t c = 0; c < cores; c++)
    free[cm_chip_kind_of(in->chip, c)] += s->usable[c];
  for (uint32_t p = 0; p < s->c->partition->part_count; p++)
    s->needed[s->c->partition->kind[p]]++;
  for (uint32_t k = 0; k < KINDS; k++) {
    uint32_t more = s->needed[k] == 0 ? 0 : (uint32_t)ceil(sqrt((double)s->needed[k]));
    s->room[k] = s->needed[k] + more < free[k] ? s->needed[k] + more : free[k];
    if (s->needed[k] > free[k]) {
      cm_fail(error, CM_NO_ROOM, "%u parts need cores of class \"%s\", %u free", s->needed[k], cm_chip_kind_name(in->chip, k), free[k]);
      cm_error_figure(error, "needed", s->needed[k]);
      cm_error_figure(error, "free", free[k]);
      return CM_NO_ROOM;
    }
  }
  return CM_OK;
}

/* How far the nearest cores of all kinds are from one, in all; s->hops says how far each core is. */
static cm_status look(search *s, uint32_t from, double *cost, cm_error *error)
{
  const cm_chip *chip = s->c->input->chip;
  uint32_t cores = cm_chip_cores(chip), farthest = 0;
  for (uint32_t c = 0; c < cores; c++) {
    s->hops[c] = s->usable[c] ? cm_chip_distance(chip, from, c) : 0;
    farthest = s->hops[c] > farthest ? s->hops[c] : farthest;
  }
  uint32_t *tally;
  CM_TRY(CM_NEW(s->c->run->memory, tally, (size_t)KINDS * (farthest + 1), error));
  for (uint32_t c = 0; c < cores; c++)
    if (s->usable[c])
      tally[(size_t)cm_chip_kind_of(chip, c) * (farthest + 1) + s->hops[c]]++;
  *cost = 0;
  for (uint32_t k = 0; k < KINDS; k++)
    for (uint32_t d = 0, left = s->needed[k]; d <= farthest && left > 0; d++) {
      uint32_t here = tally[(size_t)k * (farthest + 1) + d];
      here = here < left ? here : left;
      *cost += (double)here * d;
      left -= here;
    }
  cm_free(tally);
  return cm_run_check(s->c->run, error);
}

/* Cores that regions may lie around, those that cost least first. */
static cm_status find_anchors(search *s, anchor *list, uint32_t *found, cm_error *error)
{
  uint32_t cores = cm_chip_cores(s->c->input->chip), total = 0, seen = 0;
  for (uint32_t c = 0; c < cores; c++)
    total += s->usable[c];
  *found = 0;
  for (uint32_t c = 0; c < cores; c++) {
    if (!s->usable[c])
      continue;
    if ((uint64_t)seen * ANCHORS / total >= *found) {
      list[*found].core = c;
      CM_TRY(look(s, c, &list[*found].cost, error));
      ++*found;
    }
    seen++;
  }
  qsort(list, *found, sizeof *list, by_cost);
  return CM_OK;
}

/* Of each kind the cores nearest to an anchor, some more than parts need. */
static cm_status gather(search *s, uint32_t from, cm_region **region, cm_error *error)
{
  const cm_chip *chip = s->c->input->chip;
  uint32_t cores = cm_chip_cores(chip), total = 0, taken[KINDS] = {0};
  double ignored;
  cm_near_core *list;
  cm_region *r;
  for (uint32_t k = 0; k < KINDS; k++)
    total += s->room[k];
  CM_TRY(look(s, from, &ignored, error));
  CM_TRY(CM_NEW(s->c->run->memory, list, cores, error));
  cm_status status = CM_NEW(s->c->run->memory, r, 1, error);
  if (status == CM_OK && (status = CM_NEW(s->c->run->memory, r->cores, total, error)) == CM_OK) {
    uint32_t listed = 0;
    for (uint32_t c = 0; c < cores; c++)
      if (s->usable[c] && s->room[cm_chip_kind_of(chip, c)] > 0)
        list[listed++] = (cm_near_core){s->hops[c], c};
    qsort(list, listed, sizeof *list, cm_nearest_first);
    for (uint32_t i = 0; i < listed; i++) {
      uint32_t kind = cm_chip_kind_of(chip, list[i].core);
      if (taken[kind] < s->room[kind])
        r->cores[r->core_count++] = list[i].core;
      taken[kind]++;
    }
    status = cm_box_cores(s->c, r, error);
  }
  cm_free(list);
  CM_END(status, *region = r, cm_region_free(r));
}

static cm_status place(cm_candidate *c, const cm_region *region, cm_places *placed, cm_error *error)
{
  const cm_place_effort *effort = &cm_effort_of(c->input->options)->place;
  cm_kinds_options options = {.kind = c->partition->kind};
  cm_place_task task = {.chip = c->input->chip, .region = region, .seed = c->input->options->placement_seed, .run = c->run};
  cm_kinds_result made;
  double sweep = 2 * (double)c->partition->parts->entry_count + 4.0 * c->partition->part_count;
  options.entries = fmin(effort->kind_entries, effort->kind_sweeps * sweep);
  *placed = (cm_places){0};
  CM_TRY(CM_NEW(c->run->memory, placed->core, c->partition->part_count, error));
  cm_status status = cm_place_by_kinds(c->partition->parts, &task, &options, placed->core, &made, error);
  if (status == CM_OK) {
    double traffic = (double)cm_placement_traffic(c->partition->parts, c->input->chip, placed->core);
    placed->energy = cm_placement_energy(c->partition->parts, c->input->chip, placed->core);
    placed->report = json_pack("{s:{s:f, s:s, s:f, s:i, s:I}}", "placement", "part_traffic",
                               traffic / (double)c->input->demand->network->weight_scale, "method", "exchanges among cores of a kind", "curve_ratio",
                               made.after > 0 ? made.before / made.after : 1, "passes", 0, "swaps", (json_int_t)made.moves);
    status = cm_whole(placed->report != NULL, "the report", error);
  }
  if (status != CM_OK)
    cm_places_free(placed);
  return status;
}

cm_status cm_place_on_kinds(cm_candidate *c, cm_error *error)
{
  search s = {.c = c};
  anchor list[ANCHORS + 1] = {0};
  uint32_t found = 0;
  uint64_t most = c->input->options->regions;
  cm_status status = count(&s, error);
  CM_THEN(status, find_anchors(&s, list, &found, error));
  most = most < 1 ? 1 : most < REGIONS ? most : REGIONS;
  c->region_count = found < most ? found : (uint32_t)most;
  for (uint32_t i = 0; i < c->region_count && status == CM_OK; i++) {
    cm_region *region = NULL;
    cm_places placed;
    status = gather(&s, list[i].core, &region, error);
    if (status == CM_OK && (status = place(c, region, &placed, error)) != CM_OK)
      cm_region_free(region);
    if (status == CM_OK) {
      placed.region = region;
      placed.number = i;
      cm_take_places(c, &placed);
    }
  }
  CM_FREE(s.usable, s.hops);
  return status;
}
