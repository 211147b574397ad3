/* Tiles of programs: shares of devices, what they hold and read, where they lie; and that what is false is found. */
#include <math.h>

#include "../unit/graphs.h"
#include "core/machine/cost.h"
#include "core/machine/order.h"
#include "core/machine/run/run_lanes.h"
#include "core/machine/schedule/search.h"
#include "core/machine/tiles/tiles.h"

static cm_error error;

enum { DEVICES_MAX = 12 };

/* ---- shares ---- */

START_TEST(a_device_of_seed_4)
{
  /* T is max(Tc, Td) where transfers and computing overlap, Tc + 2 Td where they do not; p = K L / T, here in pieces. */
  const cm_target none = {.issue_ns = 0};
  cm_device device = {.units = 2, .ports = 1, .bytes_per_ns = 4, .pipelined = true};
  cm_work work = {.operations = 40, .read_bytes = 12, .written_bytes = 12};
  ck_assert_double_eq(cm_compute_ns(&none, &device, &work, 10), 4);
  ck_assert_double_eq(cm_compute_ns(&none, &device, &work, 20), 3);
  device.pipelined = false;
  ck_assert_double_eq(cm_compute_ns(&none, &device, &work, 10), 10);
  ck_assert_double_eq(cm_capability(&none, &device, &work, 10), 0.2);
  ck_assert_double_eq(cm_capability(&none, &device, &work, 0), 0);
}
END_TEST

/* Pieces that all units finish by a time. */
static double finished(const cm_target *t, const double *ns, double time)
{
  double pieces = 0;
  for (uint32_t d = 0; d < t->device_count; d++)
    pieces += ns[d] > 0 ? floor(time / ns[d] + 1e-9) * t->device[d].units : 0;
  return pieces;
}

START_TEST(shares_follow_capability_and_end_soonest)
{
  cm_random random;
  cm_random_init(&random, (uint64_t)_i, 0, 0);
  cm_target *t = calloc(1, sizeof *t);
  double ns[DEVICES_MAX], rate = 0, end = 0, units = 0;
  uint32_t share[DEVICES_MAX], pieces = (uint32_t)cm_random_below(&random, 3000), sum = 0;
  t->device_count = 1 + (uint32_t)cm_random_below(&random, DEVICES_MAX);
  for (uint32_t d = 0; d < t->device_count; d++) {
    t->device[d].units = 1 + (uint32_t)cm_random_below(&random, 20);
    ns[d] = d > 0 && cm_random_below(&random, 3) == 0 ? 0 : 1 + (double)cm_random_below(&random, 1000);
    rate += ns[d] > 0 ? t->device[d].units / ns[d] : 0;
    units += ns[d] > 0 ? t->device[d].units : 0;
  }
  cm_share_pieces(t, ns, pieces, share);
  for (uint32_t d = 0; d < t->device_count; d++) {
    sum += share[d];
    ck_assert(ns[d] > 0 || share[d] == 0);
    if (ns[d] <= 0)
      continue;
    /* Its portion, and what all units together are rounded by. */
    double exact = pieces * t->device[d].units / ns[d] / rate;
    ck_assert_double_le(fabs(share[d] - exact), units + 1e-6);
    end = fmax(end, ceil((double)share[d] / t->device[d].units) * ns[d]);
  }
  ck_assert_uint_eq(sum, pieces);
  ck_assert(pieces == 0 || finished(t, ns, end - 0.5) < pieces); /* nothing ends sooner */
  free(t);
}
END_TEST

static uint32_t small(cm_random *random, uint32_t from, uint32_t to)
{
  return from + (uint32_t)cm_random_below(random, to - from + 1);
}

/* Two devices of unlike rates and a port that bytes do not keep busy. */
static cm_target *two_devices(double fast, double slow, double issue_ns)
{
  cm_target *t = calloc(1, sizeof *t);
  const cm_device data = {.name = "data", .units = 1, .ports = 1, .moves = true, .bytes_per_ns = 1e6};
  cm_device device = {.name = "fast", .units = 1, .ports = 1, .pipelined = true, .rate_count = {0, 1, 1}};
  *t = (cm_target){.memory_bytes = 16 << 20, .issue_ns = issue_ns, .device_count = 3, .grid = {1, 1, 1, 1, 1, 1, false, false, 0, 0, 0, 0}};
  device.rate[CM_UNIT_MATRIX][0] = device.rate[CM_UNIT_VECTOR][0] = (cm_rate){"other", fast};
  t->device[0] = data;
  t->device[1] = device;
  t->device[2] = device;
  memcpy(t->device[2].name, "slow", sizeof "slow");
  t->device[2].rate[CM_UNIT_MATRIX][0].per_ns = slow;
  ck_ok(cm_target_number(t, &error));
  return t;
}

