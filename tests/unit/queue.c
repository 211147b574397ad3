/* storage: the queue. Places against the claims themselves, counters against counts. */
#include "store.h"

#include <math.h>

#include "base/random.h"
#include "storage/estimates.h"
#include "storage/leases.h"
#include "storage/progress.h"
#include "storage/quotas.h"
#include "storage/usage.h"
#include "storage/users.h"
#include "tests/unit/queue.h"

/* ---- what the database does, seen through a trace of every connection ---- */

static void create_like(const char *likeness, double size, double time_limit, char *id)
{
  cm_job job = {.kind = "map", .network = "abc", .chip = "toy", .options = (char[]){"{}"}, .ttl = 60, .size = size,
                .time_limit = time_limit};
  cm_job_created result;
  (void)snprintf(job.likeness, sizeof job.likeness, "%s", likeness);
  ck_ok(cm_jobs_create(store, &job, NULL, &result, id, &error));
}

static int64_t number(const char *text)
{
  int64_t result = 0;
  ck_ok(cm_database_find(store->database, NULL, &error, text, ">i", &result));
  return result;
}

/* The counters that triggers keep say what counting says. */
static void check_counters(void)
{
  ck_assert_int_eq(number("SELECT count(*) FROM (SELECT user, lane, priority, ready, ready_ms, queued FROM queue_totals EXCEPT"
                          " SELECT user, lane, priority, sum(waits_for IS NULL AND retry_at IS NULL),"
                          " sum((waits_for IS NULL AND retry_at IS NULL) * expected_ms), count(*) FROM jobs"
                          " WHERE state = 'queued' GROUP BY 1, 2, 3)"), 0);
  ck_assert_int_eq(number("SELECT (SELECT total(queued) FROM queue_totals) -"
                          " (SELECT count(*) FROM jobs WHERE state = 'queued')"), 0);
  ck_assert_int_eq(number("WITH level(level, shift) AS (VALUES (0, 6), (1, 12), (2, 18), (3, 24), (4, 30)),"
                          " truth AS (SELECT user, lane, priority, level, sequence >> shift, count(*) FROM jobs, level WHERE"
                          " state = 'queued' AND waits_for IS NULL AND retry_at IS NULL GROUP BY 1, 2, 3, 4, 5)"
                          " SELECT (SELECT count(*) FROM (SELECT * FROM truth EXCEPT SELECT * FROM queue_ranks)) +"
                          " (SELECT count(*) FROM (SELECT * FROM queue_ranks EXCEPT SELECT * FROM truth))"), 0);
  ck_assert_int_eq(number("SELECT count(*) FROM (SELECT state, jobs FROM job_totals WHERE jobs <> 0 EXCEPT"
                          " SELECT state, count(*) FROM jobs GROUP BY 1)"), 0);
}

/* ---- places ---- */

/* Random queues: places as they stand are the order of the claims that follow, one job after the other. */
START_TEST(places_are_the_order_of_claims)
{
  enum { ROUNDS = 12, JOBS = 60 };
  cm_random random;
  cm_random_init(&random, 3, 0, 0);
  for (int round = 0; round < ROUNDS; round++) {
    char id[JOBS][CM_ID_MAX];
    uint64_t place[JOBS] = {0};
    sql("DELETE FROM jobs");
    /* Some have run already, some run now, so that users stand differently. */
    int running = (int)cm_random_below(&random, 8);
    for (int i = 0; i < JOBS; i++) {
      char user[8];
      (void)snprintf(user, sizeof user, "u%u", (unsigned)cm_random_below(&random, 1 + (uint64_t)round % 5));
      create_job(user, (int)cm_random_below(&random, 3), id[i]);
      cm_job job;
      bool found = false;
      if (i < running) {
        ck_ok(cm_jobs_claim(store, CM_CLAIM_ANY, &job, &found, &error));
        ck_assert(found);
        cm_job_clear(&job);
      }
    }
    cm_job *jobs;
    cm_list_page page;
    size_t queued = 0;
    ck_ok(cm_jobs_list(store, &(cm_list_query){.list = CM_LIST_JOBS, .limit = 100}, &page, &jobs, &error));
    const size_t count = page.count;
    cm_list_page_clear(&page);
    ck_assert_uint_eq(count, JOBS);
    for (size_t i = 0; i < count; i++) {
      cm_job one;
      ck_ok(cm_jobs_get(store, jobs[i].id, &one, &error));
      ck_assert_uint_eq(one.position, jobs[i].position);
      ck_assert_int_eq(one.position != 0, one.state == CM_JOB_QUEUED);
      queued += one.state == CM_JOB_QUEUED;
      for (int k = 0; k < JOBS; k++)
        if (strcmp(id[k], one.id) == 0)
          place[k] = one.position;
      cm_job_clear(&one);
      cm_job_clear(&jobs[i]);
    }
    free(jobs);
    for (uint64_t turn = 1; turn <= queued; turn++) {
      cm_job job;
      bool found;
      ck_ok(cm_jobs_claim(store, CM_CLAIM_ANY, &job, &found, &error));
      ck_assert(found);
      for (int k = 0; k < JOBS; k++)
        if (strcmp(id[k], job.id) == 0)
          ck_assert_msg(place[k] == turn, "round %d: %s of %s, priority %d, was at %llu and went at %llu", round, job.id,
                        job.owner.user, job.priority, (unsigned long long)place[k], (unsigned long long)turn);
      cm_job_clear(&job);
      if (turn % 16 == 0)
        check_counters();
    }
  }
}
END_TEST

