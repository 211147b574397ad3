/* Happy path: what is counted gets its room -> tasks count (metrics_count.c) -> figures are made of it (metrics_fill.c) -> those of
 * a time step, and of inputs outside the chip. What can fail: a mapping out of range, no way between cores; memory, a stop. */
#include "core/measure/measure.h"

#include "core/chip/interconnect/interconnect.h"
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

/* At least as many packets as there are. */
static double packets_most(const work *w)
{
  const cm_topology *topology = w->demand->network;
  double sum = 0;
  for (uint32_t e = 0; e < topology->net_count; e++) {
    uint64_t pins = topology->net_first[e + 1] - topology->net_first[e];
    if (topology->directed)
      sum += (double)cm_demand_net_weight(w->demand, e) * (double)(pins < w->part_count ? pins : w->part_count);
    else
      for (uint64_t i = topology->net_first[e]; i < topology->net_first[e + 1]; i++)
        sum += (double)cm_demand_pin_weight(w->demand, e, i);
  }
  return sum;
}

static cm_status tally_new(const work *w, tally *t, cm_error *error)
{
  cm_memory *memory = w->run->memory;
  cm_status status = CM_OK;
  for (int i = 0; i < CM_METRICS_BY_PART && status == CM_OK; i++)
    status = CM_NEW(memory, t->by_part[i], w->part_count, error);
  if (status == CM_OK && w->chip->interconnect != NULL)
    return cm_way_tally_new(w->chip, memory, &t->ways, error);
  if (status == CM_OK)
    status = cm_link_tally_new(&w->window, memory, &t->packets, error);
  return status == CM_OK ? cm_link_tally_new(&w->window, memory, &t->trees, error) : status;
}

static void tally_free(tally *t)
{
  for (int i = 0; i < CM_METRICS_BY_PART; i++)
    cm_free(t->by_part[i]);
  cm_link_tally_free(&t->packets);
  cm_link_tally_free(&t->trees);
  cm_way_tally_free(&t->ways);
}

static cm_status work_new(work *w, cm_error *error)
{
  cm_memory *memory = w->run->memory;
  size_t parts = w->part_count;
  if (cm_nets_by_part(w->demand->network, w->part, w->part_count, w->run, &w->net_first, &w->net, error) != CM_OK ||
      CM_NEW(memory, w->outbound, parts, error) != CM_OK ||
      CM_NEW(memory, w->outgoing, parts, error) != CM_OK || CM_NEW(memory, w->casts, parts, error) != CM_OK ||
      CM_NEW(memory, w->targets, parts, error) != CM_OK ||
      CM_NEW(memory, w->tally, w->tasks, error) != CM_OK || CM_NEW(memory, w->spread_part, w->tasks, error) != CM_OK)
    return error->status;
  bool plain = w->chip->interconnect == NULL;
  cm_status status = plain ? cm_spread_new(&w->window, packets_most(w), memory, &w->spread, error) : CM_OK;
  for (uint32_t i = 0; i < w->tasks && status == CM_OK; i++)
    status = tally_new(w, &w->tally[i], error);
  for (uint32_t i = 0; plain && i < w->tasks && status == CM_OK; i++)
    status = cm_spread_part_new(&w->spread, parts, memory, &w->spread_part[i], error);
  return status;
}

static void work_free(work *w)
{
  cm_free(w->net);
  cm_free(w->net_first);
  cm_free(w->outbound);
  cm_free(w->outgoing);
  cm_free(w->casts);
  cm_free(w->targets);
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
      return cm_fail(error, CM_BAD_MAPPING, "neuron %u is in part %u, but there are %u parts", v, w->part[v],
                     w->part_count);
  for (uint32_t p = 0; p < w->part_count; p++)
    if (w->core[p] >= cores)
      return cm_fail(error, CM_BAD_MAPPING, "part %u is on core %u, but the chip has %u cores", p, w->core[p],
                     cores);
  return CM_OK;
}

cm_status cm_metrics_compute(const cm_mapped *mapped, cm_run *run, cm_metrics *metrics, cm_metrics_detail *detail,
                             cm_error *error)
{
  const cm_topology *topology = mapped->demand->network;
  work w = {.demand = mapped->demand, .chip = mapped->chip, .part = mapped->part, .core = mapped->core, .part_count = mapped->parts,
            .run = run};
  if (check_input(&w, error) != CM_OK || cm_interconnect_prepare(w.chip->interconnect, error) != CM_OK ||
      cm_window_around(w.chip, w.core, w.part_count, run->memory, &w.window, error) != CM_OK)
    return error->status;
  size_t tasks = TASKS_ROUTERS_MAX / cm_window_size(&w.window);
  tasks = tasks > run->threads ? run->threads : tasks;
  tasks = tasks > 1 + topology->pin_count / TASK_PINS ? 1 + (size_t)(topology->pin_count / TASK_PINS) : tasks;
  w.tasks = tasks > TASKS_MAX ? TASKS_MAX : tasks < 1 ? 1 : (uint32_t)tasks;
  cm_metrics m = {0};
  cm_metrics_detail d = {0};
  cm_status status = work_new(&w, error);
  if (status == CM_OK)
    status = cm_metrics_count(&w, error);
  if (status == CM_OK)
    status = cm_metrics_fill(&w, &m, &d, error);
  if (status == CM_OK)
    cm_border_measure(mapped->demand, w.chip, w.part, w.core, &m);
  if (status == CM_OK)
    status = cm_step_measure(mapped, run, &m, &d, error);
  work_free(&w);
  if (status != CM_OK) {
    cm_metrics_detail_free(&d);
    return status;
  }
  *metrics = m;
  *detail = d;
  return CM_OK;
}
