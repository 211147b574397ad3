/* OpenBLAS, held to one thread; configured --without-blas, the same sums by a loop of our own, slower. */
#include "base/blas.h"

#include <string.h>

#ifndef CM_WITHOUT_BLAS
#include <cblas.h>
#endif

void cm_gemm(cm_product shape, float alpha, const float *a, const float *b, float beta, float *c)
{
  const int64_t m = shape.m, n = shape.n, k = shape.k;
  if (m == 0 || n == 0)
    return;
  if (k == 0) {
    if (beta == 0)
      memset(c, 0, (size_t)(m * n) * sizeof *c);
    else
      for (int64_t i = 0; i < m * n; i++)
        c[i] *= beta;
    return;
  }
#ifdef CM_WITHOUT_BLAS
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) {
      float sum = 0, *to = &c[i * n + j];
      for (int64_t l = 0; l < k; l++)
        sum += (shape.transpose_a ? a[l * m + i] : a[i * k + l]) * (shape.transpose_b ? b[j * k + l] : b[l * n + j]);
      *to = alpha * sum + (beta == 0 ? 0 : beta * *to);
    }
#else
  openblas_set_num_threads(1);
  cblas_sgemm(CblasRowMajor, shape.transpose_a ? CblasTrans : CblasNoTrans, shape.transpose_b ? CblasTrans : CblasNoTrans, (int)m,
              (int)n, (int)k, alpha, a, (int)(shape.transpose_a ? m : k), b, (int)(shape.transpose_b ? k : n), beta, c, (int)n);
#endif
}
