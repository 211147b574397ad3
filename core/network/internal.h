/* What the files of this room share and nobody else needs. */
#ifndef CM_NETWORK_INTERNAL_H
#define CM_NETWORK_INTERNAL_H

#include <stddef.h>

#include "core/network/import.h"
#include "core/network/formats/source.h"

/* How many rows a loop without input handles between two looks at the run's cancel flag. */
enum { CM_CHECK_EVERY = 1 << 14 };

/* Weights, once scaled, add up to at most this: half of what a double holds exactly, and far from 64 bits. */
#define CM_WEIGHT_SUM_MAX (UINT64_C(1) << 50)
#define CM_WEIGHT_SCALE_MAX (UINT64_C(1) << 30)

/* Below this many plain bytes a ratio of compression says nothing about an attack. */
#define CM_RATIO_FROM_BYTES (UINT64_C(1) << 20)

/* The value of an option for reading this source; NULL: not given. */
const char *cm_source_option(const cm_source *source, cm_read_option_id id);
bool cm_source_drops_zeros(const cm_source *source);

/* Whether bytes begin like a list of pairs as Python prints it: "[(" or "[[". */
bool cm_is_tuple_list(const uint8_t *bytes, size_t size);

/* ---- rows ---- */

/* Scratch memory for sorting the pins of one net after another. Zero it before use. */
typedef struct cm_row_sorter {
  cm_memory *memory;
  uint64_t *bits; /* one per vertex */
  uint64_t bits_room;
  uint64_t *key; /* the row as vertex << 32 | position, twice */
  uint64_t key_room;
} cm_row_sorter;

void cm_row_sorter_free(cm_row_sorter *sorter);

/* Sorts `count` pins and drops repeats; *kept is the number that stays. O(count) for most rows. */
cm_status cm_row_sort(cm_row_sorter *sorter, uint32_t *pin, uint64_t count, uint64_t *kept, cm_error *error);

/* The same order as positions: fills *key with vertex << 32 | position in the row, sorted; valid until the
 * next call. The caller moves its weights along. */
cm_status cm_row_order(cm_row_sorter *sorter, const uint32_t *pin, uint64_t count, const uint64_t **key,
                       cm_error *error);

/* True when the pins ascend without repeats. */
bool cm_row_ascends(const uint32_t *pin, uint64_t count);

/* ---- numbers on lines ---- */

typedef struct cm_tokens {
  cm_source *source;
  const char *format; /* for messages: "METIS graph" */
  uint64_t line;      /* under the cursor, from 1 */
} cm_tokens;

/* CM_BAD_NETWORK with format and line. */
cm_status cm_tokens_bad(const cm_tokens *t, uint64_t line, const char *what, cm_error *error);

/* The next byte without taking it; -1 at the end. */
cm_status cm_tokens_peek(cm_tokens *t, int *c, cm_error *error);

/* The next number of the line; *found is false at the end of the line, which is not taken. The second reads any
 * finite number. */
cm_status cm_tokens_number(cm_tokens *t, const char *what, bool *found, uint64_t *value, cm_error *error);
cm_status cm_tokens_real(cm_tokens *t, const char *what, bool *found, double *value, cm_error *error);

/* Takes the line feed that cm_tokens_number stopped at. */
void cm_tokens_end_line(cm_tokens *t);

/* Takes the rest of the line; its first size - 1 bytes go to `text`. */
cm_status cm_tokens_line(cm_tokens *t, char *text, size_t size, cm_error *error);

/* Takes a comment line; "% weight_scale N" of our own exports sets *scale. */
cm_status cm_tokens_skip_comment(cm_tokens *t, uint64_t *scale, cm_error *error);

/* Goes to the next line that is neither blank nor a comment (see cm_tokens_skip_comment); *end at the end of the
 * file. */
cm_status cm_tokens_next_line(cm_tokens *t, uint64_t *scale, bool *end, cm_error *error);

/* ---- weights ---- */

/* The scale for weights of the largest value `maximum` that must fit `value_max` and whose sum is `sum`:
 * 1 when all are whole numbers that fit, else the largest power of two that fits. CM_TOO_LARGE when even 1
 * does not. */
cm_status cm_weight_scale(double sum, double maximum, double value_max, bool whole, uint64_t *scale,
                          cm_error *error);

/* value * scale, rounded to nearest. */
static inline uint64_t cm_weight_scaled(double value, uint64_t scale)
{
  return (uint64_t)(value * (double)scale + 0.5);
}

