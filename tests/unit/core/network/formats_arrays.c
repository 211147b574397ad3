/* core/network/archive: arrays of NumPy and archives of them, kind by kind, names in tar, and what is said of those that
 * are no network. */
#include "tests/unit/files.h"

#include <zip.h>

#include "core/network/import.h"
#include "core/network/spikes.h"

TCase *array_cases(void);

enum { ARRAYS = 6, BYTES_MAX = 1 << 13 };

/* An array: elements of S and U are words, others numbers, set apart by blanks. */
typedef struct array {
  const char *name, *type, *shape, *values;
} array;

static void put(uint8_t *to, uint64_t value, unsigned size, bool big)
{
  for (unsigned i = 0; i < size; i++)
    to[big ? size - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

/* One element in the bytes of a type; words of U are hexadecimal code points. */
static void put_element(uint8_t *to, const char *type, const char *word)
{
  bool big = type[0] == '>';
  unsigned size = (unsigned)strtoul(type + 2, NULL, 10);
  double real = strtod(word, NULL);
  float narrow = (float)real;
  uint64_t bits = 0;
  uint32_t single;
  if (type[1] == 'S') {
    memcpy(to, word, strnlen(word, size));
    return;
  }
  if (type[1] == 'U') {
    put(to, strtoull(word, NULL, 16), 4, big);
    return;
  }
  memcpy(&bits, &real, sizeof bits);
  memcpy(&single, &narrow, sizeof single);
  if (type[1] == 'f' && size < 8)
    bits = size == 4 ? single : strtoull(word, NULL, 0); /* of half precision: the bits */
  else if (type[1] != 'f')
    bits = (uint64_t)(int64_t)real;
  put(to, bits, size, big);
}

/* The bytes of an .npy file. Where `header` is given it stands in place of the usual one. */
static size_t make(const array *a, const char *header, uint8_t bytes[BYTES_MAX])
{
  char text[512], values[512], *rest = values;
  unsigned size = (unsigned)strtoul(a->type + 2, NULL, 10) * (a->type[1] == 'U' ? 4 : 1);
  if (header != NULL)
    (void)snprintf(text, sizeof text, "%s", header);
  else
    (void)snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", a->type, a->shape);
  size_t length = strlen(text), end = 10 + length;
  memset(bytes, 0, BYTES_MAX);
  memcpy(bytes, "\x93NUMPY\1\0", 8);
  put(bytes + 8, length, 2, false);
  memcpy(bytes + 10, text, length);
  (void)snprintf(values, sizeof values, "%s", a->values);
  for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL; end += size)
    put_element(bytes + end, a->type, word);
  return end;
}

static const char *archive_of(const array *arrays, size_t count)
{
  static uint8_t bytes[ARRAYS][BYTES_MAX];
  const char *path = in_folder("net.npz");
  zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
  ck_assert_ptr_nonnull(zip);
  for (size_t i = 0; i < count && arrays[i].name != NULL; i++) {
    char name[64];
    size_t size = make(&arrays[i], NULL, bytes[i]);
    (void)snprintf(name, sizeof name, "%s.npy", arrays[i].name);
    ck_assert_int_ge(zip_file_add(zip, name, zip_source_buffer(zip, bytes[i], size, 0), 0), 0);
  }
  ck_assert_int_eq(zip_close(zip), 0);
  return path;
}

static cm_topology *read_network(const char *path)
{
  cm_topology *t = NULL;
  cm_import_report report;
  ck_ok(cm_import(path, NULL, &run, &t, &report, &error));
  ck_assert_str_eq(report.format, "numpy");
  ck_ok(cm_topology_verify(t, &error));
  return t;
}

static void refuse(const char *path, const char *says)
{
  cm_topology *t = NULL;
  cm_status status = cm_import(path, NULL, &run, &t, NULL, &error);
  ck_assert_msg(status == CM_BAD_NETWORK, "'%s' is expected: %s %s", says, cm_status_code(status), error.detail);
  ck_assert_msg(strstr(error.detail, says) != NULL, "\"%s\" does not say \"%s\"", error.detail, says);
  ck_assert_ptr_null(t);
}

static void refuse_header(const char *header, const char *says)
{
  uint8_t bytes[BYTES_MAX];
  size_t size = make(&(array){NULL, "<f8", "", "1 2 3 4"}, header, bytes);
  test_write(in_folder("net.npy"), bytes, size);
  refuse(in_folder("net.npy"), says);
}

static double weight(const cm_topology *t, uint32_t net, uint64_t pin)
{
  return (double)cm_topology_pin_weight(t, net, pin) / (double)t->weight_scale;
}

/* The matrix 0 1 / 2 0 in every type of elements is the same network. */
START_TEST(types_of_elements)
{
  static const array types[] = {
    {NULL, "<f8", "2, 2", "0 1 2 0"}, {NULL, ">f8", "2L, 2L", "0 1 2 0"}, {NULL, "<f4", "2, 2", "0 1 2 0"}, {NULL, ">f4", "2,2", "0 1 2 0"},
    {NULL, "<f2", "2, 2", "0 0x3c00 0x4000 0"}, {NULL, "<i8", "2, 2", "0 1 2 0"}, {NULL, ">i2", "2, 2", "0 1 2 0"},
    {NULL, "|i1", "2, 2", "0 1 2 0"}, {NULL, "<u4", "2, 2", "0 1 2 0"}, {NULL, "|u1", "2, 2", "0 1 2 0"},
  };
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    uint8_t bytes[BYTES_MAX];
    size_t size = make(&types[i], NULL, bytes);
    if (i == 0) { /* version 2 has four bytes of length */
      memmove(bytes + 12, bytes + 10, size - 10);
      bytes[6] = 2;
      bytes[10] = bytes[11] = 0;
      size += 2;
    }
    test_write(in_folder("net.npy"), bytes, size);
    cm_topology *t = read_network(in_folder("net.npy"));
    ck_assert_uint_eq(t->vertex_count, 2);
    ck_assert_uint_eq(t->pin_count, 2);
    ck_assert_double_eq(weight(t, 0, 0), 1);
    ck_assert_double_eq(weight(t, 1, 1), 2);
    cm_topology_free(t);
  }
}
END_TEST

