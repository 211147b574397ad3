/* storage: the database (group commit, full disks, hanging writers), the cache of levels, and the board of events. */
#include "store.h"

#include <pthread.h>
#include <unistd.h>

#include "core/levels/cache.h"
#include "storage/drain.h"

/* ---- the database ---- */

static cm_status add_one(sqlite3 *handle, void *context, cm_error *e)
{
  if (cm_sql_run(handle, NULL, e, "INSERT INTO meta(name, value) VALUES(?, 1)", "t", (const char *)context) != CM_OK)
    return e->status;
  return strcmp(context, "bad") == 0 ? cm_fail(e, CM_CONFLICT, "asked to fail") : CM_OK;
}

static void *write_many(void *argument)
{
  cm_error mine;
  for (int i = 0; i < 50; i++) {
    char name[32];
    (void)snprintf(name, sizeof name, "%d-%d", *(int *)argument, i);
    if (cm_database_write(store->database, add_one, name, &mine) != CM_OK)
      return argument;
  }
  return NULL;
}

static int64_t count_meta(void)
{
  int64_t rows = -1;
  ck_ok(cm_database_find(store->database, NULL, &error, "SELECT count(*) FROM meta", ">i", &rows));
  return rows;
}

START_TEST(writes_of_many_threads_share_commits)
{
  pthread_t threads[16];
  int number[16];
  uint64_t before_transactions, before_writes, transactions, writes;
  cm_database_counts(store->database, &before_transactions, &before_writes);
  for (int i = 0; i < 16; i++) {
    number[i] = i;
    ck_assert_int_eq(pthread_create(&threads[i], NULL, write_many, &number[i]), 0);
  }
  for (int i = 0; i < 16; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    ck_assert_ptr_null(failed);
  }
  cm_database_counts(store->database, &transactions, &writes);
  ck_assert_uint_eq(writes - before_writes, 800);
  ck_assert_uint_lt(transactions - before_transactions, 600);
  ck_assert_int_eq(count_meta(), 800);
}
END_TEST

static atomic_bool may_end;

static cm_status hang(sqlite3 *handle, void *context, cm_error *why)
{
  (void)handle, (void)context, (void)why;
  while (!atomic_load(&may_end))
    usleep(1000);
  return CM_OK;
}

static void *write_hanging(void *context)
{
  cm_error why;
  return cm_database_write(store->database, hang, context, &why) == CM_OK ? NULL : context;
}

/* What a watchdog asks. */
START_TEST(a_writer_that_hangs_is_seen)
{
  pthread_t thread;
  ck_assert(cm_database_waiting(store->database) == 0);
  ck_assert_int_eq(pthread_create(&thread, NULL, write_hanging, NULL), 0);
  for (int i = 0; i < 1000 && cm_database_waiting(store->database) < 0.02; i++)
    usleep(1000);
  ck_assert(cm_database_waiting(store->database) >= 0.02);
  atomic_store(&may_end, true);
  pthread_join(thread, NULL);
  for (int i = 0; i < 1000 && cm_database_waiting(store->database) > 0; i++)
    usleep(1000);
  ck_assert(cm_database_waiting(store->database) == 0);
}
END_TEST

START_TEST(the_wish_to_drain_stands_until_it_is_taken_back)
{
  bool asked = true;
  ck_ok(cm_drain_asked(store->database, &asked, &error));
  ck_assert(!asked);
  for (int i = 0; i < 2; i++) {
    ck_ok(cm_drain_ask(store->database, true, &error));
    ck_ok(cm_drain_asked(store->database, &asked, &error));
    ck_assert(asked);
  }
  ck_ok(cm_drain_ask(store->database, false, &error));
  ck_ok(cm_drain_asked(store->database, &asked, &error));
  ck_assert(!asked);
}
END_TEST

