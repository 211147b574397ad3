/* Jobs whose mapping is wrong: the mapper's files are spoilt behind its back (the linker wraps the call that writes them), and the job
 * has to fail. And which jobs are looked at: those of chips of several classes of cores, elsewhere those where it costs little. */
#include "unit.h"

#include <coremap/compile.h>
#include <coremap/network.h>
#include <jansson.h>

#include "core/verify/check.h"
#include "daemon/job/work.h"
#include "library/private/stored.h"

static const char plain_chip[] = "{\"name\": \"plain\", \"cores\": [3, 3], \"limits\": {\"neurons\": 200}}";
static const char class_chip[] = "{\"name\": \"classes\", \"cores\": [3, 3], \"limits\": {\"neurons\": 200}, \"core_classes\": [{\"name\": \"A\", "
                                 "\"cores\": [[0, 0, 1, 2]], \"limits\": {\"neurons\": 150}}]}";

static char folder[CM_PATH_MAX], attempt[CM_PATH_MAX];
static cm_error error;
static void (*spoil)(json_t *mapping); /* NULL: nothing is wrong */
static int checks;

/* ---- behind the job's back ---- */

static void spoil_in(const char *made)
{
  char path[CM_PATH_MAX];
  ck_ok(cm_path(path, &error, "%s/mapping.json", made));
  json_t *mapping = json_load_file(path, 0, NULL);
  ck_assert_ptr_nonnull(mapping);
  if (spoil != NULL)
    spoil(mapping);
  ck_assert_int_eq(json_dump_file(mapping, path, 0), 0);
  json_decref(mapping);
}

int __real_library_mapping_store(const coremap_mapping *mapping, const char *to, coremap_progress progress, void *user, coremap_error **why);
int __wrap_library_mapping_store(const coremap_mapping *mapping, const char *to, coremap_progress progress, void *user, coremap_error **why);
int __wrap_library_mapping_store(const coremap_mapping *mapping, const char *to, coremap_progress progress, void *user, coremap_error **why)
{
  int result = __real_library_mapping_store(mapping, to, progress, user, why);
  spoil_in(to);
  return result;
}

int __real_coremap_compile_files(const char *model, const coremap_chip *chip, const char *options, const char *files, const char *out,
                                 coremap_progress progress, void *user, char **report, coremap_error **why);
int __wrap_coremap_compile_files(const char *model, const coremap_chip *chip, const char *options, const char *files, const char *out,
                                 coremap_progress progress, void *user, char **report, coremap_error **why);
int __wrap_coremap_compile_files(const char *model, const coremap_chip *chip, const char *options, const char *files, const char *out,
                                 coremap_progress progress, void *user, char **report, coremap_error **why)
{
  char made[CM_PATH_MAX];
  int result = __real_coremap_compile_files(model, chip, options, files, out, progress, user, report, why);
  ck_ok(cm_path(made, &error, "%s/" CM_WORK_MADE, attempt));
  spoil_in(made);
  return result;
}

cm_status __real_cm_check_mapping(const char *path, const cm_check_context *context, cm_check_result *result, cm_error *why);
cm_status __wrap_cm_check_mapping(const char *path, const cm_check_context *context, cm_check_result *result, cm_error *why);
cm_status __wrap_cm_check_mapping(const char *path, const cm_check_context *context, cm_check_result *result, cm_error *why)
{
  checks++;
  return __real_cm_check_mapping(path, context, result, why);
}

static void move_onto_another(json_t *mapping)
{
  json_t *cores = json_object_get(mapping, "cores"), *moved = json_array_get(cores, 0), *other = json_array_get(cores, 1);
  (void)json_object_set(moved, "x", json_object_get(other, "x"));
  (void)json_object_set(moved, "y", json_object_get(other, "y"));
}

static void put_all_in_one(json_t *mapping)
{
  json_t *neurons = json_object_get(mapping, "neurons");
  for (size_t v = 0; v < json_array_size(neurons); v++)
    (void)json_array_set_new(neurons, v, json_integer(0));
}

static void overstate_the_bound(json_t *mapping)
{
  (void)json_object_set_new(json_object_get(mapping, "bound"), "parts", json_integer(9));
}

/* ---- jobs ---- */

static char *inside(const char *name)
{
  static char path[CM_PATH_MAX];
  ck_ok(cm_path(path, &error, "%s/%s", folder, name));
  return path;
}

/* Each neuron feeds the next so many around a ring. */
static void make_network(unsigned neurons, unsigned fan_out)
{
  coremap_network *network;
  FILE *stream = fopen(inside("ring.csv"), "w");
  for (unsigned v = 0; v < neurons; v++)
    for (unsigned k = 1; k <= fan_out; k++)
      fprintf(stream, "n%u,n%u\n", v, (v + k) % neurons);
  ck_assert_int_eq(fclose(stream), 0);
  ck_assert_int_eq(coremap_network_read(inside("ring.csv"), NULL, NULL, NULL, &network, NULL), 0);
  ck_assert_int_eq(library_network_store(network, inside(CM_WORK_NETWORK), NULL, NULL, NULL), 0);
  coremap_network_free(network);
}

