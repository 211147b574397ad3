#include "core/partition/balanced_cut.h"


#define NONE UINT32_MAX

typedef struct cutter {
  cm_flow *flow;
  cm_balanced_cut *task;
  uint64_t total;
  uint64_t closed[2];   /* sizes of what the sides have closed around, with the fixed ones */
  uint64_t load[2];     /* and of what they reach beside */
  uint32_t apart[2], any[2]; /* places in their orders before which no vertex is left: that neither side has, that it has not itself */
} cutter;

static void weigh(cutter *c, unsigned side)
{
  const cm_flow *f = c->flow;
  c->load[side] = c->closed[side];
  for (uint32_t i = 0; i < f->reach_count[side]; i++)
    c->load[side] += f->reach[side][i] < c->task->vertices ? c->task->size[f->reach[side][i]] : 0;
}

/* Keeps the cut around a side where it is the best so far: `side` against everything else. */
static void keep_better(cutter *c, unsigned side)
{
  cm_balanced_cut *t = c->task;
  uint64_t own = c->load[side], other = c->total - own, larger = own > other ? own : other;
  if (own > t->most[side] || other > t->most[1 - side] || c->flow->value > t->cut ||
      (c->flow->value == t->cut && larger >= t->larger))
    return;
  t->cut = c->flow->value;
  t->larger = larger;
  t->found = true;
  for (uint32_t v = 0; v < t->vertices; v++)
    t->side[v] = (uint8_t)(cm_flow_has(c->flow, side, v) ? side : 1 - side);
}

/* The vertex that a side takes in next without more flow: one that neither has. NONE: there is none. */
static uint32_t next_apart(cutter *c, unsigned side)
{
  const uint32_t *order = c->task->order[side];
  uint32_t *i = &c->apart[side];
  while (*i < c->task->vertices && (cm_flow_has(c->flow, 0, order[*i]) || cm_flow_has(c->flow, 1, order[*i])))
    ++*i;
  return *i < c->task->vertices ? order[*i] : NONE;
}

/* One that may need more flow. */
static uint32_t next_any(cutter *c, unsigned side)
{
  const uint32_t *order = c->task->order[side];
  uint32_t *i = &c->any[side];
  while (*i < c->task->vertices && (cm_flow_has(c->flow, side, order[*i]) || c->flow->owner[order[*i]] != CM_FLOW_NEITHER ||
                                    c->flow->end[order[*i]] != CM_FLOW_NEITHER))
    ++*i;
  return *i < c->task->vertices ? order[*i] : NONE;
}

static void take(cutter *c, unsigned side, uint32_t v)
{
  cm_flow_close(c->flow, side);
  c->closed[side] = c->load[side];
  cm_flow_take(c->flow, side, v);
}

/* A side takes in a vertex: one that the other does not reach, so that the cut stays as it is, before others. False: none can. */
static bool pierce(cutter *c, unsigned smaller)
{
  uint32_t v = next_apart(c, smaller);
  if (v != NONE) {
    take(c, smaller, v);
    cm_flow_search(c->flow, smaller);
    weigh(c, smaller);
    return true;
  }
  if (c->flow->value >= c->task->cut || (v = next_any(c, smaller)) == NONE)
    return false;
  take(c, smaller, v);
  cm_flow_maximise(c->flow, smaller, c->task->cut + 1);
  for (unsigned side = 0; side < 2; side++) {
    weigh(c, side);
    c->apart[side] = c->any[side] = 0; /* what sides reach may have shrunk */
  }
  return true;
}

cm_status cm_balanced_cut_find(cm_flow *flow, cm_balanced_cut *task, cm_run *run, cm_error *error)
{
  cutter c = {.flow = flow, .task = task, .total = task->fixed[0] + task->fixed[1]};
  task->found = false;
  for (uint32_t v = 0; v < task->vertices; v++)
    c.total += task->size[v];
  for (unsigned side = 0; side < 2; side++) {
    c.closed[side] = task->fixed[side];
    cm_flow_take(flow, side, task->vertices + side);
  }
  cm_flow_maximise(flow, 0, task->cut);
  weigh(&c, 0);
  weigh(&c, 1);
  do {
    if (flow->value > task->cut)
      break;
    keep_better(&c, 0);
    keep_better(&c, 1);
    if (flow->looks > task->looks || c.load[0] > task->most[0] || c.load[1] > task->most[1])
      break;
    CM_TRY(cm_run_check(run, error));
  } while (pierce(&c, c.load[0] <= c.load[1] ? 0 : 1));
  return CM_OK;
}
