/* Where parts that are related are looked for first. What can fail: memory. */
#include "core/chip/region.h"
#include "core/placement/related/related.h"

enum { NEAR_MORE = 16, MARGIN = 2 };

static uint32_t up_to_block(uint32_t last, uint32_t block)
{
  return last / block * block + block - 1;
}

/* The box grows by a rectangle, in whole routers or chips. */
static void grow(cm_rectangle *box, const cm_rectangle *more, const uint32_t block[2])
{
  box->x0 = (more->x0 < box->x0 ? more->x0 : box->x0) / block[0] * block[0];
  box->y0 = (more->y0 < box->y0 ? more->y0 : box->y0) / block[1] * block[1];
  box->x1 = up_to_block(more->x1 > box->x1 ? more->x1 : box->x1, block[0]);
  box->y1 = up_to_block(more->y1 > box->y1 ? more->y1 : box->y1, block[1]);
}

/* The box grows by a core and what is near it. */
static void enclose(cm_rectangle *box, const cm_chip *chip, uint32_t core)
{
  const uint32_t x = core % chip->width, y = core / chip->width, x0 = x > MARGIN ? x - MARGIN : 0, y0 = y > MARGIN ? y - MARGIN : 0;
  box->x0 = x0 < box->x0 ? x0 : box->x0;
  box->y0 = y0 < box->y0 ? y0 : box->y0;
  box->x1 = x + MARGIN > box->x1 ? x + MARGIN : box->x1;
  box->y1 = y + MARGIN > box->y1 ? y + MARGIN : box->y1;
  box->x1 = box->x1 < chip->width ? box->x1 : chip->width - 1;
  box->y1 = box->y1 < chip->height ? box->y1 : chip->height - 1;
}

cm_status cm_related_near(const cm_related_task *t, cm_rectangle *box, cm_error *error)
{
  const cm_chip *chip = &t->areas->chip;
  const cm_constraints *all = &t->areas->constraints;
  const uint32_t free_cores = cm_occupancy_free_count(t->occupancy), wanted = 2 * t->parts->vertex_count + NEAR_MORE;
  uint32_t block[2] = {chip->router_x, chip->router_y};
  bool whole_dies = chip->die_limits.synapses + chip->die_limits.inbound_axons + chip->die_limits.outbound_axons > 0;
  cm_region *region;
  for (uint32_t i = 0; i < all->count; i++)
    whole_dies = whole_dies || all->constraint[i].scope == CM_SCOPE_CHIP;
  if (whole_dies) {
    block[0] = chip->die_width;
    block[1] = chip->die_height;
  }
  cm_rectangle first = {UINT32_MAX, UINT32_MAX, 0, 0};
  for (uint32_t p = 0; p < t->fixed_count; p++)
    enclose(&first, chip, t->fixed[p]);
  if (t->fixed_count == 0) {
    CM_TRY(cm_region_choose(chip, t->occupancy, wanted < free_cores ? wanted : free_cores, t->run, &region, error));
    first = (cm_rectangle){region->x0, region->y0, region->x0 + region->width - 1, region->y0 + region->height - 1};
    cm_region_free(region);
  }
  *box = first;
  grow(box, &first, block);
  for (uint32_t i = 0; i < all->count; i++)
    for (uint32_t k = 0; k < all->constraint[i].at_count && all->constraint[i].kind == CM_PIN; k++)
      grow(box, &all->constraint[i].at[k], block);
  return CM_OK;
}
