/* Which block of keys a part has. By likeness: parts that leave most routers the same way become pairs, pairs become fours, and
 * so on until all are in one tree; a part's block is its place in the tree. Where both halves of a pair allow a route at a
 * router, one entry serves both. By place: where the part is, so that axons from one row, column or router are a cube of keys. What
 * can fail: memory, a stop. */

#include "base/order.h"
#include "core/routing/tables.h"

/* A cluster is compared with so many that have the same way out of the same router; a router keeps so many ways of one. */
enum { NEIGHBOURS = 6, WAYS_KEPT = 4, NONE = UINT32_MAX, WORD_BITS = 32 /* of a router's keys */, DIGIT_BITS = 12 };

/* Routers that two clusters leave the same way. */
typedef struct likeness {
  uint32_t routers, a, b;
} likeness;

typedef struct order {
  uint32_t *cluster;     /* [parts] of each part */
  uint32_t clusters;
  cm_part_way *way;           /* with clusters for parts */
  size_t ways;
  uint64_t *seen, *spare;     /* pairs as they are met, the first's number above the second's; scratch */
  uint64_t seen_room, spare_room;
  likeness *pair;
  uint64_t room, pairs;
  uint32_t *mate, *next; /* [clusters] of a pair; number in the next round */
  cm_memory *memory;
} order;

CM_ORDER(by_router_and_word, cm_part_way, CM_RISING(router) CM_RISING(word) CM_RISING(part))

CM_ORDER(by_router_and_part, cm_part_way, CM_RISING(router) CM_RISING(part) CM_RISING(word))

CM_ORDER(by_likeness, likeness, CM_FALLING(routers) CM_RISING(a) CM_RISING(b))

/* Ascending, digit by digit from the lowest on. */
static cm_status sort_seen(order *o, uint64_t count, cm_error *error)
{
  uint32_t begin[(1 << DIGIT_BITS) + 1];
  static const unsigned first_bit[] = {0, 12, 24, 32, 44, 56}; /* of both numbers */
  const uint64_t digit = (UINT64_C(1) << DIGIT_BITS) - 1;
  CM_TRY(CM_ROOM(o->memory, o->spare, &o->spare_room, count, error));
  for (size_t pass = 0; pass < sizeof first_bit / sizeof *first_bit; pass++) {
    unsigned shift = first_bit[pass];
    if (o->clusters >> shift % 32 == 0)
      continue; /* numbers have no such digit */
    memset(begin, 0, sizeof begin);
    for (uint64_t i = 0; i < count; i++)
      begin[(o->seen[i] >> shift & digit) + 1]++;
    for (uint64_t d = 0; d < digit; d++)
      begin[d + 1] += begin[d];
    for (uint64_t i = 0; i < count; i++)
      o->spare[begin[o->seen[i] >> shift & digit]++] = o->seen[i];
    uint64_t *kept = o->seen, room = o->seen_room;
    o->seen = o->spare;
    o->spare = kept;
    o->seen_room = o->spare_room;
    o->spare_room = room;
  }
  return CM_OK;
}

/* All pairs of clusters that have a way in common and stand near each other there, with how many ways they share. */
static cm_status find_pairs(order *o, cm_error *error)
{
  uint64_t count = 0;
  qsort(o->way, o->ways, sizeof *o->way, by_router_and_word);
  for (size_t i = 0; i < o->ways; i++)
    for (size_t k = i + 1; k < o->ways && k <= i + NEIGHBOURS && o->way[k].router == o->way[i].router &&
                           o->way[k].word == o->way[i].word; k++) {
      CM_TRY(CM_ROOM(o->memory, o->seen, &o->seen_room, count + 1, error));
      o->seen[count++] = (uint64_t)o->way[i].part << 32 | o->way[k].part;
    }
  o->pairs = 0;
  if (count > 0 && sort_seen(o, count, error) != CM_OK)
    return error->status;
  for (uint64_t i = 0; i < count; i++) {
    if (i > 0 && o->seen[i] == o->seen[i - 1]) {
      o->pair[o->pairs - 1].routers++;
      continue;
    }
    CM_TRY(CM_ROOM(o->memory, o->pair, &o->room, o->pairs + 1, error));
    o->pair[o->pairs++] = (likeness){1, (uint32_t)(o->seen[i] >> 32), (uint32_t)o->seen[i]};
  }
  if (o->pairs > 0)
    qsort(o->pair, o->pairs, sizeof *o->pair, by_likeness);
  return CM_OK;
}

/* The likest first; who is left pairs in order. */
static void match(order *o)
{
  for (uint32_t c = 0; c < o->clusters; c++)
    o->mate[c] = NONE;
  for (uint64_t i = 0; i < o->pairs; i++) {
    uint32_t a = o->pair[i].a, b = o->pair[i].b;
    if (o->mate[a] != NONE || o->mate[b] != NONE)
      continue;
    o->mate[a] = b;
    o->mate[b] = a;
  }
  uint32_t alone = NONE;
  for (uint32_t c = 0; c < o->clusters; c++) {
    if (o->mate[c] != NONE)
      continue;
    if (alone == NONE) {
      alone = c;
      continue;
    }
    o->mate[alone] = c;
    o->mate[c] = alone;
    alone = NONE;
  }
}

