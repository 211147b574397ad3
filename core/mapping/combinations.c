/* What does not go together: rows of the table of options, tried in order. */
#include "core/mapping/combinations.h"

#include "core/chip/classes.h"
#include "core/chip/geometry.h"
#include "core/limits/populations.h"
#include "core/mapping/options.h"

/* What a job's network and chip are, and what is given with it. */
enum {
  FROM = 1 << 0,        /* an older mapping to start from */
  PARTS_GIVEN = 1 << 1,
  STEADY = 1 << 2,      /* rates do not vary */
  LINKED = 1 << 3,      /* the chip has an interconnect of its own */
  COPIES = 1 << 4,      /* a neuron reaches so many cores at most */
  POPULATIONS = 1 << 5, /* a core holds so many of them at most */
  CLASSES = 1 << 6,     /* of cores */
  NO_CHIP = 1 << 7,
  UNDIRECTED = 1 << 8,
  ONE_PARTITION = 1 << 9, /* is to be made, and no mapping */
  CONSTRAINED = 1 << 10,  /* there are constraints */
  POLICY_FILE = 1 << 11
};

#define OF_STEPS "time energy edp pareto knee"

const cm_option_rule cm_map_rules[] = {
  {"objective", {{"preset", "reference"}, {"objective", "axon " OF_STEPS}}, 0,
   "preset reference minimises the edge cut; for objective \"{objective}\" choose preset fast, balanced or best"},
  {"levels_from", {{"levels_from", NULL}, {"preset", "fast balanced best"}}, 0,
   "levels_from carries over coarsened levels, and preset {preset} keeps none between jobs: choose preset reference, or leave it out"},
  {"mapper", {{"parts", NULL}, {"objective", "axon"}, {"mapper", "integrated"}}, 0,
   "mapper \"integrated\" makes as many parts as the core limits ask for under objective \"axon\": for a fixed number choose two-phase"},
  {"mapper", {{"objective", OF_STEPS}, {"mapper", "integrated"}}, 0,
   "mapper \"integrated\" serves objectives edge and axon; for objective \"{objective}\" choose two-phase"},
  {"step_budget_ns", {{"step_budget_ns", NULL}, {"objective", "edge axon time edp pareto knee auto"}}, 0,
   "step_budget_ns says how long a core may take under objective \"energy\": choose that, or leave the budget out"},
  {"cores", {{"cores", NULL}, {"parts", NULL}}, 0,
   "parts says how many cores are used, and cores how many at most: give one of them"},
  {"objective", {{"objective", "pareto knee"}, {"from", NULL}}, 0,
   "objective \"{objective}\" maps afresh: for a network that is mapped choose time, energy or edp, or leave out from"},
  {"scenarios", {{"scenarios", "worst"}, {"preset", "reference"}}, 0,
   "preset reference knows one rate an axon: for the worst scenario choose preset fast, balanced or best"},
  {"scenarios", {{"scenarios", "worst"}}, STEADY,
   "the network's rates do not vary, so that none of its scenarios is the worst: give it a table of rates with columns rate:NAME, or "
   "leave the option out"},
  {"traffic_model", {{"traffic_model", "multicast"}}, COPIES,
   "the chip lets a neuron reach {target_cores} cores, and each copy of it sends a packet to each of its own: there is no tree to pay "
   "for; choose traffic_model \"unicast\", or a chip without target_cores_per_neuron"},
  {"routing", {{"routing", "xy yx west-first north-last negative-first"}}, LINKED,
   "a turn rule (option \"routing\") is for a plain mesh or torus; the interconnect of chip {chip} is \"{interconnect}\""},
  {"traffic_model", {{"traffic_model", "multicast"}}, FROM,
   "option \"from\" supports traffic_model \"unicast\" only: leave out \"from\", or set \"unicast\""},
  {"objective", {{"objective", "pareto knee"}}, FROM, "objective \"{objective}\" maps afresh: to map again choose time, energy or edp"},
  {"objective", {{"objective", "pareto knee"}}, PARTS_GIVEN,
   "objective \"{objective}\" makes parts, and here they are given: choose time, energy or edp"},
  {"levels_from", {{"levels_from", NULL}}, FROM, "option \"from\" keeps the parts that there are: leave out levels_from, or map afresh"},
  {"levels_from", {{"levels_from", NULL}}, PARTS_GIVEN, "levels_from is for parts that are made, and here they are given: leave it out"},
  {"levels_from", {{"levels_from", NULL}}, CONSTRAINED, "levels_from carries levels over without looking at constraints: leave out one of them"},
  {"levels_from", {{"levels_from", NULL}}, POPULATIONS,
   "levels_from carries over levels of whole networks, and a limit on populations_per_core takes them apart: leave it out"},
  {"levels_from", {{"levels_from", NULL}}, CLASSES,
   "levels_from carries over levels of whole networks, and core_classes take them apart: leave it out"},
  {"cores", {{"cores", NULL}}, FROM, "option \"from\" keeps the parts that there are: leave out cores, or map afresh"},
  {"cores", {{"cores", NULL}}, PARTS_GIVEN, "option cores is for parts that are made, and here they are given: leave it out"},
  {"mapper", {{"mapper", "bisection two-phase integrated auto"}}, POLICY_FILE,
   "a policy's file is for mapper \"learned\": choose that, or leave the policy out"},
  {"mapper", {{"mapper", "integrated"}}, POPULATIONS,
   "mapper \"integrated\" does not keep a limit on populations_per_core: choose \"auto\" or \"two-phase\""},
  {"mapper", {{"mapper", "bisection integrated learned"}}, CLASSES,
   "this mapper takes all cores for alike, and the chip has core_classes: choose \"auto\" or \"two-phase\""},
  {"objective", {{"objective", "pareto knee"}}, ONE_PARTITION,
   "objective \"{objective}\" is for mappings, not for one partition: choose time, energy or edp"},
  {"objective", {{"objective", OF_STEPS}}, NO_CHIP, "objective \"{objective}\" needs a chip, whose costs it counts: name one"},
  {"objective", {{"objective", OF_STEPS}}, UNDIRECTED,
   "objective \"{objective}\" counts spikes, and this network is undirected: give a directed one, or choose objective \"edge\""},
  {.at = NULL},
};

