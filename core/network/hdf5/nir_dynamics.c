/* What makes a NIR graph run: parameters of its neurons, and biases, which flow through the linear nodes like what comes in.
 *
 * Happy path: parameters are read with their nodes; once shapes are known, biases are added up at the neurons, and every parameter is
 * laid out neuron by neuron. What can fail: parameters of another shape. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/network/hdf5/nir.h"

/* ---- biases ---- */

typedef struct flow {
  nir_graph *graph;
  float **in;         /* [nodes] what flows into each input element of a node; NULL: nothing */
  const nir_node *from;
  float value;
  const bool *only;   /* [nodes] whose biases flow; NULL: all */
} flow;

static cm_status pass_on(void *user, uint64_t output, double weight, double delay_ms, cm_error *error)
{
  flow *f = user;
  (void)delay_ms; /* what flows always flows behind a delay too */
  for (uint32_t k = 0; k < f->from->next_count; k++) {
    const uint32_t to = f->from->next[k];
    const nir_node *n = &f->graph->node[to];
    if (!n->leads || n->in.count == 0)
      continue;
    CM_TRY_IF(f->in[to] == NULL, CM_NEW(f->graph->memory, f->in[to], n->in.count, error));
    f->in[to][output] += f->value * (float)weight;
  }
  return CM_OK;
}

/* What comes in goes through node `i`, and its own bias behind that. */
static cm_status flow_through(flow *f, uint32_t i, cm_error *error)
{
  const nir_node *n = f->from = &f->graph->node[i];
  const nir_numbers *bias = &n->parameter[CM_PARAMETER_BIAS];
  const uint64_t each = n->kind == NIR_CONV ? n->out.count / n->out.dim[0] : 1; /* Affine: of the last axis, one each */
  for (uint64_t k = 0; f->in[i] != NULL && k < n->in.count; k++) {
    f->value = f->in[i][k];
    CM_TRY_IF(f->value != 0, nir_taps(n, k, pass_on, f, error));
  }
  const bool flows = bias->value != NULL && (f->only == NULL || f->only[i]);
  for (uint64_t o = 0; flows && o < n->out.count; o++) {
    f->value = bias->value[o / each % bias->shape.count];
    CM_TRY_IF(f->value != 0, pass_on(f, o, 1, 0, error));
  }
  cm_free(f->in[i]);
  f->in[i] = NULL;
  return cm_run_check(f->graph->run, error);
}

static bool linear(const nir_node *n)
{
  return n->kind != NIR_UNIT && n->leads && n->out.count > 0;
}

/* Linear nodes, each after those that feed it; what arrives at neurons stays. */
static cm_status flow_biases(flow *f, cm_error *error)
{
  nir_graph *g = f->graph;
  uint32_t *feeds = NULL, *ready = NULL, count = 0;
  cm_status status = CM_NEW_ALL(g->memory, error, CM_ARRAY(feeds, g->count), CM_ARRAY(ready, g->count));
  for (uint32_t i = 0; status == CM_OK && i < g->count; i++)
    for (uint32_t k = 0; linear(&g->node[i]) && k < g->node[i].next_count; k++)
      feeds[g->node[i].next[k]]++;
  for (uint32_t i = 0; status == CM_OK && i < g->count; i++)
    if (linear(&g->node[i]) && feeds[i] == 0)
      ready[count++] = i;
  for (uint32_t i = 0; status == CM_OK && i < count; i++) {
    const nir_node *n = &g->node[ready[i]];
    status = flow_through(f, ready[i], error);
    for (uint32_t k = 0; k < n->next_count; k++)
      if (--feeds[n->next[k]] == 0 && linear(&g->node[n->next[k]]))
        ready[count++] = n->next[k];
  }
  CM_FREE(feeds, ready);
  return status;
}

/* Whether what a node gives comes back to it. */
static cm_status find_loops(const nir_graph *g, bool *loops, cm_error *error)
{
  uint32_t *path = NULL, *seen = NULL;
  cm_status status = CM_NEW_ALL(g->memory, error, CM_ARRAY(path, g->count), CM_ARRAY(seen, g->count));
  for (uint32_t i = 0; status == CM_OK && i < g->count; i++) {
    uint32_t depth = 0;
    if (g->node[i].parameter[CM_PARAMETER_BIAS].value == NULL)
      continue;
    path[depth++] = i;
    while (depth > 0 && !loops[i]) {
      const nir_node *n = &g->node[path[--depth]];
      for (uint32_t k = 0; k < n->next_count; k++) {
        loops[i] = loops[i] || n->next[k] == i;
        if (seen[n->next[k]] == i + 1)
          continue;
        seen[n->next[k]] = i + 1;
        path[depth++] = n->next[k];
      }
    }
    status = cm_run_check(g->run, error);
  }
  CM_FREE(path, seen);
  return status;
}

