/* Tables that are minimised: as small as prefixes can be, by trying all of them, and right. */
#include "../unit/networks.h"

#include "core/routing/minimise.h"

static cm_error error;

enum { SMALL_BITS = 6, SMALL_KEYS = 1 << SMALL_BITS };

/* The fewest prefixes below a node of the trie of all keys under an entry for `above` (-1: none), by trying all routes. `way`:
 * of each key, -1: no packet has it. */
static uint32_t fewest(const int *way, const bool *straight, uint32_t first, uint32_t keys, int above)
{
  uint32_t least = UINT32_MAX;
  bool done = true;
  for (uint32_t k = first; k < first + keys; k++)
    done = done && (way[k] < 0 || (above < 0 ? straight[k] : way[k] == above));
  if (done)
    return 0;
  for (int entry = -1; entry < 4; entry++) {
    int now = entry < 0 ? above : entry;
    uint32_t here = entry >= 0;
    if (entry == above && entry >= 0)
      continue;
    if (keys > 1)
      here += fewest(way, straight, first, keys / 2, now) + fewest(way, straight, first + keys / 2, keys / 2, now);
    else if (now < 0 || way[first] != now)
      continue;
    least = here < least ? here : least;
  }
  return least;
}

START_TEST(tables_are_as_small_as_prefixes_can_be_and_right)
{
  cm_random random;
  cm_random_init(&random, 14, 0, 0);
  uint32_t ternary = 0, prefixes = 0;
  for (uint32_t round = 0; round < test_rounds(400); round++) {
    int way[SMALL_KEYS];
    bool straight[SMALL_KEYS] = {false};
    cm_key_block block[SMALL_KEYS];
    size_t count = 0, entries;
    uint32_t routes = 1 + below(&random, 4), fill = 1 + below(&random, 8);
    unsigned bits = 2 + below(&random, 3); /* of the keys that are tried all ways */
    for (uint32_t k = 0; k < SMALL_KEYS; k++)
      way[k] = -1;
    for (uint32_t k = 0; k < 1u << bits;) {
      uint32_t size = k % 2 == 0 && below(&random, 3) == 0 ? 2 : 1;
      int here = below(&random, 8) < fill ? (int)below(&random, routes) : -1;
      bool on = below(&random, 4) == 0;
      for (uint32_t i = k; i < k + size; i++) {
        way[i] = here;
        straight[i] = on;
      }
      if (here >= 0)
        block[count++] = (cm_key_block){k, size - 1, (uint64_t)here, on};
      k += size;
    }
    cm_ternary_table table;
    const cm_key_blocks blocks = {block, count, bits};
    ck_ok(cm_minimise(&blocks, (cm_merging){0, UINT64_MAX}, NULL, &table, &error));
    const cm_ternary *entry = table.entry;
    entries = table.count;
    uint32_t least = fewest(way, straight, 0, 1u << bits, -1);
    ck_assert_msg(entries <= least, "%zu entries, and %u prefixes do", entries, least);
    ternary += (uint32_t)entries;
    prefixes += least;
    for (uint32_t k = 0; k < 1u << bits; k++) {
      const cm_ternary *match = NULL;
      for (size_t e = 0; e < entries && match == NULL; e++)
        match = (k & ~entry[e].open) == entry[e].key ? &entry[e] : NULL;
      ck_assert_msg(way[k] < 0 || (match == NULL ? straight[k] : (int)match->word == way[k]), "key %u goes the wrong way", k);
    }
    cm_free(table.entry);
    ck_ok(cm_minimise(&blocks, (cm_merging){entries, 0}, NULL, &table, &error)); /* no steps: prefixes alone */
    ck_assert_uint_eq(table.count, least);
    cm_free(table.entry);
  }
  ck_assert_uint_lt(ternary, prefixes);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("minimise");
  TCase *tests = tcase_create("minimise");
  tcase_add_test(tests, tables_are_as_small_as_prefixes_can_be_and_right);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
