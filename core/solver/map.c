/* The pipeline: a candidate (partition under the limits, choose a region, place), measured and reported. What can fail:
 * the partition stage (stage/stage.h), memory, cancel. */
#include "core/solver/map.h"

#include <math.h>

#include "base/json.h"
#include "core/chip/interconnect/interconnect.h"
#include "core/solver/driver/under_constraints.h"
#include "core/solver/driver/with_copies.h"
#include "core/solver/driver/fitting.h"
#include "core/limits/circuits.h"
#include "core/limits/limits.h"
#include "core/limits/shared.h"
#include "core/measure/measure.h"
#include "core/measure/neurons.h"
#include "core/mapping/combinations.h"
#include "core/mapping/options.h"
#include "core/look/choices.h"
#include "core/solver/pareto/pareto.h"
#include "core/solver/incremental/remap.h"
#include "core/solver/presets.h"
#include "core/solver/scenarios/at_rates.h"
#include "core/solver/scenarios/scenarios.h"
#include "core/partition/step/step_bound.h"
#include "core/simulate/pace.h"

/* Of a network that says how it runs, so that others can be had. */
static bool all_rates_are_one(const cm_demand *demand)
{
  const cm_topology *t = demand->network;
  if (!t->directed || t->dynamics == NULL || t->dynamics->model == NULL)
    return false;
  uint32_t e = 0;
  while (e < t->net_count && t->net_weight[e] == t->weight_scale)
    e++;
  return e == t->net_count;
}

static cm_status report(const cm_candidate *c, cm_mapping *m, cm_error *error)
{
  const cm_topology *topology = c->input->demand->network;
  const cm_attempt *last = &m->attempts[m->attempt_count - 1];
  m->options = cm_map_options_shaping_json(c->input->options);
  m->report = json_pack("{s:I, s:{s:I, s:I, s:I}}", "capacity", (json_int_t)last->capacity, "merged", "duplicates",
                        (json_int_t)topology->duplicate_count, "self_loops", (json_int_t)topology->self_loop_count,
                        "empty_hyperedges", (json_int_t)topology->empty_net_count);
  bool complete = m->options != NULL && m->report != NULL && json_object_update(m->report, c->places.report) == 0 &&
                  json_object_set_new(m->options, "objective", json_string(cm_objective_name(c->objective))) == 0 &&
                  json_object_set_new(m->report, "region", json_pack("{s:i, s:i, s:f}", "candidates", (int)c->region_count, "chosen", (int)c->places.number,
                                                                     "cost_pj", m->region->cost)) == 0;
  if (complete && last->capacity < m->attempts[0].capacity)
    complete = json_object_set_new(m->report, "note", json_sprintf("the method does not keep every core limit by itself: the effective capacity was lowered "
                         "from %llu to %llu because %s",
                         (unsigned long long)m->attempts[0].capacity, (unsigned long long)last->capacity,
                         m->attempts[0].broken)) == 0;
  const cm_chip *chip = c->input->chip;
  if (complete && chip->target != NULL && chip->limits.neurons == 0)
    complete = json_object_set_new(m->report, "note",
                                   json_sprintf("chip %s runs programs and states no limit on neurons: a core may take them all; "
                                                "name a chip for networks of neurons, or state limits",
                                                chip->name)) == 0;
  if (complete && json_object_get(m->report, "note") == NULL && all_rates_are_one(c->input->demand))
    complete = json_object_set_new(m->report, "note", json_string("no rates are known, so that every neuron counts as spiking in every step: times and "
                                                                  "energies are upper bounds; option profile, with what makes inputs fire, measures them")) == 0;
  return cm_whole(complete, "the report", error);
}

/* Overlaps are looked at for so many steps at most, where the job is about steps; else the plain bounds do. */
static const double overlap_work = 1e9;

/* A time that no partition on these cores is below. */
static cm_status find_bound(const cm_map_input *in, cm_run *run, cm_step_bound *bound, cm_error *error)
{
  uint32_t free = cm_occupancy_free_count(in->occupancy), allowed = in->options->cores,
           cores = in->options->parts != 0 ? in->options->parts : allowed != 0 && allowed < free ? allowed : free;
  double work = cm_objective_is_of_steps((cm_objective)in->options->objective) ? overlap_work : 0;
  cm_run_phase(run, "bound");
  if (in->demand->scenario_count > 0)
    return cm_scenarios_bound(in, cores > 0 ? cores : 1, work, run, bound, error);
  return cm_step_bound_compute(in->demand, &in->chip->costs, cores > 0 ? cores : 1, work, run, bound, error);
}

