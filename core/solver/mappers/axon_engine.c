#include "core/solver/mappers/axon_engine.h"

#include <math.h>

#include "core/limits/limits.h"
#include "core/network/axon_reach.h"
#include "core/partition/axon/closure.h"
#include "core/partition/axon/dense.h"
#include "core/solver/mappers/nets_engine.h"

/* Up to twice as many as are few, edges still tell what axons do not of networks with a shape (layers of convolutions: half the packets);
 * a partition by nets takes ten times the time of all else, and only much effort has it. */
enum { EDGE_TARGETS = 80 };

cm_axon_options cm_engine_axon_options(const cm_engine_task *task)
{
  cm_axon_options options = cm_effort_of(task->input->options)->axons;
  options.limits = task->limits;
  options.parts_max = task->parts_max;
  options.sole_reader = task->input->sole_reader;
  options.seed = task->input->options->seed;
  return options;
}

cm_edge_options cm_engine_edge_options(const cm_engine_task *task, const cm_effort *effort)
{
  cm_edge_options options = effort->edges;
  options.most = task->limits.neurons;
  options.parts = task->parts;
  options.parts_max = task->parts_max;
  options.seed = task->input->options->seed;
  return options;
}

/* Parts so many that one more costs little are not to be exactly full. */
enum { PARTS_MANY = 16 };

/* 0: as few as neurons allow. */
static uint32_t parts_of_start(const cm_engine_task *task)
{
  const cm_topology *t = task->input->demand->network;
  double limit = (double)task->limits.neurons, size = (double)task->input->demand->size_total;
  if (limit < 1 || task->input->demand->size != NULL || size < PARTS_MANY * limit)
    return 0;
  double parts = ceil(size / (cm_axon_full * limit));
  return parts <= fmin(task->parts_max, t->vertex_count) ? (uint32_t)parts : 0;
}

cm_status cm_engine_edge_start(const cm_engine_task *task, const cm_effort *effort, cm_run *run, cm_partition **start,
                               cm_error *error)
{
  const cm_effort *own = cm_effort_of(task->input->options);
  const size_t mark = cm_run_enter(run, effort == own ? 0.5 : effort == cm_effort_least(own) ? 0.05 : 0.2);
  cm_error none;
  cm_edge_options options = cm_engine_edge_options(task, effort);
  options.parts = parts_of_start(task);
  *start = NULL;
  cm_status status = cm_partition_by_edges(task->input->demand, &options, run, start, &none);
  cm_run_leave(run, mark);
  if (status == CM_NO_ROOM || status == CM_LIMIT_BROKEN)
    return CM_OK;
  if (status != CM_OK)
    *error = none;
  return status;
}

/* Whether a partition keeps the limits without copies of neurons: the capacity is for neurons alone, and where copies need room the stage
 * lowers it. */
static cm_status keeps_limits(const cm_engine_task *task, const cm_partition *p, cm_run *run, bool *keeps, cm_error *error)
{
  uint64_t *use;
  cm_demand demand = *task->input->demand;
  demand.target_cores_max = 0;
  CM_TRY(CM_NEW(run->memory, use, (size_t)p->part_count * CM_RESOURCES, error));
  cm_status status = cm_count_use(&demand, p->part, p->part_count, run, use, error);
  if (status == CM_OK)
    *keeps = p->part_count <= task->parts_max && cm_find_violation(&task->limits, use, p->part_count).broken_parts == 0;
  cm_free(use);
  return status;
}

/* A partition by nets that keeps the limits; NULL: none was found. */
static cm_status start_by_nets(const cm_engine_task *task, const cm_effort *effort, cm_run *run, cm_partition **start,
                               cm_error *error)
{
  bool keeps = false;
  const cm_effort *own = cm_effort_of(task->input->options);
  const size_t mark = cm_run_enter(run, effort == cm_effort_least(own) ? 0.3 : 1 / (1 + 0.04 * own->axons.cycles) /* cycles follow */);
  cm_status status = cm_engine_nets(task, effort, run, start, error);
  cm_run_leave(run, mark);
  CM_THEN_IF(status, *start != NULL, keeps_limits(task, *start, run, &keeps, error));
  if (status == CM_OK && keeps)
    return CM_OK;
  cm_partition_free(*start);
  *start = NULL;
  return status;
}

/* A second start, where axons reach few: by nets, or by edges with more effort where that takes too long or breaks a limit. */
static cm_status other_start(const cm_engine_task *task, cm_run *run, cm_partition **start, cm_error *error)
{
  const cm_effort *own = cm_effort_of(task->input->options);
  cm_status status = start_by_nets(task, cm_axons_reach_few(task->input->demand->network) ? own : own->second, run, start, error);
  return status != CM_OK || *start != NULL ? status : cm_engine_edge_start(task, own->second, run, start, error);
}

