/* Happy path: a chip neuron for each neuron, all synapses with the steps that the network gives them, shifts of neurons as longest ways, and of
 * what is left delays. What can fail: neurons and delays that the chip has not; memory. */
#include "core/deploy/integer_network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/spiking/coefficients.h"
#include "core/spiking/timed_synapses.h"

enum { PARTS = 4096, ALL_PARTS = 4095, BIAS_MOST = 4095, WORD = 16, ROUNDS_MAX = 1000 };

/* A synapse as the network has it. */
typedef struct told {
  uint32_t from, to, steps;
  float real;
} told;

typedef struct builder {
  const cm_topology *topology;
  const cm_integer_setting *setting;
  cm_run *run;
  cm_integer_network *n;
  cm_evaluation_order order;
  cm_coefficients coefficients;
  told *synapse;
  uint64_t room, count;
  cm_status status;
  cm_error *error;
  uint32_t *loop_of; /* [neurons] loops as the chip's */
  uint32_t *late;    /* [loops + 1] shift of the neurons of each loop */
} builder;

static void take(void *context, uint32_t from, uint32_t to, uint32_t steps, float weight)
{
  builder *b = context;
  const cm_coefficients *c = &b->coefficients;
  const float gain = cm_has_current(b->topology->dynamics->model[to]) ? c->gain_current[to] * c->coupling[to] : c->gain[to];
  if (b->status == CM_OK)
    b->status = CM_ROOM(b->run->memory, b->synapse, &b->room, b->count + 1, b->error);
  if (b->status == CM_OK)
    b->synapse[b->count++] = (told){from, to, steps, weight * gain};
}

/* ---- neurons ---- */

static cm_status check_semantics(const cm_integer_setting *setting, cm_error *error)
{
  const cm_semantics *s = setting->semantics;
  const cm_reset reset = cm_chip_neurons[setting->words.full].reset;
  if (s->reset == reset && s->current == CM_CURRENT_NEW && s->output == 0)
    return CM_OK;
  if (reset != CM_RESET_VALUE)
    return cm_fail(error, CM_BAD_OPTION, "semantics %s is not what the chip's neurons do, which subtract their threshold at once: choose rockpool", s->name);
  return cm_fail(error, CM_BAD_OPTION, "semantics %s %s, which the chip's neurons do not: choose snntorch or norse, or train with a reset to a value",
                 s->name, s->reset != CM_RESET_VALUE ? "resets by subtraction" : "takes currents as they run over a step");
}

static int16_t parts(float left)
{
  const double gone = round((1 - (double)left) * PARTS);
  return (int16_t)(gone > ALL_PARTS ? ALL_PARTS : gone < 0 ? 0 : gone);
}

/* Populations of integrators that nothing inhibits need no current: bit [groups] stays where that is so. */
static cm_status find_plain(const builder *b, bool *plain, cm_error *error)
{
  const cm_dynamics *d = b->topology->dynamics;
  for (uint32_t v = 0; v < b->n->neurons; v++)
    if (d->model[v] != CM_NEURON_IF || b->coefficients.bias[v] < 0 || b->coefficients.reset[v] != 0)
      plain[b->order.group_of[v]] = false;
  for (uint64_t i = 0; i < b->count; i++)
    if (b->synapse[i].real < 0)
      plain[b->order.group_of[b->synapse[i].to]] = false;
  return cm_run_check(b->run, error);
}

static cm_chip_parameters parameters_of(const builder *b, uint32_t v, bool plain)
{
  const cm_coefficients *c = &b->coefficients;
  const uint8_t model = b->topology->dynamics->model[v];
  cm_chip_parameters p = {.model = (uint8_t)b->n->words.plain, .v_min = INT16_MIN, .v_max = INT16_MAX};
  if (model != CM_NEURON_INPUT && c->refractory != NULL)
    p.refractory = (int16_t)c->refractory[v];
  if (model == CM_NEURON_INPUT)
    p.threshold = (int16_t)(1 - cm_chip_neurons[p.model].above);
  else if (!plain) {
    p.model = (uint8_t)b->n->words.full;
    p.decay_v = parts(c->decay[v]);
    p.decay_u = cm_has_current(model) ? parts(c->decay_current[v]) : ALL_PARTS;
    if (p.decay_u == 0)
      p.decay_u = 1;
  }
  return p;
}

