#include "core/operators/recurrent_unfold.h"

#include "core/operators/evaluate.h"
#include "core/operators/recurrent.h"

enum { X, W, R, B, LENGTHS, H0, C0, P };

/* An operator on its way. Values are CM_NONE where nothing is known to be but zeros. */
typedef struct unfolding {
  cm_model *m;
  cm_run *run;
  cm_node whole; /* as it was */
  cm_recurrent r;
  uint32_t products;  /* of all inputs with all weights, biases added: [steps * batch, directions * gates * hidden], or by step */
  uint32_t after;     /* biases that are added behind the reset gate, [batch, hidden] by direction; GRU */
  uint32_t zeros;     /* [batch, hidden] */
  uint32_t lengths;   /* CM_NONE: all sequences have all steps */
} unfolding;

/* One direction of it. */
typedef struct direction {
  int64_t number;
  uint32_t weights, gates, candidate; /* of the state: all rows; those of update and reset, those of the candidate */
  uint32_t peephole, after;
  uint32_t h, c;
  uint32_t *outputs;  /* by step, [1, 1, batch, hidden] or [batch, 1, 1, hidden] */
} direction;

/* ---- nodes, each inferred at once ---- */

/* A node that is to be made, with one integer attribute (NULL: none). */
typedef struct wanted {
  const char *op;
  const uint32_t *inputs;
  uint32_t count;
  const char *attribute;
  int64_t number;
} wanted;

/* It makes *output, or where that is CM_NONE a new value. */
static cm_status add(unfolding *u, const wanted *w, uint32_t *output, cm_error *error)
{
  uint32_t number;
  CM_TRY_IF(*output == CM_NONE, cm_model_add_named(u->m, "step", output, error));
  CM_TRY(cm_model_add_node(u->m, w->op, w->inputs, w->count, output, 1, &number, error));
  cm_node *n = &u->m->nodes[number];
  n->name = u->whole.name;
  return w->attribute != NULL && cm_node_set_integer(u->m, n, w->attribute, w->number, error) != CM_OK
             ? error->status
             : cm_infer_node(u->m, number, u->run, error);
}

static cm_status reshape(unfolding *u, uint32_t value, uint32_t rank, const int64_t *dims, uint32_t *made, cm_error *error)
{
  uint32_t inputs[2] = {value};
  *made = CM_NONE;
  return cm_model_add_integers(u->m, "shape", dims, rank, &inputs[1], error) != CM_OK
             ? error->status
             : add(u, &(wanted){.op = "Reshape", .inputs = inputs, .count = 2}, made, error);
}

static cm_status slice(unfolding *u, uint32_t value, int64_t axis, const int64_t ends[2], uint32_t *made, cm_error *error)
{
  CM_TRY(cm_model_add_slice(u->m, value, axis, ends, made, error));
  const uint32_t node = u->m->values[*made].producer;
  u->m->nodes[node].name = u->whole.name;
  return cm_infer_node(u->m, node, u->run, error);
}

static cm_status concat(unfolding *u, const uint32_t *inputs, uint32_t count, int64_t axis, uint32_t *made, cm_error *error)
{
  return add(u, &(wanted){"Concat", inputs, count, "axis", axis}, made, error);
}

/* left x right transposed, and what is added. */
static cm_status product(unfolding *u, uint32_t left, uint32_t right, uint32_t added, uint32_t *made, cm_error *error)
{
  const uint32_t inputs[3] = {left, right, added};
  *made = CM_NONE;
  return add(u, &(wanted){"Gemm", inputs, added != CM_NONE ? 3 : 2, "transB", 1}, made, error);
}

/* A cell of a direction, with the attributes of the whole, that makes one or two values. */
static cm_status cell(unfolding *u, const direction *d, const wanted *w, uint32_t *made, uint32_t outputs, cm_error *error)
{
  uint32_t number;
  for (uint32_t o = 0; o < outputs; o++)
    CM_TRY(cm_model_add_named(u->m, "step", &made[o], error));
  CM_TRY(cm_model_add_node(u->m, w->op, w->inputs, w->count, made, outputs, &number, error));
  cm_node *n = &u->m->nodes[number];
  n->name = u->whole.name;
  n->domain = CM_OWN_DOMAIN;
  n->known = cm_operator_find(n->domain, w->op, u->m->opset);
  n->attributes = u->whole.attributes;
  n->attribute_count = u->whole.attribute_count;
  CM_TRY_IF(d->number == 1, cm_node_set_integer(u->m, n, "second", 1, error));
  return cm_infer_node(u->m, number, u->run, error);
}

