/* Permutations in whole networks: with them gone the networks move less, and compute the same numbers. */
#include "../unit/graphs.h"

#include "core/operators/onnx/onnx.h"
#include "core/operators/permute/permutations.h"

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

static uint32_t shuffle(graph *g, uint32_t x, int64_t groups, const int64_t *d)
{
  int64_t split[5] = {d[0], groups, d[1] / groups, d[2], d[3]};
  x = graph_node(g, "Reshape", x, graph_integers(g, 5, split), GRAPH_END);
  x = graph_transpose(g, x, 5, (int64_t[]){0, 2, 1, 3, 4});
  return graph_node(g, "Reshape", x, graph_integers(g, 4, d), GRAPH_END);
}

static uint32_t conv(graph *g, uint32_t x, int64_t *d, int64_t filters, int64_t groups, int64_t kernel, int64_t stride)
{
  int64_t w[4] = {filters, d[1] / groups, kernel, kernel};
  x = graph_node(g, "Conv", x, graph_constant(g, 4, w, -1), graph_constant(g, 1, w, -1), GRAPH_END);
  graph_int(g, "group", groups);
  graph_ints(g, "strides", 2, (int64_t[]){stride, stride});
  graph_ints(g, "pads", 4, (int64_t[]){kernel / 2, kernel / 2, kernel / 2, kernel / 2});
  d[1] = filters;
  d[2] = (d[2] + stride - 1) / stride;
  d[3] = (d[3] + stride - 1) / stride;
  return x;
}

/* A random network of residual units with shuffles, some of it written channels-last. */
static void make_network(graph *g)
{
  int64_t d[4] = {1, 4 * pick(1, 3), 8, 8};
  uint32_t x = graph_input(g, 4, d);
  for (int unit = 0; unit < 3; unit++) {
    uint32_t before = x;
    int64_t kept[4];
    memcpy(kept, d, sizeof d);
    x = conv(g, x, d, d[1], 2, 1, 1);
    if (pick(0, 1)) {
      x = graph_transpose(g, x, 4, (int64_t[]){0, 2, 3, 1});
      x = graph_node(g, "LeakyRelu", x, GRAPH_END) /* no dead channels */;
      x = graph_node(g, "Add", x, graph_constant(g, 1, d + 1, -1), GRAPH_END);
      x = graph_transpose(g, x, 4, (int64_t[]){0, 3, 1, 2});
    }
    x = shuffle(g, x, 2, d);
    x = conv(g, x, d, d[1], d[1], 3, pick(0, 2) == 0 ? 2 : 1);
    x = graph_node(g, "LeakyRelu", x, GRAPH_END) /* no dead channels */;
    x = conv(g, x, d, d[1], pick(1, 2), 1, 1);
    if (d[2] == kept[2])
      x = graph_node(g, "Add", x, before, GRAPH_END);
    if (pick(0, 2) == 0)
      x = graph_transpose(g, graph_transpose(g, x, 4, (int64_t[]){0, 2, 3, 1}), 4, (int64_t[]){0, 3, 1, 2});
    if (pick(0, 2) == 0) {
      int64_t order[12];
      uint32_t shuffled[12];
      cm_random_permutation(&rnd, shuffled, (uint32_t)d[1]);
      for (int64_t i = 0; i < d[1]; i++)
        order[i] = shuffled[i];
      x = graph_node(g, "Gather", x, graph_integers(g, (size_t)d[1], order), GRAPH_END);
      graph_int(g, "axis", 1);
    }
  }
  graph_output(g, x);
  graph_output(g, graph_node(g, "Softmax", graph_transpose(g, x, 4, (int64_t[]){0, 2, 3, 1}), GRAPH_END));
}

/* Wraps a node's work in transposes to channels-last and back, as converters from other frameworks do. */
static uint32_t last(graph *g, uint32_t x)
{
  return graph_transpose(g, x, 4, (int64_t[]){0, 2, 3, 1});
}

static uint32_t first(graph *g, uint32_t x)
{
  return graph_transpose(g, x, 4, (int64_t[]){0, 3, 1, 2});
}

/* A channels-last network: pads, pools, squeeze-and-excitation, branches joined, resizing, a head on flattened pixels.
 */
