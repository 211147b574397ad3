/* Broadcasting as it was before opset 7: one slope a channel, an axis for the second operand. What NumPy's rules, which hold
 * since, need is one Unsqueeze in front: dimensions of 1 behind those that are given. */
#include <string.h>

#include "core/operators/legacy.h"
#include "core/operators/operator.h"

enum { NUMPY_BROADCAST_OPSET = 7 };

/* Axis of the first input where the second one begins; false where today's rules say the same. */
static bool begins_at(const cm_model *m, const cm_node *n, uint32_t *axis)
{
  const cm_shape *a, *b;
  if (m->opset >= NUMPY_BROADCAST_OPSET || n->known == NULL || n->input_count != 2 || n->inputs[0] == CM_NONE ||
      n->inputs[1] == CM_NONE)
    return false;
  a = &m->values[n->inputs[0]].shape;
  b = &m->values[n->inputs[1]].shape;
  if (a->rank == CM_UNKNOWN_RANK || b->rank == CM_UNKNOWN_RANK || b->rank == 0 || b->rank >= a->rank)
    return false;
  bool slopes = n->known->variant == CM_VARIANT_PRELU;
  if (!slopes && (n->domain[0] != '\0' || cm_node_attribute(n, "axis") == NULL))
    return false;
  int64_t at = slopes ? 1 : cm_node_integer(n, "axis", -1);
  at += at < 0 ? a->rank : 0;
  if (at < 0 || at + b->rank >= a->rank || (slopes && (b->rank != 1 || b->dims[0] == 1)))
    return false;
  *axis = (uint32_t)at;
  return true;
}

cm_status cm_legacy_broadcast(cm_model *model, uint32_t node, uint32_t *added, cm_error *error)
{
  uint32_t axis, value, made, second = CM_NONE;
  int64_t axes[CM_RANK_MAX];
  size_t count = 0;
  *added = CM_NONE;
  if (!begins_at(model, &model->nodes[node], &axis))
    return CM_OK;
  second = model->nodes[node].inputs[1];
  uint32_t own = model->values[second].shape.rank, rank = model->values[model->nodes[node].inputs[0]].shape.rank - axis;
  for (uint32_t k = own; k < rank; k++)
    axes[count++] = k;
  CM_TRY(cm_model_add_named(model, "unsqueezed", &value, error));
  CM_TRY(cm_model_add_node(model, "Unsqueeze", &second, 1, &value, 1, &made, error));
  CM_TRY(cm_node_set_integers(model, &model->nodes[made], "axes", axes, count, error));
  cm_node *n = &model->nodes[node];
  n->inputs[1] = value;
  for (size_t i = 0; i < n->attribute_count; i++)
    if (strcmp(n->attributes[i].name, "axis") == 0)
      n->attributes[i--] = n->attributes[--n->attribute_count];
  *added = made;
  return CM_OK;
}
