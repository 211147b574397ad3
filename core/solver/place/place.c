/* Happy path: candidate regions -> the parts on each -> the cheapest stays -> once more with some cores to choose from
 * -> trees, for multicast -> the region of the cores in use. What can fail: too few cores, memory, cancel. */
#include "core/solver/place/place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/chip/reach.h"
#include "core/limits/limits.h"
#include "core/limits/shared.h"
#include "core/placement/placement.h"
#include "core/placement/related/related.h"
#include "core/solver/mappers/engine.h"
#include "core/solver/place/methods.h"
#include "core/solver/presets.h"
#include "core/solver/stage/kinds_of_neurons.h"

enum { REGIONS_MAX = 64, ROAMING_MAX = 448 };

/* Whether parts are few enough to be placed with cores to choose from as the last candidate. */
static bool may_roam(const cm_candidate *c)
{
  const struct cm_map_options *o = c->input->options;
  return cm_effort_of(o)->place.roams && o->mapper != CM_MAPPER_BISECTION && o->mapper != CM_MAPPER_LEARNED && o->regions > 1 &&
         c->partition->part_count > 1 && c->partition->part_count <= ROAMING_MAX;
}

/* So many cores more than parts let whole routers stand free. */
static uint32_t room_for_groups(const cm_candidate *c)
{
  const cm_chip *chip = c->input->chip;
  uint32_t free_cores = cm_occupancy_free_count(c->input->occupancy), parts = c->partition->part_count;
  uint64_t wanted = (uint64_t)parts + parts / 3 + 2 * chip->router_x * chip->router_y;
  return wanted < free_cores ? (uint32_t)wanted : free_cores;
}

/* The regions to compare; of none, the source's box alone. */
static cm_status choose_regions(const cm_candidate *c, cm_region **regions, uint32_t *found, cm_error *error)
{
  const cm_map_input *in = c->input;
  uint32_t most = (uint32_t)in->options->regions - may_roam(c);
  cm_run_phase(c->run, "region");
  if (most > 0 && cm_pays_for_trees(c) && cm_has_groups(in->chip)) {
    cm_status status = cm_region_candidates(in->chip, in->occupancy, room_for_groups(c), 1, c->run, regions, found, error);
    if (status != CM_NO_ROOM) /* some of the free ones may be cut off */
      return status;
  }
  *found = most == 0;
  return most == 0
           ? cm_region_choose(in->chip, in->occupancy, c->partition->part_count, c->run, &regions[0], error)
           : cm_region_candidates(in->chip, in->occupancy, c->partition->part_count, most, c->run, regions, found, error);
}

/* Places the parts on a region, which is taken over in any case. */
static cm_status try_region(cm_candidate *c, cm_region *region, uint32_t number, cm_error *error)
{
  cm_places places;
  CM_TRY_OR(cm_place_on(c, region, &places, error), cm_region_free(region));
  places.region = region;
  places.number = number;
  cm_take_places(c, &places);
  return CM_OK;
}

/* So many cores more than parts are about half a ring around them. */
static uint32_t room_for(uint32_t parts)
{
  return (uint32_t)ceil(2 * sqrt((double)parts));
}

/* On a region with some cores more than parts: a set of cores that is compact for even
 * traffic is not the best for the job's own. */
static cm_status place_with_room(cm_candidate *c, cm_error *error)
{
  const cm_map_input *in = c->input;
  cm_region *roomy;
  uint32_t found, free_cores = cm_occupancy_free_count(in->occupancy);
  uint32_t wanted = c->partition->part_count + room_for(c->partition->part_count);
  wanted = wanted < free_cores ? wanted : free_cores;
  if (wanted == c->partition->part_count)
    return CM_OK;
  c->region_count++;
  cm_run_phase(c->run, "region");
  cm_status status = cm_region_candidates(in->chip, in->occupancy, wanted, 1, c->run, &roomy, &found, error);
  if (status == CM_NO_ROOM) /* some of the free ones are cut off */
    return CM_OK;
  return status == CM_OK ? try_region(c, roomy, c->region_count - 1, error) : status;
}

