/* Axons by the part of their source -> pairs of axon and part -> who reaches each neuron -> loads of links -> populations and names.
 * What can fail: memory, a stop. */
#include "core/output/structure/structure.h"

#include <stdlib.h>
#include <string.h>

#include "core/measure/measure.h"
#include "core/network/nets_by_part.h"
#include "core/routing/routes.h"

typedef struct making {
  const cm_mapped *on;
  const cm_topology *network;
  cm_structure *s;
  cm_run *run;
  uint32_t *net;      /* [axons] */
  uint32_t *stamp;    /* [parts] last axon that was seen to reach it, plus 1 */
  uint64_t *place;    /* [parts] and its pair */
} making;

#define ROOM(m, name, count, error) \
  ((m)->s->name##_count = (uint64_t)(count), CM_NEW((m)->run->memory, (m)->s->name, (count), (error)))

/* A copy of an array in its section. */
#define COPY(m, name, from, count, error) \
  (ROOM(m, name, count, error) == CM_OK && memcpy((m)->s->name, (from), (size_t)(count) * sizeof *(m)->s->name) != NULL ? (cm_status)CM_OK : (error)->status)

static cm_status take_axons(making *m, cm_error *error)
{
  cm_structure *s = m->s;
  const uint32_t axons = m->network->net_count;
  if (COPY(m, part, m->on->part, m->network->vertex_count, error) != CM_OK || COPY(m, core, m->on->core, m->on->parts, error) != CM_OK ||
      cm_nets_by_part(m->network, m->on->part, m->on->parts, m->run, &s->axon_first, &m->net, error) != CM_OK ||
      ROOM(m, source, axons, error) != CM_OK || ROOM(m, weight, m->network->directed ? axons : 0, error) != CM_OK)
    return error->status;
  s->axon_first_count = (uint64_t)m->on->parts + 1;
  for (uint32_t a = 0; a < axons; a++) {
    s->source[a] = cm_topology_source(m->network, m->net[a]);
    if (m->network->directed)
      s->weight[a] = cm_demand_net_weight(m->on->demand, m->net[a]);
  }
  return CM_OK;
}

/* Counts the pairs of each axon into pair_first, or fills them. */
static cm_status walk_pairs(making *m, bool fill, cm_error *error)
{
  cm_structure *s = m->s;
  uint64_t pairs = 0, steps = 0;
  memset(m->stamp, 0, m->on->parts * sizeof *m->stamp);
  for (uint32_t a = 0; a < s->source_count; a++) {
    const uint64_t *first = &m->network->net_first[m->net[a]];
    s->pair_first[a] = pairs;
    for (uint64_t i = first[0]; i < first[1]; i++) {
      const uint32_t p = m->on->part[m->network->pin[i]];
      if (m->stamp[p] != a + 1) {
        m->stamp[p] = a + 1;
        m->place[p] = pairs++;
        if (fill)
          s->pair_part[m->place[p]] = p;
      }
      if (!fill)
        continue;
      s->pair_synapses[m->place[p]]++;
      if (s->pair_weight_count > 0)
        s->pair_weight[m->place[p]] += cm_demand_pin_weight(m->on->demand, m->net[a], i);
    }
    CM_TRY_IF(cm_run_due(&steps, first[1] - first[0] + 1), cm_run_check(m->run, error));
  }
  s->pair_first[s->source_count] = pairs;
  return CM_OK;
}

static cm_status take_pairs(making *m, cm_error *error)
{
  cm_structure *s = m->s;
  cm_memory *memory = m->run->memory;
  if (CM_NEW(memory, m->stamp, m->on->parts, error) != CM_OK || CM_NEW(memory, m->place, m->on->parts, error) != CM_OK ||
      ROOM(m, pair_first, s->source_count + 1, error) != CM_OK || walk_pairs(m, false, error) != CM_OK)
    return error->status;
  const uint64_t pairs = s->pair_first[s->source_count];
  CM_TRY(ROOM(m, pair_part, pairs, error));
  CM_TRY(ROOM(m, pair_synapses, pairs, error));
  CM_TRY(ROOM(m, pair_weight, m->network->directed ? 0 : pairs, error));
  return walk_pairs(m, true, error);
}

static unsigned bytes_of(uint32_t value)
{
  unsigned bytes = 1;
  while ((value >>= 7) != 0)
    bytes++;
  return bytes;
}

/* Counts the bytes that each neuron's axons take into in_first [neuron + 1], or writes them. */
static cm_status walk_inputs(making *m, uint32_t *last, bool fill, cm_error *error)
{
  cm_structure *s = m->s;
  uint64_t steps = 0;
  for (uint32_t a = 0; a < s->source_count; a++) {
    const uint64_t *first = &m->network->net_first[m->net[a]];
    for (uint64_t i = first[0]; i < first[1]; i++) {
      const uint32_t v = m->network->pin[i];
      uint32_t difference = a - last[v];
      last[v] = a;
      if (!fill) {
        s->in_first[v + 1] += bytes_of(difference);
        s->fan_in[v]++;
        continue;
      }
      for (; difference >= 128; difference >>= 7)
        s->in[s->in_first[v]++] = (uint8_t)(difference | 128);
      s->in[s->in_first[v]++] = (uint8_t)difference;
    }
    CM_TRY_IF(cm_run_due(&steps, first[1] - first[0] + 1), cm_run_check(m->run, error));
  }
  return CM_OK;
}

static cm_status take_inputs(making *m, cm_error *error)
{
  cm_structure *s = m->s;
  const uint32_t neurons = m->network->vertex_count;
  uint32_t *last;
  CM_TRY(ROOM(m, fan_in, neurons, error));
  if (!m->network->directed) { /* who reaches it is whom it reaches */
    for (uint32_t v = 0; v < neurons; v++)
      s->fan_in[v] = (uint32_t)(m->network->net_first[v + 1] - m->network->net_first[v]);
    return CM_OK;
  }
  CM_TRY(ROOM(m, in_first, (uint64_t)neurons + 1, error));
  CM_TRY(CM_NEW(m->run->memory, last, neurons, error));
  cm_status status = walk_inputs(m, last, false, error);
  for (uint32_t v = 0; v < neurons; v++)
    s->in_first[v + 1] += s->in_first[v];
  CM_THEN(status, ROOM(m, in, s->in_first[neurons], error));
  if (status == CM_OK) {
    memset(last, 0, neurons * sizeof *last);
    status = walk_inputs(m, last, true, error);
  }
  for (uint32_t v = neurons; status == CM_OK && v > 0; v--) /* each beginning has gone to its end */
    s->in_first[v] = s->in_first[v - 1];
  if (status == CM_OK)
    s->in_first[0] = 0;
  cm_free(last);
  return status;
}

typedef struct loaded {
  uint32_t link;
  double load;
} loaded;

static int by_load(const void *a, const void *b)
{
  const loaded *p = a, *q = b;
  return p->load != q->load ? (p->load < q->load ? 1 : -1) : p->link < q->link ? -1 : p->link > q->link;
}

static cm_status take_loads(making *m, cm_error *error)
{
  cm_metrics metrics;
  cm_metrics_detail d;
  loaded *all = NULL;
  uint64_t count = 0;
  CM_TRY(cm_metrics_compute(m->on, m->run, &metrics, &d, error));
  const size_t links = cm_window_links(&d.window);
  cm_status status = COPY(m, load, d.core, m->on->parts, error);
  CM_THEN(status, CM_NEW(m->run->memory, all, links, error));
  for (size_t i = 0; status == CM_OK && i < links; i++)
    if (d.link_load[i] > 0)
      all[count++] = (loaded){cm_window_link(&d.window, i), d.link_load[i]};
  if (status == CM_OK)
    qsort(all, count, sizeof *all, by_load);
  if (status == CM_OK && ROOM(m, link, count, error) == CM_OK)
    (void)ROOM(m, link_load, count, error);
  status = status == CM_OK && m->s->link_load == NULL ? error->status : status;
  for (uint64_t i = 0; status == CM_OK && i < count; i++) {
    m->s->link[i] = all[i].link;
    m->s->link_load[i] = all[i].load;
  }
  cm_free(all);
  cm_metrics_detail_free(&d);
  return status;
}

/* Where routes are refused there are no tables to tell of. */
static cm_status take_tables(making *m, const cm_map_options *options, cm_error *error)
{
  bool own;
  cm_routes *routes;
  uint32_t used = 0;
  const cm_route_options wanted = cm_routes_wanted(options, m->on->chip, &own);
  if (m->on->chip->table_entries == 0 || !m->network->directed || !wanted.multicast)
    return CM_OK;
  cm_status status = cm_routes_make(m->on, &wanted, m->run, &routes, error);
  if (status == CM_NO_ROUTE || status == CM_LIMIT_BROKEN || status == CM_TOO_LARGE)
    return CM_OK;
  if (status != CM_OK)
    return status;
  for (uint32_t i = 0; i < routes->router_count; i++)
    used += routes->entries[i] > 0;
  if (ROOM(m, router, used, error) != CM_OK || ROOM(m, entries, used, error) != CM_OK)
    status = error->status;
  used = 0;
  for (uint32_t i = 0; i < routes->router_count && status == CM_OK; i++)
    if (routes->entries[i] > 0) {
      m->s->router[used] = routes->first_router + i;
      m->s->entries[used++] = routes->entries[i];
    }
  cm_routes_free(routes);
  return status;
}

static cm_status take_populations(making *m, cm_error *error)
{
  const cm_topology *t = m->network;
  cm_structure *s = m->s;
  size_t bytes = 0, used = 0;
  if (t->population_count == 0)
    return CM_OK;
  for (uint32_t k = 0; k < t->population_count; k++)
    bytes += strlen(t->population[k].name) + 1;
  const uint32_t fold = (t->population_count + CM_MATRIX_SIDE_MAX - 1) / CM_MATRIX_SIDE_MAX, side = (t->population_count + fold - 1) / fold;
  CM_TRY(COPY(m, population, t->population_of, t->vertex_count, error));
  CM_TRY(ROOM(m, population_name, bytes, error));
  CM_TRY(ROOM(m, matrix, (size_t)side * side, error));
  for (uint32_t k = 0; k < t->population_count; k++) {
    const size_t length = strlen(t->population[k].name) + 1;
    memcpy(s->population_name + used, t->population[k].name, length);
    used += length;
  }
  for (uint32_t e = 0; e < t->net_count; e++) {
    double *row = s->matrix + (size_t)(t->population_of[cm_topology_source(t, e)] / fold) * side;
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      row[t->population_of[t->pin[i]] / fold] +=
        (double)(t->directed ? cm_demand_net_weight(m->on->demand, e) : cm_demand_pin_weight(m->on->demand, e, i)) / *s->unit;
  }
  return CM_OK;
}

static cm_status take_names(making *m, cm_error *error)
{
  const cm_topology *t = m->network;
  char *chip;
  if (t->label_text != NULL && (COPY(m, label_first, t->label_first, (uint64_t)t->vertex_count + 1, error) != CM_OK ||
                                COPY(m, label, t->label_text, t->label_first[t->vertex_count], error) != CM_OK))
    return error->status;
  CM_TRY(cm_chip_print(m->on->chip, &chip, error));
  cm_status status = COPY(m, chip, chip, strlen(chip) + 1, error);
  free(chip);
  return status;
}

cm_status cm_structure_make(const cm_mapped *mapped, const cm_map_options *options, cm_run *run, cm_structure *made, cm_error *error)
{
  making m = {.on = mapped, .network = mapped->demand->network, .s = made, .run = run};
  memset(made, 0, sizeof *made);
  cm_run_phase(run, "structure");
  cm_status status = ROOM(&m, unit, 1, error);
  if (status == CM_OK) {
    *made->unit = (double)m.network->weight_scale * (m.network->directed ? 1 : 2);
    status = take_axons(&m, error);
  }
  CM_THEN(status, take_pairs(&m, error));
  CM_THEN(status, take_inputs(&m, error));
  CM_THEN(status, take_loads(&m, error));
  CM_THEN(status, take_tables(&m, options, error));
  CM_THEN(status, take_populations(&m, error));
  CM_THEN(status, take_names(&m, error));
  CM_FREE(m.net, m.stamp, m.place);
  return status;
}
