/* base: accounted memory, and what stands in files where a limit leaves no room. */
#include "unit.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/memory.h"

START_TEST(memory_is_counted_and_limited)
{
  cm_error error;
  cm_memory memory;
  cm_memory_init(&memory, 1 << 20);
  uint64_t *a;
  ck_ok(CM_NEW(&memory, a, 1000, &error));
  ck_assert_uint_ge(memory.used_bytes, 8000);
  uint64_t *more = cm_reallocate(&memory, a, 2000, sizeof *a, &error);
  ck_assert_ptr_nonnull(more);
  uint8_t *b;
  ck_fails(CM_NEW(&memory, b, 2 << 20, &error), CM_MEMORY_LIMIT);
  ck_assert_uint_eq(error.figure_count, 2);
  ck_fails(CM_NEW(NULL, a, SIZE_MAX / 4, &error), CM_NO_MEMORY);
  cm_free(more);
  ck_assert_uint_eq(memory.used_bytes, 0);
  ck_assert_uint_ge(memory.peak_bytes, 16000);
}
END_TEST

/* The limit leaves no room for them: they stand in files without a name, whole, through growth and moves. */
START_TEST(large_arrays_stand_in_files)
{
  enum { COUNT = 1 << 20 };
  cm_error error;
  cm_memory memory;
  char folder[CM_PATH_MAX];
  test_folder(folder);
  cm_memory_init(&memory, 1 << 20);
  memory.scratch_folder = folder;
  uint32_t *small, *large, seen[3];
  ck_ok(CM_NEW(&memory, small, 1000, &error));
  ck_ok(CM_NEW(&memory, large, COUNT, &error));
  ck_assert(!cm_in_file(small));
  ck_assert(cm_in_file(large));
  ck_assert_uint_ge(memory.scratch_bytes, 4 * COUNT);
  ck_assert_uint_le(memory.used_bytes, 5000);
  uint32_t wrong = 0;
  for (uint32_t i = 0; i < COUNT; i++) {
    wrong += large[i] != 0;
    large[i] = i * 7;
  }
  ck_ok(cm_peek(large, 4 * 1000, sizeof seen, seen, &error));
  ck_assert_mem_eq(seen, large + 1000, sizeof seen);
  large = cm_reallocate(&memory, large, 3 * COUNT, sizeof *large, &error);
  ck_assert_ptr_nonnull(large);
  large = cm_reallocate(&memory, large, COUNT / 2, sizeof *large, &error);
  ck_assert_uint_le(memory.scratch_bytes, 2 * COUNT + 1000);
  for (uint32_t i = 0; i < COUNT / 2; i++)
    wrong += large[i] != i * 7;
  for (uint32_t i = 0; i < 1000; i++)
    small[i] = i;
  small = cm_reallocate(&memory, small, COUNT, sizeof *small, &error); /* has grown too large for memory */
  ck_assert(cm_in_file(small));
  for (uint32_t i = 0; i < 1000; i++)
    wrong += small[i] != i;
  ck_assert_uint_eq(wrong, 0);
  ck_ok(cm_peek(small, 4 * 10, sizeof seen, seen, &error));
  ck_assert_uint_eq(seen[2], 12);
  ck_assert_uint_eq(memory.used_bytes, 0);
  CM_FREE(small, large);
  ck_assert_uint_eq(memory.scratch_bytes, 0);
  ck_assert_int_eq(rmdir(folder), 0); /* nothing was left behind */
  ck_fails(CM_NEW(&memory, large, COUNT, &error), CM_NOT_FOUND);
  ck_assert_uint_eq(memory.used_bytes + memory.scratch_bytes, 0);
}
END_TEST

/* Of the pages of an array, those that are mapped: not the process's, which holds what libraries and sanitizers map. */
static uint64_t mapped_bytes(const void *array, size_t bytes)
{
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)array / page, mapped = 0, entry;
  int file = open("/proc/self/pagemap", O_RDONLY);
  ck_assert_int_ge(file, 0);
  for (uint64_t i = first; i * page < (uintptr_t)array + bytes; i++) {
    ck_assert_int_eq(pread(file, &entry, sizeof entry, (off_t)(i * sizeof entry)), sizeof entry);
    mapped += (entry >> 63) * page;
  }
  close(file);
  return mapped;
}

/* However much is written to arrays in files, little of it stays mapped, and none of it is lost. */
START_TEST(arrays_in_files_take_little_memory)
{
  enum { COUNT = 12 << 20, LIMIT = 8 << 20 };
  cm_error error;
  cm_memory memory;
  cm_run run;
  char folder[CM_PATH_MAX];
  test_folder(folder);
  cm_memory_init(&memory, LIMIT);
  cm_run_init(&run);
  memory.scratch_folder = folder;
  uint32_t *array;
  ck_ok(CM_NEW(&memory, array, COUNT, &error));
  uint64_t now = 0;
  for (uint32_t i = 0; i < COUNT; i++) {
    array[i] = i ^ 0x5555;
    if (i % 4096 == 0)
      (void)cm_run_check(&run, &error);
  }
  for (int patience = 0; patience < 500; patience++) {
    now = mapped_bytes(array, COUNT * sizeof *array);
    if (now <= LIMIT)
      break;
    usleep(10000);
  }
  ck_assert_uint_le(now, LIMIT);
  uint32_t wrong = 0;
  for (uint32_t i = 0; i < COUNT; i++)
    wrong += array[i] != (i ^ 0x5555);
  ck_assert_uint_eq(wrong, 0);
  cm_free(array);
  ck_ok(cm_folder_remove(folder, &error));
}
END_TEST

