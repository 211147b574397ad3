/* The cells that recurrent operators are made of: activations and gates; and operators of one step of all units, which are what a
 * recurrent operator is unfolded into. */
#include <math.h>
#include <string.h>

#include "core/operators/recurrent.h"

#define ACTIVATION(name, result, first, second)                                              \
  static double a_##name(double x, CM_UNUSED double alpha, CM_UNUSED double beta) \
  {                                                                                          \
    return result;                                                                           \
  }
#include "core/operators/ops/activation.def"
#undef ACTIVATION

static const struct {
  const char *name;
  cm_cell_function usual;
} activations[] = {
#define ACTIVATION(name, result, first, second) {#name, {a_##name, first, second, #result}},
#include "core/operators/ops/activation.def"
#undef ACTIVATION
};
enum { ACTIVATIONS = sizeof activations / sizeof *activations };

void cm_recurrent_attributes(const cm_call *call, cm_recurrent *r)
{
  const char *direction = cm_node_text(call->node, "direction", "forward");
  const cm_operator_variant cell = call->node->known->variant;
  *r = (cm_recurrent){.gates = cell == CM_VARIANT_LSTM ? 4 : cell == CM_VARIANT_RNN ? 1 : 3,
                      .functions = cell == CM_VARIANT_LSTM ? 3 : cell == CM_VARIANT_RNN ? 1 : 2,
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

cm_status cm_recurrent_functions(const cm_call *call, cm_recurrent *r, cm_error *error)
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
    cm_cell_function *f = &r->function[k / r->functions][k % r->functions];
    *f = activations[i].usual;
    /* Parameters stand in the order of the functions that have any. */
    bool has_alpha = f->alpha != 0 || f->apply == a_Affine, has_beta = f->beta != 0 || f->apply == a_Affine;
    if (has_alpha && alpha != NULL && alphas < alpha->count)
      f->alpha = (double)alpha->numbers[alphas++];
    if (has_beta && beta != NULL && betas < beta->count)
      f->beta = (double)beta->numbers[betas++];
  }
  return CM_OK;
}

double cm_cell_activate(const cm_recurrent *r, const cm_cell_function *f, int which, double x)
{
  x = r->clip > 0 ? fmin(fmax(x, -r->clip), r->clip) : x;
  return f[which].apply(x, f[which].alpha, f[which].beta);
}

static double peep(const double *peephole, int which, double c)
{
  return peephole != NULL ? peephole[which] * c : 0;
}

double cm_lstm_unit(const cm_recurrent *r, const cm_cell_function *f, const double sum[4], const double *peephole, double *c)
{
  enum { INPUT, OUTPUT, FORGET, CELL };
  double in = cm_cell_activate(r, f, 0, sum[INPUT] + peep(peephole, 0, *c));
  double forget = r->input_forget ? 1 - in : cm_cell_activate(r, f, 0, sum[FORGET] + peep(peephole, 2, *c));
  *c = forget * *c + in * cm_cell_activate(r, f, 1, sum[CELL]);
  double out = cm_cell_activate(r, f, 0, sum[OUTPUT] + peep(peephole, 1, *c));
  return out * f[2].apply(*c, f[2].alpha, f[2].beta);
}

/* ---- one step of all units: operators of no model, CM_OPERATOR_OWN. The variants are
 * LSTM: sums [batch, 4, hidden], cell state [batch, hidden], peepholes [1, 3, hidden] or none: new state, new cell state;
 * GATES: sums [batch, 2, hidden] of a GRU's update and reset, and what is reset [batch, hidden]: the update gate, what is left;
 * GRU: update gate, sum, old state and, linear before reset, another sum, [batch, hidden] each: new state;
 * RNN: sum: new state. Attributes are those of the operator that was unfolded; `second`: it is of its second direction. ---- */

/* The input that has a number for each unit of its output. */
static uint32_t alike(const cm_call *call)
{
  const cm_operator_variant cell = call->node->known->variant;
  return cell == CM_VARIANT_LSTM || cell == CM_VARIANT_GATES ? 1 : 0;
}

