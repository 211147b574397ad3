/* LSTM, GRU and RNN: one step after the other, sums in double. */
#include <string.h>

#include "core/operators/recurrent.h"

/* The weights have the sizes that the operator's numbers ask for, and lengths alone are whole numbers. */
static cm_status check_sizes(const cm_call *call, const cm_recurrent *r, cm_error *error)
{
  int64_t rows = r->directions * r->gates * r->hidden, states = r->directions * r->batch * r->hidden;
  const int64_t wanted[] = {-1, rows * r->inputs, rows * r->hidden, 2 * rows, r->batch, states, states,
                            3 * r->directions * r->hidden};
  for (uint32_t i = 0; i < call->input_count && i < 8; i++) {
    uint64_t count = 0;
    if (cm_has(call, i) && (call->input[i].type == CM_INT32) != (i == 4))
      return cm_call_fail(call, error, "input %u should be of type %s, not %s", i, i == 4 ? "int32" : "float32", cm_type_name(call->input[i].type));
    if (i > 0 && cm_has(call, i) && (!cm_dims_count(call->input[i].rank, call->input[i].dims, &count) || count != (uint64_t)wanted[i]))
      return cm_call_fail(call, error, "input %u should hold %lld numbers", i, (long long)wanted[i]);
  }
  return CM_OK;
}

/* Numbers that the shapes say; false when there can be none. */
bool cm_recurrent_measure(const cm_call *call, cm_recurrent *r)
{
  const cm_shape *x = &call->input[0], *states = &call->input[2];
  cm_recurrent_attributes(call, r);
  if (x->rank != 3 || states->rank != 3)
    return false;
  r->steps = x->dims[r->batch_first];
  r->batch = x->dims[!r->batch_first];
  r->inputs = x->dims[2];
  r->hidden = r->hidden > 0 ? r->hidden : states->dims[2];
  return r->hidden < INT64_C(1) << 24 && r->batch < INT64_C(1) << 30 && r->inputs < INT64_C(1) << 30;
}

uint64_t cm_recurrent_work(const cm_call *call)
{
  cm_recurrent r;
  if (!cm_recurrent_measure(call, &r))
    return 0;
  return (uint64_t)(r.directions * r.steps * r.batch) * (uint64_t)(r.gates * r.hidden) * (uint64_t)(r.inputs + r.hidden + 2);
}

cm_status cm_check_recurrent(const cm_call *call, cm_error *error)
{
  cm_recurrent r;
  if (!cm_recurrent_measure(call, &r))
    return cm_call_fail(call, error, "needs an input and weights of 3 dimensions");
  return cm_recurrent_functions(call, &r, error) != CM_OK || check_sizes(call, &r, error) != CM_OK
           ? error->status
           : cm_call_need_lengths(call, 4, r.steps, error);
}

