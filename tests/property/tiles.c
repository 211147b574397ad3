/* Tiles of operators: shares of devices are their portions rounded down or up, every element is computed once, and what
 * goes between micro-operators is what each element's owner says, counted one by one. */
#include <math.h>

#include "../unit/graphs.h"
#include "core/machine/tiles/tiles.h"
#include "core/operators/tiling/tile.h"

static cm_error error;

enum { DEVICES_MAX = 12 };

static uint32_t random_devices(cm_random *random, cm_tile_device *devices)
{
  uint32_t count = 1 + (uint32_t)cm_random_below(random, DEVICES_MAX);
  for (uint32_t i = 0; i < count; i++)
    devices[i] = (cm_tile_device){"d",
                                  1 + (uint32_t)cm_random_below(random, 64),
                                  1 + cm_random_below(random, 4096),
                                  (double)cm_random_below(random, 500) / 8,
                                  0.125 + (double)cm_random_below(random, 500) / 8,
                                  cm_random_below(random, 2) == 0};
  ck_ok(cm_tile_devices_check(devices, count, &error));
  return count;
}

START_TEST(shares_are_portions_rounded_and_add_up)
{
  cm_random random;
  cm_random_init(&random, (uint64_t)_i, 0, 0);
  cm_tile_device devices[DEVICES_MAX];
  uint32_t count = random_devices(&random, devices);
  uint64_t share[DEVICES_MAX], cells = cm_random_below(&random, UINT64_C(1) << cm_random_below(&random, 50)), sum = 0;
  double total = 0;
  for (uint32_t i = 0; i < count; i++) /* seed 4: p = K L / T, T = max(Tc, Td) or Tc + 2 Td */
    total += devices[i].cores * (double)devices[i].length /
             (devices[i].pipelined ? fmax(devices[i].compute_ns, devices[i].transfer_ns)
                                   : devices[i].compute_ns + devices[i].transfer_ns + devices[i].transfer_ns);
  cm_tile_shares(devices, count, cells, share);
  for (uint32_t i = 0; i < count; i++) {
    double exact = (double)cells * cm_tile_capability(&devices[i]) / total;
    ck_assert_double_gt((double)share[i], exact - 1 - 1e-9 * exact);
    ck_assert_double_lt((double)share[i], exact + 1 + 1e-9 * exact);
    sum += share[i];
    uint64_t pieces = cm_tile_micro_operators(&devices[i], share[i]);
    ck_assert_uint_ge(pieces * devices[i].length, share[i]);
    ck_assert(pieces == 0 || (pieces - 1) * devices[i].length < share[i]);
  }
  ck_assert_uint_eq(sum, cells);
}
END_TEST

START_TEST(devices_of_seed_4)
{
  cm_tile_device devices[] = {{"unpipelined", 2, 10, 3, 4, false}, {"pipelined", 1, 10, 3, 4, true}};
  uint64_t share[2];
  ck_assert_double_eq(cm_tile_time(&devices[0]), 10);
  ck_assert_double_eq(cm_tile_time(&devices[1]), 4);
  ck_assert_double_eq(cm_tile_capability(&devices[0]), 2);
  ck_assert_double_eq(cm_tile_capability(&devices[1]), 2.5);
  cm_tile_shares(devices, 2, 90, share);
  ck_assert_uint_eq(share[0], 40);
  ck_assert_uint_eq(share[1], 50);
}
END_TEST

START_TEST(devices_without_throughput_are_named)
{
  cm_tile_device good = {"engine", 1, 1, 1, 1, false}, bad[] = {good, good, good, good, good};
  bad[0].cores = 0;
  bad[1].length = 0;
  bad[2].transfer_ns = -1;
  bad[3].transfer_ns = bad[3].compute_ns = 0;
  bad[4].compute_ns = NAN;
  for (uint32_t i = 0; i < 5; i++) {
    ck_fails(cm_tile_devices_check(&bad[i], 1, &error), CM_BAD_CHIP);
    ck_assert_ptr_nonnull(strstr(error.detail, "engine"));
  }
  ck_fails(cm_tile_devices_check(&good, 0, &error), CM_BAD_CHIP);
}
END_TEST

