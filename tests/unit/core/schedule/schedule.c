/* Schedules: optimal on tiny workloads (against trying everything) and on published ones, legal always, the same for
 * the same seed; readers and the judge refuse what is wrong. */
#include <jansson.h>

#include "core/schedule/generate.h"
#include "core/schedule/read.h"
#include "core/schedule/request.h"
#include "core/schedule/schedule_bound.h"
#include "core/schedule/trace.h"
#include "tests/unit/workloads.h"

static cm_error error;

static cm_schedule *make(const cm_workload *w, cm_schedule_method method, uint64_t schedules, uint64_t seed)
{
  cm_run run;
  cm_schedule *s;
  cm_schedule_options options = {.method = method, .schedules = schedules};
  cm_run_init(&run);
  run.seed = seed;
  ck_ok(cm_schedule_make(w, &options, &run, &s, &error));
  ck_ok(cm_schedule_check(w, s, NULL, &error));
  return s;
}

static uint64_t length(const cm_workload *w, cm_schedule_method method, uint64_t schedules)
{
  cm_schedule *s = make(w, method, schedules, 1);
  uint64_t makespan = s->makespan;
  cm_schedule_free(s);
  return makespan;
}

static cm_workload *published(const char *name, uint32_t processors)
{
  char path[200];
  cm_workload *w;
  const char *format;
  (void)snprintf(path, sizeof path, "schedule/%s", name);
  ck_ok(cm_workload_read(test_data(path), processors, NULL, &w, &format, &error));
  return w;
}

/* ---- graphs ---- */

static uint64_t longest_way(const cm_dag *dag, const uint64_t *weight, bool with_arcs, uint32_t v)
{
  uint64_t most = 0;
  for (uint64_t i = dag->out_first[v]; i < dag->out_first[v + 1]; i++) {
    uint64_t way = (with_arcs ? dag->out_weight[i] : 0) + longest_way(dag, weight, with_arcs, dag->out[i]);
    most = way > most ? way : most;
  }
  return most + weight[v];
}

START_TEST(heights_are_longest_ways_and_the_queue_takes_the_highest_that_is_free)
{
  cm_random random;
  cm_random_init(&random, (uint64_t)_i, 0, 0);
  uint32_t n = 1 + (uint32_t)cm_random_below(&random, 12), queue[12];
  cm_dag *dag = random_dag(&random, n, 30, 9);
  uint64_t weight[12], height[12], depth[12];
  for (uint32_t v = 0; v < n; v++)
    weight[v] = cm_random_below(&random, 10);
  for (int with_arcs = 0; with_arcs < 2; with_arcs++) {
    cm_dag_heights(dag, weight, with_arcs, height);
    for (uint32_t v = 0; v < n; v++)
      ck_assert_uint_eq(height[v], longest_way(dag, weight, with_arcs, v));
  }
  cm_dag_depths(dag, weight, true, depth);
  for (uint32_t v = 0; v < n; v++)
    for (uint64_t i = dag->out_first[v]; i < dag->out_first[v + 1]; i++)
      ck_assert_uint_ge(depth[dag->out[i]], depth[v] + weight[v] + dag->out_weight[i]);
  ck_ok(cm_dag_queue(dag, height, NULL, queue, &error));
  uint32_t done = 0;
  for (uint32_t k = 0; k < n; k++) {
    uint32_t highest = UINT32_MAX;
    for (uint32_t v = 0; v < n; v++) {
      bool ready = !(done >> v & 1);
      for (uint64_t i = dag->in_first[v]; i < dag->in_first[v + 1]; i++)
        ready = ready && (done >> dag->in[i] & 1);
      if (ready && (highest == UINT32_MAX || height[v] > height[highest]))
        highest = v;
    }
    ck_assert_uint_eq(queue[k], highest);
    done |= 1u << highest;
  }
  bool is;
  ck_ok(cm_dag_is_order(dag, queue, NULL, &is, &error));
  ck_assert(is);
  if (dag->arc_count > 0) {
    uint32_t swap = queue[0];
    queue[0] = queue[n - 1];
    queue[n - 1] = swap;
    ck_ok(cm_dag_is_order(dag, queue, NULL, &is, &error));
    bool last_was_free = dag->in_first[queue[0] + 1] == dag->in_first[queue[0]];
    ck_assert(!is || last_was_free);
  }
  cm_dag_free(dag);
}
END_TEST

