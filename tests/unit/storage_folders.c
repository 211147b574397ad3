/* storage: whose folder it is, what start puts in order, folders of earlier releases, packs, uploads and backups. */
#include "store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/random.h"
#include "storage/leases.h"
#include "storage/folder.h"
#include "storage/pack.h"
#include "storage/uploads.h"
#include "storage/backup.h"
#include "storage/bin.h"
#include "storage/check.h"
#include "storage/tokens.h"
#include "storage/mappings.h"
#include "storage/users.h"

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

/* Folders as releases 0.2 (schema 19), 0.3 (24), 0.4 (25) and 0.5 (28) left them (scripts/release-folder): users, a mapping of each, one of a private network, a lease, half an upload,
 * something in the bin. All is there and sound, and whose it is. */
static const struct {
  const char *file, *hidden, *job, *mapping, *of_bob, *lease, *upload;
} released[] = {
  {"data-folder-19.tar.gz", "125a4e5f12c87726d9c0bfb233ddf6596acec8ee27e3c6932e5a101e81bbf984", "61ff536a98f778db0766", "f6a1365471a0367822e8",
   "7f2901189be24716ba02", "f9f837ae1b2a09a6bac9", "f4fcb3aa057af47ec0bf"},
  {"data-folder-24.tar.gz", "9df42e0f5576413829dbf5baccb97f82efab61626bba0cdf178657a14ded4afc", "484c6c444bcfbc3a7e5d", "2de68f5bac16198379d7",
   "dba36fdbb53d20be98a1", "3b7b36ec79fb9786c656", "2db46ec607043ca770d8"},
  {"data-folder-25.tar.gz", "77371b68e6caa25937716e2b6bf3b8ce74f0b6192676e196289be48d9749328e", "53b31377ad0860752812", "1eec55c8ffb1ea20e019",
   "dc81111fa25b066a99b7", "b029f964f20fe44925c6", "b22fcfa5f9a36fc9b941"},
  {"data-folder-28.tar.gz", "abc821e279e5fa690940d3be4682ff5f4409b0474174c2b55a4f3323c2c869e3", "56e0d5bb0a73c086022d", "dd8983bac65dbab6539a",
   "80c575d84667d66e422b", "252d07bc31cc1747c441", "36a8b775b7639a3cb7b8"},
};

START_TEST(a_folder_of_a_released_version_is_taken_over)
{
  char command[2 * CM_PATH_MAX + 64];
  cm_network network;
  cm_job job;
  cm_mapping_row mapping;
  cm_lease lease;
  cm_upload upload;
  cm_user bob;
  uint64_t faults;
  cm_store_close(store);
  ck_ok(cm_folder_remove(folder, &error));
  ck_ok(cm_folder_make(folder, &error));
  (void)snprintf(command, sizeof command, "tar -xzf '%s' -C '%s' --strip-components=1", test_data(released[_i].file), folder);
  ck_assert_int_eq(system(command), 0);
  open_store();
  ck_ok(cm_users_get(store->database, "bob", &bob, &error));
  ck_assert_str_eq(bob.group, "vision");
  ck_ok(cm_networks_get(store, released[_i].hidden, &network, &error));
  ck_assert_int_eq(network.owner.visibility, CM_VISIBLE_PRIVATE);
  ck_ok(cm_jobs_get(store, released[_i].job, &job, &error));
  ck_assert_int_eq(job.state, CM_JOB_DONE);
  ck_assert_str_eq(job.mapping, released[_i].mapping);
  cm_job_clear(&job);
  ck_ok(cm_mappings_get(store, released[_i].of_bob, &mapping, &error));
  ck_assert_str_eq(mapping.owner.user, "bob");
  ck_ok(cm_leases_get(store, "toy", released[_i].lease, &lease, &error));
  ck_assert_uint_eq(lease.core_count, 2);
  cm_lease_clear(&lease);
  ck_ok(cm_uploads_get(store, released[_i].upload, &upload, &error));
  ck_assert_uint_eq(upload.offset, 8);
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
    ck_ok(cm_mappings_delete(store, old[i].mapping, false, &error));
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
  cm_backup_counts counts;
  uint64_t faults;
  cm_network network;
  sqlite3 *handle;
  cm_upload half = {.size = 10, .name = "half"};
  ck_ok(cm_path(backup, &error, "%s.backup", folder));
  ck_ok(cm_path(back, &error, "%s.back", folder));
  add_network("one");
  ck_ok(cm_uploads_create(store, &half, &error));
  ck_ok(cm_backup_make(folder, backup, NULL, &counts, &error));
  ck_assert_uint_eq(counts.files, 2); /* with the one that every store here begins with */
  ck_assert_uint_eq(counts.bytes, 6);
  ck_fails(cm_backup_make(folder, backup, NULL, &counts, &error), CM_CONFLICT); /* it is not empty */
  add_network("two");
  ck_ok(cm_backup_restore(backup, back, &counts, &error));
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
  ck_fails(cm_backup_restore(backup, back, &counts, &error), CM_CONFLICT);
  ck_assert_ptr_nonnull(strstr(error.detail, "newer version"));
  ck_ok(cm_folder_remove(backup, &error));
  open_store();
}
END_TEST

