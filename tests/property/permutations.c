/* Permutations of operator graphs: each crossing rule on random layouts, and how layouts compose. */
#include "../unit/graphs.h"

static cm_run run;
static cm_memory memory;
static cm_error error;
static cm_random rnd;

static void set_up(void)
{
  cm_memory_init(&memory, UINT64_C(2) << 30);
  cm_run_init(&run);
  run.memory = &memory;
  cm_random_init(&rnd, 5, 0, 0);
}

static int64_t pick(int64_t least, int64_t most)
{
  return least + (int64_t)cm_random_below(&rnd, (uint64_t)(most - least + 1));
}

/* ---- single operators ---- */

/* Each makes a graph of one node under test (the last one) with random sizes; its data inputs are graph inputs. */
typedef void (*maker)(graph *g);

static void dims4(int64_t *d)
{
  d[0] = pick(1, 2);
  d[1] = 2 * pick(1, 4);
  d[2] = pick(3, 6);
  d[3] = pick(3, 6);
}

static void make_unary(graph *g)
{
  static const char *const ops[] = {"Relu", "Sigmoid", "Tanh", "Identity", "Dropout", "Elu", "Gelu", "HardSwish"};
  int64_t d[4];
  dims4(d);
  graph_output(g, graph_node(g, ops[pick(0, 7)], graph_input(g, 4, d), GRAPH_END));
}

static void make_binary(graph *g)
{
  static const char *const ops[] = {"Add", "Mul", "Sub", "Max"};
  int64_t d[4], e[4];
  dims4(d);
  memcpy(e, d, sizeof d);
  for (int i = 0; i < 4; i++)
    e[i] = pick(0, 3) == 0 ? 1 : d[i];
  uint32_t skip = (uint32_t)pick(0, 2), a = graph_input(g, 4, d),
           b = pick(0, 1) ? graph_constant(g, 4 - skip, e + skip, -1) : graph_input(g, 4 - skip, e + skip);
  graph_output(g, pick(0, 1) ? graph_node(g, ops[pick(0, 3)], a, b, GRAPH_END)
                             : graph_node(g, ops[pick(0, 3)], b, a, GRAPH_END));
}

static void make_conv(graph *g)
{
  int64_t d[4], groups = pick(1, 3), each_in = pick(1, 3), each_out = pick(1, 3), kernel[2] = {pick(1, 3), pick(1, 3)},
                stride[2] = {pick(1, 2), pick(1, 2)}, pads[4] = {pick(0, 1), pick(0, 1), pick(0, 1), pick(0, 1)};
  dims4(d);
  d[1] = groups * each_in;
  int64_t w[4] = {groups * each_out, each_in, kernel[0], kernel[1]};
  uint32_t x = graph_input(g, 4, d), weights = graph_constant(g, 4, w, -1);
  graph_output(g, pick(0, 1) ? graph_node(g, "Conv", x, weights, graph_constant(g, 1, w, -1), GRAPH_END)
                             : graph_node(g, "Conv", x, weights, GRAPH_END));
  graph_int(g, "group", groups);
  graph_ints(g, "kernel_shape", 2, kernel);
  graph_ints(g, "strides", 2, stride);
  graph_ints(g, "pads", 4, pads);
}

static void make_conv_transpose(graph *g)
{
  int64_t d[4];
  dims4(d);
  int64_t w[4] = {d[1], pick(1, 4), 2, 3}, b[1] = {w[1]};
  graph_output(g, graph_node(g, "ConvTranspose", graph_input(g, 4, d), graph_constant(g, 4, w, -1),
                             graph_constant(g, 1, b, -1), GRAPH_END));
  graph_ints(g, "strides", 2, (int64_t[]){1, 2});
}

static void make_pool(graph *g)
{
  int64_t d[4];
  dims4(d);
  graph_output(g, graph_node(g, pick(0, 1) ? "MaxPool" : "AveragePool", graph_input(g, 4, d), GRAPH_END));
  graph_ints(g, "kernel_shape", 2, (int64_t[]){pick(1, 3), pick(1, 3)});
  graph_ints(g, "strides", 2, (int64_t[]){pick(1, 2), pick(1, 2)});
  graph_ints(g, "pads", 4, (int64_t[]){pick(0, 1), 0, 0, pick(0, 1)});
}

