/* core/network: .snn, gzip, limits, topology files and exports, and every kind of bad input with its place and value. */
#include "tests/unit/files.h"

#include <errno.h>
#include <zip.h>
#include <zlib.h>

#include "core/network/export.h"
#include "core/network/file/topology_reader.h"
#include "core/network/import.h"
#include "core/network/topology_file.h"
#include "tests/unit/imports.h"

/* ---- .snn ---- */

typedef struct snn {
  uint8_t bytes[512];
  size_t size;
} snn;

static void snn_u32(snn *s, uint32_t value)
{
  for (int i = 0; i < 4; i++)
    s->bytes[s->size++] = (uint8_t)(value >> 8 * i);
}

static void snn_rate(snn *s, float rate)
{
  uint32_t bits;
  memcpy(&bits, &rate, sizeof bits);
  snn_u32(s, bits);
}

static void snn_axon(snn *s, uint32_t source, uint32_t a, uint32_t b, float rate)
{
  snn_u32(s, 2);
  snn_u32(s, source);
  snn_u32(s, a);
  snn_u32(s, b);
  snn_rate(s, rate);
}

START_TEST(snn_is_read)
{
  snn s = {.size = 0};
  snn_u32(&s, 5);
  snn_u32(&s, 5);
  snn_axon(&s, 3, 4, 0, 0.75f);
  snn_axon(&s, 1, 2, 2, 0.5f); /* a duplicate */
  snn_axon(&s, 3, 3, 1, 2);    /* a second axon of 3, with a self loop */
  snn_u32(&s, 0);              /* no targets */
  snn_u32(&s, 4);
  snn_rate(&s, 9);
  snn_axon(&s, 0, 1, 2, 0);
  cm_topology *t = import_bytes(s.bytes, s.size, "snn");
  ck_assert(t->directed && t->pin_weight == NULL && t->label_text == NULL && t->size == NULL);
  ck_assert_uint_eq(t->vertex_count, 5);
  ck_assert_uint_eq(t->net_count, 4);
  ck_assert_uint_eq(t->pin_count, 7);
  ck_assert_uint_eq(t->size_total, 5);
  ck_assert_uint_eq(t->duplicate_count, 1);
  ck_assert_uint_eq(t->self_loop_count, 1);
  ck_assert_uint_eq(t->empty_net_count, 1);
  ck_assert_uint_eq(cm_topology_hyperedges(t), 4); /* what was dropped is none */
  ck_assert_uint_eq(cm_topology_synapses(t), 7);
  const uint32_t source[] = {0, 1, 3, 3};
  const double rate[] = {0, 0.5, 0.75, 2};
  for (uint32_t e = 0; e < 4; e++) {
    ck_assert_uint_eq(cm_topology_source(t, e), source[e]);
    ck_assert_double_eq((double)cm_topology_net_weight(t, e) / (double)t->weight_scale, rate[e]);
  }
  PINS(t, 0, 1, 2);
  PINS(t, 1, 2);
  PINS(t, 2, 0, 4);
  PINS(t, 3, 1, 3);
  /* The largest power of two up to 2^30 that leaves the sum below 2^50. */
  ck_assert_uint_eq(t->weight_scale, UINT64_C(1) << 30);
  cm_topology_free(t);
}
END_TEST

START_TEST(snn_with_whole_rates_has_scale_1)
{
  snn s = {.size = 0};
  snn_u32(&s, 3);
  snn_u32(&s, 2);
  snn_axon(&s, 0, 1, 2, 7);
  snn_axon(&s, 2, 1, 0, 1);
  cm_topology *t = import_bytes(s.bytes, s.size, "snn");
  ck_assert_uint_eq(t->weight_scale, 1);
  ck_assert_uint_eq(cm_topology_pin_weight(t, 0, 1), 7);
  cm_topology_free(t);
}
END_TEST