static void make_channels_last(graph *g)
{
  int64_t d[4] = {1, 2 * pick(1, 3), 8, 8}, in[4] = {1, 8, 8, d[1]};
  uint32_t x = first(g, graph_input(g, 4, in));
  for (int unit = 0; unit < 3; unit++) {
    uint32_t branch;
    int64_t half[4];
    switch (pick(0, 5)) {
    case 0: /* padding apart from its pool */
      x = graph_node(g, "Pad", last(g, x), graph_integers(g, 8, (int64_t[]){0, 1, 0, 0, 0, 0, 0, 0}), GRAPH_END);
      x = graph_node(g, "MaxPool", first(g, x), GRAPH_END);
      graph_ints(g, "kernel_shape", 2, (int64_t[]){2, 2});
      break;
    case 1: /* squeeze and excitation */
      branch = graph_node(g, "GlobalAveragePool", x, GRAPH_END);
      memcpy(half, d, sizeof d);
      half[2] = half[3] = 1;
      branch = graph_node(g, "Sigmoid", last(g, conv(g, branch, half, d[1], 1, 1, 1)), GRAPH_END);
      x = first(g, graph_node(g, "Mul", last(g, x), branch, GRAPH_END));
      continue;
    case 2: /* two branches joined along the channels */
      memcpy(half, d, sizeof d);
      branch = conv(g, x, half, 2, 1, 1, 1);
      x = graph_node(g, "Concat", last(g, x), last(g, branch), GRAPH_END);
      graph_int(g, "axis", 3);
      x = first(g, x);
      d[1] += 2;
      continue;
    case 3: /* the mean over pixels taken away */
      branch = last(g, x);
      x = graph_node(g, "ReduceMean", branch, GRAPH_END);
      graph_ints(g, "axes", 2, (int64_t[]){1, 2});
      x = first(g, graph_node(g, "Sub", branch, x, GRAPH_END));
      continue;
    case 4: /* twice the size */
      x = graph_node(g, "Resize", last(g, x), CM_NONE, CM_NONE,
                     graph_integers(g, 4, (int64_t[]){1, 2 * d[2], 2 * d[3], d[1]}), GRAPH_END);
      x = first(g, x);
      d[2] *= 2;
      d[3] *= 2;
      continue;
    default: /* shuffled halves exchanged */
      x = graph_node(g, "Slice", x, graph_integers(g, 1, (int64_t[]){0}), graph_integers(g, 1, (int64_t[]){d[1] / 2}),
                     graph_integers(g, 1, (int64_t[]){1}), GRAPH_END);
      branch = g->model->nodes[g->model->node_count - 1].inputs[0];
      branch = graph_node(g, "Slice", branch, graph_integers(g, 1, (int64_t[]){d[1] / 2}),
                          graph_integers(g, 1, (int64_t[]){d[1]}), graph_integers(g, 1, (int64_t[]){1}), GRAPH_END);
      x = graph_node(g, "Concat", branch, x, GRAPH_END);
      graph_int(g, "axis", 1);
      x = conv(g, x, d, d[1], d[1], 3, 1);
      continue;
    }
    d[3] -= 1; /* one row more, and the window takes one of each */
  }
  x = conv(g, x, d, 3, 1, 1, 1);
  x = graph_node(g, "Reshape", last(g, x), graph_integers(g, 3, (int64_t[]){1, -1, 3}), GRAPH_END);
  graph_output(g, graph_node(g, "Softmax", x, GRAPH_END));
}

static uint32_t heads(graph *g, uint32_t x, const int64_t *d, int64_t n, const int64_t *perm)
{
  int64_t w[2] = {d[2], d[2]};
  x = graph_node(g, "MatMul", x, graph_constant(g, 2, w, -1), GRAPH_END);
  x = graph_node(g, "Reshape", x, graph_integers(g, 4, (int64_t[]){d[0], d[1], n, d[2] / n}), GRAPH_END);
  return graph_transpose(g, x, 4, perm);
}

/* An encoder block over image patches, one head or two. */
static void make_transformer(graph *g)
{
  int64_t n = pick(1, 2), d[3] = {1, 9, 2 * pick(1, 3)}, image[4] = {1, d[2], 3, 3};
  uint32_t x = graph_input(g, 4, image);
  x = graph_node(g, "Reshape", x, graph_integers(g, 3, (int64_t[]){1, d[2], 9}), GRAPH_END);
  x = graph_transpose(g, x, 3, (int64_t[]){0, 2, 1});
  x = graph_node(g, "Add", x, graph_constant(g, 3, d, -1), GRAPH_END);
  uint32_t y = graph_node(g, "LayerNormalization", x, graph_constant(g, 1, d + 2, 0.5), graph_constant(g, 1, d + 2, -1),
                          GRAPH_END);
  uint32_t q = heads(g, y, d, n, (int64_t[]){0, 2, 1, 3}), k = heads(g, y, d, n, (int64_t[]){0, 2, 3, 1}),
           v = heads(g, y, d, n, (int64_t[]){0, 2, 1, 3});
  y = graph_node(g, "Softmax", graph_node(g, "MatMul", q, k, GRAPH_END), GRAPH_END);
  y = graph_transpose(g, graph_node(g, "MatMul", y, v, GRAPH_END), 4, (int64_t[]){0, 2, 1, 3});
  y = graph_node(g, "Reshape", y, graph_integers(g, 3, d), GRAPH_END);
  x = graph_node(g, "Add", x, y, GRAPH_END);
  graph_output(g, x);
  x = graph_node(g, "Reshape", graph_transpose(g, x, 3, (int64_t[]){0, 2, 1}), graph_integers(g, 4, image), GRAPH_END);
  graph_output(g, graph_node(g, "GlobalMaxPool", x, GRAPH_END));
}

