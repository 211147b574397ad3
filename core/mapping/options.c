/* Options of mappings as one table (base/option.h), and what does not go together. */
#include "core/mapping/options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "core/mapping/mappers/step_engine.h"
#include "core/partition/options.h"
#include "core/verify/check.h"

#define FIELD(name) offsetof(struct cm_map_options, name)
static const double imbalance_any = 100; /* the most that can be stated */

static const cm_option options_of_maps[] = {
  {"preset", CM_OPTION_WORD, FIELD(preset), 0, 0, CM_PRESET_BALANCED, {"reference", "fast", "balanced", "best", NULL},
   NULL, false,
   CM_SHAPES_BOTH, .about = "effort: fast, balanced (unless given), best; reference is a published method to the letter"},
  {"objective", CM_OPTION_WORD, FIELD(objective), 0, 0, CM_OBJECTIVE_AUTO, {"edge", "axon", "time", "energy", "edp", "pareto", "auto"}, NULL, false,
   CM_SHAPES_BOTH, .about = "what is minimised (docs/options.md); unless given, axon for directed networks under core limits, else edge"},
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
  {"policy", CM_OPTION_WORD, FIELD(policy), 0, 0, CM_POLICY_PILOT, {"layout", "letter", "letter-plane", "pilot"}, NULL, false,
   CM_SHAPES_PLACES, .about = "of mapper learned: pilot (unless given) flies local search, layout corrects a layout; letter is the published method, one step from features alone"},
  {"policy_refinement", CM_OPTION_WORD, FIELD(policy_refinement), 0, 0, CM_POLICY_REFINED_AUTO, {"off", "on", "auto"}, NULL, false,
   CM_SHAPES_PLACES, .about = "of mapper learned: off leaves what the policy says as it is; unless given, off for letter, else on"},
  {"policy_objective", CM_OPTION_WORD, FIELD(policy_objective), 0, 0, CM_POLICY_FOR_HOPS, {"hops", "reward"}, NULL, false,
   CM_SHAPES_PLACES, .about = "of mapper learned: what refinement is for", .was = "policy_aim"},
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
const cm_options cm_map_option_table = {options_of_maps, sizeof options_of_maps / sizeof *options_of_maps, "a mapping"};

/* What does not go together, and what follows from what. */
static cm_status resolve(struct cm_map_options *o, cm_error *error)
{
  bool chosen = o->objective != CM_OBJECTIVE_AUTO;
  const cm_engine *engine = chosen ? cm_engine_find((cm_preset)o->preset, (cm_objective)o->objective) : NULL;
  if (chosen && engine == NULL) {
    cm_fail(error, CM_BAD_OPTION,
            "preset reference minimises the edge cut; for objective \"%s\" choose preset fast, balanced or best",
            cm_objective_name((cm_objective)o->objective));
    return cm_fail_at(error, "/options/objective");
  }
  if (o->parts != 0 && o->objective == CM_OBJECTIVE_AXON && o->mapper == CM_MAPPER_INTEGRATED) {
    cm_fail(error, CM_BAD_OPTION,
            "mapper \"integrated\" makes as many parts as the core limits ask for under objective \"axon\": for a fixed number "
            "choose two-phase");
    return cm_fail_at(error, "/options/mapper");
  }
  if (chosen && cm_objective_is_of_steps((cm_objective)o->objective) && o->mapper == CM_MAPPER_INTEGRATED) {
    cm_fail(error, CM_BAD_OPTION, "mapper \"integrated\" serves objectives edge and axon; for objective \"%s\" choose two-phase",
            cm_objective_name((cm_objective)o->objective));
    return cm_fail_at(error, "/options/mapper");
  }
  if (o->step_budget_ns > 0 && o->objective != CM_OBJECTIVE_ENERGY) {
    cm_fail(error, CM_BAD_OPTION, "step_budget_ns says how long a core may take under objective \"energy\": choose that, or leave "
                                  "the budget out");
    return cm_fail_at(error, "/options/step_budget_ns");
  }
  if (o->objective == CM_OBJECTIVE_PARETO && o->from[0] != '\0') {
    cm_fail(error, CM_BAD_OPTION, "objective \"pareto\" maps afresh: for a network that is mapped choose time, energy or edp, or "
                                  "leave out from");
    return cm_fail_at(error, "/options/objective");
  }
  if (o->imbalance < 0) /* time balances work, not neurons */
    o->imbalance = chosen && cm_objective_is_of_steps((cm_objective)o->objective) ? imbalance_any : 0.03;
  if (o->policy_refinement == CM_POLICY_REFINED_AUTO)
    o->policy_refinement = o->policy == CM_POLICY_LAYOUT || o->policy == CM_POLICY_PILOT;
  if (o->regions == UINT64_MAX)
    o->regions = o->preset == CM_PRESET_REFERENCE ? 0 : 2;
  if (o->coarsening_seed == UINT64_MAX)
    o->coarsening_seed = o->seed;
  if (o->placement_seed == UINT64_MAX)
    o->placement_seed = o->seed;
  if (o->threads == 0) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    o->threads = processors < 1 ? 1 : processors > 256 ? 256 : (uint32_t)processors;
  }
  return CM_OK;
}

