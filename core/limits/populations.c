#include "core/limits/populations.h"

#include <string.h>

#include "base/members.h"

enum { NONE = UINT32_MAX };

/* ---- counting ---- */

cm_status cm_count_populations(const cm_topology *t, const uint32_t *part, uint32_t parts, cm_run *run, uint32_t *count,
                               cm_error *error)
{
  uint32_t *first = NULL, *vertex = NULL, *seen = NULL;
  cm_status status = CM_OK;
  memset(count, 0, parts * sizeof *count);
  if (CM_NEW(run->memory, first, (size_t)parts + 2, error) != CM_OK ||
      CM_NEW(run->memory, vertex, t->vertex_count, error) != CM_OK ||
      CM_NEW(run->memory, seen, t->population_count, error) != CM_OK)
    status = error->status;
  if (status == CM_OK)
    cm_sort_members(part, t->vertex_count, parts, first, vertex);
  for (uint32_t p = 0; status == CM_OK && p < parts; p++)
    for (uint32_t j = first[p]; j < first[p + 1]; j++) {
      uint32_t *mark = &seen[t->population_of[vertex[j]]];
      count[p] += *mark != p + 1;
      *mark = p + 1;
    }
  CM_FREE(first, vertex, seen);
  return status;
}

cm_status cm_check_populations(const cm_topology *topology, const cm_limits *limits, const uint32_t *part, uint32_t parts,
                               cm_run *run, cm_violation *violation, cm_error *error)
{
  cm_violation found = {.limit = limits->populations};
  uint32_t *count;
  if (!cm_populations_limited(topology, limits)) {
    *violation = found;
    return CM_OK;
  }
  CM_TRY(CM_NEW(run->memory, count, parts, error));
  cm_status status = cm_count_populations(topology, part, parts, run, count, error);
  for (uint32_t p = 0; status == CM_OK && p < parts; p++) {
    found.broken_parts += count[p] > limits->populations;
    if (count[p] > limits->populations && count[p] > found.use) {
      found.use = count[p];
      found.part = p;
    }
  }
  cm_free(count);
  CM_END(status, *violation = found, );
}

cm_status cm_refuse_populations(const cm_topology *topology, const cm_limits *limits, const uint32_t *part, uint32_t parts,
                                cm_run *run, cm_error *error)
{
  cm_violation v;
  CM_TRY(cm_check_populations(topology, limits, part, parts, run, &v, error));
  if (v.broken_parts == 0)
    return CM_OK;
  cm_fail(error, CM_LIMIT_BROKEN, "%llu of %u parts hold more populations than the %llu of a core, worst part %u with %llu",
          (unsigned long long)v.broken_parts, parts, (unsigned long long)v.limit, v.part, (unsigned long long)v.use);
  error->limit_name = "populations_per_core";
  cm_error_figure(error, "part", v.part);
  cm_error_figure(error, "use", v.use);
  cm_error_figure(error, "limit", v.limit);
  return CM_LIMIT_BROKEN;
}

/* ---- by population ---- */

void cm_population_split_free(cm_population_split *s)
{
  CM_FREE(s->number, s->member_first, s->member, s->pin_first, s->pin, s->pin_net, s->local);
  *s = (cm_population_split){0};
}

/* Which populations have neurons, numbered without gaps: index [populations]. */
static void number_populations(cm_population_split *s, uint32_t populations, uint32_t *index)
{
  for (uint32_t v = 0; v < s->demand->network->vertex_count; v++)
    index[s->of[v]] = 1;
  for (uint32_t k = 0; k < populations; k++) {
    if (index[k] != 0)
      s->number[s->count] = k;
    index[k] = index[k] != 0 ? s->count++ : NONE;
  }
}

