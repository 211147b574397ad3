/* Time and order: every lane executes its instructions in turn, flags hold it up, and the stream of a chip that issues in order. */
#include <math.h>
#include <string.h>

#include "core/machine/hops.h"
#include "core/machine/issue.h"
#include "core/machine/run/runner.h"
#include "core/operators/operator.h"

typedef struct lanes {
  cm_runner runner;
  const cm_program *program;
  const cm_simulation_options *options;
  uint64_t *first, *queue;  /* by lane: its instructions */
  uint64_t *next;           /* by lane: place in queue */
  double *time;             /* by lane */
  uint64_t *after;          /* by lane: the instruction whose end, known here, that time is */
  uint64_t *flag_first, *flag_count; /* signals of each flag, and how many there were */
  double *signal_time;
  uint64_t *signal_after;
  uint32_t *signal_lane;
  cm_hop_times hops;
  cm_issue issue;
  double *idle;             /* by lane: since when it has nothing to do, nor code to read */
  uint64_t *begun;          /* by place in the stream modulo its window: of those up to there the one that began last */
  uint32_t turn;
  cm_simulation result;
} lanes;

static cm_status make_queues(lanes *s, cm_error *error)
{
  const cm_program *p = s->program;
  uint64_t signals = 0;
  CM_TRY(CM_NEW_ALL(p->memory, error, CM_ARRAY(s->first, (size_t)p->lane_count + 2), CM_ARRAY(s->queue, p->instruction_count + 1),
                    CM_ARRAY(s->next, p->lane_count + 1), CM_ARRAY(s->time, p->lane_count + 1),
                    CM_ARRAY(s->idle, p->lane_count + 1), CM_ARRAY(s->begun, (size_t)p->target.window + 1),
                    CM_ARRAY(s->after, p->lane_count + 1), CM_ARRAY(s->flag_first, (size_t)p->flag_count + 2),
                    CM_ARRAY(s->flag_count, (size_t)p->flag_count + 1)));
  for (uint64_t i = 0; i < p->instruction_count; i++) {
    s->first[p->instructions[i].lane + 1]++;
    if (p->instructions[i].opcode == CM_CODE_SET) {
      s->flag_first[p->instructions[i].flag + 1]++;
      signals++;
    }
  }
  for (uint32_t l = 0; l < p->lane_count; l++) {
    s->next[l] = s->first[l + 1] += s->first[l];
    s->after[l] = CM_NO_INSTRUCTION;
  }
  for (uint32_t f = 0; f < p->flag_count; f++)
    s->flag_first[f + 1] += s->flag_first[f];
  for (uint64_t i = p->instruction_count; i-- > 0;)
    s->queue[--s->next[p->instructions[i].lane]] = i;
  CM_TRY(CM_NEW_ALL(p->memory, error, CM_ARRAY(s->signal_time, signals + 1), CM_ARRAY(s->signal_after, signals + 1),
                    CM_ARRAY(s->signal_lane, signals + 1)));
  return cm_hop_times_make(&p->target, p->memory, &s->hops, error);
}

static void count_traffic(lanes *s, const cm_instruction *i)
{
  cm_simulation *r = &s->result;
  if (i->opcode == CM_CODE_LOAD && s->program->tensors[i->tensor].role == CM_ROLE_CONSTANT)
    r->parameter_bytes += i->bytes;
  else if (i->opcode == CM_CODE_LOAD)
    r->loaded_bytes += i->bytes;
  else if (i->opcode == CM_CODE_STORE)
    r->stored_bytes += i->bytes;
  else if (i->opcode == CM_CODE_COPY)
    r->copied_bytes += i->bytes;
}

/* A lane takes its next instruction from the stream: after the one before has begun whose place it takes, or what was last on the
 * port that it is read over. */
static void read_code(lanes *s, uint32_t lane, uint64_t number)
{
  cm_issue *issue = &s->issue;
  const uint32_t window = s->program->target.window;
  const cm_idle idle = {s->idle, 1};
  const cm_issue_read read = cm_issue_next(issue, idle);
  if (window == 0)
    return;
  const uint64_t at = issue->count % window, last = (issue->count + window - 1) % window;
  double start = fmax(s->time[lane], s->idle[lane]);
  if (read.from + read.ns > start) {
    const uint64_t place = issue->count < window ? CM_NO_INSTRUCTION : s->begun[at];
    s->after[lane] = read.from > issue->begun[at] ? s->after[read.port] : place;
    start = read.from + read.ns;
  }
  const bool later = issue->count == 0 || start >= issue->begun[last];
  s->begun[at] = later ? number : s->begun[last];
  cm_issue_begin(issue, &read, start, idle);
  s->time[lane] = start;
}