/* Weights of entries as they are read. */
typedef struct cm_weights {
  double *value;    /* with their signs; NULL: 1 each so far */
  double *delay_ms; /* NULL: none is known so far; 0: not of this one */
  uint64_t room, delay_room;
  bool fractions;   /* some are no whole numbers */
  bool drop_zeros;  /* entries of weight 0, once repeats have been merged, are no synapses */
} cm_weights;

/* Keeps the weight of entry `count`, the entries before it having theirs; `room` entries are made room for. */
cm_status cm_weights_keep(cm_weights *weights, cm_memory *memory, uint64_t count, uint64_t room, double weight,
                          cm_error *error);

/* Keeps the delay of entry `count`, 0 or more milliseconds, the entries before it having none unless they were given
 * one. */
cm_status cm_weights_keep_delay(cm_weights *weights, cm_memory *memory, uint64_t count, uint64_t room, double delay_ms,
                                cm_error *error);

/* Frees the arrays. */
void cm_weights_free(cm_weights *weights);

/* Closes rows: made has `directed`, vertex_count, net_first [vertex_count + 1] with one row a vertex, and `pin`;
 * weights lie as the pins do. Sorts every row, merges repeats (their weights add up, the shortest delay stays), leaves
 * out empty rows of directed networks, and counts nets, pins, repeats, self loops and zeros. O(pins). */
cm_status cm_weighted_rows_close(cm_topology *made, cm_weights *weights, cm_run *run, cm_error *error);

/* Makes weights whole numbers on the largest scale that fits: weight_scale, net_weight, pin_weight (none where all
 * are 1), pin_negative, weight_exponent (where all are so small that the scale would lose their digits), pin_delay.
 * CM_TOO_LARGE: weights or delays do not fit. */
cm_status cm_weighted_rows_scale(cm_topology *made, const cm_weights *weights, cm_run *run, cm_error *error);

/* ---- edges in any order ---- */

/* Edges as they are read: 8 bytes each, 8 more with weights, 8 more with delays. Zero it and set the first three. */
typedef struct cm_entries {
  cm_memory *memory;
  cm_run *run;
  uint64_t limit; /* of edges */
  uint32_t *from, *to;
  uint64_t count, from_room, to_room;
  cm_weights weight;
} cm_entries;

/* Adds an edge. `delay_ms` below 0: not known. CM_TOO_LARGE past the limit. */
cm_status cm_entries_add(cm_entries *entries, uint32_t from, uint32_t to, double weight, double delay_ms,
                         cm_error *error);

/* Makes the rows of `made`, whose `directed` and vertex_count are set (undirected: every edge has been added both ways):
 * groups the edges by source in place, then closes and scales the rows. Takes the edges. O(edges log(edges per source)). */
cm_status cm_entries_close(cm_entries *entries, cm_topology *made, cm_error *error);

void cm_entries_free(cm_entries *entries);

/* ---- topologies ---- */

/* The first place where an undirected topology is not symmetric: the edge from -> to stands in row `from`
 * with `weight` but is missing in row `to` (`missing`) or has `other_weight` there. */
typedef struct cm_asymmetry {
  bool found, missing;
  uint32_t from, to;
  uint64_t weight, other_weight;
} cm_asymmetry;

/* Looks for it in rows that are sorted and free of repeats. O(pins) and 8 bytes a vertex; `run` may be NULL. */
cm_status cm_topology_asymmetry(const cm_topology *topology, cm_memory *memory, cm_run *run,
                                cm_asymmetry *asymmetry, cm_error *error);

/* The readers: each makes a topology of a source that is of its format, or says what is wrong. */
#define FORMAT(number, reader, ...) \
  cm_status reader(cm_source *source, const cm_import_limits *limits, cm_run *run, cm_topology **topology, cm_error *error);
#include "core/network/formats/formats.def"
#undef FORMAT

/* cm_import_as on bytes in memory. */
cm_status cm_import_memory(const void *bytes, size_t size, const cm_import_hint *hint, const cm_import_limits *limits,
                           cm_run *run, cm_topology **topology, cm_import_report *report, cm_error *error);

/* CM_TOO_LARGE with both figures when a count exceeds its limit. */
cm_status cm_over_limit(const char *what, uint64_t count, uint64_t limit, cm_error *error);

#endif
