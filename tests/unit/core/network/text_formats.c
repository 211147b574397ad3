/* core/network: METIS files and lists of edges, and how they are told apart. */
#include "tests/unit/files.h"

#include "core/network/import.h"
#include "tests/unit/imports.h"

START_TEST(metis_is_read)
{
  cm_topology *t = import_text("% a comment\n5 3\n 3 2\n1\n% another\n1 5\n\n3\n", "metis");
  ck_assert(!t->directed && t->pin_weight == NULL && t->size == NULL && t->net_weight == NULL);
  ck_assert_uint_eq(t->net_count, 5);
  ck_assert_uint_eq(cm_topology_synapses(t), 3);
  PINS(t, 0, 1, 2);
  PINS(t, 2, 0, 4);
  ck_assert_uint_eq(t->net_first[4], t->net_first[3]); /* vertex 4 is alone */
  cm_topology_free(t);
}
END_TEST

START_TEST(metis_weights_and_sizes_are_read)
{
  /* fmt 111 with two weights: size of communication (ignored), weights (the first is the size), edges. */
  cm_topology *t = import_text("3 2 111 2\r\n9 5 6 2 7\r\n9 2 6 1 7 3 4\r\n9 0 6 2 4\r\n", "metis");
  ck_assert_uint_eq(cm_topology_size(t, 0), 5);
  ck_assert_uint_eq(cm_topology_size(t, 1), 2);
  ck_assert_uint_eq(cm_topology_size(t, 2), 0);
  ck_assert_uint_eq(t->size_total, 7);
  ck_assert_uint_eq(t->pin_weight[0], 7);
  ck_assert_uint_eq(t->pin_weight[2], 4);
  ck_assert_uint_eq(t->weight_scale, 1);
  cm_topology_free(t);
}
END_TEST

START_TEST(metis_repeats_and_loops_are_merged_and_counted)
{
  cm_topology *t = import_text("3 3 1\n2 1 3 5 2 2\n1 3\n1 5 3 8\n", "metis");
  ck_assert_uint_eq(t->duplicate_count, 1); /* though one row only repeats it */
  ck_assert_uint_eq(t->self_loop_count, 1);
  PINS(t, 0, 1, 2);
  ck_assert_uint_eq(t->pin_weight[0], 3);
  cm_topology_free(t);
  t = import_text("2 2\n2 2\n1 1\n", "metis");
  ck_assert_uint_eq(t->duplicate_count, 1);
  ck_assert_uint_eq(cm_topology_synapses(t), 1);
  ck_assert_uint_eq(cm_topology_pin_weight(t, 0, 0), 2);
  cm_topology_free(t);
}
END_TEST

START_TEST(metis_bad_input)
{
  refuse_text("3 1\n4\n\n1\n", "line 2", "neighbour 4");
  refuse_text("3 1\n0\n\n1\n", "line 2", "neighbour 0");
  refuse_text("3 1\n2\n% c\n-1\n\n", "line 4", "'-1'");
  refuse_text("3 1\n2\n1x\n\n", "line 3", "'1x'");
  refuse_text("3 2 1\n2 1.5\n1 1.5 3 1\n2 1\n", "line 2", "'1.5'");
  refuse_text("3 2 1\n2 -5\n1 -5 3 1\n2 1\n", "line 2", "'-5'");
  refuse_text("3 2 1\n2 nan\n1 1 3 1\n2 1\n", "line 2", "'nan'");
  refuse_text("3 2 1\n2 4294967296\n1 1 3 1\n2 1\n", "line 2", "4294967296");
  refuse_text("3 2 1\n2\n1 1 3 1\n2 1\n", "line 2", "weight of its last edge");
  refuse_text("3 2\n2 3\n\n1\n", "line 2", "vertex 2 (line 3) does not list 1");
  refuse_text("3 2\n2\n1\n2\n", "line 4", "does not list 3");
  refuse_text("3 2 1\n2 1\n1 2 3 1\n2 1\n", "line 2", "weighs 1 here and 2 on line 3");
  refuse_text("3 5\n2\n1 3\n2\n", "line 1", "announces 5 edges");
  refuse_text("5 2\n2\n1 3\n2\n", "line 5", "3 vertices");
  refuse_text("4 2\n2\n1 3\n2", "line 4", "3 vertices");
  refuse_text("3 2\n2\n1 3\n2\n\n7\n", "line 6", "more lines follow");
  refuse_text("3 2 010\n\n1 3\n2\n", "line 2", "fmt announces");
  refuse_text("3 2 001 2\n2\n1 3\n2\n", "line 1", "ncon 2");
}
END_TEST

