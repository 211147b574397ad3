#include "core/learning/deadlock.h"

#include "core/chip/dependency.h"
#include "core/chip/interconnect/path_trees.h"

enum { CHECK_EVERY = 1024 };

typedef struct checker {
  const cm_deadlock_task *task;
  cm_run *run;
  uint32_t *router; /* [nodes] of the targets under way */
  cm_deadlock_report report;
  /* On a mesh: */
  cm_tracer *tracer;
  cm_dependencies dependencies;
  /* On an interconnect: */
  cm_way_tracer *ways;
  cm_channels graph;
  uint32_t channels; /* virtual ones that the routes looked at need */
} checker;

typedef cm_status (*add_fn)(checker *c, const cm_ends *ends, cm_error *error);

static cm_status add_turns(checker *c, const cm_ends *ends, cm_error *error)
{
  cm_tree tree;
  uint32_t lost;
  CM_TRY(cm_trace(c->tracer, ends, 0, &tree, &lost, error));
  cm_dependencies_add_tree(&c->dependencies, c->task->chip, &tree);
  return CM_OK;
}

/* Before there is a graph, how many virtual channels it takes. */
static cm_status add_ways(checker *c, const cm_ends *ends, cm_error *error)
{
  cm_way_tree tree;
  uint32_t lost;
  CM_TRY(cm_way_trace(c->ways, ends, &tree, &lost, error));
  if (c->graph.tracer != NULL)
    cm_channels_add(&c->graph, tree);
  for (uint32_t i = 1; i < tree.count; i++)
    c->channels = tree.node[i].channel >= c->channels ? tree.node[i].channel + 1u : c->channels;
  return CM_OK;
}

/* Adds the route from a node to others. */
static cm_status add_route(checker *c, add_fn add, uint32_t node, const uint32_t *target, uint32_t count, cm_error *error)
{
  const cm_chip *chip = c->task->chip;
  const uint32_t *core = c->task->core;
  for (uint32_t k = 0; k < count; k++)
    c->router[k] = cm_router_of(chip, core[target[k]]);
  c->report.routes++;
  return add(c, &(cm_ends){cm_router_of(chip, core[node]), c->router, count}, error);
}

static cm_status add_all(checker *c, add_fn add, cm_error *error)
{
  const cm_graph *parts = c->task->parts;
  const cm_multicast *multicast = c->task->multicast;
  c->report.routes = 0;
  for (uint32_t v = 0; v < parts->vertex_count; v++) {
    for (uint64_t i = parts->first[v]; i < parts->first[v + 1]; i++)
      CM_TRY(add_route(c, add, v, &parts->neighbour[i], 1, error));
    uint32_t targets = multicast == NULL ? 0 : (uint32_t)(multicast->first[v + 1] - multicast->first[v]);
    if (targets > 0 && add_route(c, add, v, multicast->target + multicast->first[v], targets, error) != CM_OK)
      return error->status;
    if (v % CHECK_EVERY == 0 && cm_run_check(c->run, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

static cm_status check_turns(checker *c, cm_error *error)
{
  CM_TRY(cm_tracer_new(c->task->chip, c->task->rule, c->run->memory, &c->tracer, error));
  CM_TRY(cm_dependencies_new(c->task->chip, c->run->memory, &c->dependencies, error));
  CM_TRY(add_all(c, add_turns, error));
  CM_TRY(cm_dependencies_check(&c->dependencies, c->run->memory, error));
  cm_dependencies_count(&c->dependencies, &c->report.channels, &c->report.arcs);
  return CM_OK;
}

static cm_status check_ways(checker *c, cm_error *error)
{
  const cm_interconnect *net = c->task->chip->interconnect;
  bool ring;
  if (cm_interconnect_prepare(net, error) != CM_OK || cm_way_tracer_new(net, c->run->memory, &c->ways, error) != CM_OK ||
      add_all(c, add_ways, error) != CM_OK ||
      cm_channels_new(c->ways, c->channels > 0 ? c->channels : 1, c->run->memory, &c->graph, error) != CM_OK ||
      add_all(c, add_ways, error) != CM_OK || cm_channels_ring(&c->graph, c->run->memory, &ring, error) != CM_OK)
    return error->status;
  cm_channels_count(&c->graph, &c->report.channels, &c->report.arcs);
  return ring ? cm_fail(error, CM_INTERNAL, "the routes could block each other: a ring of links wait for each other") : CM_OK;
}

cm_status cm_deadlock_check(const cm_deadlock_task *task, cm_run *run, cm_deadlock_report *report, cm_error *error)
{
  static cm_status (*const check[CM_GEOMETRIES])(checker *, cm_error *) = {check_turns, check_ways};
  checker c = {.task = task, .run = run};
  cm_status status = CM_NEW(run->memory, c.router, (size_t)task->parts->vertex_count + 1, error);
  CM_THEN(status, check[cm_geometry_of(task->chip)](&c, error));
  if (status == CM_OK)
    *report = c.report;
  cm_tracer_free(c.tracer);
  cm_dependencies_free(&c.dependencies);
  cm_channels_free(&c.graph);
  cm_way_tracer_free(c.ways);
  cm_free(c.router);
  return status;
}
