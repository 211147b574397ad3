/* lava-dl's network exchange (.net): /layer/0, /layer/1, ..., each fed by the one before: {type, shape, weight, stride, padding,
 * dilation, groups, delay, neuron}. Shapes are channels x height x width.
 *
 * Happy path: every layer becomes linear nodes and, unless it only reshapes, neurons, as NIR has them; a delay of neurons is
 * one of their axons. What can fail: layers of other types, weights that do not fit the layer before, shapes that do not. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/network/hdf5/h5.h"
#include "core/network/hdf5/nir.h"
#include "core/network/import_limits.h"
#include "core/network/names.h"
#include "core/network/topology.h"

enum { NO_LAYER = UINT32_MAX };

typedef struct lava {
  const cm_h5 *h5;
  nir_graph *graph;
  double step_ms;     /* of a delay of 1 */
  uint32_t last;      /* node that the next layer is fed by; NO_LAYER: none */
  nir_shape shape;    /* of what it gives */
} lava;

/* ---- nodes ---- */

static cm_status add_node(lava *l, nir_kind kind, const char *type, const char *name, const char *more, uint32_t *made,
                          cm_error *error)
{
  nir_graph *g = l->graph;
  if (g->count >= NIR_NODES_MAX)
    return cm_over_limit("nodes", g->count + UINT64_C(1), NIR_NODES_MAX, error);
  CM_TRY(CM_ROOM(g->memory, g->node, &g->room, g->count + UINT64_C(1), error));
  nir_node *n = &g->node[g->count];
  *n = (nir_node){.kind = kind, .groups = 1, .format = "lava-dl network", .place = "layer "};
  (void)snprintf(n->name, sizeof n->name, "%s%s", name, more);
  (void)snprintf(n->type, sizeof n->type, "%s", type);
  *made = g->count++;
  return CM_OK;
}

static cm_status add_edge(lava *l, uint32_t from, uint32_t to, cm_error *error)
{
  nir_graph *g = l->graph;
  CM_TRY(CM_ROOM(g->memory, g->edge, &g->edge_room, g->edge_count + 1, error));
  g->edge[g->edge_count][0] = from;
  g->edge[g->edge_count++][1] = to;
  return CM_OK;
}

/* ---- parameters ---- */

static cm_status read_shape(lava *l, hid_t layer, nir_shape *shape, cm_error *error)
{
  double *values;
  cm_h5_extents is;
  CM_TRY(cm_h5_reals(l->h5, layer, "shape", &values, &is, error));
  bool good = is.rank == 1 && is.dim[0] >= 1 && is.dim[0] <= NIR_RANK_MAX;
  nir_shape made = {.rank = good ? (int)is.dim[0] : 0, .count = 1};
  for (int i = 0; i < made.rank && good; i++) {
    good = values[i] >= 1 && values[i] <= UINT32_MAX && values[i] == trunc(values[i]);
    made.dim[i] = good ? (uint64_t)values[i] : 1;
    good = good && !__builtin_mul_overflow(made.count, made.dim[i], &made.count) && made.count <= CM_VERTICES_MAX;
  }
  cm_free(values);
  if (!good)
    return cm_h5_bad(l->h5, layer, "shape", "one to six extents of at least 1 are expected", error);
  *shape = made;
  return CM_OK;
}

/* Numbers of a weight; of a complex one its magnitudes. */
static cm_status read_weight(lava *l, hid_t layer, const char *name, nir_node *n, cm_error *error)
{
  hid_t group;
  nir_node other = {0};
  CM_TRY(cm_h5_object(l->h5, layer, name, &group, error));
  bool complex = H5Iget_type(group) == H5I_GROUP;
  cm_status status = complex ? nir_read_weight(l->h5, group, "real", n, error) : nir_read_weight(l->h5, layer, name, n, error);
  if (status == CM_OK && complex)
    status = nir_read_weight(l->h5, group, "imag", &other, error);
  if (status == CM_OK && complex && other.weight_shape.count != n->weight_shape.count)
    status = cm_h5_bad(l->h5, group, "imag", "as many numbers as in real are expected", error);
  for (uint64_t i = 0; status == CM_OK && complex && i < n->weight_shape.count; i++)
    n->weight[i] = hypot(n->weight[i], other.weight[i]);
  cm_free(other.weight);
  (void)H5Oclose(group);
  return status;
}

