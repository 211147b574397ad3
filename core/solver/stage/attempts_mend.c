/* What is tried on a partition that breaks a limit before a smaller capacity is: single moves, and the method for axons,
 * which keeps more limits. What can fail: memory, disk, a stop. */
#include "core/solver/stage/attempts_judge.h"

#include <string.h>

#include "core/partition/legalise.h"
#include "core/solver/mappers/kept.h"

/* A copy without its graph, with its cores or without; the caller frees it. */
static cm_status copy_partition(const cm_partition *from, bool cores, cm_run *run, cm_partition **copy,
                                cm_error *error)
{
  cm_partition *made;
  CM_TRY(cm_partition_new(from->vertex_count, run, &made, error));
  if (cores && CM_NEW(run->memory, made->core, from->part_count, error) != CM_OK) {
    cm_partition_free(made);
    return error->status;
  }
  made->part_count = from->part_count;
  made->regions = from->regions;
  made->region_chosen = from->region_chosen;
  memcpy(made->part, from->part, from->vertex_count * sizeof *made->part);
  if (cores)
    memcpy(made->core, from->core, from->part_count * sizeof *made->core);
  *copy = made;
  return CM_OK;
}

/* Makes a legal partition better for the engine's objective, and takes it over. */
static cm_status polish(cm_attempts *a, cm_partition **partition, cm_error *error)
{
  cm_partition *p = *partition;
  cm_violation violation;
  cm_status status = CM_OK;
  if (a->engine->polish != NULL)
    status = a->engine->polish(a->input, &a->made.limits, p, a->run, error);
  return status == CM_OK ? cm_attempt_judge(a, partition, &violation, error) : status;
}

cm_status cm_attempt_legalise(cm_attempts *a, const cm_partition *near, bool cores, uint32_t parts_max, cm_error *error)
{
  const uint32_t asked = cm_objective_is_of_steps(a->made.objective) ? 0 : a->terms.parts, most = cm_attempts_parts_most(a);
  cm_legalise_options options = {.limits = a->made.limits,
                                 .parts_max = parts_max < most ? parts_max : most,
                                 .exact = near->part_count == asked || cores,
                                 .seed = a->input->options->seed};
  cm_partition *copy = NULL;
  bool legal = false;
  cm_run_phase(a->run, "legalise");
  CM_TRY(copy_partition(near, cores, a->run, &copy, error));
  cm_status status =
      cm_legalise(a->input->demand, &options, a->run, copy->part, &copy->part_count, &legal, error);
  CM_THEN_IF(status, legal && (asked == 0 || copy->part_count == asked), polish(a, &copy, error));
  cm_partition_free(copy);
  if (status == CM_OK && cm_attempt_done(a)) {
    cm_attempt *attempt = &a->made.attempts[a->made.attempt_count - 1];
    attempt->parts = a->made.partition->part_count;
    attempt->edge_cut = a->made.quality.edge_cut;
    attempt->moved = true;
    attempt->broken[0] = '\0';
  }
  return status;
}

cm_status cm_attempt_by_axons(cm_attempts *a, const cm_engine *keeper, uint64_t capacity, cm_error *error)
{
  cm_attempt *attempt = &a->made.attempts[a->made.attempt_count];
  cm_engine_task task = {.input = a->input, .limits = a->made.limits, .parts_max = a->terms.cores};
  cm_partition *partition = NULL;
  *attempt = (cm_attempt){.capacity = capacity, .by_axons = true};
  task.limits.neurons = capacity;
  cm_status status = cm_partition_or_kept(keeper, &task, a->run, attempt, &partition, error);
  if (status == CM_OK && partition->part_count > a->terms.cores) {
    cm_partition_free(partition);
    return CM_OK;
  }
  if (status != CM_OK)
    return status == CM_NO_ROOM ? CM_OK : status;
  a->made.attempt_count++;
  attempt->parts = partition->part_count;
  cm_graph_free(partition->parts);
  partition->parts = NULL;
  status = polish(a, &partition, error);
  attempt->edge_cut = a->made.quality.edge_cut;
  if (status == CM_OK && !cm_attempt_done(a))
    (void)snprintf(attempt->broken, sizeof attempt->broken, "a limit that the method for axons does not keep breaks");
  cm_partition_free(partition);
  return status;
}

const cm_engine *cm_attempt_keeper(const cm_attempts *a, const cm_violation *violation)
{
  bool kept = violation->resource == CM_SYNAPSES || violation->resource == CM_INBOUND_AXONS || violation->resource == CM_MEMORY;
  bool late = a->made.attempt_count > 1 || a->fill > 1.5;
  bool tried = false;
  for (uint32_t i = 0; i < a->made.attempt_count; i++)
    tried |= a->made.attempts[i].by_axons;
  return kept && late && !tried && violation->broken_parts > 0 && a->terms.parts == 0 && a->engine->mends &&
                 !a->engine->keeps_limits && !a->engine->places
             ? cm_engine_find((cm_preset)a->input->options->preset, CM_OBJECTIVE_AXON)
             : NULL;
}
