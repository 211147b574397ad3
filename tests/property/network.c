/* core/network on random topologies: files say what was written, byte for byte the same each time, and a damaged file
 * is refused or says the same. */
#include "../unit/files.h"
#include "../unit/networks.h"

#include <math.h>
#include <sodium.h>
#include <zip.h>

#include "core/network/export.h"
#include "core/network/import.h"
#include "core/network/topology_file.h"

enum { ROUNDS = 150 };

/* Names of one to three letters that need quoting now and then, all different by their number. */
static void give_labels(cm_random *random, cm_topology *t)
{
  static const char *const odd[] = {"", "\"", ", ", "\xc3\xa9", " x", "#"};
  uint64_t used = 0;
  t->label_text = network_array((size_t)t->vertex_count * 24 + 1, 1);
  t->label_first = network_array((size_t)t->vertex_count + 1, sizeof *t->label_first);
  for (uint32_t v = 0; v < t->vertex_count; v++) {
    used +=
        (uint64_t)snprintf(t->label_text + used, 24, "%sn%u%s", odd[below(random, 6)], v, odd[below(random, 5)]) + 1;
    t->label_first[v + 1] = used;
  }
}

static cm_topology random_topology(cm_random *random)
{
  bool directed = below(random, 2);
  uint32_t vertices = 1 + below(random, 40);
  cm_topology t = directed ? network_directed(random, vertices, below(random, 60))
                           : network_undirected(random, vertices, below(random, 60));
  if (!directed && below(random, 2)) {
    t.size = network_array(vertices, sizeof *t.size);
    t.size_total = 0;
    for (uint32_t v = 0; v < vertices; v++)
      t.size_total += t.size[v] = below(random, 300);
  }
  if (!directed && t.pin_weight != NULL)
    t.weight_scale = 1u << below(random, 3);
  t.duplicate_count = below(random, 9);
  t.self_loop_count = directed ? below(random, 9) : 0;
  t.empty_net_count = directed ? below(random, 9) : 0;
  if (below(random, 2))
    give_labels(random, &t);
  ck_ok(cm_topology_verify(&t, &error));
  return t;
}

/* The first difference in what two topologies mean, or NULL. */
static const char *difference(const cm_topology *a, const cm_topology *b)
{
  if (a->directed != b->directed || a->vertex_count != b->vertex_count)
    return "kind or vertices";
  if (a->net_count != b->net_count || a->pin_count != b->pin_count)
    return "nets or pins";
  if (a->size_total != b->size_total || a->weight_scale != b->weight_scale)
    return "totals";
  if (a->duplicate_count != b->duplicate_count || a->self_loop_count != b->self_loop_count ||
      a->empty_net_count != b->empty_net_count)
    return "counts of what was merged";
  if ((a->label_text == NULL) != (b->label_text == NULL))
    return "labels";
  for (uint32_t v = 0; v < a->vertex_count; v++)
    if (cm_topology_size(a, v) != cm_topology_size(b, v) ||
        (a->label_text != NULL && strcmp(cm_topology_label(a, v), cm_topology_label(b, v)) != 0))
      return "a size or label";
  for (uint32_t e = 0; e < a->net_count; e++) {
    if (a->net_first[e + 1] != b->net_first[e + 1] || cm_topology_source(a, e) != cm_topology_source(b, e) ||
        cm_topology_net_weight(a, e) != cm_topology_net_weight(b, e))
      return "a net";
    for (uint64_t i = a->net_first[e]; i < a->net_first[e + 1]; i++)
      if (a->pin[i] != b->pin[i] || cm_topology_pin_weight(a, e, i) != cm_topology_pin_weight(b, e, i))
        return "a pin";
  }
  return NULL;
}

static void same(const cm_topology *a, const cm_topology *b)
{
  const char *found = difference(a, b);
  ck_assert_msg(found == NULL, "they differ in %s", found);
}

