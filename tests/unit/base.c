/* base: varints, random numbers, accounted memory, threads, run context, whole files. */
#include "unit.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/annealing.h"
#include "base/heap.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/random.h"
#include "base/text.h"
#include "base/threads.h"
#include "base/varint.h"
#include "core/machine/compile.h"
#include "core/mapping/map.h"
#include "core/mapping/simulate/request.h"

START_TEST(varint_is_the_seeds_figure)
{
  /* Source 0, figure 2: 000010010101010010101 and 0001101 in reading order, high bit = more follow. */
  const uint8_t figure[] = {0x84, 0xd5, 0x15, 0x0d};
  uint64_t value = 0;
  ck_assert_uint_eq(cm_varint_decode(figure, sizeof figure, &value), 3);
  ck_assert_uint_eq(value, 0x012a95);
  ck_assert_uint_eq(cm_varint_decode(figure + 3, 1, &value), 1);
  ck_assert_uint_eq(value, 13);
}
END_TEST

START_TEST(metropolis_takes_as_often_as_its_rule_says)
{
  cm_random random;
  cm_random_init(&random, 5, 0, 0);
  uint32_t taken = 0, asked = 200000;
  for (uint32_t i = 0; i < asked; i++)
    taken += cm_metropolis(&random, 3, 2, CM_HOPELESS);
  double chance = exp(-1.5), deviation = sqrt(chance * (1 - chance) * asked);
  ck_assert_double_le(fabs(taken - chance * asked), 5 * deviation);
  ck_assert(cm_metropolis(&random, 0, 0, INFINITY) && cm_metropolis(&random, -1, 0, CM_HOPELESS));
  ck_assert(!cm_metropolis(&random, 1e-9, 0, INFINITY) && !cm_metropolis(&random, 1e-9, 0, CM_HOPELESS));
  cm_random before = random;
  ck_assert(!cm_metropolis(&random, 60, 3, CM_HOPELESS));
  ck_assert_int_eq(memcmp(&before, &random, sizeof random), 0); /* without a draw */
  ck_assert_double_eq_tol(cm_cooled(8, 1.0 / 16, 0.5), 2, 1e-12);
}
END_TEST

/* A heap of numbers that notes where each stands, with as many children a node as its test likes. */
typedef struct numbers {
  uint32_t item[300], place[300];
} numbers;

static bool number_before(const numbers *n, uint32_t a, uint32_t b)
{
  (void)n;
  return a < b;
}

static void set_number(numbers *n, size_t at, uint32_t value)
{
  n->item[at] = value;
  n->place[value] = (uint32_t)at;
}

CM_HEAP_DEFINE(two, numbers, uint32_t, 2, CM_HEAP_GET, set_number, number_before)
CM_HEAP_DEFINE(five, numbers, uint32_t, 5, CM_HEAP_GET, set_number, number_before)

START_TEST(heaps_give_out_in_order_and_know_where_items_stand)
{
  cm_random random;
  cm_random_init(&random, 3, 0, 0);
  for (uint32_t count = 1; count < 300; count += 13) {
    numbers n = {0};
    uint32_t put[300];
    cm_random_permutation(&random, put, count);
    for (uint32_t i = 0; i < count; i++)
      (_i == 0 ? two_rise : five_rise)(&n, i, put[i]);
    for (uint32_t left = count; left > 0; left--) {
      ck_assert_uint_eq(n.item[0], count - left);
      for (uint32_t i = 0; i < left; i++)
        ck_assert_uint_eq(n.place[n.item[i]], i);
      if (left > 1)
        (_i == 0 ? two_sink : five_sink)(&n, left - 1, 0, n.item[left - 1]);
    }
  }
}
END_TEST

START_TEST(equal_keys_come_out_by_number)
{
  cm_heap_item room[64];
  cm_heap heap = {.item = room};
  for (uint32_t i = 0; i < 64; i++)
    cm_heap_push(&heap, (cm_heap_item){(i * 37 % 64) / 8, i * 37 % 64});
  for (uint32_t i = 0; i < 64; i++) {
    cm_heap_item top = cm_heap_pop(&heap);
    ck_assert_uint_eq(top.number, i);
    ck_assert_uint_eq(top.key, i / 8);
  }
  ck_assert_uint_eq(heap.count, 0);
}
END_TEST

