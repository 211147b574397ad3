/* The bytes of topology files: plain edges as one that reads them singly finds them, and files whose members are stored, as libzip reads
 * them and as they are known again. */
#include "../unit/files.h"
#include "../unit/networks.h"

#include <sys/stat.h>
#include <zip.h>

#include "core/network/file/plain_edges.h"
#include "core/network/import.h"
#include "core/network/recognise.h"
#include "core/network/topology_file.h"

/* ---- plain edges ---- */

enum { BYTES = 400 };

/* The length of the plain edge at `bytes`, with a difference of one byte or two that leads to a vertex up to `highest`; 0: there is none. */
static size_t one_edge(const uint8_t *bytes, uint32_t *last, uint32_t highest)
{
  if (bytes[0] != 4)
    return 0;
  const bool two = bytes[1] >= 128;
  if (two && bytes[2] >= 128)
    return 0;
  const uint32_t difference = two ? (bytes[1] - 128u) * 128 + bytes[2] : bytes[1];
  if (difference == 0 || *last + difference > highest)
    return 0;
  *last += difference;
  return two ? 3 : 2;
}

/* Edges of one byte or two, now and then anything else. */
static void random_edges(cm_random *random, uint8_t *bytes, uint32_t odd)
{
  for (size_t i = 0; i < BYTES;) {
    const bool two = below(random, 2);
    uint8_t edge[] = {4, (uint8_t)(two ? 128 + below(random, 128) : 1 + below(random, 127)), (uint8_t)(1 + below(random, 127))};
    if (odd > 0 && below(random, odd) == 0)
      edge[below(random, 3)] = (uint8_t)below(random, 256);
    for (size_t k = 0; k < (two ? 3u : 2u) && i < BYTES; k++)
      bytes[i++] = edge[k];
  }
}

typedef uint64_t (*taker)(const uint8_t **, const uint8_t *, uint64_t, uint32_t *, uint32_t, uint32_t *);

static void check_taking(taker take, cm_random *random, const uint8_t *bytes)
{
  enum { UNTOUCHED = 0x7fffffff };
  uint32_t target[BYTES], first = below(random, 1000), highest = first + below(random, 2) * 40 + below(random, 400000), last = first,
           expected = first;
  const size_t size = below(random, BYTES + 1);
  const uint64_t most = below(random, 200);
  uint8_t *alone = network_array(size + 1, 1); /* sanitizers see what is read behind it */
  memcpy(alone, bytes, size);
  const uint8_t *at = alone, *const end = alone + size;
  for (size_t i = 0; i < BYTES; i++)
    target[i] = UNTOUCHED;
  const uint64_t taken = take(&at, end, most, &last, highest, target);
  size_t used = 0;
  ck_assert_uint_le(taken, most);
  for (uint64_t i = 0; i < taken; i++) {
    const size_t length = one_edge(bytes + used, &expected, highest);
    ck_assert_uint_gt(length, 0);
    ck_assert_uint_eq(target[i], expected);
    used += length;
  }
  ck_assert_uint_eq(last, expected);
  ck_assert_ptr_eq(at, alone + used);
  ck_assert_uint_le(used, size);
  for (uint64_t i = most; i < BYTES; i++)
    ck_assert_uint_eq(target[i], UNTOUCHED);
  /* It stops for a reason: too few are wanted or left, or one of the next two is another. */
  if (most - taken >= 2 && size - used >= 8) {
    const size_t one = one_edge(bytes + used, &expected, highest);
    ck_assert(one == 0 || one_edge(bytes + used + one, &expected, highest) == 0);
  }
  cm_free(alone);
}

START_TEST(plain_edges_are_what_reading_them_singly_finds)
{
  cm_random random;
  cm_random_init(&random, 91, 0, 0);
  for (int round = 0; round < (int)test_rounds(20000); round++) {
    uint8_t bytes[BYTES + 8] = {0};
    random_edges(&random, bytes, below(&random, 4) * 20);
    check_taking(cm_plain_edges_take, &random, bytes);
    check_taking(cm_plain_edges_take_pairs, &random, bytes);
  }
}
END_TEST

/* ---- files whose members are stored ---- */

