/* The orders that are tried. What can fail: memory, a stop. */
#include <math.h>
#include <string.h>

#include "core/placement/trees/group_state.h"

/* ---- groups grown one after the other ---- */

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
static uint32_t next_part(growing *g)
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

/* An order in which parts that talk with each other stand behind one router: a group goes on with the part that it talks with most, and
 * begins with the one that the group before talks with most. O(cores of a router * targets of casts). */
static cm_status order_by_growth(const cm_casts *casts, const cm_inbound_casts *inbound, uint32_t group, cm_run *run, uint32_t *order,
                             cm_error *error)
{
  growing g = {.casts = casts, .inbound = inbound};
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(g.talk, casts->parts), CM_ARRAY(g.fringe, casts->parts),
                                CM_ARRAY(g.taken, casts->parts));
  for (uint32_t i = 0; status == CM_OK && i < casts->parts; i++) {
    uint32_t part = next_part(&g);
    if (i % group == 0) {
      forget(&g);
      status = cm_run_check(run, error);
    }
    order[i] = part;
    take(&g, part);
  }
  CM_FREE(g.talk, g.fringe, g.taken);
  return status;
}

/* ---- trials ---- */

/* Orders that come to more than this much of the cheapest with a part of the effort are left. */
static const double promising = 1.25, first_share = 0.1;

typedef enum which { AS_THEY_COME, POPULATIONS, GROWN, ORDERS } which;
static const char *const names[] = {"as they come", "populations", "grown"};

typedef struct trial {
  const cm_casts *casts;
  const cm_place_task *task;
  uint32_t *plain, *grown; /* [parts] orders */
  uint32_t *core;          /* [parts] under way */
  uint8_t *begins;         /* [parts] */
  bool some_begin;
  cm_inbound_casts inbound;
} trial;

static cm_status try_order(trial *t, which order, double steps, cm_group_cost *made, cm_error *error)
{
  cm_part_order parts = {order == GROWN ? t->grown : t->plain, order == POPULATIONS ? t->begins : NULL, steps};
  return cm_place_groups(t->casts, t->task, &parts, t->core, made, error);
}

/* Parts that no cast reaches which reaches the one before: where populations begin. Whether there are such. */
static bool find_begins(const cm_casts *casts, const cm_inbound_casts *in, uint8_t *begins)
{
  bool some = false;
  for (uint32_t p = 1; p < casts->parts; p++) {
    uint64_t i = in->first[p - 1], k = in->first[p], i_end = k, k_end = in->first[p + 1];
    while (i < i_end && k < k_end && in->cast[i] != in->cast[k])
      *(in->cast[i] < in->cast[k] ? &i : &k) += 1;
    bool shared = i < i_end && k < k_end, silent = in->first[p - 1] == k_end;
    begins[p] = !shared && !silent;
    some = some || begins[p];
  }
  return some;
}

static cm_status prepare(trial *t, cm_error *error)
{
  cm_memory *memory = t->task->run->memory;
  uint32_t parts = t->casts->parts;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(t->plain, parts), CM_ARRAY(t->grown, parts), CM_ARRAY(t->core, parts), CM_ARRAY(t->begins, parts)));
  CM_TRY(cm_inbound_casts_new(t->casts, memory, &t->inbound, error));
  for (uint32_t p = 0; p < parts; p++)
    t->plain[p] = p;
  t->some_begin = find_begins(t->casts, &t->inbound, t->begins);
  return order_by_growth(t->casts, &t->inbound, t->task->chip->router_x * t->task->chip->router_y, t->task->run, t->grown,
                            error);
}

/* Each with a part of the effort: what it comes to. */
static cm_status sift(trial *t, double steps, cm_group_cost made[ORDERS], cm_error *error)
{
  for (which o = 0; o < ORDERS; o++) {
    made[o].sum = INFINITY;
    CM_TRY_IF((o != POPULATIONS || t->some_begin), try_order(t, o, steps * first_share, &made[o], error));
  }
  return CM_OK;
}

/* The promising ones with all of it; of equals the first. */
static cm_status choose(trial *t, double steps, uint32_t *core, cm_group_cost *least, cm_error *error)
{
  cm_group_cost first[ORDERS], made;
  CM_TRY(sift(t, steps, first, error));
  double bar = promising * fmin(fmin(first[AS_THEY_COME].sum, first[POPULATIONS].sum), first[GROWN].sum);
  for (which o = 0; o < ORDERS; o++) {
    bool again = o == GROWN && first[GROWN].sum == first[AS_THEY_COME].sum; /* the same order, most likely */
    if (first[o].sum > bar || again)
      continue;
    CM_TRY(try_order(t, o, steps, &made, error));
    if (least->order == NULL || made.sum < least->sum) {
      memcpy(core, t->core, t->casts->parts * sizeof *core);
      *least = made;
      least->order = names[o];
    }
  }
  return CM_OK;
}

cm_status cm_place_by_groups(const cm_casts *casts, const cm_place_task *task, double steps, uint32_t *core, cm_group_cost *cost,
                             cm_error *error)
{
  trial t = {.casts = casts, .task = task};
  cm_group_cost least = {0};
  cm_status status = prepare(&t, error);
  CM_THEN(status, choose(&t, steps, core, &least, error));
  CM_FREE(t.plain, t.grown, t.core, t.begins);
  cm_inbound_casts_free(&t.inbound);
  CM_END(status, *cost = least, );
}
