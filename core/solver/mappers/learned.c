/* The learned mapper on one region: who is to talk to whom (flows), which processor runs what (communities), where the
 * policy puts it (agent), refinement, and what others would have made of it. What can fail: the policy's file, memory,
 * cancel; that routes cannot be had around dead links is told, and is no failure. */
#include "core/solver/mappers/learned.h"

#include <math.h>
#include <string.h>

#include "core/learning/agent/agent.h"
#include "core/learning/deadlock.h"
#include "core/learning/agent/placement_refinement.h"
#include "core/learning/letter/letter.h"
#include "core/learning/pilot/pilot.h"
#include "core/learning/training/letter_tuning.h"
#include "core/learning/reward.h"
#include "core/mapping/options.h"
#include "core/routing/routes.h"
#include "core/placement/placement.h"
#include "core/solver/presets.h"

enum { REWARD_SWEEPS = 160 };

/* What one run of the mapper holds. */
typedef struct job {
  const cm_map_input *input;
  const cm_graph *parts;
  const cm_region *region;
  cm_run *run;
  cm_flows *flows;
  cm_multicast multicast;
  cm_policy *policy; /* NULL: the letter, which is trained on this graph */
  cm_letter_tuned tuned;
  cm_environment *environment;
  cm_reward_task task;
  cm_acted acted[CM_LAYOUTS];
  uint32_t *other; /* [parts] the core of each, by others */
  uint32_t *at;    /* [parts] the site of each, on the way */
} job;

/* What a placement came to. */
typedef struct outcome {
  uint64_t hops;
  cm_reward reward;
  bool rewarded; /* dead links may leave multicast nodes no way */
} outcome;

/* What is told of a mapping; refined and others only where there was refinement. */
typedef struct told {
  outcome alone, refined, others;
  outcome shared, plane; /* the letter with weights that nodes share, as a baseline */
} told;

static cm_status tell_flows(job *j, const uint32_t *part, cm_error *error)
{
  const cm_topology *t = j->input->demand->network;
  uint32_t parts = j->parts->vertex_count;
  if (!t->directed)
    return cm_flows_of_graph(j->parts, j->run, &j->flows, error);
  CM_TRY(cm_flows_of_axons(j->input->demand, part, parts, j->run, &j->flows, error));
  return cm_multicast_from_topology(j->input->demand, part, parts, j->run, &j->multicast, error);
}

static cm_status set_environment(job *j, cm_error *error)
{
  cm_environment_parts parts = {.graph = j->parts,
                          .flows = j->flows,
                          .multicast = j->multicast.first != NULL ? &j->multicast : NULL,
                          .chip = j->input->chip,
                          .site = j->region->cores,
                          .sites = j->region->core_count};
  bool own;
  j->task = (cm_reward_task){.parts = j->parts,
                             .multicast = parts.multicast,
                             .chip = j->input->chip,
                             .site = j->region->cores,
                             .sites = j->region->core_count,
                             .rule = cm_routes_wanted(j->input->options, j->input->chip, &own).rule,
                             .distance = (cm_distance)j->input->options->policy_distance,
                             .fault_weight = j->input->options->policy_fault_weight};
  cm_run_phase(j->run, "communities");
  return cm_environment_new_shared(&parts, j->input->options->placement_seed, j->run, &j->environment, error);
}

static cm_status judge(const job *j, const uint32_t *core, outcome *o, cm_error *error)
{
  o->hops = cm_placement_traffic(j->parts, j->input->chip, core);
  cm_status status = cm_reward_compute(&j->task, core, j->run, &o->reward, error);
  o->rewarded = status == CM_OK;
  return status == CM_NO_ROUTE ? CM_OK : status;
}

static void name_cores(const job *j, const uint32_t *at, uint32_t *core)
{
  for (uint32_t p = 0; p < j->parts->vertex_count; p++)
    core[p] = j->region->cores[at[p]];
}

static bool is_letter(const job *j)
{
  return j->policy == NULL || j->policy->shape.kind == CM_KIND_LETTER || j->policy->shape.kind == CM_KIND_LETTER_PLANE;
}

