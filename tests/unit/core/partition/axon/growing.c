/* core/partition/axon/axon_flat.c: when parts are grown on the network itself, beside levels or in their place. */
#include "tests/unit/axons.h"

#include "core/partition/quality.h"

/* Layers that fill parts to the brim, on a network of too many pins to be grown for that alone: what levels find is reached by so few
 * axons that growing is tried, and finds the layers. */
START_TEST(layers_that_fill_parts_are_found)
{
  enum { LAYERS = 16, LAYER = 64, FAN = 48 };
  cm_random random;
  cm_random_init(&random, 7, 7, 7);
  cm_topology t = network_of_rows(LAYERS * LAYER, (size_t)LAYERS * LAYER * LAYER);
  for (uint32_t v = 0; v < LAYERS * LAYER; v++) {
    for (uint32_t u = (v / LAYER + 1) * LAYER; u < (v / LAYER + 2) * LAYER && u < LAYERS * LAYER; u++)
      if (below(&random, LAYER) < FAN)
        t.pin[t.pin_count++] = u;
    t.net_first[v + 1] = t.pin_count;
  }
  uint32_t part[LAYERS * LAYER], parts;
  cm_axon_options options = effort(LAYER, LAYER), little = effort(LAYER, LAYER);
  little.attempts = little.cycles = options.attempts = options.cycles = 1;
  options.below = &little;
  options.own_pins = options.grow_pins = 1;
  ck_ok(cm_partition_axons(&t, &options, &run, part, &parts, &error));
  ck_assert_uint_eq(parts, LAYERS);
  network_free(&t);
}
END_TEST

static bool has_phase(const char *name)
{
  for (size_t i = 0; i < run.phase_count; i++)
    if (strcmp(run.phases[i].name, name) == 0)
      return true;
  return false;
}

/* Where neurons alone fill the parts of a dense network, as few as hold them are grown, and more effort, which goes through levels,
 * costs no more; where axons may, levels are made. */
START_TEST(dense_networks_are_grown_where_neurons_alone_fill_parts)
{
  enum { N = 600, PART = 50, FAN = 150 };
  cm_random random;
  cm_random_init(&random, 8, 8, 8);
  cm_topology t = network_of_rows(N, (size_t)N * N);
  for (uint32_t u = 0; u < N; u++) {
    for (uint32_t v = 0; v < N; v++)
      if (below(&random, N) < FAN)
        t.pin[t.pin_count++] = v;
    t.net_first[u + 1] = t.pin_count;
  }
  uint32_t part[N], parts;
  cm_axon_options little = effort(PART, N), more = effort(PART, N);
  little.attempts = little.cycles = 0;
  little.dense_pins = more.own_pins = 1;
  cm_quality grown, better;
  ck_ok(cm_partition_axons(&t, &little, &run, part, &parts, &error));
  ck_assert_uint_eq(parts, N / PART);
  ck_assert(!has_phase("coarsen"));
  ck_ok(cm_quality_compute(&t, part, parts, &run, &grown, &error));
  more.below = &little;
  ck_ok(cm_partition_axons(&t, &more, &run, part, &parts, &error));
  ck_assert(has_phase("coarsen"));
  ck_ok(cm_quality_compute(&t, part, parts, &run, &better, &error));
  ck_assert_double_le(better.connectivity, grown.connectivity);
  cm_run_init(&run);
  little.limits.inbound_axons = N - 1;
  ck_ok(cm_partition_axons(&t, &little, &run, part, &parts, &error));
  ck_assert(has_phase("coarsen"));
  network_free(&t);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("growing");
  TCase *tests = tcase_create("growing");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_figures_test(tests, layers_that_fill_parts_are_found);
  tcase_add_figures_test(tests, dense_networks_are_grown_where_neurons_alone_fill_parts);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