START_TEST(varint_round_trips_every_length)
{
  cm_random random;
  cm_random_init(&random, 7, 0, 0);
  for (int bits = 0; bits <= 64; bits++) {
    for (int i = 0; i < 200; i++) {
      uint64_t value = bits == 0 ? 0 : cm_random_next(&random) >> (64 - bits), back = 0;
      uint8_t bytes[CM_VARINT_BYTES_MAX];
      size_t length = cm_varint_encode(value, bytes);
      ck_assert_uint_eq(cm_varint_decode(bytes, length, &back), length);
      ck_assert_uint_eq(back, value);
      ck_assert_uint_eq(cm_varint_decode(bytes, length - 1, &back), 0);
    }
  }
  uint8_t endless[CM_VARINT_BYTES_MAX + 1];
  memset(endless, 0xff, sizeof endless);
  uint64_t untouched = 42;
  ck_assert_uint_eq(cm_varint_decode(endless, sizeof endless, &untouched), 0);
  ck_assert_uint_eq(untouched, 42);
}
END_TEST

START_TEST(numbers_are_read_whole_or_not_at_all)
{
  static const struct {
    const char *text;
    uint64_t bytes;
  } good[] = {{"0", 0},           {"1000", 1000},      {"512K", 512 << 10},           {"1.5M", 3 << 19},
              {"2GiB", 2ull << 30}, {"3TB", 3ull << 40}, {"18446744073709551615", UINT64_MAX}};
  static const char *const bad[] = {"", "-1", " 1", "1X", "1KK", "1Gi", "K", "0x10", "1e3", "18446744073709551616", "16777216T"};
  uint64_t value = 7;
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    ck_assert_msg(cm_bytes_parse(good[i].text, &value), "%s", good[i].text);
    ck_assert_uint_eq(value, good[i].bytes);
  }
  value = 7;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ck_assert_msg(!cm_bytes_parse(bad[i], &value) && !cm_whole_parse(bad[i], &value), "%s", bad[i]);
    ck_assert_uint_eq(value, 7);
  }
  ck_assert(!cm_whole_parse("2G", &value) && !cm_whole_parse("1.0", &value));
  ck_assert(cm_whole_parse("42", &value) && value == 42);
}
END_TEST

START_TEST(random_streams_are_fixed_and_unbiased)
{
  cm_random a, b;
  cm_random_init(&a, 1, 2, 3);
  cm_random_init(&b, 1, 2, 4);
  ck_assert_uint_ne(cm_random_next(&a), cm_random_next(&b));
  uint32_t count[6] = {0}, order[64], seen[64] = {0};
  for (int i = 0; i < 60000; i++)
    count[cm_random_below(&a, 6)]++;
  for (int i = 0; i < 6; i++)
    ck_assert(count[i] > 9600 && count[i] < 10400); /* 4 deviations */
  cm_random_permutation(&a, order, 64);
  for (int i = 0; i < 64; i++)
    seen[order[i]]++;
  for (int i = 0; i < 64; i++)
    ck_assert_uint_eq(seen[i], 1);
}
END_TEST

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

static cm_status square_unless_13(void *context, size_t i, cm_error *error)
{
  uint64_t *out = context;
  out[i] = i * i;
  return i % 50 == 13 ? cm_fail(error, CM_INTERNAL, "index %zu", i) : CM_OK;
}

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
  cm_free(small);
  cm_free(large);
  ck_assert_uint_eq(memory.scratch_bytes, 0);
  ck_assert_int_eq(rmdir(folder), 0); /* nothing was left behind */
  ck_fails(CM_NEW(&memory, large, COUNT, &error), CM_NOT_FOUND);
  ck_assert_uint_eq(memory.used_bytes + memory.scratch_bytes, 0);
}
END_TEST

