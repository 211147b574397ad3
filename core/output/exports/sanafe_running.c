#include "core/output/exports/sanafe_running.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/network/measured.h"

/* A threshold is about 2^12 units of weight, of which SANA-FE keeps 64 parts each and 2^25 in all: 8192 thresholds either way. */
enum { THRESHOLD_BITS = 12 };

static const double never = 1e30; /* threshold of what sends no spikes */

static double scale_of(const cm_topology *t, const cm_coefficients *c)
{
  int exponent;
  double most = 0;
  for (uint32_t v = 0; v < t->vertex_count; v++)
    if (cm_neuron_models[t->dynamics->model[v]].spikes && t->dynamics->model[v] != CM_NEURON_INPUT && fabs((double)c->threshold[v]) > most)
      most = fabs((double)c->threshold[v]);
  (void)frexp(most > 0 ? most : 1, &exponent);
  return ldexp(1, THRESHOLD_BITS - exponent);
}

static cm_status sort_train(const cm_measured *m, cm_run *run, cm_sanafe_running *r, cm_error *error)
{
  CM_TRY(CM_NEW(run->memory, r->train, m->inputs, error));
  for (uint64_t i = 0; i < m->inputs; i++)
    r->train[i] = m->stimulus[2 * i + 1] << 32 | m->stimulus[2 * i];
  r->inputs = m->inputs;
  if (m->inputs > 0)
    qsort(r->train, m->inputs, sizeof *r->train, cm_ascending_long);
  return CM_OK;
}

cm_status cm_sanafe_running_make(const cm_topology *topology, cm_run *run, cm_sanafe_running *running, cm_error *error)
{
  cm_sanafe_running r = {.topology = topology};
  const cm_measured *m = topology->measured;
  if (m == NULL) {
    *running = r;
    return CM_OK;
  }
  for (int i = 0; i < CM_SEMANTICS && r.semantics == NULL; i++)
    r.semantics = strcmp(cm_semantics_table[i].name, m->semantics) == 0 ? &cm_semantics_table[i] : NULL;
  if (r.semantics == NULL)
    return cm_fail(error, CM_BAD_MAPPING, "/measured/semantics is \"%s\", which this version does not know", m->semantics);
  if (topology->dynamics->parameter[CM_PARAMETER_REFRACTORY] != NULL)
    return cm_fail(error, CM_BAD_REQUEST, "neurons have refractory times, in which SANA-FE's v leaks and its currents lose what comes in: it cannot run them");
  if (topology->dynamics->parameter[CM_PARAMETER_TAU_SYN_INHIBITORY] != NULL)
    return cm_fail(error, CM_BAD_REQUEST, "neurons have a second current, tau_syn_inhibitory, but SANA-FE's have one: it cannot run them");
  cm_status status = cm_coefficients_make(topology, r.semantics, m->dt, run->memory, &r.coefficients, error);
  CM_THEN(status, sort_train(m, run, &r, error));
  CM_TRY_OR(status, cm_sanafe_running_free(&r));
  cm_coefficients_set_bias(topology, true, &r.coefficients);
  r.scale = scale_of(topology, &r.coefficients);
  for (uint32_t v = 0; v < topology->vertex_count; v++)
    r.biased = r.biased || cm_sanafe_bias(&r, v) != 0;
  *running = r;
  return CM_OK;
}

void cm_sanafe_running_free(cm_sanafe_running *running)
{
  cm_coefficients_free(&running->coefficients);
  cm_free(running->train);
  *running = (cm_sanafe_running){.scale = 0};
}

/* ---- neurons ---- */

/* The first spike of a neuron's train. */
static uint64_t train_of(const cm_sanafe_running *r, uint32_t neuron)
{
  uint64_t low = 0, high = r->inputs;
  CM_BISECT(low, high, at, r->train[at] >> 32 < neuron)
  return low;
}

/* A 0 or a 1 a step, up to the last spike; two spikes of a step are one. */
static void put_train(const cm_sanafe_running *r, uint32_t neuron, FILE *stream)
{
  uint32_t step = 0;
  (void)fputs("[spikes: [", stream);
  for (uint64_t i = train_of(r, neuron); i < r->inputs && r->train[i] >> 32 == neuron; i++)
    for (; step <= (uint32_t)r->train[i]; step++)
      (void)fprintf(stream, "%s%d", step == 0 ? "" : ", ", step == (uint32_t)r->train[i]);
  (void)fputs(step == 0 ? "0]]" : "]]", stream);
}

void cm_sanafe_put_neuron(const cm_sanafe_running *r, uint32_t v, FILE *stream)
{
  const cm_coefficients *c = &r->coefficients;
  if (r->semantics == NULL) {
    (void)fputs("[]", stream);
    return;
  }
  const uint8_t model = r->topology->dynamics->model[v];
  if (model == CM_NEURON_INPUT) {
    put_train(r, v, stream);
    return;
  }
  (void)fprintf(stream, "[threshold: %.9g, leak_decay: %.9g, input_decay: %.9g", cm_neuron_models[model].spikes ? (double)c->threshold[v] * r->scale : never,
                (double)c->decay[v], cm_has_current(model) ? (double)c->decay_current[v] : 0.0);
  if (c->offset[v] != 0)
    (void)fprintf(stream, ", bias: %.9g", (double)c->offset[v] * r->scale);
  if (r->semantics->reset == CM_RESET_VALUE)
    (void)fprintf(stream, ", reset_mode: hard, reset: %.9g]", (double)c->reset[v] * r->scale);
  else
    (void)fputs(", reset_mode: soft]", stream);
}

bool cm_sanafe_alike(const cm_sanafe_running *r, uint32_t a, uint32_t b)
{
  const cm_coefficients *c = &r->coefficients;
  if (r->semantics == NULL)
    return true;
  const uint8_t *model = r->topology->dynamics->model;
  return model[a] == model[b] && model[a] != CM_NEURON_INPUT && c->threshold[a] == c->threshold[b] && c->decay[a] == c->decay[b] &&
         c->offset[a] == c->offset[b] && c->reset[a] == c->reset[b] &&
         (!cm_has_current(model[a]) || c->decay_current[a] == c->decay_current[b]);
}

/* ---- synapses ---- */

double cm_sanafe_scaled(const cm_sanafe_running *r, uint32_t target, double weight)
{
  const cm_coefficients *c = &r->coefficients;
  if (r->semantics == NULL)
    return weight;
  const double gain = cm_has_current(r->topology->dynamics->model[target]) ? (double)c->gain_current[target] * (double)c->coupling[target]
                                                                           : (double)c->gain[target];
  return weight * gain * r->scale;
}

double cm_sanafe_weight(const cm_sanafe_running *r, uint32_t net, uint64_t i)
{
  const cm_topology *t = r->topology;
  const bool own = r->semantics != NULL && t->dynamics->weight != NULL;
  return cm_sanafe_scaled(r, t->pin[i], own ? (double)t->dynamics->weight[i] : cm_topology_pin_value(t, net, i));
}

double cm_sanafe_bias(const cm_sanafe_running *r, uint32_t neuron)
{
  if (r->semantics == NULL || r->topology->dynamics->model[neuron] == CM_NEURON_INPUT)
    return 0;
  return cm_sanafe_scaled(r, neuron, (double)r->coefficients.bias[neuron]);
}
