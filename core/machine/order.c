#include "core/machine/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/machine/order_graph.h"
#include "core/machine/report.h"
#include "core/machine/schedule/windows.h"
#include "core/schedule/orders.h"
#include "core/schedule/target_command.h"

/* Work of all programs that are scored together, in pieces; a node costs as much as some pieces. Some seconds. */
enum {
  PIECES_SCORED = 100000, PIECES_A_NODE = 10,
  ORDERS_MAX = 200, SCORES_MAX = 4000, NODES_MIN = 4, LEAST_SCORES = 8, JOINS_MAX = 32,
};

/* The same for what is laid out in time alone, in steps: cm_timetable.effort. */
static const uint64_t EFFORT = 800000000;

void cm_draft_free(cm_draft *draft)
{
  cm_emission_free(&draft->emission);
  cm_memory_plan_free(&draft->memory);
  cm_plan_free(draft->plan);
  *draft = (cm_draft){0};
}

/* For the least time: a sequence, then a timetable. */
static cm_status lay_out_time(const cm_draft_task *task, cm_draft *made, cm_error *error)
{
  cm_sequence sequence = {0};
  cm_timetable table = {0};
  cm_run_phase(task->run, "order");
  cm_status status = cm_sequence_make(made->plan, &sequence, error);
  if (task->pieces != NULL)
    CM_THEN(status, cm_piece_order_search(made->plan, task->run, task->pieces, &sequence, error));
  CM_THEN(status, cm_timetable_make(made->plan, &sequence, true, task->run, &table, error));
  if (status == CM_OK)
    cm_run_phase(task->run, "emit");
  CM_THEN(status, cm_emit_timetable(made->plan, &sequence, &table, task->chip, task->target, task->run, &made->emission, error));
  made->memory = sequence;
  made->memory.traffic = table.traffic;
  cm_timetable_free(&table);
  return status;
}

/* For the fewest bytes. */
static cm_status lay_out_traffic(const cm_draft_task *task, cm_draft *made, cm_error *error)
{
  cm_run_phase(task->run, "order");
  CM_TRY(cm_memory_plan_make(made->plan, true, task->run, &made->memory, error));
  cm_run_phase(task->run, "emit");
  return cm_emit(made->plan, &made->memory, task->chip, task->target, task->run, &made->emission, error);
}

cm_status cm_draft_make(const cm_draft_task *task, const uint32_t *order, cm_draft *draft, cm_error *error)
{
  cm_draft made = {0};
  cm_run_phase(task->run, "split");
  cm_status status = cm_plan_new(task->model, order, task->options, task->run, &made.plan, error);
  if (status == CM_OK)
    status = task->options->settings != NULL ? lay_out_time(task, &made, error) : lay_out_traffic(task, &made, error);
  CM_END(status, *draft = made, cm_draft_free(&made));
}

typedef struct scoring {
  const cm_draft_task *task;
  cm_order_graph graph;
  cm_subgraphs subgraphs;
  uint32_t *node;      /* the graph's nodes by place; a subgraph's are replaced by the order that is scored */
  uint32_t *full;      /* a whole order of the model's nodes */
  uint64_t scored;     /* programs, or the whole in time */
  const cm_order_measure *measure; /* NULL: the cost model scores */
  uint64_t measured_ns[2]; /* of the order of the file and of the one that was found, where both decided */
  double file_bytes;   /* that move in the order of the file */
  uint64_t scores;     /* that are made about, for progress */
  cm_windows *windows; /* the score of a subgraph alone */
  uint32_t *bound;     /* of its operators in the plan */
  uint32_t *found;     /* the best order of each subgraph, all together */
} scoring;

static double bytes_moved(const cm_draft *draft)
{
  const cm_traffic *t = &draft->memory.traffic;
  return (double)(t->loaded + t->stored + t->parameters);
}

/* ---- whole programs: the fewest bytes, or a command that measures ---- */

static cm_status draft_of(scoring *s, const cm_draft_task *task, const uint32_t *order, cm_draft *draft, cm_error *error)
{
  CM_TRY(cm_order_graph_nodes(&s->graph, order, task->run->memory, s->full, error));
  return cm_draft_make(task, s->full, draft, error);
}

/* Nanoseconds of a whole order by the cost model, more for orders that move more bytes than the file's; or those that a command
 * measures of the program, which is linked for that. */
