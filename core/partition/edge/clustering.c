#include "core/partition/edge/clustering.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/threads.h"
#include "core/partition/options.h"

enum {
  CHECK_EVERY = 4096,
  BLOCK = 64,                  /* vertices that stay together in the visiting order */
  PARALLEL_ENTRIES = 4000000,  /* graphs with fewer are clustered one vertex after another */
  BATCHES = 48,
  LIST_MAX = 24                /* rows up to this length are summed in a list rather than a table */
};
#define NONE UINT32_MAX

/* A neighbouring cluster of the vertex under way. */
typedef struct candidate {
  uint32_t cluster;
  uint64_t weight;
} candidate;

/* What one thread needs to rate. */
typedef struct rater {
  candidate *seen; /* [longest row, at most vertices] */
  uint32_t *place; /* [vertices] of a cluster in `seen`, NONE between vertices; only where rows are long */
} rater;

typedef struct clustering {
  const cm_csr_graph *graph;
  const cm_clustering_options *options;
  cm_run *run;
  uint32_t *order;    /* [vertices] */
  uint32_t *cluster;  /* [vertices] a member whose own cluster is itself */
  uint64_t *size;     /* [vertices] of the cluster that it represents */
  uint32_t *wanted;   /* [vertices] best rated cluster, full or not */
  uint32_t *proposal; /* [vertices] where a batch's vertices would go */
  uint32_t begin, end; /* the batch, in `order` */
  unsigned raters;
  rater *rater;       /* [raters] */
} clustering;

static void visiting_order(clustering *c, cm_random *random)
{
  uint32_t n = c->graph->vertex_count, blocks = n / BLOCK + (n % BLOCK != 0), used = 0;
  uint32_t *block = c->proposal;
  for (uint32_t b = 0; b < blocks; b++)
    block[b] = b;
  for (uint32_t b = blocks; b > 1; b--) {
    uint32_t other = (uint32_t)cm_random_below(random, b), held = block[b - 1];
    block[b - 1] = block[other];
    block[other] = held;
  }
  for (uint32_t b = 0; b < blocks; b++) {
    uint32_t begin = block[b] * BLOCK, count = n - begin < BLOCK ? n - begin : BLOCK;
    for (uint32_t i = 0; i < count; i++) {
      uint32_t other = (uint32_t)cm_random_below(random, i + 1);
      c->order[used + i] = c->order[used + other];
      c->order[used + other] = begin + i;
    }
    used += count;
  }
}

static uint32_t sum_in_list(const clustering *c, rater *r, uint32_t v)
{
  const cm_csr_graph *g = c->graph;
  uint32_t count = 0;
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
    uint32_t other = c->cluster[g->neighbour[i]], at = 0;
    while (at < count && r->seen[at].cluster != other)
      at++;
    if (at == count)
      r->seen[count++] = (candidate){.cluster = other};
    r->seen[at].weight += cm_csr_graph_weight(g, i);
  }
  return count;
}

static uint32_t sum_in_table(const clustering *c, rater *r, uint32_t v)
{
  const cm_csr_graph *g = c->graph;
  uint32_t count = 0;
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
    uint32_t other = c->cluster[g->neighbour[i]];
    if (r->place[other] == NONE) {
      r->place[other] = count;
      r->seen[count++] = (candidate){.cluster = other};
    }
    r->seen[r->place[other]].weight += cm_csr_graph_weight(g, i);
  }
  for (uint32_t i = 0; i < count; i++)
    r->place[r->seen[i].cluster] = NONE;
  return count;
}

/* The best rated cluster that has room for v; NONE when there is none. Also notes the best rated of all. */
static uint32_t rate(clustering *c, rater *r, uint32_t v)
{
  const cm_csr_graph *g = c->graph;
  const uint32_t *label = c->options->label;
  uint32_t count = cm_csr_graph_degree(g, v) <= LIST_MAX ? sum_in_list(c, r, v) : sum_in_table(c, r, v);
  uint32_t best = NONE, wanted = NONE;
  double best_rating = -1, wanted_rating = -1;
  uint64_t room = c->options->size_max >= g->size[v] ? c->options->size_max - g->size[v] : 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t other = r->seen[i].cluster;
    if (label != NULL && label[other] != label[v])
      continue;
    double rating = (double)r->seen[i].weight / (double)c->size[other];
    if (rating > wanted_rating) {
      wanted_rating = rating;
      wanted = other;
    }
    if (rating > best_rating && c->size[other] <= room) {
      best_rating = rating;
      best = other;
    }
  }
  c->wanted[v] = wanted;
  return best;
}

/* Whether v is the only member of its cluster. */
static bool alone(const clustering *c, uint32_t v)
{
  return c->cluster[v] == v && c->size[v] == c->graph->size[v];
}