/* ---- neurons ---- */

const nir_node *nir_without_model(const nir_graph *g)
{
  for (uint32_t i = 0; i < g->count; i++) {
    const nir_node *n = &g->node[i];
    if (n->kind == NIR_UNIT && n->model == CM_NEURON_MODELS)
      return n;
    for (cm_neuron_parameter p = 0; n->kind == NIR_UNIT && p < CM_NEURON_PARAMETERS; p++)
      if (cm_neuron_has(n->model, p) && n->parameter[p].value == NULL && isnan(cm_neuron_parameters[p].otherwise))
        return n;
  }
  return NULL;
}

/* One parameter of all neurons of a node. */
static cm_status lay_out(const nir_node *n, cm_neuron_parameter parameter, float *value, cm_error *error)
{
  const nir_numbers *numbers = &n->parameter[parameter];
  const nir_shape shape = nir_without_leading(&numbers->shape, n->out.rank);
  if (numbers->value != NULL && shape.count != 1 && shape.count != n->out.count && !nir_broadcasts(&shape, &n->out))
    return nir_bad(n, cm_say("its %s is %s; its neurons are %s", cm_neuron_parameters[parameter].name, nir_say_shape(&shape).text,
                             nir_say_shape(&n->out).text).text, error);
  for (uint64_t k = 0; k < n->out.count; k++) {
    const uint64_t at = shape.count == n->out.count ? k : shape.count == 1 ? 0 : nir_broadcast(&shape, &n->out, k);
    value[k] = numbers->value != NULL ? numbers->value[at] : cm_neuron_parameters[parameter].otherwise;
  }
  return CM_OK;
}

static cm_status fill(const flow *f, float *const *looped, cm_topology *made, cm_error *error)
{
  const nir_graph *g = f->graph;
  cm_dynamics *d = made->dynamics;
  for (uint32_t i = 0; i < g->count; i++) {
    const nir_node *n = &g->node[i];
    if (n->kind != NIR_UNIT)
      continue;
    memset(d->model + n->unit_first, (int)n->model, n->out.count);
    for (cm_neuron_parameter p = 0; p < CM_NEURON_PARAMETERS; p++) {
      if (!cm_neuron_has(n->model, p) || (cm_neuron_parameters[p].rare && n->parameter[p].value == NULL))
        continue;
      CM_TRY_IF(d->parameter[p] == NULL, CM_NEW(g->memory, d->parameter[p], made->vertex_count, error));
      float *value = d->parameter[p] + n->unit_first;
      const float *in = p == CM_PARAMETER_BIAS ? f->in[i] : p == CM_PARAMETER_LOOP_BIAS ? looped[i] : NULL;
      if (in != NULL)
        memcpy(value, in, n->out.count * sizeof *value);
      else if (lay_out(n, p, value, error) != CM_OK)
        return error->status;
    }
    CM_TRY(cm_run_check(g->run, error));
  }
  return CM_OK;
}

static void free_flow(const flow *f)
{
  for (uint32_t i = 0; f->in != NULL && i < f->graph->count; i++)
    cm_free(f->in[i]);
  cm_free(f->in);
}

cm_status nir_dynamics(nir_graph *g, cm_topology *made, cm_error *error)
{
  bool *loops = NULL;
  flow all = {.graph = g}, looped = {.graph = g};
  cm_status status = CM_NEW(g->memory, loops, g->count, error);
  CM_THEN(status, CM_NEW_ALL(g->memory, error, CM_ARRAY(all.in, g->count), CM_ARRAY(looped.in, g->count),
                             CM_ARRAY(made->dynamics, 1)));
  CM_THEN(status, CM_NEW(g->memory, made->dynamics->model, made->vertex_count, error));
  looped.only = loops;
  CM_THEN(status, find_loops(g, loops, error));
  CM_THEN(status, flow_biases(&all, error));
  CM_THEN(status, flow_biases(&looped, error));
  CM_THEN(status, fill(&all, looped.in, made, error));
  if (status == CM_OK) {
    made->dynamics->nodes = g->nodes;
    made->dynamics->number = g->number;
    made->dynamics->number_count = g->number_count;
    g->nodes = NULL;
    g->number = NULL;
  }
  free_flow(&all);
  free_flow(&looped);
  cm_free(loops);
  return status;
}