/* Part of an image by strided slices, along one axis after another or both at once. */
static uint32_t block(graph *g, uint32_t x, int64_t axis, const int64_t *start, const int64_t *step, bool both)
{
  const int64_t far[2] = {INT64_MAX, INT64_MAX}, axes[2] = {axis, axis + 1};
  for (size_t i = 0; i < (both ? 1 : 2); i++)
    x = graph_node(g, "Slice", x, graph_integers(g, both ? 2 : 1, start + i), graph_integers(g, both ? 2 : 1, far),
                   graph_integers(g, both ? 2 : 1, axes + i), graph_integers(g, both ? 2 : 1, step + i), GRAPH_END);
  return x;
}

/* Blocks of an image put into channels, the rows' offset first or the columns', channels first (a focus layer) or last
 * (patch merging), and a product behind. */
static void make_patches(graph *g)
{
  int64_t step[2] = {pick(1, 3), 2}, c = pick(1, 3), h = step[0] * pick(2, 3), w = step[1] * pick(2, 3), k = step[0] * step[1];
  bool last_axis = pick(0, 1), columns_first = pick(0, 1);
  int64_t d[4] = {1, last_axis ? h : c, last_axis ? w : h, last_axis ? c : w}, weights[4] = {k * c, 4, 1, 1};
  uint32_t x = graph_node(g, "Relu", graph_input(g, 4, d), GRAPH_END), piece[6], joined = graph_value(g), node;
  for (int64_t p = 0; p < k; p++) {
    int64_t start[2] = {columns_first ? p % step[0] : p / step[1], columns_first ? p / step[0] : p % step[1]};
    piece[p] = block(g, x, last_axis ? 1 : 2, start, step, pick(0, 1));
  }
  ck_ok(cm_model_add_node(g->model, "Concat", piece, (uint32_t)k, &joined, 1, &node, &error));
  graph_int(g, "axis", last_axis ? 3 : 1);
  int64_t filters[4] = {4, k * c, 1, 1};
  graph_output(g, last_axis ? graph_node(g, "MatMul", joined, graph_constant(g, 2, weights, -1), GRAPH_END)
                            : graph_node(g, "Conv", joined, graph_constant(g, 4, filters, -1), GRAPH_END));
}

static bool hidden_pays; /* of the two below: the second product reads no more than it makes */

/* x [1, ..., rows] times a matrix, with a bias. */
static uint32_t dense(graph *g, uint32_t x, int64_t inner, int64_t columns)
{
  x = graph_node(g, "MatMul", x, graph_constant(g, 2, (int64_t[]){inner, columns}, -1), GRAPH_END);
  return graph_node(g, "Add", x, graph_constant(g, 1, &columns, -1), GRAPH_END);
}

/* A ConvNeXt block: channels last for the normalisation and the products, of which the last can make the image channels first where it
 * reads no more than it makes. */
static void make_convnext(graph *g)
{
  int64_t d[4] = {1, pick(2, 5), pick(3, 5), pick(3, 5)}, hidden = pick(2, 7);
  hidden_pays = hidden <= d[1];
  uint32_t x = graph_input(g, 4, d), y = last(g, conv(g, x, d, d[1], d[1], 3, 1));
  y = graph_node(g, "LayerNormalization", y, graph_constant(g, 1, d + 1, 0.5), graph_constant(g, 1, d + 1, -1), GRAPH_END);
  y = dense(g, graph_node(g, "Gelu", dense(g, y, d[1], hidden), GRAPH_END), hidden, d[1]);
  y = graph_node(g, "Mul", y, graph_constant(g, 1, d + 1, 0.5), GRAPH_END);
  graph_output(g, graph_node(g, "Add", x, first(g, y), GRAPH_END));
}