START_TEST(headers)
{
#define HEADER(type, shape) "{'descr': " type ", 'fortran_order': False, 'shape': " shape "}"
  static const struct {
    const char *header, *says;
  } cases[] = {
    {HEADER("'<f8'", "(4,)"), "it has 1 dimension: 4; a square matrix"},
    {HEADER("'<f8'", "()"), "it has 0 dimensions; a square matrix"},
    {HEADER("'<f8'", "(1, 4)"), "its shape is 1 x 4; a matrix of a network is square"},
    {HEADER("[('pre', '<i4'), ('post', '<i4')]", "(2,)"), "a structured array: this line converts"},
    {HEADER("7", "(2, 2)"), "names no type of elements"},
    {"{'fortran_order': False, 'shape': (2, 2)}", "names no type of elements"},
    {"{'descr'; '<f8', 'fortran_order': False, 'shape': (2, 2)}", "names no type of elements"},
    {HEADER("'|O'", "(2, 2)"), "pickled objects (|O), not numbers: save it with a number type"},
    {HEADER("'<c8'", "(2, 2)"), "complex numbers (<c8)"},
    {HEADER("'<M8'", "(2, 2)"), "of another type (<M8)"},
    {"{'descr': '<f8', 'fortran_order': False}", "no shape or no order"},
    {"{'descr': '<f8', 'shape': (2, 2)}", "no shape or no order"},
    {HEADER("'<f8'", "2"), "its header has no shape"},
    {HEADER("'<f8'", "(x, 2)"), "a shape that makes no sense"},
    {HEADER("'<f8'", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"), "more than 8 dimensions"},
    {HEADER("'<f8'", "(4294967296, 4294967296)"), "an impossible size"},
    {HEADER("'<f8'", "(3, 3)"), "ends"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    refuse_header(cases[i].header, cases[i].says);
#undef HEADER
  uint8_t bytes[BYTES_MAX];
  size_t size = make(&(array){NULL, "<f8", "2, 2", "0 inf 2 0"}, NULL, bytes);
  test_write(in_folder("net.npy"), bytes, size);
  refuse(in_folder("net.npy"), "a weight is infinite");
  bytes[6] = 9;
  test_write(in_folder("net.npy"), bytes, size);
  refuse(in_folder("net.npy"), "of an unknown version");
}
END_TEST

static const struct {
  array arrays[ARRAYS];
  const char *says;
} archives[] = {
  {{{"pre", "<i8", "2,", "0 1"}, {"post", "<i8", "3,", "1 0 1"}}, "has 2 numbers, post.npy has 3: they must have as many"},
  {{{"pre", "<i8", "2,", "0 1"}, {"post", "<i8", "2,", "1 0"}, {"weight", "<f8", "1,", "1"}}, "they must have as many"},
  {{{"pre", "<i8", "2,", "0 1"}, {"post", "<i8", "2,", "1 0"}, {"weight", "<f8", "2,", "1 nan"}}, "a weight is infinite or undefined"},
  {{{"pre", "<i8", "2,", "0 1"}, {"post", "<i8", "2,", "1 0"}, {"delay", "<f8", "2,", "1 -1"}}, "a delay is negative, infinite or undefined"},
  {{{"pre", "<i8", "2,", "0 -1"}, {"post", "<i8", "2,", "1 0"}}, "the number -1 is no index"},
  {{{"pre", "<f8", "2,", "0 1.5"}, {"post", "<f8", "2,", "1 0"}}, "the number 1.5 is no index"},
  {{{"pre", "<i8", "1, 2", "0 1"}, {"post", "<i8", "2,", "1 0"}}, "a list is expected"},
  {{{"pre", "<i8", "2,", "0 1"}, {"post", "<i8", "2,", "1 0"}, {"weight", "|S4", "2,", "a b"}}, "a list of numbers is expected"},
  {{{"pre", "<i8", "99,", "0 1"}, {"post", "<i8", "2,", "1 0"}}, "shorter than its header says"},
  {{{"pre", "<i8", "2,", "0 1"}, {"post", "<i8", "2,", "1 0"}, {"n", "<i8", "", "1"}}, "an index is not below the number of neurons"},
  {{{"pre", "<i8", "2,", "0 1"}, {"post", "<i8", "2,", "1 0"}, {"n", "|S4", "", "two"}}, "the number of neurons is expected"},
  {{{"pre", "<i8", "2,", "0 1"}, {"post", "<i8", "2,", "1 0"}, {"shape", "<i8", "2,", "2 3"}}, "or a square shape"},
  {{{"pre", "|S4", "2,", "a b"}, {"post", "|S4", "2,", "b a"}, {"n", "<i8", "", "2"}}, "indices of neurons are expected"},
  {{{"pre", "|S4", "2,", "a \x01"}, {"post", "|S4", "2,", "b a"}}, "an id is empty, has control characters"},
  {{{"pre", "<U1", "1,", "d800"}, {"post", "<U1", "1,", "61"}}, "a text is not Unicode"},
  {{{"pre", "<i8", "1,", "0"}, {"post", "<i8", "1,", "1"}, {"n", "<i8", "", "2"}, {"names", "|S4", "1,", "a"}},
   "it has 1 items; one for each of 2 neurons"},
  {{{"pre", "<i8", "1,", "0"}, {"post", "<i8", "1,", "1"}, {"n", "<i8", "", "2"}, {"names", "|S4", "2,", "a a"}},
   "the name 'a' stands twice"},
  {{{"pre", "<i8", "1,", "0"}, {"post", "<i8", "1,", "1"}, {"n", "<i8", "", "2"}, {"names", "|S4", "2,", "a \x02"}},
   "a name is empty, has control characters"},
  {{{"edge_index", "<i8", "3, 3", "0 1 2 0 1 2 0 1 2"}}, "pairs of source and target are expected"},
  {{{"w", "<f8", "2, 2", "0 1 2 0"}, {"delay", "<f8", "1, 4", "1 1 1 1"}}, "in the shape and order of the weights"},
  {{{"w", "<f8", "2, 2", "0 1 2 0"}, {"delay", "<f8", "2, 2", "1 1 -1 1"}}, "a delay is negative, infinite or undefined"},
  {{{"colour", "<f8", "3,", "0 1 2"}}, "none of the archive's arrays is known to be a network; it holds colour"},
#define SCIPY(format, pointer, count, indices, data) \
  {"format", "|S4", "", format}, {"shape", "<i8", "2,", "2 2"}, {"indptr", "<i8", count, pointer}, \
  {"indices", "<i8", "2,", indices}, {"data", "<f8", "2,", data}
  {{SCIPY("bsr", "0 1 2", "3,", "1 0", "1 2")}, "in the layout bsr; csr, csc and coo are read"},
  {{SCIPY("csr", "0 1", "2,", "1 0", "1 2")}, "one more number than rows"},
  {{SCIPY("csr", "1 1 2", "3,", "1 0", "1 2")}, "it does not begin with 0"},
  {{SCIPY("csr", "0 2 1", "3,", "1 0", "1 2")}, "do not ascend to the number of entries"},
  {{SCIPY("csc", "0 1 2", "3,", "1 2", "1 2")}, "an index is outside the matrix"},
  {{SCIPY("csr", "0 1 2", "3,", "1 0", "1 inf")}, "a weight is infinite or undefined"},
  {{SCIPY("coo", "0", "1,", "1 0", "1 2")}, "array row is missing"},
  {{{"format", "|S4", "2,", "csr csr"}, {"data", "<f8", "1,", "1"}}, "one text is expected"},
  {{{"format", "|S4", "", "csr"}, {"data", "<f8", "1,", "1"}}, "array shape is missing"},
  {{{"format", "|S4", "", "csr"}, {"data", "<f8", "1,", "1"}, {"shape", "<i8", "3,", "2 2 2"}}, "two numbers are expected"},
  {{{"format", "|S4", "", "csr"}, {"data", "<f8", "1,", "1"}, {"shape", "<i8", "2,", "2 3"}}, "its shape is 2 x 3"},
#undef SCIPY
};

START_TEST(archives_that_are_no_network)
{
  refuse(archive_of(archives[_i].arrays, ARRAYS), archives[_i].says);
}
END_TEST

/* Texts as ids, names and populations of neurons, pairs in one array of either shape. */
START_TEST(archives_that_are)
{
  static const array texts[] = {{"pre", "<U1", "2,", "61 20ac"}, {"post", "<U1", "2,", "e9 61"}, {"weight", "|i1", "2,", "1 2"}};
  cm_topology *t = read_network(archive_of(texts, 3));
  ck_assert_uint_eq(t->vertex_count, 3);
  ck_assert_str_eq(cm_topology_label(t, 0), "a");
  ck_assert_str_eq(cm_topology_label(t, 1), "\xc3\xa9");
  ck_assert_str_eq(cm_topology_label(t, 2), "\xe2\x82\xac");
  cm_topology_free(t);
  static const char *const shapes[] = {"2, 3", "3, 2"}, *const pairs[] = {"0 1 2 1 2 0", "0 1 1 2 2 0"};
  for (int i = 0; i < 2; i++) {
    array named[] = {{"edges", "<i8", shapes[i], pairs[i]}, {"edge_weight", "<f8", "3,", "1 2 3"}, {"num_nodes", "<i8", "", "3"},
                     {"names", "|S4", "3,", "x y z"}, {"layer", "|u1", "3,", "1 1 2"}};
    t = read_network(archive_of(named, 5));
    ck_assert_uint_eq(t->pin_count, 3);
    ck_assert_uint_eq(t->pin[2], 0);
    ck_assert_double_eq(weight(t, 2, 2), 3);
    ck_assert_str_eq(cm_topology_label(t, 2), "z");
    ck_assert_uint_eq(t->population_count, 2);
    cm_topology_free(t);
  }
  static const array matrix[] = {{"W", "<f8", "2, 2", "0 1 2 0"}, {"d", "<f8", "2, 2", "9 8 7 6"}, {"delays", "<f8", "2, 2", "1 2 3 4"}};
  t = read_network(archive_of(matrix, 3));
  ck_assert_uint_eq(t->pin_count, 2);
  ck_assert_ptr_nonnull(t->pin_delay);
  cm_topology_free(t);
}
END_TEST

/* ---- tar ---- */

enum { BLOCK = 512 };

/* A member with its header at the end of an archive: `size` octal digits or, where they are eleven bytes, as they stand. */
static size_t put_member(uint8_t *to, char kind, const char *prefix, const char *name, const char *size, const char *data)
{
  unsigned sum = 0;
  memset(to, 0, 2 * BLOCK);
  memcpy(to, name, strlen(name));
  memcpy(to + 124, size, strlen(size));
  memset(to + 148, ' ', 8);
  to[156] = (uint8_t)kind;
  memcpy(to + 257, "ustar", 5);
  memcpy(to + 345, prefix, strlen(prefix));
  for (int i = 0; i < BLOCK; i++)
    sum += to[i];
  (void)snprintf((char *)to + 148, 8, "%06o", sum);
  memcpy(to + BLOCK, data, strlen(data));
  return data[0] == '\0' ? BLOCK : 2 * BLOCK;
}

/* What members are called, by the sentence that refuses an archive without a network. */
START_TEST(names_in_tar)
{
  static const struct {
    char kind;
    const char *data, *prefix, *size, *says;
  } cases[] = {
    {0, "", "", "0", "a tar archive (n.csv)"},
    {0, "", "", "   0", "a tar archive (n.csv)"},
    {0, "", "folder", "0", "a tar archive (folder/n.csv)"},
    {'L', "a/name/of/gnu.csv", "", "0", "a tar archive (a/name/of/gnu.csv)"},
    {'x', "11 mtime=1\n24 path=a/name/of/pax.c\n", "", "0", "a tar archive (a/name/of/pax.c)"},
    {'x', "99 path=too/long\n", "", "0", "a tar archive (n.csv)"},
    {'x', "path=no/length\n", "", "0", "a tar archive (n.csv)"},
    {0, "", "", "\x80", "a tar archive (n.csv)"},
    {0, "", "", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "at byte 0: a member goes beyond the end"},
    {0, "", "", "777", "at byte 0: a member goes beyond the end"},
    {0, "", "", "9", "at byte 0: a member goes beyond the end"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint8_t bytes[6 * BLOCK] = {0};
    char digits[24];
    size_t end = 0;
    (void)snprintf(digits, sizeof digits, "%zo", strlen(cases[i].data));
    if (cases[i].kind != 0)
      end += put_member(bytes, cases[i].kind, "", "header", digits, cases[i].data);
    end += put_member(bytes + end, '0', cases[i].prefix, "n.csv", cases[i].size, "");
    test_write(in_folder("net"), bytes, end + (i < 8 ? BLOCK : 0));
    refuse(in_folder("net"), cases[i].says);
  }
}
END_TEST

static cm_status spikes_of(const array *a, const char *header, cm_spikes *spikes)
{
  uint8_t bytes[BYTES_MAX];
  size_t size = make(a, header, bytes);
  test_write(in_folder("spikes.npy"), bytes, size);
  return cm_spikes_read(in_folder("spikes.npy"), "spikes.npy", &(cm_spike_ids){.neurons = 3}, &run, spikes, &error);
}

/* Neuron 2 fires in step 0; 1 and then 0 in step 2. */
static void expect_three_spikes(cm_spikes *spikes)
{
  static const uint64_t first[] = {0, 1, 1, 3};
  static const uint32_t neuron[] = {2, 1, 0};
  ck_assert_uint_eq(spikes->neurons, 3);
  ck_assert_uint_eq(spikes->steps, 3);
  ck_assert_mem_eq(spikes->first, first, sizeof first);
  ck_assert_mem_eq(spikes->neuron, neuron, sizeof neuron);
  cm_spikes_free(spikes);
}

START_TEST(spikes_in_rows_of_an_array_or_lines)
{
  static const char *const types[] = {"<i8", ">u2", "|u1", "<f4"};
  static const char lines[] = "step,neuron\n2,1 # late\n\nneurons,3\r\n 0 , 2\n2,0";
  cm_spikes spikes;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    ck_ok(spikes_of(&(array){NULL, types[i], "3, 2", "2 1 0 2 2 0"}, NULL, &spikes));
    expect_three_spikes(&spikes);
  }
  ck_ok(cm_spikes_parse(lines, "lines", &(cm_spike_ids){.neurons = 3}, &run, &spikes, &error));
  expect_three_spikes(&spikes);
  test_write(in_folder("spikes.csv"), lines, sizeof lines - 1);
  ck_ok(cm_spikes_read(in_folder("spikes.csv"), "spikes.csv", &(cm_spike_ids){.neurons = 3}, &run, &spikes, &error));
  expect_three_spikes(&spikes);
}
END_TEST

/* Ids are names where a network has them; numbers are positions where no neuron is named by one, or where that is said. */
START_TEST(spikes_by_name_or_position)
{
  static const struct {
    const char *names; /* of three neurons */
    cm_spike_ids_as as;
    const char *lines, *says; /* says: NULL: neuron 2 fires in step 0; 1 and then 0 in step 2 */
  } cases[] = {
    {"1\0002\0003", CM_SPIKE_IDS_AUTO, "2,2\n0,3\n2,1", NULL},
    {"1\0002\0003", CM_SPIKE_IDS_POSITION, "2,1\n0,2\n2,0", NULL},
    {"1\0002\0003", CM_SPIKE_IDS_AUTO, "2,1\n0,2\n2,0",
     "x, line 3: no neuron of the network is named 0; if ids are positions, from 0, say so"},
    {"1\0002\0003", CM_SPIKE_IDS_POSITION, "0,3", "x, line 1: neuron 3, but the network has 3 neurons"},
    {"a\000b\000c", CM_SPIKE_IDS_AUTO, "2,b\n0,2\n2,a", NULL},
    {"a\000b\000c", CM_SPIKE_IDS_NAME, "2,b\n0,2\n2,a", "x, line 2: no neuron of the network is named 2"},
    {"a\000b\000c", CM_SPIKE_IDS_AUTO, "0,d", "no neuron of the network is named d: the spikes of this network are needed"},
    {"a\000b\000a", CM_SPIKE_IDS_AUTO, "0,a", "two neurons of the network have the same"},
    {"1\0002\0003", CM_SPIKE_IDS_AUTO,
     "# NEST version: 3.8\n# RecordingBackendASCII version: 2\nsender\ttime_ms\n2\t2.3\n3\t0.9\n1\t2.0\n", NULL},
    {"e[0]\0i[0]\0i[7]", CM_SPIKE_IDS_AUTO, "timestamps population node_ids\n2.5 i 0\n0 i 7\n2.5 e 0", NULL},
    {"1\0002\0003", CM_SPIKE_IDS_AUTO, "neuron;weight;step\n2;0.5;2\n3;1;0\n1;1;2", NULL},
    {"1\0002\0003", CM_SPIKE_IDS_AUTO, "sender,time_ms\n2,soon", "x, line 2: a time in milliseconds and a neuron are expected"},
    {"1\0002\0003", CM_SPIKE_IDS_AUTO, "2\t2.3", "x, line 1: lines are STEP,NEURON"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint64_t first[4] = {0};
    cm_spikes spikes;
    cm_topology t = {.vertex_count = 3, .label_text = (char *)(uintptr_t)cases[i].names, .label_first = first};
    for (int v = 0; v < 3; v++)
      first[v + 1] = first[v] + strlen(cases[i].names + first[v]) + 1;
    const cm_spike_ids ids = {.neurons = 3, .topology = &t, .as = cases[i].as};
    cm_status status = cm_spikes_parse(cases[i].lines, "x", &ids, &run, &spikes, &error);
    if (cases[i].says == NULL) {
      ck_assert_msg(status == CM_OK, "case %zu: %s", i, error.detail);
      expect_three_spikes(&spikes);
      continue;
    }
    ck_assert_int_eq(status, CM_BAD_OPTION);
    ck_assert_msg(strstr(error.detail, cases[i].says) != NULL, "case %zu: %s", i, error.detail);
  }
}
END_TEST

static const struct {
  array array;
  const char *header, *says;
} no_spikes[] = {
  {{NULL, "<i8", "4,", "2 1 0 2"}, NULL, "spikes in an array have a row [step, neuron] each: array: two columns of whole numbers are expected"},
  {{NULL, "<i8", "2, 3", "2 1 0 2 1 0"}, NULL, "two columns of whole numbers are expected"},
  {{NULL, "<f8", "2, 2", "2 1 0.5 2"}, NULL, "spikes.npy"},
  {{NULL, "<U1", "2, 2", "32 31 30 32"}, NULL, "two columns of whole numbers are expected"},
  {{NULL, "<i8", "", "2 1 0 2"}, "{'descr': '<i8', 'fortran_order': True, 'shape': (2, 2), }", "save numpy.ascontiguousarray of it"},
  {{NULL, "<i8", "3, 2", "2 1 0 2"}, NULL, "spikes.npy"}, /* cut */
  {{NULL, "<i8", "2, 2", "2 1 -1 2"}, NULL, "spikes.npy"},
  {{NULL, "<i8", "2, 2", "2 1 0 3"}, NULL, "spikes.npy, row 1: neuron 3, but the network has 3 neurons, numbered from 0"},
  {{NULL, "<i8", "2, 2", "2 1 100000 2"}, NULL, "spikes.npy, row 1: steps go up to 99999"},
  {{NULL, "<i8", "0, 2", ""}, NULL, "spikes.npy has no spike"},
};

START_TEST(arrays_that_are_no_spikes)
{
  cm_spikes spikes;
  ck_fails(spikes_of(&no_spikes[_i].array, no_spikes[_i].header, &spikes), CM_BAD_OPTION);
  ck_assert_msg(strstr(error.detail, no_spikes[_i].says) != NULL, "\"%s\" does not say \"%s\"", error.detail, no_spikes[_i].says);
}
END_TEST

TCase *array_cases(void)
{
  TCase *tests = tcase_create("arrays");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, types_of_elements);
  tcase_add_test(tests, headers);
  tcase_add_loop_test(tests, archives_that_are_no_network, 0, (int)(sizeof archives / sizeof *archives));
  tcase_add_test(tests, archives_that_are);
  tcase_add_test(tests, names_in_tar);
  tcase_add_test(tests, spikes_in_rows_of_an_array_or_lines);
  tcase_add_test(tests, spikes_by_name_or_position);
  tcase_add_loop_test(tests, arrays_that_are_no_spikes, 0, (int)(sizeof no_spikes / sizeof *no_spikes));
  return tests;
}
