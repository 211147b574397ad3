/* Point neurons of SONATA circuits, as neurons that step as their simulator does with the simulation's dt alone. By semantics exact: NEST's
 * iaf_psc_delta and NEURON's IntFire1 as a LIF, v from E_L on, r so that a synapse adds its weight at once. By snntorch: NEST's iaf_psc_exp as a
 * CubaLIF whose taus leave by Euler what its exponentials do, and whose synapses act a step later, as NEST's currents do on v. Other models, circuits of
 * several and numbers that no such neuron has leave the network without parameters. What can fail: memory. */
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

const char *const sonata_point_names[SONATA_POINTS] = {"", "nest:iaf_psc_delta", "nest:iaf_psc_exp", "nrn:IntFire1"};

enum { TAU, R, THRESHOLD, RESET, REFRACTORY, BIAS, TAU_SYN, W_IN, LEAK };

static const cm_neuron_parameter used[SONATA_POINT] = {
  [TAU] = CM_PARAMETER_TAU,   [R] = CM_PARAMETER_R,             [THRESHOLD] = CM_PARAMETER_V_THRESHOLD, [RESET] = CM_PARAMETER_V_RESET, [REFRACTORY] = CM_PARAMETER_REFRACTORY,
  [BIAS] = CM_PARAMETER_BIAS, [TAU_SYN] = CM_PARAMETER_TAU_SYN, [W_IN] = CM_PARAMETER_W_IN,             [LEAK] = CM_PARAMETER_V_LEAK};

static uint8_t model_of(sonata_point point)
{
  return point == SONATA_PSC_EXP ? CM_NEURON_CUBALIF : CM_NEURON_LIF;
}

/* What the file says, else NEST's default. */
static double number(const json_t *all, const char *name, double otherwise)
{
  const json_t *said = json_object_get(all, name);
  return json_is_number(said) ? json_number_value(said) : otherwise;
}

/* NEST's, times in ms. What its exponentials leave after a step is what Euler leaves with a tau of step / (1 - left). */
static bool take_nest(const json_t *all, double step_ms, bool current, double value[SONATA_POINT])
{
  static const double ms = 1e-3, near = 1e-9;
  const double tau = number(all, "tau_m", 10), capacity = number(all, "C_m", 250), rest = number(all, "E_L", -70), constant = number(all, "I_e", 0) * tau / capacity,
               tau_syn = number(all, "tau_syn_ex", 2), left = exp(-step_ms / tau), left_syn = exp(-step_ms / tau_syn);
  value[THRESHOLD] = number(all, "V_th", -55) - rest;
  value[RESET] = number(all, "V_reset", -70) - rest;
  value[REFRACTORY] = number(all, "t_ref", 2) * ms;
  value[TAU] = (current ? step_ms / (1 - left) : tau) * ms;
  if (current) {
    const double coupling = fabs(tau - tau_syn) > near * tau ? tau_syn / (tau_syn - tau) * (left_syn - left) : step_ms / tau * left;
    value[R] = coupling * tau / capacity / (1 - left);
    value[TAU_SYN] = step_ms / (1 - left_syn) * ms;
    value[W_IN] = 1 / (1 - left_syn);
    value[LEAK] = constant;
  } else {
    value[R] = 1 / (1 - left);
    value[BIAS] = constant * (1 - left);
  }
  return tau > 0 && capacity > 0 && number(all, "V_m", rest) == rest && json_object_get(all, "V_min") == NULL && !json_is_true(json_object_get(all, "refractory_input")) &&
         (!current || (tau_syn > 0 && number(all, "tau_syn_in", 2) == tau_syn && number(all, "delta", 0) == 0));
}

/* NEURON's IntFire1, times in seconds: an m that decays, plus weights, above 1 a spike. */
static bool take_int_fire(const json_t *all, double step_ms, double value[SONATA_POINT])
{
  static const double s = 1e3;
  value[TAU] = number(all, "tau", 0.01);
  value[REFRACTORY] = number(all, "refrac", 0.005);
  value[R] = 1 / (1 - exp(-step_ms / (value[TAU] * s)));
  value[THRESHOLD] = 1;
  value[RESET] = 0;
  return value[TAU] > 0;
}

static void take_parameters(const json_t *all, double step_ms, sonata_node_type *type)
{
  double value[SONATA_POINT];
  for (size_t i = 0; i < SONATA_POINT; i++)
    value[i] = NAN;
  type->known = type->point == SONATA_INT_FIRE ? take_int_fire(all, step_ms, value) : take_nest(all, step_ms, type->point == SONATA_PSC_EXP, value);
  for (size_t i = 0; i < SONATA_POINT; i++) {
    type->value[i] = (float)value[i];
    type->known = type->known && (isnan(value[i]) || cm_neuron_allows(model_of(type->point), used[i], type->value[i]));
  }
}

/* The file of parameters; *json is NULL where there is none, or no object. */
static cm_status read_dynamics(sonata_files *c, const char *dynamics, json_t **json, cm_error *error)
{
  uint64_t member;
  cm_error missing;
  *json = NULL;
  if (dynamics[0] == '\0' || sonata_member_find(c, dynamics, &member, &missing) != CM_OK)
    return CM_OK;
  CM_TRY(sonata_member_open(c, member, error));
  const uint64_t refusals = cm_json_refusals();
  *json = cm_json_loadb(c->image, c->image_size, 0, NULL);
  sonata_member_close(c);
  if (*json != NULL && json_is_object(*json))
    return CM_OK;
  json_decref(*json);
  *json = NULL;
  return cm_json_whole(refusals, dynamics, error);
}

cm_status sonata_point_read(sonata_files *c, sonata_node_type *type, cm_error *error)
{
  json_t *json;
  if (type->point == SONATA_NO_POINT || c->step_ms <= 0)
    return CM_OK;
  CM_TRY(read_dynamics(c, type->dynamics, &json, error));
  if (json != NULL)
    take_parameters(json, c->step_ms, type);
  json_decref(json);
  if (type->known && c->point == SONATA_NO_POINT)
    c->point = type->point;
  type->known = type->known && c->point == type->point;
  return CM_OK;
}

cm_status sonata_sign_read(sonata_files *c, sonata_type *type, cm_error *error)
{
  json_t *json;
  if (c->point != SONATA_INT_FIRE)
    return CM_OK;
  CM_TRY(read_dynamics(c, type->dynamics, &json, error));
  type->sign = number(json, "sign", 1);
  json_decref(json);
  return CM_OK;
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
  c->values.model[v] = model_of(type->point);
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

void sonata_points_delay(sonata_files *c)
{
  c->s->later_ms = c->point == SONATA_PSC_EXP && !c->unknown ? c->step_ms : 0;
}

cm_status sonata_points_set(sonata_files *c, cm_error *error)
{
  cm_topology *made = c->s->made;
  bool some = false;
  for (uint32_t v = 0; v < made->vertex_count && !some; v++)
    some = c->values.model[v] == model_of(c->point);
  if (!some || c->unknown)
    return CM_OK;
  char kind[48];
  (void)snprintf(kind, sizeof kind, "%s %.6g ms", strchr(sonata_point_names[c->point], ':') + 1, c->step_ms);
  for (uint32_t p = 0; p < made->population_count; p++)
    if (strcmp(made->population[p].kind, CM_INPUT_KIND) != 0)
      (void)snprintf(made->population[p].kind, CM_POPULATION_KIND_MAX, "%.*s", CM_POPULATION_KIND_MAX - 1, kind);
  return cm_topology_set_parameters(made, &c->values, c->s->memory, error);
}
