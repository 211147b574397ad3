/* storage: group commit, queue moves, leases, cache, networks; and random interleavings of leases. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/random.h"
#include "storage/jobs.h"
#include "storage/leases.h"
#include "storage/occupancy.h"
#include "storage/clock.h"
#include "storage/drain.h"
#include "storage/folder.h"
#include "storage/networks.h"
#include "storage/bin.h"
#include "storage/pack.h"
#include "storage/quotas.h"
#include "storage/quotas.h"
#include "storage/retention.h"
#include "storage/uploads.h"
#include "storage/chips.h"
#include "storage/backup.h"
#include "storage/check.h"
#include "storage/tokens.h"

static cm_error error;
static char folder[CM_PATH_MAX];
static cm_store *store;

static void put_toy_chip(void)
{
  bool created, mismatch;
  cm_chip *chip;
  char *text;
  ck_ok(cm_chip_mesh(8, 8, &chip, &error));
  (void)snprintf(chip->name, sizeof chip->name, "toy");
  ck_ok(cm_chip_print(chip, &text, &error));
  cm_chip_free(chip);
  ck_ok(cm_chips_put(store, &(cm_chip_change){.name = "toy", .text = text}, &created, &mismatch, &error));
  free(text);
}

static void add_network(const char *id)
{
  char scratch[CM_PATH_MAX];
  bool known;
  cm_network network = {.neurons = 3, .created = cm_store_time()};
  (void)snprintf(network.id, sizeof network.id, "%s", id);
  (void)snprintf(network.sha256, sizeof network.sha256, "%s", id);
  ck_ok(cm_path(scratch, &error, "%s/incoming/x", folder));
  test_write(scratch, "zip", 3);
  ck_ok(cm_networks_publish(store, &network, scratch, &known, &error));
}

static void open_store(void)
{
  ck_ok(cm_store_open(folder, 1 << 20, &store, &error));
}

static void setup(void)
{
  test_folder(folder);
  open_store();
  put_toy_chip();
  add_network("abc");
}

static void teardown(void)
{
  cm_store_close(store);
  ck_ok(cm_folder_remove(folder, &error));
}

static void create_job(const char *user, int priority, char *id)
{
  cm_job job = {.kind = "map", .network = "abc", .chip = "toy", .options = (char[]){"{}"}, .priority = priority,
                .ttl = 60};
  cm_job_created result;
  (void)snprintf(job.owner.user, sizeof job.owner.user, "%s", user);
  ck_ok(cm_jobs_create(store, &job, NULL, NULL, &result, id, &error));
  ck_assert_int_eq(result, CM_JOB_NEW);
}

static cm_job_state state_of(const char *id)
{
  cm_job job;
  ck_ok(cm_jobs_get(store, id, &job, &error));
  cm_job_clear(&job);
  return job.state;
}

static void claim(cm_job *job)
{
  bool found;
  ck_ok(cm_jobs_claim(store, CM_CLAIM_ANY, job, &found, &error));
  ck_assert(found);
}

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

static cm_status count_meta(sqlite3 *handle, void *context, cm_error *e)
{
  return cm_sql_number(handle, 0, context, e, "SELECT count(*) FROM meta", "");
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
  int64_t rows;
  ck_ok(cm_database_read(store->database, count_meta, &rows, &error));
  ck_assert_int_eq(rows, 800);
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
  int64_t rows;
  ck_fails(cm_database_write(store->database, add_one, (char[]){"bad"}, &error), CM_CONFLICT);
  ck_ok(cm_database_write(store->database, add_one, (char[]){"good"}, &error));
  ck_ok(cm_database_read(store->database, count_meta, &rows, &error));
  ck_assert_int_eq(rows, 1);
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

START_TEST(a_folder_has_one_server)
{
  cm_store *other;
  char path[CM_PATH_MAX];
  ck_fails(cm_store_open(folder, 1 << 20, &other, &error), CM_CONFLICT);
  ck_ok(cm_path(path, &error, "%s/lock", folder));
  ck_assert_int_eq(unlink(path), 0);
  ck_fails(cm_store_open(folder, 1 << 20, &other, &error), CM_CONFLICT);
}
END_TEST

/* ---- whose folder it is ---- */

static const char *inside(const char *name)
{
  static char path[4][CM_PATH_MAX];
  static int turn;
  turn = (turn + 1) % 4;
  ck_ok(cm_path(path[turn], &error, "%s/%s", folder, name));
  return path[turn];
}

static bool is_there(const char *name)
{
  return access(inside(name), F_OK) == 0;
}

/* Opening is refused with words about `what`, and nothing in the folder changes. */
static void expect_refused(const char *what)
{
  cm_store *other;
  char before[1 << 14] = "", after[1 << 14] = "", command[CM_PATH_MAX + 64];
  (void)snprintf(command, sizeof command, "ls -lR --full-time '%s'", folder);
  for (int i = 0; i < 2; i++) {
    FILE *listing = popen(command, "r");
    ck_assert_ptr_nonnull(listing);
    ck_assert_uint_gt(fread(i == 0 ? before : after, 1, sizeof before - 1, listing), 0);
    pclose(listing);
    if (i == 0) {
      cm_status status = cm_store_open(folder, 1 << 20, &other, &error);
      ck_assert_msg(status == CM_CONFLICT || status == CM_DAMAGED, "%d", status);
      ck_assert_msg(strstr(error.detail, what) != NULL, "%s", error.detail);
    }
  }
  ck_assert_str_eq(before, after);
}

START_TEST(start_puts_aside_what_no_row_knows)
{
  static const char *const strays[] = {"networks/ffff.zip", "networks/thesis/a", "mappings/thesis/a",
                                       "incoming/thesis/a", "cache/thesis/a", "incoming/0123456789abcdef0123"};
  char kept[CM_PATH_MAX], aside[CM_PATH_MAX];
  ck_ok(cm_networks_path(store, "abc", kept, &error));
  for (int round = 0; round < 2; round++) {
    for (size_t i = 0; i < sizeof strays / sizeof *strays; i++) {
      char *slash = strrchr(strays[i], '/');
      (void)snprintf(aside, sizeof aside, "%.*s", (int)(slash - strays[i]), strays[i]);
      ck_ok(cm_folder_make(inside(aside), &error));
      test_write(inside(strays[i]), "x", 1);
    }
    ck_ok(cm_folder_make(inside("incoming/0123456789abcdef0123.job"), &error));
    test_write(inside("incoming/0123456789abcdef0123.part"), "x", 1);
    cm_store_close(store);
    open_store();
    for (size_t i = 0; i < sizeof strays / sizeof *strays; i++) {
      ck_assert(!is_there(strays[i]));
      (void)snprintf(aside, sizeof aside, "lost+found/%s", strays[i]);
      ck_assert_msg(is_there(aside), "%s", aside);
    }
    /* Scratch of what was never acknowledged goes. */
    ck_assert(!is_there("incoming/0123456789abcdef0123.job"));
    ck_assert(!is_there("incoming/0123456789abcdef0123.part"));
    ck_assert_int_eq(access(kept, F_OK), 0);
  }
  ck_assert(is_there("lost+found/networks/ffff.zip.1"));
  ck_assert(is_there("lost+found/networks/thesis.1/a"));
}
END_TEST

START_TEST(a_foreign_folder_is_refused)
{
  char theirs[CM_PATH_MAX];
  cm_store *other;
  ck_ok(cm_path(theirs, &error, "%s/theirs", folder));
  ck_ok(cm_folder_make(inside("theirs/networks/thesis"), &error));
  test_write(inside("theirs/networks/thesis/a"), "x", 1);
  ck_fails(cm_store_open(theirs, 1 << 20, &other, &error), CM_CONFLICT); /* our layout, no database */
  test_write(inside("theirs/letter.txt"), "x", 1);
  ck_fails(cm_store_open(theirs, 1 << 20, &other, &error), CM_CONFLICT);
  ck_assert_ptr_nonnull(strstr(error.detail, "letter.txt"));
  ck_assert(is_there("theirs/networks/thesis/a"));
  ck_assert(!is_there("theirs/lock"));
  /* A log and a process number of the script that starts the server are no strangers. */
  ck_ok(cm_folder_make(inside("fresh"), &error));
  test_write(inside("fresh/coremapd.log"), "x", 1);
  ck_ok(cm_path(theirs, &error, "%s/fresh", folder));
  ck_ok(cm_store_open(theirs, 1 << 20, &other, &error));
  cm_store_close(other);
}
END_TEST

