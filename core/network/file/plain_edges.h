/* Plain edges of a topology file: a difference, and the size and weight of the edge before. Nearly all edges of nearly all networks are,
 * with differences of one byte or two. */
#pragma once

#include <stdint.h>

/* Reads plain edges with differences of one byte or two from *bytes on, up to `most`, as long as a few more bytes than theirs follow before
 * `end`: *bytes is then behind them, *last their last vertex (before: the one that the first is ahead of), and target [most] begins with
 * their vertices. Stops in front of any other edge and of one that leads to none or beyond `highest`, which is below 2^31. Returns how many
 * it has read. */
uint64_t cm_plain_edges_take(const uint8_t **bytes, const uint8_t *end, uint64_t most, uint32_t *last, uint32_t highest, uint32_t *target);

/* The same without vector units. */
uint64_t cm_plain_edges_take_pairs(const uint8_t **bytes, const uint8_t *end, uint64_t most, uint32_t *last, uint32_t highest,
                                   uint32_t *target);
