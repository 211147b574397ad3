/* The check of one mapping file under way: its shape (check.c), then fact by fact, a file each. Nothing here is shared with the mappers,
 * the metrics or the exports. The checker owns what it has read and recomputed; what the file is checked against is the caller's. */
#pragma once

#include "core/verify/check_measure.h"
#include "core/verify/check_read.h"
#include "core/verify/check_report.h"

typedef struct cm_checker {
  const cm_check_context *given;
  cm_check_file file;
  uint32_t parts;        /* parts that the file's cores give a place */
  uint32_t *core;        /* [parts] */
  uint8_t *dead;         /* [cores of the chip] */
  bool sound;            /* parts and cores are in range: figures can be recomputed */
  cm_mapped mapped;      /* as the file has it, once it is sound */
  cm_check_truth truth;
  cm_check_result result;
} cm_checker;

#define violation(c, ...) cm_check_violation(&(c)->result, __VA_ARGS__)

/* Compares a whole number that the file states with the true one. */
void cm_checker_count(cm_checker *c, const json_t *object, const char *name, const char *label, uint64_t truth);

/* Each lists what is violated, of a sound file whose truth is known. O(parts) where nothing else is said. */
void cm_checker_limits(cm_checker *c);                               /* of cores */
cm_status cm_checker_classes(cm_checker *c, cm_error *error);        /* labels of neurons that a core's class takes; O(vertices * labels of a class) */
cm_status cm_checker_constraints(cm_checker *c, cm_error *error);    /* that the options state, and cores for pinned neurons alone */
cm_status cm_checker_populations(cm_checker *c, cm_error *error);    /* of cores; O(n log n) */
cm_status cm_checker_neuron_copies(cm_checker *c, cm_error *error);  /* which have what their neurons have; O(pins log(fan-in)) */
void cm_checker_leaving(cm_checker *c);                              /* of neurons, for other cores; O(pins) */
cm_status cm_checker_circuits(cm_checker *c, cm_error *error);       /* of links and routers; O(pins + circuits * hops) */
cm_status cm_checker_shared(cm_checker *c, cm_error *error);         /* of routers and dies; O(parts + cores) */
cm_status cm_checker_pacing(cm_checker *c, cm_error *error);         /* and takes the step that it foresees into the truth; O(neurons) */
void cm_checker_loads(cm_checker *c);                                /* what the file says of each core */
void cm_checker_metrics(cm_checker *c);                              /* and of the whole */
cm_status cm_checker_added_neurons(cm_checker *c, cm_error *error);  /* relays, by building their trees, and copies; O(pins log(fan-out)) */
cm_status cm_checker_scenarios(cm_checker *c, cm_error *error);      /* each measured; O(scenarios * measuring) */
cm_status cm_checker_facts(cm_checker *c, cm_error *error);          /* network, chip, region, bound, keys, options that parts must keep */