START_TEST(edges_with_names_are_read)
{
  cm_topology *t = import_text("# by hand\nB,A,2\r\nA,\"C \"\"x\"\", y\",0.5\nB,B,1\n\nB,A,4\n", "edges");
  ck_assert(t->directed);
  ck_assert_uint_eq(t->vertex_count, 3);
  ck_assert_str_eq(cm_topology_label(t, 0), "B"); /* in order of first appearance */
  ck_assert_str_eq(cm_topology_label(t, 1), "A");
  ck_assert_str_eq(cm_topology_label(t, 2), "C \"x\", y");
  ck_assert_uint_eq(t->net_count, 2);
  PINS(t, 0, 0, 1);
  PINS(t, 1, 2);
  ck_assert_uint_eq(t->duplicate_count, 1);
  ck_assert_uint_eq(t->self_loop_count, 1);
  double scale = (double)t->weight_scale;
  ck_assert_double_eq((double)t->pin_weight[0] / scale, 1);
  ck_assert_double_eq((double)t->pin_weight[1] / scale, 6);
  ck_assert_double_eq((double)t->pin_weight[2] / scale, 0.5);
  ck_assert_uint_eq(t->net_weight[1], t->weight_scale); /* no rate is known: 1 */
  cm_topology_free(t);
}
END_TEST

START_TEST(edges_with_numbers_are_ordered_by_them)
{
  cm_topology *t = import_text("source\ttarget\n30\t10\n10\t200\n", "edges");
  ck_assert_uint_eq(t->vertex_count, 3);
  ck_assert_str_eq(cm_topology_label(t, 0), "10");
  ck_assert_str_eq(cm_topology_label(t, 1), "30");
  ck_assert_str_eq(cm_topology_label(t, 2), "200");
  PINS(t, 0, 2);
  PINS(t, 1, 0);
  ck_assert_ptr_null(t->pin_weight); /* all 1 */
  cm_topology_free(t);
  t = import_text("2 0 1\n0 1 1\n", "edges");
  ck_assert_ptr_null(t->label_text); /* every name is its number */
  ck_assert_uint_eq(cm_topology_source(t, 1), 2);
  cm_topology_free(t);
  t = import_text("7;007\n", "edges"); /* not the way a number is written: names */
  ck_assert_str_eq(cm_topology_label(t, 1), "007");
  cm_topology_free(t);
}
END_TEST

/* What a floating point column made of numbers is these numbers, unless digits are lost. */
START_TEST(edges_with_numbers_written_as_floats)
{
  static const char *const texts[] = {"1.000000000000000000e+00 2.000000000000000000e+00 5.0e-01\n2.0e+00 1 1.5\n1 3 2\n1.0 3.0 2\n",
                                      "source,target,weight\n1,2.0,0.5\n2,1,1.5\n1,3.0,2\n1,3,2\n"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    cm_topology *t = import_text(texts[i], "edges");
    ck_assert_uint_eq(t->vertex_count, 3);
    ck_assert_str_eq(cm_topology_label(t, 2), "3");
    ck_assert_uint_eq(t->duplicate_count, 1);
    ck_assert_double_eq(cm_topology_pin_value(t, 0, 1), 4);
    cm_topology_free(t);
  }
  cm_topology *t = import_text("source,target,rate\n1.0,2,4\n2,1,3\n1,1,4\n", "edges");
  ck_assert_uint_eq(t->vertex_count, 2);
  ck_assert_double_eq((double)cm_topology_net_weight(t, 0) / (double)t->weight_scale, 4);
  cm_topology_free(t);
  t = import_text("pre,post\n1.5,2\nx,1\n", "edges"); /* names, one being a word */
  ck_assert_str_eq(cm_topology_label(t, 0), "1.5");
  cm_topology_free(t);
  t = import_text("pre,post\n720575940600000123,720575940600000124\n", "edges");
  ck_assert_uint_eq(t->vertex_count, 2);
  cm_topology_free(t);
  cm_import_report report;
  static const char *const wrong[][2] = {{"pre,post\n7.205759406e+17,7.205759407e+17\n", "'7.205759406e+17' has lost digits"},
                                         {"0.5,1\n1,2\n2,3\n", "'0.5' is no whole number"},
                                         {"0,1\n1,-1.0\n", "'-1.0' is negative"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    t = NULL;
    test_write(in_folder("x"), wrong[i][0], strlen(wrong[i][0]));
    ck_fails(cm_import(in_folder("x"), NULL, &run, &t, &report, &error), CM_BAD_NETWORK);
    ck_assert_msg(strstr(error.detail, wrong[i][1]) != NULL, "%s", error.detail);
  }
}
END_TEST

START_TEST(edges_headers_are_recognised)
{
  const char *const with[] = {"source,target,weight\na,b,1\n", "From,TO\na,b\n", "x,y,synapses\na,b,1\n",
                              "id_1,id_2\n5,6\n", "\xef\xbb\xbfpre\tpost\na\tb\n"};
  for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
    cm_topology *t = import_text(with[i], "edges");
    ck_assert_uint_eq(t->vertex_count, 2);
    cm_topology_free(t);
  }
  cm_topology *t = import_text("AVAL,AVAR\nAVAR,AVBL\n", "edges");
  ck_assert_uint_eq(t->vertex_count, 3);
  cm_topology_free(t);
}
END_TEST

