#include "core/partition/edge/kway_anneal.h"

#include <math.h>

#include "base/annealing.h"

enum { CHECK_EVERY = 8192, STEPS = 64 };
static const double hopeless = 12; /* temperatures */

/* A typical cost of a move: edges add up as independent ones do. */
static double typical_cost(const cm_csr_graph *g)
{
  double sum = 0;
  uint64_t stride = g->entry_count / 100000 + 1, seen = 0;
  for (uint64_t i = 0; i < g->entry_count; i += stride, seen++)
    sum += (double)cm_csr_graph_weight(g, i) * (double)cm_csr_graph_weight(g, i);
  return seen > 0 ? sqrt(sum / (double)seen * (double)g->entry_count / g->vertex_count) : 0;
}

/* One proposal; true when it was taken. */
static void propose(cm_kway *s, uint64_t most, double temperature, cm_random *random)
{
  const cm_csr_graph *g = s->graph;
  uint64_t bits = cm_random_next(random);
  uint32_t v = s->border[(uint32_t)((bits >> 32) * s->border_count >> 32)];
  uint64_t row = g->first[v], length = g->first[v + 1] - row;
  uint32_t to = s->part[g->neighbour[row + ((bits & 0xffffffff) * length >> 32)]];
  if (to == s->part[v] || s->load[to] + g->size[v] > most)
    return;
  int64_t cost = s->vertex[v].inner - cm_kway_tie(s, v, to);
  if (!cm_metropolis(random, (double)cost, temperature, hopeless))
    return;
  cm_kway_move(s, v, to);
}

cm_status cm_kway_anneal(cm_kway *s, const cm_kway_anneal_options *options, cm_random *random, cm_error *error)
{
  double unit = typical_cost(s->graph), temperature = options->hot * unit;
  double fall = pow(options->cold / options->hot, 1.0 / (STEPS - 1));
  for (uint32_t step = 0; step < STEPS; step++, temperature *= fall) {
    uint64_t proposals = (uint64_t)(options->sweeps * s->border_count / STEPS);
    for (uint64_t i = 0; i < proposals && s->border_count > 0; i++) {
      propose(s, options->most, temperature, random);
      if (i % CHECK_EVERY == 0 && cm_run_check(s->run, error) != CM_OK)
        return error->status;
    }
    cm_run_add(s->run, options->share / STEPS);
  }
  return CM_OK;
}