/* How far the busiest core is from it. */
static cm_status report_bound(cm_mapping *m, const cm_barrier *barrier, const cm_step_bound *b, cm_error *error)
{
  static const double rounding = 1e-9;
  double gap = b->ns > 0 ? cm_mapping_aimed(m, cm_figure_core_ns_max) / b->ns - 1 : 0;
  json_t *told = json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "ns", b->ns, "gap_percent", gap > rounding ? gap * 100 : 0, "neuron_ns",
                           b->neuron_ns, "shared_ns", b->shared_ns, "overlap_ns", b->overlap_ns, "send_ns", b->send_ns);
  if (told != NULL && (barrier->spike_ns > 0 || barrier->packet_ns > 0))
    (void)json_object_set_new(told, "fixed_ns", json_real(b->fixed_ns));
  return cm_json_set(m->report, "step_bound", told, "the report", error);
}

/* What links and routers carry. */
static cm_status refuse_circuits(const cm_map_input *input, const cm_mapping *m, cm_run *run, cm_error *error)
{
  cm_circuits circuits = {.chip = input->chip, .parts = m->part_count};
  if (!cm_circuits_are_limited(input->chip))
    return CM_OK;
  cm_status status = cm_circuits_find(input->demand, m->part, run, &circuits, error);
  if (status == CM_OK) {
    cm_circuits_book_all(&circuits, m->core);
    status = cm_refuse_circuits(&circuits, error);
  }
  cm_circuits_free(&circuits);
  return status;
}

/* What routers and dies hold, and carry. */
static cm_status refuse_shared(const cm_map_input *input, const cm_mapping *m, cm_run *run, cm_error *error)
{
  uint64_t *use;
  if (!cm_limits_are_shared(input->chip))
    return refuse_circuits(input, m, run, error);
  CM_TRY(CM_NEW(run->memory, use, (size_t)m->part_count * CM_RESOURCES, error));
  cm_status status = cm_count_use(input->demand, m->part, m->part_count, run, use, error);
  CM_THEN(status, cm_refuse_shared(input->chip, use, m->core, m->part_count, run->memory, error));
  cm_free(use);
  return status;
}

static cm_status report_neurons(const cm_map_input *input, cm_mapping *m, cm_run *run, cm_error *error)
{
  json_t *told = NULL;
  const cm_mapped mapped = cm_mapped_by(m, input->demand, input->chip);
  cm_status status = cm_leaving_json(&mapped, run, &told, error);
  CM_THEN_IF(status, told != NULL, cm_json_set(m->report, "leaving", told, "the report", error));
  CM_THEN(status, cm_neurons_json(input->demand, m->part, m->part_count, run, &told, error));
  if (status != CM_OK || told == NULL)
    return status;
  return cm_json_set(m->report, "neurons", told, "the report", error);
}

/* Keys that were widened at other rates are widened anew at the network's own, as routes will be. */
static cm_status widen_at_rates(const cm_map_input *input, const cm_mapping *m, cm_run *run, json_t **tables, cm_error *error)
{
  json_t *own, *tried = json_object_get(*tables, "did_not_fit");
  if (input->traffic == NULL || json_object_get(*tables, "widened") == NULL)
    return CM_OK;
  cm_status status = cm_fitting_check(input, m, run, &own, error);
  CM_THEN_IF(status, tried != NULL, cm_json_set(own, "did_not_fit", json_incref(tried), "the report", error));
  CM_TRY_OR(status, json_decref(own));
  json_decref(*tables);
  *tables = own;
  return CM_OK;
}

static cm_status measure(const cm_map_input *input, cm_run *run, cm_mapping *m, cm_error *error)
{
  cm_run_phase(run, "metrics");
  const cm_mapped mapped = cm_mapped_by(m, input->demand, input->chip);
  cm_status status = refuse_shared(input, m, run, error);
  CM_THEN(status, cm_metrics_compute(&mapped, run, &m->metrics, &m->detail, error));
  CM_THEN(status, report_neurons(input, m, run, error));
  return status == CM_OK ? cm_scenarios_measure(input, run, m, error) : status;
}

