/* core/network: hMETIS hypergraphs and MatrixMarket, in and out, and every kind of bad input with line and value. */
#include "tests/unit/files.h"

#include "core/network/export.h"
#include "core/network/formats/readers.h"
#include "core/network/formats/source.h"
#include "core/network/import.h"

TCase *array_cases(void); /* formats_arrays.c */

static cm_topology *import_file(const char *path, const char *format)
{
  cm_topology *t = NULL;
  cm_import_report report;
  ck_ok(cm_import(path, NULL, &run, &t, &report, &error));
  ck_assert_str_eq(report.format, format);
  ck_ok(cm_topology_verify(t, &error));
  return t;
}

static cm_topology *import_text(const char *text, const char *format)
{
  const char *path = in_folder("in");
  test_write(path, text, strlen(text));
  return import_file(path, format);
}

/* One net of a topology: source, weight and pins. */
static void check_net(const cm_topology *t, uint32_t net, uint32_t source, uint64_t weight, uint64_t count,
                      const uint32_t *pin)
{
  ck_assert_uint_eq(cm_topology_source(t, net), source);
  ck_assert_uint_eq(cm_topology_net_weight(t, net), weight);
  ck_assert_uint_eq(t->net_first[net + 1] - t->net_first[net], count);
  for (uint64_t i = 0; i < count; i++)
    ck_assert_uint_eq(t->pin[t->net_first[net] + i], pin[i]);
}

#define NET(...) sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (uint32_t[]){__VA_ARGS__}

static void check_same(const cm_topology *a, const cm_topology *b)
{
  ck_assert(a->directed == b->directed);
  ck_assert_uint_eq(a->vertex_count, b->vertex_count);
  ck_assert_uint_eq(a->net_count, b->net_count);
  ck_assert_uint_eq(a->pin_count, b->pin_count);
  ck_assert_uint_eq(a->size_total, b->size_total);
  for (uint32_t e = 0; e < a->net_count; e++) {
    ck_assert_uint_eq(cm_topology_source(a, e), cm_topology_source(b, e));
    ck_assert_uint_eq(a->net_first[e + 1], b->net_first[e + 1]);
    for (uint64_t i = a->net_first[e]; i < a->net_first[e + 1]; i++) {
      ck_assert_uint_eq(a->pin[i], b->pin[i]);
      ck_assert_double_eq((double)cm_topology_pin_weight(a, e, i) / (double)a->weight_scale,
                          (double)cm_topology_pin_weight(b, e, i) / (double)b->weight_scale);
    }
  }
  for (uint32_t v = 0; v < a->vertex_count; v++)
    ck_assert_uint_eq(cm_topology_size(a, v), cm_topology_size(b, v));
}

/* Writes a topology under a name, reads it back, compares; frees both. */
static void round_trip(cm_topology *t, const char *name, const char *format)
{
  const char *path = in_folder(name);
  ck_ok(cm_export(t, path, &run, &error));
  cm_topology *again = import_file(path, format);
  check_same(t, again);
  cm_topology_free(again);
  cm_topology_free(t);
}

static void refuse(const void *bytes, size_t size, const char *part)
{
  cm_topology *t = NULL;
  test_write(in_folder("x"), bytes, size);
  ck_fails(cm_import(in_folder("x"), NULL, &run, &t, NULL, &error), CM_BAD_NETWORK);
  ck_assert_msg(strstr(error.detail, part) != NULL, "\"%s\" does not say \"%s\"", error.detail, part);
  ck_assert_ptr_null(t);
}

/* ---- hMETIS ---- */

#define PLAIN_NETS "4 7\n1 2\n1 7 5 6\n5 6 4\n2 3 4\n"
#define HEAVY_NETS "%% all\n4 7 11\n2 1 2\n3 1 7 5 6\n8 5 6 4\n7 2 3 4\n5\n1\n8\n7\n3\n9\n3\n"

START_TEST(test_hypergraph)
{
  cm_topology *t = import_text(PLAIN_NETS, "hmetis");
  ck_assert(t->directed);
  ck_assert_uint_eq(t->vertex_count, 7);
  ck_assert_uint_eq(t->net_count, 4);
  ck_assert_uint_eq(t->pin_count, 8);
  check_net(t, 0, 0, 1, NET(1));
  check_net(t, 1, 0, 1, NET(4, 5, 6));
  check_net(t, 2, 1, 1, NET(2, 3)); /* moved before the net of vertex 5 */
  check_net(t, 3, 4, 1, NET(3, 5));
  round_trip(t, "out.hgr", "hmetis");
}
END_TEST

