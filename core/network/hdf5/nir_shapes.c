/* Happy path: shapes flow from the inputs along the edges; a neuron's parameters say its shape where nothing comes in yet.
 * What can fail: shapes that do not go together, and those that nothing says. */
#include <stdio.h>
#include <string.h>

#include "core/network/hdf5/nir.h"

cm_status nir_bad(const nir_node *n, const char *what, cm_error *error)
{
  cm_fail(error, CM_BAD_NETWORK, "%s, node '%s' (%s): %s", n->format, n->name, n->type, what);
  return cm_fail_at(error, "%s%s", n->place, n->name);
}

cm_phrase nir_say_shape(const nir_shape *s)
{
  cm_phrase made = cm_say("%s", s->rank == 0 ? "one number" : "");
  size_t used = 0;
  for (int i = 0; i < s->rank; i++)
    used += (size_t)snprintf(made.text + used, sizeof made.text - used, "%s%llu", i == 0 ? "" : " x ", (unsigned long long)s->dim[i]);
  return made;
}

nir_shape nir_without_leading(const nir_shape *shape, int rank)
{
  nir_shape made = *shape;
  while (made.rank > rank && made.dim[0] == 1) {
    made.rank--;
    memmove(made.dim, made.dim + 1, (size_t)made.rank * sizeof *made.dim);
  }
  return made;
}

