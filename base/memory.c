#include "base/memory.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/scratch.h"

/* An array of this share of the limit is large, and goes to a file when memory would be this full with it. Any other of
 * at least so many bytes goes there before it is refused. */
enum { LARGE = 32, FULL = 2, FILE_MIN = 4096 };

/* Arrays of so many bytes have pages of their own. */
enum { APART = 1 << 22 };

/* Stands before every block; keeps the block aligned for any type. */
typedef struct header {
  _Alignas(max_align_t) cm_memory *memory;
  atomic_size_t bytes;  /* on the account */
  cm_scratch *scratch;  /* the file that it stands in, with all its bytes; NULL: in memory */
  size_t scratch_bytes;
} header;

static atomic_uint_fast64_t fail_countdown;
static atomic_int fault_fired;

void cm_memory_init(cm_memory *memory, uint64_t limit_bytes)
{
  atomic_init(&memory->used_bytes, 0);
  atomic_init(&memory->peak_bytes, 0);
  memory->limit_bytes = limit_bytes;
  memory->scratch_folder = NULL;
  atomic_init(&memory->scratch_bytes, 0);
  atomic_init(&memory->scratch_peak, 0);
}

void cm_memory_return_freed(void)
{
  (void)mallopt(M_MMAP_THRESHOLD, APART);
}

uint64_t cm_memory_take_peak(cm_memory *memory)
{
  return atomic_exchange(&memory->peak_bytes, atomic_load(&memory->used_bytes));
}

void cm_memory_fail_at(uint64_t countdown)
{
  atomic_store(&fault_fired, 0);
  atomic_store(&fail_countdown, countdown);
}

int cm_memory_fault_fired(void)
{
  return atomic_load(&fault_fired);
}

static int fault_due(void)
{
  if (atomic_load_explicit(&fail_countdown, memory_order_relaxed) == 0)
    return 0;
  if (atomic_fetch_sub(&fail_countdown, 1) != 1)
    return 0;
  atomic_store(&fault_fired, 1);
  return 1;
}

cm_status cm_fail_memory_limit(uint64_t limit_bytes, uint64_t needed_bytes, const char *what, cm_error *error)
{
  cm_fail(error, CM_MEMORY_LIMIT, "the memory limit of %llu bytes is too small for %s: at least %llu bytes are needed",
          (unsigned long long)limit_bytes, what, (unsigned long long)needed_bytes);
  cm_error_figure(error, "memory_limit", limit_bytes);
  cm_error_figure(error, "needed_bytes", needed_bytes);
  return CM_MEMORY_LIMIT;
}

static void note_peak(atomic_uint_fast64_t *peak, uint64_t value)
{
  uint64_t before = atomic_load(peak);
  while (value > before && !atomic_compare_exchange_weak(peak, &before, value))
    ;
}

/* Books `bytes` more on the account; without an error slot also beyond its limit. */
static cm_status book(cm_memory *memory, uint64_t bytes, cm_error *error)
{
  if (memory == NULL || bytes == 0)
    return CM_OK;
  uint64_t used = atomic_fetch_add(&memory->used_bytes, bytes) + bytes;
  if (error != NULL && memory->limit_bytes != 0 && used > memory->limit_bytes) {
    atomic_fetch_sub(&memory->used_bytes, bytes);
    return cm_fail_memory_limit(memory->limit_bytes, used, "what is done at this point", error);
  }
  note_peak(&memory->peak_bytes, used);
  return CM_OK;
}

static void unbook(cm_memory *memory, uint64_t bytes)
{
  if (memory != NULL)
    atomic_fetch_sub(&memory->used_bytes, bytes);
}

static cm_status block_bytes(size_t count, size_t size, size_t *bytes, cm_error *error)
{
  if (__builtin_mul_overflow(count, size, bytes) || __builtin_add_overflow(*bytes, sizeof(header), bytes))
    return cm_fail(error, CM_NO_MEMORY, "an array of %zu elements of %zu bytes exceeds the address space",
                   count, size);
  return CM_OK;
}

static cm_status out_of_memory(size_t bytes, cm_error *error)
{
  return cm_fail(error, CM_NO_MEMORY, "out of memory: %zu bytes more were refused", bytes);
}

/* ---- arrays in files ---- */

static bool may_go_to_file(const cm_memory *memory, size_t bytes)
{
  return memory != NULL && memory->limit_bytes != 0 && memory->scratch_folder != NULL && bytes >= FILE_MIN;
}

