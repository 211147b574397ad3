/* Options of a mapping as they are asked for: read, what does not go together refused, and what was left open resolved. */
#include <unistd.h>

#include "core/mapping/combinations.h"
#include "core/mapping/options.h"

static const double imbalance_any = 100; /* the most that can be stated */

/* What follows from what. */
static void resolve(struct cm_map_options *o)
{
  if (o->imbalance < 0) /* time balances work, not neurons */
    o->imbalance = cm_objective_is_of_steps((cm_objective)o->objective) ? imbalance_any : 0.03;
  if (o->policy_refinement == CM_POLICY_REFINED_AUTO)
    o->policy_refinement = o->policy == CM_POLICY_LAYOUT || o->policy == CM_POLICY_PILOT;
  if (o->regions == UINT64_MAX)
    o->regions = cm_preset_facts_of((cm_preset)o->preset)->regions;
  if (o->coarsening_seed == UINT64_MAX)
    o->coarsening_seed = o->seed;
  if (o->placement_seed == UINT64_MAX)
    o->placement_seed = o->seed;
  if (o->threads == 0) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    o->threads = processors < 1 ? 1 : processors > 256 ? 256 : (uint32_t)processors;
  }
}

/* What says how a profile is made goes with one. */
static cm_status check_profile(const struct cm_map_options *o, cm_error *error)
{
  const cm_running *r = &o->running;
  const struct {
    const char *name;
    bool given;
  } running[] = {{"spikes", cm_spikes_are_given(&r->spikes)},        {"poisson", r->poisson > 0},
                 {"dt", r->dt > 0},                                  {"profile_windows", o->profile_windows > 1},
                 {"semantics", r->semantics != CM_SEMANTICS_SNNTORCH}, {"spike_ids", r->spike_ids != CM_SPIKE_IDS_AUTO}};
  for (size_t i = 0; o->profile == 0 && i < sizeof running / sizeof *running; i++)
    if (running[i].given)
      return cm_option_refuse(error, running[i].name, "given with profile, the number of steps that the network runs, or left out");
  if (o->profile == 0)
    return CM_OK;
  if (o->profile_windows > o->profile)
    return cm_option_refuse(error, "profile_windows", "at most as many windows as profile has steps");
  return cm_running_check(r, error);
}

cm_status cm_map_options_parse(const json_t *json, cm_map_options **options, cm_error *error)
{
  struct cm_map_options *made;
  CM_TRY(CM_HEAP(made, 1, "the options", error));
  made->constraints = NULL;
  cm_options_default(&cm_map_option_table, made);
  CM_TRY_OR(cm_options_read(&cm_map_option_table, json, made, error), cm_map_options_free(made));
  CM_TRY_OR(cm_combinations_of_options(made, error), cm_map_options_free(made));
  CM_TRY_OR(check_profile(made, error), cm_map_options_free(made));
  resolve(made);
  *options = made;
  return CM_OK;
}
