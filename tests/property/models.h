/* Random models that are compiled for a chip, for the tests of programs and of schedules. */
#pragma once

#include "../unit/graphs.h"

#include <jansson.h>
#include <math.h>
#include <sodium.h>

#include "core/chip/chip.h"
#include "core/machine/order.h"
#include "core/machine/schedule/search.h"

#define UNUSED __attribute__((unused))

static cm_run run;
static cm_memory memory;
static cm_error error;
static cm_random rnd;
static cm_chip *chip;

static void set_up(void)
{
  ck_assert_int_ge(sodium_init(), 0);
  cm_memory_init(&memory, UINT64_C(2) << 30);
  cm_run_init(&run);
  run.memory = &memory;
  cm_random_init(&rnd, 11, 0, 0);
  ck_ok(cm_chip_open("npu-mixed", &chip, &error));
}

static void tear_down(void)
{
  cm_chip_free(chip);
  ck_assert_uint_eq(memory.used_bytes, 0);
}

static int64_t pick(int64_t least, int64_t most)
{
  return least + (int64_t)cm_random_below(&rnd, (uint64_t)(most - least + 1));
}

/* ---- random models ---- */

/* Only the first ones of a model may shrink the image much. */
static uint32_t add_conv(graph *g, uint32_t x, int64_t channels, int64_t filters, int64_t group, bool early)
{
  int64_t kernel[2] = {pick(1, early ? 4 : 3), pick(1, early ? 4 : 3)}, stride[2] = {pick(1, early ? 2 : 1), pick(1, 2)},
          dilation[2] = {pick(1, early ? 2 : 1), pick(1, early ? 2 : 1)},
          pads[4], w[4] = {filters, channels / group, kernel[0], kernel[1]};
  for (int i = 0; i < 4; i++)
    pads[i] = pick(early ? 0 : 1, kernel[i % 2]);
  uint32_t y = pick(0, 1) ? graph_node(g, "Conv", x, graph_constant(g, 4, w, -1), graph_constant(g, 1, w, -1), GRAPH_END)
                          : graph_node(g, "Conv", x, graph_constant(g, 4, w, -1), GRAPH_END);
  graph_int(g, "group", group);
  graph_ints(g, "kernel_shape", 2, kernel);
  graph_ints(g, "strides", 2, stride);
  graph_ints(g, "dilations", 2, dilation);
  graph_ints(g, "pads", 4, pads);
  return y;
}

static uint32_t add_pool(graph *g, uint32_t x)
{
  int64_t kernel[2] = {pick(2, 3), pick(2, 3)}, pads[4];
  for (int i = 0; i < 4; i++)
    pads[i] = pick(0, 1);
  uint32_t y = graph_node(g, pick(0, 1) ? "MaxPool" : "AveragePool", x, GRAPH_END);
  bool average = strcmp(graph_last(g)->op, "AveragePool") == 0;
  graph_ints(g, "kernel_shape", 2, kernel);
  graph_ints(g, "strides", 2, (int64_t[]){pick(1, 2), pick(1, 2)});
  graph_ints(g, "pads", 4, pads);
  graph_int(g, "ceil_mode", pick(0, 1));
  if (average)
    graph_int(g, "count_include_pad", pick(0, 1));
  return y;
}

static uint32_t add_norm(graph *g, uint32_t x, const int64_t *channels)
{
  return graph_node(g, "BatchNormalization", x, graph_constant(g, 1, channels, -1), graph_constant(g, 1, channels, -1),
                    graph_constant(g, 1, channels, -1), graph_constant(g, 1, channels, 0.1), GRAPH_END);
}

/* Convolutions of every kind, pools, a residual sum, a concatenation, a shuffle of channels, a classifier. */
UNUSED static graph image_model(void)
{
  graph g = graph_new(&rnd, &memory, 13);
  int64_t d[4] = {pick(1, 2), 2 * pick(1, 3), pick(18, 30), pick(12, 20)}, c = 4 * pick(1, 3);
  uint32_t x = graph_input(&g, 4, d);
  x = add_conv(&g, x, d[1], c, 2, true);
  x = graph_node(&g, "Relu", add_norm(&g, x, &c), GRAPH_END);
  uint32_t y = graph_node(&g, "Sigmoid", x, GRAPH_END);
  x = graph_node(&g, "Add", x, graph_node(&g, "Mul", y, graph_constant(&g, 1, (int64_t[]){1}, -1), GRAPH_END), GRAPH_END);
  x = graph_node(&g, "Concat", x, y, GRAPH_END);
  graph_int(&g, "axis", 1);
  x = pick(0, 1) ? add_pool(&g, x) : graph_node(&g, "LRN", x, GRAPH_END);
  if (strcmp(graph_last(&g)->op, "LRN") == 0)
    graph_int(&g, "size", 3);
  x = add_conv(&g, x, 2 * c, 2 * c, pick(0, 1) ? 2 * c : 1, false);
  if (pick(0, 1)) { /* channels dealt out in two piles */
    x = graph_node(&g, "Reshape", x, graph_integers(&g, 5, (int64_t[]){0, 2, c, 0, -1}), GRAPH_END);
    graph_finish(&g, &run);
    const cm_shape *s = &g.model->values[x].shape;
    int64_t back[4] = {s->dims[0], 2 * c, s->dims[3], s->dims[4]};
    x = graph_transpose(&g, x, 5, (int64_t[]){0, 2, 1, 3, 4});
    x = graph_node(&g, "Reshape", x, graph_integers(&g, 4, back), GRAPH_END);
  }
  if (pick(0, 2) == 0)
    graph_output(&g, x);
  x = add_conv(&g, x, 2 * c, 6, 1, false);
  if (pick(0, 1)) {
    x = graph_node(&g, "GlobalAveragePool", x, GRAPH_END);
    x = graph_node(&g, "Flatten", x, GRAPH_END);
    x = graph_node(&g, "Gemm", x, graph_constant(&g, 2, (int64_t[]){6, 10}, -1), graph_constant(&g, 1, (int64_t[]){10}, -1),
                   GRAPH_END);
    x = graph_node(&g, "Softmax", x, GRAPH_END);
  } else {
    x = graph_transpose(&g, x, 4, (int64_t[]){0, 2, 3, 1});
    x = graph_node(&g, "Reshape", x, graph_integers(&g, 3, (int64_t[]){0, -1, 2}), GRAPH_END);
  }
  graph_output(&g, x);
  return g;
}

