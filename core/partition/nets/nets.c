#include "core/partition/nets/nets.h"

#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "core/partition/nets/net_communities.h"
#include "core/partition/nets/net_flow.h"
#include "core/partition/nets/net_fm.h"
#include "core/partition/nets/net_initial.h"
#include "core/partition/nets/net_levels.h"
#include "core/partition/refiner.h"

/* How far a loose round may fill a part beyond its limit. */
static const double loose = 0.1;

/* Regions of flows are so many nets deep on either side of a cut. */
enum { flow_distance = 2 };

/* Streams of random numbers: so many for each attempt. */
enum { STREAMS = 1 << 16 };

/* A partition of the network itself. */
typedef struct candidate {
  uint32_t *part;
  uint64_t excess;
  int64_t connectivity;
} candidate;

typedef struct work {
  const cm_nets_options *options;
  cm_run *run;
  cm_net_graph *graph;
  uint32_t *community; /* [vertices] */
  uint64_t *most;      /* [parts] all alike */
  candidate *found;    /* [count] the starts, then what the effort below found */
  uint32_t count;
} work;

static bool better(const candidate *a, const candidate *b)
{
  return a->excess < b->excess || (a->excess == b->excess && a->connectivity < b->connectivity);
}

static cm_status coarsen(const work *w, const uint32_t *label, uint64_t stream, cm_hierarchy *levels, cm_error *error)
{
  double least = w->options->coarse_vertices * w->options->parts;
  cm_net_levels_options o = {.vertices_min = least < 1e9 ? (uint32_t)least : 1000000000,
                             .label = label, .seed = w->options->seed, .stream = stream};
  uint64_t wide = (uint64_t)((double)w->graph->size_total / least);
  o.size_max = wide > 1 ? wide : 1;
  return cm_net_levels_build(w->graph, &o, w->run, levels, error);
}

/* A candidate on its way down, by the random streams of its levels. */
typedef struct descent {
  const work *work;
  bool flows;
  double share; /* of the run's stretch */
  uint64_t stream;
  candidate *candidate;
} descent;

/* What refiners work on. */
typedef struct level {
  const work *work;
  double share; /* of the run's stretch that flows tell */
  cm_net_state *state;
  bool flows;
  uint64_t stream;
} level;

static bool always(CM_UNUSED const void *on)
{
  return true;
}

static cm_status search_locally(void *on, cm_error *error)
{
  const level *l = on;
  const cm_nets_options *o = l->work->options;
  int64_t gain = 0;
  cm_net_fm_options options = {.most = l->work->most, .rounds = o->rounds, .loose_rounds = o->loose_rounds, .loose = loose,
                               .thorough = o->thorough, .seed = o->seed, .stream = l->stream};
  return cm_net_fm(l->state, &options, l->work->run, &gain, error);
}

static bool suits_flows(const void *on)
{
  const level *l = on;
  return l->flows;
}

static cm_status flow(void *on, cm_error *error)
{
  const level *l = on;
  const cm_nets_options *o = l->work->options;
  int64_t gain = 0;
  cm_flow_options options = {.most = l->work->most, .rounds = o->flow_rounds, .reach = o->flow_reach, .distance = flow_distance,
                             .share = l->share, .seed = o->seed, .stream = l->stream};
  return cm_net_flow(l->state, &options, l->work->run, &gain, error);
}

static cm_status refine(const descent *d, const cm_net_graph *g, double share, uint64_t stream, uint32_t *part, cm_error *error)
{
  const work *w = d->work;
  static const cm_refiner row[] = {{always, search_locally}, {suits_flows, flow}};
  level on = {.work = w, .share = share, .flows = d->flows, .stream = stream};
  CM_TRY(cm_net_state_new(g, part, w->options->parts, w->run, &on.state, error));
  cm_status status = cm_refine(row, sizeof row / sizeof *row, &on, error);
  d->candidate->connectivity = cm_net_connectivity(on.state);
  d->candidate->excess = cm_net_excess(on.state, w->most);
  cm_net_state_free(on.state);
  return status;
}

static cm_status refine_below(void *context, const cm_hierarchy *levels, uint32_t l, uint32_t *part, cm_error *error)
{
  const descent *d = context;
  const double coarser = 0.6 /* it takes, of the time of a level */, share = d->share * (1 - coarser) * pow(coarser, l), by_flows = d->flows ? 0.7 : 0;
  const cm_status status = refine(d, levels->level[l], by_flows * share, d->stream + 1 + l, part, error);
  cm_run_add(d->work->run, (1 - by_flows) * share);
  return status;
}

/* From the coarsest level, of which c->part is, to the finest. */
static cm_status descend(descent *d, const cm_hierarchy *levels, cm_error *error)
{
  CM_TRY(refine(d, cm_hierarchy_coarsest(levels), 0, d->stream, d->candidate->part, error));
  return cm_hierarchy_descend(levels, refine_below, d, d->candidate->part, error);
}

