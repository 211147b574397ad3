#include "core/simulate/simulate_request.h"

#include "core/simulate/frames.h"

enum { THREADS_MAX = 1024, BUFFERS_MAX = 1 << 20, STEPS_MAX = 100000, FRAMES = 32 };

#define FIELD(name) offsetof(cm_simulate_request, name)
static const double most_bytes = 1152921504606846976.0; /* 2^60 */

static const cm_option options_of_simulations[] = {
  {"mapping", CM_OPTION_NAME, FIELD(mapping), 0, CM_SIMULATE_MAPPING_MAX, 0, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "the mapping whose packets move"},
  {"steps", CM_OPTION_COUNT, FIELD(options.steps), 1, STEPS_MAX, 1, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "time steps, each from rest; 1 unless given, none with load or saturation"},
  {"spikes", CM_OPTION_OWN, FIELD(spikes), 0, 0, 0, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "neurons that fire, a line STEP,NEURON each, steps from 0, all steps of it unless steps says otherwise; unless given, at random by their rates", .own = &cm_option_of_spikes},
  {"spike_ids", CM_OPTION_WORD, FIELD(spike_ids), 0, 0, CM_SPIKE_IDS_AUTO, {"auto", "name", "position"}, NULL, false, CM_SHAPES_BOTH,
   .about = "what NEURON is; auto (unless given): a name, and a number a position where none is named by one"},
  {"spike_step_ms", CM_OPTION_POSITIVE, FIELD(spike_step_ms), 0, 1e9, 1, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "milliseconds of a time step where spikes have times (columns time_ms, timestamps); 1 unless given"},
  {"function", CM_OPTION_FLAG, FIELD(function), 0, 1, 0, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "spikes are what a run of the mapping's images gives, in the chip's steps; those given are of inputs"},
#define RUNNING(name) FIELD(running.name)
#define RUNNING_SPIKES
#include "core/spiking/running_options.def"
#undef RUNNING_SPIKES
#undef RUNNING
  {"load", CM_OPTION_POSITIVE, FIELD(options.load), 0, 1e9, 0, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "a steady stream of X steps a ns: latencies under load"},
  {"saturation", CM_OPTION_FLAG, FIELD(options.saturation), 0, 1, 0, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "the highest load that the network carries, and latencies up to it"},
  {"traffic_model", CM_OPTION_EITHER, FIELD(options.multicast), 0, 1, 0, {"unicast", "multicast"}, NULL, false, CM_SHAPES_BOTH,
   .about = "unicast (unless given): a packet a target core; multicast: copied where ways part", .was = "communication"},
  {"buffers", CM_OPTION_COUNT, FIELD(options.buffers), 1, BUFFERS_MAX, 16, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "packets that an input of a router or core holds; 16 unless given"},
  {"packets", CM_OPTION_LONG_COUNT, FIELD(options.packets), 1000, 1099511627776.0, 200000, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "length of a stream; 200000 unless given"},
  {"frames", CM_OPTION_COUNT, FIELD(options.frames), 0, CM_FRAMES_MAX, FRAMES, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "count what passes each router in the first step in so many frames of time at most; 32 unless given"},
  {"seed", CM_OPTION_LONG_COUNT, FIELD(options.seed), 0, CM_OPTION_WHOLE_MOST, 1, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "which neurons fire when; 1 unless given"},
  {"scenario", CM_OPTION_NAME, FIELD(options.scenario), 0, CM_SCENARIO_NAME_MAX, 0, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "of a network whose rates vary over time: by the rates of this scenario; by their mean unless given"},
  {"threads", CM_OPTION_COUNT, FIELD(threads), 1, THREADS_MAX, THREADS_MAX, {0}, NULL, true, CM_SHAPES_BOTH,
   .about = "at most; never changes the result"},
  {"memory_limit", CM_OPTION_BYTES, FIELD(memory_limit), 0, most_bytes, 0, {0}, NULL, true, CM_SHAPES_BOTH, .about = "or 512M, 2G"},
  {"time_limit", CM_OPTION_POSITIVE, FIELD(time_limit), 0, 1e9, 0, {0}, NULL, true, CM_SHAPES_BOTH, .about = "seconds"},
};
#define NOT_STREAM "spikes are given for time steps, and load and saturation go by the network's rates: leave one out"
static const cm_option_rule rules[] = {
  {"mapping", {{NULL, NULL}}, CM_SIMULATE_UNDIRECTED, "the network is undirected: only directed networks send spikes to simulate"},
  {"traffic_model", {{"traffic_model", "multicast"}}, CM_SIMULATE_COPIES,
   "the chip lets a neuron reach {target_cores} cores, and each copy of it sends a packet to each of its own: choose traffic_model \"unicast\""},
  {"spikes", {{"load", NULL}}, CM_SIMULATE_SPIKES, NOT_STREAM},
  {"spikes", {{"saturation", NULL}}, CM_SIMULATE_SPIKES, NOT_STREAM},
  {.at = NULL},
};
const cm_options cm_simulate_option_table = {options_of_simulations, sizeof options_of_simulations / sizeof *options_of_simulations,
                                             "a simulation", rules};

cm_status cm_simulate_options_read(const json_t *options, cm_simulate_request *request, cm_error *error)
{
  cm_simulate_request r = {.options = cm_simulate_defaults};
  cm_options_default(&cm_simulate_option_table, &r);
  CM_TRY(cm_options_read(&cm_simulate_option_table, options, &r, error));
  const unsigned facts = cm_spikes_are_given(&r.spikes) || r.function ? CM_SIMULATE_SPIKES : 0;
  CM_TRY(cm_options_check(&cm_simulate_option_table, &r, facts, NULL, error));
  if (r.function && json_object_get(options, "steps") == NULL)
    return cm_option_refuse(error, "steps", "how many time steps the network runs");
  if (!r.function && (r.running.dt > 0 || r.running.poisson > 0 || json_object_get(options, "semantics") != NULL))
    return cm_option_refuse(error, "function", "true where semantics, dt or poisson say how the network runs");
  CM_TRY(cm_running_check(&r.running, error));
  if (json_object_get(options, "steps") == NULL && (r.options.load > 0 || r.options.saturation))
    r.options.steps = 0;
  *request = r;
  return CM_OK;
}
