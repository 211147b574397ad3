/* Whatever is altered in a mapping, a certificate or routes, or taken out of them, the independent check finds it and says
 * where; what was made passes. */
#include "../unit/networks.h"

#include <jansson.h>

#include "library/check_again.h"
#include "core/output/beside.h"
#include "core/verify/check.h"
#include "core/output/views.h"
#include "core/solver/map.h"
#include "core/measure/measure.h"
#include "core/mapping/options.h"
#include "core/routing/routes.h"

static cm_error error;
static char folder[CM_PATH_MAX], mapping_path[CM_PATH_MAX + 32], other_path[CM_PATH_MAX + 32];
static cm_topology network;
static cm_chip *chip;
static cm_occupancy *occupancy;
static cm_mapping *mapping;
static cm_run run;

typedef enum subject { MAPPING, CERTIFICATE, ROUTES } subject;

enum { NEURONS = 40, SCENARIOS = 2, POPULATIONS = 4 };

/* What a network may have besides, while `rich`: rates in scenarios, and populations, all of which a core may hold. */
static bool rich;
static uint32_t table_entries = 400;
static cm_scenario_name scenario[SCENARIOS] = {"rest", "act"};
static cm_population population[POPULATIONS];
static uint32_t population_of[NEURONS];
static uint64_t *scenario_rate;

static void enrich(cm_random *random)
{
  scenario_rate = calloc((size_t)SCENARIOS * network.net_count, sizeof *scenario_rate);
  for (uint32_t e = 0; e < network.net_count; e++) {
    const uint64_t apart = cm_random_below(random, network.net_weight[e] + 1);
    scenario_rate[e] = network.net_weight[e] - apart;
    scenario_rate[network.net_count + e] = network.net_weight[e] + apart;
  }
  for (uint32_t v = 0; v < NEURONS; v++)
    population_of[v] = v * POPULATIONS / NEURONS;
  for (uint32_t p = 0; p < POPULATIONS; p++)
    snprintf(population[p].name, sizeof population[p].name, "p%u", p);
  network.scenario_count = SCENARIOS;
  network.scenario_name = scenario;
  network.scenario_rate = scenario_rate;
  network.population_count = POPULATIONS;
  network.population = population;
  network.population_of = population_of;
}

static void build_on(const char *ways, bool directed, uint64_t seed)
{
  char text[600];
  snprintf(text, sizeof text,
           "{\"name\": \"tampered\", \"cores\": [6, 4], \"cores_per_router\": [2, 1], \"dead_cores\": [[5, 3]], %s,"
           " \"table_entries\": %u, \"limits\": {\"neurons\": 6, \"synapses\": 900, \"inbound_axons\": 60%s}}", ways, table_entries, rich ? ", \"populations_per_core\": 4" : "");
  cm_random random;
  cm_random_init(&random, seed, 0, 0);
  cm_run_init(&run);
  test_folder(folder);
  snprintf(mapping_path, sizeof mapping_path, "%s/mapping.json", folder);
  snprintf(other_path, sizeof other_path, "%s/other.json", folder);
  network = directed ? network_directed(&random, NEURONS, 60) : network_undirected(&random, NEURONS, 15);
  if (rich)
    enrich(&random);
  ck_ok(cm_chip_parse(text, strlen(text), &chip, &error));
  ck_ok(cm_occupancy_new(chip, &occupancy, &error));
  json_t *change = json_pack("{s:[[i,i]], s:s}", "occupy", 0, 0, "owner", "ann");
  ck_ok(cm_occupancy_apply(occupancy, chip, change, &error));
  json_decref(change);
  json_t *wanted = json_pack("{s:s, s:i, s:i}", "preset", "fast", "max_part_size", 5, "seed", (int)seed);
  cm_map_options *options;
  ck_ok(cm_map_options_parse(wanted, &options, &error));
  json_decref(wanted);
  cm_map_input input = {.demand = CM_DEMAND_OF(&network), .network_id = "net", .chip = chip, .occupancy = occupancy,
                        .options = options, .scratch_folder = folder};
  cm_map_options_apply(options, &run);
  ck_ok(cm_map(&input, &run, &mapping, &error));
  cm_map_options_free(options);
}

