/* storage: what the checks of a data folder find, one fault after the other. */
#include "store.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include "storage/check.h"
#include "storage/pack.h"
#include "storage/uploads.h"

static char said[1 << 16];

static void run(const char *sql)
{
  sqlite3 *handle;
  ck_assert_int_eq(sqlite3_open(inside("coremapd.db"), &handle), SQLITE_OK);
  ck_assert_int_eq(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(handle);
}

/* A folder with a network, a mapping of two files, half an upload and a queued job; no server on it. */
static void setup(void)
{
  bool known, found, taken;
  cm_network network = {.id = "abc", .neurons = 3, .created = 1};
  cm_mapping_row mapping = {.id = "m1", .kind = "map", .network = "abc", .chip = "loihi1"};
  cm_job job = {.kind = "map", .network = "abc", .chip = "loihi1", .options = (char[]){"{}"}, .ttl = 60};
  cm_job_created result;
  cm_upload upload = {.size = 4};
  char id[CM_ID_MAX], piece[CM_PATH_MAX];
  test_folder(folder);
  ck_ok(cm_store_open(folder, 1 << 20, &store, &error));
  (void)snprintf(piece, sizeof piece, "%s", inside("incoming/x"));
  test_write(piece, "zip", 3);
  ck_ok(cm_networks_publish(store, &network, piece, &known, &error));
  ck_ok(cm_folder_make(inside("mappings/m1"), &error));
  test_write(inside("mappings/m1/summary.json"), "{}", 2);
  test_write(inside("mappings/m1/mapping.json"), "{\"a\": 1}", 8);
  ck_ok(cm_jobs_create(store, &job, NULL, &result, id, &error));
  ck_ok(cm_jobs_claim(store, CM_CLAIM_ANY, &job, &found, &error));
  ck_ok(cm_jobs_finish(store, &job, &(cm_job_outcome){.state = CM_JOB_DONE, .mapping = &mapping}, &taken, &error));
  ck_ok(cm_jobs_create(store, &job, NULL, &result, id, &error));
  cm_job_clear(&job);
  ck_ok(cm_uploads_create(store, &upload, &error));
  test_write(piece, "ab", 2);
  ck_ok(cm_uploads_append(store, piece, 0, &upload, &error));
  ck_assert_int_eq(unlink(piece), 0);
  cm_store_close(store);
}

static void teardown(void)
{
  ck_ok(cm_folder_remove(folder, &error));
}

static void note_line(void *user, const char *line)
{
  (void)user;
  size_t used = strlen(said);
  (void)snprintf(said + used, sizeof said - used, "%s\n", line);
}

static uint64_t check(void)
{
  uint64_t faults;
  said[0] = '\0';
  ck_ok(cm_check_data(folder, &(cm_check_report){note_line, NULL}, &faults, &error));
  return faults;
}

/* The whole check finds this one fault and names it; the start finds it too when it is one of sizes, and starts. */
static void expect_fault(const char *what, bool of_size)
{
  uint64_t faults;
  ck_assert_msg(check() == 1, "%s", said);
  ck_assert_msg(strstr(said, what) != NULL, "%s", said);
  ck_assert_ptr_nonnull(strstr(said, "\n1 fault\n"));
  ck_ok(cm_store_open(folder, 1 << 20, &store, &error));
  ck_ok(cm_check_sizes(store, &faults, &error));
  ck_assert_uint_eq(faults, of_size);
  cm_store_close(store);
}

START_TEST(a_whole_folder_has_no_faults)
{
  ck_assert_msg(check() == 0, "%s", said);
  ck_assert_msg(strstr(said, "files: 3 with 13 bytes, each has its SHA-256") != NULL, "%s", said);
  ck_assert_ptr_nonnull(strstr(said, "jobs: 2, counters and rows agree"));
  ck_assert_ptr_nonnull(strstr(said, "uploads under way: 1"));
  ck_assert_ptr_nonnull(strstr(said, "no faults"));
  /* It is refused while a server works there, and elsewhere. */
  uint64_t faults;
  ck_ok(cm_store_open(folder, 1 << 20, &store, &error));
  ck_fails(cm_check_data(folder, &(cm_check_report){note_line, NULL}, &faults, &error), CM_CONFLICT);
  cm_store_close(store);
  ck_fails(cm_check_data(inside("mappings"), &(cm_check_report){note_line, NULL}, &faults, &error), CM_CONFLICT);
  ck_fails(cm_check_data(inside("nowhere"), &(cm_check_report){note_line, NULL}, &faults, &error), CM_NOT_FOUND);
}
END_TEST

START_TEST(a_changed_byte_is_found)
{
  test_write(inside("networks/abc.zip"), "zap", 3);
  expect_fault("networks/abc.zip: SHA-256 is", false);
}
END_TEST

START_TEST(a_file_of_another_size_is_found)
{
  test_write(inside("mappings/m1/mapping.json"), "{", 1);
  expect_fault("mappings/m1/mapping.json: 1 bytes, 8 expected", true);
}
END_TEST

START_TEST(a_missing_file_is_found)
{
  ck_assert_int_eq(unlink(inside("mappings/m1/summary.json")), 0);
  expect_fault("mappings/m1/summary.json: the file is missing", true);
}
END_TEST

START_TEST(a_damaged_pack_is_found)
{
  bool left;
  ck_ok(cm_store_open(folder, 1 << 20, &store, &error));
  cm_store_close(store);
  run("UPDATE mappings SET form = 0");
  ck_ok(cm_store_open(folder, 1 << 20, &store, &error));
  ck_ok(cm_pack_old(store, 10, &left, &error));
  cm_store_close(store);
  ck_assert_msg(check() == 0, "%s", said);
  ck_assert_ptr_nonnull(strstr(said, "packed results: 1 with "));
  run("UPDATE packs SET content = zeroblob(length(content))");
  expect_fault("SHA-256 of its packed files is", false);
  run("DELETE FROM packs");
  expect_fault("its packed files are missing", false);
}
END_TEST

START_TEST(a_wrong_counter_is_found)
{
  run("UPDATE queue_ranks SET jobs = 7 WHERE level = 0");
  expect_fault("blocks of the queue are counted wrongly", false);
}
END_TEST

START_TEST(a_missing_upload_is_found)
{
  ck_ok(cm_folder_remove(inside("incoming"), &error));
  expect_fault("the bytes of an upload are missing", false);
}
END_TEST

START_TEST(what_no_row_knows_is_told_and_left)
{
  test_write(inside("networks/thesis"), "x", 1);
  ck_assert_msg(check() == 0, "%s", said);
  ck_assert_ptr_nonnull(strstr(said, "unknown: networks/thesis"));
  ck_assert_int_eq(access(inside("networks/thesis"), F_OK), 0);
}
END_TEST

START_TEST(what_is_deleted_is_no_longer_expected)
{
  ck_ok(cm_store_open(folder, 1 << 20, &store, &error));
  ck_ok(cm_mappings_delete(store, "m1", false, &error));
  cm_store_close(store);
  ck_assert_msg(check() == 0, "%s", said);
  ck_assert_ptr_nonnull(strstr(said, "files: 1 with 3 bytes"));
}
END_TEST

/* Pages of the database written over: start and check say so, and the start is refused. */
START_TEST(a_damaged_database_is_found)
{
  FILE *stream = fopen(inside("coremapd.db"), "r+b");
  ck_assert_ptr_nonnull(stream);
  ck_assert_int_eq(fseek(stream, 0, SEEK_END), 0);
  long size = ftell(stream);
  for (long page = 4096; page + 4096 <= size; page += 4096) {
    ck_assert_int_eq(fseek(stream, page + 3, SEEK_SET), 0);
    ck_assert_uint_eq(fwrite("\xff\xff\xff\xff\xff\xff\xff\xff", 1, 8, stream), 8);
  }
  ck_assert_int_eq(fclose(stream), 0);
  ck_fails(cm_store_open(folder, 1 << 20, &store, &error), CM_DAMAGED);
  ck_assert_msg(check() > 0, "%s", said);
}
END_TEST

/* Of an earlier release nothing was noted: networks are read to their end, mappings must be there. */
START_TEST(folders_of_an_earlier_release_are_read_instead)
{
  static const char network[] = "networks/e436169eee9425d2bea8d9409aa22556092a0b2ec872f0d7ad005a43a41b2ed1.zip";
  char command[2 * CM_PATH_MAX + 64];
  uint64_t faults;
  ck_ok(cm_folder_remove(folder, &error));
  ck_ok(cm_folder_make(folder, &error));
  (void)snprintf(command, sizeof command, "tar -xzf '%s' -C '%s' --strip-components=1",
                 test_data("data-folder-2.tar.gz"), folder);
  ck_assert_int_eq(system(command), 0);
  ck_fails(cm_check_data(folder, &(cm_check_report){note_line, NULL}, &faults, &error), CM_CONFLICT);
  ck_ok(cm_store_open(folder, 1 << 20, &store, &error));
  cm_store_close(store);
  ck_assert_msg(check() == 0, "%s", said);
  ck_assert_ptr_nonnull(strstr(said, "without a noted digest: 2"));
  FILE *stream = fopen(inside(network), "r+b");
  ck_assert_ptr_nonnull(stream);
  ck_assert_int_eq(fseek(stream, 60, SEEK_SET), 0);
  ck_assert_int_ge(fputs("damaged", stream), 0);
  ck_assert_int_eq(fclose(stream), 0);
  ck_assert_msg(check() == 1, "%s", said);
  ck_assert_ptr_nonnull(strstr(said, network));
}
END_TEST

/* What SQLite says of a database, and the verdict: its status, and whether it names a damage. */
typedef struct sentence {
  const char *text;
  cm_status status;
  bool damaged;
} sentence;

static void judge(sqlite3 *handle, const sentence *expected)
{
  sqlite3_stmt *statement;
  const char *damage = NULL;
  ck_assert_int_eq(sqlite3_prepare_v2(handle, "SELECT ?", -1, &statement, NULL), SQLITE_OK);
  ck_assert_int_eq(sqlite3_bind_text(statement, 1, expected->text, -1, SQLITE_STATIC), SQLITE_OK);
  ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
  ck_assert_int_eq(cm_sql_verdict(statement, &damage, &error), expected->status);
  ck_assert(expected->damaged == (damage != NULL));
  sqlite3_finalize(statement);
}

START_TEST(want_of_memory_is_no_damage)
{
  sentence cases[] = {
    {"ok", CM_OK, false},
    {"Tree 5 page 7: btreeInitPage() returns error code 11", CM_OK, true},
    {"*** in database main ***\nPage 53: unable to get the page. error code=7", CM_NO_MEMORY, false},
    {"*** in database main ***\nPage 53: unable to get the page. error code=266", CM_IO, false},
    {"*** in database main ***\nPage 53: unable to get the page. error code=11", CM_OK, true},
    {NULL, CM_NO_MEMORY, false},
  };
  sqlite3 *handle;
  ck_assert_int_eq(sqlite3_open(":memory:", &handle), SQLITE_OK);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    judge(handle, &cases[i]);
  sqlite3_close(handle);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("checks of the data folder");
  TCase *tests = tcase_create("check");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, a_whole_folder_has_no_faults);
  tcase_add_test(tests, a_changed_byte_is_found);
  tcase_add_test(tests, a_file_of_another_size_is_found);
  tcase_add_test(tests, a_missing_file_is_found);
  tcase_add_test(tests, a_damaged_pack_is_found);
  tcase_add_test(tests, a_wrong_counter_is_found);
  tcase_add_test(tests, a_missing_upload_is_found);
  tcase_add_test(tests, what_no_row_knows_is_told_and_left);
  tcase_add_test(tests, what_is_deleted_is_no_longer_expected);
  tcase_add_test(tests, a_damaged_database_is_found);
  tcase_add_test(tests, want_of_memory_is_no_damage);
  tcase_add_test(tests, folders_of_an_earlier_release_are_read_instead);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
