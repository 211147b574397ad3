#include "core/measure/populations_of_parts.h"

#include <stdlib.h>

#include "base/members.h"
#include "base/order.h"

/* The populations of a part's neurons order[0 .. neurons - 1], in the order in which they come, into list; returns how many. count
 * [populations] is zero before and after. */
static uint32_t count_part(const cm_demand *demand, const uint32_t *order, uint32_t neurons, uint32_t *count, cm_population_count *list)
{
  const uint32_t *of = demand->network->population_of;
  uint32_t used = 0;
  for (uint32_t i = 0; i < neurons; i++)
    if (!cm_demand_is_outside(demand, order[i]) && count[of[order[i]]]++ == 0)
      list[used++].population = of[order[i]];
  for (uint32_t i = 0; i < used; i++) {
    list[i].neurons = count[list[i].population];
    count[list[i].population] = 0;
  }
  return used;
}

CM_ORDER(by_population, cm_population_count, CM_RISING(population))

cm_status cm_populations_by_part(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_memory *memory, cm_population_counts *made,
                                 cm_error *error)
{
  const cm_topology *topology = demand->network;
  uint32_t neurons = topology->vertex_count, *first = NULL, *order = NULL, *count = NULL, used = 0;
  cm_status status = CM_OK;
  *made = (cm_population_counts){0};
  if (CM_NEW(memory, first, (size_t)parts + 2, error) != CM_OK || CM_NEW(memory, order, neurons, error) != CM_OK ||
      CM_NEW(memory, count, topology->population_count, error) != CM_OK || CM_NEW(memory, made->first, (size_t)parts + 1, error) != CM_OK ||
      CM_NEW(memory, made->list, neurons, error) != CM_OK)
    status = error->status;
  else
    cm_sort_members(part, neurons, parts, first, order);
  for (uint32_t p = 0; p < parts && status == CM_OK; p++) {
    made->first[p] = used;
    used += count_part(demand, order + first[p], first[p + 1] - first[p], count, made->list + used);
    qsort(made->list + made->first[p], used - made->first[p], sizeof *made->list, by_population);
    made->first[p + 1] = used;
  }
  CM_FREE(first, order, count);
  if (status != CM_OK)
    cm_population_counts_free(made);
  return status;
}

void cm_population_counts_free(cm_population_counts *counts)
{
  CM_FREE(counts->first, counts->list);
  *counts = (cm_population_counts){0};
}

cm_status cm_populations_of_parts(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_memory *memory,
                                  uint32_t *most, cm_error *error)
{
  cm_population_counts c;
  CM_TRY(cm_populations_by_part(demand, part, parts, memory, &c, error));
  for (uint32_t p = 0; p < parts; p++) {
    uint32_t best = c.first[p];
    for (uint32_t i = c.first[p]; i < c.first[p + 1]; i++)
      best = c.list[i].neurons > c.list[best].neurons ? i : best;
    most[p] = c.first[p] < c.first[p + 1] ? c.list[best].population : 0;
  }
  cm_population_counts_free(&c);
  return CM_OK;
}

static json_t *list_json(const cm_topology *topology, uint64_t *neurons)
{
  json_t *list = json_array();
  for (uint32_t v = 0; v < topology->vertex_count; v++)
    neurons[topology->population_of[v]]++;
  for (uint32_t k = 0; list != NULL && k < topology->population_count; k++)
    if (json_array_append_new(list, json_pack("{s:s, s:s, s:I}", "name", topology->population[k].name, "kind", topology->population[k].kind,
                                              "neurons", (json_int_t)neurons[k])) != 0) {
      json_decref(list);
      return NULL;
    }
  return list;
}

json_t *cm_populations_json(const cm_demand *demand, const uint32_t *part, uint32_t parts)
{
  const cm_topology *topology = demand->network;
  cm_error ignored;
  uint32_t *most = NULL;
  uint64_t *neurons = NULL;
  json_t *list = NULL, *of_parts = NULL;
  if (topology->population_count == 0)
    return json_null();
  if (CM_NEW(NULL, most, parts, &ignored) == CM_OK && CM_NEW(NULL, neurons, topology->population_count, &ignored) == CM_OK &&
      cm_populations_of_parts(demand, part, parts, NULL, most, &ignored) == CM_OK)
    list = list_json(topology, neurons);
  of_parts = list != NULL ? json_array() : NULL;
  for (uint32_t p = 0; of_parts != NULL && p < parts; p++)
    if (json_array_append_new(of_parts, json_integer(most[p])) != 0) {
      json_decref(of_parts);
      of_parts = NULL;
    }
  CM_FREE(most, neurons);
  if (of_parts == NULL)
    json_decref(list);
  return of_parts != NULL ? json_pack("{s:o, s:o}", "list", list, "of_parts", of_parts) : NULL;
}
