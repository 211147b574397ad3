#include "core/verify/check_ways.h"

#include <string.h>

#include "core/chip/interconnect/interconnect.h"

cm_status cm_check_ways_new(const cm_chip *chip, cm_memory *memory, cm_check_ways *ways, cm_error *error)
{
  const cm_interconnect *net = chip->interconnect;
  cm_check_ways w = {.chip = chip, .routers = net->routers, .links = net->link_count, .source = UINT32_MAX};
  CM_TRY_OR(CM_NEW_ALL(memory, error, CM_ARRAY(w.length, w.routers), CM_ARRAY(w.queue, w.routers), CM_ARRAY(w.queued, w.routers),
                       CM_ARRAY(w.into, w.links), CM_ARRAY(w.first, (size_t)w.routers + 1)), cm_check_ways_free(&w));
  for (uint32_t i = 0; i < w.links; i++)
    w.first[net->link[i].to + 1]++;
  for (uint32_t r = 0; r < w.routers; r++)
    w.first[r + 1] += w.first[r];
  for (uint32_t i = 0; i < w.links; i++) { /* by the router left: each list is filled in that order */
    uint32_t at = w.first[net->link[i].to];
    while (at < w.first[net->link[i].to + 1] && w.into[at] != 0)
      at++;
    w.into[at] = i + 1;
  }
  *ways = w;
  return CM_OK;
}

void cm_check_ways_free(cm_check_ways *ways)
{
  CM_FREE(ways->length, ways->queue, ways->queued, ways->into, ways->first);
  *ways = (cm_check_ways){0};
}

/* Corrects lengths until none gets shorter. */
static void measure_from(cm_check_ways *w, uint32_t source)
{
  const cm_interconnect *net = w->chip->interconnect;
  uint32_t head = 0, count = 1;
  memset(w->length, 0xff, w->routers * sizeof *w->length);
  w->length[source] = 0;
  w->queue[0] = source;
  w->queued[source] = 1;
  for (; count > 0; count--, head = head + 1 < w->routers ? head + 1 : 0) {
    uint32_t router = w->queue[head];
    w->queued[router] = 0;
    for (uint32_t i = net->first[router]; i < net->first[router + 1]; i++) {
      const cm_link *k = &net->link[i];
      uint64_t length = w->length[router] + (net->kind == CM_GRAPH ? k->units : 1);
      if (k->dead || length >= w->length[k->to])
        continue;
      w->length[k->to] = length;
      if (w->queued[k->to])
        continue;
      w->queued[k->to] = 1;
      w->queue[(head + count) % w->routers] = k->to;
      count++;
    }
  }
  w->source = source;
}

static uint32_t behind(const cm_chip *chip, uint32_t core)
{
  return core / chip->width / chip->router_y * (chip->width / chip->router_x) + core % chip->width / chip->router_x;
}

cm_status cm_check_way(cm_check_ways *w, uint32_t from_core, uint32_t to_core, uint32_t *link, uint32_t *count, cm_error *error)
{
  const cm_interconnect *net = w->chip->interconnect;
  uint32_t from = behind(w->chip, from_core), at = behind(w->chip, to_core), found = 0;
  if (w->source != from)
    measure_from(w, from);
  if (w->length[at] == UINT64_MAX)
    return cm_fail(error, CM_BAD_MAPPING, "dead links leave no way from core (%u, %u) to core (%u, %u)", from_core % w->chip->width,
                   from_core / w->chip->width, to_core % w->chip->width, to_core / w->chip->width);
  while (at != from) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = w->first[at]; i < w->first[at + 1]; i++) {
      const cm_link *k = &net->link[w->into[i] - 1];
      if (!k->dead && w->length[k->from] != UINT64_MAX &&
          w->length[k->from] + (net->kind == CM_GRAPH ? k->units : 1) == w->length[at] &&
          (best == UINT32_MAX || k->from < net->link[best].from))
        best = w->into[i] - 1;
    }
    link[found++] = best;
    at = net->link[best].from;
  }
  *count = found;
  return CM_OK;
}
