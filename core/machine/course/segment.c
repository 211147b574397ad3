#include "core/machine/course/segment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the order of pieces within a segment ---- */

typedef struct sink {
  double fraction; /* of its operator's pieces that come before it */
  uint32_t op, piece;
} sink;

typedef struct ordering {
  cm_plan *plan;
  uint32_t first_op, last_op;
  uint32_t *done; /* by piece: stamp */
  uint32_t stamp;
  uint32_t *pieces; /* what is made */
  uint32_t count;
  sink *sinks;
  bool *has_reader; /* by operator: one of the segment reads it */
  uint32_t *maker_first, *makers; /* by operator: those that make what it reads */
} ordering;

static int by_fraction(const void *a, const void *b)
{
  const sink *x = a, *y = b;
  if (x->fraction != y->fraction)
    return x->fraction < y->fraction ? -1 : 1;
  if (x->op != y->op)
    return x->op < y->op ? -1 : 1;
  return x->piece < y->piece ? -1 : x->piece > y->piece;
}

/* Depth first: what a piece reads is made right before it. The depth is at most the number of operators. */
static void visit(ordering *o, uint32_t number)
{
  const cm_piece *piece = &o->plan->pieces[number];
  if (o->done[number] == o->stamp || piece->dead)
    return;
  o->done[number] = o->stamp;
  const uint32_t *inputs = cm_piece_inputs(o->plan, piece);
  for (uint32_t i = 0; i < piece->input_count; i++) {
    const cm_tile *tile = &o->plan->tiles[inputs[i]];
    if (tile->grid && tile->piece != CM_NONE && o->plan->pieces[tile->piece].op >= o->first_op)
      visit(o, tile->piece);
    /* A box is loaded from outside: all tiles it meets are made first. */
    cm_cells cells;
    for (bool more = !tile->grid && cm_cells_begin(o->plan, tile, &cells); more; more = cm_cells_next(&cells)) {
      const cm_tile *cell = &o->plan->tiles[cm_cells_tile(&cells)];
      if (o->plan->pieces[cell->piece].op >= o->first_op)
        visit(o, cell->piece);
    }
  }
  o->pieces[o->count++] = number;
}

/* The place of a cell when the last axis counts most. */
static uint64_t column_major(const cm_plan_value *v, uint32_t cell)
{
  uint64_t at = 0, index[CM_RANK_MAX] = {0};
  for (uint32_t i = v->whole.rank; i-- > 0; cell /= (uint32_t)v->count[i])
    index[i] = cell % (uint32_t)v->count[i];
  for (uint32_t i = v->whole.rank; i-- > 0;)
    at = at * (uint64_t)v->count[i] + index[i];
  return at;
}

static const cm_plan_value *made_by(const cm_plan *plan, uint32_t op)
{
  const cm_plan_op *o = &plan->ops[op];
  return &plan->values[o->copied != CM_NONE ? o->copied : o->call.node->outputs[0]];
}

/* The operators that make what each operator reads. */
static cm_status list_makers(ordering *o, cm_error *error)
{
  cm_plan *plan = o->plan;
  size_t count = 0, capacity = 0;
  if (CM_NEW(plan->memory, o->maker_first, plan->op_count + 1, error) != CM_OK)
    return error->status;
  for (uint32_t op = 0; op < plan->op_count; op++) {
    o->maker_first[op] = (uint32_t)count;
    for (uint32_t p = 0; p < plan->ops[op].piece_count; p++) {
      const cm_piece *piece = &plan->pieces[plan->ops[op].first_piece + p];
      const uint32_t *inputs = cm_piece_inputs(plan, piece);
      for (uint32_t i = 0; i < piece->input_count; i++) {
        const cm_plan_value *v = &plan->values[plan->tiles[inputs[i]].value];
        if (v->kind != CM_VALUE_MADE)
          continue;
        uint32_t maker = plan->pieces[plan->tiles[v->first_tile].piece].op;
        size_t k = o->maker_first[op];
        while (k < count && o->makers[k] != maker)
          k++;
        if (k < count)
          continue;
        if (count == capacity) {
          capacity = capacity * 2 + 256;
          void *block = cm_reallocate(plan->memory, o->makers, capacity, sizeof *o->makers, error);
          if (block == NULL)
            return error->status;
          o->makers = block;
        }
        o->makers[count++] = maker;
      }
    }
  }
  o->maker_first[plan->op_count] = (uint32_t)count;
  return CM_OK;
}