/* MatMul [960, 64] x [64, 64]: rows of the two devices, and when all is stored with every load, store and issue on the
 * port, by hand. */
START_TEST(rows_of_two_devices_follow_the_rule)
{
  static const struct {
    double fast, slow, issue_ns, rule_ns;
  } row[] = {{300, 37, 10, 11714}, {300, 37, 30, 11804}, {300, 37, 100, 12101}, {300, 60, 100, 11364}, {300, 100, 300, 11181}};
  cm_random random;
  cm_memory memory;
  cm_run run;
  cm_random_init(&random, 1, 3, 0);
  cm_memory_init(&memory, 0);
  cm_run_init(&run);
  run.memory = &memory;
  cm_target *target = two_devices(row[_i].fast, row[_i].slow, row[_i].issue_ns);
  graph g = graph_new(&random, &memory, 13);
  graph_output(&g, graph_node(&g, "MatMul", graph_input(&g, 2, (int64_t[]){960, 64}), graph_constant(&g, 2, (int64_t[]){64, 64}, -1), GRAPH_END));
  graph_finish(&g, &run);
  const cm_settings settings = cm_settings_default(target->memory_bytes);
  const cm_plan_options options = {.memory_bytes = target->memory_bytes, .tile_share = 16, .target = target, .chip_name = "test",
                                   .settings = &settings};
  cm_plan_candidate best;
  json_t *report;
  const cm_search_options how = {0};
  ck_ok(cm_settings_search(g.model, &options, &how, &run, &best, &report, &error));
  ck_assert_msg(best.time_ns <= 1.005 * row[_i].rule_ns, "%g ns, by the rule %g", best.time_ns, row[_i].rule_ns);
  json_decref(report);
  cm_model_free(g.model);
  free(target);
}
END_TEST

/* ---- whole models ---- */

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


/* A model compiled, and its tiles. */
typedef struct tiled {
  cm_draft draft;
  cm_program *program;
  cm_topology *topology;
  cm_mapping *mapping;
} tiled;

static double stretch = 1; /* of the settings that models are compiled with */

static void tile(cm_model *model, const cm_chip *chip, uint64_t bytes, bool time, cm_run *run, tiled *t)
{
  cm_settings settings = cm_settings_default(bytes);
  settings.stretch = stretch;
  cm_plan_options options = {.memory_bytes = bytes, .tile_share = 16, .target = chip->target, .chip_name = "test",
                             .settings = time ? &settings : NULL};
  ck_ok(cm_draft_make(&(cm_draft_task){model, &options, "test", chip->target, run, NULL}, NULL, &t->draft, &error));
  ck_ok(cm_link(&t->draft.emission, &t->program, &error));
  ck_ok(cm_tiles_topology(t->draft.plan, t->program, t->draft.emission.pieces, run, &t->topology, &error));
  ck_ok(cm_topology_verify(t->topology, &error));
  ck_ok(cm_tiles_map(CM_DEMAND_OF(t->topology), t->program, chip, run, &t->mapping, &error));
}

static cm_status agree(const tiled *t, cm_run *run)
{
  return cm_tiles_agree(t->program, t->topology, t->mapping->part, t->mapping->core, run, &error);
}

static void end(tiled *t)
{
  cm_mapping_free(t->mapping);
  cm_topology_free(t->topology);
  cm_program_free(t->program);
  cm_draft_free(&t->draft);
}

/* Whatever is changed of a network or a mapping, the check says so. */
static void check_lies(tiled *t, cm_random *random, cm_run *run)
{
  uint32_t v = (uint32_t)cm_random_below(random, t->topology->vertex_count);
  t->topology->size[v]++;
  ck_fails(agree(t, run), CM_BAD_MAPPING);
  t->topology->size[v]--;
  char *label = t->topology->label_text + t->topology->label_first[v];
  label[0]++;
  ck_fails(agree(t, run), CM_BAD_MAPPING);
  label[0]--;
  if (t->topology->net_count > 0) {
    uint32_t e = (uint32_t)cm_random_below(random, t->topology->net_count);
    t->topology->net_weight[e]--;
    ck_fails(agree(t, run), CM_BAD_MAPPING);
    t->topology->net_weight[e]++;
  }
  if (t->mapping->part_count > 1) {
    t->mapping->part[v] = (t->mapping->part[v] + 1) % t->mapping->part_count;
    ck_fails(agree(t, run), CM_BAD_MAPPING);
    t->mapping->part[v] = (t->mapping->part[v] + t->mapping->part_count - 1) % t->mapping->part_count;
  }
  ck_ok(agree(t, run));
}

