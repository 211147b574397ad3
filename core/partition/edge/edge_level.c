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
#include "core/partition/refiner.h"

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

/* What refiners work on. */
typedef struct level {
  cm_edge_search *search;
  const cm_edge_level *at;
  const cm_csr_graph *graph;
  cm_parts parts;
  uint64_t most; /* a part may hold */
} level;

static bool always(CM_UNUSED const void *on)
{
  return true;
}

/* All parts at once, or pairs of them where that is too much. */
static bool suits_all(const void *on)
{
  const level *l = on;
  return l->search->options->fm_rounds > 0 && l->graph->entry_count <= CM_EDGE_ALL_ENTRIES;
}

static double annealing_sweeps(const level *l)
{
  return l->search->options->anneal_sweeps * pow(0.5, l->at->depth);
}

static bool suits_annealing(const void *on)
{
  return annealing_sweeps(on) >= 1;
}

static cm_status anneal(void *on, cm_error *error)
{
  const level *l = on;
  const cm_edge_search *w = l->search;
  cm_kway *state;
  cm_random random;
  cm_kway_anneal_options options = {.sweeps = annealing_sweeps(l), .hot = l->at->hot, .cold = 0.06, .most = l->most, .share = w->tells ? 0.3 : 0};
  CM_TRY(cm_kway_new(l->graph, l->parts.part, l->parts.count, w->run, &state, error));
  cm_random_init(&random, w->options->seed, CM_STREAM_REFINEMENT, l->at->stream);
  cm_status status = cm_kway_anneal(state, &options, &random, error);
  cm_kway_free(state);
  return status;
}

static cm_status propagate(void *on, cm_error *error)
{
  level *l = on;
  const cm_edge_search *w = l->search;
  cm_label_propagation_options options = {
      .rounds = w->options->label_rounds, .most = l->most, .seed = w->options->seed, .stream = 5000 + l->at->stream, .share = !w->tells ? 0 : suits_all(l) ? 0.15 : 0.35};
  CM_TRY(CM_NEW(w->run->memory, l->parts.load, l->parts.count, error));
  for (uint32_t v = 0; v < l->graph->vertex_count; v++)
    l->parts.load[l->parts.part[v]] += l->graph->size[v];
  return cm_label_propagation(l->graph, &options, w->run, &l->parts, error);
}

static cm_status search_pairs(const level *l, uint64_t most, uint64_t stream, cm_error *error)
{
  const cm_edge_search *w = l->search;
  int64_t gain;
  cm_quotient_fm_options options = {.rounds = w->options->rounds, .patience = w->options->patience, .most = most,
                                 .least_tie = w->options->least_tie, .work = 4, .share = w->tells ? 0.5 : 0,
                                 .seed = w->options->seed, .level = stream};
  return cm_quotient_fm(l->graph, &options, w->run, &l->parts, &gain, error);
}

/* The finest level ends within the limit: what is too much moves on, then pairs of full parts trade. */
static bool suits_fitting(const void *on)
{
  const level *l = on;
  bool fits = true;
  for (uint32_t p = 0; p < l->parts.count; p++)
    fits &= l->parts.load[p] <= l->search->options->most;
  return l->at->level == 0 && !fits;
}

static cm_status fit(void *on, cm_error *error)
{
  level *l = on;
  uint64_t excess, most = l->search->options->most;
  CM_TRY(cm_rebalance_parts(l->graph, most, l->search->run, &l->parts, &excess, error));
  if (excess > 0)
    return cm_fail(error, CM_LIMIT_BROKEN, "cannot pack the vertices into %u parts of size %llu: vertices of size %llu are left over",
                   l->parts.count, (unsigned long long)most, (unsigned long long)excess);
  return search_pairs(l, most, 9000 + l->at->stream, error);
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
  CM_TRY(CM_NEW(w->run->memory, limit, o->parts, error));
  for (uint32_t p = 0; p < o->parts; p++)
    limit[p] = most;
  cm_flow_options options = {.most = limit, .rounds = o->flow_rounds, .reach = o->flow_reach, .distance = UINT32_MAX,
                             .worth = o->flow_worth, .entries = state->graph->entry_count, .cost = state->cut,
                             .seed = o->seed, .stream = stream};
  cm_status status = cm_edge_flow(state, &options, &gain, error);
  cm_free(limit);
  return status;
}

static cm_status refine_all(void *on, cm_error *error)
{
  level *l = on;
  const cm_edge_search *w = l->search;
  cm_kway *state;
  int64_t gain;
  uint64_t stream = 7000 + l->at->stream;
  cm_kway_fm_options options = {.most = l->most, .rounds = w->options->fm_rounds, .loose_rounds = w->options->loose_rounds,
                                .loose = loose, .share = w->tells ? 0.95 : 0, .seed = w->options->seed, .stream = stream};
  if (w->options->large_once && is_large(w, l->graph)) {
    options.rounds = 1;
    options.loose_rounds = w->draft ? 0 : 1;
  }
  CM_TRY(cm_kway_new(l->graph, l->parts.part, l->parts.count, w->run, &state, error));
  cm_status status = cm_kway_fm(state, &options, &gain, error);
  CM_THEN(status, flow(w, state, l->most, 11000 + stream, error));
  memcpy(l->parts.load, state->load, l->parts.count * sizeof *l->parts.load);
  cm_kway_free(state);
  return status;
}

static bool suits_pairs(const void *on)
{
  return !suits_all(on);
}

static cm_status refine_pairs(void *on, cm_error *error)
{
  const level *l = on;
  return search_pairs(l, l->most, l->at->stream, error);
}

cm_status cm_edge_refine_level(cm_edge_search *w, const cm_edge_level *at, uint32_t *part, cm_error *error)
{
  static const cm_refiner row[] = {
    {suits_annealing, anneal}, {always, propagate}, {suits_all, refine_all}, {suits_pairs, refine_pairs}, {suits_fitting, fit}};
  const cm_csr_graph *g = w->hierarchy.level[at->level];
  level on = {.search = w, .at = at, .graph = g, .parts = {.part = part, .count = w->options->parts}, .most = cm_edge_most_on(w, g)};
  cm_status status = cm_refine(row, sizeof row / sizeof *row, &on, error);
  cm_free(on.parts.load);
  return status;
}