static void build(bool directed, uint64_t seed)
{
  build_on("\"routing\": \"xy\"", directed, seed);
}

static void tear_down(void)
{
  cm_mapping_free(mapping);
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
  if (rich) {
    network.scenario_count = network.population_count = 0;
    network.scenario_name = NULL;
    network.scenario_rate = NULL;
    network.population = NULL;
    network.population_of = NULL;
    free(scenario_rate);
    rich = false;
  }
  network_free(&network);
  ck_ok(cm_folder_remove(folder, &error));
}

static json_t *made(subject what, cm_turn_rule rule, bool multicast)
{
  char *text;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  if (what == MAPPING)
    ck_ok(cm_mapping_write(mapping, CM_DEMAND_OF(&network), chip, "net", CM_VIEW_FULL_JSON, stream, &error));
  else if (what == CERTIFICATE)
    ck_ok(cm_mapping_certify(
      mapping, &(cm_check_context){.demand = CM_DEMAND_OF(&network), .chip = chip, .occupancy = occupancy, .network_id = "net", .run = &run},
      stream, &error));
  else {
    const cm_route_options options = {.rule = rule, .multicast = multicast};
    cm_routes *routes;
    const cm_mapped mapped = cm_mapped_by(mapping, CM_DEMAND_OF(&network), chip);
    ck_ok(cm_routes_make(&mapped, &options, &run, &routes, &error));
    ck_ok(cm_routes_write(routes, CM_ROUTES_JSON, &run, stream, &error));
    cm_routes_free(routes);
  }
  fclose(stream);
  json_t *json = json_loadb(text, size, 0, NULL);
  free(text);
  ck_assert_ptr_nonnull(json);
  return json;
}

/* Whether the check finds fault; `said` is everything that it says, the caller's. */
static bool finds(subject what, const json_t *json, char **said)
{
  cm_check_result result = {0};
  size_t size;
  FILE *stream = open_memstream(said, &size);
  ck_assert_int_eq(json_dump_file(json, what == MAPPING ? mapping_path : other_path, JSON_REAL_PRECISION(17)), 0);
  cm_status status =
    what == MAPPING
      ? cm_check_mapping(
          mapping_path,
          &(cm_check_context){.demand = CM_DEMAND_OF(&network), .chip = chip, .occupancy = occupancy, .network_id = "net", .run = &run},
          &result, &error)
    : what == CERTIFICATE
      ? cm_certificate_check(
          other_path, mapping_path,
          &(cm_check_context){.demand = CM_DEMAND_OF(&network), .chip = chip, .occupancy = occupancy, .network_id = "net", .run = &run},
          &result, &error)
      : cm_routes_check(other_path, mapping_path, &(cm_check_context){.demand = CM_DEMAND_OF(&network), .chip = chip, .run = &run}, &result,
                        &error);
  ck_assert_msg(status == CM_OK || status == CM_BAD_MAPPING, "%s", error.detail);
  for (uint32_t i = 0; i < result.listed; i++)
    fprintf(stream, "%s\n", result.violations[i]);
  if (status != CM_OK)
    fprintf(stream, "%s\n", error.detail);
  bool fault = status != CM_OK || result.violation_count > 0;
  cm_check_result_free(&result);
  fclose(stream);
  return fault;
}

/* What is a record of how it was made, which only making it again can prove. */
static bool is_record(const char *name)
{
  static const char *const names[] = {"options", "attempts", "report", "step_limit"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0)
      return true;
  return false;
}

static json_t *altered(const json_t *value)
{
  switch (json_typeof(value)) {
    case JSON_INTEGER: return json_integer(json_integer_value(value) + 1);
    case JSON_REAL: return json_real(json_real_value(value) * 1.0001 + 0.01);
    case JSON_STRING: return json_sprintf("%sx", json_string_value(value));
    case JSON_TRUE: return json_false();
    case JSON_FALSE: return json_true();
    case JSON_NULL: return json_integer(1);
    default: return NULL; /* its members are altered */
  }
}

typedef struct tampering {
  subject what;
  json_t *root;
  uint32_t tried, keys, keys_alike; /* keys of entries altered, and those where packets come to the same cores all the same */
} tampering;