/* A second, slower device for each kind of work. */
static void add_slow_devices(cm_chip *chip, cm_random *random)
{
  cm_target *t = chip->target;
  for (uint32_t d = 0, all = t->device_count; d < all; d++) {
    cm_device *slow = &t->device[t->device_count];
    if (t->device[d].moves)
      continue;
    *slow = t->device[d];
    slow->units = small(random, 1, 3);
    slow->pipelined = false;
    slow->bytes_per_ns = small(random, 4, 64);
    slow->name[0] = 's';
    for (cm_unit_kind k = CM_UNIT_MATRIX; k < CM_UNIT_KINDS; k++)
      for (uint32_t r = 0; r < slow->rate_count[k]; r++)
        slow->rate[k][r].per_ns /= small(random, 1, 9);
    uint32_t units = t->device[t->device_count - 1].first_unit + t->device[t->device_count - 1].units;
    for (uint32_t u = 0; u < slow->units; u++)
      t->core[units + u] = u;
    t->device_count++;
    ck_ok(cm_target_number(t, &error));
  }
}

START_TEST(tiles_are_what_the_program_does)
{
  cm_random random;
  cm_memory memory;
  cm_run run;
  cm_chip *chip;
  tiled t = {0};
  cm_random_init(&random, (uint64_t)_i, 1, 0);
  cm_memory_init(&memory, 0);
  cm_run_init(&run);
  run.memory = &memory;
  ck_ok(cm_chip_open("npu-mixed", &chip, &error));
  if (_i % 5 > 1)
    add_slow_devices(chip, &random);
  stretch = _i % 3;
  graph g = graph_new(&random, &memory, 11);
  random_model(&g);
  graph_finish(&g, &run);
  /* So little memory that much comes back from outside, or enough for all. */
  static const uint64_t sizes[] = {6 << 10, 12 << 10, 64 << 10, 1 << 20};
  tile(g.model, chip, sizes[_i % 4], _i % 3 != 0, &run, &t);
  ck_ok(agree(&t, &run));
  uint32_t v = 0;
  for (uint64_t i = 0; i < t.program->instruction_count; i++)
    if (t.program->instructions[i].opcode == CM_CODE_MATRIX || t.program->instructions[i].opcode == CM_CODE_VECTOR) {
      const cm_device *device = &chip->target->device[t.program->lanes[t.program->instructions[i].lane].device];
      uint32_t core = t.mapping->core[t.mapping->part[v]];
      bool of_device = false;
      for (uint32_t u = 0; u < device->units; u++)
        of_device = of_device || chip->target->core[device->first_unit + u] == core;
      ck_assert(of_device);
      ck_assert_ptr_nonnull(strstr(cm_topology_label(t.topology, v), device->name));
      v++;
    }
  ck_assert_uint_eq(v, t.topology->vertex_count);
  check_lies(&t, &random, &run);
  end(&t);
  cm_model_free(g.model);
  cm_chip_free(chip);
  ck_assert_uint_eq(atomic_load(&memory.used_bytes), 0);
}
END_TEST

/* Times by the definition: lanes in order, a flag is known after the hops between the two cores. */
static double time_by_hand(const cm_program *p, const cm_chip *chip)
{
  double *lane = calloc(p->lane_count, sizeof *lane), *set = calloc(p->instruction_count + 1, sizeof *set), last = 0;
  uint32_t *at = calloc(p->instruction_count + 1, sizeof *at);
  for (uint64_t i = 0; i < p->instruction_count; i++) { /* waits are for flags that were set before in the file */
    const cm_instruction *n = &p->instructions[i];
    if (n->opcode == CM_CODE_WAIT) {
      uint64_t count = 0, k = 0;
      for (; k < i && count < n->value; k++)
        count += p->instructions[k].opcode == CM_CODE_SET && p->instructions[k].flag == n->flag;
      ck_assert_uint_eq(count, n->value);
      uint32_t a = cm_lane_core(&p->target, at[k - 1]), b = cm_lane_core(&p->target, n->lane);
      cm_hops h = cm_chip_hops(chip, a, b);
      uint32_t links = h.east_west + h.north_south + h.die_to_die;
      double hop = a == b ? 0 : links * chip->latency_ns.east_west + (links + 1) * chip->latency_ns.router;
      lane[n->lane] = fmax(lane[n->lane], set[k - 1] + hop);
    } else if (n->opcode == CM_CODE_SET) {
      set[i] = lane[n->lane];
      at[i] = n->lane;
    } else
      lane[n->lane] += cm_instruction_ns(p, n);
    last = fmax(last, lane[n->lane]);
  }
  free(lane);
  free(set);
  free(at);
  return last;
}