START_TEST(graphs_merge_arcs_and_name_a_node_on_a_circle)
{
  cm_dag *dag;
  cm_arc twice[] = {{0, 2, 3}, {1, 2, 1}, {0, 2, 4}};
  ck_ok(cm_dag_new(NULL, 3, twice, 3, &dag, &error));
  ck_assert_uint_eq(dag->arc_count, 2);
  ck_assert_uint_eq(dag->out_weight[0], 7);
  ck_assert_uint_eq(dag->in[0], 0);
  ck_assert_uint_eq(dag->in[1], 1);
  cm_dag_free(dag);
  cm_arc circle[] = {{0, 1, 0}, {1, 2, 0}, {2, 3, 0}, {3, 2, 0}, {3, 4, 0}};
  ck_fails(cm_dag_new(NULL, 5, circle, 5, &dag, &error), CM_BAD_NETWORK);
  ck_assert(strcmp(error.where, "task 2") == 0 || strcmp(error.where, "task 3") == 0);
  cm_arc loop[] = {{1, 1, 0}}, beyond[] = {{0, 9, 0}}, heavy[] = {{0, 1, UINT64_MAX}, {0, 1, 1}};
  ck_fails(cm_dag_new(NULL, 2, loop, 1, &dag, &error), CM_BAD_NETWORK);
  ck_fails(cm_dag_new(NULL, 2, beyond, 1, &dag, &error), CM_BAD_NETWORK);
  ck_fails(cm_dag_new(NULL, 2, heavy, 2, &dag, &error), CM_BAD_NETWORK);
}
END_TEST

/* ---- against trying everything ---- */

START_TEST(tiny_projects_are_scheduled_at_their_optimum)
{
  cm_random random;
  cm_random_init(&random, (uint64_t)_i, 1, 0);
  uint32_t tasks = 1 + (uint32_t)cm_random_below(&random, 7), resources = 1 + (uint32_t)cm_random_below(&random, 3);
  cm_workload *w = random_project(&random, tasks, resources, 6);
  uint64_t optimum = truth_makespan(w), bound;
  ck_ok(cm_schedule_bound(w, NULL, &bound, &error));
  ck_assert_uint_le(bound, optimum);
  ck_assert_uint_eq(length(w, CM_SCHEDULE_SEARCH, 3000), optimum);
  for (int method = CM_SCHEDULE_LIST; method <= CM_SCHEDULE_SAMPLE; method++)
    ck_assert_uint_ge(length(w, (cm_schedule_method)method, 20), optimum);
  cm_workload_free(w);
}
END_TEST

START_TEST(what_a_vast_resource_can_do_in_long_times_bounds_nothing)
{
  static const char text[] = "4 1\n4294967295\n0 0 2 2 3\n4294967298 4 1 4\n4294967298 4 1 4\n0 0 0\n";
  cm_workload *w;
  const char *format;
  uint64_t bound;
  ck_ok(cm_workload_parse(text, 0, NULL, &w, &format, &error));
  ck_ok(cm_schedule_bound(w, NULL, &bound, &error));
  ck_assert_uint_eq(bound, 4294967298u);
  ck_assert_uint_eq(length(w, CM_SCHEDULE_LIST, 1), 4294967298u);
  cm_workload_free(w);
}
END_TEST

START_TEST(tiny_sets_of_processors_are_scheduled_at_their_optimum)
{
  cm_random random;
  cm_random_init(&random, (uint64_t)_i, 2, 0);
  uint32_t tasks = 1 + (uint32_t)cm_random_below(&random, 6), processors = 1 + (uint32_t)cm_random_below(&random, 3);
  cm_workload *w = random_processors(&random, tasks, processors, 9);
  uint64_t optimum = truth_makespan(w), bound;
  ck_ok(cm_schedule_bound(w, NULL, &bound, &error));
  ck_assert_uint_le(bound, optimum);
  ck_assert_uint_eq(length(w, CM_SCHEDULE_SEARCH, 30000), optimum);
  ck_assert_uint_ge(length(w, CM_SCHEDULE_LIST, 1), optimum);
  cm_workload_free(w);
}
END_TEST