static cm_status time_of(scoring *s, const uint32_t *order, uint64_t *ns, cm_error *error)
{
  const cm_order_measure *m = s->measure;
  cm_draft draft;
  cm_program *program = NULL;
  CM_TRY(draft_of(s, s->task, order, &draft, error));
  const double more = s->file_bytes > 0 ? bytes_moved(&draft) / s->file_bytes : 1;
  *ns = (uint64_t)(draft.emission.time_ns * (more > 1 ? more : 1));
  cm_status status = m != NULL ? cm_link(&draft.emission, &program, error) : CM_OK;
  cm_draft_free(&draft);
  if (program != NULL)
    status = cm_program_write(program, m->path, error);
  cm_program_free(program);
  return status != CM_OK || m == NULL ? status : cm_measure(m->command, m->path, m->seconds_max, s->task->run, ns, error);
}

/* Time of the whole program with one subgraph in another order. */
static cm_status score_program(void *context, uint32_t subgraph, const uint32_t *order, uint32_t count, uint64_t *points,
                               cm_error *error)
{
  scoring *s = context;
  memcpy(s->node, s->subgraphs.node, s->graph.node_count * sizeof *s->node);
  memcpy(s->node + (subgraph == CM_WHOLE_GRAPH ? 0 : s->subgraphs.first[subgraph]), order, count * sizeof *order);
  const size_t mark = cm_run_enter(s->task->run, s->scores > s->scored ? 1.0 / (double)(s->scores - s->scored) : 0);
  s->scored++;
  CM_TRY(time_of(s, s->node, points, error));
  cm_run_leave(s->task->run, mark);
  return CM_OK;
}

/* ---- subgraphs alone, in time ---- */

static cm_status score_whole(scoring *s, const uint32_t *order, double *ns, cm_error *error)
{
  uint32_t *ops;
  CM_TRY(cm_order_graph_ops(&s->graph, order, s->graph.node_count, s->task->run->memory, &ops, error));
  cm_status status = cm_windows_whole(s->windows, ops, ns, error);
  cm_free(ops);
  s->scored++;
  return status;
}

/* Of a subgraph from the state that the chip is in when it begins; of the whole, what was found in all is noted. */
static cm_status score_alone(void *context, uint32_t subgraph, const uint32_t *order, uint32_t count, uint64_t *points,
                             cm_error *error)
{
  scoring *s = context;
  double ns;
  uint32_t *ops;
  if (subgraph == CM_WHOLE_GRAPH) {
    memcpy(s->found, order, count * sizeof *order);
    *points = 0;
    return CM_OK;
  }
  CM_TRY(cm_order_graph_ops(&s->graph, order, count, s->task->run->memory, &ops, error));
  cm_status status = cm_windows_score(s->windows, subgraph, ops, &ns, error);
  cm_free(ops);
  cm_run_add(s->task->run, 1.0 / (double)s->scores);
  if (status == CM_OK)
    *points = (uint64_t)(ns * 64);
  return status;
}

typedef struct gain {
  uint64_t points;
  uint32_t subgraph;
} gain;

CM_ORDER(by_gain, gain, CM_FALLING(points) CM_RISING(subgraph))

/* Takes the orders of subgraphs together: all, or one after the other, those that gain most first, as long as the whole
 * gains. s->node becomes the best. */
static cm_status join(scoring *s, const cm_order_result *result, cm_error *error)
{
  uint32_t count = 0, nodes = s->graph.node_count;
  double best, all;
  gain *gains;
  memcpy(s->node, s->subgraphs.node, nodes * sizeof *s->node);
  if (memcmp(s->node, s->found, nodes * sizeof *s->node) == 0)
    return CM_OK;
  CM_TRY(score_whole(s, s->node, &best, error));
  CM_TRY(score_whole(s, s->found, &all, error));
  CM_TRY(CM_NEW(s->task->run->memory, gains, s->subgraphs.count + 1, error));
  for (uint32_t g = 0; g < s->subgraphs.count; g++)
    if (result->outcome[g].best_score < result->outcome[g].given_score)
      gains[count++] = (gain){result->outcome[g].given_score - result->outcome[g].best_score, g};
  qsort(gains, count, sizeof *gains, by_gain);
  cm_status status = CM_OK;
  uint32_t *tried = NULL;
  if (count > 1)
    status = CM_NEW(s->task->run->memory, tried, nodes + 1, error);
  for (uint32_t k = 0; status == CM_OK && count > 1 && k < count && k < JOINS_MAX; k++) {
    uint32_t from = s->subgraphs.first[gains[k].subgraph], to = s->subgraphs.first[gains[k].subgraph + 1];
    double ns;
    memcpy(tried, s->node, nodes * sizeof *tried);
    memcpy(tried + from, s->found + from, (to - from) * sizeof *tried);
    status = score_whole(s, tried, &ns, error);
    if (status == CM_OK && ns < best) {
      best = ns;
      memcpy(s->node, tried, nodes * sizeof *tried);
    }
  }
  if (status == CM_OK && all < best)
    memcpy(s->node, s->found, nodes * sizeof *s->node);
  CM_FREE(tried, gains);
  return status;
}

