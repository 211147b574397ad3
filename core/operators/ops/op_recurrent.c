/* LSTM, GRU and RNN: one step after the other, sums in double. */
#include <math.h>
#include <string.h>

#include "core/operators/operator.h"

enum { GATES_MAX = 4, CELL_FUNCTIONS_MAX = 3 };

typedef double (*activation)(double x, double alpha, double beta);

static double a_sigmoid(double x, double a, double b)
{
  (void)a, (void)b;
  return 1 / (1 + exp(-x));
}
static double a_tanh(double x, double a, double b)
{
  (void)a, (void)b;
  return tanh(x);
}
static double a_relu(double x, double a, double b)
{
  (void)a, (void)b;
  return x > 0 ? x : 0;
}
static double a_affine(double x, double a, double b)
{
  return a * x + b;
}
static double a_leaky(double x, double a, double b)
{
  (void)b;
  return x < 0 ? a * x : x;
}
static double a_thresholded(double x, double a, double b)
{
  (void)b;
  return x > a ? x : 0;
}
static double a_scaled_tanh(double x, double a, double b)
{
  return a * tanh(b * x);
}
static double a_hard_sigmoid(double x, double a, double b)
{
  return fmin(fmax(a * x + b, 0), 1);
}
static double a_elu(double x, double a, double b)
{
  (void)b;
  return x < 0 ? a * expm1(x) : x;
}
static double a_softsign(double x, double a, double b)
{
  (void)a, (void)b;
  return x / (1 + fabs(x));
}
static double a_softplus(double x, double a, double b)
{
  (void)a, (void)b;
  return x > 30 ? x : log1p(exp(x));
}

static const struct {
  const char *name;
  activation function;
  double alpha, beta; /* defaults */
} activations[] = {
    {"Sigmoid", a_sigmoid, 0, 0},     {"Tanh", a_tanh, 0, 0},        {"Relu", a_relu, 0, 0},
    {"Affine", a_affine, 1, 0},       {"LeakyRelu", a_leaky, 0.01, 0}, {"ThresholdedRelu", a_thresholded, 1, 0},
    {"ScaledTanh", a_scaled_tanh, 1, 1}, {"HardSigmoid", a_hard_sigmoid, 0.2, 0.5}, {"Elu", a_elu, 1, 0},
    {"Softsign", a_softsign, 0, 0},   {"Softplus", a_softplus, 0, 0},
};
enum { ACTIVATIONS = sizeof activations / sizeof *activations };

typedef struct function {
  activation apply;
  double alpha, beta;
} function;

/* What a recurrent operator is, whatever its cell. */
typedef struct recurrent {
  int64_t gates, functions; /* LSTM 4 and 3, GRU 3 and 2, RNN 1 and 1 */
  int64_t steps, batch, inputs, hidden, directions;
  bool batch_first, backward; /* backward: its first direction is */
  bool linear_before_reset, input_forget;
  double clip; /* 0: none */
  function function[2][CELL_FUNCTIONS_MAX];
} recurrent;

static void begin(const cm_call *call, recurrent *r)
{
  const char *direction = cm_node_text(call->node, "direction", "forward");
  const cm_operator_variant cell = call->node->known->variant;
  *r = (recurrent){.gates = cell == CM_VARIANT_LSTM ? 4 : cell == CM_VARIANT_GRU ? 3 : 1,
                   .functions = cell == CM_VARIANT_LSTM ? 3 : cell == CM_VARIANT_GRU ? 2 : 1,
                   .hidden = cm_node_integer(call->node, "hidden_size", 0),
                   .directions = strcmp(direction, "bidirectional") == 0 ? 2 : 1,
                   .backward = strcmp(direction, "reverse") == 0,
                   .batch_first = cm_node_integer(call->node, "layout", 0) != 0,
                   .linear_before_reset = cm_node_integer(call->node, "linear_before_reset", 0) != 0,
                   .input_forget = cm_node_integer(call->node, "input_forget", 0) != 0,
                   .clip = (double)cm_node_number(call->node, "clip", 0)};
}

