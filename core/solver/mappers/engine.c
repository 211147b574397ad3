#include "core/solver/mappers/axon_engine.h"

#include "core/solver/mappers/step_engine.h"
#include "core/levels/levels.h"
#include "core/partition/axon/dense.h"
#include "core/partition/edge/constrained.h"
#include "core/partition/flows.h"
#include "core/partition/reference/reference.h"

/* The source's method. */
static cm_status by_seed(const cm_engine_task *task, cm_run *run, cm_attempt *attempt, cm_partition **partition,
                         cm_error *error)
{
  const struct cm_map_options *o = task->input->options;
  cm_partition_options options = {.capacity = task->limits.neurons,
                                  .parts = task->parts,
                                  .coarsening_share = o->coarsening_share,
                                  .coarsening_tries = o->coarsening_tries,
                                  .coarsening_stop = o->coarsening_stop,
                                  .matching = (cm_matching)o->matching,
                                  .bisection_tries = o->bisection_tries,
                                  .refinement_passes = o->refinement_passes,
                                  .coarsening_seed = o->coarsening_seed,
                                  .seed = o->seed};
  cm_levels levels;
  CM_TRY(cm_levels_acquire(task->input, &options, task->first_levels, run, &levels, error));
  cm_status status = cm_partition_reference(task->input->demand, &options, &levels.files, run, partition, error);
  attempt->levels = levels.files.count;
  attempt->levels_available = levels.available;
  attempt->coarsening_cached = levels.cached;
  attempt->pairs_carried = levels.mended.carried;
  attempt->pairs_matched = levels.mended.matched;
  cm_levels_release(&levels);
  return status;
}

/* The multilevel method for the least edge cut; of the limits it knows the neurons. */
static cm_status by_edges(const cm_engine_task *task, cm_run *run, CM_UNUSED cm_attempt *attempt, cm_partition **partition,
                          cm_error *error)
{
  cm_edge_options options = cm_engine_edge_options(task, cm_effort_of(task->input->options));
  return cm_partition_by_edges(task->input->demand, &options, run, partition, error);
}

/* Memory beside the topology: of the source's method the level-0 graph and the transposed pins at once. */
static uint64_t seed_bytes(const cm_engine_task *task)
{
  const cm_topology *t = task->input->demand->network;
  return t->pin_count * (!t->directed ? 12 : t->pin_weight != NULL ? 36 : 28) + t->vertex_count * UINT64_C(40);
}

static uint64_t edge_bytes(const cm_engine_task *task)
{
  cm_edge_options options = cm_engine_edge_options(task, cm_effort_of(task->input->options));
  return cm_edges_least_bytes(task->input->demand, &options);
}

/* What a vertex takes at least of arrays that are to be at hand. */
enum { VERTEX_BYTES = 64 };

uint64_t cm_engine_vertex_bytes(const cm_engine_task *task)
{
  return (uint64_t)task->input->demand->network->vertex_count * VERTEX_BYTES;
}

/* The levels of the method for axons take some six bytes a synapse, read all over. With half of them at hand a job takes
 * two to four times the processor time, with a quarter ten times, most of it in page faults. */
enum { LEVELS_HOT_BYTES = 3 };

/* By nets, where the number of parts is given: the same a synapse and level, read all over. */
enum { NETS_BYTES = 64 };

static uint64_t axon_bytes(const cm_engine_task *task)
{
  return task->parts != 0 ? task->input->demand->network->pin_count * NETS_BYTES : seed_bytes(task);
}

static uint64_t axon_hot_bytes(const cm_engine_task *task)
{
  const cm_topology *t = task->input->demand->network;
  if (task->parts != 0)
    return axon_bytes(task);
  uint64_t more = cm_dense_suits(task->input->demand) ? cm_dense_hot_bytes(t) : t->pin_count * LEVELS_HOT_BYTES;
  return cm_engine_vertex_bytes(task) + more;
}

static cm_status polish_edges(const cm_map_input *input, const cm_limits *limits, cm_partition *partition, cm_run *run,
                              cm_error *error)
{
  return cm_refine_constrained(input->demand, limits, NULL, CM_POLISH_ROUNDS, run, partition->part, partition->part_count,
                          error);
}

const cm_engine cm_engine_axons = {"axons",        cm_engine_by_axons,  cm_graph_of_axons,    axon_bytes,
                                   axon_hot_bytes, .takes_parts = true, .keeps_limits = true, .mends = true};

static const cm_engine of_edges = {"edges", by_edges, cm_graph_of_synapses, edge_bytes, cm_engine_vertex_bytes, polish_edges,
                                   .takes_parts = true, .mends = true};

/* Of presets that are a published method to the letter. */
static const cm_engine published = {"reference", by_seed, cm_graph_of_parts, seed_bytes, cm_engine_vertex_bytes, .takes_parts = true};

const cm_engine *cm_engine_find(cm_preset preset, cm_objective objective)
{
  static const cm_engine *const engines[] = {
    [CM_OBJECTIVE_EDGE] = &of_edges,           [CM_OBJECTIVE_AXON] = &cm_engine_axons, [CM_OBJECTIVE_TIME] = &cm_engine_time,
    [CM_OBJECTIVE_ENERGY] = &cm_engine_energy, [CM_OBJECTIVE_EDP] = &cm_engine_edp,    [CM_OBJECTIVE_PARETO] = &cm_engine_edp,
    [CM_OBJECTIVE_KNEE] = &cm_engine_edp};
  if (!cm_preset_serves(preset, objective))
    return NULL;
  return cm_preset_facts_of(preset)->edge_alone ? &published : engines[objective];
}
