/* Nets in the order of their sources. */
#include "core/network/net_order.h"

#include <string.h>

#include "base/members.h"

/* Between two looks for a stop. */
enum { CHECK_EVERY = 1 << 14 };

void cm_topology_nets_from(const cm_topology *topology, uint32_t *first)
{
  for (uint32_t e = 0; e < topology->net_count; e++)
    first[cm_topology_source(topology, e) + 1]++;
  for (uint32_t v = 0; v < topology->vertex_count; v++)
    first[v + 1] += first[v];
}

void cm_topology_nets_to(const cm_topology *topology, uint64_t *first, uint32_t *net)
{
  for (uint64_t i = 0; i < topology->pin_count; i++)
    first[topology->pin[i] + 2]++; /* two places ahead: filling below moves each start by one */
  for (uint32_t v = 0; v < topology->vertex_count; v++)
    first[v + 2] += first[v + 1];
  for (uint32_t e = 0; e < topology->net_count; e++)
    for (uint64_t i = topology->net_first[e]; i < topology->net_first[e + 1]; i++)
      net[first[topology->pin[i] + 1]++] = e;
}

/* What is moved. */
typedef struct ordered {
  uint64_t *first, *weight;
  uint32_t *source, *pin, *next, *order;
  float *rate;
} ordered;

static cm_status move_nets(const cm_topology *t, const float *rate, const ordered *to, cm_run *run, cm_error *error)
{
  for (uint32_t i = 0; i < t->net_count; i++) {
    uint32_t e = to->order[i];
    uint64_t count = t->net_first[e + 1] - t->net_first[e];
    memcpy(to->pin + to->first[i], t->pin + t->net_first[e], count * sizeof *to->pin);
    to->first[i + 1] = to->first[i] + count;
    to->source[i] = t->net_source[e];
    if (t->net_weight != NULL)
      to->weight[i] = t->net_weight[e];
    if (rate != NULL)
      to->rate[i] = rate[e];
    CM_TRY_IF(i % CHECK_EVERY == 0, cm_run_check(run, error));
  }
  return CM_OK;
}

/* Exchanges two arrays, so that what was there is freed with what was made. */
#define EXCHANGE(a, b) do { void *kept_ = (a); (a) = (b); (b) = kept_; } while (0)

cm_status cm_topology_order_nets(cm_topology *made, float **rate, cm_run *run, cm_error *error)
{
  cm_memory *memory = run->memory;
  ordered to = {0};
  const uint32_t nets = made->net_count;
  cm_status status = CM_OK;
  if (CM_NEW(memory, to.first, (size_t)nets + 1, error) != CM_OK ||
      (made->net_weight != NULL && CM_NEW(memory, to.weight, nets, error) != CM_OK) ||
      (rate != NULL && CM_NEW(memory, to.rate, nets, error) != CM_OK) || CM_NEW(memory, to.source, nets, error) != CM_OK ||
      CM_NEW(memory, to.pin, made->pin_count, error) != CM_OK ||
      CM_NEW(memory, to.next, (size_t)made->vertex_count + 2, error) != CM_OK || CM_NEW(memory, to.order, nets, error) != CM_OK)
    status = error->status;
  if (status == CM_OK) {
    cm_sort_members(made->net_source, nets, made->vertex_count, to.next, to.order);
    status = move_nets(made, rate != NULL ? *rate : NULL, &to, run, error);
  }
  if (status == CM_OK) {
    EXCHANGE(made->net_first, to.first);
    EXCHANGE(made->net_weight, to.weight);
    EXCHANGE(made->net_source, to.source);
    EXCHANGE(made->pin, to.pin);
    if (rate != NULL)
      EXCHANGE(*rate, to.rate);
  }
  void *const blocks[] = {to.first, to.weight, to.source, to.pin, to.next, to.order, to.rate};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    cm_free(blocks[i]);
  return status;
}
