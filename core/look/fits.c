/* Happy path: lines of the network's neurons, once -> for each chip its bound -> a line cut in parts under its limits, counted -> what the
 * look foresees. What can fail: a neuron that no core holds, which is an answer; memory, a stop. */
#include "core/look/fits.h"

#include <math.h>

#include "base/json.h"
#include "core/chip/classes.h"
#include "core/chip/reach.h"
#include "core/limits/circuits.h"
#include "core/limits/leaving.h"
#include "core/limits/shared.h"
#include "core/look/choices.h"

typedef struct fit {
  const cm_topology *network;
  cm_look line;     /* all of the network, for legal parts */
  cm_look stretch;  /* some of it, to foresee steps */
  uint32_t *part;   /* [vertices] */
  cm_run *run;
} fit;

/* What is found of one chip. */
typedef struct answer {
  uint32_t free, found; /* cores; of legal parts, 0: none */
  bool refused;         /* proved */
  char reason[CM_ERROR_DETAIL_MAX];
  json_t *bound;
} answer;

/* Legal parts by cutting a line, the fewest of both; what lines do not know, classes of cores and what leaves a neuron, leaves them unknown. */
static cm_status find_parts(fit *f, const cm_chip *chip, const cm_limits *limits, answer *a, cm_error *error)
{
  if (cm_cores_differ(chip) || cm_leaving_is_limited(limits) || cm_limits_are_shared(chip) || cm_circuits_are_limited(chip))
    return CM_OK;
  for (int order = 0; order < CM_STRANDS; order++) {
    uint64_t *use;
    uint32_t parts = cm_look_cut(&f->line, (cm_strand_order)order, limits, f->part);
    if (a->found != 0 && parts >= a->found)
      continue;
    CM_TRY(CM_NEW(f->run->memory, use, (size_t)parts * CM_RESOURCES, error));
    cm_status status = cm_count_use(f->line.demand, f->part, parts, f->run, use, error);
    if (status == CM_OK && cm_find_violation(limits, use, parts).broken_parts == 0)
      a->found = parts;
    cm_free(use);
    CM_TRY(status);
  }
  return CM_OK;
}

static cm_status count_free(const cm_fit_chip *on, cm_run *run, uint32_t *count, cm_error *error)
{
  uint8_t *usable;
  CM_TRY(CM_NEW(run->memory, usable, cm_chip_cores(on->chip), error));
  cm_status status = cm_usable_cores(on->chip, on->occupancy, run->memory, usable, count, error);
  cm_free(usable);
  return status;
}

/* Proofs first. */
static cm_status judge(fit *f, const cm_fit_chip *on, const cm_limits *limits, answer *a, cm_error *error)
{
  const cm_demand *demand = f->line.demand;
  char words[160];
  cm_bound bound;
  cm_status status = cm_check_neurons(demand, limits, f->run, error);
  CM_THEN(status, cm_prove_shared(demand, on->chip, on->occupancy, f->run->memory, error));
  CM_THEN(status, cm_prove_leaving(demand, on->chip, limits, f->run, error));
  CM_THEN(status, cm_bound_parts(demand, limits, f->run, &bound, error));
  CM_THEN(status, cm_check_reach(demand, &bound, limits, error));
  CM_TRY(status);
  a->bound = cm_bound_json(&bound);
  a->refused = bound.parts > a->free;
  if (a->refused) {
    (void)snprintf(a->reason, sizeof a->reason, "at least %u cores are needed (%s), and %u are free", bound.parts, cm_bound_reason(&bound, words, sizeof words),
                   a->free);
    return CM_OK;
  }
  status = find_parts(f, on->chip, limits, a, error);
  if (status == CM_OK && (a->found == 0 || a->found > a->free))
    (void)snprintf(a->reason, sizeof a->reason, "no limit forbids it, and a quick look %s %u free cores: map it to know",
                   cm_cores_differ(on->chip)           ? "does not tell apart the classes of"
              : cm_leaving_is_limited(limits) ? "does not count what leaves neurons on"
              : cm_limits_are_shared(on->chip) ? "does not count what routers and dies hold on"
              : cm_circuits_are_limited(on->chip) ? "does not count circuits on"
                                              : "found no legal parts on",
              a->free);
  return status;
}

