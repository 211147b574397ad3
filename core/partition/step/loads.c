#include "core/partition/step/loads.h"

#include "base/threads.h"
#include "core/limits/copies.h"

enum { TASKS_MAX = 16, TASK_PINS = 1 << 16 };

/* Sums of scaled rates by part, of one task. */
typedef struct sums {
  uint64_t *received, *sent, *synapses, *spikes; /* [parts] each, one block */
  uint32_t *seen;                                /* [parts] last net that reached the part, plus 1 */
} sums;

typedef struct work {
  const cm_demand *demand;
  const uint32_t *part;
  uint32_t tasks;
  sums *sums; /* [tasks] */
} work;

static void count_axon(const cm_demand *demand, const uint32_t *part, uint32_t net, sums *s)
{
  const cm_topology *t = demand->network;
  uint64_t rate = cm_demand_net_weight(demand, net), packets = 0;
  uint32_t home = part[cm_topology_source(t, net)];
  for (uint64_t i = t->net_first[net]; i < t->net_first[net + 1]; i++) {
    uint32_t p = part[t->pin[i]];
    s->synapses[p] += rate;
    if (s->seen[p] == net + 1)
      continue;
    s->seen[p] = net + 1;
    s->received[p] += rate;
    packets += rate;
  }
  s->sent[home] += packets;
  s->spikes[home] += rate;
}

static void count_row(const cm_demand *demand, const uint32_t *part, uint32_t net, sums *s)
{
  const cm_topology *t = demand->network;
  uint32_t home = part[net];
  for (uint64_t i = t->net_first[net]; i < t->net_first[net + 1]; i++) {
    uint64_t weight = cm_demand_pin_weight(demand, net, i);
    s->synapses[part[t->pin[i]]] += weight;
    s->received[part[t->pin[i]]] += weight;
    s->sent[home] += weight;
  }
}

static cm_status count_slice(void *context, size_t index, CM_UNUSED cm_error *error)
{
  const work *w = context;
  uint32_t from = (uint32_t)cm_slice_begin(w->demand->network->net_count, index, w->tasks),
           to = (uint32_t)cm_slice_begin(w->demand->network->net_count, index + 1, w->tasks);
  for (uint32_t net = from; net < to; net++)
    if (w->demand->network->directed)
      count_axon(w->demand, w->part, net, &w->sums[index]);
    else
      count_row(w->demand, w->part, net, &w->sums[index]);
  return CM_OK;
}

static cm_status sums_new(sums *s, uint32_t parts, cm_memory *memory, cm_error *error)
{
  CM_TRY(CM_NEW(memory, s->received, (size_t)parts * 4, error));
  CM_TRY(CM_NEW(memory, s->seen, parts, error));
  s->sent = s->received + parts;
  s->synapses = s->sent + parts;
  s->spikes = s->synapses + parts;
  return CM_OK;
}

static void fill(const work *w, uint32_t parts, const uint32_t *copies, cm_core_events *events)
{
  const cm_topology *t = w->demand->network;
  double unit = (double)t->weight_scale * (t->directed ? 1 : 2);
  for (uint32_t p = 0; p < parts; p++) {
    uint64_t received = 0, sent = 0, synapses = 0, spikes = 0;
    for (uint32_t i = 0; i < w->tasks; i++) {
      const sums *s = &w->sums[i];
      received += s->received[p];
      sent += s->sent[p];
      synapses += s->synapses[p];
      spikes += s->spikes[p];
    }
    events[p] = (cm_core_events){{[CM_CHARGE_PACKET_SENT] = (double)sent / unit,
                                  [CM_CHARGE_PACKET_RECEIVED] = (double)received / unit,
                                  [CM_CHARGE_SYNAPSE] = (double)synapses / unit,
                                  [CM_CHARGE_SPIKE] = (double)spikes / unit}};
  }
  for (uint32_t v = 0, net = 0; v < t->vertex_count; v++) {
    const cm_untold untold = cm_demand_untold(w->demand, v, &net);
    double *count = events[w->part[v]].count;
    count[CM_CHARGE_NEURON] += (double)cm_demand_size(w->demand, v) * (copies != NULL ? copies[v] : 1);
    count[CM_CHARGE_SPIKE] += untold.spikes;
    count[CM_CHARGE_SYNAPSE] += untold.synapses;
  }
}

cm_status cm_step_loads(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run,
                        cm_core_events *events, cm_error *error)
{
  const cm_topology *topology = demand->network;
  uint64_t tasks = topology->pin_count / TASK_PINS + 1;
  tasks = tasks > run->threads ? run->threads : tasks;
  work w = {.demand = demand, .part = part, .tasks = tasks > TASKS_MAX ? TASKS_MAX : (uint32_t)tasks};
  CM_TRY(CM_NEW(run->memory, w.sums, w.tasks, error));
  uint32_t *copies = NULL;
  cm_status status = CM_OK;
  for (uint32_t i = 0; i < w.tasks && status == CM_OK; i++)
    status = sums_new(&w.sums[i], parts, run->memory, error);
  CM_THEN(status, cm_parallel(run, w.tasks, count_slice, &w, error));
  if (status == CM_OK && demand->target_cores_max != 0 && (status = CM_NEW(run->memory, copies, topology->vertex_count, error)) == CM_OK)
    status = cm_count_copies(demand, part, parts, run, copies, error);
  if (status == CM_OK)
    fill(&w, parts, copies, events);
  cm_free(copies);
  for (uint32_t i = 0; i < w.tasks; i++) {
    CM_FREE(w.sums[i].received, w.sums[i].seen);
  }
  cm_free(w.sums);
  return status;
}

cm_status cm_step_bias_sources(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_memory *memory, uint32_t *sources, cm_error *error)
{
  bool *biased;
  *sources = 0;
  if (!demand->bias_sources)
    return CM_OK;
  CM_TRY(CM_NEW(memory, biased, parts, error));
  for (uint32_t v = 0, net = 0; v < demand->network->vertex_count; v++)
    if (cm_demand_untold(demand, v, &net).synapses > 0 && !biased[part[v]]) {
      biased[part[v]] = true;
      *sources += parts > 1 ? 2 : 1;
    }
  cm_free(biased);
  return CM_OK;
}