START_TEST(snn_bad_input)
{
  snn good = {.size = 0};
  snn_u32(&good, 3);
  snn_u32(&good, 2);
  snn_axon(&good, 0, 1, 2, 1);
  snn_axon(&good, 1, 0, 2, 0.5f);
  snn bad = good;
  bad.bytes[16] = 3; /* first target */
  refuse_bytes(bad.bytes, bad.size, "byte 16", "target 3");
  bad = good;
  bad.bytes[12] = 200;
  refuse_bytes(bad.bytes, bad.size, "byte 12", "source 200");
  const float rates[] = {-1, NAN, INFINITY};
  const char *const shown[] = {"-1", "nan", "inf"};
  for (size_t i = 0; i < 3; i++) {
    bad = good;
    bad.size = 24;
    snn_rate(&bad, rates[i]);
    bad.size = good.size;
    refuse_bytes(bad.bytes, bad.size, "byte 24", shown[i]);
  }
  bad = good;
  snn_u32(&bad, 0);
  refuse_bytes(bad.bytes, bad.size, "byte 48", "more bytes follow");
  bad = good;
  bad.bytes[11] = 0xff; /* number of targets: 4278190082 */
  refuse_bytes(bad.bytes, bad.size, "byte 16", "4278190082");
  bad = good;
  bad.bytes[7] = 0x7f; /* number of hyperedges */
  refuse_bytes(bad.bytes, bad.size, "byte 4", "2130706434");
}
END_TEST

START_TEST(snn_cut_anywhere_is_refused)
{
  snn good = {.size = 0};
  snn_u32(&good, 3);
  snn_u32(&good, 2);
  snn_axon(&good, 0, 1, 2, 1);
  snn_axon(&good, 1, 0, 2, 0.5f);
  for (size_t size = 1; size < good.size; size++) {
    cm_topology *t = NULL;
    const char *path = in_folder("cut");
    test_write(path, good.bytes, size);
    ck_fails(cm_import(path, NULL, &run, &t, NULL, &error), CM_BAD_NETWORK);
    ck_assert_msg(strncmp(error.where, "byte ", 5) == 0, "at %zu: %s", size, error.where);
    ck_assert_uint_le(strtoul(error.where + 5, NULL, 10), size);
  }
}
END_TEST

/* ---- recognition ---- */

START_TEST(tiny_networks_are_valid)
{
  const uint8_t one[8] = {1};
  cm_topology *t = import_bytes(one, sizeof one, "snn");
  ck_assert_uint_eq(t->vertex_count, 1);
  cm_topology_free(t);
  t = import_text("1 0\n\n", "metis");
  ck_assert_uint_eq(t->vertex_count, 1);
  ck_ok(cm_topology_save(t, in_folder("one.zip"), &run, &error));
  cm_topology_free(t);
  ck_ok(cm_import(in_folder("one.zip"), NULL, &run, &t, NULL, &error));
  ck_assert(!t->directed && t->vertex_count == 1 && t->net_first[1] == 0);
  cm_topology_free(t);
}
END_TEST

START_TEST(networks_without_neurons_are_refused)
{
  static const char *const texts[] = {
    "0 0\n", "% x\n", "# nothing\n", "\n\n\n", "source,target\n", "% x\n\n% y\n", "0 0 0\n",
    "%%MatrixMarket matrix coordinate pattern general\n0 0 0\n", "\xef\xbb\xbf\n"};
  const uint8_t none[8] = {0};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    refuse_text(texts[i], "", "has no neurons");
  refuse_bytes(none, sizeof none, "", "has no neurons");
  uint64_t first[1] = {0};
  cm_topology empty = {.directed = true, .net_first = first, .weight_scale = 1}, *t = NULL;
  ck_ok(cm_topology_save(&empty, in_folder("none.zip"), &run, &error));
  ck_fails(cm_import(in_folder("none.zip"), NULL, &run, &t, NULL, &error), CM_BAD_NETWORK);
}
END_TEST

/* ---- gzip and limits ---- */

static void gzip_file(const char *name, const void *bytes, size_t size)
{
  gzFile file = gzopen(in_folder(name), "wb");
  ck_assert_int_eq(gzwrite(file, bytes, (unsigned)size), (int)size);
  ck_assert_int_eq(gzclose(file), Z_OK);
}

