/* storage: what was used by month, where months, leases, jobs, servers and users end. */
#include "store.h"

#include <math.h>
#include <time.h>

#include "storage/backup.h"
#include "storage/clock.h"
#include "storage/leases.h"
#include "storage/ledger.h"
#include "storage/quotas.h"
#include "storage/schema.h"
#include "storage/users.h"

static double now;

static double fake_clock(void)
{
  return now;
}

/* Seconds since 1970, of UTC. */
static double at(int year, int month, int day, int hour)
{
  struct tm parts = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day, .tm_hour = hour};
  return (double)timegm(&parts);
}

static cm_status run_sql(sqlite3 *handle, void *context, cm_error *e)
{
  return cm_sql_run(handle, NULL, e, context, "");
}

static void sql(const char *text)
{
  ck_ok(cm_database_write(store->database, run_sql, (void *)(uintptr_t)text, &error));
}

static void setup(void)
{
  store_setup();
  cm_clock_replace(&(cm_clock){fake_clock, fake_clock});
  now = at(2031, 1, 31, 23);
  restart_store();
  ck_ok(cm_users_add(store->database, &(cm_user){.name = "ann", .role = CM_ROLE_ADMIN}, &error));
  ck_ok(cm_users_add(store->database, &(cm_user){.name = "bob"}, &error));
}

static void teardown(void)
{
  cm_clock_replace(NULL);
  store_teardown();
}

/* The months of a user as text: "2031-01: 2 h, 0 s, 0 B" and so on, with two spaces between them. */
static const char *months_of(const char *user, const char *since)
{
  static char text[2048];
  cm_ledger_row *rows;
  size_t count, used = 0;
  text[0] = '\0';
  ck_ok(cm_ledger_list(store->database, since, user, &rows, &count, &error));
  for (size_t i = 0; i < count; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s: %.6g h, %.6g s, %llu B", i == 0 ? "" : "  ", rows[i].month,
                             rows[i].core_hours, rows[i].cpu_seconds, (unsigned long long)rows[i].bytes);
  free(rows);
  return text;
}

static void take(const char *user, uint32_t cores, double ttl, cm_lease *lease)
{
  cm_lease_request wanted = {.chip = "toy", .owner = "x", .ttl = ttl, .count = cores};
  (void)snprintf(wanted.whose.user, sizeof wanted.whose.user, "%s", user);
  ck_ok(cm_leases_create(store, &wanted, lease, &error));
  cm_lease_clear(lease);
}

/* The hours of a lease are those that have passed, each in its month: while it is held, when its end is put off or brought forward, when
 * the quotas have forgotten it, and whatever restarts and jumps of the clock lie between. */
START_TEST(a_lease_over_the_end_of_a_month_counts_in_both)
{
  cm_lease lease, other;
  take("ann", 4, 3 * 3600, &lease);
  ck_assert_str_eq(months_of("ann", NULL), "");
  now += 1800;
  ck_assert_str_eq(months_of("ann", NULL), "2031-01: 2 h, 0 s, 0 B");
  restart_store();
  now += 3600;
  ck_assert_str_eq(months_of("ann", NULL), "2031-01: 4 h, 0 s, 0 B  2031-02: 2 h, 0 s, 0 B");
  ck_assert_str_eq(months_of("ann", "2031-02"), "2031-02: 2 h, 0 s, 0 B");
  ck_assert_str_eq(months_of("ann", "2031-03"), "");
  ck_assert_str_eq(months_of("bob", NULL), "");
  ck_ok(cm_leases_keep(store, lease.id, &(cm_lease_request){.chip = "toy", .ttl = 29.0 * 86400}, &lease, &error)); /* to the second of March */
  cm_lease_clear(&lease);
  now = at(2031, 3, 1, 1);
  ck_ok(cm_leases_release(store, "toy", lease.id, &error));
  static const char all[] = "2031-01: 4 h, 0 s, 0 B  2031-02: 2688 h, 0 s, 0 B  2031-03: 4 h, 0 s, 0 B";
  ck_assert_str_eq(months_of("ann", NULL), all);
  now = at(2031, 3, 20, 0);
  restart_store();
  ck_assert_str_eq(months_of("ann", NULL), all);
  take("bob", 1, 3600, &other); /* the quotas let go what is older than a week */
  ck_assert_str_eq(months_of("ann", NULL), all);
  sql("DELETE FROM lease_use WHERE user = 'ann'");
  ck_assert_str_eq(months_of("ann", NULL), all);
  cm_store_close(store); /* one that runs out while no server runs has had its time */
  now = at(2031, 4, 10, 0);
  open_store();
  ck_assert_str_eq(months_of("bob", NULL), "2031-03: 1 h, 0 s, 0 B");
}
END_TEST

static double shift;

static double shifted_clock(void)
{
  return now + shift;
}

