/* Blocks of rows by columns stay in registers while the sums go on; slices of k keep what is read of b in the first cache. */
#include "base/product.h"

#include <string.h>

#include "base/wide.h"

enum { ROWS = 4, COLUMNS = 16, DEPTH = 256 };

/* COLUMNS of b from k on, the rows `stride` apart. */
typedef struct slice {
  const float *b;
  int64_t stride, depth;
} slice;

/* Four rows of a, whose elements are `step` apart along k: sums[row][column] go on. */
CM_WIDE_LOOP static void add_products(const float *const a[ROWS], int64_t step, const slice *b, float sums[ROWS][COLUMNS])
{
  float s0[COLUMNS], s1[COLUMNS], s2[COLUMNS], s3[COLUMNS];
  memcpy(s0, sums[0], sizeof s0);
  memcpy(s1, sums[1], sizeof s1);
  memcpy(s2, sums[2], sizeof s2);
  memcpy(s3, sums[3], sizeof s3);
  for (int64_t l = 0; l < b->depth; l++) {
    const float x0 = a[0][l * step], x1 = a[1][l * step], x2 = a[2][l * step], x3 = a[3][l * step], *row = b->b + l * b->stride;
    for (int j = 0; j < COLUMNS; j++) {
      s0[j] += x0 * row[j];
      s1[j] += x1 * row[j];
      s2[j] += x2 * row[j];
      s3[j] += x3 * row[j];
    }
  }
  memcpy(sums[0], s0, sizeof s0);
  memcpy(sums[1], s1, sizeof s1);
  memcpy(sums[2], s2, sizeof s2);
  memcpy(sums[3], s3, sizeof s3);
}

/* One row alone. */
CM_WIDE_LOOP static void add_row(const float *a, int64_t step, const slice *b, float sums[COLUMNS])
{
  float s[COLUMNS];
  memcpy(s, sums, sizeof s);
  for (int64_t l = 0; l < b->depth; l++) {
    const float x = a[l * step], *row = b->b + l * b->stride;
    for (int j = 0; j < COLUMNS; j++)
      s[j] += x * row[j];
  }
  memcpy(sums, s, sizeof s);
}

/* A slice of b that lies side by side, with zeros beyond its last column; of what few rows meet, as it is where that will do. */
static slice cut(const cm_product *p, const float *b, int64_t from, int64_t column, float packed[DEPTH * COLUMNS])
{
  const int64_t depth = p->k - from < DEPTH ? p->k - from : DEPTH, columns = p->n - column;
  if (p->m <= ROWS && columns >= COLUMNS && !p->transpose_b)
    return (slice){b + from * p->n + column, p->n, depth};
  for (int64_t l = 0; l < depth; l++)
    for (int64_t j = 0; j < COLUMNS; j++)
      packed[l * COLUMNS + j] = j >= columns     ? 0
                                : p->transpose_b ? b[(column + j) * p->k + from + l]
                                                 : b[(from + l) * p->n + column + j];
  return (slice){packed, COLUMNS, depth};
}

void cm_ordered_product(cm_product shape, const float *a, const float *b, float *c)
{
  const cm_product *p = &shape;
  const int64_t step = p->transpose_a ? p->m : 1, row_step = p->transpose_a ? 1 : p->k;
  float packed[DEPTH * COLUMNS], sums[ROWS][COLUMNS] = {{0}};
  if (!p->add && p->m * p->n > 0)
    memset(c, 0, (size_t)(p->m * p->n) * sizeof *c);
  for (int64_t column = 0; column < p->n; column += COLUMNS)
    for (int64_t from = 0; from < p->k; from += DEPTH) {
      const slice part = cut(p, b, from, column, packed);
      const size_t bytes = (size_t)(p->n - column < COLUMNS ? p->n - column : COLUMNS) * sizeof *c;
      for (int64_t row = 0; row < p->m; row += ROWS) {
        const int64_t rows = p->m - row < ROWS ? p->m - row : ROWS;
        const float *left[ROWS];
        for (int64_t i = 0; i < ROWS; i++)
          left[i] = a + (row + (i < rows ? i : 0)) * row_step + from * step;
        for (int64_t i = 0; i < rows; i++)
          memcpy(sums[i], c + (row + i) * p->n + column, bytes);
        if (rows == 1)
          add_row(left[0], step, &part, sums[0]);
        else
          add_products(left, step, &part, sums);
        for (int64_t i = 0; i < rows; i++)
          memcpy(c + (row + i) * p->n + column, sums[i], bytes);
      }
    }
}
