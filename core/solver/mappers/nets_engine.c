#include "core/solver/mappers/nets_engine.h"

#include <math.h>

#include "core/partition/nets/nets.h"

/* Effort of the presets by nets: where the number of parts is given, and where it is free. There nets are those of neurons, larger
 * and in few parts, and what is found varies more from start to start. */
static const cm_nets_options efforts[2][CM_PRESET_BEST + 1] = {
  {
    [CM_PRESET_FAST] = {.starts = 1, .attempts = 2, .tries = 3, .rounds = 4, .loose_rounds = 2, .coarse_vertices = 80},
    [CM_PRESET_BALANCED] = {.starts = 2, .attempts = 3, .tries = 6, .rounds = 4, .loose_rounds = 1, .cycles = 1,
                            .unions = 2, .flow_reach = 4, .flow_rounds = 1, .coarse_vertices = 80,
                            .below = &efforts[0][CM_PRESET_FAST]},
    [CM_PRESET_BEST] = {.starts = 12, .attempts = 9, .attempts_few = 3, .tries = 10, .rounds = 10, .loose_rounds = 5, .thorough = true,
                        .cycles = 4, .unions = 12, .flow_reach = 4, .flow_rounds = 10, .coarse_vertices = 80, .below = &efforts[0][CM_PRESET_BALANCED]},
  },
  {
    [CM_PRESET_FAST] = {.starts = 1, .attempts = 2, .tries = 3, .rounds = 4, .loose_rounds = 2, .coarse_vertices = 80},
    [CM_PRESET_BALANCED] = {.starts = 3, .attempts = 2, .tries = 4, .rounds = 10, .loose_rounds = 5, .cycles = 1, .unions = 2,
                            .flow_reach = 4, .flow_rounds = 1, .coarse_vertices = 160, .spares = true,
                            .below = &efforts[1][CM_PRESET_FAST]},
    [CM_PRESET_BEST] = {.starts = 6, .attempts = 9, .tries = 10, .rounds = 10, .loose_rounds = 5, .thorough = true, .cycles = 4,
                        .unions = 12, .flow_reach = 4, .flow_rounds = 10, .coarse_vertices = 160,
                        .below = &efforts[1][CM_PRESET_BALANCED]},
  },
};

/* Room in parts, at least, where their number is free: FM has nothing to exchange between parts that are full. */
static const double room_least = 0.025;

/* What a preset has time for; with more pins the effort of `fast`. */
static const uint64_t pins_most[] = {
  [CM_PRESET_FAST] = 1000000, [CM_PRESET_BALANCED] = 1500000, [CM_PRESET_BEST] = 6000000};

static uint32_t parts_for(const cm_engine_task *task)
{
  double size = (double)task->input->topology->size_total, limit = (double)task->limits.neurons;
  double least = ceil(size / limit), wanted = ceil(size * (1 + room_least) / limit);
  uint32_t vertices = task->input->topology->vertex_count;
  uint32_t most = task->parts_max < vertices ? task->parts_max : vertices;
  if (task->parts != 0)
    return task->parts;
  return wanted <= most ? (uint32_t)wanted : least <= most ? most : 0;
}

cm_status cm_engine_nets(const cm_engine_task *task, uint32_t preset, cm_run *run, cm_partition **made,
                         cm_error *error)
{
  return cm_engine_nets_where(task, preset, NULL, NULL, run, made, error);
}

cm_status cm_engine_nets_where(const cm_engine_task *task, uint32_t preset, cm_nets_question worth, void *context, cm_run *run,
                               cm_partition **made, cm_error *error)
{
  const cm_topology *t = task->input->topology;
  bool is_free = task->parts == 0;
  cm_nets_options options = efforts[is_free][preset];
  cm_partition *p;
  uint64_t excess;
  *made = NULL;
  if (parts_for(task) == 0 || (is_free && t->pin_count > pins_most[preset]))
    return CM_OK;
  if (t->pin_count > pins_most[preset])
    options = efforts[is_free][CM_PRESET_FAST];
  options.worth = worth;
  options.context = context;
  options.parts = parts_for(task);
  options.most = task->limits.neurons;
  options.seed = task->input->options->seed;
  if (CM_NEW(run->memory, p, 1, error) != CM_OK)
    return error->status;
  p->vertex_count = t->vertex_count;
  p->part_count = options.parts;
  cm_status status = CM_NEW(run->memory, p->part, t->vertex_count, error);
  if (status == CM_OK)
    status = cm_partition_nets(t, &options, run, p->part, &excess, error);
  if (status != CM_OK || excess > 0) {
    cm_partition_free(p);
    return status;
  }
  *made = p;
  return CM_OK;
}
