/* core/measure: cases computed by hand. */
#include "tests/unit/networks.h"

#include "core/machine/compile.h"
#include "core/mapping/options.h"
#include "core/measure/measure.h"
#include "core/simulate/simulate_request.h"

static cm_error error;

/* Four neurons on four cores of a 3 x 3 mesh: 0 at (0,0), 1 at (2,0), 2 at (2,2), 3 at (0,0)'s own core too.
 * Neuron 0 fires 2 to neurons 1, 2 and 3; neuron 1 fires 4 to neuron 0. */
static cm_topology small(void)
{
  cm_topology t = {
      .directed = true, .vertex_count = 4, .net_count = 2, .pin_count = 4, .size_total = 4, .weight_scale = 8};
  t.net_first = network_array(3, sizeof *t.net_first);
  t.net_weight = network_array(2, sizeof *t.net_weight);
  t.pin = network_array(4, sizeof *t.pin);
  memcpy(t.net_first, (const uint64_t[]){0, 3, 4}, 3 * sizeof(uint64_t));
  memcpy(t.net_weight, (const uint64_t[]){16, 32}, 2 * sizeof(uint64_t));
  memcpy(t.pin, (const uint32_t[]){1, 2, 3, 0}, 4 * sizeof(uint32_t));
  return t;
}

static const uint32_t small_part[] = {0, 1, 2, 0};
static const uint32_t small_core[] = {0, 2, 8};

START_TEST(metrics_by_hand)
{
  cm_topology t = small();
  cm_chip *chip;
  ck_ok(cm_chip_mesh(3, 3, &chip, &error));
  cm_run run;
  cm_run_init(&run);
  cm_metrics m;
  cm_metrics_detail d;
  ck_ok(cm_metrics_compute(&(cm_mapped){CM_DEMAND_OF(&t), chip, small_part, 3, small_core, NULL}, &run, &m, &d, &error));
  /* Flows: 0 -> 1: 2 over 2 hops; 0 -> 2: 2 over 4 hops; 1 -> 0: 4 over 2 hops. */
  ck_assert_double_eq(m.connectivity, 8);
  ck_assert_double_eq(m.cut_net, 6);
  ck_assert_double_eq(m.edge_cut, 8);
  ck_assert_double_eq(m.hop_traffic, 20);
  ck_assert_double_eq_tol(m.energy_pj, 20 * 1.1 + 8 * 1.0, 1e-12);
  ck_assert_double_eq_tol(m.latency_mean_ns, (20 * 1.01 + 8) / 8, 1e-12);
  ck_assert_double_eq_tol(m.latency_max_ns, 4 * 1.01 + 1, 1e-12);
  ck_assert_double_eq_tol(m.congestion_mean, 28.0 / 9, 1e-12);
  /* East along the top row twice shared, then south: 4 links for the net of weight 2; 2 links for the other. */
  ck_assert_double_eq(m.multicast_hops, 2 * 4 + 4 * 2);
  ck_assert_double_eq_tol(m.multicast_energy_pj, 16 * 1.1 + 6 * 1.0, 1e-12);
  ck_assert_double_eq(m.multicast_link_load_max, 4);
  ck_assert_double_eq(m.link_load_max, 4);
  ck_assert_double_eq(m.port_load_max, 4);
  ck_assert_double_eq(m.multicast_port_load_max, 4);
  /* A link passes a packet in 0.01 ns, a port in 1. */
  ck_assert_double_eq_tol(m.saturation_load, 1.0 / 4, 1e-12);
  ck_assert_double_eq_tol(m.multicast_link_load_mean, 16.0 / 24, 1e-12);
  /* (0,0): 2 + 2 + 4. (1,0): 2 + 2/2 + 4. Middle: 2 * 1/2. (2,0): 2 + 2/4 + 4. */
  ck_assert_double_eq(cm_congestion_at(&d, chip, 0), 8);
  ck_assert_double_eq(cm_congestion_at(&d, chip, 1), 7);
  ck_assert_double_eq(cm_congestion_at(&d, chip, 4), 1);
  ck_assert_double_eq(cm_congestion_at(&d, chip, 2), 6.5);
  ck_assert_double_eq(cm_congestion_at(&d, chip, 5), 1);
  ck_assert_double_eq(cm_congestion_at(&d, chip, 8), 2);
  ck_assert_double_eq(m.congestion_max, 8);
  ck_assert_double_eq(cm_link_load_at(&d, 0, 0, CM_EAST), 4);
  ck_assert_double_eq(cm_link_load_at(&d, 2, 0, CM_WEST), 4);
  ck_assert_double_eq(cm_link_load_at(&d, 2, 0, CM_SOUTH), 2);
  ck_assert_double_eq(cm_link_load_at(&d, 2, 1, CM_SOUTH), 2);
  ck_assert_double_eq(cm_link_load_at(&d, 2, 2, CM_NORTH), 0);
  ck_assert_double_eq_tol(m.link_load_mean, 20.0 / 24, 1e-12);
  /* Part 0: inbound 0 (to 3) and 1; outbound pairs (0,1) and (0,2). */
  ck_assert_uint_eq(d.core[0].neurons, 2);
  ck_assert_uint_eq(d.core[0].synapses, 2);
  ck_assert_uint_eq(d.core[0].inbound_axons, 2);
  ck_assert_uint_eq(d.core[0].outbound_axons, 2);
  ck_assert_uint_eq(d.core[0].target_cores, 2);
  ck_assert_uint_eq(d.core[2].outbound_axons, 0);
  ck_assert_double_eq(d.core[0].traffic_out, 4);
  ck_assert_double_eq(d.core[0].traffic_in, 4);
  ck_assert_double_eq(m.synaptic_reuse_mean, 1);
  ck_assert_double_eq_tol(m.imbalance, 0.5, 1e-12);
  ck_assert_uint_eq(m.cores_used, 3);
  json_t *json = cm_metrics_json(&m);
  ck_assert_double_eq(json_number_value(json_object_get(json, "hop_traffic")), 20);
  ck_assert_uint_eq(json_object_size(json), 41);
  json_decref(json);
  cm_metrics_detail_free(&d);
  cm_chip_free(chip);
  network_free(&t);
}
END_TEST