static cm_status check_neuron(const builder *b, uint32_t v, cm_error *error)
{
  const cm_coefficients *c = &b->coefficients;
  const uint8_t model = b->topology->dynamics->model[v];
  char called[96];
  (void)cm_neuron_called(b->topology, v, called, sizeof called);
  if (!cm_neuron_models[model].spikes && b->n->first[v + 1] > b->n->first[v])
    return cm_fail(error, CM_CONFLICT, "%s is a %s, which sends its v in every step: on the chip only spikes go to others", called, cm_neuron_models[model].name);
  if (cm_has_second_current(b->topology->dynamics, v))
    return cm_fail(error, CM_CONFLICT, "%s has a second current, tau_syn_inhibitory, but the chip's neurons have one", called);
  if (c->refractory != NULL && c->refractory[v] > INT16_MAX)
    return cm_fail(error, CM_CONFLICT, "%s rests for %u steps, but the chip counts to %d: give a longer dt", called, c->refractory[v], INT16_MAX);
  if (c->decay[v] < 0 || (cm_has_current(model) && c->decay_current[v] < 0))
    return cm_fail(error, CM_BAD_OPTION, "%s has a time constant below dt, so that a step turns its v round, which the chip cannot: give a smaller dt", called);
  return CM_OK;
}

static cm_status set_neurons(const builder *b, const bool *plain, cm_error *error)
{
  cm_integer_network *n = b->n;
  for (uint32_t v = 0; v < n->neurons; v++) {
    const uint8_t model = b->topology->dynamics->model[v];
    n->input[v] = model == CM_NEURON_INPUT;
    n->group[v] = b->order.group_of[v];
    n->parameter[v] = parameters_of(b, v, plain[n->group[v]]);
    n->threshold[v] = n->input[v] || cm_neuron_models[model].spikes ? b->coefficients.threshold[v] : HUGE_VALF;
    n->rest[v] = n->input[v] ? 0 : b->coefficients.reset[v];
    n->leak[v] = cm_has_current(model) ? b->coefficients.offset[v] : 0;
    CM_TRY_IF(!n->input[v], check_neuron(b, v, error));
  }
  return CM_OK;
}

/* ---- time ---- */

static uint32_t steps_to(const cm_integer_network *n, uint32_t v)
{
  return n->hop + cm_chip_neurons[n->parameter[v].model].latency;
}

/* Shifts as longest ways over loops, from those that biases alone need. They end unless delays make loops of fewer steps than the chip's, after as many
 * rounds as there are loops at most; synapses with delays that make it more than ROUNDS_MAX count as such. */
static cm_status find_shifts(builder *b, bool *end, cm_error *error)
{
  cm_integer_network *n = b->n;
  bool changed = true;
  const uint64_t loops = (uint64_t)b->order.groups + n->neurons, most = n->delayed || loops < ROUNDS_MAX ? loops : ROUNDS_MAX;
  uint64_t rounds = 0;
  CM_TRY(CM_NEW(b->run->memory, b->late, (size_t)loops + 1, error));
  for (uint32_t v = 0; v < n->neurons; v++)
    if (!n->input[v] && b->late[b->loop_of[v]] < 1 + cm_chip_neurons[n->parameter[v].model].latency)
      b->late[b->loop_of[v]] = 1 + cm_chip_neurons[n->parameter[v].model].latency;
  for (; changed && rounds <= most; rounds++) {
    changed = false;
    for (uint64_t i = 0; i < b->count; i++) {
      const told *s = &b->synapse[i];
      const uint32_t least = b->late[b->loop_of[s->from]] + steps_to(n, s->to);
      if (least > b->late[b->loop_of[s->to]] + s->steps) {
        b->late[b->loop_of[s->to]] = least - s->steps;
        changed = true;
      }
    }
    CM_TRY(cm_run_check(b->run, error));
  }
  *end = !changed;
  for (uint32_t v = 0; v < n->neurons; v++) {
    n->shift[v] = b->late[b->loop_of[v]];
    n->shift_most = n->shift[v] > n->shift_most ? n->shift[v] : n->shift_most;
  }
  return CM_OK;
}

/* ---- synapses ---- */

static int by_target(const void *a, const void *b)
{
  const cm_integer_synapse *x = a, *y = b;
  return x->target != y->target ? (x->target > y->target) - (x->target < y->target) : (x->delay > y->delay) - (x->delay < y->delay);
}

static cm_status put_synapse(const builder *b, const told *s, uint64_t at, cm_error *error)
{
  cm_integer_network *n = b->n;
  const uint32_t delay = n->shift[s->to] + s->steps - n->shift[s->from] - steps_to(n, s->to);
  char called[96], target[96];
  if (delay > CM_CHIP_DELAY_MAX)
    return cm_fail(error, CM_CONFLICT, "the synapse from %s to %s has to wait %u steps on the chip, where delays end at %d", cm_neuron_called(b->topology, s->from, called, sizeof called),
                   cm_neuron_called(b->topology, s->to, target, sizeof target), delay, CM_CHIP_DELAY_MAX);
  n->synapse[at] = (cm_integer_synapse){.target = s->to, .real = s->real, .delay = (uint8_t)delay};
  return CM_OK;
}

