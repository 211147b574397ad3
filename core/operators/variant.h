/* What a row of the table of operators says in words: which member of its family it is, and what a piece of it costs, where it
 * runs and what it makes. What serves several operators asks for these, never for a name. */
#pragma once

/* Families share words where they mean the same: the MAX of two numbers, of a window, along axes. */
typedef enum cm_operator_variant {
  CM_VARIANT_ONLY, /* nothing in its family differs from it */
  /* functions of one number (ops/op_unary.c) */
  CM_VARIANT_ABS, CM_VARIANT_ACOS, CM_VARIANT_ACOSH, CM_VARIANT_ASIN, CM_VARIANT_ASINH, CM_VARIANT_ATAN, CM_VARIANT_ATANH,
  CM_VARIANT_BIT_NOT, CM_VARIANT_CEIL, CM_VARIANT_CELU, CM_VARIANT_COS, CM_VARIANT_COSH, CM_VARIANT_ELU, CM_VARIANT_ERF,
  CM_VARIANT_EXP, /* of Softmax, too */
  CM_VARIANT_FLOOR, CM_VARIANT_GELU, CM_VARIANT_HARD_SIGMOID, CM_VARIANT_HARD_SWISH, CM_VARIANT_LEAKY_RELU,
  CM_VARIANT_LOG, /* of LogSoftmax, too */
  CM_VARIANT_MISH, CM_VARIANT_NEG, CM_VARIANT_RECIPROCAL, CM_VARIANT_RELU, CM_VARIANT_ROUND, CM_VARIANT_SELU, CM_VARIANT_SHRINK,
  CM_VARIANT_SIGMOID, CM_VARIANT_SIGN, CM_VARIANT_SIN, CM_VARIANT_SINH, CM_VARIANT_SOFTPLUS, CM_VARIANT_SOFTSIGN, CM_VARIANT_SQRT,
  CM_VARIANT_SWISH, CM_VARIANT_TAN, CM_VARIANT_TANH, CM_VARIANT_THRESHOLDED_RELU, CM_VARIANT_NOT_A_NUMBER, CM_VARIANT_INFINITE,
  /* of several numbers (ops/op_elementwise.c, op_reduce.c, op_pool.c) */
  CM_VARIANT_SUM, CM_VARIANT_MEAN, CM_VARIANT_MAX, CM_VARIANT_MIN, CM_VARIANT_PRODUCT, CM_VARIANT_DIFFERENCE, CM_VARIANT_QUOTIENT,
  CM_VARIANT_MODULO, CM_VARIANT_POWER, CM_VARIANT_PRELU, CM_VARIANT_EQUAL, CM_VARIANT_LESS, CM_VARIANT_LESS_OR_EQUAL,
  CM_VARIANT_GREATER, CM_VARIANT_GREATER_OR_EQUAL, CM_VARIANT_AND, CM_VARIANT_OR, CM_VARIANT_XOR, CM_VARIANT_BIT_AND,
  CM_VARIANT_BIT_OR, CM_VARIANT_BIT_XOR, CM_VARIANT_BIT_SHIFT, CM_VARIANT_L1, CM_VARIANT_L2, CM_VARIANT_SUM_SQUARE,
  CM_VARIANT_LOG_SUM, CM_VARIANT_LOG_SUM_EXP,
  /* the type that Cast and CastLike make (ops/op_cast.c) */
  CM_VARIANT_TO_TYPE,
  CM_VARIANT_LIKE_INPUT,
  /* windows of signals (ops/op_signal.c) */
  CM_VARIANT_BLACKMAN, CM_VARIANT_HAMMING, CM_VARIANT_HANN,
  /* cells (ops/op_recurrent.c, op_cell.c) */
  CM_VARIANT_GRU, CM_VARIANT_LSTM, CM_VARIANT_RNN,
  CM_VARIANT_GATES, /* of a GRU, its update and reset alone */
  CM_VARIANT_COUNT
} cm_operator_variant;

/* What the work of a piece is counted in (tiling/split_work.c): a multiplication and addition, a comparison or a function of one
 * number is an operation. */
typedef enum cm_work_kind {
  CM_WORK_MADE,        /* elements of its output */
  CM_WORK_TOUCHED,     /* elements of its largest input or of its output */
  CM_WORK_TWO_PASSES,  /* the same, gone through more than once: a sum and a factor */
  CM_WORK_FOUR_PASSES, /* mean, variance, factor and bias; a largest one, powers, their sum, quotients */
  CM_WORK_OPERANDS,    /* one input after the other joins the output */
  CM_WORK_FILTER,      /* each element of the output meets the weights of one filter */
  CM_WORK_SPREAD,      /* each element of the input meets the weights of its channel */
  CM_WORK_INNER,       /* each element of the output meets the last axis of the left input */
  CM_WORK_GEMM,        /* the same, where either side may stand transposed */
  CM_WORK_WINDOW,      /* each element of the output meets the cells of a window */
  CM_WORK_CHANNELS,    /* each element of the output meets `size` channels */
  CM_WORK_DEFORM,      /* a filter whose weights are the second input, over samples that its filters share */
  CM_WORK_SUMS,        /* each element of the output is a sum over the labels that it lacks */
  CM_WORK_SIGNAL,      /* each element of the output meets a line of the input */
  CM_WORK_SAMPLES,     /* each element of the output is taken between pixels */
  CM_WORK_RESIZED,     /* one axis after the other, between the elements of each */
  CM_WORK_REGIONS,     /* each element of the output meets samples of its share of a region */
  CM_WORK_SORTED,      /* lines are put in order */
  CM_WORK_ELIMINATION, /* of square matrices */
  CM_WORK_PAIRS,       /* boxes that stay meet all others */
  CM_WORK_TREES,       /* each row goes down all trees */
  CM_WORK_STEPS,       /* each step of a sequence meets all weights of a cell */
} cm_work_kind;

/* What computes it. */
typedef enum cm_runs_kind {
  CM_RUNS_MATRIX,   /* products, on a matrix unit */
  CM_RUNS_PRODUCT,  /* on a matrix unit where it is a product of two and the chip has one, else on a vector unit */
  CM_RUNS_VECTOR,   /* on a vector unit */
  CM_RUNS_HOST,     /* on a host alone: no arrays of multipliers or lanes help */
  CM_RUNS_IN_PLACE, /* there, and each element needs inputs at its own place alone: output may be written over input */
} cm_runs_kind;

/* What the elements of its outputs are. */
typedef enum cm_makes_kind {
  CM_MAKES_NEW,      /* computed */
  CM_MAKES_SAME,     /* its input, as it is */
  CM_MAKES_RESHAPED, /* its input in another shape */
  CM_MAKES_JOINED,   /* its inputs, one behind the other */
  CM_MAKES_PART,     /* parts of its input */
  CM_MAKES_PERMUTED, /* its input, with its axes in another order */
  CM_MAKES_MOVED,    /* elements of its input, put where its shapes and indices say */
} cm_makes_kind;