/* Line k of an attribute, where there is one. */
static void line_of(const cm_node *node, const char *name, int64_t k, const char **text, size_t *length)
{
  const cm_attribute *a = cm_node_attribute(node, name);
  const char *at = a != NULL && a->count > 0 ? a->text : NULL;
  for (; at != NULL && k > 0; k--)
    at = (at = strchr(at, '\n')) != NULL ? at + 1 : NULL;
  if (at == NULL)
    return;
  *text = at;
  *length = strcspn(at, "\n");
}

static cm_status read_functions(const cm_call *call, recurrent *r, cm_error *error)
{
  static const char *const usual[] = {"Sigmoid", "Tanh", "Tanh"};
  const cm_attribute *alpha = cm_node_attribute(call->node, "activation_alpha"),
                     *beta = cm_node_attribute(call->node, "activation_beta");
  size_t alphas = 0, betas = 0;
  for (int64_t k = 0; k < r->directions * r->functions; k++) {
    const char *text = r->gates == 1 ? "Tanh" : usual[k % r->functions];
    size_t length = strlen(text), i = 0;
    line_of(call->node, "activations", k, &text, &length);
    while (i < ACTIVATIONS && (strlen(activations[i].name) != length || strncasecmp(activations[i].name, text, length) != 0))
      i++;
    if (i == ACTIVATIONS)
      return cm_call_fail(call, error, "has an activation '%.*s' that is not computed", (int)length, text);
    function *f = &r->function[k / r->functions][k % r->functions];
    *f = (function){activations[i].function, activations[i].alpha, activations[i].beta};
    /* Parameters stand in the order of the functions that have any. */
    bool has_alpha = f->alpha != 0 || f->apply == a_affine, has_beta = f->beta != 0 || f->apply == a_affine;
    if (has_alpha && alpha != NULL && alphas < alpha->count)
      f->alpha = (double)alpha->numbers[alphas++];
    if (has_beta && beta != NULL && betas < beta->count)
      f->beta = (double)beta->numbers[betas++];
  }
  return CM_OK;
}

/* The weights have the sizes that the operator's numbers ask for. */
static cm_status check_sizes(const cm_call *call, const recurrent *r, cm_error *error)
{
  int64_t rows = r->directions * r->gates * r->hidden, states = r->directions * r->batch * r->hidden;
  const int64_t wanted[] = {-1, rows * r->inputs, rows * r->hidden, 2 * rows, r->batch, states, states,
                            3 * r->directions * r->hidden};
  for (uint32_t i = 1; i < call->input_count && i < 8; i++) {
    uint64_t count = 0;
    if (cm_has(call, i) && (!cm_dims_count(call->input[i].rank, call->input[i].dims, &count) || count != (uint64_t)wanted[i]))
      return cm_call_fail(call, error, "input %u should hold %lld numbers", i, (long long)wanted[i]);
  }
  return CM_OK;
}

/* Numbers that the shapes say; false when there can be none. */
static bool measure(const cm_call *call, recurrent *r)
{
  const cm_shape *x = &call->input[0], *states = &call->input[2];
  begin(call, r);
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
  recurrent r;
  if (!measure(call, &r))
    return 0;
  return (uint64_t)(r.directions * r.steps * r.batch) * (uint64_t)(r.gates * r.hidden) * (uint64_t)(r.inputs + r.hidden + 2);
}

cm_status cm_check_recurrent(const cm_call *call, cm_error *error)
{
  recurrent r;
  if (!measure(call, &r))
    return cm_call_fail(call, error, "needs an input and weights of 3 dimensions");
  return read_functions(call, &r, error) != CM_OK || check_sizes(call, &r, error) != CM_OK
           ? error->status
           : cm_call_need_lengths(call, 4, r.steps, error);
}