static void make_global_pool(graph *g)
{
  int64_t d[4];
  dims4(d);
  graph_output(g, graph_node(g, pick(0, 1) ? "GlobalMaxPool" : "GlobalAveragePool", graph_input(g, 4, d), GRAPH_END));
}

static void make_batch_norm(graph *g)
{
  int64_t d[4];
  dims4(d);
  uint32_t x = graph_input(g, 4, d);
  graph_output(g,
               graph_node(g, "BatchNormalization", x, graph_constant(g, 1, d + 1, -1), graph_constant(g, 1, d + 1, -1),
                          graph_constant(g, 1, d + 1, -1), graph_constant(g, 1, d + 1, 0.1), GRAPH_END));
}

static void make_instance_norm(graph *g)
{
  int64_t d[4];
  dims4(d);
  uint32_t x = graph_input(g, 4, d);
  graph_output(g, graph_node(g, "InstanceNormalization", x, graph_constant(g, 1, d + 1, -1),
                             graph_constant(g, 1, d + 1, -1), GRAPH_END));
}

static void make_layer_norm(graph *g)
{
  int64_t d[4], axis = pick(1, 3);
  dims4(d);
  uint32_t x = graph_input(g, 4, d);
  graph_output(g, graph_node(g, "LayerNormalization", x, graph_constant(g, (uint32_t)(4 - axis), d + axis, -1),
                             graph_constant(g, (uint32_t)(4 - axis), d + axis, -1), GRAPH_END));
  graph_int(g, "axis", axis);
}

static void make_lrn(graph *g)
{
  int64_t d[4];
  dims4(d);
  graph_output(g, graph_node(g, "LRN", graph_input(g, 4, d), GRAPH_END));
  graph_int(g, "size", 3);
}

static void make_softmax(graph *g)
{
  int64_t d[4];
  dims4(d);
  if (pick(0, 1))
    d[pick(0, 3)] = 1;
  graph_output(g, graph_node(g, pick(0, 1) ? "Softmax" : "LogSoftmax", graph_input(g, 4, d), GRAPH_END));
  graph_int(g, "axis", pick(0, 3));
}

static void make_reduce(graph *g)
{
  static const char *const ops[] = {"ReduceMean", "ReduceMax", "ReduceSum", "ReduceL2"};
  int64_t d[4], axes[2] = {pick(0, 1), pick(2, 3)};
  const char *op = ops[pick(0, 3)];
  size_t count = (size_t)pick(1, 2);
  dims4(d);
  uint32_t x = graph_input(g, 4, d);
  bool input = g->model->opset >= 18 || (strcmp(op, "ReduceSum") == 0 && g->model->opset >= 13);
  graph_output(g, input ? graph_node(g, op, x, graph_integers(g, count, axes), GRAPH_END)
                        : graph_node(g, op, x, GRAPH_END));
  if (!input)
    graph_ints(g, "axes", count, axes);
  graph_int(g, "keepdims", pick(0, 1));
}

static void make_arg(graph *g)
{
  int64_t d[4];
  dims4(d);
  graph_output(g, graph_node(g, pick(0, 1) ? "ArgMax" : "ArgMin", graph_input(g, 4, d), GRAPH_END));
  graph_int(g, "axis", pick(0, 3));
  graph_int(g, "keepdims", pick(0, 1));
}

static void make_reshape(graph *g)
{
  int64_t d[4], n = pick(2, 4), c = pick(2, 4), h = pick(2, 5), w = pick(1, 3);
  int64_t shapes[6][5] = {{1, n * c, h, w, 1}, {1, n, c, h, w},         {n, c, 1, h * w, 1},
                          {n * c, h, w, 1, 1}, {n, c * h * w, 1, 1, 1}, {1, n * c, h * w, 1, 1}};
  int64_t from = pick(0, 5), to = pick(0, 5);
  (void)d;
  graph_output(g,
               graph_node(g, "Reshape", graph_input(g, 5, shapes[from]), graph_integers(g, 5, shapes[to]), GRAPH_END));
}