/* The place goes down by one with every claim in a long queue too, where counters count blocks. */
START_TEST(places_in_a_long_queue)
{
  cm_job job;
  bool found;
  char last[CM_ID_MAX];
  fill(10000);
  create_job("user1", -1, last);
  check_counters();
  ck_ok(cm_jobs_get(store, last, &job, &error));
  uint64_t before = job.position;
  cm_job_clear(&job);
  ck_assert_uint_gt(before, 9900);
  ck_assert_uint_le(before, 10001);
  for (int i = 0; i < 100; i++) {
    ck_ok(cm_jobs_claim(store, CM_CLAIM_ANY, &job, &found, &error));
    ck_assert(found);
    cm_job_clear(&job);
  }
  ck_ok(cm_jobs_get(store, last, &job, &error));
  ck_assert_uint_eq(job.position, before - 100);
  cm_job_clear(&job);
  check_counters();
}
END_TEST

/* Jobs that may not start yet have places too, and none is 0. */
START_TEST(waiting_jobs_have_places)
{
  char first[CM_ID_MAX], twin[CM_ID_MAX], third[CM_ID_MAX], last[CM_ID_MAX];
  cm_job a, b, c;
  bool found, deferred, again, taken;
  create_job("ann", 0, first);
  create_job("ann", 0, twin);
  create_job("ann", 0, third);
  create_job("ann", 0, last);
  ck_ok(cm_jobs_claim(store, CM_CLAIM_ANY, &a, &found, &error));
  ck_ok(cm_jobs_identify(store, &a, "same", &deferred, &error));
  ck_ok(cm_jobs_claim(store, CM_CLAIM_ANY, &b, &found, &error));
  ck_ok(cm_jobs_identify(store, &b, "same", &deferred, &error));
  ck_assert(deferred);
  ck_ok(cm_jobs_claim(store, CM_CLAIM_ANY, &c, &found, &error));
  ck_assert_str_eq(c.id, third);
  ck_ok(cm_jobs_retry(store, &c, NULL, &again, &error));
  check_counters();
  cm_job *jobs;
  cm_list_page page;
  const cm_list_condition queued = {.field = cm_field_of(CM_LIST_JOBS, "state"), .text = "queued"};
  ck_ok(cm_jobs_list(store, &(cm_list_query){.list = CM_LIST_JOBS, .conditions = {queued}, .count = 1, .limit = 10}, &page, &jobs, &error));
  const size_t count = page.count;
  cm_list_page_clear(&page);
  ck_assert_uint_eq(count, 3);
  for (size_t i = 0; i < count; i++) {
    ck_assert_uint_eq(jobs[i].position, 1);
    ck_assert_int_eq(jobs[i].ready, strcmp(jobs[i].id, last) == 0);
    cm_job_clear(&jobs[i]);
  }
  free(jobs);
  /* The twin is ready when the first has stopped running, however it does. */
  ck_ok(cm_jobs_finish(store, &a, &(cm_job_outcome){.state = CM_JOB_FAILED, .problem = "{}"}, &taken, &error));
  check_counters();
  cm_job_clear(&b);
  ck_ok(cm_jobs_claim(store, CM_CLAIM_ANY, &b, &found, &error));
  ck_assert_str_eq(b.id, twin);
  cm_job_clear(&a);
  cm_job_clear(&b);
  cm_job_clear(&c);
}
END_TEST

