#include "core/spiking/stimulus.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/random.h"
#include "core/network/dynamics.h"
#include "core/spiking/coefficients.h"

static cm_status check_spike(const cm_topology *t, uint32_t neuron, uint32_t step, uint32_t steps, cm_error *error)
{
  char called[96];
  (void)cm_neuron_called(t, neuron, called, sizeof called);
  if (step >= steps)
    return cm_fail(error, CM_BAD_OPTION, "%s is to spike in step %u, but only steps 0 to %u are asked for", called, step, steps - 1);
  if (t->dynamics->model[neuron] != CM_NEURON_INPUT)
    return cm_fail(error, CM_BAD_OPTION, "%s is to spike in step %u, but it is no input: it is a %s, which spikes by itself", called, step,
                   cm_neuron_models[t->dynamics->model[neuron]].name);
  return CM_OK;
}

cm_status cm_stimulus_given(const cm_topology *topology, cm_spikes *spikes, uint32_t steps, cm_run *run, cm_stimulus *stimulus, cm_error *error)
{
  cm_stimulus s = {.spikes = *spikes, .memory = run->memory};
  *spikes = (cm_spikes){0};
  cm_status status = CM_OK;
  for (uint32_t k = 0; k < s.spikes.steps && status == CM_OK; k++) {
    for (uint64_t i = s.spikes.first[k]; i < s.spikes.first[k + 1] && status == CM_OK; i++)
      status = check_spike(topology, s.spikes.neuron[i], k, steps, error);
    qsort(s.spikes.neuron + s.spikes.first[k], s.spikes.first[k + 1] - s.spikes.first[k], sizeof *s.spikes.neuron, cm_ascending);
  }
  if (status == CM_OK)
    *stimulus = s;
  else
    cm_stimulus_free(&s);
  return status;
}

/* The first step from `from` on in which an input fires: gaps are geometric. */
static uint32_t draw(const cm_stimulus *s, uint32_t i, uint32_t from)
{
  static const uint64_t stream = 0x706f6973736f6eU;
  const double u = 1 - cm_random_unit_of(cm_mix(cm_mix(s->seed ^ stream) ^ s->input[i]), from);
  const double gap = s->chance[i] < 1 ? floor(log(u) / log1p(-s->chance[i])) : 0;
  return gap < UINT32_MAX - from ? from + (uint32_t)gap : UINT32_MAX;
}

cm_status cm_stimulus_poisson(const cm_topology *topology, const cm_poisson *poisson, cm_run *run, cm_stimulus *stimulus, cm_error *error)
{
  cm_stimulus s = {.seed = poisson->seed, .memory = run->memory};
  char called[96];
  cm_status status = CM_NEW(run->memory, s.input, topology->vertex_count, error);
  if (status == CM_OK && (CM_NEW(run->memory, s.chance, topology->vertex_count, error) != CM_OK ||
                          CM_NEW(run->memory, s.next, topology->vertex_count, error) != CM_OK))
    status = error->status;
  for (uint32_t v = 0; v < topology->vertex_count && status == CM_OK; v++) {
    const double here = (poisson->hertz != NULL ? poisson->hertz[v] : poisson->rate) * poisson->dt;
    if (topology->dynamics->model[v] != CM_NEURON_INPUT || !(here > 0))
      continue;
    if (here > 1)
      status = cm_fail(error, CM_BAD_OPTION, "%s is to spike %g times a second, which is %g times a step of %g s: 1 is the most",
                       cm_neuron_called(topology, v, called, sizeof called), here / poisson->dt, here, poisson->dt);
    s.input[s.inputs] = v;
    s.chance[s.inputs] = here;
    s.next[s.inputs] = draw(&s, s.inputs, 0);
    s.inputs++;
  }
  if (status == CM_OK)
    *stimulus = s;
  else
    cm_stimulus_free(&s);
  return status;
}

cm_status cm_stimulus_step(cm_stimulus *s, uint32_t step, const uint32_t **input, uint32_t *count, cm_error *error)
{
  if (s->spikes.first != NULL) {
    const bool some = step < s->spikes.steps;
    *input = s->spikes.neuron + (some ? s->spikes.first[step] : 0);
    *count = some ? (uint32_t)(s->spikes.first[step + 1] - s->spikes.first[step]) : 0;
    return CM_OK;
  }
  CM_TRY(CM_ROOM(s->memory, s->now, &s->room, s->inputs, error));
  uint32_t some = 0;
  for (uint32_t i = 0; i < s->inputs; i++)
    if (s->next[i] == step) {
      s->now[some++] = s->input[i];
      s->next[i] = draw(s, i, step + 1);
    }
  *input = s->now;
  *count = some;
  return CM_OK;
}

void cm_stimulus_free(cm_stimulus *stimulus)
{
  cm_spikes_free(&stimulus->spikes);
  CM_FREE(stimulus->input, stimulus->chance, stimulus->next, stimulus->now);
  *stimulus = (cm_stimulus){.inputs = 0};
}
