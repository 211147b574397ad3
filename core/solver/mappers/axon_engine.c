#include "core/solver/mappers/axon_engine.h"

#include <math.h>

#include "core/limits/limits.h"
#include "core/network/axon_reach.h"
#include "core/partition/axon/dense.h"
#include "core/solver/mappers/nets_engine.h"

/* Up to twice as many as are few, edges still tell what axons do not of networks with a shape (layers of convolutions: half the packets);
 * a partition by nets takes ten times the time of all else, and only much effort has it. */
enum { EDGE_TARGETS = 80 };

/* Cycles cost little on small networks of small nets, and gain more there than elsewhere. */
enum { CYCLES_MORE = 10, CYCLES_MORE_PINS = 1000000 };

cm_axon_options cm_engine_axon_options(const cm_engine_task *task)
{
  cm_axon_options options = cm_effort_of(task->input->options)->axons;
  uint64_t more = CYCLES_MORE_PINS / (task->input->demand->network->pin_count + 1);
  if (options.cycles > 0 && options.cycles < more && cm_axons_reach_few(task->input->demand->network))
    options.cycles = more < CYCLES_MORE ? (uint32_t)more : options.cycles < CYCLES_MORE ? CYCLES_MORE : options.cycles;
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

/* Parts that neurons fill to the brim leave edges no room to be sorted, and the last ones get what is left over everywhere, with axons from
 * everywhere: parts are to be full to so much, where they are so many that one more costs little. */
static const double full_most = 0.97;
enum { PARTS_MANY = 16 };

/* 0: as few as neurons allow. */
static uint32_t parts_of_start(const cm_engine_task *task)
{
  const cm_topology *t = task->input->demand->network;
  double limit = (double)task->limits.neurons, size = (double)task->input->demand->size_total;
  if (limit < 1 || task->input->demand->size != NULL || size < PARTS_MANY * limit)
    return 0;
  double parts = ceil(size / (full_most * limit));
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

/* How a partition stands to the limits and the cores. */
typedef struct standing {
  bool keeps, near; /* near: more effort may make it keep them */
} standing;

/* More effort by nets saves up to a tenth of the axons. Parts that take in more on average than a core may do not keep the limits
 * then; nor does one that exceeds them by so much. */
static const double mean_most = 1.1, worst_most = 2;

static standing judge_use(const cm_engine_task *task, const uint64_t *use, uint32_t parts)
{
  const cm_limits *limits = &task->limits;
  cm_violation worst = cm_find_violation(limits, use, parts);
  double axons = 0;
  for (uint32_t p = 0; p < parts; p++)
    axons += (double)use[(size_t)p * CM_RESOURCES + CM_INBOUND_AXONS];
  double mean = limits->inbound_axons == 0 ? 0 : axons / ((double)limits->inbound_axons * parts);
  return (standing){.keeps = parts <= task->parts_max && worst.broken_parts == 0,
                    .near = mean <= mean_most && (worst.broken_parts == 0 || (double)worst.use <= worst_most * (double)worst.limit)};
}

/* It keeps them without copies of neurons: the capacity is for neurons alone, and where copies need room the stage lowers it. */
static cm_status find_standing(const cm_engine_task *task, const uint32_t *part, uint32_t parts, cm_run *run, standing *found,
                               cm_error *error)
{
  uint64_t *use;
  cm_demand demand = *task->input->demand;
  CM_TRY(CM_NEW(run->memory, use, (size_t)parts * CM_RESOURCES, error));
  cm_status status = cm_count_use(&demand, part, parts, run, use, error);
  if (status == CM_OK)
    *found = judge_use(task, use, parts);
  if (status == CM_OK && demand.target_cores_max != 0) {
    demand.target_cores_max = 0;
    status = cm_count_use(&demand, part, parts, run, use, error);
    if (status == CM_OK)
      found->keeps = judge_use(task, use, parts).keeps;
  }
  cm_free(use);
  return status;
}

/* What is asked before more effort goes into a partition by nets. */
typedef struct question {
  const cm_engine_task *task;
  cm_run *run;
} question;

static cm_status is_near(void *context, const uint32_t *part, uint32_t parts, bool *near, cm_error *error)
{
  const question *q = context;
  standing found = {0};
  cm_status status = find_standing(q->task, part, parts, q->run, &found, error);
  *near = found.near;
  return status;
}

/* A partition by nets that keeps the limits; NULL: none was found, or what little effort found is far from them. */
static cm_status start_by_nets(const cm_engine_task *task, const cm_effort *effort, cm_run *run, cm_partition **start,
                               cm_error *error)
{
  question q = {task, run};
  standing found = {0};
  const cm_effort *own = cm_effort_of(task->input->options);
  const size_t mark = cm_run_enter(run, effort == cm_effort_least(own) ? 0.3 : 1 / (1 + 0.04 * own->axons.cycles) /* cycles follow */);
  cm_status status = cm_engine_nets(task, effort, is_near, &q, run, start, error);
  cm_run_leave(run, mark);
  if (status == CM_OK && *start != NULL)
    status = find_standing(task, (*start)->part, (*start)->part_count, run, &found, error);
  if (status == CM_OK && found.keeps)
    return CM_OK;
  cm_partition_free(*start);
  *start = NULL;
  return status;
}

/* A second start, where axons reach few: by nets, or by edges with more effort where that takes too long or breaks a limit. */
static cm_status other_start(const cm_engine_task *task, cm_run *run, cm_partition **start, bool *by_nets, cm_error *error)
{
  const cm_effort *own = cm_effort_of(task->input->options);
  cm_status status = start_by_nets(task, cm_axons_reach_few(task->input->demand->network) ? own : own->second, run, start, error);
  *by_nets = status == CM_OK && *start != NULL;
  return status != CM_OK || *by_nets ? status : cm_engine_edge_start(task, own->second, run, start, error);
}

/* Partitions that a search begins with; NULL: none. */
typedef struct starts {
  cm_partition *first, *other;
  bool by_nets; /* the other one is made by the method for nets */
} starts;

/* What the effort below found, where it is searched too and keeps these limits; else parts by edges, where axons reach few. */
static cm_status first_start(const cm_engine_task *task, bool edges, cm_run *run, starts *from, cm_error *error)
{
  const cm_topology *t = task->input->demand->network;
  const cm_effort *own = cm_effort_of(task->input->options), *least = cm_effort_least(own);
  standing found = {0};
  from->first = edges || own->below != least || t->pin_count > own->axons.work ? NULL : task->input->known;
  cm_status status = from->first == NULL ? CM_OK : find_standing(task, from->first->part, from->first->part_count, run, &found, error);
  if (status != CM_OK || found.keeps)
    return status;
  from->first = NULL;
  return t->pin_count > (uint64_t)EDGE_TARGETS * t->net_count ? CM_OK : cm_engine_edge_start(task, edges ? own : least, run, &from->first, error);
}

static cm_status search_axons(const cm_engine_task *task, const starts *from, cm_run *run, cm_attempt *attempt,
                              cm_partition **partition, cm_error *error)
{
  cm_axon_options options = cm_engine_axon_options(task);
  uint32_t after_nets = cm_effort_of(task->input->options)->cycles_after_nets;
  cm_partition *made;
  options.start = from->first != NULL ? from->first->part : NULL;
  options.knows_below = from->first != NULL && from->first == task->input->known;
  options.other_start = from->other != NULL ? from->other->part : NULL;
  if (from->by_nets && after_nets > 0 && options.cycles > after_nets)
    options.cycles = after_nets;
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
  cm_status status = cm_engine_nets(task, cm_effort_of(task->input->options), NULL, NULL, run, partition, error);
  if (status == CM_OK && *partition == NULL)
    return cm_fail(error, CM_LIMIT_BROKEN, "neurons of these sizes were not packed into %u parts of at most %llu: allow more imbalance",
                   task->parts, (unsigned long long)task->limits.neurons);
  return status;
}

cm_status cm_engine_by_axons(const cm_engine_task *task, cm_run *run, cm_attempt *attempt, cm_partition **partition, cm_error *error)
{
  starts from = {0};
  standing found = {0}; /* of edges alone */
  bool edges = cm_axons_are_edges(task->input->demand->network);
  const cm_effort *own = cm_effort_of(task->input->options);
  if (task->parts != 0)
    return into_parts(task, run, partition, error);
  bool more = !edges && own->second != NULL && (own->second_always || cm_axons_reach_few(task->input->demand->network));
  cm_status status = first_start(task, edges, run, &from, error);
  if (status == CM_OK && from.first != NULL && edges)
    status = find_standing(task, from.first->part, from.first->part_count, run, &found, error);
  if (found.keeps) {
    *partition = from.first;
    return CM_OK;
  }
  if (status == CM_OK && from.first != NULL && more)
    status = other_start(task, run, &from.other, &from.by_nets, error);
  CM_THEN(status, search_axons(task, &from, run, attempt, partition, error));
  if (from.first != task->input->known)
    cm_partition_free(from.first);
  cm_partition_free(from.other);
  return status;
}