cm_status cm_shape_recurrent(cm_call *call, cm_error *error)
{
  cm_recurrent r;
  const cm_shape *x = &call->input[0];
  cm_recurrent_attributes(call, &r);
  int64_t hidden = r.hidden;
  if (hidden < 1 && call->input[2].rank == 3)
    hidden = call->input[2].dims[2];
  for (uint32_t o = 0; o < call->output_count; o++)
    call->output[o].type = x->type;
  if (x->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  if (x->rank != 3)
    return cm_call_fail(call, error, "needs an input of 3 dimensions, not %u", x->rank);
  int64_t steps = x->dims[r.batch_first], batch = x->dims[!r.batch_first];
  cm_shape all = {.type = x->type, .rank = 4, .dims = {steps, r.directions, batch, hidden}},
           last = {.type = x->type, .rank = 3, .dims = {r.directions, batch, hidden}};
  if (r.batch_first) {
    all = (cm_shape){.type = x->type, .rank = 4, .dims = {batch, steps, r.directions, hidden}};
    last = (cm_shape){.type = x->type, .rank = 3, .dims = {batch, r.directions, hidden}};
  }
  for (uint32_t o = 0; o < call->output_count; o++)
    call->output[o] = o == 0 ? all : last;
  return CM_OK;
}

/* One direction of one sequence of the batch under way. */
typedef struct sequence {
  const cm_recurrent *r;
  const float *w, *recurrence, *w_bias, *r_bias, *peephole; /* of the direction; biases and peepholes may be NULL */
  const cm_cell_function *f;
  const float *x;   /* the step's inputs */
  double *h, *c, *next, *reset; /* states, and room for the new ones */
} sequence;

static double dot(const float *weights, const float *x, int64_t count)
{
  double sum = 0;
  for (int64_t i = 0; i < count; i++)
    sum += (double)weights[i] * (double)x[i];
  return sum;
}

static double dot_state(const float *weights, const double *h, int64_t count)
{
  double sum = 0;
  for (int64_t i = 0; i < count; i++)
    sum += (double)weights[i] * h[i];
  return sum;
}

static double from_input(const sequence *s, int64_t gate, int64_t unit)
{
  int64_t row = gate * s->r->hidden + unit;
  return dot(s->w + row * s->r->inputs, s->x, s->r->inputs) + (s->w_bias != NULL ? (double)s->w_bias[row] : 0);
}

static double from_state(const sequence *s, int64_t gate, int64_t unit, const double *h)
{
  int64_t row = gate * s->r->hidden + unit;
  return dot_state(s->recurrence + row * s->r->hidden, h, s->r->hidden) + (s->r_bias != NULL ? (double)s->r_bias[row] : 0);
}

/* Gates in ONNX's order: input, output, forget, cell; peepholes: input, output, forget. */
static void lstm_step(const sequence *s)
{
  const int64_t hidden = s->r->hidden;
  for (int64_t j = 0; j < hidden; j++) {
    double sum[4], peephole[3] = {0};
    for (int64_t g = 0; g < 4; g++)
      sum[g] = from_input(s, g, j) + from_state(s, g, j, s->h);
    for (int64_t g = 0; s->peephole != NULL && g < 3; g++)
      peephole[g] = (double)s->peephole[g * hidden + j];
    s->next[j] = cm_lstm_unit(s->r, s->f, sum, s->peephole != NULL ? peephole : NULL, &s->c[j]);
  }
}

static void gru_step(const sequence *s)
{
  enum { UPDATE, RESET, HIDDEN };
  for (int64_t j = 0; j < s->r->hidden; j++)
    s->reset[j] = cm_cell_activate(s->r, s->f, 0, from_input(s, RESET, j) + from_state(s, RESET, j, s->h));
  double *after = s->reset + s->r->hidden;
  for (int64_t j = 0; j < s->r->hidden; j++)
    after[j] = s->reset[j] * s->h[j];
  for (int64_t j = 0; j < s->r->hidden; j++) {
    double update = cm_cell_activate(s->r, s->f, 0, from_input(s, UPDATE, j) + from_state(s, UPDATE, j, s->h));
    double state = s->r->linear_before_reset ? s->reset[j] * from_state(s, HIDDEN, j, s->h) : from_state(s, HIDDEN, j, after);
    s->next[j] = (1 - update) * cm_cell_activate(s->r, s->f, 1, from_input(s, HIDDEN, j) + state) + update * s->h[j];
  }
}

static void rnn_step(const sequence *s)
{
  for (int64_t j = 0; j < s->r->hidden; j++)
    s->next[j] = cm_cell_activate(s->r, s->f, 0, from_input(s, 0, j) + from_state(s, 0, j, s->h));
}

/* The number of elements before those of a state of one direction and sequence. */
static int64_t state_at(const cm_recurrent *r, int64_t direction, int64_t sequence_number)
{
  return (r->batch_first ? sequence_number * r->directions + direction : direction * r->batch + sequence_number) * r->hidden;
}

static void load_state(const cm_call *call, uint32_t input, int64_t at, int64_t count, double *state)
{
  for (int64_t j = 0; j < count; j++)
    state[j] = cm_has(call, input) ? (double)((const float *)call->value[input]->data)[at + j] : 0;
}

static void store_state(const cm_call *call, uint32_t output, int64_t at, int64_t count, const double *state)
{
  for (int64_t j = 0; output < call->output_count && call->result[output] != NULL && j < count; j++)
    ((float *)call->result[output]->data)[at + j] = (float)state[j];
}

static void run_sequence(const cm_call *call, sequence *s, int64_t direction, int64_t number, int64_t length)
{
  const cm_recurrent *r = s->r;
  int64_t at = state_at(r, direction, number);
  load_state(call, 5, at, r->hidden, s->h);
  load_state(call, r->gates == 4 ? 6 : UINT32_MAX, at, r->hidden, s->c);
  for (int64_t k = 0; k < length; k++) {
    int64_t t = r->backward || direction == 1 ? length - 1 - k : k;
    int64_t row = r->batch_first ? number * r->steps + t : t * r->batch + number;
    s->x = (const float *)call->value[0]->data + row * r->inputs;
    (r->gates == 4 ? lstm_step : r->gates == 3 ? gru_step : rnn_step)(s);
    memcpy(s->h, s->next, (size_t)r->hidden * sizeof *s->h);
    int64_t to = r->batch_first ? ((number * r->steps + t) * r->directions + direction) * r->hidden
                                : ((t * r->directions + direction) * r->batch + number) * r->hidden;
    store_state(call, 0, to, r->hidden, s->h);
  }
  store_state(call, 1, at, r->hidden, s->h);
  store_state(call, 2, at, r->hidden, s->c);
}

static const float *part_of(const cm_call *call, uint32_t input, int64_t from)
{
  return cm_has(call, input) ? (const float *)call->value[input]->data + from : NULL;
}

cm_status cm_kernel_recurrent(cm_call *call, cm_error *error)
{
  cm_recurrent r;
  double *room = NULL;
  (void)cm_recurrent_measure(call, &r); /* which the check has done */
  CM_TRY(cm_recurrent_functions(call, &r, error));
  CM_TRY(CM_NEW(call->memory, room, 5 * r.hidden + 1, error));
  for (int64_t d = 0; d < r.directions; d++) {
    int64_t rows = r.gates * r.hidden;
    sequence s = {.r = &r, .f = r.function[d], .w = part_of(call, 1, d * rows * r.inputs),
                  .recurrence = part_of(call, 2, d * rows * r.hidden), .w_bias = part_of(call, 3, d * 2 * rows),
                  .r_bias = part_of(call, 3, d * 2 * rows + rows),
                  .peephole = r.gates == 4 ? part_of(call, 7, d * 3 * r.hidden) : NULL,
                  .h = room, .c = room + r.hidden, .next = room + 2 * r.hidden, .reset = room + 3 * r.hidden};
    for (int64_t n = 0; n < r.batch; n++)
      run_sequence(call, &s, d, n, cm_has(call, 4) ? cm_tensor_integer(call->value[4], (uint64_t)n) : r.steps);
  }
  cm_free(room);
  return CM_OK;
}