START_TEST(topology_files_say_what_was_saved)
{
  cm_random random;
  cm_random_init(&random, 11, 0, 0);
  for (int round = 0; round < ROUNDS; round++) {
    cm_topology t = random_topology(&random), *back;
    ck_ok(cm_topology_save(&t, in_folder("a.zip"), &run, &error));
    ck_ok(cm_topology_load(in_folder("a.zip"), &run, &back, &error));
    ck_ok(cm_topology_verify(back, &error));
    same(&t, back);
    cm_topology_free(back);
    ck_ok(cm_import(in_folder("a.zip"), NULL, &run, &back, NULL, &error));
    same(&t, back);
    cm_topology_free(back);
    ck_ok(cm_topology_store(&t, in_folder("a.zip"), &run, &error));
    ck_ok(cm_topology_load(in_folder("a.zip"), &run, &back, &error));
    same(&t, back);
    cm_topology_free(back);
    network_free(&t);
  }
}
END_TEST

/* Rows far longer than what is read at a time, of near and far targets, some with weights that differ here and there. */
START_TEST(long_rows_are_read_as_they_were_written)
{
  enum { VERTICES = 40000, NETS = 60, LONGEST = 1500 };
  cm_random random;
  cm_random_init(&random, 14, 0, 0);
  for (int weighted = 0; weighted < 2; weighted++) {
    static uint64_t first[NETS + 1], rate[NETS];
    static uint32_t source[NETS], pin[NETS * LONGEST], weight[NETS * LONGEST];
    cm_topology t = {.directed = true, .vertex_count = VERTICES, .net_count = NETS, .net_first = first, .net_source = source,
                     .net_weight = rate, .pin = pin, .pin_weight = weighted ? weight : NULL, .weight_scale = 1,
                     .size_total = VERTICES}, *back;
    uint64_t used = 0;
    for (uint32_t e = 0; e < NETS; e++) {
      source[e] = e / 2; /* two axons a vertex */
      rate[e] = 1 + cm_random_below(&random, 300);
      uint32_t step = 1 + (uint32_t)cm_random_below(&random, 400), at = (uint32_t)cm_random_below(&random, step);
      for (int i = 0; i < LONGEST && at < VERTICES; i++, used++) {
        pin[used] = at;
        weight[used] = cm_random_below(&random, 200) == 0 ? (uint32_t)cm_random_below(&random, 1000) : 7;
        at += 1 + (uint32_t)cm_random_below(&random, step);
      }
      first[e + 1] = used;
    }
    t.pin_count = used;
    for (int stored = 0; stored < 2; stored++) {
      char *bytes;
      size_t size;
      ck_ok(stored ? cm_topology_store(&t, in_folder("a.zip"), &run, &error) : cm_topology_save(&t, in_folder("a.zip"), &run, &error));
      ck_ok(cm_topology_load(in_folder("a.zip"), &run, &back, &error));
      same(&t, back);
      cm_topology_free(back);
      ck_ok(cm_file_read(in_folder("a.zip"), 1 << 24, &bytes, &size, &error));
      ck_assert_int_eq(bytes[8] | bytes[9] << 8, stored ? 0 : 8); /* the zip's number of the first member's method */
      free(bytes);
    }
  }
}
END_TEST

/* The first axon of the file's edges by hand, after docs/reference/topology-file.md, with differences of one, two, three and four bytes. */
START_TEST(edges_lie_in_the_file_as_the_document_says)
{
  static const uint32_t difference[] = {127, 128, 1, 16383, 16384, 2, 2097151, 2097152, 3};
  static const unsigned char lie[] = {10, 8, 5, 9, 4, 0x7f, 4, 0x81, 0x00, 4, 1, 4, 0xff, 0x7f, 4, 0x81, 0x80, 0x00, 4, 2,
                                      4, 0xff, 0xff, 0x7f, 4, 0x81, 0x80, 0x80, 0x00, 4, 3};
  uint64_t first[] = {0, 10}, rate[] = {9};
  uint32_t source[] = {0}, pin[10] = {5};
  for (int i = 0; i < 9; i++)
    pin[i + 1] = pin[i] + difference[i];
  cm_topology t = {.directed = true, .vertex_count = pin[9] + 1, .net_count = 1, .pin_count = 10, .net_first = first,
                   .net_source = source, .net_weight = rate, .pin = pin, .weight_scale = 1, .size_total = pin[9] + 1}, *back;
  char *bytes;
  size_t size;
  ck_ok(cm_topology_store(&t, in_folder("a.zip"), &run, &error));
  ck_ok(cm_topology_load(in_folder("a.zip"), &run, &back, &error));
  same(&t, back);
  cm_topology_free(back);
  ck_ok(cm_file_read(in_folder("a.zip"), 1 << 24, &bytes, &size, &error));
  ck_assert_ptr_nonnull(memmem(bytes, size, lie, sizeof lie));
  free(bytes);
}
END_TEST

