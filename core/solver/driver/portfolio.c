/* Happy path: partition-then-place, with the least effort; all that an effort between tries; partition-then-place with the preset's own; what
 * objective edge makes, where axons reach few; for objective edge the integrated mapper, which for axons goes on from the cheapest of all ->
 * the cheapest. What can fail: the third; the others may find nothing. */
#include "core/solver/driver/portfolio.h"

#include <math.h>

#include "base/json.h"
#include "core/limits/circuits.h"
#include "core/limits/leaving.h"
#include "core/measure/haste.h"
#include "core/network/axon_reach.h"
#include "core/placement/placement.h"
#include "core/solver/driver/make.h"
#include "core/solver/mappers/engine.h"
#include "core/solver/mappers/mesh_axons.h"
#include "core/solver/presets.h"
#include "core/solver/stage/stage.h"

/* However dear edges look, all of so few synapses are tried in no time. */
enum { PINS_SMALL = 1 << 14 };

static bool has_alternative(const cm_map_input *input)
{
  return input->part == NULL && input->places && cm_stage_takes_mesh(input);
}

/* What the job pays for a mapping: for objective edge the energy of all ways, for axons with their first routers, or,
 * where trees are paid and leave their routers, what these cost. */
static cm_status weigh(cm_candidate *c, cm_error *error)
{
  const cm_map_input *in = c->input;
  cm_partition *p = c->partition;
  const cm_engine *engine = cm_engine_find((cm_preset)in->options->preset, c->objective);
  CM_TRY_IF(p->parts == NULL, engine->flows(in->demand, p->part, p->part_count, c->run, &p->parts, error));
  double first = c->objective == CM_OBJECTIVE_AXON ? in->chip->energy_pj.router * (double)p->parts->weight_total : 0;
  c->cost = c->places.trees > 0 ? c->places.trees : cm_placement_energy(p->parts, in->chip, c->places.core) + first;
  return CM_OK;
}

/* How to map: a preset, a mapper and an objective in place of the job's. */
typedef struct method {
  uint32_t preset, mapper, objective;
  double share; /* of the time that is left, about */
  bool whole;   /* all that the preset would try */
} method;

/* Figures that are the same but for rounding; the energy that is left for each of step and saturation where these are worse than what the
 * least effort makes. */
static const double same = 1 + 1e-9, worth = 0.01;

/* What was made so far, and what was tried. */
typedef struct portfolio {
  const cm_map_input *input;
  cm_run *run;
  cm_candidate best; /* the cheapest; none at first */
  uint64_t used_bytes; /* before */
  json_t *tried;     /* array for the report */
  cm_error why;      /* of the last refusal that was not passed on */
  cm_haste least;        /* of what the least effort makes for axons; zeros: of nothing */
} portfolio;

static uint64_t used_bytes(const cm_run *run)
{
  return run->memory != NULL ? atomic_load(&run->memory->used_bytes) : 0;
}

/* Takes a candidate for another objective as one for the job's. */
static void adopt(cm_candidate *c, cm_objective objective)
{
  if (c->objective == objective)
    return;
  cm_graph_free(c->partition->parts);
  c->partition->parts = NULL;
  c->objective = objective;
}

static cm_status find_haste(const cm_candidate *c, cm_haste *found, cm_error *error)
{
  const cm_mapping view = cm_candidate_view(c);
  const cm_mapped mapped = cm_mapped_by(&view, c->input->demand, c->input->chip);
  return cm_measure_haste(&mapped, c->run, found, error);
}

/* In how many figures it is worse. */
static int falls_behind(const cm_haste *made, const cm_haste *least)
{
  return (made->step_ns > least->step_ns * same) + (made->saturation * same < least->saturation);
}

