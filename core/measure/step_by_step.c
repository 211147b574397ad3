/* Happy path: the parts that each neuron reaches -> events of cores in every step -> its time; links where they can matter. What can fail: memory, stops. */
#include "core/measure/step_by_step.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/chip/geometry.h"
#include "core/mapping/options.h"
#include "core/measure/measure.h"
#include "core/partition/step/loads.h"

/* A part that a neuron's axons reach. */
typedef struct reached {
  uint32_t part, synapses;
} reached;

typedef struct work {
  const cm_mapped *on;
  const cm_spikes *spikes;
  cm_run *run;
  uint64_t *first; /* [neurons + 1] of its parts in */
  reached *reach;
  cm_core_events *rest, *now; /* [parts] of a step without spikes; of this one */
  uint64_t *peak;  /* [parts * CM_PEAKS] of this step */
  uint32_t *touched, *stamp; /* [parts] parts with events; step in which they were put there, plus 1 */
  double rest_ns, barrier_ns, link_ns; /* of the busiest core without spikes; a packet on the slowest link */
  double *ns, *bound;    /* [steps] time, and no more than that */
} work;

/* ---- reach ---- */

/* Counts, or writes, the parts that a net reaches; one more each for nets of the same neuron. */
static uint64_t reach_of(const work *w, uint32_t net, uint32_t *seen, uint64_t *at, reached *list)
{
  const cm_topology *t = w->on->demand->network;
  uint64_t count = 0;
  for (uint64_t i = t->net_first[net]; i < t->net_first[net + 1]; i++) {
    const uint32_t p = w->on->part[t->pin[i]];
    if (seen[p] != net + 1) {
      seen[p] = net + 1;
      at[p] = count++;
      if (list != NULL)
        list[at[p]] = (reached){p, 0};
    }
    if (list != NULL)
      list[at[p]].synapses++;
  }
  return count;
}

static cm_status make_reach(work *w, cm_error *error)
{
  const cm_topology *t = w->on->demand->network;
  uint32_t *seen = NULL;
  uint64_t *at = NULL;
  cm_status status = CM_NEW(w->run->memory, w->first, (size_t)t->vertex_count + 1, error);
  CM_THEN(status, CM_NEW_ALL(w->run->memory, error, CM_ARRAY(seen, w->on->parts), CM_ARRAY(at, w->on->parts)));
  for (uint32_t e = 0; e < t->net_count && status == CM_OK; e++)
    w->first[cm_topology_source(t, e) + 1] += reach_of(w, e, seen, at, NULL);
  for (uint32_t v = 0; v < t->vertex_count && status == CM_OK; v++)
    w->first[v + 1] += w->first[v];
  CM_THEN(status, CM_NEW(w->run->memory, w->reach, w->first[t->vertex_count] + 1, error));
  if (status == CM_OK)
    memset(seen, 0, w->on->parts * sizeof *seen);
  uint64_t next = 0; /* nets stand in the order of their sources */
  for (uint32_t e = 0; e < t->net_count && status == CM_OK; e++)
    next += reach_of(w, e, seen, at, w->reach + next);
  CM_FREE(seen, at);
  return status;
}

/* ---- a step ---- */

static void touch(work *w, uint32_t part, uint32_t step, uint32_t *count)
{
  if (w->stamp[part] == step + 1)
    return;
  w->stamp[part] = step + 1;
  w->touched[(*count)++] = part;
  w->now[part] = w->rest[part];
  memset(w->peak + (size_t)part * CM_PEAKS, 0, CM_PEAKS * sizeof *w->peak);
}

static void spike(work *w, uint32_t neuron, uint32_t step, uint32_t *count)
{
  const uint32_t home = w->on->part[neuron];
  touch(w, home, step, count);
  w->now[home].count[CM_CHARGE_SPIKE]++;
  w->peak[(size_t)home * CM_PEAKS + CM_PEAK_SPIKES]++;
  for (uint64_t i = w->first[neuron]; i < w->first[neuron + 1]; i++) {
    const uint32_t to = w->reach[i].part;
    touch(w, to, step, count);
    w->now[to].count[CM_CHARGE_PACKET_RECEIVED]++;
    w->now[to].count[CM_CHARGE_SYNAPSE] += w->reach[i].synapses;
    w->now[home].count[CM_CHARGE_PACKET_SENT]++;
    w->peak[(size_t)to * CM_PEAKS + CM_PEAK_PACKETS_IN] += to != home;
    w->peak[(size_t)home * CM_PEAKS + CM_PEAK_PACKETS_OUT] += to != home;
  }
}

