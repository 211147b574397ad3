/* Options of mappings as one table (base/option.h). */
#include "core/mapping/options.h"

#include <math.h>

#include "core/constraints/constraints_option.h"
#include "core/mapping/combinations.h"
#include "core/mapping/mapping.h"
#include "core/partition/options.h"

#define FIELD(name) offsetof(struct cm_map_options, name)

static const cm_option options_of_maps[] = {
  {"preset", CM_OPTION_WORD, FIELD(preset), 0, 0, CM_PRESET_BALANCED,
   {
#define PRESET(number, name, ...) name,
#include "core/mapping/presets.def"
#undef PRESET
   },
   NULL, false,
   CM_SHAPES_BOTH, .about = "effort, growing from fast to best; balanced unless given; reference is a published method to the letter"},
  {"objective", CM_OPTION_WORD, FIELD(objective), 0, 0, CM_OBJECTIVE_AUTO, {"edge", "axon", "time", "energy", "edp", "pareto", "knee", "auto"}, NULL, false,
   CM_SHAPES_BOTH, .about = "packets to cores (axon), weight between cores (edge), or a step's time, energy or both (edp, pareto, knee); unless given, axon for directed networks under core limits, else edge"},
  {"mapper", CM_OPTION_WORD, FIELD(mapper), 0, 0, CM_MAPPER_AUTO, {"bisection", "two-phase", "integrated", "learned", "auto"}, NULL, false,
   CM_SHAPES_PLACES, .about = "integrated (parts and places at once), two-phase (partition, then the placement engine), learned (a trained policy), bisection; unless given, what suits preset and objective",
   .words_were = {NULL, "staged", "mesh"}},
  {"traffic_model", CM_OPTION_WORD, FIELD(traffic_model), 0, 0, CM_UNICAST, {"unicast", "multicast"}, NULL, false,
   CM_SHAPES_PLACES, .about = "what placement pays for: unicast (a packet to every core reached; unless given) or multicast (one along the union of the routes)", .was = "communication"},
  {"seed", CM_OPTION_LONG_COUNT, FIELD(seed), 0, CM_OPTION_WHOLE_MOST, 1, {0}, NULL, false,
   CM_SHAPES_BOTH, .about = "same input, options and seed: same bytes out; 1 unless given"},
  {"coarsening_seed", CM_OPTION_LONG_COUNT, FIELD(coarsening_seed), 0, CM_OPTION_WHOLE_MOST, -1, {0}, NULL, false,
   CM_SHAPES_PARTS, .about = "of the matching order alone; the seed unless given"},
  {"placement_seed", CM_OPTION_LONG_COUNT, FIELD(placement_seed), 0, CM_OPTION_WHOLE_MOST, -1, {0}, NULL, false,
   CM_SHAPES_PLACES, .about = "of the placement alone; the seed unless given"},
  {"parts", CM_OPTION_COUNT, FIELD(parts), 0, CM_CHIP_CORES_MAX, 0, {0}, NULL, false,
   CM_SHAPES_PARTS, .about = "exactly N parts; at most N for objectives time, energy, edp, pareto; unless given, the core limits decide"},
  {"cores", CM_OPTION_COUNT, FIELD(cores), 0, CM_CHIP_CORES_MAX, 0, {0}, NULL, false,
   CM_SHAPES_PARTS, .about = "at most N cores, whatever the objective; unless given, as many as are free"},
  {"imbalance", CM_OPTION_REAL, FIELD(imbalance), 0, 100, -1, {0}, NULL, false,
   CM_SHAPES_PARTS, .about = "with parts: one may exceed the mean by this share; 0.03 unless given"},
  {"step_budget_ns", CM_OPTION_REAL, FIELD(step_budget_ns), 0, 1e18, 0, {0}, NULL, false,
   CM_SHAPES_PARTS, .about = "with objective energy: the busiest core takes so many nanoseconds at most"},
  {"scenarios", CM_OPTION_WORD, FIELD(scenarios), 0, 0, CM_SCENARIOS_MEAN, {"mean", "worst"}, NULL, false,
   CM_SHAPES_BOTH, .about = "of a network whose rates vary over time: what is minimised is the mean of its scenarios (unless given) or the worst one"},
  {"max_part_size", CM_OPTION_LONG_COUNT, FIELD(max_part_size), 0, UINT32_MAX, 0, {0}, NULL, false,
   CM_SHAPES_PARTS, .about = "at most N neurons in a part"},
  {"coarsening_share", CM_OPTION_COUNT, FIELD(coarsening_share), 1, 1000000, 15, {0}, NULL, false,
   CM_SHAPES_PARTS, .about = "of preset reference: a merged vertex is at most capacity / N; 15 unless given"},
  {"coarsening_tries", CM_OPTION_COUNT, FIELD(coarsening_tries), 1, 64, 8, {0}, NULL, false,
   CM_SHAPES_PARTS, .about = "of preset reference: matchings a level; 8 unless given"},
  {"coarsening_stop", CM_OPTION_REAL, FIELD(coarsening_stop), 0, 1, 0.20, {0}, NULL, false,
   CM_SHAPES_PARTS, .about = "of preset reference: a level that shrinks by less ends coarsening; 0.2 unless given"},
  {"matching", CM_OPTION_WORD, FIELD(matching), 0, 0, CM_MATCHING_AUTO, {"auto", "heaviest", "available"}, NULL, false,
   CM_SHAPES_PARTS, .about = "of preset reference: which neighbours are asked"},
  {"levels_from", CM_OPTION_NAME, FIELD(levels_from), 0, CM_FROM_MAX, 0, {0}, NULL, false,
   CM_SHAPES_PARTS, .about = "of preset reference: carry over the coarsened levels of this network, which the job's was edited from"},
  {"bisection_tries", CM_OPTION_COUNT, FIELD(bisection_tries), 1, 64, 8, {0}, NULL, false,
   CM_SHAPES_BOTH, .about = "of preset reference and mapper bisection: growings a bisection; 8 unless given"},
  {"refinement_passes", CM_OPTION_COUNT, FIELD(refinement_passes), 0, 1000, 1, {0}, NULL, false,
   CM_SHAPES_PARTS, .about = "of preset reference: visits of all vertices a level; 1 unless given"},
  {"force_fraction", CM_OPTION_REAL, FIELD(force_fraction), 0, 1, 0.05, {0}, NULL, false,
   CM_SHAPES_PLACES, .about = "of mapper bisection: fraction of the parts that a pass visits; 0.05 unless given", .was = "force_share"},
  {"force_passes", CM_OPTION_COUNT, FIELD(force_passes), 0, 1000000, 1000, {0}, NULL, false,
   CM_SHAPES_PLACES, .about = "of mapper bisection: passes at most; 1000 unless given", .was = "force_rounds"},
  {"capacity_tries", CM_OPTION_COUNT, FIELD(capacity_tries), 1, CM_ATTEMPTS_MAX, CM_ATTEMPTS_MAX, {0}, NULL, false,
   CM_SHAPES_PARTS, .about = "tries of the partition stage at most, each with a smaller capacity, the first one counted; 16 unless given", .was = "attempts"},
  {"inputs", CM_OPTION_WORD, FIELD(inputs), 0, 0, CM_INPUTS_RELAY, {"relay", "outside"}, NULL, false,
   CM_SHAPES_BOTH, .about = "neurons that the network marks as inputs: relay (unless given) gives each room on a core; outside makes them axons from the chip's border"},
  {"routing", CM_OPTION_WORD, FIELD(routing), 0, 0, CM_ROUTES_AUTO,
   {"auto", "xy", "yx", "west-first", "north-last", "negative-first"}, NULL, false,
   CM_SHAPES_PLACES, .about = "turn rule of the routes; the chip's own unless given"},
  {"route_model", CM_OPTION_WORD, FIELD(route_model), 0, 0, CM_ROUTES_MULTICAST, {"multicast", "unicast"}, NULL, false,
   CM_SHAPES_PLACES, .about = "trees with tables, or a path a pair of parts"},
  {"policy", CM_OPTION_WORD, FIELD(policy), 0, 0, CM_POLICY_PILOT, {"layout", "letter-shared", "letter-plane", "pilot", "letter"}, NULL, false,
   CM_SHAPES_PLACES, .about = "of mapper learned: pilot (unless given) flies local search, layout corrects a layout; letter is the published method, trained on the job's graph; letter-shared and letter-plane share its weights over nodes and are trained before"},
  {"policy_refinement", CM_OPTION_WORD, FIELD(policy_refinement), 0, 0, CM_POLICY_REFINED_AUTO, {"off", "on", "auto"}, NULL, false,
   CM_SHAPES_PLACES, .about = "of mapper learned: off leaves what the policy says as it is; unless given, off for the letters, else on"},
  {"policy_objective", CM_OPTION_WORD, FIELD(policy_objective), 0, 0, CM_POLICY_FOR_HOPS, {"hops", "reward"}, NULL, false,
   CM_SHAPES_PLACES, .about = "of mapper learned: what refinement is for", .was = "policy_aim"},
  {"policy_draws", CM_OPTION_LONG_COUNT, FIELD(policy_draws), 0, 1000000000, 0, {0}, NULL, false,
   CM_SHAPES_PLACES, .about = "of policy letter: placements that it is trained on; 30000, 100000 or 1000000 by preset unless given"},
  {"policy_axes", CM_OPTION_WORD, FIELD(policy_axes), 0, 0, CM_POLICY_OVER_PLANE, {"plane", "order"}, NULL, false,
   CM_SHAPES_PLACES, .about = "of policy letter: a node's Gaussians lie over columns and rows (unless given), or one over all cores in order"},
  {"policy_chooser", CM_OPTION_WORD, FIELD(policy_chooser), 0, 0, CM_POLICY_BY_NODE, {"node", "core"}, NULL, false,
   CM_SHAPES_PLACES, .about = "of policy letter: each node takes its most probable core (unless given), or each core its most probable node"},
  {"policy_distance", CM_OPTION_WORD, FIELD(policy_distance), 0, 0, 0, {"manhattan", "euclidean"}, NULL, false,
   CM_SHAPES_PLACES, .about = "of mapper learned: between cores, in the reward and where the letter settles conflicts"},
  {"policy_fault_weight", CM_OPTION_REAL, FIELD(policy_fault_weight), 0, 100, 0, {0}, NULL, false,
   CM_SHAPES_PLACES, .about = "of mapper learned: weight of the tolerance of faults in the reward; 0 unless given (docs/explanation/rewards.md)"},
  {"profile", CM_OPTION_COUNT, FIELD(profile), 0, CM_SPIKE_STEPS_MAX, 0, {0}, NULL, false,
   CM_SHAPES_WHOLE, .about = "the network runs so many steps first, and is mapped at the rates that come of it (docs/explanation/running.md)"},
  {"profile_windows", CM_OPTION_COUNT, FIELD(profile_windows), 1, CM_SCENARIOS_MAX, 1, {0}, NULL, false,
   CM_SHAPES_WHOLE, .about = "with profile: as many windows of its steps are scenarios; 1 unless given"},
#define RUNNING(name) FIELD(running.name)
#include "core/spiking/running_options.def"
#undef RUNNING
  {"constraints", CM_OPTION_OWN, FIELD(constraints), 0, 0, 0, {0}, NULL, false,
   CM_SHAPES_PLACES, .about = "where neurons and populations may lie (docs/reference/constraints.md)", .own = &cm_option_of_constraints},
  {"from", CM_OPTION_NAME, FIELD(from), 0, CM_FROM_MAX, 0, {0}, NULL, false,
   CM_SHAPES_WHOLE, .about = "start from this mapping: keep what can stay, move what must"},
  {"baseline", CM_OPTION_WORD, FIELD(baseline), 0, 0, 0, {"none", "fresh"}, NULL, false,
   CM_SHAPES_WHOLE, .about = "with from: fresh maps afresh too and reports both costs", .was = "compare"},
  {"regions", CM_OPTION_LONG_COUNT, FIELD(regions), 0, 64, -1, {0}, NULL, false,
   CM_SHAPES_PLACES, .about = "candidate regions of free cores that are placed on and compared; 2 unless given"},
  {"threads", CM_OPTION_COUNT, FIELD(threads), 0, 256, 0, {0}, NULL, true,
   CM_SHAPES_BOTH, .about = "never changes the result; as many as processors unless given"},
  {"memory_limit", CM_OPTION_BYTES, FIELD(memory_limit), 0, CM_OPTION_WHOLE_MOST, 0, {0}, NULL, true,
   CM_SHAPES_BOTH, .about = "or 512M, 2G; what does not fit stands in files"},
  {"time_limit", CM_OPTION_REAL, FIELD(time_limit), 0, 31536000, 0, {0}, NULL, true,
   CM_SHAPES_BOTH, .about = "seconds"},
};
const cm_options cm_map_option_table = {options_of_maps, sizeof options_of_maps / sizeof *options_of_maps, "a mapping", cm_map_rules};