static void make_squeeze(graph *g)
{
  int64_t d[4], axes[1] = {pick(0, 3)};
  dims4(d);
  bool squeeze = pick(0, 1);
  if (squeeze)
    d[axes[0]] = 1;
  uint32_t x = graph_input(g, 4, d);
  const char *op = squeeze ? "Squeeze" : "Unsqueeze";
  graph_output(g, g->model->opset >= 13 ? graph_node(g, op, x, graph_integers(g, 1, axes), GRAPH_END)
                                        : graph_node(g, op, x, GRAPH_END));
  if (g->model->opset < 13)
    graph_ints(g, "axes", 1, axes);
}

static void make_concat(graph *g)
{
  int64_t d[4], axis = pick(0, 3);
  dims4(d);
  uint32_t a = graph_input(g, 4, d);
  d[axis] = pick(1, 4);
  uint32_t b = pick(0, 1) ? graph_input(g, 4, d) : graph_constant(g, 4, d, -1);
  graph_output(g, graph_node(g, "Concat", a, b, GRAPH_END));
  graph_int(g, "axis", axis);
}

static void make_split(graph *g)
{
  int64_t d[4], axis = pick(0, 3);
  uint32_t outputs[2], node;
  dims4(d);
  d[axis] = 2 * pick(1, 3);
  uint32_t x = graph_input(g, 4, d);
  outputs[0] = graph_value(g);
  outputs[1] = graph_value(g);
  ck_ok(cm_model_add_node(g->model, "Split", &x, 1, outputs, 2, &node, &error));
  graph_int(g, "axis", axis);
  graph_output(g, outputs[0]);
  graph_output(g, outputs[1]);
}

static void make_slice(graph *g)
{
  int64_t d[4], axes[1] = {pick(0, 3)}, starts[1] = {0}, ends[1] = {pick(1, 2)};
  dims4(d);
  uint32_t x = graph_input(g, 4, d);
  if (g->model->opset < 10) {
    graph_output(g, graph_node(g, "Slice", x, GRAPH_END));
    graph_ints(g, "starts", 1, starts);
    graph_ints(g, "ends", 1, ends);
    graph_ints(g, "axes", 1, axes);
  } else if (axes[0] == 0)
    graph_output(g, graph_node(g, "Slice", x, graph_integers(g, 1, starts), graph_integers(g, 1, ends), GRAPH_END));
  else
    graph_output(g, graph_node(g, "Slice", x, graph_integers(g, 1, starts), graph_integers(g, 1, ends),
                               graph_integers(g, 1, axes), GRAPH_END));
}

static void make_gather(graph *g)
{
  int64_t d[4], axis = pick(0, 3), index[3];
  dims4(d);
  for (int i = 0; i < 3; i++)
    index[i] = pick(-d[axis], d[axis] - 1);
  uint32_t x = graph_input(g, 4, d), k = graph_integers(g, 3, index);
  if (pick(0, 2) == 0) { /* a single index takes the axis away */
    cm_tensor *scalar;
    ck_ok(cm_tensor_new(&memory, CM_INT64, 0, NULL, &scalar, &error));
    *(int64_t *)scalar->data = index[0];
    ck_ok(cm_model_add_constant(g->model, "k", scalar, &k, &error));
  }
  graph_output(g, graph_node(g, "Gather", x, k, GRAPH_END));
  graph_int(g, "axis", axis);
}

static void make_pad(graph *g)
{
  int64_t d[4], pads[8];
  dims4(d);
  for (int i = 0; i < 8; i++)
    pads[i] = pick(0, 2) == 0 ? pick(0, 2) : 0;
  uint32_t x = graph_input(g, 4, d);
  graph_output(g, g->model->opset >= 11 ? graph_node(g, "Pad", x, graph_integers(g, 8, pads), GRAPH_END)
                                        : graph_node(g, "Pad", x, GRAPH_END));
  if (g->model->opset < 11)
    graph_ints(g, "pads", 8, pads);
}

