/* Numbers in words of 16 bits, 15 bits each from the lowest on; the highest bit: another word follows. What stands near
 * its neighbours takes one word where plain it takes four bytes. */
#pragma once

#include <stdint.h>

enum { CM_GAP_BITS = 15, CM_GAP_MORE = 1 << CM_GAP_BITS };

/* The words that a number takes: 1 to 3. */
static inline uint32_t cm_gap_words(uint32_t gap)
{
  return gap < CM_GAP_MORE ? 1 : gap >> 2 * CM_GAP_BITS == 0 ? 2 : 3;
}

/* Writes a number; returns where the next one goes. */
static inline uint16_t *cm_gap_put(uint16_t *to, uint32_t gap)
{
  for (; gap >= CM_GAP_MORE; gap >>= CM_GAP_BITS)
    *to++ = (uint16_t)(gap | CM_GAP_MORE);
  *to++ = (uint16_t)gap;
  return to;
}

/* Reads the number at *from, which moves on to the next one. */
static inline uint32_t cm_gap_take(const uint16_t **from)
{
  uint32_t word = *(*from)++, gap = word & (CM_GAP_MORE - 1);
  for (unsigned shift = CM_GAP_BITS; __builtin_expect(word >= CM_GAP_MORE, 0); shift += CM_GAP_BITS) {
    word = *(*from)++;
    gap |= (word & (CM_GAP_MORE - 1)) << shift;
  }
  return gap;
}

/* The way from one number to another, modulo 2^32, with the short ones in either direction first. */
static inline uint32_t cm_gap_way(uint32_t from, uint32_t to)
{
  uint32_t way = to - from;
  return way << 1 ^ -(way >> 31);
}

/* Where such a way leads. */
static inline uint32_t cm_gap_go(uint32_t from, uint32_t way)
{
  return from + (way >> 1 ^ -(way & 1));
}
