#include "core/operators/tiling/tile.h"

#include <math.h>
#include <string.h>

#include "core/operators/evaluate.h"
#include "core/operators/tiling/tile_internal.h"

enum { MICRO_MAX = 1 << 24, LEVELS_MAX = CM_RANK_MAX + 1 };

/* One digit of the place of a cell: steps of `step` elements along an axis. The channels of a grouped convolution are two
 * digits, group and channel of the group, since a piece never reaches from one group into part of another. */
typedef struct level {
  uint32_t axis;
  int64_t count, step;
} level;

/* The cells of an output that are cut apart, in the order in which the seed prefers to cut. */
typedef struct cells {
  level level[LEVELS_MAX]; /* the first is the most significant */
  uint32_t levels;
  uint64_t count;    /* of all cells */
  uint64_t elements; /* of one cell */
} cells;

static void add_level(cells *c, uint32_t axis, int64_t count, int64_t step)
{
  c->level[c->levels++] = (level){axis, count, step};
  c->count *= (uint64_t)count;
}

static cells cells_of(const cm_call *call)
{
  cells c = {.count = 1, .elements = 1};
  uint32_t axes[CM_RANK_MAX], count = cm_split_axes(call, axes);
  const cm_shape *out = &call->output[0];
  for (uint32_t a = 0; a < count; a++) {
    int64_t extent = out->dims[axes[a]], whole = cm_split_extent(call, axes[a], extent - 1),
            least = cm_split_extent(call, axes[a], 1);
    /* Extents below the whole that are multiples of something: groups. */
    int64_t group = cm_node_integer(call->node, "group", 1);
    bool grouped = axes[a] == 1 && group > 1 && extent % group == 0 && (whole != extent - 1 || least != 1);
    if (!grouped) {
      add_level(&c, axes[a], extent, 1);
      continue;
    }
    add_level(&c, axes[a], group, extent / group);
    if (least == 1 && extent / group > 1)
      add_level(&c, axes[a], extent / group, 1);
  }
  uint64_t all = 1;
  for (uint32_t i = 0; i < out->rank; i++)
    all *= (uint64_t)out->dims[i];
  c.elements = c.count > 0 ? all / c.count : 0;
  return c;
}

/* The largest box of whole rows at some level that begins at cell `first`, has at most `most` cells and ends before
 * `last`. Returns how many cells it has. */
static uint64_t box_at(const cm_shape *shape, const cells *c, uint64_t first, uint64_t last, uint64_t most, cm_box *box)
{
  uint64_t stride = 1, rest = first, taken = 1;
  int64_t digit[LEVELS_MAX] = {0};
  uint32_t at = c->levels;
  most = most < last - first ? most : last - first;
  for (uint32_t l = c->levels; l-- > 0; rest /= (uint64_t)c->level[l].count)
    digit[l] = (int64_t)(rest % (uint64_t)c->level[l].count);
  /* Up from the innermost level while all below it is zero and a step of it still fits. */
  for (uint32_t l = c->levels; l-- > 0 && stride <= most; stride *= (uint64_t)c->level[l].count) {
    at = l;
    taken = stride;
    if (digit[l] != 0 || stride * (uint64_t)c->level[l].count > most)
      break;
  }
  *box = cm_box_whole(shape);
  if (at == c->levels)
    return 1; /* nothing can be cut */
  uint64_t steps = most / taken, left = (uint64_t)(c->level[at].count - digit[at]);
  steps = steps < left ? steps : left;
  bool seen[CM_RANK_MAX] = {false};
  for (uint32_t l = 0; l <= at; l++) {
    uint32_t axis = c->level[l].axis;
    int64_t from = (seen[axis] ? box->from[axis] : 0) + digit[l] * c->level[l].step;
    box->from[axis] = from;
    box->to[axis] = from + (l == at ? (int64_t)steps : 1) * c->level[l].step;
    seen[axis] = true;
  }
  return steps * taken;
}

typedef struct cutting {
  const cm_shape *shape;
  cells cells;
  cm_memory *memory;
  cm_box *boxes;
  uint32_t *devices;
  uint64_t count, box_room, device_room;
} cutting;

static cm_status push_box(cutting *c, const cm_box *box, uint32_t device, cm_error *error)
{
  if (c->count == MICRO_MAX)
    return cm_fail(error, CM_TOO_LARGE, "an operator comes to more than %d micro-operators", MICRO_MAX);
  if (CM_ROOM(c->memory, c->boxes, &c->box_room, c->count + 1, error) != CM_OK ||
      CM_ROOM(c->memory, c->devices, &c->device_room, c->count + 1, error) != CM_OK)
    return error->status;
  c->boxes[c->count] = *box;
  c->devices[c->count++] = device;
  return CM_OK;
}