/* ---- whole models ---- */

static uint32_t small(cm_random *random, uint32_t from, uint32_t to)
{
  return from + (uint32_t)cm_random_below(random, to - from + 1);
}

/* Convolutions of all sorts, pools, sums and joins over a small image. */
static void random_model(graph *g)
{
  cm_random *r = g->random;
  int64_t dims[4] = {small(r, 1, 2), 2 * small(r, 1, 3), small(r, 5, 9), small(r, 5, 9)};
  uint32_t x = graph_input(g, 4, dims), before = x;
  graph_node(g, "Relu", x, GRAPH_END);
  x = graph_last(g)->outputs[0];
  for (uint32_t step = small(r, 1, 5); step > 0; step--) {
    int64_t group = small(r, 0, 2) == 0 ? 2 : small(r, 0, 3) == 0 ? dims[1] : 1;
    group = dims[1] % group == 0 ? group : 1;
    int64_t filters = group * small(r, 1, 3), k = small(r, 1, 3), pads[4] = {1, 1, 1, 1}, two[2] = {1, small(r, 1, 2)};
    int64_t weights[4] = {filters, dims[1] / group, k, k};
    before = x;
    switch (small(r, 0, 4)) {
    case 0: x = graph_node(g, "Add", x, before, GRAPH_END); break;
    case 1:
      x = graph_node(g, "MaxPool", x, GRAPH_END);
      graph_ints(g, "kernel_shape", 2, (int64_t[]){3, 3});
      graph_ints(g, "pads", 4, pads);
      break;
    case 2: x = graph_node(g, "Softmax", x, GRAPH_END); break;
    default:
      x = graph_node(g, "Conv", x, graph_constant(g, 4, weights, -1), GRAPH_END);
      graph_int(g, "group", group);
      graph_ints(g, "pads", 4, pads);
      graph_ints(g, "strides", 2, two);
      graph_ints(g, "dilations", 2, (int64_t[]){two[1], 1});
      dims[1] = filters;
      if (small(r, 0, 1) == 0) {
        uint32_t y = graph_node(g, "Sigmoid", x, GRAPH_END);
        x = graph_node(g, "Concat", x, y, GRAPH_END);
        graph_int(g, "axis", 1);
        dims[1] *= 2;
      }
    }
  }
  graph_output(g, graph_node(g, "GlobalAveragePool", x, GRAPH_END));
}

static bool inside(const cm_box *box, const int64_t *index)
{
  for (uint32_t i = 0; i < box->rank; i++)
    if (index[i] < box->from[i] || index[i] >= box->to[i])
      return false;
  return true;
}

/* The micro-operator that computes an element, seen through Concat (the only view here); CM_NONE: the input. */
static uint32_t owner_of(const cm_model *m, const cm_tiling *t, uint32_t value, const int64_t *index)
{
  uint32_t found = CM_NONE, maker = m->values[value].producer;
  int64_t at[CM_RANK_MAX];
  if (maker == CM_NONE)
    return CM_NONE;
  if (strcmp(m->nodes[maker].op, "Concat") == 0) {
    memcpy(at, index, sizeof at);
    uint32_t first = m->nodes[maker].inputs[0];
    int64_t channels = m->values[first].shape.dims[1];
    at[1] -= index[1] < channels ? 0 : channels;
    return owner_of(m, t, m->nodes[maker].inputs[index[1] >= channels], at);
  }
  for (uint32_t k = 0; k < t->micro_count; k++)
    if (t->micro[k].node == maker && inside(&t->micro[k].output, index)) {
      ck_assert_uint_eq(found, CM_NONE); /* computed twice */
      found = k;
    }
  ck_assert_uint_ne(found, CM_NONE); /* lost */
  return found;
}

static void call_of(const cm_model *m, const cm_node *node, cm_call *call, cm_shape *shapes, cm_tensor **values)
{
  for (uint32_t i = 0; i < node->input_count; i++) {
    shapes[i] = m->values[node->inputs[i]].shape;
    values[i] = m->values[node->inputs[i]].tensor;
  }
  shapes[4] = m->values[node->outputs[0]].shape;
  *call = (cm_call){.node = node, .opset = m->opset, .input_count = node->input_count, .output_count = 1,
                    .input = shapes, .value = values, .output = shapes + 4};
}