/* On cores. */
static cm_status refine_reward(job *j, uint32_t start, uint32_t *core, double *reward, cm_error *error)
{
  cm_reward_refine_options options = {.sweeps = REWARD_SWEEPS, .seed = j->input->options->placement_seed + start};
  cm_reward_refined result;
  CM_TRY(cm_reward_refine(&j->task, &options, j->run, core, &result, error));
  *reward = result.after.reward;
  return CM_OK;
}

/* On the reward, from all that the policy made. */
static cm_status refine_rewards(job *j, uint32_t *core, cm_error *error)
{
  double most = -INFINITY, reward;
  if (is_letter(j)) /* which made one placement: that in core */
    return refine_reward(j, 0, core, &reward, error);
  for (uint32_t start = 0; start < CM_LAYOUTS; start++) {
    name_cores(j, j->acted[start].at, j->other);
    CM_TRY(refine_reward(j, start, j->other, &reward, error));
    if (reward > most)
      memcpy(core, j->other, j->parts->vertex_count * sizeof *core);
    most = reward > most ? reward : most;
  }
  return CM_OK;
}

static cm_place_task task_of(const job *j)
{
  return (cm_place_task){.chip = j->input->chip, .region = j->region, .seed = j->input->options->placement_seed, .run = j->run};
}

/* The policy and what refines it know the plane of the cores; where ways are others, what they make is improved by those. */
static cm_status go_by_ways(job *j, uint32_t *core, cm_error *error)
{
  cm_place_task task = task_of(j);
  return cm_arrange_again(j->parts, &task, &cm_effort_of(j->input->options)->place.arrange, core, error);
}

/* The better of what the policy and the engine made. */
static cm_status ask_engine(job *j, uint32_t *core, cm_error *error)
{
  cm_arrange_options options = {.budget = &cm_effort_of(j->input->options)->place.arrange};
  cm_place_task task = task_of(j);
  cm_arrange_result made;
  CM_TRY(cm_arrange(j->parts, &task, &options, j->other, &made, error));
  if (cm_placement_traffic(j->parts, j->input->chip, j->other) < cm_placement_traffic(j->parts, j->input->chip, core))
    memcpy(core, j->other, j->parts->vertex_count * sizeof *core);
  return CM_OK;
}

/* Refines what the policy made for what the job aims at: fills core [parts]. */
static cm_status refine(job *j, uint32_t *core, cm_error *error)
{
  const struct cm_map_options *o = j->input->options;
  cm_refine_options options = {cm_effort_of(o)->policy_looks, o->placement_seed};
  cm_run_phase(j->run, "refine");
  if (o->policy_objective == CM_POLICY_FOR_REWARD)
    return refine_rewards(j, core, error);
  const uint32_t *at = j->at;
  if (is_letter(j)) {
    CM_TRY(cm_environment_refine(j->environment, &options, j->run, j->at, error));
  } else {
    CM_TRY(cm_acted_refine(j->environment, &options, j->run, j->acted, error));
    at = j->acted[cm_acted_best(j->acted)].at;
  }
  name_cores(j, at, core);
  return go_by_ways(j, core, error) == CM_OK ? ask_engine(j, core, error) : error->status;
}

/* The seed's bisection with the same refinement: as many looks at hops, or one annealing on the reward. */
static cm_status bisect(job *j, cm_error *error)
{
  const struct cm_map_options *o = j->input->options;
  cm_refine_options options = {CM_LAYOUTS * cm_effort_of(o)->policy_looks, o->placement_seed};
  double reward;
  uint32_t *at = j->at;
  cm_run_phase(j->run, "baseline");
  cm_place_task task = task_of(j);
  CM_TRY(cm_place_by_bisection(j->parts, &task, o->bisection_tries, j->other, error));
  if (o->policy_objective == CM_POLICY_FOR_REWARD)
    return refine_reward(j, 0, j->other, &reward, error);
  for (uint32_t p = 0; p < j->parts->vertex_count; p++)
    at[p] = j->environment->site_on[j->other[p]];
  CM_TRY(cm_environment_refine(j->environment, &options, j->run, at, error));
  name_cores(j, at, j->other);
  return go_by_ways(j, j->other, error);
}

