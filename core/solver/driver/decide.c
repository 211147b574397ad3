/* Happy path: neurons with what they need alone -> cores that keep constraints and sums (core/placement/related) -> those that keep all else -> parts. What can fail: there are none, or none are
 * found; memory, a stop. */
#include "core/solver/driver/decide.h"

#include <string.h>

#include "core/limits/circuits.h"
#include "core/limits/limits.h"
#include "core/limits/populations.h"
#include "core/limits/shared.h"
#include "core/mapping/options.h"
#include "core/placement/related/related.h"
#include "core/solver/incremental/assignment.h"
#include "core/solver/mappers/engine.h"
#include "core/solver/presets.h"
#include "core/solver/stage/kinds_of_neurons.h"

enum { EFFORT = 10 };

typedef struct deciding {
  const cm_map_input *in;
  const cm_chip *plain;
  cm_run *run;
  uint32_t parts;
  uint32_t part[CM_DECIDED_MAX], at[CM_DECIDED_MAX], alone[CM_DECIDED_MAX]; /* of neurons; cores of parts; each its own part */
  uint64_t use[CM_DECIDED_MAX * CM_RESOURCES];
  uint64_t takes[CM_DECIDED_MAX];
} deciding;

/* Neurons of one core are a part, in the order of their first neurons. */
static void make_parts(deciding *d, const uint32_t *core)
{
  const uint32_t n = d->in->demand->network->vertex_count;
  d->parts = 0;
  for (uint32_t v = 0; v < n; v++) {
    uint32_t p = 0;
    while (p < d->parts && d->at[p] != core[v])
      p++;
    d->at[p] = core[v];
    d->part[v] = p;
    d->parts += p == d->parts;
  }
}

static cm_limits limits_at(const deciding *d, uint32_t core)
{
  return cm_stated_limits(d->in, *cm_chip_core_limits(d->plain, core));
}

static cm_status judge_cores(const deciding *d, bool *good, cm_error *error)
{
  const cm_map_input *in = d->in;
  const cm_topology *t = in->demand->network;
  uint64_t use[CM_DECIDED_MAX * CM_RESOURCES] = {0};
  uint32_t populations[CM_DECIDED_MAX] = {0};
  CM_TRY(cm_count_use(in->demand, d->part, d->parts, d->run, use, error));
  if (t->population_of != NULL)
    CM_TRY(cm_count_populations(t, d->part, d->parts, d->run, populations, error));
  for (uint32_t p = 0; p < d->parts; p++) {
    const cm_limits limits = limits_at(d, d->at[p]);
    *good = *good && cm_part_keeps(&limits, use + (size_t)p * CM_RESOURCES, populations[p]);
  }
  const cm_status status = *good ? cm_refuse_shared(d->plain, use, d->at, d->parts, d->run->memory, error) : CM_OK;
  *good = *good && status == CM_OK;
  return status == CM_LIMIT_BROKEN ? CM_OK : status;
}

static cm_status judge_circuits(const deciding *d, bool *good, cm_error *error)
{
  cm_circuits circuits = {.chip = d->plain, .parts = d->parts};
  if (!*good || !cm_circuits_are_limited(d->plain))
    return CM_OK;
  const cm_status status = cm_circuits_find(d->in->demand, d->part, d->run, &circuits, error);
  if (status == CM_OK)
    cm_circuits_book_all(&circuits, d->at);
  *good = status == CM_OK && circuits.excess == 0;
  cm_circuits_free(&circuits);
  return status;
}

/* Whether cores [neurons] keep what no sum over neurons says. */
static cm_status judge(void *context, const uint32_t *core, bool *good, cm_error *error)
{
  deciding *d = context;
  const struct cm_map_options *o = d->in->options;
  make_parts(d, core);
  *good = (o->parts == 0 || d->parts == o->parts) && (o->cores == 0 || d->parts <= o->cores);
  CM_TRY(judge_cores(d, good, error));
  return judge_circuits(d, good, error);
}