/* A job that is cancelled while it waits leaves nothing for the claims to step over. */
START_TEST(cancelled_jobs_wait_for_nothing)
{
  char id[CM_ID_MAX];
  cm_job job;
  bool found, again;
  create_job("ann", 0, id);
  ck_ok(cm_jobs_claim(store, CM_CLAIM_ANY, &job, &found, &error));
  ck_ok(cm_jobs_retry(store, &job, NULL, &again, &error));
  cm_job_clear(&job);
  ck_ok(cm_jobs_cancel(store, id, &error));
  ck_assert_int_eq(number("SELECT count(*) FROM jobs WHERE retry_at IS NOT NULL OR waits_for IS NOT NULL"), 0);
  check_counters();
}
END_TEST

/* ---- whose turn, and which lane ---- */

/* Runs `count` jobs of so many seconds, one after the other; how many of them were `user`'s. */
static int run_jobs(int count, double seconds, const char *user)
{
  int his = 0;
  for (int i = 0; i < count; i++) {
    cm_job job;
    bool found, taken;
    ck_ok(cm_jobs_claim(store, CM_CLAIM_ANY, &job, &found, &error));
    ck_assert(found);
    his += strcmp(job.owner.user, user) == 0;
    job.started -= seconds; /* as if it had taken so long */
    ck_ok(cm_jobs_finish(store, &job, &(cm_job_outcome){.state = CM_JOB_FAILED, .problem = "{}"}, &taken, &error));
    cm_job_clear(&job);
  }
  return his;
}

/* Who has three shares gets three times the time of who has one, whatever the jobs take; and use fades. */
START_TEST(time_goes_by_shares_and_use_fades)
{
  char id[CM_ID_MAX];
  cm_user ann = {.name = "ann", .role = CM_ROLE_ADMIN, .share = 3}, bob = {.name = "bob"};
  ck_ok(cm_users_add(store->database, &ann, &error));
  ck_ok(cm_users_add(store->database, &bob, &error));
  for (int i = 0; i < 60; i++) {
    create_job("ann", 0, id);
    create_job("bob", 0, id);
  }
  ck_assert_int_eq(run_jobs(40, 7, "ann"), 30);
  ck_ok(cm_usage_set_half_life(store, 100, &error));
  sql("UPDATE usage SET amount_ms = 16000, at = at - 200 WHERE user = 'ann'");  /* 4000 of 3 shares */
  sql("UPDATE usage SET amount_ms = 2000, at = at - 0.001 WHERE user = 'bob'");
  ck_assert_int_eq(run_jobs(1, 7, "ann"), 1);
}
END_TEST

/* Who comes late is ahead of the others by an hour, not by all that they have ever used. */
START_TEST(a_pause_is_worth_an_hour)
{
  char id[CM_ID_MAX];
  create_job("bob", 0, id);
  sql("INSERT INTO usage(user, amount_ms, at) VALUES('bob', 360e6, 4e9)");
  create_job("ann", 0, id);
  ck_assert_int_eq(number("SELECT amount_ms / 1000 FROM usage WHERE user = 'ann'"), 360000 - 3600);
}
END_TEST