static void overwrite(zip_t *zip, const char *name, const void *data, size_t size)
{
  zip_source_t *source = zip_source_buffer(zip, data, size, 0);
  ck_assert_int_ge(zip_file_add(zip, name, source, ZIP_FL_OVERWRITE), 0);
}

static size_t member(zip_t *zip, const char *name, unsigned char *bytes, size_t room)
{
  zip_file_t *file = zip_fopen(zip, name, 0);
  ck_assert_ptr_nonnull(file);
  zip_int64_t size = zip_fread(file, bytes, room);
  ck_assert_msg(size > 0 && (size_t)size < room, "%s: %lld", name, (long long)size);
  zip_fclose(file);
  return (size_t)size;
}

/* Writes over the first edges at `at` in the file's only member of edges, and makes all checksums fit. */
static void forge(size_t at, const unsigned char *bytes, size_t size)
{
  unsigned char edges[1024], manifest[4096], digest[32];
  char was[65], is[65];
  int code;
  zip_t *zip = zip_open(in_folder("forged.zip"), 0, &code);
  ck_assert_ptr_nonnull(zip);
  size_t length = member(zip, "edges/000000", edges, sizeof edges), text = member(zip, "manifest.json", manifest, sizeof manifest);
  ck_assert_uint_le(at + size, length);
  crypto_generichash(digest, sizeof digest, edges, length, NULL, 0);
  sodium_bin2hex(was, sizeof was, digest, sizeof digest);
  memcpy(edges + at, bytes, size);
  crypto_generichash(digest, sizeof digest, edges, length, NULL, 0);
  sodium_bin2hex(is, sizeof is, digest, sizeof digest);
  unsigned char *found = memmem(manifest, text, was, 64);
  ck_assert_ptr_nonnull(found);
  memcpy(found, is, 64);
  overwrite(zip, "edges/000000", edges, length);
  overwrite(zip, "manifest.json", manifest, text);
  ck_assert_int_eq(zip_close(zip), 0);
}

/* Edges that no checksum gives away, in the middle of a row of plain ones: what they say is looked at. */
START_TEST(forged_edges_are_refused)
{
  enum { PINS = 60, AT = 4 + 2 * 20 }; /* 20 plain edges of two bytes stand before */
  static const struct {
    unsigned char bytes[12];
    size_t size;
    const char *says;
  } cases[] = {
    {{4, 5}, 2, NULL}, /* as it was */
    {{4, 0}, 2, "a vertex difference out of range"},
    {{4, 0xff, 0x7f}, 3, "a vertex out of range"},
    {{4, 0x80, 0x00}, 3, "a vertex difference out of range"},
    {{4, 0xff, 0xff, 0x7f}, 4, "a vertex out of range"},
    {{4, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 12, "a vertex out of range"},
    {{0, 5}, 2, "edge flags that do not belong here"},
    {{16, 5}, 2, "unknown edge flags"},
    {{4, 6}, 2, "a vertex difference out of range"}, /* the last target is the last vertex: one more leaves the network */
  };
  uint64_t first[] = {0, PINS}, rate[] = {9};
  uint32_t source[] = {0}, pin[PINS];
  for (uint32_t i = 0; i < PINS; i++)
    pin[i] = 5 * i;
  cm_topology t = {.directed = true, .vertex_count = pin[PINS - 1] + 1, .net_count = 1, .pin_count = PINS, .net_first = first,
                   .net_source = source, .net_weight = rate, .pin = pin, .weight_scale = 1, .size_total = pin[PINS - 1] + 1}, *back;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ck_ok(cm_topology_store(&t, in_folder("forged.zip"), &run, &error));
    forge(AT, cases[i].bytes, cases[i].size);
    cm_status status = cm_topology_load(in_folder("forged.zip"), &run, &back, &error);
    if (cases[i].says == NULL) {
      ck_ok(status);
      same(&t, back);
      cm_topology_free(back);
      continue;
    }
    ck_fails(status, CM_BAD_NETWORK);
    ck_assert_msg(strstr(error.detail, cases[i].says) != NULL, "case %zu: %s", i, error.detail);
  }
}
END_TEST

