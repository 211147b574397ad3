#include "core/limits/limits.h"

#include <stdio.h>
#include <string.h>

#include "base/threads.h"
#include "core/limits/copies.h"
#include "core/network/nets_by_part.h"

enum { CHECK_EVERY = 4096, CHECK_PINS = 1 << 18, TABLES_MAX = 8 };

/* Counting on several threads: every slice counts into a table of its own. */
typedef struct counting {
  const cm_demand *demand;
  const uint32_t *part;
  uint32_t parts, slices;
  cm_run *run;
  const uint32_t *first, *net; /* nets by the part of their source */
  uint64_t **use;              /* [slices][parts * CM_RESOURCES] */
  cm_cuts *cuts;               /* [slices] */
} counting;

/* When a part has been reached last. */
typedef struct reach {
  uint32_t net, source, part; /* by which of each, plus one */
  uint32_t found;             /* of the array's n-th: the n-th part that the net under way reaches */
} reach;

/* What the net's pins in other parts weigh: of a topology whose pins have weights. */
static unsigned __int128 cut_weight(const counting *c, uint32_t e, uint32_t own)
{
  const cm_topology *topology = c->demand->network;
  unsigned __int128 weight = 0;
  for (uint64_t i = topology->net_first[e]; i < topology->net_first[e + 1]; i++)
    if (c->part[topology->pin[i]] != own)
      weight += topology->pin_weight[i];
  return weight;
}

/* A net whose source is in part p; `reached` [parts + 1]. */
static void count_net(const counting *c, uint32_t e, uint32_t p, uint64_t *use, reach *reached, cm_cuts *cuts)
{
  const cm_topology *topology = c->demand->network;
  const uint32_t *part = c->part;
  uint32_t source = cm_topology_source(topology, e), others = 0, found = 0;
  uint64_t cut = 0, weight = cm_demand_net_weight(c->demand, e);
  for (uint64_t i = topology->net_first[e]; i < topology->net_first[e + 1]; i++) {
    uint32_t to = part[topology->pin[i]];
    use[(size_t)to * CM_RESOURCES + CM_SYNAPSES]++;
    cut += to != p;
    reached[found].found = to;
    found += reached[to].net != e + 1;
    reached[to].net = e + 1;
  }
  for (uint32_t k = 0; k < found; k++) {
    uint32_t to = reached[k].found;
    reach *at = &reached[to];
    others += to != p;
    if (at->source == source + 1)
      continue; /* by another net of the source */
    at->source = source + 1;
    use[(size_t)to * CM_RESOURCES + CM_INBOUND_AXONS]++;
    if (to == p)
      continue;
    use[(size_t)p * CM_RESOURCES + CM_OUTBOUND_AXONS]++;
    use[(size_t)p * CM_RESOURCES + CM_TARGET_CORES] += at->part != p + 1;
    use[(size_t)to * CM_RESOURCES + CM_SOURCE_CORES] += at->part != p + 1;
    at->part = p + 1;
  }
  cuts->synapses += topology->pin_weight == NULL ? (unsigned __int128)cut * weight : cut_weight(c, e, p);
  cuts->ways += (unsigned __int128)others * weight;
  cuts->nets += others > 0 ? weight : 0;
}

/* The parts of a slice, each with all nets of its neurons; the nets of one source stand together. */
static cm_status count_slice(void *context, size_t slice, cm_error *error)
{
  const counting *c = context;
  reach *reached;
  CM_TRY(CM_NEW_ALL(c->run->memory, error, CM_ARRAY(c->use[slice], (size_t)c->parts * CM_RESOURCES), CM_ARRAY(reached, (size_t)c->parts + 1)));
  uint32_t end = (uint32_t)cm_slice_begin(c->parts, slice + 1, c->slices), done = 0;
  cm_status status = CM_OK;
  cm_cuts cuts = {0};
  for (uint32_t p = (uint32_t)cm_slice_begin(c->parts, slice, c->slices); p < end && status == CM_OK; p++)
    for (uint32_t j = c->first[p]; j < c->first[p + 1] && status == CM_OK; j++) {
      count_net(c, c->net[j], p, c->use[slice], reached, &cuts);
      if (++done % CHECK_EVERY == 0)
        status = cm_run_check(c->run, error);
    }
  c->cuts[slice] = cuts;
  cm_free(reached);
  return status;
}

