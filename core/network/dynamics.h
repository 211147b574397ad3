/* What makes a network run: the model and the parameters of every neuron, and the synapses' own weights. Kept from the file beside
 * what mapping reads; nothing of it changes a mapping. Units and equations as in NIR: times in seconds, all else without a unit.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cm_neuron_model {
#define MODEL(number, name, spikes, has) CM_NEURON_##number,
#include "core/network/neuron_models.def"
#undef MODEL
  CM_NEURON_MODELS
} cm_neuron_model;

typedef enum cm_neuron_parameter {
#define PARAMETER(number, name, nir, unit, otherwise, least, about) CM_PARAMETER_##number,
#include "core/network/neuron_parameters.def"
#undef PARAMETER
  CM_NEURON_PARAMETERS
} cm_neuron_parameter;

typedef struct cm_neuron_model_row {
  const char *name;
  bool spikes;  /* false: v is what it sends, in every step */
  uint32_t has; /* bit p: it has parameter p */
} cm_neuron_model_row;
extern const cm_neuron_model_row cm_neuron_models[CM_NEURON_MODELS];

typedef struct cm_neuron_parameter_row {
  const char *name, *nir_name; /* nir_name: NULL or its other name in NIR */
  const char *unit;            /* "s" or "" */
  float otherwise;             /* where nothing says it; NAN: it must be given */
  bool positive;               /* it must be above 0 */
  bool rare;                   /* it is 0 or more, and its array is there only where it is above 0 for a neuron */
  const char *about;
} cm_neuron_parameter_row;
extern const cm_neuron_parameter_row cm_neuron_parameters[CM_NEURON_PARAMETERS];

/* A synapse beside the first of its pin: of the same two neurons, with another delay. */
typedef struct cm_parallel_synapse {
  uint64_t pin;
  float weight;
  uint32_t delay; /* in units of delay_unit_ns */
} cm_parallel_synapse;

typedef struct cm_dynamics {
  uint8_t *model;                         /* [vertex_count] cm_neuron_model; NULL: none is known, only synapses are kept */
  float *parameter[CM_NEURON_PARAMETERS]; /* each [vertex_count]; NULL: no neuron's model has it. 0 where a neuron's model has it not */
  float *weight;                 /* [pin_count] with sign, in the order of topology->pin, of the pin's first synapse, that of the
                                    least delay, which pin_delay says; NULL: what pin_weight says is exact */
  cm_parallel_synapse *parallel; /* [parallel_count] ascending by pin, then delay */
  uint64_t parallel_count;
  char *nodes;      /* the NIR graph that the network was read from, as JSON (hdf5/nir_nodes.c); NULL: none */
  float *number;    /* [number_count] its long arrays, one after another */
  uint64_t number_count;
} cm_dynamics;

/* Frees it and its arrays; NULL is allowed. */
void cm_dynamics_free(cm_dynamics *dynamics);

/* Whether a model has a parameter, and whether a value of it can be: finite, and 0 or above where it must be. Of what has no state any
 * threshold can. */
bool cm_neuron_has(cm_neuron_model model, cm_neuron_parameter parameter);
bool cm_neuron_allows(cm_neuron_model model, cm_neuron_parameter parameter, float value);

/* The row of a name, in any case; CM_NEURON_MODELS, CM_NEURON_PARAMETERS: there is none. */
cm_neuron_model cm_neuron_model_find(const char *name, size_t length);
cm_neuron_parameter cm_neuron_parameter_find(const char *name, size_t length);