static bool goes_to_file(const cm_memory *memory, size_t bytes)
{
  return may_go_to_file(memory, bytes) && bytes >= memory->limit_bytes / LARGE &&
         atomic_load(&memory->used_bytes) + bytes > memory->limit_bytes / FULL;
}

/* Files are counted, but are not on the account. */
static void count_file(header *block, size_t bytes)
{
  cm_memory *memory = block->memory;
  uint64_t all = atomic_fetch_add(&memory->scratch_bytes, bytes - block->scratch_bytes) + bytes - block->scratch_bytes;
  block->scratch_bytes = bytes;
  note_peak(&memory->scratch_peak, all);
}

static void *new_file(cm_memory *memory, size_t bytes, cm_error *error)
{
  cm_scratch *scratch;
  if (cm_scratch_new(memory, bytes, &scratch, error) != CM_OK)
    return NULL;
  header *block = cm_scratch_block(scratch);
  block->memory = memory;
  block->scratch = scratch;
  count_file(block, bytes);
  return block + 1;
}

static void *resize_file(header *block, size_t bytes, cm_error *error)
{
  cm_scratch *scratch = block->scratch;
  if (cm_scratch_resize(scratch, bytes, error) != CM_OK)
    return NULL;
  block = cm_scratch_block(scratch);
  count_file(block, bytes);
  return block + 1;
}

/* ---- arrays ---- */

/* A block of which `booked` bytes are on the account. */
static void *new_block(cm_memory *memory, size_t bytes, size_t booked, cm_error *error)
{
  bool to_file = goes_to_file(memory, bytes);
  if (!to_file && book(memory, booked, error) != CM_OK) {
    if (!may_go_to_file(memory, bytes))
      return NULL;
    to_file = true;
  }
  if (to_file) {
    if (!fault_due())
      return new_file(memory, bytes, error);
    out_of_memory(bytes, error);
    return NULL;
  }
  header *block = fault_due() ? NULL : calloc(1, bytes);
  if (block == NULL) {
    unbook(memory, booked);
    out_of_memory(bytes, error);
    return NULL;
  }
  block->memory = memory;
  block->bytes = booked;
  return block + 1;
}

/* A block of another place or account becomes a new one with the same bytes, as many as there is room for. */
static void *move_block(cm_memory *memory, header *before, size_t bytes, cm_error *error)
{
  size_t held = before->scratch != NULL ? before->scratch_bytes : before->bytes;
  void *made = new_block(memory, bytes, bytes, error);
  if (made == NULL)
    return NULL;
  memcpy(made, before + 1, (held < bytes ? held : bytes) - sizeof(header));
  cm_free(before + 1);
  return made;
}

void *cm_allocate(cm_memory *memory, size_t count, size_t size, cm_error *error)
{
  size_t bytes;
  return block_bytes(count, size, &bytes, error) == CM_OK ? new_block(memory, bytes, bytes, error) : NULL;
}

cm_status cm_allocate_all(cm_memory *memory, const cm_wanted_array *arrays, size_t count, cm_error *error)
{
  for (size_t i = 0; i < count; i++) {
    void *block = cm_allocate(memory, arrays[i].count, arrays[i].size, error);
    memcpy(arrays[i].pointer, &block, sizeof block);
    if (block == NULL)
      return error->status;
  }
  return CM_OK;
}

void *cm_reserve(cm_memory *memory, size_t count, size_t size, cm_error *error)
{
  size_t bytes;
  if (block_bytes(count, size, &bytes, error) != CM_OK)
    return NULL;
  return new_block(memory, bytes, sizeof(header), error);
}

cm_status cm_book_reserved(void *block, size_t bytes, cm_error *error)
{
  header *before = (header *)block - 1;
  if (before->scratch != NULL)
    return CM_OK;
  CM_TRY(book(before->memory, bytes, error));
  atomic_fetch_add(&before->bytes, bytes);
  return CM_OK;
}

size_t cm_release_tail(void *block, size_t used)
{
  header *before = (header *)block - 1;
  if (before->scratch != NULL)
    return 0;
  size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = before->bytes - sizeof(header), released = bytes - used;
  char *begin = (char *)block + used, *end = (char *)block + bytes;
  begin += (page - (uintptr_t)begin % page) % page;
  end -= (uintptr_t)end % page;
  if (begin < end)
    (void)madvise(begin, (size_t)(end - begin), MADV_DONTNEED);
  unbook(before->memory, released);
  atomic_fetch_sub(&before->bytes, released);
  return released;
}

