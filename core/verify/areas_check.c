/* The judge of pins. */
#include "core/verify/areas_check.h"

static bool lies_in(const cm_rectangle *at, uint32_t count, uint32_t x, uint32_t y)
{
  uint32_t hits = 0;
  for (uint32_t i = 0; i < count; i++)
    hits += at[i].x0 <= x && x <= at[i].x1 && at[i].y0 <= y && y <= at[i].y1 ? 1 : 0;
  return hits > 0;
}

cm_status cm_areas_check(const cm_mapped *mapped, const cm_topology *t, const cm_constraints *constraints, cm_error *error)
{
  for (uint32_t i = 0; i < constraints->count; i++) {
    const cm_constraint *c = &constraints->constraint[i];
    for (uint32_t v = 0; v < t->vertex_count && t->population_of != NULL; v++) {
      bool meant = false;
      for (uint32_t k = 0; k < c->of_count && !meant; k++)
        meant = c->of[k] == t->population_of[v];
      if (!meant || mapped->part[v] >= mapped->parts)
        continue;
      const uint32_t core = mapped->core[mapped->part[v]], x = core % mapped->chip->width, y = core / mapped->chip->width;
      if (lies_in(c->at, c->at_count, x, y) != (c->kind == CM_PIN))
        return cm_fail(error, CM_LIMIT_BROKEN, "constraint %u is broken: neuron %u of population %s lies on core (%u, %u)", i + 1, v,
                       t->population[t->population_of[v]].name, x, y);
    }
  }
  return CM_OK;
}