static void expect_found(tampering *t, const char *where, const char *name, const char *how)
{
  char *said;
  bool found = finds(t->what, t->root, &said);
  ck_assert_msg(found, "%s%s %s: nothing was found", where, name, how);
  /* The place is named; where a core stands, what is wrong with it may be any of its figures. */
  bool place = strcmp(name, "x") == 0 || strcmp(name, "y") == 0 || name[0] == '[';
  if (strcmp(name, "virtual_channels") == 0) /* with more of them other channels are in use */
    name = "channels";
  ck_assert_msg(place || strstr(said, name) != NULL, "%s%s %s: %s", where, name, how, said);
  free(said);
  t->tried++;
}

static void tamper(tampering *t, json_t *node, const char *where)
{
  char place[300];
  if (json_is_object(node)) {
    json_t *members = json_copy(node), *value;
    const char *name;
    json_object_foreach(members, name, value) {
      if (is_record(name) && !(t->what == CERTIFICATE && strcmp(name, "options") == 0))
        continue;
      json_t *other = altered(value);
      if (other != NULL && strcmp(name, "root") == 0) /* another order of routers may prove as much */
        json_decref(other);
      else if (other != NULL) {
        ck_assert_int_eq(json_object_set_new(node, name, other), 0);
        expect_found(t, where, name, "altered");
      } else {
        snprintf(place, sizeof place, "%s%s/", where, name);
        tamper(t, value, place);
      }
      ck_assert_int_eq(json_object_del(node, name), 0);
      /* A chip file may leave out what has its default. */
      if (strncmp(where, "chip/", 5) != 0 || t->what == CERTIFICATE)
        expect_found(t, where, name, "taken out");
      ck_assert_int_eq(json_object_set(node, name, value), 0);
    }
    json_decref(members);
    return;
  }
  for (size_t i = 0; i < json_array_size(node); i += CM_SANITIZED ? 4 : 1) { /* one entry is read like the next */
    json_t *value = json_incref(json_array_get(node, i)), *other = altered(value);
    snprintf(place, sizeof place, "%s[%zu]/", where, i);
    /* An entry for fewer keys may still be for all that come by: such tables are as right as they were. */
    bool mask = i == 1 && strstr(where, "entries/[") != NULL;
    /* With the key next to it two axons of one neuron may change places. */
    bool key = i == 0 && strstr(where, "entries/[") != NULL && json_array_size(node) == 4;
    if (mask)
      json_decref(other);
    else if (key) {
      char *said;
      ck_assert_int_eq(json_array_set_new(node, i, other), 0);
      t->keys++;
      t->keys_alike += !finds(t->what, t->root, &said);
      free(said);
      ck_assert_int_eq(json_array_set(node, i, value), 0);
    }
    else if (other != NULL) {
      ck_assert_int_eq(json_array_set_new(node, i, other), 0);
      expect_found(t, where, "[]", "altered");
      ck_assert_int_eq(json_array_set(node, i, value), 0);
    } else
      tamper(t, value, place);
    json_decref(value);
  }
}

static uint32_t tamper_all(subject what, json_t *json)
{
  char *said;
  tampering t = {.what = what, .root = json};
  bool fault = finds(what, json, &said);
  ck_assert_msg(!fault, "%s", said);
  free(said);
  tamper(&t, json, "");
  ck_assert_uint_le(10 * t.keys_alike, t.keys + (CM_SANITIZED ? 20 : 0));
  ck_assert_msg(!finds(what, json, &said), "%s", said); /* all is back */
  free(said);
  json_decref(json);
  return t.tried;
}

/* The mapping as it is, for what is checked against it. */
static void write_mapping(void)
{
  json_t *json = made(MAPPING, CM_TURNS_XY, true);
  ck_assert_int_eq(json_dump_file(json, mapping_path, JSON_REAL_PRECISION(17)), 0);
  json_decref(json);
}

START_TEST(every_field_of_a_mapping)
{
  build(_i == 0, 3);
  ck_assert_uint_gt(tamper_all(MAPPING, made(MAPPING, CM_TURNS_XY, true)), CM_SANITIZED ? 50 : 200);
  tear_down();
}
END_TEST