START_TEST(a_failed_write_is_rolled_back_alone)
{
  ck_fails(cm_database_write(store->database, add_one, (char[]){"bad"}, &error), CM_CONFLICT);
  ck_ok(cm_database_write(store->database, add_one, (char[]){"good"}, &error));
  ck_assert_int_eq(count_meta(), 1);
}
END_TEST

static cm_status add_bulk(sqlite3 *handle, void *context, cm_error *e)
{
  (void)context;
  return cm_sql_run(handle, NULL, e, "INSERT INTO meta(name, value) VALUES(hex(randomblob(2000000)), 1)", "");
}

START_TEST(a_full_disk_fails_the_write_and_nothing_else)
{
  char id[CM_ID_MAX];
  ck_ok(cm_database_limit_pages(store->database, 100, &error));
  ck_fails(cm_database_write(store->database, add_bulk, NULL, &error), CM_DISK_FULL);
  create_job("", 0, id);
  ck_ok(cm_database_limit_pages(store->database, 0, &error));
  ck_ok(cm_database_write(store->database, add_bulk, NULL, &error));
  ck_assert_int_eq(state_of(id), CM_JOB_QUEUED);
}
END_TEST

/* ---- cache ---- */

static void build_entry(const cm_level_cache *levels, const char *key, size_t bytes, char *path)
{
  char file[CM_PATH_MAX], *content = calloc(1, bytes);
  ck_ok(levels->begin(levels->user, path, &error));
  ck_ok(cm_path(file, &error, "%s/level-1.zip", path));
  test_write(file, content, bytes);
  free(content);
  ck_ok(levels->commit(levels->user, key, path, &error));
}

START_TEST(cache_gives_back_only_what_is_whole)
{
  cm_level_cache levels = *library_levels_cache(store->cache);
  library_levels_counts counts;
  char path[CM_PATH_MAX], again[CM_PATH_MAX], file[CM_PATH_MAX];
  ck_fails(levels.acquire(levels.user, "aa", path, &error), CM_NOT_FOUND);
  build_entry(&levels, "aa", 1000, path);
  levels.release(levels.user, "aa");
  ck_ok(levels.acquire(levels.user, "aa", again, &error));
  ck_assert_str_eq(path, again);
  levels.release(levels.user, "aa");
  cm_store_close(store);
  open_store();
  levels = *library_levels_cache(store->cache);
  ck_ok(levels.acquire(levels.user, "aa", again, &error));
  levels.release(levels.user, "aa");
  ck_ok(cm_path(file, &error, "%s/level-1.zip", path));
  FILE *stream = fopen(file, "r+b");
  ck_assert_int_eq(fseek(stream, 500, SEEK_SET), 0);
  fputc('x', stream);
  fclose(stream);
  ck_fails(levels.acquire(levels.user, "aa", again, &error), CM_NOT_FOUND);
  ck_assert_int_ne(access(path, F_OK), 0);
  counts = library_levels_count(store->cache);
  ck_assert_uint_eq(counts.damaged, 1);
  ck_assert_uint_eq(counts.bytes, 0);
  build_entry(&levels, "aa", 1000, path);
  levels.release(levels.user, "aa");
  ck_ok(levels.acquire(levels.user, "aa", again, &error));
  levels.release(levels.user, "aa");
}
END_TEST

START_TEST(cache_drops_the_least_recently_used_but_none_in_use)
{
  cm_level_cache levels = *library_levels_cache(store->cache);
  library_levels_counts counts;
  char path[CM_PATH_MAX], held[CM_PATH_MAX];
  build_entry(&levels, "a1", 400000, held); /* stays acquired: the oldest, but in use */
  build_entry(&levels, "a2", 400000, path);
  levels.release(levels.user, "a2");
  build_entry(&levels, "a3", 400000, path); /* 1.2 MB in a cache of 1 MiB */
  levels.release(levels.user, "a3");
  counts = library_levels_count(store->cache);
  ck_assert_uint_eq(counts.evicted, 1);
  ck_fails(levels.acquire(levels.user, "a2", path, &error), CM_NOT_FOUND);
  ck_ok(levels.acquire(levels.user, "a3", path, &error));
  levels.release(levels.user, "a3");
  library_levels_empty(store->cache);
  ck_assert_int_eq(access(held, F_OK), 0);
  levels.release(levels.user, "a1");
  ck_assert_int_ne(access(held, F_OK), 0);
  counts = library_levels_count(store->cache);
  ck_assert_uint_eq(counts.entries + counts.bytes, 0);
}
END_TEST

