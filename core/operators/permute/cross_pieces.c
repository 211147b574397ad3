/* Crossing operators that put tensors together or take parts of them: Concat, Split, Slice, Pad. */
#include <string.h>

#include "core/operators/permute/cross.h"

/* ---- Concat and Split ---- */

/* The part [first, first + length) of a map, when it maps that range onto itself. */
static bool part_of_map(cm_maps *maps, uint32_t map, int64_t first, int64_t length, uint32_t *part)
{
  uint32_t *to;
  *part = 0;
  if (map == 0)
    return true;
  if ((to = cm_maps_scratch(maps, (uint32_t)length)) == NULL)
    return false;
  for (int64_t i = 0; i < length; i++) {
    int64_t at = (int64_t)cm_map_at(maps, map, (uint32_t)(first + i)) - first;
    if (at < 0 || at >= length)
      return false;
    to[i] = (uint32_t)at;
  }
  *part = cm_maps_keep(maps, (uint32_t)length, to);
  return true;
}

/* A map of `total` entries that is `part` from `first` on and the identity elsewhere. */
static uint32_t map_of_part(cm_maps *maps, uint32_t part, int64_t first, int64_t length, int64_t total)
{
  uint32_t *to;
  if (part == 0 || (to = cm_maps_scratch(maps, (uint32_t)total)) == NULL)
    return 0;
  for (int64_t i = 0; i < total; i++)
    to[i] = (uint32_t)(i >= first && i < first + length ? first + cm_map_at(maps, part, (uint32_t)(i - first)) : i);
  return cm_maps_keep(maps, (uint32_t)total, to);
}

/* `whole`: the slot of all; `pieces`: the slots of its pieces along `axis`. Ties all to the one that is given. */
static bool cross_pieces(cm_crossing *c, uint32_t whole, uint32_t first_piece, uint32_t piece_count, uint32_t axis)
{
  cm_layout given = c->layout[c->from], all = given;
  const cm_value *y = cm_crossing_value(c, whole);
  int64_t at = 0;
  if (y == NULL || !cm_shape_known(&y->shape))
    return false;
  for (uint32_t i = 0; i < piece_count; i++) {
    const cm_value *x = cm_crossing_value(c, first_piece + i);
    if (x == NULL || !cm_shape_known(&x->shape))
      return false;
    if (c->from == first_piece + i)
      all.map[axis] = map_of_part(c->maps, given.map[axis], at, x->shape.dims[axis], y->shape.dims[axis]);
    at += x->shape.dims[axis];
  }
  if (!cm_crossing_tie(c, whole, &all))
    return false;
  at = 0;
  for (uint32_t i = 0; i < piece_count; i++) {
    const cm_value *x = cm_crossing_value(c, first_piece + i);
    cm_layout own = all;
    if (!part_of_map(c->maps, all.map[axis], at, x->shape.dims[axis], &own.map[axis]))
      return false;
    at += x->shape.dims[axis];
    if (!x->constant && !cm_crossing_tie(c, first_piece + i, &own))
      return false;
  }
  return true;
}

bool cm_cross_concat(cm_crossing *c)
{
  uint32_t axis = cm_crossing_axis(c, 1, c->layout[c->from].rank);
  return axis != CM_NONE && cross_pieces(c, c->input_count, 0, c->input_count, axis);
}

cm_status cm_rewrite_concat(cm_crossing *c, cm_error *error)
{
  cm_layout all = cm_crossing_layout(c, c->input_count);
  uint32_t axis = cm_crossing_axis(c, 1, all.rank);
  int64_t at = 0;
  for (uint32_t i = 0; i < c->input_count; i++) {
    const cm_value *x = cm_crossing_value(c, i);
    int64_t length = x->shape.dims[axis];
    cm_layout own = all;
    if (!part_of_map(c->maps, all.map[axis], at, length, &own.map[axis]))
      return cm_fail(error, CM_INTERNAL, "a Concat was crossed by a permutation that mixes its inputs");
    at += length;
    CM_TRY_IF(x->constant, cm_crossing_permute_constant(c, i, &own, error));
  }
  return cm_node_set_integer(c->model, &c->model->nodes[c->node], "axis", cm_layout_place(&all, axis), error);
}

bool cm_cross_split(cm_crossing *c)
{
  uint32_t axis = cm_crossing_axis(c, 0, c->layout[c->from].rank);
  return axis != CM_NONE && (c->from == 0 || c->from >= c->input_count) &&
         cross_pieces(c, 0, c->input_count, c->slot_count - c->input_count, axis);
}

cm_status cm_rewrite_split(cm_crossing *c, cm_error *error)
{
  cm_layout all = cm_crossing_layout(c, 0);
  return cm_node_set_integer(c->model, &c->model->nodes[c->node], "axis", cm_layout_place(&all, cm_crossing_axis(c, 0, all.rank)),
                             error);
}

