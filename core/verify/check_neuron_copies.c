/* Whether the network with copies of neurons is the network: each copy has the inputs of its neuron, from that which it says or a copy of it, each once, and
 * sends as that does. Nothing is shared with what copies. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/verify/checker.h"

/* Synapses of a network by their targets: whose they are, hashed with all that is known of them. */
typedef struct inputs {
  uint64_t *first, *input; /* [vertices + 2], [pins] */
} inputs;

/* The neuron that a vertex is a copy of, or itself; the file's list has been read once, and is in range. */
static uint32_t origin(const json_t *list, uint32_t neurons, uint32_t v)
{
  return v < neurons ? v : (uint32_t)json_integer_value(json_object_get(json_array_get(list, v - neurons), "of"));
}

static uint64_t blend(uint64_t a, uint64_t b)
{
  a = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
  return a ^ a >> 29;
}

static cm_status gather(const cm_topology *t, const json_t *list, uint32_t neurons, cm_memory *memory, inputs *in, cm_error *error)
{
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(in->first, (size_t)t->vertex_count + 2), CM_ARRAY(in->input, t->pin_count)));
  for (uint64_t i = 0; i < t->pin_count; i++)
    in->first[t->pin[i] + 2]++;
  for (uint32_t v = 2; v < t->vertex_count + 2; v++)
    in->first[v] += in->first[v - 1];
  for (uint32_t e = 0; e < t->net_count; e++)
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      const uint64_t which = blend(origin(list, neurons, cm_topology_source(t, e)), cm_topology_net_weight(t, e)),
                     how = blend(cm_topology_pin_weight(t, e, i), t->pin_delay != NULL ? t->pin_delay[i] : 0);
      in->input[in->first[t->pin[i] + 1]++] = blend(which, how + cm_topology_pin_negative(t, i));
    }
  for (uint32_t v = 0; v < t->vertex_count; v++)
    if (in->first[v + 1] > in->first[v])
      qsort(in->input + in->first[v], in->first[v + 1] - in->first[v], sizeof *in->input, cm_ascending_long);
  return CM_OK;
}

static bool is_same(const inputs *a, uint32_t v, const inputs *b, uint32_t w)
{
  const uint64_t count = a->first[v + 1] - a->first[v];
  bool same = count == b->first[w + 1] - b->first[w];
  for (uint64_t i = 0; same && i < count; i++)
    same = a->input[a->first[v] + i] == b->input[b->first[w] + i];
  return same;
}

cm_status cm_checker_neuron_copies(cm_checker *c, cm_error *error)
{
  const cm_topology *one = c->given->network, *all = c->given->demand->network;
  const json_t *list = json_object_get(json_object_get(json_object_get(c->file.rest, "report"), "leaving"), "copies");
  inputs before = {NULL, NULL}, after = before;
  if (one == NULL)
    return CM_OK;
  cm_status status = gather(one, NULL, one->vertex_count, c->given->run->memory, &before, error);
  CM_THEN(status, gather(all, list, one->vertex_count, c->given->run->memory, &after, error));
  for (uint32_t v = 0; status == CM_OK && v < all->vertex_count; v++) {
    const uint32_t of = origin(list, one->vertex_count, v);
    if (!is_same(&before, of, &after, v) || cm_topology_size(one, of) != cm_topology_size(all, v))
      violation(c, "neuron %" PRIu32 ", or a copy of it (%" PRIu32 "), has not the size and the inputs of the network, each once", of, v);
  }
  CM_FREE(before.first, before.input, after.first, after.input);
  return status == CM_OK ? cm_run_check(c->given->run, error) : status;
}
