#include "core/partition/axon/cluster.h"

#include <math.h>

#include "base/random.h"
#include "base/threads.h"
#include "core/partition/axon/bands.h"
#include "core/partition/axon/locality.h"
#include "core/partition/options.h"

/* Proposals are made from how things stand at the start of a round; rounds are short beside all vertices. */
enum { ROUNDS = 64, ROUND_MIN = 256, BLOCK = 16, PINS_MAX = 2048, GROUP_MAX = 512 };
#define NONE UINT32_MAX

/* Inbound nets of a vertex whose targets are candidates. */
enum { SAMPLES = 4 };

/* What one thread notes about the vertex under way. */
typedef struct notes {
  uint8_t *hits;     /* [vertices] sampled nets shared, zero between vertices */
  float *shared;     /* [vertices] by leader: share of nets, summed over members; zero between vertices */
  uint32_t *touched; /* [vertices] */
  uint32_t *leader;  /* [vertices] */
} notes;

typedef struct clustering {
  cm_hypergraph *graph;
  const cm_sketches *sketches;
  const cm_cluster_options *options;
  uint32_t *leader;   /* [vertices] cluster of each vertex, named by one member */
  uint32_t *size;     /* [vertices] of the cluster that the vertex leads, in vertex size */
  uint32_t *members;  /* [vertices] of the cluster that the vertex leads */
  uint32_t *proposal; /* [vertices] leader to join */
  const uint32_t *order;
  cm_bands bands;
  uint32_t begin, end; /* the round, in order */
  uint32_t count;      /* clusters so far */
  notes *notes;        /* [threads] */
  uint32_t threads;
  cm_thread_pool *pool;
} clustering;

/* Some of v's inbound nets, evenly spread over them, or of its own where it has none; returns how many. */
static uint32_t sample_nets(const clustering *c, uint32_t v, uint32_t *net)
{
  const cm_hypergraph *g = c->graph;
  bool lonely = g->synapses[v] == 0;
  uint32_t count = lonely ? g->out_first[v + 1] - g->out_first[v] : g->in_count[v];
  uint32_t take = count < SAMPLES ? count : SAMPLES, taken = 0;
  for (uint32_t j = 0; lonely && j < take; j++)
    net[j] = g->out_net[g->out_first[v] + (uint64_t)j * count / take];
  if (lonely)
    return take;
  cm_nets nets = cm_nets_into(g, v);
  for (uint32_t i = 0; taken < take; i++) {
    uint32_t e = cm_nets_next(&nets);
    if (i == (uint64_t)taken * count / take)
      net[taken++] = e;
  }
  return taken;
}

/* Counts for every vertex how many of v's sampled nets it shares; returns how many vertices were met. */
static uint32_t meet(const clustering *c, notes *n, uint32_t v, uint32_t *asked)
{
  const cm_hypergraph *g = c->graph;
  uint32_t asks[SAMPLES], asking = sample_nets(c, v, asks), count = 0;
  *asked = 0;
  for (uint32_t j = 0; j < asking; j++) {
    if (g->net_targets[asks[j]] > PINS_MAX && *asked > 0)
      continue;
    ++*asked;
    cm_targets t = cm_targets_of(g, asks[j]);
    t.left = t.left < PINS_MAX ? t.left : PINS_MAX;
    while (t.left > 0) {
      uint32_t u = cm_targets_next(&t);
      if (n->hits[u]++ == 0)
        n->touched[count++] = u;
    }
  }
  return count;
}

/* The same of the bands in which both are in one group. Of a large group some are met, by each vertex others. */
static uint32_t meet_in_bands(const clustering *c, notes *n, uint32_t v)
{
  uint32_t count = 0;
  for (uint32_t b = 0; b < c->bands.count; b++) {
    uint32_t begin = c->bands.group[(size_t)v * c->bands.count + b];
    if (begin == NONE)
      continue;
    const uint32_t *order = c->bands.order + (size_t)b * c->graph->vertex_count;
    uint32_t end = c->bands.end[(size_t)b * c->graph->vertex_count + begin];
    if (end - begin > GROUP_MAX) {
      begin += (uint32_t)(cm_mix(v) % (end - begin - GROUP_MAX));
      end = begin + GROUP_MAX;
    }
    for (uint32_t i = begin; i < end; i++)
      if (n->hits[order[i]]++ == 0)
        n->touched[count++] = order[i];
  }
  return count;
}