START_TEST(test_hypergraph_weights)
{
  cm_topology *t = import_text(HEAVY_NETS, "hmetis");
  check_net(t, 1, 0, 3, NET(4, 5, 6));
  check_net(t, 2, 1, 7, NET(2, 3));
  check_net(t, 3, 4, 8, NET(3, 5));
  ck_assert_uint_eq(t->size_total, 36);
  ck_assert_uint_eq(t->size[5], 9);
  round_trip(t, "out.hgr.gz", "hmetis");
  t = import_text("3 4 1\n2 1 2 3\n5 4\n1 3 4 3 4\n", "hmetis");
  ck_assert_uint_eq(t->net_count, 2);
  ck_assert_uint_eq(t->empty_net_count, 1);
  ck_assert_uint_eq(t->duplicate_count, 2); /* the source again, and a pin */
  check_net(t, 0, 0, 2, NET(1, 2));
  check_net(t, 1, 2, 1, NET(3));
  cm_topology_free(t);
  t = import_text("2 3 10\n1 2 3\n2 3\n4\n5\n0\n", "hmetis");
  ck_assert_uint_eq(t->size_total, 9);
  cm_topology_free(t);
}
END_TEST

START_TEST(test_hypergraph_scale)
{
  cm_topology *t = import_text("a,b,0.5\na,c,0.5\nb,c,2\n", "edges");
  for (uint32_t e = 0; e < t->net_count; e++)
    t->net_weight[e] = t->weight_scale * (e + 1) / 4; /* rates 1/4 and 1/2 */
  cm_free(t->pin_weight);
  t->pin_weight = NULL;
  round_trip(t, "scaled.hgr", "hmetis");
}
END_TEST

/* A graph and a hypergraph have the same header; what follows tells them apart. */
START_TEST(test_hypergraph_or_graph)
{
  cm_topology_free(import_text("3 3\n2 3\n1 3\n1 2\n", "metis"));
  cm_topology_free(import_text("3 2\n2\n1 3\n2\n", "metis"));
  cm_topology_free(import_text("3 0 001\n\n\n\n", "metis")); /* without edges: a hypergraph has vertices */
  cm_topology_free(import_text("3 0 011\n4\n5\n6\n", "metis"));
  cm_topology_free(import_text("4 3 1\n2 7\n1 7 3 2\n2 2 4 1\n3 1\n", "metis"));
  cm_topology_free(import_text("3 9\n1 2 3\n4 5 6\n7 8 9\n", "hmetis"));
}
END_TEST

/* Nets of as many pins as the header has numbers could be edges: both are named, unless the ending or a flag says which. */
START_TEST(test_hypergraph_or_list)
{
  static const struct {
    const char *text, *nets, *edges;
  } either[] = {{"1 4\n2 3\n", "hypergraph of 1 nets over 4 vertices (--format hmetis", "a list of 2 edges (--format edges"},
                {"3 4\n1 2\n2 3\n3 4\n", "hypergraph of 3 nets over 4 vertices", "a list of 4 edges"},
                {"3 3\n2 3\n1 3\n1 3\n", "hypergraph of 3 nets over 3 vertices", "a list of 4 edges"},
                {"2 5 1\n1 2 3\n4 5 1\n", "hypergraph of 2 nets over 5 vertices", "a list of 3 edges"}};
  for (size_t i = 0; i < sizeof either / sizeof *either; i++) {
    cm_topology *t = NULL;
    refuse(either[i].text, strlen(either[i].text), either[i].nets);
    ck_assert_ptr_nonnull(strstr(error.detail, either[i].edges));
    ck_ok(cm_import_as(in_folder("x"), &(cm_import_hint){.name = "x.hgr"}, NULL, &run, &t, NULL, &error));
    cm_topology_free(t);
    ck_ok(cm_import_as(in_folder("x"), &(cm_import_hint){.format = "edges"}, NULL, &run, &t, NULL, &error));
    cm_topology_free(t);
  }
}
END_TEST

