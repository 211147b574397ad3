/* Which of its edges take a byte more nobody foresees, so none is branched on: pairs of edges out of a word, or four out of a vector, by a
 * table of what the highest bits of twelve bytes say. */
#include "core/network/file/plain_edges.h"

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "core/network/file/topology_format.h"

typedef struct plain_edge {
  uint32_t difference;
  unsigned two; /* whether it takes two bytes */
  bool right;
} plain_edge;

/* The one in the lowest bytes of a word. */
static inline plain_edge take_plain(uint64_t word)
{
  const uint32_t one = word >> 8 & 0xff, other = word >> 16 & 0xff;
  const unsigned two = one >> 7;
  const uint32_t difference = (one & 0x7f & (0u - two)) << 7 | ((one ^ ((one ^ other) & (0u - two))) & 0x7f);
  return (plain_edge){difference, two, ((word & 0xff) == CM_EDGE_DIFFERENCE) & !(two & other >> 7) & (difference != 0)};
}

uint64_t cm_plain_edges_take_pairs(const uint8_t **bytes, const uint8_t *end, uint64_t most, uint32_t *last, uint32_t highest,
                                   uint32_t *target)
{
  const uint8_t *at = *bytes;
  uint64_t n = 0, word;
  while (n + 2 <= most && end - at >= (ptrdiff_t)sizeof word) {
    memcpy(&word, at, sizeof word);
    word = le64toh(word);
    const plain_edge a = take_plain(word), b = take_plain(word >> (16 + 8 * a.two));
    if (!(a.right & b.right) || *last + a.difference + b.difference > highest)
      break;
    target[n] = *last + a.difference;
    *last = target[n + 1] = target[n] + b.difference;
    n += 2;
    at += 4 + a.two + b.two;
  }
  *bytes = at;
  return n;
}

#if defined(__x86_64__) && defined(__linux__)
#include <immintrin.h>
#include <pthread.h>

enum { EDGES = 4, PATTERNS = 1 << EDGES, BYTES_MOST = 3 * EDGES, WRONG = 0xff };

static pthread_once_t made = PTHREAD_ONCE_INIT;
static uint8_t pattern_of[1 << BYTES_MOST]; /* by the highest bits of so many bytes: which of the edges take a byte more; WRONG: none may */
static uint8_t bytes_of[PATTERNS];
static uint8_t place_of[PATTERNS][16]; /* of each edge's lowest byte, its higher one (0x80: none), its flags, and none */

static void make(void)
{
  memset(pattern_of, WRONG, sizeof pattern_of);
  for (unsigned pattern = 0; pattern < PATTERNS; pattern++) {
    unsigned at = 0, bits = 0;
    for (unsigned i = 0; i < EDGES; i++) {
      const unsigned two = pattern >> i & 1;
      uint8_t *place = &place_of[pattern][4 * i];
      place[0] = (uint8_t)(at + 1 + two);
      place[1] = two ? (uint8_t)(at + 1) : 0x80;
      place[2] = (uint8_t)at;
      place[3] = 0x80;
      bits |= two << (at + 1);
      at += 2 + two;
    }
    bytes_of[pattern] = (uint8_t)at;
    for (unsigned behind = 0; behind < 1u << (BYTES_MOST - at); behind++)
      pattern_of[bits | behind << at] = (uint8_t)pattern;
  }
}

__attribute__((target("ssse3"))) static uint64_t take_fours(const uint8_t **bytes, const uint8_t *end, uint64_t most, uint32_t *last,
                                                            uint32_t highest, uint32_t *target)
{
  const __m128i low = _mm_set1_epi32(0x7f), high = _mm_set1_epi32(0x3f80), plain = _mm_set1_epi32(CM_EDGE_DIFFERENCE);
  const uint8_t *at = *bytes;
  uint64_t n = 0;
  __m128i before = _mm_set1_epi32((int)*last);
  while (n + EDGES <= most && end - at >= (ptrdiff_t)sizeof(__m128i)) {
    const __m128i block = _mm_loadu_si128((const __m128i *)at);
    const uint8_t pattern = pattern_of[_mm_movemask_epi8(block) & ((1 << BYTES_MOST) - 1)];
    if (pattern == WRONG)
      break;
    const __m128i edge = _mm_shuffle_epi8(block, _mm_loadu_si128((const __m128i *)place_of[pattern]));
    const __m128i difference = _mm_or_si128(_mm_and_si128(edge, low), _mm_and_si128(_mm_srli_epi32(edge, 1), high));
    const __m128i right = _mm_andnot_si128(_mm_cmpeq_epi32(difference, _mm_setzero_si128()), _mm_cmpeq_epi32(_mm_srli_epi32(edge, 16), plain));
    __m128i sum = _mm_add_epi32(difference, _mm_slli_si128(difference, 4));
    sum = _mm_add_epi32(_mm_add_epi32(sum, _mm_slli_si128(sum, 8)), before);
    const __m128i reached = _mm_shuffle_epi32(sum, 0xff);
    if (_mm_movemask_epi8(right) != 0xffff || (uint32_t)_mm_cvtsi128_si32(reached) > highest)
      break;
    _mm_storeu_si128((__m128i *)(target + n), sum);
    before = reached;
    n += EDGES;
    at += bytes_of[pattern];
  }
  *last = (uint32_t)_mm_cvtsi128_si32(before);
  *bytes = at;
  return n;
}

uint64_t cm_plain_edges_take(const uint8_t **bytes, const uint8_t *end, uint64_t most, uint32_t *last, uint32_t highest, uint32_t *target)
{
  uint64_t n = 0;
  if (__builtin_cpu_supports("ssse3") && pthread_once(&made, make) == 0)
    n = take_fours(bytes, end, most, last, highest, target);
  return n + cm_plain_edges_take_pairs(bytes, end, most - n, last, highest, target + n);
}

#else

uint64_t cm_plain_edges_take(const uint8_t **bytes, const uint8_t *end, uint64_t most, uint32_t *last, uint32_t highest, uint32_t *target)
{
  return cm_plain_edges_take_pairs(bytes, end, most, last, highest, target);
}

#endif
