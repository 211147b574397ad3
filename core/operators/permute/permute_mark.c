/* Marks: nodes that are permutations become ones with layouts. */
#include "base/json.h"
#include "core/operators/permute/permute.h"

cm_status cm_permute_add(cm_permute *p, uint32_t input, const cm_layout *layout, uint32_t output, cm_error *error)
{
  cm_layout *copy;
  uint32_t node;
  CM_TRY(CM_ARENA_NEW(&p->model->arena, copy, 1, error));
  CM_TRY(cm_model_add_node(p->model, "Transpose", &input, 1, &output, 1, &node, error));
  *copy = *layout;
  p->model->nodes[node].layout = copy;
  p->model->nodes[node].known = NULL;
  cm_value *from = &p->model->values[input], *to = &p->model->values[output];
  to->shape = from->shape;
  cm_layout_dims(layout, from->shape.dims, to->shape.dims);
  return CM_OK;
}

static cm_status note_mark(cm_permute *p, const cm_node *n, const cm_layout *l, const cm_value *x, uint64_t bytes,
                           cm_error *error)
{
  json_t *item = json_pack("{s:s, s:s, s:s, s:o, s:I}", "action", "mark", "node", n->name, "operator", n->op,
                           "permutation", cm_layout_json(p->maps, l, x->shape.dims), "bytes", (json_int_t)bytes);
  return cm_json_append(p->moves, item, "the report of permutations", error);
}

cm_status cm_permute_mark(cm_permute *p, cm_error *error)
{
  cm_model *m = p->model;
  CM_TRY(cm_permute_pads(p, error));
  CM_TRY(cm_permute_patches(p, error));
  for (size_t i = 0; i < m->order_count; i++) {
    uint32_t node = m->order[i], source;
    cm_node *n = &m->nodes[node];
    cm_layout l;
    if (n->known == NULL || m->values[n->outputs[0]].constant)
      continue;
    if (!cm_permutation_of(p, node, &source, &l))
      continue;
    uint32_t output = n->outputs[0];
    CM_TRY(note_mark(p, n, &l, &m->values[source], cm_node_permutation_bytes(m, node), error));
    n->removed = true;
    CM_TRY(cm_permute_add(p, source, &l, output, error));
  }
  if (p->maps->error.status != CM_OK) {
    *error = p->maps->error;
    return error->status;
  }
  return cm_permute_normalise(p, error);
}
