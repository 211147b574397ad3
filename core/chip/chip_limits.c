/* Reads and prints what a core holds at most. What can fail: fields that contradict each other, numbers out of range. */
#include <inttypes.h>

#include "core/chip/chip_read.h"
#include "core/chip/json.h"

#define LIMIT_MAX (INT64_C(1) << 53)
enum { ITEM_BITS_MAX = 65536 };

/* Fields of a file, in the order of `value` below. */
enum { NEURONS, SYNAPSES, SYNAPSE_BITS, BITS_PER_SYNAPSE, INBOUND, OUTBOUND, TARGETS, SOURCES, POPULATIONS, MEMORY_BITS, BITS_PER_NEURON,
       BITS_PER_AXON, FAN_IN, NEURON_TARGETS, NEAR, FAR, FIELDS };
static const char *const names[FIELDS + 1] = {"neurons", "synapses", "synapse_bits", "bits_per_synapse", "inbound_axons",
                                              "outbound_axons", "target_cores", "source_cores", "populations_per_core", "memory_bits",
                                              "bits_per_neuron", "bits_per_inbound_axon", "fan_in_per_neuron",
                                              "target_cores_per_neuron", "near_synapses_per_neuron", "far_synapses_per_neuron", NULL};

static cm_status refuse(const char *where, const char *field, const char *what, cm_error *error)
{
  char place[128];
  (void)snprintf(place, sizeof place, "%s/%s", where, field);
  return cm_chip_bad(error, place, what);
}

/* Which fields go together. */
static cm_status check(const int64_t value[FIELDS], const char *where, cm_error *error)
{
  bool memory = value[MEMORY_BITS] != 0, bits = value[SYNAPSE_BITS] != 0, each = value[BITS_PER_SYNAPSE] != 0;
  if (value[SYNAPSES] != 0 && (bits || (each && !memory)))
    return refuse(where, "synapse_bits", "give either synapses, or synapse_bits and bits_per_synapse", error);
  if (memory && !each && value[BITS_PER_NEURON] == 0 && value[BITS_PER_AXON] == 0)
    return refuse(where, "memory_bits", "needs bits_per_neuron, bits_per_synapse or bits_per_inbound_axon: what it holds", error);
  if (!memory && (value[BITS_PER_NEURON] != 0 || value[BITS_PER_AXON] != 0))
    return refuse(where, "memory_bits", "missing; bits_per_neuron and bits_per_inbound_axon are taken from it", error);
  if (bits ? !each : each && !memory)
    return refuse(where, bits ? "bits_per_synapse" : "synapse_bits", "missing; synapse_bits and bits_per_synapse go together", error);
  if (bits && (value[BITS_PER_SYNAPSE] > UINT32_MAX || value[BITS_PER_SYNAPSE] > value[SYNAPSE_BITS]))
    return refuse(where, "bits_per_synapse", "larger than synapse_bits: no synapse would fit", error);
  return CM_OK;
}

