/* core/output: the views of a mapping, and the independent check of the full one. */
#include "tests/unit/networks.h"

#include <jansson.h>

#include "core/verify/check.h"
#include "core/output/views.h"
#include "core/measure/measure.h"

static cm_error error;
static cm_topology network;
static cm_chip *chip;
static cm_occupancy *occupancy;
static cm_mapping *mapping;
static cm_run run;

enum { PARTS = 6, NEURONS = 40 };

/* A legal mapping on a 4 x 3 chip with a dead core and a taken one; all limits far away. */
static void build(uint64_t seed, bool directed)
{
  cm_random random;
  cm_random_init(&random, seed, 0, 0);
  cm_run_init(&run);
  network = directed ? network_directed(&random, NEURONS, 50) : network_undirected(&random, NEURONS, 20);
  const char *text = "{\"name\": \"v\", \"cores\": [4, 3], \"dead_cores\": [[3, 0]], \"limits\": {\"neurons\": 1000,"
                     "\"synapses\": 9000, \"inbound_axons\": 1000, \"outbound_axons\": 1000, \"target_cores\": 9}}";
  ck_ok(cm_chip_parse(text, strlen(text), &chip, &error));
  ck_ok(cm_occupancy_new(chip, &occupancy, &error));
  json_t *change = json_pack("{s:[[i,i]], s:s}", "occupy", 0, 1, "owner", "ann");
  ck_ok(cm_occupancy_apply(occupancy, chip, change, &error));
  json_decref(change);
  mapping = network_array(1, sizeof *mapping);
  mapping->vertex_count = NEURONS;
  mapping->part_count = PARTS;
  mapping->part = network_array(NEURONS, sizeof(uint32_t));
  mapping->core = network_array(PARTS, sizeof(uint32_t));
  for (uint32_t v = 0; v < NEURONS; v++)
    mapping->part[v] = v < PARTS ? v : below(&random, PARTS);
  ck_ok(cm_region_choose(chip, occupancy, PARTS, &run, &mapping->region, &error));
  for (uint32_t p = 0; p < PARTS; p++)
    mapping->core[p] = mapping->region->cores[PARTS - 1 - p];
  mapping->options = json_pack("{s:s, s:i, s:i}", "preset", "reference", "threads", 7, "seed", 3);
  mapping->report = json_object();
  mapping->attempts[0] =
      (cm_attempt){.capacity = 1000, .parts = PARTS, .edge_cut = 12.5, .levels = 3, .coarsening_cached = true};
  mapping->attempt_count = 1;
  ck_ok(cm_bound_parts(CM_DEMAND_OF(&network), &chip->limits, &run, &mapping->bound, &error));
  ck_ok(cm_metrics_compute(&(cm_mapped){CM_DEMAND_OF(&network), chip, mapping->part, PARTS, mapping->core, NULL}, &run, &mapping->metrics,
                           &mapping->detail, &error));
}

static void tear_down(void)
{
  cm_mapping_free(mapping);
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
  network_free(&network);
}

static char *view(cm_mapping_view which, size_t *size)
{
  char *text = NULL;
  size_t length;
  FILE *stream = open_memstream(&text, &length);
  ck_ok(cm_mapping_write(mapping, CM_DEMAND_OF(&network), chip, "abc", which, stream, &error));
  fclose(stream);
  if (size != NULL)
    *size = length;
  return text;
}

static json_t *view_json(cm_mapping_view which)
{
  char *text = view(which, NULL);
  json_error_t trouble;
  json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &trouble);
  ck_assert_msg(json != NULL, "line %d: %s", trouble.line, trouble.text);
  free(text);
  return json;
}