/* ---- Slice ---- */

/* The axes that are sliced, in the order of starts; false: not known. */
static bool slice_axes(const cm_crossing *c, uint32_t rank, int64_t *axes, size_t *count)
{
  int64_t starts[2 * CM_RANK_MAX];
  size_t start_count;
  const cm_node *n = cm_crossing_node(c);
  if (!cm_crossing_integers(c, "axes", 3, axes, count))
    return false;
  if (*count == 0) {
    if (!cm_crossing_integers(c, "starts", 1, starts, &start_count))
      return false;
    for (*count = 0; *count < start_count; (*count)++)
      axes[*count] = (int64_t)*count;
  }
  for (size_t i = 0; i < *count; i++) {
    axes[i] = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axes[i] < 0 || axes[i] >= rank)
      return false;
  }
  return n->input_count > 0;
}

bool cm_cross_slice(cm_crossing *c)
{
  cm_layout given = c->layout[c->from];
  int64_t axes[2 * CM_RANK_MAX];
  size_t count;
  if ((c->from != 0 && c->from < c->input_count) || !slice_axes(c, given.rank, axes, &count))
    return false;
  for (size_t i = 0; i < count; i++)
    if (given.map[axes[i]] != 0)
      return false;
  return cm_crossing_tie(c, 0, &given) && cm_crossing_tie(c, c->input_count, &given);
}

cm_status cm_rewrite_slice(cm_crossing *c, cm_error *error)
{
  cm_layout l = cm_crossing_layout(c, 0);
  int64_t axes[2 * CM_RANK_MAX];
  size_t count;
  if (cm_layout_keeps_axes(&l) || !slice_axes(c, l.rank, axes, &count))
    return CM_OK;
  for (size_t i = 0; i < count; i++)
    axes[i] = cm_layout_place(&l, (uint32_t)axes[i]);
  return c->model->opset < 10 ? cm_node_set_integers(c->model, &c->model->nodes[c->node], "axes", axes, count, error)
                              : cm_crossing_set_integers(c, 3, axes, count, error);
}

/* ---- Pad ---- */

/* Pads before and after for all axes. */
static bool all_pads(const cm_crossing *c, uint32_t rank, int64_t *before, int64_t *after)
{
  int64_t pads[2 * CM_RANK_MAX], axes[2 * CM_RANK_MAX];
  size_t count, axis_count;
  bool named = cm_crossing_input(c, 3) != NULL;
  if (!cm_crossing_integers(c, "pads", 1, pads, &count) || !cm_crossing_integers(c, NULL, named ? 3 : CM_NONE, axes, &axis_count))
    return false;
  size_t n = named ? axis_count : rank;
  if (count != 2 * n)
    return false;
  memset(before, 0, rank * sizeof *before);
  memset(after, 0, rank * sizeof *after);
  for (size_t i = 0; i < n; i++) {
    int64_t axis = named ? (axes[i] < 0 ? axes[i] + rank : axes[i]) : (int64_t)i;
    if (axis < 0 || axis >= rank)
      return false;
    before[axis] = pads[i];
    after[axis] = pads[i + n];
  }
  return true;
}

bool cm_cross_pad(cm_crossing *c)
{
  cm_layout given = c->layout[c->from];
  int64_t before[CM_RANK_MAX], after[CM_RANK_MAX];
  if ((c->from != 0 && c->from < c->input_count) || !all_pads(c, given.rank, before, after))
    return false;
  for (uint32_t a = 0; a < given.rank; a++)
    if (given.map[a] != 0 && (before[a] != 0 || after[a] != 0))
      return false;
  return cm_crossing_tie(c, 0, &given) && cm_crossing_tie(c, c->input_count, &given);
}

cm_status cm_rewrite_pad(cm_crossing *c, cm_error *error)
{
  cm_layout l = cm_crossing_layout(c, 0);
  int64_t before[CM_RANK_MAX], after[CM_RANK_MAX], pads[2 * CM_RANK_MAX];
  if (cm_layout_keeps_axes(&l) || !all_pads(c, l.rank, before, after))
    return CM_OK;
  for (uint32_t k = 0; k < l.rank; k++) {
    pads[k] = before[l.perm[k]];
    pads[k + l.rank] = after[l.perm[k]];
  }
  if (cm_node_attribute(cm_crossing_node(c), "pads") != NULL)
    return cm_node_set_integers(c->model, &c->model->nodes[c->node], "pads", pads, (size_t)2 * l.rank, error);
  if (c->model->nodes[c->node].input_count > 3)
    c->model->nodes[c->node].input_count = 3; /* pads for all axes need no list of axes */
  return cm_crossing_set_integers(c, 1, pads, (size_t)2 * l.rank, error);
}
