#include "core/learning/communities/processors.h"

#include "core/learning/communities/communities.h"
#include "core/learning/communities/groups.h"

enum { NOBODY = UINT32_MAX, TRADE_ROUNDS = 32 };

/* ---- processors ---- */

static uint32_t die_of(const cm_chip *chip, uint32_t core)
{
  return core / chip->width / chip->die_height * chip->dies_x + core % chip->width / chip->die_width;
}

uint32_t cm_die_distance(const cm_chip *chip, uint32_t die_a, uint32_t die_b)
{
  uint32_t rows = chip->die_height * chip->width, columns = chip->die_width;
  return cm_chip_distance(chip, die_a / chip->dies_x * rows + die_a % chip->dies_x * columns,
                          die_b / chip->dies_x * rows + die_b % chip->dies_x * columns);
}

cm_status cm_processors_new(const cm_chip *chip, const uint32_t *core, uint32_t count, cm_memory *memory,
                            cm_processors *processors, cm_error *error)
{
  cm_processors p = {0};
  uint64_t *key = NULL;
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(key, count), CM_ARRAY(p.die, count), CM_ARRAY(p.first, (size_t)count + 1),
                                CM_ARRAY(p.core, count));
  for (uint32_t i = 0; status == CM_OK && i < count; i++)
    key[i] = (uint64_t)die_of(chip, core[i]) << 32 | core[i];
  if (status == CM_OK)
    qsort(key, count, sizeof *key, cm_ascending_long);
  for (uint32_t i = 0; status == CM_OK && i < count; i++) {
    uint32_t die = (uint32_t)(key[i] >> 32);
    if (p.count == 0 || p.die[p.count - 1] != die)
      p.die[p.count++] = die;
    p.core[i] = (uint32_t)key[i];
    p.first[p.count] = i + 1;
  }
  cm_free(key);
  CM_END(status, *processors = p, cm_processors_free(&p));
}

void cm_processors_free(cm_processors *processors)
{
  CM_FREE(processors->die, processors->first, processors->core);
  *processors = (cm_processors){0};
}

/* ---- communities to processors ---- */

typedef struct giver {
  const cm_sharing *of;
  const cm_processors *processors;
  cm_graph *between;     /* the communities */
  cm_community *list;    /* [communities] */
  uint32_t communities;
  uint32_t *priority;    /* [communities] by falling connection weight */
  uint32_t *by_nodes;    /* [left] communities without a processor, falling */
  uint32_t *by_room;     /* [processors_left] processors not given out, falling */
  uint32_t left, processors_left;
  uint32_t *processor;   /* [communities] NOBODY: none yet */
  uint32_t *community;   /* [processors] NOBODY: none */
} giver;

static uint32_t room_of(const giver *g, uint32_t p)
{
  return g->processors->first[p + 1] - g->processors->first[p];
}

static uint64_t distance(const giver *g, uint32_t p, uint32_t q)
{
  return cm_die_distance(g->of->chip, g->processors->die[p], g->processors->die[q]);
}

/* Whether the communities that are left, but c, fit the processors that are left, but p. */
static bool others_fit(const giver *g, uint32_t c, uint32_t p)
{
  uint32_t at = 0;
  for (uint32_t k = 0; k < g->left; k++) {
    if (g->by_nodes[k] == c)
      continue;
    at += at < g->processors_left && g->by_room[at] == p;
    if (at >= g->processors_left || g->list[g->by_nodes[k]].nodes > room_of(g, g->by_room[at]))
      return false;
    at++;
  }
  return true;
}

static void take_out(uint32_t *list, uint32_t *count, uint32_t item)
{
  uint32_t at = 0;
  while (list[at] != item)
    at++;
  --*count;
  memmove(list + at, list + at + 1, (*count - at) * sizeof *list);
}

/* The processor to give out next: the nearest to those that are, at first the largest. */
static uint32_t next_processor(const giver *g)
{
  uint32_t best = NOBODY;
  uint64_t best_way = 0;
  for (uint32_t k = 0; k < g->processors_left; k++) {
    uint32_t p = g->by_room[k];
    uint64_t way = 0;
    for (uint32_t c = 0; c < g->communities; c++)
      way += g->processor[c] != NOBODY ? distance(g, p, g->processor[c]) : 0;
    if (best == NOBODY || way < best_way) {
      best = p;
      best_way = way;
    }
  }
  return best;
}

/* In order of connection weight: the source's rule. */
static cm_status give_out(giver *g, cm_error *error)
{
  while (g->left > 0 && g->processors_left > 0) {
    uint32_t p = next_processor(g), chosen = NOBODY;
    for (uint32_t k = 0; k < g->communities && chosen == NOBODY; k++) {
      uint32_t c = g->priority[k];
      if (g->processor[c] == NOBODY && g->list[c].nodes <= room_of(g, p) && others_fit(g, c, p))
        chosen = c;
    }
    take_out(g->by_room, &g->processors_left, p);
    if (chosen == NOBODY)
      continue; /* the others can do without it */
    g->processor[chosen] = p;
    g->community[p] = chosen;
    take_out(g->by_nodes, &g->left, chosen);
  }
  if (g->left == 0)
    return CM_OK;
  (void)cm_fail(error, CM_NO_ROOM, "%u communities fit no processor: the largest of them has %u nodes", g->left,
                g->list[g->by_nodes[0]].nodes);
  cm_error_figure(error, "needed", g->list[g->by_nodes[0]].nodes);
  return error->status;
}