static double core_ns(const work *w, uint32_t part, const cm_core_events *events)
{
  const cm_costs *costs = &w->on->chip->costs;
  const uint64_t *peak = w->peak + (size_t)part * CM_PEAKS;
  const uint64_t most = peak[CM_PEAK_PACKETS_IN] > peak[CM_PEAK_PACKETS_OUT] ? peak[CM_PEAK_PACKETS_IN] : peak[CM_PEAK_PACKETS_OUT];
  const double ns = cm_core_ns(costs, cm_receive_ns(costs, events), cm_send_ns(costs, events)),
               port = costs->port_packets_per_ns > 0 ? (double)most / costs->port_packets_per_ns : 0;
  return ns > port ? ns : port;
}

static void take_step(work *w, uint32_t step, cm_step_by_step *made)
{
  uint32_t count = 0;
  uint64_t packets = 0;
  double ns = w->rest_ns, spikes = 0, received = 0;
  const cm_spikes *s = w->spikes;
  for (uint64_t i = step < s->steps ? s->first[step] : 0; step < s->steps && i < s->first[step + 1]; i++)
    spike(w, s->neuron[i], step, &count);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t p = w->touched[i];
    const double here = core_ns(w, p, &w->now[p]);
    ns = here > ns ? here : ns;
    packets += w->peak[(size_t)p * CM_PEAKS + CM_PEAK_PACKETS_OUT];
    spikes += w->now[p].count[CM_CHARGE_SPIKE];
    received += w->now[p].count[CM_CHARGE_PACKET_RECEIVED];
    for (int k = 0; k < CM_PEAKS; k++) {
      const size_t at = (size_t)p * CM_PEAKS + (size_t)k;
      if (w->peak[at] > made->peak[at].most)
        made->peak[at] = (cm_peak_at){w->peak[at], step};
    }
  }
  const double barrier_ns = w->barrier_ns + cm_between_ns(&w->on->chip->costs.barrier, w->on->parts, spikes, received);
  w->ns[step] = ns + barrier_ns;
  w->bound[step] = (double)packets * w->link_ns + barrier_ns;
}

/* ---- links ---- */

/* The step's own metrics: what it takes with links. */
static cm_status measure_whole(work *w, uint32_t step, uint64_t *count, uint64_t *weight, cm_error *error)
{
  const cm_topology *t = w->on->demand->network;
  const cm_spikes *s = w->spikes;
  cm_demand demand = *w->on->demand;
  cm_mapped mapped = *w->on;
  cm_metrics metrics;
  cm_metrics_detail detail;
  for (uint64_t i = s->first[step]; i < s->first[step + 1]; i++)
    count[s->neuron[i]]++;
  for (uint32_t e = 0; e < t->net_count; e++)
    weight[e] = count[cm_topology_source(t, e)] * t->weight_scale;
  for (uint64_t i = s->first[step]; i < s->first[step + 1]; i++)
    count[s->neuron[i]] = 0;
  demand.net_weight = weight;
  mapped.demand = &demand;
  CM_TRY(cm_metrics_compute(&mapped, w->run, &metrics, &detail, error));
  cm_metrics_detail_free(&detail);
  w->ns[step] = metrics.step_ideal_ns;
  w->bound[step] = 0;
  return CM_OK;
}

/* The time that 1 % of the steps are at or above; *sorted [steps] is scratch. */
static double slow(const work *w, uint32_t steps, double *sorted)
{
  memcpy(sorted, w->ns, steps * sizeof *sorted);
  qsort(sorted, steps, sizeof *sorted, cm_ascending_real);
  return sorted[((uint64_t)steps * 99 + 99) / 100 - 1];
}

/* Steps in the order of what links can make of them, until none can come among the slowest. */
static cm_status measure_links(work *w, uint32_t steps, double *sorted, cm_error *error)
{
  uint64_t *count = NULL, *weight = NULL;
  const cm_topology *t = w->on->demand->network;
  cm_status status = CM_NEW_ALL(w->run->memory, error, CM_ARRAY(count, t->vertex_count), CM_ARRAY(weight, t->net_count));
  while (status == CM_OK) {
    uint32_t next = steps;
    for (uint32_t s = 0; s < steps; s++)
      if (w->bound[s] > w->ns[s] && (next == steps || w->bound[s] > w->bound[next]))
        next = s;
    if (next == steps || w->bound[next] <= slow(w, steps, sorted))
      break;
    status = measure_whole(w, next, count, weight, error);
  }
  CM_FREE(count, weight);
  return status;
}

/* ---- all ---- */

static cm_status work_new(work *w, uint32_t steps, cm_step_by_step *made, cm_error *error)
{
  cm_memory *memory = w->run->memory;
  const uint32_t parts = w->on->parts;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(w->rest, parts), CM_ARRAY(w->now, parts), CM_ARRAY(w->peak, (size_t)parts * CM_PEAKS),
                    CM_ARRAY(w->touched, parts), CM_ARRAY(w->stamp, parts), CM_ARRAY(w->ns, steps), CM_ARRAY(w->bound, steps),
                    CM_ARRAY(made->peak, (size_t)parts * CM_PEAKS)));
  return make_reach(w, error);
}

