/* From a box of any value to parts of tiles: views are walked through, nothing is copied for them. */
#include <string.h>

#include "core/machine/plan/plan.h"

enum { RUNS_MAX = 64 }; /* of a reshape in an operand: with more, it is made by its operator */

bool cm_plan_is_view(const cm_model *model, const cm_node *node)
{
  if (cm_node_is(node, cm_kernel_dropout)) {
    /* In training mode, or with a mask that is read, it computes. */
    for (uint32_t o = 1; o < node->output_count; o++)
      if (model->values[node->outputs[o]].use_count > 0)
        return false;
    return node->input_count < 3 || node->inputs[2] == CM_NONE;
  }
  if (cm_node_is(node, cm_kernel_slice)) {
    const cm_attribute *steps = cm_node_attribute(node, "steps");
    const cm_tensor *given = node->input_count > 4 && node->inputs[4] != CM_NONE ? model->values[node->inputs[4]].tensor : NULL;
    if (steps != NULL || (node->input_count > 4 && node->inputs[4] != CM_NONE && given == NULL))
      return false;
    for (uint64_t i = 0; given != NULL && i < given->count; i++)
      if (cm_tensor_integer(given, i) != 1)
        return false;
    return true;
  }
  const cm_makes_kind makes = node->known->makes;
  return makes == CM_MAKES_SAME || makes == CM_MAKES_RESHAPED || makes == CM_MAKES_JOINED || makes == CM_MAKES_PART;
}

typedef struct walk {
  cm_plan *plan;
  const cm_part_visit *by;
  bool host; /* it is for a host, which reads what lies outside */
  uint32_t blocked;
} walk;

static cm_status visit_value(walk *w, uint32_t value, const cm_box *box, int64_t to, const int64_t *to_stride, cm_error *error);

/* The part of `tile` that lies in `box`. What lies behind the rank of a part is not set: pieces read tens of parts each. */
static cm_status visit_tile(walk *w, uint32_t number, const cm_box *box, int64_t to, const int64_t *to_stride, cm_error *error)
{
  const cm_box *tile = &w->plan->tiles[number].box;
  cm_part part;
  int64_t step = 1;
  part.tile = number;
  part.rank = box->rank;
  part.from = 0;
  part.to = to;
  for (uint32_t i = box->rank; i-- > 0;) {
    int64_t from = tile->from[i] > box->from[i] ? tile->from[i] : box->from[i],
            end = tile->to[i] < box->to[i] ? tile->to[i] : box->to[i];
    if (from >= end)
      return CM_OK;
    part.extent[i] = end - from;
    part.from_stride[i] = step;
    part.from += (from - tile->from[i]) * step;
    part.to += (from - box->from[i]) * to_stride[i];
    part.to_stride[i] = to_stride[i];
    step *= tile->to[i] - tile->from[i];
  }
  return w->by->visit(w->by->user, &part, error);
}

static cm_status visit_grid(walk *w, uint32_t value, const cm_box *box, int64_t to, const int64_t *to_stride, cm_error *error)
{
  const cm_plan_value *v = &w->plan->values[value];
  int64_t first[CM_RANK_MAX], extent[CM_RANK_MAX], cell[CM_RANK_MAX], index[CM_RANK_MAX] = {0};
  for (uint32_t i = 0; i < box->rank; i++) {
    first[i] = cm_grid_cell(v, i, box->from[i]);
    extent[i] = cm_grid_cell(v, i, box->to[i] - 1) - first[i] + 1;
  }
  do {
    for (uint32_t i = 0; i < box->rank; i++)
      cell[i] = first[i] + index[i];
    CM_TRY(visit_tile(w, cm_plan_tile_at(v, cell), box, to, to_stride, error));
  } while (cm_next_index(box->rank, extent, index));
  return CM_OK;
}

/* ---- views ---- */

static cm_status visit_concat(walk *w, const cm_node *node, const cm_box *box, int64_t to, const int64_t *to_stride,
                              cm_error *error)
{
  int64_t axis = cm_node_integer(node, "axis", 1), at = 0;
  axis += axis < 0 ? (int64_t)box->rank : 0;
  for (uint32_t i = 0; i < node->input_count; i++) {
    if (node->inputs[i] == CM_NONE)
      continue;
    cm_box whole = cm_box_whole(&w->plan->model->values[node->inputs[i]].shape), shifted = *box, part;
    shifted.from[axis] -= at;
    shifted.to[axis] -= at;
    at += whole.to[axis];
    if (!cm_box_intersect(&whole, &shifted, &part))
      continue;
    int64_t skip = (part.from[axis] - shifted.from[axis]) * to_stride[axis];
    CM_TRY(visit_value(w, node->inputs[i], &part, to + skip, to_stride, error));
  }
  return CM_OK;
}