START_TEST(every_field_of_a_certificate)
{
  rich = _i == 2;
  build(_i != 1, 4);
  write_mapping();
  ck_assert_uint_gt(tamper_all(CERTIFICATE, made(CERTIFICATE, CM_TURNS_XY, true)), CM_SANITIZED ? 30 : 60);
  tear_down();
}
END_TEST

START_TEST(every_field_of_routes)
{
  build(true, 5);
  write_mapping();
  ck_assert_uint_gt(tamper_all(ROUTES, made(ROUTES, (cm_turn_rule)_i, true)), CM_SANITIZED ? 30 : 100);
  ck_assert_uint_gt(tamper_all(ROUTES, made(ROUTES, (cm_turn_rule)_i, false)), CM_SANITIZED ? 20 : 60);
  tear_down();
}
END_TEST

START_TEST(every_field_of_routes_on_interconnects)
{
  static const char *const ways[] = {
    "\"torus\": [true, true], \"interconnect\": {\"kind\": \"hexagonal\"}, \"dead_links\": [[1, 1, \"north-east\"]]",
    "\"interconnect\": {\"kind\": \"graph\", \"switches\": 1, \"links\": [[0, 1], [1, 2], [2, 12], [3, 12], [4, 12, 2], [5, 12], [3, 6], "
    "[6, 7], [7, 8], [8, 9], [9, 10], [10, 11], [11, 0], [4, 7]]}"};
  build_on(ways[_i], true, 5);
  write_mapping();
  ck_assert_uint_gt(tamper_all(ROUTES, made(ROUTES, CM_TURNS_XY, true)), CM_SANITIZED ? 30 : 100);
  ck_assert_uint_gt(tamper_all(ROUTES, made(ROUTES, CM_TURNS_XY, false)), CM_SANITIZED ? 20 : 60);
  tear_down();
}
END_TEST

/* Builds under the largest limit on tables that keys must be widened for. */
static void build_wider(const char *ways)
{
  for (table_entries = 60; table_entries > 0; table_entries--) {
    build_on(ways, true, 5);
    if (cm_report_widened(mapping->report) != NULL)
      break;
    tear_down();
  }
  ck_assert_uint_gt(table_entries, 0);
  table_entries = 400;
  write_mapping();
}

START_TEST(wider_keys_of_routes_and_certificates)
{
  static const char *const ways[] = {"\"routing\": \"xy\"", "\"torus\": [true, true], \"interconnect\": {\"kind\": \"hexagonal\"}"};
  build_wider(ways[_i]);
  const char *rule = json_string_value(json_object_get(json_object_get(mapping->report, "tables"), "routing"));
  json_t *json = made(ROUTES, strcmp(rule, "yx") == 0 ? CM_TURNS_YX : CM_TURNS_XY, true);
  json_t *certificate = made(CERTIFICATE, CM_TURNS_XY, true);
  const json_t *widened = json_object_get(json_object_get(json_object_get(json, "figures"), "tables"), "widened");
  ck_assert_double_gt(json_number_value(json_object_get(widened, "packets")), 0);
  ck_assert(json_equal(widened, json_object_get(certificate, "widened")));
  ck_assert_uint_gt(tamper_all(ROUTES, json), CM_SANITIZED ? 30 : 100);
  ck_assert_uint_gt(tamper_all(CERTIFICATE, certificate), CM_SANITIZED ? 30 : 60);
  tear_down();
}
END_TEST

/* Packets two links long round a ring of four routers: with the channels that they need they cannot wait for each other, with one
 * they can. */
