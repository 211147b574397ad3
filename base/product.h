/* Products of matrices whose sums are defined to the last bit. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The shape of a product: op(a) [m x k] times op(b) [k x n], which are transposed where asked; it is added to c where that is asked. */
typedef struct cm_product {
  int64_t m, n, k;
  bool transpose_a, transpose_b, add;
} cm_product;

/* c[m x n] = op(a)[m x k] * op(b)[k x n], row-major, in float32: each element begins at 0, or at what c holds, and adds its products in the
 * order of k, every product and every sum rounded on its own. So the numbers of a model and of a policy are the same on every machine that
 * has IEEE arithmetic, and in C that is emitted for it (core/csource). c is none of the others. O(m n k). */
void cm_ordered_product(cm_product shape, const float *a, const float *b, float *c);
