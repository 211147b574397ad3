/* storage: moves of jobs, passing faults, cancelling, equal jobs. */
#include "storage/bin.h"
#include "store.h"

#include <errno.h>

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

/* As at a start that takes over none. */
static void recover(const char *problem)
{
  cm_job *jobs;
  size_t count;
  ck_ok(cm_jobs_interrupted(store, &jobs, &count, &error));
  ck_ok(cm_jobs_recover(store, jobs, count, problem, &error));
  for (size_t i = 0; i < count; i++)
    cm_job_clear(&jobs[i]);
  free(jobs);
}

START_TEST(a_job_that_keeps_killing_the_server_fails)
{
  char id[CM_ID_MAX];
  create_job("", 0, id);
  for (int i = 0; i < CM_JOB_KILLS_MAX; i++) {
    cm_job job;
    ck_assert_int_eq(state_of(id), CM_JOB_QUEUED);
    claim(&job);
    cm_job_clear(&job);
    recover("{\"code\":\"killed-server\"}");
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
  recover("{}");
  ck_assert_int_eq(state_of(running), CM_JOB_CANCELLED);
  cm_job_clear(&job);
}
END_TEST

START_TEST(an_idempotency_key_makes_one_job)
{
  cm_job job = {.kind = "map", .network = "abc", .chip = "toy", .options = (char[]){"{}"}};
  cm_job_created result;
  char a[CM_ID_MAX], b[CM_ID_MAX];
  ck_ok(cm_jobs_create(store, &job, &(cm_job_key){"key", "h1"}, &result, a, &error));
  ck_assert_int_eq(result, CM_JOB_NEW);
  ck_ok(cm_jobs_create(store, &job, &(cm_job_key){"key", "h1"}, &result, b, &error));
  ck_assert_int_eq(result, CM_JOB_SAME);
  ck_assert_str_eq(a, b);
  ck_ok(cm_jobs_create(store, &job, &(cm_job_key){"key", "h2"}, &result, b, &error));
  ck_assert_int_eq(result, CM_JOB_OTHER_BODY);
  (void)snprintf(job.network, sizeof job.network, "gone");
  ck_fails(cm_jobs_create(store, &job, NULL, &result, b, &error), CM_NOT_FOUND);
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
  ck_fails(cm_bin_pass(store, CM_OBJECT_NETWORK, "abc", NULL, &error), CM_CONFLICT);
  ck_fails(cm_chips_delete(store, "toy", NULL, NULL, &mismatch, &error), CM_CONFLICT);
  ck_ok(cm_jobs_cancel(store, id, &error));
  ck_ok(cm_bin_pass(store, CM_OBJECT_NETWORK, "abc", NULL, &error));
  ck_fails(cm_bin_pass(store, CM_OBJECT_NETWORK, "abc", NULL, &error), CM_NOT_FOUND);
  ck_ok(cm_chips_delete(store, "toy", NULL, NULL, &mismatch, &error));
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

int main(void)
{
  Suite *suite = suite_create("storage, jobs");
  TCase *tests = tcase_create("storage, jobs");
  tcase_add_checked_fixture(tests, store_setup, store_teardown);
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
  tcase_add_test(tests, a_cancel_between_claim_and_start_stands);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