/* A slice's table is not to outweigh what it counts. */
static uint32_t worthy_slices(const cm_topology *topology, uint32_t parts, const cm_run *run)
{
  uint64_t most = topology->pin_count / ((uint64_t)parts * CM_RESOURCES + 1) + 1;
  return run->threads < most ? run->threads : (uint32_t)most;
}

static cm_status count_all(counting *c, uint64_t *use, uint32_t *copies, cm_error *error)
{
  const cm_topology *topology = c->demand->network;
  if (cm_parallel(c->run, c->slices, count_slice, c, error) != CM_OK ||
      (copies != NULL && cm_count_copies(c->demand, c->part, c->parts, c->run, copies, error) != CM_OK))
    return error->status;
  memset(use, 0, (size_t)c->parts * CM_RESOURCES * sizeof *use);
  for (uint32_t v = 0; v < topology->vertex_count; v++)
    use[(size_t)c->part[v] * CM_RESOURCES + CM_NEURONS] += (uint64_t)cm_demand_size(c->demand, v) * (copies != NULL ? copies[v] : 1);
  for (uint32_t s = 0; s < c->slices; s++)
    for (size_t i = 0; i < (size_t)c->parts * CM_RESOURCES; i++)
      use[i] += c->use[s][i];
  return CM_OK;
}

static cm_cuts sum_cuts(const counting *c)
{
  cm_cuts sum = {0};
  for (uint32_t s = 0; s < c->slices; s++) {
    sum.ways += c->cuts[s].ways;
    sum.nets += c->cuts[s].nets;
    sum.synapses += c->cuts[s].synapses;
  }
  return sum;
}

cm_status cm_count_use_and_cuts(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run, uint64_t *use,
                                cm_cuts *cuts, cm_error *error)
{
  counting c = {.demand = demand, .part = part, .parts = parts, .run = run};
  uint32_t *first = NULL, *net = NULL, *copies = NULL;
  c.slices = worthy_slices(demand->network, parts, run);
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(c.use, c.slices), CM_ARRAY(c.cuts, c.slices));
  CM_THEN(status, cm_nets_by_part(demand->network, part, parts, run, &first, &net, error));
  CM_THEN_IF(status, demand->target_cores_max != 0, CM_NEW(run->memory, copies, demand->network->vertex_count, error));
  c.first = first;
  c.net = net;
  CM_THEN(status, count_all(&c, use, copies, error));
  if (status == CM_OK)
    *cuts = sum_cuts(&c);
  for (uint32_t s = 0; c.use != NULL && s < c.slices; s++)
    cm_free(c.use[s]);
  CM_FREE(c.use, c.cuts, copies, first, net);
  return status;
}

cm_status cm_count_use(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run, uint64_t *use,
                       cm_error *error)
{
  cm_cuts cuts;
  return cm_count_use_and_cuts(demand, part, parts, run, use, &cuts, error);
}

/* Notes a use beyond its limit: the worst, by use / limit, stays. */
static bool exceeds(cm_violation *found, double *worst, uint32_t part, cm_resource resource, uint64_t used, uint64_t limit)
{
  if (limit == 0 || used <= limit)
    return false;
  if ((double)used / (double)limit > *worst) {
    *worst = (double)used / (double)limit;
    *found = (cm_violation){found->broken_parts, part, resource, used, limit};
  }
  return true;
}

cm_violation cm_find_violation(const cm_limits *limits, const uint64_t *use, uint32_t parts)
{
  cm_violation found = {0};
  double worst = 1;
  for (uint32_t p = 0; p < parts; p++) {
    bool broken = false;
    const uint64_t *row = use + (size_t)p * CM_RESOURCES;
    for (cm_resource r = 0; r < CM_RESOURCES; r++)
      broken |= exceeds(&found, &worst, p, r, row[r], cm_limit(limits, r));
    broken |= exceeds(&found, &worst, p, CM_MEMORY, cm_memory_bits(limits, row[CM_NEURONS], row[CM_SYNAPSES], row[CM_INBOUND_AXONS]),
                      limits->memory_bits);
    found.broken_parts += broken;
  }
  return found;
}

