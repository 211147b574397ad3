/* States of a timetable, and what follows from them. What can fail: memory. */
#include "core/machine/schedule/windows.h"

#include "core/machine/schedule/timing.h"

enum { TILE_EFFORT = 30 }; /* of copying the state of a tile */

typedef struct window {
  uint32_t first, end;             /* places of its operators: whole segments */
  uint32_t first_piece, end_piece; /* in the sequence */
  uint32_t state;
} window;

struct cm_windows {
  cm_plan *plan;
  const uint32_t *bound;
  uint32_t count, state_count;
  cm_run run; /* without a deadline: who scores stops between two scores */
  window *window;
  cm_timing *state; /* one a segment at most */
  cm_ordering like;
  cm_sequence sequence;
  uint64_t *next_use; /* in the plan's order */
  uint64_t *live, *live_peak; /* the states' */
  double ranges;      /* of the memory that are looked at for a piece, in the mean */
};

/* The segments that a subgraph has a part in; subgraphs come in order, so that their first segments ascend. */
static void find_window(cm_windows *w, uint32_t subgraph, uint32_t *segment)
{
  const cm_segment *s = w->sequence.segments;
  uint32_t from = w->bound[subgraph], to = w->bound[subgraph + 1], last;
  while (s[*segment].first_op + s[*segment].op_count <= from)
    (*segment)++;
  for (last = *segment; s[last].first_op + s[last].op_count < to; last++)
    continue;
  w->window[subgraph] = (window){.first = s[*segment].first_op, .end = s[last].first_op + s[last].op_count,
                                 .first_piece = s[*segment].first_piece, .end_piece = s[last].first_piece + s[last].piece_count};
}

static cm_status keep_states(cm_windows *w, cm_error *error)
{
  cm_timetable table = {0};
  cm_timing t = {.plan = w->plan, .sequence = &w->sequence, .run = &w->run, .out = &table};
  cm_status status = cm_timing_begin(&t, error);
  for (uint32_t s = 0; status == CM_OK && s < w->count; s++) {
    window *at = &w->window[s];
    if (s > 0 && w->window[s - 1].first_piece == at->first_piece) {
      at->state = w->window[s - 1].state;
      continue;
    }
    while (status == CM_OK && t.now < at->first_piece)
      status = cm_timing_step(&t, error);
    at->state = w->state_count;
    CM_THEN(status, cm_timing_copy(&t, &w->state[w->state_count++], error));
  }
  w->next_use = t.next_use;
  w->ranges = (double)t.effort / (double)(t.now + 1);
  w->live = t.live;
  w->live_peak = t.live_peak;
  t.next_use = t.live = t.live_peak = NULL;
  cm_timing_end(&t);
  return status;
}

cm_status cm_windows_new(cm_plan *plan, const uint32_t *bound, uint32_t count, cm_run *run, cm_windows **made, cm_error *error)
{
  cm_windows *w;
  uint32_t segment = 0;
  CM_TRY(CM_NEW(run->memory, w, 1, error));
  *w = (cm_windows){.plan = plan, .bound = bound, .count = count, .run = *run};
  w->run.deadline = 0;
  cm_status status = cm_sequence_ordering(plan, NULL, &w->like, error);
  CM_THEN(status, cm_sequence_part(&w->like, 0, plan->op_count, &w->sequence, error));
  CM_THEN(status, CM_NEW_ALL(run->memory, error, CM_ARRAY(w->window, count + 1), CM_ARRAY(w->state, count + 1)));
  for (uint32_t s = 0; status == CM_OK && s < count; s++)
    find_window(w, s, &segment);
  CM_THEN(status, keep_states(w, error));
  CM_END(status, *made = w, cm_windows_free(w));
}

void cm_windows_free(cm_windows *w)
{
  if (w == NULL)
    return;
  for (uint32_t s = 0; s < w->state_count; s++)
    cm_timing_end(&w->state[s]);
  cm_ordering_end(&w->like);
  cm_memory_plan_free(&w->sequence);
  CM_FREE(w->window, w->state, w->next_use, w->live, w->live_peak, w);
}