/* Rows of sources; while they are filled, first[v + 1] is where the next one of v goes. */
static cm_status count_rows(builder *b, cm_error *error)
{
  cm_integer_network *n = b->n;
  n->synapses = b->count;
  CM_TRY(CM_NEW(b->run->memory, n->synapse, b->count, error));
  CM_TRY(CM_NEW(b->run->memory, n->first, (size_t)n->neurons + 2, error));
  for (uint64_t i = 0; i < b->count; i++)
    n->first[b->synapse[i].from + 1]++;
  for (uint32_t v = 0; v < n->neurons; v++)
    n->first[v + 1] += n->first[v];
  return CM_OK;
}

static cm_status fill_rows(const builder *b, cm_error *error)
{
  cm_integer_network *n = b->n;
  uint64_t *next;
  CM_TRY(CM_NEW(b->run->memory, next, n->neurons, error));
  if (n->neurons > 0)
    memcpy(next, n->first, n->neurons * sizeof *next);
  cm_status status = CM_OK;
  for (uint64_t i = 0; i < b->count && status == CM_OK; i++)
    status = put_synapse(b, &b->synapse[i], next[b->synapse[i].from]++, error);
  for (uint32_t v = 0; v < n->neurons && status == CM_OK; v++)
    if (n->first[v + 1] > n->first[v])
      qsort(n->synapse + n->first[v], n->first[v + 1] - n->first[v], sizeof *n->synapse, by_target);
  cm_free(next);
  return status;
}

/* A bias flows from the first step on; its part inside loops, where the semantics say so, from the second. What leaks to v_leak
 * is a bias, too; of neurons with a current v gains it from the chip's first step on. */
static cm_status set_biases(const builder *b, cm_error *error)
{
  cm_integer_network *n = b->n;
  const cm_coefficients *c = &b->coefficients;
  const cm_dynamics *d = b->topology->dynamics;
  uint64_t room = 0;
  for (uint32_t v = 0; v < n->neurons; v++) {
    if (n->input[v])
      continue;
    const bool current = cm_has_current(d->model[v]), later = b->setting->semantics->first != CM_FIRST_ALL;
    const float gain = current ? c->gain_current[v] * c->coupling[v] : c->gain[v];
    const float loop = later && d->parameter[CM_PARAMETER_LOOP_BIAS] != NULL ? d->parameter[CM_PARAMETER_LOOP_BIAS][v] : 0;
    const float real[] = {(c->bias[v] - loop) * gain + (current ? 0 : c->offset[v]), loop * gain};
    for (uint32_t k = 0; k < 2; k++) {
      if (real[k] == 0)
        continue;
      CM_TRY(CM_ROOM(b->run->memory, n->bias, &room, (uint64_t)n->biases + 1, error));
      const uint32_t start = n->shift[v] - cm_chip_neurons[n->parameter[v].model].latency + k;
      n->bias[n->biases++] = (cm_integer_bias){.target = v, .start = start, .real = real[k]};
    }
  }
  return CM_OK;
}

/* ---- all ---- */

static cm_status make_arrays(const builder *b, bool **plain, cm_error *error)
{
  cm_memory *memory = b->run->memory;
  cm_integer_network *n = b->n;
  n->groups = b->order.groups;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(n->input, n->neurons), CM_ARRAY(n->parameter, n->neurons), CM_ARRAY(n->threshold, n->neurons), CM_ARRAY(n->rest, n->neurons),
                    CM_ARRAY(n->leak, n->neurons), CM_ARRAY(n->shift, n->neurons), CM_ARRAY(n->group, n->neurons), CM_ARRAY(*plain, n->groups)));
  if (n->groups > 0)
    memset(*plain, true, n->groups);
  return CM_OK;
}

static cm_status tell_synapses(builder *b, cm_error *error)
{
  const cm_latency latency = {.dt = b->setting->dt, .output = b->setting->semantics->output, .loop_of = b->loop_of, .loop = b->n->loop};
  b->count = 0;
  const cm_status status = cm_synapses_tell(&(cm_timed_network){b->topology, &b->order, &latency, false}, b->run, take, b, error);
  return status == CM_OK ? b->status : status;
}