void *cm_reallocate(cm_memory *memory, void *old, size_t count, size_t size, cm_error *error)
{
  if (old == NULL)
    return cm_allocate(memory, count, size, error);
  header *before = (header *)old - 1;
  size_t old_bytes = before->bytes, bytes;
  if (block_bytes(count, size, &bytes, error) != CM_OK)
    return NULL;
  if (before->scratch != NULL && before->memory == memory)
    return resize_file(before, bytes, error);
  if (before->scratch != NULL || (bytes > old_bytes && goes_to_file(memory, bytes)))
    return move_block(memory, before, bytes, error);
  /* Large blocks grow in place or move by their page tables: both never stand in memory at once. */
  uint64_t more = before->memory != memory ? bytes : bytes > old_bytes ? bytes - old_bytes : 0;
  if (book(memory, more, error) != CM_OK)
    return may_go_to_file(memory, bytes) ? move_block(memory, before, bytes, error) : NULL;
  header *block = fault_due() ? NULL : realloc(before, bytes);
  if (block == NULL) {
    unbook(memory, more);
    out_of_memory(bytes, error);
    return NULL;
  }
  unbook(block->memory, block->memory != memory ? old_bytes : old_bytes > bytes ? old_bytes - bytes : 0);
  block->memory = memory;
  block->bytes = bytes;
  return block + 1;
}

cm_status cm_grow(cm_memory *memory, void **block, uint64_t *room, uint64_t needed, size_t size, cm_error *error)
{
  uint64_t wanted = *room + *room / 2 + 64;
  if (wanted < needed)
    wanted = needed;
  void *larger = cm_reallocate(memory, *block, wanted, size, error);
  if (larger == NULL)
    return error->status;
  *block = larger;
  *room = wanted;
  return CM_OK;
}

void cm_trim(cm_memory *memory, void **block, uint64_t used, size_t size)
{
  cm_error ignored;
  void *smaller = cm_reallocate(memory, *block, used, size, &ignored);
  if (smaller != NULL)
    *block = smaller;
}

bool cm_in_file(const void *block)
{
  return ((const header *)block - 1)->scratch != NULL;
}

cm_status cm_peek(const void *block, uint64_t offset, size_t bytes, void *into, cm_error *error)
{
  const header *before = (const header *)block - 1;
  if (before->scratch != NULL)
    return cm_scratch_read(before->scratch, sizeof(header) + offset, bytes, into, error);
  memcpy(into, (const char *)block + offset, bytes);
  return CM_OK;
}

void cm_free(void *block)
{
  if (block == NULL)
    return;
  header *before = (header *)block - 1;
  if (before->scratch != NULL) {
    atomic_fetch_sub(&before->memory->scratch_bytes, before->scratch_bytes);
    cm_scratch_free(before->scratch);
    return;
  }
  unbook(before->memory, before->bytes);
  free(before);
}

void cm_free_blocks(void *const *block, size_t count)
{
  for (size_t i = 0; i < count; i++)
    cm_free(block[i]);
}

/* ---- of the C library's heap ---- */

cm_status cm_whole(bool whole, const char *what, cm_error *error)
{
  return whole ? CM_OK : cm_fail(error, CM_NO_MEMORY, "out of memory for %s", what);
}

cm_status cm_heap_new(void **block, size_t count, size_t size, const char *what, cm_error *error)
{
  *block = calloc(count > 0 ? count : 1, size);
  return cm_whole(*block != NULL, what, error);
}

cm_status cm_heap_grow(void **block, size_t *capacity, size_t needed, size_t size, const char *what, cm_error *error)
{
  if (needed <= *capacity)
    return CM_OK;
  size_t more = *capacity + *capacity / 2 + 16, count = more > needed ? more : needed;
  void *larger = reallocarray(*block, count, size);
  if (larger == NULL)
    return cm_whole(false, what, error);
  memset((char *)larger + *capacity * size, 0, (count - *capacity) * size);
  *block = larger;
  *capacity = count;
  return CM_OK;
}

void cm_memory_give_back(const void *from, size_t bytes)
{
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = ((uintptr_t)from + page - 1) / page * page, end = ((uintptr_t)from + bytes) / page * page;
  if (end > begin)
    (void)madvise((void *)begin, end - begin, MADV_DONTNEED); /* it only helps */
}

uint32_t cm_next_mark(uint32_t mark, uint32_t *stamp, size_t count)
{
  if (mark == UINT32_MAX)
    memset(stamp, 0, count * sizeof *stamp);
  return mark == UINT32_MAX ? 1 : mark + 1;
}