/* A large file of either kind: more than one window of bytes. */
START_TEST(test_hypergraph_or_graph_large)
{
  enum { SIDE = 60000 };
  const char *path = in_folder("ring");
  for (int kind = 0; kind < 2; kind++) {
    FILE *stream = fopen(path, "w");
    fprintf(stream, "%d %d\n", SIDE, SIDE);
    for (int v = 0; v < SIDE; v++) /* a ring; or nets that lead nowhere back */
      if (kind == 0)
        fprintf(stream, "%d %d\n", (v + 1) % SIDE + 1, (v + SIDE - 1) % SIDE + 1);
      else
        fprintf(stream, "%d %d %d\n", v + 1, (v + 7919) % SIDE + 1, (v + 104729) % SIDE + 1);
    fclose(stream);
    cm_topology *t = import_file(path, kind == 0 ? "metis" : "hmetis");
    ck_assert_uint_eq(t->pin_count, 2 * SIDE);
    cm_topology_free(t);
  }
}
END_TEST

/* As many nets as vertices: the header cannot tell, so the name does, or who sends it. */
START_TEST(test_name_and_format_decide)
{
  const char text[] = "3 3\n2 3\n1 3\n1 2\n"; /* a triangle's rows, and as good three nets or four edges */
  const struct {
    const char *name, *format, *found;
  } cases[] = {{"n", NULL, "metis"},       {"n.graph", NULL, "metis"},   {"n.hgr", NULL, "hmetis"},
               {"n.HGR", NULL, "hmetis"},  {"n.csv", NULL, "edges"},     {"n", "hmetis", "hmetis"},
               {"n.csv", "metis", "metis"}, {"n.hgr", "edges", "edges"}, {"n.snn", NULL, "metis"}};
  test_write(in_folder("n"), text, strlen(text));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cm_topology *t;
    cm_import_report report;
    cm_import_hint hint = {.format = cases[i].format, .name = cases[i].name};
    ck_ok(cm_import_as(in_folder("n"), &hint, NULL, &run, &t, &report, &error));
    ck_assert_str_eq(report.format, cases[i].found);
    cm_topology_free(t);
  }
  cm_topology *t = NULL;
  ck_fails(cm_import_as(in_folder("n"), &(cm_import_hint){.format = "nix"}, NULL, &run, &t, NULL, &error),
           CM_BAD_OPTION);
  ck_assert_ptr_nonnull(strstr(error.detail, "topology, snn, metis, hmetis, matrix-market, edges"));
  ck_fails(cm_import_as(in_folder("n"), &(cm_import_hint){.format = "snn"}, NULL, &run, &t, NULL, &error),
           CM_BAD_NETWORK);
}
END_TEST