/* Zeros, or one number. */
static cm_status constant(unfolding *u, const cm_shape *shape, int64_t number, uint32_t *made, cm_error *error)
{
  cm_tensor *t;
  CM_TRY(cm_tensor_new(u->m->arena.memory, shape->type, shape->rank, shape->dims, &t, error));
  if (number != 0)
    cm_tensor_put_integer(t, 0, number);
  cm_status status = cm_model_add_constant(u->m, shape->type == CM_FLOAT ? "zeros" : "step", t, made, error);
  cm_tensor_free(t);
  return status;
}

/* ---- what all steps have in common ---- */

static uint32_t given(const unfolding *u, uint32_t input)
{
  return input < u->whole.input_count ? u->whole.inputs[input] : CM_NONE;
}

/* Biases of inputs and of states, [directions, gates * hidden] each, added; those of a candidate behind its reset gate stay apart. */
static cm_status add_biases(unfolding *u, uint32_t *biases, cm_error *error)
{
  const cm_recurrent *r = &u->r;
  const int64_t rows = r->gates * r->hidden, all = r->directions * rows;
  uint32_t both[2], parts[2], sum = CM_NONE;
  *biases = CM_NONE;
  if (given(u, B) == CM_NONE)
    return CM_OK;
  CM_TRY(slice(u, given(u, B), 1, (int64_t[]){0, rows}, &both[0], error));
  CM_TRY(slice(u, given(u, B), 1, (int64_t[]){rows, 2 * rows}, &both[1], error));
  if (r->gates == 3 && r->linear_before_reset) {
    CM_TRY(slice(u, both[1], 1, (int64_t[]){2 * r->hidden, rows}, &u->after, error));
    CM_TRY(slice(u, both[1], 1, (int64_t[]){0, 2 * r->hidden}, &parts[0], error));
    CM_TRY(constant(u, &(cm_shape){.type = CM_FLOAT, .rank = 2, .dims = {r->directions, r->hidden}}, 0, &parts[1], error));
    both[1] = CM_NONE;
    CM_TRY(concat(u, parts, 2, 1, &both[1], error));
  }
  return add(u, &(wanted){.op = "Add", .inputs = both, .count = 2}, &sum, error) != CM_OK ? error->status : reshape(u, sum, 1, &all, biases, error);
}

static cm_status multiply_inputs(unfolding *u, cm_error *error)
{
  const cm_recurrent *r = &u->r;
  const int64_t columns = r->directions * r->gates * r->hidden, rows = r->steps * r->batch;
  const int64_t by_step[3] = {r->batch_first ? r->batch : r->steps, r->batch_first ? r->steps : r->batch, columns};
  uint32_t x, w, biases;
  CM_TRY(reshape(u, given(u, X), 2, (int64_t[]){rows, r->inputs}, &x, error));
  CM_TRY(reshape(u, given(u, W), 2, (int64_t[]){columns, r->inputs}, &w, error));
  CM_TRY(add_biases(u, &biases, error));
  CM_TRY(product(u, x, w, biases, &u->products, error));
  return reshape(u, u->products, 3, by_step, &u->products, error);
}

/* Lengths that are known to be all steps are none. */
static cm_status read_lengths(unfolding *u, cm_error *error)
{
  const cm_tensor *known;
  u->lengths = given(u, LENGTHS);
  if (u->lengths == CM_NONE || !u->m->values[u->lengths].constant)
    return CM_OK;
  CM_TRY(cm_constant_tensor(u->m, u->lengths, u->run, &known, error));
  for (uint64_t i = 0; i < known->count; i++)
    if (cm_tensor_integer(known, i) != u->r.steps)
      return CM_OK;
  u->lengths = CM_NONE;
  return CM_OK;
}

/* ---- a direction ---- */