START_TEST(nothing_flows_nothing_breaks)
{
  cm_topology t = small();
  cm_chip *chip;
  ck_ok(cm_chip_mesh(1, 1, &chip, &error));
  cm_run run;
  cm_run_init(&run);
  cm_metrics m;
  cm_metrics_detail d;
  const uint32_t together[4] = {0};
  ck_ok(cm_metrics_compute(&(cm_mapped){CM_DEMAND_OF(&t), chip, together, 1, together, NULL}, &run, &m, &d, &error));
  ck_assert_double_eq(m.latency_mean_ns, 0);
  ck_assert_double_eq(m.energy_pj, 0);
  ck_assert_double_eq(m.link_load_mean, 0);
  ck_assert_double_eq(m.imbalance, 0);
  cm_metrics_detail_free(&d);
  cm_topology empty = {.directed = true, .weight_scale = 1, .net_first = t.net_first};
  ck_ok(cm_metrics_compute(&(cm_mapped){CM_DEMAND_OF(&empty), chip, together, 0, together, NULL}, &run, &m, &d, &error));
  ck_assert_uint_eq(m.cores_used, 0);
  ck_assert_double_eq(m.imbalance, 0);
  cm_metrics_detail_free(&d);
  cm_chip_free(chip);
  network_free(&t);
}
END_TEST

