#include "core/machine/order.h"

#include "core/machine/schedule/search.h"

#include <string.h>

#include "core/schedule/measure.h"
#include "core/schedule/orders.h"

/* Work of all scored programs together, in pieces; a node costs as much as some pieces. Some seconds. */
enum { PIECES_SCORED = 100000, PIECES_TIMED = 400000, ORDERS_MAX = 200, PIECES_A_NODE = 10, NODES_MIN = 4, LEAST_SCORES = 8 };

void cm_draft_free(cm_draft *draft)
{
  cm_emission_free(&draft->emission);
  cm_course_free(&draft->course);
  cm_plan_free(draft->plan);
  *draft = (cm_draft){0};
}

/* For the least time: a sequence, then a timetable. */
static cm_status lay_out_time(cm_draft *made, const cm_plan_options *options, const char *chip, const cm_target *target,
                              cm_run *run, cm_error *error)
{
  cm_sequence sequence = {0};
  cm_timetable table = {0};
  cm_run_phase(run, "order");
  cm_status status = cm_sequence_make(made->plan, options->settings, &sequence, error);
  if (status == CM_OK)
    status = cm_timetable_make(made->plan, &sequence, target, options->settings, true, run, &table, error);
  if (status == CM_OK) {
    cm_run_phase(run, "emit");
    status = cm_emit_timetable(made->plan, &sequence, &table, chip, target, run, &made->emission, error);
  }
  made->course = (cm_course){.segments = sequence.segments, .segment_count = sequence.segment_count,
                             .pieces = sequence.pieces, .piece_count = sequence.piece_count, .traffic = table.traffic};
  cm_timetable_free(&table);
  return status;
}

/* For the fewest bytes. */
static cm_status lay_out_traffic(cm_draft *made, const char *chip, const cm_target *target, cm_run *run, cm_error *error)
{
  cm_run_phase(run, "order");
  if (cm_course_make(made->plan, true, run, &made->course, error) != CM_OK)
    return error->status;
  cm_run_phase(run, "emit");
  return cm_emit(made->plan, &made->course, chip, target, run, &made->emission, error);
}

cm_status cm_draft_make(cm_model *model, const uint32_t *order, const cm_plan_options *options, const char *chip,
                        const cm_target *target, cm_run *run, cm_draft *draft, cm_error *error)
{
  cm_draft made = {0};
  cm_run_phase(run, "split");
  cm_status status = cm_plan_new(model, order, options, run, &made.plan, error);
  if (status == CM_OK)
    status = options->settings != NULL ? lay_out_time(&made, options, chip, target, run, error)
                                       : lay_out_traffic(&made, chip, target, run, error);
  if (status != CM_OK) {
    cm_draft_free(&made);
    return status;
  }
  *draft = made;
  return CM_OK;
}

typedef struct scoring {
  cm_model *model;
  const cm_plan_options *options;
  const char *chip;
  const cm_target *target;
  cm_run *run;
  cm_dag *dag;
  uint64_t *latency;
  cm_subgraphs subgraphs;
  uint32_t *node; /* of the model, by place in the order of the file */
  uint32_t nodes, constants;
  uint32_t *full; /* a whole order of the model's nodes; those of constants first */
  uint64_t scored;
  const cm_order_measure *measure; /* NULL: the cost model scores */
  double file_bytes; /* that move in the order of the file */
} scoring;

static bool computes(const cm_model *m, const cm_node *node)
{
  for (uint32_t o = 0; o < node->output_count; o++)
    if (node->outputs[o] != CM_NONE && !m->values[node->outputs[o]].constant)
      return true;
  return false;
}

/* Nodes that make constants alone are none here: they stand before all others. The others are numbered by their place in
 * the order of the file, each after the nodes that make what it reads. */
static cm_status make_graph(scoring *s, cm_error *error)
{
  const cm_model *m = s->model;
  uint32_t *place;
  cm_arc *arcs = NULL;
  uint64_t count = 0, inputs = 0;
  if (CM_NEW(s->run->memory, place, m->node_count + 1, error) != CM_OK ||
      CM_NEW(s->run->memory, s->node, m->order_count + 1, error) != CM_OK ||
      CM_NEW(s->run->memory, s->full, m->order_count + 1, error) != CM_OK)
    return error->status;
  for (size_t i = 0; i < m->order_count; i++)
    if (!computes(m, &m->nodes[m->order[i]]))
      s->full[s->constants++] = m->order[i];
    else {
      place[m->order[i]] = s->nodes;
      s->node[s->nodes++] = m->order[i];
      inputs += m->nodes[m->order[i]].input_count;
    }
  cm_status status = CM_NEW(s->run->memory, arcs, inputs + 1, error);
  for (uint32_t i = 0; status == CM_OK && i < s->nodes; i++) {
    const cm_node *node = &m->nodes[s->node[i]];
    for (uint32_t k = 0; k < node->input_count; k++) {
      uint32_t producer = node->inputs[k] != CM_NONE ? m->values[node->inputs[k]].producer : CM_NONE;
      if (producer != CM_NONE && computes(m, &m->nodes[producer]))
        arcs[count++] = (cm_arc){.from = place[producer], .to = i};
    }
  }
  if (status == CM_OK)
    status = cm_dag_new(s->run->memory, s->nodes, arcs, count, &s->dag, error);
  cm_free(arcs);
  cm_free(place);
  return status;
}