cm_status cm_plan_part_offset(cm_plan *plan, const cm_node *node, uint32_t o, int64_t offset[CM_RANK_MAX], cm_error *error)
{
  const cm_model *m = plan->model;
  const cm_shape *in = &m->values[node->inputs[0]].shape;
  memset(offset, 0, CM_RANK_MAX * sizeof *offset);
  if (node->known->kernel == cm_kernel_split) {
    int64_t axis = cm_node_integer(node, "axis", 0);
    axis += axis < 0 ? (int64_t)in->rank : 0;
    for (uint32_t i = 0; i < o; i++)
      offset[axis] += m->values[node->outputs[i]].shape.dims[axis];
    return CM_OK;
  }
  const cm_call *call;
  cm_integers starts, axes;
  CM_TRY(cm_plan_call(plan, node, &call, error));
  CM_TRY(cm_call_integers(call, "starts", 1, CM_RANK_MAX, &starts, error));
  CM_TRY(cm_call_integers(call, "axes", 3, CM_RANK_MAX, &axes, error));
  if (!starts.known || !axes.known)
    return cm_call_fail(call, error, "its starts and axes must be constants");
  for (size_t i = 0; i < starts.count; i++) {
    int64_t axis = axes.count > 0 ? axes.at[i] : (int64_t)i, start = starts.at[i];
    axis += axis < 0 ? (int64_t)in->rank : 0;
    start += start < 0 ? in->dims[axis] : 0;
    start = start < 0 ? 0 : start;
    offset[axis] = start > in->dims[axis] ? in->dims[axis] : start;
  }
  return CM_OK;
}

bool cm_plan_next_group(const cm_shape *a, const cm_shape *b, cm_dims_group *g)
{
  g->a = g->a_end;
  g->b = g->b_end;
  if (g->a == a->rank && g->b == b->rank)
    return false;
  int64_t x = 1, y = 1;
  do {
    if (g->a_end < a->rank && (x <= y || g->b_end == b->rank))
      x *= a->dims[g->a_end++];
    else if (g->b_end < b->rank)
      y *= b->dims[g->b_end++];
    else
      return false;
  } while (x != y || (x == 1 && (g->a_end < a->rank && g->b_end < b->rank)));
  return true;
}

/* A box in the dims of a group on the side that is read: runs, one for each index of its first dims [b, inner), of `count` elements
 * that lie flat in the group from `first` on; in the operand they are `step` apart. */
typedef struct runs {
  cm_dims_group group;
  uint32_t inner;
  int64_t first, count, step;
} runs;

/* The longest runs: the dims of a run are single before the one that is cut, and whole after it. */
static runs find_runs(const cm_shape *out, const cm_dims_group *g, const cm_box *box, const int64_t *to_stride)
{
  runs r = {.group = *g, .inner = g->b_end, .count = 1};
  int64_t before = 1; /* elements of the dims behind */
  bool whole = true;
  for (uint32_t i = g->b_end; i-- > g->b; before *= out->dims[i]) {
    int64_t extent = box->to[i] - box->from[i];
    if (extent > 1 && (!whole || (r.step == 0 ? to_stride[i] % before != 0 : to_stride[i] != r.step * before)))
      break;
    r.step = extent > 1 && r.step == 0 ? to_stride[i] / before : r.step;
    whole = whole && extent == out->dims[i];
    r.first += box->from[i] * before;
    r.count *= extent;
    r.inner = i;
  }
  for (uint32_t i = g->b; i < r.inner; i++)
    r.first += box->from[i] * cm_dims_product(out->dims, i + 1, g->b_end);
  return r;
}

/* The largest box of a group's input dims that begins at `flat` and has at most `most` elements in a row; returns how many
 * it has. A range of whole rows is one box, others begin and end with parts of rows. */
