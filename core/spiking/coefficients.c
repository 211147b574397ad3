#include "core/spiking/coefficients.h"

#include <math.h>
#include <stdio.h>

const char *cm_neuron_called(const cm_topology *topology, uint32_t neuron, char *text, size_t size)
{
  const char *label = cm_topology_label(topology, neuron);
  (void)snprintf(text, size, label != NULL ? "neuron %u (%.60s)" : "neuron %u", neuron, label);
  return text;
}

static double value(const cm_dynamics *d, cm_neuron_parameter parameter, uint32_t neuron)
{
  return d->parameter[parameter] != NULL ? (double)d->parameter[parameter][neuron] : 0;
}

/* What is left after a step, and what a constant 1 adds. */
typedef struct filter {
  double decay, gain;
} filter;

static filter filter_of(const cm_semantics *s, double dt, double tau)
{
  const double left = s->decay == CM_DECAY_EULER ? 1 - dt / tau : exp(-dt / tau);
  return (filter){left, s->decay == CM_DECAY_CLOSED ? 1 - left : dt / tau};
}

static cm_status check_tau(const cm_topology *t, const cm_semantics *s, double dt, cm_neuron_parameter parameter, uint32_t v, cm_error *error)
{
  char called[96];
  const double tau = value(t->dynamics, parameter, v);
  (void)cm_neuron_called(t, v, called, sizeof called);
  if (!(tau > 0 && tau < HUGE_VAL))
    return cm_fail(error, CM_BAD_NETWORK, "%s has a %s of %g s: a time constant is above 0", called, cm_neuron_parameters[parameter].name, tau);
  if (dt <= 0)
    return cm_fail(error, CM_BAD_OPTION, "dt is missing: %s has a %s of %g s, so how long a step is has to be said, in seconds", called,
                   cm_neuron_parameters[parameter].name, tau);
  if (s->decay == CM_DECAY_EULER && tau < dt / 2)
    return cm_fail(error, CM_BAD_OPTION,
                   "%s has a %s of %g s, below half of dt, %g s, where %s is unstable: give a dt of at most %g, or semantics \"exact\"",
                   called, cm_neuron_parameters[parameter].name, tau, dt, s->name, 2 * tau);
  return CM_OK;
}

/* What the current adds to v over a step in which it runs from its old value by itself, and what a constant 1 that comes in adds to v by
 * way of it: the solution of tau v' = I - v, tau_syn I' = x - I. */
static void solve(double dt, double tau, double tau_syn, double *coupling, double *gain)
{
  const double v = exp(-dt / tau), i = exp(-dt / tau_syn);
  const double near = 1e-9; /* where both time constants are as good as one */
  *coupling = fabs(tau - tau_syn) > near * tau ? tau_syn / (tau_syn - tau) * (i - v) : dt / tau * v;
  *gain = 1 - v - *coupling;
}

/* Of a current that decays by `from`.tau, and whose input is multiplied by w. */
typedef struct inflow {
  double tau, w;
} inflow;

static void set_current(const cm_dynamics *d, const cm_semantics *s, double dt, uint32_t v, inflow from, const cm_synaptic *c)
{
  const double tau = value(d, CM_PARAMETER_TAU, v), r = value(d, CM_PARAMETER_R, v), w = from.w;
  const filter synapse = filter_of(s, dt, from.tau);
  double coupling = filter_of(s, dt, tau).gain, gain = 0;
  if (s->current == CM_CURRENT_OVER_STEP)
    solve(dt, tau, from.tau, &coupling, &gain);
  c->decay[v] = (float)synapse.decay;
  c->gain[v] = (float)(synapse.gain * w);
  c->coupling[v] = (float)(coupling * r);
  c->over[v] = (float)(gain * r * w);
}

static cm_status set(const cm_topology *t, const cm_semantics *s, double dt, uint32_t v, cm_coefficients *c, cm_error *error)
{
  const cm_dynamics *d = t->dynamics;
  const uint8_t model = d->model[v];
  const bool leaks = cm_neuron_has(model, CM_PARAMETER_TAU);
  CM_TRY_IF(leaks, check_tau(t, s, dt, CM_PARAMETER_TAU, v, error));
  CM_TRY_IF(cm_has_current(model), check_tau(t, s, dt, CM_PARAMETER_TAU_SYN, v, error));
  const filter integrator = {1, 1}, nothing = {0, 1};
  const filter membrane = leaks                           ? filter_of(s, dt, value(d, CM_PARAMETER_TAU, v))
                          : model == CM_NEURON_THRESHOLD ? nothing
                                                          : integrator;
  c->decay[v] = (float)membrane.decay;
  c->gain[v] = (float)(membrane.gain * (cm_neuron_has(model, CM_PARAMETER_R) ? value(d, CM_PARAMETER_R, v) : 1));
  c->offset[v] = (float)(leaks ? (1 - membrane.decay) * value(d, CM_PARAMETER_V_LEAK, v) : 0);
  c->threshold[v] = cm_neuron_has(model, CM_PARAMETER_V_THRESHOLD) ? (float)value(d, CM_PARAMETER_V_THRESHOLD, v) : HUGE_VALF;
  c->reset[v] = (float)value(d, CM_PARAMETER_V_RESET, v);
  if (!cm_has_current(model))
    return CM_OK;
  const double w = value(d, CM_PARAMETER_W_IN, v), own = value(d, CM_PARAMETER_W_IN_INHIBITORY, v);
  const cm_synaptic first = {c->decay_current, c->gain_current, c->coupling, c->gain};
  set_current(d, s, dt, v, (inflow){value(d, CM_PARAMETER_TAU_SYN, v), w}, &first);
  if (!cm_has_second_current(d, v)) {
    char called[96];
    return own == 0 ? CM_OK : cm_fail(error, CM_BAD_NETWORK, "%s has a w_in_inhibitory of %g, but no tau_syn_inhibitory: give both or neither", cm_neuron_called(t, v, called, sizeof called), own);
  }
  CM_TRY(check_tau(t, s, dt, CM_PARAMETER_TAU_SYN_INHIBITORY, v, error));
  set_current(d, s, dt, v, (inflow){value(d, CM_PARAMETER_TAU_SYN_INHIBITORY, v), own > 0 ? own : w}, &c->second);
  return CM_OK;
}