START_TEST(gzip_is_seen_through)
{
  cm_topology *t;
  cm_import_report report;
  gzip_file("a.gz", "2 1\n2\n1\n", 8);
  ck_ok(cm_import(in_folder("a.gz"), NULL, &run, &t, &report, &error));
  ck_assert_str_eq(report.format, "metis");
  ck_assert(report.gzipped && report.plain_bytes == 8);
  ck_ok(cm_export(t, in_folder("b.zip"), &run, &error));
  cm_topology_free(t);
  char *zip;
  size_t size;
  ck_ok(cm_file_read(in_folder("b.zip"), 1 << 20, &zip, &size, &error));
  gzip_file("b.zip.gz", zip, size);
  free(zip);
  ck_ok(cm_import(in_folder("b.zip.gz"), NULL, &run, &t, &report, &error));
  ck_assert_str_eq(report.format, "topology");
  ck_assert(report.gzipped && t->pin_count == 2);
  cm_topology_free(t);
}
END_TEST

START_TEST(gzip_members_follow_one_another)
{
  static const char *const pieces[] = {"3 2\n", "2\n1 3", "\n", "2\n"};
  cm_topology *t;
  cm_import_report report;
  FILE *whole = fopen(in_folder("members.gz"), "wb");
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
    char *bytes, name[CM_PATH_MAX];
    size_t size;
    gzip_file("member.gz", pieces[i], strlen(pieces[i]));
    snprintf(name, sizeof name, "%s", in_folder("member.gz"));
    ck_ok(cm_file_read(name, 1000, &bytes, &size, &error));
    ck_assert_uint_eq(fwrite(bytes, 1, size, whole), size);
    free(bytes);
  }
  for (int i = 0; i < 100; i++) /* padding of tapes */
    fputc(0, whole);
  ck_assert_int_eq(fclose(whole), 0);
  ck_ok(cm_import(in_folder("members.gz"), NULL, &run, &t, &report, &error));
  ck_assert(report.gzipped && t->vertex_count == 3 && report.plain_bytes == 12);
  cm_topology_free(t);
}
END_TEST

START_TEST(damaged_gzip_is_refused)
{
  char *bytes;
  size_t size;
  gzip_file("a.gz", "3 2\n2\n1 3\n2\n", 12);
  ck_ok(cm_file_read(in_folder("a.gz"), 1000, &bytes, &size, &error));
  char where[32];
  snprintf(where, sizeof where, "byte %zu", size - 9);
  refuse_bytes(bytes, size - 9, where, "ends early");
  bytes[size - 6] ^= 1; /* its checksum */
  snprintf(where, sizeof where, "byte %zu", size);
  refuse_bytes(bytes, size, where, "its checksum");
  free(bytes);
}
END_TEST