void cm_name_neuron(const cm_topology *topology, uint32_t v, char *text, size_t size)
{
  const char *label = cm_topology_label(topology, v);
  (void)snprintf(text, size, label != NULL ? "neuron %u (%.60s)" : "neuron %u", v, label);
}

cm_status cm_neuron_too_large(const cm_topology *topology, uint32_t v, cm_resource resource, uint64_t use,
                              uint64_t limit, cm_error *error)
{
  char name[96];
  cm_name_neuron(topology, v, name, sizeof name);
  cm_fail(error, CM_NEURON_TOO_LARGE, "%s alone needs %llu %s, %llu more than the %llu that a core has", name,
          (unsigned long long)use, cm_resource_name(resource), (unsigned long long)(use - limit),
          (unsigned long long)limit);
  cm_fail_at(error, "neuron %u", v);
  error->limit_name = cm_resource_field(resource);
  cm_error_figure(error, "neuron", v);
  cm_error_figure(error, "use", use);
  cm_error_figure(error, "limit", limit);
  cm_error_figure(error, "limit_proved", use);
  return CM_NEURON_TOO_LARGE;
}

/* The neurons that exceed one limit. */
typedef struct excess {
  uint32_t count, worst; /* the first of those that need most */
  uint64_t use;
} excess;

static void note(excess *e, uint32_t v, uint64_t use, uint64_t limit)
{
  if (limit == 0 || use <= limit)
    return;
  e->count++;
  if (use > e->use) {
    e->use = use;
    e->worst = v;
  }
}

/* The first limit that is exceeded, by the neuron that needs most; the others, and how many neurons. */
static cm_status refuse_neurons(const cm_topology *topology, const cm_limits *limits, const excess *found,
                                cm_error *error)
{
  static const cm_resource order[] = {CM_NEURONS, CM_INBOUND_AXONS, CM_SYNAPSES, CM_MEMORY, CM_SOURCE_CORES};
  const char *remedy = NULL;
  uint64_t most = 0;
  for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
    const excess *e = &found[order[i]];
    char name[96];
    if (e->count == 0)
      continue;
    if (remedy == NULL)
      cm_neuron_too_large(topology, e->worst, order[i], e->use, cm_limit(limits, order[i]), error);
    if (remedy == NULL && e->count > 1)
      cm_fail_more(error, "; it is the largest of %u that do not fit", e->count);
    cm_name_neuron(topology, e->worst, name, sizeof name);
    if (remedy != NULL)
      cm_fail_more(error, "; %u exceed the limit on %s too, %s with %llu", e->count, cm_resource_name(order[i]), name,
                   (unsigned long long)e->use);
    else
      cm_error_figure(error, "neurons_too_large", e->count);
    most = remedy == NULL ? e->use : most;
    remedy = remedy == NULL ? cm_resource_name(order[i]) : remedy;
  }
  if (remedy == NULL)
    return CM_OK;
  cm_fail_more(error, ". Split such neurons, or choose a chip with at least %llu %s in a core",
               (unsigned long long)most, remedy);
  return CM_NEURON_TOO_LARGE;
}

/* Whether a vertex is the source of more than one net. */
static bool several_nets(const cm_topology *topology)
{
  for (uint32_t e = 1; topology->net_source != NULL && e < topology->net_count; e++)
    if (topology->net_source[e] == topology->net_source[e - 1])
      return true;
  return false;
}

/* Nets of one source vertex stand together: marks tell which vertices its earlier nets have reached. */
static cm_status count_distinct(const cm_topology *topology, cm_run *run, uint32_t *axons, cm_error *error)
{
  uint32_t *last;
  cm_status status = CM_NEW(run->memory, last, topology->vertex_count, error);
  for (uint32_t e = 0; e < topology->net_count && status == CM_OK; e++) {
    uint32_t source = cm_topology_source(topology, e);
    for (uint64_t i = topology->net_first[e]; i < topology->net_first[e + 1]; i++) {
      uint32_t v = topology->pin[i];
      axons[v] += last[v] != source + 1;
      last[v] = source + 1;
    }
    if (e % CHECK_EVERY == 0)
      status = cm_run_check(run, error);
  }
  cm_free(last);
  return status;
}

/* Each slice counts its pins in a table of its own. */
typedef struct pin_counting {
  const cm_demand *demand;
  cm_run *run;
  uint32_t slices;
  uint32_t **count; /* [slices][vertices] */
} pin_counting;

