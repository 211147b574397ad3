/* Cutting operators, by the table of their kinds (splits.def), and what a piece costs. */
#include "core/operators/tiling/split.h"

#include <string.h>

#include "core/operators/tiling/split_rules.h"

/* ---- kinds ---- */

typedef struct split_row {
  bool (*along)(const cm_call *call, uint32_t axis);
  void (*boxes)(const cm_call *call, const cm_box *out, cm_box *inputs); /* one of these, or none for what is never cut */
  cm_status (*changes)(const cm_call *call, const cm_box *out, cm_box *inputs, cm_split_change *change, cm_error *error);
  int64_t (*extent)(const cm_call *call, uint32_t axis, int64_t extent);
  const char *axes;
} split_row;

/* A row has all of its entries, or does not compile. */
#define NOTHING NULL, NULL
#define BOXES(rule) cm_split_boxes_##rule, NULL
#define CHANGES(rule) NULL, cm_split_changes_##rule
#define SPLIT(kind, along, reads, extent, axes) {cm_split_along_##along, reads, cm_split_extent_##extent, axes},
static const split_row table[] = {
#include "core/operators/splits.def"
};

static cm_split_kind kind_of(const cm_call *call)
{
  return call->node->known != NULL ? call->node->known->split : CM_SPLIT_WHOLE;
}

const char *cm_split_axes_text(cm_split_kind kind)
{
  return table[kind].axes;
}

bool cm_split_may_cut(const cm_call *call, uint32_t axis)
{
  return table[kind_of(call)].along(call, axis);
}

bool cm_split_is_matrix(const cm_call *call)
{
  const cm_operator *known = call->node->known;
  return known != NULL && (known->runs == CM_RUNS_MATRIX || (known->runs == CM_RUNS_PRODUCT && cm_einsum_is_product(call)));
}

bool cm_split_in_place(const cm_call *call)
{
  return call->node->known != NULL && call->node->known->runs == CM_RUNS_IN_PLACE;
}

uint32_t cm_split_normal(int64_t axis, uint32_t rank)
{
  axis += axis < 0 ? (int64_t)rank : 0;
  return axis >= 0 && axis < (int64_t)rank ? (uint32_t)axis : CM_NONE;
}

uint32_t cm_split_axis(const cm_call *call, int64_t otherwise, uint32_t rank)
{
  return cm_split_normal(cm_node_integer(call->node, "axis", otherwise), rank);
}

/* ---- where an operator may be cut ---- */

bool cm_split_outputs_alike(const cm_call *call)
{
  const cm_kernel_function kernel = call->node->known->kernel;
  const cm_shape *first = &call->output[0];
  for (uint32_t o = 1; o < call->output_count; o++) {
    const cm_shape *other = &call->output[o];
    if ((kernel != cm_kernel_top_k && kernel != cm_kernel_pool && kernel != cm_kernel_cell) || other->rank != first->rank ||
        memcmp(other->dims, first->dims, first->rank * sizeof *first->dims) != 0)
      return false;
  }
  return true;
}

uint32_t cm_split_axes(const cm_call *call, uint32_t *axes)
{
  uint32_t count = 0;
  /* Several outputs that differ (a recurrent operator's) are made at once. */
  if (call->output[0].rank == CM_UNKNOWN_RANK || !cm_split_outputs_alike(call))
    return 0;
  for (uint32_t i = 0; i < call->output[0].rank; i++)
    if (call->output[0].dims[i] == 0)
      return 0; /* nothing to cut */
  for (uint32_t i = 0; i < call->output[0].rank; i++)
    if (call->output[0].dims[i] > 1 && cm_split_may_cut(call, i))
      axes[count++] = i;
  return count;
}

int64_t cm_split_extent(const cm_call *call, uint32_t axis, int64_t extent)
{
  return table[kind_of(call)].extent(call, axis, extent < 1 ? 1 : extent);
}

int64_t cm_split_extent_any(const cm_call *call, uint32_t axis, int64_t extent)
{
  (void)call, (void)axis;
  return extent;
}

/* ---- pieces ---- */

cm_status cm_split_piece(const cm_call *call, const cm_box *output, cm_box *inputs, cm_split_change *change, cm_error *error)
{
  uint32_t axes[CM_RANK_MAX], count = cm_split_axes(call, axes);
  *change = (cm_split_change){.replaced = CM_NONE};
  for (uint32_t i = 0; i < call->input_count; i++)
    inputs[i] = cm_has(call, i) ? cm_box_whole(&call->input[i]) : (cm_box){0};
  bool whole = true;
  for (uint32_t i = 0; i < output->rank; i++) {
    bool cut = output->to[i] - output->from[i] != call->output[0].dims[i], allowed = false;
    for (uint32_t a = 0; a < count; a++)
      allowed = allowed || axes[a] == i;
    if (cut && !allowed)
      return cm_call_fail(call, error, "cannot be cut along axis %u", i);
    whole = whole && !cut;
  }
  const split_row *row = &table[kind_of(call)];
  if (whole)
    return CM_OK;
  if (row->changes != NULL)
    return row->changes(call, output, inputs, change, error);
  row->boxes(call, output, inputs);
  return CM_OK;
}

void cm_split_put_place(const cm_call *call, const cm_box *out, const cm_box *input, cm_split_change *change)
{
  const uint32_t rank = out->rank;
  change->placed = rank;
  for (uint32_t i = 0; i < rank; i++) {
    change->place[i] = call->input[0].dims[i];
    change->place[rank + i] = input->from[i];
    change->place[2 * rank + i] = out->from[i];
    change->place[3 * rank + i] = out->to[i] - out->from[i];
  }
}
