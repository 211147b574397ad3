/* storage: what the queue costs, in steps of the database's machine: as little in a long one as in a short one. */
#include "store.h"

#include "storage/bin.h"
#include "storage/positions.h"
#include "storage/mappings.h"
#include "storage/monitor.h"
#include "storage/quotas.h"
#include "storage/schema.h"
#include "storage/usage.h"
#include "storage/users.h"
#include "tests/unit/queue.h"

/* Steps of the database's machine that one call takes, on average of a few. */
typedef struct costs {
  uint64_t post, get, list, list_state, list_user, claim, count, use, metrics;
} costs;

static void list_jobs(const char *field, const char *text)
{
  cm_job *jobs;
  cm_list_page page;
  const cm_list_query query = {.list = CM_LIST_JOBS, .limit = 50, .count = field != NULL,
                               .conditions = {{.field = field != NULL ? cm_field_of(CM_LIST_JOBS, field) : NULL, .text = text}}};
  ck_ok(cm_jobs_list(store, &query, &page, &jobs, &error));
  ck_assert_uint_eq(page.count, query.limit);
  for (size_t i = 0; i < page.count; i++)
    cm_job_clear(&jobs[i]);
  free(jobs);
  cm_list_page_clear(&page);
}

static uint64_t since(void)
{
  static uint64_t before;
  uint64_t passed = steps - before;
  before = steps;
  return passed;
}

static costs measure(void)
{
  costs c = {0};
  char id[CM_ID_MAX];
  cm_job job;
  bool found;
  uint64_t counts[CM_JOB_STATES];
  (void)since();
  create_job("user1", 0, id);
  c.post = since();
  ck_ok(cm_jobs_get(store, id, &job, &error));
  cm_job_clear(&job);
  c.get = since();
  list_jobs(NULL, NULL);
  c.list = since();
  list_jobs("state", "queued");
  c.list_state = since();
  list_jobs("user", "user2");
  c.list_user = since();
  ck_ok(cm_jobs_count(store, counts, &error));
  c.count = since();
  ck_ok(cm_jobs_claim(store, CM_CLAIM_ANY, &job, &found, &error));
  ck_assert(found);
  cm_job_clear(&job);
  c.claim = since();
  cm_quota_use use;
  ck_ok(cm_quotas_use(store->database, "user2", &use, &error));
  ck_assert_double_gt(use.use[CM_QUOTA_BYTES], 0);
  c.use = since();
  cm_figures figures;
  uint64_t mappings, bytes;
  ck_ok(cm_figures_read(store, &figures, &error));
  ck_ok(cm_mappings_count(store, &mappings, &bytes, &error));
  ck_assert_uint_eq(bytes, 10 * mappings);
  free(figures.users);
  c.metrics = since();
  return c;
}

START_TEST(costs_do_not_grow_with_the_queue)
{
  cm_user one = {.name = "user2", .group = "lab"};
  ck_ok(cm_users_add(store->database, &one, &error));
  fill(480); /* every user and priority is there */
  costs few = measure();
  fill(20000);
  costs many = measure();
  const uint64_t *a = (const uint64_t *)&few, *b = (const uint64_t *)&many;
  static const char *const names[] = {"post", "get", "list", "list by state", "list by user", "claim", "count", "usage", "metrics"};
  for (size_t i = 0; i < sizeof few / sizeof *a; i++)
    ck_assert_msg(b[i] <= 2 * a[i], "%s takes %llu steps with 20000 queued jobs and mappings, %llu with 480", names[i],
                  (unsigned long long)b[i], (unsigned long long)a[i]);
}
END_TEST

enum { ASKED = 9 };
static char asked[ASKED][CM_ID_MAX];

typedef struct place {
  uint64_t position;
  double ahead;
  bool held;
} place;

static void places(place got[ASKED])
{
  for (int i = 0; i < ASKED; i++) {
    cm_job job;
    ck_ok(cm_jobs_get(store, asked[i], &job, &error));
    got[i] = (place){job.position, job.ahead_seconds, job.held};
    cm_job_clear(&job);
  }
}

