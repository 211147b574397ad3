/* core/network: signs, delays and populations: what files say of them, and that they come back from ours. */
#include "files.h"

#include "core/network/export.h"
#include "core/network/import.h"
#include "core/network/topology_file.h"

static cm_topology *import_text(const char *text, const char *name)
{
  cm_topology *t = NULL;
  const char *path = in_folder(name);
  test_write(path, text, strlen(text));
  ck_ok(cm_import(path, NULL, &run, &t, NULL, &error));
  ck_ok(cm_topology_verify(t, &error));
  return t;
}

static void values_are(const cm_topology *t, const double *value, size_t count)
{
  size_t at = 0;
  for (uint32_t e = 0; e < t->net_count; e++)
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++, at++)
      ck_assert_double_eq(cm_topology_pin_value(t, e, i), value[at]);
  ck_assert_uint_eq(at, count);
}
#define VALUES(t, ...) values_are(t, (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

/* Writes and reads back; frees the first. */
static cm_topology *again(cm_topology *t, const char *name)
{
  cm_topology *back = NULL;
  const char *path = in_folder(name);
  ck_ok(cm_export(t, path, &run, &error));
  ck_ok(cm_import(path, NULL, &run, &back, NULL, &error));
  ck_ok(cm_topology_verify(back, &error));
  cm_topology_free(t);
  return back;
}

START_TEST(signs_come_back)
{
  static const char *const names[] = {"x.csv", "x.tsv", "x.mtx", "x.zip", "x.csv.gz"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    cm_topology *t = import_text("a,b,0.5\na,c,-1.25\nb,a,-3\nc,a,0\nc,b,1\na,b,-2\n", "in.csv");
    ck_assert_uint_eq(t->duplicate_count, 1);
    ck_assert_uint_eq(t->zero_count, 1);
    ck_assert_uint_eq(cm_topology_negatives(t), 3);
    VALUES(t, -1.5, -1.25, -3, 0, 1);
    for (uint32_t e = 0; e < t->net_count; e++) /* what axons carry is their rate, whatever their synapses weigh */
      ck_assert_uint_eq(cm_topology_net_weight(t, e), t->weight_scale);
    t = again(t, names[i]);
    VALUES(t, -1.5, -1.25, -3, 0, 1);
    cm_topology_free(t);
  }
}
END_TEST

START_TEST(weights_of_one_with_signs)
{
  cm_topology *t = again(import_text("0,1,-1\n1,0,1\n", "in.csv"), "x.zip");
  ck_assert_ptr_null(t->pin_weight);
  VALUES(t, -1, 1);
  cm_topology_free(t);
}
END_TEST

/* Siemens, amperes: the scale of weights near 1 would leave nothing of them. */
START_TEST(small_weights_keep_their_digits)
{
  cm_topology *t = import_text("0,1,1.5e-12\n1,0,-3e-12\n1,2,1e-13\n", "in.csv");
  const double value[] = {1.5e-12, -3e-12, 1e-13};
  for (int turn = 0; turn < 2; turn++) {
    for (uint32_t e = 0, at = 0; e < t->net_count; e++)
      for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++, at++)
        ck_assert_double_eq_tol(cm_topology_pin_value(t, e, i), value[at], 1e-20);
    t = again(t, "x.zip");
  }
  cm_topology_free(t);
}
END_TEST

START_TEST(symmetric_matrix_with_signs)
{
  cm_topology *t = import_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 -0.5\n3 2 4\n", "in.mtx");
  ck_assert_uint_eq(cm_topology_negatives(t), 1);
  t = again(again(t, "x.zip"), "x.mtx");
  VALUES(t, -0.5, -0.5, 4, 4);
  cm_topology_free(t);
}
END_TEST

static void *copy(const void *from, size_t bytes)
{
  void *made = cm_allocate(&memory, bytes, 1, &error);
  ck_assert_ptr_nonnull(made);
  memcpy(made, from, bytes);
  return made;
}

START_TEST(delays_and_populations_come_back)
{
  static const cm_population population[] = {{"retina \xc3\xa4", CM_INPUT_KIND}, {"layer \"4\"", "CubaLIF"}, {"", ""}};
  static const uint32_t of[] = {0, 1, 1, 2}, delay[] = {100000, 0, 4294967295u, 7};
  cm_topology *t = import_text("0,1\n1,2\n2,3\n3,0\n", "in.csv");
  t->population = copy(population, sizeof population);
  t->population_of = copy(of, sizeof of);
  t->population_count = 3;
  t->pin_delay = copy(delay, sizeof delay);
  t->delay_unit_ns = 1000;
  ck_assert_double_eq(cm_topology_pin_delay_ms(t, 0), 100);
  t = again(t, "x.zip");
  ck_assert_uint_eq(t->population_count, 3);
  ck_assert_mem_eq(t->population_of, of, sizeof of);
  for (int i = 0; i < 3; i++) {
    ck_assert_str_eq(t->population[i].name, population[i].name);
    ck_assert_str_eq(t->population[i].kind, population[i].kind);
  }
  ck_assert_mem_eq(t->pin_delay, delay, sizeof delay);
  ck_assert_uint_eq(t->delay_unit_ns, 1000);
  ck_assert_uint_eq(cm_topology_inputs(t), 1);
  t->population_of[3] = 3;
  ck_fails(cm_topology_verify(t, &error), CM_BAD_NETWORK);
  cm_topology_free(t);
}
END_TEST

/* Files of networks without any of this are as they always were, so that their hashes stay. */
START_TEST(plain_files_stay_of_version_1)
{
  char *bytes, *text;
  size_t size;
  cm_topology_free(again(import_text("0,1,2\n1,2,3\n", "in.csv"), "plain.zip"));
  cm_topology_free(again(import_text("0,1,2\n1,2,-3\n", "in.csv"), "signed.zip"));
  static const char *const names[] = {"plain.zip", "signed.zip"}, *const member[] = {"edges/000000", "signs"};
  for (int i = 0; i < 2; i++) {
    ck_ok(cm_file_read(in_folder(names[i]), 1 << 20, &bytes, &size, &error));
    text = memmem(bytes, size, member[i], strlen(member[i]));
    ck_assert_ptr_nonnull(text);
    ck_assert(i == 1 || memmem(bytes, size, "signs", 5) == NULL);
    free(bytes);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("signed");
  TCase *test = tcase_create("signed");
  tcase_add_checked_fixture(test, setup, teardown);
  tcase_set_timeout(test, 60);
  tcase_add_test(test, signs_come_back);
  tcase_add_test(test, weights_of_one_with_signs);
  tcase_add_test(test, small_weights_keep_their_digits);
  tcase_add_test(test, symmetric_matrix_with_signs);
  tcase_add_test(test, delays_and_populations_come_back);
  tcase_add_test(test, plain_files_stay_of_version_1);
  suite_add_tcase(suite, test);
  return test_main(suite);
}