/* The initial state of a direction, [batch, hidden]. */
static cm_status initial(unfolding *u, uint32_t input, int64_t number, uint32_t *state, cm_error *error)
{
  uint32_t part;
  *state = CM_NONE;
  if (given(u, input) == CM_NONE)
    return CM_OK;
  return slice(u, given(u, input), u->r.batch_first, (int64_t[]){number, number + 1}, &part, error) != CM_OK
             ? error->status
             : reshape(u, part, 2, (int64_t[]){u->r.batch, u->r.hidden}, state, error);
}

static cm_status begin(unfolding *u, direction *d, cm_error *error)
{
  const cm_recurrent *r = &u->r;
  const int64_t rows = r->gates * r->hidden, n = d->number;
  uint32_t part;
  d->peephole = d->after = CM_NONE;
  CM_TRY(slice(u, given(u, R), 0, (int64_t[]){n, n + 1}, &part, error));
  CM_TRY(reshape(u, part, 2, (int64_t[]){rows, r->hidden}, &d->weights, error));
  CM_TRY(initial(u, H0, n, &d->h, error));
  CM_TRY(initial(u, C0, n, &d->c, error));
  if (r->gates == 3 && (slice(u, d->weights, 0, (int64_t[]){0, 2 * r->hidden}, &d->gates, error) != CM_OK ||
                        slice(u, d->weights, 0, (int64_t[]){2 * r->hidden, rows}, &d->candidate, error) != CM_OK))
    return error->status;
  if (r->gates == 4 && given(u, P) != CM_NONE &&
      (slice(u, given(u, P), 0, (int64_t[]){n, n + 1}, &part, error) != CM_OK ||
       reshape(u, part, 3, (int64_t[]){1, 3, r->hidden}, &d->peephole, error) != CM_OK))
    return error->status;
  if (u->after == CM_NONE) {
    d->after = u->zeros;
    return CM_OK;
  }
  uint32_t both[2] = {u->zeros};
  return slice(u, u->after, 0, (int64_t[]){n, n + 1}, &both[1], error) != CM_OK ? error->status
                                                                  : add(u, &(wanted){.op = "Add", .inputs = both, .count = 2}, &d->after, error);
}

/* Products of the inputs of a step with the rows of some gates, [batch, gates * hidden]. */
static cm_status inputs_of(unfolding *u, const direction *d, int64_t step, const int64_t gates[2], uint32_t *made, cm_error *error)
{
  const int64_t hidden = u->r.hidden, first = d->number * u->r.gates * hidden;
  uint32_t all, some;
  return slice(u, u->products, u->r.batch_first, (int64_t[]){step, step + 1}, &all, error) != CM_OK ||
                 slice(u, all, 2, (int64_t[]){first + gates[0] * hidden, first + gates[1] * hidden}, &some, error) != CM_OK
             ? error->status
             : reshape(u, some, 2, (int64_t[]){u->r.batch, (gates[1] - gates[0]) * hidden}, made, error);
}

/* And what a state adds to them: nothing where it is all zeros. */
static cm_status add_state(unfolding *u, uint32_t state, uint32_t weights, uint32_t *sums, cm_error *error)
{
  return state == CM_NONE ? CM_OK : product(u, state, weights, *sums, sums, error);
}

static uint32_t or_zeros(const unfolding *u, uint32_t state)
{
  return state != CM_NONE ? state : u->zeros;
}

static cm_status lstm_step(unfolding *u, direction *d, int64_t step, cm_error *error)
{
  uint32_t inputs[3] = {CM_NONE, or_zeros(u, d->c), d->peephole}, made[2];
  CM_TRY(inputs_of(u, d, step, (int64_t[]){0, 4}, &inputs[0], error));
  CM_TRY(add_state(u, d->h, d->weights, &inputs[0], error));
  CM_TRY(reshape(u, inputs[0], 3, (int64_t[]){u->r.batch, 4, u->r.hidden}, &inputs[0], error));
  CM_TRY(cell(u, d, &(wanted){.op = "LSTMCell", .inputs = inputs, .count = d->peephole != CM_NONE ? 3 : 2}, made, 2, error));
  d->h = made[0];
  d->c = made[1];
  return CM_OK;
}