static cm_status start_once(void *context, size_t t, cm_error *error)
{
  work *w = context;
  candidate *c = &w->found[t];
  cm_hierarchy levels;
  uint64_t stream = (t + 1) * STREAMS;
  const double share = 1.0 / w->options->starts; /* of the phase: bisections, levels, what else */
  cm_net_initial_options o = {.parts = w->options->parts, .most = w->options->most,
                              .attempts = w->options->attempts, .tries = w->options->tries, .seed = w->options->seed, .stream = t + 1, .share = 0.6 * share};
  if (w->options->attempts_few > 0 && t % 4 != 0)
    o.attempts = w->options->attempts_few;
  CM_TRY(CM_NEW(w->run->memory, c->part, w->graph->vertex_count, error));
  CM_TRY(coarsen(w, w->community, stream, &levels, error));
  cm_status status = cm_net_initial(cm_hierarchy_coarsest(&levels), &o, w->run, c->part, error);
  CM_THEN(status, descend(&(descent){.work = w, .share = 0.3 * share, .stream = stream, .candidate = c}, &levels, error));
  cm_run_add(w->run, 0.1 * share);
  cm_hierarchy_free(&levels);
  return status;
}

/* Coarsens without crossing the labels, inside which c->part is the same, and refines it on the way down. */
static cm_status cycle(const work *w, const uint32_t *label, uint64_t stream, candidate *c, cm_error *error)
{
  descent d = {w, w->options->flow_reach > 0, 1, stream, c};
  cm_hierarchy levels;
  CM_TRY(coarsen(w, label, stream, &levels, error));
  cm_hierarchy_lift(&levels, c->part);
  cm_status status = descend(&d, &levels, error);
  cm_hierarchy_free(&levels);
  return status;
}

static void copy(const work *w, candidate *to, const candidate *from)
{
  memcpy(to->part, from->part, w->graph->vertex_count * sizeof *to->part);
  to->excess = from->excess;
  to->connectivity = from->connectivity;
}

static uint32_t best_of(const work *w)
{
  uint32_t best = 0;
  for (uint32_t t = 1; t < w->count; t++)
    if (better(&w->found[t], &w->found[best]))
      best = t;
  return best;
}

/* So many unions and cycles are done. */
static cm_status refined(const work *w, uint32_t done, cm_error *error)
{
  return cm_run_progress(w->run, (double)done / (w->options->unions + w->options->cycles), 0, w->graph->vertex_count,
                         (double)w->found[best_of(w)].connectivity, error);
}

static cm_status improve(work *w, candidate *trial, cm_error *error)
{
  candidate *best = &w->found[best_of(w)];
  for (uint32_t i = 0; i < w->options->cycles; i++) {
    copy(w, trial, best);
    const size_t mark = cm_run_within(w->run, 1.0 / (w->options->cycles - i));
    cm_status status = cycle(w, best->part, (w->options->starts + 1 + i) * (uint64_t)STREAMS, trial, error);
    cm_run_leave(w->run, mark);
    if (status != CM_OK || refined(w, w->options->unions + i + 1, error) != CM_OK)
      return error->status;
    if (better(trial, best))
      copy(w, best, trial);
  }
  return CM_OK;
}

/* Gives every part without vertices the one that loses least by it, of parts that keep others. */
static cm_status fill_empty(const work *w, candidate *c, cm_error *error)
{
  cm_net_state *s;
  uint32_t n = w->graph->vertex_count, *members;
  CM_TRY(CM_NEW(w->run->memory, members, w->options->parts, error));
  for (uint32_t v = 0; v < n; v++)
    members[c->part[v]]++;
  uint32_t empty = 0;
  for (uint32_t p = 0; p < w->options->parts; p++)
    empty += members[p] == 0;
  cm_status status = empty > 0 ? cm_net_state_new(w->graph, c->part, w->options->parts, w->run, &s, error) : CM_OK;
  if (status != CM_OK || empty == 0) {
    cm_free(members);
    return status;
  }
  for (uint32_t p = 0; p < w->options->parts; p++) {
    uint32_t best = UINT32_MAX;
    int64_t most = INT64_MIN;
    for (uint32_t v = 0; v < n && members[p] == 0; v++) {
      int64_t gain = members[c->part[v]] > 1 ? cm_net_gain(s, v, p) : INT64_MIN;
      if (gain > most) {
        most = gain;
        best = v;
      }
    }
    if (best == UINT32_MAX)
      continue;
    members[c->part[best]]--;
    members[p]++;
    cm_net_move(s, best, p);
  }
  c->excess = cm_net_excess(s, w->most);
  c->connectivity = cm_net_connectivity(s);
  cm_net_state_free(s);
  cm_free(members);
  return CM_OK;
}