START_TEST(a_ring_of_ways_is_found)
{
  static const char text[] = "{\"name\": \"ring\", \"cores\": [4, 1], \"limits\": {\"neurons\": 1}, \"interconnect\": {\"kind\": \"graph\", "
                             "\"links\": [[0, 1], [1, 2], [2, 3], [3, 0]]}}";
  static uint32_t targets[] = {2, 3, 0, 1}, parts[] = {0, 1, 2, 3}, cores[] = {0, 1, 2, 3};
  static uint64_t first[] = {0, 1, 2, 3, 4};
  static const char paths[] = "[[0,2,1.0,[0,1,2]],[1,3,1.0,[1,2,3]],[2,0,1.0,[2,3,0]],[3,1,1.0,[3,0,1]]]";
  cm_run_init(&run);
  test_folder(folder);
  snprintf(mapping_path, sizeof mapping_path, "%s/mapping.json", folder);
  snprintf(other_path, sizeof other_path, "%s/other.json", folder);
  network = (cm_topology){.directed = true, .vertex_count = 4, .net_count = 4, .pin_count = 4, .net_first = first,
                          .pin = targets, .weight_scale = 1, .size_total = 4};
  ck_ok(cm_chip_parse(text, strlen(text), &chip, &error));
  cm_mapping square = {.vertex_count = 4, .part_count = 4, .part = parts, .core = cores};
  ck_ok(cm_metrics_compute(&(cm_mapped){CM_DEMAND_OF(&network), chip, parts, 4, cores, NULL}, &run, &square.metrics, &square.detail, &error));
  mapping = &square;
  write_mapping();
  json_t *json = made(ROUTES, CM_TURNS_XY, false), *figures = json_object_get(json, "figures");
  ck_assert_int_eq(json_object_set_new(json, "paths", json_loads(paths, 0, NULL)), 0);
  for (int channels = 1; channels <= 2; channels++) {
    char *said;
    ck_assert_int_eq(json_object_set_new(figures, "virtual_channels", json_integer(channels)), 0);
    ck_assert(finds(ROUTES, json, &said)); /* the ways are none that metrics count */
    ck_assert_int_eq(strstr(said, "can wait for each other for ever") != NULL, channels == 1);
    free(said);
  }
  json_decref(json);
  CM_FREE(square.detail.core, square.detail.congestion, square.detail.link_load);
  cm_chip_free(chip);
  ck_ok(cm_folder_remove(folder, &error));
}
END_TEST

START_TEST(routes_of_undirected_networks)
{
  build(false, 6);
  write_mapping();
  ck_assert_uint_gt(tamper_all(ROUTES, made(ROUTES, CM_TURNS_WEST_FIRST, false)), CM_SANITIZED ? 20 : 60);
  tear_down();
}
END_TEST

/* What making it again says of a mapping; "" when nothing. The caller's. */
static char *made_again(const json_t *json)
{
  cm_check_result result = {0};
  char *said;
  size_t size;
  FILE *stream = open_memstream(&said, &size);
  ck_assert_int_eq(json_dump_file(json, mapping_path, JSON_REAL_PRECISION(17)), 0);
  cm_status status = cm_check_again(
    mapping_path,
    &(cm_check_context){.demand = CM_DEMAND_OF(&network), .chip = chip, .occupancy = occupancy, .network_id = "net", .run = &run}, folder,
    &result, &error);
  ck_assert_msg(status == CM_OK || status == CM_BAD_OPTION, "%s", error.detail);
  if (status != CM_OK)
    fprintf(stream, "%s\n", error.detail);
  for (uint32_t i = 0; i < result.listed; i++)
    fprintf(stream, "%s\n", result.violations[i]);
  cm_check_result_free(&result);
  fclose(stream);
  return said;
}

/* Alters every leaf below and demands that making it again finds it. */
static uint32_t tamper_records(json_t *root, json_t *node)
{
  uint32_t tried = 0;
  json_t *members = json_copy(node), *value;
  const char *name;
  size_t i;
  if (json_is_object(node)) {
    json_object_foreach(members, name, value) {
      json_t *other = altered(value);
      if (other == NULL)
        tried += tamper_records(root, value);
      else {
        ck_assert_int_eq(json_object_set_new(node, name, other), 0);
        char *said = made_again(root);
        ck_assert_msg(strstr(said, name) != NULL, "%s altered: %s", name, said);
        free(said);
        ck_assert_int_eq(json_object_set(node, name, value), 0);
        tried++;
      }
    }
  } else
    json_array_foreach(members, i, value) tried += tamper_records(root, value);
  json_decref(members);
  return tried;
}

