/* Whose turn it is: the user who has used least for his share, of the highest priority. */
#include <math.h>

#include "storage/turns.h"
#include "storage/quotas.h"
#include "storage/usage.h"

/* Use, when it was written, and share of a user t.user. */
#define STANDING \
  "(SELECT amount_ms FROM usage u WHERE u.user = t.user), (SELECT at FROM usage u WHERE u.user = t.user)," \
  " coalesce((SELECT share FROM users p WHERE p.name = t.user), 1)"

void cm_queue_person_fade(cm_queue_person *who, double now, double half_life)
{
  double ms = cm_usage_faded(who->amount_ms, now - who->at, half_life);
  who->used = (int64_t)fmin(rint(ms), 1e14) * 1000 / who->weight;
}

cm_status cm_queue_person_read(sqlite3 *handle, const char *name, double now, double half_life, cm_queue_person *who, cm_error *error)
{
  *who = (cm_queue_person){.weight = 1};
  (void)snprintf(who->name, sizeof who->name, "%s", name);
  CM_TRY(cm_sql_find(handle, NULL, error, "SELECT " STANDING " FROM (SELECT ? AS user) t", "t>ddi", name, &who->amount_ms, &who->at, &who->weight));
  cm_queue_person_fade(who, now, half_life);
  return CM_OK;
}

cm_status cm_queue_any_held(sqlite3 *handle, bool *any, cm_error *error)
{
  return cm_sql_find(handle, NULL, error, "SELECT EXISTS (SELECT 1 FROM quotas WHERE quota = 'running') OR EXISTS (SELECT 1 FROM users WHERE disabled)", ">b",
                     any);
}

/* The oldest ready job of a user in one lane and priority. */
static cm_status oldest(sqlite3 *handle, const cm_turn *turn, int64_t *sequence, cm_error *error)
{
  return cm_sql_number(handle, 0, sequence, error, "SELECT sequence FROM jobs j INDEXED BY jobs_ready WHERE user = ? AND lane = ?"
                       " AND priority = ? AND " CM_JOB_IS_READY " ORDER BY sequence LIMIT 1", "tii", turn->user,
                       (int64_t)turn->lane, (int64_t)turn->priority);
}

/* A turn that might come next, and what its user has used. */
typedef struct contender {
  cm_turn turn;
  int64_t used;
} contender;

/* Whether the user of `x` has used less for his share than that of `y`; among equals, the one whose name comes first; of one
 * user's lanes, the one whose oldest job is older. */
static cm_status comes_first(sqlite3 *handle, const contender *x, const contender *y, bool *first, cm_error *error)
{
  int64_t mine, other;
  const int names = strcmp(x->turn.user, y->turn.user);
  if (names != 0) {
    *first = x->used != y->used ? x->used < y->used : names < 0;
    return CM_OK;
  }
  CM_TRY(oldest(handle, &x->turn, &mine, error));
  CM_TRY(oldest(handle, &y->turn, &other, error));
  *first = mine < other;
  return CM_OK;
}

cm_status cm_queue_turn(sqlite3 *handle, cm_claim claim, bool *any, cm_turn *turn, cm_error *error)
{
  sqlite3_stmt *statement;
  const double now = cm_store_time();
  double half_life;
  bool found = false, limited = false;
  contender best = {0};
  CM_TRY(cm_usage_half_life_in(handle, &half_life, error));
  CM_TRY(cm_queue_any_held(handle, &limited, error));
  cm_status status = cm_sql_prepare(handle, &statement, error,
                                    "SELECT priority, lane, user FROM queue_totals INDEXED BY queue_priority WHERE ready > 0"
                                    " ORDER BY priority DESC, lane", "");
  while (cm_sql_next(statement, &status, error)) {
    cm_turn next = {.priority = sqlite3_column_int(statement, 0),
                    .lane = cm_queue_lane_of(sqlite3_column_int(statement, 1))};
    cm_queue_person who;
    bool first = true;
    if ((claim & 1U << next.lane) == 0)
      continue;
    if (found && next.priority < best.turn.priority)
      break;
    const char *name = (const char *)sqlite3_column_text(statement, 2);
    status = name != NULL ? cm_queue_person_read(handle, name, now, half_life, &who, error) : cm_whole(false, "the queue", error);
    CM_THEN_IF(status, limited, cm_quota_holds_in(handle, who.name, &who.held, error));
    if (status != CM_OK || who.held)
      continue;
    memcpy(next.user, who.name, sizeof next.user);
    const contender now_on = {next, who.used};
    if (found)
      status = comes_first(handle, &now_on, &best, &first, error);
    if (status == CM_OK && first) {
      best = now_on;
      found = true;
    }
  }
  status = cm_sql_end(statement, status, error);
  if (status == CM_OK) {
    *any = found;
    *turn = best.turn;
  }
  return status;
}