static unsigned long long resident_pages(void)
{
  unsigned long long total, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  ck_assert_ptr_nonnull(file);
  ck_assert_int_eq(fscanf(file, "%llu %llu", &total, &resident), 2);
  fclose(file);
  return resident;
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
  unsigned long long page = (unsigned long long)sysconf(_SC_PAGESIZE), before = resident_pages(), now = 0;
  for (uint32_t i = 0; i < COUNT; i++) {
    array[i] = i ^ 0x5555;
    if (i % 4096 == 0)
      (void)cm_run_check(&run, &error);
  }
  for (int patience = 0; patience < 500; patience++) {
    now = resident_pages();
    if (now <= before + LIMIT / page)
      break;
    usleep(10000);
  }
  ck_assert_uint_le(now, before + LIMIT / page);
  uint32_t wrong = 0;
  for (uint32_t i = 0; i < COUNT; i++)
    wrong += array[i] != (i ^ 0x5555);
  ck_assert_uint_eq(wrong, 0);
  cm_free(array);
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

/* Rounds of a pool follow each other; each task of each is called once, and a failure ends only its round. */
typedef struct tally {
  atomic_uint calls[40];
  size_t fails; /* this one does; SIZE_MAX: none */
} tally;

static cm_status count_call(void *context, size_t i, cm_error *slot)
{
  tally *t = context;
  atomic_fetch_add(&t->calls[i], 1);
  return i == t->fails ? cm_fail(slot, CM_INTERNAL, "task %zu", i) : CM_OK;
}

START_TEST(a_thread_pool_plays_many_rounds)
{
  cm_error error;
  for (unsigned threads = 1; threads < 6; threads++) {
    cm_thread_pool *pool;
    ck_ok(cm_thread_pool_new(NULL, threads, &pool, &error));
    for (size_t round = 0; round < 2000; round++) {
      tally t = {.fails = round % 7 == 0 ? round % 40 : SIZE_MAX};
      size_t count = round % 41;
      cm_status status = cm_thread_pool_run(pool, count, count_call, &t, &error);
      ck_assert_int_eq(status, t.fails < count ? CM_INTERNAL : CM_OK);
      for (size_t i = 0; i < 40; i++)
        ck_assert_uint_le(atomic_load(&t.calls[i]), i < count);
      for (size_t i = 0; i < count && t.fails >= count; i++)
        ck_assert_uint_eq(atomic_load(&t.calls[i]), 1);
    }
    cm_thread_pool_free(pool);
  }
}
END_TEST

START_TEST(parallel_runs_each_once_and_reports_the_lowest_failure)
{
  cm_error error;
  cm_run run;
  cm_run_init(&run);
  run.threads = 4;
  uint64_t out[13] = {0}, all[200];
  ck_ok(cm_parallel(&run, 13, square_unless_13, out, &error));
  for (size_t i = 0; i < 13; i++)
    ck_assert_uint_eq(out[i], i * i);
  ck_fails(cm_parallel(&run, 200, square_unless_13, all, &error), CM_INTERNAL);
  ck_assert_str_eq(error.detail, "index 13");
}
END_TEST

/* While rounds are recorded one thread plays them all, as they are cut for many. */
START_TEST(recorded_rounds_are_counted_by_phase)
{
  cm_error error;
  cm_run run;
  uint64_t out[30];
  cm_run_init(&run);
  run.threads = 4;
  cm_rounds_log log = {.run = &run};
  cm_threads_record(&log);
  cm_run_phase(&run, "one");
  ck_ok(cm_parallel(&run, 12, square_unless_13, out, &error));
  ck_ok(cm_parallel(&run, 5, square_unless_13, out, &error));
  cm_run_phase(&run, "two");
  ck_fails(cm_parallel(&run, 30, square_unless_13, out, &error), CM_INTERNAL);
  ck_assert_str_eq(error.detail, "index 13");
  cm_run_finish(&run);
  cm_threads_record(NULL);
  ck_ok(cm_parallel(&run, 3, square_unless_13, out, &error));
  ck_assert_uint_eq(log.phase[0].rounds, 2);
  ck_assert_uint_eq(log.phase[0].tasks, 17);
  ck_assert_uint_eq(log.phase[1].rounds, 1);
  for (int i = 0; i < 2; i++) {
    ck_assert_double_ge(log.phase[i].alone, 0);
    ck_assert_double_le(log.phase[i].span, log.phase[i].together);
    ck_assert_double_ge(log.phase[i].span, log.phase[i].together / 4);
  }
}
END_TEST

START_TEST(run_stops_on_cancel_and_deadline)
{
  cm_error error;
  cm_run run;
  cm_run_init(&run);
  cm_run_phase(&run, "one");
  ck_ok(cm_run_check(&run, &error));
  atomic_bool cancel = true;
  run.cancel = &cancel;
  ck_fails(cm_run_check(&run, &error), CM_CANCELLED);
  run.cancel = NULL;
  run.deadline = cm_now() - 1;
  ck_fails(cm_run_progress(&run, 0.5, -1, 0, 0, &error), CM_TIME_LIMIT);
  cm_run_phase(&run, "two");
  cm_run_phase(&run, "one");
  cm_run_finish(&run);
  ck_assert_uint_eq(run.phase_count, 2);
}
END_TEST

START_TEST(files_are_there_whole_or_not_at_all)
{
  cm_error error;
  char folder[CM_PATH_MAX], path[CM_PATH_MAX];
  test_folder(folder);
  ck_ok(cm_path(path, &error, "%s/deep/down", folder));
  ck_ok(cm_folder_make(path, &error));
  ck_ok(cm_path(path, &error, "%s/deep/down/file", folder));
  cm_file file;
  ck_ok(cm_file_create(&file, path, &error));
  fputs("one", file.stream);
  ck_assert_int_ne(access(path, F_OK), 0);
  ck_ok(cm_file_commit(&file, &error));
  ck_ok(cm_file_create(&file, path, &error));
  fputs("two", file.stream);
  cm_file_discard(&file);
  char *text;
  size_t size;
  ck_ok(cm_file_read(path, 100, &text, &size, &error));
  ck_assert_str_eq(text, "one");
  free(text);
  ck_fails(cm_file_read(path, 2, &text, &size, &error), CM_TOO_LARGE);
  ck_ok(cm_folder_remove(folder, &error));
  ck_fails(cm_file_read(path, 2, &text, &size, &error), CM_NOT_FOUND);
}
END_TEST

static mode_t mode_of(const char *path)
{
  struct stat about;
  ck_assert_int_eq(stat(path, &about), 0);
  return about.st_mode & 07777;
}

static void write_to(const char *path, const char *text)
{
  cm_error error;
  cm_file file;
  ck_ok(cm_file_create(&file, path, &error));
  fputs(text, file.stream);
  ck_ok(cm_file_commit(&file, &error));
}

/* Modes and links outlive a replacement, and a new file has the rights that the process gives. */
/* What a thread says of its files is its own affair, and they stand all the same; a folder is synced with all that is in it. */
START_TEST(files_that_pass_are_written_too)
{
  char root[CM_PATH_MAX], path[CM_PATH_MAX], *text;
  size_t size;
  cm_error error;
  cm_file file;
  test_folder(root);
  ck_ok(cm_path(path, &error, "%s/a/b", root));
  ck_ok(cm_folder_make(path, &error));
  ck_ok(cm_path(path, &error, "%s/a/b/c", root));
  ck_assert(cm_files_last(false));
  ck_ok(cm_file_create(&file, path, &error));
  ck_assert_int_ge(fputs("passing", file.stream), 0);
  ck_ok(cm_file_commit(&file, &error));
  ck_assert(!cm_files_last(true));
  ck_ok(cm_file_read(path, 100, &text, &size, &error));
  ck_assert_str_eq(text, "passing");
  free(text);
  ck_ok(cm_folder_sync_files(root, &error));
  ck_fails(cm_folder_sync_files(path, &error), CM_IO); /* a file */
  ck_ok(cm_folder_remove(root, &error));
  ck_fails(cm_folder_sync_files(root, &error), CM_NOT_FOUND);
}
END_TEST

START_TEST(replaced_files_keep_their_mode_and_links)
{
  char folder[CM_PATH_MAX], path[CM_PATH_MAX], link[CM_PATH_MAX], dangling[CM_PATH_MAX], *text;
  cm_error error;
  size_t size;
  test_folder(folder);
  ck_ok(cm_path(path, &error, "%s/file", folder));
  ck_ok(cm_path(link, &error, "%s/link", folder));
  ck_ok(cm_path(dangling, &error, "%s/later", folder));
  mode_t mask = umask(027);
  write_to(path, "one");
  umask(mask);
  ck_assert_uint_eq(mode_of(path), 0640);
  ck_assert_int_eq(chmod(path, 0604), 0);
  ck_assert_int_eq(symlink("file", link), 0);
  write_to(link, "two");
  ck_assert_uint_eq(mode_of(path), 0604);
  struct stat about;
  ck_assert_int_eq(lstat(link, &about), 0);
  ck_assert(S_ISLNK(about.st_mode));
  ck_ok(cm_file_read(path, 100, &text, &size, &error));
  ck_assert_str_eq(text, "two");
  free(text);
  ck_assert_int_eq(symlink("new", dangling), 0);
  write_to(dangling, "three");
  ck_assert(lstat(dangling, &about) == 0 && S_ISLNK(about.st_mode));
  ck_ok(cm_file_read(dangling, 100, &text, &size, &error));
  ck_assert_str_eq(text, "three");
  free(text);
  cm_file file;
  ck_fails(cm_file_create(&file, folder, &error), CM_IO);
  ck_ok(cm_folder_remove(folder, &error));
}
END_TEST

/* What is no regular file is written through and stays what it was; a discarded file leaves nothing in it. */
START_TEST(pipes_and_devices_are_written_through)
{
  char folder[CM_PATH_MAX], path[CM_PATH_MAX], got[16] = "";
  cm_error error;
  cm_file file;
  int pair[2];
  test_folder(folder);
  ck_ok(cm_path(path, &error, "%s/fifo", folder));
  ck_assert_int_eq(mkfifo(path, 0600), 0);
  int reader = open(path, O_RDONLY | O_NONBLOCK);
  ck_assert_int_ge(reader, 0);
  ck_ok(cm_file_create(&file, path, &error));
  fputs("lost", file.stream);
  cm_file_discard(&file);
  write_to(path, "through");
  ck_assert_int_eq(read(reader, got, sizeof got), 7);
  ck_assert_str_eq(got, "through");
  struct stat about;
  ck_assert(stat(path, &about) == 0 && S_ISFIFO(about.st_mode));
  (void)close(reader);
  ck_assert_int_eq(pipe(pair), 0);
  snprintf(path, sizeof path, "/dev/fd/%d", pair[1]);
  write_to(path, "piped");
  ck_assert_int_eq(read(pair[0], got, sizeof got), 5);
  ck_assert_int_eq(memcmp(got, "piped", 5), 0);
  (void)close(pair[0]);
  (void)close(pair[1]);
  ck_ok(cm_folder_remove(folder, &error));
}
END_TEST

/* Standard output that was sent to a file goes on where it stands. */
START_TEST(a_descriptor_is_written_where_it_stands)
{
  char folder[CM_PATH_MAX], path[CM_PATH_MAX], name[40], *text;
  cm_error error;
  size_t size;
  test_folder(folder);
  ck_ok(cm_path(path, &error, "%s/file", folder));
  int descriptor = open(path, O_WRONLY | O_CREAT, 0600);
  ck_assert_int_eq(write(descriptor, "before ", 7), 7);
  snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
  write_to(name, "after");
  (void)close(descriptor);
  ck_ok(cm_file_read(path, 100, &text, &size, &error));
  ck_assert_str_eq(text, "before after");
  free(text);
  ck_ok(cm_folder_remove(folder, &error));
}
END_TEST

/* Whether the reader of a table takes this value of an option; takes `value`. */
/* Whatever is in a text, jansson reads it back. */
START_TEST(strings_of_json_are_read_back)
{
  char text[140], *written;
  cm_text out;
  for (int i = 0; i < 127; i++)
    text[i] = (char)(i + 1);
  memcpy(text + 127, "h\xc3\xa9\"\\", 6);
  for (const char *from = text + strlen(text); from >= text; from -= 7) {
    json_error_t where;
    ck_assert(cm_text_open(&out));
    cm_json_put_string(from, out.stream);
    written = cm_text_close(&out, NULL);
    json_t *read = json_loads(written, JSON_DECODE_ANY, &where);
    ck_assert_msg(read != NULL, "%s: %s", written, where.text);
    ck_assert_str_eq(json_string_value(read), from);
    json_decref(read);
    free(written);
  }
}
END_TEST

static bool takes(const cm_options *table, const char *name, json_t *value)
{
  _Alignas(max_align_t) char fields[8192] = {0};
  cm_error error;
  json_t *object = json_pack("{s:o}", name, value);
  cm_status status = cm_options_read(table, object, fields, &error);
  ck_assert_msg(status == CM_OK || strstr(error.where, name) != NULL, "%s: \"%s\" at %s", name, error.detail, error.where);
  json_decref(object);
  return status == CM_OK;
}

/* What an option's schema allows is read, and what it does not is refused. */
static void check_schema(const cm_options *table, const char *name, const json_t *schema)
{
  const json_t *least = json_object_get(schema, "minimum"), *most = json_object_get(schema, "maximum"),
               *words = json_object_get(schema, "enum"), *normal = json_object_get(schema, "default");
  const char *type = json_string_value(json_object_get(schema, "type"));
  size_t i;
  json_t *word;
  ck_assert_msg(json_string_length(json_object_get(schema, "description")) > 3, "%s: %s", table->of, name);
  if (normal != NULL)
    ck_assert_msg(takes(table, name, json_deep_copy(normal)), "%s refuses its default", name);
  json_array_foreach(words, i, word)
    ck_assert_msg(takes(table, name, json_deep_copy(word)), "%s refuses a word", name);
  if (words != NULL)
    ck_assert(!takes(table, name, json_string("no such word")));
  if (most != NULL) {
    ck_assert_msg(takes(table, name, json_deep_copy(most)), "%s refuses its most", name);
    ck_assert_msg(!takes(table, name, json_real(json_number_value(most) * 4 + 1)), "%s takes more", name);
  }
  if (least != NULL) {
    ck_assert_msg(takes(table, name, json_deep_copy(least)), "%s refuses its least", name);
    ck_assert_msg(!takes(table, name, json_integer(-1)), "%s takes -1", name);
  }
  if (json_object_get(schema, "exclusiveMinimum") != NULL)
    ck_assert_msg(!takes(table, name, json_integer(0)), "%s takes 0", name);
  if (type != NULL && strcmp(type, "boolean") == 0)
    ck_assert(takes(table, name, json_true()) && !takes(table, name, json_integer(1)));
  ck_assert_msg(!takes(table, name, json_null()), "%s takes null", name);
}

START_TEST(schemas_of_options_are_what_is_read)
{
  const cm_options *const tables[] = {&cm_map_option_table, &cm_compile_option_table, &cm_simulate_option_table};
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
    json_t *schema = cm_options_schema(tables[t]), *one;
    const char *name;
    size_t count = 0;
    ck_assert(json_is_false(json_object_get(schema, "additionalProperties")));
    json_object_foreach(json_object_get(schema, "properties"), name, one)
    {
      check_schema(tables[t], name, one);
      count++;
    }
    ck_assert_uint_eq(count, tables[t]->count);
    ck_assert(!takes(tables[t], "colour", json_integer(1)));
    json_decref(schema);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("base");
  TCase *tests = tcase_create("base");
  tcase_set_timeout(tests, 60);
  tcase_add_test(tests, varint_is_the_seeds_figure);
  tcase_add_test(tests, metropolis_takes_as_often_as_its_rule_says);
  tcase_add_loop_test(tests, heaps_give_out_in_order_and_know_where_items_stand, 0, 2);
  tcase_add_test(tests, equal_keys_come_out_by_number);
  tcase_add_test(tests, varint_round_trips_every_length);
  tcase_add_test(tests, strings_of_json_are_read_back);
  tcase_add_test(tests, schemas_of_options_are_what_is_read);
  tcase_add_test(tests, numbers_are_read_whole_or_not_at_all);
  tcase_add_test(tests, random_streams_are_fixed_and_unbiased);
  tcase_add_test(tests, memory_is_counted_and_limited);
  tcase_add_test(tests, large_arrays_stand_in_files);
  tcase_add_test(tests, arrays_in_files_take_little_memory);
  tcase_add_test(tests, a_lost_scratch_file_is_named);
  tcase_add_test(tests, reserved_memory_is_counted_as_it_is_booked);
  tcase_add_test(tests, a_thread_pool_plays_many_rounds);
  tcase_add_test(tests, parallel_runs_each_once_and_reports_the_lowest_failure);
  tcase_add_test(tests, recorded_rounds_are_counted_by_phase);
  tcase_add_test(tests, run_stops_on_cancel_and_deadline);
  tcase_add_test(tests, files_are_there_whole_or_not_at_all);
  tcase_add_test(tests, files_that_pass_are_written_too);
  tcase_add_test(tests, replaced_files_keep_their_mode_and_links);
  tcase_add_test(tests, pipes_and_devices_are_written_through);
  tcase_add_test(tests, a_descriptor_is_written_where_it_stands);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