/* Neurons and synapses by counting sort. */
static void sort_by_population(cm_population_split *s, const uint32_t *index)
{
  const cm_topology *t = s->demand->network;
  for (uint32_t v = 0; v < t->vertex_count; v++)
    s->member_first[index[s->of[v]] + 1]++;
  for (uint64_t i = 0; i < t->pin_count; i++)
    s->pin_first[index[s->of[t->pin[i]]] + 1]++;
  for (uint32_t k = 0; k < s->count; k++) {
    s->member_first[k + 1] += s->member_first[k];
    s->pin_first[k + 1] += s->pin_first[k];
  }
  for (uint32_t v = 0; v < t->vertex_count; v++)
    s->member[s->member_first[index[s->of[v]]]++] = v;
  for (uint32_t e = 0; e < t->net_count; e++)
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      uint64_t at = s->pin_first[index[s->of[t->pin[i]]]]++;
      s->pin[at] = i;
      s->pin_net[at] = e;
    }
  for (uint32_t k = s->count; k > 0; k--) {
    s->member_first[k] = s->member_first[k - 1];
    s->pin_first[k] = s->pin_first[k - 1];
  }
  s->member_first[0] = 0;
  s->pin_first[0] = 0;
}

cm_status cm_population_split_open(const cm_demand *demand, const uint32_t *of, uint32_t populations, cm_run *run,
                                   cm_population_split *split, cm_error *error)
{
  const cm_topology *t = demand->network;
  cm_population_split s = {.demand = demand, .of = of};
  uint32_t *index = NULL;
  cm_status status = CM_OK;
  if (CM_NEW(run->memory, s.number, populations, error) != CM_OK ||
      CM_NEW(run->memory, index, populations, error) != CM_OK ||
      CM_NEW(run->memory, s.member_first, (size_t)populations + 1, error) != CM_OK ||
      CM_NEW(run->memory, s.pin_first, (size_t)populations + 1, error) != CM_OK ||
      CM_NEW(run->memory, s.member, t->vertex_count, error) != CM_OK ||
      CM_NEW(run->memory, s.pin, t->pin_count, error) != CM_OK ||
      CM_NEW(run->memory, s.pin_net, t->pin_count, error) != CM_OK ||
      CM_NEW(run->memory, s.local, t->vertex_count, error) != CM_OK)
    status = error->status;
  if (status == CM_OK) {
    number_populations(&s, populations, index);
    sort_by_population(&s, index);
    memset(s.local, 0xff, t->vertex_count * sizeof *s.local);
    status = cm_run_check(run, error);
  }
  cm_free(index);
  CM_END(status, *split = s, cm_population_split_free(&s));
}

/* ---- the network of one ---- */

void cm_population_network_free(cm_population_network *n)
{
  if (n->topology != NULL) {
    CM_FREE(n->topology->net_first, n->topology->net_source, n->topology->net_weight, n->topology->pin, n->topology->pin_weight,
            n->topology->size, n->topology);
  }
  cm_free(n->origin);
  *n = (cm_population_network){0};
}

typedef struct making {
  cm_population_split *split;
  const uint32_t *member;
  uint32_t members, nets;
  uint64_t begin, end; /* in split->pin */
  uint64_t pins;
  bool sources;
} making;

/* Whether a synapse is in the network: its source is a member (marked), or sources from elsewhere count. */
static bool is_in(const making *m, uint64_t at)
{
  const cm_topology *t = m->split->demand->network;
  return m->sources || m->split->local[cm_topology_source(t, m->split->pin_net[at])] != NONE;
}

/* Members and sources from elsewhere in ascending order; sources of the pins ascend already. */
static uint32_t merge_vertices(const making *m, uint32_t *origin)
{
  const cm_topology *t = m->split->demand->network;
  uint32_t count = 0, next = 0, last = NONE;
  for (uint64_t at = m->begin; m->sources && at < m->end; at++) {
    uint32_t source = cm_topology_source(t, m->split->pin_net[at]);
    if (source == last || m->split->local[source] != NONE)
      continue;
    last = source;
    while (next < m->members && m->member[next] < source)
      origin[count++] = m->member[next++];
    origin[count++] = source;
  }
  while (next < m->members)
    origin[count++] = m->member[next++];
  return count;
}

static void count_nets(making *m)
{
  uint32_t last = NONE;
  for (uint64_t at = m->begin; at < m->end; at++) {
    if (!is_in(m, at))
      continue;
    m->nets += m->split->pin_net[at] != last;
    last = m->split->pin_net[at];
    m->pins++;
  }
}

