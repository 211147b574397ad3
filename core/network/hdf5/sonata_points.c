/* Point neurons of SONATA circuits: NEST's iaf_psc_delta as a LIF that steps as NEST does, by semantics exact and the simulation's dt alone: v from E_L on,
 * r so that a synapse adds its weight at once. Other models, and numbers that no LIF has, leave the network without parameters. What can fail: memory. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "core/network/hdf5/sonata_circuit.h"

const sonata_node_type *sonata_node_type_find(const sonata_files *c, uint64_t id)
{
  for (uint64_t i = 0; i < c->node_types; i++)
    if (c->node_type[i].id == id)
      return &c->node_type[i];
  return NULL;
}

static const cm_neuron_parameter used[SONATA_POINT] = {CM_PARAMETER_TAU,     CM_PARAMETER_R,    CM_PARAMETER_V_THRESHOLD,
                                                       CM_PARAMETER_V_RESET, CM_PARAMETER_BIAS, CM_PARAMETER_REFRACTORY};

/* What the file says, else NEST's default. */
static double number(const json_t *all, const char *name, double otherwise)
{
  const json_t *said = json_object_get(all, name);
  return json_is_number(said) ? json_number_value(said) : otherwise;
}

static void take_parameters(const json_t *all, double step_ms, sonata_node_type *type)
{
  static const double ms = 1e-3;
  const double tau = number(all, "tau_m", 10), capacity = number(all, "C_m", 250), rest = number(all, "E_L", -70),
               left = exp(-step_ms / tau);
  const double value[SONATA_POINT] = {tau * ms, 1 / (1 - left), number(all, "V_th", -55) - rest, number(all, "V_reset", -70) - rest,
                                      number(all, "I_e", 0) * tau / capacity * (1 - left), number(all, "t_ref", 2) * ms};
  type->known = tau > 0 && capacity > 0 && number(all, "V_m", rest) == rest && json_object_get(all, "V_min") == NULL &&
                !json_is_true(json_object_get(all, "refractory_input"));
  for (size_t i = 0; i < SONATA_POINT; i++) {
    type->value[i] = (float)value[i];
    type->known = type->known && cm_neuron_allows(CM_NEURON_LIF, used[i], type->value[i]);
  }
}

cm_status sonata_point_read(sonata_files *c, sonata_node_type *type, cm_error *error)
{
  uint64_t member;
  cm_error missing;
  if (!type->delta || type->dynamics[0] == '\0' || c->step_ms <= 0 || sonata_member_find(c, type->dynamics, &member, &missing) != CM_OK)
    return CM_OK;
  CM_TRY(sonata_member_open(c, member, error));
  const uint64_t refusals = cm_json_refusals();
  json_t *json = cm_json_loadb(c->image, c->image_size, 0, NULL);
  if (json_is_object(json))
    take_parameters(json, c->step_ms, type);
  c->points = c->points || type->known;
  json_decref(json);
  sonata_member_close(c);
  return cm_json_whole(refusals, type->dynamics, error);
}

/* ---- neurons ---- */

cm_status sonata_points_open(sonata_files *c, cm_error *error)
{
  const uint32_t neurons = c->s->made->vertex_count;
  CM_TRY(cm_neuron_values_open(&c->values, neurons, c->s->memory, error));
  for (size_t i = 0; i < SONATA_POINT; i++) {
    CM_TRY(CM_NEW(c->s->memory, c->values.parameter[used[i]], neurons, error));
    for (uint32_t v = 0; v < neurons; v++)
      c->values.parameter[used[i]][v] = NAN;
  }
  return CM_OK;
}

static void give(sonata_files *c, uint64_t v, const sonata_node_type *type)
{
  c->values.model[v] = CM_NEURON_LIF;
  for (size_t i = 0; i < SONATA_POINT; i++)
    c->values.parameter[used[i]][v] = type->value[i];
}

cm_status sonata_points_take(sonata_files *c, hid_t group, const char *name, cm_error *error)
{
  enum { SLICE = 1 << 16 };
  sonata *s = c->s;
  uint32_t p = 0;
  while (p < s->made->population_count && strcmp(s->made->population[p].name, name) != 0)
    p++;
  if (p == s->made->population_count)
    return CM_OK; /* left out */
  const bool input = strcmp(s->made->population[p].kind, CM_INPUT_KIND) == 0;
  for (uint64_t at = 0; at < s->ids[p] && !c->unknown; at += SLICE) {
    const uint64_t here = s->ids[p] - at < SLICE ? s->ids[p] - at : SLICE;
    CM_TRY(cm_h5_slice(&s->h5, group, "node_type_id", H5T_NATIVE_UINT64, at, here, s->source, error));
    for (uint64_t i = 0; i < here; i++) {
      const sonata_node_type *type = sonata_node_type_find(c, s->source[i]);
      if (input)
        c->values.model[s->first[p] + at + i] = CM_NEURON_INPUT;
      else if (type != NULL && type->known)
        give(c, s->first[p] + at + i, type);
      else
        c->unknown = true;
    }
  }
  return CM_OK;
}

cm_status sonata_points_set(sonata_files *c, cm_error *error)
{
  cm_topology *made = c->s->made;
  bool some = false;
  for (uint32_t v = 0; v < made->vertex_count && !some; v++)
    some = c->values.model[v] == CM_NEURON_LIF;
  if (!some || c->unknown)
    return CM_OK;
  char kind[48];
  (void)snprintf(kind, sizeof kind, "iaf_psc_delta %.6g ms", c->step_ms);
  for (uint32_t p = 0; p < made->population_count; p++)
    if (strcmp(made->population[p].kind, CM_INPUT_KIND) != 0)
      (void)snprintf(made->population[p].kind, CM_POPULATION_KIND_MAX, "%.*s", CM_POPULATION_KIND_MAX - 1, kind);
  return cm_topology_set_parameters(made, &c->values, c->s->memory, error);
}
