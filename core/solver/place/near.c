/* Cores near each other: those of a box, those nearest a centre first, and a placement that is taken where it is better. */

#include <stdlib.h>

#include "base/order.h"
#include "core/chip/region_search.h"
#include "core/placement/relief/relief.h"
#include "core/solver/place/methods.h"

/* Whether places are better than those that there are: by energy, where loads were not looked at. */
static bool is_better(const cm_places *old, const cm_places *new)
{
  if (old->core == NULL)
    return true;
  if (old->busiest == 0 || new->busiest == 0 || old->energy > cm_relief_dearer * new->energy)
    return new->energy < old->energy;
  return new->energy <= cm_relief_dearer * old->energy &&
         cm_relief_score(new->energy, new->busiest) < cm_relief_score(old->energy, old->busiest);
}

void cm_take_places(cm_candidate *c, cm_places *places)
{
  if (is_better(&c->places, places)) {
    cm_places_free(&c->places);
    c->places = *places;
    *places = (cm_places){0};
  } else {
    cm_places_free(places);
  }
}

cm_status cm_box_cores(const cm_candidate *c, cm_region *region, cm_error *error)
{
  qsort(region->cores, region->core_count, sizeof *region->cores, cm_ascending);
  cm_region_enclose(c->input->chip, c->input->occupancy, region);
  return cm_set_cost(c->input->chip, region->cores, region->core_count, c->run->memory, &region->cost, error);
}

int cm_nearest_first(const void *a, const void *b)
{
  const cm_near_core *p = a, *q = b;
  if (p->far != q->far)
    return p->far < q->far ? -1 : 1;
  return p->core < q->core ? -1 : p->core > q->core;
}
