/* The parts of the independent check. Nothing here is shared with the mappers, the metrics or the exports. */
#ifndef CM_VERIFY_CHECK_INTERNAL_H
#define CM_VERIFY_CHECK_INTERNAL_H

#include <stdio.h>

#include "core/verify/check.h"
#include "core/metrics/metrics.h"

/* One entry of the file's "cores". */
typedef struct cm_check_core {
  uint64_t part, x, y;
  uint64_t neurons, synapses, inbound_axons, outbound_axons, target_cores;
  double traffic_in, traffic_out;
} cm_check_core;

/* A mapping file as read: bulk in arrays, the rest as JSON. */
typedef struct cm_check_file {
  json_t *rest;           /* the object without its bulk ("neurons", "keys" and "cores" are null in it) */
  bool has_neurons, has_cores, has_keys;
  uint32_t *neuron;       /* [kept_neurons] part of each; UINT32_MAX where the number is larger than that */
  uint64_t neuron_count;  /* entries in the file; */
  uint64_t kept_neurons;  /* those kept: no more than the caller can use */
  uint64_t *key;          /* [kept_keys] who each is (core/network/identity.h) */
  uint64_t key_count, kept_keys;
  cm_check_core *core;    /* [kept_cores] */
  uint64_t core_count, kept_cores;
} cm_check_file;

/* Reads a mapping file, keeping at most so many neurons and cores. CM_BAD_MAPPING with the byte offset as place. */
cm_status cm_check_read(FILE *stream, uint64_t neurons_max, uint64_t cores_max, cm_run *run, cm_check_file *file,
                        cm_error *error);
void cm_check_file_free(cm_check_file *file);

/* Figures recomputed packet by packet; `core` is [part_count]. */
typedef struct cm_check_truth {
  cm_metrics metrics;
  double link_most, tree_link_most; /* packets over the busiest link between routers: in all, and one a net */
  double link_step_ns; /* that the busiest link takes in a step, 0 where links have no bound */
  double channel_ns;   /* that the busiest link needs for its packets, when each passes as fast as it can */
  cm_core_load *core;
} cm_check_truth;

/* Adds a sentence to the violations (result->violations has room for CM_CHECK_LISTED_MAX). */
void cm_check_violation(cm_check_result *result, bool *out_of_memory, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A comparison of JSON that is stated with what is true. */
typedef struct cm_check_comparison {
  cm_check_result *result;
  bool *out_of_memory;
  const char *what;   /* is compared: "certificate" */
  const char *except; /* a member's name that is left alone wherever it stands, NULL: none */
  bool partial;       /* members of `stated` beyond those of `truth` are no violations */
} cm_check_comparison;

/* Lists every value under `where` ("": the whole) that differs, numbers by more than cm_check_differs allows, that is
 * missing or that does not belong there, by its JSON pointer. */
void cm_check_compare(const cm_check_comparison *comparison, const char *where, const json_t *stated, const json_t *truth);

/* What a mapping file's header says beside its figures: network, chip, region, bound, keys, and the options that parts
 * must keep. `core` is [parts]; the file is sound. `network_id` may be NULL. */
cm_status cm_check_facts(const cm_check_file *file, const cm_topology *topology, const cm_chip *chip,
                         const cm_occupancy *occupancy, const char *network_id, const uint32_t *core, uint32_t parts,
                         uint64_t largest_part, cm_run *run, cm_check_result *result, bool *out_of_memory, cm_error *error);

/* Apart by more than 1e-6 of the larger one. */
bool cm_check_differs(double stated, double truth);

/* Parts and cores must be in range. O(pins + sum over flows of the rectangle between their ends). */
cm_status cm_check_measure(const cm_topology *topology, const cm_chip *chip, const uint32_t *part,
                           uint32_t part_count, const uint32_t *core, cm_run *run, cm_check_truth *truth,
                           cm_error *error);

/* Fills the figures of inputs outside the chip. O(nets), and all routers for each core where some come in. */
void cm_check_border(const cm_topology *topology, const cm_chip *chip, const uint32_t *part, const uint32_t *core,
                     cm_metrics *metrics);

/* Distinct populations of the neurons of each part: count [parts]; without populations all are of one. O(n log n). */
cm_status cm_check_measure_populations(const cm_topology *topology, const uint32_t *part, uint32_t parts, cm_run *run,
                                       uint32_t *count, cm_error *error);

/* The distinct parts that a neuron reaches by its nets, from `net` up to `end`, ascending into *reached, which is made larger where *room
 * is too little; the caller's: cm_free. O(pins log(pins)). */
cm_status cm_check_reached(const cm_topology *topology, const uint32_t *part, uint32_t net, uint32_t end, cm_run *run, uint32_t **reached,
                           uint64_t *room, uint64_t *count, cm_error *error);

/* How many of each neuron its core holds, copies included: copies [vertices]. O(pins log(fan-out)). */
cm_status cm_check_copies(const cm_topology *topology, const uint32_t *part, cm_run *run, uint32_t *copies, cm_error *error);

/* Lists what a mapping says of relays and copies (report.neurons) and is not so: relays are counted by building their trees. O(pins
 * log(fan-out)). */
cm_status cm_check_added_neurons(const cm_check_file *file, const cm_topology *topology, const cm_chip *chip, cm_run *run,
                                 cm_check_result *result, bool *out_of_memory, cm_error *error);

/* Lists parts on cores of a class that does not take the label of some of their neurons. O(vertices * labels of a class). */
cm_status cm_check_classes(const cm_topology *topology, const cm_chip *chip, const uint32_t *part, uint32_t parts, const uint32_t *core,
                           cm_run *run, cm_check_result *result, bool *out_of_memory, cm_error *error);

/* The limits of a core: its class's, or the chip's. */
const cm_limits *cm_check_limits_at(const cm_chip *chip, uint32_t core);

/* Fills the figures of a time step into truth->metrics, whose loads are there. O(pins log(fan-out) + parts). */
cm_status cm_check_step(const cm_topology *topology, const cm_chip *chip, const uint32_t *part, uint32_t part_count,
                        const uint32_t *core, cm_run *run, cm_check_truth *truth, cm_error *error);

/* The figures of a mapping in one scenario of its network; truth->core is the caller's. */
cm_status cm_check_scenario_truth(const cm_topology *topology, uint32_t scenario, const cm_chip *chip, const uint32_t *part,
                                  const uint32_t *core, uint32_t parts, cm_run *run, cm_check_truth *truth, cm_error *error);

/* What a mapping file says of its network's scenarios. `core` is [parts]; the file is sound. O(scenarios * measuring). */
cm_status cm_check_scenarios(const cm_check_file *file, const cm_topology *topology, const cm_chip *chip, const uint32_t *core,
                             uint32_t parts, cm_run *run, cm_check_result *result, bool *out_of_memory, cm_error *error);

/* Whether a sentence (step_limit) names something that takes as long as the step, with figures that fit. O(parts). */
bool cm_check_step_limit(const cm_chip *chip, const uint32_t *core, uint32_t parts, const cm_check_truth *truth,
                         const char *sentence);

#endif