START_TEST(edges_bad_input)
{
  refuse_text("a,b,1\nc,d\n", "line 2", "2 fields");
  refuse_text("a,b\nc,d,1\n", "line 2", "3 fields");
  refuse_text("a,b,1,2\n", "line 1", "4 fields");
  refuse_text("hello\n", "line 1", "1 field;");
  refuse_text("hello world\nthis is\n", "line 1", "names need commas or tabs");
  refuse_text("0,1\n1,-1\n", "line 2", "'-1' is negative");
  refuse_text("a,b,1\n# c\nc,d,--2\n", "line 3", "'--2'");
  refuse_text("a,b,1\nc,d,nan\n", "line 2", "'nan'");
  refuse_text("a,b,1\nc,d,inf\n", "line 2", "'inf'");
  refuse_text("a,b,1\nc,d,1e999\n", "line 2", "'1e999'");
  refuse_text("a,b,1\nc,d,5x\n", "line 2", "'5x'");
  refuse_text("a,b,1\nc,d,\n", "line 2", "''");
  refuse_text("a,b,1\n,d,1\n", "line 2", "source is empty");
  refuse_text("a,b,1\nc,\"d,1\n", "line 2", "quote");
  refuse_text("a,b,1\nc,\"d\"e,1\n", "line 2", "follows a closing quote");
  refuse_text("a,b,1\nc,\xff\xfe,1\n", "line 2", "UTF-8");
  refuse_bytes("", 0, "byte 0", "empty");
}
END_TEST

START_TEST(weights_too_large_to_count_are_refused)
{
  cm_topology *t = NULL;
  const char *path = in_folder("large.csv");
  test_write(path, "a,b,5e9\n", 8);
  ck_fails(cm_import(path, NULL, &run, &t, NULL, &error), CM_TOO_LARGE);
  ck_assert_ptr_nonnull(strstr(error.detail, "5000000000"));
}
END_TEST