START_TEST(justification_never_lengthens_and_its_list_makes_the_schedule_again)
{
  cm_random random;
  cm_random_init(&random, (uint64_t)_i, 3, 0);
  uint32_t tasks = 2 + (uint32_t)cm_random_below(&random, 40), list[42];
  cm_workload *w = random_project(&random, tasks, 1 + (uint32_t)cm_random_below(&random, 4), 12);
  uint64_t start[42], again[42];
  cm_generator *g;
  ck_ok(cm_generator_new(w, NULL, &g, &error));
  memcpy(list, w->dag->order, tasks * sizeof *list);
  uint64_t before = cm_generate_serial(g, CM_FORWARD, list, start);
  cm_sort_list(g, list, start);
  uint64_t after = cm_justify(g, list, start);
  ck_assert_uint_le(after, before);
  bool is;
  ck_ok(cm_dag_is_order(w->dag, list, NULL, &is, &error));
  ck_assert(is);
  ck_assert_uint_eq(cm_generate_serial(g, CM_FORWARD, list, again), after);
  ck_assert_mem_eq(start, again, tasks * sizeof *start);
  cm_generator_free(g);
  cm_workload_free(w);
}
END_TEST

START_TEST(amounts_too_wide_for_one_word_are_kept_apart)
{
  /* Twelve resources of a million each: one task holds all of each but one unit, so two never run together. */
  cm_workload *w;
  cm_dag *dag;
  ck_ok(cm_dag_new(NULL, 3, NULL, 0, &dag, &error));
  ck_ok(cm_workload_project(NULL, dag, 12, &w, &error));
  for (uint32_t r = 0; r < 12; r++) {
    w->capacity[r] = 1000000;
    for (uint32_t v = 0; v < 3; v++)
      w->demand[v * 12 + r] = v == r % 3 ? 999999 : 1;
  }
  for (uint32_t v = 0; v < 3; v++)
    w->time[v] = 5;
  ck_assert_uint_eq(length(w, CM_SCHEDULE_SEARCH, 100), 10); /* 999999 + 1 fit, 999999 + 1 + 1 do not */
  w->capacity[0] = UINT32_MAX;
  w->demand[0] = UINT32_MAX;
  ck_assert_uint_eq(length(w, CM_SCHEDULE_SEARCH, 100), 10);
  cm_workload_free(w);
}
END_TEST

/* ---- published workloads ---- */

static const struct {
  const char *file;
  uint32_t processors;
  uint64_t list, optimum; /* list 0: not published */
} known[] = {{"topcuoglu10.txt", 0, 80, 73}, {"het9_3_023.txt", 0, 0, 59}, {"j30_1_1.rcp", 0, 0, 43},
             {"j30_1_1.sm", 0, 0, 43},       {"rand0010.stg", 2, 0, 105},  {"rand0010.stg", 4, 0, 53}};

START_TEST(published_optima_are_met)
{
  cm_workload *w = published(known[_i].file, known[_i].processors);
  if (known[_i].list > 0)
    ck_assert_uint_eq(length(w, CM_SCHEDULE_LIST, 1), known[_i].list);
  ck_assert_uint_eq(length(w, CM_SCHEDULE_SEARCH, 0), known[_i].optimum);
  cm_workload_free(w);
}
END_TEST

START_TEST(both_formats_of_psplib_say_the_same)
{
  cm_workload *a = published("j30_1_1.rcp", 0), *b = published("j30_1_1.sm", 0);
  ck_assert_uint_eq(a->dag->node_count, b->dag->node_count);
  ck_assert_uint_eq(a->dag->arc_count, b->dag->arc_count);
  ck_assert_mem_eq(a->dag->out, b->dag->out, a->dag->arc_count * sizeof *a->dag->out);
  ck_assert_mem_eq(a->time, b->time, 32 * sizeof *a->time);
  ck_assert_mem_eq(a->demand, b->demand, 32 * 4 * sizeof *a->demand);
  ck_assert_mem_eq(a->capacity, b->capacity, 4 * sizeof *a->capacity);
  cm_workload_free(a);
  cm_workload_free(b);
}
END_TEST

/* ---- what a run promises ---- */

START_TEST(the_seed_alone_decides)
{
  cm_workload *w = published(_i == 0 ? "j30_1_1.rcp" : "topcuoglu10.txt", 0);
  cm_schedule *a = make(w, CM_SCHEDULE_SEARCH, 500, 7), *b = make(w, CM_SCHEDULE_SEARCH, 500, 7);
  ck_assert_mem_eq(a->start, b->start, a->task_count * sizeof *a->start);
  ck_assert_mem_eq(a->unit, b->unit, a->task_count * sizeof *a->unit);
  ck_assert_uint_eq(a->generated, b->generated);
  cm_schedule_free(b);
  bool differs = false;
  for (uint64_t seed = 8; seed < 16 && !differs; seed++) {
    b = make(w, CM_SCHEDULE_SEARCH, 500, seed);
    differs = memcmp(a->start, b->start, a->task_count * sizeof *a->start) != 0;
    cm_schedule_free(b);
  }
  ck_assert(differs);
  cm_schedule_free(a);
  cm_workload_free(w);
}
END_TEST

