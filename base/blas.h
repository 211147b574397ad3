/* The one door to the dense algebra library. */
#ifndef CM_BASE_BLAS_H
#define CM_BASE_BLAS_H

#include <stdbool.h>
#include <stdint.h>

/* c[m x n] = alpha * op(a)[m x k] * op(b)[k x n] + beta * c, row-major, op transposes where asked. One thread, so that
 * sums are taken in one order whatever the machine. */
void cm_gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
             const float *b, float beta, float *c);

#endif