static void make_resize(graph *g)
{
  int64_t d[4], sizes[4];
  dims4(d);
  memcpy(sizes, d, sizeof d);
  sizes[2] *= 2;
  sizes[3] += 1;
  uint32_t x = graph_input(g, 4, d);
  if (g->model->opset >= 11)
    graph_output(g, graph_node(g, "Resize", x, CM_NONE, CM_NONE, graph_integers(g, 4, sizes), GRAPH_END));
  else {
    float scales[4] = {1, 1, 2, 1.5F};
    cm_tensor *t;
    uint32_t k;
    ck_ok(cm_tensor_new(&memory, CM_FLOAT, 1, (int64_t[]){4}, &t, &error));
    memcpy(t->data, scales, sizeof scales);
    ck_ok(cm_model_add_constant(g->model, "s", t, &k, &error));
    graph_output(g, graph_node(g, g->model->opset >= 10 ? "Resize" : "Upsample", x, k, GRAPH_END));
  }
}

static void make_matmul(graph *g)
{
  int64_t n = pick(1, 3), c = pick(1, 3), m = pick(1, 5), k = pick(1, 5), o = pick(1, 5), a[4] = {n, c, m, k},
          b[4] = {n, c, k, o};
  int64_t kind = pick(0, 2);
  uint32_t x = kind == 2 ? graph_constant(g, 2, a + 2, -1) : graph_input(g, 4, a),
           y = kind == 1 ? graph_constant(g, 2, b + 2, -1) : graph_input(g, 4, b);
  graph_output(g, graph_node(g, "MatMul", x, y, GRAPH_END));
}

static void make_gemm(graph *g)
{
  int64_t m = pick(1, 5), k = pick(1, 5), o = pick(1, 5), ta = pick(0, 1), tb = pick(0, 1),
          a[2] = {ta ? k : m, ta ? m : k}, b[2] = {tb ? o : k, tb ? k : o}, c[2] = {pick(0, 1) ? m : 1, o};
  uint32_t kind = (uint32_t)pick(0, 2), x = kind == 2 ? graph_constant(g, 2, a, -1) : graph_input(g, 2, a),
           y = kind == 1 ? graph_constant(g, 2, b, -1) : graph_input(g, 2, b), skip = (uint32_t)pick(0, 1);
  graph_output(g, graph_node(g, "Gemm", x, y, graph_constant(g, 2 - skip, c + skip, -1), GRAPH_END));
  graph_int(g, "transA", ta);
  graph_int(g, "transB", tb);
}

static void make_quantize(graph *g)
{
  int64_t d[4], axis = pick(0, 3);
  dims4(d);
  uint32_t x = graph_input(g, 4, d);
  bool one = pick(0, 1);
  graph_output(g, graph_node(g, "QuantizeLinear", x, graph_constant(g, one ? 0 : 1, d + axis, 0.01), GRAPH_END));
  graph_int(g, "axis", axis);
}

static const struct {
  const char *name;
  maker make;
} makers[] = {
  {"unary", make_unary}, {"binary", make_binary}, {"conv", make_conv}, {"conv transpose", make_conv_transpose},
  {"pool", make_pool}, {"global pool", make_global_pool}, {"batch norm", make_batch_norm},
  {"instance norm", make_instance_norm}, {"layer norm", make_layer_norm}, {"lrn", make_lrn}, {"softmax", make_softmax},
  {"reduce", make_reduce}, {"arg", make_arg}, {"reshape", make_reshape}, {"squeeze", make_squeeze},
  {"concat", make_concat}, {"split", make_split}, {"slice", make_slice}, {"gather", make_gather}, {"pad", make_pad},
  {"resize", make_resize}, {"matmul", make_matmul}, {"gemm", make_gemm}, {"quantize", make_quantize},
};
enum { MAKERS = sizeof makers / sizeof *makers };

/* A random layout: often one that keeps most axes, with a map along one axis that is random, keeps blocks, or exchanges
 * digits. */
