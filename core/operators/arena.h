/* Many small blocks that live and die together. */
#pragma once

#include "base/memory.h"

typedef struct cm_arena {
  cm_memory *memory;
  struct cm_arena_chunk *chunks;
} cm_arena;

void cm_arena_init(cm_arena *arena, cm_memory *memory);

/* Frees every block. */
void cm_arena_free(cm_arena *arena);

/* A zeroed block of `count` elements of `size` bytes, aligned for any type; NULL and `error` when memory is short. */
void *cm_arena_allocate(cm_arena *arena, size_t count, size_t size, cm_error *error) __attribute__((warn_unused_result));

/* A copy of a string of `length` bytes, NUL-terminated. */
char *cm_arena_text(cm_arena *arena, const char *text, size_t length, cm_error *error) __attribute__((warn_unused_result));

/* Assigns a zeroed array of the arena to `pointer`; yields CM_OK or the error's status. */
#define CM_ARENA_NEW(arena, pointer, count, error)                                                       \
  (((pointer) = cm_arena_allocate((arena), (size_t)(count), sizeof *(pointer), (error))) != NULL ? CM_OK \
                                                                                                 : (error)->status)

/* Grows an arena array so that `count` + 1 elements fit, doubling; the old block stays until the arena goes. */
cm_status cm_arena_grow(cm_arena *arena, void **block, size_t *capacity, size_t count, size_t size, cm_error *error);