static void setup(void)
{
  test_folder(folder);
  ck_ok(cm_folder_make(inside("in"), &error));
  ck_ok(cm_work_begin(folder, 1, attempt, &error));
  spoil = NULL;
  checks = 0;
}

static void teardown(void)
{
  ck_ok(cm_folder_remove(folder, &error));
}

static void nobody_watches(void *user, const char *phase, const char *progress, const char *phases)
{
  (void)user;
  (void)phase;
  (void)progress;
  (void)phases;
}

/* Carries out the job; the caller clears what came of it. */
static cm_work_result work(const char *kind, json_t *options, const char *chip)
{
  cm_work_watch watch = {.progress = nobody_watches};
  cm_work_job job = {.threads = 1, .options = options};
  cm_work_result result = {0};
  (void)snprintf(job.kind, sizeof job.kind, "%s", kind);
  test_write(inside(CM_WORK_CHIP), chip, strlen(chip));
  (void)cm_folder_remove(inside("out.1/" CM_WORK_MADE), &error);
  ck_ok(cm_work_describe(folder, &job, &error));
  json_decref(job.options);
  ck_ok(cm_work_run(folder, attempt, &watch, &error));
  ck_ok(cm_work_result_read(attempt, &result, &error));
  return result;
}

static cm_work_result map(const char *chip)
{
  return work("map", json_pack("{s:s}", "preset", "fast"), chip);
}

START_TEST(a_mapping_that_breaks_a_rule_fails_its_job)
{
  static const struct {
    void (*spoil)(json_t *mapping);
    const char *says;
  } cases[] = {{move_onto_another, "share core"}, {put_all_in_one, "neurons"}, {overstate_the_bound, "bound"}};
  const char *const chips[] = {plain_chip, class_chip};
  make_network(400, 3);
  for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
    spoil = cases[i / 2].spoil;
    cm_work_result result = map(chips[i % 2]);
    ck_assert_msg(result.status == CM_INTERNAL, "case %zu ends with status %d", i, (int)result.status);
    ck_assert_ptr_nonnull(strstr(result.why.detail, cases[i / 2].says));
    ck_assert_ptr_nonnull(strstr(result.why.detail, "please report it"));
    cm_work_result_clear(&result);
  }
}
END_TEST

/* 100 000 synapses in 500 neurons: to check them takes more than a tenth of what preset fast does. */
START_TEST(chips_of_classes_are_always_checked_others_where_it_costs_little)
{
  static const struct {
    const char *chip;
    unsigned neurons, fan_out;
    int checks;
  } cases[] = {{plain_chip, 400, 3, 1}, {class_chip, 400, 3, 1}, {plain_chip, 500, 200, 0}, {class_chip, 500, 200, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    checks = 0;
    make_network(cases[i].neurons, cases[i].fan_out);
    cm_work_result result = map(cases[i].chip);
    ck_assert_msg(result.status == CM_OK, "%s", result.why.detail);
    ck_assert_int_eq(checks, cases[i].checks);
    cm_work_result_clear(&result);
  }
}
END_TEST

START_TEST(so_does_that_of_a_program)
{
  char *chip, *model;
  size_t size;
  coremap_chip *embedded;
  ck_assert_int_eq(coremap_chip_open("npu-embedded", NULL, &embedded, NULL), 0);
  chip = coremap_chip_json(embedded);
  ck_assert_ptr_nonnull(chip);
  ck_ok(cm_file_read(test_data("onnx/shuffle.onnx"), SIZE_MAX / 4, &model, &size, &error));
  test_write(inside(CM_WORK_NETWORK), model, size);
  for (int i = 0; i < 2; i++) {
    spoil = i == 0 ? NULL : overstate_the_bound;
    cm_work_result result = work("compile", json_object(), chip);
    ck_assert_msg(result.status == (i == 0 ? CM_OK : CM_INTERNAL), "%s", result.why.detail);
    ck_assert(i == 0 || strstr(result.why.detail, "bound") != NULL);
    cm_work_result_clear(&result);
  }
  free(model);
  coremap_text_free(chip);
  coremap_chip_free(embedded);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("checked_jobs");
  TCase *tests = tcase_create("checked_jobs");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, a_mapping_that_breaks_a_rule_fails_its_job);
  tcase_add_test(tests, chips_of_classes_are_always_checked_others_where_it_costs_little);
  tcase_add_test(tests, so_does_that_of_a_program);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
