/* Which permutation a node is: a Transpose, or an index operator whose indices make one; and how many bytes it moves. */
#include "core/operators/permute/permute.h"

/* A list of indices along one axis of one value, built piece by piece. */
typedef struct index_list {
  uint32_t source, axis, count, length; /* length: of the source's axis */
  uint32_t *index;
} index_list;

uint64_t cm_value_bytes(const cm_value *v)
{
  uint64_t bytes = cm_type_bytes(v->shape.type);
  if (v->shape.rank == CM_UNKNOWN_RANK)
    return 0;
  for (uint32_t i = 0; i < v->shape.rank; i++)
    bytes *= v->shape.dims[i] < 0 ? 1 : (uint64_t)v->shape.dims[i];
  return bytes;
}

/* The layout of a Transpose; false when its input's rank is not known. */
static bool transpose_layout(const cm_model *m, const cm_node *n, cm_layout *l)
{
  const cm_shape *x = &m->values[n->inputs[0]].shape;
  const cm_attribute *a = cm_node_attribute(n, "perm");
  if (x->rank == CM_UNKNOWN_RANK || (a != NULL && a->count != x->rank))
    return false;
  *l = cm_layout_identity(x->rank);
  for (uint32_t i = 0; i < x->rank; i++)
    l->perm[i] = a != NULL ? (uint32_t)(a->integers[i] < 0 ? a->integers[i] + x->rank : a->integers[i]) : x->rank - 1 - i;
  return true;
}

static bool append(index_list *l, int64_t first, int64_t step, int64_t count)
{
  for (int64_t i = 0; i < count; i++, first += step) {
    if (l->count == l->length || first < 0 || first >= l->length)
      return false;
    l->index[l->count++] = (uint32_t)first;
  }
  return true;
}

/* Gather along the axis by a constant list. */
static bool append_gather(const cm_model *m, const cm_node *n, index_list *l)
{
  const cm_tensor *k = m->values[n->inputs[1]].tensor;
  int64_t axis = cm_node_integer(n, "axis", 0);
  if (k == NULL || k->rank != 1 || (axis < 0 ? axis + m->values[l->source].shape.rank : axis) != l->axis)
    return false;
  for (uint64_t i = 0; i < k->count; i++) {
    int64_t index = cm_tensor_integer(k, i);
    if (!append(l, index < 0 ? index + l->length : index, 1, 1))
      return false;
  }
  return true;
}

static bool append_split(const cm_model *m, const cm_node *n, uint32_t value, index_list *l)
{
  int64_t axis = cm_node_integer(n, "axis", 0), at = 0;
  if ((axis < 0 ? axis + m->values[l->source].shape.rank : axis) != l->axis)
    return false;
  for (uint32_t o = 0; o < n->output_count; o++) {
    const cm_value *v = &m->values[n->outputs[o]];
    if (!cm_shape_known(&v->shape))
      return false;
    if (n->outputs[o] == value)
      return append(l, at, 1, v->shape.dims[l->axis]);
    at += v->shape.dims[l->axis];
  }
  return false;
}

/* One slice along the axis alone, with constant bounds. */
static bool append_slice(cm_model *m, uint32_t node, uint32_t value, index_list *l)
{
  int64_t starts[2 * CM_RANK_MAX], axes[2 * CM_RANK_MAX], steps[2 * CM_RANK_MAX];
  size_t count, axis_count, step_count;
  cm_crossing c = {.model = m, .node = node};
  const cm_value *y = &m->values[value];
  uint32_t rank = m->values[l->source].shape.rank;
  if (!cm_crossing_integers(&c, "starts", 1, starts, &count) || count != 1 ||
      !cm_crossing_integers(&c, "axes", 3, axes, &axis_count) ||
      !cm_crossing_integers(&c, NULL, 4, steps, &step_count) || !cm_shape_known(&y->shape))
    return false;
  int64_t axis = axis_count == 0 ? 0 : axes[0] < 0 ? axes[0] + rank : axes[0], step = step_count == 0 ? 1 : steps[0],
          start = starts[0] < 0 ? starts[0] + l->length : starts[0];
  if (step < 0 && start >= l->length)
    start = l->length - 1;
  return axis == l->axis && append(l, start, step, y->shape.dims[axis]);
}

static bool is_piece(const cm_node *n)
{
  return cm_node_is(n, cm_kernel_slice) || cm_node_is(n, cm_kernel_split) || cm_node_is(n, cm_kernel_gather);
}