/* A matrix of `outputs` rows. */
static cm_status read_matrix(lava *l, hid_t layer, const char *name, uint64_t outputs, nir_node *n, cm_error *error)
{
  CM_TRY(read_weight(l, layer, name, n, error));
  if (n->weight_shape.count % outputs != 0 || (n->weight_shape.rank >= 2 && n->weight_shape.dim[0] != outputs))
    return cm_h5_bad(l->h5, layer, name, "a row for each neuron of the layer is expected", error);
  n->weight_shape = (nir_shape){2, {outputs, n->weight_shape.count / outputs}, n->weight_shape.count};
  return CM_OK;
}

/* A window of outputs x inputs x height x width, without the axis of time that slayer keeps behind; of a pool, which has one
 * for all channels, one for each. */
static cm_status read_window(lava *l, hid_t layer, bool pool, nir_node *n, cm_error *error)
{
  static const char *const names[] = {"stride", "padding", "dilation", "groups"};
  int64_t value[4][2] = {{1, 1}, {0, 0}, {1, 1}, {1, 1}};
  bool found;
  CM_TRY(read_weight(l, layer, "weight", n, error));
  nir_shape *shape = &n->weight_shape;
  if (shape->rank == 5 && shape->dim[4] == 1)
    shape->rank = 4;
  if (shape->rank != 4)
    return cm_h5_bad(l->h5, layer, "weight", "outputs x inputs x height x width is expected", error);
  for (int i = 0; i < 4; i++)
    CM_TRY(nir_read_axes(l->h5, layer, names[i], i == 1 ? 0 : 1, value[i], &found, error));
  n->groups = value[3][0];
  if (pool) {
    uint64_t channels = l->shape.rank == 3 ? l->shape.dim[0] : 0, window = shape->dim[2] * shape->dim[3];
    if (channels == 0 || shape->count != window || window > CM_PINS_MAX / channels)
      return cm_h5_bad(l->h5, layer, "weight",
                       l->shape.count > 0 ? "one window for all channels is expected"
                                          : "nothing comes into the first layer, and a pool does not say what should: "
                                            "say it with input_shape (2x34x34), or add a layer of type input",
                       error);
    double *all;
    CM_TRY(CM_NEW(l->graph->memory, all, channels * window, error));
    for (uint64_t i = 0; i < channels * window; i++)
      all[i] = n->weight[i % window];
    cm_free(n->weight);
    n->weight = all;
    n->groups = (int64_t)channels;
    *shape = (nir_shape){4, {channels, 1, shape->dim[2], shape->dim[3]}, channels * window};
  }
  if (shape->dim[0] % (uint64_t)n->groups != 0)
    return cm_h5_bad(l->h5, layer, "groups", "the outputs cannot be divided in as many groups", error);
  for (int i = 0; i < 2; i++)
    n->axis[i] = (nir_axis){(int64_t)shape->dim[2 + i], value[0][i], value[1][i], value[1][i], value[2][i]};
  return CM_OK;
}

/* Delays of a layer's axons, one, one a channel or one a neuron, follow its neurons. */
static cm_status add_delay(lava *l, hid_t layer, const char *name, uint32_t neurons, cm_error *error)
{
  uint32_t node;
  if (!cm_h5_has(layer, "delay"))
    return CM_OK;
  CM_TRY(add_node(l, NIR_DELAY, "delay", name, ".delay", &node, error));
  CM_TRY(nir_read_weight(l->h5, layer, "delay", &l->graph->node[node], error));
  CM_TRY(add_edge(l, neurons, node, error));
  nir_node *n = &l->graph->node[node];
  const nir_shape read = n->weight_shape;
  if (!nir_spreads(&read, &l->shape, &n->weight_shape))
    return cm_h5_bad(l->h5, layer, "delay", "one delay, one for each channel or one for each neuron is expected", error);
  for (uint64_t i = 0; i < read.count; i++) {
    if (n->weight[i] < 0)
      return cm_h5_bad(l->h5, layer, "delay", "a delay is negative", error);
    n->weight[i] *= l->step_ms / 1e3;
  }
  l->last = node;
  return CM_OK;
}

/* ---- layers ---- */