/* Places by the order that is kept are those by one that is read anew; returns whether they are others than before. */
static bool moved(place before[ASKED])
{
  place kept[ASKED], anew[ASKED];
  bool differ = false;
  places(kept);
  cm_queue_order_free(cm_queue_order_take(store, UINT64_MAX));
  places(anew);
  for (int i = 0; i < ASKED; i++) {
    ck_assert_uint_eq(kept[i].position, anew[i].position);
    ck_assert_double_eq_tol(kept[i].ahead, anew[i].ahead, 1e-6);
    ck_assert_int_eq(kept[i].held, anew[i].held);
    differ = differ || kept[i].position != before[i].position || kept[i].held != before[i].held;
    before[i] = kept[i];
  }
  return differ;
}

START_TEST(kept_places_follow_every_change)
{
  static const char *const users[] = {"ann", "bob", "cid"};
  char id[CM_ID_MAX];
  cm_job job;
  bool found, taken;
  place last[ASKED];
  cm_user ann = {.name = "ann", .role = CM_ROLE_ADMIN}, bob = {.name = "bob", .share = 3};
  ck_ok(cm_users_add(store->database, &ann, &error));
  for (int i = 0; i < ASKED; i++)
    create_job(users[i % 3], i / 3, asked[i]);
  places(last);
  create_job("ann", 5, id);
  ck_assert(moved(last));
  ck_ok(cm_jobs_claim(store, CM_CLAIM_ANY, &job, &found, &error));
  ck_assert(moved(last));
  ck_ok(cm_jobs_finish(store, &job, &(cm_job_outcome){.state = CM_JOB_FAILED, .problem = "{}"}, &taken, &error));
  cm_job_clear(&job);
  (void)moved(last);
  sql("INSERT INTO usage(user, amount_ms, at) VALUES('cid', 1e9, unixepoch()) ON CONFLICT(user) DO UPDATE SET amount_ms = 1e9");
  (void)moved(last);
  ck_ok(cm_users_add(store->database, &bob, &error));
  (void)moved(last);
  set_quota(false, "ann", CM_QUOTA_RUNNING, 0);
  ck_assert(moved(last));
  set_quota(false, "ann", CM_QUOTA_RUNNING, -1);
  ck_assert(moved(last));
  ck_ok(cm_usage_set_half_life(store, 1, &error));
  (void)moved(last);
  ck_ok(cm_jobs_cancel(store, asked[ASKED - 1], &error));
  ck_assert(moved(last));
}
END_TEST

/* Who looks after a job of a long queue does not read who else waits each time. */
START_TEST(looking_again_reads_no_users)
{
  char id[CM_ID_MAX];
  cm_job job;
  uint64_t alone = 0;
  for (int others = 0; others <= 300; others += 300) {
    for (int i = 0; i < others; i++) {
      char user[16];
      (void)snprintf(user, sizeof user, "u%d", i);
      create_job(user, i % 3, id);
    }
    create_job("ann", 0, id);
    for (int i = 0; i < 2; i++) {
      (void)since();
      ck_ok(cm_jobs_get(store, id, &job, &error));
      cm_job_clear(&job);
    }
    const uint64_t taken = since();
    if (others == 0)
      alone = taken;
    else
      ck_assert_uint_le(taken, 2 * alone);
  }
}
END_TEST

static void explain(const char *text)
{
  sqlite3_stmt *statement;
  cm_reading r;
  char query[4096];
  (void)snprintf(query, sizeof query, "EXPLAIN QUERY PLAN %s", text);
  cm_status status = cm_reading_begin(store->database, false, &r, &error);
  CM_THEN(status, cm_sql_prepare(r.handle, &statement, &error, query, ""));
  while (cm_sql_next(statement, &status, &error)) {
    const char *line = (const char *)sqlite3_column_text(statement, 3);
    if (strncmp(line, "SCAN jobs", 9) == 0 || strncmp(line, "SCAN j ", 7) == 0 || strcmp(line, "SCAN j") == 0)
      /* A whole list goes through the table from its end, and stops at its limit. */
      ck_assert_msg(strstr(text, "WHERE sequence < ?4 ORDER BY sequence DESC LIMIT") != NULL, "%s\n%s", line, text);
    if (strstr(text, "FROM queue_totals") == NULL)
      ck_assert_msg(strstr(line, "TEMP B-TREE") == NULL, "%s\n%s", line, text);
  }
  ck_ok(cm_reading_end(&r, cm_sql_end(statement, status, &error)));
}

