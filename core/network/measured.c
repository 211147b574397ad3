#include "core/network/measured.h"

#include <stdio.h>

#include "base/threads.h"
#include "core/network/rates.h"

static cm_status list_inputs(const cm_topology *t, const cm_spikes *spikes, cm_memory *memory, cm_measured *m, cm_error *error)
{
  for (int writes = 0; writes < 2; writes++) {
    m->inputs = 0;
    for (uint32_t s = 0; s < m->steps && s < spikes->steps; s++)
      for (uint64_t i = spikes->first[s]; i < spikes->first[s + 1]; i++)
        if (t->dynamics->model[spikes->neuron[i]] == CM_NEURON_INPUT) {
          if (writes) {
            m->stimulus[2 * m->inputs] = s;
            m->stimulus[2 * m->inputs + 1] = spikes->neuron[i];
          }
          m->inputs++;
        }
    CM_TRY_IF(!writes, CM_NEW(memory, m->stimulus, 2 * m->inputs, error));
  }
  return CM_OK;
}

static void forget(cm_measured *measured)
{
  CM_FREE(measured->spikes, measured->stimulus);
  *measured = (cm_measured){.neurons = 0};
}

cm_status cm_measured_count(const cm_topology *topology, const cm_spikes *spikes, cm_memory *memory, cm_measured *measured, cm_error *error)
{
  cm_measured m = *measured;
  const uint32_t steps = m.steps, windows = m.windows;
  m.neurons = spikes->neurons;
  CM_TRY(CM_NEW(memory, m.spikes, (size_t)windows * m.neurons, error));
  for (uint32_t w = 0; w < windows; w++)
    for (uint64_t s = cm_slice_begin(steps, w, windows); s < cm_slice_begin(steps, w + 1, windows) && s < spikes->steps; s++)
      for (uint64_t i = spikes->first[s]; i < spikes->first[s + 1]; i++)
        m.spikes[(size_t)w * m.neurons + spikes->neuron[i]]++;
  CM_END(list_inputs(topology, spikes, memory, &m, error), *measured = m, forget(&m));
}

static cm_status set_rates(cm_topology *t, const cm_measured *m, cm_run *run, cm_error *error)
{
  cm_scenario_name name[CM_SCENARIOS_MAX];
  double *rate;
  CM_TRY(CM_NEW(run->memory, rate, (size_t)m->windows * m->neurons, error));
  for (uint32_t w = 0; w < m->windows; w++) {
    const double steps = (double)(cm_slice_begin(m->steps, w + 1, m->windows) - cm_slice_begin(m->steps, w, m->windows));
    (void)snprintf(name[w], sizeof name[w], "window-%u", w + 1);
    for (size_t i = (size_t)w * m->neurons; i < (size_t)(w + 1) * m->neurons; i++)
      rate[i] = (double)m->spikes[i] / steps;
  }
  cm_status status = m->windows > 1 ? cm_topology_set_scenarios(t, (const cm_scenario_name *)name, m->windows, rate, run, error)
                                    : cm_topology_set_rates(t, rate, run, error);
  cm_free(rate);
  return status;
}

cm_status cm_topology_measured(const cm_topology *topology, cm_measured *measured, cm_run *run, cm_topology **made, cm_error *error)
{
  cm_topology *t = NULL;
  cm_measured *kept = NULL;
  if (CM_NEW(run->memory, t, 1, error) != CM_OK || CM_NEW(run->memory, kept, 1, error) != CM_OK) {
    cm_free(t);
    forget(measured);
    return error->status;
  }
  *kept = *measured;
  *measured = (cm_measured){.neurons = 0};
  *t = *topology;
  t->lender = topology;
  t->measured = kept;
  CM_END(set_rates(t, kept, run, error), *made = t, cm_topology_free(t));
}
