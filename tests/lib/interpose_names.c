/* Calls replaced by name: allocations, maps and threads, which no filter of system calls can tell apart, and the clock. */
#include "tests/lib/interpose_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if !CM_SANITIZED
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

static void *counted(void *block)
{
  if (block != NULL)
    atomic_fetch_add_explicit(&interpose_page->live, 1, memory_order_relaxed);
  return block;
}

static bool refuse(void)
{
  if (!interpose_due(INTERPOSE_ALLOCATION))
    return false;
  errno = ENOMEM;
  return true;
}

void *malloc(size_t size)
{
  return refuse() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
  return refuse() ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *block, size_t size)
{
  if (refuse())
    return NULL;
  void *moved = __libc_realloc(block, size);
  if (block == NULL)
    return counted(moved);
  if (size == 0)
    atomic_fetch_sub_explicit(&interpose_page->live, 1, memory_order_relaxed);
  return moved;
}

void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size)
{
  return refuse() ? NULL : counted(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
  return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
  void *made = memalign(alignment, size);
  if (made == NULL)
    return ENOMEM;
  *block = made;
  return 0;
}

void free(void *block)
{
  if (block != NULL)
    atomic_fetch_sub_explicit(&interpose_page->live, 1, memory_order_relaxed);
  __libc_free(block);
}
#endif

static void *map(void *address, size_t size, int protection, int flags, int descriptor, off_t offset)
{
  if (interpose_due(INTERPOSE_MAP)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return (void *)syscall(SYS_mmap, address, size, protection, flags, descriptor, offset);
}

void *mmap(void *address, size_t size, int protection, int flags, int descriptor, off_t offset)
{
  return map(address, size, protection, flags, descriptor, offset);
}

void *mmap64(void *address, size_t size, int protection, int flags, int descriptor, off64_t offset)
{
  return map(address, size, protection, flags, descriptor, offset);
}

/* What the next library has by this name. */
static void find(const char *name, void *real, size_t size)
{
  void *found = dlsym(RTLD_NEXT, name);
  memcpy(real, &found, size);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
  static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (real == NULL)
    find("pthread_create", &real, sizeof real);
  return interpose_due(INTERPOSE_THREAD) ? EAGAIN : real(thread, attributes, start, argument);
}

int clock_gettime(clockid_t which, struct timespec *now)
{
  static int (*real)(clockid_t, struct timespec *);
  if (real == NULL)
    find("clock_gettime", &real, sizeof real);
  const int result = real(which, now);
  if (result == 0 && which == CLOCK_REALTIME)
    now->tv_sec += atomic_load_explicit(&interpose_page->ahead, memory_order_relaxed);
  return result;
}
