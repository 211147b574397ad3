/* The inbound nets of all vertices, packed. Pins come by nets and are listed by vertices: appending each to its vertex's list at
 * once would wait for memory at every pin. So a chunk of nets at a time they are dealt to groups of neighbouring vertices, and
 * what a group got is appended while its lists are in the cache. Which lists come out does not depend on chunks or threads. */
#include <string.h>

#include "base/threads.h"
#include "core/partition/axon/hypergraph.h"

/* A pin that was dealt is a word: its vertex within the group, and above it its net within the chunk. Lists are fetched so many pins AHEAD. */
enum { GROUP_BITS = 10, CHUNK_PINS = 1 << 20, AHEAD = 12 };

/* The part of a chunk that one thread deals. */
typedef struct range {
  uint32_t first, end;
  uint64_t pin;    /* its first one in `target` */
  uint32_t *count; /* [groups] of its pins; then where the next one of a group goes in `dealt` */
} range;

typedef struct listing {
  cm_hypergraph *graph;
  cm_run *run;
  cm_thread_pool *pool;
  uint32_t groups, ranges;
  range range[CM_RANGES_MAX];
  uint32_t first;   /* net of the chunk */
  uint32_t *target; /* [pins of a chunk] */
  uint32_t *dealt;  /* the same, by groups, those of each by nets */
  uint32_t *begin;  /* [groups + 1] where what a group got begins in `dealt` */
  cm_list_end *end; /* [vertices] where its next net goes */
} listing;

/* ---- how long lists are ---- */

typedef struct counting {
  const cm_hypergraph *graph;
  cm_run *run;
  uint32_t ranges, *count[CM_RANGES_MAX]; /* [vertices] */
} counting;

static cm_status count_range(void *context, size_t i, cm_error *error)
{
  counting *w = context;
  const cm_hypergraph *g = w->graph;
  uint32_t *count = w->count[i], end = (uint32_t)cm_slice_begin(g->net_count, i + 1, w->ranges);
  for (uint32_t e = (uint32_t)cm_slice_begin(g->net_count, i, w->ranges); e < end; e++)
    for (cm_targets t = cm_targets_of(g, e); t.left > 0;)
      count[cm_targets_next(&t)]++;
  return cm_run_check(w->run, error);
}

static cm_status count_nets(cm_hypergraph *g, uint32_t ranges, cm_run *run, cm_error *error)
{
  counting w = {.graph = g, .run = run, .ranges = ranges, .count = {g->in_count}};
  cm_status status = CM_OK;
  memset(g->in_count, 0, g->vertex_count * sizeof *g->in_count);
  for (uint32_t i = 1; i < ranges && status == CM_OK; i++)
    status = CM_NEW(run->memory, w.count[i], g->vertex_count, error);
  CM_THEN(status, cm_parallel(run, ranges, count_range, &w, error));
  for (uint32_t i = 1; i < ranges; i++) {
    for (uint32_t v = 0; status == CM_OK && v < g->vertex_count; v++)
      g->in_count[v] += w.count[i][v];
    cm_free(w.count[i]);
  }
  g->in_counted = status == CM_OK;
  return status;
}

/* Groups are written side by side: each ends with what is read beyond its lists. */
static cm_status place_lists(listing *w, cm_error *error)
{
  cm_hypergraph *g = w->graph;
  uint64_t bytes = 0;
  if ((!g->in_counted && count_nets(g, w->ranges, w->run, error) != CM_OK) ||
      CM_NEW_ALL(w->run->memory, error, CM_ARRAY(g->in_begin, g->vertex_count), CM_ARRAY(w->end, g->vertex_count)) != CM_OK)
    return error->status;
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    g->in_begin[v] = bytes;
    w->end[v] = cm_list_begin(bytes, g->in_count[v], g->net_count);
    bytes += cm_list_bytes(g->in_count[v], g->net_count) + ((v + 1) >> GROUP_BITS != v >> GROUP_BITS ? CM_LIST_BEYOND : 0);
  }
  return CM_NEW(w->run->memory, g->in_code, bytes + CM_LIST_BEYOND, error);
}

/* ---- chunk by chunk ---- */

/* The targets of a range's nets, and how many of them each group has. */
static cm_status read_range(void *context, size_t i, CM_UNUSED cm_error *error)
{
  listing *w = context;
  const cm_hypergraph *g = w->graph;
  const range *r = &w->range[i];
  uint32_t *to = w->target + r->pin;
  memset(r->count, 0, w->groups * sizeof *r->count);
  for (uint32_t e = r->first; e < r->end; e++)
    for (cm_targets t = cm_targets_of(g, e); t.left > 0;) {
      uint32_t v = cm_targets_next(&t);
      *to++ = v;
      r->count[v >> GROUP_BITS]++;
    }
  return CM_OK;
}

