/* Products of matrices whose sums are defined to the last bit. */
#ifndef CM_OPERATORS_PRODUCT_H
#define CM_OPERATORS_PRODUCT_H

#include "base/blas.h"

/* c[m x n] = op(a)[m x k] * op(b)[k x n], row-major, in float32: each element begins at 0 and adds its products in the order of k, every
 * product and every sum rounded on its own. So the numbers of a model are the same on every machine that has IEEE arithmetic, and in C that
 * is emitted for it (core/source). c is none of the others. O(m n k). */
void cm_ordered_product(cm_product shape, const float *a, const float *b, float *c);

#endif