/* The least time of each node: its work on one unit, as the plan for the file's order has it. */
static cm_status list_latencies(scoring *s, const cm_plan *plan, cm_error *error)
{
  uint64_t *by_node;
  if (CM_NEW(s->run->memory, s->latency, s->model->order_count + 1, error) != CM_OK ||
      CM_NEW(s->run->memory, by_node, s->model->node_count + 1, error) != CM_OK)
    return error->status;
  cm_status status = CM_OK;
  for (uint32_t o = 0; status == CM_OK && o < plan->op_count; o++) {
    const cm_plan_op *op = &plan->ops[o];
    cm_box whole = cm_box_whole(&op->call.output[0]), *inputs;
    cm_split_change change;
    if (op->copied != CM_NONE || (status = CM_NEW(s->run->memory, inputs, op->call.input_count + 1, error)) != CM_OK)
      continue;
    status = cm_split_piece(&op->call, &whole, inputs, &change, error);
    double rate = cm_unit_rate(&s->target->unit[op->matrix ? CM_UNIT_MATRIX : CM_UNIT_VECTOR],
                               cm_type_name(op->call.output[0].type));
    if (status == CM_OK && rate > 0)
      by_node[op->call.node - s->model->nodes] = (uint64_t)((double)cm_split_work(&op->call, &whole, inputs) / rate);
    cm_free(inputs);
  }
  for (uint32_t i = 0; i < s->nodes; i++)
    s->latency[i] = by_node[s->node[i]];
  cm_free(by_node);
  return status;
}

static double bytes_moved(const cm_draft *draft)
{
  const cm_traffic *t = &draft->course.traffic;
  return (double)(t->loaded + t->stored + t->parameters);
}

/* Nanoseconds by the cost model, more for orders that move more bytes than the file's; or those that a command measures
 * of the program, which is linked for that. */
static cm_status time_of(scoring *s, cm_draft *draft, uint64_t *ns, cm_error *error)
{
  cm_program *program;
  if (s->measure == NULL) {
    double more = s->file_bytes > 0 ? bytes_moved(draft) / s->file_bytes : 1;
    *ns = (uint64_t)(draft->emission.time_ns * (more > 1 ? more : 1));
    return CM_OK;
  }
  if (cm_link(&draft->emission, &program, error) != CM_OK)
    return error->status;
  cm_status status = cm_program_write(program, s->measure->path, error);
  cm_program_free(program);
  if (status != CM_OK)
    return status;
  return cm_measure(s->measure->command, s->measure->path, s->measure->seconds_max, s->run, ns, error);
}

/* Time of the whole program with one subgraph in another order. */
static cm_status score(void *context, uint32_t subgraph, const uint32_t *order, uint32_t count, uint64_t *points,
                       cm_error *error)
{
  scoring *s = context;
  cm_draft draft;
  for (uint32_t i = 0; i < s->subgraphs.first[s->subgraphs.count]; i++)
    s->full[s->constants + i] = s->node[s->subgraphs.node[i]];
  uint32_t first = s->constants + (subgraph == CM_WHOLE_GRAPH ? 0 : s->subgraphs.first[subgraph]);
  for (uint32_t i = 0; i < count; i++)
    s->full[first + i] = s->node[order[i]];
  s->scored++;
  if (s->options->settings != NULL && s->measure == NULL) {
    cm_candidate candidate;
    if (cm_candidate_make(s->model, s->full, s->options, s->run, &candidate, error) != CM_OK)
      return error->status;
    *points = (uint64_t)candidate.time_ns;
    return CM_OK;
  }
  if (cm_draft_make(s->model, s->full, s->options, s->chip, s->target, s->run, &draft, error) != CM_OK)
    return error->status;
  cm_status status = time_of(s, &draft, points, error);
  cm_draft_free(&draft);
  return status;
}

