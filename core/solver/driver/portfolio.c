/* Happy path on sparse networks: partition-then-place of the least effort -> the integrated mapper -> partition-then-place with the
 * preset's own effort, where the first came near -> the cheapest. On others: the integrated mapper -> the alternative, where a limit
 * broke that the mapper does not know. Where axons reach few, what objective edge makes of it stands beside all. What can
 * fail: the integrated mapper; the others may find nothing. */
#include "core/solver/driver/portfolio.h"

#include <math.h>

#include "base/json.h"
#include "core/limits/leaving.h"
#include "core/placement/placement.h"
#include "core/solver/driver/make.h"
#include "core/solver/mappers/engine.h"
#include "core/solver/presets.h"
#include "core/solver/stage/stage.h"

/* On sparse networks cutting and placing as two steps may come out ahead of doing both at once, and costs little: the
 * way of the least effort shows whether it can. Networks with more synapses a neuron are left to the integrated mapper, but under
 * presets with dense_in_steps, and where it had to be mended. */
enum { SPARSE_DEGREE = 16 };

/* Where what is cut goes hardly further than to the next core, a mapper that sees hops has nothing to gain. Few parts
 * are all near. */
enum { PARTS_LEAST = 16 };
static const double hops_least = 1.15;

/* What the preset's own effort saves over the least one, at most, of partition-then-place. */
static const double saving_most = 1.25;

static bool has_alternative(const cm_map_input *input)
{
  return input->part == NULL && input->places && cm_stage_takes_mesh(input);
}

static bool may_win(const cm_map_input *input)
{
  const cm_topology *t = input->demand->network;
  uint64_t degrees = t->directed ? 2 * t->pin_count : t->pin_count;
  return degrees <= (uint64_t)SPARSE_DEGREE * t->vertex_count || (cm_effort_of(input->options)->dense_in_steps && !t->directed);
}

/* What the job pays for a mapping: for objective edge the energy of all ways, for axons with their first routers, or,
 * where trees are paid and leave their routers, what these cost. */
static cm_status weigh(cm_candidate *c, cm_error *error)
{
  const cm_map_input *in = c->input;
  cm_partition *p = c->partition;
  const cm_engine *engine = cm_engine_find((cm_preset)in->options->preset, c->objective);
  if (p->parts == NULL && engine->flows(in->demand, p->part, p->part_count, c->run, &p->parts, error) != CM_OK)
    return error->status;
  double first = c->objective == CM_OBJECTIVE_AXON ? in->chip->energy_pj.router * (double)p->parts->weight_total : 0;
  c->cost = c->places.trees > 0 ? c->places.trees : cm_placement_energy(p->parts, in->chip, c->places.core) + first;
  return CM_OK;
}

/* How to map: a preset, a mapper and an objective in place of the job's. */
typedef struct method {
  uint32_t preset, mapper, objective;
  double share; /* of the time that is left, about */
} method;

/* What was made so far, and what was tried. */
typedef struct portfolio {
  const cm_map_input *input;
  cm_run *run;
  cm_candidate best; /* the cheapest; none at first */
  json_t *tried;     /* array for the report */
  cm_error why;      /* of the last refusal that was not passed on */
} portfolio;

/* Takes a candidate for another objective as one for the job's. */
static void adopt(cm_candidate *c, cm_objective objective)
{
  if (c->objective == objective)
    return;
  cm_graph_free(c->partition->parts);
  c->partition->parts = NULL;
  c->objective = objective;
}

/* Maps by a method, and keeps that where it costs least. A refusal is passed on where `must`; else there is one
 * to choose from less. *cost is INFINITY then. */
static cm_status try_method(portfolio *f, method by, bool must, double *cost, cm_error *error)
{
  const size_t mark = cm_run_enter(f->run, by.share);
  cm_variant variant;
  const cm_map_input *input = cm_vary(f->input, &variant);
  cm_candidate made;
  *cost = INFINITY;
  variant.options.preset = by.preset;
  variant.options.mapper = by.mapper;
  variant.options.objective = by.objective;
  cm_status status = cm_candidate_make(input, f->run, &made, error);
  cm_run_leave(f->run, mark);
  if (!must && (status == CM_NO_ROOM || status == CM_LIMIT_BROKEN)) {
    f->why = *error;
    return CM_OK;
  }
  if (status != CM_OK)
    return status;
  made.input = f->input;
  adopt(&made, f->best.partition != NULL ? f->best.objective : made.objective);
  if (weigh(&made, error) != CM_OK) {
    cm_candidate_free(&made);
    return error->status;
  }
  *cost = made.cost;
  bool better = f->best.partition == NULL || made.cost < f->best.cost;
  cm_candidate worse = better ? f->best : made;
  if (better)
    f->best = made;
  cm_candidate_free(&worse);
  cm_objective objective =
    by.objective != CM_OBJECTIVE_AUTO ? (cm_objective)by.objective : f->best.objective;
  json_t *told = json_pack("{s:s, s:s, s:s, s:f}", "mapper", by.mapper == CM_MAPPER_TWO_PHASE ? "two-phase" : "integrated",
                           "preset", cm_preset_facts_of((cm_preset)by.preset)->name, "objective", cm_objective_name(objective),
                           "cost", *cost / (double)input->demand->network->weight_scale);
  return cm_json_append(f->tried, told, "the report", error);
}

