#include "core/partition/nets/net_communities.h"

#include <string.h>

#include "base/random.h"
#include "core/partition/options.h"

/* Visits of all nodes on a level at most, and the share of them that must have moved for another one. */
enum { VISITS = 5 };
static const double moved_min = 0.01;

/* With fewer nets a vertex, weights tell them apart. */
static const double density_few = 0.75;

/* A graph with weights; loops count in `degree` alone. */
typedef struct ties {
  uint32_t count;
  uint64_t *first;  /* [count + 1] */
  uint32_t *to;
  double *weight;
  double *degree;   /* [count] */
  double total;     /* of all degrees */
} ties;

static void ties_free(ties *g)
{
  CM_FREE(g->first, g->to, g->weight, g->degree);
  *g = (ties){0};
}

static cm_status ties_new(uint32_t count, uint64_t entries, cm_run *run, ties *g, cm_error *error)
{
  *g = (ties){.count = count};
  CM_TRY_OR(CM_NEW_ALL(run->memory, error, CM_ARRAY(g->first, (size_t)count + 1), CM_ARRAY(g->to, entries),
                       CM_ARRAY(g->weight, entries), CM_ARRAY(g->degree, count)), ties_free(g));
  return CM_OK;
}

/* Vertices first, then nets. */
static cm_status star(const cm_net_graph *g, cm_run *run, ties *made, cm_error *error)
{
  uint32_t n = g->vertex_count;
  uint64_t at = 0;
  bool even = (double)g->net_count >= density_few * n;
  CM_TRY(ties_new(n + g->net_count, 2 * g->pin_count, run, made, error));
  for (uint32_t a = 0; a < made->count; a++) {
    bool is_net = a >= n;
    uint64_t begin = is_net ? g->net_first[a - n] : g->vertex_first[a];
    uint64_t end = is_net ? g->net_first[a - n + 1] : g->vertex_first[a + 1];
    for (uint64_t i = begin; i < end; i++, at++) {
      uint32_t e = is_net ? a - n : g->net[i], v = is_net ? g->pin[i] : a;
      double weight = (double)g->net_weight[e];
      if (!even)
        weight *= (double)(g->vertex_first[v + 1] - g->vertex_first[v]) / (double)(g->net_first[e + 1] - g->net_first[e]);
      made->to[at] = is_net ? v : n + e;
      made->weight[at] = weight;
      made->degree[a] += weight;
    }
    made->first[a + 1] = at;
    made->total += made->degree[a];
  }
  return CM_OK;
}

/* What the nodes of a level are put into. */
typedef struct unfolding {
  const ties *graph;
  uint32_t *cluster; /* [count] */
  double *inside;    /* [count] degrees of a cluster's nodes */
  double *toward;    /* [count] weight of the node under way to each cluster; 0 between nodes */
  uint32_t *met;     /* [count] */
  uint32_t *order;   /* [count] */
} unfolding;

static void unfolding_free(unfolding *u)
{
  CM_FREE(u->cluster, u->inside, u->toward, u->met, u->order);
}

static cm_status unfolding_new(const ties *g, cm_run *run, unfolding *u, cm_error *error)
{
  *u = (unfolding){.graph = g};
  CM_TRY_OR(CM_NEW_ALL(run->memory, error, CM_ARRAY(u->cluster, g->count), CM_ARRAY(u->inside, g->count),
                       CM_ARRAY(u->toward, g->count), CM_ARRAY(u->met, g->count), CM_ARRAY(u->order, g->count)),
            unfolding_free(u));
  for (uint32_t a = 0; a < g->count; a++) {
    u->cluster[a] = a;
    u->inside[a] = g->degree[a];
  }
  return CM_OK;
}

/* Moves a node to the neighbouring cluster that raises modularity most. */
static bool move_node(unfolding *u, uint32_t a)
{
  const ties *g = u->graph;
  uint32_t own = u->cluster[a], best = own, count = 0;
  for (uint64_t i = g->first[a]; i < g->first[a + 1]; i++) {
    uint32_t c = u->cluster[g->to[i]];
    if (g->to[i] == a)
      continue;
    if (u->toward[c] == 0)
      u->met[count++] = c;
    u->toward[c] += g->weight[i];
  }
  u->inside[own] -= g->degree[a];
  double most = u->toward[own] - g->degree[a] * u->inside[own] / g->total;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t c = u->met[i];
    double gain = u->toward[c] - g->degree[a] * u->inside[c] / g->total;
    if (gain > most) {
      most = gain;
      best = c;
    }
  }
  for (uint32_t i = 0; i < count; i++)
    u->toward[u->met[i]] = 0;
  u->inside[best] += g->degree[a];
  u->cluster[a] = best;
  return best != own;
}

