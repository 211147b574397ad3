#include "core/partition/step/step_bound.h"

#include <stdlib.h>

#include "core/partition/step/step_state.h"

static double max2(double a, double b)
{
  return a > b ? a : b;
}

cm_status cm_step_totals_count(const cm_demand *demand, const cm_costs *c, cm_run *run, cm_step_totals *totals, cm_error *error)
{
  const cm_topology *t = demand->network;
  double received = c->charge[CM_CHARGE_PACKET_RECEIVED].ns, synapse = c->charge[CM_CHARGE_SYNAPSE].ns,
         firing = c->charge[CM_CHARGE_SPIKE].ns + c->charge[CM_CHARGE_PACKET_SENT].ns;
  double *input, *send = NULL;
  cm_step_totals sum = {.neurons = t->vertex_count};
  cm_status status = CM_NEW(run->memory, input, t->vertex_count, error);
  CM_THEN(status, CM_NEW(run->memory, send, t->vertex_count, error));
  for (uint32_t e = 0; e < t->net_count && status == CM_OK; e++) {
    double rate = (double)cm_demand_net_weight(demand, e) / (double)t->weight_scale;
    send[cm_topology_source(t, e)] += firing * rate;
    sum.spikes += rate;
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      input[t->pin[i]] += rate;
  }
  for (uint32_t v = 0, net = 0; v < t->vertex_count && status == CM_OK; v++) {
    const double untold = cm_demand_untold(demand, v, &net).spikes;
    double sends = send[v] + c->charge[CM_CHARGE_NEURON].ns * cm_demand_size(demand, v) + c->charge[CM_CHARGE_SPIKE].ns * untold;
    sum.spikes += untold;
    sum.neuron_ns = max2(sum.neuron_ns, cm_core_ns(c, (received + synapse) * input[v], sends));
    sum.events += input[v];
    sum.sending += sends;
  }
  CM_FREE(input, send);
  if (status == CM_OK)
    *totals = sum;
  return status;
}

cm_step_bound cm_step_bound_plain(const cm_step_totals *t, const cm_costs *c, uint32_t parts)
{
  cm_step_bound b = {.neuron_ns = t->neuron_ns, .fixed_ns = cm_barrier_ns(&c->barrier, 1) + cm_between_ns(&c->barrier, 1, t->spikes, 0)};
  if (t->neurons == 0)
    return b;
  double receiving = c->charge[CM_CHARGE_PACKET_RECEIVED].ns * t->events / t->neurons + c->charge[CM_CHARGE_SYNAPSE].ns * t->events / parts;
  b.send_ns = t->sending / parts;
  b.shared_ns = c->side_by_side ? receiving : receiving + b.send_ns;
  b.ns = max2(b.neuron_ns, max2(b.shared_ns, b.send_ns));
  return b;
}

/* One neuron that shares inputs with another, per rate of the other's input. */
typedef struct companion {
  double share, events; /* shared rate per synapse event; synapse events that it brings */
} companion;

static int by_share(const void *a, const void *b)
{
  double x = ((const companion *)a)->share, y = ((const companion *)b)->share;
  return (x < y) - (x > y);
}

/* The least that every neuron pays for packets, as curves: companions by falling share, as far as any time that is asked for lets in. */
typedef struct overlaps {
  uint64_t *first; /* [vertices + 1] */
  companion *list;
  uint64_t room, count;
} overlaps;

/* Synapse events of companions that a neuron's part has time for. */
static double left_beside(const cm_step_state *s, uint32_t v, double ns)
{
  const double w = s->input[v];
  return (ns - s->costs->charge[CM_CHARGE_PACKET_RECEIVED].ns * w) / s->costs->charge[CM_CHARGE_SYNAPSE].ns - w;
}