/* The order of a search, or the queue by height where there is room for no more. `order` has a place a node. */
static cm_status find_order(scoring *s, uint64_t scores, uint32_t *order, cm_error *error)
{
  uint32_t nodes = s->dag->node_count;
  uint64_t needed = 2 * (uint64_t)s->subgraphs.count + LEAST_SCORES;
  if (scores < needed) {
    uint64_t *height;
    if (CM_NEW(s->run->memory, height, nodes + 1, error) != CM_OK)
      return error->status;
    cm_dag_heights(s->dag, s->latency, false, height);
    cm_status status = cm_dag_queue(s->dag, height, s->run->memory, order, error);
    cm_free(height);
    return status;
  }
  cm_order_options options = cm_order_defaults();
  cm_order_result result;
  unsigned threads = s->run->threads;
  options.nodes_min = NODES_MIN;
  options.scores = options.scores_total = scores - needed + 1;
  options.enumerate_max = options.scores < options.enumerate_max ? options.scores : options.enumerate_max;
  /* Programs are scored one at a time: all share the model. */
  s->run->threads = 1;
  cm_status status = cm_orders_search(s->dag, s->latency, NULL, &options, score, s, s->run, &result, error);
  s->run->threads = threads;
  if (status != CM_OK)
    return status;
  memcpy(order, result.order, nodes * sizeof *order);
  cm_order_result_free(&result);
  return CM_OK;
}

/* Whether the order in s->full is faster than the file's and moves no more. What is measured is made for that alone. */
static cm_status is_faster(scoring *s, const cm_draft *first, const cm_draft *other, bool *faster, cm_error *error)
{
  uint64_t ns[2];
  *faster = other->emission.time_ns < first->emission.time_ns &&
            (s->options->settings != NULL || bytes_moved(other) <= s->file_bytes);
  for (int i = 0; i < 2 && s->measure != NULL; i++) {
    cm_draft draft;
    if (cm_draft_make(s->model, i == 0 ? NULL : s->full, s->options, s->chip, s->target, s->run, &draft, error) !=
        CM_OK)
      return error->status;
    cm_status status = time_of(s, &draft, &ns[i], error);
    cm_draft_free(&draft);
    if (status != CM_OK)
      return status;
    *faster = i == 1 && ns[1] < ns[0];
  }
  return CM_OK;
}

/* The best order found is made once more, and kept when it is better than the file's. */
static cm_status try_order(scoring *s, const uint32_t *order, cm_draft *first, cm_error *error)
{
  cm_draft draft;
  bool same = true, faster;
  for (uint32_t i = 0; i < s->dag->node_count; i++) {
    s->full[s->constants + i] = s->node[order[i]];
    same = same && order[i] == i;
  }
  if (same)
    return CM_OK;
  if (cm_draft_make(s->model, s->full, s->options, s->chip, s->target, s->run, &draft, error) != CM_OK)
    return error->status;
  s->scored++;
  cm_status status = is_faster(s, first, &draft, &faster, error);
  if (status == CM_OK && faster) {
    cm_draft kept = *first;
    *first = draft;
    draft = kept;
  }
  cm_draft_free(&draft);
  return status;
}

cm_status cm_order_search(cm_model *model, const cm_plan_options *options, const char *chip, const cm_target *target,
                          const cm_order_measure *measure, uint64_t asked, cm_run *run, cm_draft *first, json_t **report,
                          cm_error *error)
{
  scoring s = {.model = model, .options = options, .chip = chip, .target = target, .run = run, .measure = measure};
  uint32_t *order = NULL;
  double file_order = first->emission.time_ns;
  s.file_bytes = bytes_moved(first);
  uint64_t scores = options->settings != NULL ? PIECES_TIMED / (first->plan->piece_count + 1)
                                              : PIECES_SCORED / (first->plan->piece_count + PIECES_A_NODE * model->order_count + 1);
  scores = scores < ORDERS_MAX ? scores : ORDERS_MAX;
  scores = asked > 0 ? asked : scores;
  cm_status status = make_graph(&s, error);
  if (status == CM_OK)
    status = list_latencies(&s, first->plan, error);
  if (status == CM_OK)
    status = cm_subgraphs_find(s.dag, NULL, NODES_MIN, run->memory, &s.subgraphs, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, order, model->order_count + 1, error);
  if (status == CM_OK)
    status = find_order(&s, scores, order, error);
  if (status == CM_OK)
    status = try_order(&s, order, first, error);
  if (status == CM_OK)
    *report = json_pack("{s:I, s:I, s:f, s:f}", "subgraphs", (json_int_t)s.subgraphs.count, "scored",
                        (json_int_t)s.scored, "file_order_ns", file_order, "best_ns", first->emission.time_ns);
  cm_dag_free(s.dag);
  cm_free(s.latency);
  if (s.subgraphs.first != NULL)
    cm_subgraphs_free(&s.subgraphs);
  cm_free(s.full);
  cm_free(s.node);
  cm_free(order);
  return status;
}