static uint32_t u32(const char *bytes, size_t at)
{
  const unsigned char *b = (const unsigned char *)bytes + at;
  return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static float f32(const char *bytes, size_t at)
{
  uint32_t bits = u32(bytes, at);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

START_TEST(summary_says_what_made_it_and_nothing_of_the_machine)
{
  build(1, true);
  mapping->bound =
      (cm_bound){.parts = 2, .argument = CM_ARGUMENT_TOTAL, .resource = CM_SYNAPSES, .total = 19, .limit = 10};
  json_t *json = view_json(CM_VIEW_SUMMARY_JSON);
  ck_assert_str_eq(json_string_value(json_object_get(json, "format")), "coremapd mapping 1");
  ck_assert_str_eq(json_string_value(json_object_get(json_object_get(json, "network"), "id")), "abc");
  ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(json, "network"), "neurons")), NEURONS);
  ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(json, "chip"), "width")), 4);
  ck_assert_int_eq(json_integer_value(json_object_get(json, "parts")), PARTS);
  ck_assert(json_number_value(json_object_get(json_object_get(json, "metrics"), "energy_pj")) ==
            mapping->metrics.energy_pj);
  ck_assert_ptr_nonnull(json_object_get(json_object_get(json, "options"), "seed"));
  ck_assert_ptr_null(json_object_get(json_object_get(json, "options"), "threads"));
  ck_assert_ptr_nonnull(json_object_get(mapping->options, "threads")); /* the mapping's own is untouched */
  ck_assert_ptr_null(json_object_get(json_array_get(json_object_get(json, "attempts"), 0), "coarsening_cached"));
  const json_t *bound = json_object_get(json, "bound");
  ck_assert_int_eq(json_integer_value(json_object_get(bound, "parts")), 2);
  ck_assert_str_eq(json_string_value(json_object_get(bound, "limit")), "synapses");
  ck_assert_int_eq(json_integer_value(json_object_get(bound, "per_core")), 10);
  ck_assert_str_eq(json_string_value(json_object_get(bound, "reason")), "19 synapses in all, at most 10 in a core");
  ck_assert_ptr_null(json_object_get(json, "neurons"));
  json_decref(json);
  tear_down();
}
END_TEST

