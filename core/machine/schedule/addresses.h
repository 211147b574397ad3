/* The memory of a chip over time: which buffer lies where, and since when what is free is free. Internal to core/machine.
 *
 * Buffers are laid down in the order of the sequence that needs them; a buffer may be filled once all that lay there
 * before is done with. So whatever is granted waits for earlier things alone. */
#pragma once

#include "base/memory.h"
#include "core/chip/target.h"

#define CM_NO_BUFFER UINT32_MAX

typedef struct cm_range {
  uint64_t from, to;
  double free_ns;  /* nothing is done to it from then on; of a free range */
  uint32_t buffer; /* that lies there; CM_NO_BUFFER: free */
  bool first;      /* of a memory: no buffer lies on both sides of where it begins */
} cm_range;

typedef struct cm_addresses {
  cm_range *range; /* ascending, without holes */
  uint32_t count;
  uint64_t room;
  cm_memory *memory;
} cm_addresses;

/* Neighbours [first, first + count) of the ranges. */
typedef struct cm_window {
  uint32_t first, count;
  double free_ns;
} cm_window;

/* Memories beside each other, all of them free since 0. The caller's: cm_addresses_end. Errors: memory. */
cm_status cm_addresses_begin(cm_addresses *a, const cm_core_memory *memories, uint32_t count, cm_memory *memory, cm_error *error);

/* All of it free since `free_ns`; memories stay divided. */
void cm_addresses_clear(cm_addresses *a, double free_ns);
void cm_addresses_end(cm_addresses *a);

typedef struct cm_room_wish {
  uint64_t bytes;
  double ready;
  bool high;
} cm_room_wish;

/* Free neighbours among the addresses [from, to) of one memory that hold `bytes` and are free first; of those that are free at `ready` the
 * lowest ones, or the highest. What lies there for long gathers at one end then, and what is small at the other, so that holes join. False
 * when there are none. O(ranges). */
bool cm_addresses_find(const cm_addresses *a, uint64_t from, uint64_t to, const cm_room_wish *wish, cm_window *found);

/* Lays a buffer at the low or high end of a window that was found. Errors: memory. */
cm_status cm_addresses_take(cm_addresses *a, const cm_window *window, const cm_room_wish *wish, uint32_t buffer, uint64_t *address, cm_error *error);

/* Another buffer lies from now on where one lay at `address`. */
void cm_addresses_rename(cm_addresses *a, uint64_t address, uint32_t buffer);

/* The buffer at an address is given up; what was done to it ends at `free_ns`. What is free before `past` need not be
 * told apart. */
void cm_addresses_free(cm_addresses *a, uint64_t address, double free_ns, double past);
