/* Accounted memory: every large array of a job comes from one account, so that its
 * peak is known, its limit holds, and faults can be injected in one place. Where the account has a scratch folder,
 * large arrays that its limit leaves no room for stand in files there (scratch.h); results never depend on which do. */
#pragma once

#include <stdatomic.h>

#include "base/status.h"

typedef struct cm_memory {
  atomic_uint_fast64_t used_bytes;
  atomic_uint_fast64_t peak_bytes;
  uint64_t limit_bytes; /* 0: no limit */
  const char *scratch_folder; /* for large arrays that do not fit the limit; NULL: those are refused */
  atomic_uint_fast64_t scratch_bytes, scratch_peak; /* of arrays that are in files, not in used_bytes */
} cm_memory;

/* Starts an empty account with a limit in bytes (0: none) and without a scratch folder. */
void cm_memory_init(cm_memory *memory, uint64_t limit_bytes);

/* For a program's beginning: what large arrays took goes back to the system when they are freed. Else the C library keeps it from the
 * first of them on, and a process holds more than its accounts say. */
void cm_memory_return_freed(void);

/* The highest use since the last call, which also restarts the peak at the present use. */
uint64_t cm_memory_take_peak(cm_memory *memory);

/* Allocates `count` zeroed elements of `size` bytes on the account (NULL account: not counted).
 * A count of 0 gives a valid pointer. The caller frees with cm_free; the account must outlive the block.
 * Returns NULL and fills `error` with CM_NO_MEMORY or CM_MEMORY_LIMIT (figure "needed_bytes"). */
void *cm_allocate(cm_memory *memory, size_t count, size_t size, cm_error *error)
    __attribute__((malloc, warn_unused_result));

/* The failure CM_MEMORY_LIMIT with its figures memory_limit and needed_bytes: `what` the limit is too small for. */
cm_status cm_fail_memory_limit(uint64_t limit_bytes, uint64_t needed_bytes, const char *what, cm_error *error);

/* As cm_allocate, for an array of which little may be used: address space only, nothing on the account until
 * cm_book_reserved. */
void *cm_reserve(cm_memory *memory, size_t count, size_t size, cm_error *error)
    __attribute__((malloc, warn_unused_result));

/* Books bytes of a reserved block that come into use; safe from any thread. With an error slot it may refuse with
 * CM_MEMORY_LIMIT; without one it books all the same. */
cm_status cm_book_reserved(void *block, size_t bytes, cm_error *error);

/* Gives what an array of cm_allocate holds beyond its first `used` bytes back to the system and to the account. What stood
 * there is lost; the array stays where it is, and may be written to its end again after cm_book_reserved. Returns the bytes
 * taken off the account; 0 of an array in a file, of which nothing is lost. O(pages). */
size_t cm_release_tail(void *block, size_t used);

/* Grows or shrinks a block of cm_allocate in place or by moving; new bytes are not zeroed. On failure the
 * old block stays valid and NULL is returned. `block` may be NULL. */
void *cm_reallocate(cm_memory *memory, void *block, size_t count, size_t size, cm_error *error)
    __attribute__((warn_unused_result));

/* Makes `*block` hold at least `needed` elements of `size` bytes, growing by half so that the cost stays linear; new ones
 * are not zeroed. */
cm_status cm_grow(cm_memory *memory, void **block, uint64_t *room, uint64_t needed, size_t size, cm_error *error);

/* cm_grow for a typed array; yields the status. */
#define CM_ROOM(memory, array, room, needed, error) \
  ((uint64_t)(needed) <= *(room)                    \
       ? CM_OK                                      \
       : cm_grow((memory), (void **)&(array), (room), (uint64_t)(needed), sizeof *(array), (error)))

/* Gives back what an array of cm_grow does not use; keeps the block when that fails. */
void cm_trim(cm_memory *memory, void **block, uint64_t used, size_t size);
#define CM_TRIM(memory, array, used) cm_trim((memory), (void **)&(array), (uint64_t)(used), sizeof *(array))

/* Whether an array of cm_allocate stands in a file. */
bool cm_in_file(const void *block);

/* Copies `bytes` bytes from byte `offset` of an array of cm_allocate. One in a file is read without being mapped: for
 * looks here and there, of which each would map more than it needs. Errors: CM_IO. */
cm_status cm_peek(const void *block, uint64_t offset, size_t bytes, void *into, cm_error *error);

/* Frees a block of cm_allocate and takes it off its account; NULL is allowed. */
void cm_free(void *block);

/* The same of several blocks. */
void cm_free_blocks(void *const *block, size_t count);
#define CM_FREE(...) cm_free_blocks((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))

/* Gives the whole pages among these bytes of an array back to the system; what stood there is lost. The array stays on its account. */
void cm_memory_give_back(const void *from, size_t bytes);

/* For what others free: `*block` becomes `count` zeroed elements of the C library's heap, freed with free(). CM_NO_MEMORY says that
 * it was for `what`. */
cm_status cm_heap_new(void **block, size_t count, size_t size, const char *what, cm_error *error);

/* cm_heap_new for a typed pointer; yields the status. */
#define CM_HEAP(pointer, count, what, error)                                                                                     \
  (cm_heap_new((void **)&(pointer), (size_t)(count), sizeof *(pointer), (what), (error)))

/* Makes `*block`, of the same heap, hold at least `needed` elements, growing by half; new ones are zeroed. */
cm_status cm_heap_grow(void **block, size_t *capacity, size_t needed, size_t size, const char *what, cm_error *error);
#define CM_HEAP_GROW(array, capacity, needed, what, error)                                                                       \
  (cm_heap_grow((void **)&(array), (capacity), (size_t)(needed), sizeof *(array), (what), (error)))

/* CM_OK where all of it could be made, else CM_NO_MEMORY: "out of memory for WHAT". */
cm_status cm_whole(bool whole, const char *what, cm_error *error);

/* The mark after `mark`, which no element of stamp [count] carries: where numbers wrap around, the stamps are zeroed. */
uint32_t cm_next_mark(uint32_t mark, uint32_t *stamp, size_t count);

/* Fault injection for tests: the Nth allocation from now on fails (0: never). */
void cm_memory_fail_at(uint64_t countdown);

/* True when the countdown of cm_memory_fail_at has fired since it was set. */
int cm_memory_fault_fired(void);

/* Assigns a new zeroed array to `pointer` and yields CM_OK, or yields the error's status. */
#define CM_NEW(memory, pointer, count, error)                                          \
  (((pointer) = cm_allocate((memory), (size_t)(count), sizeof *(pointer), (error))) != NULL \
       ? CM_OK                                                                         \
       : (error)->status)

/* The same of several, in their order, up to the first that cannot be had: CM_NEW_ALL(memory, error, CM_ARRAY(pointer, count), ...). */
typedef struct cm_wanted_array {
  void *pointer; /* of the array's pointer */
  size_t count, size;
} cm_wanted_array;
cm_status cm_allocate_all(cm_memory *memory, const cm_wanted_array *arrays, size_t count, cm_error *error);
#define CM_ARRAY(pointer, count) {&(pointer), (size_t)(count), sizeof *(pointer)}
#define CM_NEW_ALL(memory, error, ...) \
  cm_allocate_all((memory), (cm_wanted_array[]){__VA_ARGS__}, sizeof((cm_wanted_array[]){__VA_ARGS__}) / sizeof(cm_wanted_array), (error))
