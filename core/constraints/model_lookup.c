/* What a search looks up in a model. What can fail: memory. */
#include <string.h>

#include "core/constraints/model_building.h"

cm_status cm_model_sort_relations(cm_model_building *b, cm_error *error)
{
  cm_place_model *m = b->m;
  CM_TRY(CM_NEW_ALL(b->memory, error, CM_ARRAY(m->first_relation, m->variables + 1), CM_ARRAY(m->relation, b->pair_count)));
  for (uint64_t i = 0; i < b->pair_count; i++)
    m->first_relation[b->pair[i].from]++;
  for (uint32_t v = 0, sum = 0; v <= m->variables; v++) {
    sum += m->first_relation[v];
    m->first_relation[v] = sum;
  }
  for (uint64_t i = b->pair_count; i-- > 0;)
    m->relation[--m->first_relation[b->pair[i].from]] = b->pair[i].relation;
  return CM_OK;
}

cm_status cm_model_collect_nets(cm_model_building *b, cm_error *error)
{
  cm_place_model *m = b->m;
  const cm_problem *p = b->p;
  CM_TRY(CM_NEW_ALL(b->memory, error, CM_ARRAY(m->first, p->net_count + 1), CM_ARRAY(m->pin, p->first[p->net_count]), CM_ARRAY(m->weight, p->net_count),
                                      CM_ARRAY(m->first_net, m->variables + 1), CM_ARRAY(m->net_of, p->first[p->net_count])));
  for (uint32_t n = 0; n < p->net_count; n++) {
    uint32_t end = m->first[m->net_count];
    for (uint32_t i = p->first[n]; i < p->first[n + 1]; i++) {
      const uint32_t v = m->variable_of[p->pin[i]];
      bool known = v == UINT32_MAX;
      for (uint32_t k = m->first[m->net_count]; k < end && !known; k++)
        known = m->pin[k] == v;
      if (!known)
        m->pin[end++] = v;
    }
    if (end - m->first[m->net_count] < 2 || p->weight[n] == 0)
      continue;
    m->weight[m->net_count++] = p->weight[n];
    m->first[m->net_count] = end;
  }
  for (uint32_t i = 0; i < m->first[m->net_count]; i++)
    m->first_net[m->pin[i]]++;
  for (uint32_t v = 0, sum = 0; v <= m->variables; v++) {
    sum += m->first_net[v];
    m->first_net[v] = sum;
  }
  for (uint32_t n = m->net_count; n-- > 0;)
    for (uint32_t i = m->first[n + 1]; i-- > m->first[n];)
      m->net_of[--m->first_net[m->pin[i]]] = n;
  return CM_OK;
}

/* Variables of the same needs, domains and roles may trade places. O(variables^2) of the few whose hash is one. */
cm_status cm_model_find_alike(cm_model_building *b, cm_error *error)
{
  cm_place_model *m = b->m;
  CM_TRY(CM_NEW(b->memory, m->alike, m->variables, error));
  for (uint32_t v = 0; v < m->variables; v++) {
    m->alike[v] = v;
    for (uint32_t u = 0; u < v; u++)
      if (m->alike[u] == u && b->role[u] == b->role[v] && memcmp(cm_model_domain(m, u), cm_model_domain(m, v), m->words * sizeof *m->domain) == 0) {
        m->alike[v] = u;
        break;
      }
  }
  return CM_OK;
}
