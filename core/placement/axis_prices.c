#include "core/placement/axis_prices.h"

#include <math.h>

/* Prices have so many units a hop, and at most so many in all. */
static const double units_per_hop = 64, price_most = 1 << 16, sum_most = 0x1p61;

static uint32_t most_of(const uint32_t *value, size_t count)
{
  uint32_t most = 0;
  for (size_t i = 0; i < count; i++)
    most = value[i] > most ? value[i] : most;
  return most;
}

/* What all axons carry, in the 32 bits that the search gives each. */
static double weight_of(const cm_demand *demand)
{
  const cm_topology *t = demand->network;
  double sum = 0, most = 0;
  for (uint32_t e = 0; demand->net_weight != NULL && e < t->net_count; e++) {
    sum += (double)demand->net_weight[e];
    most = fmax(most, (double)demand->net_weight[e]);
  }
  return demand->net_weight == NULL ? t->net_count : most > UINT32_MAX ? sum * (UINT32_MAX / most) : sum;
}

cm_status cm_axes_prices(const cm_axes *axes, const cm_demand *demand, cm_memory *memory, cm_prices *prices, cm_error *error)
{
  const cm_axes *a = axes;
  cm_prices *p = prices;
  size_t dx = (size_t)a->columns * a->columns, dy = (size_t)a->rows * a->rows;
  double farthest = a->base + most_of(a->dx, dx) + most_of(a->dy, dy);
  double scale = fmin(units_per_hop / a->units_per_hop, price_most / farthest);
  scale = fmin(scale, sum_most / farthest / fmax(weight_of(demand), 1));
  *p = (cm_prices){.parts = a->count, .columns = a->columns, .rows = a->rows, .column = a->column, .row = a->row};
  p->base = (uint32_t)fmax(round(a->base * scale), 1);
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(p->dx, dx), CM_ARRAY(p->dy, dy)));
  for (size_t i = 0; i < dx; i++)
    p->dx[i] = (uint32_t)lround(a->dx[i] * scale);
  for (size_t i = 0; i < dy; i++)
    p->dy[i] = (uint32_t)lround(a->dy[i] * scale);
  return CM_OK;
}
