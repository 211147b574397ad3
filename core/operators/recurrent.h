/* What LSTM, GRU and RNN have in common with the cells that they are unfolded into (recurrent_unfold.h). */
#pragma once

#include "core/operators/operator.h"

enum { CM_CELL_FUNCTIONS_MAX = 3 };

typedef double (*cm_activation)(double x, double alpha, double beta);

typedef struct cm_cell_function {
  cm_activation apply;
  double alpha, beta;
  const char *formula; /* what it applies, as ops/activation.def has it */
} cm_cell_function;

/* What a recurrent operator is, or a cell, whatever its kind. */
typedef struct cm_recurrent {
  int64_t gates, functions; /* LSTM 4 and 3, GRU 3 and 2, RNN 1 and 1 */
  int64_t steps, batch, inputs, hidden, directions; /* by the shapes; the first three are not set of a cell */
  bool batch_first, backward; /* backward: its first direction is */
  bool linear_before_reset, input_forget;
  double clip; /* 0: none */
  cm_cell_function function[2][CM_CELL_FUNCTIONS_MAX]; /* by direction, after cm_recurrent_functions */
} cm_recurrent;

/* What the attributes of a node say. */
void cm_recurrent_attributes(const cm_call *call, cm_recurrent *r);

/* Numbers that the shapes say, too, of an LSTM, GRU or RNN; false when there can be none. */
bool cm_recurrent_measure(const cm_call *call, cm_recurrent *r);

/* The activations by their names. Errors: CM_BAD_NETWORK for one that is not computed. */
cm_status cm_recurrent_functions(const cm_call *call, cm_recurrent *r, cm_error *error);

/* Function `which` of a direction, of what was clipped. */
double cm_cell_activate(const cm_recurrent *r, const cm_cell_function *f, int which, double x);

/* One unit of an LSTM: sums before its gates in ONNX's order (input, output, forget, cell), peepholes (input, output, forget; NULL:
 * none); *c is its cell state, before and after. Returns its new state. */
double cm_lstm_unit(const cm_recurrent *r, const cm_cell_function *f, const double sum[4], const double *peephole, double *c);
