/* core/network: signs, delays and populations: what files say of them, and that they come back from ours. */
#include "tests/unit/files.h"

#include "core/network/export.h"
#include "core/network/import.h"

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
  cm_topology *t = import_text("%%MatrixMarket matrix coordinate real symmetric\n% directed no\n3 3 2\n2 1 -0.5\n3 2 4\n", "in.mtx");
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

/* ---- tables by header names ---- */

static void row_is(const cm_topology *t, const char *from, const char *to, double value, double delay_ms)
{
  for (uint32_t e = 0; e < t->net_count; e++)
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      if (strcmp(cm_topology_label(t, cm_topology_source(t, e)), from) == 0 &&
          strcmp(cm_topology_label(t, t->pin[i]), to) == 0) {
        ck_assert_double_eq(cm_topology_pin_value(t, e, i), value);
        ck_assert_double_eq(cm_topology_pin_delay_ms(t, i), delay_ms);
        return;
      }
  ck_abort_msg("no synapse from %s to %s", from, to);
}

START_TEST(flywire_rows_of_one_pair_add_up)
{
  cm_topology *t = import_text("pre_root_id,post_root_id,neuropil,syn_count,nt_type\n"
                               "720575940629970489,720575940631267655,AVLP_R,7,GABA\n"
                               "720575940629970489,720575940631267655,ICL_R,5,GABA\n"
                               "720575940631267655,720575940621280688,,2,\n", "in.csv");
  ck_assert_uint_eq(t->vertex_count, 3);
  ck_assert_uint_eq(t->duplicate_count, 1);
  row_is(t, "720575940629970489", "720575940631267655", 12, 0);
  row_is(t, "720575940631267655", "720575940621280688", 2, 0);
  cm_topology_free(t);
}
END_TEST

START_TEST(columns_in_any_order)
{
  static const char *const texts[] = {
    "bodyId_pre,bodyId_post,roi,weight\n200,300,EB,4\n200,300,FB,1\n300,200,EB,2\n",         /* hemibrain */
    "bodyId_pre,bodyId_post,weight\n200,300,5\n300,200,2\n",
    "weight\tpost\tpre\n5\t300\t200\n2\t200\t300\n",
    "roi,Weight,to,x,from\n\"a,b\",5,300,1,200\n,2,200,1,300\n",
    ",source,target,synapse_model,weight\n0,200,300,static_synapse,5\n1,300,200,static_synapse,2\n", /* pandas */
    "source target weight\n200 300 5\n300 200 2\n",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    cm_topology *t = import_text(texts[i], "in");
    row_is(t, "200", "300", 5, 0);
    row_is(t, "300", "200", 2, 0);
    ck_assert_uint_eq(cm_topology_synapses(t), 2);
    cm_topology_free(t);
  }
}
END_TEST

