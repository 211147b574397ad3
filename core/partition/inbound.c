#include "core/partition/inbound.h"

#include "base/threads.h"

enum { RANGES = 32, CHECK_EVERY = 256 };

typedef struct builder {
  const cm_demand *demand;
  cm_inbound *in;
  cm_run *run;
  uint64_t *next; /* [vertices] */
} builder;

void cm_inbound_free(cm_inbound *inbound)
{
  CM_FREE(inbound->first, inbound->entry, inbound->weight);
  *inbound = (cm_inbound){0};
}

static uint32_t border(const cm_topology *t, size_t range)
{
  return (uint32_t)cm_slice_begin(t->vertex_count, range, RANGES);
}

static cm_status count_range(void *context, size_t range, cm_error *error)
{
  builder *b = context;
  const cm_topology *t = b->demand->network;
  uint32_t begin = border(t, range), end = border(t, range + 1);
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint32_t source = cm_topology_source(t, e);
    for (uint64_t i = cm_topology_first_pin(t, e, begin); i < t->net_first[e + 1] && t->pin[i] < end; i++)
      b->in->first[(size_t)t->pin[i] + 1] += t->pin[i] != source;
    if (e % CHECK_EVERY == 0 && cm_run_check(b->run, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

static cm_status fill_range(void *context, size_t range, cm_error *error)
{
  builder *b = context;
  const cm_topology *t = b->demand->network;
  uint32_t begin = border(t, range), end = border(t, range + 1);
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint32_t source = cm_topology_source(t, e);
    for (uint64_t i = cm_topology_first_pin(t, e, begin); i < t->net_first[e + 1] && t->pin[i] < end; i++) {
      if (t->pin[i] == source)
        continue;
      uint64_t at = b->next[t->pin[i]]++;
      uint32_t units = cm_inbound_units(b->in, cm_demand_pin_weight(b->demand, e, i));
      if (b->in->weight != NULL)
        b->in->weight[at] = units;
      b->in->entry[at] = b->in->weight != NULL ? source : (uint32_t)((uint64_t)(units - 1) << b->in->bits) | source;
    }
    if (e % CHECK_EVERY == 0 && cm_run_check(b->run, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

/* The unit: the least weight, more where a vertex's weights would add up to too much. Returns the largest weight in
 * units. */
static cm_status choose_unit(const cm_demand *demand, cm_run *run, cm_inbound *in, uint64_t *most, cm_error *error)
{
  const cm_topology *t = demand->network;
  uint64_t *sum, least = UINT64_MAX, largest = 0, heaviest = 0;
  CM_TRY(CM_NEW(run->memory, sum, t->vertex_count, error));
  for (uint32_t e = 0; e < t->net_count; e++)
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      uint64_t weight = cm_demand_pin_weight(demand, e, i);
      sum[t->pin[i]] += weight;
      sum[cm_topology_source(t, e)] += weight;
      least = weight > 0 && weight < least ? weight : least;
      largest = weight > largest ? weight : largest;
    }
  for (uint32_t v = 0; v < t->vertex_count; v++)
    heaviest = sum[v] > heaviest ? sum[v] : heaviest;
  cm_free(sum);
  in->unit = least == UINT64_MAX ? 1 : least;
  if (heaviest / in->unit >= UINT32_MAX / 4)
    in->unit = heaviest / (UINT32_MAX / 4) + 1;
  *most = largest / in->unit > 0 ? largest / in->unit : 1;
  return CM_OK;
}

static cm_status build(builder *b, cm_error *error)
{
  const cm_topology *t = b->demand->network;
  cm_memory *memory = b->run->memory;
  uint32_t n = t->vertex_count;
  uint64_t most;
  CM_TRY(choose_unit(b->demand, b->run, b->in, &most, error));
  CM_TRY(CM_NEW(memory, b->in->first, (size_t)n + 1, error));
  CM_TRY(CM_NEW(memory, b->next, n, error));
  CM_TRY(cm_parallel(b->run, RANGES, count_range, b, error));
  while (UINT64_C(1) << b->in->bits < n)
    b->in->bits++;
  for (uint32_t v = 0; v < n; v++) {
    b->next[v] = b->in->first[v];
    b->in->first[v + 1] += b->in->first[v];
  }
  if (CM_NEW(memory, b->in->entry, b->in->first[n], error) != CM_OK ||
      (most > UINT64_C(1) << (32 - b->in->bits) && CM_NEW(memory, b->in->weight, b->in->first[n], error) != CM_OK))
    return error->status;
  return cm_parallel(b->run, RANGES, fill_range, b, error);
}

cm_status cm_inbound_new(const cm_demand *demand, cm_run *run, cm_inbound *inbound, cm_error *error)
{
  cm_inbound made = {0};
  builder b = {.demand = demand, .in = &made, .run = run};
  cm_status status = build(&b, error);
  cm_free(b.next);
  CM_END(status, *inbound = made, cm_inbound_free(&made));
}