/* When its cores send, where the job is about steps. */
static cm_status pace(const cm_map_input *input, cm_objective objective, cm_run *run, cm_mapping *m, cm_error *error)
{
  const cm_mapped mapped = cm_mapped_by(m, input->demand, input->chip);
  const bool multicast = input->options->traffic_model == CM_MULTICAST;
  const cm_pace_task task = {.multicast = multicast,
                             .busiest_ns = m->metrics.core_ns_max,
                             .links_ns = !multicast && m->metrics.saturation_load > 0 ? 1 / m->metrics.saturation_load : 0,
                             .barrier_ns = m->metrics.barrier_ns,
                             .packet_hops = m->metrics.hop_traffic};
  json_t *tried;
  if (!cm_objective_is_of_steps(objective) || !cm_pace_is_possible(input->demand, input->chip))
    return CM_OK;
  cm_run_phase(run, "pace");
  CM_TRY(cm_pace_choose(&mapped, &task, run, &m->pacing, &tried, error));
  m->metrics.pacing_ns = m->pacing.ns;
  m->metrics.step_ns = fmax(m->metrics.step_ideal_ns, m->pacing.step_ns);
  return cm_json_set(m->report, "pacing", tried, "the report", error);
}

/* Of the time of a mapping: finding it; the rest is measuring. Of the time of a Pareto set: what is proved before. */
static const double share_of_candidate = 0.96, share_of_bound = 0.01;

/* One mapping; `bound` NULL: none is stated. */
static cm_status map_once(const cm_map_input *input, const cm_step_bound *bound, cm_run *run, cm_mapping **mapping, cm_error *error)
{
  if (cm_has_constraints_left(input))
    return cm_map_once_constrained(input, map_once, bound, run, mapping, error);
  cm_candidate c;
  cm_mapping *m = NULL;
  json_t *tables;
  cm_demand traffic = *input->demand;
  cm_map_input seen = *input;
  if (input->traffic != NULL) {
    traffic.net_weight = input->traffic;
    seen.demand = &traffic;
  }
  const size_t mark = cm_run_enter(run, share_of_candidate);
  cm_status status = cm_fitting_candidate(&seen, run, &c, &tables, error);
  cm_run_leave(run, mark);
  if (status != CM_OK)
    return status;
  status = cm_candidate_deliver(&c, &m, error);
  CM_THEN(status, report(&c, m, error));
  CM_THEN(status, measure(input, run, m, error));
  CM_THEN(status, pace(input, c.objective, run, m, error));
  CM_THEN(status, widen_at_rates(input, m, run, &tables, error));
  CM_THEN_IF(status, tables != NULL, cm_json_set(m->report, "tables", json_incref(tables), "the report", error));
  CM_THEN_IF(status, bound != NULL, report_bound(m, &input->chip->costs.barrier, bound, error));
  json_decref(tables);
  cm_candidate_free(&c);
  if (status == CM_OK)
    *mapping = m;
  else
    cm_mapping_free(m);
  return status;
}

static cm_status map_whole(const cm_map_input *input, cm_run *run, cm_mapping **mapping, cm_error *error)
{
  cm_step_bound bound = {0};
  bool directed = input->demand->network->directed,
       worst = input->demand->scenario_count > 0 && input->options->scenarios == CM_SCENARIOS_WORST;
  cm_mapping *made = NULL;
  cm_status status = CM_OK;
  if (input->options->objective == CM_OBJECTIVE_PARETO) {
    const size_t mark = cm_run_enter(run, share_of_bound);
    if (directed)
      status = find_bound(input, run, &bound, error);
    cm_run_leave(run, mark);
    if (status == CM_OK)
      status = (worst ? cm_map_worst : cm_map_pareto)(input, map_once, &bound, run, &made, error);
  } else {
    status = worst ? cm_map_worst(input, map_once, NULL, run, &made, error) : map_once(input, NULL, run, &made, error);
    CM_THEN_IF(status, directed, find_bound(input, run, &bound, error));
    CM_THEN_IF(status, directed, report_bound(made, &input->chip->costs.barrier, &bound, error));
  }
  CM_END(status, *mapping = made, cm_mapping_free(made));
}

static cm_status map_as_asked(const cm_map_input *input, cm_run *run, cm_mapping **mapping, cm_error *error)
{
  return cm_map_with_copies(input, map_whole, run, mapping, error);
}