/* Whether the best so far pays for what is cut, and hardly for its way. */
static bool is_tight(const portfolio *f)
{
  const cm_candidate *c = &f->best;
  return c->partition != NULL && c->partition->part_count >= PARTS_LEAST &&
         (double)cm_placement_traffic(c->partition->parts, f->input->chip, c->places.core) <=
           hops_least * (double)c->partition->parts->weight_total;
}

static const cm_attempt *last_attempt(const cm_candidate *c)
{
  return &c->attempts[c->attempt_count - 1];
}

/* There is one partition only: all methods come to it. */
static bool is_settled(const portfolio *f)
{
  return f->best.partition != NULL && last_attempt(&f->best)->only;
}

/* A limit broke that the mapper does not know. */
static bool was_mended(const cm_candidate *c)
{
  return c->attempt_count > 1 || last_attempt(c)->moved;
}

/* What objective edge makes of a network whose axons reach few. */
static cm_status try_edges(portfolio *f, bool sparse, bool tight, cm_error *error)
{
  method two_phase = {f->input->options->preset, CM_MAPPER_TWO_PHASE, CM_OBJECTIVE_EDGE, 0.4}, integrated = two_phase;
  double ignored;
  integrated.mapper = CM_MAPPER_AUTO;
  integrated.share = 1;
  cm_status status = sparse ? try_method(f, two_phase, false, &ignored, error) : CM_OK;
  return status == CM_OK && !tight ? try_method(f, integrated, false, &ignored, error) : status;
}

static cm_status try_all(portfolio *f, cm_error *error)
{
  const struct cm_map_options *o = f->input->options;
  method quick = {cm_effort_preset(cm_effort_least(cm_effort_of(o))), CM_MAPPER_TWO_PHASE, o->objective, 0.05},
         own = {o->preset, CM_MAPPER_AUTO, o->objective, 1}, two_phase = {o->preset, CM_MAPPER_TWO_PHASE, o->objective, 0.9};
  double fast = INFINITY, integrated = INFINITY, ignored;
  bool sparse = may_win(f->input), may_be_edges = f->input->demand->network->directed && cm_axons_reach_few(f->input->demand->network);
  own.share = may_be_edges && sparse ? 0.2 : may_be_edges || sparse ? 0.55 : 1;
  two_phase.share = may_be_edges ? 0.75 : 1;
  cm_status status = sparse ? try_method(f, quick, false, &fast, error) : CM_OK;
  bool tight = sparse && is_tight(f);
  const bool must = !cm_leaving_is_limited(&f->input->chip->limits); /* whose search may end well from other parts */
  if (status == CM_OK && !tight)
    status = try_method(f, own, must, &integrated, error);
  if (status == CM_OK && is_settled(f))
    return CM_OK;
  if (status == CM_OK && (sparse ? fast <= saving_most * integrated : f->best.partition == NULL || was_mended(&f->best)))
    status = try_method(f, two_phase, false, &ignored, error);
  const bool none = f->best.partition == NULL;
  bool few = (none || f->best.objective == CM_OBJECTIVE_AXON) && cm_axons_reach_few(f->input->demand->network);
  return status == CM_OK && few && (none || f->best.cost > 0) ? try_edges(f, sparse, tight, error) : status;
}

static cm_status tell(const portfolio *f, cm_error *error)
{
  bool told = json_array_size(f->tried) < 2 || json_object_set(f->best.places.report, "candidates", f->tried) == 0;
  return cm_whole(told, "the report", error);
}

cm_status cm_best_candidate(const cm_map_input *input, cm_run *run, cm_candidate *candidate, cm_error *error)
{
  if (!has_alternative(input))
    return cm_candidate_make(input, run, candidate, error);
  portfolio f = {.input = input, .run = run, .tried = json_array()};
  cm_status status = cm_whole(f.tried != NULL, "the report", error);
  if (status == CM_OK)
    status = try_all(&f, error);
  if (status == CM_OK && f.best.partition == NULL) {
    *error = f.why;
    status = f.why.status;
  }
  if (status == CM_OK)
    status = tell(&f, error);
  json_decref(f.tried);
  if (status == CM_OK)
    *candidate = f.best;
  else
    cm_candidate_free(&f.best);
  return status;
}