/* Bytes that micro-operator k reads of each other one, an element at a time. */
static void true_reads(const cm_model *m, const cm_tiling *t, uint32_t k, uint64_t *bytes)
{
  const cm_node *node = &m->nodes[t->micro[k].node];
  cm_call call;
  cm_shape shapes[5];
  cm_tensor *values[4];
  cm_box boxes[4];
  cm_split_change change;
  call_of(m, node, &call, shapes, values);
  ck_ok(cm_split_piece(&call, &t->micro[k].output, boxes, &change, &error));
  memset(bytes, 0, t->micro_count * sizeof *bytes);
  for (uint32_t i = 0; i < node->input_count; i++) {
    int64_t extent[CM_RANK_MAX], step[CM_RANK_MAX] = {0}, index[CM_RANK_MAX] = {0};
    if (m->values[node->inputs[i]].constant)
      continue;
    for (uint32_t a = 0; a < boxes[i].rank; a++)
      extent[a] = boxes[i].to[a] - boxes[i].from[a];
    do {
      for (uint32_t a = 0; a < boxes[i].rank; a++)
        index[a] = boxes[i].from[a] + step[a];
      uint32_t owner = owner_of(m, t, node->inputs[i], index);
      if (owner != CM_NONE)
        bytes[owner] += sizeof(float);
    } while (cm_next_index(boxes[i].rank, extent, step));
  }
}

/* The network says the same as the tiling; the schedule keeps to its arcs and to the cores of each device. */
static void check_topology_and_schedule(const cm_model *m, const cm_tiling *t, const cm_tile_device *devices,
                                        uint32_t count, cm_run *run)
{
  cm_topology *topology;
  cm_schedule *s;
  ck_ok(cm_tiles_topology(m, t, devices, run->memory, &topology, &error));
  ck_ok(cm_topology_verify(topology, &error));
  ck_assert_uint_eq(topology->vertex_count, t->micro_count);
  ck_assert_uint_eq(cm_topology_synapses(topology), t->arc_count);
  for (uint32_t e = 0; e < topology->net_count; e++) {
    ck_assert_uint_eq(cm_topology_source(topology, e), t->arc[e].from);
    ck_assert_uint_eq(topology->pin[topology->net_first[e]], t->arc[e].to);
    ck_assert_uint_eq(cm_topology_pin_weight(topology, e, topology->net_first[e]), t->arc[e].bytes);
  }
  for (uint32_t k = 0; k < t->micro_count; k++) {
    ck_assert_uint_eq(cm_topology_size(topology, k), t->micro[k].bytes);
    ck_assert_ptr_nonnull(strstr(cm_topology_label(topology, k), devices[t->micro[k].device].name));
  }
  cm_topology_free(topology);
  ck_ok(cm_tiles_schedule(t, devices, count, run, &s, &error));
  for (uint64_t i = 0; i < t->arc_count; i++)
    ck_assert_uint_le(s->finish[t->arc[i].from], s->start[t->arc[i].to]);
  for (uint32_t k = 0; k < t->micro_count; k++) { /* at the start of each, those under way on its device */
    uint32_t under_way = 0;
    ck_assert_uint_eq(s->finish[k] - s->start[k], t->micro[k].latency_ns);
    for (uint32_t l = 0; l < t->micro_count; l++)
      under_way += t->micro[l].device == t->micro[k].device && s->start[l] <= s->start[k] && s->finish[l] > s->start[k];
    ck_assert_uint_le(under_way, devices[t->micro[k].device].cores);
  }
  cm_schedule_free(s);
}