START_TEST(limits_hold)
{
  cm_import_limits limits = cm_import_limits_default();
  cm_topology *t = NULL;
  char *zeros = calloc(1, 4 << 20);
  memset(zeros, '\n', 4 << 20);
  memcpy(zeros, "a,b", 3);
  gzip_file("bomb.gz", zeros, 4 << 20);
  ck_ok(cm_import(in_folder("bomb.gz"), &(cm_import_limits){4 << 20, 2000, 10, 10}, &run, &t, NULL, &error));
  cm_topology_free(t);
  t = NULL;
  ck_fails(cm_import(in_folder("bomb.gz"), &(cm_import_limits){4 << 20, 100, 10, 10}, &run, &t, NULL, &error),
           CM_TOO_LARGE);
  ck_assert_str_eq(error.figures[0].name, "limit");
  ck_assert_uint_eq(error.figures[0].value, 100);
  ck_fails(cm_import(in_folder("bomb.gz"), &(cm_import_limits){3 << 20, 2000, 10, 10}, &run, &t, NULL, &error),
           CM_TOO_LARGE);
  ck_assert_uint_eq(error.figures[0].value, 3 << 20);
  free(zeros);
  const char *const texts[] = {"3 2\n2\n1 3\n2\n", "a,b\nb,c\nc,a\n"};
  for (size_t i = 0; i < 2; i++) {
    const char *path = in_folder("small");
    test_write(path, texts[i], strlen(texts[i]));
    limits = cm_import_limits_default();
    limits.vertices_max = 2;
    ck_fails(cm_import(path, &limits, &run, &t, NULL, &error), CM_TOO_LARGE);
    limits = cm_import_limits_default();
    limits.pins_max = 2;
    ck_fails(cm_import(path, &limits, &run, &t, NULL, &error), CM_TOO_LARGE);
  }
  snn s = {.size = 0};
  snn_u32(&s, 3);
  snn_u32(&s, 1);
  snn_axon(&s, 0, 1, 2, 1);
  test_write(in_folder("s.snn"), s.bytes, s.size);
  limits = cm_import_limits_default();
  limits.pins_max = 1;
  ck_fails(cm_import(in_folder("s.snn"), &limits, &run, &t, NULL, &error), CM_TOO_LARGE);
  ck_ok(cm_import(in_folder("s.snn"), NULL, &run, &t, NULL, &error));
  ck_ok(cm_topology_save(t, in_folder("s.zip"), &run, &error));
  cm_topology_free(t);
  t = NULL;
  ck_fails(cm_import(in_folder("s.zip"), &limits, &run, &t, NULL, &error), CM_TOO_LARGE);
  ck_fails(cm_import(in_folder("missing"), NULL, &run, &t, NULL, &error), CM_NOT_FOUND);
}
END_TEST

START_TEST(memory_limit_and_cancel_stop_an_import)
{
  cm_topology *t = NULL;
  atomic_bool cancel = true;
  run.cancel = &cancel;
  ck_fails(cm_import(test_data("celegans_herm_chem.edges.csv"), NULL, &run, &t, NULL, &error), CM_CANCELLED);
  run.cancel = NULL;
  memory.limit_bytes = 350000; /* the windows of the source take most of it */
  ck_fails(cm_import(test_data("celegans_herm_chem.edges.csv"), NULL, &run, &t, NULL, &error), CM_MEMORY_LIMIT);
  ck_assert_ptr_null(t);
}
END_TEST

/* ---- real data and export ---- */

START_TEST(the_connectome_is_the_same_in_both_formats)
{
  /* The .graph file was made by others from the edge list: sums of both directions. */
  cm_topology *directed, *graph, *converted;
  ck_ok(cm_import(test_data("celegans_herm_chem.edges.csv"), NULL, &run, &directed, NULL, &error));
  ck_ok(cm_import(test_data("celegans_herm_chem.graph.gz"), NULL, &run, &graph, NULL, &error));
  ck_assert_uint_eq(directed->vertex_count, 286);
  ck_assert_uint_eq(directed->pin_count, 2838);
  ck_assert_uint_eq(cm_topology_synapses(graph), 2341);
  ck_assert_str_eq(cm_topology_label(directed, 0), "ADAL");
  ck_ok(cm_export(directed, in_folder("c.graph"), &run, &error));
  ck_ok(cm_import(in_folder("c.graph"), NULL, &run, &converted, NULL, &error));
  ck_assert_uint_eq(converted->pin_count, graph->pin_count);
  ck_assert_mem_eq(converted->net_first, graph->net_first, 287 * sizeof *graph->net_first);
  ck_assert_mem_eq(converted->pin, graph->pin, graph->pin_count * sizeof *graph->pin);
  ck_assert_mem_eq(converted->pin_weight, graph->pin_weight, graph->pin_count * sizeof *graph->pin_weight);
  cm_topology_free(directed);
  cm_topology_free(graph);
  cm_topology_free(converted);
}
END_TEST