uint64_t cm_windows_effort(const cm_windows *w, uint32_t subgraph)
{
  double pieces = w->window[subgraph].end_piece - w->window[subgraph].first_piece;
  return (uint64_t)(pieces * (CM_EFFORT_OF_PIECE + w->ranges)) + TILE_EFFORT * w->plan->tile_count;
}

/* What is read next, within the window by its new order and behind it as before. */
static cm_status find_uses(const cm_windows *w, const window *at, cm_timing *t, cm_error *error)
{
  const cm_plan *plan = w->plan;
  uint64_t *next;
  bool *touched = NULL;
  cm_status status = CM_NEW_ALL(plan->memory, error, CM_ARRAY(next, plan->tile_count + 1),
                                CM_ARRAY(touched, plan->tile_count + 1), CM_ARRAY(t->next_use, plan->piece_tile_count + 1));
  for (uint32_t k = at->first_piece; status == CM_OK && k < at->end_piece; k++) {
    const cm_piece *piece = &plan->pieces[w->sequence.pieces[k]];
    const uint32_t *tiles = cm_piece_inputs(plan, piece);
    for (uint32_t i = 0; i < piece->input_count + piece->output_count; i++) {
      next[tiles[i]] = w->next_use[piece->first_tile + i]; /* the last one stays */
      touched[tiles[i]] = true;
    }
  }
  if (status == CM_OK) {
    cm_timing_uses(t, next);
    for (uint32_t b = 0; b < t->buffer_count; b++)
      if (touched[t->buffer[b].tile] && !t->buffer[b].given_up)
        t->buffer[b].next = next[t->buffer[b].tile];
  }
  CM_FREE(next, touched);
  return status;
}

static cm_status lay_out(const cm_windows *w, const window *at, const cm_sequence *part, double *time_ns, cm_error *error)
{
  cm_timetable table = {0};
  cm_timing t;
  CM_TRY_OR(cm_timing_copy(&w->state[at->state], &t, error), cm_timing_end(&t));
  cm_run run = w->run;
  t.run = &run;
  t.out = &table;
  t.sequence = part;
  t.first = at->first_piece;
  cm_status status = find_uses(w, at, &t, error);
  while (status == CM_OK && t.now < at->end_piece)
    status = cm_timing_step(&t, error);
  CM_THEN(status, cm_timing_finish(&t, error));
  *time_ns = table.time_ns;
  cm_timing_end(&t);
  return status;
}

cm_status cm_windows_score(const cm_windows *w, uint32_t subgraph, const uint32_t *ops, double *time_ns, cm_error *error)
{
  const window *at = &w->window[subgraph];
  cm_ordering ordering;
  cm_sequence part = {0};
  cm_status status = cm_sequence_ordering(w->plan, &w->like, &ordering, error);
  if (status == CM_OK) {
    cm_ordering_arrange(&ordering, w->bound[subgraph], w->bound[subgraph + 1] - w->bound[subgraph], ops);
    status = cm_sequence_part(&ordering, at->first, at->end, &part, error);
  }
  CM_THEN(status, lay_out(w, at, &part, time_ns, error));
  cm_memory_plan_free(&part);
  cm_ordering_end(&ordering);
  return status;
}

cm_status cm_windows_whole(const cm_windows *w, const uint32_t *ops, double *time_ns, cm_error *error)
{
  cm_ordering ordering;
  cm_sequence sequence = {0};
  cm_timetable table = {0};
  cm_run run = w->run;
  cm_status status = cm_sequence_ordering(w->plan, &w->like, &ordering, error);
  if (status == CM_OK) {
    cm_ordering_arrange(&ordering, 0, w->plan->op_count, ops);
    status = cm_sequence_part(&ordering, 0, w->plan->op_count, &sequence, error);
  }
  CM_THEN(status, cm_timetable_make(w->plan, &sequence, false, &run, &table, error));
  *time_ns = table.time_ns;
  cm_timetable_free(&table);
  cm_memory_plan_free(&sequence);
  cm_ordering_end(&ordering);
  return status;
}
