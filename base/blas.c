/* OpenBLAS, held to one thread. */
#include "base/blas.h"

#include <cblas.h>
#include <string.h>

void cm_gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
             const float *b, float beta, float *c)
{
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
  openblas_set_num_threads(1);
  cblas_sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans, transpose_b ? CblasTrans : CblasNoTrans, (int)m,
              (int)n, (int)k, alpha, a, (int)(transpose_a ? m : k), b, (int)(transpose_b ? k : n), beta, c, (int)n);
}
