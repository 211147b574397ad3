/* Merging entries of one route. Happy path: for each entry, of the others with its route those that least is left open with,
 * nearest first: the least entry that matches what both match goes behind all that leave no more open, where every block still
 * finds its route. What can fail: memory. */
#include "base/order.h"
#include "core/routing/minimise.h"

/* Partners tried for an entry; entries above which nothing is merged. */
enum { PARTNERS = 24, ENTRIES_MAX = 1 << 14, NONE = UINT32_MAX, KEY_BITS_MAX = 63 };

typedef struct merger {
  const cm_key_block *block;
  size_t count, chunks;    /* blocks, and words of a set of them */
  unsigned key_bits;
  cm_ternary *entry;
  uint32_t *owner;
  uint32_t *next, *first;  /* blocks of an owner: [count], [entries]; NONE: no more */
  uint32_t *order, *place; /* entries in order, and where each stands there */
  uint32_t entries;        /* in order */
  uint64_t *zero[KEY_BITS_MAX], *one[KEY_BITS_MAX]; /* sets of blocks with a key of that bit */
  uint64_t *sets, *others; /* memory of those; blocks of other routes than the one under way */
  uint64_t work;
} merger;

static bool meet(uint64_t key, uint64_t open, uint64_t other, uint64_t other_open)
{
  return ((key ^ other) & ~(open | other_open)) == 0;
}

static void spend(merger *m, uint64_t steps)
{
  m->work -= steps < m->work ? steps : m->work;
}

/* Whether every block of another route that the entry meets has its own entry before `at`. */
static bool spares(merger *m, cm_ternary e, uint32_t at)
{
  uint64_t cared = ~e.open & (UINT64_MAX >> (64 - m->key_bits));
  for (size_t c = 0; c < m->chunks; c++) {
    uint64_t met = m->others[c], steps = 1;
    for (uint64_t bits = cared; bits != 0 && met != 0; bits &= bits - 1, steps++) {
      unsigned bit = (unsigned)__builtin_ctzll(bits);
      met &= (e.key >> bit & 1 ? m->one : m->zero)[bit][c];
    }
    spend(m, steps);
    for (; met != 0; met &= met - 1) {
      uint32_t owner = m->owner[c * 64 + (unsigned)__builtin_ctzll(met)];
      if (owner == NONE || m->place[owner] >= at)
        return false;
    }
  }
  return true;
}

/* Whether the blocks of an entry meet no other route between it and `at`. */
static bool may_sink(merger *m, uint32_t number, uint32_t at)
{
  uint64_t word = m->entry[number].word;
  for (uint32_t b = m->first[number]; b != NONE; b = m->next[b]) {
    const cm_key_block *block = &m->block[b];
    spend(m, at - m->place[number]);
    for (uint32_t i = m->place[number] + 1; i < at; i++) {
      const cm_ternary *other = &m->entry[m->order[i]];
      if (other->word != word && meet(block->key, block->open, other->key, other->open))
        return false;
    }
  }
  return true;
}

static unsigned openness(uint64_t open)
{
  return (unsigned)__builtin_popcountll(open);
}

static cm_ternary least_over(const cm_ternary *a, const cm_ternary *b)
{
  uint64_t open = a->open | b->open | (a->key ^ b->key);
  return (cm_ternary){a->key & ~open, open, a->word};
}

/* The first place behind all entries that leave as many bits open or fewer. */
static uint32_t place_for(const merger *m, uint64_t open)
{
  uint32_t low = 0, high = m->entries;
  CM_BISECT(low, high, middle, openness(m->entry[m->order[middle]].open) <= openness(open))
  return low;
}