/* The half of a mixer block that mixes patches, written with transposes around its products. */
static void make_mixer(graph *g)
{
  int64_t d[3] = {1, pick(3, 6), pick(2, 5)}, hidden = pick(2, 7);
  hidden_pays = hidden <= d[1];
  uint32_t x = graph_input(g, 3, d), y = graph_transpose(g, x, 3, (int64_t[]){0, 2, 1});
  y = dense(g, graph_node(g, "Gelu", dense(g, y, d[1], hidden), GRAPH_END), hidden, d[1]);
  graph_output(g, graph_node(g, "Add", x, graph_transpose(g, y, 3, (int64_t[]){0, 2, 1}), GRAPH_END));
}

/* Deviation of two models' outputs on the same random input. */
static bool same_numbers(cm_model *a, cm_model *b)
{
  const cm_shape *s = &a->values[a->inputs[0]].shape;
  cm_tensor *input = graph_random_tensor(&rnd, &memory, s->rank, s->dims, -1), *x[4] = {0}, *y[4] = {0};
  bool same = true;
  ck_ok(cm_evaluate(a, &input, &run, x, &error));
  if (cm_evaluate(b, &input, &run, y, &error) != CM_OK)
    same = false;
  for (size_t i = 0; same && i < a->output_count; i++)
    same = cm_tensor_deviates(y[i], x[i], 1e-4, 1e-5) == -1;
  for (int i = 0; i < 4; i++) {
    cm_tensor_free(x[i]);
    cm_tensor_free(y[i]);
  }
  cm_tensor_free(input);
  return same;
}

/* Never more bytes, the same numbers, and the same bytes out each time. */
START_TEST(networks_move_less_and_compute_the_same)
{
  static void (*const networks[])(graph *g) = {make_network, make_channels_last, make_transformer, make_patches, make_convnext,
                                             make_mixer};
  uint64_t before = 0, after = 0;
  for (int round = 0; round < 50; round++) {
    graph g = graph_new(&rnd, &memory, 13);
    cm_model *made, *again;
    json_t *report, *second;
    uint8_t *bytes[2];
    size_t size[2];
    networks[_i](&g);
    graph_finish(&g, &run);
    ck_ok(cm_permutations_optimise(g.model, &run, &made, &report, &error));
    ck_ok(cm_permutations_optimise(g.model, &run, &again, &second, &error));
    ck_assert_uint_le(cm_copy_bytes(made), cm_copy_bytes(g.model));
    before += cm_copy_bytes(g.model);
    after += cm_copy_bytes(made);
    ck_assert_msg(same_numbers(g.model, made), "round %d: other numbers (%s)", round, error.detail);
    ck_ok(cm_onnx_write_memory(made, &bytes[0], &size[0], &error));
    ck_ok(cm_onnx_write_memory(again, &bytes[1], &size[1], &error));
    ck_assert_uint_eq(size[0], size[1]);
    ck_assert_mem_eq(bytes[0], bytes[1], size[0]);
    ck_assert(json_equal(report, second));
    json_decref(report);
    json_decref(second);
    CM_FREE(bytes[0], bytes[1]);
    cm_model_free(again);
    cm_model_free(made);
    cm_model_free(g.model);
  }
  ck_assert_uint_lt(after, before * 9 / 10);
  ck_assert_uint_eq(memory.used_bytes, 0);
}
END_TEST

/* Products take along what turns their matrices: of the two copies of a ConvNeXt block the one behind, of a mixer both; those behind only
 * where that pays. */
START_TEST(products_take_permutations_along)
{
  for (int round = 0; round < 20; round++) {
    graph g = graph_new(&rnd, &memory, 13);
    cm_model *made;
    json_t *report;
    (round % 2 == 0 ? make_convnext : make_mixer)(&g);
    graph_finish(&g, &run);
    ck_ok(cm_permutations_optimise(g.model, &run, &made, &report, &error));
    unsigned left = (unsigned)(round % 2 == 0) + !hidden_pays;
    ck_assert_uint_eq(cm_copy_bytes(made), cm_copy_bytes(g.model) / 2 * left);
    json_decref(report);
    cm_model_free(made);
    cm_model_free(g.model);
  }
}
END_TEST

/* Zeros around an image become the window's pads: of a convolution, and of a mean that counts them; not other numbers, not a mean that
 * does not count its own, and not for a second reader. */