/* Keeps what was made where it costs least. */
static cm_status keep_better(portfolio *f, method by, cm_candidate *made, double *cost, cm_error *error)
{
  adopt(made, f->best.partition != NULL ? f->best.objective : made->objective);
  CM_TRY_OR(weigh(made, error), cm_candidate_free(made));
  cm_objective objective = by.objective != CM_OBJECTIVE_AUTO ? (cm_objective)by.objective : made->objective;
  json_t *told = json_pack("{s:s, s:s, s:s, s:f}", "mapper", by.mapper == CM_MAPPER_TWO_PHASE ? "two-phase" : "integrated",
                           "preset", cm_preset_facts_of((cm_preset)by.preset)->name, "objective", cm_objective_name(objective),
                           "cost", made->cost / (double)f->input->demand->network->weight_scale);
  *cost = made->cost;
  bool better = f->best.partition == NULL || made->cost < f->best.cost;
  cm_candidate worse = better ? f->best : *made;
  if (better)
    f->best = *made;
  cm_candidate_free(&worse);
  return cm_json_append(f->tried, told, "the report", error);
}

/* Maps by a method. A refusal is passed on where `must`; else there is one to choose from less, and *cost is
 * INFINITY. */
static cm_status try_method(portfolio *f, method by, bool must, double *cost, cm_error *error)
{
  const size_t mark = cm_run_enter(f->run, by.share);
  cm_variant variant;
  cm_map_input *input = cm_vary(f->input, &variant);
  input->held_bytes = used_bytes(f->run) - f->used_bytes;
  input->known = f->best.partition;
  cm_candidate made;
  *cost = INFINITY;
  variant.options.preset = by.preset;
  variant.options.mapper = by.mapper;
  variant.options.objective = by.objective;
  cm_status status = by.whole ? cm_best_candidate(input, f->run, &made, error) : cm_candidate_make(input, f->run, &made, error);
  cm_run_leave(f->run, mark);
  if (!must && (status == CM_NO_ROOM || status == CM_LIMIT_BROKEN)) {
    f->why = *error;
    return CM_OK;
  }
  if (status != CM_OK)
    return status;
  made.input = f->input;
  return keep_better(f, by, &made, cost, error);
}

/* Whether what goes on from the best, whose haste is found once, is better: cheaper, and by enough where it falls behind in more than that. */
static cm_status is_worth(const portfolio *f, cm_candidate *made, cm_haste *before, bool *better, cm_error *error)
{
  cm_haste after = {0};
  CM_TRY(weigh(made, error));
  *better = made->cost < f->best.cost;
  if (!*better || f->least.step_ns <= 0)
    return CM_OK;
  if ((before->step_ns <= 0 && find_haste(&f->best, before, error) != CM_OK) || find_haste(made, &after, error) != CM_OK)
    return error->status;
  *better = made->cost < f->best.cost * (1 - worth * (falls_behind(&after, &f->least) - falls_behind(before, &f->least)));
  return CM_OK;
}

/* The integrated mapper for axons, with no more synapses on a core than the slowest one of the least effort has, else with as many as it may
 * have. */
static cm_status go_on(portfolio *f, cm_error *error)
{
  const method by = {f->input->options->preset, CM_MAPPER_INTEGRATED, f->input->options->objective, 1, false};
  cm_limits limits[] = {f->best.limits, f->best.limits};
  cm_candidate made;
  cm_haste before = {0};
  double cost;
  bool better = false;
  cm_status status = CM_OK;
  if (f->best.partition == NULL || f->best.objective != CM_OBJECTIVE_AXON || !cm_refines_axons_on_mesh(&f->best))
    return CM_OK;
  const uint64_t most = f->least.synapses;
  const bool tighter = most != 0 && (limits[0].synapses == 0 || most < limits[0].synapses);
  if (tighter)
    limits[0].synapses = most;
  for (int i = tighter ? 0 : 1; i < 2 && !better && status == CM_OK; i++) {
    bool found = false;
    status = cm_candidate_go_on(&f->best, &limits[i], &made, &found, error);
    CM_THEN_IF(status, found, is_worth(f, &made, &before, &better, error));
    if (found && !(status == CM_OK && better))
      cm_candidate_free(&made);
  }
  return status == CM_OK && better ? keep_better(f, by, &made, &cost, error) : status;
}