static cm_status place_on_candidates(cm_candidate *c, cm_error *error)
{
  cm_region *regions[REGIONS_MAX] = {NULL};
  CM_TRY(cm_gather_flows(c, error));
  CM_TRY(choose_regions(c, regions, &c->region_count, error));
  cm_status status = CM_OK;
  const uint32_t regions_left = c->region_count + may_roam(c);
  for (uint32_t i = 0; i < c->region_count; i++)
    if (status == CM_OK) {
      const size_t mark = cm_run_enter(c->run, 1.0 / (regions_left - i));
      status = try_region(c, regions[i], i, error);
      cm_run_leave(c->run, mark);
    } else
      cm_region_free(regions[i]);
  return status == CM_OK && may_roam(c) ? place_with_room(c, error) : status;
}

/* ---- the region of parts that are on their cores ---- */

cm_status cm_place_enclose(cm_candidate *c, cm_error *error)
{
  cm_region *used;
  CM_TRY(CM_NEW(c->run->memory, used, 1, error));
  cm_region_free(c->places.region);
  c->places.region = used;
  CM_TRY(CM_NEW(c->run->memory, used->cores, c->partition->part_count, error));
  memcpy(used->cores, c->places.core, c->partition->part_count * sizeof *c->places.core);
  used->core_count = c->partition->part_count;
  return cm_box_cores(c, used, error);
}

/* ---- free cores beside them ---- */

/* Usable cores without a part in the box of the region and so many columns and rows around it, nearest first. */
static cm_status rank_neighbours(const cm_candidate *c, uint32_t margin, const uint8_t *usable, cm_near_core **list,
                                 uint32_t *count, cm_error *error)
{
  const cm_chip *chip = c->input->chip;
  const cm_region *r = c->places.region;
  uint32_t x0 = r->x0 > margin ? r->x0 - margin : 0, x1 = r->x0 + r->width + margin;
  uint32_t y0 = r->y0 > margin ? r->y0 - margin : 0, y1 = r->y0 + r->height + margin, found = 0, next = 0;
  x1 = x1 < chip->width ? x1 : chip->width;
  y1 = y1 < chip->height ? y1 : chip->height;
  CM_TRY(CM_NEW(c->run->memory, *list, (size_t)(x1 - x0) * (y1 - y0), error));
  for (uint32_t y = y0; y < y1; y++)
    for (uint32_t x = x0; x < x1; x++) {
      uint32_t core = y * chip->width + x;
      while (next < r->core_count && r->cores[next] < core)
        next++;
      if (!usable[core] || (next < r->core_count && r->cores[next] == core))
        continue;
      uint64_t far = 0;
      for (uint32_t i = 0; i < r->core_count; i++)
        far += cm_chip_distance(chip, core, r->cores[i]);
      (*list)[found++] = (cm_near_core){far, core};
    }
  qsort(*list, found, sizeof **list, cm_nearest_first);
  *count = found;
  return CM_OK;
}

cm_status cm_place_widen(cm_candidate *c, uint32_t more, cm_error *error)
{
  const cm_map_input *in = c->input;
  uint32_t count = 0, ignored, margin = room_for(c->partition->part_count);
  uint8_t *usable;
  cm_near_core *list = NULL;
  CM_TRY(CM_NEW(c->run->memory, usable, cm_chip_cores(in->chip), error));
  cm_status status = cm_usable_cores(in->chip, in->occupancy, c->run->memory, usable, &ignored, error);
  CM_THEN(status, rank_neighbours(c, margin, usable, &list, &count, error));
  if (status == CM_OK) {
    more = more < count ? more : count;
    uint32_t *cores =
      cm_reallocate(c->run->memory, c->places.region->cores, (size_t)c->partition->part_count + more, sizeof *cores, error);
    if (cores == NULL)
      status = error->status;
    else
      c->places.region->cores = cores;
  }
  for (uint32_t i = 0; i < more && status == CM_OK; i++)
    c->places.region->cores[c->places.region->core_count++] = list[i].core;
  CM_FREE(usable, list);
  return status == CM_OK ? cm_box_cores(c, c->places.region, error) : status;
}

/* What parts say to each other: placing asks for it, and nothing before. */
static cm_status tell_parts(cm_candidate *c, cm_error *error)
{
  cm_partition *p = c->partition;
  if (p->parts != NULL)
    return CM_OK;
  const cm_engine *engine = cm_engine_find((cm_preset)c->input->options->preset, c->objective);
  return engine->flows(c->input->demand, p->part, p->part_count, c->run, &p->parts, error);
}

/* Parts got their cores by the plane of the chip. */
static cm_status go_by_ways(cm_candidate *c, cm_error *error)
{
  return tell_parts(c, error) == CM_OK ? cm_place_again(c, error) : error->status;
}