static void find_readers(ordering *o)
{
  for (uint32_t op = o->first_op; op <= o->last_op; op++)
    o->has_reader[op] = false;
  for (uint32_t op = o->first_op; op <= o->last_op; op++)
    for (uint32_t k = o->maker_first[op]; k < o->maker_first[op + 1]; k++)
      if (o->makers[k] >= o->first_op && o->makers[k] != op)
        o->has_reader[o->makers[k]] = true;
}

/* Pieces of operators [first, last]: those at the end of the segment in the order of their bands (or of their slices),
 * each pulling what it needs. */
static void order_segment(ordering *o, uint32_t first, uint32_t last, bool slices_first)
{
  uint32_t sinks = 0;
  o->first_op = first;
  o->last_op = last;
  o->count = 0;
  o->stamp++;
  find_readers(o);
  for (uint32_t op = first; op <= last; op++) {
    const cm_plan_op *made = &o->plan->ops[op];
    const cm_plan_value *v = made_by(o->plan, op);
    if (o->has_reader[op])
      continue;
    for (uint32_t p = 0; p < made->piece_count; p++) {
      uint64_t place = slices_first ? p : column_major(v, p);
      o->sinks[sinks++] = (sink){(double)place / made->piece_count, op, made->first_piece + p};
    }
  }
  qsort(o->sinks, sinks, sizeof *o->sinks, by_fraction);
  for (uint32_t s = 0; s < sinks; s++)
    visit(o, o->sinks[s].piece);
  for (uint32_t op = first; op <= last; op++)
    for (uint32_t p = 0; p < o->plan->ops[op].piece_count; p++)
      visit(o, o->plan->ops[op].first_piece + p);
}

/* True when bands first and slices first differ for some operator of the segment. */
static bool two_ways(const cm_plan *plan, uint32_t first, uint32_t last)
{
  for (uint32_t op = first; op <= last; op++) {
    const cm_plan_value *v = made_by(plan, op);
    uint32_t cut = 0;
    for (uint32_t i = 0; i < v->whole.rank; i++)
      cut += v->count[i] > 1;
    if (cut > 1)
      return true;
  }
  return false;
}

/* ---- choosing segments ---- */

/* Cut points that a segment of the first, rough pass reaches over, and how often in a row a segment may cost more than
 * what is known before longer ones are given up. */
enum { ROUGH_CUTS = 3, PATIENCE = 3 };

/* A segment that was given up because it costs more than the rough pass found; run whole should nothing else reach its
 * end. */
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
  cm_pager *pager;
  cm_run *run;
  ordering order;
  state *states; /* by number of operators done */
  bool *may_cut; /* by operator: a segment may end before it */
} search;

/* Runs a segment from the best state before it; *cost is what is known to be reached, when it is more than `most`. */
static cm_status run_segment(search *s, const attempt *segment, uint32_t last, double most, double *cost,
                             cm_error *error)
{
  const state *begin = &s->states[segment->first];
  state *end = &s->states[last + 1];
  order_segment(&s->order, segment->first, last, segment->slices_first);
  if (cm_pager_restore(s->pager, begin->resident, begin->resident_count, error) != CM_OK)
    return error->status;
  s->pager->traffic = (cm_traffic){0};
  if (cm_pager_run(s->pager, s->order.pieces, s->order.count, last, most - begin->cost, error) != CM_OK)
    return error->status;
  *cost = begin->cost + cm_traffic_bytes(&s->pager->traffic);
  if (*cost > most || (end->cost >= 0 && *cost >= end->cost))
    return CM_OK;
  cm_free(end->resident);
  end->resident = NULL;
  end->cost = *cost;
  end->from = segment->first;
  end->slices_first = segment->slices_first;
  return cm_pager_save(s->pager, &end->resident, &end->resident_count, error);
}

