/* What is needed of values. */
#include "core/machine/bound_cone.h"

uint64_t cm_bound_least_count(const cm_box *a, const cm_box *b)
{
  uint64_t count = 1;
  for (uint32_t i = 0; i < a->rank; i++) {
    int64_t x = a->to[i] - a->from[i], y = b->to[i] - b->from[i], less = x < y ? x : y;
    count *= less > 0 ? (uint64_t)less : 0;
  }
  return count;
}

/* The box that two boxes are together; false when they are none. */
static bool join(const cm_box *a, const cm_box *b, cm_box *both)
{
  uint32_t differ = CM_NONE;
  for (uint32_t i = 0; i < a->rank; i++)
    if (a->from[i] != b->from[i] || a->to[i] != b->to[i]) {
      if (differ != CM_NONE)
        return false;
      differ = i;
    }
  *both = *a;
  if (differ == CM_NONE)
    return true;
  both->from[differ] = a->from[differ] < b->from[differ] ? a->from[differ] : b->from[differ];
  both->to[differ] = a->to[differ] > b->to[differ] ? a->to[differ] : b->to[differ];
  return a->from[differ] <= b->to[differ] && b->from[differ] <= a->to[differ];
}

void cm_bound_need_count(cm_bounding *b, uint32_t value, const cm_box *first, const cm_box *last, uint64_t count)
{
  cm_needed *n = &b->value[value];
  cm_box both;
  if (count == 0)
    return;
  if (n->stamp != b->stamp)
    b->met[b->met_count++] = value;
  else if (cm_box_equal(first, last) && cm_box_equal(&n->box[0], &n->box[1]) && join(first, &n->box[0], &both)) {
    const uint64_t all = cm_box_count(&both);
    *n = (cm_needed){b->stamp, {both, both}, all > n->count ? all : n->count};
    return;
  } else if (n->count >= count)
    return;
  *n = (cm_needed){b->stamp, {*first, *last}, count};
}

cm_box cm_bound_corner(const cm_shape *shape, bool last)
{
  cm_box box = cm_box_whole(shape);
  for (uint32_t i = 0; i < box.rank; i++)
    if (box.to[i] > 1)
      *(last ? &box.from[i] : &box.to[i]) = last ? box.to[i] - 1 : 1;
  return box;
}

void cm_bound_need_corners(cm_bounding *b, uint32_t value)
{
  const cm_shape *shape = &b->plan->model->values[value].shape;
  const cm_box first = cm_bound_corner(shape, false), last = cm_bound_corner(shape, true);
  cm_bound_begin_needs(b);
  cm_bound_need(b, value, &first, &last);
}

void cm_bound_begin_needs(cm_bounding *b)
{
  b->stamp++;
  b->met_count = 0;
}

void cm_bound_need(cm_bounding *b, uint32_t value, const cm_box *first, const cm_box *last)
{
  cm_bound_need_count(b, value, first, last, cm_bound_least_count(first, last));
}
