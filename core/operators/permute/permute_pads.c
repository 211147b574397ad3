/* Zeros that a Pad puts around an image become the pads of the window behind it: the larger image is never made. */
#include <string.h>

#include "base/json.h"
#include "core/operators/evaluate.h"
#include "core/operators/permute/permute.h"

/* Whether a Pad fills with zeros: an attribute before opset 11, then an input. */
static cm_status fills_with_zeros(cm_permute *p, const cm_node *n, bool *zeros, cm_error *error)
{
  const cm_attribute *value = cm_node_attribute(n, "value");
  const cm_tensor *tensor;
  *zeros = value == NULL || value->number == 0;
  if (p->model->opset < 11 || n->input_count < 3 || n->inputs[2] == CM_NONE)
    return CM_OK;
  *zeros = p->model->values[n->inputs[2]].constant;
  if (!*zeros)
    return CM_OK;
  CM_TRY(cm_constant_tensor(p->model, n->inputs[2], p->run, &tensor, error));
  *zeros = tensor->type == CM_FLOAT && tensor->count == 1 && ((const float *)tensor->data)[0] == 0;
  return CM_OK;
}

/* What a Pad puts before and behind every axis, of `pads` [2 * rank]; false: not with constant numbers of 0 and more, or beside the
 * image. */
static bool read_pads(cm_permute *p, uint32_t node, int64_t *pads)
{
  cm_model *m = p->model;
  cm_crossing c = {.model = m, .node = node};
  const cm_node *n = &m->nodes[node];
  const cm_shape *x = &m->values[n->inputs[0]].shape;
  size_t count;
  if (strcmp(cm_node_text(n, "mode", "constant"), "constant") != 0 || (n->input_count > 3 && n->inputs[3] != CM_NONE) || !cm_shape_known(x) ||
      x->type != CM_FLOAT || x->rank < 3 || !cm_crossing_integers(&c, "pads", 1, pads, &count) || count != 2 * (size_t)x->rank)
    return false;
  for (size_t i = 0; i < count; i++)
    if (pads[i] < 0 || (i % x->rank < 2 && pads[i] != 0))
      return false;
  return true;
}

/* The window's own pads and these; false: it is no window that can take them. */
static bool join(const cm_model *m, const cm_node *n, const int64_t *pads, uint32_t rank, int64_t *both)
{
  const uint32_t spatial = rank - 2;
  const bool pool = cm_node_is(n, cm_kernel_pool) && n->known->variant == CM_VARIANT_MEAN;
  const cm_attribute *own = cm_node_attribute(n, "pads"), *kernel = cm_node_attribute(n, "kernel_shape");
  bool outside = false;
  if ((!pool && !cm_node_is(n, cm_kernel_conv)) || strcmp(cm_node_text(n, "auto_pad", "NOTSET"), "NOTSET") != 0 ||
      (own != NULL && own->count != 2 * (size_t)spatial))
    return false;
  for (uint32_t i = 0; i < 2 * spatial; i++) {
    both[i] = (own != NULL ? own->integers[i] : 0) + pads[i < spatial ? i + 2 : i + 4];
    outside = outside || (own != NULL && own->integers[i] != 0);
    if (pool && (kernel == NULL || kernel->count != spatial || both[i] >= kernel->integers[i % spatial]))
      return false;
  }
  /* The zeros counted in every mean, and go on to. */
  return !pool || (m->opset >= 7 && cm_node_integer(n, "ceil_mode", 0) == 0 && (!outside || cm_node_integer(n, "count_include_pad", 0) != 0));
}

static uint32_t only_reader(const cm_model *m, uint32_t value)
{
  for (size_t i = 0; m->values[value].use_count == 1 && !cm_model_is_output(m, value) && i < m->node_count; i++)
    if (!m->nodes[i].removed && m->nodes[i].input_count > 0 && m->nodes[i].inputs[0] == value)
      return (uint32_t)i;
  return CM_NONE;
}

static cm_status join_one(cm_permute *p, uint32_t node, cm_error *error)
{
  cm_model *m = p->model;
  int64_t pads[2 * CM_RANK_MAX], both[2 * CM_RANK_MAX];
  uint32_t window = only_reader(m, m->nodes[node].outputs[0]);
  bool zeros;
  if (window == CM_NONE || !read_pads(p, node, pads))
    return CM_OK;
  const uint32_t rank = m->values[m->nodes[node].inputs[0]].shape.rank;
  if (!join(m, &m->nodes[window], pads, rank, both))
    return CM_OK;
  CM_TRY(fills_with_zeros(p, &m->nodes[node], &zeros, error));
  if (!zeros)
    return CM_OK;
  cm_node *w = &m->nodes[window];
  json_t *item = json_pack("{s:s, s:s, s:s, s:I}", "action", "absorb", "rule", "pads", "operator", w->op, "gain",
                           (json_int_t)cm_value_bytes(&m->values[m->nodes[node].outputs[0]]));
  CM_TRY(cm_json_append(p->moves, item, "the report of permutations", error));
  CM_TRY_IF(cm_node_is(w, cm_kernel_pool), cm_node_set_integer(m, w, "count_include_pad", 1, error));
  w->inputs[0] = m->nodes[node].inputs[0];
  m->nodes[node].removed = true;
  return cm_node_set_integers(m, w, "pads", both, 2 * (size_t)(rank - 2), error);
}

cm_status cm_permute_pads(cm_permute *p, cm_error *error)
{
  const size_t count = p->model->node_count;
  for (size_t i = 0; i < count; i++) {
    const cm_node *n = &p->model->nodes[i];
    if (!n->removed && cm_node_is(n, cm_kernel_pad) && n->inputs[0] != CM_NONE && !p->model->values[n->outputs[0]].constant &&
        join_one(p, (uint32_t)i, error) != CM_OK)
      return error->status;
  }
  return cm_model_sweep(p->model, error);
}
