/* Tables under a limit. Happy path: one walk over all trees says how many blocks of keys come to each router and which ways parts
 * take; keys are allotted, by that and by where parts are; then, for both and for as many routers at once as memory is set aside
 * for, the blocks are gathered and each router's table minimised. What can fail: memory, a stop, a table that does not fit. */
#include "core/routing/minimise.h"
#include "core/routing/tables.h"

enum { BAND_BLOCKS = 1 << 23, WAYS_OF_A_PART = 4 };

/* Steps of merging for one table: some where it fits already, more where it does not. */
static const uint64_t STEPS_FITTING = UINT64_C(20000000), STEPS_OVER = UINT64_C(1000000000);

typedef struct fitter {
  cm_routes *r;
  cm_run *run;
  uint64_t *blocks;  /* [router_count] */
  uint32_t *part, *ways_here; /* [router_count] last part seen there, plus 1, and its ways listed */
  uint64_t *last_word; /* [router_count * WAYS_OF_A_PART] those */
  cm_part_way *way;
  uint64_t ways, way_room;
  /* The band under way: */
  uint32_t begin, end;
  uint64_t *at;
  cm_key_block *block;
  uint64_t table_room;
} fitter;

static cm_status count_block(void *user, const cm_table_entry *entry, cm_error *error)
{
  fitter *f = user;
  uint32_t router = entry->router - f->r->first_router, part = (uint32_t)(entry->key >> f->r->rank_bits);
  f->blocks[router]++;
  if (entry->straight)
    return CM_OK;
  if (f->part[router] != part + 1) {
    f->part[router] = part + 1;
    f->ways_here[router] = 0;
  }
  uint64_t *words = f->last_word + (size_t)router * WAYS_OF_A_PART;
  for (uint32_t i = 0; i < f->ways_here[router]; i++)
    if (words[i] == entry->word)
      return CM_OK;
  if (f->ways_here[router] == WAYS_OF_A_PART)
    return CM_OK;
  words[f->ways_here[router]++] = entry->word;
  CM_TRY(CM_ROOM(f->run->memory, f->way, &f->way_room, f->ways + 1, error));
  f->way[f->ways++] = (cm_part_way){entry->router, part, entry->word};
  return CM_OK;
}

static cm_status allot_keys(fitter *f, cm_error *error)
{
  cm_memory *memory = f->run->memory;
  size_t routers = f->r->router_count;
  cm_status status = CM_OK;
  if (CM_NEW_ALL(memory, error, CM_ARRAY(f->blocks, routers), CM_ARRAY(f->part, routers), CM_ARRAY(f->ways_here, routers),
                 CM_ARRAY(f->last_word, routers * WAYS_OF_A_PART)) != CM_OK ||
      cm_blocks_walk(f->r, f->run, count_block, f, error) != CM_OK ||
      cm_routes_order_keys(f->r, f->way, f->ways, f->run, error) != CM_OK)
    status = error->status;
  CM_FREE(f->part, f->ways_here, f->last_word, f->way);
  return status;
}

static cm_status gather(void *user, const cm_table_entry *entry, CM_UNUSED cm_error *error)
{
  fitter *f = user;
  uint32_t router = entry->router - f->r->first_router;
  if (router >= f->begin && router < f->end)
    f->block[f->at[router - f->begin]++] = (cm_key_block){entry->key, entry->open, entry->word, entry->straight};
  return CM_OK;
}

CM_ORDER(by_key, cm_key_block, CM_RISING(key))

static cm_status minimise(fitter *f, uint32_t router, cm_key_block *block, size_t count, cm_error *error)
{
  cm_routes *r = f->r;
  cm_memory *memory = f->run->memory;
  cm_ternary_table table;
  const cm_key_blocks blocks = {block, count, r->key_bits > 0 ? r->key_bits : 1};
  size_t limit = r->chip->table_entries;
  if (count > 0)
    qsort(block, count, sizeof *block, by_key);
  cm_status status = cm_minimise(&blocks, (cm_merging){0, STEPS_FITTING}, memory, &table, error);
  if (status == CM_OK && table.count > limit && !r->hasty) {
    cm_free(table.entry);
    status = cm_minimise(&blocks, (cm_merging){limit, STEPS_OVER}, memory, &table, error);
  }
  CM_TRY(status);
  size_t entries = table.count;
  r->entries[router] = (uint32_t)entries;
  r->routers_over += entries > limit;
  if (r->routers_over == 0)
    status = CM_ROOM(memory, r->table, &f->table_room, r->entries_total + entries + 1, error);
  for (size_t e = 0; e < entries && status == CM_OK && r->routers_over == 0; e++)
    r->table[r->entries_total + e] =
      (cm_table_entry){table.entry[e].key, table.entry[e].open, table.entry[e].word, r->first_router + router, false};
  r->entries_total += entries;
  r->table_first[router + 1] = r->entries_total;
  cm_free(table.entry);
  return status;
}

