/* Fast unfolding. A move of v from its community to C changes modularity by 2 / (2m)^2 times what `value` of C exceeds
 * that of its own: both are whole numbers, so that nothing depends on rounding. */
#include "core/learning/communities/communities.h"

#include "base/random.h"
#include "core/learning/communities/groups.h"
#include "core/partition/options.h"

enum { CHECK_EVERY = 4096 };

#define WEIGHT_MAX (UINT64_C(1) << 61) /* of all edges */

typedef __int128 cm_value;

typedef struct level {
  const cm_graph *graph;
  const uint64_t *degree; /* [vertices] edges inside a merged vertex counted twice */
  uint64_t twice;         /* sum of the degrees */
} level;

/* Moves the vertices of one level. */
typedef struct mover {
  level of;
  uint32_t *community;    /* [vertices] numbers below vertices */
  uint64_t *total;        /* [vertices] sum of degrees, by community */
  uint64_t *tie;          /* [vertices] by community, zero between vertices */
  uint32_t *touched;      /* [vertices] */
  uint32_t *queue;        /* [vertices] ring of those to look at */
  uint8_t *queued;        /* [vertices] */
} mover;

static void mover_free(mover *m)
{
  CM_FREE(m->total, m->tie, m->touched, m->queue, m->queued);
}

static cm_status mover_new(level of, uint32_t *community, cm_memory *memory, mover *made, cm_error *error)
{
  mover m = {.of = of, .community = community};
  uint32_t n = of.graph->vertex_count;
  CM_TRY_OR(CM_NEW_ALL(memory, error, CM_ARRAY(m.total, n), CM_ARRAY(m.tie, n), CM_ARRAY(m.touched, n), CM_ARRAY(m.queue, n),
                       CM_ARRAY(m.queued, n)), mover_free(&m));
  *made = m;
  return CM_OK;
}

/* The community that v likes best, its own among equals, then the lowest number. v is in none just now. */
static uint32_t best_for(mover *m, uint32_t v)
{
  const cm_graph *g = m->of.graph;
  uint32_t own = m->community[v], count = 0, best = own;
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
    uint32_t c = m->community[g->neighbour[i]];
    if (g->weight[i] == 0)
      continue;
    if (m->tie[c] == 0)
      m->touched[count++] = c;
    m->tie[c] += g->weight[i];
  }
  cm_value own_value = (cm_value)m->of.twice * (cm_value)m->tie[own] - (cm_value)m->of.degree[v] * (cm_value)m->total[own];
  cm_value best_value = own_value;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t c = m->touched[i];
    cm_value value = (cm_value)m->of.twice * (cm_value)m->tie[c] - (cm_value)m->of.degree[v] * (cm_value)m->total[c];
    if (value > best_value || (value == best_value && value > own_value && c < best)) {
      best_value = value;
      best = c;
    }
    m->tie[c] = 0;
  }
  return best;
}