/* ---- trades ---- */

/* Weight times way of what community c says to others when it is on p, and `other` on q. */
static __int128 ways_of(const giver *g, uint32_t c, uint32_t p, uint32_t other, uint32_t q)
{
  __int128 sum = 0;
  for (uint64_t i = g->between->first[c]; i < g->between->first[c + 1]; i++) {
    uint32_t d = g->between->neighbour[i];
    sum += (__int128)g->between->weight[i] * (__int128)distance(g, p, d == other ? q : g->processor[d]);
  }
  return sum;
}

/* Community c goes to processor q, whose community (if any) comes to where c was, if that shortens the ways. */
static bool trade(giver *g, uint32_t c, uint32_t q)
{
  uint32_t p = g->processor[c], d = g->community[q];
  if (p == q || g->list[c].nodes > room_of(g, q) || (d != NOBODY && g->list[d].nodes > room_of(g, p)))
    return false;
  __int128 before = ways_of(g, c, p, d, q), after = ways_of(g, c, q, d, p);
  if (d != NOBODY) {
    before += ways_of(g, d, q, c, p);
    after += ways_of(g, d, p, c, q);
  }
  if (after >= before)
    return false;
  g->processor[c] = q;
  g->community[q] = c;
  g->community[p] = d;
  if (d != NOBODY)
    g->processor[d] = p;
  return true;
}

static void trade_all(giver *g)
{
  bool traded = true;
  for (uint32_t round = 0; round < TRADE_ROUNDS && traded; round++) {
    traded = false;
    for (uint32_t c = 0; c < g->communities; c++)
      for (uint32_t q = 0; q < g->processors->count; q++)
        traded |= trade(g, c, q);
  }
}

/* ---- all ---- */

static int by_weight(const void *a, const void *b, void *user)
{
  const giver *g = user;
  uint32_t c = *(const uint32_t *)a, d = *(const uint32_t *)b;
  uint64_t x = g->list[c].weight, y = g->list[d].weight;
  return x != y ? (x < y ? 1 : -1) : c < d ? -1 : 1;
}

static int by_nodes(const void *a, const void *b, void *user)
{
  const giver *g = user;
  uint32_t c = *(const uint32_t *)a, d = *(const uint32_t *)b, x = g->list[c].nodes, y = g->list[d].nodes;
  return x != y ? (x < y ? 1 : -1) : c < d ? -1 : 1;
}

static int by_room(const void *a, const void *b, void *user)
{
  const giver *g = user;
  uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b, x = room_of(g, p), y = room_of(g, q);
  return x != y ? (x < y ? 1 : -1) : p < q ? -1 : 1;
}

static void giver_free(giver *g)
{
  cm_graph_free(g->between);
  CM_FREE(g->list, g->priority, g->by_nodes, g->by_room, g->processor, g->community);
}

/* Frees by the caller, after a failure too. */
static cm_status giver_fill(giver *g, const uint32_t *community, cm_error *error)
{
  const cm_graph *graph = g->of->graph;
  cm_run *run = g->of->run;
  uint32_t communities = g->communities, processors = g->processors->count;
  CM_TRY(cm_graph_contract(graph, community, communities, run, &g->between, error));
  CM_TRY(CM_NEW_ALL(run->memory, error, CM_ARRAY(g->list, communities), CM_ARRAY(g->priority, communities),
                    CM_ARRAY(g->by_nodes, communities), CM_ARRAY(g->by_room, processors), CM_ARRAY(g->processor, communities),
                    CM_ARRAY(g->community, processors)));
  CM_TRY(cm_communities_describe(graph, community, communities, run, g->list, error));
  g->left = communities;
  g->processors_left = processors;
  for (uint32_t c = 0; c < communities; c++) {
    g->priority[c] = g->by_nodes[c] = c;
    g->processor[c] = NOBODY;
  }
  for (uint32_t p = 0; p < processors; p++) {
    g->by_room[p] = p;
    g->community[p] = NOBODY;
  }
  qsort_r(g->priority, communities, sizeof *g->priority, by_weight, g);
  qsort_r(g->by_nodes, communities, sizeof *g->by_nodes, by_nodes, g);
  qsort_r(g->by_room, processors, sizeof *g->by_room, by_room, g);
  return CM_OK;
}

cm_status cm_processors_assign(const cm_sharing *sharing, const uint32_t *community, uint32_t communities, uint32_t *processor,
                               cm_error *error)
{
  giver g = {.of = sharing, .processors = sharing->processors, .communities = communities};
  cm_status status = giver_fill(&g, community, error);
  CM_THEN(status, give_out(&g, error));
  if (status == CM_OK) {
    trade_all(&g);
    memcpy(processor, g.processor, communities * sizeof *processor);
  }
  giver_free(&g);
  return status;
}
