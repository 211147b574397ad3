#include "core/partition/edge/edge_search.h"

#include <math.h>
#include <string.h>

#include "core/partition/edge/edge_flow.h"
#include "core/partition/edge/kway_anneal.h"
#include "core/partition/edge/kway_fm.h"
#include "core/partition/edge/label_propagation.h"
#include "core/partition/edge/quotient_fm.h"
#include "core/partition/edge/rebalance.h"
#include "core/partition/options.h"

/* Parts that are exactly full leave no way from one good partition to another: where they have less than this room,
 * searches may fill them a little more, and coarse vertices do not fit as snugly as fine ones. What is too much goes at
 * the end. */
static const double room_enough = 1.03, search_slack = 1.05;

/* How far a loose round may fill a part beyond what it may have. */
static const double loose = 0.1;

/* Levels of more entries than both, the second times the number of parts, are large: rounds take most of their time there, and one,
 * loose where no cycle follows, gains most of what several do. */
static const uint64_t large_level = 60000, large_level_part = 2000;

uint64_t cm_edge_most_on(const cm_edge_search *w, const cm_csr_graph *g)
{
  double mean = (double)g->size_total / w->options->parts;
  double coarse = g->size_max > 1 ? ceil(mean) + g->size_max : 0;
  double wide = fmax((uint64_t)(mean * room_enough) > w->options->most ? mean * search_slack : 0, coarse);
  return wide > (double)w->options->most ? (uint64_t)wide : w->options->most;
}

static cm_status count_loads(const cm_csr_graph *g, cm_run *run, cm_parts *parts, cm_error *error)
{
  if (CM_NEW(run->memory, parts->load, parts->count, error) != CM_OK)
    return error->status;
  for (uint32_t v = 0; v < g->vertex_count; v++)
    parts->load[parts->part[v]] += g->size[v];
  return CM_OK;
}

static cm_status anneal(cm_edge_search *w, const cm_csr_graph *g, const cm_edge_level *at, uint32_t *part, cm_error *error)
{
  double sweeps = w->options->anneal_sweeps * pow(0.5, at->depth);
  if (sweeps < 1)
    return CM_OK;
  cm_kway *state;
  cm_random random;
  cm_kway_anneal_options options = {.sweeps = sweeps, .hot = at->hot, .cold = 0.06, .most = cm_edge_most_on(w, g)};
  if (cm_kway_new(g, part, w->options->parts, w->run, &state, error) != CM_OK)
    return error->status;
  cm_random_init(&random, w->options->seed, CM_STREAM_REFINEMENT, at->stream);
  cm_status status = cm_kway_anneal(state, &options, &random, error);
  cm_kway_free(state);
  return status;
}

static cm_status refine_pairs(cm_edge_search *w, const cm_csr_graph *g, uint64_t most, uint64_t stream, const cm_parts *parts,
                              cm_error *error)
{
  int64_t gain;
  cm_quotient_fm_options options = {.rounds = w->options->rounds, .patience = w->options->patience, .most = most,
                                 .least_tie = w->options->least_tie, .work = 4,
                                 .seed = w->options->seed, .level = stream};
  return cm_quotient_fm(g, &options, w->run, parts, &gain, error);
}

/* The finest level ends within the limit: what is too much moves on, then pairs of full parts trade. */
static cm_status fit(cm_edge_search *w, const cm_csr_graph *g, uint64_t stream, const cm_parts *parts, cm_error *error)
{
  uint64_t excess, most = w->options->most;
  if (cm_rebalance_parts(g, most, w->run, parts, &excess, error) != CM_OK)
    return error->status;
  if (excess > 0)
    return cm_fail(error, CM_LIMIT_BROKEN, "cannot pack the vertices into %u parts of size %llu: vertices of size %llu are left over",
                   w->options->parts, (unsigned long long)most, (unsigned long long)excess);
  return refine_pairs(w, g, most, stream, parts, error);
}

static bool is_large(const cm_edge_search *w, const cm_csr_graph *g)
{
  return g->entry_count > large_level && g->entry_count > large_level_part * w->options->parts;
}

/* Pairs of parts are cut anew on the finest level, where searches by single moves leave most. */
static cm_status flow(const cm_edge_search *w, cm_kway *state, uint64_t most, uint64_t stream, cm_error *error)
{
  const cm_edge_options *o = w->options;
  uint64_t *limit;
  int64_t gain;
  if (o->flow_reach == 0 || w->draft || state->graph != w->hierarchy.level[0])
    return CM_OK;
  if (CM_NEW(w->run->memory, limit, o->parts, error) != CM_OK)
    return error->status;
  for (uint32_t p = 0; p < o->parts; p++)
    limit[p] = most;
  cm_flow_options options = {.most = limit, .rounds = o->flow_rounds, .reach = o->flow_reach, .distance = UINT32_MAX,
                             .worth = o->flow_worth, .entries = state->graph->entry_count, .cost = state->cut,
                             .seed = o->seed, .stream = stream};
  cm_status status = cm_edge_flow(state, &options, &gain, error);
  cm_free(limit);
  return status;
}

/* All parts at once. */
static cm_status refine_all(cm_edge_search *w, const cm_csr_graph *g, uint64_t most, uint64_t stream, const cm_parts *parts,
                            cm_error *error)
{
  cm_kway *state;
  int64_t gain;
  cm_kway_fm_options options = {.most = most, .rounds = w->options->fm_rounds, .loose_rounds = w->options->loose_rounds,
                                .loose = loose, .seed = w->options->seed, .stream = stream};
  if (w->options->large_once && is_large(w, g)) {
    options.rounds = 1;
    options.loose_rounds = w->draft ? 0 : 1;
  }
  if (cm_kway_new(g, parts->part, parts->count, w->run, &state, error) != CM_OK)
    return error->status;
  cm_status status = cm_kway_fm(state, &options, &gain, error);
  if (status == CM_OK)
    status = flow(w, state, most, 11000 + stream, error);
  memcpy(parts->load, state->load, parts->count * sizeof *parts->load);
  cm_kway_free(state);
  return status;
}

static bool fits(const cm_edge_search *w, const uint64_t *load)
{
  for (uint32_t p = 0; p < w->options->parts; p++)
    if (load[p] > w->options->most)
      return false;
  return true;
}

cm_status cm_edge_refine_level(cm_edge_search *w, const cm_edge_level *at, uint32_t *part, cm_error *error)
{
  const cm_csr_graph *g = w->hierarchy.level[at->level];
  uint64_t most = cm_edge_most_on(w, g), stream = at->stream;
  cm_parts parts = {.part = part, .count = w->options->parts};
  cm_label_propagation_options propagation = {
      .rounds = w->options->label_rounds, .most = most, .seed = w->options->seed, .stream = 5000 + stream};
  cm_status status = anneal(w, g, at, part, error);
  if (status == CM_OK)
    status = count_loads(g, w->run, &parts, error);
  if (status == CM_OK)
    status = cm_label_propagation(g, &propagation, w->run, &parts, error);
  bool all = w->options->fm_rounds > 0 && g->entry_count <= CM_EDGE_ALL_ENTRIES;
  if (status == CM_OK && all)
    status = refine_all(w, g, most, 7000 + stream, &parts, error);
  if (status == CM_OK && !all)
    status = refine_pairs(w, g, most, stream, &parts, error);
  if (status == CM_OK && at->level == 0 && !fits(w, parts.load))
    status = fit(w, g, 9000 + stream, &parts, error);
  cm_free(parts.load);
  return status;
}