START_TEST(verify_names_the_pin_that_is_wrong)
{
  uint64_t first[] = {0, 2, 4, 5, 7}, rate[] = {1, 1, 1, 1};
  uint32_t source[] = {0, 1, 2, 3}, pin[] = {1, 3, 0, 3, 3, 0, 1};
  cm_topology t = {.directed = true, .vertex_count = 4, .net_count = 4, .pin_count = 7, .net_first = first, .net_source = source,
                   .net_weight = rate, .pin = pin, .weight_scale = 1, .size_total = 4};
  static const struct {
    uint32_t at, pin;
    const char *says;
  } cases[] = {{1, 1, "net 0 has pin 1, out of range or of order"}, {2, 4, "net 1 has pin 4, out of range or of order"},
               {3, UINT32_MAX, "net 1 has pin 4294967295, out of range or of order"},
               {4, 4, "net 2 has pin 4, out of range or of order"}, {5, 2, "net 3 has pin 1, out of range or of order"}};
  ck_ok(cm_topology_verify(&t, &error));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint32_t was = pin[cases[i].at];
    pin[cases[i].at] = cases[i].pin;
    ck_fails(cm_topology_verify(&t, &error), CM_BAD_NETWORK);
    ck_assert_msg(strstr(error.detail, cases[i].says) != NULL, "case %zu: %s", i, error.detail);
    pin[cases[i].at] = was;
  }
  t.directed = false;
  t.net_source = NULL;
  t.net_weight = NULL;
  pin[2] = 1; /* 0: 1 3, 1: 1 3 */
  ck_fails(cm_topology_verify(&t, &error), CM_BAD_NETWORK);
  ck_assert_ptr_nonnull(strstr(error.detail, "vertex 1 of an undirected network has a self loop"));
}
END_TEST

START_TEST(equal_content_gives_equal_bytes)
{
  cm_random random;
  cm_random_init(&random, 12, 0, 0);
  static const char *const names[] = {"a.zip", "a.snn.gz", "a.graph.gz", "a.csv.gz"};
  for (int round = 0; round < 8; round++) {
    cm_topology t = random_topology(&random);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
      char *text[2];
      size_t size[2];
      for (int k = 0; k < 2; k++) {
        setenv("TZ", k == 0 ? "UTC" : "Asia/Shanghai", 1);
        ck_ok(cm_export(&t, in_folder(names[i]), &run, &error));
        ck_ok(cm_file_read(in_folder(names[i]), 1 << 22, &text[k], &size[k], &error));
      }
      ck_assert_uint_eq(size[0], size[1]);
      ck_assert_msg(memcmp(text[0], text[1], size[0]) == 0, "%s differs", names[i]);
      free(text[0]);
      free(text[1]);
    }
    network_free(&t);
  }
}
END_TEST

