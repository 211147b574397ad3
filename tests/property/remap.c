/* Mapping again from an old mapping, after random cores have died and random neurons and synapses have come and gone:
 * always legal to the independent check, never moving what can stay, and reporting what moved. */
#include "../unit/networks.h"

#include "core/verify/check.h"
#include "core/output/views.h"
#include "core/solver/map.h"
#include "core/solver/incremental/remap.h"
#include "core/mapping/options.h"
#include "core/partition/flows.h"
#include "core/placement/placement.h"

static cm_error error;
static char folder[CM_PATH_MAX], old_path[CM_PATH_MAX], new_path[CM_PATH_MAX];

static const char *objective;
static double budget_ns; /* of a step; 0: none */
static cm_memory account; /* of what is mapped: mappings give back to it */

static void set_up(void)
{
  objective = "auto";
  cm_memory_init(&account, 0);
  test_folder(folder);
  ck_ok(cm_path(old_path, &error, "%s/old.json", folder));
  ck_ok(cm_path(new_path, &error, "%s/new.json", folder));
}

static void tear_down(void)
{
  ck_ok(cm_folder_remove(folder, &error));
}

static cm_status map(cm_map_input *input, unsigned threads, bool baseline, cm_mapping **mapping)
{
  cm_run run;
  uint64_t held = account.used_bytes;
  cm_run_init(&run);
  run.memory = &account;
  json_t *json = json_pack("{s:s, s:i, s:s, s:s}", "preset", input->demand->network->directed ? "fast" : "reference", "threads",
                           (int)threads, "baseline", baseline ? "fresh" : "none", "objective", objective);
  if (budget_ns > 0)
    json_object_set_new(json, "step_budget_ns", json_real(budget_ns));
  cm_map_options *options;
  ck_ok(cm_map_options_parse(json, &options, &error));
  cm_map_options_apply(options, &run);
  input->options = options;
  input->scratch_folder = folder;
  cm_status status = cm_map(input, &run, mapping, &error);
  cm_map_options_free(options);
  json_decref(json);
  if (status != CM_OK)
    ck_assert_uint_eq(account.used_bytes, held);
  return status;
}

static void write_mapping(const cm_map_input *input, const cm_mapping *mapping, const char *path)
{
  FILE *stream = fopen(path, "w");
  ck_assert_ptr_nonnull(stream);
  ck_ok(cm_mapping_write(mapping, CM_DEMAND_OF(input->demand->network), input->chip, NULL, CM_VIEW_FULL_JSON, stream, &error));
  fclose(stream);
}

static void legal(const cm_map_input *input, const cm_mapping *mapping)
{
  cm_check_result result;
  cm_run run;
  cm_run_init(&run);
  write_mapping(input, mapping, new_path);
  ck_ok(cm_check_mapping(new_path,
                         &(cm_check_context){.demand = input->demand,
                                             .chip = input->chip,
                                             .occupancy = input->occupancy,
                                             .network_id = input->network_id,
                                             .run = &run},
                         &result, &error));
  ck_assert_msg(result.violation_count == 0, "%s", result.listed > 0 ? result.violations[0] : "");
  cm_check_result_free(&result);
}

static json_int_t told(const cm_mapping *m, const char *name)
{
  const json_t *value = json_object_get(json_object_get(m->report, "incremental"), name);
  ck_assert_msg(json_is_integer(value), "%s", name);
  return json_integer_value(value);
}

static bool afresh(const cm_mapping *m)
{
  return json_is_true(json_object_get(json_object_get(m->report, "incremental"), "afresh"));
}

/* The report against a count of its own. `before` are the old mapping's neurons. */
static void check_report(const cm_mapping *old, const cm_mapping *new, uint32_t before)
{
  uint32_t both = before < new->vertex_count ? before : new->vertex_count, moved = 0;
  for (uint32_t v = 0; v < both; v++)
    moved += old->core[old->part[v]] != new->core[new->part[v]];
  ck_assert_int_eq(told(new, "moved_neurons"), moved);
  ck_assert_int_eq(told(new, "kept_neurons"), both - moved);
  ck_assert_int_eq(told(new, "new_neurons"), new->vertex_count - both);
  ck_assert_int_eq(told(new, "vanished_neurons"), before - both);
}