START_TEST(every_element_is_computed_once_and_arcs_are_what_is_read)
{
  cm_random random;
  cm_memory memory;
  cm_run run;
  cm_tile_device devices[DEVICES_MAX];
  cm_tiling *t, *again;
  cm_random_init(&random, (uint64_t)_i, 1, 0);
  cm_memory_init(&memory, 0);
  cm_run_init(&run);
  run.memory = &memory;
  graph g = graph_new(&random, &memory, 11);
  random_model(&g);
  graph_finish(&g, &run);
  uint32_t count = random_devices(&random, devices);
  count = count > 3 ? 3 : count;
  for (uint32_t i = 0; i < count; i++)
    devices[i].length = 1 + cm_random_below(&random, 200);
  cm_tile_options options = {devices, count, 8 + (uint32_t)cm_random_below(&random, 40)};
  ck_ok(cm_tile_model(g.model, &options, &run, &t, &error));
  uint64_t *bytes = calloc(t->micro_count, sizeof *bytes), arc = 0;
  for (uint32_t from = 0; from < t->micro_count; from++)
    for (; arc < t->arc_count && t->arc[arc].from == from; arc++)
      ck_assert(arc == 0 || t->arc[arc - 1].from < from || t->arc[arc - 1].to < t->arc[arc].to);
  ck_assert_uint_eq(arc, t->arc_count);
  for (uint32_t k = 0; k < t->micro_count; k++) {
    true_reads(g.model, t, k, bytes);
    for (arc = 0; arc < t->arc_count; arc++)
      if (t->arc[arc].to == k) {
        ck_assert_uint_eq(t->arc[arc].bytes, bytes[t->arc[arc].from]);
        bytes[t->arc[arc].from] = 0;
      }
    for (uint32_t from = 0; from < t->micro_count; from++)
      ck_assert_uint_eq(bytes[from], 0); /* an arc is missing */
  }
  check_topology_and_schedule(g.model, t, devices, count, &run);
  run.threads = 3;
  ck_ok(cm_tile_model(g.model, &options, &run, &again, &error));
  ck_assert_uint_eq(again->arc_count, t->arc_count);
  ck_assert_mem_eq(again->arc, t->arc, t->arc_count * sizeof *t->arc);
  free(bytes);
  cm_tiling_free(t);
  cm_tiling_free(again);
  cm_model_free(g.model);
  ck_assert_uint_eq(atomic_load(&memory.used_bytes), 0);
}
END_TEST

START_TEST(boxes_cover_an_output_for_any_devices)
{
  cm_random random;
  cm_tile_device devices[DEVICES_MAX];
  cm_random_init(&random, (uint64_t)_i, 2, 0);
  cm_tile_options options = {devices, random_devices(&random, devices), 1 + (uint32_t)cm_random_below(&random, 2000)};
  cm_node node = {.name = "n", .op = "Relu", .domain = "", .known = cm_operator_find("", "Relu", 11), .input_count = 1,
                  .output_count = 1, .inputs = (uint32_t[]){0}, .outputs = (uint32_t[]){1}};
  cm_shape shape = {.type = CM_FLOAT, .rank = small(&random, 0, 4)};
  for (uint32_t i = 0; i < shape.rank; i++)
    shape.dims[i] = small(&random, 1, 9);
  cm_call call = {.node = &node, .opset = 11, .input_count = 1, .output_count = 1, .input = &shape, .output = &shape,
                  .value = (cm_tensor *[]){NULL}};
  cm_box *boxes, whole = cm_box_whole(&shape);
  uint32_t *device, count;
  uint64_t sum = 0, share[DEVICES_MAX], given[DEVICES_MAX] = {0};
  ck_ok(cm_tile_cut(&call, &options, NULL, &boxes, &device, &count, &error));
  for (uint32_t k = 0; k < count; k++) {
    sum += cm_box_count(&boxes[k]);
    given[device[k]] += cm_box_count(&boxes[k]);
    for (uint32_t l = 0; l < k; l++) {
      cm_box both;
      ck_assert(shape.rank > 0 && !cm_box_intersect(&boxes[k], &boxes[l], &both));
    }
  }
  ck_assert_uint_eq(sum, cm_box_count(&whole));
  cm_tile_shares(devices, options.device_count, cm_box_count(&whole), share);
  ck_assert_mem_eq(share, given, options.device_count * sizeof *share);
  cm_free(boxes);
  cm_free(device);
}
END_TEST

