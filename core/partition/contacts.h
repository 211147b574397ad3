/* Vertices that touch another part than theirs, grouped by pairs of parts: for refinement of two parts at a time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A vertex and a part that it touches. */
typedef struct cm_contact {
  int64_t weight;     /* the method's: what ties them, or what a move there gains */
  uint32_t low, high; /* its part and that one, the lower first */
  uint32_t vertex;
  uint32_t place;     /* the method's: where it had the part among those that the vertex touches */
} cm_contact;

/* Puts contacts [count] in order of (low, high), those of a pair as they were; spare [count] and counter [parts + 1] are scratch.
 * O(count + parts). */
void cm_contacts_sort(cm_contact *contact, cm_contact *spare, uint32_t count, uint32_t *counter, uint32_t parts);

/* Whether contact i of some that are sorted is the first of its pair. */
static inline bool cm_contacts_begin_pair(const cm_contact *contact, uint32_t i)
{
  return i == 0 || contact[i].low != contact[i - 1].low || contact[i].high != contact[i - 1].high;
}