/* There is one partition only: all methods come to it. */
static bool is_settled(const portfolio *f)
{
  return f->best.partition != NULL && f->best.attempts[f->best.attempt_count - 1].only;
}

/* What objective edge makes of a network for axons, where with the least effort that is no dearer than `quick`. */
static cm_status try_edges(portfolio *f, double quick, cm_error *error)
{
  const cm_effort *own = cm_effort_of(f->input->options);
  method by = {cm_effort_preset(cm_effort_least(own)), CM_MAPPER_TWO_PHASE, CM_OBJECTIVE_EDGE, 0.05, false};
  double cost;
  cm_status status = try_method(f, by, false, &cost, error);
  if (status != CM_OK || (cost > quick && f->input->demand->network->pin_count > PINS_SMALL))
    return status;
  by.preset = f->input->options->preset;
  by.share = 0.3;
  status = try_method(f, by, false, &cost, error);
  by.mapper = CM_MAPPER_AUTO;
  by.share = 0.6;
  return status == CM_OK ? try_method(f, by, false, &cost, error) : status;
}

static cm_status try_all(portfolio *f, cm_error *error)
{
  const struct cm_map_options *o = f->input->options;
  const cm_effort *less = cm_effort_of(o)->below;
  const bool nets = cm_axons_reach_few(f->input->demand->network); /* starts by nets take most of the time */
  const bool small = cm_effort_of(o)->place.roams && f->input->demand->network->pin_count < PINS_SMALL; /* what is searched by steps alone takes its time */
  const method quick = {cm_effort_preset(cm_effort_least(cm_effort_of(o))), CM_MAPPER_TWO_PHASE, o->objective, small ? 0.02 : nets ? 0.08 : 0.25, false},
               below = {less != NULL ? cm_effort_preset(less) : o->preset, o->mapper, o->objective, 0.1, true},
               own = {o->preset, CM_MAPPER_TWO_PHASE, o->objective, nets && !small ? 0.85 : 0.45, false},
               integrated = {o->preset, CM_MAPPER_AUTO, o->objective, 1, false};
  const bool must = !cm_leaving_is_limited(&f->input->chip->limits) && !cm_circuits_are_limited(f->input->chip), /* whose search may end well from other parts */
    asked = o->mapper == CM_MAPPER_INTEGRATED;
  double cost, least = INFINITY;
  cm_status status = asked || quick.preset == own.preset ? CM_OK : try_method(f, quick, false, &least, error);
  CM_THEN_IF(status, f->best.partition != NULL && f->best.objective == CM_OBJECTIVE_AXON, find_haste(&f->best, &f->least, error));
  CM_THEN_IF(status, !asked && below.preset != quick.preset && below.preset != own.preset, try_method(f, below, false, &cost, error));
  CM_THEN(status, try_method(f, own, must, &cost, error));
  if (status != CM_OK || is_settled(f))
    return status;
  const bool none = f->best.partition == NULL;
  if (none ? !f->input->demand->network->directed : f->best.objective == CM_OBJECTIVE_EDGE)
    return try_method(f, integrated, false, &cost, error);
  if (!asked && nets && (none || f->best.cost > 0))
    status = try_edges(f, least, error);
  return status == CM_OK ? go_on(f, error) : status;
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
  portfolio f = {.input = input, .run = run, .used_bytes = used_bytes(run), .tried = json_array()};
  cm_status status = cm_whole(f.tried != NULL, "the report", error);
  CM_THEN(status, try_all(&f, error));
  if (status == CM_OK && f.best.partition == NULL) {
    *error = f.why;
    status = f.why.status;
  }
  CM_THEN(status, tell(&f, error));
  json_decref(f.tried);
  CM_END(status, *candidate = f.best, cm_candidate_free(&f.best));
}
