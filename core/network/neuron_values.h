/* Models and parameters, given to the neurons of a network. */
#pragma once

#include "base/run.h"
#include "core/network/topology.h"

/* What is given to neurons; what a neuron is not given stays as it was, or becomes what neuron_parameters.def says. */
typedef struct cm_neuron_values {
  uint8_t *model;                         /* [vertices] CM_NEURON_MODELS: as it was, or, of inputs, INPUT */
  float *parameter[CM_NEURON_PARAMETERS]; /* each [vertices] NAN: as it was; NULL: all of them */
} cm_neuron_values;

/* Nothing is given yet. */
cm_status cm_neuron_values_open(cm_neuron_values *values, uint32_t vertices, cm_memory *memory, cm_error *error);
void cm_neuron_values_free(cm_neuron_values *values);

/* Gives it to the neurons. On failure the topology is unchanged. CM_BAD_NETWORK with neuron and number: one without a model or without
 * a parameter that must be given, one that its model has not, not finite, or not above 0 where it must be. O(vertices). */
cm_status cm_topology_set_parameters(cm_topology *topology, const cm_neuron_values *values, cm_memory *memory, cm_error *error);

/* Reads a table whose header has a column "neuron" (or "name": names, numbers where the network has none) or "population", and any of
 * "model" and the parameters' names; an empty field says nothing, and a later line prevails. Opens phase "read". CM_BAD_NETWORK with
 * the line, and as above. */
cm_status cm_parameters_read(const char *path, cm_topology *topology, cm_run *run, cm_error *error);
