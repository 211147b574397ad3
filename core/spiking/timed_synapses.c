/* Happy path: pin by pin, with those beside it. What can fail: delays that are no multiple of a step. */
#include "core/spiking/timed_synapses.h"

#include <math.h>

#include "core/network/dynamics.h"
#include "core/spiking/coefficients.h"

enum { DELAY_MAX = 1 << 20 };

typedef struct teller {
  cm_timed_network of;
  cm_synapse_take *take;
  void *context;
  double steps_a_unit; /* of delays */
} teller;

static cm_status refuse_delay(const teller *b, uint32_t from, uint32_t to, uint32_t delay, cm_error *error)
{
  char called[96], target[96];
  const double ms = (double)delay * (double)b->of.topology->delay_unit_ns / 1e6, dt = b->of.latency->dt * 1e3, steps = delay * b->steps_a_unit;
  (void)cm_neuron_called(b->of.topology, from, called, sizeof called);
  (void)cm_neuron_called(b->of.topology, to, target, sizeof target);
  if (b->of.latency->dt <= 0)
    return cm_fail(error, CM_BAD_OPTION, "dt is missing: the synapse from %s to %s has a delay of %g ms, so how long a step is has to be said, in seconds",
                   called, target, ms);
  if (steps > DELAY_MAX)
    return cm_fail(error, CM_TOO_LARGE, "the synapse from %s to %s has a delay of %g steps; the longest is %d", called, target, steps, DELAY_MAX);
  return cm_fail(error, CM_BAD_OPTION, "the synapse from %s to %s has a delay of %g ms, no multiple of dt, %g ms: it is %g ms off", called,
                 target, ms, dt, fabs(steps - round(steps)) * dt);
}

/* The steps that a synapse takes. */
static cm_status steps_of(const teller *b, uint32_t from, uint32_t to, uint32_t delay, uint32_t *steps, cm_error *error)
{
  const double near = 1e-6, exact = delay * b->steps_a_unit, whole = round(exact);
  if (delay > 0 && (b->of.latency->dt <= 0 || whole > DELAY_MAX || fabs(exact - whole) > near))
    return refuse_delay(b, from, to, delay, error);
  *steps = (uint32_t)whole + (b->of.topology->dynamics->model[from] != CM_NEURON_INPUT ? b->of.latency->output : 0);
  const cm_latency *latency = b->of.latency;
  if (*steps == 0 && cm_in_loop(b->of.order, from, to))
    *steps = 1;
  if (latency->loop_of != NULL && latency->loop_of[from] == latency->loop_of[to] && *steps < latency->loop)
    *steps = latency->loop;
  return CM_OK;
}

static float weight_of(const cm_topology *t, uint32_t net, uint64_t pin)
{
  return t->dynamics->weight != NULL ? t->dynamics->weight[pin] : (float)cm_topology_pin_value(t, net, pin);
}

static cm_status for_pin(const teller *b, uint32_t net, uint64_t pin, uint64_t *parallel, cm_error *error)
{
  const cm_topology *t = b->of.topology;
  const cm_dynamics *d = t->dynamics;
  const uint32_t from = cm_topology_source(t, net), to = t->pin[pin];
  uint32_t steps;
  CM_TRY(steps_of(b, from, to, t->pin_delay != NULL ? t->pin_delay[pin] : 0, &steps, error));
  b->take(b->context, from, to, steps, weight_of(t, net, pin));
  for (; *parallel < d->parallel_count && d->parallel[*parallel].pin == pin; ++*parallel) {
    CM_TRY(steps_of(b, from, to, d->parallel[*parallel].delay, &steps, error));
    b->take(b->context, from, to, steps, d->parallel[*parallel].weight);
  }
  return CM_OK;
}

/* Arrays of pins `from` to `to` - 1, given back to the system. */
static void give_back(const cm_topology *t, uint64_t from, uint64_t to)
{
  const void *const arrays[] = {t->pin, t->pin_weight, t->pin_delay, t->dynamics->weight};
  const size_t size = sizeof *t->pin; /* each of them 4 bytes */
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    if (arrays[i] != NULL)
      cm_memory_give_back((const char *)arrays[i] + from * size, (to - from) * size);
}

cm_status cm_synapses_tell(const cm_timed_network *network, cm_run *run, cm_synapse_take *take, void *context, cm_error *error)
{
  const cm_topology *t = network->topology;
  const double dt = network->latency->dt;
  const teller told = {*network, take, context, dt > 0 ? (double)t->delay_unit_ns * 1e-9 / dt : 0};
  uint64_t parallel = 0, done = 0, given = 0;
  cm_status status = CM_OK;
  for (uint32_t e = 0; e < t->net_count && status == CM_OK; e++) {
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1] && status == CM_OK; i++)
      status = for_pin(&told, e, i, &parallel, error);
    if (status != CM_OK || !cm_run_due(&done, t->net_first[e + 1] - t->net_first[e]))
      continue;
    if (network->sole_reader) {
      give_back(t, given, t->net_first[e + 1]);
      given = t->net_first[e + 1];
    }
    status = cm_run_check(run, error);
  }
  return status;
}