/* Takes two entries out and puts one that matches what both do at a place behind both; it has the number of the first. */
static void merge(merger *m, uint32_t a, uint32_t b, cm_ternary merged, uint32_t at)
{
  uint32_t to = m->place[a] < m->place[b] ? m->place[a] : m->place[b], *tail = &m->first[b];
  for (uint32_t i = to; i < m->entries; i++) {
    uint32_t number = m->order[i];
    if (i == at) {
      m->order[to] = a;
      m->place[a] = to++;
    }
    if (number != a && number != b) {
      m->order[to] = number;
      m->place[number] = to++;
    }
  }
  if (at == m->entries) {
    m->order[to] = a;
    m->place[a] = to;
  }
  m->entries--;
  m->entry[a] = merged;
  for (; *tail != NONE; tail = &m->next[*tail])
    m->owner[*tail] = a;
  *tail = m->first[a];
  m->first[a] = m->first[b];
  m->first[b] = NONE;
}

typedef struct partner {
  uint32_t open, number;
} partner;

CM_ORDER(by_open, partner, CM_RISING(open) CM_RISING(number))

/* The partners of a group that leave least open together with an entry, ascending. */
static uint32_t find_partners(merger *m, const uint32_t *group, uint32_t count, uint32_t number, partner *list)
{
  uint32_t found = 0;
  spend(m, count);
  for (uint32_t i = 0; i < count; i++) {
    if (group[i] == NONE || group[i] == number)
      continue;
    partner p = {openness(least_over(&m->entry[number], &m->entry[group[i]]).open), i};
    if (found == PARTNERS && by_open(&p, &list[found - 1]) > 0)
      continue;
    uint32_t k = found < PARTNERS ? found++ : found - 1;
    for (; k > 0 && by_open(&p, &list[k - 1]) < 0; k--)
      list[k] = list[k - 1];
    list[k] = p;
  }
  return found;
}

/* Merges inside a group of entries with one route; those that are gone become NONE. */
static void merge_group(merger *m, uint32_t *group, uint32_t count, size_t enough)
{
  partner list[PARTNERS];
  uint64_t word = m->entry[group[0]].word;
  memset(m->others, 0, m->chunks * sizeof *m->others);
  for (size_t b = 0; b < m->count; b++)
    if (m->block[b].word != word)
      m->others[b / 64] |= UINT64_C(1) << b % 64;
  spend(m, m->count);
  for (uint32_t i = 0; i < count; i++) {
    bool more = group[i] != NONE;
    while (more && m->work > 0 && m->entries > enough) {
      more = false;
      uint32_t found = find_partners(m, group, count, group[i], list);
      for (uint32_t k = 0; k < found && !more; k++) {
        uint32_t other = group[list[k].number];
        cm_ternary merged = least_over(&m->entry[group[i]], &m->entry[other]);
        uint32_t at = place_for(m, merged.open);
        more = spares(m, merged, at) && may_sink(m, group[i], at) && may_sink(m, other, at);
        if (more) {
          merge(m, group[i], other, merged, at);
          group[list[k].number] = NONE;
        }
      }
    }
  }
}

static int by_word(const void *a, const void *b, void *context)
{
  const cm_ternary *entry = context;
  uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
  return entry[p].word != entry[q].word ? entry[p].word < entry[q].word ? -1 : 1 : p < q ? -1 : p > q;
}

static cm_status prepare(merger *m, cm_memory *memory, uint32_t **group, cm_error *error)
{
  uint32_t count = m->entries;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(m->next, m->count), CM_ARRAY(m->first, count), CM_ARRAY(m->order, count),
                    CM_ARRAY(m->place, count), CM_ARRAY(*group, count),
                    CM_ARRAY(m->sets, (size_t)(2 * m->key_bits + 1) * m->chunks)));
  for (unsigned bit = 0; bit < m->key_bits; bit++) {
    m->zero[bit] = m->sets + (size_t)(2 * bit) * m->chunks;
    m->one[bit] = m->zero[bit] + m->chunks;
  }
  m->others = m->sets + (size_t)(2 * m->key_bits) * m->chunks;
  for (uint32_t e = 0; e < count; e++) {
    m->order[e] = m->place[e] = (*group)[e] = e;
    m->first[e] = NONE;
  }
  for (size_t b = 0; b < m->count; b++) {
    for (unsigned bit = 0; bit < m->key_bits; bit++) {
      bool open = m->block[b].open >> bit & 1, set = m->block[b].key >> bit & 1;
      m->zero[bit][b / 64] |= (uint64_t)(open || !set) << b % 64;
      m->one[bit][b / 64] |= (uint64_t)(open || set) << b % 64;
    }
    if (m->owner[b] != NONE) {
      m->next[b] = m->first[m->owner[b]];
      m->first[m->owner[b]] = (uint32_t)b;
    }
  }
  qsort_r(*group, count, sizeof **group, by_word, m->entry);
  return CM_OK;
}