/* The list behind a Concat of pieces, or behind one Gather; the list's array has room for the axis. */
static bool read_indices(cm_model *m, uint32_t node, index_list *l)
{
  const cm_node *n = &m->nodes[node];
  if (cm_node_is(n, cm_kernel_gather))
    return append_gather(m, n, l);
  for (uint32_t i = 0; i < n->input_count; i++) {
    uint32_t value = n->inputs[i], producer = value != CM_NONE ? m->values[value].producer : CM_NONE;
    const cm_node *piece = producer != CM_NONE ? &m->nodes[producer] : NULL;
    if (piece == NULL || !is_piece(piece) || piece->inputs[0] != l->source)
      return false;
    if (!(cm_node_is(piece, cm_kernel_gather)  ? append_gather(m, piece, l)
          : cm_node_is(piece, cm_kernel_split) ? append_split(m, piece, value, l)
                                  : append_slice(m, producer, value, l)))
      return false;
  }
  return true;
}

/* The intra-dimension permutation that a Gather or a Concat of pieces is; false when it is none. */
static bool indexed_layout(cm_model *m, cm_maps *maps, uint32_t node, uint32_t *source, cm_layout *layout)
{
  const cm_node *n = &m->nodes[node];
  uint32_t first = n->input_count > 0 ? n->inputs[0] : CM_NONE;
  cm_error error;
  if (first == CM_NONE || (!cm_node_is(n, cm_kernel_gather) && !cm_node_is(n, cm_kernel_concat)))
    return false;
  index_list l = {.source = first};
  if (cm_node_is(n, cm_kernel_concat)) {
    uint32_t producer = m->values[first].producer;
    if (producer == CM_NONE || !is_piece(&m->nodes[producer]))
      return false;
    l.source = m->nodes[producer].inputs[0];
  }
  const cm_value *x = &m->values[l.source];
  int64_t axis = cm_node_integer(n, "axis", cm_node_is(n, cm_kernel_gather) ? 0 : 1);
  if (!cm_shape_known(&x->shape) || x->constant)
    return false;
  axis = axis < 0 ? axis + x->shape.rank : axis;
  if (axis < 0 || axis >= x->shape.rank || x->shape.dims[axis] > (1 << 24))
    return false;
  l.axis = (uint32_t)axis;
  l.length = (uint32_t)x->shape.dims[axis];
  if (CM_NEW(m->arena.memory, l.index, 2 * (size_t)l.length + 1, &error) != CM_OK)
    return false;
  bool found = read_indices(m, node, &l) && l.count == l.length;
  for (uint32_t i = 0; i < l.count && found; i++) {
    found = l.index[l.length + l.index[i]] == 0;
    l.index[l.length + l.index[i]] = 1;
  }
  if (found) {
    *source = l.source;
    *layout = cm_layout_identity(x->shape.rank);
    layout->map[l.axis] = maps != NULL ? cm_maps_intern(maps, l.length, l.index) : 1;
    bool plain = true;
    for (uint32_t i = 0; i < l.length; i++)
      plain = plain && l.index[i] == i;
    if (plain)
      layout->map[l.axis] = 0;
  }
  cm_free(l.index);
  return found;
}

uint64_t cm_node_permutation_bytes(const cm_model *model, uint32_t node)
{
  const cm_node *n = &model->nodes[node];
  cm_layout l;
  uint32_t source;
  if (n->removed || n->known == NULL || model->values[n->outputs[0]].constant)
    return 0;
  const cm_value *y = &model->values[n->outputs[0]];
  if (cm_node_is(n, cm_kernel_transpose))
    return transpose_layout(model, n, &l) && cm_layout_moves(&l, model->values[n->inputs[0]].shape.dims) ? cm_value_bytes(y) : 0;
  /* Reading the indices changes nothing: the model is not const only because crossings rewrite. */
  if (!indexed_layout((cm_model *)(uintptr_t)model, NULL, node, &source, &l))
    return 0;
  uint64_t bytes = cm_value_bytes(y);
  if (cm_node_is(n, cm_kernel_gather))
    return cm_layout_is_identity(&l) ? 0 : bytes;
  for (uint32_t i = 0; i < n->input_count; i++)
    bytes += model->values[n->inputs[i]].use_count == 1 ? cm_value_bytes(&model->values[n->inputs[i]]) : 0;
  return bytes;
}

bool cm_permutation_of(cm_permute *p, uint32_t node, uint32_t *source, cm_layout *layout)
{
  const cm_node *n = &p->model->nodes[node];
  if (!cm_node_is(n, cm_kernel_transpose))
    return indexed_layout(p->model, p->maps, node, source, layout);
  *source = n->inputs[0];
  return transpose_layout(p->model, n, layout);
}
