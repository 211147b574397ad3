/* Ascending numbers in few bits (Elias 1974; Fano 1971): of each the low bits as they are, and what is above them as ones in a row of
 * bits, where the zeros before a one count it. Of c numbers below r, log2(r / c) + 2 bits each, about. */
#pragma once

#include <endian.h>
#include <stdint.h>
#include <string.h>

/* What is read beyond the end of lists, at most: memory that they stand in goes on so far. */
enum { CM_LIST_BEYOND = 8 };

/* The bits that a number takes. */
static inline uint32_t cm_list_bits(uint32_t number)
{
  return number > 0 ? 32 - (uint32_t)__builtin_clz(number) : 0;
}

/* The low bits of each of `count` numbers below `range`: log2(range / count), rounded down. */
static inline uint32_t cm_list_width(uint32_t count, uint32_t range)
{
  uint32_t of_all = cm_list_bits(range), of_count = cm_list_bits(count), width = of_all > of_count ? of_all - of_count : 0;
  return width - (width > 0 && (uint64_t)count << width > range);
}

static inline uint64_t cm_list_low_bytes(uint32_t count, uint32_t width)
{
  return ((uint64_t)count * width + 7) / 8;
}

static inline uint64_t cm_list_bytes(uint32_t count, uint32_t range)
{
  uint32_t width = cm_list_width(count, range);
  return count > 0 ? cm_list_low_bytes(count, width) + ((uint64_t)count + (range >> width) + 7) / 8 : 0;
}

static inline uint64_t cm_list_word(const unsigned char *at)
{
  uint64_t word;
  memcpy(&word, at, sizeof word);
  return le64toh(word);
}

/* Writes the `width` low bits of a number, at most 31, from bit `at` on; those there are 0, as is what is read beyond. */
static inline void cm_list_put_low(unsigned char *code, uint64_t at, uint32_t width, uint32_t number)
{
  uint64_t word = htole64(cm_list_word(code + at / 8) | (number & ((UINT64_C(1) << width) - 1)) << at % 8);
  memcpy(code + at / 8, &word, sizeof word);
}

/* Where the next number of a list goes: bits of what all lists stand in. */
typedef struct cm_list_end {
  uint64_t low, one; /* one: of a number that is its low bits alone */
  uint32_t width;
} cm_list_end;

/* Of a list of `count` numbers that begins in byte `begin`. */
static inline cm_list_end cm_list_begin(uint64_t begin, uint32_t count, uint32_t range)
{
  uint32_t width = cm_list_width(count, range);
  return (cm_list_end){.low = 8 * begin, .one = 8 * (begin + cm_list_low_bytes(count, width)), .width = width};
}

static inline void cm_list_put(unsigned char *code, cm_list_end *end, uint32_t number)
{
  uint64_t one = end->one++ + (number >> end->width);
  cm_list_put_low(code, end->low, end->width, number);
  end->low += end->width;
  code[one / 8] |= (unsigned char)(1 << one % 8);
}

/* What is still to come of a list. */
typedef struct cm_list {
  const unsigned char *low, *high;
  uint64_t bit;                  /* of the next one's, from `low` on */
  uint64_t word;                 /* ones that were not counted yet, of the word before `high` */
  uint32_t width, mask;          /* of low bits */
  uint32_t zeros;                /* before that word, less the ones that were counted in it, modulo 2^32 */
} cm_list;

/* A list of numbers that are their low bits alone, in any order. */
static inline cm_list cm_list_plain(const unsigned char *code, uint32_t width)
{
  return (cm_list){.low = code, .width = width, .mask = (UINT32_C(1) << width) - 1};
}

static inline cm_list cm_list_of(const unsigned char *code, uint32_t count, uint32_t range)
{
  uint32_t width = cm_list_width(count, range);
  cm_list list = cm_list_plain(code, width);
  list.high = code + cm_list_low_bytes(count, width);
  list.zeros = -64U;
  return list;
}

/* The next number of a plain list. While any is left. */
static inline uint32_t cm_list_next_low(cm_list *l)
{
  uint32_t low = (uint32_t)(cm_list_word(l->low + l->bit / 8) >> l->bit % 8) & l->mask;
  l->bit += l->width;
  return low;
}

/* The next number. While any is left. */
static inline uint32_t cm_list_next(cm_list *l)
{
  while (__builtin_expect(l->word == 0, 0)) {
    l->word = cm_list_word(l->high);
    l->high += sizeof l->word;
    l->zeros += 64;
  }
  uint32_t high = l->zeros-- + (uint32_t)__builtin_ctzll(l->word);
  l->word &= l->word - 1;
  return high << l->width | cm_list_next_low(l);
}