cm_status cm_limits_read(const json_t *object, const char *where, cm_limits *limits, uint32_t *bits_per_synapse, cm_error *error)
{
  int64_t value[FIELDS] = {0};
  if (object == NULL)
    return CM_OK;
  if (!json_is_object(object))
    return cm_chip_bad(error, where, "expected an object");
  cm_status status = cm_json_known_fields(object, where, names, CM_BAD_CHIP, error);
  for (int i = 0; status == CM_OK && i < FIELDS; i++) {
    char place[128];
    const json_t *number = json_object_get(object, names[i]);
    bool item = i == BITS_PER_NEURON || i == BITS_PER_AXON || (i == BITS_PER_SYNAPSE && json_object_get(object, "memory_bits") != NULL);
    (void)snprintf(place, sizeof place, "%s/%s", where, names[i]);
    /* A limit that is given is at least 1; "no limit" is said by leaving it out. */
    if (number != NULL)
      status = cm_chip_read_whole(number, place, i == FAN_IN ? 2 : 1, item ? ITEM_BITS_MAX : LIMIT_MAX, &value[i], error);
  }
  CM_THEN(status, check(value, where, error));
  CM_TRY(status);
  bool bits = value[SYNAPSE_BITS] != 0, memory = value[MEMORY_BITS] != 0;
  *bits_per_synapse = bits ? (uint32_t)value[BITS_PER_SYNAPSE] : 0;
  *limits = (cm_limits){
    .neurons = (uint64_t)value[NEURONS],
    .synapses = (uint64_t)(bits ? value[SYNAPSE_BITS] / value[BITS_PER_SYNAPSE] : value[SYNAPSES]),
    .memory_bits = (uint64_t)value[MEMORY_BITS],
    .synapse_bits = memory ? (uint32_t)value[BITS_PER_SYNAPSE] : 0,
    .neuron_bits = (uint32_t)value[BITS_PER_NEURON],
    .axon_bits = (uint32_t)value[BITS_PER_AXON],
    .inbound_axons = (uint64_t)value[INBOUND],
    .outbound_axons = (uint64_t)value[OUTBOUND],
    .target_cores = (uint64_t)value[TARGETS],
    .source_cores = (uint64_t)value[SOURCES],
    .populations = (uint64_t)value[POPULATIONS],
    .fan_in = (uint64_t)value[FAN_IN],
    .neuron_target_cores = (uint64_t)value[NEURON_TARGETS],
    .near_synapses = (uint64_t)value[NEAR],
    .far_synapses = (uint64_t)value[FAR],
  };
  return CM_OK;
}

json_t *cm_limits_json(const cm_limits *limits, uint32_t bits_per_synapse)
{
  const uint64_t value[FIELDS] = {
    [NEURONS] = limits->neurons,
    [SYNAPSES] = bits_per_synapse == 0 ? limits->synapses : 0,
    [SYNAPSE_BITS] = limits->synapses * bits_per_synapse,
    [BITS_PER_SYNAPSE] = bits_per_synapse != 0 ? bits_per_synapse : limits->synapse_bits,
    [INBOUND] = limits->inbound_axons,
    [OUTBOUND] = limits->outbound_axons,
    [TARGETS] = limits->target_cores,
    [SOURCES] = limits->source_cores,
    [POPULATIONS] = limits->populations,
    [MEMORY_BITS] = limits->memory_bits,
    [BITS_PER_NEURON] = limits->neuron_bits,
    [BITS_PER_AXON] = limits->axon_bits,
    [FAN_IN] = limits->fan_in,
    [NEURON_TARGETS] = limits->neuron_target_cores,
    [NEAR] = limits->near_synapses,
    [FAR] = limits->far_synapses,
  };
  static const int order[FIELDS] = {NEURONS, SYNAPSES, SYNAPSE_BITS, MEMORY_BITS, BITS_PER_NEURON, BITS_PER_SYNAPSE, BITS_PER_AXON,
                                    INBOUND, OUTBOUND, TARGETS, SOURCES, POPULATIONS, FAN_IN, NEURON_TARGETS, NEAR, FAR};
  json_t *object = json_object();
  int failed = object == NULL;
  for (int i = 0; i < FIELDS && !failed; i++)
    if (value[order[i]] != 0)
      failed = json_object_set_new(object, names[order[i]], json_integer((json_int_t)value[order[i]]));
  if (failed) {
    json_decref(object);
    return NULL;
  }
  return object;
}

cm_status cm_shared_limits_read(const json_t *root, const char *field, cm_limits *limits, cm_error *error)
{
  static const char *const shared[] = {"synapses", "inbound_axons", "outbound_axons", NULL};
  const json_t *object = json_object_get(root, field);
  uint32_t none;
  char where[64];
  (void)snprintf(where, sizeof where, "/%s", field);
  if (json_is_object(object) && json_object_size(object) == 0)
    return cm_chip_bad(error, where, "expected synapses, inbound_axons or outbound_axons");
  if (json_is_object(object) && cm_json_known_fields(object, where, shared, CM_BAD_CHIP, error) != CM_OK)
    return error->status;
  return cm_limits_read(object, where, limits, &none, error);
}

json_t *cm_shared_limits_json(const cm_limits *limits)
{
  return limits->synapses + limits->inbound_axons + limits->outbound_axons == 0 ? NULL : cm_limits_json(limits, 0);
}
