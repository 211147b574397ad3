/* Happy path on sparse networks: partition-then-place of preset fast -> the mesh mapper -> partition-then-place with the
 * preset's own effort, where the first came near -> the cheapest. On others: the mesh mapper -> the rival, where a limit
 * broke that the mapper does not know. Where axons reach few, what objective edge makes of it stands beside all. What can
 * fail: the mesh mapper; the others may find nothing. */
#include "core/mapping/driver/contest.h"

#include <math.h>

#include "core/mapping/mappers/engine.h"
#include "core/mapping/stage/stage.h"
#include "core/placement/placement.h"

/* On sparse networks cutting and placing as two steps may come out ahead of doing both at once, and costs little: the
 * way of preset fast shows whether it can. Networks with more synapses a neuron are left to the mesh mapper, but under
 * preset best, and where it had to be mended. */
enum { SPARSE_DEGREE = 16 };

/* Where what is cut goes hardly further than to the next core, a mapper that sees hops has nothing to gain. Few parts
 * are all near. */
enum { PARTS_LEAST = 16 };
static const double hops_least = 1.15;

/* What the preset's own effort saves over preset fast, at most, of partition-then-place. */
static const double saving_most = 1.25;

static bool has_rival(const cm_map_input *input)
{
  return input->part == NULL && input->places && cm_stage_takes_mesh(input);
}

static bool may_win(const cm_map_input *input)
{
  const cm_topology *t = input->topology;
  uint64_t degrees = t->directed ? 2 * t->pin_count : t->pin_count;
  return degrees <= (uint64_t)SPARSE_DEGREE * t->vertex_count ||
         (input->options->preset == CM_PRESET_BEST && !t->directed);
}

/* What the job pays for a mapping: for objective edge the energy of all ways, for axons with their first routers, or,
 * where trees are paid, what these cost. */
static cm_status weigh(cm_proposal *j, double *cost, cm_error *error)
{
  const cm_mapping *m = j->mapping;
  const cm_map_input *in = j->input;
  const json_t *trees = json_object_get(j->placing.report, "multicast");
  const cm_engine *engine = cm_engine_find((cm_preset)in->options->preset, j->objective);
  if (j->parts == NULL && engine->flows(in->topology, m->part, m->part_count, j->run, &j->parts, error) != CM_OK)
    return error->status;
  double first = j->objective == CM_OBJECTIVE_AXON ? in->chip->energy_pj.router * (double)j->parts->weight_total : 0;
  *cost = trees != NULL ? json_real_value(json_object_get(trees, "after"))
                        : cm_placement_energy(j->parts, in->chip, m->core) + first;
  return CM_OK;
}

/* A way to map: a preset, a mapper and an objective in place of the job's. */
typedef struct way {
  uint32_t preset, mapper, objective;
} way;

/* What was made so far, and what was tried. */
typedef struct contest {
  const cm_map_input *input;
  cm_run *run;
  cm_proposal best; /* the cheapest; no mapping at first */
  double cost;      /* its cost, by the job's objective */
  json_t *tried;    /* array for the report */
} contest;

/* Takes a proposal for another objective as one for the job's. */
static void adopt(cm_proposal *j, cm_objective objective)
{
  if (j->objective == objective)
    return;
  cm_graph_free(j->parts);
  j->parts = NULL;
  j->objective = objective;
}

/* Maps in a way of its own, and keeps that where it costs least. A refusal is passed on where `must`; else there is one
 * to choose from less. *cost is INFINITY then. */