START_TEST(bulk_views_agree)
{
  build(2, true);
  json_t *full = view_json(CM_VIEW_FULL_JSON), *neurons = view_json(CM_VIEW_NEURONS_JSON);
  json_t *cores = view_json(CM_VIEW_CORES_JSON), *links = view_json(CM_VIEW_LINKS_JSON);
  size_t size;
  char *binary = view(CM_VIEW_NEURONS_BINARY, &size), *csv = view(CM_VIEW_NEURONS_CSV, NULL);
  char *part = view(CM_VIEW_PART, NULL), *line = part, *row = csv;
  ck_assert_uint_eq(size, 16 + 4 * NEURONS);
  ck_assert_mem_eq(binary, "CMNEURO1", 8);
  ck_assert_uint_eq(u32(binary, 8), NEURONS);
  ck_assert_uint_eq(u32(binary, 12), PARTS);
  ck_assert_int_eq(strncmp(row, "neuron,name,part,x,y\n", 21), 0);
  for (uint32_t v = 0; v < NEURONS; v++) {
    uint32_t p = mapping->part[v], core = mapping->core[p];
    char expected[80];
    ck_assert_uint_eq((uint64_t)json_integer_value(json_array_get(json_object_get(full, "neurons"), v)), p);
    ck_assert_uint_eq((uint64_t)json_integer_value(json_array_get(json_object_get(neurons, "neurons"), v)), p);
    ck_assert_uint_eq(u32(binary, 16 + 4 * v), p);
    ck_assert_uint_eq(strtoul(line, &line, 10), p);
    row = strchr(row, '\n') + 1;
    snprintf(expected, sizeof expected, "%u,,%u,%u,%u\n", v, p, core % 4, core / 4);
    ck_assert_int_eq(strncmp(row, expected, strlen(expected)), 0);
  }
  ck_assert_str_eq(line, "\n");
  ck_assert_uint_eq(json_array_size(json_object_get(full, "neurons")), NEURONS);
  free(binary);
  free(csv);
  free(part);
  binary = view(CM_VIEW_CORES_BINARY, &size);
  ck_assert_uint_eq(size, 16 + 12 * 36);
  ck_assert_mem_eq(binary, "CMCORES1", 8);
  ck_assert_uint_eq(u32(binary, 8), 4);
  ck_assert_uint_eq(u32(binary, 12), 3);
  ck_assert_uint_eq(u32(binary, 16 + 3 * 36), UINT32_MAX); /* the dead core holds nothing */
  for (uint32_t p = 0; p < PARTS; p++) {
    const json_t *core = json_array_get(json_object_get(cores, "cores"), p);
    size_t at = 16 + 36 * (size_t)mapping->core[p];
    ck_assert_uint_eq(u32(binary, at), p);
    static const char *const names[] = {"neurons", "synapses", "inbound_axons", "outbound_axons", "target_cores"};
    for (size_t i = 0; i < 5; i++)
      ck_assert_uint_eq(u32(binary, at + 4 + 4 * i), (uint64_t)json_integer_value(json_object_get(core, names[i])));
    ck_assert(f32(binary, at + 24) == (float)json_number_value(json_object_get(core, "traffic_in")));
    ck_assert(json_number_value(json_object_get(core, "traffic_in")) == mapping->detail.core[p].traffic_in);
    ck_assert(f32(binary, at + 32) == (float)cm_congestion_at(&mapping->detail, chip, mapping->core[p]));
    ck_assert_uint_gt(u32(binary, at + 4), 0);
  }
  free(binary);
  binary = view(CM_VIEW_LINKS_BINARY, &size);
  ck_assert_uint_eq(size, 16 + 12 * 16);
  ck_assert_mem_eq(binary, "CMLINKS1", 8);
  size_t loaded = 0;
  for (size_t i = 0; i < 48; i++) {
    uint32_t router = (uint32_t)i / CM_DIRECTIONS;
    double load = cm_link_load_at(&mapping->detail, router % 4, router / 4, (cm_direction)(i % CM_DIRECTIONS));
    ck_assert(f32(binary, 16 + 4 * i) == (float)load);
    loaded += load > 0;
  }
  ck_assert_uint_eq(json_array_size(json_object_get(links, "links")), loaded);
  ck_assert_uint_gt(loaded, 4);
  free(binary);
  csv = view(CM_VIEW_LINKS_CSV, NULL);
  size_t lines = 0;
  for (const char *c = csv; *c != '\0'; c++)
    lines += *c == '\n';
  ck_assert_uint_eq(lines, loaded + 1);
  free(csv);
  csv = view(CM_VIEW_PLACEMENT_CSV, NULL);
  ck_assert_int_eq(strncmp(csv, "part,x,y\n0,", 11), 0);
  free(csv);
  json_decref(full);
  json_decref(neurons);
  json_decref(cores);
  json_decref(links);
  tear_down();
}
END_TEST

START_TEST(labels_are_quoted_by_rfc_4180)
{
  build(3, true);
  static const char text[] = "plain\0a,b\0say \"hi\"\0=cmd()\0-12.5\0@x\0";
  network.label_text = network_array(sizeof text, 1);
  memcpy(network.label_text, text, sizeof text);
  network.label_first = network_array(NEURONS + 1, sizeof *network.label_first);
  network.label_first[1] = 6;
  network.label_first[2] = 10;
  network.label_first[3] = 19;
  network.label_first[4] = 26;
  network.label_first[5] = 32;
  for (uint32_t v = 6; v <= NEURONS; v++)
    network.label_first[v] = 35;
  char *csv = view(CM_VIEW_NEURONS_CSV, NULL);
  ck_assert_ptr_nonnull(strstr(csv, "\n0,plain,"));
  ck_assert_ptr_nonnull(strstr(csv, "\n1,\"a,b\","));
  ck_assert_ptr_nonnull(strstr(csv, "\n2,\"say \"\"hi\"\"\","));
  ck_assert_ptr_nonnull(strstr(csv, "\n3,\"'=cmd()\",")); /* no cell of a table is calculated */
  ck_assert_ptr_nonnull(strstr(csv, "\n4,-12.5,"));
  ck_assert_ptr_nonnull(strstr(csv, "\n5,\"'@x\","));
  free(csv);
  tear_down();
}
END_TEST