START_TEST(a_deadline_cuts_and_a_stop_stops)
{
  cm_workload *w = published(_i == 0 ? "j30_1_1.rcp" : "topcuoglu10.txt", 0);
  cm_run run;
  cm_schedule *s = NULL;
  cm_schedule_options options = {.method = CM_SCHEDULE_SEARCH, .schedules = UINT64_MAX};
  atomic_bool stop = true;
  cm_run_init(&run);
  run.deadline = 1e-9; /* long past */
  ck_ok(cm_schedule_make(w, &options, &run, &s, &error));
  ck_ok(cm_schedule_check(w, s, NULL, &error));
  cm_schedule_free(s);
  run.cancel = &stop;
  ck_fails(cm_schedule_make(w, &options, &run, &s, &error), CM_CANCELLED);
  cm_workload_free(w);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
  cm_workload *w = NULL;
  cm_schedule *s;
  const char *format, *file = _i == 0 ? "schedule/j30_1_1.sm" : "schedule/topcuoglu10.txt";
  cm_schedule_options options = {.method = CM_SCHEDULE_SEARCH, .schedules = 100};
  cm_memory memory;
  cm_run run;
  cm_memory_init(&memory, 0);
  cm_run_init(&run);
  run.memory = &memory;
  for (uint64_t n = 1, fired = 1; fired; n++) {
    s = NULL;
    w = NULL;
    cm_memory_fail_at(n);
    FILE *nowhere = fopen("/dev/null", "w");
    cm_status status = cm_workload_read(test_data(file), 0, &memory, &w, &format, &error);
    CM_THEN(status, cm_schedule_make(w, &options, &run, &s, &error));
    CM_THEN(status, cm_schedule_check(w, s, &memory, &error));
    CM_THEN(status, cm_schedule_write_trace(s, "x", &memory, nowhere, &error));
    fired = cm_memory_fault_fired() != 0;
    cm_memory_fail_at(0);
    fclose(nowhere);
    ck_assert_int_eq(status, fired ? CM_NO_MEMORY : CM_OK);
    cm_schedule_free(s);
    cm_workload_free(w);
    ck_assert_uint_eq(atomic_load(&memory.used_bytes), 0);
  }
}
END_TEST

START_TEST(the_judge_finds_what_is_broken)
{
  cm_workload *w = published("topcuoglu10.txt", 0);
  cm_schedule *s = make(w, CM_SCHEDULE_LIST, 1, 1), broken = *s;
  s->makespan++;
  ck_fails(cm_schedule_check(w, s, NULL, &error), CM_LIMIT_BROKEN);
  s->makespan = broken.makespan;
  s->lower_bound = s->makespan + 1;
  ck_fails(cm_schedule_check(w, s, NULL, &error), CM_LIMIT_BROKEN);
  s->lower_bound = broken.lower_bound;
  for (uint32_t v = 0; v < 10; v++) { /* a longer run, and another processor */
    s->finish[v]++;
    ck_fails(cm_schedule_check(w, s, NULL, &error), CM_LIMIT_BROKEN);
    s->finish[v]--;
    s->unit[v] += 3;
    ck_fails(cm_schedule_check(w, s, NULL, &error), CM_LIMIT_BROKEN);
    s->unit[v] -= 3;
    if (s->start[v] == 0)
      continue;
    uint64_t start = s->start[v], run = s->finish[v] - start;
    s->start[v] = 0; /* before what it waits for */
    s->finish[v] = run;
    if (s->makespan == start + run)
      s->makespan = 0;
    ck_fails(cm_schedule_check(w, s, NULL, &error), CM_LIMIT_BROKEN);
    s->makespan = broken.makespan;
    s->start[v] = start;
    s->finish[v] = start + run;
  }
  ck_ok(cm_schedule_check(w, s, NULL, &error));
  cm_schedule_free(s);
  cm_workload_free(w);
  w = published("j30_1_1.rcp", 0);
  s = make(w, CM_SCHEDULE_SEARCH, 2000, 1);
  for (uint32_t r = 0; r < 4; r++) { /* some resource is all in use at some moment: with less of all it must show */
    ck_assert_uint_gt(w->capacity[r], 0);
    w->capacity[r]--;
  }
  ck_fails(cm_schedule_check(w, s, NULL, &error), CM_LIMIT_BROKEN);
  cm_schedule_free(s);
  cm_workload_free(w);
}
END_TEST

