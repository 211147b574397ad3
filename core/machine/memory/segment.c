/* The order of operators in segments. */
#include "core/machine/memory/segment.h"

#include <math.h>
#include <string.h>

#include "core/machine/memory/ordering.h"

/* Cut points that a segment of the first, rough pass reaches over, and how often in a row a segment may cost more than
 * what is known before longer ones are given up. */
enum { ROUGH_CUTS = 3, PATIENCE = 3 };

/* A segment that is put off until its end is to be reached: all of them in the rough pass; else those that were given up
 * because they cost more than that pass found. */
typedef struct attempt {
  uint32_t first;
  bool slices_first;
} attempt;

typedef struct state {
  double cost;  /* bytes so far; below 0: not reached */
  double bound; /* what the rough pass found; below 0: nothing */
  uint32_t from; /* where the last segment begins */
  bool slices_first;
  cm_resident *resident;
  uint32_t resident_count;
  attempt *put_off; /* as long as the state is not reached */
  uint64_t put_off_count, put_off_room;
} state;

typedef struct search {
  cm_plan *plan;
  cm_planner *planner;
  cm_run *run;
  cm_ordering order;
  state *states; /* by number of operators done */
  bool *may_cut; /* by operator: a segment may end before it */
} search;

/* Runs a segment from the best state before it, and keeps it where it costs less than what is known, or as much and `equal`
 * is set. *cost is what is known to be reached, when it is more than `most`. */
static cm_status run_segment(search *s, const attempt *segment, uint32_t last, double most, bool equal, double *cost,
                             cm_error *error)
{
  const state *begin = &s->states[segment->first];
  state *end = &s->states[last + 1];
  cm_ordering_make(&s->order, segment->first, last, segment->slices_first);
  CM_TRY(cm_planner_restore(s->planner, begin->resident, begin->resident_count, error));
  s->planner->traffic = (cm_traffic){0};
  CM_TRY(cm_planner_run(s->planner, s->order.pieces, s->order.count, last, most - begin->cost, error));
  *cost = begin->cost + cm_planner_cost(s->planner);
  if (*cost > most || (end->cost >= 0 && (equal ? *cost > end->cost : *cost >= end->cost)))
    return cm_run_check(s->run, error);
  cm_free(end->resident);
  end->resident = NULL;
  end->cost = *cost;
  end->from = segment->first;
  end->slices_first = segment->slices_first;
  CM_TRY(cm_planner_save(s->planner, &end->resident, &end->resident_count, error));
  return cm_run_check(s->run, error);
}

static cm_status put_off(search *s, const attempt *segment, uint32_t last, cm_error *error)
{
  state *end = &s->states[last + 1];
  CM_TRY(CM_ROOM(s->plan->memory, end->put_off, &end->put_off_room, end->put_off_count + 1, error));
  end->put_off[end->put_off_count++] = *segment;
  return CM_OK;
}

/* What costs more than the best way known to its end is not run to it. */
static cm_status try_segment(search *s, uint32_t first, uint32_t last, bool slices_first, double *cost, cm_error *error)
{
  const attempt segment = {first, slices_first};
  const state *end = &s->states[last + 1];
  double most = end->cost >= 0 ? end->cost : end->bound >= 0 ? end->bound : HUGE_VAL;
  CM_TRY(run_segment(s, &segment, last, most, false, cost, error));
  return end->cost >= 0 ? CM_OK : put_off(s, &segment, last, error);
}

/* Reaches a state by the best of what was put off, where nothing better has: the shortest segment first, which soon says
 * what the others must not cost. Among equals the first that was put off stays. */
static cm_status reach(search *s, uint32_t at, cm_error *error)
{
  state *end = &s->states[at];
  for (uint64_t i = end->cost < 0 ? end->put_off_count : 0; i-- > 0;) {
    double cost, most = end->cost >= 0 ? end->cost : HUGE_VAL;
    CM_TRY(run_segment(s, &end->put_off[i], at - 1, most, true, &cost, error));
  }
  end->put_off_count = 0;
  return CM_OK;
}

static bool same_cells(const cm_plan_value *a, const cm_plan_value *b)
{
  return a->whole.rank == b->whole.rank && memcmp(a->step, b->step, a->whole.rank * sizeof *a->step) == 0 &&
         memcmp(a->count, b->count, a->whole.rank * sizeof *a->count) == 0;
}

/* Element by element, an operator continues the one before it, where both are cut alike: no reason to part them. */
static void find_cuts(search *s, bool fuse)
{
  const cm_plan *plan = s->plan;
  for (uint32_t op = 0; op < plan->op_count; op++) {
    s->may_cut[op] = true;
    /* A long chain is cut somewhere. */
    if (!fuse || op % (CM_SEGMENT_OPS_MAX / 2) == 0 || !cm_split_in_place(&plan->ops[op].call) || plan->ops[op].copied != CM_NONE)
      continue;
    const cm_plan_op *before = &plan->ops[op - 1];
    if (before->copied != CM_NONE)
      continue;
    uint32_t made = before->call.node->outputs[0];
    for (uint32_t i = 0; i < plan->ops[op].call.input_count; i++)
      if (plan->ops[op].call.node->inputs[i] == made && plan->model->values[made].use_count == 1 &&
          same_cells(&plan->values[made], cm_ordering_value(plan, op)))
        s->may_cut[op] = false;
  }
}