static size_t member(zip_t *zip, const char *name, char *bytes, size_t room)
{
  zip_file_t *file = zip_fopen(zip, name, 0);
  ck_assert_msg(file != NULL, "%s", name);
  zip_int64_t got = zip_fread(file, bytes, room);
  ck_assert_int_ge(got, 0);
  ck_assert_int_eq(zip_fread(file, bytes, 1), 0); /* its checksum holds */
  zip_fclose(file);
  return (size_t)got;
}

static void check_stored(const cm_topology *t)
{
  static char one[1 << 16], other[1 << 16];
  ck_ok(cm_topology_save(t, in_folder("packed.zip"), &run, &error));
  ck_ok(cm_topology_store(t, in_folder("stored.zip"), &run, &error));
  zip_t *packed = zip_open(in_folder("packed.zip"), ZIP_RDONLY, NULL), *stored = zip_open(in_folder("stored.zip"), ZIP_RDONLY | ZIP_CHECKCONS, NULL);
  ck_assert(packed != NULL && stored != NULL);
  const zip_int64_t count = zip_get_num_entries(packed, 0);
  ck_assert_int_eq(zip_get_num_entries(stored, 0), count);
  for (zip_int64_t i = 0; i < count; i++) {
    zip_stat_t about;
    const char *name = zip_get_name(stored, (zip_uint64_t)i, 0);
    const size_t size = member(stored, name, one, sizeof one);
    ck_assert_uint_eq(member(packed, name, other, sizeof other), size);
    ck_assert_mem_eq(one, other, size);
    ck_assert_int_eq(zip_stat_index(stored, (zip_uint64_t)i, 0, &about), 0);
    ck_assert_uint_eq(about.comp_method, ZIP_CM_STORE);
    ck_assert_uint_eq(about.size, size);
  }
  zip_discard(packed);
  zip_discard(stored);
  cm_import_report report;
  cm_topology *back;
  char *bytes;
  size_t size;
  ck_ok(cm_file_read(in_folder("stored.zip"), 1 << 24, &bytes, &size, &error));
  ck_assert(cm_is_topology((const uint8_t *)bytes, size));
  for (size_t cut = 0; cut < 42; cut++) {
    uint8_t *alone = network_array(cut + 1, 1);
    memcpy(alone, bytes, cut);
    ck_assert(cut >= 30 + 5 || !cm_is_topology(alone, cut));
    cm_free(alone);
  }
  free(bytes);
  ck_assert(!cm_network_needs_confinement(in_folder("stored.zip"), NULL));
  ck_ok(cm_import(in_folder("stored.zip"), NULL, &run, &back, &report, &error));
  ck_assert_str_eq(report.format, "topology");
  ck_assert_uint_eq(back->pin_count, t->pin_count);
  ck_assert_mem_eq(back->pin, t->pin, t->pin_count * sizeof *t->pin);
  cm_topology_free(back);
  ck_assert_int_eq(unlink(in_folder("packed.zip")), 0);
  ck_assert_int_eq(unlink(in_folder("stored.zip")), 0);
  ck_assert_int_eq(rmdir(folder), 0); /* nothing is left beside them */
  ck_assert_int_eq(mkdir(folder, 0700), 0);
}

START_TEST(stored_members_are_those_that_are_packed)
{
  cm_random random;
  cm_random_init(&random, 92, 0, 0);
  for (int round = 0; round < (int)test_rounds(60); round++) {
    cm_topology t = round % 2 ? network_directed(&random, 1 + below(&random, 60), below(&random, 60))
                              : network_undirected(&random, 1 + below(&random, 60), below(&random, 60));
    uint64_t negative[100] = {0};
    ck_assert_uint_lt(t.pin_count, 64 * 100);
    if (round % 3 == 0 && t.pin_count > 0) { /* tables come first */
      negative[0] = 1;
      t.pin_negative = negative;
    }
    if (t.directed || t.pin_negative == NULL)
      check_stored(&t);
    t.pin_negative = NULL;
    network_free(&t);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("bytes of topology files");
  TCase *tests = tcase_create("bytes");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, plain_edges_are_what_reading_them_singly_finds);
  tcase_add_test(tests, stored_members_are_those_that_are_packed);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