START_TEST(pads_join_windows)
{
  for (int round = 0; round < 60; round++) {
    graph g = graph_new(&rnd, &memory, 13);
    cm_model *made;
    json_t *report;
    const int kind = round % 6;
    int64_t d[4] = {1, pick(1, 3), pick(3, 6), pick(3, 6)}, pads[8] = {0, 0, pick(0, 1), 1, 0, 0, pick(0, 2), pick(0, 2)}, one = 1,
            w[4] = {2, d[1], 3, 3}, own[4] = {pick(0, 1), 0, 0, 1};
    float value = kind == 2 ? 0.5f : 0;
    cm_tensor *filling = graph_random_tensor(&rnd, &memory, 1, &one, -1);
    uint32_t fill, x = graph_input(&g, 4, d);
    ((float *)filling->data)[0] = value;
    ck_ok(cm_model_add_constant(g.model, "fill", filling, &fill, &error));
    uint32_t padded = graph_node(&g, "Pad", x, graph_integers(&g, 8, pads), fill, GRAPH_END), y;
    if (kind == 0 || kind == 2 || kind == 4) {
      y = graph_node(&g, "Conv", padded, graph_constant(&g, 4, w, -1), GRAPH_END);
      graph_ints(&g, "pads", 4, own);
    } else {
      y = graph_node(&g, "AveragePool", padded, GRAPH_END);
      graph_ints(&g, "kernel_shape", 2, (int64_t[]){4, 4});
      if (kind != 5)
        graph_ints(&g, "pads", 4, own);
      graph_int(&g, "count_include_pad", kind == 1);
    }
    graph_output(&g, y);
    if (kind == 4)
      graph_output(&g, graph_node(&g, "Relu", padded, GRAPH_END));
    graph_finish(&g, &run);
    ck_ok(cm_permutations_optimise(g.model, &run, &made, &report, &error));
    const bool joins = kind == 0 || kind == 1 || kind == 5;
    ck_assert_msg((cm_copy_bytes(made) == 0) == joins, "round %d: %llu bytes", round, (unsigned long long)cm_copy_bytes(made));
    ck_assert_msg(same_numbers(g.model, made), "round %d: other numbers", round);
    json_decref(report);
    cm_model_free(made);
    cm_model_free(g.model);
  }
}
END_TEST

/* Mutation: whatever the pass wrote, put in another order, changes an output. A constant of one number, or one whose
 * rows are equal, cannot. */
START_TEST(a_wrong_permutation_is_noticed)
{
  unsigned mutants = 0;
  for (int round = 0; round < 12; round++) {
    graph g = graph_new(&rnd, &memory, 13);
    cm_model *made;
    json_t *report;
    make_network(&g);
    graph_finish(&g, &run);
    ck_ok(cm_permutations_optimise(g.model, &run, &made, &report, &error));
    for (size_t v = 0; v < made->value_count; v++) {
      cm_value *value = &made->values[v];
      cm_tensor *old = value->tensor, *mutant;
      if (!value->initializer || old->type != CM_FLOAT || old->dims[0] < 2 || value->use_count == 0)
        continue;
      ck_ok(cm_tensor_reshaped(&memory, old, old->rank, old->dims, &mutant, &error));
      size_t row = mutant->count / (size_t)mutant->dims[0] * sizeof(float);
      /* The first two rows change places: two filters, two biases. */
      memcpy(mutant->data, (uint8_t *)old->data + row, row);
      memcpy((uint8_t *)mutant->data + row, old->data, row);
      value->tensor = mutant;
      bool noticed = false;
      for (int tries = 0; tries < 4 && !noticed; tries++)
        noticed = !same_numbers(g.model, made);
      ck_assert_msg(noticed, "round %d: rows of '%s' exchanged, nobody noticed", round, value->name);
      value->tensor = old;
      cm_tensor_free(mutant);
      mutants++;
    }
    for (size_t i = 0; i < made->order_count; i++) {
      cm_node *n = &made->nodes[made->order[i]];
      if (n->known == NULL || strcmp(n->op, "Gather") != 0)
        continue;
      cm_tensor *index = made->values[n->inputs[1]].tensor;
      int64_t *list = index->data, first = list[0];
      list[0] = list[1];
      list[1] = first;
      ck_assert_msg(!same_numbers(g.model, made), "round %d: indices exchanged, nobody noticed", round);
      list[1] = list[0];
      list[0] = first;
      mutants++;
    }
    json_decref(report);
    cm_model_free(made);
    cm_model_free(g.model);
  }
  ck_assert_uint_gt(mutants, 60);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("permuted networks");
  TCase *tests = tcase_create("permuted networks");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_loop_test(tests, networks_move_less_and_compute_the_same, 0, 6);
  tcase_add_test(tests, products_take_permutations_along);
  tcase_add_test(tests, pads_join_windows);
  tcase_add_test(tests, a_wrong_permutation_is_noticed);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