static int64_t range_box(const cm_shape *in, const cm_dims_group *g, int64_t flat, int64_t most, cm_box *box)
{
  for (uint32_t p = g->a; p < g->a_end; p++) {
    int64_t inner = cm_dims_product(in->dims, p + 1, g->a_end), at = flat / inner;
    if (flat % inner != 0 || most < inner)
      continue;
    int64_t room = in->dims[p] - at % in->dims[p], extent = most / inner < room ? most / inner : room;
    for (uint32_t i = g->a; i < g->a_end; i++) {
      box->from[i] = i > p ? 0 : at / cm_dims_product(in->dims, i + 1, p + 1) % in->dims[i];
      box->to[i] = i > p ? in->dims[i] : box->from[i] + (i == p ? extent : 1);
    }
    return extent * inner;
  }
  return most;
}

/* A reshape of which a box is read: its runs in every group of dims. */
typedef struct ranges {
  const cm_node *node;
  const cm_shape *in, *out;
  const cm_box *box;
  const int64_t *to_stride;
  runs group[2 * CM_RANK_MAX];
  uint32_t group_count;
  cm_box source;
  int64_t stride[CM_RANK_MAX];
} ranges;

static cm_status visit_runs(walk *w, ranges *r, uint32_t number, int64_t to, cm_error *error);

/* One run of a group: boxes of its input, each with all runs of the groups behind. */
static cm_status visit_run(walk *w, ranges *r, uint32_t number, int64_t first, int64_t to, cm_error *error)
{
  const runs *k = &r->group[number];
  for (int64_t done = 0; done < k->count;) {
    int64_t begin = done;
    done += range_box(r->in, &k->group, first + done, k->count - done, &r->source);
    CM_TRY(visit_runs(w, r, number + 1, to + begin * k->step, error));
  }
  return CM_OK;
}

/* All runs of groups from `number` on, beside what r->source says of those before. */
static cm_status visit_runs(walk *w, ranges *r, uint32_t number, int64_t to, cm_error *error)
{
  if (number == r->group_count)
    return visit_value(w, r->node->inputs[0], &r->source, to, r->stride, error);
  const runs *k = &r->group[number];
  const uint32_t outer = k->inner - k->group.b;
  int64_t extent[CM_RANK_MAX], index[CM_RANK_MAX] = {0};
  for (uint32_t i = 0; i < outer; i++)
    extent[i] = r->box->to[k->group.b + i] - r->box->from[k->group.b + i];
  do {
    int64_t first = k->first, at = to;
    for (uint32_t i = 0; i < outer; i++) {
      first += index[i] * cm_dims_product(r->out->dims, k->group.b + i + 1, k->group.b_end);
      at += index[i] * r->to_stride[k->group.b + i];
    }
    CM_TRY(visit_run(w, r, number, first, at, error));
  } while (cm_next_index(outer, extent, index));
  return CM_OK;
}

static cm_status visit_reshape(walk *w, uint32_t value, const cm_box *box, int64_t to, const int64_t *to_stride, cm_error *error)
{
  const cm_model *m = w->plan->model;
  const cm_node *node = &m->nodes[m->values[value].producer];
  ranges r = {.node = node, .in = &m->values[node->inputs[0]].shape, .out = &m->values[value].shape, .box = box, .to_stride = to_stride};
  cm_dims_group g = {0};
  int64_t count = 1;
  r.source.rank = r.in->rank;
  while (cm_plan_next_group(r.in, r.out, &g)) {
    const runs *k = &r.group[r.group_count];
    r.group[r.group_count++] = find_runs(r.out, &g, box, to_stride);
    for (uint32_t i = g.b; i < k->inner; i++)
      count *= box->to[i] - box->from[i];
    for (uint32_t i = g.a; i < g.a_end; i++)
      r.stride[i] = cm_dims_product(r.in->dims, i + 1, g.a_end) * k->step;
  }
  if (count > RUNS_MAX) {
    w->blocked = value;
    return CM_OK;
  }
  return visit_runs(w, &r, 0, to, error);
}

static cm_status visit_view(walk *w, uint32_t value, const cm_box *box, int64_t to, const int64_t *to_stride, cm_error *error)
{
  const cm_node *node = &w->plan->model->nodes[w->plan->model->values[value].producer];
  const cm_makes_kind makes = node->known->makes;
  if (makes == CM_MAKES_JOINED)
    return visit_concat(w, node, box, to, to_stride, error);
  if (makes == CM_MAKES_SAME)
    return visit_value(w, node->inputs[0], box, to, to_stride, error);
  if (makes == CM_MAKES_PART) {
    cm_box shifted = *box;
    int64_t offset[CM_RANK_MAX];
    uint32_t o = 0;
    while (node->outputs[o] != value)
      o++;
    CM_TRY(cm_plan_part_offset(w->plan, node, o, offset, error));
    for (uint32_t i = 0; i < box->rank; i++) {
      shifted.from[i] += offset[i];
      shifted.to[i] += offset[i];
    }
    return visit_value(w, node->inputs[0], &shifted, to, to_stride, error);
  }
  return visit_reshape(w, value, box, to, to_stride, error);
}