/* The steps that v stays: as many as the time has, as NEST counts them. */
static cm_status set_refractory(const cm_topology *t, const cm_semantics *s, double dt, uint32_t v, uint32_t *steps, cm_error *error)
{
  static const double near = 1e-4, most = 1 << 20;
  const double time = value(t->dynamics, CM_PARAMETER_REFRACTORY, v), exact = dt > 0 ? time / dt : 0, whole = round(exact);
  const bool resets = s->reset == CM_RESET_VALUE || s->reset == CM_RESET_SUBTRACT;
  if (dt > 0 && resets && fabs(exact - whole) <= near && whole <= most) {
    *steps = (uint32_t)whole;
    return CM_OK;
  }
  char called[96];
  (void)cm_neuron_called(t, v, called, sizeof called);
  if (dt <= 0)
    return cm_fail(error, CM_BAD_OPTION, "dt is missing: %s has a refractory time of %g s, so how long a step is has to be said, in seconds", called, time);
  if (!resets)
    return cm_fail(error, CM_BAD_OPTION, "%s has a refractory time of %g s, and %s resets in a later step: choose snntorch, norse, rockpool or exact", called, time, s->name);
  return cm_fail(error, CM_BAD_OPTION, "%s has a refractory time of %g s, which is %g steps of %g s: it has to be whole steps, at most %g", called, time, exact, dt, most);
}

cm_status cm_coefficients_make(const cm_topology *topology, const cm_semantics *semantics, double dt, cm_memory *memory,
                               cm_coefficients *coefficients, cm_error *error)
{
  cm_coefficients c = {.decay = NULL};
  float **const always[] = {&c.decay, &c.gain, &c.offset, &c.bias, &c.threshold, &c.reset};
  float **const current[] = {&c.decay_current, &c.gain_current, &c.coupling};
  const uint32_t n = topology->vertex_count;
  bool currents = false;
  for (uint32_t v = 0; v < n; v++)
    currents = currents || cm_has_current(topology->dynamics->model[v]);
  cm_status status = CM_OK;
  for (size_t i = 0; i < sizeof always / sizeof *always && status == CM_OK; i++)
    status = CM_NEW(memory, *always[i], n, error);
  for (size_t i = 0; i < sizeof current / sizeof *current && currents && status == CM_OK; i++)
    status = CM_NEW(memory, *current[i], n, error);
  const float *refractory = topology->dynamics->parameter[CM_PARAMETER_REFRACTORY];
  CM_THEN_IF(status, refractory != NULL, CM_NEW(memory, c.refractory, n, error));
  CM_THEN_IF(status, topology->dynamics->parameter[CM_PARAMETER_TAU_SYN_INHIBITORY] != NULL,
             CM_NEW_ALL(memory, error, CM_ARRAY(c.second.decay, n), CM_ARRAY(c.second.gain, n), CM_ARRAY(c.second.coupling, n), CM_ARRAY(c.second.over, n)));
  for (uint32_t v = 0; v < n && status == CM_OK; v++) {
    if (topology->dynamics->model[v] != CM_NEURON_INPUT)
      status = set(topology, semantics, dt, v, &c, error);
    if (status == CM_OK && refractory != NULL && refractory[v] > 0)
      status = set_refractory(topology, semantics, dt, v, &c.refractory[v], error);
  }
  CM_END(status, *coefficients = c, cm_coefficients_free(&c));
}

void cm_coefficients_set_bias(const cm_topology *topology, bool loops, cm_coefficients *coefficients)
{
  const cm_dynamics *d = topology->dynamics;
  for (uint32_t v = 0; v < topology->vertex_count; v++)
    coefficients->bias[v] = (float)(value(d, CM_PARAMETER_BIAS, v) - (loops ? 0 : value(d, CM_PARAMETER_LOOP_BIAS, v)));
}

void cm_coefficients_free(cm_coefficients *c)
{
  CM_FREE(c->decay, c->gain, c->offset, c->bias, c->threshold, c->reset, c->decay_current, c->gain_current, c->coupling, c->refractory, c->second.decay, c->second.gain, c->second.coupling,
          c->second.over);
  *c = (cm_coefficients){.decay = NULL};
}
