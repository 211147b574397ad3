/* Options of mappings, read, written and checked, and their fields; docs/reference/options.md describes each to users. */
#pragma once

#include <jansson.h>

#include "base/option.h"
#include "core/mapping/input.h"
#include "core/spiking/profile_request.h"

/* Numbered by the rows of the table. */
#define PRESET(number, ...) CM_PRESET_##number,
typedef enum cm_preset {
#include "core/mapping/presets.def"
  CM_PRESETS
} cm_preset;
#undef PRESET

/* What is known of a preset beside what it spends (core/solver/presets.h). */
typedef struct cm_preset_facts {
  const char *name;
  bool edge_alone;  /* a published method to the letter, which is one for objective edge */
  uint32_t regions; /* unless the job says; as its option of this name */
  /* What a job takes on the machine that it was measured on, ns a synapse, in the cheapest case; synapses of a neuron, beyond which
   * further ones cost next to nothing. Both above 0. */
  double synapse_ns, synapses_max;
  /* What it takes there as a rule, within a factor of four: seconds of a small job, ns a neuron or synapse more. Both above 0. */
  double least_s, element_ns;
} cm_preset_facts;

/* AUTO: what suits preset and network (cm_objective_resolve). */
typedef enum cm_objective {
  CM_OBJECTIVE_EDGE,
  CM_OBJECTIVE_AXON,
  CM_OBJECTIVE_TIME,
  CM_OBJECTIVE_ENERGY,
  CM_OBJECTIVE_EDP,
  CM_OBJECTIVE_PARETO, /* several mappings between time and energy */
  CM_OBJECTIVE_KNEE,   /* edp on the fewest cores that come near the least */
  CM_OBJECTIVE_AUTO
} cm_objective;
/* Of a network whose rates vary: what counts is the mean over its scenarios, or the worst of them. */
typedef enum cm_scenario_aim { CM_SCENARIOS_MEAN, CM_SCENARIOS_WORST } cm_scenario_aim;
/* AUTO: what suits preset and objective. */
typedef enum cm_mapper {
  CM_MAPPER_BISECTION,
  CM_MAPPER_TWO_PHASE,
  CM_MAPPER_INTEGRATED,
  CM_MAPPER_LEARNED,
  CM_MAPPER_AUTO
} cm_mapper;
/* What a placement pays for: every core that an axon reaches by a packet of its own, or the union of the routes. */
typedef enum cm_traffic_model { CM_UNICAST, CM_MULTICAST } cm_traffic_model;
/* Which policy: that of cm_shipped_policy with the same number, where there is one. */
typedef enum cm_policy_choice {
  CM_POLICY_LAYOUT,
  CM_POLICY_LETTER_SHARED,
  CM_POLICY_LETTER_PLANE,
  CM_POLICY_PILOT,
  CM_POLICY_LETTER /* none ships: it is trained on the job's graph */
} cm_policy_choice;
enum { CM_POLICY_REFINED_AUTO = 2 }; /* off for the letters, else on */
/* Readings of the letter: what a node's Gaussians lie over, and who chooses. */
typedef enum cm_policy_axes { CM_POLICY_OVER_PLANE, CM_POLICY_OVER_ORDER } cm_policy_axes;
typedef enum cm_policy_chooser { CM_POLICY_BY_NODE, CM_POLICY_BY_CORE } cm_policy_chooser;
/* What refinement after a policy is for. */
typedef enum cm_policy_objective { CM_POLICY_FOR_HOPS, CM_POLICY_FOR_REWARD } cm_policy_objective;

/* auto: the chip's own routing; the others as in cm_turn_rule, plus 1. */
enum { CM_ROUTES_AUTO = 0 };
typedef enum cm_route_model { CM_ROUTES_MULTICAST, CM_ROUTES_UNICAST } cm_route_model;

/* What inputs of a network are: neurons that take room on a core and pass spikes on, or axons from the chip's border. */
typedef enum cm_inputs_choice { CM_INPUTS_RELAY, CM_INPUTS_OUTSIDE } cm_inputs_choice;

enum { CM_FROM_MAX = 80 };