static void work_free(work *w)
{
  CM_FREE(w->first, w->reach, w->rest, w->now, w->peak, w->touched, w->stamp, w->ns, w->bound);
}

/* What the mean step says of all of them: neurons of cores and their biases, the barrier, the slowest link. */
static cm_status rest(work *w, const cm_mapping *mapping, cm_error *error)
{
  const cm_chip *chip = w->on->chip;
  const cm_window *window = &mapping->detail.window;
  double spikes = 0, received = 0;
  CM_TRY(cm_step_loads(w->on->demand, w->on->part, w->on->parts, w->run, w->rest, error));
  for (size_t i = 0; chip->costs.link_packets_per_ns > 0 && i < cm_window_links(window); i++) {
    const double ns = cm_chip_step_ns(chip, cm_window_link(window, i), 1);
    w->link_ns = ns > w->link_ns ? ns : w->link_ns;
  }
  for (uint32_t p = 0; p < w->on->parts; p++) {
    spikes += w->rest[p].count[CM_CHARGE_SPIKE];
    received += w->rest[p].count[CM_CHARGE_PACKET_RECEIVED];
    w->rest[p] = (cm_core_events){{[CM_CHARGE_NEURON] = w->rest[p].count[CM_CHARGE_NEURON]}};
  }
  for (uint32_t v = 0, net = 0; v < w->on->demand->network->vertex_count; v++)
    w->rest[w->on->part[v]].count[CM_CHARGE_SYNAPSE] += cm_demand_untold(w->on->demand, v, &net).synapses;
  for (uint32_t p = 0; p < w->on->parts; p++) {
    const double ns = core_ns(w, p, &w->rest[p]);
    w->rest_ns = ns > w->rest_ns ? ns : w->rest_ns;
  }
  w->barrier_ns = mapping->metrics.barrier_ns - cm_between_ns(&chip->costs.barrier, w->on->parts, spikes, received);
  return CM_OK;
}

static cm_status sum_up(work *w, uint32_t steps, cm_step_by_step *made, cm_error *error)
{
  double *sorted;
  CM_TRY(CM_NEW(w->run->memory, sorted, steps, error));
  cm_status status = w->link_ns > 0 ? measure_links(w, steps, sorted, error) : CM_OK;
  for (uint32_t s = 0; s < steps && status == CM_OK; s++) {
    made->mean_ns += w->ns[s] / steps;
    if (w->ns[s] > made->worst_ns) {
      made->worst_ns = w->ns[s];
      made->worst_step = s;
    }
  }
  made->p99_ns = status == CM_OK ? slow(w, steps, sorted) : 0;
  cm_free(sorted);
  return status;
}

cm_status cm_step_by_step_measure(const cm_map_input *input, const cm_mapping *mapping, cm_run *run, cm_step_by_step *made, cm_error *error)
{
  const cm_mapped mapped = cm_mapped_by(mapping, input->demand, input->chip);
  const uint32_t steps = input->options->profile;
  work w = {.on = &mapped, .spikes = input->spikes, .run = run};
  cm_step_by_step m = {.parts = mapped.parts};
  cm_status status = work_new(&w, steps, &m, error);
  CM_THEN(status, rest(&w, mapping, error));
  for (uint32_t s = 0; s < steps && status == CM_OK; s++) {
    take_step(&w, s, &m);
    status = cm_run_check(run, error);
  }
  CM_THEN(status, sum_up(&w, steps, &m, error));
  work_free(&w);
  CM_END(status, *made = m, cm_step_by_step_free(&m));
}

void cm_step_by_step_free(cm_step_by_step *made)
{
  cm_free(made->peak);
  *made = (cm_step_by_step){.parts = 0};
}

json_t *cm_step_by_step_json(const cm_step_by_step *m, const cm_mapped *mapped)
{
  static const char *const names[CM_PEAKS] = {"spikes", "packets_in", "packets_out"};
  const uint32_t width = mapped->chip->width;
  json_t *peaks = json_object();
  for (int k = 0; k < CM_PEAKS; k++) {
    uint32_t most = 0;
    for (uint32_t p = 1; p < m->parts; p++)
      most = m->peak[(size_t)p * CM_PEAKS + (size_t)k].most > m->peak[(size_t)most * CM_PEAKS + (size_t)k].most ? p : most;
    const cm_peak_at *at = &m->peak[(size_t)most * CM_PEAKS + (size_t)k];
    (void)json_object_set_new(peaks, names[k],
                              json_pack("{s:I, s:I, s:I, s:I}", "most", (json_int_t)at->most, "x", (json_int_t)(mapped->core[most] % width), "y",
                                        (json_int_t)(mapped->core[most] / width), "step", (json_int_t)at->step));
  }
  return json_pack("{s:f, s:f, s:f, s:I, s:o}", "mean_ns", m->mean_ns, "p99_ns", m->p99_ns, "worst_ns", m->worst_ns, "worst_step",
                   (json_int_t)m->worst_step, "peaks", peaks);
}