static bool is_rows(const cm_shape *shape, int64_t batch, int64_t rows, int64_t hidden)
{
  return shape->rank == 3 && shape->dims[0] == batch && shape->dims[1] == rows && shape->dims[2] == hidden;
}

cm_status cm_shape_cell(cm_call *call, cm_error *error)
{
  const cm_operator_variant cell = call->node->known->variant;
  const cm_shape *state = &call->input[alike(call)];
  bool right = state->rank == 2;
  for (uint32_t i = 0; i < call->input_count; i++)
    if (cm_has(call, i) && !cm_shape_known(&call->input[i]))
      return CM_OK;
  const int64_t batch = state->dims[0], hidden = state->dims[1];
  if (alike(call) == 1)
    right = right && is_rows(&call->input[0], batch, cell == CM_VARIANT_LSTM ? 4 : 2, hidden) &&
            (cell != CM_VARIANT_LSTM || !cm_has(call, 2) || is_rows(&call->input[2], 1, 3, hidden));
  else
    for (uint32_t i = 1; i < call->input_count; i++)
      right = right && (!cm_has(call, i) || (call->input[i].rank == 2 && call->input[i].dims[0] == batch && call->input[i].dims[1] == hidden));
  if (!right || (cell == CM_VARIANT_GRU && !cm_has(call, 2)))
    return cm_call_fail(call, error, "has inputs that do not go together");
  for (uint32_t o = 0; o < call->output_count; o++)
    call->output[o] = *state;
  return CM_OK;
}

cm_status cm_check_cell(const cm_call *call, cm_error *error)
{
  cm_recurrent r;
  cm_recurrent_attributes(call, &r);
  return cm_recurrent_functions(call, &r, error);
}

/* Element k of an input; 0 where it is left out. */
static double at(const cm_call *call, uint32_t input, int64_t k)
{
  return cm_has(call, input) ? (double)((const float *)call->value[input]->data)[k] : 0;
}

static void put(const cm_call *call, uint32_t output, int64_t k, double number)
{
  if (output < call->output_count && call->result[output] != NULL)
    ((float *)call->result[output]->data)[k] = (float)number;
}

/* Unit j of a row, element k of what has one number for each. */
static void run_unit(const cm_call *call, const cm_recurrent *r, const cm_cell_function *f, int64_t row, int64_t j)
{
  const int64_t hidden = call->output[0].dims[1], k = row * hidden + j;
  double sum[4], peephole[3], second = at(call, 1, k);
  switch (call->node->known->variant) {
  case CM_VARIANT_LSTM:
    for (int64_t g = 0; g < 4; g++)
      sum[g] = at(call, 0, (row * 4 + g) * hidden + j);
    for (int64_t g = 0; g < 3; g++)
      peephole[g] = at(call, 2, g * hidden + j);
    put(call, 0, k, cm_lstm_unit(r, f, sum, cm_has(call, 2) ? peephole : NULL, &second));
    put(call, 1, k, second);
    break;
  case CM_VARIANT_GATES:
    put(call, 0, k, cm_cell_activate(r, f, 0, at(call, 0, row * 2 * hidden + j)));
    put(call, 1, k, cm_cell_activate(r, f, 0, at(call, 0, (row * 2 + 1) * hidden + j)) * second);
    break;
  case CM_VARIANT_GRU: {
    const double update = at(call, 0, k);
    put(call, 0, k, (1 - update) * cm_cell_activate(r, f, 1, second + at(call, 3, k)) + update * at(call, 2, k));
    break;
  }
  default: put(call, 0, k, cm_cell_activate(r, f, 0, at(call, 0, k)));
  }
}

cm_status cm_kernel_cell(cm_call *call, cm_error *error)
{
  cm_recurrent r;
  cm_recurrent_attributes(call, &r);
  CM_TRY(cm_recurrent_functions(call, &r, error));
  const bool second = r.directions == 2 && cm_node_integer(call->node, "second", 0) != 0;
  for (int64_t row = 0; row < call->output[0].dims[0]; row++)
    for (int64_t j = 0; j < call->output[0].dims[1]; j++)
      run_unit(call, &r, r.function[second], row, j);
  return CM_OK;
}
