/* Blocks of an image put into channels by strided slices and a Concat: the patch merging of Swin transformers, the focus
 * layer of YOLO. What can fail: memory. */
#include <string.h>

#include "core/operators/permute/permute.h"

enum { PIECES_MAX = 256 };

/* One slice chain: element i of the piece along an axis is element start + i * step of the source. */
typedef struct strided {
  uint32_t source;
  int64_t start[CM_RANK_MAX], step[CM_RANK_MAX];
} strided;

/* Goes through one Slice of constant bounds towards its input; false when it is none. */
static bool through_slice(cm_model *m, uint32_t node, strided *s)
{
  int64_t starts[2 * CM_RANK_MAX], axes[2 * CM_RANK_MAX], steps[2 * CM_RANK_MAX];
  size_t count, axis_count, step_count;
  cm_crossing c = {.model = m, .node = node};
  const cm_node *n = &m->nodes[node];
  const cm_shape *x = &m->values[n->inputs[0]].shape;
  if (!cm_node_is(n, cm_kernel_slice) || !cm_shape_known(x) ||
      !cm_crossing_integers(&c, "starts", 1, starts, &count) || count == 0 || count > x->rank ||
      !cm_crossing_integers(&c, "axes", 3, axes, &axis_count) || (axis_count != 0 && axis_count != count) ||
      !cm_crossing_integers(&c, NULL, 4, steps, &step_count) || (step_count != 0 && step_count != count))
    return false;
  for (size_t i = 0; i < count; i++) {
    int64_t axis = axis_count == 0 ? (int64_t)i : axes[i] < 0 ? axes[i] + x->rank : axes[i],
            step = step_count == 0 ? 1 : steps[i];
    if (axis < 0 || axis >= x->rank || step < 1)
      return false;
    int64_t start = starts[i] < 0 ? starts[i] + x->dims[axis] : starts[i];
    if (start < 0 || start >= x->dims[axis])
      return false;
    s->start[axis] = start + step * s->start[axis];
    s->step[axis] *= step;
  }
  s->source = n->inputs[0];
  return true;
}

static bool read_piece(cm_model *m, uint32_t value, uint32_t rank, strided *s)
{
  *s = (strided){.source = value};
  for (uint32_t i = 0; i < rank; i++)
    s->step[i] = 1;
  for (;;) {
    uint32_t producer = m->values[s->source].producer;
    if (producer == CM_NONE || m->nodes[producer].removed || m->nodes[producer].input_count == 0 ||
        !through_slice(m, producer, s))
      return s->source != value;
  }
}

/* The digits of the pieces' number: along which axes of the source its blocks lie, the most significant first. */
typedef struct blocks {
  uint32_t source, count, axis[CM_RANK_MAX];
  int64_t weight[CM_RANK_MAX], size[CM_RANK_MAX];
} blocks;

static bool add_digit(const strided *pieces, uint32_t count, uint32_t axis, blocks *b)
{
  int64_t size = pieces[0].step[axis], weight = 0;
  for (uint32_t p = 0; p < count && weight == 0; p++)
    weight = pieces[p].start[axis] == 1 ? p : 0;
  for (uint32_t p = 0; p < count; p++)
    if (weight == 0 || pieces[p].start[axis] != p / weight % size)
      return false;
  uint32_t at = b->count++;
  for (; at > 0 && b->weight[at - 1] < weight; at--) {
    b->axis[at] = b->axis[at - 1];
    b->weight[at] = b->weight[at - 1];
    b->size[at] = b->size[at - 1];
  }
  b->axis[at] = axis;
  b->weight[at] = weight;
  b->size[at] = size;
  return true;
}

