/* A chain of chunks, each four times as large as the one before up to a limit, for many arenas hold little; a block larger than a
 * quarter of the largest gets a chunk of its own. */
#include "core/operators/arena.h"

#include <stdalign.h>
#include <string.h>

enum { FIRST_BYTES = 1 << 10, CHUNK_BYTES = 1 << 16 };

typedef struct cm_arena_chunk {
  struct cm_arena_chunk *next;
  size_t used, capacity;
  alignas(max_align_t) unsigned char bytes[];
} cm_arena_chunk;

void cm_arena_init(cm_arena *arena, cm_memory *memory)
{
  *arena = (cm_arena){.memory = memory};
}

void cm_arena_free(cm_arena *arena)
{
  while (arena->chunks != NULL) {
    cm_arena_chunk *next = arena->chunks->next;
    cm_free(arena->chunks);
    arena->chunks = next;
  }
}

/* Of the chunk that follows one, or is the first, and holds a block of so many bytes. */
static size_t capacity_of(const cm_arena_chunk *chunk, size_t bytes)
{
  if (bytes > CHUNK_BYTES / 4)
    return bytes;
  size_t capacity = chunk == NULL ? FIRST_BYTES : chunk->capacity < CHUNK_BYTES / 4 ? 4 * chunk->capacity : CHUNK_BYTES;
  while (capacity / 4 < bytes)
    capacity *= 4;
  return capacity;
}

void *cm_arena_allocate(cm_arena *arena, size_t count, size_t size, cm_error *error)
{
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) {
    (void)cm_fail(error, CM_NO_MEMORY, "%zu elements of %zu bytes exceed the address space", count, size);
    return NULL;
  }
  bytes = (bytes + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
  cm_arena_chunk *chunk = arena->chunks;
  if (chunk == NULL || chunk->capacity - chunk->used < bytes) {
    size_t capacity = capacity_of(chunk, bytes);
    cm_arena_chunk *fresh = cm_allocate(arena->memory, 1, sizeof *fresh + capacity, error);
    if (fresh == NULL)
      return NULL;
    fresh->capacity = capacity;
    /* A block with a chunk of its own goes behind the chunk that is being filled. */
    if (chunk != NULL && bytes > CHUNK_BYTES / 4) {
      fresh->next = chunk->next;
      chunk->next = fresh;
    } else {
      fresh->next = chunk;
      arena->chunks = fresh;
    }
    chunk = fresh;
  }
  void *block = chunk->bytes + chunk->used;
  chunk->used += bytes;
  return block;
}

char *cm_arena_text(cm_arena *arena, const char *text, size_t length, cm_error *error)
{
  char *copy = cm_arena_allocate(arena, length + 1, 1, error);
  if (copy != NULL && length > 0)
    memcpy(copy, text, length);
  return copy;
}

cm_status cm_arena_grow(cm_arena *arena, void **block, size_t *capacity, size_t count, size_t size, cm_error *error)
{
  if (count < *capacity)
    return CM_OK;
  size_t wanted = count < 8 ? 16 : count * 2;
  void *fresh = cm_arena_allocate(arena, wanted, size, error);
  if (fresh == NULL)
    return error->status;
  if (*capacity > 0)
    memcpy(fresh, *block, *capacity * size);
  *block = fresh;
  *capacity = wanted;
  return CM_OK;
}
