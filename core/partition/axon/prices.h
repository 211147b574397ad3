/* What an axon pays from the core of one part to that of another, where parts are on cores already. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The price of a way is `base` plus a term of the columns plus one of the rows; nothing inside a part. */
typedef struct cm_prices {
  uint32_t parts;
  uint32_t columns, rows;
  uint32_t base;          /* of reaching another core, however near */
  uint32_t *dx;           /* [columns * columns] symmetric, 0 on the diagonal */
  uint32_t *dy;           /* [rows * rows] */
  uint32_t *column, *row; /* [parts] of each part's core */
} cm_prices;

/* As if the parts were different, even when they are not. O(1). */
static inline uint64_t cm_price_apart(const cm_prices *prices, uint32_t a, uint32_t b)
{
  return (uint64_t)prices->base + prices->dx[(size_t)prices->column[a] * prices->columns + prices->column[b]] +
         prices->dy[(size_t)prices->row[a] * prices->rows + prices->row[b]];
}

/* From part a to part b; NULL: 1 between any two. O(1). */
static inline uint64_t cm_price(const cm_prices *prices, uint32_t a, uint32_t b)
{
  if (a == b)
    return 0;
  return prices == NULL ? 1 : cm_price_apart(prices, a, b);
}