START_TEST(metis_and_edges_are_told_apart)
{
  const struct {
    const char *text, *format;
  } cases[] = {
    {"3 3\n2 3\n1 3\n1 2\n", "metis"},     /* could be edges, but 3 lines follow */
    {"1 3\n2 3\n1 3\n1 2\n", "edges"},     /* 3 lines, not 1 */
    {"0 1\n1 2\n", "edges"},
    {"1 0\n\n", "metis"},
    {"3 2\n2\n1 3\n2\n", "metis"},         /* lines of several lengths */
    {"4 2\n2\n1 3\n2\n", "metis"},         /* and an empty one at the end that no line feed ends */
    {"3\t3\n2\t3\n1\t3\n1\t2\n", "metis"},
    {"2 5\n1 7\n7 1\n", "edges"},          /* a graph of two vertices has no seventh */
    {"4 2 7\n1 2 3\n", "edges"},           /* 7 is no fmt */
    {"4\t2\n1\t2\n", "edges"},
    {"2 1 001\n2 5\n1 5\n", "metis"},
    {"# edges\n2 2\n1 2\n1 1\n", "edges"}, /* METIS has no such comment */
    {"a,b\nb,c\n", "edges"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    cm_topology_free(import_text(cases[i].text, cases[i].format));
}
END_TEST

static cm_status import_called(const char *text, const char *name, const char *format, char found[32], cm_topology **t)
{
  const cm_import_limits limits = cm_import_limits_default();
  const cm_import_hint hint = {.name = name, .format = format};
  cm_import_report report;
  *t = NULL;
  cm_status status = cm_import_memory(text, strlen(text), &hint, &limits, &run, t, &report, &error);
  if (status == CM_OK)
    (void)snprintf(found, 32, "%s", report.format);
  return status;
}

/* A dense matrix, whatever parts its columns; what could be edges too is asked for. */
START_TEST(matrices_of_numbers_are_no_edge_lists)
{
  static const struct {
    const char *text;
    uint32_t neurons, synapses;
    double first;
  } right[] = {
    {"0,1,2,0\n3,0,4,0\n5,6,0,0\n0,0,0,0\n", 4, 6, 1},
    {"0.0 2.5\n1.5 0.0\n", 2, 2, 2.5},
    {"0;0,5;1\n-1;0;2,25\n0;0;0\n", 3, 4, 0.5},
    {"0\t1\t-1\n0.5\t0\tnan\n0\t0\t0\n", 3, 3, 1},
    {"[[0, 1, 2, 0], [3, 0, 4, 0], [5, 6, 0, 0],\n [0, 0, 0, 0]]", 4, 6, 1},
    {"\"\",\"V1\",\"V2\"\n\"1\",0,2\n\"2\",3,0\n", 2, 2, 2},
    {"0,1,2,3\n0,5,0,0\n0,0,1,0\n0,0,0,1\n0,0,0,0\n", 4, 3, 5},
    {"id,A,B\nA,0,2\nB,1,0\n", 2, 2, 2},
  };
  char found[32];
  cm_topology *t;
  for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
    ck_ok(import_called(right[i].text, "w.csv", NULL, found, &t));
    ck_assert_str_eq(found, "matrix");
    ck_assert_uint_eq(t->vertex_count, right[i].neurons);
    ck_assert_uint_eq(cm_topology_synapses(t), right[i].synapses);
    ck_assert_double_eq(cm_topology_pin_value(t, 0, 0), right[i].first);
    cm_topology_free(t);
  }
  static const char *const either[] = {"0,1,2\n3,0,4\n5,6,0\n", "0 2\n3 0\n", "0,1,2\n0,1,2\n3,0,4\n5,6,0\n", "[[0, 1, 2], [3, 0, 4], [5, 6, 0]]"};
  for (size_t i = 0; i < sizeof either / sizeof *either; i++) {
    ck_fails(import_called(either[i], NULL, NULL, found, &t), CM_BAD_NETWORK);
    ck_assert_ptr_nonnull(strstr(error.detail, "a matrix of"));
    ck_assert_ptr_nonnull(strstr(error.detail, "a list of"));
    ck_assert_ptr_nonnull(strstr(error.detail, "--format edges, format=edges"));
    ck_ok(import_called(either[i], NULL, "edges", found, &t));
    cm_topology_free(t);
    ck_ok(import_called(either[i], NULL, "matrix", found, &t));
    ck_assert_uint_eq(cm_topology_synapses(t), i == 1 ? 2 : 6);
    cm_topology_free(t);
  }
}
END_TEST

/* Reads what has been written to a stream of memory; frees it. */
static cm_status import_written(FILE *stream, char **text, const char *format, char found[32], cm_topology **t)
{
  ck_assert_int_eq(fclose(stream), 0);
  const cm_status status = import_called(*text, NULL, format, found, t);
  free(*text);
  return status;
}

/* Rows that are longer than the window of bytes that is read at a time; one as long as no row is. */
START_TEST(rows_are_as_long_as_they_need_to_be)
{
  enum { WIDE = 300000, SIDE = 60000, TOO_WIDE = 1 << 26 };
  static const int rows[4][4] = {{0, 2, 3, 0}, {1, 0, 0, 4}, {0, 5, 0, 6}, {7, 0, 0, 0}};
  char found[32], *text;
  size_t size;
  cm_topology *t;
  for (int python = 0; python < 2; python++) {
    FILE *stream = open_memstream(&text, &size);
    for (int i = 0; i < 4; i++) {
      fputs(python ? i == 0 ? "[[" : ",[" : "", stream);
      for (int j = 0; j < 4; j++)
        fprintf(stream, "%s%*d", j == 0 ? "" : python ? "," : " ", j == 2 ? WIDE : 1, rows[i][j]);
      fputs(python ? "]\n" : "\r\n", stream);
    }
    fputs(python ? "]\n" : "", stream);
    ck_ok(import_written(stream, &text, NULL, found, &t));
    ck_assert_str_eq(found, "matrix");
    ck_assert_uint_eq(t->vertex_count, 4);
    ck_assert_uint_eq(cm_topology_synapses(t), 7);
    cm_topology_free(t);
  }
  FILE *star = open_memstream(&text, &size);
  fputs("0", star);
  for (int i = 1; i < SIDE; i++)
    fprintf(star, " %d", i);
  for (int i = 1; i < SIDE; i++)
    fprintf(star, "\n%d", i);
  ck_ok(import_written(star, &text, NULL, found, &t));
  ck_assert_str_eq(found, "adjlist");
  ck_assert_uint_eq(t->pin_count, SIDE - 1);
  cm_topology_free(t);
  FILE *wide = open_memstream(&text, &size);
  fprintf(wide, "1%*d\n", TOO_WIDE, 2);
  ck_fails(import_written(wide, &text, "matrix", found, &t), CM_BAD_NETWORK);
  ck_assert_ptr_nonnull(strstr(error.detail, "longer than 67108864 bytes"));
}
END_TEST

/* An ending says what a text is; where the text is something else, that is said and nothing guessed. */
START_TEST(endings_bind)
{
  static const struct {
    const char *text, *name, *part;
  } wrong[] = {{"0 1\n1 2\n2 0\n0 2\n", "x.graph", "METIS graph"},
               {"0,1\n1,2\n", "x.hgr", "hypergraph"},
               {"3 3 2\n1 2 1\n2 3 1\n", "x.mtx", "%%MatrixMarket"},
               {"0,1\n1,2\n", "x.nir", "the file's name says nir"},
               {"0,1\n1,2\n", "x.net", "the file's name says lava-dl"},
               {"0,1\n1,2\n", "x.graphml", "the file's name says graphml"}};
  char found[32];
  cm_topology *t;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    ck_fails(import_called(wrong[i].text, wrong[i].name, NULL, found, &t), CM_BAD_NETWORK);
    ck_assert_msg(strstr(error.detail, wrong[i].part) != NULL, "%s", error.detail);
  }
  ck_ok(import_called("0 1\n1 2\n2 0\n0 2\n", "x.graph", "edges", found, &t));
  cm_topology_free(t);
  ck_ok(import_called("3\t3\n2\t3\n1\t3\n1\t2\n", "x.graph", NULL, found, &t));
  ck_assert_str_eq(found, "metis");
  ck_assert_uint_eq(cm_topology_synapses(t), 3);
  cm_topology_free(t);
}
END_TEST

