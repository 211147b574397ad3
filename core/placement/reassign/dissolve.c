/* Which parts that have lost their core get another one, and of which kind. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/placement/reassign/reassign.h"

typedef struct displaced {
  uint32_t members, part;
} displaced;

CM_ORDER(by_members, displaced, CM_RISING(members) CM_RISING(part))

/* A kind of core for a part without one: of those with cores left the one that takes most of its neurons, then the one with most cores
 * left; CM_NOWHERE: none. taken [kinds] neurons that each would take. */
static uint32_t kind_for(const cm_assignment *s, const uint32_t *taken, const uint32_t *left)
{
  uint32_t best = CM_NOWHERE;
  for (uint32_t k = 0; k < s->kinds; k++)
    if (left[k] > 0 && taken[k] > 0 && (best == CM_NOWHERE || taken[k] > taken[best] || (taken[k] == taken[best] && left[k] > left[best])))
      best = k;
  return best;
}

/* Neurons of each part, in all and those that each kind of core would take. */
static void count_members(const cm_assignment *s, uint32_t *members, uint32_t *taken)
{
  for (uint32_t v = 0; v < s->demand->network->vertex_count; v++) {
    if (s->part[v] == CM_NOWHERE)
      continue;
    members[s->part[v]]++;
    for (uint32_t k = 0; k < s->kinds; k++)
      taken[(size_t)s->part[v] * s->kinds + k] += cm_kind_takes(s, v, k);
  }
}

cm_status cm_dissolve(cm_assignment *s, cm_run *run, uint32_t *dissolved, cm_error *error)
{
  uint32_t *members, *taken = NULL, left[CM_KINDS_MAX], count = 0, gone = 0;
  displaced *list = NULL;
  memcpy(left, s->cores, sizeof left);
  CM_TRY(CM_NEW(run->memory, members, s->parts, error));
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(list, s->parts), CM_ARRAY(taken, (size_t)s->parts * s->kinds));
  if (status == CM_OK)
    count_members(s, members, taken);
  for (uint32_t p = 0; p < s->parts && status == CM_OK; p++) {
    if (members[p] > 0 && s->core[p] == CM_NOWHERE)
      list[count++] = (displaced){members[p], p};
    else if (members[p] > 0)
      left[s->kind[p]]--;
  }
  if (status == CM_OK && count > 0) {
    qsort(list, count, sizeof *list, by_members);
    memset(members, 0, s->parts * sizeof *members);
  }
  while (status == CM_OK && count > 0) {
    uint32_t p = list[--count].part, kind = kind_for(s, taken + (size_t)p * s->kinds, left);
    if (kind != CM_NOWHERE) {
      s->kind[p] = (uint8_t)kind;
      left[kind]--;
    } else {
      members[p] = UINT32_MAX;
      gone++;
    }
  }
  for (uint32_t v = 0; status == CM_OK && gone > 0 && v < s->demand->network->vertex_count; v++)
    if (s->part[v] != CM_NOWHERE && members[s->part[v]] == UINT32_MAX)
      s->part[v] = CM_NOWHERE;
  CM_FREE(members, taken, list);
  CM_END(status, *dissolved = gone, );
}
