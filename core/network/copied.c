/* Happy path: who serves whom, of all neurons and copies -> sorted into axons -> what pins, axons and neurons have. What can fail: lists that serve what is not
 * reached, memory, a stop. */
#include "core/network/copied.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

enum { NOBODY = UINT32_MAX, CHECK_EVERY = 4096 };

void cm_neuron_copies_free(cm_neuron_copies *copies)
{
  CM_FREE(copies->of, copies->first, copies->serves);
  *copies = (cm_neuron_copies){.count = 0};
}

json_t *cm_neuron_copies_json(const cm_neuron_copies *copies)
{
  json_t *list = json_array();
  bool whole = list != NULL;
  for (uint32_t i = 0; whole && i < copies->count; i++) {
    json_t *serves = json_array();
    for (uint64_t k = copies->first[i]; k < copies->first[i + 1]; k++)
      whole = whole && json_array_append_new(serves, json_integer(copies->serves[k])) == 0;
    whole = json_array_append_new(list, json_pack("{s:I, s:o}", "of", (json_int_t)copies->of[i], "serves", serves)) == 0 && whole;
  }
  if (whole)
    return list;
  json_decref(list);
  return NULL;
}

static bool is_below(const json_t *value, uint64_t end)
{
  return json_is_integer(value) && json_integer_value(value) >= 0 && (uint64_t)json_integer_value(value) < end;
}

static cm_status read_copies(const json_t *list, uint32_t neurons, cm_neuron_copies *copies, cm_error *error)
{
  uint64_t served = 0;
  for (uint32_t i = 0; i < copies->count; i++) {
    const json_t *copy = json_array_get(list, i), *of = json_object_get(copy, "of"), *serves = json_object_get(copy, "serves");
    if (!is_below(of, neurons) || !json_is_array(serves))
      return cm_fail(error, CM_BAD_MAPPING, "/report/leaving/copies/%u: {\"of\": neuron, \"serves\": [targets]} is expected", i);
    copies->of[i] = (uint32_t)json_integer_value(of);
    for (size_t k = 0; k < json_array_size(serves); k++) {
      const json_t *target = json_array_get(serves, k);
      if (!is_below(target, (uint64_t)neurons + copies->count) || (k > 0 && json_integer_value(target) <= json_integer_value(json_array_get(serves, k - 1))))
        return cm_fail(error, CM_BAD_MAPPING, "/report/leaving/copies/%u/serves/%zu: neurons and copies are expected, ascending", i, k);
      copies->serves[served++] = (uint32_t)json_integer_value(target);
    }
    copies->first[i + 1] = served;
  }
  return CM_OK;
}

cm_status cm_neuron_copies_read(const json_t *list, uint32_t neurons, cm_memory *memory, cm_neuron_copies *copies, cm_error *error)
{
  cm_neuron_copies c = {.count = (uint32_t)json_array_size(list)};
  uint64_t most = 0;
  for (uint32_t i = 0; i < c.count; i++)
    most += json_array_size(json_object_get(json_array_get(list, i), "serves"));
  if (!json_is_array(list) || json_array_size(list) > CM_VERTICES_MAX - neurons)
    return cm_fail(error, CM_BAD_MAPPING, "/report/leaving/copies: a list of copies is expected");
  if (CM_NEW(memory, c.of, c.count, error) != CM_OK || CM_NEW(memory, c.first, (size_t)c.count + 1, error) != CM_OK ||
      CM_NEW(memory, c.serves, most, error) != CM_OK || read_copies(list, neurons, &c, error) != CM_OK) {
    cm_neuron_copies_free(&c);
    return error->status;
  }
  *copies = c;
  return CM_OK;
}

bool cm_topology_takes_copies(const cm_topology *t)
{
  bool one = t->directed && t->measured == NULL;
  for (uint32_t e = 1; one && e < t->net_count; e++)
    one = cm_topology_source(t, e) != cm_topology_source(t, e - 1);
  return one;
}

/* ---- the network ---- */

/* A synapse of it. */
typedef struct synapse {
  uint32_t source, target;
  uint64_t pin; /* of the network without copies */
} synapse;