/* Attention over tokens. */
UNUSED static graph token_model(void)
{
  graph g = graph_new(&rnd, &memory, 17);
  int64_t tokens = pick(6, 24), heads = pick(1, 3), each = 4 * pick(1, 2), wide = heads * each,
          d[3] = {1, tokens, wide}, square[2] = {wide, wide};
  uint32_t x = graph_input(&g, 3, d), q[3];
  uint32_t n = graph_node(&g, "LayerNormalization", x, graph_constant(&g, 1, d + 2, -1), graph_constant(&g, 1, d + 2, -1),
                          GRAPH_END);
  for (int i = 0; i < 3; i++) {
    q[i] = graph_node(&g, "MatMul", n, graph_constant(&g, 2, square, -1), GRAPH_END);
    q[i] = graph_node(&g, "Reshape", q[i], graph_integers(&g, 4, (int64_t[]){1, tokens, heads, each}), GRAPH_END);
    q[i] = graph_transpose(&g, q[i], 4, i == 1 ? (int64_t[]){0, 2, 3, 1} : (int64_t[]){0, 2, 1, 3});
  }
  uint32_t a = graph_node(&g, "Softmax", graph_node(&g, "MatMul", q[0], q[1], GRAPH_END), GRAPH_END);
  a = graph_transpose(&g, graph_node(&g, "MatMul", a, q[2], GRAPH_END), 4, (int64_t[]){0, 2, 1, 3});
  a = graph_node(&g, "Reshape", a, graph_integers(&g, 3, d), GRAPH_END);
  x = graph_node(&g, "Add", x, a, GRAPH_END);
  uint32_t part = graph_node(&g, "Slice", x, graph_integers(&g, 1, (int64_t[]){1}),
                             graph_integers(&g, 1, (int64_t[]){tokens - 1}), graph_integers(&g, 1, (int64_t[]){1}), GRAPH_END);
  graph_output(&g, part);
  graph_output(&g, graph_node(&g, "ReduceMean", graph_node(&g, "Gelu", x, GRAPH_END), GRAPH_END));
  graph_ints(&g, "axes", 1, (int64_t[]){1});
  return g;
}

/* Three to five ways of one to three operators side by side between sums: several subgraphs with several orders. */
UNUSED static graph branching_model(void)
{
  graph g = graph_new(&rnd, &memory, 13);
  int64_t c = 4 * pick(2, 4);
  uint32_t x = graph_input(&g, 4, (int64_t[]){1, c, pick(12, 20), pick(12, 20)});
  for (int block = 0; block < 3; block++) {
    uint32_t sum = x;
    for (int64_t way = 0, ways = pick(3, 5); way < ways; way++) {
      uint32_t y = x;
      for (int64_t k = pick(1, 3); k > 0; k--) {
        y = graph_node(&g, "Conv", y, graph_constant(&g, 4, (int64_t[]){c, c, 3, 3}, -1), GRAPH_END);
        graph_ints(&g, "pads", 4, (int64_t[]){1, 1, 1, 1});
      }
      sum = graph_node(&g, "Add", sum, y, GRAPH_END);
    }
    x = graph_node(&g, "Relu", sum, GRAPH_END);
  }
  graph_output(&g, x);
  graph_finish(&g, &run);
  return g;
}

static cm_plan_options options_for(uint64_t bytes, const cm_settings *settings)
{
  return (cm_plan_options){.memory_bytes = bytes, .tile_share = 16, .target = chip->target, .chip_name = "test",
                           .settings = settings};
}

/* Who does operations of a kind becomes a host for them. */
UNUSED static void become_hosts(cm_target *target, cm_unit_kind kind)
{
  for (uint32_t d = 0; d < target->device_count; d++) {
    cm_device *device = &target->device[d];
    if (device->rate_count[kind] == 0)
      continue;
    memcpy(device->rate[CM_UNIT_HOST], device->rate[kind], sizeof device->rate[kind]);
    device->rate_count[CM_UNIT_HOST] = device->rate_count[kind];
    device->rate_count[kind] = 0;
    device->bytes_per_ns = device->bytes_per_ns > 0 ? device->bytes_per_ns : 4;
  }
}
