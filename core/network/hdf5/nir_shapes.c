/* Happy path: shapes flow from the inputs along the edges; a neuron's parameters say its shape where nothing comes in yet.
 * What can fail: shapes that do not go together, and those that nothing says. */
#include <stdio.h>
#include <string.h>

#include "core/network/hdf5/nir.h"

static cm_status bad(const nir_node *n, const char *what, cm_error *error)
{
  cm_fail(error, CM_BAD_NETWORK, "%s, node '%s' (%s): %s", n->format, n->name, n->type, what);
  return cm_fail_at(error, "%s%s", n->place, n->name);
}

static const char *say(const nir_shape *s, char text[120])
{
  size_t used = (size_t)snprintf(text, 120, s->rank == 0 ? "one number" : "%s", "");
  for (int i = 0; i < s->rank && used < 120; i++)
    used += (size_t)snprintf(text + used, 120 - used, "%s%llu", i == 0 ? "" : " x ", (unsigned long long)s->dim[i]);
  return text;
}

bool nir_broadcasts(const nir_shape *shape, const nir_shape *whole)
{
  if (shape->rank > whole->rank)
    return false;
  for (int i = 1; i <= shape->rank; i++)
    if (shape->dim[shape->rank - i] != 1 && shape->dim[shape->rank - i] != whole->dim[whole->rank - i])
      return false;
  return true;
}

uint64_t nir_broadcast(const nir_shape *shape, const nir_shape *whole, uint64_t at)
{
  uint64_t index = 0, step = 1;
  for (int i = 1; i <= shape->rank; i++) {
    uint64_t extent = shape->dim[shape->rank - i], here = at % whole->dim[whole->rank - i];
    at /= whole->dim[whole->rank - i];
    index += (extent == 1 ? 0 : here) * step;
    step *= extent;
  }
  return index;
}

/* Extent of a window's output along one axis; 0: the window does not fit. */
static uint64_t slide(const nir_axis *a, uint64_t extent)
{
  int64_t room = (int64_t)extent + a->before + a->after - a->dilation * (a->kernel - 1) - 1;
  return room < 0 ? 0 : (uint64_t)(room / a->stride) + 1;
}

static cm_status infer_window(nir_node *n, const nir_shape *in, cm_error *error)
{
  char text[240], shown[120];
  bool flat = n->kind == NIR_CONV && n->weight_shape.rank == 3;
  int rank = flat ? 2 : 3;
  if (in->rank != rank || (n->kind == NIR_CONV && in->dim[0] != n->weight_shape.dim[1] * (uint64_t)n->groups)) {
    (void)snprintf(text, sizeof text, "what comes in is %s; %s is expected", say(in, shown),
                   flat ? "channels x width" : "channels x height x width, with as many channels as its weight has");
    return bad(n, text, error);
  }
  if (n->own.count != 0 && n->own.count != in->count) {
    (void)snprintf(text, sizeof text, "its input_shape is not that of what comes in, %s", say(in, shown));
    return bad(n, text, error);
  }
  uint64_t height = flat ? 1 : slide(&n->axis[0], in->dim[1]), width = slide(&n->axis[1], in->dim[rank - 1]);
  uint64_t channels = n->kind == NIR_CONV ? n->weight_shape.dim[0] : in->dim[0], count;
  if (height == 0 || width == 0 || __builtin_mul_overflow(height, width, &count) ||
      __builtin_mul_overflow(count, channels, &count) || count > CM_VERTICES_MAX) {
    (void)snprintf(text, sizeof text, "its window does not fit what comes in, %s", say(in, shown));
    return bad(n, text, error);
  }
  n->out = flat ? (nir_shape){2, {channels, width}, count} : (nir_shape){3, {channels, height, width}, count};
  return CM_OK;
}

static cm_status infer_affine(nir_node *n, const nir_shape *in, cm_error *error)
{
  char text[240], shown[120];
  uint64_t inputs = n->weight_shape.dim[1], outputs = n->weight_shape.dim[0];
  if (in->count == inputs && (in->rank == 0 || in->dim[in->rank - 1] != inputs)) {
    n->in = (nir_shape){1, {inputs}, inputs};
    n->out = (nir_shape){1, {outputs}, outputs};
    return CM_OK;
  }
  if (in->rank == 0 || in->dim[in->rank - 1] != inputs || in->count / inputs > CM_VERTICES_MAX / outputs) {
    (void)snprintf(text, sizeof text, "what comes in is %s; its weight has %llu inputs", say(in, shown),
                   (unsigned long long)inputs);
    return bad(n, text, error);
  }
  n->out = *in;
  n->out.dim[in->rank - 1] = outputs;
  n->out.count = in->count / inputs * outputs;
  return CM_OK;
}