static cm_chip *random_chip(cm_random *random)
{
  char text[600];
  static const char *const limits[] = {"", ", \"inbound_axons\": 40", ", \"synapses\": 60", ", \"outbound_axons\": 60",
                                       ", \"target_cores\": 12"};
  snprintf(text, sizeof text,
           "{\"name\": \"r\", \"cores\": [%u, %u], \"torus\": [%s, false], \"limits\": {\"neurons\": %u%s}}",
           3 + below(random, 6), 3 + below(random, 6), below(random, 2) ? "true" : "false", 5 + below(random, 12),
           limits[below(random, 5)]);
  cm_chip *chip;
  ck_ok(cm_chip_parse(text, strlen(text), &chip, &error));
  return chip;
}

/* A copy without some neurons at the end, with some more, and with some synapses changed. */
static cm_topology edit(cm_random *random, const cm_topology *t)
{
  if (!t->directed)
    return network_undirected(random, t->vertex_count + below(random, 5), 6);
  uint32_t vertices = t->vertex_count + below(random, 9) - (t->vertex_count > 8 ? 4 : 0), extra = below(random, 6);
  cm_topology n = {.directed = true, .vertex_count = vertices, .size_total = vertices, .weight_scale = t->weight_scale};
  n.net_first = network_array((size_t)t->net_count + extra + 1, sizeof *n.net_first);
  n.net_source = network_array((size_t)t->net_count + extra, sizeof *n.net_source);
  n.net_weight = network_array((size_t)t->net_count + extra, sizeof *n.net_weight);
  n.pin = network_array(t->pin_count + (uint64_t)extra * vertices + t->net_count, sizeof *n.pin);
  for (uint32_t e = 0; e < t->net_count + extra; e++) {
    uint32_t source = e < t->net_count ? cm_topology_source(t, e) : vertices - 1;
    if (source >= vertices)
      continue;
    for (uint64_t i = e < t->net_count ? t->net_first[e] : 0; e < t->net_count && i < t->net_first[e + 1]; i++)
      if (t->pin[i] < vertices && below(random, 12) != 0)
        n.pin[n.pin_count++] = t->pin[i];
    if (e >= t->net_count)
      for (uint32_t v = 0; v < vertices; v++)
        if (below(random, 10) == 0)
          n.pin[n.pin_count++] = v;
    if (n.pin_count == n.net_first[n.net_count])
      continue;
    n.net_source[n.net_count] = source;
    n.net_weight[n.net_count] = e < t->net_count ? t->net_weight[e] : 1 + below(random, 9);
    n.net_first[++n.net_count] = n.pin_count;
  }
  return n;
}

static cm_topology random_network(cm_random *random, bool directed)
{
  uint32_t vertices = 20 + below(random, 80);
  if (!directed)
    return network_undirected(random, vertices, 6);
  cm_topology t = {
      .directed = true, .vertex_count = vertices, .net_count = vertices, .size_total = vertices, .weight_scale = 4};
  t.net_first = network_array((size_t)vertices + 1, sizeof *t.net_first);
  t.net_source = network_array(vertices, sizeof *t.net_source);
  t.net_weight = network_array(vertices, sizeof *t.net_weight);
  t.pin = network_array((size_t)vertices * vertices, sizeof *t.pin);
  uint32_t percent = 2 + below(random, 8);
  for (uint32_t v = 0; v < vertices; v++) {
    t.net_source[v] = v;
    t.net_weight[v] = below(random, 30);
    for (uint32_t u = 0; u < vertices; u++)
      if (below(random, 100) < percent)
        t.pin[t.pin_count++] = u;
    if (t.pin_count == t.net_first[v])
      t.pin[t.pin_count++] = below(random, vertices);
    t.net_first[v + 1] = t.pin_count;
  }
  return t;
}