/* What costs more than the best way known to its end is not run to it. */
static cm_status try_segment(search *s, uint32_t first, uint32_t last, bool slices_first, double *cost, cm_error *error)
{
  const attempt segment = {first, slices_first};
  state *end = &s->states[last + 1];
  double most = end->cost >= 0 ? end->cost : end->bound >= 0 ? end->bound : HUGE_VAL;
  if (run_segment(s, &segment, last, most, cost, error) != CM_OK)
    return error->status;
  if (end->cost >= 0)
    return CM_OK;
  if (CM_ROOM(s->plan->memory, end->put_off, &end->put_off_room, end->put_off_count + 1, error) != CM_OK)
    return error->status;
  end->put_off[end->put_off_count++] = segment;
  return CM_OK;
}

/* Reaches a state by the best of what was put off, where nothing better has. */
static cm_status reach(search *s, uint32_t at, cm_error *error)
{
  state *end = &s->states[at];
  uint64_t count = end->cost < 0 ? end->put_off_count : 0;
  for (uint64_t i = 0; i < count; i++) {
    double cost, most = i > 0 ? end->cost : HUGE_VAL;
    if (run_segment(s, &end->put_off[i], at - 1, most, &cost, error) != CM_OK)
      return error->status;
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
    if (before->copied != CM_NONE || before->call.node->output_count == 0)
      continue;
    uint32_t made = before->call.node->outputs[0];
    for (uint32_t i = 0; i < plan->ops[op].call.input_count; i++)
      if (plan->ops[op].call.node->inputs[i] == made && plan->model->values[made].use_count == 1 &&
          same_cells(&plan->values[made], made_by(plan, op)))
        s->may_cut[op] = false;
  }
}

/* Segments that begin at `first`, over at most `cuts` places where one may end. Longer ones do not get better once
 * parameters are loaded again and again: several in a row that cost more than is known end it. */
