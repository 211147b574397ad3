/* Nets in the order of their sources. */
#include "core/network/net_order.h"

#include <string.h>

cm_status cm_topology_order_nets(cm_topology *made, cm_memory *memory, cm_error *error)
{
  uint64_t *first = NULL, *weight = NULL;
  uint32_t *source = NULL, *pin = NULL, *next = NULL, *order = NULL;
  cm_status status = CM_OK;
  if (CM_NEW(memory, first, (size_t)made->net_count + 1, error) != CM_OK ||
      CM_NEW(memory, weight, made->net_count, error) != CM_OK ||
      CM_NEW(memory, source, made->net_count, error) != CM_OK ||
      CM_NEW(memory, pin, made->pin_count, error) != CM_OK ||
      CM_NEW(memory, next, (size_t)made->vertex_count + 1, error) != CM_OK ||
      CM_NEW(memory, order, made->net_count, error) != CM_OK) {
    status = error->status;
  } else {
    for (uint32_t e = 0; e < made->net_count; e++)
      next[made->net_source[e] + 1]++;
    for (uint32_t v = 0; v < made->vertex_count; v++)
      next[v + 1] += next[v];
    for (uint32_t e = 0; e < made->net_count; e++)
      order[next[made->net_source[e]]++] = e;
    for (uint32_t i = 0; i < made->net_count; i++) {
      uint32_t e = order[i];
      uint64_t count = made->net_first[e + 1] - made->net_first[e];
      memcpy(pin + first[i], made->pin + made->net_first[e], count * sizeof *pin);
      first[i + 1] = first[i] + count;
      weight[i] = made->net_weight[e];
      source[i] = made->net_source[e];
    }
    cm_free(made->net_first);
    cm_free(made->net_weight);
    cm_free(made->net_source);
    cm_free(made->pin);
    made->net_first = first;
    made->net_weight = weight;
    made->net_source = source;
    made->pin = pin;
    first = weight = NULL;
    source = pin = NULL;
  }
  cm_free(first);
  cm_free(weight);
  cm_free(source);
  cm_free(pin);
  cm_free(next);
  cm_free(order);
  return status;
}
