#include "core/placement/axes.h"

#include <math.h>

static uint32_t pay(cm_hop_units units, cm_hops hops)
{
  uint64_t sum = cm_hop_units_pay(&units, hops);
  return sum > INT32_MAX ? INT32_MAX : (uint32_t)sum;
}

static uint32_t both_ways(const cm_chip *chip, cm_hop_units units, uint32_t core_a, uint32_t core_b)
{
  uint64_t there = pay(units, cm_chip_hops(chip, core_a, core_b));
  uint64_t back = pay(units, cm_chip_hops(chip, core_b, core_a));
  return (uint32_t)((there + back + 1) / 2);
}

static cm_status fill(cm_axes *a, const cm_chip *chip, const uint32_t *core, cm_run *run, cm_error *error)
{
  uint32_t x0 = UINT32_MAX, y0 = UINT32_MAX, x1 = 0, y1 = 0;
  CM_TRY(CM_NEW_ALL(run->memory, error, CM_ARRAY(a->column, a->count), CM_ARRAY(a->row, a->count)));
  for (uint32_t i = 0; i < a->count; i++) {
    uint32_t x = core[i] % chip->width, y = core[i] / chip->width;
    a->column[i] = x;
    a->row[i] = y;
    x0 = x < x0 ? x : x0;
    y0 = y < y0 ? y : y0;
    x1 = x > x1 ? x : x1;
    y1 = y > y1 ? y : y1;
  }
  for (uint32_t i = 0; i < a->count; i++) {
    a->column[i] -= x0;
    a->row[i] -= y0;
  }
  a->columns = a->count > 0 ? x1 - x0 + 1 : 0;
  a->rows = a->count > 0 ? y1 - y0 + 1 : 0;
  CM_TRY(CM_NEW_ALL(run->memory, error, CM_ARRAY(a->dx, (size_t)a->columns * a->columns),
                    CM_ARRAY(a->dy, (size_t)a->rows * a->rows)));
  cm_hop_units units = cm_hop_units_of(chip);
  a->units_per_hop = units.cheapest;
  a->base = units.pj > 0 && units.pj < INFINITY ? chip->energy_pj.router / units.pj * units.cheapest : 0;
  for (uint32_t i = 0; i < a->columns; i++)
    for (uint32_t j = 0; j < a->columns; j++)
      a->dx[(size_t)i * a->columns + j] = both_ways(chip, units, x0 + i, x0 + j);
  for (uint32_t i = 0; i < a->rows; i++)
    for (uint32_t j = 0; j < a->rows; j++)
      a->dy[(size_t)i * a->rows + j] = both_ways(chip, units, (y0 + i) * chip->width, (y0 + j) * chip->width);
  return CM_OK;
}

cm_status cm_axes_new(const cm_chip *chip, const uint32_t *core, uint32_t count, cm_run *run, cm_axes **axes,
                      cm_error *error)
{
  cm_axes *made;
  CM_TRY(CM_NEW(run->memory, made, 1, error));
  made->count = count;
  cm_status status = fill(made, chip, core, run, error);
  CM_END(status, *axes = made, cm_axes_free(made));
}

void cm_axes_free(cm_axes *axes)
{
  if (axes == NULL)
    return;
  CM_FREE(axes->dx, axes->dy, axes->column, axes->row, axes);
}