typedef struct building {
  const cm_topology *from;
  const cm_neuron_copies *copies;
  cm_run *run;
  cm_topology *to;
  uint32_t *head, *next; /* [vertices], [copies] the copies of a neuron, ascending; NOBODY */
  uint32_t *by;          /* [vertices of `to`] the copy that serves it, of the neuron at hand; NOBODY */
  synapse *synapse;      /* [pins of `to`] */
  uint32_t *net;         /* [vertices] a neuron's net */
} building;

static int by_ends(const void *a, const void *b)
{
  const synapse *x = a, *y = b;
  if (x->source != y->source)
    return x->source < y->source ? -1 : 1;
  return (x->target > y->target) - (x->target < y->target);
}

static cm_status list_copies(building *b, cm_error *error)
{
  const cm_topology *t = b->from;
  cm_memory *memory = b->run->memory;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(b->head, t->vertex_count), CM_ARRAY(b->next, b->copies->count),
                    CM_ARRAY(b->by, b->to->vertex_count), CM_ARRAY(b->net, t->vertex_count)));
  memset(b->head, 0xff, t->vertex_count * sizeof *b->head);
  memset(b->by, 0xff, b->to->vertex_count * sizeof *b->by);
  for (uint32_t e = 0; e < t->net_count; e++)
    b->net[cm_topology_source(t, e)] = e;
  for (uint32_t i = b->copies->count; i-- > 0;) {
    b->next[i] = b->head[b->copies->of[i]];
    b->head[b->copies->of[i]] = i;
  }
  for (uint64_t i = 0; i < t->pin_count; i++) {
    b->to->pin_count++;
    for (uint32_t c = b->head[t->pin[i]]; c != NOBODY; c = b->next[c])
      b->to->pin_count++;
  }
  return CM_NEW(memory, b->synapse, b->to->pin_count, error);
}

/* Marks what the copies of a neuron serve. */
static cm_status mark(building *b, uint32_t v, uint64_t *open, cm_error *error)
{
  *open = 0;
  for (uint32_t c = b->head[v]; c != NOBODY; c = b->next[c])
    for (uint64_t k = b->copies->first[c]; k < b->copies->first[c + 1]; k++, ++*open) {
      uint32_t *by = &b->by[b->copies->serves[k]];
      if (*by != NOBODY)
        return cm_fail(error, CM_BAD_MAPPING, "/report/leaving/copies/%u serves %u, which copy %u of neuron %u serves", c, b->copies->serves[k], *by, v);
      *by = c;
    }
  return CM_OK;
}

static cm_status serve(building *b, cm_error *error)
{
  const cm_topology *t = b->from;
  uint64_t made = 0;
  for (uint32_t e = 0; e < t->net_count; e++) {
    const uint32_t source = cm_topology_source(t, e), n = t->vertex_count;
    uint64_t open;
    CM_TRY_IF(e % CHECK_EVERY == 0, cm_run_check(b->run, error));
    CM_TRY(mark(b, source, &open, error));
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      for (uint32_t w = t->pin[i], c = b->head[t->pin[i]];; w = n + c, c = b->next[c]) {
        const uint32_t by = b->by[w];
        open -= by != NOBODY;
        b->synapse[made++] = (synapse){by == NOBODY ? source : n + by, w, i};
        b->by[w] = NOBODY;
        if (c == NOBODY)
          break;
      }
    if (open > 0)
      return cm_fail(error, CM_BAD_MAPPING, "/report/leaving/copies: a copy of neuron %u serves what that does not reach", source);
  }
  qsort(b->synapse, made, sizeof *b->synapse, by_ends);
  return CM_OK;
}