/* Columns by words of the field, in any order; one that changes what an edge is counts. */
START_TEST(headers_say_what_columns_are)
{
  static const struct {
    const char *text;
    const char *source; /* of the first synapse, which has weight 5 */
    bool directed;
    uint32_t synapses;
  } right[] = {
    {"cols,rows,values\n1,0,5\n2,0,6\n", "0", true, 2},
    {"j,i\n7,3\n9,4\n", "3", true, 2},
    {"row,value,source,target,weight\n1,7,A,B,5\n2,8,B,C,1\n", "A", true, 2},
    {"bodyId:END_ID(x),w:int,bodyId:START_ID(x)\n9,5,8\n8,1,9\n", "8", true, 2},
    {"Source,Target,Type,Weight\nA,B,Undirected,5\nB,C,Undirected,1\nC,C,Undirected,1\n", "A", false, 2},
    {"Source,Target,Type,Weight\nA,B,Undirected,5\nB,C,Directed,1\n", "A", true, 3},
    {"source,target,type,weight\nA,B,GABA,5\nB,C,Glu,1\n", "A", true, 2},
    {"\"from\" \"to\" \"weight\"\n\"1\" \"a\" \"b\" 5\n\"2\" \"b\" \"c\" 1\n", "a", true, 2},
    {"# columns = [u'j', u'i', u'weight']\nB\tA\t5\nC\tA\t1\n", "A", true, 2},
    {"A B {'weight': 5, 'note': 'a, b', 'delay': 2}\nB C {}\n", "A", true, 2},
    {"A B 5\nB C 1\n", "A", true, 2},
    {"A B 5\nC D 1\n", "A", true, 2},
    {"A;B;5,0\nB;C;0,5\n", "A", true, 2},
  };
  char found[32];
  cm_topology *t;
  for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
    ck_ok(import_called(right[i].text, NULL, NULL, found, &t));
    ck_ok(cm_topology_verify(t, &error));
    ck_assert_str_eq(found, "edges");
    ck_assert(t->directed == right[i].directed);
    ck_assert_uint_eq(cm_topology_synapses(t), right[i].synapses);
    const char *label = cm_topology_label(t, cm_topology_source(t, 0));
    ck_assert_str_eq(label != NULL ? label : "0", right[i].source);
    if (i != 1)
      ck_assert_double_eq(cm_topology_pin_value(t, 0, 0), 5);
    cm_topology_free(t);
  }
  ck_fails(import_called("Source,Target,Type\nA,B,Undirected\nB,C,Both\n", NULL, NULL, found, &t), CM_BAD_NETWORK);
  ck_assert_ptr_nonnull(strstr(error.detail, "line 3: the type 'Both'"));
  ck_ok(import_called("#a list\n0 1 2\n1 2\n2\n3 0\n", NULL, NULL, found, &t));
  ck_assert_str_eq(found, "adjlist");
  ck_assert_uint_eq(cm_topology_synapses(t), 4);
  cm_topology_free(t);
  ck_fails(import_called("0 1 2\n1 2 3\n2 3 4\n3 4 0\n4 0 1\n", NULL, NULL, found, &t), CM_BAD_NETWORK);
  ck_assert_ptr_nonnull(strstr(error.detail, "an adjacency list of 5 neurons"));
  ck_fails(import_called("weight,a,b\n5,0,1\n6,0,2\n7,1,2\n8,2,0\n", NULL, NULL, found, &t), CM_BAD_NETWORK);
  ck_assert_ptr_nonnull(strstr(error.detail, "line 1: the header names no source and target, and a weight or delay where they would stand"));
}
END_TEST