START_TEST(marker_and_database_belong_together)
{
  char other_folder[CM_PATH_MAX];
  cm_store *other;
  cm_store_close(store);
  store = NULL;
  ck_assert(is_there("coremapd.json"));
  /* Lost, and emptied. */
  ck_assert_int_eq(rename(inside("coremapd.db"), inside("coremapd.saved")), 0);
  expect_refused("lost its database");
  test_write(inside("coremapd.db"), "", 0);
  expect_refused("lost its database");
  /* That of another folder. */
  ck_ok(cm_path(other_folder, &error, "%s/other", folder));
  ck_ok(cm_store_open(other_folder, 1 << 20, &other, &error));
  cm_store_close(other);
  ck_assert_int_eq(rename(inside("other/coremapd.db"), inside("coremapd.db")), 0);
  ck_ok(cm_folder_remove(other_folder, &error));
  ck_fails(cm_store_open(folder, 1 << 20, &other, &error), CM_CONFLICT);
  ck_assert_ptr_nonnull(strstr(error.detail, "another data folder"));
  ck_assert_int_eq(rename(inside("coremapd.saved"), inside("coremapd.db")), 0);
  /* A newer layout, and a damaged marker. */
  ck_assert_int_eq(rename(inside("coremapd.json"), inside("coremapd.old")), 0);
  test_write(inside("coremapd.json"), "{\"format\": 2, \"id\": \"a\"}", 24);
  expect_refused("newer version");
  test_write(inside("coremapd.json"), "{\"form", 6);
  expect_refused("damaged");
  ck_assert_int_eq(rename(inside("coremapd.old"), inside("coremapd.json")), 0);
  open_store();
  char path[CM_PATH_MAX];
  ck_ok(cm_networks_path(store, "abc", path, &error));
  ck_assert_int_eq(access(path, F_OK), 0);
}
END_TEST