/* ---- the report ---- */

static json_t *outcome_json(const job *j, const outcome *o)
{
  double scale = (double)j->input->demand->network->weight_scale;
  json_t *json = o->rewarded ? json_pack("{s:f, s:f, s:f}", "part_traffic", (double)o->hops / scale, "reward",
                                         o->reward.reward / scale, "dl_ratio", o->reward.dl_ratio)
                             : json_pack("{s:f, s:n}", "part_traffic", (double)o->hops / scale, "reward");
  if (o->rewarded && j->task.fault_weight > 0)
    json_object_set_new(json, "tolerance", json_real(o->reward.tolerance));
  return json;
}

static cm_status check_deadlock(job *j, const uint32_t *core, json_t **json, cm_error *error)
{
  cm_deadlock_report found;
  const cm_deadlock_task task = {j->parts, j->task.multicast, j->input->chip, j->task.rule, core};
  const char *rule = cm_chip_rule_name(task.chip, task.rule);
  cm_status status = cm_deadlock_check(&task, j->run, &found, error);
  if (status == CM_NO_ROUTE)
    *json = json_pack("{s:s, s:n, s:s}", "rule", rule, "free", "why", error->detail);
  else if (status == CM_OK)
    *json = json_pack("{s:s, s:b, s:I, s:I, s:I}", "rule", rule, "free", 1, "routes",
                      (json_int_t)found.routes, "channels", (json_int_t)found.channels, "dependencies",
                      (json_int_t)found.arcs);
  else
    return status;
  return cm_whole(*json != NULL, "the report", error);
}

/* The share of the cost of a start that the policy took off it. */
static double gained(const cm_acted *acted)
{
  return acted->before > 0 ? 1 - (double)acted->after / (double)acted->before : 0;
}

static const char *policy_name(const job *j)
{
  const uint32_t policy = j->policy != NULL ? j->policy->shape.kind : (uint32_t)CM_POLICY_LETTER;
  return cm_option_find(&cm_map_option_table, "policy")->words[policy];
}

static cm_status report(job *j, const told *t, const uint32_t *core, json_t **json, cm_error *error)
{
  static const char *const starts[CM_LAYOUTS] = {"spectral", "curve"};
  bool refining = j->input->options->policy_refinement;
  const outcome *last = refining ? &t->refined : &t->alone;
  json_t *deadlock;
  CM_TRY(check_deadlock(j, core, &deadlock, error));
  json_t *learned = json_pack("{s:s, s:o, s:i, s:o, s:o, s:o}", "policy", policy_name(j), "policy_alone",
                              outcome_json(j, &t->alone), "processors", (int)j->environment->processors, "deadlock", deadlock,
                              "letter_shared", outcome_json(j, &t->shared), "letter_plane", outcome_json(j, &t->plane));
  if (j->policy == NULL)
    json_object_set_new(learned, "trained", json_pack("{s:I, s:I}", "draws", (json_int_t)j->tuned.draws, "updates", (json_int_t)j->tuned.updates));
  for (int l = 0; l < CM_LAYOUTS && j->acted[l].at != NULL; l++)
    json_object_set_new(learned, starts[l],
                        json_pack("{s:f, s:i}", "gained", gained(&j->acted[l]), "steps", (int)j->acted[l].steps));
  if (refining) {
    json_object_set_new(learned, "policy_refined", outcome_json(j, &t->refined));
    json_object_set_new(learned, "bisection_refined", outcome_json(j, &t->others));
  }
  *json = json_pack("{s:{s:s, s:f}, s:o}", "placement", "method", refining ? "policy and refinement" : "policy",
                    "part_traffic", (double)last->hops / (double)j->input->demand->network->weight_scale, "learned", learned);
  return cm_whole(*json != NULL, "the report", error);
}