/* The inode of a file in a folder. */
static ino_t inode_of(const char *where, const char *name)
{
  char path[CM_PATH_MAX];
  struct stat about;
  ck_ok(cm_path(path, &error, "%s/%s", where, name));
  ck_assert_int_eq(stat(path, &about), 0);
  return about.st_ino;
}

/* Backups on another file system share what the one before has, and copy the rest; halves go, strangers stay, so do the newest ones. */
START_TEST(backups_in_a_row_share_files)
{
  char series[] = "/dev/shm/coremapd-XXXXXX", made[3][CM_PATH_MAX], half[CM_PATH_MAX], stranger[CM_PATH_MAX], inner[CM_PATH_MAX];
  cm_backup_counts counts;
  struct stat here, there;
  ck_assert_ptr_nonnull(mkdtemp(series));
  const bool apart = stat(folder, &here) == 0 && stat(series, &there) == 0 && here.st_dev != there.st_dev;
  ck_ok(cm_path(half, &error, "%s/2001-01-01T000000Z", series));
  ck_ok(cm_path(stranger, &error, "%s/2002-01-01T000000Z", series));
  ck_ok(cm_path(inner, &error, "%s/kept", stranger));
  ck_ok(cm_folder_make(half, &error));
  ck_ok(cm_folder_mark_unfinished(half, &error));
  ck_ok(cm_folder_make(inner, &error));
  add_network("one");
  for (int i = 0; i < 3; i++) {
    if (i > 0)
      sleep(1); /* they are called by the second */
    ck_ok(cm_backup_next(folder, series, 2, made[i], &counts, &error));
    ck_assert_uint_eq(counts.files, i < 2 ? 2 : 3);
    ck_assert_uint_eq(counts.bytes, i < 2 ? 6 : 9);
    ck_assert_uint_eq(counts.copied, !apart || i == 1 ? 0 : i == 0 ? 6 : 3);
    if (i == 1)
      add_network("two");
  }
  ck_assert_int_ne(access(half, F_OK), 0);
  ck_assert_int_ne(access(made[0], F_OK), 0);
  ck_assert_int_eq(access(inner, F_OK), 0);
  ck_assert(inode_of(made[1], "networks/one.zip") == inode_of(made[2], "networks/one.zip"));
  uint64_t faults = 1;
  ck_ok(cm_check_data(made[1], &(cm_check_report){ignore_line, NULL}, &faults, &error));
  ck_assert_uint_eq(faults, 0);
  ck_ok(cm_folder_remove(series, &error));
}
END_TEST