/* ---- the search ---- */

/* As many scores as fit in the work that is allowed, where nobody says how many. */
static uint64_t budget(const scoring *s, const cm_draft *first, const cm_order_limits *limits)
{
  uint64_t effort = 0;
  if (limits->scores > 0)
    return limits->scores;
  if (s->windows == NULL) {
    uint64_t scores = PIECES_SCORED / (first->plan->piece_count + PIECES_A_NODE * s->task->model->order_count + 1);
    return scores < ORDERS_MAX ? scores : ORDERS_MAX;
  }
  for (uint32_t g = 0; g < s->subgraphs.count; g++)
    effort += cm_windows_effort(s->windows, g);
  uint64_t scores = EFFORT / (effort / (s->subgraphs.count + 1) + 1);
  return scores < SCORES_MAX ? scores : SCORES_MAX;
}

/* The queue by height. */
static cm_status find_queue(scoring *s, cm_error *error)
{
  uint64_t *height;
  CM_TRY(CM_NEW(s->task->run->memory, height, s->graph.node_count + 1, error));
  cm_dag_heights(s->graph.dag, s->graph.latency, false, height);
  cm_status status = cm_dag_queue(s->graph.dag, height, s->task->run->memory, s->node, error);
  cm_free(height);
  return status;
}

/* s->node becomes the best order that is found: of a search, or the queue by height where there is room for no more. */
static cm_status find_order(scoring *s, uint64_t scores, const cm_order_limits *limits, double deadline, cm_error *error)
{
  uint32_t subgraphs = s->subgraphs.count;
  uint64_t needed = 2 * (uint64_t)subgraphs + LEAST_SCORES;
  bool alone = s->windows != NULL;
  if (scores < needed && !alone)
    return find_queue(s, error);
  cm_order_options options = cm_order_defaults();
  const cm_order_task task = {
    .dag = s->graph.dag, .latency = s->graph.latency, .score = alone ? score_alone : score_program, .context = s};
  cm_order_result result;
  cm_run run = *s->task->run;
  options.nodes_min = NODES_MIN;
  options.scores = options.scores_total = s->scores = scores < needed ? 1 : scores - needed + 1;
  uint64_t each = options.scores / (alone && subgraphs > 0 ? subgraphs : 1);
  options.enumerate_max = each < options.enumerate_max ? each : options.enumerate_max;
  options.method = scores < needed ? CM_ORDER_HEIGHT : limits->method;
  options.enumerate_max = limits->never_all ? 0 : options.enumerate_max;
  if (!alone)
    run.threads = 1; /* whole programs are made one at a time: they share the model */
  run.deadline = deadline;
  cm_status status = cm_orders_search(&task, &options, &run, &result, error);
  if (status != CM_OK)
    return status;
  for (uint32_t g = 0; alone && g < subgraphs; g++)
    s->scored += result.outcome[g].scored;
  if (alone)
    status = join(s, &result, error);
  else
    memcpy(s->node, result.order, s->graph.node_count * sizeof *s->node);
  cm_order_result_free(&result);
  return status;
}

/* Whether the order that was found is faster than the file's and moves no more. What is measured is made for that alone. */
static cm_status is_faster(scoring *s, const uint32_t *order, const cm_draft *first, const cm_draft *other, bool *faster,
                           cm_error *error)
{
  *faster = other->emission.time_ns < first->emission.time_ns &&
            (s->task->options->settings != NULL || bytes_moved(other) <= s->file_bytes);
  uint64_t *ns = s->measured_ns;
  for (int i = 0; i < 2 && s->measure != NULL; i++) {
    CM_TRY(time_of(s, i == 0 ? s->subgraphs.node : order, &ns[i], error));
    *faster = i == 1 && ns[1] < ns[0];
  }
  return CM_OK;
}

