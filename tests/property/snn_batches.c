/* .snn files of many windows, read on one to five threads: what a reader that takes one number after another finds, in order or not, with
 * repeats, empty hyperedges and some that are longer than a window; and what is wrong, at the first place where it is. */
#include "../unit/files.h"
#include "../unit/networks.h"

#include <math.h>

#include "core/network/import.h"

enum { VERTICES = 90000, WORDS_MOST = 1 << 20 };

/* The words of a file, and what reading it is to give. */
typedef struct plain {
  uint32_t word[WORDS_MOST];
  size_t used;
  uint32_t vertices, hyperedges;
} plain;

static plain file;

static void random_hyperedge(cm_random *random, uint32_t source, uint32_t longest)
{
  const uint32_t count = below(random, longest), style = below(random, 8);
  uint32_t at = below(random, 30);
  const float rate = (float)below(random, 100);
  file.word[file.used++] = count;
  file.word[file.used++] = source;
  for (uint32_t i = 0; i < count; i++) {
    at += 1 + below(random, 1 + file.vertices / (longest + 1));
    file.word[file.used++] = style == 0 ? below(random, file.vertices) : style == 1 && i % 3 == 0 ? source : at % file.vertices;
  }
  memcpy(&file.word[file.used++], &rate, sizeof rate);
}

/* Of the style of real ones: ascending mostly, or not in order and with repeats. */
static void random_file(cm_random *random)
{
  file.vertices = 2000 + below(random, VERTICES - 2000);
  file.hyperedges = 0;
  file.used = 2;
  const uint32_t longest = below(random, 4) == 0 ? 3 : 40 + below(random, 2000), wanted = 1 + below(random, 600);
  const bool giant = below(random, 3) == 0, shuffled = below(random, 4) == 0;
  for (uint32_t e = 0; e < wanted; e++, file.hyperedges++)
    random_hyperedge(random, shuffled ? below(random, file.vertices) : e, giant && e == wanted / 2 ? 80000 : longest);
  file.word[0] = file.vertices;
  file.word[1] = file.hyperedges;
}

/* The first place where something is wrong; SIZE_MAX: nowhere. */
static size_t first_wrong(size_t size)
{
  size_t at = 8;
  for (uint32_t e = 0; e < file.hyperedges; e++) {
    if (at + 8 > size)
      return size;
    const uint32_t count = file.word[at / 4];
    if (file.word[at / 4 + 1] >= file.vertices)
      return at + 4;
    at += 8;
    if ((size - at) / 4 < (size_t)count + 1)
      return at;
    for (uint32_t i = 0; i < count; i++, at += 4)
      if (file.word[at / 4] >= file.vertices)
        return at;
    float rate;
    memcpy(&rate, &file.word[at / 4], sizeof rate);
    if (!isfinite(rate) || rate < 0)
      return at;
    at += 4;
  }
  return at == size ? SIZE_MAX : at;
}

/* Every net against the words, by marks: a target once, however often it stands there. */
static void check_nets(const cm_topology *t)
{
  static uint32_t mark[VERTICES];
  uint64_t repeats = 0, selves = 0, empty = 0;
  uint32_t seen = 0;
  size_t at = 2;
  memset(mark, 0, sizeof mark);
  bool ascend = true;
  for (uint32_t e = 0, last = 0; e < file.hyperedges; e++) {
    if (file.word[at] > 0) {
      ascend = ascend && file.word[at + 1] >= last;
      last = file.word[at + 1];
    }
    at += file.word[at] + 3;
  }
  at = 2;
  for (uint32_t e = 0; e < file.hyperedges; e++) {
    const uint32_t count = file.word[at], source = file.word[at + 1];
    uint64_t distinct = 0;
    for (uint32_t i = 0; i < count; i++) {
      const uint32_t v = file.word[at + 2 + i];
      distinct += mark[v] != e + 1;
      selves += mark[v] != e + 1 && v == source;
      mark[v] = e + 1;
    }
    repeats += count - distinct;
    empty += count == 0;
    if (count > 0 && ascend) { /* else nets stand in another order */
      ck_assert_uint_eq(t->net_source[seen], source);
      ck_assert_uint_eq(t->net_first[seen + 1] - t->net_first[seen], distinct);
      for (uint64_t i = t->net_first[seen]; i < t->net_first[seen + 1]; i++) {
        ck_assert(i == t->net_first[seen] || t->pin[i] > t->pin[i - 1]);
        ck_assert_uint_eq(mark[t->pin[i]], e + 1);
      }
      float rate;
      memcpy(&rate, &file.word[at + 2 + count], sizeof rate);
      ck_assert_uint_eq(t->net_weight[seen], (uint64_t)rate);
    }
    seen += count > 0;
    at += count + 3;
  }
  ck_assert_uint_eq(t->net_count, seen);
  ck_assert_uint_eq(t->duplicate_count, repeats);
  ck_assert_uint_eq(t->self_loop_count, selves);
  ck_assert_uint_eq(t->empty_net_count, empty);
  ck_ok(cm_topology_verify(t, &error));
}