/* Jobs that are expected to be short have a lane; like jobs say which are, and what jobs take. */
START_TEST(short_jobs_have_a_lane)
{
  char id[CM_ID_MAX];
  cm_job job;
  bool found;
  for (int i = 1; i <= 20; i++) {
    char text[200]; /* seconds grow with the size, by 3e-4 each */
    (void)snprintf(text, sizeof text, "INSERT INTO job_times(class, likeness, chip, size, seconds)"
                   " VALUES('map best', 'map best auto auto', 'toy', %d, %g)", i * 1000, i * 0.3);
    sql(text);
    sql("INSERT INTO job_times(class, likeness, chip, size, seconds) VALUES('map best', 'map best time auto', 'toy', 2000, 3000)"); /* of no other objective */
  }
  create_like("map best auto auto", 30000, 0, id);
  ck_ok(cm_jobs_get(store, id, &job, &error));
  ck_assert_double_eq_tol(job.expected, 9, 1.5);
  ck_assert_int_eq(job.lane, CM_LANE_OF_LONG);
  cm_job_clear(&job);
  ck_ok(cm_jobs_claim(store, CM_CLAIM_SHORT, &job, &found, &error));
  ck_assert(!found);
  create_like("map best auto auto", 2000, 0, id);
  create_like("map best auto auto", 30000, 1, id); /* its time limit makes it short */
  for (int i = 0; i < 2; i++) {
    ck_ok(cm_jobs_claim(store, CM_CLAIM_SHORT, &job, &found, &error));
    ck_assert(found);
    ck_assert_int_eq(job.lane, CM_LANE_OF_SHORT);
    ck_assert_double_eq_tol(job.expected, i == 0 ? 0.6 : 1, 0.1);
    cm_job_clear(&job);
  }
  check_counters();
}
END_TEST

/* On a machine where jobs took eight times as long as was thought, the first job of another kind is thought to, too; jobs of its own kind
 * say more. */
START_TEST(first_jobs_of_a_kind_go_by_the_pace_of_others)
{
  char id[CM_ID_MAX];
  cm_job job;
  double expected[3];
  for (int i = 0; i < 3; i++) {
    create_like("map best auto auto", 30000, 0, id);
    ck_ok(cm_jobs_get(store, id, &job, &error));
    expected[i] = job.expected;
    cm_job_clear(&job);
    create_like("map fast auto auto", 100000, 0, id);
    ck_ok(cm_jobs_get(store, id, &job, &error));
    char text[200];
    for (int k = 0; i == 0 && k < 12; k++) {
      (void)snprintf(text, sizeof text, "INSERT INTO job_times(class, likeness, chip, size, seconds)"
                     " VALUES('map fast', 'map fast auto auto', 'toy', 100000, %g)", 8 * job.expected);
      sql(text);
    }
    cm_job_clear(&job);
    (void)snprintf(text, sizeof text, "INSERT INTO job_times(class, likeness, chip, size, seconds)"
                   " VALUES('map best', 'map best auto auto', 'toy', 30000, %g)", expected[0]);
    if (i == 1)
      sql(text);
  }
  ck_assert_double_gt(expected[1], 5 * expected[0]);
  ck_assert_double_le(expected[1], 8.01 * expected[0]);
  ck_assert_double_lt(expected[2], 1.2 * expected[0]);
}
END_TEST

START_TEST(fractions_never_go_backwards)
{
  const struct {
    unsigned known;
    double takes; /* seconds, and 20 were expected */
    bool says;    /* how far it is */
  } jobs[] = {{0, 20, true}, {0, 200, true}, {0, 3, true}, {9, 20, true}, {9, 60, true}, {9, 5, true}, {0, 60, false}, {9, 60, false}};
  for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
    cm_outlook outlook = {0};
    double last = 0;
    for (double share = 0; share < 1; share += 0.01) {
      double elapsed = share * jobs[i].takes;
      cm_estimate_outlook(&outlook, elapsed, 20, jobs[i].known, jobs[i].says ? share : -1);
      ck_assert_msg(outlook.fraction >= last && outlook.fraction < 1 && outlook.remaining > 0, "job %zu at %g", i, share);
      if (jobs[i].says && share > 0.1 && jobs[i].known == 0)
        ck_assert_double_eq_tol(outlook.remaining, jobs[i].takes - elapsed, 1e-9);
      if (jobs[i].says && share > 0.9) /* what was expected is about nothing by then */
        ck_assert_double_le(fabs(outlook.remaining - (jobs[i].takes - elapsed)), 0.1 * (20 + jobs[i].takes));
      last = outlook.fraction;
    }
  }
  cm_outlook outlook = {0};
  cm_estimate_outlook(&outlook, 5, 20, 9, -1);
  ck_assert_double_eq_tol(outlook.remaining, 15, 1e-9);
  ck_assert_double_eq_tol(outlook.fraction, 0.25, 1e-9);
  cm_estimate_outlook(&outlook, 6, 20, 0, 0.5); /* of a new class its own word counts */
  ck_assert_double_eq_tol(outlook.remaining, 6, 1e-9);
  ck_assert_double_eq_tol(outlook.fraction, 0.5, 1e-9);
}
END_TEST

