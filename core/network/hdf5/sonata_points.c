/* Point neurons of SONATA circuits, as neurons that step by semantics snntorch as their simulator does with the simulation's dt alone: taus leave by
 * Euler what exponentials do. NEST's iaf_psc_delta and NEURON's IntFire1 are LIF, v from E_L on, r so that a synapse adds its weight at once; NEST's
 * iaf_psc_exp is a CubaLIF whose synapses act a step later, as its currents do on v. One model that none of ours is leaves the network without
 * parameters, and what it is among what was not read. What can fail: memory. */
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

const char *const sonata_point_names[SONATA_POINTS + 1] = {":", "nest:iaf_psc_delta", "nest:iaf_psc_exp", "nrn:IntFire1", "some:points"};

enum { TAU, R, THRESHOLD, RESET, REFRACTORY, LEAK, TAU_SYN, W_IN, TAU_SYN_IN, W_IN_IN };

static const cm_neuron_parameter used[SONATA_POINT] = {
  [TAU] = CM_PARAMETER_TAU,   [R] = CM_PARAMETER_R,          [THRESHOLD] = CM_PARAMETER_V_THRESHOLD, [RESET] = CM_PARAMETER_V_RESET, [REFRACTORY] = CM_PARAMETER_REFRACTORY,
  [LEAK] = CM_PARAMETER_V_LEAK, [TAU_SYN] = CM_PARAMETER_TAU_SYN, [W_IN] = CM_PARAMETER_W_IN,
  [TAU_SYN_IN] = CM_PARAMETER_TAU_SYN_INHIBITORY, [W_IN_IN] = CM_PARAMETER_W_IN_INHIBITORY};

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

/* Of a membrane whose exponential leaves `left` after a step; what Euler leaves with a tau of step / (1 - left). r: what comes in counts at once. */
static void take_membrane(double step_ms, double left, double value[SONATA_POINT])
{
  value[TAU] = step_ms / (1 - left) * 1e-3;
  value[R] = 1 / (1 - left);
}

/* What a current of 1 that decays by tau_syn adds to v / tau over a step, times in ms. */
static double coupling(double tau, double tau_syn, double step_ms)
{
  static const double near = 1e-9;
  const double left = exp(-step_ms / tau);
  return fabs(tau - tau_syn) > near * tau ? tau_syn / (tau_syn - tau) * (exp(-step_ms / tau_syn) - left) : step_ms / tau * left;
}

/* Both currents of NEST's iaf_psc_exp: one of ours has r, so the other's input is multiplied by what theirs differ. */
static const char *take_currents(const json_t *all, double step_ms, double tau, double capacity, double value[SONATA_POINT])
{
  static const double ms = 1e-3;
  const double excites = number(all, "tau_syn_ex", 2), inhibits = number(all, "tau_syn_in", 2), left = 1 - exp(-step_ms / excites), left_in = 1 - exp(-step_ms / inhibits);
  value[R] *= coupling(tau, excites, step_ms) * tau / capacity;
  value[TAU_SYN] = step_ms / left * ms;
  value[W_IN] = 1 / left;
  if (excites != inhibits) {
    value[TAU_SYN_IN] = step_ms / left_in * ms;
    value[W_IN_IN] = coupling(tau, inhibits, step_ms) / coupling(tau, excites, step_ms) / left_in;
  }
  if (number(all, "delta", 0) != 0)
    return "delta is not 0: spikes at random";
  return excites > 0 && inhibits > 0 ? NULL : "tau_syn_ex or tau_syn_in is not above 0";
}

/* NEST's, times in ms. NULL, or why no neuron of ours does the same. */
static const char *take_nest(const json_t *all, double step_ms, bool current, double value[SONATA_POINT])
{
  static const double ms = 1e-3;
  const double tau = number(all, "tau_m", 10), capacity = number(all, "C_m", 250), rest = number(all, "E_L", -70);
  const char *why = NULL;
  take_membrane(step_ms, exp(-step_ms / tau), value);
  value[THRESHOLD] = number(all, "V_th", -55) - rest;
  value[RESET] = number(all, "V_reset", -70) - rest;
  value[REFRACTORY] = number(all, "t_ref", 2) * ms;
  value[LEAK] = number(all, "I_e", 0) * tau / capacity;
  if (current && (why = take_currents(all, step_ms, tau, capacity, value)) != NULL)
    return why;
  if (!(tau > 0 && capacity > 0))
    return "tau_m or C_m is not above 0";
  if (number(all, "V_m", rest) != rest)
    return "V_m does not begin at E_L";
  return json_object_get(all, "V_min") != NULL || json_is_true(json_object_get(all, "refractory_input")) ? "it has V_min or refractory_input" : NULL;
}