static void join(clustering *c, uint32_t v, uint32_t cluster)
{
  c->cluster[v] = cluster;
  c->size[cluster] += c->graph->size[v];
}

static cm_status propose_slice(void *context, size_t slice, cm_error *error)
{
  clustering *c = context;
  uint32_t begin = c->begin + (uint32_t)cm_slice_begin(c->end - c->begin, slice, c->raters);
  uint32_t end = c->begin + (uint32_t)cm_slice_begin(c->end - c->begin, slice + 1, c->raters);
  for (uint32_t i = begin; i < end; i++) {
    uint32_t v = c->order[i];
    c->proposal[v] = alone(c, v) ? rate(c, &c->rater[slice], v) : NONE;
    if (i % CHECK_EVERY == 0 && cm_run_check(c->run, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

static cm_status visit_in_batches(clustering *c, cm_error *error)
{
  uint32_t n = c->graph->vertex_count;
  for (uint32_t b = 0; b < BATCHES; b++) {
    c->begin = (uint32_t)cm_slice_begin(n, b, BATCHES);
    c->end = (uint32_t)cm_slice_begin(n, b + 1, BATCHES);
    CM_TRY(cm_parallel(c->run, c->raters, propose_slice, c, error));
    for (uint32_t i = c->begin; i < c->end; i++) {
      uint32_t v = c->order[i], to = c->proposal[v];
      if (to == NONE || !alone(c, v))
        continue;
      to = c->cluster[to]; /* it may itself have joined another by now */
      if (to != v && c->size[to] + c->graph->size[v] <= c->options->size_max)
        join(c, v, to);
    }
  }
  return CM_OK;
}

static cm_status visit_one_by_one(clustering *c, cm_error *error)
{
  for (uint32_t i = 0; i < c->graph->vertex_count; i++) {
    uint32_t v = c->order[i];
    if (i % CHECK_EVERY == 0 && cm_run_check(c->run, error) != CM_OK)
      return error->status;
    if (!alone(c, v))
      continue;
    uint32_t to = rate(c, &c->rater[0], v);
    if (to != NONE)
      join(c, v, to);
  }
  return CM_OK;
}

/* Vertices still alone that want the same cluster join each other; those without edges join any of their kind. */
static void join_by_wish(clustering *c)
{
  uint32_t n = c->graph->vertex_count, *waiting = c->proposal, unconnected = NONE;
  memset(waiting, 0xff, n * sizeof *waiting);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t v = c->order[i];
    if (!alone(c, v))
      continue;
    uint32_t wish = c->wanted[v] == NONE ? NONE : c->cluster[c->wanted[v]];
    if (wish == v || (wish == NONE && cm_csr_graph_degree(c->graph, v) > 0))
      continue;
    uint32_t *slot = wish == NONE ? &unconnected : &waiting[wish], other = *slot;
    bool same = other != NONE && (c->options->label == NULL || c->options->label[other] == c->options->label[v]);
    if (same && c->size[other] + c->graph->size[v] <= c->options->size_max)
      join(c, v, other);
    else
      *slot = v;
  }
}

/* Numbers clusters by lowest member. */
static uint32_t number(const clustering *c, uint32_t *map)
{
  uint32_t n = c->graph->vertex_count, count = 0, *name = c->proposal;
  memset(name, 0xff, n * sizeof *name);
  for (uint32_t v = 0; v < n; v++) {
    uint32_t r = c->cluster[v];
    if (name[r] == NONE)
      name[r] = count++;
    map[v] = name[r];
  }
  return count;
}

static cm_status new_raters(clustering *c, uint64_t longest, cm_error *error)
{
  uint32_t n = c->graph->vertex_count;
  CM_TRY(CM_NEW(c->run->memory, c->rater, c->raters, error));
  for (unsigned t = 0; t < c->raters; t++) {
    CM_TRY(CM_NEW(c->run->memory, c->rater[t].seen, longest < n ? longest : n, error));
    if (longest <= LIST_MAX)
      continue;
    CM_TRY(CM_NEW(c->run->memory, c->rater[t].place, n, error));
    memset(c->rater[t].place, 0xff, n * sizeof *c->rater[t].place);
  }
  return CM_OK;
}

static cm_status cluster(clustering *c, cm_error *error)
{
  const cm_csr_graph *g = c->graph;
  uint32_t n = g->vertex_count;
  cm_memory *memory = c->run->memory;
  bool large = g->entry_count >= PARALLEL_ENTRIES;
  uint64_t longest = 0;
  for (uint32_t v = 0; v < n; v++)
    longest = cm_csr_graph_degree(g, v) > longest ? cm_csr_graph_degree(g, v) : longest;
  c->raters = large ? c->run->threads : 1;
  if (CM_NEW(memory, c->order, n, error) != CM_OK || CM_NEW(memory, c->cluster, n, error) != CM_OK ||
      CM_NEW(memory, c->size, n, error) != CM_OK || CM_NEW(memory, c->wanted, n, error) != CM_OK ||
      CM_NEW(memory, c->proposal, n, error) != CM_OK || new_raters(c, longest, error) != CM_OK)
    return error->status;
  for (uint32_t v = 0; v < n; v++) {
    c->cluster[v] = v;
    c->size[v] = g->size[v];
    c->wanted[v] = NONE;
  }
  cm_random random;
  cm_random_init(&random, c->options->seed, CM_STREAM_COARSENING, c->options->level);
  visiting_order(c, &random);
  cm_status status = large ? visit_in_batches(c, error) : visit_one_by_one(c, error);
  if (status == CM_OK)
    join_by_wish(c);
  return status;
}

cm_status cm_cluster_heavy_edges(const cm_csr_graph *graph, const cm_clustering_options *options, cm_run *run, uint32_t *map,
                         uint32_t *clusters, cm_error *error)
{
  clustering c = {.graph = graph, .options = options, .run = run};
  cm_status status = cluster(&c, error);
  if (status == CM_OK)
    *clusters = number(&c, map);
  for (unsigned t = 0; c.rater != NULL && t < c.raters; t++) {
    CM_FREE(c.rater[t].seen, c.rater[t].place);
  }
  CM_FREE(c.rater, c.order, c.cluster, c.size, c.wanted, c.proposal);
  return status;
}

/* ---- the hierarchy ---- */

/* A level is not worth it that has more than this share of the finer one's vertices. */
static const double shrunk = 0.95;

typedef struct coarsening {
  const cm_csr_coarsen_options *options;
  cm_run *run;
} coarsening;

/* What a cluster of a level may have. */
static uint64_t size_limit(const cm_csr_coarsen_options *o, const cm_csr_graph *g)
{
  uint64_t most = (uint64_t)fmin(o->growth * (double)g->size_total / g->vertex_count, (double)o->size_max);
  return most < o->size_min ? o->size_min : most;
}

static cm_status cluster_level(void *context, const cm_level *level, uint32_t *map, uint32_t *clusters, cm_error *error)
{
  const coarsening *c = context;
  const cm_csr_coarsen_options *o = c->options;
  const cm_csr_graph *g = level->graph;
  cm_csr_graph rated = *g;
  cm_clustering_options each = {.size_max = size_limit(o, g), .label = level->label, .seed = o->seed, .level = level->number};
  uint32_t *rating = NULL;
  if (o->rate != NULL) {
    CM_TRY(o->rate(g, o->seed, level->number, c->run, &rating, error));
    rated.weight = rating;
    rated.wide = NULL;
  }
  cm_status status = cm_cluster_heavy_edges(&rated, &each, c->run, map, clusters, error);
  cm_free(rating);
  if (status == CM_OK && *clusters > shrunk * g->vertex_count)
    *clusters = g->vertex_count;
  cm_run_add(c->run, o->share * pow(0.5, level->number + 1.0));
  return status;
}

static cm_status contract_level(const void *graph, const uint32_t *map, uint32_t clusters, cm_run *run, void **coarse,
                                cm_error *error)
{
  cm_csr_graph *made;
  cm_status status = cm_csr_graph_contract(graph, map, clusters, run, &made, error);
  if (status == CM_OK)
    *coarse = made;
  return status;
}

static void release_level(void *graph)
{
  cm_csr_graph_free(graph);
}

cm_status cm_csr_coarsen(cm_csr_graph *finest, const cm_csr_coarsen_options *options, cm_run *run, cm_hierarchy *hierarchy,
                         cm_error *error)
{
  coarsening c = {options, run};
  const cm_coarsener coarsener = {&c, options->vertices_min, options->label, cluster_level, contract_level, release_level};
  return cm_hierarchy_build(finest, finest->vertex_count, &coarsener, run, hierarchy, error);
}

static cm_status cluster_in_order(void *context, const cm_level *level, uint32_t *map, uint32_t *clusters, cm_error *error)
{
  const unsigned *bits = context;
  uint32_t n = ((const cm_csr_graph *)level->graph)->vertex_count;
  for (uint32_t v = 0; v < n; v++)
    map[v] = v >> *bits;
  *clusters = n > 0 ? map[n - 1] + 1 : 0;
  (void)error;
  return CM_OK;
}

cm_status cm_csr_coarsen_in_order(cm_csr_graph *finest, unsigned bits, uint32_t vertices_min, cm_run *run,
                                  cm_hierarchy *hierarchy, cm_error *error)
{
  const cm_coarsener coarsener = {&bits, vertices_min, NULL, cluster_in_order, contract_level, release_level};
  return cm_hierarchy_build(finest, finest->vertex_count, &coarsener, run, hierarchy, error);
}