START_TEST(a_full_disk_and_a_folder)
{
  build(4, true);
  FILE *full = fopen("/dev/full", "w");
  if (full != NULL) {
    ck_fails(cm_mapping_write(mapping, CM_DEMAND_OF(&network), chip, NULL, CM_VIEW_FULL_JSON, full, &error), CM_DISK_FULL);
    fclose(full);
  }
  char folder[CM_PATH_MAX], path[CM_PATH_MAX];
  test_folder(folder);
  ck_ok(cm_path(path, &error, "%s/views", folder));
  ck_ok(cm_mapping_write_folder(mapping, CM_DEMAND_OF(&network), chip, NULL, path, &error));
  for (int i = 0; i < CM_VIEWS; i++) {
    size_t size, expected;
    char *text, *direct = NULL;
    FILE *stream = open_memstream(&direct, &expected);
    ck_ok(cm_mapping_write(mapping, CM_DEMAND_OF(&network), chip, NULL, (cm_mapping_view)i, stream, &error));
    fclose(stream);
    ck_ok(cm_path(path, &error, "%s/views/%s", folder, cm_mapping_view_name((cm_mapping_view)i)));
    ck_ok(cm_file_read(path, 1 << 20, &text, &size, &error));
    ck_assert_uint_eq(size, expected);
    ck_assert_mem_eq(text, direct, size);
    free(text);
    free(direct);
  }
  ck_ok(cm_folder_remove(folder, &error));
  tear_down();
}
END_TEST

/* Checks a JSON text; the number of violations. */
static uint64_t check_text(const char *text, const cm_chip *on, cm_check_result *result)
{
  FILE *stream = fmemopen((void *)text, strlen(text), "r");
  ck_ok(cm_check_mapping_stream(
    stream, &(cm_check_context){.demand = CM_DEMAND_OF(&network), .chip = on, .occupancy = occupancy, .run = &run}, result, &error));
  fclose(stream);
  return result->violation_count;
}

static void expect(const json_t *json, const cm_chip *on, const char *sentence)
{
  char *text = json_dumps(json, 0);
  cm_check_result result;
  check_text(text, on, &result);
  bool found = false;
  for (uint32_t i = 0; i < result.listed; i++)
    found |= strstr(result.violations[i], sentence) != NULL;
  ck_assert_msg(found, "no violation says \"%s\"; %u listed, first: %s", sentence, result.listed,
                result.listed > 0 ? result.violations[0] : "none");
  cm_check_result_free(&result);
  free(text);
}

START_TEST(legal_mappings_pass)
{
  for (uint64_t seed = 1; seed <= 40; seed++) {
    build(seed, seed % 3 != 0);
    char *text = view(CM_VIEW_FULL_JSON, NULL);
    cm_check_result result;
    check_text(text, chip, &result);
    ck_assert_msg(result.violation_count == 0, "seed %d: %s", (int)seed,
                  result.listed > 0 ? result.violations[0] : "?");
    cm_check_result_free(&result);
    free(text);
    tear_down();
  }
}
END_TEST

static json_t *core_of(json_t *json, size_t i)
{
  return json_array_get(json_object_get(json, "cores"), i);
}