/* The only part that lost its core got the free one where its packets travel least: by trying every core. */
static void best_place(const cm_map_input *input, const cm_mapping *old, const cm_mapping *new)
{
  cm_run run;
  cm_run_init(&run);
  cm_graph *parts;
  uint32_t *core = network_array(new->part_count, sizeof *core), displaced = UINT32_MAX;
  ck_assert_uint_eq(old->part_count, new->part_count);
  ck_ok(cm_graph_of_axons(CM_DEMAND_OF(input->demand->network), new->part, new->part_count, &run, &parts, &error));
  memcpy(core, new->core, new->part_count * sizeof *core);
  for (uint32_t p = 0; p < new->part_count; p++)
    if (old->core[p] != new->core[p]) {
      ck_assert_uint_eq(displaced, UINT32_MAX);
      displaced = p;
    }
  ck_assert_uint_ne(displaced, UINT32_MAX);
  uint64_t chosen = cm_placement_traffic(parts, input->chip, core);
  for (uint32_t c = 0; c < cm_chip_cores(input->chip); c++) {
    bool taken = input->occupancy->state[c] != CM_CORE_FREE;
    for (uint32_t p = 0; p < new->part_count; p++)
      taken = taken || (p != displaced && new->core[p] == c);
    core[displaced] = c;
    ck_assert(taken || cm_placement_traffic(parts, input->chip, core) >= chosen);
  }
  cm_graph_free(parts);
  cm_free(core);
}

/* Three populations in turns. */
static void give_populations(cm_topology *t)
{
  static cm_population population[3] = {{"a", ""}, {"b", ""}, {"c", ""}};
  static uint32_t population_of[256];
  for (uint32_t v = 0; v < 256; v++)
    population_of[v] = v / 4 % 3;
  ck_assert_uint_le(t->vertex_count, 256);
  t->population_count = 3;
  t->population = population;
  t->population_of = population_of;
}

START_TEST(remappings_are_legal_and_move_what_must)
{
  uint32_t places = 0, done = 0, kept = 0, again = 0, edited = 0;
  for (uint32_t round = 0; round < test_rounds(250); round++) {
    cm_random random;
    cm_random_init(&random, round, 21, 0);
    cm_topology before = random_network(&random, round % 4 != 0), after = {0};
    cm_chip *chip = random_chip(&random);
    cm_occupancy *occupancy;
    bool populations = round % 5 == 3, late = populations && round % 2 == 0; /* late: the chip's limit is new */
    if (populations)
      give_populations(&before);
    if (populations && !late)
      chip->limits.populations = 1 + round / 10 % 2;
    ck_ok(cm_occupancy_new(chip, &occupancy, &error));
    for (uint32_t c = 0; c < cm_chip_cores(chip); c++)
      occupancy->state[c] = below(&random, 10) == 0 ? CM_CORE_TAKEN : CM_CORE_FREE;
    cm_map_input input = {.demand = CM_DEMAND_OF(&before), .chip = chip, .occupancy = occupancy};
    cm_mapping *old = NULL, *new = NULL, *same = NULL;
    if (map(&input, 1, false, &old) == CM_OK) {
      write_mapping(&input, old, old_path);
      input.from = old_path;
      /* Nothing has changed: nothing moves. */
      ck_ok(map(&input, 1, false, &same));
      ck_assert_int_eq(told(same, "moved_neurons"), 0);
      ck_assert_double_eq_tol(same->metrics.energy_pj, old->metrics.energy_pj, 1e-6);
      cm_mapping_free(same);
      uint32_t dead = below(&random, 4), free_cores, lost = 0, on_lost = 0;
      for (uint32_t i = 0; i < dead; i++)
        occupancy->state[below(&random, cm_chip_cores(chip))] = CM_CORE_BROKEN;
      for (uint32_t p = 0; p < old->part_count; p++)
        lost += occupancy->state[old->core[p]] != CM_CORE_FREE;
      for (uint32_t v = 0; v < old->vertex_count; v++)
        on_lost += occupancy->state[old->core[old->part[v]]] != CM_CORE_FREE;
      free_cores = cm_occupancy_free_count(occupancy);
      bool change = round % 2 == 0;
      after = change ? edit(&random, &before) : (cm_topology){0};
      if (change && populations)
        give_populations(&after);
      if (late)
        chip->limits.populations = 1 + round / 10 % 2;
      input.demand = CM_DEMAND_OF(change ? &after : &before);
      cm_status status = map(&input, 1, round % 8 == 0, &new);
      if (status == CM_OK) {
        done++;
        legal(&input, new);
        check_report(old, new, before.vertex_count);
        again += afresh(new);
        ck_assert_int_eq(told(new, "lost_cores"), lost);
        if (!change && old->part_count <= free_cores) {
          /* Only cores were lost and there are others: exactly their neurons move. */
          ck_assert(!afresh(new));
          ck_assert_int_eq(told(new, "moved_neurons"), on_lost);
          kept++;
          if (lost == 1 && before.directed) {
            best_place(&input, old, new);
            places++;
          }
        }
        if (change && !afresh(new))
          edited++;
        if (round % 8 == 0 && !afresh(new))
          ck_assert(json_is_real(json_object_get(json_object_get(new->report, "incremental"), "fresh_energy_pj")));
        ck_ok(map(&input, 3, round % 8 == 0, &same));
        write_mapping(&input, same, old_path);
        char *a, *b;
        size_t a_size, b_size;
        ck_ok(cm_file_read(new_path, 1 << 24, &a, &a_size, &error));
        ck_ok(cm_file_read(old_path, 1 << 24, &b, &b_size, &error));
        ck_assert_uint_eq(a_size, b_size);
        ck_assert_mem_eq(a, b, a_size);
        free(a);
        free(b);
        cm_mapping_free(same);
      } else
        ck_assert_msg(status == CM_NO_ROOM || status == CM_LIMIT_BROKEN || status == CM_NEURON_TOO_LARGE, "%s",
                      error.detail);
    }
    cm_mapping_free(old);
    cm_mapping_free(new);
    network_free(&before);
    network_free(&after);
    cm_occupancy_free(occupancy);
    cm_chip_free(chip);
  }
  ck_assert_msg(done > test_rounds(120) && kept > test_rounds(30) && places > test_rounds(15) &&
                  edited > test_rounds(40) && again * 4 < done,
                "%u done, %u kept, %u edited, %u afresh", done, kept, edited, again);
}
END_TEST