/* The job's kinds of cores that take each neuron, by labels, limits, and whether it is pinned. */
static cm_status find_kinds(deciding *d, cm_error *error)
{
  const cm_chip *plain = d->plain;
  const cm_areas *areas = d->in->areas;
  const uint32_t n = d->in->demand->network->vertex_count;
  const uint64_t kept = cm_chip_pinned_kinds(plain);
  cm_core_class classes[CM_KINDS_MAX];
  uint32_t cores[CM_KINDS_MAX];
  cm_chip chip = *plain;
  cm_map_input in = *d->in;
  memset(d->takes, 0xff, sizeof d->takes);
  if (plain->class_count == 0)
    return CM_OK;
  memcpy(classes, plain->classes, plain->class_count * sizeof *classes);
  for (uint32_t k = 0; k < plain->class_count; k++)
    classes[k].pinned_only = false;
  chip.classes = classes;
  in.chip = &chip;
  in.areas = NULL;
  CM_TRY(cm_count_kinds(&in, d->run, cores, error));
  CM_TRY(cm_allowed_kinds(&in, cores, d->run, d->takes, error));
  for (uint32_t v = 0; v < n; v++)
    d->takes[v] &= areas->pinned[areas->choice_of[v]] ? ~UINT64_C(0) : ~kept;
  return CM_OK;
}

/* The cheapest that keep all sums; where those break anything else, the first that break nothing. */
static cm_status search(deciding *d, const cm_graph *flows, uint32_t *core, cm_error *error)
{
  const cm_map_input *in = d->in;
  cm_limits sharing[CM_KINDS_MAX];
  cm_related_task task = {.areas = in->areas, .demand = in->demand, .occupancy = in->occupancy, .parts = flows, .part = d->alone, .use = d->use, .sharing = sharing, .takes = d->takes,
                          .seed = in->options->placement_seed, .effort = EFFORT, .context = d, .run = d->run};
  bool optimal, good;
  for (uint32_t k = 0; k < cm_chip_kinds(in->chip); k++)
    sharing[k] = cm_stated_limits(in, *cm_chip_kind_limits(in->chip, k));
  CM_TRY(cm_place_related(&task, core, &optimal, error));
  CM_TRY(judge(d, core, &good, error));
  task.judge = judge;
  return good ? CM_OK : cm_place_related(&task, core, &optimal, error);
}

cm_status cm_decide_small(const cm_map_input *in, const cm_chip *plain, cm_run *run, cm_moved *made, cm_error *error)
{
  const uint32_t n = in->demand->network->vertex_count;
  const struct cm_map_options *o = in->options;
  deciding d = {.in = in, .plain = plain, .run = run};
  cm_moved found = {.part = NULL};
  cm_graph *flows = NULL;
  uint32_t core[CM_DECIDED_MAX];
  *made = found;
  if (n > CM_DECIDED_MAX || cm_occupancy_free_count(in->occupancy) == 0)
    return CM_OK;
  for (uint32_t v = 0; v < n; v++)
    d.alone[v] = v;
  cm_status status = find_kinds(&d, error);
  CM_THEN(status, cm_count_use(in->demand, d.alone, n, run, d.use, error));
  CM_THEN(status, cm_engine_find((cm_preset)o->preset, cm_objective_resolve(o, in->demand->network->directed, true))->flows(in->demand, d.alone, n, run, &flows, error));
  CM_THEN(status, search(&d, flows, core, error));
  cm_graph_free(flows);
  CM_THEN(status, CM_NEW_ALL(run->memory, error, CM_ARRAY(found.part, n), CM_ARRAY(found.core, d.parts)));
  CM_TRY_OR(status, cm_moved_clear(&found));
  make_parts(&d, core);
  memcpy(found.part, d.part, n * sizeof *found.part);
  memcpy(found.core, d.at, d.parts * sizeof *found.core);
  found.parts = d.parts;
  *made = found;
  return CM_OK;
}
