/* Recurrent operators: the cells that one is unfolded into, and whole ones. The formulas are those of core/operators/ops, with the same roundings. */
#include <string.h>

#include "core/csource/text/writer.h"
#include "core/operators/recurrent.h"

enum { FORMULA_MAX = 6000, STEP_MAX = 6000 };

/* A function of a cell of what is called x. */
static void apply(const cm_cell_function *f, const char *x, char made[FORMULA_MAX])
{
  char alpha[48], beta[48];
  cm_c_number(f->alpha, false, alpha);
  cm_c_number(f->beta, false, beta);
  cm_c_fill(f->formula, x, alpha, beta, made, FORMULA_MAX);
}

/* ---- cells ---- */

/* Kinds of cells: streams that the rows of each input hold side by side (of the last one, those that are there), and what is made of them:
 * F, a digit and < ... > is that function of the node's. An LSTM's first four are its gates input, output, forget and
 * cell, its last three peepholes of the first three of these. */
static const struct {
  cm_operator_variant variant;
  int form; /* 1: with one input more; 2: coupled gates */
  uint32_t streams[4];
  const char *made[2];
} cells[] = {
#define IN "F0<(double)a>"
#define PEEPING_IN "F0<(double)a + (double)f * (double)e>"
#define STATE(keep, in) keep " * (double)e + " in " * F1<(double)d>"
#define LSTM(form, peepholes, peep, state) \
  {CM_VARIANT_LSTM, form, {4, 1, peepholes}, {"(float)(F0<(double)b" peep(state) "> * F2<(" state ")>)", "(float)(" state ")"}}
#define NOTHING(state) ""
#define PEEP(state) " + (double)g * (" state ")"
  LSTM(0, 0, NOTHING, STATE("F0<(double)c>", IN)),
  LSTM(1, 3, PEEP, STATE("F0<(double)c + (double)h * (double)e>", PEEPING_IN)),
  LSTM(2, 0, NOTHING, STATE("(1 - " IN ")", IN)),
  LSTM(3, 3, PEEP, STATE("(1 - " PEEPING_IN ")", PEEPING_IN)),
  {CM_VARIANT_GATES, 0, {2, 1}, {"(float)F0<(double)a>", "(float)(F0<(double)b> * (double)c)"}},
  {CM_VARIANT_GRU, 0, {1, 1, 1}, {"(float)((1 - (double)a) * F1<(double)b + 0> + (double)a * (double)c)", NULL}},
  {CM_VARIANT_GRU, 1, {1, 1, 1, 1}, {"(float)((1 - (double)a) * F1<(double)b + (double)d> + (double)a * (double)c)", NULL}},
  {CM_VARIANT_RNN, 0, {1}, {"(float)(F0<(double)a>)", NULL}},
};

/* A text with functions for those marks, as far as its end or the mark's: where that is. What goes into the first two is clipped. */
static const char *expand(const cm_recurrent *r, const cm_cell_function *f, const char *text, char made[FORMULA_MAX])
{
  char clip[48];
  cm_c_number(r->clip, false, clip);
  made[0] = '\0';
  for (; *text != '\0' && *text != '>'; text++) {
    if (text[0] != 'F' || text[2] != '<') {
      cm_c_add(made, FORMULA_MAX, "%c", *text);
      continue;
    }
    char inner[FORMULA_MAX], x[FORMULA_MAX + 140], applied[FORMULA_MAX];
    const int k = text[1] - '0';
    text = expand(r, f, text + 3, inner);
    const bool tangent = strcmp(f[k].formula, "tanh(x)") == 0;
    if (r->clip > 0 && k < 2)
      (void)snprintf(x, sizeof x, "fmin(fmax(%s, -%s), %s)", inner, clip, clip);
    else
      (void)snprintf(x, sizeof x, tangent ? "%s" : "(%s)", inner);
    apply(&f[k], x, applied);
    cm_c_add(made, FORMULA_MAX, tangent ? "%s" : "(%s)", applied);
  }
  return text;
}

