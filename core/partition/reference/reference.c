#include "core/partition/reference/reference.h"


#include "core/partition/reference/bisect.h"
#include "core/partition/reference/refine.h"

/* One level as it is needed: its graph, and the way down to the finer one. */
typedef struct level {
  cm_graph *graph;
  uint32_t *parent; /* [finer_count] */
  uint32_t finer_count;
} level;

static void level_free(level *held)
{
  cm_graph_free(held->graph);
  cm_free(held->parent);
  *held = (level){0};
}

/* Level 0 is the topology itself; the others come from their files. */
static cm_status level_open(const cm_demand *demand, const cm_level_files *files, uint32_t number, cm_run *run, level *opened,
                            cm_error *error)
{
  level made = {0};
  char path[CM_PATH_MAX];
  cm_status status = cm_level_path(files, number, path, error);
  if (status == CM_OK)
    status = number == 0 ? cm_graph_from_topology(demand, run, &made.graph, error)
                         : cm_graph_load(path, run, &made.graph, &made.parent, &made.finer_count, error);
  if (status == CM_OK)
    *opened = made;
  return status;
}

/* The next finer level, which must be the one that `held` was coarsened from. */
static cm_status step_down(const cm_demand *demand, const cm_level_files *files, uint32_t number, cm_run *run, level *held,
                           cm_error *error)
{
  uint32_t expected = held->finer_count;
  level_free(held);
  CM_TRY(level_open(demand, files, number, run, held, error));
  if (held->graph->vertex_count != expected)
    return cm_fail(error, CM_BAD_NETWORK, "level %u has %u vertices, the coarser one was made from %u", number,
                   held->graph->vertex_count, expected);
  return CM_OK;
}

/* part of the coarse vertices -> part of the finer ones. */
static cm_status project(const level *coarse, cm_run *run, uint32_t **part, cm_error *error)
{
  uint32_t *finer;
  CM_TRY(CM_NEW(run->memory, finer, coarse->finer_count, error));
  for (uint32_t v = 0; v < coarse->finer_count; v++) {
    if (coarse->parent[v] >= coarse->graph->vertex_count) {
      cm_fail(error, CM_BAD_NETWORK, "vertex %u of a coarsened level has the coarse vertex %u of only %u", v,
              coarse->parent[v], coarse->graph->vertex_count);
      cm_free(finer);
      return error->status;
    }
    finer[v] = (*part)[coarse->parent[v]];
  }
  cm_free(*part);
  *part = finer;
  return CM_OK;
}

/* Numbering, groups (steps s4 and s6) and the graph of groups that placement works on. */
static cm_status settle(const cm_graph *graph, const cm_partition_options *options, uint32_t **part,
                        uint32_t parts, cm_run *run, cm_partition **partition, cm_error *error)
{
  cm_status status = CM_OK;
  if (options->parts > 0)
    status = cm_rebalance(graph, options, run, *part, parts, error);
  CM_THEN(status, cm_close_gaps(*part, graph->vertex_count, &parts, run, error));
  cm_partition *made = NULL;
  CM_THEN(status, CM_NEW(run->memory, made, 1, error));
  CM_THEN(status, cm_graph_contract(graph, *part, parts, run, &made->parts, error));
  CM_TRY_OR(status, cm_partition_free(made));
  made->vertex_count = graph->vertex_count;
  made->part_count = parts;
  made->part = *part;
  *part = NULL;
  *partition = made;
  return CM_OK;
}

cm_status cm_partition_reference(const cm_demand *demand, const cm_partition_options *options, const cm_level_files *files,
                                 cm_run *run, cm_partition **partition, cm_error *error)
{
  uint32_t *part = NULL, parts = 0;
  level held = {0};
  cm_run_phase(run, "bisect");
  cm_status status = level_open(demand, files, files->count, run, &held, error);
  CM_THEN(status, CM_NEW(run->memory, part, held.graph->vertex_count, error));
  CM_THEN(status, cm_bisect_recursively(held.graph, options, run, part, &parts, error));
  cm_run_phase(run, "refine");
  for (uint32_t l = files->count; status == CM_OK; l--) {
    uint64_t gain;
    const size_t mark = cm_run_within(run, 1 / (1 + 1.5 * (double)l)); /* a level takes longer than the coarser one before */
    status = cm_refine(held.graph, options, l, run, part, parts, &gain, error);
    cm_run_leave(run, mark);
    if (status != CM_OK || l == 0)
      break;
    status = project(&held, run, &part, error);
    CM_THEN(status, step_down(demand, files, l - 1, run, &held, error));
  }
  CM_THEN(status, settle(held.graph, options, &part, parts, run, partition, error));
  level_free(&held);
  cm_free(part);
  return status;
}
