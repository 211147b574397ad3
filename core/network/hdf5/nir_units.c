/* Neurons of a NIR graph: numbered breadth first from the inputs, named by node and element, every node a population. What can fail: more
 * neurons than the limit, memory. */
#include <stdio.h>

#include "core/network/hdf5/nir.h"
#include "core/network/names.h"

cm_status nir_number_units(nir_graph *g, const cm_import_limits *limits, cm_topology *made, cm_error *error)
{
  uint32_t *queue = NULL, head = 0, tail = 0;
  bool *seen = NULL;
  uint64_t neurons = 0;
  cm_status status = CM_NEW_ALL(g->memory, error, CM_ARRAY(queue, g->count), CM_ARRAY(seen, g->count),
                                CM_ARRAY(g->unit, g->count));
  for (uint32_t i = 0; i < g->count && status == CM_OK; i++)
    if (g->node[i].input)
      queue[tail++] = i, seen[i] = true;
  for (uint32_t rest = 0; status == CM_OK; rest++) { /* what no input reaches starts again at its first node */
    for (; head < tail; head++)
      for (uint32_t k = 0; k < g->node[queue[head]].next_count; k++)
        if (!seen[g->node[queue[head]].next[k]]) {
          seen[g->node[queue[head]].next[k]] = true;
          queue[tail++] = g->node[queue[head]].next[k];
        }
    while (rest < g->count && (seen[rest] || g->node[rest].kind != NIR_UNIT))
      rest++;
    if (rest >= g->count)
      break;
    seen[rest] = true;
    queue[tail++] = rest;
  }
  for (uint32_t i = 0; status == CM_OK && i < tail; i++) {
    nir_node *n = &g->node[queue[i]];
    if (n->kind != NIR_UNIT)
      continue;
    n->unit_first = (uint32_t)neurons;
    n->population = g->unit_count;
    g->unit[g->unit_count++] = queue[i];
    neurons += n->out.count;
    if (neurons > limits->vertices_max)
      status = cm_over_limit("neurons", neurons, limits->vertices_max, error);
  }
  CM_FREE(queue, seen);
  made->vertex_count = (uint32_t)neurons;
  made->size_total = neurons;
  return status;
}

/* "node[c,y,x]". */
static void element_name(const nir_node *n, uint64_t at, char *text, size_t size)
{
  uint64_t index[NIR_RANK_MAX] = {0};
  for (int i = n->out.rank; i-- > 0; at /= n->out.dim[i])
    index[i] = at % n->out.dim[i];
  int used = snprintf(text, size, "%s[", n->name);
  for (int i = 0; i < n->out.rank; i++)
    used += snprintf(text + used, size - (size_t)used, "%s%llu", i == 0 ? "" : ",", (unsigned long long)index[i]);
  (void)snprintf(text + used, size - (size_t)used, n->out.rank == 0 ? "0]" : "]");
}

cm_status nir_name_neurons(const nir_graph *g, cm_topology *made, cm_error *error)
{
  char name[NIR_NAME_MAX + NIR_RANK_MAX * 21 + 8];
  uint64_t room = 0, steps = 0;
  uint32_t vertex = 0;
  CM_TRY(CM_NEW_ALL(g->memory, error, CM_ARRAY(made->label_first, (size_t)made->vertex_count + 1),
                    CM_ARRAY(made->population_of, made->vertex_count), CM_ARRAY(made->population, g->unit_count)));
  made->population_count = g->unit_count;
  for (uint32_t p = 0; p < g->unit_count; p++) {
    const nir_node *n = &g->node[g->unit[p]];
    (void)snprintf(made->population[p].name, sizeof made->population[p].name, "%s", n->name);
    (void)snprintf(made->population[p].kind, sizeof made->population[p].kind, "%s", n->input ? CM_INPUT_KIND : n->type);
    for (uint64_t i = 0; i < n->out.count; i++) {
      CM_TRY_IF(cm_run_due(&steps, 1), cm_run_check(g->run, error));
      element_name(n, i, name, sizeof name);
      CM_TRY(cm_labels_add(made, g->memory, &room, vertex, name, error));
      made->population_of[vertex++] = p;
    }
  }
  return CM_OK;
}