/* What steps would be, between the fewest legal parts and the least time. */
static cm_status foresee(fit *f, const cm_chip *chip, const cm_limits *limits, const answer *a, json_t *row, cm_error *error)
{
  cm_look_on on;
  cm_look_point point[CM_LOOK_POINTS_MAX];
  if (!f->network->directed || !cm_costs_are_stated(&chip->costs))
    return CM_OK;
  CM_TRY(cm_look_on_chip(&f->stretch, chip, limits, &on, error));
  uint32_t fewest = a->found != 0 && a->found <= a->free ? a->found : on.fewest, points = fewest <= a->free ? cm_look_choices(&on, fewest, a->free, point) : 0;
  if (points == 0)
    return CM_OK;
  return cm_json_set(row, "choices", cm_choices_json(point, points), "what would fit", error);
}

/* Of a mapping by the preset that is taken unless another is asked for, on the machine that it was measured on. */
static double seconds_of(const cm_topology *t)
{
  const cm_preset_facts *facts = cm_preset_facts_of((cm_preset)cm_option_find(&cm_map_option_table, "preset")->normal);
  return facts->least_s + facts->element_ns * 1e-9 * ((double)t->pin_count + t->vertex_count);
}

static cm_status fit_one(fit *f, const cm_fit_chip *on, json_t *rows, cm_error *error)
{
  const cm_limits limits = cm_chip_widest_limits(on->chip);
  cm_demand demand = cm_demand_of(f->network);
  answer a = {0};
  json_t *row = NULL;
  f->line.demand = f->stretch.demand = &demand;
  cm_status status = count_free(on, f->run, &a.free, error);
  CM_THEN(status, cm_chip_limit_neurons(on->chip, &demand, f->run->memory, error));
  CM_THEN(status, judge(f, on, &limits, &a, error));
  if (status == CM_NEURON_TOO_LARGE || status == CM_LIMIT_BROKEN) {
    (void)snprintf(a.reason, sizeof a.reason, "%s", error->detail);
    a.refused = true;
    status = CM_OK;
  }
  bool fits = a.found != 0 && a.found <= a.free;
  if (status == CM_OK)
    row = json_pack("{s:s, s:I, s:I, s:s, s:o?, s:s?, s:o, s:f}", "chip", on->chip->name, "cores", (json_int_t)cm_chip_cores(on->chip), "free",
                    (json_int_t)a.free, "fits", a.refused ? "no" : fits ? "yes" : "unknown", "bound", json_incref(a.bound), "reason",
                    a.reason[0] != '\0' ? a.reason : NULL, "cores_found", a.found != 0 ? json_integer(a.found) : json_null(), "seconds", seconds_of(f->network));
  CM_THEN(status, cm_json_append(rows, json_incref(row), "what would fit", error));
  CM_THEN_IF(status, !a.refused, foresee(f, on->chip, &limits, &a, row, error));
  json_decref(row);
  json_decref(a.bound);
  cm_demand_clear(&demand);
  return status;
}

cm_status cm_fit(const cm_topology *topology, const cm_fit_chip *chips, size_t count, cm_run *run, json_t **rows, cm_error *error)
{
  const cm_demand demand = cm_demand_of(topology);
  fit f = {.network = topology, .run = run};
  json_t *made = json_array();
  cm_run_phase(run, "look");
  cm_status status = cm_whole(made != NULL, "what would fit", error);
  CM_THEN(status, cm_look_begin(&demand, UINT64_MAX, run, &f.line, error));
  CM_THEN(status, cm_look_begin(&demand, cm_choices_pins(topology), run, &f.stretch, error));
  CM_THEN(status, CM_NEW(run->memory, f.part, topology->vertex_count, error));
  for (size_t i = 0; status == CM_OK && i < count; i++) {
    status = fit_one(&f, &chips[i], made, error);
    CM_THEN(status, cm_run_progress(run, ((double)i + 1) / (double)count, -1, topology->vertex_count, NAN, error));
  }
  cm_run_finish(run);
  cm_look_end(&f.line);
  cm_look_end(&f.stretch);
  cm_free(f.part);
  CM_END(status, *rows = made, json_decref(made));
}