static cm_status make_nets(building *b, cm_error *error)
{
  const cm_topology *f = b->from;
  cm_topology *t = b->to;
  cm_memory *memory = b->run->memory;
  for (uint64_t i = 0; i < t->pin_count; i++)
    t->net_count += i == 0 || b->synapse[i].source != b->synapse[i - 1].source;
  if (CM_NEW(memory, t->net_first, (size_t)t->net_count + 1, error) != CM_OK || CM_NEW(memory, t->net_source, t->net_count, error) != CM_OK ||
      CM_NEW(memory, t->net_weight, t->net_count, error) != CM_OK ||
      (f->scenario_rate != NULL && CM_NEW(memory, t->scenario_rate, (size_t)f->scenario_count * t->net_count, error) != CM_OK))
    return error->status;
  for (uint64_t i = 0, e = 0; i < t->pin_count; i++) {
    const uint32_t source = b->synapse[i].source, n = f->vertex_count, net = b->net[source < n ? source : b->copies->of[source - n]];
    if (i > 0 && source == b->synapse[i - 1].source)
      continue;
    t->net_first[e] = i;
    t->net_source[e] = source;
    t->net_weight[e] = f->net_weight[net];
    for (uint32_t s = 0; s < f->scenario_count; s++)
      t->scenario_rate[(size_t)s * t->net_count + e] = f->scenario_rate[(size_t)s * f->net_count + net];
    e++;
  }
  t->net_first[t->net_count] = t->pin_count;
  return CM_OK;
}

/* An array of pins, or of neurons, as the network without copies has it. */
#define SPREAD(array, count, from)                                                            \
  if (f->array != NULL) {                                                                     \
    if (CM_NEW(b->run->memory, t->array, (count), error) != CM_OK)                            \
      return error->status;                                                                   \
    for (uint64_t i = 0; i < (count); i++)                                                    \
      t->array[i] = f->array[from];                                                           \
  }

static cm_status make_pins(building *b, cm_error *error)
{
  const cm_topology *f = b->from;
  cm_topology *t = b->to;
  CM_TRY(CM_NEW(b->run->memory, t->pin, t->pin_count, error));
  CM_TRY_IF(f->pin_negative != NULL, CM_NEW(b->run->memory, t->pin_negative, t->pin_count / 64 + 1, error));
  SPREAD(pin_weight, t->pin_count, b->synapse[i].pin)
  SPREAD(pin_delay, t->pin_count, b->synapse[i].pin)
  for (uint64_t i = 0; i < t->pin_count; i++) {
    t->pin[i] = b->synapse[i].target;
    if (cm_topology_pin_negative(f, b->synapse[i].pin))
      t->pin_negative[i / 64] |= UINT64_C(1) << i % 64;
  }
  return CM_OK;
}

static uint32_t origin(const building *b, uint64_t v)
{
  const uint32_t n = b->from->vertex_count;
  return v < n ? (uint32_t)v : b->copies->of[v - n];
}

static cm_status make_neurons(building *b, cm_error *error)
{
  const cm_topology *f = b->from;
  cm_topology *t = b->to;
  SPREAD(size, t->vertex_count, origin(b, i))
  SPREAD(population_of, t->vertex_count, origin(b, i))
  SPREAD(population, t->population_count, i)
  CM_TRY_IF(f->scenario_name != NULL, CM_NEW(b->run->memory, t->scenario_name, t->scenario_count, error));
  if (f->scenario_name != NULL)
    memcpy(t->scenario_name, f->scenario_name, t->scenario_count * sizeof *t->scenario_name);
  t->size_total = 0;
  for (uint32_t v = 0; v < t->vertex_count; v++)
    t->size_total += cm_topology_size(t, v);
  return CM_OK;
}
#undef SPREAD

static cm_status make_names(building *b, cm_error *error)
{
  enum { NUMBER = 12 };
  const cm_topology *f = b->from;
  cm_topology *t = b->to;
  const uint64_t before = f->label_text != NULL ? f->label_first[f->vertex_count] : 0;
  uint64_t bytes = before;
  if (f->label_text == NULL)
    return CM_OK;
  for (uint32_t i = 0; i < b->copies->count; i++)
    bytes += strlen(cm_topology_label(f, b->copies->of[i])) + NUMBER;
  CM_TRY(CM_NEW_ALL(b->run->memory, error, CM_ARRAY(t->label_first, (size_t)t->vertex_count + 1),
                    CM_ARRAY(t->label_text, bytes)));
  memcpy(t->label_first, f->label_first, ((size_t)f->vertex_count + 1) * sizeof *t->label_first);
  memcpy(t->label_text, f->label_text, before);
  memset(b->net, 0, f->vertex_count * sizeof *b->net); /* copies that have a name */
  for (uint32_t i = 0; i < b->copies->count; i++) {
    const uint32_t of = b->copies->of[i];
    const uint64_t at = t->label_first[f->vertex_count + i];
    t->label_first[f->vertex_count + i + 1] = at + 1 + (uint64_t)snprintf(t->label_text + at, bytes - at, "%s+%u", cm_topology_label(f, of), ++b->net[of]);
  }
  return CM_OK;
}