START_TEST(fractions_become_whole_weights_of_32_bits_in_a_graph)
{
  /* 3000000000 and 1.5 both ways: scale 1 alone would lose the half, the topology's scale would pass 32 bits. */
  cm_topology *t = import_text("a,b,2000000000\nb,a,1000000000\nb,c,1.5\n", "edges"), *back;
  ck_ok(cm_export(t, in_folder("f.graph"), &run, &error));
  ck_ok(cm_import(in_folder("f.graph"), NULL, &run, &back, NULL, &error));
  double scale = (double)back->weight_scale;
  ck_assert_double_eq((double)cm_topology_pin_weight(back, 0, 0) / scale, 3e9);
  ck_assert_double_eq_tol((double)cm_topology_pin_weight(back, 2, 3) / scale, 1.5, 0.51);
  cm_topology_free(t);
  cm_topology_free(back);
  t = import_text("a,b,0.25\nb,c,0\nb,a,0.5\n", "edges");
  ck_ok(cm_export(t, in_folder("g.graph"), &run, &error));
  ck_ok(cm_import(in_folder("g.graph"), NULL, &run, &back, NULL, &error));
  ck_assert_double_eq((double)cm_topology_pin_weight(back, 0, 0) / (double)back->weight_scale, 0.75);
  ck_assert_uint_eq(cm_topology_pin_weight(back, 2, 3), 1); /* METIS has no 0 */
  cm_topology_free(t);
  cm_topology_free(back);
}
END_TEST

START_TEST(an_snn_file_survives_a_round_trip)
{
  cm_topology *t;
  char *before, *after;
  size_t before_size, after_size;
  ck_ok(cm_import(test_data("small.snn"), NULL, &run, &t, NULL, &error));
  ck_ok(cm_export(t, in_folder("out.snn"), &run, &error));
  cm_topology_free(t);
  ck_ok(cm_file_read(test_data("small.snn"), 1 << 20, &before, &before_size, &error));
  ck_ok(cm_file_read(in_folder("out.snn"), 1 << 20, &after, &after_size, &error));
  ck_assert_uint_eq(before_size, after_size);
  ck_assert_mem_eq(before, after, after_size);
  free(before);
  free(after);
}
END_TEST

START_TEST(export_names_the_formats_it_knows)
{
  cm_topology *t = import_text("a,b\n", "edges");
  ck_fails(cm_export(t, in_folder("x.json"), &run, &error), CM_BAD_REQUEST);
  ck_assert_ptr_nonnull(strstr(error.detail, ".graph"));
  ck_fails(cm_export(t, in_folder("x.zip.gz"), &run, &error), CM_BAD_REQUEST);
  ck_fails(cm_export(t, in_folder("no/folder.csv"), &run, &error), CM_NOT_FOUND);
  ck_ok(cm_export(t, in_folder("x.csv"), &run, &error));
  char *text;
  size_t size;
  ck_ok(cm_file_read(in_folder("x.csv"), 100, &text, &size, &error));
  ck_assert_str_eq(text, "source,target\na,b\n");
  free(text);
  cm_topology_free(t);
}
END_TEST

START_TEST(a_failed_export_leaves_what_was_there)
{
  cm_topology *t = import_text("a,b\n", "edges");
  atomic_bool cancel = true;
  const char *const names[] = {"x.csv", "x.snn", "x.graph", "x.zip"};
  for (size_t i = 0; i < 4; i++) {
    char *text;
    size_t size;
    const char *path = in_folder(names[i]);
    test_write(path, "before", 6);
    run.cancel = &cancel;
    ck_fails(cm_export(t, path, &run, &error), CM_CANCELLED);
    run.cancel = NULL;
    ck_ok(cm_file_read(path, 100, &text, &size, &error));
    ck_assert_str_eq(text, "before");
    free(text);
  }
  cm_topology_free(t);
}
END_TEST

/* ---- a disk that fails while a topology file is read ---- */

/* A zip source over bytes whose Nth read fails as a disk does. */
typedef struct failing {
  char *bytes;
  size_t size;
  zip_uint64_t at;
  uint64_t reads, fail_at;
  zip_error_t why;
} failing;