START_TEST(the_record_is_proved_by_making_it_again)
{
  build(true, 5);
  json_t *json = made(MAPPING, CM_TURNS_XY, true);
  char *said = made_again(json);
  ck_assert_str_eq(said, "");
  free(said);
  ck_assert_uint_gt(tamper_records(json, json_object_get(json, "attempts")) +
                    tamper_records(json, json_object_get(json, "report")), 4);
  ck_assert_int_eq(json_object_set_new(json_object_get(json, "metrics"), "step_limit", json_string("nothing")), 0);
  ck_assert_int_eq(json_object_set_new(json_object_get(json, "options"), "seed", json_integer(99)), 0);
  ck_assert_int_eq(json_object_set_new(json_object_get(json, "options"), "nonsense", json_integer(1)), 0);
  said = made_again(json);
  ck_assert_msg(strstr(said, "nonsense") != NULL, "%s", said);
  free(said);
  ck_assert_int_eq(json_object_del(json_object_get(json, "options"), "nonsense"), 0);
  said = made_again(json);
  ck_assert_msg(strstr(said, "/metrics/step_limit is stated as") != NULL, "%s", said);
  ck_assert_msg(strstr(said, "/neurons") != NULL, "%s", said);
  free(said);
  json_decref(json);
  tear_down();
}
END_TEST

/* Four packets around four routers: each arrives, by turns that no one rule allows, and all can wait for each other. */
START_TEST(a_ring_is_found)
{
  static const char text[] = "{\"name\": \"square\", \"cores\": [2, 2], \"limits\": {\"neurons\": 1}}";
  static const char paths[] = "[[0,3,1.0,\"E1S1\"],[1,2,1.0,\"S1W1\"],[2,1,1.0,\"N1E1\"],[3,0,1.0,\"W1N1\"]]";
  static uint32_t targets[] = {3, 2, 1, 0}, parts[] = {0, 1, 2, 3}, cores[] = {0, 1, 2, 3};
  static uint64_t first[] = {0, 1, 2, 3, 4};
  cm_run_init(&run);
  test_folder(folder);
  snprintf(mapping_path, sizeof mapping_path, "%s/mapping.json", folder);
  snprintf(other_path, sizeof other_path, "%s/other.json", folder);
  network = (cm_topology){.directed = true, .vertex_count = 4, .net_count = 4, .pin_count = 4, .net_first = first,
                          .pin = targets, .weight_scale = 1, .size_total = 4};
  ck_ok(cm_chip_parse(text, strlen(text), &chip, &error));
  cm_mapping square = {.vertex_count = 4, .part_count = 4, .part = parts, .core = cores};
  ck_ok(cm_metrics_compute(&(cm_mapped){CM_DEMAND_OF(&network), chip, parts, 4, cores, NULL}, &run, &square.metrics, &square.detail, &error));
  mapping = &square;
  write_mapping();
  json_t *json = made(ROUTES, CM_TURNS_XY, false);
  ck_assert_int_eq(json_object_set_new(json, "paths", json_loads(paths, 0, NULL)), 0);
  char *said;
  ck_assert(finds(ROUTES, json, &said));
  ck_assert_msg(strstr(said, "which xy forbids") != NULL, "%s", said);
  ck_assert_msg(strstr(said, "can wait for each other for ever") != NULL, "%s", said);
  free(said);
  json_decref(json);
  CM_FREE(square.detail.core, square.detail.congestion, square.detail.link_load);
  cm_chip_free(chip);
  ck_ok(cm_folder_remove(folder, &error));
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("tampering, property");
  TCase *tests = tcase_create("tampering");
  tcase_add_loop_test(tests, every_field_of_a_mapping, 0, 2);
  tcase_add_loop_test(tests, every_field_of_a_certificate, CM_SANITIZED ? 1 : 0, 3); /* the first is in the last */
  tcase_add_loop_test(tests, every_field_of_routes, 0, CM_SANITIZED ? 2 : CM_TURN_RULES);
  tcase_add_test(tests, routes_of_undirected_networks);
  tcase_add_loop_test(tests, every_field_of_routes_on_interconnects, 0, 2);
  tcase_add_loop_test(tests, wider_keys_of_routes_and_certificates, 0, 2);
  tcase_add_test(tests, a_ring_is_found);
  tcase_add_test(tests, a_ring_of_ways_is_found);
  tcase_add_test(tests, the_record_is_proved_by_making_it_again);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
