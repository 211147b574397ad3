/* Communities to processors in one: found, fitted, assigned by the source's rule; and where processors have different
 * numbers of free cores, so that size alone would say which community goes where, pairs of communities trade processors
 * and are cut to their new sizes, as long as that shortens the ways. */
#include "core/learning/communities/communities.h"
#include "core/learning/communities/groups.h"
#include "core/learning/communities/processors.h"

enum { NOBODY = UINT32_MAX, UNFOLD_TRIES = 4, TRIES_MAX = 256 };

typedef struct sharer {
  const cm_sharing *of;
  uint32_t communities;
  uint32_t *community; /* [vertices] */
  uint32_t *tried;     /* [vertices] */
  uint32_t *where;     /* [processors] processor of each community */
  uint32_t *holds;     /* [processors] community of each processor, NOBODY: none */
  uint32_t *room;      /* [processors] free cores of each; then, by community, of its processor */
  __int128 ways;
  uint32_t tries;
} sharer;

static uint32_t room_of(const sharer *s, uint32_t p)
{
  return s->of->processors->first[p + 1] - s->of->processors->first[p];
}

/* Weight times way between processors, over all edges between communities (both directions counted). */
static __int128 ways_of(const sharer *s, const uint32_t *community)
{
  const cm_graph *g = s->of->graph;
  __int128 sum = 0;
  for (uint32_t v = 0; v < g->vertex_count; v++)
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      uint32_t p = s->where[community[v]], q = s->where[community[g->neighbour[i]]];
      if (p != q)
        sum += (__int128)g->weight[i] * cm_die_distance(s->of->chip, s->of->processors->die[p], s->of->processors->die[q]);
    }
  return sum;
}

static void swap_processors(sharer *s, uint32_t p, uint32_t q)
{
  uint32_t c = s->holds[p], d = s->holds[q];
  s->holds[p] = d;
  s->holds[q] = c;
  if (c != NOBODY)
    s->where[c] = q;
  if (d != NOBODY)
    s->where[d] = p;
}

/* Lets the communities of two processors trade them if that shortens the ways, sizes and all. */
static cm_status try_trade(sharer *s, uint32_t p, uint32_t q, bool *better, cm_error *error)
{
  uint64_t all = 0;
  swap_processors(s, p, q);
  bool promising = ways_of(s, s->community) < s->ways && s->tries < TRIES_MAX;
  for (uint32_t c = 0; c < s->communities; c++)
    all += s->room[c] = room_of(s, s->where[c]);
  if (promising && all >= s->of->graph->vertex_count) {
    s->tries++;
    memcpy(s->tried, s->community, s->of->graph->vertex_count * sizeof *s->tried);
    CM_TRY(cm_communities_cut(s->of->graph, s->room, s->communities, s->of->run, s->tried, error));
    __int128 ways = ways_of(s, s->tried);
    if (ways < s->ways) {
      uint32_t *kept = s->community;
      s->community = s->tried;
      s->tried = kept;
      s->ways = ways;
      *better = true;
      return CM_OK;
    }
  }
  swap_processors(s, p, q);
  return CM_OK;
}

static cm_status trade_all(sharer *s, cm_error *error)
{
  uint32_t processors = s->of->processors->count;
  memset(s->holds, 0xff, processors * sizeof *s->holds);
  for (uint32_t c = 0; c < s->communities; c++)
    s->holds[s->where[c]] = c;
  s->ways = ways_of(s, s->community);
  for (bool better = true; better && s->tries < TRIES_MAX;) {
    better = false;
    for (uint32_t p = 0; p < processors; p++)
      for (uint32_t q = p + 1; q < processors; q++)
        if (room_of(s, p) != room_of(s, q) && try_trade(s, p, q, &better, error) != CM_OK)
          return error->status;
  }
  return CM_OK;
}

static cm_status share(sharer *s, cm_error *error)
{
  const cm_unfold_options options = {.tries = UNFOLD_TRIES, .seed = s->of->seed};
  uint32_t n = s->of->graph->vertex_count, processors = s->of->processors->count;
  CM_TRY(CM_NEW_ALL(s->of->run->memory, error, CM_ARRAY(s->community, n), CM_ARRAY(s->tried, n), CM_ARRAY(s->where, processors),
                    CM_ARRAY(s->holds, processors), CM_ARRAY(s->room, processors)));
  for (uint32_t p = 0; p < processors; p++)
    s->room[p] = room_of(s, p);
  CM_TRY(cm_communities_find(s->of->graph, &options, s->of->run, s->community, &s->communities, error));
  CM_TRY(cm_communities_fit(s->of->graph, s->room, processors, s->of->run, s->community, &s->communities, error));
  CM_TRY(cm_processors_assign(s->of, s->community, s->communities, s->where, error));
  return trade_all(s, error);
}

cm_status cm_processors_share(const cm_sharing *sharing, uint32_t *processor, cm_error *error)
{
  sharer s = {.of = sharing};
  cm_status status = share(&s, error);
  for (uint32_t v = 0; status == CM_OK && v < sharing->graph->vertex_count; v++)
    processor[v] = s.where[s.community[v]];
  CM_FREE(s.community, s.tried, s.where, s.holds, s.room);
  return status;
}