/* Graphs of other programs: the same network, directed or not, with names and weights. */
START_TEST(graphs_of_other_programs)
{
  static const struct {
    const char *text, *format;
    bool directed;
  } right[] = {
    {"# by hand\nCreator \"x\"\ngraph [\n  directed 1\n  node [ id 4 label \"A\" graphics [ x 1 ] ]\n  node [\n id 2\n label \"B c\" ]\n"
     "  edge [ source 4 target 2 weight 5 ]\n edge [ weight 5 source 2 target 4 value 9 ] ]\n", "gml", true},
    {"graph\n[\n  node [ id 4 label \"A\" ]\n  node [ id 2 label \"B c\" ]\n  edge [ source 4 target 2 weight 5 ]\n"
     "  edge [ source 2 target 2 ]\n]\n", "gml", false},
    {"% c\n*Vertices 2\n1 \"A\" 0.1 0.2 ellipse\n2 \"B c\"\n*Arcs\n1 2 5\n2 1 5\n", "pajek", true},
    {"*network n\n*vertices 2\n1 A\n2 \"B c\"\n*edges\n1 2 5\n", "pajek", false},
    {"*Vertices 2\n1 A\n2 \"B c\"\n*Matrix\n0 5\n5 0\n", "pajek", true},
    {"{\"directed\": true, \"nodes\": [{\"id\": \"A\"}, {\"id\": \"B c\"}], \"links\": [{\"source\": \"A\", \"target\": \"B c\","
     " \"weight\": 5}, {\"source\": \"B c\", \"target\": \"A\", \"weight\": 5.0, \"key\": 0}]}", "node-link", true},
    {"{\"nodes\": [{\"name\": \"A\"}, {\"name\": \"B c\"}], \"edges\": [{\"source\": 0, \"target\": 1, \"value\": 5}]}", "node-link", false},
  };
  char found[32];
  cm_topology *t;
  for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
    ck_ok(import_called(right[i].text, "g.txt", NULL, found, &t));
    ck_ok(cm_topology_verify(t, &error));
    ck_assert_str_eq(found, right[i].format);
    ck_assert_msg(t->directed == right[i].directed, "%zu", i);
    ck_assert_uint_eq(t->pin_count, 2);
    ck_assert_str_eq(cm_topology_label(t, 0), "A");
    ck_assert_str_eq(cm_topology_label(t, 1), "B c");
    ck_assert_double_eq(cm_topology_pin_value(t, 0, 0), 5);
    cm_topology_free(t);
  }
  static const char *const wrong[][2] = {
    {"graph [\n node [ id 1 ]\n edge [ source 1\n target 3 ]\n]\n", "'3'"},
    {"graph [\n node [ label \"A\" ]\n]\n", "line 2: a node has no id"},
    {"graph [\n node [ id 1 \n", "inside a list"},
    {"graph [\n node [ id 1 label \"A ]\n", "a quote is not closed"},
    {"graph [\n node [ id 1 \v ]\n", "a control character stands where a word is expected"},
    {"*Vertices 2\n*Arcs\n1 3\n", "line 3: '3' is no vertex; 1 to 2"},
    {"*Vertices 2\n*Partition\n", "'*Partition' is not read"},
    {"{\"nodes\": [{\"id\": 1}], \"links\": [{\"source\": 1}]}", "line 1: a link has no source or target"},
    {"{\"nodes\": [", "node-link JSON, line 1"},
    {"{\"columns\": []}", "the file is JSON"},
    {"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n", "git lfs pull"},
    {"a,b\rb,c\rc,a\r", "carriage returns alone"},
    {"0\n3 4\n0 000\n1 1\n2 0 2\n1 1\n", "a graph of Scotch"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    ck_fails(import_called(wrong[i][0], NULL, NULL, found, &t), CM_BAD_NETWORK);
    ck_assert_msg(strstr(error.detail, wrong[i][1]) != NULL, "%s: %s", wrong[i][0], error.detail);
  }
}
END_TEST