/* Looks at all vertices in random order, and again at the neighbours of those that moved, until nothing moves. */
static cm_status move_all(mover *m, cm_random *random, cm_run *run, cm_error *error)
{
  const cm_graph *g = m->of.graph;
  uint32_t n = g->vertex_count, head = 0, waiting = n;
  memset(m->total, 0, n * sizeof *m->total);
  for (uint32_t v = 0; v < n; v++)
    m->total[m->community[v]] += m->of.degree[v];
  cm_random_permutation(random, m->queue, n);
  memset(m->queued, 1, n);
  for (uint64_t step = 1; waiting > 0; step++) {
    uint32_t v = m->queue[head];
    head = head + 1 == n ? 0 : head + 1;
    waiting--;
    m->queued[v] = 0;
    uint32_t own = m->community[v];
    m->total[own] -= m->of.degree[v];
    uint32_t to = best_for(m, v);
    m->total[to] += m->of.degree[v];
    m->community[v] = to;
    for (uint64_t i = g->first[v]; to != own && i < g->first[v + 1]; i++) {
      uint32_t u = g->neighbour[i];
      if (m->community[u] == to || m->queued[u])
        continue;
      m->queued[u] = 1;
      m->queue[(uint32_t)(((uint64_t)head + waiting++) % n)] = u;
    }
    if (step % CHECK_EVERY == 0 && cm_run_check(run, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

cm_status cm_number_groups(uint32_t *group, uint32_t count, uint32_t bound, cm_memory *memory, uint32_t *groups,
                           cm_error *error)
{
  uint32_t *number, used = 0;
  CM_TRY(CM_NEW(memory, number, bound, error));
  for (uint32_t v = 0; v < count; v++) {
    if (number[group[v]] == 0)
      number[group[v]] = ++used;
    group[v] = number[group[v]] - 1;
  }
  cm_free(number);
  *groups = used;
  return CM_OK;
}

static cm_status unfold(level of, cm_random *random, cm_run *run, uint32_t *community, uint32_t *count, cm_error *error);

/* Unfolds the graph of the communities, and gives their vertices the communities that they end in. */
static cm_status unfold_coarser(level of, cm_random *random, cm_run *run, uint32_t *community, uint32_t *count, cm_error *error)
{
  cm_graph *coarse = NULL;
  uint64_t *sum = NULL;
  uint32_t *outer = NULL, communities = *count;
  cm_status status = cm_graph_contract(of.graph, community, communities, run, &coarse, error);
  CM_THEN(status, CM_NEW_ALL(run->memory, error, CM_ARRAY(sum, communities), CM_ARRAY(outer, communities)));
  for (uint32_t v = 0; status == CM_OK && v < of.graph->vertex_count; v++)
    sum[community[v]] += of.degree[v];
  CM_THEN(status, unfold((level){coarse, sum, of.twice}, random, run, outer, count, error));
  for (uint32_t v = 0; status == CM_OK && v < of.graph->vertex_count; v++)
    community[v] = outer[community[v]];
  cm_graph_free(coarse);
  CM_FREE(sum, outer);
  return status;
}

/* One level and all coarser ones; fills community [vertices]. */
static cm_status unfold(level of, cm_random *random, cm_run *run, uint32_t *community, uint32_t *count, cm_error *error)
{
  mover m = {0};
  uint32_t n = of.graph->vertex_count;
  CM_TRY(mover_new(of, community, run->memory, &m, error));
  for (uint32_t v = 0; v < n; v++)
    community[v] = v;
  cm_status status = move_all(&m, random, run, error);
  CM_THEN(status, cm_number_groups(community, n, n, run->memory, count, error));
  if (status == CM_OK && *count < n) {
    status = unfold_coarser(of, random, run, community, count, error);
    CM_THEN(status, move_all(&m, random, run, error));
    CM_THEN(status, cm_number_groups(community, n, n, run->memory, count, error));
  }
  mover_free(&m);
  return status;
}

static cm_status check_weights(const cm_graph *graph, cm_error *error)
{
  if (graph->weight_total <= WEIGHT_MAX)
    return CM_OK;
  return cm_fail(error, CM_TOO_LARGE,
                 "the edges of the graph weigh %llu together (scaled), more than the 2^61 for which communities can be "
                 "compared exactly",
                 (unsigned long long)graph->weight_total);
}

/* (2m)^2 times Newman's modularity: the share of the weight inside communities, less what it would be among vertices of the same degrees
 * joined at random. */
static cm_status exact_modularity(const cm_graph *graph, const uint32_t *community, uint32_t count, cm_memory *memory,
                                  cm_value *value, cm_error *error)
{
  uint64_t *inner = NULL, *total = NULL;
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(inner, count), CM_ARRAY(total, count));
  for (uint32_t v = 0; status == CM_OK && v < graph->vertex_count; v++)
    for (uint64_t i = graph->first[v]; i < graph->first[v + 1]; i++) {
      total[community[v]] += graph->weight[i];
      inner[community[v]] += community[graph->neighbour[i]] == community[v] ? graph->weight[i] : 0;
    }
  cm_value sum = 0, twice = (cm_value)graph->weight_total * 2;
  for (uint32_t c = 0; status == CM_OK && c < count; c++)
    sum += twice * (cm_value)inner[c] - (cm_value)total[c] * (cm_value)total[c];
  CM_FREE(inner, total);
  CM_END(status, *value = sum, );
}

/* One try after another; the best in `community`. */
static cm_status best_of_tries(level of, const cm_unfold_options *options, cm_run *run, uint32_t *community, uint32_t *count,
                               cm_error *error)
{
  cm_value best = 0, value;
  uint32_t *found;
  cm_status status = CM_NEW(run->memory, found, of.graph->vertex_count, error);
  for (uint32_t try = 0; try < options->tries && status == CM_OK; try++) {
    cm_random random;
    uint32_t communities;
    cm_random_init(&random, options->seed, CM_STREAM_COMMUNITIES, try);
    status = unfold(of, &random, run, found, &communities, error);
    CM_THEN(status, exact_modularity(of.graph, found, communities, run->memory, &value, error));
    if (status != CM_OK || (try > 0 && value <= best))
      continue;
    best = value;
    *count = communities;
    memcpy(community, found, of.graph->vertex_count * sizeof *community);
  }
  cm_free(found);
  return status;
}

cm_status cm_communities_find(const cm_graph *graph, const cm_unfold_options *options, cm_run *run,
                              uint32_t *community, uint32_t *count, cm_error *error)
{
  uint64_t *degree = NULL;
  uint32_t *best = NULL, n = graph->vertex_count;
  CM_TRY(check_weights(graph, error));
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(degree, n), CM_ARRAY(best, n));
  for (uint32_t v = 0; status == CM_OK && v < n; v++)
    for (uint64_t i = graph->first[v]; i < graph->first[v + 1]; i++)
      degree[v] += graph->weight[i];
  CM_THEN(status, best_of_tries((level){graph, degree, 2 * graph->weight_total}, options, run, best, count, error));
  if (status == CM_OK)
    memcpy(community, best, n * sizeof *community);
  CM_FREE(degree, best);
  return status;
}

cm_status cm_communities_describe(const cm_graph *graph, const uint32_t *community, uint32_t count, cm_run *run,
                                  cm_community *list, cm_error *error)
{
  cm_graph *between;
  CM_TRY(cm_graph_contract(graph, community, count, run, &between, error));
  memset(list, 0, count * sizeof *list);
  for (uint32_t v = 0; v < graph->vertex_count; v++)
    list[community[v]].nodes++;
  for (uint32_t c = 0; c < count; c++)
    for (uint64_t i = between->first[c]; i < between->first[c + 1]; i++) {
      list[c].adjacent_nodes += list[between->neighbour[i]].nodes;
      list[c].weight += between->weight[i];
    }
  cm_graph_free(between);
  return CM_OK;
}