/* Rows of an input as `count` streams, one beside the other in each row. */
static cm_status cell_streams(cm_c_piece *piece, uint32_t input, int64_t count, int64_t hidden, cm_c_pointwise *p, cm_error *error)
{
  char at[CM_C_AT_MAX];
  CM_TRY(cm_c_input(piece, input, at, error));
  for (int64_t k = 0; k < count; k++) {
    cm_c_stream *s = &p->inputs[p->input_count++];
    *s = (cm_c_stream){.type = CM_FLOAT, .strides = {piece->call.input[input].dims[0] > 1 ? count * hidden : 0, 1}};
    (void)snprintf(s->at, sizeof s->at, k > 0 ? "%.70s + %lld" : "%.70s", at, (long long)(k * hidden));
  }
  return CM_OK;
}

cm_status cm_c_cell(cm_c_piece *piece, cm_error *error)
{
  const cm_shape *y = &piece->call.output[0];
  const int64_t hidden = y->dims[1];
  cm_c_pointwise p = {.stem = piece->call.node->op, .rank = 2, .output_count = piece->call.output_count, .dims = {y->dims[0], hidden}};
  char made[2][FORMULA_MAX];
  cm_recurrent r;
  const cm_operator_variant variant = piece->call.node->known->variant;
  size_t kind = 0;
  cm_recurrent_attributes(&piece->call, &r);
  const int form = cm_has(&piece->call, variant == CM_VARIANT_GRU ? 3 : 2) && (variant == CM_VARIANT_GRU || variant == CM_VARIANT_LSTM);
  while (cells[kind].variant != variant || cells[kind].form != form + 2 * (variant == CM_VARIANT_LSTM && r.input_forget))
    kind++;
  CM_TRY(cm_recurrent_functions(&piece->call, &r, error));
  for (uint32_t o = 0; o < p.output_count; o++) {
    CM_TRY(cm_c_output_stream(piece, o, &p.outputs[o], error));
    (void)expand(&r, r.function[r.directions == 2 && cm_node_integer(piece->call.node, "second", 0) != 0], cells[kind].made[o], made[o]);
    p.expressions[o] = made[o];
  }
  for (uint32_t k = 0; k < 4 && cells[kind].streams[k] > 0; k++)
    CM_TRY(cell_streams(piece, k, cells[kind].streams[k], hidden, &p, error));
  return cm_c_pointwise_call(piece, &p, error);
}

/* ---- whole ones ---- */

enum { W = 1, R, B, LENGTHS, H0, C0, P }; /* inputs */

/* One direction of a layer on its way: what a step does, parameters and arguments. */
typedef struct layer {
  cm_c_piece *piece;
  cm_recurrent r;
  int64_t direction;
  char step[STEP_MAX], more[400], arguments[12 * CM_C_AT_MAX];
} layer;

static void say(layer *l, const char *text)
{
  cm_c_add(l->step, sizeof l->step, "%s\n", text);
}

/* Sums of a gate: of inputs; and of a state, both with their biases. */
static cm_phrase of_inputs(const layer *l, int gate)
{
  return cm_say("(dot(w + (%d * HIDDEN + j) * INPUTS, from, INPUTS)%s)", gate,
                cm_has(&l->piece->call, B) ? cm_say(" + (double)biases[%d * HIDDEN + j]", gate).text : "");
}

static cm_phrase of_state(const layer *l, int gate, const char *state)
{
  return cm_say("(dot_state(weights + (%d * HIDDEN + j) * HIDDEN, %s, HIDDEN)%s)", gate, state,
                cm_has(&l->piece->call, B) ? cm_say(" + (double)biases[%d * HIDDEN + j]", gate + (int)l->r.gates).text : "");
}