/* ---- bad files ---- */

static const struct {
  const char *text, *where;
  cm_status status;
} bad[] = {
  {"", "", CM_BAD_NETWORK},
  {"hello", "", CM_BAD_NETWORK},
  {"1 2 3 4\n", "", CM_BAD_NETWORK},
  {"1\n0 0 0\n1 5 1 0\n", "line 4", CM_BAD_NETWORK},              /* the sink's row is missing */
  {"1\n0 0 0\n1 5 1 7\n2 0 1 1\n", "line 3", CM_BAD_NETWORK},     /* waits for a task that is not there */
  {"1\n0 0 0\n2 5 1 0\n1 0 1 1\n", "line 3", CM_BAD_NETWORK},     /* rows out of order */
  {"1\n0 0 0\n1 -5 1 0\n2 0 1 1\n", "line 3", CM_BAD_NETWORK},
  {"1\n0 0 0\n1 5 1 2\n2 0 1 1\n", "task 1", CM_BAD_NETWORK},     /* a circle; either of its tasks */
  {"1\n0 0 0\n1 5 1 0\n2 0 1 1\n9\n", "line 5", CM_BAD_NETWORK},  /* something behind the end */
  {"1\n0 0 0\n1 9999999999999 1 0\n2 0 1 1\n", "line 3", CM_TOO_LARGE},
  {"99999999999999999999999\n", "line 1", CM_BAD_NETWORK},
  {"4000000 4096 1\n1\n", "", CM_BAD_NETWORK},                    /* more than the file could hold */
  {"2 0 1\n", "line 1", CM_BAD_NETWORK},
  {"2 1 1\n3\n4\n0 2 1\n", "line 4", CM_BAD_NETWORK},
  {"2 1\n4\n3 5 1 2\n1 1 0\n", "task 0", CM_BAD_NETWORK},         /* needs 5 of 4 */
  {"2 1\n4\n3 1 1 0\n1 1 0\n", "line 3", CM_BAD_NETWORK},         /* jobs count from 1 */
  {"PRECEDENCE RELATIONS\n", "", CM_BAD_NETWORK},
};

START_TEST(bad_files_are_refused_with_their_place)
{
  cm_workload *w = NULL;
  const char *format;
  ck_fails(cm_workload_parse(bad[_i].text, 2, NULL, &w, &format, &error), bad[_i].status);
  if (strcmp(bad[_i].where, "task 1") != 0)
    ck_assert_str_eq(error.where, bad[_i].where);
  ck_assert_ptr_null(w);
}
END_TEST

START_TEST(a_standard_graph_needs_processors)
{
  cm_workload *w = NULL;
  const char *format;
  ck_fails(cm_workload_parse("0\n0 0 0\n1 0 1 0\n", 0, NULL, &w, &format, &error), CM_BAD_OPTION);
  ck_ok(cm_workload_parse("0\n0 0 0\n1 0 1 0\n# a comment\n", 1, NULL, &w, &format, &error));
  ck_assert_str_eq(format, "stg");
  ck_assert_uint_eq(length(w, CM_SCHEDULE_SEARCH, 10), 0);
  cm_workload_free(w);
}
END_TEST

/* ---- traces ---- */

