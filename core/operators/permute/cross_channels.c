/* Crossing operators over [N, C, spatial...]: convolutions, pools, and normalizations per channel. Spatial axes may be
 * exchanged (kernels, strides and pads with them); channels may be reordered where weights are reordered with them. */
#include <string.h>

#include "core/operators/permute/cross.h"
#include "core/operators/evaluate.h"

/* The first two axes stay in place, and nothing is reordered along the spatial ones. */
static bool keeps_channels(const cm_layout *l)
{
  bool kept = l->rank >= 2 && l->perm[0] == 0 && l->perm[1] == 1;
  for (uint32_t i = 2; i < l->rank; i++)
    kept = kept && l->map[i] == 0;
  return kept;
}

/* Lists per spatial axis (and per axis twice for pads) reordered as the axes are. */
static cm_status permute_lists(cm_crossing *c, const cm_layout *l, cm_error *error)
{
  static const char *const names[] = {"kernel_shape", "strides", "dilations", "pads"};
  uint32_t rank = l->rank - 2;
  int64_t list[2 * CM_RANK_MAX];
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const cm_attribute *a = cm_node_attribute(cm_crossing_node(c), names[i]);
    if (a == NULL || a->count == 0)
      continue;
    for (uint32_t k = 0; k < a->count && k < 2 * rank; k++)
      list[k] = a->integers[k / rank * rank + l->perm[k % rank + 2] - 2];
    CM_TRY(cm_node_set_integers(c->model, &c->model->nodes[c->node], names[i], list, a->count, error));
  }
  return CM_OK;
}

/* A layout with the axes and the batch map of another, and a channel map of its own. */
static cm_layout with_channels(const cm_layout *like, uint32_t map)
{
  cm_layout made = *like;
  made.map[1] = map;
  return made;
}

/* ---- Conv ---- */

/* The order of groups that a channel map makes, when it keeps each group's channels together. */
static bool group_order(cm_maps *maps, uint32_t map, uint32_t groups, uint32_t each, uint32_t *order)
{
  uint32_t *to;
  *order = 0;
  if (map == 0 || groups == 1)
    return true;
  if ((to = cm_maps_scratch(maps, groups)) == NULL)
    return false;
  for (uint32_t g = 0; g < groups; g++) {
    to[g] = cm_map_at(maps, map, g * each) / each;
    for (uint32_t i = 1; i < each; i++)
      if (cm_map_at(maps, map, g * each + i) / each != to[g])
        return false;
  }
  *order = cm_maps_keep(maps, groups, to);
  return true;
}

/* The channel map that orders groups so and keeps the channels of each. */
static uint32_t channels_of_groups(cm_maps *maps, uint32_t order, uint32_t groups, uint32_t each)
{
  uint32_t *to;
  if (order == 0 || (to = cm_maps_scratch(maps, groups * each)) == NULL)
    return 0;
  for (uint32_t j = 0; j < groups * each; j++)
    to[j] = cm_map_at(maps, order, j / each) * each + j % each;
  return cm_maps_keep(maps, groups * each, to);
}

bool cm_cross_conv(cm_crossing *c)
{
  cm_layout given = c->layout[c->from];
  uint32_t out = c->input_count, order;
  const cm_value *w = cm_crossing_value(c, 1), *b = cm_crossing_input(c, 2), *x = cm_crossing_value(c, 0),
                 *y = cm_crossing_value(c, out);
  int64_t groups = cm_node_integer(cm_crossing_node(c), "group", 1);
  if ((c->from != 0 && c->from != out) || !keeps_channels(&given) || !w->constant || (b != NULL && !b->constant) ||
      y == NULL || !cm_shape_known(&x->shape) || !cm_shape_known(&y->shape) || groups < 1 || groups > UINT32_MAX)
    return false;
  uint32_t g = (uint32_t)groups, in_each = (uint32_t)(x->shape.dims[1] / groups),
           out_each = (uint32_t)(y->shape.dims[1] / groups);
  if (!group_order(c->maps, given.map[1], g, c->from == 0 ? in_each : out_each, &order))
    return false;
  cm_layout other = with_channels(&given, channels_of_groups(c->maps, order, g, c->from == 0 ? out_each : in_each));
  c->independent = order == 0 && cm_layout_is_identity(&other);
  return cm_crossing_tie(c, c->from == 0 ? out : 0, &other);
}

/* weights'[f][i][cell'] = weights[f of the stored order][i of the group's stored order][cell]. */
static cm_status permute_weights(cm_crossing *c, uint32_t in_map, uint32_t out_map, const cm_layout *spatial, cm_error *error)
{
  const cm_tensor *w;
  cm_tensor *made;
  uint32_t value = cm_crossing_node(c)->inputs[1], fresh;
  int64_t dims[CM_RANK_MAX], strides[CM_RANK_MAX], index[CM_RANK_MAX] = {0},
      groups = cm_node_integer(cm_crossing_node(c), "group", 1);
  CM_TRY(cm_constant_tensor(c->model, value, c->run, &w, error));
  cm_layout_dims(spatial, w->dims, dims);
  cm_strides(w->rank, w->dims, strides);
  CM_TRY(cm_tensor_new(c->model->arena.memory, w->type, w->rank, dims, &made, error));
  size_t width = cm_type_bytes(w->type);
  uint32_t filters = (uint32_t)(w->dims[0] / groups), channels = (uint32_t)w->dims[1];
  for (uint64_t k = 0; k < made->count; k++) {
    uint32_t stored_group = (uint32_t)index[0] / filters;
    int64_t at = (int64_t)cm_map_at(c->maps, out_map, (uint32_t)index[0]) * strides[0] +
                 (int64_t)(cm_map_at(c->maps, in_map, stored_group * channels + (uint32_t)index[1]) % channels) * strides[1];
    for (uint32_t i = 2; i < w->rank; i++)
      at += index[i] * strides[spatial->perm[i]];
    memcpy((uint8_t *)made->data + k * width, (const uint8_t *)w->data + (size_t)at * width, width);
    (void)cm_next_index(made->rank, dims, index);
  }
  cm_status status = CM_OK;
  if (!cm_tensor_equal(w, made)) {
    status = cm_model_add_constant(c->model, c->model->values[value].name, made, &fresh, error);
    if (status == CM_OK)
      c->model->nodes[c->node].inputs[1] = fresh;
  }
  cm_tensor_free(made);
  return status;
}

