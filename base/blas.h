/* The one door to the dense algebra library. */
#ifndef CM_BASE_BLAS_H
#define CM_BASE_BLAS_H

#include <stdbool.h>
#include <stdint.h>

/* The shape of a product: op(a) [m x k] times op(b) [k x n], which are transposed where asked. */
typedef struct cm_product {
  int64_t m, n, k;
  bool transpose_a, transpose_b;
} cm_product;

/* c[m x n] = alpha * op(a)[m x k] * op(b)[k x n] + beta * c, row-major. One thread, so that sums are taken in one
 * order whatever the machine. */
void cm_gemm(cm_product shape, float alpha, const float *a, const float *b, float beta, float *c);

#endif