/* Partitions that a search begins with; NULL: none. */
typedef struct starts {
  cm_partition *first, *other;
  bool searched; /* the first is what the effort below found */
} starts;

/* What the effort below finds, so that more effort is never worse; NULL: it found none. */
static cm_status search_below(const cm_engine_task *task, cm_run *run, cm_partition **found, cm_error *error)
{
  cm_variant variant;
  cm_engine_task below = *task;
  cm_attempt attempt = {0};
  cm_error none;
  below.input = cm_vary(task->input, &variant);
  variant.options.preset = cm_effort_preset(cm_effort_of(task->input->options)->below);
  const size_t mark = cm_run_enter(run, 0.1);
  cm_status status = cm_engine_by_axons(&below, run, &attempt, found, &none);
  cm_run_leave(run, mark);
  if (status == CM_NO_ROOM || status == CM_LIMIT_BROKEN)
    return CM_OK;
  if (status != CM_OK)
    *error = none;
  return status;
}

/* What the effort below finds, or has found and keeps these limits, where that is little work and parts are not filled anyway; else parts by
 * edges, where axons reach few. */
static cm_status first_start(const cm_engine_task *task, bool edges, cm_run *run, starts *from, cm_error *error)
{
  const cm_topology *t = task->input->demand->network;
  const cm_effort *own = cm_effort_of(task->input->options), *least = cm_effort_least(own);
  const bool below = !edges && own->below != NULL && t->pin_count <= own->axons.work;
  from->first = below ? task->input->known : NULL;
  CM_TRY_IF(from->first != NULL, keeps_limits(task, from->first, run, &from->searched, error));
  if (from->searched)
    return CM_OK;
  from->first = NULL;
  CM_TRY_IF(below && !cm_may_lack_clusters(task->input->demand), search_below(task, run, &from->first, error));
  from->searched = from->first != NULL;
  if (from->searched || t->pin_count > (uint64_t)EDGE_TARGETS * t->net_count)
    return CM_OK;
  return cm_engine_edge_start(task, edges ? own : least, run, &from->first, error);
}

static cm_status search_axons(const cm_engine_task *task, const starts *from, cm_run *run, cm_attempt *attempt,
                              cm_partition **partition, cm_error *error)
{
  cm_axon_options options = cm_engine_axon_options(task);
  cm_partition *made;
  options.start = from->first != NULL ? from->first->part : NULL;
  options.searched = from->searched;
  options.other_start = from->other != NULL ? from->other->part : NULL;
  CM_TRY(cm_partition_new(task->input->demand->network->vertex_count, run, &made, error));
  cm_status status = cm_dense_suits(task->input->demand) ? cm_partition_dense(task->input->demand, &options, run, made->part, &made->part_count, error)
                                              : cm_partition_axons(task->input->demand, &options, run, made->part, &made->part_count, error);
  if (status == CM_OK) {
    *partition = made;
    return CM_OK;
  }
  attempt->parts = made->part_count;
  cm_partition_free(made);
  return status;
}

/* Exactly so many parts. */
static cm_status into_parts(const cm_engine_task *task, cm_run *run, cm_partition **partition, cm_error *error)
{
  cm_status status = cm_engine_nets(task, cm_effort_of(task->input->options), run, partition, error);
  if (status == CM_OK && *partition == NULL)
    return cm_fail(error, CM_LIMIT_BROKEN, "neurons of these sizes were not packed into %u parts of at most %llu: allow more imbalance",
                   task->parts, (unsigned long long)task->limits.neurons);
  return status;
}

cm_status cm_engine_by_axons(const cm_engine_task *task, cm_run *run, cm_attempt *attempt, cm_partition **partition, cm_error *error)
{
  starts from = {0};
  bool keeps = false; /* of edges alone */
  bool edges = cm_axons_are_edges(task->input->demand->network);
  const cm_effort *own = cm_effort_of(task->input->options);
  if (task->parts != 0)
    return into_parts(task, run, partition, error);
  bool more = !edges && own->second != NULL && (own->second_always || cm_axons_reach_few(task->input->demand->network));
  cm_status status = first_start(task, edges, run, &from, error);
  CM_THEN_IF(status, from.first != NULL && edges, keeps_limits(task, from.first, run, &keeps, error));
  if (keeps) {
    *partition = from.first;
    return CM_OK;
  }
  CM_THEN_IF(status, from.first != NULL && more, other_start(task, run, &from.other, error));
  CM_THEN(status, search_axons(task, &from, run, attempt, partition, error));
  if (from.first != task->input->known)
    cm_partition_free(from.first);
  cm_partition_free(from.other);
  return status;
}