/* The sums of the gates of a GRU and what is reset: its state, or with linear_before_reset the candidate's product with it. */
static cm_status gru_sums(unfolding *u, direction *d, int64_t step, uint32_t sums[2], cm_error *error)
{
  const int64_t hidden = u->r.hidden;
  uint32_t all[2], made = CM_NONE;
  sums[1] = or_zeros(u, d->h);
  CM_TRY(inputs_of(u, d, step, (int64_t[]){0, 2}, &sums[0], error));
  if (!u->r.linear_before_reset)
    return add_state(u, d->h, d->gates, &sums[0], error);
  all[0] = sums[0];
  all[1] = d->after;
  return concat(u, all, 2, 1, &made, error) != CM_OK || add_state(u, d->h, d->weights, &made, error) != CM_OK ||
                 slice(u, made, 1, (int64_t[]){0, 2 * hidden}, &sums[0], error) != CM_OK
             ? error->status
             : slice(u, made, 1, (int64_t[]){2 * hidden, 3 * hidden}, &sums[1], error);
}

static cm_status gru_step(unfolding *u, direction *d, int64_t step, cm_error *error)
{
  uint32_t sums[2], gated[2], inputs[4] = {CM_NONE};
  CM_TRY(gru_sums(u, d, step, sums, error));
  CM_TRY(reshape(u, sums[0], 3, (int64_t[]){u->r.batch, 2, u->r.hidden}, &sums[0], error));
  CM_TRY(cell(u, d, &(wanted){.op = "GRUGates", .inputs = sums, .count = 2}, gated, 2, error));
  CM_TRY(inputs_of(u, d, step, (int64_t[]){2, 3}, &inputs[1], error));
  CM_TRY_IF(!u->r.linear_before_reset, add_state(u, d->h == CM_NONE ? CM_NONE : gated[1], d->candidate, &inputs[1], error));
  inputs[0] = gated[0];
  inputs[2] = or_zeros(u, d->h);
  inputs[3] = gated[1];
  return cell(u, d, &(wanted){.op = "GRUCell", .inputs = inputs, .count = u->r.linear_before_reset ? 4 : 3}, &d->h, 1, error);
}

static cm_status rnn_step(unfolding *u, direction *d, int64_t step, cm_error *error)
{
  uint32_t sum;
  return inputs_of(u, d, step, (int64_t[]){0, 1}, &sum, error) != CM_OK || add_state(u, d->h, d->weights, &sum, error) != CM_OK
             ? error->status
             : cell(u, d, &(wanted){.op = "RNNCell", .inputs = &sum, .count = 1}, &d->h, 1, error);
}

/* Sequences that have ended keep their state and put out zeros: *made is `now` where the step is within its sequence, else `otherwise`. */
static cm_status where_running(unfolding *u, uint32_t running, uint32_t now, uint32_t otherwise, uint32_t *made, cm_error *error)
{
  const uint32_t inputs[3] = {running, now, otherwise};
  *made = CM_NONE;
  return add(u, &(wanted){.op = "Where", .inputs = inputs, .count = 3}, made, error);
}

static cm_status end_sequences(unfolding *u, direction *d, int64_t step, uint32_t h, uint32_t c, uint32_t *output, cm_error *error)
{
  uint32_t inputs[2] = {u->lengths}, running = CM_NONE;
  CM_TRY(constant(u, &(cm_shape){.type = u->m->values[u->lengths].shape.type, .rank = 1, .dims = {1}}, step, &inputs[1], error));
  CM_TRY(add(u, &(wanted){.op = "Greater", .inputs = inputs, .count = 2}, &running, error));
  CM_TRY(reshape(u, running, 2, (int64_t[]){u->r.batch, 1}, &running, error));
  CM_TRY(where_running(u, running, d->h, u->zeros, output, error));
  CM_TRY(where_running(u, running, d->h, or_zeros(u, h), &d->h, error));
  return u->r.gates == 4 ? where_running(u, running, d->c, or_zeros(u, c), &d->c, error) : CM_OK;
}

static cm_status take_step(unfolding *u, direction *d, int64_t k, cm_error *error)
{
  const cm_recurrent *r = &u->r;
  const int64_t step = r->backward || d->number == 1 ? r->steps - 1 - k : k,
                dims[4] = {r->batch_first ? r->batch : 1, 1, r->batch_first ? 1 : r->batch, r->hidden};
  const uint32_t h = d->h, c = d->c;
  if ((r->gates == 4 ? lstm_step : r->gates == 3 ? gru_step : rnn_step)(u, d, step, error) != CM_OK)
    return error->status;
  uint32_t output = d->h;
  CM_TRY_IF(u->lengths != CM_NONE, end_sequences(u, d, step, h, c, &output, error));
  return reshape(u, output, 4, dims, &d->outputs[step], error);
}