/* A level of random sizes, parents and 64-bit weights through the streaming interface, read twice. */
START_TEST(levels_stream_both_ways)
{
  cm_random random;
  cm_random_init(&random, 13, 0, 0);
  for (int round = 0; round < 30; round++) {
    uint32_t n = 2 + below(&random, 50), finer = n + below(&random, 50), size[52], parent[102], got[102];
    uint64_t weight[52];
    for (uint32_t v = 0; v < n; v++)
      size[v] = 1 + below(&random, 1000);
    for (uint32_t v = 0; v < finer; v++)
      parent[v] = below(&random, n);
    cm_topology_header header = {.vertex_count = n, .weight_scale = 1, .finer_count = finer};
    cm_topology_writer *writer;
    ck_ok(cm_topology_writer_open(in_folder("level.zip"), &header, size, &writer, &error));
    for (uint32_t v = 0; v < n; v++) { /* a complete graph */
      uint32_t target[52], count = 0;
      for (uint32_t u = 0; u < n; u++)
        if (u != v) {
          weight[count] = UINT64_C(1) << ((u + v) % 40);
          target[count++] = u;
        }
      cm_topology_row row = {.vertex = v, .count = count, .target = target, .weight = weight};
      ck_ok(cm_topology_writer_row(writer, &row, &error));
    }
    ck_ok(cm_topology_writer_parents(writer, parent, &error));
    ck_ok(cm_topology_writer_close(writer, &error));
    cm_topology_reader *reader;
    ck_ok(cm_topology_reader_open(in_folder("level.zip"), &memory, &reader, &error));
    ck_assert_uint_eq(cm_topology_reader_header(reader)->pin_count, (uint64_t)n * (n - 1));
    ck_ok(cm_topology_reader_sizes(reader, got, &error));
    ck_assert_mem_eq(got, size, n * sizeof *size);
    ck_ok(cm_topology_reader_parents(reader, got, &error));
    ck_assert_mem_eq(got, parent, finer * sizeof *parent);
    for (int pass = 0; pass < 2; pass++) {
      cm_topology_row row;
      bool end;
      for (uint32_t v = 0; v < n; v++) {
        ck_ok(cm_topology_reader_next(reader, &row, &end, &error));
        ck_assert(!end && row.vertex == v && row.count == n - 1);
        for (uint32_t i = 0; i < n - 1; i++) {
          ck_assert_uint_eq(row.target[i], i + (i >= v));
          ck_assert_uint_eq(row.weight[i], UINT64_C(1) << ((row.target[i] + v) % 40));
          ck_assert_uint_eq(row.size[i], size[row.target[i]]);
        }
      }
      ck_ok(cm_topology_reader_next(reader, &row, &end, &error));
      ck_assert(end);
      ck_ok(cm_topology_reader_rewind(reader, &error));
    }
    cm_topology_reader_close(reader);
  }
}
END_TEST

START_TEST(snn_files_say_what_they_can)
{
  cm_random random;
  cm_random_init(&random, 14, 0, 0);
  for (int round = 0; round < ROUNDS; round++) {
    cm_topology t = network_directed(&random, 1 + below(&random, 40), below(&random, 60)), *back;
    ck_ok(cm_export(&t, in_folder("a.snn.gz"), &run, &error));
    ck_ok(cm_import(in_folder("a.snn.gz"), NULL, &run, &back, NULL, &error));
    ck_assert_uint_eq(back->net_count, t.net_count);
    ck_assert_uint_eq(back->pin_count, t.pin_count);
    for (uint32_t e = 0; e < t.net_count; e++) {
      ck_assert_uint_eq(cm_topology_source(back, e), cm_topology_source(&t, e));
      ck_assert_double_eq((double)cm_topology_net_weight(back, e) / (double)back->weight_scale,
                          (double)cm_topology_net_weight(&t, e) / (double)t.weight_scale);
    }
    ck_assert_mem_eq(back->net_first, t.net_first, ((size_t)t.net_count + 1) * sizeof *t.net_first);
    if (t.pin_count > 0)
      ck_assert_mem_eq(back->pin, t.pin, t.pin_count * sizeof *t.pin);
    cm_topology_free(back);
    network_free(&t);
  }
}
END_TEST