static cm_status work(lanes *s, uint32_t lane, uint64_t number, cm_error *error)
{
  const cm_instruction *i = &s->program->instructions[number];
  read_code(s, lane, number);
  double ns = cm_instruction_ns(s->program, i), start = s->time[lane];
  s->idle[lane] = s->time[lane] += ns;
  s->result.busy_ns[s->program->lanes[lane].device] += ns;
  count_traffic(s, i);
  if (s->options->trace != NULL && s->turn == 0)
    s->options->trace(s->options->user, number, start, s->time[lane], s->after[lane]);
  s->after[lane] = number;
  if (!s->options->compute)
    return CM_OK;
  s->runner.at = number;
  if (s->turn == 0 || (i->opcode != CM_CODE_LOAD && i->opcode != CM_CODE_STORE))
    return cm_execute(&s->runner, i, error);
  cm_instruction further = *i;
  further.from[0] += s->turn * cm_program_rows(s->program, i->tensor);
  return cm_execute(&s->runner, &further, error);
}

/* Runs the next instruction of a lane; *moved is false when a flag holds it up. */
static cm_status run_next(lanes *s, uint32_t lane, bool *moved, cm_error *error)
{
  cm_checker *c = s->runner.checker;
  const uint64_t number = s->queue[s->next[lane]];
  const cm_instruction *i = &s->program->instructions[number];
  *moved = i->opcode != CM_CODE_WAIT || s->flag_count[i->flag] >= i->value;
  if (!*moved)
    return CM_OK;
  if (i->opcode == CM_CODE_WAIT) {
    uint64_t signal = s->flag_first[i->flag] + i->value - 1;
    double known = s->signal_time[signal] + cm_hop_ns(&s->hops, s->signal_lane[signal], lane);
    if (known > s->time[lane]) {
      s->time[lane] = known;
      s->after[lane] = s->signal_after[signal];
    }
    if (c != NULL)
      cm_checker_wait(c, lane, signal);
  } else if (i->opcode == CM_CODE_SET) {
    uint64_t signal = s->flag_first[i->flag] + s->flag_count[i->flag]++;
    s->signal_time[signal] = s->time[lane];
    s->signal_after[signal] = s->after[lane];
    s->signal_lane[signal] = lane;
    if (c != NULL)
      cm_checker_set(c, lane, signal);
  } else {
    if (c != NULL)
      cm_checker_begin(c, lane);
    CM_TRY(work(s, lane, number, error));
  }
  s->next[lane]++;
  s->result.executed++;
  return cm_run_check(s->runner.run, error);
}

/* Runs a lane until a flag holds it up; *moved when it did anything. */
static cm_status run_lane(lanes *s, uint32_t lane, bool *moved, cm_error *error)
{
  for (bool more = true; more && s->next[lane] < s->first[lane + 1]; *moved = *moved || more)
    CM_TRY(run_next(s, lane, &more, error));
  return CM_OK;
}

/* All instructions in the order of the stream. */
static cm_status run_stream(lanes *s, cm_error *error)
{
  const cm_program *p = s->program;
  bool moved = true;
  for (uint64_t i = 0; moved && i < p->instruction_count; i++)
    CM_TRY(run_next(s, p->instructions[i].lane, &moved, error));
  return CM_OK;
}

static cm_status run_all(lanes *s, cm_error *error)
{
  const cm_program *p = s->program;
  CM_TRY_IF(p->target.window > 0, run_stream(s, error));
  for (bool moved = p->target.window == 0; moved;) {
    moved = false;
    for (uint32_t l = 0; l < p->lane_count; l++)
      CM_TRY(run_lane(s, l, &moved, error));
  }
  for (uint32_t l = 0; l < p->lane_count; l++) {
    if (s->next[l] < s->first[l + 1]) {
      (void)cm_fail(error, CM_DAMAGED, "instruction %llu of lane %u waits for a flag that is never set",
                    (unsigned long long)s->queue[s->next[l]], l);
      return cm_fail_at(error, "instruction %llu", (unsigned long long)s->queue[s->next[l]]);
    }
  }
  if (s->turn == 0)
    s->result.time_ns = cm_hop_turns_ns(&s->hops, p->lane_count, p->turns, s->time);
  return CM_OK;
}