/* What one job takes, in memory and in files, unmaps nothing of another's: its pages are not the other's. */
START_TEST(another_job_takes_no_pages)
{
  enum { COUNT = 1 << 20, OTHERS = 32 << 20, LIMIT = 12 << 20, ROUNDS = 20 };
  cm_error error;
  cm_memory memory, others;
  char folder[CM_PATH_MAX];
  test_folder(folder);
  cm_memory_init(&memory, LIMIT);
  cm_memory_init(&others, LIMIT);
  uint32_t *array, *theirs, *reserved;
  ck_ok(CM_NEW(&memory, reserved, (LIMIT - (2 << 20)) / sizeof *reserved, &error)); /* no room for the array */
  memory.scratch_folder = others.scratch_folder = folder;
  ck_ok(CM_NEW(&memory, array, COUNT, &error));
  cm_free(reserved);
  ck_assert(cm_in_file(array));
  ck_ok(CM_NEW(&others, theirs, OTHERS / sizeof *theirs, &error));
  for (uint32_t i = 0; i < COUNT; i++)
    array[i] = i;
  char *shared = mmap(NULL, OTHERS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), *own = malloc(OTHERS);
  ck_assert(shared != MAP_FAILED && own != NULL);
  uint64_t least = UINT64_MAX, now;
  for (int round = 0; round < ROUNDS; round++) {
    size_t share = OTHERS / ROUNDS;
    memset(shared + (size_t)round * share, 1, share);
    memset(own + (size_t)round * share, 1, share);
    memset((char *)theirs + (size_t)round * share, 1, share);
    usleep(5000); /* several looks of the watch */
    now = mapped_bytes(array, COUNT * sizeof *array);
    least = now < least ? now : least;
  }
  ck_assert_uint_ge(least, COUNT * sizeof *array);
  ck_assert_uint_le(mapped_bytes(theirs, OTHERS), LIMIT); /* its own, it loses */
  munmap(shared, OTHERS);
  free(own);
  CM_FREE(array, theirs);
  ck_ok(cm_folder_remove(folder, &error));
}
END_TEST

/* Cuts every scratch file of this process short, as a disk that fails does. */
static void lose_scratch_files(void)
{
  char path[64], target[CM_PATH_MAX];
  for (int file = 3; file < 64; file++) {
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    ssize_t length = readlink(path, target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    if (strstr(target, "/coremap-") != NULL)
      ck_assert_int_eq(ftruncate(file, 0), 0);
  }
}

/* What a scratch file had cannot be made up: the process ends by itself, and says why. */
START_TEST(a_lost_scratch_file_is_named)
{
  enum { COUNT = 1 << 20 };
  cm_error error;
  cm_memory memory;
  char folder[CM_PATH_MAX], text[512] = "";
  int ends[2], status;
  test_folder(folder);
  cm_memory_init(&memory, 1 << 20);
  memory.scratch_folder = folder;
  ck_assert_int_eq(pipe(ends), 0);
  pid_t child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) {
    volatile uint32_t *array;
    if (CM_NEW(&memory, array, COUNT, &error) != CM_OK || dup2(ends[1], STDERR_FILENO) < 0)
      _exit(99);
    lose_scratch_files();
    _exit(array[COUNT / 2] == 0 ? 98 : 97);
  }
  close(ends[1]);
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_gt(read(ends[0], text, sizeof text - 1), 0);
  close(ends[0]);
  ck_assert(WIFEXITED(status));
  ck_assert_int_eq(WEXITSTATUS(status), EXIT_FAILURE);
  ck_assert_ptr_nonnull(strstr(text, "the disk failed under a scratch file"));
  ck_ok(cm_folder_remove(folder, &error));
}
END_TEST

START_TEST(reserved_memory_is_counted_as_it_is_booked)
{
  cm_error error;
  cm_memory memory;
  cm_memory_init(&memory, 1 << 20);
  uint64_t *block = cm_reserve(&memory, 1 << 20, sizeof *block, &error);
  ck_assert_ptr_nonnull(block);
  ck_assert_uint_le(memory.used_bytes, 100);
  ck_ok(cm_book_reserved(block, 1000000, &error));
  ck_fails(cm_book_reserved(block, 1000000, &error), CM_MEMORY_LIMIT);
  (void)cm_book_reserved(block, 1000000, NULL);
  ck_assert_uint_ge(memory.used_bytes, 2000000);
  block = cm_reallocate(&memory, block, 1000, sizeof *block, &error);
  ck_assert_uint_le(memory.used_bytes, 8100);
  cm_free(block);
  ck_assert_uint_eq(memory.used_bytes, 0);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("base memory");
  TCase *tests = tcase_create("base memory");
  tcase_add_test(tests, memory_is_counted_and_limited);
  tcase_add_test(tests, large_arrays_stand_in_files);
  tcase_add_test(tests, arrays_in_files_take_little_memory);
  tcase_add_test(tests, another_job_takes_no_pages);
  tcase_add_test(tests, a_lost_scratch_file_is_named);
  tcase_add_test(tests, reserved_memory_is_counted_as_it_is_booked);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