/* Whether a block goes the same way without an entry: by one behind it, or (*heir NONE) straight on. */
static bool is_spare(merger *m, uint32_t number, const cm_key_block *block, uint32_t *heir)
{
  uint64_t word = m->entry[number].word;
  spend(m, m->entries - m->place[number]);
  for (uint32_t i = m->place[number] + 1; i < m->entries; i++) {
    const cm_ternary *other = &m->entry[m->order[i]];
    if (!meet(block->key, block->open, other->key, other->open))
      continue;
    if (other->word != word)
      return false;
    *heir = m->order[i];
    if ((block->open & ~other->open) == 0)
      return true;
  }
  *heir = NONE;
  return block->straight;
}

/* Takes out entries whose blocks others take over. */
static void drop_spare(merger *m)
{
  for (uint32_t i = 0; i < m->entries && m->work > 0;) {
    uint32_t number = m->order[i], b = m->first[number];
    uint32_t heir;
    while (b != NONE && is_spare(m, number, &m->block[b], &heir))
      b = m->next[b];
    if (b != NONE) {
      i++;
      continue;
    }
    for (uint32_t next; (b = m->first[number]) != NONE; m->first[number] = next) {
      (void)is_spare(m, number, &m->block[b], &heir);
      next = m->next[b];
      m->owner[b] = heir;
      if (heir == NONE)
        continue;
      m->next[b] = m->first[heir];
      m->first[heir] = b;
    }
    m->entries--;
    for (uint32_t k = i; k < m->entries; k++) {
      m->order[k] = m->order[k + 1];
      m->place[m->order[k]] = k;
    }
  }
}

static cm_status put_in_order(const merger *m, cm_memory *memory, cm_ternary_table *table, cm_error *error)
{
  cm_ternary *list;
  CM_TRY(CM_NEW(memory, list, m->entries, error));
  for (uint32_t i = 0; i < m->entries; i++)
    list[i] = m->entry[m->order[i]];
  memcpy(table->entry, list, m->entries * sizeof *list);
  table->count = m->entries;
  cm_free(list);
  return CM_OK;
}

cm_status cm_merge_ternary(const cm_key_blocks *blocks, cm_merging until, cm_memory *memory, cm_ternary_table *table,
                           uint32_t *owner, cm_error *error)
{
  if (table->count < 2 || table->count > ENTRIES_MAX || table->count <= until.enough)
    return CM_OK;
  merger m = {.block = blocks->block, .count = blocks->count, .chunks = (blocks->count + 63) / 64, .key_bits = blocks->key_bits,
              .entry = table->entry, .owner = owner, .entries = (uint32_t)table->count, .work = until.work};
  uint32_t *group = NULL, all = m.entries;
  uint64_t *word = NULL;
  cm_status status = prepare(&m, memory, &group, error);
  CM_THEN(status, CM_NEW(memory, word, all, error));
  for (uint32_t i = 0; status == CM_OK && i < all; i++)
    word[i] = m.entry[group[i]].word;
  for (uint32_t i = 0, end; status == CM_OK && i < all; i = end) {
    for (end = i + 1; end < all && word[end] == word[i];)
      end++;
    if (end - i > 1)
      merge_group(&m, group + i, end - i, until.enough);
  }
  if (status == CM_OK)
    drop_spare(&m);
  CM_THEN(status, put_in_order(&m, memory, table, error));
  CM_FREE(group, word, m.next, m.first, m.order, m.place, m.sets);
  return status;
}