struct cm_map_options {
  uint32_t preset;    /* cm_preset */
  uint32_t objective; /* cm_objective */
  uint32_t mapper;    /* cm_mapper */
  uint32_t traffic_model; /* cm_traffic_model */
  uint64_t seed, coarsening_seed, placement_seed;
  uint32_t parts; /* 0: the core limits decide */
  uint32_t cores; /* that may be used; 0: all that are free */
  double imbalance;
  double step_budget_ns; /* objective energy: the busiest core takes so long at most; 0: as long as it likes */
  uint32_t scenarios;     /* cm_scenario_aim */
  uint64_t max_part_size; /* 0: the chip's neuron limit alone */
  uint32_t coarsening_share, coarsening_tries;
  double coarsening_stop;
  uint32_t matching; /* cm_matching */
  char levels_from[CM_FROM_MAX]; /* id of the network that this one was edited from, "": none */
  uint32_t bisection_tries, refinement_passes;
  double force_fraction;
  uint32_t force_passes;
  uint32_t capacity_tries; /* tries with smaller and smaller capacity, the first counted */
  uint32_t inputs;               /* cm_inputs_choice */
  uint32_t routing, route_model; /* CM_ROUTES_AUTO or cm_turn_rule plus 1; cm_route_model */
  uint32_t policy;               /* cm_policy_choice */
  uint32_t policy_refinement;    /* 0: what the policy says stays as it is */
  uint32_t policy_objective;     /* cm_policy_objective */
  uint64_t policy_draws;         /* that the letter is trained on; 0: as the preset says */
  uint32_t policy_axes, policy_chooser; /* cm_policy_axes, cm_policy_chooser */
  uint32_t policy_distance;      /* cm_distance */
  double policy_fault_weight;    /* of the tolerance of faults in the reward; 0: none */
  uint32_t baseline;             /* 1: a remapping is compared with a fresh mapping */
  char from[CM_FROM_MAX];        /* id of the mapping to start from, "": none */
  uint32_t profile, profile_windows; /* steps that the network runs before, for rates; 0: it does not; windows of them that are scenarios */
  cm_running running;                /* how */
  json_t *constraints;               /* docs/reference/constraints.md; its own; NULL: none */
  uint64_t regions; /* candidates that are placed on and compared; 0: the source's box alone */
  /* These never change a result: */
  uint32_t threads;
  uint64_t memory_limit; /* bytes, 0: none */
  double time_limit;     /* seconds, 0: none */
};

/* Reads job options from a JSON object (NULL: all defaults). Unknown names and values out of range are
 * CM_BAD_OPTION with a JSON pointer as place ("/options/preset"). The caller frees with
 * cm_map_options_free. `seed`, `threads`, `memory_limit` and `time_limit` are among them; docs/reference/options.md lists all. */
cm_status cm_map_options_parse(const json_t *json, cm_map_options **options, cm_error *error);
void cm_map_options_free(cm_map_options *options);

/* The options, in the order of docs/reference/options.md. */
extern const cm_options cm_map_option_table;

/* The options as resolved, as a new JSON object, without `threads`, `memory_limit` and `time_limit`, which never change
 * a result: equal objects mean equal mappings of equal inputs. NULL when out of memory. */
json_t *cm_map_options_shaping_json(const cm_map_options *options);

/* The id of the mapping to start from (option "from"), NULL: none. */
const char *cm_map_options_from(const cm_map_options *options);

/* Lets the inputs be what option "inputs" says: to be called before cm_map and whatever else is handed the demand. Errors as
 * cm_demand_set_outside. */
cm_status cm_map_options_set_inputs(const cm_map_options *options, cm_demand *demand, cm_memory *memory, cm_error *error);

/* The same for a mapping that is there: `summary` is its file without bulk. */
cm_status cm_mapping_set_inputs(const json_t *summary, cm_demand *demand, cm_memory *memory, cm_error *error);

/* Sets seed, threads, deadline and memory limit of a run from the options. */
void cm_map_options_apply(const cm_map_options *options, cm_run *run);

/* Whether an objective is about what chips charge for a step. */
static inline bool cm_objective_is_of_steps(cm_objective objective)
{
  return objective == CM_OBJECTIVE_TIME || objective == CM_OBJECTIVE_ENERGY || objective == CM_OBJECTIVE_EDP ||
         objective == CM_OBJECTIVE_PARETO || objective == CM_OBJECTIVE_KNEE;
}

const cm_preset_facts *cm_preset_facts_of(cm_preset preset);

/* Whether a preset has a method for an objective, which is not AUTO. */
static inline bool cm_preset_serves(cm_preset preset, cm_objective objective)
{
  return objective == CM_OBJECTIVE_EDGE || !cm_preset_facts_of(preset)->edge_alone;
}

/* The objective of a job: the one that was chosen; else `edge` for preset reference, for undirected networks, for a
 * fixed number of parts and where cores have no limits, and `axon` for everything else. */
cm_objective cm_objective_resolve(const struct cm_map_options *options, bool directed, bool limited);

/* "edge", "axon", ... */
const char *cm_objective_name(cm_objective objective);

/* A job with some of its options, or its network, replaced; the job itself is never written to. */
typedef struct cm_variant {
  struct cm_map_options options;
  cm_map_input input;
} cm_variant;

/* The variant's input, which has the variant's options; both are the job's at first. */
static inline cm_map_input *cm_vary(const cm_map_input *job, cm_variant *variant)
{
  variant->options = *job->options;
  variant->input = *job;
  variant->input.options = &variant->options;
  return &variant->input;
}