/* Takes the draft, and frees the one that is not kept. */
static void keep(cm_draft *first, cm_draft *other, bool faster)
{
  cm_draft_free(faster ? first : other);
  if (faster)
    *first = *other;
}

/* The best order found is made, and kept when it is better than the file's; s->node becomes what is kept. */
static cm_status try_order(scoring *s, cm_draft *first, cm_error *error)
{
  const size_t bytes = s->graph.node_count * sizeof *s->node;
  cm_draft draft;
  bool faster = false;
  if (memcmp(s->node, s->subgraphs.node, bytes) == 0)
    return CM_OK;
  CM_TRY(draft_of(s, s->task, s->node, &draft, error));
  s->scored++;
  cm_status status = is_faster(s, s->node, first, &draft, &faster, error);
  keep(first, &draft, faster);
  if (!faster)
    memcpy(s->node, s->subgraphs.node, bytes);
  return status;
}

/* The same of an order of the pieces, where the stream of a chip has one. */
static cm_status try_pieces(scoring *s, const cm_order_limits *limits, double deadline, cm_draft *first, cm_piece_order *pieces, cm_error *error)
{
  cm_draft_task task = *s->task;
  cm_draft draft;
  *pieces = (cm_piece_order){.scores = limits->scores, .deadline = deadline};
  if (task.target->window == 0 || task.options->settings == NULL || s->measure != NULL || first->emission.time_ns <= limits->until_ns)
    return CM_OK;
  task.pieces = pieces;
  CM_TRY(draft_of(s, &task, s->node, &draft, error));
  keep(first, &draft, draft.emission.time_ns < first->emission.time_ns);
  return CM_OK;
}

static cm_status begin(scoring *s, const cm_draft *first, cm_error *error)
{
  cm_memory *memory = s->task->run->memory;
  CM_TRY(cm_order_graph_make(first->plan, s->task->run, &s->graph, error));
  CM_TRY(cm_subgraphs_find(s->graph.dag, NULL, NODES_MIN, memory, &s->subgraphs, error));
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(s->node, s->graph.node_count + 1), CM_ARRAY(s->found, s->graph.node_count + 1),
                    CM_ARRAY(s->full, s->task->model->order_count + 1), CM_ARRAY(s->bound, s->subgraphs.count + 1)));
  memcpy(s->node, s->subgraphs.node, s->graph.node_count * sizeof *s->node);
  memcpy(s->found, s->node, s->graph.node_count * sizeof *s->node);
  if (s->task->options->settings == NULL || s->measure != NULL || s->graph.node_count == 0)
    return CM_OK;
  for (uint32_t g = 0; g <= s->subgraphs.count; g++)
    s->bound[g] = s->graph.first_op[s->subgraphs.first[g]];
  return cm_windows_new(first->plan, s->bound, s->subgraphs.count, s->task->run, &s->windows, error);
}

/* Of the time that is left; bounds and linking follow. */
static const double share_of_search = 0.9;

cm_status cm_order_search(const cm_draft_task *task, const cm_order_measure *measure, const cm_order_limits *limits,
                          cm_draft *first, json_t **report, cm_error *error)
{
  scoring s = {.task = task, .measure = measure};
  cm_run *run = task->run;
  cm_piece_order pieces;
  double file_order = first->emission.time_ns;
  double deadline = limits->until > 0 && (run->deadline <= 0 || limits->until < run->deadline) ? limits->until : run->deadline;
  s.file_bytes = bytes_moved(first);
  const size_t mark = cm_run_enter(run, share_of_search);
  cm_run_phase(run, "search");
  cm_status status = begin(&s, first, error);
  if (status == CM_OK && s.graph.node_count > 0 && file_order > limits->until_ns)
    status = find_order(&s, budget(&s, first, limits), limits, deadline, error);
  cm_windows_free(s.windows); /* before the plan that it borrows can go */
  CM_THEN(status, try_order(&s, first, error));
  CM_THEN(status, try_pieces(&s, limits, deadline, first, &pieces, error));
  cm_run_leave(run, mark);
  if (status == CM_OK)
    status = cm_order_report(task,
                             &(cm_order_figures){s.subgraphs.key_count, s.subgraphs.count, s.scored, file_order,
                                                 first->emission.time_ns, {s.measured_ns[0], s.measured_ns[1]}, &pieces},
                             report, error);
  cm_order_graph_free(&s.graph);
  cm_subgraphs_free(&s.subgraphs);
  CM_FREE(s.bound, s.full, s.node, s.found);
  return status;
}