START_TEST(histories_stay_short)
{
  static cm_history h;
  for (int i = 0; i < 100000; i++)
    cm_history_add(&h, &(cm_history_point){.phase = "refine", .seconds = i * 0.1, .fraction = i / 1e5, .remaining = (100000 - i) * 0.1, .metric = i});
  ck_assert(h.count <= CM_HISTORY_POINTS_MAX && h.count >= CM_HISTORY_POINTS_MAX / 4);
  ck_assert_double_eq_tol(h.point[0].seconds, 0, 1e-9);
  ck_assert_double_eq_tol(h.point[h.count - 1].seconds, 9999.9, 1e-6); /* the last one stands */
  for (size_t i = 1; i < h.count; i++) {
    ck_assert_double_gt(h.point[i].seconds, h.point[i - 1].seconds);
    ck_assert_double_le(h.point[i].seconds - h.point[i - 1].seconds, 9999.9 / 25);
  }
  char *text = cm_history_text(&h);
  json_t *list = json_loads(text, 0, NULL);
  ck_assert_uint_eq(json_array_size(list), h.count);
  ck_assert_str_eq(json_string_value(json_object_get(json_array_get(list, 0), "phase")), "refine");
  json_decref(list);
  free(text);
}
END_TEST

/* ---- quotas ---- */

static cm_status try_job(const char *user)
{
  char id[CM_ID_MAX];
  cm_job job = {.kind = "map", .network = "abc", .chip = "toy", .options = (char[]){"{}"}, .ttl = 60};
  cm_job_created result;
  (void)snprintf(job.owner.user, sizeof job.owner.user, "%s", user);
  return cm_jobs_create(store, &job, NULL, &result, id, &error);
}

static cm_status try_lease(const char *user, uint32_t cores, double ttl, cm_lease *lease)
{
  cm_lease_request wanted = {.chip = "toy", .owner = "x", .ttl = ttl, .count = cores};
  (void)snprintf(wanted.whose.user, sizeof wanted.whose.user, "%s", user);
  return cm_leases_create(store, &wanted, lease, &error);
}