START_TEST(delays_of_tables_come_back)
{
  static const char *const texts[][2] = {
    {"source target weight delay\n10 20 -87.5 1.5\n20 10 21 0.1\n", "nest.dat"},
    {" source   target   synapse model   weight   delay \n-------- -------- --------------- -------- -------\n"
     "     10       20  static_synapse  -87.500   1.500\n     20       10  static_synapse   21.000   0.100\n", "printed.txt"}, /* NEST */
    {"# columns = [\"i\", \"j\", \"delay\", \"weight\"]\n10\t20\t1.5\t-87.5\n20\t10\t0.1\t21\n", "pynn.txt"},
    {"10 20 -87.5 1.5\n20 10 21 0.1\n", "list.conn"},
    {"[(10, 20, -87.5, 1.5), (20, 10, 21.0, 0.1)]\n", "list.txt"},
    {"[[10, 20, -87.5, 1.5],\n [20, 10, 21.0, 0.1]]", "list"},
  };
  static const char *const out[] = {"x.csv", "x.tsv", "x.zip"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    for (size_t k = 0; k < sizeof out / sizeof *out; k++) {
      cm_topology *t = again(import_text(texts[i][0], texts[i][1]), out[k]);
      row_is(t, "10", "20", -87.5, 1.5);
      row_is(t, "20", "10", 21, 0.1);
      cm_topology_free(t);
    }
}
END_TEST

START_TEST(lists_of_pynn_have_numbers)
{
  cm_topology *t = again(import_text("a,b,2\nb,c,-1\n", "in.csv"), "x.conn");
  ck_assert_ptr_null(t->label_text);
  VALUES(t, 2, -1);
  char *text;
  size_t size;
  ck_ok(cm_file_read(in_folder("x.conn"), 1 << 16, &text, &size, &error));
  ck_assert_ptr_nonnull(strstr(text, "# columns = [\"i\", \"j\", \"weight\"]\n0\t1\t2\n"));
  free(text);
  cm_topology_free(t);
}
END_TEST

static cm_status import_with(const char *text, cm_read_option_id id, const char *value, cm_topology **t)
{
  cm_import_hint hint = {.name = "in.csv"};
  const cm_import_limits limits = cm_import_limits_default();
  hint.option[id] = value;
  return cm_import_memory(text, strlen(text), &hint, &limits, &run, t, NULL, &error);
}

START_TEST(columns_by_option)
{
  cm_topology *t;
  ck_ok(import_with("x,1.5,300,7,200\ny,0.5,200,2,300\n", CM_READ_COLUMNS, "-,delay,target,weight,source", &t));
  row_is(t, "200", "300", 7, 1.5);
  row_is(t, "300", "200", 2, 0.5);
  cm_topology_free(t);
  ck_ok(import_with("A,B,C,D\n200,300,x,7\n", CM_READ_COLUMNS, "source,target,-,weight", &t)); /* a header all the same */
  row_is(t, "200", "300", 7, 0);
  cm_topology_free(t);
  t = NULL;
  static const char *const wrong[] = {"source,weight", "source,target,size", "source,target,target", "source,target,"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    ck_fails(import_with("1,2\n", CM_READ_COLUMNS, wrong[i], &t), CM_BAD_OPTION);
  ck_fails(import_with("1,2,3\n", CM_READ_COLUMNS, "source,target", &t), CM_BAD_NETWORK);
  ck_fails(import_with("1 2 3 4\n", CM_READ_ZEROS, "keep", &t), CM_BAD_NETWORK);
  ck_assert_ptr_nonnull(strstr(error.detail, "columns=source,target,weight,delay"));
  ck_fails(import_with("source,target,delay\n1,2,-1\n", CM_READ_ZEROS, "keep", &t), CM_BAD_NETWORK);
  ck_assert_ptr_nonnull(strstr(error.detail, "negative"));
}
END_TEST

/* A rate is the source's axon's, whatever order vertices come in. */
START_TEST(rates_of_edges)
{
  cm_topology *t;
  ck_ok(import_with("source,target,weight,rate\n9,4,2,0.5\n4,9,3,4\n9,1,-1,0.5\n", CM_READ_ZEROS, "keep", &t));
  ck_assert_uint_eq(t->net_count, 2);
  for (uint32_t e = 0; e < 2; e++)
    ck_assert_double_eq((double)cm_topology_net_weight(t, e) / (double)t->weight_scale, e == 0 ? 4 : 0.5); /* 4 before 9 */
  VALUES(t, 3, -1, 2);
  cm_topology_free(t);
  ck_ok(import_with("a,2,b\nb,0,a\n", CM_READ_COLUMNS, "source,rate,target", &t));
  ck_assert_uint_eq(cm_topology_net_weight(t, 0), 2 * t->weight_scale);
  ck_assert_uint_eq(cm_topology_net_weight(t, 1), 0);
  cm_topology_free(t);
  t = NULL;
  static const char *const wrong[][2] = {{"source,target,rate\n0,1,-1\n", "line 2: the rate '-1' is negative"},
                                         {"source,target,rate\n0,1,2\n0,2,3\n", "line 3: the rate is 3, and an earlier"},
                                         {"source,target,rate\n0,1,x\n", "line 2: rate 'x' is not a finite number"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    ck_fails(import_with(wrong[i][0], CM_READ_ZEROS, "keep", &t), CM_BAD_NETWORK);
    ck_assert_msg(strstr(error.detail, wrong[i][1]) != NULL, "%s", error.detail);
  }
  ck_fails(import_with("0,1\n", CM_READ_COLUMNS, "source,rate,target,rate", &t), CM_BAD_OPTION);
}
END_TEST

START_TEST(zeros_are_dropped_where_asked)
{
  static const char *const texts[] = {"0,1,0\n0,2,3\n1,2,0\n2,0,-0.5\n2,0,0.5\n",
                                      "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 2 0\n1 3 3\n2 3 0\n3 1 0\n"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    cm_topology *t;
    ck_ok(import_with(texts[i], CM_READ_ZEROS, "drop", &t));
    ck_ok(cm_topology_verify(t, &error));
    ck_assert_uint_eq(t->zero_count, 3);
    ck_assert_uint_eq(t->vertex_count, 3);
    VALUES(t, 3);
    cm_topology_free(t);
    ck_ok(import_with(texts[i], CM_READ_ZEROS, "keep", &t));
    ck_assert_uint_eq(t->zero_count, 3);
    VALUES(t, 0, 3, 0, 0);
    cm_topology_free(t);
  }
}
END_TEST

START_TEST(square_tables_are_matrices)
{
  static const char *const texts[] = {
    ",PVCL,PVCR,AVAL\nPVCL,0,2,\nPVCR,0,0,-1.5\nAVAL,1,0,3\n",
    "id\tPVCL\tPVCR\tAVAL\nPVCL\t0\t2\t0\nPVCR\t\t\t-1.5\nAVAL\t1\t0\t3\n",
    "PVCL,PVCR,AVAL\nPVCL,0,2,0\nPVCR,0,0,-1.5\nAVAL,1,0,3\n",
    "\"\";\"PVCL\";\"PVCR\";\"AVAL\"\n\"PVCL\";0;2;0\n\"PVCR\";0;0;-1.5\n\"AVAL\";1;0;3\n",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    cm_topology *t = import_text(texts[i], "in");
    ck_assert_uint_eq(t->vertex_count, 3);
    ck_assert_uint_eq(cm_topology_synapses(t), 4);
    row_is(t, "PVCL", "PVCR", 2, 0);
    row_is(t, "PVCR", "AVAL", -1.5, 0);
    row_is(t, "AVAL", "PVCL", 1, 0);
    row_is(t, "AVAL", "AVAL", 3, 0);
    cm_topology_free(t);
  }
  static const struct {
    const char *text, *where, *value;
  } wrong[] = {
    {",a,b,c\na,0,1,2\nc,1,0,1\nb,1,1,1\n", "line 3", "'c'"},
    {",a,b,c\na,0,1,2\nb,1,0,1\n", "line 4", "after 2 rows"},
    {",a,b,c\na,0,1\n", "line 1", "4 fields"},
    {",a,b,a\na,0,1,2\n", "line 1", "two columns"},
    {",a,b,c\na,0,x,2\n", "line 2", "'x'"},
    {"source target  synapse model\n------ ------\n1 2 x\n", "line 2", "rule of dashes"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    cm_topology *t = NULL;
    ck_fails(import_with(wrong[i].text, CM_READ_ZEROS, "keep", &t), CM_BAD_NETWORK);
    ck_assert_msg(strcmp(error.where, wrong[i].where) == 0 && strstr(error.detail, wrong[i].value) != NULL, "%s", error.detail);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("signed");
  TCase *test = tcase_create("signed");
  tcase_add_checked_fixture(test, setup, teardown);
  tcase_add_test(test, signs_come_back);
  tcase_add_test(test, weights_of_one_with_signs);
  tcase_add_test(test, small_weights_keep_their_digits);
  tcase_add_test(test, symmetric_matrix_with_signs);
  tcase_add_test(test, delays_and_populations_come_back);
  tcase_add_test(test, plain_files_stay_of_version_1);
  tcase_add_test(test, flywire_rows_of_one_pair_add_up);
  tcase_add_test(test, columns_in_any_order);
  tcase_add_test(test, delays_of_tables_come_back);
  tcase_add_test(test, lists_of_pynn_have_numbers);
  tcase_add_test(test, columns_by_option);
  tcase_add_test(test, rates_of_edges);
  tcase_add_test(test, zeros_are_dropped_where_asked);
  tcase_add_test(test, square_tables_are_matrices);
  suite_add_tcase(suite, test);
  return test_main(suite);
}