static cm_status read_bytes(size_t size, bool from_file, cm_topology **made)
{
  const cm_import_limits limits = cm_import_limits_default();
  const cm_import_hint hint = {.format = "snn"};
  *made = NULL;
  if (!from_file)
    return cm_import_memory(file.word, size, &hint, &limits, &run, made, NULL, &error);
  test_write(in_folder("a.snn"), (const char *)file.word, size);
  return cm_import_as(in_folder("a.snn"), &hint, &limits, &run, made, NULL, &error);
}

static void same(const cm_topology *a, const cm_topology *b)
{
  ck_assert_uint_eq(a->pin_count, b->pin_count);
  ck_assert_uint_eq(a->net_count, b->net_count);
  ck_assert_mem_eq(a->pin, b->pin, a->pin_count * sizeof *a->pin);
  ck_assert_mem_eq(a->net_first, b->net_first, (a->net_count + 1) * sizeof *a->net_first);
  ck_assert_mem_eq(a->net_source, b->net_source, a->net_count * sizeof *a->net_source);
  ck_assert_mem_eq(a->net_weight, b->net_weight, a->net_count * sizeof *a->net_weight);
}

START_TEST(threads_read_what_one_does)
{
  cm_random random;
  cm_random_init(&random, 93, 0, 0);
  for (int round = 0; round < (int)test_rounds(12); round++) {
    cm_topology *one, *more;
    random_file(&random);
    run.threads = 1;
    ck_ok(read_bytes(file.used * 4, false, &one));
    check_nets(one);
    for (run.threads = 2; run.threads <= 5; run.threads++) {
      ck_ok(read_bytes(file.used * 4, run.threads % 2, &more));
      same(one, more);
      cm_topology_free(more);
    }
    cm_topology_free(one);
  }
}
END_TEST

START_TEST(the_first_wrong_place_is_named)
{
  cm_random random;
  cm_random_init(&random, 94, 0, 0);
  for (int round = 0; round < (int)test_rounds(120); round++) {
    cm_topology *none;
    random_file(&random);
    size_t size = file.used * 4;
    const uint32_t harm = below(&random, 3);
    for (uint32_t i = 0; harm > 0 && i < harm; i++) /* targets, heads or rates */
      file.word[2 + below(&random, file.used - 2)] = below(&random, 2) ? UINT32_MAX : file.vertices;
    if (harm == 0)
      size = 8 + 12 * (size_t)file.hyperedges + below(&random, size - 8 - 12 * (size_t)file.hyperedges + 1);
    const size_t wrong = first_wrong(size);
    char place[40];
    (void)snprintf(place, sizeof place, "byte %zu", wrong);
    for (run.threads = 1; run.threads <= 4; run.threads += 3) {
      cm_status status = read_bytes(size, round % 2, &none);
      if (wrong == SIZE_MAX) {
        ck_ok(status);
        cm_topology_free(none);
        continue;
      }
      ck_fails(status, CM_BAD_NETWORK);
      ck_assert_str_eq(error.where, place);
      ck_assert_uint_eq(memory.used_bytes, 0);
    }
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create(".snn in batches");
  TCase *tests = tcase_create("batches");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, threads_read_what_one_does);
  tcase_add_test(tests, the_first_wrong_place_is_named);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