START_TEST(hops_take_time)
{
  cm_random random;
  cm_memory memory;
  cm_run run;
  cm_chip *chip;
  double before = 0;
  cm_memory_init(&memory, 0);
  cm_run_init(&run);
  run.memory = &memory;
  for (int far = 0; far < 3; far++) {
    tiled t = {0};
    static const cm_simulation_options options = {0};
    cm_simulation result;
    cm_random_init(&random, (uint64_t)_i, 4, 0);
    ck_ok(cm_chip_open("npu-mixed", &chip, &error));
    double ns[3] = {0, 7, 900};
    chip->latency_ns = (cm_hop_cost){ns[far], ns[far] / 2, ns[far] / 2, ns[far] / 2, 0};
    chip->target->grid.router_ns = ns[far];
    chip->target->grid.east_west_ns = chip->target->grid.north_south_ns = chip->target->grid.die_to_die_ns = ns[far] / 2;
    graph g = graph_new(&random, &memory, 11);
    random_model(&g);
    graph_finish(&g, &run);
    tile(g.model, chip, _i % 2 == 0 ? 16 << 10 : 1 << 20, _i % 3 != 0, &run, &t);
    ck_ok(cm_simulate(t.program, NULL, &options, &run, NULL, &result, &error));
    ck_assert(fabs(result.time_ns - time_by_hand(t.program, chip)) < 1e-6 * result.time_ns);
    ck_assert(fabs(result.time_ns - t.draft.emission.time_ns) < 1e-6 * result.time_ns);
    ck_assert(result.time_ns > before * (far == 2 ? 1 : 0.5));
    before = result.time_ns;
    ck_ok(agree(&t, &run));
    end(&t);
    cm_model_free(g.model);
    cm_chip_free(chip);
  }
  ck_assert_uint_eq(atomic_load(&memory.used_bytes), 0);
}
END_TEST

START_TEST(halos_and_names_of_a_hand_made_model)
{
  /* Two rows of 1x1x8x8 a piece: a 3x3 window reads a row (8 floats) beyond them on each side. */
  cm_random random;
  cm_memory memory;
  cm_run run;
  cm_chip *chip;
  tiled t = {0};
  cm_random_init(&random, 1, 3, 0);
  cm_memory_init(&memory, 0);
  cm_run_init(&run);
  run.memory = &memory;
  ck_ok(cm_chip_open("npu-mixed", &chip, &error));
  chip->target->issue_ns = 0; /* pieces may be as small as units want them: four for each vector unit */
  graph g = graph_new(&random, &memory, 11);
  uint32_t x = graph_node(&g, "Relu", graph_input(&g, 4, (int64_t[]){1, 1, 8, 8}), GRAPH_END);
  uint32_t y = graph_node(&g, "Conv", x, graph_constant(&g, 4, (int64_t[]){1, 1, 3, 3}, -1), GRAPH_END);
  graph_ints(&g, "pads", 4, (int64_t[]){1, 1, 1, 1});
  graph_output(&g, y);
  graph_finish(&g, &run);
  g.model->nodes[g.model->values[x].producer].name = "Relu"; /* else its tiles are called by its value */
  tile(g.model, chip, 1 << 20, true, &run, &t);
  ck_ok(agree(&t, &run));
  /* A Relu's row a piece, and a convolution's: of each row of the output the two beside it are read too. */
  uint64_t bytes = 0;
  ck_assert_uint_eq(t.topology->vertex_count, 16);
  for (uint32_t e = 0; e < t.topology->net_count; e++) {
    ck_assert_uint_eq(t.topology->net_weight[e], 32);
    bytes += t.topology->net_weight[e];
  }
  ck_assert_uint_eq(bytes, (8 * 3 - 2) * 32);
  for (uint32_t v = 0; v < 16; v++)
    ck_assert_uint_eq(t.topology->size[v], strstr(cm_topology_label(t.topology, v), "Relu") != NULL ? 32 : 32 + 36);
  end(&t);
  cm_model_free(g.model);
  cm_chip_free(chip);
  ck_assert_uint_eq(atomic_load(&memory.used_bytes), 0);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("tiles");
  TCase *c = tcase_create("tiles");
  suite_add_tcase(suite, c);
  tcase_add_test(c, a_device_of_seed_4);
  tcase_add_loop_test(c, shares_follow_capability_and_end_soonest, 0, 200);
  tcase_add_loop_test(c, rows_of_two_devices_follow_the_rule, 0, 5);
  tcase_add_loop_test(c, tiles_are_what_the_program_does, 0, 60);
  tcase_add_loop_test(c, hops_take_time, 0, 12);
  tcase_add_test(c, halos_and_names_of_a_hand_made_model);
  return test_main(suite);
}