static void infer_flatten(nir_node *n, const nir_shape *in)
{
  int64_t first = n->flatten_first < 0 ? n->flatten_first + in->rank : n->flatten_first,
          last = n->flatten_last < 0 ? n->flatten_last + in->rank : n->flatten_last;
  n->out = (nir_shape){.count = in->count};
  for (int i = 0; i < in->rank; i++) {
    if (i > first && i <= last && n->out.rank > 0)
      n->out.dim[n->out.rank - 1] *= in->dim[i];
    else
      n->out.dim[n->out.rank++] = in->dim[i];
  }
}

/* Sets the shapes of a node into which `in` comes. */
static cm_status infer_node(nir_node *n, const nir_shape *in, cm_error *error)
{
  char text[300], shown[2][120];
  n->in = *in;
  switch (n->kind) {
    case NIR_AFFINE: return infer_affine(n, in, error);
    case NIR_CONV:
    case NIR_POOL: return infer_window(n, in, error);
    case NIR_SCALE:
    case NIR_DELAY:
      if (!nir_broadcasts(&n->weight_shape, in) && n->weight_shape.count != in->count) {
        (void)snprintf(text, sizeof text, "what comes in is %s, its numbers are %s", say(in, shown[0]),
                       say(&n->weight_shape, shown[1]));
        return bad(n, text, error);
      }
      if (n->weight_shape.count == in->count)
        n->weight_shape = *in;
      break;
    case NIR_UNIT:
      if (n->own.count == in->count && n->own.rank >= in->rank)
        n->in = n->own;
      else if (n->own.count != 0 && n->own.count != in->count && (n->exact || !nir_broadcasts(&n->own, in))) {
        (void)snprintf(text, sizeof text, n->exact ? "what comes in is %s, its shape is %s" : "what comes in is %s, its parameters are %s",
                       say(in, shown[0]), say(&n->own, shown[1]));
        return bad(n, text, error);
      }
      break;
    case NIR_IDENTITY:
      if (n->flatten) {
        infer_flatten(n, in);
        return CM_OK;
      }
      break;
  }
  n->out = n->in;
  return CM_OK;
}

/* A neuron that nothing has come to yet has the shape of its parameters. */
static bool start_somewhere(nir_graph *g)
{
  for (uint32_t i = 0; i < g->count; i++) {
    nir_node *n = &g->node[i];
    if (n->out.count != 0 || n->own.count == 0 || (n->kind != NIR_UNIT && n->kind != NIR_CONV))
      continue;
    cm_error ignored;
    if (n->kind == NIR_CONV && infer_node(n, &n->own, &ignored) != CM_OK)
      continue;
    if (n->kind == NIR_UNIT)
      n->in = n->out = n->own;
    return true;
  }
  return false;
}

static cm_status flow(nir_graph *g, cm_error *error)
{
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t i = 0; i < g->count; i++)
      for (uint32_t k = 0; g->node[i].out.count != 0 && k < g->node[i].next_count; k++) {
        nir_node *to = &g->node[g->node[i].next[k]];
        if (to->out.count != 0)
          continue;
        if (infer_node(to, &g->node[i].out, error) != CM_OK)
          return error->status;
        moved = true;
      }
  }
  return CM_OK;
}

cm_status nir_infer(nir_graph *g, cm_error *error)
{
  char text[300], shown[2][120];
  for (uint32_t i = 0; i < g->count; i++)
    if (g->node[i].input)
      g->node[i].in = g->node[i].out = g->node[i].own;
  do
    if (flow(g, error) != CM_OK)
      return error->status;
  while (start_somewhere(g));
  for (uint32_t i = 0; i < g->count; i++) {
    const nir_node *n = &g->node[i];
    if (n->kind == NIR_UNIT && n->out.count == 0)
      return bad(n, "nothing says how many neurons it has: its parameters are single numbers and nothing comes in", error);
    for (uint32_t k = 0; n->out.count != 0 && k < n->next_count; k++) {
      const nir_node *to = &g->node[n->next[k]];
      if (to->in.count == n->out.count)
        continue;
      (void)snprintf(text, sizeof text, "%s comes from '%s'; it takes %s", say(&n->out, shown[0]), n->name,
                     say(&to->in, shown[1]));
      return bad(to, text, error);
    }
  }
  return CM_OK;
}