cm_objective cm_objective_resolve(const struct cm_map_options *options, bool directed, bool limited)
{
  if (options->objective != CM_OBJECTIVE_AUTO)
    return (cm_objective)options->objective;
  bool axons = options->preset != CM_PRESET_REFERENCE && directed && limited && options->parts == 0;
  return axons ? CM_OBJECTIVE_AXON : CM_OBJECTIVE_EDGE;
}

const char *cm_preset_name(cm_preset preset)
{
  return cm_option_find(&cm_map_option_table, "preset")->words[preset];
}

const char *cm_objective_name(cm_objective objective)
{
  return cm_option_find(&cm_map_option_table, "objective")->words[objective];
}

cm_status cm_map_options_parse(const json_t *json, cm_map_options **options, cm_error *error)
{
  struct cm_map_options *made;
  if (CM_HEAP(made, 1, "the options", error) != CM_OK)
    return error->status;
  cm_options_default(&cm_map_option_table, made);
  if (cm_options_read(&cm_map_option_table, json, made, error) != CM_OK || resolve(made, error) != CM_OK) {
    free(made);
    return error->status;
  }
  *options = made;
  return CM_OK;
}

void cm_map_options_free(cm_map_options *options)
{
  free(options);
}

json_t *cm_map_options_shaping_json(const cm_map_options *options)
{
  return cm_options_json(&cm_map_option_table, options, true);
}

const char *cm_map_options_from(const cm_map_options *options)
{
  return options->from[0] != '\0' ? options->from : NULL;
}

cm_status cm_map_options_set_inputs(const cm_map_options *options, cm_topology *topology, cm_memory *memory, cm_error *error)
{
  return options->inputs == CM_INPUTS_OUTSIDE ? cm_topology_set_outside(topology, memory, error) : CM_OK;
}

cm_status cm_mapping_set_inputs(const json_t *summary, cm_topology *topology, cm_memory *memory, cm_error *error)
{
  const char *stated = json_string_value(json_object_get(json_object_get(summary, "options"), "inputs"));
  return stated != NULL && strcmp(stated, "outside") == 0 ? cm_topology_set_outside(topology, memory, error) : CM_OK;
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

cm_status cm_mapping_file_set_inputs(const char *path, const cm_chip *chip, cm_topology *topology, cm_run *run, cm_error *error)
{
  json_t *summary;
  if (cm_topology_inputs(topology) == 0)
    return cm_chip_limit_neurons(chip, topology, run->memory, error);
  if (cm_mapping_read_summary(path, run, &summary, error) != CM_OK)
    return error->status;
  cm_status status = cm_mapping_set_inputs(summary, topology, run->memory, error);
  json_decref(summary);
  return status == CM_OK ? cm_chip_limit_neurons(chip, topology, run->memory, error) : status;
}