/* What the source's method makes of the same environment. */
static cm_status compare_letter(job *j, cm_shipped_policy which, outcome *o, cm_error *error)
{
  cm_policy *letter;
  CM_TRY(cm_policy_shipped(which, &letter, error));
  cm_status status = cm_letter_place(letter, j->environment, j->run, j->at, error);
  cm_policy_free(letter);
  if (status != CM_OK)
    return status;
  name_cores(j, j->at, j->other);
  return judge(j, j->other, o, error);
}

static cm_status train_letter(job *j, cm_error *error)
{
  const struct cm_map_options *o = j->input->options;
  const cm_letter_tuning tuning = {.environment = j->environment,
                                   .task = &j->task,
                                   .axes = o->policy_axes == CM_POLICY_OVER_PLANE ? 2 : 1,
                                   .by_core = o->policy_chooser == CM_POLICY_BY_CORE,
                                   .draws = o->policy_draws > 0 ? o->policy_draws : cm_effort_of(o)->policy_draws,
                                   .seed = o->placement_seed};
  return cm_letter_tune(&tuning, j->run, j->at, &j->tuned, error);
}

/* What the policy says, and nothing else: fills core [parts]. */
static cm_status ask(job *j, uint32_t *core, cm_error *error)
{
  const uint32_t *at = j->at;
  if (is_letter(j)) {
    CM_TRY(j->policy == NULL ? train_letter(j, error) : cm_letter_place(j->policy, j->environment, j->run, j->at, error));
  } else {
    const cm_pilot_task flown = {j->policy, j->environment, 0, j->input->options->placement_seed};
    CM_TRY(j->policy->shape.kind == CM_KIND_PILOT ? cm_pilot_act(&flown, j->run, j->acted, error)
                                                  : cm_policy_act(j->policy, j->environment, 0, j->run, j->acted, error));
    at = j->acted[cm_acted_best(j->acted)].at;
  }
  name_cores(j, at, core);
  return CM_OK;
}

static cm_status place(job *j, uint32_t *core, json_t **json, cm_error *error)
{
  told t;
  bool refining = j->input->options->policy_refinement;
  cm_run_phase(j->run, "policy");
  cm_status status = ask(j, core, error);
  CM_THEN(status, judge(j, core, &t.alone, error));
  CM_THEN_IF(status, refining, refine(j, core, error));
  CM_THEN_IF(status, refining, judge(j, core, &t.refined, error));
  CM_THEN_IF(status, refining, bisect(j, error));
  CM_THEN_IF(status, refining, judge(j, j->other, &t.others, error));
  CM_THEN(status, compare_letter(j, CM_SHIPPED_LETTER_SHARED, &t.shared, error));
  CM_THEN(status, compare_letter(j, CM_SHIPPED_LETTER_PLANE, &t.plane, error));
  CM_THEN(status, report(j, &t, core, json, error));
  return status;
}

cm_status cm_place_by_policy(const cm_map_input *input, const uint32_t *part, const cm_graph *parts,
                             const cm_region *region, cm_run *run, uint32_t *core, json_t **json, cm_error *error)
{
  job j = {.input = input, .parts = parts, .region = region, .run = run};
  if (parts->vertex_count == 0) {
    *json = json_pack("{s:{s:s}}", "placement", "method", "policy");
    return cm_whole(*json != NULL, "the report", error);
  }
  cm_status status = CM_OK;
  if (input->policy != NULL)
    status = cm_policy_load(input->policy, &j.policy, error);
  else if (input->options->policy != CM_POLICY_LETTER)
    status = cm_policy_shipped((cm_shipped_policy)input->options->policy, &j.policy, error);
  CM_THEN(status, CM_NEW_ALL(run->memory, error, CM_ARRAY(j.other, parts->vertex_count), CM_ARRAY(j.at, parts->vertex_count)));
  CM_THEN(status, tell_flows(&j, part, error));
  CM_THEN(status, set_environment(&j, error));
  CM_THEN(status, place(&j, core, json, error));
  cm_acted_free(j.acted);
  cm_environment_free(j.environment);
  cm_policy_free(j.policy);
  cm_multicast_free(&j.multicast);
  cm_flows_free(j.flows);
  CM_FREE(j.other, j.at);
  return status;
}