/* Of the vertices met, leaves those in n->touched that share enough of the nets asked and whose cluster has room for v;
 * returns how many. What they need next is fetched on the way. */
static uint32_t choose(const clustering *c, notes *n, uint32_t v, uint32_t met, uint32_t least_hits)
{
  const uint32_t *part = c->options->part;
  uint32_t kept = 0, size = c->graph->size[v];
  for (uint32_t i = 0; i < met; i++) {
    uint32_t u = n->touched[i], leader = c->leader[u];
    bool fits = n->hits[u] >= least_hits && leader != v && c->size[leader] + size <= c->options->size_max &&
                (part == NULL || part[u] == part[v]);
    n->hits[u] = fits ? n->hits[u] : 0;
    n->touched[kept] = u;
    kept += fits;
    if (fits)
      cm_sketch_fetch(c->sketches, u);
  }
  return kept;
}

/* The part of v's nets that it shares with u, of sets about as large. */
static float share(const clustering *c, uint32_t v, uint32_t u)
{
  float overlap = cm_sketch_overlap(c->sketches, u, v);
  return 2 * overlap / (1 + overlap);
}

/* The cluster that v had best join, by how things stand; NONE when there is none. */
static uint32_t best_cluster(const clustering *c, notes *n, uint32_t v)
{
  bool by_hits = c->graph->synapses[v] == 0, banded = !by_hits && c->bands.count > 0;
  uint32_t asked = 1, met = banded ? meet_in_bands(c, n, v) : meet(c, n, v, &asked), leaders = 0, best = NONE;
  uint32_t candidates = choose(c, n, v, met, banded ? 1 : (asked + 2) / 3);
  float best_rating = 0;
  for (uint32_t i = 0; i < candidates; i++) {
    uint32_t u = n->touched[i], hits = n->hits[u], leader = c->leader[u];
    n->hits[u] = 0;
    n->leader[leaders] = leader;
    leaders += n->shared[leader] == 0;
    n->shared[leader] += (by_hits ? (float)hits / (float)asked : share(c, v, u)) + 1e-9F;
  }
  for (uint32_t i = 0; i < leaders; i++) {
    uint32_t leader = n->leader[i];
    float rating = n->shared[leader] / (float)c->members[leader];
    n->shared[leader] = 0;
    if (rating >= (float)c->options->floor && (rating > best_rating || (rating == best_rating && leader < best))) {
      best_rating = rating;
      best = leader;
    }
  }
  return best;
}

static bool alone(const clustering *c, uint32_t v)
{
  return c->leader[v] == v && c->members[v] == 1;
}

/* Task t of a round: every threads-th block of its vertices. */
static cm_status propose(void *context, size_t t, CM_UNUSED cm_error *error)
{
  clustering *c = context;
  for (uint32_t block = c->begin + (uint32_t)t * BLOCK; block < c->end; block += c->threads * BLOCK)
    for (uint32_t i = block; i < c->end && i < block + BLOCK; i++)
      c->proposal[c->order[i]] = alone(c, c->order[i]) ? best_cluster(c, &c->notes[t], c->order[i]) : NONE;
  return CM_OK;
}

/* Joins as proposed, in order, where it is still possible. */
static void join(clustering *c)
{
  for (uint32_t i = c->begin; i < c->end; i++) {
    uint32_t v = c->order[i], to = c->proposal[v];
    if (to == NONE || !alone(c, v))
      continue;
    to = c->leader[to];
    if (to == v || c->size[to] + c->graph->size[v] > c->options->size_max)
      continue;
    c->leader[v] = to;
    c->size[to] += c->graph->size[v];
    c->members[to]++;
    c->count--;
  }
}