START_TEST(halos_and_names_of_a_hand_made_model)
{
  /* Two devices take four rows each of 1x1x8x8. A 3x3 window reads one row (8 floats) beyond its own; what a Reshape and
   * a Slice see of that are the same elements. */
  cm_random random;
  cm_memory memory;
  cm_run run;
  cm_tiling *t;
  cm_tile_device devices[] = {{"a", 1, 32, 1, 1, false}, {"b", 1, 32, 1, 1, false}};
  cm_tile_options options = {devices, 2, 100};
  cm_random_init(&random, 1, 3, 0);
  cm_memory_init(&memory, 0);
  cm_run_init(&run);
  run.memory = &memory;
  graph g = graph_new(&random, &memory, 11);
  uint32_t x = graph_node(&g, "Relu", graph_input(&g, 4, (int64_t[]){1, 1, 8, 8}), GRAPH_END);
  uint32_t y = graph_node(&g, "Conv", x, graph_constant(&g, 4, (int64_t[]){1, 1, 3, 3}, -1), GRAPH_END);
  graph_ints(&g, "pads", 4, (int64_t[]){1, 1, 1, 1});
  uint32_t flat = graph_node(&g, "Reshape", y, graph_integers(&g, 1, (int64_t[]){64}), GRAPH_END);
  uint32_t part = graph_node(&g, "Slice", flat, graph_integers(&g, 1, (int64_t[]){30}),
                             graph_integers(&g, 1, (int64_t[]){36}), GRAPH_END);
  graph_output(&g, graph_node(&g, "Abs", part, GRAPH_END)); /* 6 elements: three on each device */
  graph_finish(&g, &run);
  ck_ok(cm_tile_model(g.model, &options, &run, &t, &error));
  ck_assert_uint_eq(t->micro_count, 6);
  static const cm_tile_arc expected[] = {{0, 2, 32 * 4}, {0, 3, 8 * 4}, {1, 2, 8 * 4}, {1, 3, 32 * 4},
                                         {2, 4, 2 * 4},  {3, 4, 1 * 4}, {3, 5, 3 * 4}};
  ck_assert_uint_eq(t->arc_count, 7);
  for (uint32_t i = 0; i < 7; i++) {
    ck_assert_uint_eq(t->arc[i].from, expected[i].from);
    ck_assert_uint_eq(t->arc[i].to, expected[i].to);
    ck_assert_uint_eq(t->arc[i].bytes, expected[i].bytes);
  }
  ck_assert_uint_eq(t->micro[2].bytes, 32 * 4 + 9 * 4); /* its part of the output, and all weights */
  ck_assert_uint_eq(t->micro[2].latency_ns, 3);
  ck_assert_uint_eq(t->micro[4].latency_ns, 1);
  cm_tiling_free(t);
  for (uint64_t n = 1, fired = 1; fired; n++) {
    t = NULL;
    cm_memory_fail_at(n);
    cm_status status = cm_tile_model(g.model, &options, &run, &t, &error);
    fired = cm_memory_fault_fired() != 0;
    cm_memory_fail_at(0);
    ck_assert_int_eq(status, fired ? CM_NO_MEMORY : CM_OK);
    cm_tiling_free(t);
  }
  cm_model_free(g.model);
  ck_assert_uint_eq(atomic_load(&memory.used_bytes), 0);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("tiles");
  TCase *c = tcase_create("tiles");
  tcase_set_timeout(c, 60);
  suite_add_tcase(suite, c);
  tcase_add_loop_test(c, shares_are_portions_rounded_and_add_up, 0, 200);
  tcase_add_test(c, devices_of_seed_4);
  tcase_add_test(c, devices_without_throughput_are_named);
  tcase_add_loop_test(c, boxes_cover_an_output_for_any_devices, 0, 100);
  tcase_add_loop_test(c, every_element_is_computed_once_and_arcs_are_what_is_read, 0, 30);
  tcase_add_test(c, halos_and_names_of_a_hand_made_model);
  return test_main(suite);
}