/* Objective edp on as many cores as the knee has, under the job's own options. */
static cm_status map_knee(const cm_map_input *input, cm_run *run, cm_mapping **mapping, cm_error *error)
{
  cm_variant variant;
  const cm_map_input *known = cm_vary(input, &variant);
  cm_mapping *made;
  CM_TRY(cm_choices_knee(input, run, &variant.options.cores, error));
  variant.options.objective = CM_OBJECTIVE_EDP;
  if (input->options->parts > 0 && input->options->parts < variant.options.cores)
    variant.options.cores = input->options->parts;
  variant.options.parts = 0;
  CM_TRY(map_as_asked(known, run, &made, error));
  json_decref(made->options);
  made->options = cm_map_options_shaping_json(input->options);
  CM_TRY_OR(cm_whole(made->options != NULL, "the report", error), cm_mapping_free(made));
  *mapping = made;
  return CM_OK;
}

/* What mapping takes beside the table of choices. */
static double share_beside_choices(const cm_map_input *input)
{
  const bool slow = cm_effort_of(input->options)->below != NULL || cm_objective_is_of_steps((cm_objective)input->options->objective);
  return !cm_choices_are_told(input) ? 1 : slow ? 0.99 : 0.95;
}

static cm_status map(const cm_map_input *input, cm_run *run, cm_mapping **mapping, cm_error *error)
{
  cm_mapping *made = NULL;
  const size_t mark = cm_run_enter(run, share_beside_choices(input));
  cm_status status = cm_map_measured(input, input->options->objective == CM_OBJECTIVE_KNEE ? map_knee : map_as_asked, run, &made, error);
  cm_run_leave(run, mark);
  CM_THEN(status, cm_choices_report(input, made, run, error));
  cm_run_finish(run);
  CM_END(status, *mapping = made, cm_mapping_free(made));
}

/* Mapped again: the tables must fit as they come. */
static cm_status map_from(const cm_map_input *input, cm_run *run, cm_mapping **mapping, cm_error *error)
{
  json_t *tables = NULL;
  cm_mapping *made = NULL;
  cm_status status = cm_remap(input, cm_map, run, &made, error);
  if (status == CM_OK) /* old places may break them */
    status = refuse_shared(input, made, run, error);
  CM_THEN(status, cm_fitting_check(input, made, run, &tables, error));
  CM_THEN_IF(status, tables != NULL, cm_json_set(made->report, "tables", json_incref(tables), "the report", error));
  CM_THEN(status, report_neurons(input, made, run, error));
  json_decref(tables);
  CM_THEN(status, cm_scenarios_measure(input, run, made, error));
  if (status == CM_OK)
    *mapping = made;
  else
    cm_mapping_free(made);
  return status;
}

static cm_status map_afresh(const cm_map_input *input, cm_run *run, cm_mapping **mapping, cm_error *error)
{
  cm_map_input whole = *input;
  whole.places = true;
  return map(&whole, run, mapping, error);
}

/* Where nobody says which cores are free, all but the dead ones are. */
static cm_status map_on_cores(const cm_map_input *input, cm_run *run, cm_mapping **mapping, cm_error *error)
{
  cm_map_function *const way = input->from != NULL ? map_from : map_afresh;
  cm_map_input known = *input;
  cm_occupancy *occupancy = NULL;
  if (input->occupancy == NULL && cm_occupancy_new(input->chip, &occupancy, error) != CM_OK)
    return error->status;
  if (input->occupancy == NULL)
    known.occupancy = occupancy;
  cm_status status = input->options->constraints == NULL ? way(&known, run, mapping, error) : cm_map_constrained(&known, way, run, mapping, error);
  cm_occupancy_free(occupancy);
  return status;
}

cm_status cm_map(const cm_map_input *input, cm_run *run, cm_mapping **mapping, cm_error *error)
{
  uint64_t refusals = cm_json_refusals();
  cm_mapping *made = NULL;
  CM_TRY(cm_combinations_of_job(input, error));
  CM_TRY(cm_interconnect_prepare(input->chip->interconnect, error));
  if ((input->options->inputs == CM_INPUTS_OUTSIDE) != (input->demand->outside_count > 0))
    return cm_fail(error, CM_INTERNAL, "the network's inputs are not what option \"inputs\" says");
  if (input->chip->limits.neuron_target_cores != input->demand->target_cores_max ||
      (input->chip->limits.fan_in != 0 && !input->demand->neurons_limited))
    return cm_fail(error, CM_INTERNAL, "the network's neurons are not what the chip asks of them");
  cm_status status = map_on_cores(input, run, &made, error);
  CM_THEN(status, cm_json_whole(refusals, "the report", error));
  CM_END(status, *mapping = made, cm_mapping_free(made));
}