/* SANA-FE's two formats, as its examples have them: groups are populations, neurons are called GROUP.NEURON. */
START_TEST(networks_of_sanafe)
{
  static const struct {
    const char *text, *name;
    uint32_t neurons, inputs;
    const char *first, *population;
  } right[] = {
    {"# by hand\narchitecture:\n  name: c\n  tile:\n    - name: t\n      core:\n        - name: lif\n          attributes:\n     "
     "       model: lif\n"
     "        - name: source\n          attributes:\n            model: input\nnetwork:\n  name: n\n  groups:\n    - name: in\n  "
     "    attributes: [log_spikes: true]\n"
     "      neurons:\n        - 0..1: []\n    - name: \"out\" # the last\n      neurons:\n      - 0: [bias: 1.0]\n      - 1: "
     "{bias: 2}\n  edges:\n"
     "    - in.0 -> out.1: [weight: -2.5]\n    - in.1 -> out.0:\n        synapse: {weight: 4}\n        dendrite: {delay: 1}\n    "
     "- out.0 -> out.1: []\n"
     "mappings:\n  - in.0..1: [core: 0.0, soma: source]\n  - out.0: [core: 0.1, soma: lif]\n",
     "g.yml", 4, 2, "in.0", "in"},
    {"mappings:\r\n- in.0: {core: 0.0}\r\nnetwork:\r\n  edges:\r\n  - in.0 -> out.b: [weight: -2.5]\r\n  - in.1 -> out.a: "
     "[weight: 4]\r\n  - out.a -> out.b\r\n"
     "  groups:\r\n  - name: in\r\n    neurons:\r\n    - 0..1\r\n  - name: out\r\n    neurons:\r\n      a: []\r\n      b: []\r\n "
     "   attributes: {threshold: 1}\r\n",
     "g.TXT", 4, 0, "in.0", "in"},
    {"### example\n#\n\ng   2  threshold=-1.0\ng 2\nn   0.0    bias=1.0\nn 0.1\n\ne   0.0->1.1   delay=2 weight=-2.5\ne 0.1->1.0 "
     "w=4\ne 1.0->1.1\n&   0.0@0.0\n",
     "g.txt", 4, 0, "0.0", "0"},
  };
  char found[32];
  cm_topology *t;
  for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
    ck_ok(import_called(right[i].text, right[i].name, NULL, found, &t));
    ck_ok(cm_topology_verify(t, &error));
    ck_assert_str_eq(found, "sanafe");
    ck_assert(t->directed);
    ck_assert_uint_eq(t->vertex_count, right[i].neurons);
    ck_assert_uint_eq(cm_topology_synapses(t), 3);
    ck_assert_uint_eq(cm_topology_inputs(t), right[i].inputs);
    ck_assert_str_eq(cm_topology_label(t, 0), right[i].first);
    ck_assert_str_eq(t->population[t->population_of[0]].name, right[i].population);
    ck_assert_double_eq(cm_topology_pin_value(t, 0, 0), -2.5);
    cm_topology_free(t);
  }
  static const char *const wrong[][2] = {
    {"network:\n  groups:\n  - name: a\n    neurons:\n    - 0..1\n  edges:\n  - a -> a:\n      type: dense\n",
     "line 7: 'a' is a whole group"},
    {"network:\n  groups:\n  - name: a\n    neurons:\n    - 0..1\n  edges:\n  - a.0 -> a.2: []\n", "'a.2'"},
    {"network:\n  groups:\n  - name: a\n    neurons: [0..1]\n", "line 4: '[0..1]' is in flow style"},
    {"network:\n  groups:\n  - name: a\n    neurons:\n    - 3..1\n", "line 5: '3..1' is no range"},
    {"network:\n  groups:\n  - name: a\n    neurons:\n    - 0..99999999999\n", "neurons"},
    {"network:\n  groups:\n  - name: a\n    neurons:\n    - 0..1\n  edges:\n  - a.0 -> a.1: [weight: x]\n", "'x'"},
    {"architecture:\n  name: c\n", "it has no groups"},
    {"g 2\nn 0.0 dendrites=1\nd 0.0.0 leak=1\n", "line 3: '0.0.0' is a compartment"},
    {"g 2\nn 0.0 bias=1\ne 0.0->0.2\n", "'0.2'"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const cm_status status = import_called(wrong[i][0], NULL, NULL, found, &t);
    ck_assert(status == CM_BAD_NETWORK || status == CM_TOO_LARGE);
    ck_assert_msg(strstr(error.detail, wrong[i][1]) != NULL, "%s: %s", wrong[i][0], error.detail);
  }
  ck_ok(import_called("g 6\nn 7\ne g\n", NULL, NULL, found, &t)); /* names of one letter */
  ck_assert_str_eq(found, "edges");
  cm_topology_free(t);
}
END_TEST

