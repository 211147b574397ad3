/* Groups grown one after the other. What can fail: memory, a stop. */
#include "core/placement/trees/seating.h"

typedef struct growing {
  const cm_casts *casts;
  const cm_inbound_casts *inbound;
  double *talk;     /* [parts] weight between a part and the group under way */
  uint32_t *fringe; /* parts that talk with it, and were not taken when they came */
  uint32_t count;
  uint8_t *taken; /* [parts] */
  uint32_t next;  /* all before are taken */
} growing;

static void hear(growing *g, uint32_t part, double weight)
{
  if (g->taken[part])
    return;
  if (g->talk[part] == 0)
    g->fringe[g->count++] = part;
  g->talk[part] += weight;
}

static void take(growing *g, uint32_t part)
{
  const cm_casts *c = g->casts;
  g->taken[part] = 1;
  for (uint32_t e = c->of_part[part]; e < c->of_part[part + 1]; e++)
    for (uint64_t i = c->first[e]; i < c->first[e + 1]; i++)
      hear(g, c->target[i], (double)c->weight[e]);
  for (uint64_t i = g->inbound->first[part]; i < g->inbound->first[part + 1]; i++)
    hear(g, g->inbound->sender[g->inbound->cast[i]], (double)c->weight[g->inbound->cast[i]]);
}

/* The part that talks most with the group, of equals the first by number; else the first that is left. */
static uint32_t choose(growing *g)
{
  uint32_t best = UINT32_MAX, kept = 0;
  for (uint32_t i = 0; i < g->count; i++) {
    uint32_t part = g->fringe[i];
    if (g->taken[part])
      continue;
    g->fringe[kept++] = part;
    if (best == UINT32_MAX || g->talk[part] > g->talk[best] || (part < best && g->talk[part] == g->talk[best]))
      best = part;
  }
  g->count = kept;
  while (best == UINT32_MAX && g->taken[g->next])
    g->next++;
  return best != UINT32_MAX ? best : g->next;
}

/* A new group begins: what talked with the last is forgotten. */
static void forget(growing *g)
{
  for (uint32_t i = 0; i < g->count; i++)
    g->talk[g->fringe[i]] = 0;
  g->count = 0;
}

cm_status cm_order_by_growth(const cm_casts *casts, const cm_inbound_casts *inbound, uint32_t group, cm_run *run, uint32_t *order,
                             cm_error *error)
{
  growing g = {.casts = casts, .inbound = inbound};
  cm_status status = CM_OK;
  if (CM_NEW(run->memory, g.talk, casts->parts, error) != CM_OK || CM_NEW(run->memory, g.fringe, casts->parts, error) != CM_OK ||
      CM_NEW(run->memory, g.taken, casts->parts, error) != CM_OK)
    status = error->status;
  for (uint32_t i = 0; status == CM_OK && i < casts->parts; i++) {
    uint32_t part = choose(&g);
    if (i % group == 0) {
      forget(&g);
      status = cm_run_check(run, error);
    }
    order[i] = part;
    take(&g, part);
  }
  cm_free(g.talk);
  cm_free(g.fringe);
  cm_free(g.taken);
  return status;
}