static void run_sql(const char *name, const char *sql)
{
  sqlite3 *handle;
  ck_assert_int_eq(sqlite3_open(inside(name), &handle), SQLITE_OK);
  ck_assert_int_eq(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(handle);
}

START_TEST(databases_of_others_are_refused)
{
  cm_store_close(store);
  store = NULL;
  run_sql("coremapd.db", "PRAGMA user_version = 1000");
  expect_refused("newer version");
  ck_assert_int_eq(unlink(inside("coremapd.db")), 0);
  run_sql("coremapd.db", "CREATE TABLE songs (name TEXT)");
  expect_refused("not coremapd's database");
}
END_TEST

/* A folder as the release before left it: schema 2, no marker; a done job with its mapping, two queued, one that ran,
 * a chip with a taken core and a lease, half an upload. */
START_TEST(a_folder_of_the_release_before_is_taken_over)
{
  char command[2 * CM_PATH_MAX + 64], first[CM_FOLDER_ID_MAX];
  cm_network network;
  cm_job job;
  cm_lease lease;
  cm_upload upload;
  uint64_t counts[CM_JOB_STATES];
  cm_store_close(store);
  ck_ok(cm_folder_remove(folder, &error));
  ck_ok(cm_folder_make(folder, &error));
  (void)snprintf(command, sizeof command, "tar -xzf '%s' -C '%s' --strip-components=1",
                 test_data("data-folder-2.tar.gz"), folder);
  ck_assert_int_eq(system(command), 0);
  ck_ok(cm_folder_make(inside("networks/thesis"), &error));
  ck_assert(!is_there("coremapd.json"));
  cm_folder found;
  for (int round = 0; round < 2; round++) {
    open_store();
    ck_ok(cm_folder_examine(folder, &found, &error));
    ck_assert(found.marked);
    if (round == 0)
      memcpy(first, found.id, sizeof first);
    ck_assert_str_eq(first, found.id);
    ck_ok(cm_networks_get(store, "e436169eee9425d2bea8d9409aa22556092a0b2ec872f0d7ad005a43a41b2ed1", &network, &error));
    ck_ok(cm_jobs_get(store, "cf38bd8125cf980a9f76", &job, &error));
    ck_assert_int_eq(job.state, CM_JOB_DONE);
    ck_assert_str_eq(job.mapping, "6fb3662fa0591edf6dc7");
    cm_job_clear(&job);
    ck_assert(is_there("mappings/6fb3662fa0591edf6dc7/mapping.json"));
    ck_assert(is_there("lost+found/networks/thesis"));
    ck_ok(cm_jobs_count(store, counts, &error));
    ck_assert_uint_eq(counts[CM_JOB_DONE], 1);
    ck_assert_uint_eq(counts[CM_JOB_QUEUED], 2);
    ck_assert_uint_eq(counts[CM_JOB_RUNNING], 1);
    cm_lease *leases;
    size_t count;
    ck_ok(cm_leases_list(store, "toy", NULL, &leases, &count, &error));
    ck_assert_uint_eq(count, 1);
    lease = leases[0];
    ck_assert_uint_eq(lease.core_count, 2);
    cm_lease_clear(&lease);
    free(leases);
    ck_ok(cm_uploads_get(store, "257f86dcb122383c318d", &upload, &error));
    ck_assert_uint_eq(upload.offset, 6);
    if (round == 0)
      cm_store_close(store);
  }
}
END_TEST

/* Bytes read, at most `room`. */
static size_t read_whole(int file, char *bytes, size_t room)
{
  size_t got = 0;
  for (ssize_t n; got < room && (n = read(file, bytes + got, room - got)) > 0;)
    got += (size_t)n;
  return got;
}

static void ignore_line(void *user, const char *line)
{
  (void)user;
  (void)line;
}

/* A folder as schema 7 left it, before there were users: a done job with its mapping, a chip with a lease, half an
 * upload. All is there, and there are no users. */
START_TEST(a_folder_without_users_is_taken_over)
{
  char command[2 * CM_PATH_MAX + 64];
  cm_network network;
  cm_job job;
  cm_mapping_row mapping;
  cm_lease lease;
  cm_upload upload;
  bool users = true;
  cm_user ann = {.name = "ann", .role = CM_ROLE_ADMIN};
  cm_store_close(store);
  ck_ok(cm_folder_remove(folder, &error));
  ck_ok(cm_folder_make(folder, &error));
  (void)snprintf(command, sizeof command, "tar -xzf '%s' -C '%s' --strip-components=1",
                 test_data("data-folder-7.tar.gz"), folder);
  ck_assert_int_eq(system(command), 0);
  open_store();
  ck_ok(cm_networks_get(store, "e3172b51ec8abe81ab234f72ed52923c3fd4b50addf30607f22cedc4edd5b4de", &network, &error));
  ck_assert_str_eq(network.sha256, network.id);
  ck_assert_int_eq(network.owner.visibility, CM_VISIBLE_LAB);
  ck_ok(cm_mappings_get(store, "f9a2b623555a1a1f84d9", &mapping, &error));
  ck_assert_int_eq(mapping.owner.visibility, CM_VISIBLE_LAB);
  ck_assert_str_eq(mapping.kind, "map");
  ck_ok(cm_jobs_get(store, mapping.job, &job, &error));
  ck_assert_int_eq(job.state, CM_JOB_DONE);
  cm_job_clear(&job);
  ck_ok(cm_leases_get(store, "toy", "0ab8a1490b2628a0ca78", &lease, &error));
  ck_assert_uint_eq(lease.core_count, 2);
  cm_lease_clear(&lease);
  ck_ok(cm_uploads_get(store, "eed743bc993846531897", &upload, &error));
  ck_ok(cm_users_exist(store->database, &users, &error));
  ck_assert(!users);
  ck_ok(cm_users_add(store->database, &ann, &error));
}
END_TEST

/* A folder as schema 11 left it, before there were lanes and shares: a done job, four queued ones of two users. The counters
 * of the queue are made anew, and its jobs go on. */
START_TEST(a_folder_without_lanes_is_taken_over)
{
  char command[2 * CM_PATH_MAX + 64];
  cm_job job;
  cm_user ann;
  uint64_t faults;
  cm_store_close(store);
  ck_ok(cm_folder_remove(folder, &error));
  ck_ok(cm_folder_make(folder, &error));
  (void)snprintf(command, sizeof command, "tar -xzf '%s' -C '%s' --strip-components=1",
                 test_data("data-folder-11.tar.gz"), folder);
  ck_assert_int_eq(system(command), 0);
  open_store();
  ck_ok(cm_users_get(store->database, "ann", &ann, &error));
  ck_assert_int_eq(ann.share, 1);
  ck_ok(cm_jobs_get(store, "00000000000000000002", &job, &error));
  ck_assert_int_eq(job.lane, CM_LANE_OF_LONG);
  ck_assert_uint_eq(job.position, 4); /* hers of priority 1, nobody's, hers before it */
  cm_job_clear(&job);
  claim(&job);
  ck_assert_str_eq(job.id, "00000000000000000003");
  cm_job_clear(&job);
  cm_store_close(store);
  ck_ok(cm_check_data(folder, &(cm_check_report){ignore_line, NULL}, &faults, &error));
  ck_assert_uint_eq(faults, 0);
  open_store();
}
END_TEST

/* Whether a folder of files is in the store what `files`, "NAME SIZE HASH" lines, says. */
static void ck_same_files(const char *mapping, const char *files)
{
  char name[64], sha[65], line[200];
  unsigned long long size;
  int read;
  for (const char *p = files; sscanf(p, "%63s %llu %64s%n", name, &size, sha, &read) == 3; p += read) {
    int file;
    char *bytes = malloc((size_t)size + 1), now[CM_SHA_MAX];
    snprintf(line, sizeof line, "%s of %s", name, mapping);
    ck_ok(cm_mappings_open(store, mapping, name, &file, &error));
    ck_assert_msg(read_whole(file, bytes, (size_t)size + 1) == size, "%s", line);
    cm_store_sha256(bytes, (size_t)size, now);
    ck_assert_msg(strcmp(now, sha) == 0, "%s", line);
    close(file);
    free(bytes);
  }
}

/* Small results of every release before are packed, to the byte; the folders go, and the whole is sound. Large ones stay. */
START_TEST(folders_of_earlier_releases_are_packed)
{
  static const struct {
    const char *file, *mapping;
  } old[] = {{"data-folder-2.tar.gz", "6fb3662fa0591edf6dc7"}, {"data-folder-7.tar.gz", "f9a2b623555a1a1f84d9"},
             {"data-folder-11.tar.gz", "9692d432c8b47cc1b5b8"}};
  for (size_t i = 0; i < sizeof old / sizeof *old; i++) {
    char command[4 * CM_PATH_MAX], files[4096] = "", path[80];
    uint64_t faults;
    bool left = true;
    int none;
    cm_store_close(store);
    ck_ok(cm_folder_remove(folder, &error));
    ck_ok(cm_folder_make(folder, &error));
    (void)snprintf(command, sizeof command, "tar -xzf '%s' -C '%s' --strip-components=1 && cd '%s/mappings/%s' && for f in *; do echo"
                   " $f $(stat -c %%s $f) $(sha256sum <$f | cut -d' ' -f1); done", test_data(old[i].file), folder, folder, old[i].mapping);
    FILE *out = popen(command, "r");
    ck_assert_uint_gt(fread(files, 1, sizeof files - 1, out), 1000);
    ck_assert_int_eq(pclose(out), 0);
    open_store();
    ck_same_files(old[i].mapping, files);
    snprintf(path, sizeof path, "mappings/%s", old[i].mapping);
    ck_assert(is_there(path));
    ck_ok(cm_pack_old(store, 10, &left, &error));
    ck_assert(!left);
    ck_assert(!is_there(path));
    ck_same_files(old[i].mapping, files);
    ck_fails(cm_mappings_open(store, old[i].mapping, "no.json", &none, &error), CM_NOT_FOUND);
    cm_mapping_row row;
    ck_ok(cm_mappings_get(store, old[i].mapping, &row, &error));
    ck_assert_uint_lt(row.bytes, 8192);
    cm_store_close(store);
    ck_ok(cm_check_data(folder, &(cm_check_report){ignore_line, NULL}, &faults, &error));
    ck_assert_uint_eq(faults, 0);
    open_store();
    ck_ok(cm_mappings_delete(store, old[i].mapping, &error));
    ck_fails(cm_mappings_open(store, old[i].mapping, "mapping.json", &none, &error), CM_NOT_FOUND);
  }
}
END_TEST

/* What is too large, or no folder of files, stays one; a pack that is damaged is said to be. */
START_TEST(packs_are_small_and_sound)
{
  cm_pack pack;
  char *bytes, *noise = malloc(1 << 20);
  size_t size;
  int filling = 0;
  cm_random random;
  cm_random_init(&random, 1, 0, 0);
  for (size_t i = 0; i < 1 << 20; i++)
    noise[i] = (char)cm_random_below(&random, 256);
  ck_ok(cm_folder_make(inside("incoming/made"), &error));
  test_write(inside("incoming/made/b.bin"), noise, 100);
  test_write(inside("incoming/made/a.json"), "", 0);
  test_write(inside("incoming/made/c"), "text", 4);
  ck_ok(cm_pack_folder(inside("incoming/made"), &pack, &error));
  ck_assert_ptr_nonnull(pack.bytes);
  ck_ok(cm_pack_file(pack.bytes, pack.size, "b.bin", &bytes, &size, &error));
  ck_assert_uint_eq(size, 100);
  ck_assert_mem_eq(bytes, noise, 100);
  free(bytes);
  ck_ok(cm_pack_file(pack.bytes, pack.size, "a.json", &bytes, &size, &error));
  ck_assert_uint_eq(size, 0);
  free(bytes);
  ck_ok(cm_pack_check(pack.bytes, pack.size, &error));
  ck_fails(cm_pack_check(pack.bytes, pack.size / 2, &error), CM_DAMAGED);
  for (size_t i = 0; i < pack.size; i++) {
    pack.bytes[i] ^= 0x10;
    if (cm_pack_check(pack.bytes, pack.size, &error) == CM_OK) { /* bits that fill a byte mean nothing */
      ck_ok(cm_pack_file(pack.bytes, pack.size, "b.bin", &bytes, &size, &error));
      ck_assert_mem_eq(bytes, noise, 100);
      free(bytes);
      filling++;
    } else
      ck_assert_int_eq(error.status, CM_DAMAGED);
    pack.bytes[i] ^= 0x10;
  }
  ck_assert_int_le(filling, 2);
  cm_pack_clear(&pack);
  test_write(inside("incoming/made/b.bin"), noise, CM_PACK_PACKED_MAX);
  ck_ok(cm_pack_folder(inside("incoming/made"), &pack, &error));
  ck_assert_ptr_null(pack.bytes);
  test_write(inside("incoming/made/b.bin"), "", 0);
  ck_ok(cm_folder_make(inside("incoming/made/sub"), &error));
  ck_ok(cm_pack_folder(inside("incoming/made"), &pack, &error));
  ck_assert_ptr_null(pack.bytes);
  ck_fails(cm_pack_folder(inside("incoming/none"), &pack, &error), CM_NOT_FOUND);
  ck_ok(cm_folder_remove(inside("incoming/made"), &error));
  free(noise);
}
END_TEST

/* ---- uploads ---- */

static cm_status age_uploads(sqlite3 *handle, void *context, cm_error *slot)
{
  (void)context;
  return cm_sql_run(handle, NULL, slot, "UPDATE uploads SET created = created - 3600", "");
}

START_TEST(uploads_that_nobody_goes_on_with_are_removed)
{
  cm_upload old = {.size = 10, .name = "old"}, fresh = {.size = 10, .name = "new"}, found;
  char path[CM_PATH_MAX];
  uint64_t removed;
  struct timespec hour_ago[2] = {{.tv_sec = time(NULL) - 3600}, {.tv_sec = time(NULL) - 3600}};
  ck_ok(cm_uploads_create(store, &old, &error));
  ck_ok(cm_uploads_create(store, &fresh, &error));
  ck_ok(cm_uploads_expire(store, 60, &removed, &error));
  ck_assert_uint_eq(removed, 0);
  ck_ok(cm_database_write(store->database, age_uploads, NULL, &error));
  ck_ok(cm_uploads_path(store, old.id, path, &error)); /* the other has had a piece just now */
  ck_assert_int_eq(utimensat(AT_FDCWD, path, hour_ago, 0), 0);
  ck_ok(cm_uploads_expire(store, 1800, &removed, &error));
  ck_assert_uint_eq(removed, 1);
  ck_fails(cm_uploads_get(store, old.id, &found, &error), CM_NOT_FOUND);
  ck_assert_int_ne(access(path, F_OK), 0);
  ck_ok(cm_uploads_get(store, fresh.id, &found, &error));
}
END_TEST

/* ---- backups ---- */

/* A backup is made while the store is open; what comes later is not in it; what comes back is whole; a newer one is refused. */
START_TEST(a_backup_comes_back)
{
  char backup[CM_PATH_MAX], back[CM_PATH_MAX], database[CM_PATH_MAX];
  uint64_t files, bytes, faults;
  cm_network network;
  sqlite3 *handle;
  cm_upload half = {.size = 10, .name = "half"};
  ck_ok(cm_path(backup, &error, "%s.backup", folder));
  ck_ok(cm_path(back, &error, "%s.back", folder));
  add_network("one");
  ck_ok(cm_uploads_create(store, &half, &error));
  ck_ok(cm_backup_make(folder, backup, &files, &bytes, &error));
  ck_assert_uint_eq(files, 2); /* with the one that every store here begins with */
  ck_assert_uint_eq(bytes, 6);
  ck_fails(cm_backup_make(folder, backup, &files, &bytes, &error), CM_CONFLICT); /* it is not empty */
  add_network("two");
  ck_ok(cm_backup_restore(backup, back, &files, &bytes, &error));
  ck_ok(cm_check_data(back, &(cm_check_report){ignore_line, NULL}, &faults, &error));
  ck_assert_uint_eq(faults, 0);
  cm_store_close(store);
  ck_ok(cm_store_open(back, 1 << 20, &store, &error));
  ck_ok(cm_networks_get(store, "one", &network, &error));
  ck_fails(cm_networks_get(store, "two", &network, &error), CM_NOT_FOUND);
  cm_store_close(store);
  ck_ok(cm_folder_remove(back, &error));

  ck_ok(cm_path(database, &error, "%s/coremapd.db", backup));
  ck_assert_int_eq(sqlite3_open(database, &handle), SQLITE_OK);
  ck_assert_int_eq(sqlite3_exec(handle, "PRAGMA user_version = 9999", NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(handle);
  ck_fails(cm_backup_restore(backup, back, &files, &bytes, &error), CM_CONFLICT);
  ck_assert_ptr_nonnull(strstr(error.detail, "newer version"));
  ck_ok(cm_folder_remove(backup, &error));
  open_store();
}
END_TEST

/* ---- jobs ---- */

START_TEST(moves_are_those_of_the_table)
{
  static const char allowed[CM_JOB_STATES][CM_JOB_STATES + 1] = {"01001", "10111", "00000", "00000", "00000"};
  for (int from = 0; from < CM_JOB_STATES; from++)
    for (int to = 0; to < CM_JOB_STATES; to++)
      ck_assert_int_eq(cm_job_may_move((cm_job_state)from, (cm_job_state)to), allowed[from][to] == '1');
}
END_TEST

START_TEST(claims_by_priority_then_fair_share_then_age)
{
  char a1[CM_ID_MAX], a2[CM_ID_MAX], a3[CM_ID_MAX], b1[CM_ID_MAX], high[CM_ID_MAX];
  create_job("ann", 0, a1);
  create_job("ann", 0, a2);
  create_job("ann", 0, a3);
  create_job("bob", 0, b1);
  create_job("ann", 5, high);
  const char *order[] = {high, b1, a1, a2, a3};
  for (int i = 0; i < 5; i++) {
    cm_job job;
    claim(&job);
    ck_assert_str_eq(job.id, order[i]);
    ck_assert_int_eq(job.attempt, 1);
    cm_job_clear(&job);
  }
  cm_job none;
  bool found = true;
  ck_ok(cm_jobs_claim(store, CM_CLAIM_ANY, &none, &found, &error));
  ck_assert(!found);
}
END_TEST

START_TEST(only_the_current_attempt_may_finish)
{
  char id[CM_ID_MAX];
  cm_job first, second;
  bool taken;
  cm_job_outcome failed = {.state = CM_JOB_FAILED, .problem = "{}"};
  create_job("", 0, id);
  claim(&first);
  ck_ok(cm_jobs_requeue(store, &first, false, &error));
  claim(&second);
  ck_assert_int_eq(second.attempt, 2);
  ck_fails(cm_jobs_finish(store, &first, &failed, &taken, &error), CM_CONFLICT);
  ck_assert_int_eq(state_of(id), CM_JOB_RUNNING);
  ck_ok(cm_jobs_finish(store, &second, &failed, &taken, &error));
  ck_fails(cm_jobs_finish(store, &second, &failed, &taken, &error), CM_CONFLICT);
  ck_assert_int_eq(state_of(id), CM_JOB_FAILED);
  cm_job_clear(&first);
  cm_job_clear(&second);
}
END_TEST

/* ---- passing faults ---- */

static bool passes(cm_status status, int cause)
{
  cm_error why = {0};
  if (cause != 0)
    (void)cm_fail_errno(&why, cause, "cannot read", "x");
  else
    (void)cm_fail(&why, status, "it failed");
  return cm_error_passes(&why);
}

START_TEST(faults_of_the_machine_pass_and_others_stay)
{
  static const int passing[] = {EIO, ENOSPC, EDQUOT, ENOMEM, EMFILE, ENFILE}, staying[] = {EACCES, EROFS, ENOTDIR, ENOENT};
  for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
    ck_assert_msg(passes(CM_OK, passing[i]), "%s", strerror(passing[i]));
  for (size_t i = 0; i < sizeof staying / sizeof *staying; i++)
    ck_assert_msg(!passes(CM_OK, staying[i]), "%s", strerror(staying[i]));
  for (int status = CM_BAD_NETWORK; status <= CM_INTERNAL; status++)
    ck_assert_int_eq(passes((cm_status)status, 0),
                     status == CM_NO_MEMORY || status == CM_DISK_FULL || status == CM_IO);
}
END_TEST

static void set_retry_time(const char *sql)
{
  sqlite3 *handle;
  ck_assert_int_eq(sqlite3_open(inside("coremapd.db"), &handle), SQLITE_OK);
  sqlite3_busy_timeout(handle, 5000);
  ck_assert_int_eq(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(handle);
}

START_TEST(a_passing_fault_is_tried_again_later_and_not_for_ever)
{
  char id[CM_ID_MAX], other[CM_ID_MAX];
  cm_job job, next;
  bool again, found;
  double before = 0;
  create_job("", 1, id);
  for (int retry = 1; retry <= CM_JOB_RETRIES_MAX; retry++) {
    claim(&job);
    ck_assert_str_eq(job.id, id);
    ck_ok(cm_jobs_retry(store, &job, "{\"code\":\"io\"}", &again, &error));
    ck_assert(again);
    ck_fails(cm_jobs_retry(store, &job, NULL, &again, &error), CM_CONFLICT); /* the attempt is over */
    cm_job_clear(&job);
    ck_ok(cm_jobs_get(store, id, &job, &error));
    ck_assert_int_eq(job.state, CM_JOB_QUEUED);
    ck_assert_int_eq(job.retries, retry);
    ck_assert_str_eq(job.fault, "{\"code\":\"io\"}");
    double delay = job.retry_at - cm_store_time();
    ck_assert_msg(delay > before && delay <= cm_job_retry_delay(retry), "%g s", delay);
    before = cm_job_retry_delay(retry);
    cm_job_clear(&job);
    /* Others go on, it waits. */
    create_job("", 0, other);
    claim(&next);
    ck_assert_str_eq(next.id, other);
    cm_job_clear(&next);
    ck_ok(cm_jobs_claim(store, CM_CLAIM_ANY, &next, &found, &error));
    ck_assert(!found);
    set_retry_time("UPDATE jobs SET retry_at = 1 WHERE retry_at IS NOT NULL");
  }
  claim(&job);
  ck_ok(cm_jobs_retry(store, &job, NULL, &again, &error));
  ck_assert(!again);
  ck_assert_int_eq(state_of(id), CM_JOB_RUNNING);
  cm_job_clear(&job);
}
END_TEST

START_TEST(a_job_to_be_cancelled_is_not_tried_again)
{
  char id[CM_ID_MAX];
  cm_job job;
  bool again = true;
  create_job("", 0, id);
  claim(&job);
  ck_ok(cm_jobs_cancel(store, id, &error));
  ck_ok(cm_jobs_retry(store, &job, NULL, &again, &error));
  ck_assert(!again);
  cm_job_clear(&job);
}
END_TEST

START_TEST(a_job_that_keeps_killing_the_server_fails)
{
  char id[CM_ID_MAX];
  create_job("", 0, id);
  for (int i = 0; i < CM_JOB_KILLS_MAX; i++) {
    cm_job job;
    ck_assert_int_eq(state_of(id), CM_JOB_QUEUED);
    claim(&job);
    cm_job_clear(&job);
    ck_ok(cm_jobs_recover(store, "{\"code\":\"killed-server\"}", &error));
  }
  cm_job job;
  ck_ok(cm_jobs_get(store, id, &job, &error));
  ck_assert_int_eq(job.state, CM_JOB_FAILED);
  ck_assert_ptr_nonnull(strstr(job.problem, "killed-server"));
  cm_job_clear(&job);
}
END_TEST

START_TEST(cancel_survives_a_crash)
{
  char running[CM_ID_MAX], queued[CM_ID_MAX];
  cm_job job;
  create_job("", 1, running);
  create_job("", 0, queued);
  claim(&job);
  atomic_bool *flag = cm_event_bus_cancel_flag(store->bus, running);
  ck_assert(!atomic_load(flag));
  ck_ok(cm_jobs_cancel(store, running, &error));
  ck_assert(atomic_load(flag));
  ck_ok(cm_jobs_cancel(store, queued, &error));
  ck_assert_int_eq(state_of(queued), CM_JOB_CANCELLED);
  ck_fails(cm_jobs_cancel(store, queued, &error), CM_CONFLICT);
  ck_ok(cm_jobs_recover(store, "{}", &error));
  ck_assert_int_eq(state_of(running), CM_JOB_CANCELLED);
  cm_job_clear(&job);
}
END_TEST

START_TEST(an_idempotency_key_makes_one_job)
{
  cm_job job = {.kind = "map", .network = "abc", .chip = "toy", .options = (char[]){"{}"}};
  cm_job_created result;
  char a[CM_ID_MAX], b[CM_ID_MAX];
  ck_ok(cm_jobs_create(store, &job, "key", "h1", &result, a, &error));
  ck_assert_int_eq(result, CM_JOB_NEW);
  ck_ok(cm_jobs_create(store, &job, "key", "h1", &result, b, &error));
  ck_assert_int_eq(result, CM_JOB_SAME);
  ck_assert_str_eq(a, b);
  ck_ok(cm_jobs_create(store, &job, "key", "h2", &result, b, &error));
  ck_assert_int_eq(result, CM_JOB_OTHER_BODY);
  (void)snprintf(job.network, sizeof job.network, "gone");
  ck_fails(cm_jobs_create(store, &job, NULL, NULL, &result, b, &error), CM_NOT_FOUND);
}
END_TEST

START_TEST(identical_jobs_wait_for_the_first)
{
  char a[CM_ID_MAX], b[CM_ID_MAX];
  cm_job first, second, none;
  bool deferred, found, taken;
  create_job("", 0, a);
  create_job("", 0, b);
  claim(&first);
  ck_ok(cm_jobs_identify(store, &first, "f", &deferred, &error));
  ck_assert(!deferred);
  claim(&second);
  ck_ok(cm_jobs_identify(store, &second, "f", &deferred, &error));
  ck_assert(deferred);
  ck_ok(cm_jobs_claim(store, CM_CLAIM_ANY, &none, &found, &error));
  ck_assert(!found);
  ck_ok(cm_jobs_finish(store, &first, &(cm_job_outcome){.state = CM_JOB_FAILED, .problem = "{}"}, &taken, &error));
  cm_job_clear(&second);
  claim(&second);
  ck_assert_str_eq(second.id, b);
  cm_job_clear(&first);
  cm_job_clear(&second);
}
END_TEST

START_TEST(a_network_in_use_stays)
{
  char id[CM_ID_MAX];
  bool mismatch;
  create_job("", 0, id);
  ck_fails(cm_networks_delete(store, "abc", &error), CM_CONFLICT);
  ck_fails(cm_chips_delete(store, "toy", NULL, &mismatch, &error), CM_CONFLICT);
  ck_ok(cm_jobs_cancel(store, id, &error));
  ck_ok(cm_networks_delete(store, "abc", &error));
  ck_fails(cm_networks_delete(store, "abc", &error), CM_NOT_FOUND);
  ck_ok(cm_chips_delete(store, "toy", NULL, &mismatch, &error));
}
END_TEST

START_TEST(a_reserving_job_takes_its_region_or_nothing)
{
  char id[CM_ID_MAX], etag[CM_ETAG_MAX], *text;
  const uint32_t region[] = {0, 1, 8, 9};
  cm_job job;
  bool taken, mismatch;
  cm_mapping_row mapping = {.id = "m1", .network = "abc", .chip = "toy"};
  cm_job_outcome done = {.state = CM_JOB_DONE, .mapping = &mapping, .region = region, .region_count = 4};
  ck_ok(cm_folder_make(inside("mappings/m1"), &error));
  test_write(inside("mappings/m1/summary.json"), "{}", 2);
  create_job("", 0, id);
  claim(&job);
  const char occupy[] = "{\"occupy\": [[1, 1]], \"owner\": \"me\"}";
  cm_occupancy_change change = {"toy", "*", false, occupy, sizeof occupy - 1};
  ck_ok(cm_occupancy_write(store, &change, &mismatch, &text, etag, &error));
  free(text);
  ck_fails(cm_jobs_finish(store, &job, &done, &taken, &error), CM_CONFLICT);
  ck_assert(taken);
  cm_mapping_row found;
  ck_fails(cm_mappings_get(store, "m1", &found, &error), CM_NOT_FOUND);
  const char release[] = "{\"release\": [[1, 1]]}";
  change.json = release;
  change.size = sizeof release - 1;
  ck_ok(cm_occupancy_write(store, &change, &mismatch, &text, etag, &error));
  free(text);
  ck_ok(cm_jobs_finish(store, &job, &done, &taken, &error));
  cm_job_clear(&job);
  ck_ok(cm_jobs_get(store, id, &job, &error));
  cm_lease lease;
  ck_ok(cm_leases_get(store, "toy", job.lease, &lease, &error));
  ck_assert_uint_eq(lease.core_count, 4);
  ck_assert_str_eq(lease.cores, "[[0,0,1,1]]");
  cm_lease_clear(&lease);
  cm_job_clear(&job);
}
END_TEST

static void restart_store(void);

/* ---- the bin, and how long things stay ---- */

static cm_status run_text(sqlite3 *handle, void *context, cm_error *slot)
{
  return cm_sql_run(handle, NULL, slot, context, "");
}

static void change(const char *sql)
{
  ck_ok(cm_database_write(store->database, run_text, (void *)(uintptr_t)sql, &error));
}

/* A mapping of a user, made so many days ago, with a file. */
static void add_mapping(const char *id, const char *user, int days, int bytes)
{
  char sql[400], path[80];
  snprintf(sql, sizeof sql, "INSERT INTO mappings(id, user, network, chip, job, bytes, created, kind, form, fingerprint) VALUES('%s', '%s', 'abc',"
           " 'toy', 'j%s', %d, %.17g, 'map', 1, 'f%s')", id, user, id, bytes, cm_store_time() - days * 86400.0, id);
  change(sql);
  snprintf(path, sizeof path, "mappings/%s", id);
  ck_ok(cm_folder_make(inside(path), &error));
  snprintf(path, sizeof path, "mappings/%s/summary.json", id);
  test_write(inside(path), "{}", 2);
}

static bool has_mapping(const char *id)
{
  cm_mapping_row row;
  return cm_mappings_get(store, id, &row, &error) == CM_OK;
}

START_TEST(what_is_deleted_comes_back_as_it_was)
{
  cm_network before, after;
  cm_mapping_row row;
  cm_binned entry, *entries;
  cm_quota_use use;
  size_t count;
  uint64_t faults;
  char id[CM_ID_MAX];
  ck_ok(cm_networks_get(store, "abc", &before, &error));
  create_job("ann", 0, id);
  ck_fails(cm_bin_put(store, CM_OBJECT_NETWORK, "abc", &error), CM_CONFLICT); /* the job needs it */
  ck_ok(cm_jobs_cancel(store, id, &error));
  ck_ok(cm_bin_put(store, CM_OBJECT_NETWORK, "abc", &error));
  ck_fails(cm_networks_get(store, "abc", &after, &error), CM_NOT_FOUND);
  ck_assert(is_there("networks/abc.zip"));
  add_mapping("m7", "ann", 0, 5);
  ck_ok(cm_bin_put(store, CM_OBJECT_MAPPING, "m7", &error));
  ck_fails(cm_mappings_find(store, "fm7", &row, &error), CM_NOT_FOUND);
  restart_store(); /* a start puts none of it aside */
  ck_ok(cm_bin_list(store, "ann", 0, 10, &entries, &count, &error));
  ck_assert_uint_eq(count, 1);
  ck_assert_str_eq(entries[0].id, "m7");
  ck_assert_str_eq(entries[0].kind, "mapping");
  ck_assert_uint_eq(entries[0].bytes, 5);
  free(entries);
  ck_ok(cm_bin_restore(store, "abc", &entry, &error));
  ck_ok(cm_networks_get(store, "abc", &after, &error));
  before.sequence = after.sequence;
  ck_assert_mem_eq(&before, &after, sizeof before);
  ck_fails(cm_bin_restore(store, "abc", &entry, &error), CM_NOT_FOUND);
  ck_ok(cm_bin_restore(store, "m7", &entry, &error));
  ck_ok(cm_mappings_find(store, "fm7", &row, &error));
  ck_ok(cm_bin_put(store, CM_OBJECT_MAPPING, "m7", &error));
  add_mapping("m7", "bob", 0, 9); /* in the bin it takes the other one's place */
  ck_ok(cm_bin_put(store, CM_OBJECT_MAPPING, "m7", &error));
  ck_ok(cm_quotas_use(store->database, "ann", &use, &error));
  ck_assert_double_eq_tol(use.use[CM_QUOTA_BYTES], 0, 0.1);
  ck_ok(cm_quotas_use(store->database, "bob", &use, &error));
  ck_assert_double_eq_tol(use.use[CM_QUOTA_BYTES], 9, 0.1);
  cm_store_close(store);
  ck_ok(cm_check_data(folder, &(cm_check_report){ignore_line, NULL}, &faults, &error));
  ck_assert_uint_eq(faults, 0);
  open_store();
  ck_ok(cm_bin_purge(store, "m7", &error));
  ck_assert(!is_there("mappings/m7"));
  ck_ok(cm_bin_put(store, CM_OBJECT_NETWORK, "abc", &error));
  ck_ok(cm_bin_purge(store, "abc", &error));
  ck_assert(!is_there("networks/abc.zip"));
  ck_fails(cm_bin_purge(store, "abc", &error), CM_NOT_FOUND);
  cm_store_close(store);
  ck_ok(cm_check_data(folder, &(cm_check_report){ignore_line, NULL}, &faults, &error));
  ck_assert_uint_eq(faults, 0);
  open_store();
}
END_TEST

START_TEST(what_is_old_or_too_much_goes_but_for_pins)
{
  cm_retention_done done;
  cm_network network;
  bool pinned;
  const double now = cm_store_time(), week = 7 * 86400;
  cm_user ann = {.name = "ann"}, bob = {.name = "bob"};
  ck_ok(cm_users_add(store->database, &ann, &error));
  ck_ok(cm_users_add(store->database, &bob, &error));
  add_mapping("old", "ann", 40, 10);
  add_mapping("kept", "ann", 40, 10);
  add_mapping("new", "ann", 1, 10);
  add_mapping("bobs", "bob", 40, 10);
  ck_ok(cm_retention_run(store, now, week, &done, &error)); /* no rules: all stays */
  ck_assert_uint_eq(done.mappings + done.networks + done.jobs + done.purged, 0);
  ck_ok(cm_pin(store, CM_OBJECT_MAPPING, "kept", true, &error));
  ck_ok(cm_pinned(store, CM_OBJECT_MAPPING, "kept", &pinned, &error));
  ck_assert(pinned);
  ck_ok(cm_limits_set(store->database, &cm_keep_kind, &(cm_limit_row){false, "*", {NAN, 30, NAN, NAN}}, &error));
  ck_ok(cm_limits_set(store->database, &cm_keep_kind, &(cm_limit_row){false, "bob", {NAN, 60, NAN, NAN}}, &error));
  ck_fails(cm_limits_set(store->database, &cm_keep_kind, &(cm_limit_row){false, "eve", {1, 1, 1, 1}}, &error), CM_NOT_FOUND);
  ck_ok(cm_retention_run(store, now, week, &done, &error));
  ck_assert_uint_eq(done.mappings, 1);
  ck_assert(!has_mapping("old") && has_mapping("kept") && has_mapping("new") && has_mapping("bobs"));
  /* By size: the oldest go until the newest fit; pins count and stay. */
  add_mapping("mid", "ann", 2, 10);
  ck_ok(cm_limits_set(store->database, &cm_keep_kind, &(cm_limit_row){false, "ann", {NAN, NAN, NAN, 15}}, &error));
  ck_ok(cm_retention_run(store, now, week, &done, &error));
  ck_assert_uint_eq(done.mappings, 1);
  ck_assert(!has_mapping("mid") && has_mapping("kept") && has_mapping("new"));
  /* Networks by their last use. */
  ck_ok(cm_limits_set(store->database, &cm_keep_kind, &(cm_limit_row){false, "*", {10, -1, NAN, NAN}}, &error));
  change("UPDATE networks SET created = created - 20 * 86400");
  char id[CM_ID_MAX];
  create_job("ann", 0, id);
  ck_ok(cm_jobs_cancel(store, id, &error));
  ck_ok(cm_retention_run(store, now, week, &done, &error));
  ck_assert_uint_eq(done.networks, 0);
  change("UPDATE jobs SET created = created - 20 * 86400, finished = finished - 20 * 86400");
  ck_ok(cm_retention_run(store, now, week, &done, &error));
  ck_assert_uint_eq(done.networks, 1);
  ck_fails(cm_networks_get(store, "abc", &network, &error), CM_NOT_FOUND);
  ck_ok(cm_limits_set(store->database, &cm_keep_kind, &(cm_limit_row){false, "*", {-1, NAN, 10, NAN}}, &error));
  ck_ok(cm_retention_run(store, now, week, &done, &error));
  ck_assert_uint_eq(done.jobs, 1);
  /* A job's record comes back as it was. */
  cm_binned binned;
  cm_job job;
  ck_fails(cm_jobs_get(store, id, &job, &error), CM_NOT_FOUND);
  ck_ok(cm_bin_restore(store, id, &binned, &error));
  ck_assert_str_eq(binned.kind, "job");
  ck_ok(cm_jobs_get(store, id, &job, &error));
  ck_assert_int_eq(job.state, CM_JOB_CANCELLED);
  ck_assert_str_eq(job.owner.user, "ann");
  cm_job_clear(&job);
  ck_ok(cm_retention_run(store, now, week, &done, &error));
  ck_assert_uint_eq(done.jobs, 1);
  /* The bin is emptied when its time has come. */
  ck_ok(cm_retention_run(store, now + week / 2, week, &done, &error));
  ck_assert_uint_eq(done.purged, 0);
  ck_assert(is_there("mappings/old"));
  ck_ok(cm_retention_run(store, now + 2 * week, week, &done, &error));
  ck_assert_uint_eq(done.purged, 4);
  ck_assert(!is_there("mappings/old") && !is_there("networks/abc.zip"));
}
END_TEST

/* Who uploads the same bytes owns them too; they go when the last one deletes them. */
START_TEST(a_network_can_have_several_owners)
{
  bool last;
  cm_owner owner;
  cm_quota_use use;
  cm_user ann = {.name = "ann"}, bob = {.name = "bob"}, eve = {.name = "eve"};
  const cm_viewer as_bob = {"bob", "", false}, as_eve = {"eve", "", false};
  ck_ok(cm_users_add(store->database, &ann, &error));
  ck_ok(cm_users_add(store->database, &bob, &error));
  ck_ok(cm_users_add(store->database, &eve, &error));
  change("UPDATE networks SET bytes = 100");
  ck_ok(cm_networks_join(store, "abc", "ann", &error)); /* it was nobody's */
  ck_ok(cm_networks_join(store, "abc", "bob", &error));
  ck_ok(cm_networks_join(store, "abc", "bob", &error));
  ck_ok(cm_owners_get(store->database, CM_OBJECT_NETWORK, "abc", NULL, &as_bob, &owner, &error));
  ck_assert(cm_owner_lets(&owner, &as_bob));
  ck_ok(cm_owners_get(store->database, CM_OBJECT_NETWORK, "abc", NULL, &as_eve, &owner, &error));
  ck_assert(!cm_owner_lets(&owner, &as_eve));
  ck_assert_str_eq(owner.user, "ann");
  for (int i = 0; i < 2; i++) {
    ck_ok(cm_quotas_use(store->database, i == 0 ? "ann" : "bob", &use, &error));
    ck_assert_double_eq(use.use[CM_QUOTA_BYTES], 100);
    ck_assert_double_eq(use.use[CM_QUOTA_NETWORKS], 1);
  }
  ck_ok(cm_limits_set(store->database, &cm_quota_kind, &(cm_limit_row){false, "eve", {50, NAN, NAN, NAN, NAN, NAN}}, &error));
  ck_fails(cm_networks_join(store, "abc", "eve", &error), CM_QUOTA_USED);
  ck_ok(cm_networks_leave(store, "abc", "ann", &last, &error));
  ck_assert(!last);
  ck_ok(cm_owners_get(store->database, CM_OBJECT_NETWORK, "abc", NULL, &as_bob, &owner, &error));
  ck_assert(cm_owner_lets(&owner, &as_bob));
  ck_ok(cm_quotas_use(store->database, "ann", &use, &error));
  ck_assert_double_eq(use.use[CM_QUOTA_NETWORKS], 0);
  ck_ok(cm_networks_leave(store, "abc", "bob", &last, &error));
  ck_assert(last);
  /* A removed user leaves it to the others. */
  ck_ok(cm_networks_join(store, "abc", "ann", &error));
  ck_ok(cm_users_remove(store->database, "bob", &error));
  ck_ok(cm_owners_get(store->database, CM_OBJECT_NETWORK, "abc", NULL, NULL, &owner, &error));
  ck_assert_str_eq(owner.user, "ann");
}
END_TEST

/* ---- leases ---- */

START_TEST(leased_cores_cannot_be_given_away)
{
  cm_lease lease, other;
  char *text, etag[CM_ETAG_MAX];
  bool mismatch;
  json_t *cores = json_pack("[[i,i,i,i]]", 0, 0, 1, 1);
  ck_ok(cm_leases_create(store, &(cm_lease_request){{{0}, {0}, 0}, "toy", "me", NULL, 60, cores, 0}, &lease, &error));
  ck_fails(cm_leases_create(store, &(cm_lease_request){{{0}, {0}, 0}, "toy", "you", NULL, 60, cores, 0}, &other, &error),
           CM_CONFLICT);
  ck_fails(cm_leases_create(store, &(cm_lease_request){{{0}, {0}, 0}, "toy", "you", NULL, 60, NULL, 61}, &other, &error), CM_NO_ROOM);
  const char release[] = "{\"release\": [[0, 0]]}";
  ck_fails(cm_occupancy_write(store, &(cm_occupancy_change){"toy", "*", false, release, sizeof release - 1}, &mismatch,
                              &text, etag, &error), CM_CONFLICT);
  ck_fails(cm_occupancy_write(store, &(cm_occupancy_change){"toy", "*", true, "{}", 2}, &mismatch, &text, etag,
                              &error), CM_CONFLICT);
  ck_assert(!mismatch);
  ck_fails(cm_occupancy_write(store, &(cm_occupancy_change){"toy", "old", true, "{}", 2}, &mismatch, &text, etag,
                              &error), CM_CONFLICT);
  ck_assert(mismatch);
  /* A core may break under a lease; repaired, it is free, and the lease no longer holds it. */
  const char wear[] = "{\"broken\": [[0, 0]]}", mend[] = "{\"repaired\": [[0, 0]]}";
  ck_ok(cm_occupancy_write(store, &(cm_occupancy_change){"toy", "*", false, wear, sizeof wear - 1}, &mismatch,
                           &text, etag, &error));
  free(text);
  ck_ok(cm_occupancy_write(store, &(cm_occupancy_change){"toy", "*", false, mend, sizeof mend - 1}, &mismatch,
                           &text, etag, &error));
  free(text);
  cm_lease now;
  ck_ok(cm_leases_get(store, "toy", lease.id, &now, &error));
  ck_assert_uint_eq(now.core_count, 3);
  cm_lease_clear(&now);
  ck_ok(cm_leases_release(store, "toy", lease.id, &error));
  ck_fails(cm_leases_release(store, "toy", lease.id, &error), CM_NOT_FOUND);
  ck_ok(cm_leases_create(store, &(cm_lease_request){{{0}, {0}, 0}, "toy", "you", NULL, 60, NULL, 64}, &other, &error));
  cm_lease_clear(&lease);
  cm_lease_clear(&other);
  json_decref(cores);
}
END_TEST

START_TEST(leases_expire)
{
  cm_lease lease, kept;
  uint64_t count;
  ck_ok(cm_leases_create(store, &(cm_lease_request){{{0}, {0}, 0}, "toy", "a", NULL, 0.2, NULL, 32}, &lease, &error));
  ck_ok(cm_leases_create(store, &(cm_lease_request){{{0}, {0}, 0}, "toy", "b", NULL, 0.2, NULL, 32}, &kept, &error));
  cm_lease_clear(&kept);
  ck_ok(cm_leases_keep(store, "toy", kept.id, 60, &kept, &error));
  usleep(250000);
  ck_fails(cm_leases_keep(store, "toy", lease.id, 60, &lease, &error), CM_NOT_FOUND);
  ck_ok(cm_leases_expire(store, &count, &error));
  ck_assert_uint_eq(count, 1);
  ck_ok(cm_leases_expire(store, &count, &error));
  ck_assert_uint_eq(count, 0);
  cm_chip *chip;
  cm_occupancy *occupancy;
  ck_ok(cm_occupancy_open(store, "toy", &chip, &occupancy, &error));
  ck_assert_uint_eq(cm_occupancy_free_count(occupancy), 32);
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
  cm_lease_clear(&lease);
  cm_lease_clear(&kept);
}
END_TEST

static double wall_now, steady_now;

static double fake_wall(void)
{
  return wall_now;
}

static double fake_steady(void)
{
  return steady_now;
}

static void expect_leases(size_t expected)
{
  cm_lease *leases;
  uint64_t expired;
  size_t count;
  for (int i = 0; i < 2; i++) { /* before and after the server has looked at its clock */
    ck_ok(cm_leases_list(store, "toy", NULL, &leases, &count, &error));
    ck_assert_uint_eq(count, expected);
    for (size_t k = 0; k < count; k++)
      cm_lease_clear(&leases[k]);
    free(leases);
    ck_ok(cm_leases_expire(store, &expired, &error));
    ck_assert(i == 0 || expired == 0);
  }
}

static void restart_store(void)
{
  cm_store_close(store);
  open_store();
}

START_TEST(a_wall_clock_that_jumps_ends_no_lease_and_no_delay)
{
  char id[CM_ID_MAX];
  cm_lease lease;
  cm_job job;
  bool again, found;
  wall_now = 1e9;
  steady_now = 5000;
  cm_clock_replace(&(cm_clock){fake_wall, fake_steady});
  restart_store();
  create_job("", 0, id);
  claim(&job);
  ck_ok(cm_jobs_retry(store, &job, NULL, &again, &error)); /* in 2 s */
  cm_job_clear(&job);
  ck_ok(cm_leases_create(store, &(cm_lease_request){{{0}, {0}, 0}, "toy", "a", NULL, 60, NULL, 32}, &lease, &error));
  ck_assert(lease.expires == 1e9 + 60);
  cm_lease_clear(&lease);
  static const double jumps[] = {7200, -86400, 1e8, -1e8};
  for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++) {
    wall_now += jumps[i];
    ck_ok(cm_jobs_claim(store, CM_CLAIM_ANY, &job, &found, &error));
    ck_assert(!found);
    expect_leases(1);
    ck_ok(cm_leases_get(store, "toy", lease.id, &lease, &error));
    ck_assert(lease.expires - wall_now > 59 && lease.expires - wall_now < 61);
    cm_lease_clear(&lease);
    restart_store(); /* no time has passed: what was stored has followed */
    expect_leases(1);
  }
  /* Time that really passes. */
  steady_now += 3;
  wall_now += 3;
  claim(&job);
  cm_job_clear(&job);
  ck_ok(cm_leases_keep(store, "toy", lease.id, 30, &lease, &error));
  cm_lease_clear(&lease);
  steady_now += 29;
  wall_now -= 7200;
  expect_leases(1);
  steady_now += 2;
  expect_leases(0);
  /* While no server runs the wall clock counts, and across a boot there is nothing else. */
  ck_ok(cm_leases_create(store, &(cm_lease_request){{{0}, {0}, 0}, "toy", "a", NULL, 60, NULL, 32}, &lease, &error));
  cm_lease_clear(&lease);
  steady_now = 10;
  wall_now += 50;
  restart_store();
  expect_leases(1);
  wall_now += 20;
  steady_now = 20;
  restart_store();
  expect_leases(0);
  cm_clock_replace(NULL);
}
END_TEST

START_TEST(a_lease_without_memory_changes_nothing)
{
  char before[CM_ETAG_MAX], after[CM_ETAG_MAX], *text;
  uint64_t faults = 0;
  cm_lease lease;
  ck_ok(cm_occupancy_read(store, "toy", &text, before, &error));
  free(text);
  for (uint64_t n = 1;; n++) {
    cm_memory_fail_at(n);
    cm_status status = cm_leases_create(store, &(cm_lease_request){{{0}, {0}, 0}, "toy", "me", NULL, 60, NULL, 5}, &lease, &error);
    bool fired = cm_memory_fault_fired();
    cm_memory_fail_at(0);
    if (!fired) {
      ck_assert_int_eq(status, CM_OK);
      break;
    }
    faults++;
    ck_assert_int_eq(status, CM_NO_MEMORY);
    ck_ok(cm_occupancy_read(store, "toy", &text, after, &error));
    free(text);
    ck_assert_str_eq(before, after);
  }
  ck_assert_uint_gt(faults, 3);
  cm_lease_clear(&lease);
}
END_TEST

START_TEST(a_cancel_between_claim_and_start_stands)
{
  char id[CM_ID_MAX];
  create_job("", 0, id);
  cm_event_bus_cancel(store->bus, id);
  cm_job job;
  claim(&job);
  ck_assert(atomic_load(cm_event_bus_cancel_flag(store->bus, id)));
  cm_job_clear(&job);
}
END_TEST

/* A model of who holds what, kept beside the store under random operations of several holders. */
START_TEST(two_leases_never_hold_one_core)
{
  enum { ROUNDS = 400, LEASES = 12 };
  struct { char id[CM_ID_MAX]; bool live; uint64_t cores; } model[LEASES] = {0};
  cm_random random;
  cm_random_init(&random, 11, 0, 0);
  for (int round = 0; round < ROUNDS; round++) {
    size_t i = (size_t)cm_random_below(&random, LEASES);
    if (!model[i].live) {
      cm_lease lease;
      uint32_t x = (uint32_t)cm_random_below(&random, 7), y = (uint32_t)cm_random_below(&random, 7);
      json_t *cores =
          cm_random_below(&random, 2) == 0 ? json_pack("[[i,i,i,i]]", (int)x, (int)y, (int)x + 1, (int)y + 1) : NULL;
      double ttl = cm_random_below(&random, 8) == 0 ? 0.01 : 60;
      cm_status status = cm_leases_create(
          store, &(cm_lease_request){{{0}, {0}, 0}, "toy", "m", NULL, ttl, cores, (uint32_t)cm_random_below(&random, 9) + 1}, &lease,
          &error);
      json_decref(cores);
      if (status == CM_OK) {
        memcpy(model[i].id, lease.id, sizeof lease.id);
        model[i].live = true;
        cm_lease_clear(&lease);
      } else
        /* The shortest may be over before it has been read back. */
        ck_assert(status == CM_CONFLICT || status == CM_NO_ROOM || (status == CM_NOT_FOUND && ttl < 1));
    } else if (cm_random_below(&random, 2) == 0) {
      cm_status status = cm_leases_release(store, "toy", model[i].id, &error);
      ck_assert(status == CM_OK || status == CM_NOT_FOUND);
      model[i].live = false;
    } else {
      char change[80], *text, etag[CM_ETAG_MAX];
      bool mismatch;
      static const char *const verbs[] = {"occupy", "release", "broken", "repaired"};
      (void)snprintf(change, sizeof change, "{\"%s\": [[%d, %d]]}", verbs[cm_random_below(&random, 4)],
                     (int)cm_random_below(&random, 8), (int)cm_random_below(&random, 8));
      if (cm_occupancy_write(store, &(cm_occupancy_change){"toy", "*", false, change, strlen(change)}, &mismatch, &text,
                             etag, &error) == CM_OK)
        free(text);
      else
        ck_assert_int_eq(error.status, CM_CONFLICT);
    }
    cm_lease *leases;
    size_t count;
    int held[64] = {0};
    ck_ok(cm_leases_list(store, "toy", NULL, &leases, &count, &error));
    for (size_t l = 0; l < count; l++) {
      json_t *cores = json_loads(leases[l].cores, 0, NULL), *r;
      size_t k;
      json_array_foreach(cores, k, r) for (json_int_t y = json_integer_value(json_array_get(r, 1));
                                           y <= json_integer_value(json_array_get(r, 3));
                                           y++) for (json_int_t x = json_integer_value(json_array_get(r, 0));
                                                     x <= json_integer_value(json_array_get(r, 2)); x++)
          ck_assert_int_eq(held[y * 8 + x]++, 0);
      json_decref(cores);
      cm_lease_clear(&leases[l]);
    }
    free(leases);
  }
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
  cm_level_cache levels = cm_cache_levels(store->cache);
  cm_cache_counts counts;
  char path[CM_PATH_MAX], again[CM_PATH_MAX], file[CM_PATH_MAX];
  ck_fails(levels.acquire(levels.user, "aa", path, &error), CM_NOT_FOUND);
  build_entry(&levels, "aa", 1000, path);
  levels.release(levels.user, "aa");
  ck_ok(levels.acquire(levels.user, "aa", again, &error));
  ck_assert_str_eq(path, again);
  levels.release(levels.user, "aa");
  cm_store_close(store);
  open_store();
  levels = cm_cache_levels(store->cache);
  ck_ok(levels.acquire(levels.user, "aa", again, &error));
  levels.release(levels.user, "aa");
  ck_ok(cm_path(file, &error, "%s/level-1.zip", path));
  FILE *stream = fopen(file, "r+b");
  ck_assert_int_eq(fseek(stream, 500, SEEK_SET), 0);
  fputc('x', stream);
  fclose(stream);
  ck_fails(levels.acquire(levels.user, "aa", again, &error), CM_NOT_FOUND);
  ck_assert_int_ne(access(path, F_OK), 0);
  cm_cache_count(store->cache, &counts);
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
  cm_level_cache levels = cm_cache_levels(store->cache);
  cm_cache_counts counts;
  char path[CM_PATH_MAX], held[CM_PATH_MAX];
  build_entry(&levels, "a1", 400000, held); /* stays acquired: the oldest, but in use */
  build_entry(&levels, "a2", 400000, path);
  levels.release(levels.user, "a2");
  build_entry(&levels, "a3", 400000, path); /* 1.2 MB in a cache of 1 MiB */
  levels.release(levels.user, "a3");
  cm_cache_count(store->cache, &counts);
  ck_assert_uint_eq(counts.evicted, 1);
  ck_fails(levels.acquire(levels.user, "a2", path, &error), CM_NOT_FOUND);
  ck_ok(levels.acquire(levels.user, "a3", path, &error));
  levels.release(levels.user, "a3");
  cm_cache_empty(store->cache);
  ck_assert_int_eq(access(held, F_OK), 0);
  levels.release(levels.user, "a1");
  ck_assert_int_ne(access(held, F_OK), 0);
  cm_cache_count(store->cache, &counts);
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

int main(void)
{
  Suite *suite = suite_create("storage");
  TCase *tests = tcase_create("storage");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_set_timeout(tests, 60);
  tcase_add_test(tests, writes_of_many_threads_share_commits);
  tcase_add_test(tests, a_writer_that_hangs_is_seen);
  tcase_add_test(tests, the_wish_to_drain_stands_until_it_is_taken_back);
  tcase_add_test(tests, a_failed_write_is_rolled_back_alone);
  tcase_add_test(tests, a_full_disk_fails_the_write_and_nothing_else);
  tcase_add_test(tests, a_folder_has_one_server);
  tcase_add_test(tests, start_puts_aside_what_no_row_knows);
  tcase_add_test(tests, a_foreign_folder_is_refused);
  tcase_add_test(tests, marker_and_database_belong_together);
  tcase_add_test(tests, databases_of_others_are_refused);
  tcase_add_test(tests, a_folder_of_the_release_before_is_taken_over);
  tcase_add_test(tests, a_folder_without_users_is_taken_over);
  tcase_add_test(tests, a_folder_without_lanes_is_taken_over);
  tcase_add_test(tests, folders_of_earlier_releases_are_packed);
  tcase_add_test(tests, packs_are_small_and_sound);
  tcase_add_test(tests, what_is_deleted_comes_back_as_it_was);
  tcase_add_test(tests, what_is_old_or_too_much_goes_but_for_pins);
  tcase_add_test(tests, a_network_can_have_several_owners);
  tcase_add_test(tests, a_backup_comes_back);
  tcase_add_test(tests, moves_are_those_of_the_table);
  tcase_add_test(tests, claims_by_priority_then_fair_share_then_age);
  tcase_add_test(tests, only_the_current_attempt_may_finish);
  tcase_add_test(tests, faults_of_the_machine_pass_and_others_stay);
  tcase_add_test(tests, a_passing_fault_is_tried_again_later_and_not_for_ever);
  tcase_add_test(tests, a_job_to_be_cancelled_is_not_tried_again);
  tcase_add_test(tests, a_job_that_keeps_killing_the_server_fails);
  tcase_add_test(tests, cancel_survives_a_crash);
  tcase_add_test(tests, an_idempotency_key_makes_one_job);
  tcase_add_test(tests, identical_jobs_wait_for_the_first);
  tcase_add_test(tests, a_network_in_use_stays);
  tcase_add_test(tests, a_reserving_job_takes_its_region_or_nothing);
  tcase_add_test(tests, leased_cores_cannot_be_given_away);
  tcase_add_test(tests, leases_expire);
  tcase_add_test(tests, a_wall_clock_that_jumps_ends_no_lease_and_no_delay);
  tcase_add_test(tests, a_lease_without_memory_changes_nothing);
  tcase_add_test(tests, a_cancel_between_claim_and_start_stands);
  tcase_add_test(tests, two_leases_never_hold_one_core);
  tcase_add_test(tests, cache_gives_back_only_what_is_whole);
  tcase_add_test(tests, cache_drops_the_least_recently_used_but_none_in_use);
  tcase_add_test(tests, board_without_a_listener_has_none_under_way);
  tcase_add_test(tests, board_keeps_the_newest_events);
  tcase_add_test(tests, uploads_that_nobody_goes_on_with_are_removed);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