START_TEST(every_tampering_is_found)
{
  build(5, true);
  json_t *whole = view_json(CM_VIEW_FULL_JSON), *json;
#define TAMPER(change, sentence)     \
  do {                               \
    json = json_deep_copy(whole);    \
    change;                          \
    expect(json, chip, sentence);    \
    json_decref(json);               \
  } while (0)
  TAMPER(json_array_remove(json_object_get(json, "neurons"), 3), "has 39 entries, the network 40 neurons");
  TAMPER(json_array_append_new(json_object_get(json, "neurons"), json_integer(0)), "has 41 entries");
  TAMPER(json_array_set_new(json_object_get(json, "neurons"), 7, json_integer(PARTS)), "neuron 7 is in part 6");
  TAMPER(json_array_set_new(json_object_get(json, "neurons"), 7, json_integer(INT64_C(1) << 40)),
         "neuron 7 is in part");
  TAMPER(json_array_set_new(json_object_get(json, "neurons"), 7, json_integer((mapping->part[7] + 1) % PARTS)),
         "neurons is stated as");
  TAMPER(json_array_remove(json_object_get(json, "cores"), 0), "part");
  TAMPER(json_object_set_new(core_of(json, 1), "part", json_integer(0)), "part 0 is placed twice");
  TAMPER(json_object_set_new(core_of(json, 1), "part", json_integer(99)), "names part 99");
  TAMPER(json_object_set_new(core_of(json, 1), "x", json_integer(4)), "outside the chip");
  TAMPER((json_object_set(core_of(json, 1), "x", json_object_get(core_of(json, 0), "x")),
          json_object_set(core_of(json, 1), "y", json_object_get(core_of(json, 0), "y"))), "share core");
  TAMPER((json_object_set_new(core_of(json, 0), "x", json_integer(3)),
          json_object_set_new(core_of(json, 0), "y", json_integer(0))), "(3, 0), which is dead");
  TAMPER((json_object_set_new(core_of(json, 0), "x", json_integer(0)),
          json_object_set_new(core_of(json, 0), "y", json_integer(1))), "(0, 1), which is occupied");
  TAMPER(json_object_set_new(json_object_get(json, "region"), "width", json_integer(1)), "outside the stated region");
  TAMPER(json_object_set_new(json_object_get(json, "network"), "synapses", json_integer(1)), "/network/synapses");
  TAMPER(json_object_set_new(json_object_get(json, "chip"), "width", json_integer(5)), "/chip/width");
  TAMPER(json_object_set_new(json, "parts", json_integer(7)), "the number of parts");
  /* Every figure of the metrics and of a core, altered by a little and removed. */
  const char *key;
  json_t *value;
  json_object_foreach(json_object_get(whole, "metrics"), key, value)
  {
    json_t *altered = json_is_real(value) ? json_real(json_real_value(value) * 1.00001 + 1e-9)
                                          : json_integer(json_integer_value(value) + 1);
    char sentence[80];
    snprintf(sentence, sizeof sentence, "metrics: %s is stated as", key);
    TAMPER(json_object_set(json_object_get(json, "metrics"), key, altered), sentence);
    snprintf(sentence, sizeof sentence, "metrics: %s is missing", key);
    TAMPER(json_object_del(json_object_get(json, "metrics"), key), sentence);
    json_decref(altered);
  }
  static const char *const loads[] = {"neurons", "synapses", "inbound_axons", "outbound_axons", "target_cores",
                                      "traffic_in", "traffic_out"};
  for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
    char sentence[80];
    snprintf(sentence, sizeof sentence, "part 2: %s is stated as", loads[i]);
    TAMPER(json_object_set_new(core_of(json, 2), loads[i],
                               json_integer(json_integer_value(json_object_get(core_of(json, 2), loads[i])) + 7777)),
           sentence);
  }
  /* Every limit, set one below what the fullest core has. */
  const struct {
    uint64_t *limit, most;
    const char *what;
  } limits[] = {
    {&chip->limits.neurons, mapping->metrics.largest_part, " neurons, over the limit"},
    {&chip->limits.synapses, mapping->metrics.most_synapses, " synapses, over the limit"},
    {&chip->limits.inbound_axons, mapping->metrics.most_inbound_axons, " inbound axons, over the limit"},
    {&chip->limits.outbound_axons, mapping->metrics.most_outbound_axons, " outbound axons, over the limit"},
    {&chip->limits.target_cores, mapping->metrics.most_target_cores, " target cores, over the limit"},
  };
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    uint64_t before = *limits[i].limit;
    ck_assert_uint_gt(limits[i].most, 1);
    *limits[i].limit = limits[i].most - 1;
    expect(whole, chip, limits[i].what);
    *limits[i].limit = limits[i].most;
    char *text = json_dumps(whole, 0);
    cm_check_result result;
    (void)check_text(text, chip, &result); /* it is another chip now, but no limit is broken */
    for (uint32_t k = 0; k < result.listed; k++)
      ck_assert_ptr_null(strstr(result.violations[k], "over the limit"));
    cm_check_result_free(&result);
    free(text);
    *limits[i].limit = before;
  }
  json_decref(whole);
  tear_down();
}
END_TEST

