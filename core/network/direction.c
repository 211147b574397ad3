/* Happy path: synapses or edges become entries, those of a graph both ways, and rows again; what neurons have goes along. */
#include "core/network/direction.h"

#include <stdio.h>

#include "core/network/formats/entries.h"

typedef struct turner {
  const cm_topology *from;
  cm_topology *made;
  uint32_t *net_of; /* [vertex_count + 1] the first net whose source is this neuron or a later one */
  cm_entries entries;
} turner;

static cm_status add(turner *t, uint32_t from, uint32_t to, double weight, uint64_t pin, cm_error *error)
{
  const double delay_ms = t->from->pin_delay != NULL ? cm_topology_pin_delay_ms(t->from, pin) : -1;
  return cm_entries_add(&t->entries, from, to, weight, delay_ms, error);
}

/* ---- edges become synapses ---- */

static cm_status add_synapses(turner *t, cm_error *error)
{
  const cm_topology *from = t->from;
  for (uint32_t v = 0; v < from->vertex_count; v++)
    for (uint64_t i = from->net_first[v]; i < from->net_first[v + 1]; i++)
      CM_TRY(add(t, v, from->pin[i], cm_topology_pin_value(from, v, i), i, error));
  return CM_OK;
}

/* ---- synapses become edges ---- */

/* Axons of a graph carry the same, and are one for each neuron. */
static cm_status check_axons(turner *t, cm_error *error)
{
  const cm_topology *from = t->from;
  bool rates = from->scenario_count > 0;
  for (uint32_t e = 0; e < from->net_count; e++)
    rates = rates || cm_topology_net_weight(from, e) != from->weight_scale ||
            (e > 0 && cm_topology_source(from, e) == cm_topology_source(from, e - 1));
  if (rates)
    return cm_fail(error, CM_BAD_OPTION, "directed=no: the network has rates of axons, or several axons of a neuron, which edges of a "
                                         "graph have not");
  CM_TRY(CM_NEW(t->entries.memory, t->net_of, (size_t)from->vertex_count + 1, error));
  for (uint32_t v = 0, e = 0; v <= from->vertex_count; v++) {
    while (e < from->net_count && cm_topology_source(from, e) < v)
      e++;
    t->net_of[v] = e;
  }
  return CM_OK;
}

/* The pin of the synapse from -> to, and its net; false: there is none. */
static bool find(const turner *t, uint32_t from, uint32_t to, uint32_t *net, uint64_t *pin)
{
  *net = t->net_of[from];
  if (*net == t->net_of[from + 1])
    return false;
  *pin = cm_topology_first_pin(t->from, *net, to);
  return *pin < t->from->net_first[*net + 1] && t->from->pin[*pin] == to;
}

static void name_of(const cm_topology *topology, uint32_t vertex, char text[60])
{
  const char *label = cm_topology_label(topology, vertex);
  if (label != NULL)
    (void)snprintf(text, 60, "%s", label);
  else
    (void)snprintf(text, 60, "%u", vertex);
}

static cm_status refuse_pair(const cm_topology *from, const uint32_t end[2], const double value[2], const char *what, cm_error *error)
{
  char name[2][60];
  for (int i = 0; i < 2; i++)
    name_of(from, end[i], name[i]);
  return cm_fail(error, CM_BAD_OPTION, "directed=no: the %s of the synapse from '%s' to '%s' is %.15g, that of the one back %.15g; an edge has one",
                 what, name[0], name[1], value[0], value[1]);
}

static bool differ(const double value[2])
{
  return value[0] < value[1] || value[0] > value[1];
}

static cm_status add_edge(turner *t, uint32_t net, uint64_t pin, cm_error *error)
{
  const cm_topology *from = t->from;
  const uint32_t end[2] = {cm_topology_source(from, net), from->pin[pin]};
  double weight[2] = {cm_topology_pin_value(from, net, pin), 0}, delay[2] = {0, 0};
  uint32_t back_net;
  uint64_t back;
  if (end[0] == end[1])
    return CM_OK;
  const bool both = find(t, end[1], end[0], &back_net, &back);
  if (both && end[0] < end[1]) {
    weight[1] = cm_topology_pin_value(from, back_net, back);
    if (differ(weight))
      return refuse_pair(from, end, weight, "weight", error);
    for (int i = 0; i < 2 && from->pin_delay != NULL; i++)
      delay[i] = cm_topology_pin_delay_ms(from, i == 0 ? pin : back);
    if (differ(delay))
      return refuse_pair(from, end, delay, "delay", error);
  }
  CM_TRY(add(t, end[0], end[1], weight[0], pin, error));
  return both ? CM_OK : add(t, end[1], end[0], weight[0], pin, error);
}

static cm_status add_edges(turner *t, cm_error *error)
{
  CM_TRY(check_axons(t, error));
  for (uint32_t e = 0; e < t->from->net_count; e++)
    for (uint64_t i = t->from->net_first[e]; i < t->from->net_first[e + 1]; i++)
      CM_TRY(add_edge(t, e, i, error));
  return CM_OK;
}

/* ---- the whole ---- */

/* What belongs to neurons, and what was merged before, goes along. */
static void take_rest(cm_topology *made, cm_topology *from)
{
  made->size_total = from->size_total;
  made->duplicate_count += from->duplicate_count;
  made->self_loop_count = from->self_loop_count;
  made->empty_net_count = from->empty_net_count;
  made->population_count = from->population_count;
  made->size = from->size;
  made->label_text = from->label_text;
  made->label_first = from->label_first;
  made->population = from->population;
  made->population_of = from->population_of;
  from->size = NULL;
  from->label_text = NULL;
  from->label_first = NULL;
  from->population = NULL;
  from->population_of = NULL;
}

cm_status cm_topology_direct(cm_topology **topology, bool directed, cm_run *run, cm_error *error)
{
  turner t = {.from = *topology, .entries = {.memory = run->memory, .run = run, .limit = CM_PINS_MAX}};
  if (t.from->directed == directed)
    return CM_OK;
  CM_TRY(CM_NEW(run->memory, t.made, 1, error));
  t.made->directed = directed;
  t.made->vertex_count = t.from->vertex_count;
  cm_status status = directed ? add_synapses(&t, error) : add_edges(&t, error);
  CM_THEN(status, cm_entries_close(&t.entries, t.made, error));
  cm_free(t.net_of);
  cm_entries_free(&t.entries);
  if (status == CM_OK)
    take_rest(t.made, *topology);
  cm_topology_free(status == CM_OK ? *topology : t.made);
  if (status == CM_OK)
    *topology = t.made;
  return status;
}