static cm_status enter(contest *c, way by, bool must, double *cost, cm_error *error)
{
  struct cm_map_options options = *c->input->options;
  cm_map_input input = *c->input;
  cm_proposal made;
  *cost = INFINITY;
  options.preset = by.preset;
  options.mapper = by.mapper;
  options.objective = by.objective;
  input.options = &options;
  cm_status status = cm_proposal_make(&input, c->run, &made, error);
  if (!must && (status == CM_NO_ROOM || status == CM_LIMIT_BROKEN))
    return CM_OK;
  if (status != CM_OK)
    return status;
  made.input = c->input;
  adopt(&made, c->best.mapping != NULL ? c->best.objective : made.objective);
  if (weigh(&made, cost, error) != CM_OK) {
    cm_proposal_free(&made);
    return error->status;
  }
  bool better = c->best.mapping == NULL || *cost < c->cost;
  cm_proposal worse = better ? c->best : made;
  if (better) {
    c->best = made;
    c->cost = *cost;
  }
  cm_proposal_free(&worse);
  cm_objective objective =
    by.objective != CM_OBJECTIVE_AUTO ? (cm_objective)by.objective : c->best.objective;
  json_t *told = json_pack("{s:s, s:s, s:s, s:f}", "mapper", by.mapper == CM_MAPPER_STAGED ? "staged" : "mesh", "preset",
                           cm_preset_name((cm_preset)by.preset), "objective", cm_objective_name(objective), "cost",
                           *cost / (double)input.topology->weight_scale);
  return json_array_append_new(c->tried, told) == 0 ? CM_OK
                                                    : cm_fail(error, CM_NO_MEMORY, "out of memory for the report");
}

/* Whether the best so far pays for what is cut, and hardly for its way. */
static bool is_tight(const contest *c)
{
  const cm_proposal *j = &c->best;
  return j->mapping != NULL && j->mapping->part_count >= PARTS_LEAST &&
         (double)cm_placement_traffic(j->parts, c->input->chip, j->mapping->core) <=
           hops_least * (double)j->parts->weight_total;
}

/* There is one partition only: the ways to make it differ in nothing. */
static bool is_settled(const contest *c)
{
  const cm_mapping *m = c->best.mapping;
  return m != NULL && m->attempts[m->attempt_count - 1].only;
}

/* A limit broke that the mapper does not know. */
static bool was_mended(const cm_mapping *m)
{
  return m->attempt_count > 1 || m->attempts[m->attempt_count - 1].moved;
}

/* What objective edge makes of a network whose axons reach few. */
static cm_status enter_edges(contest *c, bool sparse, bool tight, cm_error *error)
{
  way staged = {c->input->options->preset, CM_MAPPER_STAGED, CM_OBJECTIVE_EDGE}, mesh = staged;
  double ignored;
  mesh.mapper = CM_MAPPER_AUTO;
  cm_status status = sparse ? enter(c, staged, false, &ignored, error) : CM_OK;
  return status == CM_OK && !tight ? enter(c, mesh, false, &ignored, error) : status;
}

static cm_status compete(contest *c, cm_error *error)
{
  const struct cm_map_options *o = c->input->options;
  way quick = {CM_PRESET_FAST, CM_MAPPER_STAGED, o->objective}, own = {o->preset, CM_MAPPER_AUTO, o->objective},
      staged = {o->preset, CM_MAPPER_STAGED, o->objective};
  double fast = INFINITY, mesh = INFINITY, ignored;
  bool sparse = may_win(c->input);
  cm_status status = sparse ? enter(c, quick, false, &fast, error) : CM_OK;
  bool tight = sparse && is_tight(c);
  if (status == CM_OK && !tight)
    status = enter(c, own, true, &mesh, error);
  if (status == CM_OK && is_settled(c))
    return CM_OK;
  if (status == CM_OK && (sparse ? fast <= saving_most * mesh : was_mended(c->best.mapping)))
    status = enter(c, staged, false, &ignored, error);
  bool few = c->best.objective == CM_OBJECTIVE_AXON && cm_axons_reach_few(c->input->topology);
  return status == CM_OK && few && c->cost > 0 ? enter_edges(c, sparse, tight, error) : status;
}

static cm_status tell(const contest *c, cm_error *error)
{
  bool told = json_array_size(c->tried) < 2 || json_object_set(c->best.placing.report, "tried", c->tried) == 0;
  return told ? CM_OK : cm_fail(error, CM_NO_MEMORY, "out of memory for the report");
}

cm_status cm_best_proposal(const cm_map_input *input, cm_run *run, cm_proposal *proposal, cm_error *error)
{
  if (!has_rival(input))
    return cm_proposal_make(input, run, proposal, error);
  contest c = {.input = input, .run = run, .tried = json_array()};
  cm_status status =
    c.tried != NULL ? compete(&c, error) : cm_fail(error, CM_NO_MEMORY, "out of memory for the report");
  if (status == CM_OK)
    status = tell(&c, error);
  json_decref(c.tried);
  if (status == CM_OK)
    *proposal = c.best;
  else
    cm_proposal_free(&c.best);
  return status;
}