/* After a core is lost and no other is free, its neurons go where the step stays short: never longer than where they go for
 * packets alone, and who need not move stays. */
START_TEST(steps_stay_short_after_a_core_is_lost)
{
  double by_time = 0, by_packets = 0;
  for (uint64_t round = 0; round < (CM_SANITIZED ? 1 : 4); round++) {
    cm_random random;
    cm_random_init(&random, round, 27, 0);
    cm_topology n = network_directed(&random, 60, 60);
    cm_chip *chip;
    cm_occupancy *occupancy;
    cm_mapping *old, *made[2];
    ck_ok(cm_chip_mesh(4, 3, &chip, &error));
    chip->limits.neurons = 60;
    ck_ok(cm_occupancy_new(chip, &occupancy, &error));
    cm_map_input input = {.demand = CM_DEMAND_OF(&n), .chip = chip, .occupancy = occupancy};
    objective = "time";
    ck_ok(map(&input, 1, false, &old));
    write_mapping(&input, old, old_path);
    input.from = old_path;
    uint32_t lost = old->core[0];
    for (uint32_t c = 0; c < cm_chip_cores(chip); c++) /* none but those in use */
      occupancy->state[c] = CM_CORE_BROKEN;
    for (uint32_t p = 1; p < old->part_count; p++)
      occupancy->state[old->core[p]] = CM_CORE_FREE;
    for (int i = 0; i < 2; i++) {
      objective = i == 0 ? "time" : "axon";
      ck_ok(map(&input, 1, false, &made[i]));
      legal(&input, made[i]);
      for (uint32_t v = 0; v < n.vertex_count; v++)
        if (old->core[old->part[v]] != lost)
          ck_assert_uint_eq(made[i]->core[made[i]->part[v]], old->core[old->part[v]]);
    }
    ck_assert_double_le(made[0]->metrics.core_ns_max, made[1]->metrics.core_ns_max * (1 + 1e-9));
    by_time += made[0]->metrics.core_ns_max;
    by_packets += made[1]->metrics.core_ns_max;
    cm_mapping_free(made[0]);
    cm_mapping_free(made[1]);
    cm_mapping_free(old);
    cm_occupancy_free(occupancy);
    cm_chip_free(chip);
    network_free(&n);
  }
  ck_assert_double_lt(by_time, (CM_SANITIZED ? 1.01 : 0.95) * by_packets);
}
END_TEST

