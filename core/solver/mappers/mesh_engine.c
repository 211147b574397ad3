/* The integrated mapper as a method of the partition stage: it makes parts and places them at once. */
#include <math.h>

#include "core/chip/region.h"
#include "core/partition/edge/constrained.h"
#include "core/solver/mappers/kept.h"
#include "core/solver/presets.h"

static cm_status map_on_region(const cm_engine_task *task, const cm_region *region, cm_run *run, cm_partition *made,
                               cm_error *error)
{
  cm_csr_graph *graph;
  cm_axes *axes = NULL;
  uint64_t cost;
  cm_mesh_options options = cm_effort_of(task->input->options)->mesh;
  options.most = task->limits.neurons;
  options.seed = task->input->options->seed;
  CM_TRY(cm_csr_graph_from_topology(task->input->demand, run, &graph, error));
  cm_status status = cm_axes_new(task->input->chip, region->cores, region->core_count, run, &axes, error);
  CM_THEN(status, cm_map_on_mesh(graph, axes, &options, run, made->part, &cost, error));
  cm_csr_graph_free(graph);
  cm_axes_free(axes);
  return status;
}

/* A network comes to one result on regions of one shape. */
static cm_status look_up_or_map(const cm_engine_task *task, cm_region *region, cm_run *run, cm_attempt *attempt,
                                cm_partition *made, cm_error *error)
{
  cm_kept kept;
  cm_engine_task anywhere = *task;
  anywhere.parts_max = 0; /* cores that are free do not count */
  CM_TRY(cm_kept_begin(&cm_engine_mesh, &anywhere, &kept, error));
  CM_TRY(cm_kept_on(&kept, &region, 1, run, error));
  if (cm_kept_find(&kept, made->part, made->vertex_count, attempt)) {
    uint32_t v = 0;
    while (v < made->vertex_count && made->part[v] < region->core_count)
      v++;
    if (v == made->vertex_count)
      return CM_OK;
  }
  cm_status status = map_on_region(task, region, run, made, error);
  if (status == CM_OK)
    cm_kept_keep(&kept, made->part, made->vertex_count, attempt);
  return status;
}

cm_status cm_name_cores(const cm_region *region, cm_run *run, cm_partition *made, cm_error *error)
{
  uint32_t *new_number, used = 0;
  CM_TRY(CM_NEW_ALL(run->memory, error, CM_ARRAY(made->core, region->core_count), CM_ARRAY(new_number, region->core_count)));
  for (uint32_t v = 0; v < made->vertex_count; v++)
    new_number[made->part[v]] = 1;
  for (uint32_t c = 0; c < region->core_count; c++)
    if (new_number[c] != 0) {
      made->core[used] = region->cores[c];
      new_number[c] = used++;
    }
  for (uint32_t v = 0; v < made->vertex_count; v++)
    made->part[v] = new_number[made->part[v]];
  made->part_count = used;
  cm_free(new_number);
  return CM_OK;
}

/* The integrated mapper on the best region of as many cores as there are to be parts. */
static cm_status by_mesh(const cm_engine_task *task, cm_run *run, cm_attempt *attempt, cm_partition **partition,
                         cm_error *error)
{
  const cm_map_input *input = task->input;
  cm_region *region;
  cm_partition *made;
  uint32_t found;
  uint64_t least = (input->demand->size_total + task->limits.neurons - 1) / task->limits.neurons;
  uint32_t cores = task->parts != 0 ? task->parts : (uint32_t)least;
  CM_TRY(cm_region_candidates(input->chip, input->occupancy, cores, 1, run, &region, &found, error));
  cm_status status = cm_partition_new(input->demand->network->vertex_count, run, &made, error);
  if (status == CM_OK) {
    made->regions = 1;
    if (made->vertex_count > 0)
      status = look_up_or_map(task, region, run, attempt, made, error);
    CM_THEN(status, cm_name_cores(region, run, made, error));
    if (status == CM_OK)
      *partition = made;
    else
      cm_partition_free(made);
  }
  cm_region_free(region);
  return status;
}

/* Entries of the mapper's tables: what each vertex would pay in every column and row. */
static double table_entries(const cm_engine_task *task)
{
  uint32_t cores = task->parts != 0 ? task->parts : task->parts_max;
  return (2 * sqrt((double)cores) + 16) * (double)task->input->demand->network->vertex_count;
}

static uint64_t mesh_bytes(const cm_engine_task *task)
{
  return (uint64_t)(4 * table_entries(task)) + task->input->demand->network->pin_count * 12;
}

/* Beyond so many table entries (4 bytes each) it is not taken unasked. */
static const double entries_max = 1 << 29;

bool cm_engine_mesh_suits(const cm_engine_task *task, cm_objective objective)
{
  const struct cm_map_options *o = task->input->options;
  if (cm_objective_is_of_steps(objective))
    return false;
  if (o->mapper == CM_MAPPER_INTEGRATED)
    return true;
  if (task->input->chip != NULL && cm_geometry_of(task->input->chip) == CM_BY_WAYS)
    return false;
  return o->mapper == CM_MAPPER_AUTO && o->parts == 0 && cm_effort_of(o)->integrated &&
         (objective == CM_OBJECTIVE_AXON || table_entries(task) <= entries_max);
}

static uint64_t way(const void *context, uint32_t from, uint32_t to)
{
  const cm_axes *axes = context;
  return from == to ? 0 : cm_axes_distance(axes, from, to) + (uint64_t)axes->base;
}

/* For hops, where parts have their cores, which they keep. */
static cm_status polish(const cm_map_input *input, const cm_limits *limits, cm_partition *partition, cm_run *run,
                        cm_error *error)
{
  cm_axes *axes;
  if (partition->core == NULL)
    return cm_refine_constrained(input->demand, limits, NULL, CM_POLISH_ROUNDS, run, partition->part,
                            partition->part_count, error);
  CM_TRY(cm_axes_new(input->chip, partition->core, partition->part_count, run, &axes, error));
  cm_ways ways = {way, axes};
  cm_status status = cm_refine_constrained(input->demand, limits, &ways, CM_POLISH_ROUNDS, run, partition->part,
                                      partition->part_count, error);
  cm_axes_free(axes);
  return status;
}

const cm_engine cm_engine_mesh = {"edges on the mesh",    by_mesh, cm_graph_of_synapses, mesh_bytes,
                                  cm_engine_vertex_bytes, polish,  .takes_parts = true,  .places = true,
                                  .mends = true};