/* A constant that lies in a pack: a part of its one row. */
static cm_status visit_packed(walk *w, uint32_t value, const cm_box *box, int64_t to, const int64_t *to_stride, cm_error *error)
{
  const cm_box *whole = &w->plan->values[value].whole;
  uint32_t pack = w->plan->pack->value[value];
  cm_part part = {.rank = box->rank, .from = w->plan->pack->offset[value], .to = to};
  int64_t step = 1;
  for (uint32_t i = box->rank; i-- > 0; step *= whole->to[i]) {
    part.extent[i] = box->to[i] - box->from[i];
    part.from_stride[i] = step;
    part.from += box->from[i] * step;
    part.to_stride[i] = to_stride[i];
  }
  CM_TRY(cm_plan_box_tile(w->plan, pack, &w->plan->values[pack].whole, false, &part.tile, error));
  return w->by->visit(w->by->user, &part, error);
}

static cm_status visit_value(walk *w, uint32_t value, const cm_box *box, int64_t to, const int64_t *to_stride, cm_error *error)
{
  const cm_plan_value *v = &w->plan->values[value];
  if (cm_box_count(box) == 0 || w->blocked != CM_NONE)
    return CM_OK;
  if (v->kind == CM_VALUE_VIEW)
    return visit_view(w, value, box, to, to_stride, error);
  if (v->kind != CM_VALUE_CONSTANT && !w->by->boxed && !w->host && !v->host)
    return visit_grid(w, value, box, to, to_stride, error);
  if (v->kind == CM_VALUE_CONSTANT && !w->host && w->plan->pack != NULL && value < w->plan->pack_values &&
      w->plan->pack->value[value] != CM_NONE)
    return visit_packed(w, value, box, to, to_stride, error);
  uint32_t tile;
  cm_box loaded = w->host ? v->whole : v->kind == CM_VALUE_CONSTANT ? cm_plan_constant_box(w->plan, value, box) : *box;
  CM_TRY(cm_plan_box_tile(w->plan, value, &loaded, w->host, &tile, error));
  return visit_tile(w, tile, box, to, to_stride, error);
}

cm_status cm_plan_operand_parts(cm_plan *plan, const cm_plan_op *op, uint32_t input, const cm_box *box,
                                const cm_part_visit *visit, cm_error *error)
{
  walk w = {.plan = plan, .by = visit, .host = op->kind == CM_UNIT_HOST, .blocked = CM_NONE};
  int64_t stride[CM_RANK_MAX], step = 1;
  for (uint32_t i = box->rank; i-- > 0; step *= box->to[i] - box->from[i])
    stride[i] = step;
  if (cm_box_count(box) == 0) {
    if (visit->blocked != NULL)
      *visit->blocked = CM_NONE;
    return CM_OK;
  }
  cm_status status = op->copied != CM_NONE ? visit_view(&w, op->copied, box, 0, stride, error)
                                           : visit_value(&w, op->call.node->inputs[input], box, 0, stride, error);
  if (visit->blocked != NULL)
    *visit->blocked = w.blocked;
  else if (status == CM_OK && w.blocked != CM_NONE)
    status = cm_fail(error, CM_INTERNAL, "value '%.80s' is no view after all", plan->model->values[w.blocked].name);
  return status;
}

uint32_t cm_plan_source(const cm_plan *plan, uint32_t value)
{
  uint32_t rank = plan->model->values[value].shape.rank;
  while (value != CM_NONE && plan->values[value].kind == CM_VALUE_VIEW) {
    const cm_node *node = &plan->model->nodes[plan->model->values[value].producer];
    uint32_t next = CM_NONE;
    for (uint32_t i = 0; i < node->input_count && next == CM_NONE; i++)
      if (node->inputs[i] != CM_NONE && plan->values[node->inputs[i]].kind != CM_VALUE_CONSTANT)
        next = node->inputs[i];
    value = next;
  }
  return value != CM_NONE && plan->model->values[value].shape.rank == rank ? value : CM_NONE;
}
