/* What a model copies: permutations, and all other operators that only move elements. */

#include "core/operators/permute/permute.h"
#include "core/operators/permute/permutations.h"

/* Reshape and its likes copy nothing. */
static bool is_move(const cm_node *n)
{
  return n->known->makes == CM_MAKES_JOINED || n->known->makes == CM_MAKES_PART || n->known->makes == CM_MAKES_MOVED;
}

uint64_t cm_node_copy_bytes(const cm_model *model, uint32_t node)
{
  const cm_node *n = &model->nodes[node];
  uint64_t bytes = 0;
  if (n->removed || n->known == NULL)
    return 0;
  if (!is_move(n))
    return cm_node_permutation_bytes(model, node);
  for (uint32_t o = 0; o < n->output_count; o++)
    if (model->values[n->outputs[o]].use_count > 0 && !model->values[n->outputs[o]].constant)
      bytes += cm_value_bytes(&model->values[n->outputs[o]]);
  return bytes;
}

uint64_t cm_copy_bytes(const cm_model *model)
{
  uint64_t total = 0;
  for (size_t i = 0; i < model->order_count; i++)
    total += cm_node_copy_bytes(model, model->order[i]);
  return total;
}
