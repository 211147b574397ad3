/* The inbound nets of all vertices, in gaps. Each thread takes a range of the nets; where a vertex's list stands and what
 * it holds does not depend on how many ranges there are. */
#include "base/threads.h"
#include "core/partition/axon/hypergraph.h"

enum { RANGES_MAX = 8 };

/* What the nets of one range mean for a vertex's list. */
typedef struct stretch {
  uint64_t next;        /* words of all its nets but the first; then where the next one goes */
  uint32_t last, nets;  /* the last one, and how many there are; then the one before the next */
  uint32_t first;       /* of them */
} stretch;

typedef struct listing {
  cm_hypergraph *graph;
  cm_run *run;
  uint32_t ranges;
  stretch *stretch[RANGES_MAX]; /* [vertices] of a range */
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
        s->next += cm_gap_words(e - s->last);
      s->last = e;
    }
  return cm_run_check(w->run, error);
}

/* Turns words into places; returns how many words there are. */
static uint64_t place_stretches(const listing *w)
{
  uint64_t place = 0;
  for (uint32_t v = 0; v < w->graph->vertex_count; v++) {
    uint32_t before = 0;
    w->graph->in_begin[v] = place;
    w->graph->in_count[v] = 0;
    for (uint32_t range = 0; range < w->ranges; range++) {
      stretch *s = &w->stretch[range][v];
      uint32_t last = s->last;
      uint64_t words = s->next;
      s->next = place;
      s->last = before;
      if (s->nets == 0)
        continue;
      w->graph->in_count[v] += s->nets;
      place += words + cm_gap_words(s->first - before);
      before = last;
    }
  }
  return place;
}

static cm_status write_range(void *context, size_t range, cm_error *error)
{
  const listing *w = context;
  const cm_hypergraph *g = w->graph;
  stretch *of = w->stretch[range];
  for (uint32_t e = first_net(w, range); e < first_net(w, range + 1); e++)
    for (cm_targets t = cm_targets_of(g, e); t.left > 0;) {
      stretch *s = &of[cm_targets_next(&t)];
      s->next = (uint64_t)(cm_gap_put(g->in_gap + s->next, e - s->last) - g->in_gap);
      s->last = e;
    }
  return cm_run_check(w->run, error);
}

static cm_status list_all(listing *w, cm_error *error)
{
  cm_hypergraph *g = w->graph;
  if (CM_NEW(w->run->memory, g->in_begin, g->vertex_count, error) != CM_OK ||
      cm_parallel(w->run, w->ranges, measure_range, w, error) != CM_OK ||
      CM_NEW(w->run->memory, g->in_gap, place_stretches(w), error) != CM_OK)
    return error->status;
  return cm_parallel(w->run, w->ranges, write_range, w, error);
}

cm_status cm_hypergraph_list_inbound(cm_hypergraph *graph, cm_run *run, cm_error *error)
{
  if (graph->in_gap != NULL)
    return CM_OK;
  listing w = {.graph = graph, .run = run, .ranges = run->threads < RANGES_MAX ? run->threads : RANGES_MAX};
  cm_status status = list_all(&w, error);
  for (uint32_t range = 0; range < w.ranges; range++)
    cm_free(w.stretch[range]);
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