/* A quota of a user, of each user, of a group: what it counts is refused when it is used up, and the refusal says so. */
START_TEST(quotas_are_kept)
{
  cm_user ann = {.name = "ann", .role = CM_ROLE_ADMIN, .group = "vision"}, bob = {.name = "bob", .group = "vision"};
  cm_job job, next;
  cm_lease lease = {0};
  bool found, taken;
  ck_ok(cm_users_add(store->database, &ann, &error));
  ck_ok(cm_users_add(store->database, &bob, &error));
  ck_fails(cm_limits_set(store->database, &cm_quota_kind, &(cm_limit_row){.name = "eve"}, &error), CM_NOT_FOUND);

  set_quota(false, "*", CM_QUOTA_QUEUED, 2);
  set_quota(true, "vision", CM_QUOTA_QUEUED, 3);
  ck_ok(try_job("ann"));
  ck_ok(try_job("ann"));
  ck_fails(try_job("ann"), CM_QUOTA_USED);
  ck_assert_ptr_nonnull(strstr(error.detail, "user \"ann\" has used 2 of the quota queued = 2"));
  ck_ok(try_job("bob"));
  ck_fails(try_job("bob"), CM_QUOTA_USED);
  ck_assert_ptr_nonnull(strstr(error.detail, "group \"vision\" has used 3"));
  ck_ok(try_job("")); /* nobody is bounded by none */

  /* More running jobs than may wait, and others go before. */
  set_quota(false, "ann", CM_QUOTA_RUNNING, 1);
  ck_ok(cm_jobs_claim(store, CM_CLAIM_ANY, &job, &found, &error));
  while (strcmp(job.owner.user, "ann") != 0) {
    cm_job_clear(&job);
    ck_ok(cm_jobs_claim(store, CM_CLAIM_ANY, &job, &found, &error));
  }
  for (int i = 0; i < 3; i++) {
    ck_ok(cm_jobs_claim(store, CM_CLAIM_ANY, &next, &found, &error));
    ck_assert(!found || strcmp(next.owner.user, "ann") != 0);
    if (found)
      cm_job_clear(&next);
  }
  ck_assert(!found);
  /* Its processor time counts for a day. */
  job.cpu_seconds = 100;
  ck_ok(cm_jobs_finish(store, &job, &(cm_job_outcome){.state = CM_JOB_FAILED, .problem = "{}"}, &taken, &error));
  cm_job_clear(&job);
  ck_ok(cm_jobs_claim(store, CM_CLAIM_ANY, &next, &found, &error));
  ck_assert(found && strcmp(next.owner.user, "ann") == 0);
  cm_job_clear(&next);
  set_quota(false, "ann", CM_QUOTA_CPU_SECONDS, 90);
  ck_fails(try_job("ann"), CM_QUOTA_USED);
  ck_assert_ptr_nonnull(strstr(error.detail, "cpu_seconds"));
  ck_assert_ptr_nonnull(strstr(error.detail, "it frees bit by bit from 20"));
  sql("UPDATE cpu_use SET hour = hour - 25");
  ck_ok(try_job("ann"));

  /* Core-hours: held ones, those to come, and what a keepalive adds. */
  set_quota(false, "bob", CM_QUOTA_CORE_HOURS, 10);
  ck_ok(try_lease("bob", 4, 7200, &lease));
  ck_fails(try_lease("bob", 4, 7200, &lease), CM_QUOTA_USED);
  ck_fails(cm_leases_keep(store, lease.id, &(cm_lease_request){.chip = "toy", .ttl = 4 * 7200}, &lease, &error), CM_QUOTA_USED);
  ck_ok(cm_leases_release(store, "toy", lease.id, &error));
  cm_lease_clear(&lease);
  ck_ok(try_lease("bob", 4, 7200, &lease));

  /* Networks and bytes: what is there is full. */
  cm_quota_use use;
  sql("UPDATE networks SET user = 'bob', bytes = 5000");
  set_quota(true, "*", CM_QUOTA_BYTES, 4999);
  ck_ok(cm_quotas_use(store->database, "bob", &use, &error));
  ck_assert_double_eq_tol(use.use[CM_QUOTA_BYTES], 5000, 0.1);
  ck_assert_double_eq_tol(use.use[CM_QUOTA_CORE_HOURS], 8, 0.1);
  ck_assert_double_eq_tol(use.group_max[CM_QUOTA_BYTES], 4999, 0.1);
  ck_fails(try_job("ann"), CM_QUOTA_USED);
  /* Who owns it beside him has it too; the group of both has it once. */
  sql("INSERT INTO owners VALUES('abc', 'ann', '', 'lab', 0, 0, '')");
  ck_ok(cm_quotas_use(store->database, "ann", &use, &error));
  ck_assert_double_eq_tol(use.use[CM_QUOTA_BYTES], 5000, 0.1);
  ck_assert_double_eq_tol(use.use[CM_QUOTA_NETWORKS], 1, 0.1);
  ck_assert_double_eq_tol(use.group_use[CM_QUOTA_BYTES], 5000, 0.1);
  ck_assert_double_eq_tol(use.group_use[CM_QUOTA_NETWORKS], 1, 0.1);
  set_quota(true, "*", CM_QUOTA_BYTES, -1);
  cm_lease_clear(&lease);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("queue");
  TCase *tests = tcase_create("queue");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, places_are_the_order_of_claims);
  tcase_add_test(tests, places_in_a_long_queue);
  tcase_add_test(tests, waiting_jobs_have_places);
  tcase_add_test(tests, cancelled_jobs_wait_for_nothing);
  tcase_add_test(tests, time_goes_by_shares_and_use_fades);
  tcase_add_test(tests, a_pause_is_worth_an_hour);
  tcase_add_test(tests, short_jobs_have_a_lane);
  tcase_add_test(tests, first_jobs_of_a_kind_go_by_the_pace_of_others);
  tcase_add_test(tests, fractions_never_go_backwards);
  tcase_add_test(tests, histories_stay_short);
  tcase_add_test(tests, quotas_are_kept);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
