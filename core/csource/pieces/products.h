/* Sums of products: what convolutions and matrix products have in common. Internal to core/csource. */
#pragma once

#include "core/csource/text/writer.h"

enum { CM_C_TEXT_MAX = 2048 };

/* What is multiplied, and what becomes of the sums. */
typedef struct cm_c_product {
  const char *kernel;
  uint32_t rows, columns; /* sums that are kept; columns 0: the kernel has lines */
  char left[CM_C_AT_MAX], right[CM_C_AT_MAX], out[CM_C_AT_MAX]; /* as C */
  cm_type left_type, right_type, out_type;
  char left_zero[20], right_zero[16];       /* " - 3", or nothing; " - left_zero[0]" */
  char more[200], more_arguments[300];      /* parameters between those, and what is given for them */
  char store[300];                          /* what is stored of a sum `s` */
  char sizes[CM_C_SIZES_MAX];               /* of the kernel, by cm_c_sizes */
  char fixed[80];                           /* those that are a part of its text, as enumerators */
  bool edges;                               /* of a window: it goes beyond its image */
  bool by_column;                           /* of a product: sums of a column lie together in y, not of a row */
  const char *filter;                       /* the number of a sum's filter, as C, ... */
  int64_t filters;                          /* ... of so many */
} cm_c_product;

/* A window of two dimensions: one dimension is one line. `rank` is how many it has. */
typedef struct cm_c_plane {
  uint32_t rank;
  int64_t in[2], out[2], kernel[2], stride[2], before[2], after[2], dilation[2];
} cm_c_plane;

/* The last two dimensions of a node's window over x; kernel and ceil_mode as of cm_window_read, whose errors it has;
 * that of ConvTranspose is seen from its output, as cm_window_transposed has it. */
cm_status cm_c_plane_read(const cm_c_piece *piece, const cm_shape *x, const int64_t *kernel, bool ceil_mode, cm_c_plane *p, cm_error *error);

/* Which inputs of an operator are what; CM_NONE: there is none. */
typedef struct cm_c_factors {
  uint32_t x, w, x_zero, w_zero, x_scale, w_scale, y_scale, y_zero, bias;
} cm_c_factors;

/* Those of a piece's operator; false scales are CM_NONE. */
cm_c_factors cm_c_factors_of(const cm_c_piece *piece);

/* How weights lie, and how they are to. */
typedef enum cm_c_order {
  CM_C_TRANSPOSED, /* [group][filter][depth], to become [group][depth][filter] */
  CM_C_FILTERS,    /* [group][filter][depth], and stay so */
  CM_C_COLUMNS,    /* [group][depth][filter], and stay so */
} cm_c_order;

/* Weights in the order that a kernel reads; dims are groups, filters of one, and depth. Those that are known are written so, others brought into
 * that order when it runs. Their zero point is in right_zero, or taken off where it differs by filter. */
cm_status cm_c_weights(cm_c_piece *piece, const cm_c_factors *f, const int64_t dims[3], cm_c_order order, cm_c_product *p, cm_error *error);

/* Zero point of the left side, which may come when it runs; and what is done with sums: bias and new scale of quantized ones, the bias alone of others. p->filter and
 * p->filters are set. */
cm_status cm_c_sums(cm_c_piece *piece, const cm_c_factors *f, cm_c_product *p, cm_error *error);

/* Rows and columns for so many of either. */
void cm_c_blocks(const cm_c_piece *piece, int64_t rows, int64_t columns, cm_c_product *p);

cm_status cm_c_product_call(cm_c_piece *piece, const cm_c_product *p, cm_error *error);