static cm_status extend(search *s, uint32_t first, uint32_t cuts, cm_error *error)
{
  uint32_t worse = 0;
  for (uint32_t last = first; last < s->plan->op_count && last - first < CM_SEGMENT_OPS_MAX && cuts > 0; last++) {
    double cost, least;
    if (last + 1 < s->plan->op_count && !s->may_cut[last + 1])
      continue;
    cuts--;
    if (try_segment(s, first, last, false, &cost, error) != CM_OK)
      return error->status;
    least = cost;
    if (two_ways(s->plan, first, last)) {
      if (try_segment(s, first, last, true, &cost, error) != CM_OK)
        return error->status;
      least = cost < least ? cost : least;
    }
    const state *end = &s->states[last + 1];
    worse = least > end->cost || (end->bound >= 0 && least > end->bound) ? worse + 1 : 0;
    if (worse > PATIENCE)
      break;
    if (cm_run_check(s->run, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

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
    if (reach(s, first, error) != CM_OK || (s->states[first].cost >= 0 && extend(s, first, cuts, error) != CM_OK))
      return error->status;
  return CM_OK;
}

/* ---- the layout ---- */

static cm_status lay_out(search *s, cm_course *layout, cm_error *error)
{
  uint32_t count = 0, at = s->plan->op_count;
  for (; at > 0; at = s->states[at].from)
    count++;
  if (CM_NEW(s->plan->memory, layout->segments, count + 1, error) != CM_OK ||
      CM_NEW(s->plan->memory, layout->pieces, s->plan->piece_count + 1, error) != CM_OK)
    return error->status;
  layout->segment_count = count;
  for (at = s->plan->op_count; count-- > 0; at = s->states[at].from)
    layout->segments[count] =
        (cm_segment){.first_op = s->states[at].from, .op_count = at - s->states[at].from};
  s->pager->record = true;
  s->pager->traffic = (cm_traffic){0};
  if (cm_pager_restore(s->pager, NULL, 0, error) != CM_OK)
    return error->status;
  for (uint32_t i = 0; i < layout->segment_count; i++) {
    cm_segment *g = &layout->segments[i];
    uint32_t last = g->first_op + g->op_count - 1;
    g->first_event = s->pager->event_count;
    order_segment(&s->order, g->first_op, last, s->states[last + 1].slices_first);
    if (cm_pager_run(s->pager, s->order.pieces, s->order.count, last, HUGE_VAL, error) != CM_OK)
      return error->status;
    g->event_count = s->pager->event_count - g->first_event;
    g->first_piece = layout->piece_count;
    g->piece_count = s->order.count;
    memcpy(layout->pieces + layout->piece_count, s->order.pieces, s->order.count * sizeof *layout->pieces);
    layout->piece_count += s->order.count;
  }
  layout->events = s->pager->events;
  layout->event_count = s->pager->event_count;
  layout->traffic = s->pager->traffic;
  s->pager->events = NULL;
  return CM_OK;
}

static cm_status begin_search(search *s, cm_error *error)
{
  cm_plan *plan = s->plan;
  s->order.plan = plan;
  if (cm_pager_new(plan, &s->pager, error) != CM_OK ||
      CM_NEW(plan->memory, s->order.done, plan->piece_count + 1, error) != CM_OK ||
      CM_NEW(plan->memory, s->order.pieces, plan->piece_count + 1, error) != CM_OK ||
      CM_NEW(plan->memory, s->order.sinks, plan->piece_count + 1, error) != CM_OK ||
      CM_NEW(plan->memory, s->order.has_reader, plan->op_count + 1, error) != CM_OK ||
      CM_NEW(plan->memory, s->states, plan->op_count + 1, error) != CM_OK ||
      CM_NEW(plan->memory, s->may_cut, plan->op_count + 1, error) != CM_OK)
    return error->status;
  for (uint32_t i = 1; i <= plan->op_count; i++)
    s->states[i].cost = -1;
  return list_makers(&s->order, error);
}

static void end_search(search *s)
{
  for (uint32_t i = 0; s->states != NULL && i <= s->plan->op_count; i++) {
    cm_free(s->states[i].resident);
    cm_free(s->states[i].put_off);
  }
  cm_pager_free(s->pager);
  cm_free(s->order.done);
  cm_free(s->order.pieces);
  cm_free(s->order.sinks);
  cm_free(s->order.has_reader);
  cm_free(s->order.maker_first);
  cm_free(s->order.makers);
  cm_free(s->states);
  cm_free(s->may_cut);
}

cm_status cm_course_make(cm_plan *plan, bool fuse, cm_run *run, cm_course *layout, cm_error *error)
{
  search s = {.plan = plan, .run = run};
  cm_course made = {0};
  cm_status status = begin_search(&s, error);
  if (status == CM_OK)
    find_cuts(&s, fuse);
  if (status == CM_OK)
    status = run_pass(&s, fuse ? ROUGH_CUTS : 1, error);
  if (status == CM_OK && fuse)
    status = run_pass(&s, UINT32_MAX, error);
  if (status == CM_OK)
    status = lay_out(&s, &made, error);
  end_search(&s);
  if (status != CM_OK) {
    cm_course_free(&made);
    return status;
  }
  *layout = made;
  return CM_OK;
}

void cm_course_free(cm_course *layout)
{
  cm_free(layout->segments);
  cm_free(layout->pieces);
  cm_free(layout->events);
  *layout = (cm_course){0};
}