cm_status cm_shape_recurrent(cm_call *call, cm_error *error)
{
  recurrent r;
  const cm_shape *x = &call->input[0];
  begin(call, &r);
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
  const recurrent *r;
  const float *w, *recurrence, *w_bias, *r_bias, *peephole; /* of the direction; biases and peepholes may be NULL */
  const function *f;
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
  return dot_state(s->recurrence + row * s->r->hidden, h, s->r->hidden) +
         (s->r_bias != NULL ? (double)s->r_bias[row] : 0);
}

static double activate(const sequence *s, int which, double x)
{
  double clip = s->r->clip;
  x = clip > 0 ? fmin(fmax(x, -clip), clip) : x;
  return s->f[which].apply(x, s->f[which].alpha, s->f[which].beta);
}

static double peep(const sequence *s, int64_t which, int64_t unit, double c)
{
  return s->peephole != NULL ? (double)s->peephole[which * s->r->hidden + unit] * c : 0;
}

/* Gates in ONNX's order: input, output, forget, cell; peepholes: input, output, forget. */
static void lstm_step(const sequence *s)
{
  enum { INPUT, OUTPUT, FORGET, CELL };
  for (int64_t j = 0; j < s->r->hidden; j++) {
    double c = s->c[j];
    double in = activate(s, 0, from_input(s, INPUT, j) + from_state(s, INPUT, j, s->h) + peep(s, 0, j, c));
    double forget = s->r->input_forget ? 1 - in
                                       : activate(s, 0, from_input(s, FORGET, j) + from_state(s, FORGET, j, s->h) +
                                                            peep(s, 2, j, c));
    double cell = activate(s, 1, from_input(s, CELL, j) + from_state(s, CELL, j, s->h));
    s->c[j] = forget * c + in * cell;
    double out = activate(s, 0, from_input(s, OUTPUT, j) + from_state(s, OUTPUT, j, s->h) + peep(s, 1, j, s->c[j]));
    s->next[j] = out * s->f[2].apply(s->c[j], s->f[2].alpha, s->f[2].beta);
  }
}

static void gru_step(const sequence *s)
{
  enum { UPDATE, RESET, HIDDEN };
  for (int64_t j = 0; j < s->r->hidden; j++)
    s->reset[j] = activate(s, 0, from_input(s, RESET, j) + from_state(s, RESET, j, s->h));
  double *after = s->reset + s->r->hidden;
  for (int64_t j = 0; j < s->r->hidden; j++)
    after[j] = s->reset[j] * s->h[j];
  for (int64_t j = 0; j < s->r->hidden; j++) {
    double update = activate(s, 0, from_input(s, UPDATE, j) + from_state(s, UPDATE, j, s->h));
    double state = s->r->linear_before_reset ? s->reset[j] * from_state(s, HIDDEN, j, s->h)
                                             : from_state(s, HIDDEN, j, after);
    s->next[j] = (1 - update) * activate(s, 1, from_input(s, HIDDEN, j) + state) + update * s->h[j];
  }
}

static void rnn_step(const sequence *s)
{
  for (int64_t j = 0; j < s->r->hidden; j++)
    s->next[j] = activate(s, 0, from_input(s, 0, j) + from_state(s, 0, j, s->h));
}

/* The number of elements before those of a state of one direction and sequence. */
static int64_t state_at(const recurrent *r, int64_t direction, int64_t sequence_number)
{
  return (r->batch_first ? sequence_number * r->directions + direction : direction * r->batch + sequence_number) *
         r->hidden;
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
  const recurrent *r = s->r;
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
  recurrent r;
  double *room = NULL;
  (void)measure(call, &r); /* which the check has done */
  if (read_functions(call, &r, error) != CM_OK ||
      CM_NEW(call->memory, room, 5 * r.hidden + 1, error) != CM_OK)
    return error->status;
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
