/* What does not go together, by options, network and chip: each is refused at its option, and what stands beside it is not. */
#include "tests/unit/unit.h"

#include "core/chip/interconnect/interconnect.h"
#include "core/mapping/combinations.h"
#include "core/mapping/options.h"

/* Networks and chips that no option suits in every case. */
typedef enum situation { PLAIN, WITHOUT_CHIP, UNDIRECTED, VARYING, INTERCONNECT, COPIES, CLASSES, POPULATIONS, FROM, PARTS } situation;

typedef cm_status asked(const cm_map_input *input, cm_error *error);

/* Whether a job with these options is taken there; the options alone are. */
static cm_status ask(asked *of, const char *text, situation s, cm_error *error)
{
  static uint32_t part[1] = {0}, population[1] = {0};
  cm_interconnect net = {.kind = CM_HEXAGONAL};
  cm_chip chip = {.name = "ours", .interconnect = s == INTERCONNECT ? &net : NULL, .class_count = s == CLASSES};
  cm_topology network = {.directed = s != UNDIRECTED, .vertex_count = 1, .scenario_count = s == VARYING ? 2 : 0,
                         .population_of = population, .population_count = 2};
  json_t *json = json_loads(text, 0, NULL);
  cm_map_options *options;
  ck_assert_msg(cm_map_options_parse(json, &options, error) == CM_OK, "%s", error->detail);
  json_decref(json);
  chip.limits.neuron_target_cores = s == COPIES ? 3 : 0;
  chip.limits.populations = s == POPULATIONS;
  const cm_map_input input = {.demand = CM_DEMAND_OF(&network), .chip = s == WITHOUT_CHIP ? NULL : &chip, .options = options,
                              .from = s == FROM ? "old.json" : NULL, .part = s == PARTS ? part : NULL, .part_count = s == PARTS};
  cm_status status = of(&input, error);
  cm_map_options_free(options);
  return status;
}

START_TEST(options_are_refused_where_they_do_not_suit)
{
  static const struct {
    asked *of;
    situation in, suits;
    const char *options, *where, *says;
  } rows[] = {
    {cm_combinations_of_job, PLAIN, VARYING, "{\"scenarios\": \"worst\"}", "/options/scenarios", "rate:NAME"},
    {cm_combinations_of_job, COPIES, PLAIN, "{\"traffic_model\": \"multicast\"}", "/options/traffic_model", "reach 3 cores"},
    {cm_combinations_of_job, INTERCONNECT, PLAIN, "{\"routing\": \"xy\"}", "/options/routing",
     "is for a plain mesh or torus; the interconnect of chip ours is \"hexagonal\""},
    {cm_combinations_of_job, FROM, PLAIN, "{\"traffic_model\": \"multicast\"}", "/options/traffic_model", "set \"unicast\""},
    {cm_combinations_of_job, FROM, PLAIN, "{\"objective\": \"pareto\"}", "/options/objective", "to map again"},
    {cm_combinations_of_job, PARTS, PLAIN, "{\"objective\": \"pareto\"}", "/options/objective", "here they are given"},
    {cm_combinations_of_partition, POPULATIONS, PLAIN, "{\"mapper\": \"integrated\"}", "/options/mapper", "populations_per_core"},
    {cm_combinations_of_partition, CLASSES, PLAIN, "{\"mapper\": \"bisection\"}", "/options/mapper", "core_classes"},
    {cm_combinations_of_partition, WITHOUT_CHIP, PLAIN, "{\"objective\": \"energy\"}", "/options/objective", "\"energy\" needs a chip"},
    {cm_combinations_of_partition, UNDIRECTED, PLAIN, "{\"objective\": \"time\"}", "/options/objective", "counts spikes"},
  };
  cm_error error;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    ck_fails(ask(rows[i].of, rows[i].options, rows[i].in, &error), CM_BAD_OPTION);
    ck_assert_str_eq(error.where, rows[i].where);
    ck_assert_msg(strstr(error.detail, rows[i].says) != NULL, "%s", error.detail);
    ck_ok(ask(rows[i].of, rows[i].options, rows[i].suits, &error));
    ck_ok(ask(rows[i].of, "{}", rows[i].in, &error));
  }
  ck_fails(ask(cm_combinations_of_partition, "{\"objective\": \"pareto\"}", PLAIN, &error), CM_BAD_OPTION);
  ck_assert_str_eq(error.where, "/options/objective");
}
END_TEST

START_TEST(options_are_refused_by_themselves)
{
  static const struct {
    const char *options, *where, *says;
  } rows[] = {
    {"{\"preset\": \"reference\", \"objective\": \"edp\"}", "/options/objective", "for objective \"edp\" choose preset fast"},
    {"{\"parts\": 4, \"objective\": \"axon\", \"mapper\": \"integrated\"}", "/options/mapper", "fixed number choose two-phase"},
    {"{\"objective\": \"pareto\", \"mapper\": \"integrated\"}", "/options/mapper", "for objective \"pareto\" choose two-phase"},
    {"{\"step_budget_ns\": 5}", "/options/step_budget_ns", "leave the budget out"},
    {"{\"objective\": \"pareto\", \"from\": \"1\"}", "/options/objective", "leave out from"},
    {"{\"scenarios\": \"worst\", \"preset\": \"reference\"}", "/options/scenarios", "balanced or best"},
  };
  cm_error error;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    json_t *json = json_loads(rows[i].options, 0, NULL);
    cm_map_options *options;
    ck_fails(cm_map_options_parse(json, &options, &error), CM_BAD_OPTION);
    ck_assert_str_eq(error.where, rows[i].where);
    ck_assert_msg(strstr(error.detail, rows[i].says) != NULL, "%s", error.detail);
    json_decref(json);
  }
}
END_TEST

/* A form, or a client, learns from the schema what options by themselves do not go together. */
START_TEST(the_schema_says_what_options_do_not_go_together)
{
  json_t *schema = cm_options_schema_ruled(&cm_map_option_table), *rules = json_object_get(schema, "allOf"), *budget = json_array_get(rules, 4);
  ck_assert_uint_eq(json_array_size(rules), 8);
  json_t *wanted = json_loads("{\"not\": {\"properties\": {\"step_budget_ns\": {\"not\": {\"const\": 0.0}}, \"objective\": {\"enum\": [\"edge\", \"axon\","
                              " \"time\", \"edp\", \"pareto\", \"knee\", \"auto\"]}}, \"required\": [\"step_budget_ns\", \"objective\"]}}", 0, NULL);
  ck_assert(json_object_del(budget, "description") == 0 && json_equal(budget, wanted));
  json_decref(wanted);
  json_decref(schema);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("combinations");
  TCase *tests = tcase_create("combinations");
  tcase_add_test(tests, options_are_refused_where_they_do_not_suit);
  tcase_add_test(tests, options_are_refused_by_themselves);
  tcase_add_test(tests, the_schema_says_what_options_do_not_go_together);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
