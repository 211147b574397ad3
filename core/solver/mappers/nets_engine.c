#include "core/solver/mappers/nets_engine.h"

#include <math.h>

static uint32_t parts_for(const cm_engine_task *task)
{
  double size = (double)task->input->demand->size_total, limit = (double)task->limits.neurons;
  double least = ceil(size / limit), wanted = ceil(size / (cm_axon_full * limit));
  uint32_t vertices = task->input->demand->network->vertex_count;
  uint32_t most = task->parts_max < vertices ? task->parts_max : vertices;
  if (task->parts != 0)
    return task->parts;
  return wanted <= most ? (uint32_t)wanted : least <= most ? most : 0;
}

cm_status cm_engine_nets(const cm_engine_task *task, const cm_effort *effort, cm_run *run, cm_partition **made, cm_error *error)
{
  const cm_topology *t = task->input->demand->network;
  bool is_free = task->parts == 0, many = t->pin_count > effort->nets_pins;
  cm_nets_options options = is_free ? effort->nets_free : many ? cm_effort_least(effort)->nets : effort->nets;
  cm_partition *p;
  uint64_t excess;
  *made = NULL;
  if (parts_for(task) == 0 || (is_free && many))
    return CM_OK;
  options.parts = parts_for(task);
  options.most = task->limits.neurons;
  options.seed = task->input->options->seed;
  CM_TRY(cm_partition_new(t->vertex_count, run, &p, error));
  p->part_count = options.parts;
  cm_status status = cm_partition_nets(task->input->demand, &options, run, p->part, &excess, error);
  if (status == CM_OK && excess == 0)
    *made = p;
  else
    cm_partition_free(p);
  return status;
}