START_TEST(files_that_are_no_mapping_are_refused)
{
  build(6, true);
  static const char *const cases[] = {
    "", "{", "{}", "[]", "{\"format\": 1}", "{\"format\": \"coremapd mapping 1\"}",
    "{\"format\": \"coremapd mapping 1\", \"neurons\": [1, 2], \"cores\": 3}",
    "{\"format\": \"coremapd mapping 1\", \"neurons\": [1, -2], \"cores\": []}",
    "{\"format\": \"coremapd mapping 1\", \"neurons\": [1 2], \"cores\": []}",
    "{\"format\": \"coremapd mapping 1\", \"neurons\": [], \"neurons\": [], \"cores\": []}",
    "{\"format\": \"coremapd mapping 1\", \"neurons\": [], \"cores\": [{\"part\": 0}]}",
    "{\"format\": \"coremapd mapping 1\", \"neurons\": [], \"cores\": [{\"part\": 0]}",
    "{\"format\": \"coremapd mapping 1\", \"neurons\": [], \"cores\": []} x",
    "{\"format\": \"coremapd mapping 1\", \"neurons\": [], \"cores\": [], }",
    "{\"format\": \"coremapd mapping 1\", \"a\": [}, \"neurons\": [], \"cores\": []}",
    "{\"format\": \"coremapd mapping 2\", \"neurons\": [], \"cores\": []}",
  };
  cm_check_result result;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    FILE *stream = cases[i][0] == '\0' ? fopen("/dev/null", "r") : fmemopen((void *)cases[i], strlen(cases[i]), "r");
    ck_fails(
      cm_check_mapping_stream(stream, &(cm_check_context){.demand = CM_DEMAND_OF(&network), .chip = chip, .run = &run}, &result, &error),
      CM_BAD_MAPPING);
    fclose(stream);
  }
  ck_fails(
    cm_check_mapping("no-such-file.json", &(cm_check_context){.demand = CM_DEMAND_OF(&network), .chip = chip, .run = &run}, &result, &error),
    CM_NOT_FOUND);
  /* Cut anywhere, never accepted. */
  size_t size;
  char *text = view(CM_VIEW_FULL_JSON, &size);
  for (size_t length = 1; length + 2 < size; length += 7) {
    FILE *stream = fmemopen(text, length, "r");
    ck_fails(
      cm_check_mapping_stream(stream, &(cm_check_context){.demand = CM_DEMAND_OF(&network), .chip = chip, .run = &run}, &result, &error),
      CM_BAD_MAPPING);
    fclose(stream);
  }
  /* Memory that ends at any point. */
  int faults = 0;
  for (uint64_t n = 1;; n++, faults++) {
    FILE *stream = fmemopen(text, size, "r");
    cm_memory_fail_at(n);
    cm_status status =
      cm_check_mapping_stream(stream, &(cm_check_context){.demand = CM_DEMAND_OF(&network), .chip = chip, .run = &run}, &result, &error);
    bool fired = cm_memory_fault_fired();
    fclose(stream);
    if (!fired)
      break;
    ck_assert_int_eq(status, CM_NO_MEMORY);
  }
  cm_memory_fail_at(0);
  cm_check_result_free(&result);
  ck_assert_int_gt(faults, 10);
  free(text);
  tear_down();
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("views");
  TCase *tests = tcase_create("views");
  tcase_add_test(tests, summary_says_what_made_it_and_nothing_of_the_machine);
  tcase_add_test(tests, bulk_views_agree);
  tcase_add_test(tests, labels_are_quoted_by_rfc_4180);
  tcase_add_test(tests, a_full_disk_and_a_folder);
  tcase_add_test(tests, legal_mappings_pass);
  tcase_add_test(tests, every_tampering_is_found);
  tcase_add_test(tests, files_that_are_no_mapping_are_refused);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
