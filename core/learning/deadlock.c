#include "core/learning/deadlock.h"

enum { CHECK_EVERY = 1024 };

typedef struct checker {
  const cm_chip *chip;
  const uint32_t *core;
  cm_tracer *tracer;
  cm_dependencies channels;
  uint32_t *router; /* [nodes] of the targets under way */
  cm_deadlock_report report;
} checker;

/* Adds the route from a node to others. */
static cm_status add_route(checker *c, uint32_t node, const uint32_t *target, uint32_t count, cm_error *error)
{
  cm_tree tree;
  uint32_t lost;
  for (uint32_t k = 0; k < count; k++)
    c->router[k] = cm_router_of(c->chip, c->core[target[k]]);
  const cm_ends ends = {cm_router_of(c->chip, c->core[node]), c->router, count};
  if (cm_trace(c->tracer, &ends, 0, &tree, &lost, error) != CM_OK)
    return error->status;
  cm_dependencies_add_tree(&c->channels, c->chip, &tree);
  c->report.routes++;
  return CM_OK;
}

static cm_status add_all(checker *c, const cm_graph *parts, const cm_multicast *multicast, cm_run *run,
                         cm_error *error)
{
  for (uint32_t v = 0; v < parts->vertex_count; v++) {
    for (uint64_t i = parts->first[v]; i < parts->first[v + 1]; i++)
      if (add_route(c, v, &parts->neighbour[i], 1, error) != CM_OK)
        return error->status;
    uint32_t targets = multicast == NULL ? 0 : (uint32_t)(multicast->first[v + 1] - multicast->first[v]);
    if (targets > 0 && add_route(c, v, multicast->target + multicast->first[v], targets, error) != CM_OK)
      return error->status;
    if (v % CHECK_EVERY == 0 && cm_run_check(run, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

cm_status cm_deadlock_check(const cm_graph *parts, const cm_multicast *multicast, const cm_chip *chip,
                            cm_turn_rule rule, const uint32_t *core, cm_run *run, cm_deadlock_report *report,
                            cm_error *error)
{
  checker c = {.chip = chip, .core = core};
  cm_status status = cm_tracer_new(chip, rule, run->memory, &c.tracer, error);
  if (status == CM_OK)
    status = cm_dependencies_new(chip, run->memory, &c.channels, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, c.router, (size_t)parts->vertex_count + 1, error);
  if (status == CM_OK)
    status = add_all(&c, parts, multicast, run, error);
  if (status == CM_OK)
    status = cm_dependencies_check(&c.channels, run->memory, error);
  if (status == CM_OK) {
    cm_dependencies_count(&c.channels, &c.report.channels, &c.report.arcs);
    *report = c.report;
  }
  cm_tracer_free(c.tracer);
  cm_dependencies_free(&c.channels);
  cm_free(c.router);
  return status;
}