static cm_status deal_range(void *context, size_t i, CM_UNUSED cm_error *error)
{
  listing *w = context;
  const range *r = &w->range[i];
  const uint32_t *from = w->target + r->pin;
  for (uint32_t e = r->first; e < r->end; e++)
    for (uint32_t left = w->graph->net_targets[e]; left > 0; left--) {
      uint32_t v = *from++;
      w->dealt[r->count[v >> GROUP_BITS]++] = (e - w->first) << GROUP_BITS | (v & ((1 << GROUP_BITS) - 1));
    }
  return CM_OK;
}

static cm_status append_group(void *context, size_t group, CM_UNUSED cm_error *error)
{
  listing *w = context;
  cm_list_end *end = w->end + (group << GROUP_BITS);
  unsigned char *code = w->graph->in_code;
  const uint32_t *dealt = w->dealt, first = w->first, stop = w->begin[group + 1], mask = (1 << GROUP_BITS) - 1;
  for (uint32_t i = w->begin[group]; i < stop; i++) {
    const cm_list_end *later = &end[dealt[i + AHEAD < stop ? i + AHEAD : i] & mask];
    __builtin_prefetch(code + later->low / 8, 1);
    __builtin_prefetch(code + later->one / 8, 1);
    cm_list_put(code, &end[dealt[i] & mask], first + (dealt[i] >> GROUP_BITS));
  }
  return CM_OK;
}

/* Where what each group gets of each range goes. */
static void lay_out(listing *w)
{
  uint32_t at = 0;
  for (uint32_t group = 0; group < w->groups; group++) {
    w->begin[group] = at;
    for (uint32_t i = 0; i < w->ranges; i++) {
      uint32_t here = w->range[i].count[group];
      w->range[i].count[group] = at;
      at += here;
    }
  }
  w->begin[w->groups] = at;
}

static cm_status list_chunk(listing *w, uint32_t end, cm_error *error)
{
  uint64_t pin = 0;
  for (uint32_t i = 0; i < w->ranges; i++) {
    range *r = &w->range[i];
    r->first = w->first + (uint32_t)cm_slice_begin(end - w->first, i, w->ranges);
    r->end = w->first + (uint32_t)cm_slice_begin(end - w->first, i + 1, w->ranges);
    r->pin = pin;
    for (uint32_t e = r->first; e < r->end; e++)
      pin += w->graph->net_targets[e];
  }
  CM_TRY(cm_thread_pool_run(w->pool, w->ranges, read_range, w, error));
  lay_out(w);
  CM_TRY(cm_thread_pool_run(w->pool, w->ranges, deal_range, w, error));
  CM_TRY(cm_thread_pool_run(w->pool, w->groups, append_group, w, error));
  return cm_run_check(w->run, error);
}

/* The nets from `first` on that are a chunk: of CHUNK_PINS or few more, or one. */
static uint32_t chunk_end(const cm_hypergraph *g, uint32_t first, uint64_t *pins)
{
  uint32_t e = first;
  for (*pins = 0; e < g->net_count && (e - first) >> (32 - GROUP_BITS) == 0 && (e == first || *pins + g->net_targets[e] <= CHUNK_PINS); e++)
    *pins += g->net_targets[e];
  return e;
}

static cm_status list_all(listing *w, cm_error *error)
{
  const cm_hypergraph *g = w->graph;
  cm_memory *memory = w->run->memory;
  uint64_t pins, largest = 0;
  for (uint32_t e = 0; e < g->net_count; largest = pins > largest ? pins : largest)
    e = chunk_end(g, e, &pins);
  CM_TRY(place_lists(w, error));
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(w->target, largest), CM_ARRAY(w->dealt, largest),
                    CM_ARRAY(w->begin, (size_t)w->groups + 1)));
  for (uint32_t i = 0; i < w->ranges; i++)
    CM_TRY(CM_NEW(memory, w->range[i].count, w->groups, error));
  cm_status status = cm_thread_pool_new(memory, w->ranges, &w->pool, error);
  for (uint32_t end; status == CM_OK && w->first < g->net_count; w->first = end) {
    end = chunk_end(g, w->first, &pins);
    status = list_chunk(w, end, error);
  }
  return status;
}

cm_status cm_hypergraph_list_inbound(cm_hypergraph *graph, cm_run *run, cm_error *error)
{
  if (graph->in_code != NULL)
    return CM_OK;
  listing w = {.graph = graph,
               .run = run,
               .groups = (graph->vertex_count >> GROUP_BITS) + 1,
               .ranges = run->threads < CM_RANGES_MAX ? run->threads : CM_RANGES_MAX};
  cm_status status = list_all(&w, error);
  cm_thread_pool_free(w.pool);
  for (uint32_t i = 0; i < w.ranges; i++)
    cm_free(w.range[i].count);
  CM_FREE(w.end, w.target, w.dealt, w.begin);
  if (status != CM_OK)
    cm_hypergraph_drop_inbound(graph);
  return status;
}

void cm_hypergraph_drop_inbound(cm_hypergraph *graph)
{
  CM_FREE(graph->in_begin, graph->in_code);
  graph->in_begin = NULL;
  graph->in_code = NULL;
}