/* What brings a database up to date runs once. */
static bool is_of_the_schema(const char *query)
{
  for (int step = 0; step < cm_schema_version; step++)
    if (strstr(cm_schema_steps[step], query) != NULL)
      return true;
  return false;
}

/* Every query that ran in a life of jobs is answered from an index. */
START_TEST(every_query_has_its_index)
{
  char id[CM_ID_MAX];
  cm_job job;
  bool found, deferred, again, taken, mismatch;
  cm_jobs_running running;
  fill(480);
  (void)measure();
  list_jobs("network", "abc");
  list_jobs("name", "");
  create_job("", 5, id);
  ck_ok(cm_jobs_claim(store, CM_CLAIM_ANY, &job, &found, &error));
  ck_ok(cm_jobs_identify(store, &job, "f", &deferred, &error));
  ck_ok(cm_jobs_retry(store, &job, NULL, &again, &error));
  cm_job_clear(&job);
  ck_ok(cm_jobs_claim(store, CM_CLAIM_ANY, &job, &found, &error));
  ck_ok(cm_jobs_requeue(store, &job, false, &error));
  cm_job_clear(&job);
  ck_ok(cm_jobs_claim(store, CM_CLAIM_ANY, &job, &found, &error));
  ck_ok(cm_jobs_finish(store, &job, &(cm_job_outcome){.state = CM_JOB_FAILED, .problem = "{}"}, &taken, &error));
  ck_ok(cm_jobs_outlook(store, &running, &error));
  ck_ok(cm_jobs_cancel(store, id, &error));
  ck_ok(cm_bin_put(store, CM_OBJECT_JOB, id, NULL, &(bool){false}, &error));
  cm_job *interrupted;
  size_t interrupted_count;
  ck_ok(cm_jobs_interrupted(store, &interrupted, &interrupted_count, &error));
  ck_ok(cm_jobs_recover(store, interrupted, interrupted_count, "{}", &error));
  for (size_t i = 0; i < interrupted_count; i++)
    cm_job_clear(&interrupted[i]);
  free(interrupted);
  ck_fails(cm_bin_pass(store, CM_OBJECT_NETWORK, "abc", NULL, &error), CM_CONFLICT);
  add_network("before"); /* whose levels a queued job carries over */
  sql("UPDATE jobs SET options = '{\"levels_from\": \"before\"}' WHERE id = (SELECT id FROM jobs WHERE state = 'queued' LIMIT 1)");
  ck_fails(cm_bin_pass(store, CM_OBJECT_NETWORK, "before", NULL, &error), CM_CONFLICT);
  ck_fails(cm_bin_put(store, CM_OBJECT_MAPPING, "none", NULL, &(bool){false}, &error), CM_NOT_FOUND);
  ck_fails(cm_chips_delete(store, "toy", NULL, NULL, &mismatch, &error), CM_CONFLICT);
  cm_job_clear(&job);
  size_t checked = 0;
  for (size_t i = 0, count = seen_count; i < count; i++)
    if (strstr(seen[i], "jobs") != NULL && strncmp(seen[i], "CREATE", 6) != 0 && strncmp(seen[i], "ALTER", 5) != 0 &&
        strncmp(seen[i], "DROP", 4) != 0 && strncmp(seen[i], "WITH", 4) != 0 && strncmp(seen[i], "EXPLAIN", 7) != 0 &&
        strstr(seen[i], "sqlite_master") == NULL && !is_of_the_schema(seen[i])) {
      explain(seen[i]);
      checked++;
    }
  ck_assert_uint_gt(checked, 20);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("queue costs");
  TCase *tests = tcase_create("queue costs");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, costs_do_not_grow_with_the_queue);
  tcase_add_test(tests, kept_places_follow_every_change);
  tcase_add_test(tests, looking_again_reads_no_users);
  tcase_add_test(tests, every_query_has_its_index);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
