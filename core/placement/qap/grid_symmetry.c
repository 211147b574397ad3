#include "core/placement/qap/grid_symmetry.h"


/* Cores by their place: those at column c and row r are list[first[r * columns + c]] and following. */
typedef struct places {
  const cm_axes *axes;
  uint32_t *first, *list;
} places;

static cm_status sort_cores(const cm_axes *axes, cm_run *run, places *p, cm_error *error)
{
  size_t cells = (size_t)axes->columns * axes->rows;
  CM_TRY(CM_NEW_ALL(run->memory, error, CM_ARRAY(p->first, cells + 2), CM_ARRAY(p->list, axes->count)));
  for (uint32_t i = 0; i < axes->count; i++)
    p->first[(size_t)axes->row[i] * axes->columns + axes->column[i] + 2]++;
  for (size_t c = 0; c < cells; c++)
    p->first[c + 2] += p->first[c + 1];
  for (uint32_t i = 0; i < axes->count; i++)
    p->list[p->first[(size_t)axes->row[i] * axes->columns + axes->column[i] + 1]++] = i;
  return CM_OK;
}

/* Whether reading one axis from its end, or along the other axis, shows the same distances. */
static bool same_axis(const uint32_t *a, const uint32_t *b, uint32_t length, bool mirrored)
{
  for (uint32_t i = 0; i < length; i++)
    for (uint32_t j = 0; j < length; j++) {
      uint32_t u = mirrored ? length - 1 - i : i, v = mirrored ? length - 1 - j : j;
      if (a[(size_t)i * length + j] != b[(size_t)u * length + v])
        return false;
    }
  return true;
}

/* Fills `to` for one combination of diagonal and mirrors; false where it does not map the cores onto themselves. */
static bool turn(const places *p, bool diagonal, bool mirror_x, bool mirror_y, uint32_t *to)
{
  const cm_axes *a = p->axes;
  if (diagonal ? a->columns != a->rows || !same_axis(a->dx, a->dy, a->columns, false)
               : (mirror_x && !same_axis(a->dx, a->dx, a->columns, true)) ||
                   (mirror_y && !same_axis(a->dy, a->dy, a->rows, true)))
    return false;
  if (diagonal && (mirror_x || mirror_y) && !same_axis(a->dx, a->dx, a->columns, true))
    return false;
  for (uint32_t r = 0; r < a->rows; r++)
    for (uint32_t c = 0; c < a->columns; c++) {
      uint32_t x = diagonal ? r : c, y = diagonal ? c : r;
      x = mirror_x ? a->columns - 1 - x : x;
      y = mirror_y ? a->rows - 1 - y : y;
      size_t from = (size_t)r * a->columns + c, into = (size_t)y * a->columns + x;
      uint32_t count = p->first[from + 1] - p->first[from];
      if (count != p->first[into + 1] - p->first[into])
        return false;
      for (uint32_t i = 0; i < count; i++)
        to[p->list[p->first[from] + i]] = p->list[p->first[into] + i];
    }
  return true;
}

cm_status cm_symmetries_new(const cm_axes *axes, cm_run *run, cm_symmetries *symmetries, cm_error *error)
{
  cm_symmetries made = {0};
  places p = {.axes = axes};
  cm_status status = sort_cores(axes, run, &p, error);
  for (uint32_t kind = 0; kind < CM_SYMMETRIES_MAX && status == CM_OK; kind++) {
    uint32_t *to;
    status = CM_NEW(run->memory, to, axes->count, error);
    if (status == CM_OK && turn(&p, kind & 4, kind & 1, kind & 2, to))
      made.to[made.count++] = to;
    else if (status == CM_OK)
      cm_free(to);
  }
  CM_FREE(p.first, p.list);
  CM_END(status, *symmetries = made, cm_symmetries_free(&made));
}

void cm_symmetries_free(cm_symmetries *symmetries)
{
  for (uint32_t i = 0; i < symmetries->count; i++)
    cm_free(symmetries->to[i]);
  symmetries->count = 0;
}