/* The rounds that each micro-operator must do so that there are at most `most` of them. */
static uint64_t rounds(const cm_tile_options *o, const uint64_t *share, uint64_t elements, uint64_t most)
{
  uint64_t pieces = 0;
  for (uint32_t d = 0; d < o->device_count; d++)
    pieces += cm_tile_micro_operators(&o->devices[d], share[d] * elements);
  most = most > o->device_count ? most - o->device_count : 1; /* each device's last one may be partly full */
  return pieces <= most ? 1 : (pieces + most - 1) / most;
}

cm_status cm_tile_cut(const cm_call *call, const cm_tile_options *options, cm_memory *memory, cm_box **boxes,
                      uint32_t **devices, uint32_t *count, cm_error *error)
{
  cutting c = {.shape = &call->output[0], .cells = cells_of(call), .memory = memory};
  uint64_t *share, begin = 0;
  cm_status status = CM_NEW(memory, share, options->device_count, error);
  if (status != CM_OK)
    return status;
  cm_tile_shares(options->devices, options->device_count, c.cells.count, share);
  uint64_t times = rounds(options, share, c.cells.elements, options->pieces_max);
  for (uint32_t d = 0; d < options->device_count && status == CM_OK; begin += share[d++]) {
    uint64_t most = options->devices[d].length * times / (c.cells.elements > 0 ? c.cells.elements : 1);
    for (uint64_t first = begin; first < begin + share[d] && status == CM_OK;) {
      cm_box box;
      first += box_at(c.shape, &c.cells, first, begin + share[d], most > 0 ? most : 1, &box);
      status = push_box(&c, &box, d, error);
    }
  }
  cm_free(share);
  if (status != CM_OK) {
    cm_free(c.boxes);
    cm_free(c.devices);
    return status;
  }
  *boxes = c.boxes;
  *devices = c.devices;
  *count = (uint32_t)c.count;
  return CM_OK;
}

/* ---- the graph ---- */

void cm_tiling_free(cm_tiling *tiling)
{
  if (tiling == NULL)
    return;
  cm_free(tiling->micro);
  cm_free(tiling->arc);
  cm_free(tiling);
}

cm_status cm_tile_call(const cm_model *model, const cm_node *node, cm_arena *arena, cm_call *call, cm_error *error)
{
  cm_shape *input, *output;
  cm_tensor **value;
  if (CM_ARENA_NEW(arena, input, node->input_count + 1, error) != CM_OK ||
      CM_ARENA_NEW(arena, value, node->input_count + 1, error) != CM_OK ||
      CM_ARENA_NEW(arena, output, node->output_count + 1, error) != CM_OK)
    return error->status;
  for (uint32_t i = 0; i < node->input_count; i++) {
    input[i].rank = CM_UNKNOWN_RANK;
    if (node->inputs[i] != CM_NONE) {
      input[i] = model->values[node->inputs[i]].shape;
      value[i] = model->values[node->inputs[i]].tensor;
    }
  }
  for (uint32_t o = 0; o < node->output_count; o++) {
    output[o].rank = CM_UNKNOWN_RANK;
    if (node->outputs[o] != CM_NONE)
      output[o] = model->values[node->outputs[o]].shape;
  }
  *call = (cm_call){.node = node, .opset = model->opset, .input_count = node->input_count,
                    .output_count = node->output_count, .input = input, .value = value, .output = output,
                    .memory = arena->memory};
  return CM_OK;
}

static bool is_constant(const cm_model *model, const cm_node *node)
{
  for (uint32_t o = 0; o < node->output_count; o++)
    if (node->outputs[o] != CM_NONE && !model->values[node->outputs[o]].constant)
      return false;
  return true;
}

static cm_status check_node(const cm_model *model, const cm_node *node, cm_error *error)
{
  char label[200];
  if (node->known == NULL)
    return cm_fail(error, CM_BAD_NETWORK, "%s is no operator that is known, so that it cannot be tiled",
                   cm_node_label(node, label, sizeof label));
  for (uint32_t o = 0; o < node->output_count; o++)
    if (node->outputs[o] != CM_NONE && !cm_shape_known(&model->values[node->outputs[o]].shape))
      return cm_fail(error, CM_BAD_NETWORK, "the shape of what %s makes is not known: fix the model's dynamic dimensions",
                     cm_node_label(node, label, sizeof label));
  for (uint32_t i = 0; i < node->input_count; i++)
    if (node->inputs[i] != CM_NONE && !cm_shape_known(&model->values[node->inputs[i]].shape))
      return cm_fail(error, CM_BAD_NETWORK, "the shape of what %s reads is not known: fix the model's dynamic dimensions",
                     cm_node_label(node, label, sizeof label));
  return CM_OK;
}

static uint64_t bytes_of(const cm_shape *shape, const cm_box *box)
{
  return cm_box_count(box) * cm_type_bytes(shape->type);
}