cm_objective cm_objective_resolve(const struct cm_map_options *options, bool directed, bool limited)
{
  if (options->objective != CM_OBJECTIVE_AUTO)
    return (cm_objective)options->objective;
  bool axons = cm_preset_serves((cm_preset)options->preset, CM_OBJECTIVE_AXON) && directed && limited && options->parts == 0;
  return axons ? CM_OBJECTIVE_AXON : CM_OBJECTIVE_EDGE;
}

#define BARE(...) __VA_ARGS__
#define PRESET(number, text, facts, ...) {.name = text, BARE facts},
static const cm_preset_facts facts_of_presets[] = {
#include "core/mapping/presets.def"
};
#undef PRESET
#undef BARE

const cm_preset_facts *cm_preset_facts_of(cm_preset preset)
{
  return &facts_of_presets[preset];
}

const char *cm_objective_name(cm_objective objective)
{
  return cm_option_find(&cm_map_option_table, "objective")->words[objective];
}

void cm_map_options_free(cm_map_options *options)
{
  if (options != NULL)
    json_decref(options->constraints);
  free(options);
}

json_t *cm_map_options_shaping_json(const cm_map_options *options)
{
  const bool profiled = options->profile != 0, timed = profiled && options->running.dt > 0;
  const struct {
    const char *name;
    bool shapes;
  } some[] = {{"profile", profiled},   {"profile_windows", profiled}, {"semantics", profiled},
                 {"spike_ids", profiled}, {"dt", timed},                 {"poisson", timed && options->running.poisson > 0},
                 {"levels_from", options->levels_from[0] != '\0'}};
  json_t *made = cm_options_json(&cm_map_option_table, options, true);
  for (size_t i = 0; i < sizeof some / sizeof *some && made != NULL; i++)
    if (!some[i].shapes)
      (void)json_object_del(made, some[i].name);
  if (made != NULL && options->constraints != NULL && json_object_set(made, "constraints", options->constraints) != 0) {
    json_decref(made);
    return NULL;
  }
  return made;
}

const char *cm_map_options_from(const cm_map_options *options)
{
  return options->from[0] != '\0' ? options->from : NULL;
}

cm_status cm_map_options_set_inputs(const cm_map_options *options, cm_demand *demand, cm_memory *memory, cm_error *error)
{
  return options->inputs == CM_INPUTS_OUTSIDE ? cm_demand_set_outside(demand, memory, error) : CM_OK;
}

cm_status cm_mapping_set_inputs(const json_t *summary, cm_demand *demand, cm_memory *memory, cm_error *error)
{
  const char *stated = json_string_value(json_object_get(json_object_get(summary, "options"), "inputs"));
  return stated != NULL && strcmp(stated, "outside") == 0 ? cm_demand_set_outside(demand, memory, error) : CM_OK;
}

void cm_map_options_apply(const cm_map_options *options, cm_run *run)
{
  run->seed = options->seed;
  run->threads = options->threads;
  if (options->time_limit > 0)
    run->deadline = cm_now() + options->time_limit;
  if (options->memory_limit > 0 && run->memory != NULL)
    run->memory->limit_bytes = options->memory_limit;
}