START_TEST(metis_files_say_what_they_can)
{
  cm_random random;
  cm_random_init(&random, 15, 0, 0);
  for (int round = 0; round < ROUNDS; round++) {
    cm_topology t = network_undirected(&random, 1 + below(&random, 40), below(&random, 60)), *back;
    if (below(&random, 2)) {
      t.size = network_array(t.vertex_count, sizeof *t.size);
      t.size_total = 0;
      for (uint32_t v = 0; v < t.vertex_count; v++)
        t.size_total += t.size[v] = below(&random, 5);
    }
    if (t.pin_weight != NULL)
      t.weight_scale = 1u << below(&random, 3);
    ck_ok(cm_export(&t, in_folder("a.graph"), &run, &error));
    ck_ok(cm_import(in_folder("a.graph"), NULL, &run, &back, NULL, &error));
    ck_assert_uint_eq(back->pin_count, t.pin_count);
    ck_assert_uint_eq(back->size_total, t.size_total);
    ck_assert_mem_eq(back->net_first, t.net_first, ((size_t)t.net_count + 1) * sizeof *t.net_first);
    for (uint32_t v = 0; v < t.vertex_count; v++) {
      ck_assert_uint_eq(cm_topology_size(back, v), cm_topology_size(&t, v));
      for (uint64_t i = t.net_first[v]; i < t.net_first[v + 1]; i++) {
        ck_assert_uint_eq(back->pin[i], t.pin[i]);
        ck_assert_uint_eq(cm_topology_pin_weight(back, v, i) * t.weight_scale,
                          cm_topology_pin_weight(&t, v, i) * back->weight_scale);
      }
    }
    cm_topology_free(back);
    network_free(&t);
  }
}
END_TEST

/* The weight from one named vertex to another, summed over axons, in the network's own unit. */
static double weight_between(const cm_topology *t, const char *from, const char *to)
{
  uint64_t sum = 0;
  for (uint32_t e = 0; e < t->net_count; e++)
    if (strcmp(cm_topology_label(t, cm_topology_source(t, e)), from) == 0)
      for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
        if (strcmp(cm_topology_label(t, t->pin[i]), to) == 0)
          sum += cm_topology_pin_weight(t, e, i);
  return (double)sum / (double)t->weight_scale;
}

START_TEST(edge_lists_say_what_they_can)
{
  cm_random random;
  cm_random_init(&random, 16, 0, 0);
  for (int round = 0; round < ROUNDS; round++) {
    cm_topology t = network_directed(&random, 1 + below(&random, 10), 1 + below(&random, 20)), *back;
    const char *name = below(&random, 2) ? "a.csv" : "a.tsv.gz";
    give_labels(&random, &t);
    ck_ok(cm_export(&t, in_folder(name), &run, &error));
    ck_ok(cm_import(in_folder(name), NULL, &run, &back, NULL, &error));
    for (uint32_t u = 0; u < back->vertex_count; u++)
      for (uint32_t v = 0; v < back->vertex_count; v++) {
        const char *from = cm_topology_label(back, u), *to = cm_topology_label(back, v);
        ck_assert_double_eq(weight_between(back, from, to), weight_between(&t, from, to));
      }
    ck_assert_uint_eq(back->pin_count + back->duplicate_count, t.pin_count);
    cm_topology_free(back);
    network_free(&t);
  }
}
END_TEST

/* Importing a damaged copy fails with a place, or gives the same network. */
static void try_damaged(const char *bytes, size_t size, const cm_topology *t, size_t *refused, size_t *accepted)
{
  cm_topology *back = NULL;
  const char *path = in_folder("damaged.zip");
  test_write(path, bytes, size);
  cm_status status = cm_topology_load(path, &run, &back, &error);
  if (status != CM_OK) {
    ck_assert_msg(status == CM_BAD_NETWORK && error.detail[0] != '\0', "%s: %s", cm_status_code(status), error.detail);
    ck_assert_ptr_null(back);
    ++*refused;
    return;
  }
  same(t, back);
  cm_topology_free(back);
  ++*accepted;
}