/* What makes it run; of a graph as a format has it nothing is left. */
static cm_status make_dynamics(building *b, cm_error *error)
{
  const cm_dynamics *f = b->from->dynamics;
  cm_topology *top = b->to;
  cm_memory *memory = b->run->memory;
  uint64_t room = 0;
  if (f == NULL)
    return CM_OK;
  CM_TRY(CM_NEW(memory, top->dynamics, 1, error));
  cm_dynamics *t = top->dynamics;
  CM_TRY_IF(f->model != NULL, CM_NEW(memory, t->model, top->vertex_count, error));
  CM_TRY_IF(f->weight != NULL, CM_NEW(memory, t->weight, top->pin_count, error));
  for (uint32_t v = 0; f->model != NULL && v < top->vertex_count; v++)
    t->model[v] = f->model[origin(b, v)];
  for (int p = 0; p < CM_NEURON_PARAMETERS; p++) {
    CM_TRY_IF(f->parameter[p] != NULL, CM_NEW(memory, t->parameter[p], top->vertex_count, error));
    for (uint32_t v = 0; f->parameter[p] != NULL && v < top->vertex_count; v++)
      t->parameter[p][v] = f->parameter[p][origin(b, v)];
  }
  for (uint64_t i = 0; i < top->pin_count; i++) {
    const uint64_t pin = b->synapse[i].pin;
    uint64_t low = 0, high = f->parallel_count;
    if (f->weight != NULL)
      t->weight[i] = f->weight[pin];
    while (low < high) {
      const uint64_t middle = low + (high - low) / 2;
      if (f->parallel[middle].pin < pin)
        low = middle + 1;
      else
        high = middle;
    }
    for (; low < f->parallel_count && f->parallel[low].pin == pin; low++) {
      CM_TRY(CM_ROOM(memory, t->parallel, &room, t->parallel_count + 1, error));
      t->parallel[t->parallel_count] = f->parallel[low];
      t->parallel[t->parallel_count++].pin = i;
    }
  }
  return CM_OK;
}

cm_status cm_topology_copied(const cm_topology *topology, const cm_neuron_copies *copies, cm_run *run, cm_topology **made, cm_error *error)
{
  building b = {.from = topology, .copies = copies, .run = run};
  CM_TRY(CM_NEW(run->memory, b.to, 1, error));
  b.to->directed = true;
  b.to->vertex_count = topology->vertex_count + copies->count;
  b.to->weight_exponent = topology->weight_exponent;
  b.to->delay_unit_ns = topology->delay_unit_ns;
  b.to->weight_scale = topology->weight_scale;
  b.to->population_count = topology->population_count;
  b.to->scenario_count = topology->scenario_count;
  b.to->duplicate_count = topology->duplicate_count;
  b.to->self_loop_count = topology->self_loop_count;
  b.to->empty_net_count = topology->empty_net_count;
  b.to->zero_count = topology->zero_count;
  if (list_copies(&b, error) != CM_OK || serve(&b, error) != CM_OK || make_nets(&b, error) != CM_OK || make_pins(&b, error) != CM_OK ||
      make_neurons(&b, error) != CM_OK || make_names(&b, error) != CM_OK || make_dynamics(&b, error) != CM_OK) {
    cm_topology_free(b.to);
    b.to = NULL;
  }
  CM_FREE(b.head, b.next, b.by, b.synapse, b.net);
  if (b.to == NULL)
    return error->status;
  *made = b.to;
  return CM_OK;
}