/* Puts off the segments that begin at `first` and reach over at most `cuts` places where one may end. */
static cm_status extend_roughly(search *s, uint32_t first, uint32_t cuts, cm_error *error)
{
  for (uint32_t last = first; last < s->plan->op_count && last - first < CM_SEGMENT_OPS_MAX && cuts > 0; last++) {
    if (last + 1 < s->plan->op_count && !s->may_cut[last + 1])
      continue;
    cuts--;
    CM_TRY(put_off(s, &(attempt){first, false}, last, error));
    CM_TRY_IF(cm_ordering_two_ways(s->plan, first, last), put_off(s, &(attempt){first, true}, last, error));
  }
  return CM_OK;
}

/* Tries the segments that begin at `first`. Longer ones do not get better once parameters are loaded again and again:
 * several in a row that cost more than is known end it. */
static cm_status extend(search *s, uint32_t first, cm_error *error)
{
  uint32_t worse = 0;
  for (uint32_t last = first; last < s->plan->op_count && last - first < CM_SEGMENT_OPS_MAX; last++) {
    double cost, least;
    if (last + 1 < s->plan->op_count && !s->may_cut[last + 1])
      continue;
    CM_TRY(try_segment(s, first, last, false, &cost, error));
    least = cost;
    if (cm_ordering_two_ways(s->plan, first, last)) {
      CM_TRY(try_segment(s, first, last, true, &cost, error));
      least = cost < least ? cost : least;
    }
    const state *end = &s->states[last + 1];
    worse = least > end->cost || (end->bound >= 0 && least > end->bound) ? worse + 1 : 0;
    if (worse > PATIENCE)
      break;
  }
  return CM_OK;
}

/* The best state after every operator; `cuts` above 0: roughly, by segments over so many cut points. */
static cm_status run_pass(search *s, uint32_t cuts, cm_error *error)
{
  for (uint32_t i = 0; i <= s->plan->op_count; i++) {
    state *at = &s->states[i];
    at->bound = i > 0 ? at->cost : 0;
    at->cost = i > 0 ? -1 : 0;
    cm_free(at->resident);
    at->resident = NULL;
    at->resident_count = 0;
  }
  for (uint32_t first = 0; first <= s->plan->op_count; first++)
    if (reach(s, first, error) != CM_OK ||
        (s->states[first].cost >= 0 &&
         (cuts > 0 ? extend_roughly(s, first, cuts, error) : extend(s, first, error)) != CM_OK))
      return error->status;
  return CM_OK;
}

/* ---- the layout ---- */

static cm_status lay_out(search *s, cm_memory_plan *layout, cm_error *error)
{
  uint32_t count = 0, at = s->plan->op_count;
  for (; at > 0; at = s->states[at].from)
    count++;
  CM_TRY(CM_NEW_ALL(s->plan->memory, error, CM_ARRAY(layout->segments, count + 1),
                    CM_ARRAY(layout->pieces, s->plan->piece_count + 1)));
  layout->segment_count = count;
  for (at = s->plan->op_count; count-- > 0; at = s->states[at].from)
    layout->segments[count] = (cm_segment){.first_op = s->states[at].from, .op_count = at - s->states[at].from};
  s->planner->record = true;
  s->planner->traffic = (cm_traffic){0};
  CM_TRY(cm_planner_restore(s->planner, NULL, 0, error));
  for (uint32_t i = 0; i < layout->segment_count; i++) {
    cm_segment *g = &layout->segments[i];
    uint32_t last = g->first_op + g->op_count - 1;
    g->first_event = s->planner->event_count;
    cm_ordering_make(&s->order, g->first_op, last, s->states[last + 1].slices_first);
    CM_TRY(cm_planner_run(s->planner, s->order.pieces, s->order.count, last, HUGE_VAL, error));
    g->event_count = s->planner->event_count - g->first_event;
    g->first_piece = layout->piece_count;
    g->piece_count = s->order.count;
    memcpy(layout->pieces + layout->piece_count, s->order.pieces, s->order.count * sizeof *layout->pieces);
    layout->piece_count += s->order.count;
  }
  layout->events = s->planner->events;
  layout->event_count = s->planner->event_count;
  layout->traffic = s->planner->traffic;
  s->planner->events = NULL;
  return CM_OK;
}

static cm_status begin_search(search *s, cm_error *error)
{
  cm_plan *plan = s->plan;
  CM_TRY(cm_ordering_begin(&s->order, plan, NULL, error));
  CM_TRY(cm_planner_new(plan, &s->planner, error));
  CM_TRY(CM_NEW_ALL(plan->memory, error, CM_ARRAY(s->states, plan->op_count + 1), CM_ARRAY(s->may_cut, plan->op_count + 1)));
  for (uint32_t i = 1; i <= plan->op_count; i++)
    s->states[i].cost = -1;
  return CM_OK;
}

static void end_search(search *s)
{
  for (uint32_t i = 0; s->states != NULL && i <= s->plan->op_count; i++) {
    CM_FREE(s->states[i].resident, s->states[i].put_off);
  }
  cm_planner_free(s->planner);
  cm_ordering_end(&s->order);
  CM_FREE(s->states, s->may_cut);
}

cm_status cm_memory_plan_make(cm_plan *plan, bool fuse, cm_run *run, cm_memory_plan *layout, cm_error *error)
{
  search s = {.plan = plan, .run = run};
  cm_memory_plan made = {0};
  cm_status status = begin_search(&s, error);
  if (status == CM_OK)
    find_cuts(&s, fuse);
  CM_THEN(status, run_pass(&s, fuse ? ROUGH_CUTS : 1, error));
  CM_THEN_IF(status, fuse, run_pass(&s, 0, error));
  CM_THEN(status, lay_out(&s, &made, error));
  end_search(&s);
  CM_END(status, *layout = made, cm_memory_plan_free(&made));
}

void cm_memory_plan_free(cm_memory_plan *layout)
{
  CM_FREE(layout->segments, layout->pieces, layout->events);
  *layout = (cm_memory_plan){0};
}
