/* Needs of a view are needs of what lies behind it. */

#include "core/machine/bound_cone.h"
#include "core/operators/operator.h"

static void need_joined(cm_bounding *b, const cm_node *node, const cm_needed *n)
{
  int64_t axis = cm_node_integer(node, "axis", 1), at = 0;
  axis += axis < 0 ? (int64_t)n->box[0].rank : 0;
  for (uint32_t i = 0; i < node->input_count; i++) {
    cm_box part[2];
    bool both = true;
    if (node->inputs[i] == CM_NONE)
      continue;
    cm_box whole = cm_box_whole(&b->plan->model->values[node->inputs[i]].shape);
    for (int c = 0; c < 2; c++) {
      cm_box shifted = n->box[c];
      shifted.from[axis] -= at;
      shifted.to[axis] -= at;
      both = cm_box_intersect(&whole, &shifted, &part[c]) && both;
    }
    at += whole.to[axis];
    /* What only one of the two elements needs is not needed of every one. */
    if (both)
      cm_bound_need(b, node->inputs[i], &part[0], &part[1]);
  }
}

static cm_status need_part(cm_bounding *b, const cm_node *node, uint32_t output, const cm_needed *n, cm_error *error)
{
  int64_t offset[CM_RANK_MAX];
  cm_box box[2] = {n->box[0], n->box[1]};
  CM_TRY(cm_plan_part_offset(b->plan, node, output, offset, error));
  for (int c = 0; c < 2; c++)
    for (uint32_t i = 0; i < box[c].rank; i++) {
      box[c].from[i] += offset[i];
      box[c].to[i] += offset[i];
    }
  cm_bound_need(b, node->inputs[0], &box[0], &box[1]);
  return CM_OK;
}

/* The one dimension of a group that has more than one element; CM_NONE when there are several. */
static uint32_t only_dim(const int64_t *dims, uint32_t from, uint32_t to)
{
  uint32_t only = from;
  for (uint32_t i = from; i < to; i++)
    if (dims[i] > 1) {
      if (dims[only] > 1)
        return CM_NONE;
      only = i;
    }
  return only;
}

/* A group of dims of which all is needed, or that one dim alone runs through on both sides, is followed; of others one element is
 * claimed: the first, or the last. */
static void need_group(const cm_shape *in, const cm_shape *out, const cm_dims_group *g, const cm_needed *n, cm_box source[2])
{
  bool whole = true;
  for (uint32_t i = g->b; i < g->b_end; i++)
    for (int c = 0; c < 2; c++)
      whole = whole && n->box[c].to[i] - n->box[c].from[i] == out->dims[i];
  const uint32_t to = g->a < g->a_end ? only_dim(in->dims, g->a, g->a_end) : CM_NONE,
                 from = g->b < g->b_end ? only_dim(out->dims, g->b, g->b_end) : CM_NONE;
  for (uint32_t i = g->a; !whole && i < g->a_end; i++)
    for (int c = 0; c < 2; c++) {
      source[c].from[i] = c == 0 || in->dims[i] == 0 ? 0 : in->dims[i] - 1;
      source[c].to[i] = source[c].from[i] + 1;
      if (i == to && from != CM_NONE) {
        source[c].from[i] = n->box[c].from[from];
        source[c].to[i] = n->box[c].to[from];
      }
    }
}

static void need_reshaped(cm_bounding *b, const cm_node *node, const cm_needed *n)
{
  const cm_shape *out = &b->plan->model->values[node->outputs[0]].shape, *in = &b->plan->model->values[node->inputs[0]].shape;
  cm_box source[2] = {cm_box_whole(in), cm_box_whole(in)};
  cm_dims_group g = {0};
  while (cm_plan_next_group(in, out, &g))
    need_group(in, out, &g, n, source);
  cm_bound_need(b, node->inputs[0], &source[0], &source[1]);
}

cm_status cm_bound_view(cm_bounding *b, const cm_node *node, uint32_t output, const cm_needed *n, cm_error *error)
{
  const cm_makes_kind makes = node->known->makes;
  if (makes == CM_MAKES_JOINED)
    need_joined(b, node, n);
  else if (node->input_count == 0 || node->inputs[0] == CM_NONE)
    return CM_OK;
  else if (makes == CM_MAKES_PART)
    return need_part(b, node, output, n, error);
  else if (makes == CM_MAKES_SAME)
    cm_bound_need(b, node->inputs[0], &n->box[0], &n->box[1]);
  else
    need_reshaped(b, node, n);
  return CM_OK;
}