static zip_int64_t serve(void *user, void *data, zip_uint64_t length, zip_source_cmd_t command)
{
  failing *f = user;
  switch (command) {
  case ZIP_SOURCE_SUPPORTS:
    return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT,
                                          ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, -1);
  case ZIP_SOURCE_OPEN:
    f->at = 0;
    return 0;
  case ZIP_SOURCE_READ:
    if (++f->reads == f->fail_at) {
      zip_error_set(&f->why, ZIP_ER_READ, errno = EIO);
      return -1;
    }
    if (length > f->size - f->at)
      length = f->size - f->at;
    memcpy(data, f->bytes + f->at, length);
    f->at += length;
    return (zip_int64_t)length;
  case ZIP_SOURCE_STAT: {
    zip_stat_t *about = data;
    zip_stat_init(about);
    about->size = f->size;
    about->valid = ZIP_STAT_SIZE;
    return sizeof *about;
  }
  case ZIP_SOURCE_SEEK: {
    zip_int64_t to = zip_source_seek_compute_offset(f->at, f->size, data, length, &f->why);
    if (to >= 0)
      f->at = (zip_uint64_t)to;
    return to >= 0 ? 0 : -1;
  }
  case ZIP_SOURCE_TELL:
    return (zip_int64_t)f->at;
  case ZIP_SOURCE_ERROR:
    return zip_error_to_data(&f->why, data, length);
  default:
    return 0;
  }
}

/* A fault of the disk is told as one, at whichever read it comes, and never as a damaged file. */
START_TEST(a_failing_disk_is_no_damaged_file)
{
  cm_topology *t = import_text("a,b,1\nb,c,2\nc,d,3\nd,a,4\n", "edges");
  failing f = {0};
  char path[CM_PATH_MAX];
  (void)snprintf(path, sizeof path, "%s", in_folder("t.zip"));
  ck_ok(cm_topology_save(t, path, &run, &error));
  cm_topology_free(t);
  ck_ok(cm_file_read(path, 1 << 20, &f.bytes, &f.size, &error));
  uint64_t faults = 0;
  for (f.fail_at = 1;; f.fail_at++) {
    cm_topology_reader *reader = NULL;
    f.reads = 0;
    zip_error_init(&f.why);
    zip_source_t *source = zip_source_function_create(serve, &f, NULL);
    cm_status status = cm_topology_reader_open_source(source, "t.zip", &memory, &reader, &error);
    t = NULL;
    CM_THEN(status, cm_topology_read(reader, &run, &t, &error));
    cm_topology_reader_close(reader);
    cm_topology_free(t);
    if (f.reads < f.fail_at) {
      ck_assert_int_eq(status, CM_OK);
      break;
    }
    if (status == CM_OK)
      continue; /* libzip could do without */
    faults++;
    ck_assert_msg(status == CM_IO && error.cause == EIO && cm_error_passes(&error), "read %llu: %s %s",
                  (unsigned long long)f.fail_at, cm_status_code(status), error.detail);
  }
  ck_assert_uint_ge(faults, 3);
  free(f.bytes);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("network");
  TCase *tests = tcase_create("network");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, snn_is_read);
  tcase_add_test(tests, snn_with_whole_rates_has_scale_1);
  tcase_add_test(tests, snn_bad_input);
  tcase_add_test(tests, snn_cut_anywhere_is_refused);
  tcase_add_test(tests, tiny_networks_are_valid);
  tcase_add_test(tests, networks_without_neurons_are_refused);
  tcase_add_test(tests, gzip_is_seen_through);
  tcase_add_test(tests, gzip_members_follow_one_another);
  tcase_add_test(tests, damaged_gzip_is_refused);
  tcase_add_test(tests, limits_hold);
  tcase_add_test(tests, memory_limit_and_cancel_stop_an_import);
  tcase_add_test(tests, the_connectome_is_the_same_in_both_formats);
  tcase_add_test(tests, fractions_become_whole_weights_of_32_bits_in_a_graph);
  tcase_add_test(tests, an_snn_file_survives_a_round_trip);
  tcase_add_test(tests, export_names_the_formats_it_knows);
  tcase_add_test(tests, a_failed_export_leaves_what_was_there);
  tcase_add_test(tests, a_failing_disk_is_no_damaged_file);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