START_TEST(bad_input_memory_and_cancel)
{
  cm_topology t = small();
  cm_chip *chip;
  ck_ok(cm_chip_mesh(3, 3, &chip, &error));
  cm_run run;
  cm_run_init(&run);
  cm_metrics m;
  cm_metrics_detail d;
  ck_fails(cm_metrics_compute(&(cm_mapped){CM_DEMAND_OF(&t), chip, small_part, 2, small_core, NULL}, &run, &m, &d, &error), CM_BAD_MAPPING);
  const uint32_t outside[] = {0, 2, 9};
  ck_fails(cm_metrics_compute(&(cm_mapped){CM_DEMAND_OF(&t), chip, small_part, 3, outside, NULL}, &run, &m, &d, &error), CM_BAD_MAPPING);
  atomic_bool cancel = true;
  run.cancel = &cancel;
  ck_fails(cm_metrics_compute(&(cm_mapped){CM_DEMAND_OF(&t), chip, small_part, 3, small_core, NULL}, &run, &m, &d, &error), CM_CANCELLED);
  run.cancel = NULL;
  int faults = 0;
  for (uint64_t n = 1;; n++, faults++) {
    cm_memory_fail_at(n);
    cm_status status = cm_metrics_compute(&(cm_mapped){CM_DEMAND_OF(&t), chip, small_part, 3, small_core, NULL}, &run, &m, &d, &error);
    if (!cm_memory_fault_fired())
      break;
    ck_assert_int_eq(status, CM_NO_MEMORY);
  }
  cm_memory_fail_at(0);
  cm_metrics_detail_free(&d);
  ck_assert_int_gt(faults, 20);
  cm_chip_free(chip);
  network_free(&t);
}
END_TEST

/* The text of a file of the source tree; the caller frees. */
static char *source(const char *name)
{
  char path[CM_PATH_MAX], *text = NULL;
  const char *folder = getenv("CM_SOURCE");
  size_t size;
  ck_ok(cm_path(path, &error, "%s/%s", folder != NULL ? folder : ".", name));
  ck_ok(cm_file_read(path, 1 << 20, &text, &size, &error));
  return text;
}

/* Whether a page has the name between two of these signs. */
static bool names(const char *page, char sign, const char *name)
{
  char quoted[80];
  snprintf(quoted, sizeof quoted, "%c%s%c", sign, name, sign);
  return strstr(page, quoted) != NULL;
}

START_TEST(pages_name_what_the_tables_have)
{
  char *formats = source("docs/reference/mapping-formats.md"), *options = source("docs/reference/options.md"), *simulation = source("docs/reference/simulation.md"),
       *running = source("docs/explanation/running.md");
  json_t *schema = cm_metrics_schema(), *properties = json_object_get(schema, "properties"), *one;
  const char *name;
  json_object_foreach(properties, name, one)
    ck_assert_msg(names(formats, '`', name), "docs/reference/mapping-formats.md lacks metric %s", name);
  json_decref(schema);
  const cm_options *const tables[] = {&cm_map_option_table, &cm_compile_option_table};
  for (size_t t = 0; t < 2; t++)
    for (size_t i = 0; i < tables[t]->count; i++)
      ck_assert_msg(names(options, '`', tables[t]->option[i].name) || names(running, '`', tables[t]->option[i].name),
                    "docs/reference/options.md and docs/explanation/running.md lack %s", tables[t]->option[i].name);
  for (size_t i = 0; i < cm_simulate_option_table.count; i++)
    ck_assert_msg(names(simulation, '`', cm_simulate_option_table.option[i].name) || names(running, '`', cm_simulate_option_table.option[i].name),
                  "docs/reference/simulation.md and docs/explanation/running.md lack %s", cm_simulate_option_table.option[i].name);
  free(formats);
  free(options);
  free(running);
  free(simulation);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("metrics");
  TCase *tests = tcase_create("metrics");
  tcase_add_test(tests, metrics_by_hand);
  tcase_add_test(tests, nothing_flows_nothing_breaks);
  tcase_add_test(tests, pages_name_what_the_tables_have);
  tcase_add_test(tests, bad_input_memory_and_cancel);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