static uint32_t number_clusters(const clustering *c, uint32_t *map)
{
  uint32_t n = c->graph->vertex_count, next = 0, *number = c->proposal;
  for (uint32_t v = 0; v < n; v++)
    number[v] = NONE;
  for (uint32_t v = 0; v < n; v++) {
    uint32_t leader = c->leader[v];
    if (number[leader] == NONE)
      number[leader] = next++;
    map[v] = number[leader];
  }
  return next;
}

static cm_status allocate(clustering *c, cm_memory *memory, cm_error *error)
{
  uint32_t n = c->graph->vertex_count;
  if (CM_NEW(memory, c->leader, n, error) != CM_OK || CM_NEW(memory, c->size, n, error) != CM_OK ||
      CM_NEW(memory, c->members, n, error) != CM_OK || CM_NEW(memory, c->proposal, n, error) != CM_OK ||
      CM_NEW(memory, c->notes, c->threads, error) != CM_OK)
    return error->status;
  for (uint32_t t = 0; t < c->threads; t++)
    if (CM_NEW(memory, c->notes[t].hits, n, error) != CM_OK || CM_NEW(memory, c->notes[t].shared, n, error) != CM_OK ||
        CM_NEW(memory, c->notes[t].touched, n, error) != CM_OK || CM_NEW(memory, c->notes[t].leader, n, error) != CM_OK)
      return error->status;
  return CM_OK;
}

static void release(clustering *c)
{
  for (uint32_t t = 0; c->notes != NULL && t < c->threads; t++) {
    CM_FREE(c->notes[t].hits, c->notes[t].shared, c->notes[t].touched, c->notes[t].leader);
  }
  CM_FREE(c->notes, c->leader, c->size, c->members, c->proposal);
}

/* Every vertex once, a round at a time. */
static cm_status visit_all(clustering *c, cm_run *run, cm_error *error)
{
  uint32_t n = c->graph->vertex_count, length = n / ROUNDS > ROUND_MIN ? n / ROUNDS : ROUND_MIN;
  for (c->begin = 0; c->begin < n; c->begin = c->end) {
    c->end = n - c->begin > length ? c->begin + length : n;
    CM_TRY(cm_thread_pool_run(c->pool, c->threads, propose, c, error));
    join(c);
    CM_TRY(cm_run_progress(run, (double)c->end / n, (int)c->options->level, n, NAN, error));
  }
  return CM_OK;
}

cm_status cm_cluster(cm_hypergraph *graph, const cm_sketches *sketches, const cm_cluster_options *options,
                     cm_run *run, uint32_t *map, uint32_t *clusters, cm_error *error)
{
  clustering c = {.graph = graph, .sketches = sketches, .options = options, .threads = run->threads};
  uint32_t n = graph->vertex_count, *order = NULL;
  cm_status status = allocate(&c, run->memory, error);
  CM_THEN(status, CM_NEW(run->memory, order, n, error));
  if (status == CM_OK) {
    cm_random random;
    cm_random_init(&random, options->seed, CM_STREAM_COARSENING, options->level << 32 | 1);
    cm_shuffle_by_locality(&random, BLOCK, order, n);
    for (uint32_t v = 0; v < n; v++) {
      c.leader[v] = v;
      c.size[v] = graph->size[v];
      c.members[v] = 1;
    }
  }
  c.order = order;
  c.count = n;
  CM_THEN(status, cm_bands_new(sketches, cm_hypergraph_reaches_many(graph) ? CM_SKETCH_KEYS / 2 : 0, run, &c.bands, error));
  CM_THEN_IF(status, c.bands.count == 0, cm_hypergraph_list_inbound(graph, run, error));
  CM_THEN(status, cm_thread_pool_new(run->memory, c.threads, &c.pool, error));
  CM_THEN(status, visit_all(&c, run, error));
  if (status == CM_OK)
    *clusters = number_clusters(&c, map);
  cm_thread_pool_free(c.pool);
  cm_bands_free(&c.bands);
  release(&c);
  cm_free(order);
  return status;
}