START_TEST(a_clock_that_is_set_adds_no_hours)
{
  cm_lease lease;
  uint64_t expired;
  now = at(2031, 5, 10, 0);
  cm_clock_replace(&(cm_clock){shifted_clock, fake_clock});
  restart_store();
  take("ann", 2, 3 * 3600, &lease);
  static const double jumps[] = {86400, -2 * 86400, 7200};
  for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++) {
    now += 1800;
    shift += jumps[i];
    ck_ok(cm_leases_expire(store, &expired, &error));
    ck_assert_str_eq(months_of("ann", NULL), i == 0 ? "2031-05: 1 h, 0 s, 0 B" : i == 1 ? "2031-05: 2 h, 0 s, 0 B" : "2031-05: 3 h, 0 s, 0 B");
  }
  /* Set back before the lease began, and not noticed yet: no hours below nothing. */
  shift -= 86400;
  ck_ok(cm_quota_note_cpu(store->database, "ann", 1, &error));
  ck_assert_str_eq(months_of("ann", NULL), "2031-05: 0 h, 1 s, 0 B");
  shift = 0;
}
END_TEST

static void end_job(double cpu_seconds, bool again)
{
  cm_job job;
  bool taken;
  claim(&job);
  job.cpu_seconds = cpu_seconds;
  if (again)
    ck_ok(cm_jobs_requeue(store, &job, true, &error));
  else
    ck_ok(cm_jobs_finish(store, &job, &(cm_job_outcome){.state = CM_JOB_CANCELLED, .problem = "{}"}, &taken, &error));
  cm_job_clear(&job);
}

/* Every attempt counts when it ends, whatever becomes of it: moved to another worker, tried again, killed. */
START_TEST(processor_time_counts_where_an_attempt_ends)
{
  char id[CM_ID_MAX];
  cm_job job;
  bool again;
  create_job("ann", 0, id);
  end_job(10, true);
  claim(&job);
  job.cpu_seconds = 5;
  ck_ok(cm_jobs_retry(store, &job, "a fault that passes", &again, &error));
  ck_assert(again);
  cm_job_clear(&job);
  now = at(2031, 2, 1, 1);
  end_job(100, false);
  static const char both[] = "2031-01: 0 h, 15 s, 0 B  2031-02: 0 h, 100 s, 0 B";
  ck_assert_str_eq(months_of("ann", NULL), both);
  ck_ok(cm_quota_note_cpu(store->database, "ann", 0.5, &error)); /* of a request */
  now = at(2031, 6, 1, 0);
  restart_store();
  restart_store();
  ck_assert_str_eq(months_of("ann", NULL), "2031-01: 0 h, 15 s, 0 B  2031-02: 0 h, 100.5 s, 0 B");
}
END_TEST

/* What is stored stays so until it changes; months have it as of their ends. The trigger's month is the real one. */
START_TEST(bytes_are_those_of_a_months_end)
{
  time_t real = time(NULL);
  struct tm parts;
  ck_assert_ptr_nonnull(gmtime_r(&real, &parts));
  now = at(parts.tm_year + 1900, parts.tm_mon + 1, 1, 0);
  sql("DELETE FROM ledger");
  sql("UPDATE networks SET user = 'ann', bytes = 700");
  sql("UPDATE networks SET bytes = 500");
  sql("UPDATE ledger SET month = '2019-11'");
  now = at(2020, 1, 15, 0);
  ck_assert_str_eq(months_of("ann", NULL), "2019-11: 0 h, 0 s, 500 B  2019-12: 0 h, 0 s, 500 B  2020-01: 0 h, 0 s, 500 B");
  sql("DELETE FROM networks");
  sql("UPDATE ledger SET month = '2020-01' WHERE month > '2020'");
  ck_assert_str_eq(months_of("ann", NULL), "2019-11: 0 h, 0 s, 500 B  2019-12: 0 h, 0 s, 500 B");
  ck_assert_str_eq(months_of("ann", "2019-12"), "2019-12: 0 h, 0 s, 500 B");
}
END_TEST

/* Months outlast their user, and a later one of the name has none of them; the same again. */
START_TEST(a_removed_users_months_stay)
{
  cm_lease lease;
  for (int round = 1; round <= 2; round++) {
    ck_ok(cm_quota_note_cpu(store->database, "bob", 7, &error));
    take("bob", 2, 7200, &lease);
    now += 3600;
    ck_ok(cm_users_remove(store->database, "bob", &error));
    ck_ok(cm_users_add(store->database, &(cm_user){.name = "bob"}, &error));
    ck_assert_str_eq(months_of("bob", NULL), "");
    ck_assert_str_eq(months_of("bob (removed)", "2031-01"), round == 1 ? "2031-01: 2 h, 7 s, 0 B" : "2031-01: 2 h, 7 s, 0 B  2031-02: 2 h, 7 s, 0 B");
    now += 3600; /* what he has leased is held on, by nobody */
    sql("UPDATE ledger SET bytes = NULL");
    ck_assert_str_eq(months_of("", "2031-01"), round == 1 ? "2031-02: 2 h, 0 s, 0 B" : "2031-02: 4 h, 0 s, 0 B");
  }
}
END_TEST