/* ---- the whole ---- */

/* Outputs that are read: all steps; last states; last cell states. */
static cm_status join_outputs(unfolding *u, const direction *d, cm_error *error)
{
  const cm_recurrent *r = &u->r;
  const uint32_t directions = (uint32_t)r->directions;
  const int64_t last[3] = {r->batch_first ? r->batch : 1, r->batch_first ? 1 : r->batch, r->hidden};
  for (uint32_t o = 0; o < u->whole.output_count; o++) {
    uint32_t parts[2], output = u->whole.outputs[o];
    if (u->m->values[output].use_count == 0)
      continue;
    for (uint32_t k = 0; k < directions; k++) {
      parts[k] = o == 0 && directions == 1 ? output : CM_NONE;
      if (o == 0 ? concat(u, d[k].outputs, (uint32_t)r->steps, r->batch_first, &parts[k], error) != CM_OK
                 : reshape(u, o == 1 ? d[k].h : d[k].c, 3, last, &parts[k], error) != CM_OK)
        return error->status;
    }
    CM_TRY_IF(parts[0] != output, concat(u, parts, directions, (o == 0) + r->batch_first, &output, error));
  }
  return CM_OK;
}

static cm_status unfold(unfolding *u, direction d[2], cm_error *error)
{
  if (constant(u, &(cm_shape){.type = CM_FLOAT, .rank = 2, .dims = {u->r.batch, u->r.hidden}}, 0, &u->zeros, error) != CM_OK || multiply_inputs(u, error) != CM_OK || read_lengths(u, error) != CM_OK)
    return error->status;
  for (int64_t k = 0; k < u->r.directions; k++)
    CM_TRY(begin(u, &d[k], error));
  for (int64_t step = 0; step < u->r.steps; step++)
    for (int64_t k = 0; k < u->r.directions; k++)
      if (take_step(u, &d[k], step, error) != CM_OK || cm_run_check(u->run, error) != CM_OK)
        return error->status;
  return join_outputs(u, d, error);
}

static bool call_of(const cm_model *m, const cm_node *node, cm_shape *shapes, cm_recurrent *r)
{
  const cm_call call = {.node = node, .opset = m->opset, .input_count = node->input_count, .input = shapes};
  for (uint32_t i = 0; i < node->input_count; i++) {
    shapes[i] = node->inputs[i] != CM_NONE ? m->values[node->inputs[i]].shape : (cm_shape){.rank = CM_UNKNOWN_RANK};
    if (node->inputs[i] != CM_NONE && (!cm_shape_known(&shapes[i]) || (i != LENGTHS && shapes[i].type != CM_FLOAT)))
      return false;
  }
  return cm_recurrent_measure(&call, r) && r->steps > 0 && r->batch > 0 && r->inputs > 0 && r->hidden > 0;
}

bool cm_recurrent_unfolds(const cm_model *m, const cm_node *node)
{
  cm_shape shapes[P + 1];
  cm_recurrent r;
  return !node->removed && cm_node_is(node, cm_kernel_recurrent) && node->input_count <= P + 1 && !m->values[node->outputs[0]].constant &&
         (m->opset >= 9 || node->input_count <= LENGTHS || node->inputs[LENGTHS] == CM_NONE) && call_of(m, node, shapes, &r);
}

cm_status cm_recurrent_unfold(cm_model *m, uint32_t node, cm_run *run, cm_error *error)
{
  cm_shape shapes[P + 1];
  unfolding u = {.m = m, .run = run, .whole = m->nodes[node], .after = CM_NONE};
  direction d[2] = {{.number = 0}, {.number = 1}};
  (void)call_of(m, &u.whole, shapes, &u.r);
  cm_status status = CM_OK;
  for (int k = 0; k < 2 && status == CM_OK; k++)
    status = CM_NEW(run->memory, d[k].outputs, (size_t)u.r.steps + 1, error);
  if (status == CM_OK) {
    m->nodes[node].removed = true;
    status = unfold(&u, d, error);
  }
  CM_FREE(d[0].outputs, d[1].outputs);
  return status;
}
