/* Happy path: time -> energy -> budgets between their times, evenly by ratio -> those that no other beats -> the table.
 * What can fail: one of the mappings, memory, a stop; a budget that nothing keeps is left out. */
#include "core/solver/pareto/pareto.h"

#include <math.h>
#include <stdlib.h>

#include "core/mapping/options.h"

/* Budgets between the two ends. */
enum { BUDGETS = 7 };

typedef struct pareto {
  const cm_map_input *input;
  cm_map_once *once;
  const cm_step_bound *bound;
  cm_run *run;
  cm_mapping *point[CM_PARETO_POINTS_MAX];
  uint32_t count, tried;
} pareto;

static double network_energy(const cm_metrics *m)
{
  return m->energy_packets_pj + m->energy_pj;
}

static double network_pj(const cm_mapping *m)
{
  return cm_mapping_aimed(m, network_energy);
}

static double core_ns(const cm_mapping *m)
{
  return cm_mapping_aimed(m, cm_figure_core_ns_max);
}

/* The first point takes about as long as so many of the others. */
enum { FIRST_POINT = 8 };

static cm_status add(pareto *p, cm_objective objective, double budget_ns, cm_error *error)
{
  cm_variant variant;
  const cm_map_input *input = cm_vary(p->input, &variant);
  variant.options.objective = objective;
  variant.options.step_budget_ns = budget_ns;
  const double takes = p->tried++ == 0 ? FIRST_POINT : 1;
  const size_t mark = cm_run_enter(p->run, takes / (takes + BUDGETS + 2 - p->tried));
  cm_status status = p->once(input, p->bound, p->run, &p->point[p->count], error);
  cm_run_leave(p->run, mark);
  p->count += status == CM_OK;
  return budget_ns > 0 && (status == CM_NO_ROOM || status == CM_BAD_OPTION) ? CM_OK : status;
}

static cm_status add_all(pareto *p, cm_error *error)
{
  cm_status status = add(p, CM_OBJECTIVE_TIME, 0, error);
  CM_THEN(status, add(p, CM_OBJECTIVE_ENERGY, 0, error));
  if (status != CM_OK)
    return status;
  double least = core_ns(p->point[0]), most = core_ns(p->point[1]);
  for (uint32_t i = 1; i <= BUDGETS && most > least && status == CM_OK; i++)
    status = add(p, CM_OBJECTIVE_ENERGY, least * pow(most / least, i / (BUDGETS + 1.0)), error);
  return status;
}

static int by_time(const void *a, const void *b)
{
  const cm_mapping *x = *(cm_mapping *const *)a, *y = *(cm_mapping *const *)b;
  double s = core_ns(x), t = core_ns(y);
  if (s != t)
    return s < t ? -1 : 1;
  return (network_pj(x) > network_pj(y)) - (network_pj(x) < network_pj(y));
}

/* By rising time, and so by falling energy. */
static void drop_beaten(pareto *p)
{
  uint32_t kept = 0;
  qsort(p->point, p->count, sizeof *p->point, by_time);
  for (uint32_t i = 0; i < p->count; i++) {
    if (kept > 0 && network_pj(p->point[i]) >= network_pj(p->point[kept - 1]))
      cm_mapping_free(p->point[i]);
    else
      p->point[kept++] = p->point[i];
  }
  p->count = kept;
}

/* At least one packet an axon; what synapses and neurons cost is the same in every mapping. */
static json_t *bounds(const pareto *p)
{
  const cm_topology *t = p->input->demand->network;
  const cm_charge_cost *c = p->input->chip->costs.charge;
  const cm_metrics *m = &p->point[0]->metrics;
  double packets = 0;
  for (uint32_t e = 0; e < t->net_count; e++)
    if (t->net_first[e + 1] > t->net_first[e])
      packets += (double)cm_demand_net_weight(p->input->demand, e) / (double)t->weight_scale;
  double network = packets * (c[CM_CHARGE_PACKET_SENT].pj + c[CM_CHARGE_PACKET_RECEIVED].pj);
  return json_pack("{s:f, s:f, s:f}", "core_ns", p->bound->ns, "energy_network_pj", network, "energy_step_pj",
                   network + m->energy_synapses_pj + m->energy_neurons_pj);
}

static json_t *row(const cm_mapping *m, uint32_t number)
{
  return json_pack("{s:I, s:O, s:O, s:I, s:f, s:f, s:f, s:f}", "number", (json_int_t)number, "objective",
                   json_object_get(m->options, "objective"), "step_budget_ns", json_object_get(m->options, "step_budget_ns"),
                   "parts", (json_int_t)m->part_count, "core_ns_max", core_ns(m), "step_ns", cm_mapping_aimed(m, cm_figure_step_ns),
                   "energy_network_pj", network_pj(m), "energy_step_pj", cm_mapping_aimed(m, cm_figure_energy_step_pj));
}

/* The point with the least product of time and network energy. */
static uint32_t knee(const pareto *p)
{
  uint32_t best = 0;
  for (uint32_t i = 1; i < p->count; i++)
    if (core_ns(p->point[i]) * network_pj(p->point[i]) < core_ns(p->point[best]) * network_pj(p->point[best]))
      best = i;
  return best;
}

static json_t *table(const pareto *p, uint32_t chosen)
{
  json_t *points = json_array();
  for (uint32_t i = 0; i < p->count && points != NULL; i++)
    if (json_array_append_new(points, row(p->point[i], i + 1)) != 0) {
      json_decref(points);
      points = NULL;
    }
  return json_pack("{s:I, s:o, s:o}", "chosen", (json_int_t)chosen + 1, "bound", bounds(p), "points", points);
}

/* The job's mapping is one of the points under the job's options, and owns them all. */
static cm_status finish(pareto *p, cm_mapping **mapping, cm_error *error)
{
  uint32_t best = knee(p);
  cm_mapping *m = p->point[best], *twin;
  json_t *told = table(p, best), *stated = cm_map_options_shaping_json(p->input->options), *report = json_copy(m->report);
  bool whole = told != NULL && stated != NULL && report != NULL && json_object_set(report, "pareto", told) == 0;
  json_decref(told);
  if (cm_whole(whole, "the report", error) != CM_OK || CM_NEW(p->run->memory, m->points, p->count, error) != CM_OK ||
      CM_NEW(p->run->memory, twin, 1, error) != CM_OK) {
    json_decref(stated);
    json_decref(report);
    return error->status;
  }
  if (m->scenario_count == 0)
    (void)json_object_del(stated, "scenarios");
  *twin = *m;
  twin->points = NULL;
  p->point[best] = twin;
  for (uint32_t i = 0; i < p->count; i++)
    m->points[i] = p->point[i];
  m->point_count = p->count;
  m->point_chosen = best;
  m->options = stated;
  m->report = report;
  p->count = 0;
  *mapping = m;
  return CM_OK;
}

cm_status cm_map_pareto(const cm_map_input *input, cm_map_once *once, const cm_step_bound *bound, cm_run *run,
                        cm_mapping **mapping, cm_error *error)
{
  pareto p = {.input = input, .once = once, .bound = bound, .run = run};
  cm_status status = add_all(&p, error);
  if (status == CM_OK) {
    drop_beaten(&p);
    status = finish(&p, mapping, error);
  }
  for (uint32_t i = 0; i < p.count; i++)
    cm_mapping_free(p.point[i]);
  return status;
}