START_TEST(test_foreign_files_are_named)
{
  static const struct {
    const char *bytes;
    size_t size;
    const char *what;
  } files[] = {
#define BYTES(text) text, sizeof text - 1
    {BYTES("\x89HDF\r\n\x1a\n\0\0\0"), "HDF5"},
    {BYTES("\x93NUMPY\x01\0v\0{'descr'"), "NumPy array"},
    {BYTES("PK\3\4\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\0\0\0w.npy"), "zip archive is damaged"},
    {BYTES("MATLAB 5.0 MAT-file, Platform: GLNXA64\0\1"), "MATLAB"},
    {BYTES("PK\3\4\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\0\0\0w.npy"), "zip archive is damaged"},
    {BYTES("PAR1\x15\4\x15\6"), "Parquet"},
    {BYTES("\x80\x02\x8a\nl\xfc\x9c" "F\xf9 j\xa8P\x19.\x80\x02M\xe9\x03."), "torch.load('FILE', weights_only=True)"},
    {BYTES("<?xml version=\"1.0\"?>\n<rss>"), "XML"},
    {BYTES("\xef\xbb\xbf\n <?XML ?>"), "XML"},
    {BYTES("%PDF-1.4\n%\xe2\xe3\n1 0 obj\n"), "PDF"},
    {BYTES("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), "PNG"},
    {BYTES("\xfd" "7zXZ\0\0\4"), "xz archive"},
    {BYTES("\x28\xb5\x2f\xfd\4\0\1"), "zstd"},
    {BYTES("BZh91AY&SY\1\2\0"), "bzip2"},
    {BYTES("{\"format\": \"coremapd mapping\"}"), "JSON"},
    {BYTES("\xff\xfe" "1\0,\0002\0\n\0"), "UTF-16"},
    {BYTES("\x08\x07\x12\x07pytorch\0"), "ONNX"},
    {BYTES("\x80\x04\x95\x0b\0\0\0\0\0\0\0}\x94."), "pickle"},
    {BYTES("\1\2\3\4\5\6\7\x08\x09garbage"), "no known format"},
    {BYTES("CMPROG\r\n\1\0\0\0\6\0\0\0"), "a program for a chip"},
    {BYTES("\x7f" "ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0\x3e\0\1\0\0\0"), "a program (ELF)"},
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    refuse(files[i].bytes, files[i].size, files[i].what);
  const char *const lines[] = {"MATLAB", "Parquet", "pickle"}; /* what others keep networks in comes with the line that converts it */
  for (size_t k = 0; k < 3; k++)
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
      if (strcmp(files[i].what, lines[k]) == 0)
        refuse(files[i].bytes, files[i].size, "this line converts");
  char tar[1024] = "network.csv";
  memcpy(tar + 257, "ustar", 6);
  memcpy(tar + 124, "00000000000", 12);
  refuse(tar, sizeof tar, "tar archive is damaged or cut off at byte 0: no header"); /* no checksum */
  unsigned sum = 8 * ' ';
  for (size_t i = 0; i < 512; i++)
    sum += (unsigned char)tar[i];
  (void)snprintf(tar + 148, 8, "%06o", sum);
  refuse(tar, sizeof tar, "a tar archive (network.csv)");
}
END_TEST

/* Numbers that .snn may begin with are the magic of other formats. */
START_TEST(test_snn_goes_before_short_magic)
{
  const uint32_t neurons[] = {0x0280, 0x0380, 0xfeff, 0x9d1f, 0x8b1f, 0x00120508, 0x00ffd8ff, 60, 91, 123, 0x3f3c, 0x227b20, 0x2828};
  for (size_t i = 0; i < sizeof neurons / sizeof *neurons; i++) {
    const float rate = 1;
    uint32_t words[] = {neurons[i], 1, 1, 0, 5, 0};
    memcpy(&words[5], &rate, sizeof rate);
    cm_topology *t;
    cm_import_report report;
    test_write(in_folder("x"), words, sizeof words); /* little endian, as the machines of the tests */
    ck_ok(cm_import(in_folder("x"), NULL, &run, &t, &report, &error));
    ck_assert_str_eq(report.format, "snn");
    ck_assert_uint_eq(t->vertex_count, neurons[i]);
    cm_topology_free(t);
  }
}
END_TEST

/* The size of a matrix without its banner is no edge; an edge to itself is one. */
START_TEST(the_size_of_a_matrix_is_no_edge)
{
  static const char *const heads[] = {"4000000000 4000000000\n1 2\n", "# c\n9000 9000 2\n1 2 3\n4 5 6\n"};
  static const char *const edges[] = {"1,2\n4000000000,4000000000\n", "3 3\n1 2\n", "9000 9000\n9000 1\n", "9000,9000\n1,2\n"};
  cm_topology *t;
  cm_import_report report;
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
    test_write(in_folder("x"), heads[i], strlen(heads[i]));
    ck_fails(cm_import(in_folder("x"), NULL, &run, &t, &report, &error), CM_BAD_NETWORK);
    ck_assert_ptr_nonnull(strstr(error.detail, "look like the size of a matrix"));
    ck_assert_str_eq(error.where, i == 0 ? "line 1" : "line 2");
  }
  for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
    cm_topology_free(import_text(edges[i], "edges"));
}
END_TEST

/* Rows of a graph that lacks its end are no edges, unless somebody says so. */
START_TEST(test_cut_graph_is_no_edge_list)
{
  const char cut[] = "6 6\n2 6\n1 3\n2 4\n3 5\n4 6\n";
  refuse(cut, strlen(cut), "METIS graph of 6 vertices that was cut off, for only 5 rows");
  ck_assert_ptr_nonnull(strstr(error.detail, "a list of 6 edges (--format edges"));
  cm_topology *t;
  cm_import_report report;
  ck_ok(cm_import_as(in_folder("x"), &(cm_import_hint){.format = "edges"}, NULL, &run, &t, &report, &error));
  ck_assert_uint_eq(t->pin_count, 6);
  cm_topology_free(t);
  t = NULL;
  ck_fails(cm_import_as(in_folder("x"), &(cm_import_hint){.name = "x.graph"}, NULL, &run, &t, NULL, &error),
           CM_BAD_NETWORK);
  ck_assert_ptr_nonnull(strstr(error.detail, "METIS"));
  enum { SIDE = 60000 };
  FILE *stream = fopen(in_folder("x"), "w"); /* more than one window */
  fprintf(stream, "%d %d\n", SIDE, SIDE);
  for (int v = 0; v < SIDE - 100; v++)
    fprintf(stream, "%d %d\n", (v + 1) % SIDE + 1, (v + SIDE - 1) % SIDE + 1);
  fclose(stream);
  ck_fails(cm_import(in_folder("x"), NULL, &run, &t, NULL, &error), CM_BAD_NETWORK);
  ck_assert_ptr_nonnull(strstr(error.detail, "only 59900 rows"));
  /* Lists that begin with large numbers stay lists. */
  static const char *const lists[] = {"9 8\n8 7\n7 6\n6 5\n", "100 1\n1 2\n2 3\n3 1\n", "5 3\n1 2\n", "7 9\n9 7\n"};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    cm_topology_free(import_text(lists[i], "edges"));
}
END_TEST

/* ---- MatrixMarket ---- */

START_TEST(test_matrix_general)
{
  cm_topology *t = import_text(
      "%%MatrixMarket matrix coordinate pattern general\n% c\n\n4 4 5\n1 2\n1 2\n3 1\n2 2\n1 4\n", "matrix-market");
  ck_assert(t->directed);
  ck_assert_uint_eq(t->vertex_count, 4);
  ck_assert_uint_eq(t->pin_count, 4);
  ck_assert_uint_eq(t->duplicate_count, 1);
  ck_assert_uint_eq(t->self_loop_count, 1);
  check_net(t, 0, 0, 1, NET(1, 3));
  ck_assert_uint_eq(t->pin_weight[0], 2);
  ck_assert_uint_eq(t->pin_weight[1], 1);
  check_net(t, 2, 2, 1, NET(0));
  round_trip(t, "out.mtx", "matrix-market");
  t = import_text("%%matrixmarket MATRIX Coordinate Real General\r\n2 2 2\r\n1 2 0.375\r\n2 1 1e1\r\n",
                  "matrix-market");
  ck_assert_double_eq((double)t->pin_weight[0] / (double)t->weight_scale, 0.375);
  ck_assert_double_eq((double)t->pin_weight[1] / (double)t->weight_scale, 10);
  round_trip(t, "out.mtx.gz", "matrix-market");
}
END_TEST

/* Symmetric is how a matrix is stored: the same synapses as of the whole one, the diagonal once. */
START_TEST(test_matrix_symmetric)
{
  static const struct {
    const char *text;
    const double weight[9];
    uint64_t synapses, loops;
  } cases[] = {
    {"%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n1 1 3\n2 1 1\n3 2 2\n", {3, 1, 0, 1, 0, 2, 0, 2, 0}, 5, 1},
    {"\n %%MatrixMarket matrix array real symmetric\n3 3\n3\n1\n0\n0\n2\n0\n", {3, 1, 0, 1, 0, 2, 0, 2, 0}, 5, 1},
    {"%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 3\n2 1 -1\n3 1 2\n3 2 -3\n", {0, 1, -2, -1, 0, 3, 2, -3, 0}, 6, 0},
    {"%%MatrixMarket matrix array integer skew-symmetric\n3 3\n-1\n2\n-3\n", {0, 1, -2, -1, 0, 3, 2, -3, 0}, 6, 0},
    {"%%MatrixMarket matrix array real general\n3 3\n0\n2.5\n0\n1.5\n0\n0\n0\n0\n-1\n", {0, 1.5, 0, 2.5, 0, 0, 0, 0, -1}, 3, 1},
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    cm_topology *t = import_text(cases[c].text, "matrix-market");
    ck_assert(t->directed);
    ck_assert_uint_eq(cm_topology_synapses(t), cases[c].synapses);
    ck_assert_uint_eq(t->self_loop_count, cases[c].loops);
    for (uint32_t e = 0; e < t->net_count; e++)
      for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
        ck_assert_double_eq(cm_topology_pin_value(t, e, i), cases[c].weight[3 * cm_topology_source(t, e) + t->pin[i]]);
    round_trip(t, "out.mtx", "matrix-market");
  }
  cm_topology *t = import_text("%%MatrixMarket matrix coordinate pattern symmetric\n% directed no\n3 3 2\n2 1\n3 2", "matrix-market");
  ck_assert(!t->directed); /* as our export of a graph says */
  ck_assert_ptr_null(t->pin_weight);
  const char *path = in_folder("out.hgr");
  ck_ok(cm_export(t, path, &run, &error));
  round_trip(t, "out.mtx", "matrix-market");
  t = import_file(path, "hmetis"); /* every edge a net of two */
  ck_assert_uint_eq(t->net_count, 2);
  check_net(t, 0, 0, 1, NET(1));
  check_net(t, 1, 1, 1, NET(2));
  cm_topology_free(t);
}
END_TEST

static cm_status import_directed(const char *text, const char *directed, cm_topology **t)
{
  const cm_import_limits limits = cm_import_limits_default();
  cm_import_hint hint = {.option[CM_READ_DIRECTED] = directed};
  *t = NULL;
  return cm_import_memory(text, strlen(text), &hint, &limits, &run, t, NULL, &error);
}

/* Who reads says whether it is a graph, whatever the format. */
START_TEST(test_direction_is_chosen)
{
  static const char *const graphs[] = {"3 2 001\n2 5\n1 5 3 7\n2 7\n", "source,target,weight\n0,1,5\n1,2,7\n2,1,7\n",
                                       "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 5\n3 2 7\n3 3 1\n"};
  for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
    cm_topology *t;
    ck_ok(import_directed(graphs[i], "no", &t));
    ck_ok(cm_topology_verify(t, &error));
    ck_assert(!t->directed);
    ck_assert_uint_eq(cm_topology_synapses(t), 2);
    ck_assert_uint_eq(t->self_loop_count, i == 2 ? 1 : 0);
    cm_topology_free(t);
    ck_ok(import_directed(graphs[i], "yes", &t));
    ck_ok(cm_topology_verify(t, &error));
    ck_assert(t->directed);
    ck_assert_uint_eq(cm_topology_synapses(t), i == 0 ? 4 : i == 1 ? 3 : 5);
    cm_topology_free(t);
  }
  static const struct {
    const char *text, *directed, *value;
  } wrong[] = {{"source,target,weight\nA,B,5\nB,A,6\n", "no", "from 'A' to 'B' is 5, that of the one back 6"},
               {"source,target,delay\nA,B,5\nB,A,6\n", "no", "the delay of the synapse"},
               {"source,target,rate\n0,1,5\n1,2,6\n", "no", "rates of axons"},
               {"0,1\n", "often", "directed must be auto or yes or no, not \"often\""}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    cm_topology *t;
    ck_fails(import_directed(wrong[i].text, wrong[i].directed, &t), CM_BAD_OPTION);
    ck_assert_msg(strstr(error.detail, wrong[i].value) != NULL, "%s", error.detail);
  }
}
END_TEST

/* Hyperedges that were dropped are none of the network. */
START_TEST(test_dropped_hyperedges_do_not_count)
{
  cm_topology *t = import_text("3 4\n1 2\n3\n4\n", "hmetis");
  ck_assert_uint_eq(cm_topology_hyperedges(t), 1);
  ck_assert_uint_eq(t->empty_net_count, 2);
  cm_topology_free(t);
}
END_TEST

/* ---- bad input ---- */

#define MTX "%%MatrixMarket matrix coordinate "

static const struct {
  int format; /* 0: hMETIS, 1: MatrixMarket */
  const char *text, *where, *value;
} bad_inputs[] = {
  {0, "", "line 1", "number of nets and of vertices"},
  {0, "3\n", "line 1", "number of nets and of vertices"},
  {0, "1 2 3\n1 2\n", "line 1", "fmt 3"},
  {0, "1 2 100\n1 2\n", "line 1", "fmt 100"},
  {0, "1 2 1 1\n1 2\n", "line 1", "more than the three fields"},
  {0, "1 x\n1 2\n", "line 1", "'x'"},
  {0, "% c\n1 2\n1 3\n", "line 3", "pin 3"},
  {0, "1 2\n0 1\n", "line 2", "pin 0"},
  {0, "1 2\n1 -2\n", "line 2", "'-2'"},
  {0, "1 2\n1 99999999999999999999\n", "line 2", "'99999999999999999999'"},
  {0, "2 2\n1 2\n", "line 3", "after 1 nets; the header announces 2"},
  {0, "1 2\n1 2\n2 1\n", "line 3", "more lines follow the 1 nets"},
  {0, "1 2 1\n7\n", "line 2", "before its first pin"},
  {0, "1 2 1\n4294967296 1 2\n", "line 2", "4294967296"},
  {0, "1 2 10\n1 2\n3\n", "line 4", "weights of 1 vertices; the header announces 2"},
  {0, "1 2 10\n1 2\n3\n4294967296\n", "line 4", "4294967296"},
  {0, "1 2 10\n1 2\n3 4\n5\n", "line 3", "more numbers follow"},
  {1, "%%MatrixMarket vector coordinate real general\n", "line 1", "must be"},
  {1, "%%MatrixMarket matrix sheet real general\n2 2\n", "line 1", "'sheet'"},
  {1, "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", "line 6", "after 3 entries; 4"},
  {1, "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n4\n", "line 6", "after 3 of 3"},
  {1, "%%MatrixMarket matrix array pattern general\n2 2\n", "line 1", "'pattern'"},
  {1, MTX "complex general\n", "line 1", "'complex'"},
  {1, MTX "real hermitian\n", "line 1", "'hermitian'"},
  {1, MTX "real skew-symmetric\n2 2 1\n1 1 4\n", "line 3", "lies on the diagonal"},
  {1, MTX "real general\n2 3 1\n1 2 1\n", "line 2", "2 rows and 3 columns"},
  {1, MTX "real general\n2 2\n", "line 2", "the number of entries"},
  {1, MTX "real general\n", "line 2", "the number of rows"},
  {1, MTX "real general\n2 2 1 5\n", "line 2", "nothing else"},
  {1, MTX "real general\n2 2 1\n1 3 1\n", "line 3", "column 3"},
  {1, MTX "real general\n2 2 1\n0 2 1\n", "line 3", "row 0"},
  {1, MTX "real general\n2 2 1\n1 2\n", "line 3", "before the value"},
  {1, MTX "real general\n2 2 1\n1\n", "line 3", "a column"},
  {1, MTX "real general\n2 2 1\n1 2 nan\n", "line 3", "'nan'"},
  {1, MTX "real general\n2 2 1\n1 2 1e999\n", "line 3", "'1e999'"},
  {1, MTX "real general\n2 2 1\n1 2 --1\n", "line 3", "'--1'"},
  {1, MTX "real general\n2 2 1\n1 2 1 1\n", "line 3", "a value only"},
  {1, MTX "pattern general\n2 2 1\n1 2 1\n", "line 3", "column only"},
  {1, MTX "pattern symmetric\n2 2 1\n1 2\n", "line 3", "row 1, column 2"},
  {1, MTX "pattern general\n2 2 2\n1 2\n", "line 4", "after 1 entries; 2"},
  {1, MTX "pattern general\n2 2 1\n1 2\n2 1\n", "line 4", "after 1 of 1"},
};

START_TEST(test_bad_input)
{
  static cm_status (*const import[])(const cm_reading_of *, cm_error *) = {cm_import_hypergraph, cm_import_matrix};
  const cm_import_limits limits = cm_import_limits_default();
  const char *text = bad_inputs[_i].text;
  cm_topology *t;
  cm_source source;
  ck_ok(cm_source_open_memory(&source, text, strlen(text), &limits, &run, &error));
  ck_ok(CM_NEW(run.memory, t, 1, &error));
  ck_fails(import[bad_inputs[_i].format](&(cm_reading_of){&source, &limits, &run, t}, &error), CM_BAD_NETWORK);
  cm_source_close(&source);
  cm_topology_free(t);
  ck_assert_str_eq(error.where, bad_inputs[_i].where);
  ck_assert_msg(strstr(error.detail, bad_inputs[_i].value) != NULL, "'%s' does not name '%s'", error.detail,
                bad_inputs[_i].value);
}
END_TEST

START_TEST(test_limits)
{
  static const struct {
    const char *text;
    int format;
  } large[] = {
    {"1 11\n1 2\n", 0},
    {"9 3\n1 2\n", 0},
    {"2 10\n1 2 3 4 5 6\n1 2 3 4 5 6\n", 0},
    {MTX "pattern general\n11 11 1\n1 2\n", 1},
    {MTX "pattern general\n10 10 9\n1 2\n", 1},
    {MTX "pattern symmetric\n10 10 5\n2 1\n", 1},
    {"4000000000 4000000000\n1 2\n", 0},
  };
  const cm_import_limits limits = {.bytes_max = 1000, .ratio_max = 1000, .vertices_max = 10, .pins_max = 8};
  for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
    cm_topology *t;
    cm_source source;
    ck_ok(CM_NEW(run.memory, t, 1, &error));
    ck_ok(cm_source_open_memory(&source, large[i].text, strlen(large[i].text), &limits, &run, &error));
    ck_fails((large[i].format == 0 ? cm_import_hypergraph : cm_import_matrix)(&(cm_reading_of){&source, &limits, &run, t}, &error), CM_TOO_LARGE);
    cm_source_close(&source);
    cm_topology_free(t);
    ck_assert_str_eq(error.figures[0].name, "limit");
  }
}
END_TEST