/* One of the functions: x = f(of), in which sums are clipped. */
static void say_function(layer *l, int k, const char *x, const char *of)
{
  char applied[FORMULA_MAX], clip[48];
  const cm_cell_function *f = &l->r.function[l->direction][k];
  say(l, cm_say("        double %s = %s;", x, of).text);
  cm_c_number(l->r.clip, false, clip);
  if (l->r.clip > 0 && k < 2)
    say(l, cm_say("        %s = fmin(fmax(%s, -%s), %s);", x, x, clip, clip).text);
  apply(f, x, applied);
  say(l, cm_say("        %s = %s;", x, applied).text);
}

static cm_phrase of_both(const layer *l, int gate)
{
  return cm_say("%s + %s", of_inputs(l, gate).text, of_state(l, gate, "h").text);
}

static void lstm_step(layer *l)
{
  static const char peep[] = " + (double)peepholes[%d * HIDDEN + j] * c[j]";
  const bool peeps = cm_has(&l->piece->call, P);
  static const struct {
    const char *name;
    int gate, function, peephole;
  } gates[] = {{"in", 0, 0, 0}, {"keep", 2, 0, 2}, {"cell", 3, 1, -1}, {"out", 1, 0, 1}};
  say(l, "      for (int j = 0; j < HIDDEN; j++) {");
  for (int k = 0; k < 4; k++) {
    if (k == 1 && l->r.input_forget)
      say(l, "        const double keep = 1 - in;");
    else
      say_function(l, gates[k].function, gates[k].name,
                   cm_say("%s%s", of_both(l, gates[k].gate).text, peeps && gates[k].peephole >= 0 ? cm_say(peep, gates[k].peephole).text : "").text);
    if (k == 2)
      say(l, "        c[j] = keep * c[j] + in * cell;");
  }
  say_function(l, 2, "state", "c[j]");
  say(l, "        next[j] = out * state;\n      }");
}

static void gru_step(layer *l)
{
  const bool before = l->r.linear_before_reset;
  say(l, "      for (int j = 0; j < HIDDEN; j++) {");
  say_function(l, 0, "left", of_both(l, 1).text);
  say(l, before ? "        c[j] = left;\n      }" : "        c[j] = left * h[j];\n      }");
  say(l, "      for (int j = 0; j < HIDDEN; j++) {");
  say_function(l, 0, "update", of_both(l, 0).text);
  say_function(l, 1, "state", cm_say(before ? "%s + c[j] * %s" : "%s + %s", of_inputs(l, 2).text, of_state(l, 2, before ? "h" : "c").text).text);
  say(l, "        next[j] = (1 - update) * state + update * h[j];\n      }");
}

static void rnn_step(layer *l)
{
  say(l, "      for (int j = 0; j < HIDDEN; j++) {");
  say_function(l, 0, "state", of_both(l, 0).text);
  say(l, "        next[j] = state;\n      }");
}

/* A parameter of the function and what it is given: from an element of an input or output on. */
typedef struct parameter {
  uint32_t number;
  const char *type, *name;
  int64_t first;
} parameter;

static cm_status add_operand(layer *l, bool in, const parameter *p, cm_error *error)
{
  char at[CM_C_AT_MAX];
  CM_TRY((in ? cm_c_input : cm_c_output)(l->piece, p->number, at, error));
  cm_c_add(l->more, sizeof l->more, "%s%s *restrict %s", l->more[0] != '\0' ? ", " : "", p->type, p->name);
  cm_c_add(l->arguments, sizeof l->arguments, p->first > 0 ? "%s%s + %lld" : "%s%s", l->arguments[0] != '\0' ? ", " : "", at, (long long)p->first);
  return CM_OK;
}