static cm_status visit(unfolding *u, cm_random *random, cm_run *run, bool *any, cm_error *error)
{
  uint32_t n = u->graph->count;
  *any = false;
  for (uint32_t i = 0; i < VISITS; i++) {
    uint32_t moved = 0;
    cm_random_permutation(random, u->order, n);
    for (uint32_t j = 0; j < n; j++)
      moved += move_node(u, u->order[j]);
    *any = *any || moved > 0;
    CM_TRY(cm_run_check(run, error));
    if (moved <= moved_min * n)
      break;
  }
  return CM_OK;
}

/* Numbers clusters from 0 on in place; returns how many. */
static uint32_t number(unfolding *u)
{
  uint32_t n = u->graph->count, next = 0;
  memset(u->met, 0xff, n * sizeof *u->met);
  for (uint32_t a = 0; a < n; a++) {
    uint32_t *name = &u->met[u->cluster[a]];
    if (*name == UINT32_MAX)
      *name = next++;
    u->cluster[a] = *name;
  }
  return next;
}

/* Clusters become nodes. */
static cm_status fold(unfolding *u, uint32_t clusters, cm_run *run, ties *made, cm_error *error)
{
  const ties *g = u->graph;
  uint64_t at = 0;
  uint32_t *begin;
  CM_TRY(ties_new(clusters, g->first[g->count], run, made, error));
  CM_TRY_OR(CM_NEW(run->memory, begin, (size_t)clusters + 2, error), ties_free(made));
  for (uint32_t a = 0; a < g->count; a++) {
    begin[u->cluster[a] + 2]++;
    made->degree[u->cluster[a]] += g->degree[a];
  }
  for (uint32_t c = 0; c < clusters; c++)
    begin[c + 2] += begin[c + 1];
  for (uint32_t a = 0; a < g->count; a++)
    u->order[begin[u->cluster[a] + 1]++] = a;
  for (uint32_t c = 0; c < clusters; c++) {
    uint32_t count = 0;
    for (uint32_t j = begin[c]; j < begin[c + 1]; j++)
      for (uint64_t i = g->first[u->order[j]]; i < g->first[u->order[j] + 1]; i++) {
        uint32_t other = u->cluster[g->to[i]];
        if (other == c)
          continue;
        if (u->toward[other] == 0)
          u->met[count++] = other;
        u->toward[other] += g->weight[i];
      }
    for (uint32_t j = 0; j < count; j++, at++) {
      made->to[at] = u->met[j];
      made->weight[at] = u->toward[u->met[j]];
      u->toward[u->met[j]] = 0;
    }
    made->first[c + 1] = at;
  }
  made->total = g->total;
  cm_free(begin);
  return CM_OK;
}

cm_status cm_net_communities(const cm_net_graph *graph, uint64_t seed, cm_run *run, uint32_t *community,
                             cm_error *error)
{
  cm_random random;
  ties g, next;
  uint32_t *node, n = graph->vertex_count; /* that each vertex is in */
  cm_random_init(&random, seed, CM_STREAM_NETS, UINT64_C(1) << 32);
  CM_TRY(CM_NEW(run->memory, node, n, error));
  for (uint32_t v = 0; v < n; v++)
    node[v] = v;
  cm_status status = star(graph, run, &g, error);
  bool any = status == CM_OK;
  while (any && status == CM_OK) {
    unfolding u;
    status = unfolding_new(&g, run, &u, error);
    if (status != CM_OK)
      break;
    status = visit(&u, &random, run, &any, error);
    if (status == CM_OK && any) {
      uint32_t clusters = number(&u);
      for (uint32_t v = 0; v < n; v++)
        node[v] = u.cluster[node[v]];
      status = fold(&u, clusters, run, &next, error);
      if (status == CM_OK) {
        ties_free(&g);
        g = next;
      }
    }
    unfolding_free(&u);
  }
  ties_free(&g);
  if (status == CM_OK)
    memcpy(community, node, n * sizeof *node);
  cm_free(node);
  return status;
}