/* A budget that the old mapping breaks is kept by a new one: moving only those that must does not keep it. */
START_TEST(a_budget_of_the_step_is_kept)
{
  cm_random random;
  cm_random_init(&random, 3, 27, 0);
  cm_topology n = network_directed(&random, 60, 60);
  cm_chip *chip;
  cm_mapping *old, *new;
  ck_ok(cm_chip_mesh(4, 3, &chip, &error));
  chip->limits.neurons = 60;
  cm_map_input input = {.demand = CM_DEMAND_OF(&n), .chip = chip};
  objective = "energy";
  ck_ok(map(&input, 1, false, &old));
  write_mapping(&input, old, old_path);
  input.from = old_path;
  ck_ok(map(&input, 1, false, &new));
  ck_assert(!afresh(new));
  cm_mapping_free(new);
  budget_ns = old->metrics.core_ns_max / 2;
  ck_ok(map(&input, 1, false, &new));
  budget_ns = 0;
  ck_assert(afresh(new));
  ck_assert_double_le(new->metrics.core_ns_max, old->metrics.core_ns_max / 2 * (1 + 1e-9));
  cm_mapping_free(new);
  cm_mapping_free(old);
  cm_chip_free(chip);
  network_free(&n);
}
END_TEST

/* Two classes of cores with limits of their own, one of which takes one population alone: cores die, mappings are made again, and the
 * independent check looks every label and limit up. Who has neither lost a core nor must leave it stays. */
START_TEST(classes_of_cores_are_kept)
{
  static const char text[] =
    "{\"name\": \"k\", \"cores\": [6, 5], \"limits\": {\"neurons\": 9}, \"core_classes\": ["
    "{\"name\": \"small\", \"cores\": [[0, 0, 1, 4]], \"limits\": {\"neurons\": 5, \"inbound_axons\": 60}},"
    "{\"name\": \"first\", \"cores\": [[2, 0, 3, 4]], \"labels\": [\"p0\"], \"limits\": {\"neurons\": 12, \"populations_per_core\": 1}}]}";
  uint32_t kept = 0, placed = 0;
  for (uint64_t round = 0; round < (CM_SANITIZED ? 4 : 20); round++) {
    cm_random random;
    cm_random_init(&random, round, 28, 0);
    uint32_t vertices = 60 + below(&random, 60), *population_of = calloc(vertices, sizeof *population_of);
    cm_topology n = network_directed(&random, vertices, 80);
    cm_population populations[2] = {{.name = "p0", .kind = "a"}, {.name = "p1", .kind = "b"}};
    for (uint32_t v = 0; v < vertices; v++)
      population_of[v] = v % 3 == 0;
    n.population_count = 2;
    n.population = populations;
    n.population_of = population_of;
    cm_chip *chip;
    cm_occupancy *occupancy;
    cm_mapping *old = NULL, *new;
    ck_ok(cm_chip_parse(text, strlen(text), &chip, &error));
    ck_ok(cm_occupancy_new(chip, &occupancy, &error));
    cm_map_input input = {.demand = CM_DEMAND_OF(&n), .chip = chip, .occupancy = occupancy};
    cm_status status = map(&input, 1, false, &old);
    for (uint32_t losses = 0; status == CM_OK && losses < 4; losses++) {
      write_mapping(&input, old, old_path);
      input.from = old_path;
      occupancy->state[old->core[below(&random, old->part_count)]] = CM_CORE_BROKEN;
      status = map(&input, 1, false, &new);
      if (status != CM_OK)
        break;
      legal(&input, new);
      check_report(old, new, vertices);
      placed += (uint32_t)told(new, "placed_parts");
      for (uint32_t v = 0; v < vertices && !afresh(new) && told(new, "dissolved_parts") == 0; v++)
        if (occupancy->state[old->core[old->part[v]]] == CM_CORE_FREE) {
          ck_assert_uint_eq(new->core[new->part[v]], old->core[old->part[v]]);
          kept++;
        }
      cm_mapping_free(old);
      old = new;
    }
    ck_assert_msg(status == CM_OK || status == CM_NO_ROOM || status == CM_LIMIT_BROKEN, "%s", error.detail);
    if (old != NULL)
      cm_mapping_free(old);
    cm_occupancy_free(occupancy);
    cm_chip_free(chip);
    n.population = NULL;
    n.population_of = NULL;
    free(population_of);
    network_free(&n);
  }
  ck_assert_uint_gt(kept, CM_SANITIZED ? 100 : 1000);
  ck_assert_uint_gt(placed, 0);
}
END_TEST