/* NEURON's IntFire1, times in seconds: an m that decays, plus weights, above 1 a spike. */
static const char *take_int_fire(const json_t *all, double step_ms, double value[SONATA_POINT])
{
  static const double s = 1e3;
  const double tau = number(all, "tau", 0.01);
  take_membrane(step_ms, exp(-step_ms / (tau * s)), value);
  value[REFRACTORY] = number(all, "refrac", 0.005);
  value[THRESHOLD] = 1;
  value[RESET] = 0;
  return tau > 0 ? NULL : "tau is not above 0";
}

static const char *take_parameters(const json_t *all, double step_ms, sonata_node_type *type)
{
  double value[SONATA_POINT];
  for (size_t i = 0; i < SONATA_POINT; i++)
    value[i] = NAN;
  const char *why = type->point == SONATA_INT_FIRE ? take_int_fire(all, step_ms, value) : take_nest(all, step_ms, type->point == SONATA_PSC_EXP, value);
  for (size_t i = 0; i < SONATA_POINT; i++) {
    type->value[i] = (float)value[i];
    if (why == NULL && !isnan(value[i]) && !cm_neuron_allows(model_of(type->point), used[i], type->value[i]))
      why = used[i] == CM_PARAMETER_V_THRESHOLD ? "its threshold is not above its rest" : "a parameter is out of range";
  }
  return why;
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
  json_t *json = NULL;
  const char *why = type->point == SONATA_NO_POINT ? "no model of ours steps so" : "run says no dt";
  if (type->is_virtual)
    return CM_OK;
  if (type->point != SONATA_NO_POINT && c->step_ms > 0) {
    CM_TRY(read_dynamics(c, type->dynamics, &json, error));
    why = json != NULL ? take_parameters(json, c->step_ms, type) : "its file of parameters is missing";
    json_decref(json);
  }
  type->known = why == NULL;
  c->points = c->points || type->known;
  c->signs = c->signs || type->point == SONATA_INT_FIRE;
  if (!type->known && c->unlike[0] == '\0')
    (void)snprintf(c->unlike, sizeof c->unlike, "parameters of neurons (type %llu, %.60s: %s)", (unsigned long long)type->id, type->template, why);
  return CM_OK;
}

cm_status sonata_sign_read(sonata_files *c, sonata_type *type, cm_error *error)
{
  json_t *json;
  if (!c->signs)
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
  char *kind = s->made->population[p].kind;
  const bool input = strcmp(kind, CM_INPUT_KIND) == 0;
  sonata_point point = SONATA_NO_POINT;
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
      if (type == NULL)
        (void)snprintf(c->unlike, sizeof c->unlike, "parameters of neurons (type %llu of %.60s is in no table)", (unsigned long long)s->source[i], name);
      else
        point = point == SONATA_NO_POINT || point == type->point ? type->point : SONATA_POINTS;
    }
  }
  if (!input)
    (void)snprintf(kind, CM_POPULATION_KIND_MAX, "%.*s", CM_POPULATION_KIND_MAX - 1, cm_say("%s %.6g ms", strchr(sonata_point_names[point], ':') + 1, c->step_ms).text);
  return CM_OK;
}

void sonata_points_delay(sonata_files *c)
{
  c->s->model = c->unknown ? NULL : c->values.model;
  c->s->step_ms = c->step_ms;
}

cm_status sonata_points_set(sonata_files *c, cm_error *error)
{
  cm_topology *made = c->s->made;
  if (c->points && !c->unknown)
    return cm_topology_set_parameters(made, &c->values, c->s->memory, error);
  for (uint32_t p = 0; p < made->population_count; p++)
    if (strcmp(made->population[p].kind, CM_INPUT_KIND) != 0)
      made->population[p].kind[0] = '\0';
  if (c->unlike[0] != '\0')
    cm_reading_add(c->s->asked->reading.ignored, c->unlike, strlen(c->unlike));
  return CM_OK;
}
