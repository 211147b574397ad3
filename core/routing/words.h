/* Ways out of a router as numbers, on interconnects: which of its links a packet takes, and to which cores behind it. Equal sets
 * have equal numbers, wherever they are. */
#pragma once

#include "base/memory.h"

typedef struct cm_word {
  uint64_t cores;          /* bit: core behind the router */
  uint32_t first, count;   /* of its links in cm_words.link */
  uint32_t next;           /* word of the same bucket, plus 1 */
} cm_word;

typedef struct cm_words {
  cm_memory *memory;
  cm_word *word;
  uint64_t count, room;
  uint32_t *link;          /* numbers from the router's first link, ascending */
  uint64_t links, link_room;
  uint32_t *bucket;        /* [buckets] word plus 1; a power of two */
  uint32_t buckets;
} cm_words;

cm_status cm_words_new(cm_memory *memory, cm_words **words, cm_error *error);
void cm_words_free(cm_words *words); /* NULL is allowed */

/* The number of a set; `link` ascends. O(count). Errors: memory. */
cm_status cm_words_number(cm_words *words, uint64_t cores, const uint32_t *link, uint32_t count, uint64_t *number, cm_error *error);