/* What was understood of a file is told: which column is what, what was not read, the first rows. */
START_TEST(reading_is_reported)
{
  const cm_import_limits limits = cm_import_limits_default();
  const char text[] = "post,roi,delay,pre,w\nB,AL,1.5,A,2\nC,MB,1,A,-3\nA,MB,1,C,1\nA,MB,1,C,1\nA,MB,1,D,1\nA,MB,1,E,1\n";
  cm_import_report report;
  cm_topology *t;
  ck_ok(cm_import_memory(text, strlen(text), &(cm_import_hint){.name = "x.csv"}, &limits, &run, &t, &report, &error));
  const cm_reading *r = &report.reading;
  ck_assert_str_eq(r->columns, "target\n-\ndelay\nsource\nweight");
  ck_assert_str_eq(r->ignored, "roi");
  ck_assert(r->header && r->rows == CM_READING_ROWS);
  ck_assert_str_eq(r->row[1].source, "A");
  ck_assert_str_eq(r->row[1].target, "C");
  ck_assert_double_eq(r->row[0].delay_ms, 1.5);
  ck_assert_double_eq(r->row[1].weight, -3);
  ck_assert_ptr_nonnull(strstr(r->why, "source, target"));
  cm_topology_free(t);
  const char graph[] = "3 2\n2\n1 3\n2\n"; /* no table: the first edges */
  ck_ok(cm_import_memory(graph, strlen(graph), &(cm_import_hint){0}, &limits, &run, &t, &report, &error));
  ck_assert_uint_eq(report.reading.rows, 2);
  ck_assert_str_eq(report.reading.row[1].source, "1");
  ck_assert_str_eq(report.reading.columns, "");
  cm_topology_free(t);
}
END_TEST

START_TEST(a_long_ambiguous_file_is_decided_by_its_lines)
{
  /* A ring: every METIS row has two fields, far past the first window. */
  enum { N = 60000 };
  FILE *stream = fopen(in_folder("ring"), "w");
  fprintf(stream, "%d %d\n", N, N);
  for (int v = 0; v < N; v++)
    fprintf(stream, "%d %d\n", (v + N - 1) % N + 1, (v + 1) % N + 1);
  ck_assert_int_eq(fclose(stream), 0);
  cm_topology *t;
  cm_import_report report;
  ck_ok(cm_import(in_folder("ring"), NULL, &run, &t, &report, &error));
  ck_assert_str_eq(report.format, "metis");
  ck_assert_uint_eq(t->pin_count, 2 * N);
  cm_topology_free(t);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("text formats");
  TCase *tests = tcase_create("text formats");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, metis_is_read);
  tcase_add_test(tests, metis_weights_and_sizes_are_read);
  tcase_add_test(tests, metis_repeats_and_loops_are_merged_and_counted);
  tcase_add_test(tests, metis_bad_input);
  tcase_add_test(tests, edges_with_names_are_read);
  tcase_add_test(tests, edges_with_numbers_are_ordered_by_them);
  tcase_add_test(tests, edges_with_numbers_written_as_floats);
  tcase_add_test(tests, edges_headers_are_recognised);
  tcase_add_test(tests, edges_bad_input);
  tcase_add_test(tests, weights_too_large_to_count_are_refused);
  tcase_add_test(tests, metis_and_edges_are_told_apart);
  tcase_add_test(tests, matrices_of_numbers_are_no_edge_lists);
  tcase_add_test(tests, rows_are_as_long_as_they_need_to_be);
  tcase_add_test(tests, endings_bind);
  tcase_add_test(tests, headers_say_what_columns_are);
  tcase_add_test(tests, graphs_of_other_programs);
  tcase_add_test(tests, networks_of_sanafe);
  tcase_add_test(tests, reading_is_reported);
  tcase_add_test(tests, a_long_ambiguous_file_is_decided_by_its_lines);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