static cm_status add_operands(layer *l, cm_error *error)
{
  const cm_recurrent *r = &l->r;
  const cm_call *call = &l->piece->call;
  const int64_t rows = r->gates * r->hidden, d = l->direction, state = r->batch_first ? d * r->hidden : d * r->batch * r->hidden;
  const parameter inputs[] = {{0, "const float", "x", 0}, {W, "const float", "w", d * rows * r->inputs}, {R, "const float", "weights", d * rows * r->hidden},
                {B, "const float", "biases", d * 2 * rows}, {LENGTHS, "const int32_t", "lengths", 0}, {H0, "const float", "h0", state},
                {C0, "const float", "c0", state}, {P, "const float", "peepholes", d * 3 * r->hidden}},
    outputs[] = {{0, "float", "y", state}, {1, "float", "h1", state}, {2, "float", "c1", state}};
  char room[CM_C_AT_MAX];
  for (size_t k = 0; k < sizeof inputs / sizeof *inputs; k++)
    CM_TRY_IF(cm_has(call, inputs[k].number), add_operand(l, true, &inputs[k], error));
  for (size_t k = 0; k < 3; k++)
    CM_TRY_IF(cm_c_makes(l->piece, outputs[k].number), add_operand(l, false, &outputs[k], error));
  cm_c_scratch(l->piece, CM_DOUBLE, 3 * r->hidden, room);
  cm_c_add(l->more, sizeof l->more, ", double *restrict h");
  cm_c_add(l->arguments, sizeof l->arguments, ", %s", room);
  return CM_OK;
}

static cm_status one_direction(layer *l, cm_error *error)
{
  const cm_recurrent *r = &l->r;
  const cm_call *call = &l->piece->call;
  const int64_t states = r->directions * r->hidden;
  char sizes[CM_C_SIZES_MAX] = "";
  CM_TRY(add_operands(l, error));
  (r->gates == 4 ? lstm_step : r->gates == 3 ? gru_step : rnn_step)(l);
  cm_c_sizes(sizes, "BATCH STEPS INPUTS HIDDEN XN XT",
             (const int64_t[]){r->batch, r->steps, r->inputs, r->hidden, r->batch_first ? r->steps * r->inputs : r->inputs, r->batch_first ? r->inputs : r->batch * r->inputs});
  if (cm_c_makes(l->piece, 0))
    cm_c_sizes(sizes, "YN YT", (const int64_t[]){r->batch_first ? r->steps * states : r->hidden, r->batch_first ? states : r->batch * states});
  if (cm_has(call, H0) || cm_has(call, C0) || cm_c_makes(l->piece, 1) || cm_c_makes(l->piece, 2))
    cm_c_sizes(sizes, "SN", (const int64_t[]){r->batch_first ? states : r->hidden});
  return cm_c_kernel(l->piece, "recurrent",
                     WORDS({"PARAMETERS", l->more}, {"SIZES", sizes}, {"STEP_TEXT", l->step},
                           {"LENGTH", cm_has(call, LENGTHS) ? "lengths[n] < 0 ? 0 : lengths[n] < STEPS ? lengths[n] : STEPS" : "STEPS"},
                           {"BACK", r->backward || l->direction == 1 ? "length - 1 - k" : "k"}, {"STATE", cm_has(call, H0) ? "(double)h0[n * SN + j]" : "0"},
                           {"CELL", cm_has(call, C0) ? "(double)c0[n * SN + j]" : "0"}, {"YES", cm_c_makes(l->piece, 0) ? cm_c_kernel_find("recurrent_step") : ""},
                           {"ENDED", cm_c_makes(l->piece, 0) ? cm_c_kernel_find("recurrent_end") : ""},
                           {"LAST_STATE", cm_c_makes(l->piece, 1) ? "h1[n * SN + j] = (float)h[j];" : ""},
                           {"LAST_CELL", cm_c_makes(l->piece, 2) ? "c1[n * SN + j] = (float)c[j];" : ""}),
                     l->arguments, error);
}

cm_status cm_c_recurrent(cm_c_piece *piece, cm_error *error)
{
  cm_recurrent r;
  if (!cm_recurrent_measure(&piece->call, &r))
    return cm_c_refuse(piece, error, "has inputs that are not known, of which C is not written");
  CM_TRY(cm_recurrent_functions(&piece->call, &r, error));
  for (int64_t d = 0; d < r.directions; d++) {
    layer l = {.piece = piece, .r = r, .direction = d};
    piece->w->scratch_at = 0;
    CM_TRY(one_direction(&l, error));
  }
  return CM_OK;
}
