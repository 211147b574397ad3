/* What can fail: a neuron with too many synapses that leave it. */
#include "core/limits/leaving.h"

#include <inttypes.h>
#include <string.h>

#include "core/limits/limits.h"

void cm_count_leaving(const cm_demand *demand, const uint32_t *part, const uint32_t *cluster, cm_leaving *leaving)
{
  const cm_topology *t = demand->network;
  memset(leaving, 0, t->vertex_count * sizeof *leaving);
  for (uint32_t e = 0; e < t->net_count; e++) {
    const uint32_t source = cm_topology_source(t, e), own = part[source];
    if (cm_demand_is_outside(demand, source))
      continue;
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      const uint32_t to = part[t->pin[i]];
      leaving[source].near += to != own && cluster[to] == cluster[own];
      leaving[source].far += cluster[to] != cluster[own];
    }
  }
}

cm_leaving cm_most_leaving(const cm_leaving *leaving, uint32_t vertices)
{
  cm_leaving most = {0, 0};
  for (uint32_t v = 0; v < vertices; v++) {
    most.near = leaving[v].near > most.near ? leaving[v].near : most.near;
    most.far = leaving[v].far > most.far ? leaving[v].far : most.far;
  }
  return most;
}

cm_status cm_refuse_leaving(const cm_topology *topology, const cm_limits *limits, const cm_leaving *leaving, cm_error *error)
{
  uint32_t worst = 0, most = 0, broken = 0;
  char name[96];
  for (uint32_t v = 0; v < topology->vertex_count; v++) {
    const uint32_t excess = cm_leaving_excess(limits, leaving[v]);
    broken += excess > 0;
    worst = excess > most ? v : worst;
    most = excess > most ? excess : most;
  }
  if (broken == 0)
    return CM_OK;
  const bool near = limits->near_synapses != 0 && leaving[worst].near > limits->near_synapses;
  const uint64_t use = near ? leaving[worst].near : leaving[worst].far, limit = near ? limits->near_synapses : limits->far_synapses;
  cm_name_neuron(topology, worst, name, sizeof name);
  cm_fail(error, CM_LIMIT_BROKEN, "%s has %" PRIu64 " synapses %s, and %" PRIu64 " are the most that may leave a neuron so; it is the worst of %" PRIu32
          " neurons for which no place was found, which does not prove that there is none: more cores, or smaller parts, may do",
          name, use, near ? "to other cores of its cluster" : "to cores beyond its cluster", limit, broken);
  error->limit_name = near ? "near_synapses_per_neuron" : "far_synapses_per_neuron";
  cm_error_figure(error, "neuron", worst);
  cm_error_figure(error, "use", use);
  cm_error_figure(error, "limit", limit);
  cm_error_figure(error, "neurons_broken", broken);
  return CM_LIMIT_BROKEN;
}

/* ---- proofs ---- */

/* So many synapses of a neuron can be held at all: its own core, other cores of its cluster, and beyond; UINT64_MAX: any number. */
static uint64_t held(const cm_chip *chip, const cm_limits *limits, uint64_t size)
{
  const uint64_t beside = limits->neurons - size; /* of other neurons on its core */
  uint64_t near = limits->near_synapses;
  if (chip->cluster_x != 0 && limits->far_synapses == 0)
    return UINT64_MAX;
  if (near == 0) {
    const uint64_t others = (uint64_t)chip->cluster_x * chip->cluster_y - 1;
    if (chip->cluster_x == 0 || limits->neurons > UINT32_MAX)
      return UINT64_MAX;
    near = others * limits->neurons;
  }
  return beside + near + (chip->cluster_x != 0 ? limits->far_synapses : 0);
}

cm_status cm_prove_leaving(const cm_demand *demand, const cm_chip *chip, const cm_limits *limits, cm_run *run, cm_error *error)
{
  const cm_topology *t = demand->network;
  uint64_t worst_use = 0, worst_held = 0, use = 0;
  uint32_t worst = 0, count = 0;
  char name[96];
  if (chip == NULL || !cm_leaving_is_limited(limits) || limits->neurons == 0)
    return CM_OK;
  for (uint32_t e = 0; e < t->net_count; e++) { /* nets of one source stand together; what they share with each other may lie on its core */
    const uint32_t source = cm_topology_source(t, e);
    const uint64_t most = held(chip, limits, cm_demand_size(demand, source));
    use = t->net_first[e + 1] - t->net_first[e];
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      use -= t->pin[i] == source || cm_demand_size(demand, t->pin[i]) == 0;
    if (most == UINT64_MAX || use <= most || cm_demand_is_outside(demand, source))
      continue;
    count++;
    if (use - most > worst_use - worst_held) {
      worst = source;
      worst_use = use;
      worst_held = most;
    }
  }
  if (count == 0)
    return cm_run_check(run, error);
  cm_name_neuron(t, worst, name, sizeof name);
  cm_fail(error, CM_NEURON_TOO_LARGE, "%s has %" PRIu64 " targets, and %" PRIu64 " are the most that its core, its cluster and far_synapses_per_neuron hold together "
          "(proved); it is the worst of %" PRIu32, name, worst_use, worst_held, count);
  cm_fail_at(error, "neuron %u", worst);
  error->limit_name = limits->near_synapses != 0 ? "near_synapses_per_neuron" : "far_synapses_per_neuron";
  cm_error_figure(error, "neuron", worst);
  cm_error_figure(error, "use", worst_use);
  cm_error_figure(error, "limit", worst_held);
  return CM_NEURON_TOO_LARGE;
}