/* What a kill leaves of a backup, or of what is restored, looks like a folder of an earlier release but for its marker. Nobody takes it. */
START_TEST(half_a_backup_is_none)
{
  char half[CM_PATH_MAX], back[CM_PATH_MAX];
  cm_backup_counts counts;
  uint64_t faults;
  cm_store *other;
  ck_ok(cm_path(half, &error, "%s.half", folder));
  ck_ok(cm_path(back, &error, "%s.back", folder));
  ck_ok(cm_backup_make(folder, half, NULL, &counts, &error));
  ck_ok(cm_folder_mark_unfinished(half, &error));
  const cm_status refusals[] = {cm_store_open(half, 1 << 20, &other, &error), cm_backup_restore(half, back, &counts, &error),
                                cm_check_data(half, &(cm_check_report){ignore_line, NULL}, &faults, &error)};
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
    ck_assert_int_eq(refusals[i], CM_CONFLICT);
  ck_assert_ptr_nonnull(strstr(error.detail, "half of a backup"));
  /* One that failed leaves nothing. */
  ck_ok(cm_folder_remove(half, &error));
  ck_assert_int_eq(unlink(inside("networks/abc.zip")), 0);
  ck_fails(cm_backup_make(folder, half, NULL, &counts, &error), CM_DAMAGED);
  ck_assert_int_eq(rmdir(half), 0);
}
END_TEST

/* What lies in the bin of a backup can be brought back from it. */
START_TEST(a_backup_has_the_files_of_its_bin)
{
  char backup[CM_PATH_MAX], back[CM_PATH_MAX];
  cm_backup_counts counts;
  cm_binned entry;
  ck_ok(cm_path(backup, &error, "%s.backup", folder));
  ck_ok(cm_path(back, &error, "%s.back", folder));
  add_network("one");
  ck_ok(cm_bin_put(store, CM_OBJECT_NETWORK, "one", NULL, &(bool){false}, &error));
  ck_ok(cm_backup_make(folder, backup, NULL, &counts, &error));
  ck_ok(cm_backup_restore(backup, back, &counts, &error));
  cm_store_close(store);
  ck_ok(cm_store_open(back, 1 << 20, &store, &error));
  ck_ok(cm_bin_restore(store, "one", &entry, &error));
  cm_store_close(store);
  ck_ok(cm_folder_remove(back, &error));
  ck_ok(cm_folder_remove(backup, &error));
  open_store();
  ck_assert_int_eq(unlink(inside("networks/one.zip")), 0);
  ck_fails(cm_backup_make(folder, backup, NULL, &counts, &error), CM_DAMAGED);
  ck_assert_int_eq(rmdir(backup), 0);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("storage, folders");
  TCase *tests = tcase_create("storage, folders");
  tcase_add_checked_fixture(tests, store_setup, store_teardown);
  tcase_add_test(tests, a_folder_has_one_server);
  tcase_add_test(tests, start_puts_aside_what_no_row_knows);
  tcase_add_test(tests, a_foreign_folder_is_refused);
  tcase_add_test(tests, marker_and_database_belong_together);
  tcase_add_test(tests, databases_of_others_are_refused);
  tcase_add_test(tests, a_folder_of_the_release_before_is_taken_over);
  tcase_add_test(tests, a_folder_without_users_is_taken_over);
  tcase_add_test(tests, a_folder_without_lanes_is_taken_over);
  tcase_add_loop_test(tests, a_folder_of_a_released_version_is_taken_over, 0, (int)(sizeof released / sizeof *released));
  tcase_add_test(tests, folders_of_earlier_releases_are_packed);
  tcase_add_test(tests, packs_are_small_and_sound);
  tcase_add_test(tests, a_backup_comes_back);
  tcase_add_test(tests, backups_in_a_row_share_files);
  tcase_add_test(tests, half_a_backup_is_none);
  tcase_add_test(tests, a_backup_has_the_files_of_its_bin);
  tcase_add_test(tests, uploads_that_nobody_goes_on_with_are_removed);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