/* Minimises the tables of as many routers from `begin` on as the band has room for. */
static cm_status fit_band(fitter *f, cm_error *error)
{
  cm_memory *memory = f->run->memory;
  uint64_t blocks = 0;
  f->at = NULL;
  f->block = NULL;
  for (f->end = f->begin; f->end < f->r->router_count; f->end++) {
    if (f->end > f->begin && blocks + f->blocks[f->end] > BAND_BLOCKS)
      break;
    blocks += f->blocks[f->end];
  }
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(f->at, (size_t)(f->end - f->begin) + 1), CM_ARRAY(f->block, blocks));
  for (uint32_t i = f->begin; status == CM_OK && i < f->end; i++)
    f->at[i - f->begin + 1] = f->at[i - f->begin] + f->blocks[i];
  CM_THEN_IF(status, blocks > 0, cm_blocks_walk(f->r, f->run, gather, f, error));
  for (uint32_t i = f->begin; status == CM_OK && i < f->end; i++) {
    size_t count = f->blocks[i];
    status = minimise(f, i, f->block + f->at[i - f->begin] - count, count, error);
    CM_THEN(status, cm_run_check(f->run, error));
  }
  CM_FREE(f->at, f->block);
  f->begin = f->end;
  return status;
}

static cm_status refuse(const cm_routes *r, cm_error *error)
{
  uint32_t most = cm_routes_entries(r, r->fullest), limit = r->chip->table_entries;
  char name[CM_ROUTER_NAME_MAX];
  cm_chip_router_name(r->chip, r->fullest, name);
  cm_fail(error, CM_LIMIT_BROKEN,
          "the routing table of %s needs %u entries of at most %u, and %llu routers need more than that: "
          "\"table_entries\" of %u would do, or fewer axons of different targets on a core, or more free cores",
          name, most, limit, (unsigned long long)r->routers_over, most);
  error->limit_name = "table_entries";
  cm_error_figure(error, "entries", most);
  cm_error_figure(error, "limit", limit);
  return CM_LIMIT_BROKEN;
}

/* The tables of all routers with the keys as they are allotted. */
static cm_status minimise_all(fitter *f, cm_error *error)
{
  cm_routes *r = f->r;
  cm_memory *memory = f->run->memory;
  r->entries_total = r->routers_over = 0;
  f->begin = 0;
  f->table_room = 0;
  cm_status status = CM_OK;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(r->entries, r->router_count), CM_ARRAY(r->table_first, (size_t)r->router_count + 1)));
  while (status == CM_OK && f->begin < r->router_count)
    status = fit_band(f, error);
  return status;
}

/* What minimising makes. */
typedef struct made {
  uint32_t *key_block, *entries;
  cm_table_entry *table;
  uint64_t *table_first, entries_total, routers_over;
  unsigned key_bits;
} made;

static made take(cm_routes *r)
{
  made m = {r->key_block, r->entries, r->table, r->table_first, r->entries_total, r->routers_over, r->key_bits};
  r->key_block = r->entries = NULL;
  r->table = NULL;
  r->table_first = NULL;
  return m;
}

static void give(cm_routes *r, made m)
{
  CM_FREE(r->key_block, r->entries, r->table, r->table_first);
  r->key_block = m.key_block;
  r->entries = m.entries;
  r->table = m.table;
  r->table_first = m.table_first;
  r->entries_total = m.entries_total;
  r->routers_over = m.routers_over;
  r->key_bits = m.key_bits;
}

/* Keys by place instead, where that makes fewer entries. */
static cm_status try_places(fitter *f, cm_error *error)
{
  cm_routes *r = f->r;
  made first = take(r);
  bool placed;
  cm_status status = cm_routes_place_keys(r, f->run, &placed, error);
  CM_THEN_IF(status, placed, minimise_all(f, error));
  bool better = status == CM_OK && placed &&
                (r->routers_over != first.routers_over ? r->routers_over < first.routers_over : r->entries_total < first.entries_total);
  if (better) {
    made second = take(r);
    give(r, first);
    first = second;
  }
  give(r, first);
  return status;
}

cm_status cm_tables_fit(cm_routes *r, cm_run *run, cm_error *error)
{
  fitter f = {.r = r, .run = run};
  cm_status status = allot_keys(&f, error);
  CM_THEN(status, minimise_all(&f, error));
  CM_THEN(status, try_places(&f, error));
  cm_free(f.blocks);
  CM_TRY(status);
  for (uint32_t i = 0; i < r->router_count; i++)
    r->fullest = r->entries[i] > cm_routes_entries(r, r->fullest) ? r->first_router + i : r->fullest;
  return r->routers_over == 0 ? CM_OK : refuse(r, error);
}