/* What a micro-operator has to hold: its outputs, and of constants what it reads. */
static uint64_t footprint(const cm_model *model, const cm_call *call, const cm_box *output, const cm_box *inputs)
{
  uint64_t bytes = bytes_of(&call->output[0], output);
  for (uint32_t o = 1; o < call->output_count; o++)
    if (call->node->outputs[o] != CM_NONE) {
      cm_box whole = cm_box_whole(&call->output[o]);
      bytes += bytes_of(&call->output[o], &whole);
    }
  for (uint32_t i = 0; i < call->input_count; i++)
    if (cm_has(call, i) && model->values[call->node->inputs[i]].constant)
      bytes += bytes_of(&call->input[i], &inputs[i]);
  return bytes;
}

static uint64_t latency(const cm_tile_device *device, uint64_t elements)
{
  double ns = ceil(cm_tile_time(device) * ((double)elements / (double)device->length));
  return ns < 1 ? 1 : (uint64_t)ns;
}

static cm_status add_micro(cm_tile_work *work, const cm_call *call, uint32_t node, const cm_box *box, uint32_t device,
                           cm_box *inputs, cm_error *error)
{
  cm_tiling *t = work->tiling;
  cm_split_change change;
  if (t->micro_count == MICRO_MAX)
    return cm_fail(error, CM_TOO_LARGE, "the model comes to more than %d micro-operators", MICRO_MAX);
  if (CM_ROOM(work->run->memory, t->micro, &work->micro_room, (uint64_t)t->micro_count + 1, error) != CM_OK)
    return error->status;
  if (cm_split_piece(call, box, inputs, &change, error) != CM_OK)
    return error->status;
  uint64_t elements = cm_box_count(box);
  t->micro[t->micro_count++] =
    (cm_micro){.node = node, .device = device, .output = *box, .elements = elements,
               .bytes = footprint(work->model, call, box, inputs),
               .latency_ns = latency(&work->options->devices[device], elements)};
  return CM_OK;
}

static cm_status tile_node(cm_tile_work *work, uint32_t number, cm_error *error)
{
  const cm_node *node = &work->model->nodes[number];
  cm_arena arena;
  cm_call call;
  cm_box *boxes = NULL, *inputs;
  uint32_t *devices = NULL, count = 0, first = work->tiling->micro_count;
  cm_arena_init(&arena, work->run->memory);
  cm_status status = cm_tile_call(work->model, node, &arena, &call, error);
  if (status == CM_OK && (status = CM_ARENA_NEW(&arena, inputs, node->input_count + 1, error)) == CM_OK &&
      (status = cm_tile_cut(&call, work->options, work->run->memory, &boxes, &devices, &count, error)) == CM_OK)
    for (uint32_t i = 0; i < count && status == CM_OK; i++)
      status = add_micro(work, &call, number, &boxes[i], devices[i], inputs, error);
  cm_free(boxes);
  cm_free(devices);
  cm_arena_free(&arena);
  return status == CM_OK ? cm_tile_own(work, node, first, work->tiling->micro_count, error) : status;
}

static cm_status tile_all(cm_tile_work *work, cm_error *error)
{
  cm_model *m = work->model;
  for (size_t k = 0; k < m->order_count; k++) {
    const cm_node *node = &m->nodes[m->order[k]];
    cm_status status = cm_run_progress(work->run, (double)k / (double)m->order_count, -1, 0, NAN, error);
    work->first_micro[k] = work->tiling->micro_count;
    if (status == CM_OK && !is_constant(m, node) && (status = check_node(m, node, error)) == CM_OK)
      status = cm_tile_is_view(m, node) ? cm_tile_view(work, node, error) : tile_node(work, m->order[k], error);
    if (status != CM_OK)
      return status;
  }
  work->first_micro[m->order_count] = work->tiling->micro_count;
  return CM_OK;
}

cm_status cm_tile_model(cm_model *model, const cm_tile_options *options, cm_run *run, cm_tiling **made, cm_error *error)
{
  cm_tile_work work = {.model = model, .options = options, .run = run};
  cm_memory *memory = run->memory;
  if (cm_tile_devices_check(options->devices, options->device_count, error) != CM_OK)
    return error->status;
  cm_status status;
  if ((status = CM_NEW(memory, work.tiling, 1, error)) == CM_OK &&
      (status = CM_NEW(memory, work.first_micro, model->order_count + 1, error)) == CM_OK &&
      (status = CM_NEW(memory, work.owners, model->value_count, error)) == CM_OK &&
      (status = tile_all(&work, error)) == CM_OK)
    status = cm_tile_connect(&work, error);
  for (size_t v = 0; work.owners != NULL && v < model->value_count; v++) {
    cm_free(work.owners[v].end);
    cm_free(work.owners[v].owner);
  }
  cm_free(work.owners);
  cm_free(work.first_micro);
  if (status != CM_OK) {
    cm_tiling_free(work.tiling);
    return status;
  }
  *made = work.tiling;
  return CM_OK;
}
