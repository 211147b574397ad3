/* The quantised reference: sums of integers, step by step. */
#include <string.h>

#include "core/deploy/integer_network.h"
#include "core/spiking/coefficients.h"

/* Sums of the steps up to the longest delay: sum [SLOTS * neurons]. */
enum { SLOTS = 128 };

typedef struct engine {
  const cm_integer_network *n;
  cm_chip_state *state;
  int32_t *sum;
  uint32_t *fired; /* [neurons] */
  uint32_t count;
  uint32_t steps;  /* of the network */
  cm_spike *own;   /* [held] in the network's own steps, as they come */
  uint64_t held, room;
} engine;

static int32_t *sums(const engine *e, uint32_t step)
{
  return e->sum + (size_t)(step % SLOTS) * e->n->neurons;
}

static void send(const engine *e, uint32_t step)
{
  const cm_integer_network *n = e->n;
  for (uint32_t k = 0; k < e->count; k++)
    for (uint64_t i = n->first[e->fired[k]]; i < n->first[e->fired[k] + 1]; i++)
      sums(e, step + n->hop + n->synapse[i].delay)[n->synapse[i].target] += n->synapse[i].weight;
}

static cm_status take_inputs(const engine *e, const cm_spikes *given, uint32_t step, cm_error *error)
{
  const cm_integer_network *n = e->n;
  char called[96];
  if (step >= given->steps)
    return CM_OK;
  for (uint64_t i = given->first[step]; i < given->first[step + 1]; i++) {
    const uint32_t v = given->neuron[i];
    if (!n->input[v])
      continue;
    if (sums(e, step)[v] > 0)
      return cm_fail(error, CM_CONFLICT, "%s is to spike twice in step %u, but the chip's inputs spike once a step at most", cm_neuron_called(n->topology, v, called, sizeof called), step);
    sums(e, step)[v] = 1;
  }
  return CM_OK;
}

static void update(engine *e, uint32_t step, uint64_t *clamped)
{
  const cm_integer_network *n = e->n;
  int32_t *in = sums(e, step);
  for (uint32_t i = 0; i < n->biases; i++)
    if (n->bias[i].start <= step)
      in[n->bias[i].target] += n->bias[i].weight;
  e->count = 0;
  for (uint32_t v = 0; v < n->neurons; v++) {
    const cm_chip_parameters *p = &n->parameter[v];
    if (cm_chip_neurons[p->model].step(p, in[v], &e->state[v]))
      e->fired[e->count++] = v;
    clamped[n->group[v]] += e->state[v].v == p->v_min || e->state[v].v == p->v_max;
  }
  if (n->neurons > 0)
    memset(in, 0, n->neurons * sizeof *in);
}

/* Keeps those of the network's own steps; of a step they come in several of the chip's, later populations later. */
static cm_status keep(engine *e, uint32_t step, cm_run *run, cm_error *error)
{
  CM_TRY(CM_ROOM(run->memory, e->own, &e->room, e->held + e->count, error));
  for (uint32_t k = 0; k < e->count; k++) {
    const uint32_t late = e->n->shift[e->fired[k]];
    if (step >= late && step - late < e->steps)
      e->own[e->held++] = (cm_spike){step - late, e->fired[k]};
  }
  return CM_OK;
}

static cm_status run_steps(engine *e, const cm_spikes *given, cm_run *run, cm_integer_result *r, cm_error *error)
{
  uint64_t work = 0;
  for (uint32_t step = 0; step < e->steps + e->n->shift_most; step++) {
    CM_TRY_IF(step < e->steps, take_inputs(e, given, step, error));
    update(e, step, r->clamped);
    send(e, step);
    CM_TRY(keep(e, step, run, error));
    CM_TRY_IF(cm_run_due(&work, e->n->neurons), cm_run_check(run, error));
  }
  return cm_spikes_sort(e->own, e->held, true, run->memory, &r->spikes, error);
}

cm_status cm_integer_run(const cm_integer_network *network, const cm_spikes *given, uint32_t steps, cm_run *run, cm_integer_result *result, cm_error *error)
{
  cm_integer_result r = {.spikes = {.neurons = network->neurons, .steps = steps}};
  engine e = {.n = network, .steps = steps};
  cm_memory *memory = run->memory;
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(e.state, network->neurons), CM_ARRAY(e.sum, (size_t)SLOTS * network->neurons),
                                CM_ARRAY(e.fired, network->neurons), CM_ARRAY(r.clamped, network->groups));
  CM_THEN(status, run_steps(&e, given, run, &r, error));
  CM_FREE(e.state, e.sum, e.fired, e.own);
  CM_END(status, *result = r, cm_integer_result_free(&r));
}

void cm_integer_result_free(cm_integer_result *result)
{
  cm_spikes_free(&result->spikes);
  cm_free(result->clamped);
  *result = (cm_integer_result){.clamped = NULL};
}