/* Every lane has ended a turn, and begins the next. */
static void begin_turn(lanes *s)
{
  const cm_program *p = s->program;
  s->turn++;
  memcpy(s->next, s->first, p->lane_count * sizeof *s->next);
  memset(s->flag_count, 0, p->flag_count * sizeof *s->flag_count);
  if (s->runner.checker != NULL)
    cm_checker_meet(s->runner.checker, p->target.memory_bytes);
}

/* What every turn does, where one alone was timed. */
static void multiply(cm_simulation *r, uint32_t turns)
{
  uint64_t *const counts[] = {&r->loaded_bytes, &r->stored_bytes, &r->parameter_bytes, &r->copied_bytes, &r->executed};
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
    *counts[k] *= turns;
  for (int d = 0; d < CM_TARGET_DEVICES_MAX; d++)
    r->busy_ns[d] *= turns;
}

static cm_status run_turns(lanes *s, cm_error *error)
{
  const uint32_t turns = s->options->compute ? s->program->turns : 1;
  cm_status status = run_all(s, error);
  while (status == CM_OK && s->turn + 1 < turns) {
    begin_turn(s);
    status = run_all(s, error);
  }
  if (turns < s->program->turns)
    multiply(&s->result, s->program->turns);
  return status;
}

/* ---- memory ---- */

static cm_status make_memory(lanes *s, cm_tensor *const *inputs, cm_error *error)
{
  const cm_program *p = s->program;
  cm_runner *r = &s->runner;
  CM_TRY(CM_NEW_ALL(p->memory, error, CM_ARRAY(r->outside, p->tensor_count + 1), CM_ARRAY(r->chip, p->target.memory_bytes)));
  for (uint32_t i = 0; i < p->input_count; i++) {
    const cm_program_tensor *t = &p->tensors[p->inputs[i]];
    const cm_tensor *given = inputs[i];
    if (t->role != CM_ROLE_INPUT)
      continue;
    if (given == NULL)
      return cm_fail(error, CM_BAD_NETWORK, "input '%.80s' is needed", t->name);
    if (given->type != t->type || given->rank != t->rank || memcmp(given->dims, t->dims, t->rank * sizeof *t->dims) != 0)
      return cm_fail(error, CM_BAD_NETWORK, "input '%.80s' has another type or shape than the program was made for", t->name);
    r->outside[p->inputs[i]] = cm_tensor_share(inputs[i]);
  }
  for (uint32_t t = 0; t < p->tensor_count; t++) {
    const cm_program_tensor *tensor = &p->tensors[t];
    if (tensor->role == CM_ROLE_CONSTANT)
      r->outside[t] = cm_tensor_share(tensor->data);
    else if (tensor->role != CM_ROLE_INPUT &&
             cm_tensor_new(p->memory, tensor->type, tensor->rank, tensor->dims, &r->outside[t], error) != CM_OK)
      return error->status;
  }
  return s->options->check ? cm_checker_new(p, &r->checker, error) : CM_OK;
}

static void end(lanes *s)
{
  const cm_program *p = s->program;
  for (uint32_t t = 0; s->runner.outside != NULL && t < p->tensor_count; t++)
    cm_tensor_free(s->runner.outside[t]);
  cm_checker_free(s->runner.checker, p->tensor_count);
  CM_FREE(s->runner.outside, s->runner.chip, s->first, s->queue, s->begun, s->idle, s->next, s->time, s->after, s->flag_first, s->flag_count,
          s->signal_time, s->signal_after, s->signal_lane);
  cm_hop_times_end(&s->hops);
}

cm_status cm_simulate(const cm_program *program, cm_tensor *const *inputs, const cm_simulation_options *options, cm_run *run,
                      cm_tensor **outputs, cm_simulation *result, cm_error *error)
{
  lanes s = {.program = program, .options = options, .issue = cm_issue_start(&program->target)};
  s.runner = (cm_runner){.program = program, .memory = program->memory, .run = run, .result = &s.result};
  cm_status status = make_queues(&s, error);
  CM_THEN_IF(status, options->compute, make_memory(&s, inputs, error));
  CM_THEN(status, run_turns(&s, error));
  CM_THEN_IF(status, s.runner.checker != NULL, cm_checker_finish(&s.runner, error));
  for (uint32_t o = 0; status == CM_OK && options->compute && o < program->output_count; o++)
    outputs[o] = cm_tensor_share(s.runner.outside[program->outputs[o]]);
  end(&s);
  if (status == CM_OK)
    *result = s.result;
  return status;
}