/* Neurons of a layer, fed by node `by`. */
static cm_status add_neurons(lava *l, hid_t layer, const char *name, const nir_shape *shape, uint32_t by, uint32_t *made,
                             cm_error *error)
{
  char type[CM_POPULATION_KIND_MAX] = "";
  hid_t neuron = -1;
  cm_status status = CM_OK;
  if (cm_h5_has(layer, "neuron")) {
    CM_TRY(cm_h5_object(l->h5, layer, "neuron", &neuron, error));
    status = cm_h5_has(neuron, "type") ? cm_h5_string(l->h5, neuron, "type", type, sizeof type, error) : CM_OK;
  }
  if (status == CM_OK && !cm_name_valid(type, strlen(type)))
    status = cm_h5_bad(l->h5, layer, "neuron/type", "it has control characters or is not UTF-8", error);
  CM_THEN(status, add_node(l, NIR_UNIT, type, name, "", made, error));
  if (status == CM_OK) {
    nir_node *n = &l->graph->node[*made];
    n->own = *shape;
    n->exact = true;
    n->input = by == NO_LAYER;
    n->model = n->input ? CM_NEURON_INPUT : CM_NEURON_MODELS;
    if (neuron >= 0 && !n->input && !cm_h5_has(layer, "bias"))
      status = lava_read_neurons(l->h5, neuron, l->step_ms / 1e3, shape, n, error);
  }
  if (neuron >= 0)
    (void)H5Oclose(neuron);
  if (status != CM_OK)
    return status;
  l->last = *made;
  l->shape = *shape;
  return by == NO_LAYER ? CM_OK : add_edge(l, by, *made, error);
}

/* What a convolution takes that gives `out`; no elements: windows that move by more than one leave that open. */
static nir_shape before_window(const nir_node *n, const nir_shape *out)
{
  nir_shape made = {.rank = 3, .dim = {n->weight_shape.dim[1] * (uint64_t)n->groups}};
  made.count = made.dim[0];
  for (int i = 0; i < 2; i++) {
    const nir_axis *a = &n->axis[i];
    const int64_t extent = out->rank == 3 ? (int64_t)out->dim[1 + i] + a->dilation * (a->kernel - 1) - a->before - a->after : 0;
    if (a->stride != 1 || extent < 1)
      return (nir_shape){0};
    made.dim[1 + i] = (uint64_t)extent;
    made.count *= made.dim[1 + i];
  }
  return made;
}

static cm_status read_linear(lava *l, hid_t layer, const char *type, const char *name, const nir_shape *shape, cm_error *error)
{
  uint32_t linear, neurons, back;
  bool dense = strncmp(type, "dense", strlen("dense")) == 0;
  const bool first = l->last == NO_LAYER; /* there is no layer of type input: nir_add_inputs makes one */
  if (first)
    l->shape = l->graph->input_shape;
  if (add_node(l, dense ? NIR_AFFINE : NIR_CONV, type, name, ".weight", &linear, error) != CM_OK ||
      (dense ? read_matrix(l, layer, "weight", shape->count, &l->graph->node[linear], error)
             : read_window(l, layer, strcmp(type, "pool") == 0, &l->graph->node[linear], error)) != CM_OK)
    return error->status;
  if (first && !dense)
    l->graph->node[linear].own = before_window(&l->graph->node[linear], shape);
  if (dense && !first && l->graph->node[linear].weight_shape.dim[1] != l->shape.count) {
    return cm_h5_bad(l->h5, layer, "weight", cm_say("it has %llu inputs; the layer before has %llu neurons",
                                                    (unsigned long long)l->graph->node[linear].weight_shape.dim[1],
                                                      (unsigned long long)l->shape.count).text, error);
  }
  if (dense && !first && l->shape.rank > 1) { /* a matrix takes them one after another */
    uint32_t flat;
    CM_TRY(add_node(l, NIR_IDENTITY, "flatten", name, ".flat", &flat, error));
    CM_TRY(add_edge(l, l->last, flat, error));
    l->graph->node[flat].flatten = true;
    l->graph->node[flat].flatten_last = -1;
    l->last = flat;
  }
  CM_TRY_IF(!first, add_edge(l, l->last, linear, error));
  CM_TRY(add_neurons(l, layer, name, shape, linear, &neurons, error));
  if (strcmp(type, "dense_rec") == 0 || cm_h5_has(layer, "weight_rec")) {
    nir_shape whole = {1, {shape->count}, shape->count};
    l->graph->node[neurons].own = whole;
    l->shape = whole;
    CM_TRY(add_node(l, NIR_AFFINE, type, name, ".weight_rec", &back, error));
    CM_TRY(read_matrix(l, layer, "weight_rec", shape->count, &l->graph->node[back], error));
    CM_TRY(add_edge(l, neurons, back, error));
    CM_TRY(add_edge(l, back, neurons, error));
  }
  return add_delay(l, layer, name, neurons, error);
}