START_TEST(a_damaged_topology_file_is_refused_or_says_the_same)
{
  cm_random random;
  cm_random_init(&random, 17, 0, 0);
  cm_topology t = network_directed(&random, 12, 14);
  if (t.size == NULL) {
    t.size = network_array(12, sizeof *t.size);
    for (uint32_t v = 0; v < 12; v++)
      t.size[v] = v + 1;
    t.size_total = 78;
  }
  give_labels(&random, &t);
  for (int stored = 0; stored < 2; stored++) {
    ck_ok(stored ? cm_topology_store(&t, in_folder("good.zip"), &run, &error) : cm_topology_save(&t, in_folder("good.zip"), &run, &error));
    char *bytes;
    size_t size, refused = 0, accepted = 0;
    ck_ok(cm_file_read(in_folder("good.zip"), 1 << 20, &bytes, &size, &error));
    for (size_t i = 0; i < size; i++) {
      static const unsigned char change[] = {0x01, 0x80, 0xff};
      for (size_t k = 0; k < (CM_SANITIZED ? 1 : sizeof change); k++) {
        bytes[i] = (char)(bytes[i] ^ change[k]);
        try_damaged(bytes, size, &t, &refused, &accepted);
        bytes[i] = (char)(bytes[i] ^ change[k]);
      }
    }
    /* Most bytes matter; what does not: time stamps, attributes, names in local headers. */
    ck_assert_uint_gt(refused, accepted);
    accepted = 0;
    for (size_t cut = 0; cut < size; cut++)
      try_damaged(bytes, cut, &t, &refused, &accepted);
    ck_assert_uint_eq(accepted, 0);
    free(bytes);
  }
  network_free(&t);
}
END_TEST

START_TEST(failing_allocations_fail_the_import_and_nothing_else)
{
  cm_random random;
  cm_random_init(&random, 18, 0, 0);
  static const char *const names[] = {"a.zip", "a.snn", "a.graph", "a.csv.gz"};
  cm_topology t = network_directed(&random, 20, 20);
  give_labels(&random, &t);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    ck_ok(cm_export(&t, in_folder(names[i]), &run, &error));
    for (uint64_t countdown = 1;; countdown++) {
      cm_topology *back = NULL;
      cm_memory_fail_at(countdown);
      cm_status status = cm_import(in_folder(names[i]), NULL, &run, &back, NULL, &error);
      int fired = cm_memory_fault_fired();
      cm_memory_fail_at(0);
      if (!fired) {
        ck_ok(status);
        cm_topology_free(back);
        break;
      }
      /* Giving back what is not used may fail without harm. */
      if (status == CM_OK)
        cm_topology_free(back);
      else
        ck_assert_msg(status == CM_NO_MEMORY, "%s, allocation %d: %s", names[i], (int)countdown, error.detail);
      ck_assert_uint_eq(memory.used_bytes, 0);
      ck_assert_uint_lt(countdown, 1000);
    }
    for (uint64_t countdown = 1;; countdown++) {
      cm_memory_fail_at(countdown);
      cm_status status = cm_export(&t, in_folder(names[i]), &run, &error);
      int fired = cm_memory_fault_fired();
      cm_memory_fail_at(0);
      if (!fired) {
        ck_ok(status);
        break;
      }
      ck_fails(status, CM_NO_MEMORY);
      ck_assert_uint_eq(memory.used_bytes, 0);
    }
  }
  network_free(&t);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("network properties");
  TCase *tests = tcase_create("network");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, topology_files_say_what_was_saved);
  tcase_add_test(tests, long_rows_are_read_as_they_were_written);
  tcase_add_test(tests, edges_lie_in_the_file_as_the_document_says);
  tcase_add_test(tests, forged_edges_are_refused);
  tcase_add_test(tests, verify_names_the_pin_that_is_wrong);
  tcase_add_test(tests, equal_content_gives_equal_bytes);
  tcase_add_test(tests, levels_stream_both_ways);
  tcase_add_test(tests, snn_files_say_what_they_can);
  tcase_add_test(tests, metis_files_say_what_they_can);
  tcase_add_test(tests, edge_lists_say_what_they_can);
  tcase_add_test(tests, a_damaged_topology_file_is_refused_or_says_the_same);
  tcase_add_test(tests, failing_allocations_fail_the_import_and_nothing_else);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