START_TEST(traces_hold_every_task_once_and_lanes_never_overlap)
{
  cm_workload *w = published(_i == 0 ? "j30_1_1.rcp" : _i == 1 ? "topcuoglu10.txt" : "rand0010.stg", 3);
  cm_schedule *s = make(w, CM_SCHEDULE_LIST, 1, 1);
  char *text;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  ck_ok(cm_schedule_write_trace(s, "a \"name\"\n", NULL, stream, &error));
  fclose(stream);
  json_t *trace = json_loadb(text, size, 0, NULL), *event, *other;
  ck_assert_ptr_nonnull(trace);
  ck_assert_str_eq(json_string_value(json_object_get(json_object_get(trace, "otherData"), "name")), "a \"name\"\n");
  size_t i, j, spans = 0, running = 0;
  const json_t *events = json_object_get(trace, "traceEvents");
  for (uint32_t v = 0; v < s->task_count; v++)
    running += s->finish[v] > s->start[v];
  json_array_foreach(events, i, event) {
    if (strcmp(json_string_value(json_object_get(event, "ph")), "X") != 0)
      continue;
    json_int_t from = json_integer_value(json_object_get(event, "ts")),
               to = from + json_integer_value(json_object_get(event, "dur"));
    unsigned task;
    ck_assert_int_eq(sscanf(json_string_value(json_object_get(event, "name")), "task %u", &task), 1);
    ck_assert_uint_eq((uint64_t)from, s->start[task]);
    ck_assert_uint_eq((uint64_t)to, s->finish[task]);
    spans++;
    json_array_foreach(events, j, other) {
      json_int_t start = json_integer_value(json_object_get(other, "ts"));
      if (j != i && json_object_get(other, "ts") != NULL &&
          json_equal(json_object_get(event, "tid"), json_object_get(other, "tid")))
        ck_assert(start >= to || start + json_integer_value(json_object_get(other, "dur")) <= from);
    }
  }
  ck_assert_uint_eq(spans, running);
  json_decref(trace);
  free(text);
  cm_schedule_free(s);
  cm_workload_free(w);
}
END_TEST

START_TEST(trace_times_are_microseconds_to_the_nanosecond)
{
  cm_span span[] = {{0, 1500, 4250, NULL, "load", "data"}};
  cm_counted point[] = {{0, 64}, {1500, 128}};
  cm_counter memory = {"memory", "bytes", 256, point, 2};
  cm_timeline t = {.name = "x", .unit_count = 1, .span = span, .span_count = 1, .counter = &memory, .units_per_us = 1000};
  char *text;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  ck_ok(cm_trace_write(&t, stream, &error));
  fclose(stream);
  ck_assert_ptr_nonnull(strstr(text, "\"cat\":\"load\",\"pid\":1,\"tid\":0,\"ts\":1.500,\"dur\":2.750,\"args\":{\"critical\":\"data\"}}"));
  ck_assert_ptr_nonnull(strstr(text, "{\"ph\":\"C\",\"name\":\"memory\",\"pid\":1,\"ts\":1.500,\"args\":{\"bytes\":128}}"));
  ck_assert_ptr_nonnull(strstr(text, "\"limits\":{\"memory\":256}"));
  json_t *whole = json_loadb(text, size, 0, NULL);
  ck_assert_ptr_nonnull(whole);
  json_decref(whole);
  free(text);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("schedule");
  TCase *c = tcase_create("schedule");
  suite_add_tcase(suite, c);
  tcase_add_loop_test(c, heights_are_longest_ways_and_the_queue_takes_the_highest_that_is_free, 0, 60);
  tcase_add_test(c, graphs_merge_arcs_and_name_a_node_on_a_circle);
  tcase_add_loop_test(c, tiny_projects_are_scheduled_at_their_optimum, 0, 60);
  tcase_add_loop_test(c, tiny_sets_of_processors_are_scheduled_at_their_optimum, 0, 30);
  tcase_add_loop_test(c, justification_never_lengthens_and_its_list_makes_the_schedule_again, 0, 40);
  tcase_add_test(c, amounts_too_wide_for_one_word_are_kept_apart);
  tcase_add_loop_test(c, published_optima_are_met, 0, sizeof known / sizeof *known);
  tcase_add_test(c, what_a_vast_resource_can_do_in_long_times_bounds_nothing);
  tcase_add_test(c, both_formats_of_psplib_say_the_same);
  tcase_add_loop_test(c, the_seed_alone_decides, 0, 2);
  tcase_add_loop_test(c, a_deadline_cuts_and_a_stop_stops, 0, 2);
  tcase_add_loop_test(c, every_allocation_may_fail, 0, 2);
  tcase_add_test(c, the_judge_finds_what_is_broken);
  tcase_add_loop_test(c, bad_files_are_refused_with_their_place, 0, sizeof bad / sizeof *bad);
  tcase_add_test(c, a_standard_graph_needs_processors);
  tcase_add_loop_test(c, traces_hold_every_task_once_and_lanes_never_overlap, 0, 3);
  tcase_add_test(c, trace_times_are_microseconds_to_the_nanosecond);
  return test_main(suite);
}