static cm_status read_layer(lava *l, hid_t layer, const char *number, cm_error *error)
{
  static const char *const linear[] = {"dense", "dense_rec", "dense_comp", "conv", "pool"};
  char type[16], name[CM_POPULATION_NAME_MAX];
  uint32_t node;
  nir_shape shape;
  CM_TRY(cm_h5_string(l->h5, layer, "type", type, sizeof type, error));
  CM_TRY(read_shape(l, layer, &shape, error));
  (void)snprintf(name, sizeof name, "%s%.40s", type, number);
  if (strcmp(type, "input") == 0)
    return l->last != NO_LAYER ? cm_h5_bad(l->h5, layer, "type", "a second layer of type input", error)
           : add_neurons(l, layer, name, &shape, NO_LAYER, &node, error) == CM_OK ? add_delay(l, layer, name, node, error)
                                                                                  : error->status;
  for (size_t i = 0; i < sizeof linear / sizeof *linear; i++)
    if (strcmp(type, linear[i]) == 0)
      return read_linear(l, layer, type, name, &shape, error);
  if (strcmp(type, "flatten") == 0 && l->last == NO_LAYER)
    return CM_OK; /* what comes in is a list, as the next layer says */
  if (strcmp(type, "flatten") == 0) {
    if (shape.count != l->shape.count)
      return cm_h5_bad(l->h5, layer, "shape", "it has another number of elements than the layer before", error);
    l->shape = (nir_shape){1, {shape.count}, shape.count};
    CM_TRY(add_node(l, NIR_IDENTITY, type, name, "", &node, error));
    CM_TRY(add_edge(l, l->last, node, error));
    l->graph->node[node].flatten = true;
    l->graph->node[node].flatten_last = -1;
    l->last = node;
    return CM_OK;
  }
  return cm_h5_bad(l->h5, layer, "type",
                   cm_say("layers of type '%s' are not read (input, dense, dense_rec, conv, pool and flatten are): export the network as NIR, or "
                           "its synapses as a csv of source,target,weight", type).text, error);
}

/* Milliseconds of a time step: /simulation/Ts. */
static cm_status read_step(lava *l, cm_error *error)
{
  hid_t group;
  double *value;
  cm_h5_extents is;
  if (!cm_h5_has(l->h5->file, "simulation"))
    return CM_OK;
  CM_TRY(cm_h5_object(l->h5, l->h5->file, "simulation", &group, error));
  cm_status status = CM_OK;
  if (H5Iget_type(group) == H5I_GROUP && cm_h5_has(group, "Ts") &&
      (status = cm_h5_reals(l->h5, group, "Ts", &value, &is, error)) == CM_OK) {
    bool one = is.rank == 0 || (is.rank == 1 && is.dim[0] == 1);
    if (one && value[0] > 0 && value[0] <= 1e6)
      l->step_ms = value[0];
    else
      status = cm_h5_bad(l->h5, group, "Ts", "milliseconds of a time step are expected", error);
    cm_free(value);
  }
  (void)H5Oclose(group);
  return status;
}

cm_status lava_read(const cm_h5 *h5, nir_graph *graph, cm_error *error)
{
  hid_t all, layer;
  cm_h5_texts names = {0};
  lava l = {.h5 = h5, .graph = graph, .step_ms = 1, .last = NO_LAYER};
  CM_TRY(read_step(&l, error));
  CM_TRY(cm_h5_object(h5, h5->file, "layer", &all, error));
  cm_status status = cm_h5_names(h5, all, &names, error);
  for (uint64_t i = 0; i < names.count && status == CM_OK; i++) {
    status = cm_h5_object(h5, all, cm_h5_text_at(&names, i), &layer, error);
    if (status != CM_OK)
      break;
    status = H5Iget_type(layer) == H5I_GROUP ? read_layer(&l, layer, cm_h5_text_at(&names, i), error)
                                             : cm_h5_bad(h5, layer, NULL, "a group is expected", error);
    (void)H5Oclose(layer);
  }
  cm_h5_texts_free(&names);
  (void)H5Oclose(all);
  if (status == CM_OK && graph->count == 0)
    status = cm_h5_bad(h5, h5->file, "layer", "it has no layers", error);
  return status == CM_OK ? nir_link(graph, error) : status;
}
