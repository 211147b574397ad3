#include "core/machine/piece_order.h"

#include <string.h>

#include "core/machine/schedule/timetable.h"
#include "core/schedule/orders.h"

/* Steps of all timetables together where nobody says how many are scored: a second or two. */
static const uint64_t EFFORT = 400000000;
enum { SCORES_MAX = 2000, SCORES_MIN = 8 };

typedef struct searching {
  cm_plan *plan;
  const cm_sequence *given;
  cm_run run; /* without a deadline: the search stops between two scores */
  cm_dag *dag;        /* of pieces, numbered by place in the sequence */
  uint64_t *latency;  /* theirs, at least */
  cm_subgraphs parts; /* of the graph */
} searching;

static cm_status time_of(const searching *s, uint32_t *pieces, double *ns, uint64_t *effort, cm_error *error)
{
  cm_sequence sequence = *s->given;
  cm_timetable table = {0};
  cm_run run = s->run;
  sequence.pieces = pieces;
  CM_TRY(cm_timetable_make(s->plan, &sequence, false, &run, &table, error));
  *ns = table.time_ns;
  *effort = table.effort;
  cm_timetable_free(&table);
  return CM_OK;
}

/* Of the whole with one part of it in another order; numbers are places in the sequence. */
static cm_status score(void *context, uint32_t part, const uint32_t *order, uint32_t count, uint64_t *points, cm_error *error)
{
  const searching *s = context;
  const uint32_t pieces = s->given->piece_count, first = part == CM_WHOLE_GRAPH ? 0 : s->parts.first[part];
  uint32_t *list;
  uint64_t effort;
  double ns;
  CM_TRY(CM_NEW(s->plan->memory, list, pieces + 1, error));
  for (uint32_t k = 0; k < pieces; k++)
    list[k] = s->given->pieces[s->parts.node[k]];
  for (uint32_t k = 0; k < count; k++)
    list[first + k] = s->given->pieces[order[k]];
  cm_status status = time_of(s, list, &ns, &effort, error);
  cm_free(list);
  *points = (uint64_t)(ns * 64);
  return status;
}

/* ---- the graph of pieces ---- */

typedef struct arcs {
  cm_arc *arc;
  uint64_t count, room;
} arcs;

static cm_status add_maker(const searching *s, const uint32_t *place, uint32_t tile, uint32_t reader, arcs *list, cm_error *error)
{
  const uint32_t maker = s->plan->tiles[tile].piece;
  if (maker == CM_NONE || place[maker] == 0)
    return CM_OK;
  CM_TRY(CM_ROOM(s->plan->memory, list->arc, &list->room, list->count + 1, error));
  list->arc[list->count++] = (cm_arc){place[maker] - 1, reader, 0};
  return CM_OK;
}

static cm_status list_arcs(const searching *s, const uint32_t *place, arcs *list, cm_error *error)
{
  const cm_plan *plan = s->plan;
  for (uint32_t k = 0; k < s->given->piece_count; k++) {
    const cm_piece *piece = &plan->pieces[s->given->pieces[k]];
    const uint32_t *inputs = cm_piece_inputs(plan, piece);
    for (uint32_t i = 0; i < piece->input_count; i++) {
      const cm_tile *tile = &plan->tiles[inputs[i]];
      cm_cells cells;
      CM_TRY_IF(tile->grid, add_maker(s, place, inputs[i], k, list, error));
      for (bool more = !tile->grid && cm_cells_begin(plan, tile, &cells); more; more = cm_cells_next(&cells))
        CM_TRY(add_maker(s, place, cm_cells_tile(&cells), k, list, error));
    }
  }
  return CM_OK;
}

static cm_status make_graph(searching *s, cm_error *error)
{
  uint32_t *place;
  arcs list = {0};
  CM_TRY(CM_NEW(s->plan->memory, s->latency, s->given->piece_count, error));
  CM_TRY(CM_NEW(s->plan->memory, place, s->plan->piece_count + 1, error));
  for (uint32_t k = 0; k < s->given->piece_count; k++) {
    const cm_piece *piece = &s->plan->pieces[s->given->pieces[k]];
    const cm_device *device = &s->plan->target->device[piece->device];
    place[s->given->pieces[k]] = k + 1;
    s->latency[k] = (uint64_t)(64 * cm_compute_ns(s->plan->target, device, &piece->work, s->plan->ops[piece->op].rates[piece->device]));
  }
  cm_status status = list_arcs(s, place, &list, error);
  CM_THEN(status, cm_dag_new(s->plan->memory, s->given->piece_count, list.arc, list.count, &s->dag, error));
  CM_FREE(list.arc, place);
  return status == CM_OK ? cm_subgraphs_find(s->dag, NULL, cm_order_defaults().nodes_min, s->plan->memory, &s->parts, error) : status;
}

/* ---- the search ---- */

/* The order that is found becomes the sequence's. */
static cm_status search(searching *s, uint64_t scores, const cm_run *run, cm_piece_order *order, cm_sequence *sequence, cm_error *error)
{
  const cm_order_task task = {.dag = s->dag, .latency = s->latency, .given = s->parts.node, .score = score, .context = s};
  cm_order_options options = cm_order_defaults();
  cm_run timed = *run;
  cm_order_result result;
  uint32_t *pieces;
  CM_TRY(CM_NEW(s->plan->memory, pieces, sequence->piece_count, error));
  timed.deadline = order->deadline;
  options.scores = options.scores_total = scores;
  options.enumerate_max = scores < options.enumerate_max ? scores : options.enumerate_max;
  CM_TRY_OR(cm_orders_search(&task, &options, &timed, &result, error), cm_free(pieces));
  for (uint32_t g = 0; g < result.subgraphs.count; g++)
    order->scored += result.outcome[g].scored;
  for (uint32_t k = 0; k < result.node_count; k++)
    pieces[k] = sequence->pieces[result.order[k]];
  memcpy(sequence->pieces, pieces, sequence->piece_count * sizeof *pieces);
  cm_free(pieces);
  order->best_ns = (double)result.score / 64;
  cm_order_result_free(&result);
  return CM_OK;
}

cm_status cm_piece_order_search(cm_plan *plan, cm_run *run, cm_piece_order *order, cm_sequence *sequence, cm_error *error)
{
  searching s = {.plan = plan, .given = sequence, .run = *run};
  uint64_t effort;
  s.run.deadline = 0;
  CM_TRY(time_of(&s, sequence->pieces, &order->before_ns, &effort, error));
  order->best_ns = order->before_ns;
  order->scored = 1;
  const uint64_t held = EFFORT / (effort + 1), scores = order->scores > 0 ? order->scores : held < SCORES_MAX ? held : SCORES_MAX;
  if (scores < SCORES_MIN || sequence->piece_count < 2)
    return CM_OK;
  cm_status status = make_graph(&s, error);
  CM_THEN(status, search(&s, scores, run, order, sequence, error));
  cm_subgraphs_free(&s.parts);
  cm_dag_free(s.dag);
  cm_free(s.latency);
  return status;
}