static cm_status allocate(const making *m, cm_run *run, cm_population_network *n, cm_error *error)
{
  const cm_topology *t = m->split->demand->network;
  uint32_t vertices = n->topology->vertex_count, nets = t->directed ? m->nets : vertices;
  cm_topology *made = n->topology;
  if (CM_NEW(run->memory, made->net_first, (size_t)nets + 1, error) != CM_OK ||
      (t->directed && CM_NEW(run->memory, made->net_source, nets, error) != CM_OK) ||
      (m->split->demand->net_weight != NULL && CM_NEW(run->memory, made->net_weight, nets, error) != CM_OK) ||
      (t->pin_weight != NULL && CM_NEW(run->memory, made->pin_weight, m->pins, error) != CM_OK) ||
      CM_NEW(run->memory, made->size, vertices, error) != CM_OK)
    return error->status;
  made->net_count = nets;
  return CM_NEW(run->memory, made->pin, m->pins, error);
}

/* Nets in the order of the whole network; of undirected ones a row for every vertex. */
static void fill_nets(const making *m, cm_topology *made)
{
  const cm_population_split *s = m->split;
  const cm_topology *t = s->demand->network;
  uint32_t last = NONE, net = NONE, opened = 0;
  for (uint64_t at = m->begin; at < m->end; at++) {
    uint32_t e = s->pin_net[at];
    if (!is_in(m, at))
      continue;
    if (e != last) {
      net = t->directed ? opened : s->local[e];
      while (opened <= net)
        made->net_first[opened++] = made->pin_count;
      if (t->directed)
        made->net_source[net] = s->local[cm_topology_source(t, e)];
      if (s->demand->net_weight != NULL)
        made->net_weight[net] = s->demand->net_weight[e];
      last = e;
    }
    if (t->pin_weight != NULL)
      made->pin_weight[made->pin_count] = t->pin_weight[s->pin[at]];
    made->pin[made->pin_count++] = s->local[t->pin[s->pin[at]]];
  }
  while (opened <= made->net_count)
    made->net_first[opened++] = made->pin_count;
}

static cm_status make(making *m, cm_run *run, cm_population_network *n, cm_error *error)
{
  const cm_topology *t = m->split->demand->network;
  uint32_t *local = m->split->local, outside = 0;
  uint64_t most = m->members + (m->sources ? m->end - m->begin : 0);
  CM_TRY(CM_NEW_ALL(run->memory, error, CM_ARRAY(n->topology, 1), CM_ARRAY(n->origin, most < t->vertex_count ? most : t->vertex_count)));
  *n->topology = (cm_topology){.directed = t->directed, .weight_exponent = t->weight_exponent,
                               .weight_scale = t->weight_scale};
  for (uint32_t i = 0; i < m->members; i++)
    local[m->member[i]] = 0;
  count_nets(m);
  n->topology->vertex_count = merge_vertices(m, n->origin);
  cm_status status = allocate(m, run, n, error);
  for (uint32_t v = 0; status == CM_OK && v < n->topology->vertex_count; v++) {
    uint32_t origin = n->origin[v];
    bool member = local[origin] != NONE;
    outside += !member;
    n->topology->size[v] = member ? cm_demand_size(m->split->demand, origin) : 0;
    n->topology->size_total += n->topology->size[v];
  }
  for (uint32_t v = 0; status == CM_OK && v < n->topology->vertex_count; v++)
    local[n->origin[v]] = v;
  if (status == CM_OK)
    fill_nets(m, n->topology);
  if (status == CM_OK && outside == 0 && m->split->demand->size == NULL) {
    cm_free(n->topology->size);
    n->topology->size = NULL;
  }
  n->demand = cm_demand_of(n->topology);
  for (uint32_t i = 0; i < m->members; i++)
    local[m->member[i]] = NONE;
  for (uint32_t v = 0; v < n->topology->vertex_count; v++)
    local[n->origin[v]] = NONE;
  return status;
}

cm_status cm_population_network_make(cm_population_split *s, uint32_t i, bool sources, cm_run *run,
                                     cm_population_network *network, cm_error *error)
{
  making m = {.split = s, .member = s->member + s->member_first[i], .members = s->member_first[i + 1] - s->member_first[i],
              .begin = s->pin_first[i], .end = s->pin_first[i + 1], .sources = sources && s->demand->network->directed};
  cm_population_network made = {0};
  cm_status status = make(&m, run, &made, error);
  CM_END(status, *network = made, cm_population_network_free(&made));
}
