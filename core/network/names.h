/* Numbers for names, in order of first appearance. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

typedef struct cm_names {
  cm_memory *memory;
  char *text;      /* the names, NUL-terminated one after another */
  uint64_t *first; /* [count + 1] where each starts */
  uint32_t count;
  uint64_t text_room, first_room;
  uint64_t *slot;  /* open addressing: upper half of the hash << 32 | number + 1; 0: free */
  uint64_t slot_count;
  unsigned char key[16]; /* of the hash: chosen at random, so that nobody can prepare collisions */
} cm_names;

/* Starts an empty table. */
cm_status cm_names_open(cm_names *names, cm_memory *memory, cm_error *error);

/* The number of a name, a new one for a new name. CM_TOO_LARGE past `maximum` names. O(length). */
cm_status cm_names_number(cm_names *names, const char *name, size_t length, uint32_t maximum, uint32_t *number, cm_error *error);

/* The number of a name that is there; false: it is not. O(length). */
bool cm_names_find(const cm_names *names, const char *name, size_t length, uint32_t *number);

void cm_names_close(cm_names *names);

struct cm_topology;

/* Makes a name the label of a vertex, those before it having theirs; label_first [vertex_count + 1] is there, with zeros behind. `room` is
 * of label_text. */
cm_status cm_labels_add(struct cm_topology *topology, cm_memory *memory, uint64_t *room, uint32_t vertex, const char *name, cm_error *error);

/* Makes the names the labels of vertices 0 to count - 1, unless each is its vertex's number. Takes them. */
void cm_labels_take(struct cm_topology *topology, cm_names *names);

/* Makes the names populations, number[v] being which one vertex v is of; takes *number. Names are cut to what a
 * population's may have. CM_TOO_LARGE past CM_POPULATIONS_MAX. */
cm_status cm_populations_take(struct cm_topology *topology, const cm_names *names, uint32_t **number, cm_memory *memory,
                              cm_error *error);

/* True for text without control characters that is UTF-8: what a name may be. */
bool cm_name_valid(const char *name, size_t length);
