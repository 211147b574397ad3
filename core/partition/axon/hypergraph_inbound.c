/* The inbound nets of all vertices, in gaps. Each thread takes a range of the nets; where a vertex's list stands and what
 * it holds does not depend on how many ranges there are. */
#include "base/threads.h"
#include "core/partition/axon/hypergraph.h"

enum { RANGES_MAX = 8 };

/* What the nets of one range mean for a vertex's list. */
typedef struct stretch {
  uint32_t nets, first, last;
  uint32_t words; /* of all but the first, beyond one each */
} stretch;

/* Where the next net of a range goes: small, for it is looked up for every pin. */
typedef struct place {
  uint32_t word; /* from where the lists of its vertex's group begin */
  uint32_t last; /* the net before */
} place;

/* So many vertices are a group while there are few nets enough for 32 bits of words. */
enum { GROUP_BITS = 4, GROUP = 1 << GROUP_BITS, NETS_MANY = 1 << 26 };

typedef struct listing {
  cm_hypergraph *graph;
  cm_run *run;
  uint32_t ranges;
  stretch *stretch[RANGES_MAX]; /* [vertices] of a range */
  place *place[RANGES_MAX];     /* the same */
  uint32_t group;
  uint64_t *base; /* [groups] words before their lists */
} listing;

static uint32_t first_net(const listing *w, size_t range)
{
  return (uint32_t)cm_slice_begin(w->graph->net_count, range, w->ranges);
}

static cm_status measure_range(void *context, size_t range, cm_error *error)
{
  listing *w = context;
  const cm_hypergraph *g = w->graph;
  stretch *of;
  if (CM_NEW(w->run->memory, of, g->vertex_count, error) != CM_OK)
    return error->status;
  w->stretch[range] = of;
  for (uint32_t e = first_net(w, range); e < first_net(w, range + 1); e++)
    for (cm_targets t = cm_targets_of(g, e); t.left > 0;) {
      stretch *s = &of[cm_targets_next(&t)];
      if (s->nets++ == 0)
        s->first = e;
      else
        s->words += cm_gap_words(e - s->last) - 1;
      s->last = e;
    }
  return cm_run_check(w->run, error);
}

/* Places for the nets of all ranges in v's list, from word `at` on; returns where it ends. */
static uint64_t place_list(const listing *w, uint32_t v, uint64_t at)
{
  cm_hypergraph *g = w->graph;
  uint32_t before = 0;
  if (v % w->group == 0)
    w->base[v / w->group] = at;
  g->in_begin[v] = at;
  g->in_count[v] = 0;
  for (uint32_t range = 0; range < w->ranges; range++) {
    const stretch *s = &w->stretch[range][v];
    w->place[range][v] = (place){(uint32_t)(at - w->base[v / w->group]), before};
    if (s->nets == 0)
      continue;
    g->in_count[v] += s->nets;
    at += s->nets - 1 + s->words + cm_gap_words(s->first - before);
    before = s->last;
  }
  return at;
}

static cm_status place_lists(listing *w, uint64_t *words, cm_error *error)
{
  uint32_t n = w->graph->vertex_count;
  w->group = w->graph->net_count < NETS_MANY ? GROUP : 1;
  if (CM_NEW(w->run->memory, w->graph->in_begin, n, error) != CM_OK ||
      CM_NEW(w->run->memory, w->base, n / w->group + 1, error) != CM_OK)
    return error->status;
  for (uint32_t range = 0; range < w->ranges; range++)
    if (CM_NEW(w->run->memory, w->place[range], n, error) != CM_OK)
      return error->status;
  uint64_t at = 0;
  for (uint32_t v = 0; v < n; v++)
    at = place_list(w, v, at);
  *words = at;
  return CM_OK;
}

static cm_status write_range(void *context, size_t range, cm_error *error)
{
  const listing *w = context;
  const cm_hypergraph *g = w->graph;
  place *places = w->place[range];
  unsigned shift = w->group > 1 ? GROUP_BITS : 0;
  for (uint32_t e = first_net(w, range); e < first_net(w, range + 1); e++)
    for (cm_targets t = cm_targets_of(g, e); t.left > 0;) {
      uint32_t v = cm_targets_next(&t);
      place *at = &places[v];
      uint16_t *to = g->in_gap + w->base[v >> shift] + at->word, *end = cm_gap_put(to, e - at->last);
      at->word += (uint32_t)(end - to);
      at->last = e;
    }
  return cm_run_check(w->run, error);
}

static cm_status list_all(listing *w, cm_error *error)
{
  uint64_t words = 0;
  if (cm_parallel(w->run, w->ranges, measure_range, w, error) != CM_OK || place_lists(w, &words, error) != CM_OK)
    return error->status;
  for (uint32_t range = 0; range < w->ranges; range++) {
    cm_free(w->stretch[range]);
    w->stretch[range] = NULL;
  }
  if (CM_NEW(w->run->memory, w->graph->in_gap, words, error) != CM_OK)
    return error->status;
  return cm_parallel(w->run, w->ranges, write_range, w, error);
}

cm_status cm_hypergraph_list_inbound(cm_hypergraph *graph, cm_run *run, cm_error *error)
{
  if (graph->in_gap != NULL)
    return CM_OK;
  listing w = {.graph = graph, .run = run, .ranges = run->threads < RANGES_MAX ? run->threads : RANGES_MAX};
  cm_status status = list_all(&w, error);
  for (uint32_t range = 0; range < w.ranges; range++) {
    cm_free(w.stretch[range]);
    cm_free(w.place[range]);
  }
  cm_free(w.base);
  if (status != CM_OK)
    cm_hypergraph_drop_inbound(graph);
  return status;
}

void cm_hypergraph_drop_inbound(cm_hypergraph *graph)
{
  cm_free(graph->in_begin);
  cm_free(graph->in_gap);
  graph->in_begin = NULL;
  graph->in_gap = NULL;
}