static cm_status count_pins(void *context, size_t slice, cm_error *error)
{
  pin_counting *c = context;
  const cm_topology *t = c->demand->network;
  CM_TRY_IF(slice > 0, CM_NEW(c->run->memory, c->count[slice], t->vertex_count, error));
  uint32_t *count = c->count[slice];
  uint64_t end = cm_slice_begin(t->pin_count, slice + 1, c->slices);
  for (uint64_t i = cm_slice_begin(t->pin_count, slice, c->slices); i < end; i++) {
    count[t->pin[i]]++;
    CM_TRY_IF(i % CHECK_PINS == 0, cm_run_check(c->run, error));
  }
  return CM_OK;
}

cm_status cm_count_synapses(const cm_demand *demand, cm_run *run, uint32_t *synapses, cm_error *error)
{
  const cm_topology *topology = demand->network;
  uint32_t *count[TABLES_MAX] = {synapses};
  pin_counting c = {.demand = demand, .run = run, .slices = 1, .count = count};
  while (c.slices < run->threads && c.slices < TABLES_MAX && topology->pin_count / c.slices > 4 * (uint64_t)topology->vertex_count)
    c.slices++; /* a table is not to outweigh what it counts */
  memset(synapses, 0, topology->vertex_count * sizeof *synapses);
  cm_status status = cm_parallel(run, c.slices, count_pins, &c, error);
  for (uint32_t s = 1; s < c.slices; s++) {
    for (uint32_t v = 0; status == CM_OK && v < topology->vertex_count; v++)
      synapses[v] += count[s][v];
    cm_free(count[s]);
  }
  return status;
}

cm_status cm_count_inputs(const cm_demand *demand, cm_run *run, uint32_t *synapses, uint32_t *axons,
                          cm_error *error)
{
  size_t bytes = demand->network->vertex_count * sizeof *synapses;
  CM_TRY(cm_count_synapses(demand, run, synapses, error));
  if (!several_nets(demand->network)) {
    memcpy(axons, synapses, bytes);
    return cm_run_check(run, error);
  }
  memset(axons, 0, bytes);
  return count_distinct(demand->network, run, axons, error);
}

cm_status cm_check_neurons(const cm_demand *demand, const cm_limits *limits, cm_run *run, cm_error *error)
{
  uint32_t *axons = NULL, *synapses = NULL;
  uint32_t n = demand->network->vertex_count;
  excess found[CM_MEMORY + 1] = {{0}};
  for (uint32_t v = 0; v < n && limits->neurons != 0; v++)
    note(&found[CM_NEURONS], v, cm_demand_size(demand, v), limits->neurons);
  const bool spread = limits->source_cores != 0 && limits->neurons != 0 && demand->size == NULL; /* its sources fill other cores */
  if (limits->inbound_axons == 0 && limits->synapses == 0 && limits->memory_bits == 0 && !spread)
    return refuse_neurons(demand->network, limits, found, error);
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(axons, n), CM_ARRAY(synapses, n));
  CM_THEN(status, cm_count_inputs(demand, run, synapses, axons, error));
  for (uint32_t v = 0; v < n && status == CM_OK; v++) {
    note(&found[CM_INBOUND_AXONS], v, axons[v], limits->inbound_axons);
    note(&found[CM_SYNAPSES], v, synapses[v], limits->synapses);
    if (spread && axons[v] > 0)
      note(&found[CM_SOURCE_CORES], v, (axons[v] - 1) / limits->neurons, limits->source_cores);
    note(&found[CM_MEMORY], v, cm_memory_bits(limits, cm_demand_size(demand, v), synapses[v], axons[v]), limits->memory_bits);
  }
  CM_FREE(axons, synapses);
  return status == CM_OK ? refuse_neurons(demand->network, limits, found, error) : status;
}

cm_status cm_chip_limit_neurons(const cm_chip *chip, cm_demand *demand, cm_memory *memory, cm_error *error)
{
  const cm_neuron_terms terms = {.fan_in = chip->limits.fan_in, .target_cores = chip->limits.neuron_target_cores, .relays = chip->relays,
                                 .bias_sources = chip->images.format[0] != '\0'};
  return cm_demand_limit_neurons(demand, &terms, memory, error);
}