static void slow_listener(void *user, const char *job)
{
  atomic_int *stage = user;
  (void)job;
  atomic_store(stage, 1);
  usleep(100000);
  atomic_store(stage, 2);
}

static void *publish_once(void *unused)
{
  cm_event_bus_publish(store->bus, "j", "progress", "{}");
  return unused;
}

START_TEST(board_without_a_listener_has_none_under_way)
{
  atomic_int stage = 0;
  pthread_t thread;
  cm_event_bus_listen(store->bus, slow_listener, &stage);
  ck_assert_int_eq(pthread_create(&thread, NULL, publish_once, NULL), 0);
  while (atomic_load(&stage) == 0)
    usleep(1000);
  cm_event_bus_listen(store->bus, NULL, NULL);
  ck_assert_int_eq(atomic_load(&stage), 2);
  pthread_join(thread, NULL);
}
END_TEST

START_TEST(board_keeps_the_newest_events)
{
  cm_bus_event event;
  uint64_t last = 0;
  int seen = 0;
  for (int i = 0; i < CM_EVENT_BUS_EVENTS_KEPT + 10; i++)
    cm_event_bus_publish(store->bus, "j", "progress", "{}");
  while (cm_event_bus_next(store->bus, "j", last, &event)) {
    ck_assert_uint_gt(event.id, last);
    last = event.id;
    seen++;
    free(event.data);
  }
  ck_assert_int_eq(seen, CM_EVENT_BUS_EVENTS_KEPT);
  ck_assert_uint_eq(cm_event_bus_newest(store->bus, "j"), last);
}
END_TEST

START_TEST(board_forgets_jobs_as_they_ended)
{
  char id[CM_ID_MAX];
  cm_bus_event event;
  cm_event_bus_publish(store->bus, "long", "state", "{}");
  const uint64_t seen = cm_event_bus_newest(store->bus, "long");
  for (int i = 0; i < CM_EVENT_BUS_JOBS_KEPT; i++) {
    snprintf(id, sizeof id, "short%d", i);
    cm_event_bus_publish(store->bus, id, "state", "{}");
    cm_event_bus_finished(store->bus, id);
  }
  cm_event_bus_publish(store->bus, "long", "state", "{}");
  cm_event_bus_finished(store->bus, "long");
  ck_assert(cm_event_bus_next(store->bus, "long", seen, &event));
  free(event.data);
  ck_assert_uint_eq(cm_event_bus_newest(store->bus, "short0"), 0);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("storage");
  TCase *tests = tcase_create("storage");
  tcase_add_checked_fixture(tests, store_setup, store_teardown);
  tcase_add_test(tests, writes_of_many_threads_share_commits);
  tcase_add_test(tests, a_writer_that_hangs_is_seen);
  tcase_add_test(tests, the_wish_to_drain_stands_until_it_is_taken_back);
  tcase_add_test(tests, a_failed_write_is_rolled_back_alone);
  tcase_add_test(tests, a_full_disk_fails_the_write_and_nothing_else);
  tcase_add_test(tests, cache_gives_back_only_what_is_whole);
  tcase_add_test(tests, cache_drops_the_least_recently_used_but_none_in_use);
  tcase_add_test(tests, board_without_a_listener_has_none_under_way);
  tcase_add_test(tests, board_keeps_the_newest_events);
  tcase_add_test(tests, board_forgets_jobs_as_they_ended);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