static cm_layout random_layout(cm_maps *maps, const cm_shape *s)
{
  cm_layout l = cm_layout_identity(s->rank);
  if (s->rank == 0)
    return l;
  int64_t kind = pick(0, 4);
  if (kind <= 1 && s->rank >= 2) {
    uint32_t a = (uint32_t)pick(s->rank >= 4 && kind == 0 ? 2 : 0, s->rank - 1),
             b = (uint32_t)pick(s->rank >= 4 && kind == 0 ? 2 : 0, s->rank - 1);
    uint32_t t = l.perm[a];
    l.perm[a] = l.perm[b];
    l.perm[b] = t;
  } else if (kind == 2)
    cm_random_permutation(&rnd, l.perm, s->rank);
  if (kind >= 3 || pick(0, 2) == 0) {
    uint32_t axis = (uint32_t)pick(0, s->rank - 1), length = (uint32_t)s->dims[axis], to[256];
    ck_assert_uint_le(length, 256);
    uint32_t blocks = (uint32_t)pick(1, 3);
    if (length > 0 && length % blocks == 0 && pick(0, 1)) { /* blocks stay together */
      uint32_t order[3], each = length / blocks;
      cm_random_permutation(&rnd, order, blocks);
      for (uint32_t i = 0; i < length; i++)
        to[i] = pick(0, 1) ? order[i / each] * each + i % each : order[i / each] * each + i % each;
    } else
      cm_random_permutation(&rnd, to, length);
    l.map[axis] = cm_maps_intern(maps, length, to);
  }
  return l;
}

typedef struct trial {
  cm_model *model;
  cm_crossing c;
  cm_layout layout[8];
  bool tied[8];
} trial;

/* Stores the graph's inputs under their layouts, evaluates, and compares the outputs under theirs. */
static void check_trial(trial *t, cm_tensor *const *inputs, cm_tensor *const *plain, const char *name)
{
  cm_tensor *stored[8] = {0}, *outputs[4] = {0}, *expected;
  cm_model *m = t->model;
  const cm_node before = m->nodes[t->c.node];
  uint32_t old_inputs[8], old_outputs[4];
  memcpy(old_inputs, before.inputs, before.input_count * sizeof *old_inputs);
  memcpy(old_outputs, before.outputs, before.output_count * sizeof *old_outputs);
  ck_ok(cm_cross_rewrite(&t->c, &error));
  for (size_t i = 0; i < m->input_count; i++) {
    cm_layout l = cm_layout_identity(inputs[i]->rank);
    for (uint32_t s = 0; s < t->c.input_count; s++)
      if (old_inputs[s] == m->inputs[i] && t->tied[s])
        l = t->layout[s];
    ck_ok(cm_layout_apply(t->c.maps, &l, inputs[i], &memory, &stored[i], &error));
    memcpy(m->values[m->inputs[i]].shape.dims, stored[i]->dims, sizeof stored[i]->dims);
  }
  ck_ok(cm_model_sort(m, &error));
  cm_status status = cm_evaluate(m, stored, &run, outputs, &error);
  ck_assert_msg(status == CM_OK, "%s (%s): %s", name, before.op, error.detail);
  for (uint32_t o = 0; o < before.output_count; o++) {
    uint32_t s = t->c.input_count + o;
    cm_layout l = t->tied[s] ? t->layout[s] : cm_layout_identity(plain[o]->rank);
    ck_ok(cm_layout_apply(t->c.maps, &l, plain[o], &memory, &expected, &error));
    int64_t at = cm_tensor_deviates(outputs[o], expected, 1e-5, 1e-5);
    ck_assert_msg(at == -1, "%s (%s): output %u deviates at %lld", name, before.op, o, (long long)at);
    cm_tensor_free(expected);
    cm_tensor_free(outputs[o]);
  }
  for (size_t i = 0; i < m->input_count; i++)
    cm_tensor_free(stored[i]);
}

/* What a rule allows computes the same elements: every operator, random sizes, groups, broadcasting, slots and layouts.
 */