/* Each allocation in turn fails: a clear refusal and nothing left behind. */
START_TEST(remapping_survives_a_lack_of_memory)
{
  cm_random random;
  cm_random_init(&random, 3, 23, 0);
  cm_topology n = random_network(&random, true);
  cm_chip *chip;
  cm_occupancy *occupancy;
  cm_mapping *old, *new;
  ck_ok(cm_chip_mesh(6, 6, &chip, &error));
  chip->limits.neurons = 8;
  ck_ok(cm_occupancy_new(chip, &occupancy, &error));
  cm_map_input input = {.demand = CM_DEMAND_OF(&n), .chip = chip, .occupancy = occupancy};
  ck_ok(map(&input, 1, false, &old));
  write_mapping(&input, old, old_path);
  input.from = old_path;
  occupancy->state[old->core[0]] = CM_CORE_BROKEN;
  json_t *json = json_pack("{s:s, s:i}", "preset", "fast", "threads", 1);
  cm_map_options *options;
  ck_ok(cm_map_options_parse(json, &options, &error));
  input.options = options;
  for (uint64_t i = 1;; i++) {
    cm_run run;
    cm_memory memory;
    cm_run_init(&run);
    cm_memory_init(&memory, 0);
    run.memory = &memory;
    cm_memory_fail_at(i);
    cm_status status = cm_map(&input, &run, &new, &error);
    bool hit = cm_memory_fault_fired();
    cm_memory_fail_at(0);
    ck_assert_int_eq(status, hit ? CM_NO_MEMORY : CM_OK);
    if (status == CM_OK)
      cm_mapping_free(new);
    ck_assert_uint_eq(memory.used_bytes, 0);
    if (!hit)
      break;
    ck_assert_uint_lt(i, 10000);
  }
  json_decref(json);
  cm_map_options_free(options);
  cm_mapping_free(old);
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
  network_free(&n);
}
END_TEST

START_TEST(files_that_are_no_mapping_are_refused)
{
  cm_random random;
  cm_random_init(&random, 1, 22, 0);
  cm_topology n = random_network(&random, true);
  cm_chip *chip;
  ck_ok(cm_chip_mesh(8, 8, &chip, &error));
  chip->limits.neurons = 10;
  cm_map_input input = {.demand = CM_DEMAND_OF(&n), .chip = chip, .from = old_path};
  cm_mapping *none;
  static const struct {
    const char *text, *says;
  } table[] = {
    {"nothing", "one JSON object"},
    {"{\"format\": \"coremapd mapping 1\"}", "no \"neurons\""},
    {"{\"neurons\": [0, 7], \"cores\": [{\"part\": 0, \"x\": 0, \"y\": 0, \"neurons\": 1, \"synapses\": 0, \"inbound_axons\": 0, "
     "\"outbound_axons\": 0, \"target_cores\": 0, \"traffic_in\": 0, \"traffic_out\": 0}]}", "neuron 1 of the old mapping is in part 7"},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    test_write(old_path, table[i].text, strlen(table[i].text));
    ck_fails(map(&input, 1, false, &none), CM_BAD_MAPPING);
    ck_assert_msg(strstr(error.detail, table[i].says) != NULL, "%s", error.detail);
  }
  input.from = "no-such-file";
  ck_fails(map(&input, 1, false, &none), CM_NOT_FOUND);
  network_free(&n);
  cm_chip_free(chip);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("remap, property");
  TCase *tests = tcase_create("remap");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_add_test(tests, remappings_are_legal_and_move_what_must);
  tcase_add_figures_test(tests, steps_stay_short_after_a_core_is_lost);
  tcase_add_test(tests, a_budget_of_the_step_is_kept);
  tcase_add_test(tests, classes_of_cores_are_kept);
  tcase_add_test(tests, remapping_survives_a_lack_of_memory);
  tcase_add_test(tests, files_that_are_no_mapping_are_refused);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