/* Combines the best partition with another one: coarsening keeps to what both agree on, refinement chooses between them on
 * every level. The result takes the place of the other one where it is better than that. */
static cm_status unite(work *w, uint32_t number, candidate *trial, cm_error *error)
{
  uint32_t n = w->graph->vertex_count, parts = w->options->parts, best = best_of(w), *label;
  candidate *a = &w->found[best], *b = &w->found[(best + 1 + number % (w->count - 1)) % w->count];
  CM_TRY(CM_NEW(w->run->memory, label, n, error));
  for (uint32_t v = 0; v < n; v++)
    label[v] = a->part[v] * parts + b->part[v];
  copy(w, trial, a);
  cm_status status = cycle(w, label, (UINT64_C(1) << 32) + number * (uint64_t)STREAMS, trial, error);
  if (status == CM_OK && better(trial, b))
    copy(w, b, trial);
  cm_free(label);
  return status;
}

static cm_status unite_all(work *w, candidate *trial, cm_error *error)
{
  cm_status status = CM_OK;
  bool possible = w->count > 1 && w->options->parts <= UINT16_MAX; /* pairs of parts have 32 bits */
  for (uint32_t i = 0; i < w->options->unions && possible && status == CM_OK; i++) {
    const size_t mark = cm_run_within(w->run, 1.0 / (w->options->unions + w->options->cycles - i));
    status = unite(w, i, trial, error);
    cm_run_leave(w->run, mark);
    CM_THEN(status, refined(w, i + 1, error));
  }
  return status;
}

static cm_status search(const work *whole, const cm_nets_options *options, candidate *result, candidate *trial,
                        cm_error *error);

/* What the effort below finds, as one more start. */
static cm_status search_below(work *w, candidate *trial, cm_error *error)
{
  const cm_nets_options *o = w->options;
  cm_nets_options below = *o->below;
  candidate *c = &w->found[o->starts];
  below.most = o->most;
  below.parts = o->parts;
  below.seed = o->seed;
  CM_TRY(CM_NEW(w->run->memory, c->part, w->graph->vertex_count, error));
  return search(w, &below, c, trial, error);
}

/* Of the time, the effort below. */
static const double share_below = 0.15;

/* The starts of this effort, and what comes of them. */
static cm_status search_starts(work *w, candidate *trial, cm_error *error)
{
  cm_run_phase(w->run, "starts");
  CM_TRY(cm_parallel(w->run, w->options->starts, start_once, w, error));
  cm_run_phase(w->run, "refine");
  CM_TRY(unite_all(w, trial, error));
  return improve(w, trial, error);
}

/* All steps by the effort of `options`; of `whole` the hypergraph, the communities and the limits are used. */
static cm_status search(const work *whole, const cm_nets_options *options, candidate *result, candidate *trial,
                        cm_error *error)
{
  work w = *whole;
  w.options = options;
  w.count = options->starts + (options->below != NULL);
  CM_TRY(CM_NEW(w.run->memory, w.found, w.count, error));
  const size_t mark = cm_run_enter(w.run, options->below != NULL ? share_below : 0);
  cm_status status = options->below != NULL ? search_below(&w, trial, error) : CM_OK;
  cm_run_leave(w.run, mark);
  CM_THEN(status, search_starts(&w, trial, error));
  if (status == CM_OK) {
    copy(&w, result, &w.found[best_of(&w)]);
    status = fill_empty(&w, result, error);
  }
  for (uint32_t t = 0; t < w.count; t++)
    cm_free(w.found[t].part);
  cm_free(w.found);
  return status;
}

cm_status cm_partition_nets(const cm_demand *demand, const cm_nets_options *options, cm_run *run, uint32_t *part,
                            uint64_t *excess, cm_error *error)
{
  work w = {.options = options, .run = run};
  candidate trial = {0}, result = {0};
  uint32_t n = demand->network->vertex_count;
  const size_t mark = cm_run_enter(run, 0.12);
  cm_run_phase(run, "coarsen");
  cm_status status = cm_net_graph_from_topology(demand, run, &w.graph, error);
  CM_THEN(status, CM_NEW(run->memory, w.most, options->parts, error));
  CM_THEN(status, CM_NEW(run->memory, w.community, n, error));
  CM_THEN(status, CM_NEW(run->memory, trial.part, n, error));
  CM_THEN(status, CM_NEW(run->memory, result.part, n, error));
  CM_THEN(status, cm_net_communities(w.graph, options->seed, run, w.community, error));
  cm_run_leave(run, mark);
  if (status == CM_OK) {
    for (uint32_t p = 0; p < options->parts; p++)
      w.most[p] = options->most;
    status = search(&w, options, &result, &trial, error);
  }
  if (status == CM_OK) {
    memcpy(part, result.part, n * sizeof *part);
    *excess = result.excess;
  }
  CM_FREE(trial.part, result.part, w.most, w.community);
  cm_net_graph_free(w.graph);
  return status;
}