START_TEST(every_rule_keeps_the_numbers)
{
  static const int64_t opsets[] = {9, 11, 13, 17, 18, 20};
  unsigned crossed = 0, maps_crossed = 0, axes_crossed = 0;
  for (int round = 0; round < 700; round++) {
    graph g = graph_new(&rnd, &memory, opsets[pick(0, 5)]);
    if (_i == 22 || _i == 14 || _i == 8) /* LayerNormalization, Gelu and the like need no opset of their own here */
      g.model->opset = opsets[pick(2, 5)];
    makers[_i].make(&g);
    uint32_t node = (uint32_t)g.model->node_count - 1;
    graph_finish(&g, &run);
    cm_tensor *inputs[8] = {0}, *plain[4] = {0};
    for (size_t i = 0; i < g.model->input_count; i++) {
      const cm_shape *s = &g.model->values[g.model->inputs[i]].shape;
      inputs[i] = graph_random_tensor(&rnd, &memory, s->rank, s->dims, -1);
    }
    ck_ok(cm_evaluate(g.model, inputs, &run, plain, &error));
    cm_maps maps;
    cm_maps_init(&maps, &memory);
    const cm_node *n = &g.model->nodes[node];
    trial t = {.model = g.model};
    uint32_t slots = n->input_count + n->output_count, from = (uint32_t)pick(0, slots - 1);
    t.c = (cm_crossing){.model = g.model, .node = node, .maps = &maps, .run = &run, .input_count = n->input_count,
                        .slot_count = slots, .from = from, .layout = t.layout, .tied = t.tied};
    if (cm_crossing_is_data(&t.c, from)) {
      t.layout[from] = random_layout(&maps, &cm_crossing_value(&t.c, from)->shape);
      t.tied[from] = true;
      if (!cm_layout_is_identity(&t.layout[from]) && cm_cross(&t.c)) {
        crossed++;
        axes_crossed += !cm_layout_keeps_axes(&t.layout[from]);
        maps_crossed += !cm_layout_keeps_elements(&t.layout[from]);
        check_trial(&t, inputs, plain, makers[_i].name);
      }
    }
    ck_assert_int_eq(maps.error.status, CM_OK);
    cm_maps_free(&maps);
    for (int i = 0; i < 8; i++)
      cm_tensor_free(inputs[i]);
    for (int i = 0; i < 4; i++)
      cm_tensor_free(plain[i]);
    cm_model_free(g.model);
  }
  ck_assert_msg(crossed >= 20 && maps_crossed >= 8, "%s: only %u layouts crossed (%u maps)", makers[_i].name, crossed,
                maps_crossed);
  if (makers[_i].make != make_conv_transpose)
    ck_assert_msg(axes_crossed >= 5, "%s: only %u axis orders crossed", makers[_i].name, axes_crossed);
  ck_assert_uint_eq(memory.used_bytes, 0);
}
END_TEST

/* ---- whole graphs ---- */

/* Layout algebra against its definition: composing, inverting, reshaping. */
START_TEST(layouts_compose_as_they_act)
{
  for (int round = 0; round < 400; round++) {
    cm_maps maps;
    cm_maps_init(&maps, &memory);
    int64_t d[4] = {pick(1, 3), pick(1, 6), pick(1, 4), pick(1, 4)}, stored[CM_RANK_MAX];
    cm_tensor *x = graph_random_tensor(&rnd, &memory, 4, d, -1), *a, *b, *c;
    cm_shape s = {.rank = 4}, t = {.rank = 4};
    memcpy(s.dims, d, sizeof d);
    cm_layout first = random_layout(&maps, &s);
    cm_layout_dims(&first, d, stored);
    memcpy(t.dims, stored, sizeof d);
    cm_layout second = random_layout(&maps, &t), both = cm_layout_compose(&maps, &first, &second),
              back = cm_layout_invert(&maps, &both);
    ck_ok(cm_layout_apply(&maps, &first, x, &memory, &a, &error));
    ck_ok(cm_layout_apply(&maps, &second, a, &memory, &b, &error));
    ck_ok(cm_layout_apply(&maps, &both, x, &memory, &c, &error));
    ck_assert(cm_tensor_equal(b, c));
    cm_tensor_free(c);
    ck_ok(cm_layout_apply(&maps, &back, b, &memory, &c, &error));
    ck_assert(cm_tensor_equal(x, c));
    ck_assert(cm_layout_moves(&both, d) || memcmp(b->data, x->data, x->count * sizeof(float)) == 0);
    cm_tensor_free(a);
    cm_tensor_free(b);
    cm_tensor_free(c);
    cm_tensor_free(x);
    cm_maps_free(&maps);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("permutations");
  TCase *tests = tcase_create("permutations");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_test(tests, layouts_compose_as_they_act);
  tcase_add_loop_test(tests, every_rule_keeps_the_numbers, 0, MAKERS);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