/* At a router a pair keeps the ways of both halves, else those of either. */
static void join_ways(order *o)
{
  for (size_t i = 0; i < o->ways; i++)
    o->way[i].part = o->next[o->way[i].part];
  qsort(o->way, o->ways, sizeof *o->way, by_router_and_part);
  size_t kept = 0;
  for (size_t i = 0, end; i < o->ways; i = end) {
    bool common = false;
    for (end = i + 1; end < o->ways && o->way[end].router == o->way[i].router && o->way[end].part == o->way[i].part; end++)
      common = common || o->way[end].word == o->way[end - 1].word;
    for (size_t k = i, here = 0; k < end && here < WAYS_KEPT; k++) {
      bool twice = k + 1 < end && o->way[k + 1].word == o->way[k].word;
      if (common && !twice)
        continue;
      o->way[kept++] = o->way[k];
      here++;
      k += twice;
    }
  }
  o->ways = kept;
}

static cm_status halve(order *o, uint32_t *block, uint32_t parts, unsigned level, cm_error *error)
{
  CM_TRY(find_pairs(o, error));
  match(o);
  uint32_t count = 0;
  for (uint32_t c = 0; c < o->clusters; c++)
    o->next[c] = o->mate[c] < c ? o->next[o->mate[c]] : count++;
  for (uint32_t p = 0; p < parts; p++) {
    uint32_t c = o->cluster[p];
    block[p] |= (uint32_t)(o->mate[c] < c) << level;
    o->cluster[p] = o->next[c];
  }
  o->clusters = count;
  join_ways(o);
  return CM_OK;
}

cm_status cm_routes_order_keys(cm_routes *routes, cm_part_way *way, size_t count, cm_run *run, cm_error *error)
{
  uint32_t parts = routes->parts;
  order o = {.way = way, .ways = count, .memory = run->memory, .clusters = parts};
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(routes->key_block, parts), CM_ARRAY(o.cluster, parts),
                                CM_ARRAY(o.mate, parts), CM_ARRAY(o.next, parts));
  for (uint32_t p = 0; p < parts && status == CM_OK; p++)
    o.cluster[p] = p;
  for (unsigned level = 0; status == CM_OK && o.clusters > 1; level++) {
    status = halve(&o, routes->key_block, parts, level, error);
    CM_THEN(status, cm_run_check(run, error));
  }
  CM_FREE(o.cluster, o.mate, o.next, o.pair, o.seen, o.spare);
  return status;
}

static unsigned bits_for(uint32_t numbers)
{
  return numbers <= 1 ? 0 : 32 - (unsigned)__builtin_clz(numbers - 1);
}

cm_status cm_routes_place_keys(cm_routes *routes, cm_run *run, bool *made, cm_error *error)
{
  uint32_t routers_x = cm_chip_routers_x(routes->chip), *behind, most = 0, x0 = UINT32_MAX, x1 = 0, y0 = UINT32_MAX, y1 = 0;
  *made = false;
  CM_TRY(CM_NEW(run->memory, behind, routes->router_count, error));
  for (uint32_t p = 0; p < routes->parts; p++) {
    uint32_t router = cm_router_of(routes->chip, routes->core[p]), x = router % routers_x, y = router / routers_x;
    x0 = x < x0 ? x : x0;
    x1 = x > x1 ? x : x1;
    y0 = y < y0 ? y : y0;
    y1 = y > y1 ? y : y1;
    uint32_t here = ++behind[router - routes->first_router];
    most = here > most ? here : most;
  }
  unsigned core_bits = bits_for(most), x_bits = bits_for(x1 - x0 + 1), y_bits = bits_for(y1 - y0 + 1),
           bits = core_bits + x_bits + y_bits;
  if (bits > 31 || routes->rank_bits + bits > WORD_BITS) {
    cm_free(behind);
    return CM_OK;
  }
  cm_free(routes->key_block);
  routes->key_block = NULL;
  CM_TRY_OR(CM_NEW(run->memory, routes->key_block, routes->parts, error), cm_free(behind));
  for (uint32_t p = 0; p < routes->parts; p++) {
    uint32_t router = cm_router_of(routes->chip, routes->core[p]), x = router % routers_x - x0, y = router / routers_x - y0;
    uint32_t place = routes->rule == CM_TURNS_YX ? x << y_bits | y : y << x_bits | x;
    routes->key_block[p] = place << core_bits | --behind[router - routes->first_router];
  }
  routes->key_bits = routes->rank_bits + bits;
  cm_free(behind);
  *made = true;
  return CM_OK;
}