/* A matrix is always taken for one; its errors come through cm_import. */
START_TEST(test_recognised_bad)
{
  cm_topology *t = NULL;
  const char *path = in_folder("bad"), text[] = MTX "real general\n2 2 1\n1 3 1\n";
  test_write(path, text, strlen(text));
  ck_fails(cm_import(path, NULL, &run, &t, NULL, &error), CM_BAD_NETWORK);
  ck_assert_ptr_nonnull(strstr(error.detail, "MatrixMarket, line 3"));
}
END_TEST

/* Every allocation fails once: an error each time, nothing leaks (teardown counts). */
START_TEST(test_allocation_faults)
{
  static const char *const texts[] = {
    HEAVY_NETS, PLAIN_NETS, MTX "real general\n4 4 5\n1 2 1\n1 2 0.5\n3 1 2\n2 2 1\n1 4 1\n",
    MTX "pattern symmetric\n3 3 3\n2 1\n2 1\n3 2\n", ",a,b\na,0,1.5\nb,2,0\n", "0 1 2\n1 2\n2 0\n",
    "source,target,type\n1.0,2,Undirected\n2,3,Undirected\n", "a b {'weight': 2}\nb c {}\n", "3\t3\n2\t3\n1\t3\n1\t2\n",
    "graph [ node [ id 1 label \"a\" ] node [ id 2 ] edge [ weight 2 source 1 target 2 ] ]\n", "*Vertices 2\n1 a\n*Edges\n1 2 3\n"};
  const cm_import_limits limits = cm_import_limits_default();
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    for (uint64_t n = 1;; n++) {
      cm_topology *t = NULL;
      cm_memory_fail_at(n);
      cm_status status = cm_import_memory(texts[i], strlen(texts[i]), &(cm_import_hint){0}, &limits, &run, &t, NULL, &error);
      bool fired = cm_memory_fault_fired() != 0;
      cm_memory_fail_at(0);
      cm_topology_free(t);
      ck_assert(status == CM_OK || (fired && status == CM_NO_MEMORY));
      if (!fired)
        break;
    }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("formats");
  TCase *test = tcase_create("formats");
  tcase_add_checked_fixture(test, setup, teardown);
  tcase_add_test(test, test_hypergraph);
  tcase_add_test(test, test_hypergraph_weights);
  tcase_add_test(test, test_hypergraph_scale);
  tcase_add_test(test, test_hypergraph_or_graph);
  tcase_add_test(test, test_hypergraph_or_list);
  tcase_add_test(test, test_hypergraph_or_graph_large);
  tcase_add_test(test, test_name_and_format_decide);
  tcase_add_test(test, test_foreign_files_are_named);
  tcase_add_test(test, test_snn_goes_before_short_magic);
  tcase_add_test(test, test_cut_graph_is_no_edge_list);
  tcase_add_test(test, test_matrix_general);
  tcase_add_test(test, test_matrix_symmetric);
  tcase_add_test(test, test_direction_is_chosen);
  tcase_add_test(test, test_dropped_hyperedges_do_not_count);
  tcase_add_loop_test(test, test_bad_input, 0, (int)(sizeof bad_inputs / sizeof *bad_inputs));
  tcase_add_test(test, test_limits);
  tcase_add_test(test, the_size_of_a_matrix_is_no_edge);
  tcase_add_test(test, test_recognised_bad);
  tcase_add_test(test, test_allocation_faults);
  suite_add_tcase(suite, test);
  suite_add_tcase(suite, array_cases());
  return test_main(suite);
}