/* True when a Concat puts all blocks of one value side by side along an axis that is not cut itself. */
static bool read_blocks(cm_model *m, const cm_node *n, uint32_t axis, blocks *b)
{
  static const strided none;
  strided pieces[PIECES_MAX];
  const cm_shape *y = &m->values[n->outputs[0]].shape;
  int64_t all = 1;
  *b = (blocks){.source = CM_NONE};
  if (n->input_count < 2 || n->input_count > PIECES_MAX)
    return false;
  for (uint32_t p = 0; p < n->input_count; p++) {
    pieces[p] = none;
    if (n->inputs[p] == CM_NONE || m->values[n->inputs[p]].constant || !read_piece(m, n->inputs[p], y->rank, &pieces[p]) ||
        pieces[p].source != pieces[0].source || memcmp(pieces[p].step, pieces[0].step, sizeof pieces[0].step) != 0)
      return false;
  }
  b->source = pieces[0].source;
  const cm_shape *x = &m->values[b->source].shape;
  if (x->rank != y->rank || m->values[b->source].constant)
    return false;
  for (uint32_t a = 0; a < x->rank; a++) {
    int64_t step = pieces[0].step[a];
    bool cut = step > 1;
    if (x->dims[a] % step != 0 || (cut && a == axis) || y->dims[a] != x->dims[a] / step * (a == axis ? n->input_count : 1))
      return false;
    for (uint32_t p = 0; !cut && p < n->input_count; p++)
      if (pieces[p].start[a] != 0)
        return false;
    if (cut && !add_digit(pieces, n->input_count, a, b))
      return false;
    all *= step;
  }
  return all == n->input_count && b->count > 0 && x->rank + b->count <= CM_RANK_MAX;
}

static cm_status write_blocks(cm_permute *p, uint32_t node, uint32_t axis, const blocks *b, cm_error *error)
{
  cm_model *m = p->model;
  uint32_t output = m->nodes[node].outputs[0], place[CM_RANK_MAX], offset[CM_RANK_MAX] = {0}, perm[CM_RANK_MAX] = {0},
           rank = 0, next = 0, split, moved;
  const cm_shape x = m->values[b->source].shape, y = m->values[output].shape;
  int64_t sizes[CM_RANK_MAX] = {0}, moved_sizes[CM_RANK_MAX] = {0};
  for (uint32_t a = 0; a < x.rank; a++) {
    uint32_t digit = 0;
    while (digit < b->count && b->axis[digit] != a)
      digit++;
    place[a] = rank;
    sizes[rank++] = digit < b->count ? x.dims[a] / b->size[digit] : x.dims[a];
    if (digit < b->count) {
      offset[digit] = rank;
      sizes[rank++] = b->size[digit];
    }
  }
  for (uint32_t a = 0; a < x.rank; a++) {
    for (uint32_t d = 0; a == axis && d < b->count; d++)
      perm[next++] = offset[d];
    perm[next++] = place[a];
  }
  for (uint32_t i = 0; i < rank; i++)
    moved_sizes[i] = sizes[perm[i]];
  m->nodes[node].removed = true;
  CM_TRY(cm_permute_shaped(p, output, rank, sizes, &split, error));
  CM_TRY(cm_permute_shaped(p, output, rank, moved_sizes, &moved, error));
  CM_TRY(cm_permute_reshape(p, b->source, rank, sizes, split, error));
  CM_TRY(cm_permute_transpose(p, split, rank, perm, moved, error));
  return cm_permute_reshape(p, moved, y.rank, y.dims, output, error);
}

cm_status cm_permute_patches(cm_permute *p, cm_error *error)
{
  size_t count = p->model->order_count;
  for (size_t i = 0; i < count; i++) {
    uint32_t node = p->model->order[i];
    const cm_node *n = &p->model->nodes[node];
    blocks b;
    if (!cm_node_is(n, cm_kernel_concat) || n->output_count == 0 || !cm_shape_known(&p->model->values[n->outputs[0]].shape))
      continue;
    cm_crossing c = {.model = p->model, .node = node};
    uint32_t axis = cm_crossing_axis(&c, 1, p->model->values[n->outputs[0]].shape.rank);
    if (axis == CM_NONE || !read_blocks(p->model, n, axis, &b))
      continue;
    CM_TRY(write_blocks(p, node, axis, &b, error));
  }
  return cm_model_sweep(p->model, error);
}
