/* A queue of jobs for tests, whose statements are counted. */
#pragma once

#include "store.h"

#include <math.h>
#include <pthread.h>

#include "storage/limits.h"
#include "storage/quotas.h"

enum { QUERIES_MAX = 1000 };
static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER;
static char *seen[QUERIES_MAX];
static size_t seen_count;
static uint64_t steps;

static inline int on_trace(unsigned kind, void *context, void *statement, void *unused)
{
  (void)kind;
  (void)context;
  (void)unused;
  const char *sql = sqlite3_sql(statement);
  pthread_mutex_lock(&seen_lock);
  steps += (uint64_t)sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1);
  size_t i = 0;
  while (i < seen_count && strcmp(seen[i], sql) != 0)
    i++;
  if (i == seen_count && seen_count < QUERIES_MAX)
    seen[seen_count++] = strdup(sql);
  pthread_mutex_unlock(&seen_lock);
  return 0;
}

static inline int on_open(sqlite3 *handle, const char **message, const struct sqlite3_api_routines *api)
{
  (void)message;
  (void)api;
  return sqlite3_trace_v2(handle, SQLITE_TRACE_PROFILE, on_trace, NULL);
}

static inline void setup(void)
{
  ck_assert_int_eq(sqlite3_auto_extension((void (*)(void))on_open), SQLITE_OK);
  store_setup();
}

static inline void teardown(void)
{
  store_teardown();
  for (size_t i = 0; i < seen_count; i++)
    free(seen[i]);
  seen_count = 0;
  sqlite3_reset_auto_extension();
}

static inline cm_status run_sql(sqlite3 *handle, void *context, cm_error *e)
{
  return cm_sql_run(handle, NULL, e, context, "");
}

static inline void sql(const char *text)
{
  ck_ok(cm_database_write(store->database, run_sql, (void *)(uintptr_t)text, &error));
}

/* Many queued jobs of many users and priorities at once. */
static inline void fill(int count)
{
  char text[1024];
  (void)snprintf(text, sizeof text,
                 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
                 " INSERT INTO jobs(id, user, kind, name, network, chip, options, reserve, ttl, priority, state, attempt,"
                 " kills, moved, cancel_requested, reused, created) SELECT 'f' || i || hex(randomblob(4)),"
                 " 'user' || (i %% 8), 'map', '', 'abc', 'toy', '{}', 0, 60, i %% 3 - 1, 'queued', 0, 0, 0, 0, 0, i FROM n",
                 count);
  sql(text);
  (void)snprintf(text, sizeof text,
                 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
                 " INSERT INTO mappings(id, user, network, chip, job, bytes, created) SELECT 'm' || i || hex(randomblob(4)),"
                 " 'user' || (i %% 8), 'abc', 'toy', '', 10, i FROM n", count);
  sql(text);
}

static inline void set_quota(bool group, const char *name, cm_quota quota, double most)
{
  cm_limit_row row = {.group = group};
  (void)snprintf(row.name, sizeof row.name, "%s", name);
  for (int i = 0; i < CM_QUOTAS; i++)
    row.most[i] = i == (int)quota ? most : NAN;
  ck_ok(cm_limits_set(store->database, &cm_quota_kind, &row, &error));
}