/* The refusal of `in`, whose first axis may be time or a batch, and may be rows of neurons. */
static cm_status refuse_leading(const nir_node *n, const nir_shape *in, cm_error *error)
{
  nir_shape rest = *in;
  rest.rank--;
  memmove(rest.dim, rest.dim + 1, (size_t)rest.rank * sizeof *rest.dim);
  return nir_bad(n, cm_say("what comes in is %s: if its first axis, %llu, is time or a batch, give the Input the shape %s; if these are neurons, "
                           "give the parameters of those behind it an axis of %llu too", nir_say_shape(in).text, (unsigned long long)in->dim[0],
                           nir_say_shape(&rest).text, (unsigned long long)in->dim[0]).text, error);
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

static cm_status infer_window(nir_node *n, int rank, cm_error *error)
{
  const nir_shape *in = &n->in;
  bool flat = rank == 2;
  if (in->rank == rank + 1)
    return refuse_leading(n, in, error);
  if (in->rank != rank || (n->kind == NIR_CONV && in->dim[0] != n->weight_shape.dim[1] * (uint64_t)n->groups))
    return nir_bad(n, cm_say("what comes in is %s; %s is expected", nir_say_shape(in).text,
                             flat ? "channels x width" : "channels x height x width, with as many channels as its weight has").text, error);
  if (n->own.count != 0 && n->own.count != in->count)
    return nir_bad(n, cm_say("its input_shape is not that of what comes in, %s", nir_say_shape(in).text).text, error);
  uint64_t height = flat ? 1 : slide(&n->axis[0], in->dim[1]), width = slide(&n->axis[1], in->dim[rank - 1]);
  uint64_t channels = n->kind == NIR_CONV ? n->weight_shape.dim[0] : in->dim[0], count;
  if (height == 0 || width == 0 || __builtin_mul_overflow(height, width, &count) ||
      __builtin_mul_overflow(count, channels, &count) || count > CM_VERTICES_MAX)
    return nir_bad(n, cm_say("its window does not fit what comes in, %s", nir_say_shape(in).text).text, error);
  n->out = flat ? (nir_shape){2, {channels, width}, count} : (nir_shape){3, {channels, height, width}, count};
  return CM_OK;
}

static cm_status infer_affine(nir_node *n, const nir_shape *in, cm_error *error)
{
  uint64_t inputs = n->weight_shape.dim[1], outputs = n->weight_shape.dim[0];
  if (in->count == inputs && (in->rank == 0 || in->dim[in->rank - 1] != inputs)) {
    n->in = (nir_shape){1, {inputs}, inputs};
    n->out = (nir_shape){1, {outputs}, outputs};
    return CM_OK;
  }
  if (in->rank == 0 || in->dim[in->rank - 1] != inputs || in->count / inputs > CM_VERTICES_MAX / outputs)
    return nir_bad(n, cm_say("what comes in is %s; its weight has %llu inputs", nir_say_shape(in).text, (unsigned long long)inputs).text, error);
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
static cm_status infer_node(nir_graph *g, nir_node *n, const nir_shape *in, cm_error *error)
{
  int rank = n->kind == NIR_CONV && n->weight_shape.rank == 3 ? 2 : 3;
  n->in = *in;
  switch (n->kind) {
    case NIR_AFFINE: return infer_affine(n, in, error);
    case NIR_CONV: case NIR_POOL:
      n->in = nir_without_leading(in, rank);
      g->dropped_rank = in->rank > rank && n->in.rank == rank ? rank : g->dropped_rank;
      return infer_window(n, rank, error);
    case NIR_SCALE: case NIR_DELAY:
      n->weight_shape = nir_without_leading(&n->weight_shape, in->rank);
      if (!nir_broadcasts(&n->weight_shape, in) && n->weight_shape.count != in->count)
        return nir_bad(n, cm_say("what comes in is %s, its numbers are %s", nir_say_shape(in).text, nir_say_shape(&n->weight_shape).text).text, error);
      if (n->weight_shape.count == in->count)
        n->weight_shape = *in;
      break;
    case NIR_UNIT:
      n->own = n->own.count == in->count ? n->own : nir_without_leading(&n->own, in->rank);
      if (n->own.count == in->count && n->own.rank >= in->rank)
        n->in = n->own;
      else if (n->own.count != 0 && n->own.count != in->count && (n->exact || !nir_broadcasts(&n->own, in)))
        return nir_bad(n, cm_say(n->exact ? "what comes in is %s, its shape is %s" : "what comes in is %s, its parameters are %s", nir_say_shape(in).text, nir_say_shape(&n->own).text).text, error);
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

/* A node of a shape of its own to start at where nothing has come to yet: neurons by their parameters, convolutions by what
 * they are given, matrices by their rows and columns, and last neurons whose parameters are single numbers. */
static bool start_somewhere(nir_graph *g)
{
  enum { SHAPED, MATRICES, SINGLE, TURNS };
  cm_error ignored;
  for (int turn = 0; turn < TURNS; turn++)
    for (uint32_t i = 0; i < g->count; i++) {
      nir_node *n = &g->node[i];
      bool unit = n->kind == NIR_UNIT && n->own.count != 0;
      if (n->out.count != 0)
        continue;
      if (unit && (n->own.count > 1) == (turn == SHAPED) && turn != MATRICES) {
        n->in = n->out = n->own;
        return true;
      }
      const nir_shape taken = n->kind == NIR_AFFINE ? (nir_shape){1, {n->weight_shape.dim[1]}, n->weight_shape.dim[1]} : n->own;
      if ((turn == SHAPED && n->kind == NIR_CONV && taken.count != 0) || (turn == MATRICES && n->kind == NIR_AFFINE && n->leads))
        if (infer_node(g, n, &taken, &ignored) == CM_OK)
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
        CM_TRY(infer_node(g, to, &g->node[i].out, error));
        moved = true;
      }
  }
  return CM_OK;
}

/* Whether neurons behind inputs have parameters for each along their first axis, of this extent. */
static bool has_rows(const nir_graph *g, uint64_t extent)
{
  for (uint32_t i = 0; i < g->count; i++) {
    const nir_node *n = &g->node[i];
    if (n->kind == NIR_UNIT && !n->input && n->own.rank >= 2 && n->own.dim[0] == extent && n->own.count == n->out.count)
      return true;
  }
  return false;
}

/* A matrix that takes the last axis alone, or neurons behind an Input whose parameters are those of all other axes. */
static bool leaves_first(const nir_node *from, const nir_node *n)
{
  const nir_shape *in = &from->out, *own = &n->own;
  if (n->kind == NIR_AFFINE)
    return n->leads && n->in.rank >= 2 && n->in.count > n->weight_shape.dim[1];
  return n->kind == NIR_UNIT && from->input && own->rank >= 1 && own->rank + 1 == in->rank && in->dim[0] > 1 &&
         memcmp(own->dim, in->dim + 1, (size_t)own->rank * sizeof *own->dim) == 0;
}

/* A first axis that none of the neurons has is as likely time or a batch. */
static cm_status check_leading(const nir_graph *g, cm_error *error)
{
  for (uint32_t i = 0; i < g->count; i++)
    for (uint32_t k = 0; k < g->node[i].next_count; k++) {
      const nir_node *from = &g->node[i], *to = &g->node[from->next[k]];
      if (from->out.rank >= 2 && leaves_first(from, to) && !has_rows(g, from->out.dim[0]))
        return refuse_leading(to, &from->out, error);
    }
  return CM_OK;
}

/* An axis of 1 in front of what windows take is none of the neurons'. */
static void drop_leading(nir_graph *g)
{
  for (uint32_t i = 0; i < g->count && g->dropped_rank > 0; i++) {
    nir_node *n = &g->node[i];
    if (n->kind == NIR_UNIT && n->out.rank > g->dropped_rank)
      n->in = n->out = nir_without_leading(&n->out, g->dropped_rank);
  }
}

cm_status nir_infer(nir_graph *g, cm_error *error)
{
  for (uint32_t i = 0; i < g->count; i++)
    if (g->node[i].input)
      g->node[i].in = g->node[i].out = g->node[i].own;
  do
    CM_TRY(flow(g, error));
  while (start_somewhere(g));
  for (uint32_t i = 0; i < g->count; i++) {
    const nir_node *n = &g->node[i];
    if (n->kind == NIR_UNIT && n->out.count == 0)
      return nir_bad(n, "nothing says how many neurons it has: its parameters are single numbers and nothing comes in", error);
    for (uint32_t k = 0; n->out.count != 0 && k < n->next_count; k++) {
      const nir_node *to = &g->node[n->next[k]];
      if (to->in.count == n->out.count)
        continue;
      return nir_bad(to, cm_say("%s comes from '%s'; it takes %s", nir_say_shape(&n->out).text, n->name, nir_say_shape(&to->in).text).text, error);
    }
  }
  CM_TRY(check_leading(g, error));
  drop_leading(g);
  return CM_OK;
}
