/* Happy path: what is counted gets its room -> tasks count (metrics_count.c) -> figures are made of it (metrics_fill.c) -> those of
 * a time step, and of inputs outside the chip. What can fail: a mapping out of range, no way between cores; memory, a stop. */
#include "core/measure/measure.h"

#include "core/chip/geometry.h"
#include "core/measure/border.h"
#include "core/measure/link_tally.h"
#include "core/measure/metrics_tally.h"
#include "core/measure/spread.h"
#include "core/measure/step_time.h"
#include "core/network/nets_by_part.h"

typedef cm_metrics_work work;
typedef cm_metrics_tally tally;

/* Each task holds its own sums of the window: fewer tasks where that would be much, or little to do. */
enum { TASKS_MAX = 8, TASKS_ROUTERS_MAX = 1 << 24, TASK_PINS = 1 << 10 };

static void tally_free(tally *t)
{
  for (int i = 0; i < CM_METRICS_BY_PART; i++)
    cm_free(t->by_part[i]);
  cm_link_tally_free(&t->packets);
  cm_link_tally_free(&t->trees);
  CM_FREE(t->ways.packets, t->ways.trees, t->ways.stamp);
}

static cm_status work_new(work *w, cm_error *error)
{
  cm_memory *memory = w->run->memory;
  size_t parts = w->part_count;
  if (cm_nets_by_part(w->demand->network, w->part, w->part_count, w->run, &w->net_first, &w->net, error) != CM_OK ||
      CM_NEW_ALL(memory, error, CM_ARRAY(w->outbound, parts), CM_ARRAY(w->outgoing, parts), CM_ARRAY(w->casts, parts),
                 CM_ARRAY(w->targets, parts), CM_ARRAY(w->tally, w->tasks), CM_ARRAY(w->spread_part, w->tasks)) != CM_OK)
    return error->status;
  for (uint32_t i = 0; i < w->tasks; i++)
    for (int k = 0; k < CM_METRICS_BY_PART; k++)
      CM_TRY(CM_NEW(memory, w->tally[i].by_part[k], parts, error));
  return w->links->prepare(w, error);
}

static void work_free(work *w)
{
  CM_FREE(w->net, w->net_first, w->outbound, w->outgoing, w->casts, w->targets);
  for (uint32_t i = 0; w->tally != NULL && i < w->tasks; i++)
    tally_free(&w->tally[i]);
  cm_free(w->tally);
  for (uint32_t i = 0; w->spread_part != NULL && i < w->tasks; i++)
    cm_spread_part_free(&w->spread_part[i]);
  cm_free(w->spread_part);
  cm_spread_free(&w->spread);
}

static cm_status check_input(const work *w, cm_error *error)
{
  uint32_t cores = cm_chip_cores(w->chip);
  for (uint32_t v = 0; v < w->demand->network->vertex_count; v++)
    if (w->part[v] >= w->part_count)
      return cm_fail(error, CM_BAD_MAPPING, "neuron %u is in part %u, but there are %u parts", v, w->part[v], w->part_count);
  for (uint32_t p = 0; p < w->part_count; p++)
    if (w->core[p] >= cores)
      return cm_fail(error, CM_BAD_MAPPING, "part %u is on core %u, but the chip has %u cores", p, w->core[p], cores);
  return CM_OK;
}

cm_status cm_metrics_compute(const cm_mapped *mapped, cm_run *run, cm_metrics *metrics, cm_metrics_detail *detail,
                             cm_error *error)
{
  static const cm_link_count *const links[CM_GEOMETRIES] = {[CM_BY_AXES] = &cm_mesh_count, [CM_BY_WAYS] = &cm_way_count};
  const cm_topology *topology = mapped->demand->network;
  work w = {.demand = mapped->demand, .chip = mapped->chip, .part = mapped->part, .core = mapped->core, .part_count = mapped->parts,
            .run = run, .links = links[cm_geometry_of(mapped->chip)]};
  CM_TRY(check_input(&w, error));
  CM_TRY(cm_interconnect_prepare(w.chip->interconnect, error));
  CM_TRY(cm_window_around(w.chip, w.core, w.part_count, run->memory, &w.window, error));
  size_t tasks = TASKS_ROUTERS_MAX / cm_window_size(&w.window);
  tasks = tasks > run->threads ? run->threads : tasks;
  tasks = tasks > 1 + topology->pin_count / TASK_PINS ? 1 + (size_t)(topology->pin_count / TASK_PINS) : tasks;
  w.tasks = tasks > TASKS_MAX ? TASKS_MAX : tasks < 1 ? 1 : (uint32_t)tasks;
  cm_metrics m = {0};
  cm_metrics_detail d = {0};
  cm_status status = work_new(&w, error);
  CM_THEN(status, cm_metrics_count(&w, error));
  CM_THEN(status, cm_metrics_fill(&w, &m, &d, error));
  if (status == CM_OK)
    cm_border_measure(mapped->demand, w.chip, w.part, w.core, &m);
  CM_THEN(status, cm_step_measure(mapped, run, &m, &d, error));
  work_free(&w);
  CM_TRY_OR(status, cm_metrics_detail_free(&d));
  *metrics = m;
  *detail = d;
  return CM_OK;
}