cm_status cm_rewrite_conv(cm_crossing *c, cm_error *error)
{
  cm_layout in = cm_crossing_layout(c, 0), out = cm_crossing_layout(c, c->input_count), spatial = out;
  memset(spatial.map, 0, sizeof spatial.map);
  CM_TRY(permute_weights(c, in.map[1], out.map[1], &spatial, error));
  if (cm_crossing_input(c, 2) != NULL) {
    cm_layout along = cm_layout_identity(1);
    along.map[0] = out.map[1];
    CM_TRY(cm_crossing_permute_constant(c, 2, &along, error));
  }
  return permute_lists(c, &spatial, error);
}

/* With an addend it would have to go along; without, the activation is elementwise. */
bool cm_cross_fused_conv(cm_crossing *c)
{
  return cm_crossing_input(c, 3) == NULL && cm_cross_conv(c);
}

cm_status cm_rewrite_fused_conv(cm_crossing *c, cm_error *error)
{
  return cm_rewrite_conv(c, error);
}

/* ---- ConvTranspose: only the channels of ungrouped ones ---- */

bool cm_cross_conv_transpose(cm_crossing *c)
{
  cm_layout given = c->layout[c->from];
  uint32_t out = c->input_count;
  const cm_value *w = cm_crossing_value(c, 1), *b = cm_crossing_input(c, 2);
  if ((c->from != 0 && c->from != out) || !keeps_channels(&given) || !cm_layout_keeps_axes(&given) || !w->constant ||
      (b != NULL && !b->constant) || cm_node_integer(cm_crossing_node(c), "group", 1) != 1)
    return false;
  cm_layout other = with_channels(&given, 0);
  c->independent = cm_layout_is_identity(&other);
  return cm_crossing_tie(c, c->from == 0 ? out : 0, &other);
}

cm_status cm_rewrite_conv_transpose(cm_crossing *c, cm_error *error)
{
  cm_layout in = cm_crossing_layout(c, 0), out = cm_crossing_layout(c, c->input_count), along = cm_layout_identity(1),
            weights = cm_layout_identity(in.rank);
  weights.map[0] = in.map[1];
  weights.map[1] = along.map[0] = out.map[1];
  CM_TRY(cm_crossing_permute_constant(c, 1, &weights, error));
  return cm_crossing_input(c, 2) != NULL ? cm_crossing_permute_constant(c, 2, &along, error) : CM_OK;
}

/* ---- pools ---- */

bool cm_cross_pool(cm_crossing *c)
{
  cm_layout given = c->layout[c->from];
  /* MaxPool's indices count elements of the input as it was. */
  if (!keeps_channels(&given) || (c->slot_count > 2 && cm_crossing_value(c, 2) != NULL))
    return false;
  return cm_crossing_tie(c, 0, &given) && cm_crossing_tie(c, 1, &given);
}

cm_status cm_rewrite_pool(cm_crossing *c, cm_error *error)
{
  cm_layout out = cm_crossing_layout(c, 1);
  return permute_lists(c, &out, error);
}

bool cm_cross_global_pool(cm_crossing *c)
{
  cm_layout given = c->layout[c->from], small = given;
  if (given.rank < 2 || given.perm[0] != 0 || given.perm[1] != 1)
    return false;
  memset(small.map + 2, 0, (CM_RANK_MAX - 2) * sizeof *small.map);
  c->independent = c->from == 0 && cm_layout_is_identity(&small);
  return cm_crossing_tie(c, c->from == 0 ? 1 : 0, &small);
}

/* ---- BatchNormalization and InstanceNormalization ---- */

bool cm_cross_channel_norm(cm_crossing *c)
{
  cm_layout given = c->layout[c->from];
  bool batch = cm_node_is(cm_crossing_node(c), cm_kernel_batch_norm);
  uint32_t out = c->input_count;
  if ((c->from != 0 && c->from != out) || given.rank < 2 || given.perm[1] != 1 || (!batch && given.perm[0] != 0))
    return false;
  for (uint32_t s = out + 1; s < c->slot_count; s++)
    if (cm_crossing_value(c, s) != NULL)
      return false;
  for (uint32_t i = 1; i < c->input_count; i++)
    if (given.map[1] != 0 && !cm_crossing_value(c, i)->constant)
      return false;
  return cm_crossing_tie(c, 0, &given) && cm_crossing_tie(c, out, &given);
}

cm_status cm_rewrite_channel_norm(cm_crossing *c, cm_error *error)
{
  cm_layout along = cm_layout_identity(1);
  along.map[0] = cm_crossing_layout(c, 0).map[1];
  for (uint32_t i = 1; i < c->input_count; i++)
    CM_TRY(cm_crossing_permute_constant(c, i, &along, error));
  return CM_OK;
}

bool cm_cross_lrn(cm_crossing *c)
{
  cm_layout given = c->layout[c->from];
  if (given.rank < 2 || given.perm[1] != 1 || given.map[1] != 0)
    return false;
  return cm_crossing_tie(c, 0, &given) && cm_crossing_tie(c, 1, &given);
}