cm_status cm_combinations_of_options(const cm_map_options *options, cm_error *error)
{
  return cm_options_check(&cm_map_option_table, options, 0, NULL, error);
}

cm_status cm_combinations_of_job(const cm_map_input *input, cm_error *error)
{
  const cm_chip *chip = input->chip;
  const bool linked = cm_geometry_of(chip) == CM_BY_WAYS;
  const int facts = (input->from != NULL) * FROM + (input->part != NULL) * PARTS_GIVEN + (input->demand->scenario_count == 0) * STEADY +
                         linked * LINKED + (input->options->constraints != NULL) * CONSTRAINED + (chip->limits.neuron_target_cores != 0) * COPIES +
                         (input->policy != NULL) * POLICY_FILE;
  json_t *told = json_pack("{s:s, s:s, s:o}", "chip", chip->name, "interconnect", linked ? cm_interconnect_kind_name(chip->interconnect->kind) : "",
                           "target_cores", json_sprintf("%llu", (unsigned long long)chip->limits.neuron_target_cores));
  cm_status status = cm_options_check(&cm_map_option_table, input->options, (unsigned)facts, told, error);
  json_decref(told);
  return status;
}

cm_status cm_combinations_of_partition(const cm_map_input *input, cm_error *error)
{
  const cm_chip *chip = input->chip;
  const bool differ = cm_cores_differ(chip), populations = chip != NULL && !differ && cm_populations_limited(input->demand->network, &chip->limits);
  const int facts = ONE_PARTITION + populations * POPULATIONS + differ * CLASSES + (chip == NULL) * NO_CHIP + !input->demand->network->directed * UNDIRECTED;
  return cm_options_check(&cm_map_option_table, input->options, (unsigned)facts, NULL, error);
}
