#include "core/operators/tiling/box.h"

#include <string.h>

cm_box cm_box_whole(const cm_shape *shape)
{
  cm_box box = {.rank = shape->rank};
  memcpy(box.to, shape->dims, shape->rank * sizeof *box.to);
  return box;
}

uint64_t cm_box_count(const cm_box *box)
{
  uint64_t count = 1;
  for (uint32_t i = 0; i < box->rank; i++)
    count *= box->to[i] > box->from[i] ? (uint64_t)(box->to[i] - box->from[i]) : 0;
  return count;
}

bool cm_box_equal(const cm_box *a, const cm_box *b)
{
  return a->rank == b->rank && memcmp(a->from, b->from, a->rank * sizeof *a->from) == 0 &&
         memcmp(a->to, b->to, a->rank * sizeof *a->to) == 0;
}

bool cm_box_intersect(const cm_box *a, const cm_box *b, cm_box *both)
{
  cm_box made = {.rank = a->rank};
  for (uint32_t i = 0; i < a->rank; i++) {
    made.from[i] = a->from[i] > b->from[i] ? a->from[i] : b->from[i];
    made.to[i] = a->to[i] < b->to[i] ? a->to[i] : b->to[i];
    if (made.from[i] >= made.to[i])
      return false;
  }
  *both = made;
  return true;
}