/* Loops by way of synapses with delays are loops, too: then no way is longer than any other. */
static cm_status close_loops(builder *b, cm_error *error)
{
  b->n->delayed = true;
  CM_FREE(b->loop_of, b->late);
  b->loop_of = b->late = NULL;
  return cm_neuron_loops_make(b->topology, true, b->run, &b->loop_of, error) == CM_OK ? tell_synapses(b, error) : error->status;
}

static cm_status make(builder *b, bool **plain, cm_error *error)
{
  cm_integer_network *n = b->n;
  cm_coefficients_set_bias(b->topology, true, &b->coefficients);
  CM_TRY(cm_evaluation_order_make(b->topology, b->run, &b->order, error));
  CM_TRY(cm_neuron_loops_make(b->topology, false, b->run, &b->loop_of, error));
  CM_TRY(make_arrays(b, plain, error));
  CM_TRY(tell_synapses(b, error));
  CM_TRY(count_rows(b, error));
  CM_TRY(find_plain(b, *plain, error));
  CM_TRY(set_neurons(b, *plain, error));
  for (uint32_t v = 0; v < n->neurons; v++)
    if (!n->input[v])
      n->loop = steps_to(n, v) > n->loop ? steps_to(n, v) : n->loop;
  bool end = false;
  CM_TRY(tell_synapses(b, error));
  CM_TRY(find_shifts(b, &end, error));
  if (!end) {
    CM_TRY(close_loops(b, error));
    CM_TRY(find_shifts(b, &end, error));
  }
  CM_TRY(fill_rows(b, error));
  return set_biases(b, error);
}

cm_status cm_integer_network_make(const cm_topology *topology, const cm_integer_setting *setting, cm_run *run, cm_integer_network *network, cm_error *error)
{
  cm_integer_network n = {.topology = topology, .words = setting->words, .neurons = topology->vertex_count, .hop = setting->hop};
  builder b = {.topology = topology, .setting = setting, .run = run, .n = &n, .error = error};
  bool *plain = NULL;
  cm_status status = check_semantics(setting, error);
  CM_THEN(status, cm_coefficients_make(topology, setting->semantics, setting->dt, run->memory, &b.coefficients, error));
  CM_THEN(status, make(&b, &plain, error));
  cm_coefficients_free(&b.coefficients);
  cm_evaluation_order_free(&b.order);
  CM_FREE(b.synapse, b.loop_of, b.late, plain);
  CM_END(status, *network = n, cm_integer_network_free(&n));
}

void cm_integer_network_free(cm_integer_network *n)
{
  CM_FREE(n->input, n->parameter, n->threshold, n->rest, n->leak, n->shift, n->group, n->first, n->synapse, n->bias);
  *n = (cm_integer_network){.neurons = 0};
}

/* In so many bits, with the sign. */
static int16_t fit(double value, unsigned bits, uint64_t *clamped)
{
  const double whole = round(value), most = (1 << (bits - 1)) - 1;
  if (whole >= -most - 1 && whole <= most)
    return (int16_t)whole;
  ++*clamped;
  return (int16_t)(whole < 0 ? -most - 1 : most);
}

/* A bias is a mantissa of 13 bits and a shift. */
static int16_t shorten(int16_t bias)
{
  int shift = 0;
  while (bias / (1 << shift) > BIAS_MOST || bias / (1 << shift) < -BIAS_MOST)
    shift++;
  return (int16_t)(bias / (1 << shift) * (1 << shift));
}

uint64_t cm_integer_scale(cm_integer_network *n, const double *scale)
{
  uint64_t clamped = 0;
  for (uint32_t v = 0; v < n->neurons; v++) {
    const double s = scale[n->group[v]];
    if (n->input[v])
      continue;
    n->parameter[v].threshold = n->threshold[v] < HUGE_VALF ? fit(round((double)n->threshold[v] * s) + 1 - cm_chip_neurons[n->parameter[v].model].above, WORD, &clamped) : INT16_MAX;
    n->parameter[v].rest = fit((double)n->rest[v] * s, WORD, &clamped);
    n->parameter[v].bias = shorten(fit((double)n->leak[v] * s, WORD, &clamped));
  }
  for (uint64_t i = 0; i < n->synapses; i++)
    n->synapse[i].weight = fit((double)n->synapse[i].real * scale[n->group[n->synapse[i].target]], n->words.bits, &clamped);
  for (uint32_t i = 0; i < n->biases; i++)
    n->bias[i].weight = fit((double)n->bias[i].real * scale[n->group[n->bias[i].target]], n->words.bits, &clamped);
  return clamped;
}