static void execute(sqlite3 *handle, const char *text)
{
  char *message = NULL;
  ck_assert_msg(sqlite3_exec(handle, text, NULL, NULL, &message) == SQLITE_OK, "%s", message);
}

/* The database as it was before the ledger, brought up to it again. */
static void add_ledger_anew(void)
{
  sqlite3 *handle;
  int step = 0;
  while (strstr(cm_schema_steps[step], "CREATE TABLE ledger ") == NULL)
    step++;
  cm_store_close(store);
  ck_assert_int_eq(sqlite3_open(inside("coremapd.db"), &handle), SQLITE_OK);
  execute(handle, "DROP TRIGGER ledger_stored_in; DROP TRIGGER ledger_stored_move; DROP TABLE ledger");
  execute(handle, cm_schema_steps[step]);
  sqlite3_close(handle);
  open_store();
}

/* What is known of the time before: jobs' processor time by month, the leases of a week, what is stored. */
START_TEST(a_database_without_a_ledger_gets_one)
{
  char id[CM_ID_MAX];
  cm_lease lease;
  create_job("ann", 0, id);
  end_job(30, false);
  take("ann", 3, 7200, &lease);
  now = at(2031, 2, 2, 0);
  create_job("ann", 0, id);
  end_job(12, false);
  static const char before[] = "2031-01: 3 h, 30 s, 0 B  2031-02: 3 h, 12 s, 0 B";
  ck_assert_str_eq(months_of("ann", NULL), before);
  add_ledger_anew();
  ck_assert_str_eq(months_of("ann", NULL), before);
}
END_TEST

static int64_t number(const char *text)
{
  sqlite3 *handle;
  sqlite3_stmt *statement;
  ck_assert_int_eq(sqlite3_open(inside("coremapd.db"), &handle), SQLITE_OK);
  ck_assert_int_eq(sqlite3_prepare_v2(handle, text, -1, &statement, NULL), SQLITE_OK);
  ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
  const int64_t result = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  sqlite3_close(handle);
  return result;
}

/* Folders as releases left them: what they have stored stands in this month. */
START_TEST(folders_of_earlier_releases_get_a_ledger)
{
  static const char *const folders[] = {"data-folder-2.tar.gz", "data-folder-7.tar.gz", "data-folder-11.tar.gz",
                                        "data-folder-19.tar.gz", "data-folder-24.tar.gz", "data-folder-25.tar.gz", "data-folder-28.tar.gz"};
  char command[2 * CM_PATH_MAX + 64];
  cm_store_close(store);
  ck_ok(cm_folder_remove(folder, &error));
  ck_ok(cm_folder_make(folder, &error));
  (void)snprintf(command, sizeof command, "tar -xzf '%s' -C '%s' --strip-components=1", test_data(folders[_i]), folder);
  ck_assert_int_eq(system(command), 0);
  open_store();
  ck_assert_int_gt(number("SELECT sum(bytes) FROM ledger"), 0);
  ck_assert_int_eq(number("SELECT (SELECT sum(bytes) FROM ledger) - (SELECT sum(bytes) FROM stored_totals)"), 0);
}
END_TEST

/* A backup has it, as all of the database. */
START_TEST(a_backup_has_the_ledger)
{
  char backup[CM_PATH_MAX], back[CM_PATH_MAX];
  cm_backup_counts counts;
  ck_ok(cm_quota_note_cpu(store->database, "ann", 7, &error));
  ck_ok(cm_path(backup, &error, "%s.backup", folder));
  ck_ok(cm_path(back, &error, "%s.back", folder));
  ck_ok(cm_backup_make(folder, backup, NULL, &counts, &error));
  ck_ok(cm_backup_restore(backup, back, &counts, &error));
  cm_store_close(store);
  ck_ok(cm_folder_remove(folder, &error));
  ck_assert_int_eq(rename(back, folder), 0);
  open_store();
  ck_assert_str_eq(months_of("ann", NULL), "2031-01: 0 h, 7 s, 0 B");
  ck_ok(cm_folder_remove(backup, &error));
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("storage, ledger");
  TCase *tests = tcase_create("storage, ledger");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, a_lease_over_the_end_of_a_month_counts_in_both);
  tcase_add_test(tests, a_clock_that_is_set_adds_no_hours);
  tcase_add_test(tests, processor_time_counts_where_an_attempt_ends);
  tcase_add_test(tests, bytes_are_those_of_a_months_end);
  tcase_add_test(tests, a_removed_users_months_stay);
  tcase_add_test(tests, a_database_without_a_ledger_gets_one);
  tcase_add_loop_test(tests, folders_of_earlier_releases_get_a_ledger, 0, 7);
  tcase_add_test(tests, a_backup_has_the_ledger);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