static cm_status keep_places(cm_candidate *c, cm_error *error)
{
  const bool given = c->input->core != NULL;
  cm_status status = c->partition->part_count == 0
                       ? cm_region_choose(c->input->chip, c->input->occupancy, 0, c->run, &c->places.region, error)
                       : cm_place_enclose(c, error);
  CM_THEN_IF(status, !given && cm_pays_for_trees(c) && may_roam(c), cm_place_widen(c, room_for(c->partition->part_count), error));
  CM_THEN_IF(status, !given && cm_geometry_of(c->input->chip) == CM_BY_WAYS, go_by_ways(c, error));
  if (status != CM_OK)
    return status;
  c->places.report = json_pack("{s:{s:s}}", "placement", "method", given ? "in clusters, with copies" : "multilevel on the mesh");
  return cm_whole(c->places.report != NULL, "the report", error);
}

/* Parts that constraints relate to each other; they may come to stand on other kinds of cores that take them. */
static cm_status place_related(cm_candidate *c, cm_error *error)
{
  const cm_map_input *in = c->input;
  cm_partition *made = c->partition;
  cm_areas bare = {.chip = *in->chip};
  uint64_t *use = NULL;
  for (uint32_t k = 0; k < CM_KINDS_MAX; k++)
    bare.base[k] = (uint8_t)k;
  CM_TRY_OR(CM_NEW(c->run->memory, use, (size_t)made->part_count * CM_RESOURCES, error), cm_free(use));
  CM_TRY_OR(cm_count_use(in->demand, made->part, made->part_count, c->run, use, error), cm_free(use));
  const cm_related_task task = {.areas = in->areas != NULL ? in->areas : &bare, .use = use, .demand = in->demand, .occupancy = in->occupancy, .parts = made->parts, .part = made->part, .kind = made->kind,
                                .seed = in->options->placement_seed, .effort = cm_effort_of(in->options)->place.related, .run = c->run};
  bool optimal;
  c->region_count = 1;
  cm_free(c->places.core); /* of a method that places as it partitions */
  cm_status status = CM_NEW(c->run->memory, c->places.core, made->part_count, error);
  CM_THEN(status, cm_place_related(&task, c->places.core, &optimal, error));
  cm_free(use);
  if (status != CM_OK || cm_place_enclose(c, error) != CM_OK)
    return error->status;
  for (uint32_t p = 0; made->kind != NULL && p < made->part_count; p++)
    made->kind[p] = (uint8_t)cm_chip_kind_of(in->chip, c->places.core[p]);
  c->places.energy = cm_placement_energy(made->parts, in->chip, c->places.core);
  c->places.report = json_pack("{s:{s:f, s:s, s:b}}", "placement", "part_traffic",
                               (double)cm_placement_traffic(made->parts, in->chip, c->places.core) / (double)in->demand->network->weight_scale, "method",
                               "search and annealing under constraints", "optimal", (int)optimal);
  return cm_whole(c->places.report != NULL, "the report", error);
}

/* What placing takes beside what follows it. */
static const double share_beside_links = 0.03, share_beside_trees = 0.5;

cm_status cm_place_parts(cm_candidate *c, cm_error *error)
{
  cm_run_phase(c->run, "region");
  if (c->input->core != NULL)
    return keep_places(c, error);
  const bool related = cm_has_relations(c->input) || cm_limits_are_shared(c->input->chip);
  CM_TRY_IF((c->places.core == NULL || related), tell_parts(c, error));
  if (related) /* what improves places afterwards knows no relations */
    return place_related(c, error);
  const size_t mark = cm_run_enter(c->run, cm_spreads_over_links(c) ? share_beside_links : cm_pays_for_trees(c) ? share_beside_trees : 1);
  cm_status status = c->places.core != NULL   ? keep_places(c, error)
                     : c->partition->kind != NULL && c->partition->part_count > 0 ? cm_place_on_kinds(c, error)
                                       : place_on_candidates(c, error);
  cm_run_leave(c->run, mark);
  CM_THEN_IF(status, cm_pays_for_trees(c), cm_shorten_trees(c, error));
  CM_THEN(status, cm_spread_over_links(c, error));
  CM_THEN_IF(status, c->places.region->core_count != c->partition->part_count, cm_place_enclose(c, error));
  return status;
}
