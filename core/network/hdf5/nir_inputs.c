/* Inputs of graphs that have none: what the first linear nodes take, as NIR's own from_list adds them. */
#include <stdio.h>
#include <string.h>

#include "core/network/hdf5/nir.h"
#include "core/network/import_limits.h"

static void mark_leading(nir_graph *g)
{
  for (uint32_t i = 0; i < g->count; i++)
    g->node[i].leads = g->node[i].kind == NIR_UNIT;
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t i = 0; i < g->count; i++)
      for (uint32_t k = 0; k < g->node[i].next_count && !g->node[i].leads; k++)
        moved = g->node[i].leads = g->node[g->node[i].next[k]].leads;
  }
}

static bool taken(const nir_graph *g, const char *name)
{
  for (uint32_t i = 0; i < g->count; i++)
    if (strcmp(g->node[i].name, name) == 0)
      return true;
  return false;
}

/* What a node takes, by its own numbers; no elements: they do not say it. */
static nir_shape takes(const nir_node *n)
{
  uint64_t inputs = n->kind == NIR_AFFINE ? n->weight_shape.dim[1] : 0;
  switch (n->kind) {
    case NIR_AFFINE: return (nir_shape){1, {inputs}, inputs};
    case NIR_SCALE: case NIR_DELAY: return n->weight_shape.rank > 0 ? n->weight_shape : (nir_shape){0};
    case NIR_CONV: case NIR_IDENTITY: return n->own;
    case NIR_POOL: case NIR_UNIT: break;
  }
  return (nir_shape){0};
}

static cm_status add_input(nir_graph *g, uint32_t node, cm_error *error)
{
  if (g->count >= NIR_NODES_MAX)
    return cm_over_limit("nodes", g->count + UINT64_C(1), NIR_NODES_MAX, error);
  CM_TRY(CM_ROOM(g->memory, g->node, &g->room, g->count + UINT64_C(1), error));
  const nir_node *fed = &g->node[node];
  const nir_shape own = takes(fed), *shape = own.count > 0 ? &own : &g->input_shape;
  g->input_used = g->input_used || own.count == 0;
  nir_node made = {.kind = NIR_UNIT,
                   .input = true,
                   .model = CM_NEURON_INPUT,
                   .leads = true,
                   .groups = 1,
                   .format = fed->format,
                   .place = fed->place,
                   .name = "input",
                   .type = "Input",
                   .own = *shape};
  for (unsigned i = 1; taken(g, made.name); i++)
    (void)snprintf(made.name, sizeof made.name, "input%u", i);
  CM_TRY(CM_NEW(g->memory, made.next, 1, error));
  made.next[made.next_count++] = node;
  g->node[g->count++] = made;
  return CM_OK;
}

static cm_status feed(nir_graph *g, uint32_t node, bool has_input, cm_error *error)
{
  const nir_node *n = &g->node[node];
  if (has_input)
    return nir_bad(n, "nothing comes into it, so the neurons behind it get no synapses: an edge to it is missing, or an Input",
                   error);
  if (takes(n).count == 0 && g->input_shape.count == 0)
    return nir_bad(n,
                   "nothing comes into it, and it does not say the shape of what should: say it with input_shape (2x34x34), or "
                   "add an input layer of that shape",
                   error);
  return add_input(g, node, error);
}

cm_status nir_add_inputs(nir_graph *g, cm_error *error)
{
  uint32_t count = g->count;
  bool *fed = NULL, has_input = false;
  CM_TRY(CM_NEW(g->memory, fed, count, error));
  mark_leading(g);
  for (uint32_t i = 0; i < count; i++) {
    has_input = has_input || g->node[i].input;
    for (uint32_t k = 0; k < g->node[i].next_count; k++)
      fed[g->node[i].next[k]] = true;
  }
  cm_status status = CM_OK;
  for (uint32_t i = 0; i < count && status == CM_OK; i++)
    if (!fed[i] && g->node[i].leads && g->node[i].kind != NIR_UNIT)
      status = feed(g, i, has_input, error);
  cm_free(fed);
  return status;
}