/* Companions for times up to `most_ns`. */
static cm_status gather(const cm_step_state *s, double most_ns, overlaps *o, cm_error *error)
{
  const cm_topology *t = s->demand->network;
  cm_memory *memory = s->run->memory;
  double *shared = NULL;
  uint32_t *touched = NULL;
  cm_status status = CM_OK;
  if (CM_NEW(memory, o->first, (size_t)t->vertex_count + 1, error) != CM_OK ||
      CM_NEW(memory, shared, t->vertex_count, error) != CM_OK ||
      CM_NEW(memory, touched, t->vertex_count, error) != CM_OK)
    status = error->status;
  for (uint32_t v = 0; v < t->vertex_count && status == CM_OK; v++) {
    uint32_t count = 0;
    for (uint64_t i = s->in_first[v]; i < s->in_first[v + 1]; i++)
      for (uint64_t k = t->net_first[s->in_net[i]]; k < t->net_first[s->in_net[i] + 1]; k++) {
        uint32_t u = t->pin[k];
        if (u == v || s->rate[s->in_net[i]] <= 0)
          continue;
        if (shared[u] <= 0)
          touched[count++] = u;
        shared[u] += s->rate[s->in_net[i]];
      }
    status = CM_ROOM(memory, o->list, &o->room, o->count + count, error);
    for (uint32_t i = 0; i < count; i++) {
      uint32_t u = touched[i];
      if (status == CM_OK)
        o->list[o->count++] = (companion){shared[u] / s->input[u], s->input[u]};
      shared[u] = 0;
    }
    if (status == CM_OK) {
      if (count > 1)
        qsort(o->list + o->first[v], count, sizeof *o->list, by_share);
      double left = left_beside(s, v, most_ns);
      for (o->count = o->first[v]; o->count < o->first[v] + count && left > 0; o->count++)
        left -= o->list[o->count].events;
      o->first[v + 1] = o->count;
      status = v % 256 == 0 ? cm_run_check(s->run, error) : CM_OK;
    }
  }
  CM_FREE(shared, touched);
  return status;
}

/* Whether parts of at most `ns` may hold everything: the companions of a neuron bring at most the synapse events that
 * time leaves, those that share most first; each of the neuron's axons is then paid for by as many. */
static bool is_possible(const cm_step_state *s, const overlaps *o, uint32_t parts, double ns)
{
  const cm_costs *c = s->costs;
  double received = c->charge[CM_CHARGE_PACKET_RECEIVED].ns, synapse = c->charge[CM_CHARGE_SYNAPSE].ns, sum = 0;
  for (uint32_t v = 0; v < s->demand->network->vertex_count; v++) {
    double w = s->input[v], left = left_beside(s, v, ns), shared = 0;
    if (w <= 0)
      continue;
    if (left < 0)
      return false;
    for (uint64_t i = o->first[v]; i < o->first[v + 1] && left > 0; i++) {
      double take = o->list[i].events < left ? o->list[i].events : left;
      shared += take * o->list[i].share;
      left -= take;
    }
    sum += received * w * w / (w + shared) + synapse * w;
  }
  return sum <= parts * ns;
}

static cm_status search_overlaps(const cm_step_state *s, uint32_t parts, cm_step_bound *b, cm_error *error)
{
  enum { HALVINGS = 40 };
  overlaps o = {0};
  double low = b->ns, high = 2 * b->ns, sum = 0, most = 0;
  for (uint32_t v = 0; v < s->demand->network->vertex_count; v++) {
    sum += s->input[v];
    most = max2(most, s->input[v]);
  }
  most = (s->costs->charge[CM_CHARGE_PACKET_RECEIVED].ns + s->costs->charge[CM_CHARGE_SYNAPSE].ns) * max2(most, sum / parts); /* possible in any case */
  cm_status status = gather(s, most, &o, error);
  if (status == CM_OK && !is_possible(s, &o, parts, low)) {
    while (!is_possible(s, &o, parts, high))
      high *= 2;
    for (int i = 0; i < HALVINGS; i++) {
      double middle = (low + high) / 2;
      if (is_possible(s, &o, parts, middle))
        high = middle;
      else
        low = middle;
    }
    b->overlap_ns = low;
  }
  CM_FREE(o.first, o.list);
  return status;
}

static cm_status bound_by_overlaps(const cm_demand *demand, const cm_costs *costs, uint32_t parts, cm_run *run,
                                   cm_step_bound *b, cm_error *error)
{
  cm_limits none = {0};
  cm_step_state state;
  CM_TRY(cm_step_state_new(demand, costs, &none, 1, run, &state, error));
  cm_status status = search_overlaps(&state, parts, b, error);
  cm_step_state_free(&state);
  return status;
}

cm_status cm_step_bound_compute(const cm_demand *demand, const cm_costs *costs, uint32_t parts, double work,
                                cm_run *run, cm_step_bound *bound, cm_error *error)
{
  const cm_topology *t = demand->network;
  cm_step_totals totals = {0};
  double steps = 0;
  cm_status status = cm_step_totals_count(demand, costs, run, &totals, error);
  cm_step_bound b = cm_step_bound_plain(&totals, costs, parts);
  for (uint32_t e = 0; e < t->net_count; e++)
    steps += (double)(t->net_first[e + 1] - t->net_first[e]) * (double)(t->net_first[e + 1] - t->net_first[e]);
  if (status == CM_OK && steps <= work && costs->charge[CM_CHARGE_SYNAPSE].ns > 0 && b.ns > 0)
    status = bound_by_overlaps(demand, costs, parts, run, &b, error);
  if (status != CM_OK)
    return status;
  b.ns = max2(b.ns, b.overlap_ns);
  *bound = b;
  return CM_OK;
}
