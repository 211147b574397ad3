/* Happy path: read the shares of users in each priority and lane, with what their users have used; play the priorities from
 * the highest down, so that each share knows what its user will have used when its priority's turn comes; then a job's place
 * is a sum over the shares of its priority and lane.
 *
 * Use is counted in thousandths of a millisecond per unit of a user's share, in whole numbers: equal is equal. */
#include "storage/positions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/jobs_internal.h"
#include "storage/quotas.h"
#include "storage/usage.h"

typedef struct person {
  char name[CM_USER_MAX];
  int64_t weight;
  int64_t used;    /* for one unit of the share */
  bool held;       /* as many of his jobs run as may */
  int64_t played[CM_LANES]; /* the same as the priorities of a lane are played */
} person;

/* The ready jobs of a user in one priority and lane. */
typedef struct share {
  int priority;
  cm_lane_of_jobs lane;
  uint32_t person;
  uint64_t ready;
  int64_t ready_ms;
  int64_t first;       /* sequence of the oldest */
  int64_t step;        /* what a start adds to the use */
  int64_t used;        /* when this priority's turn comes */
  /* The job placed last: how many ready ones come before it. */
  int64_t placed;
  uint64_t before;
} share;

struct cm_queue_order {
  person *people;
  size_t person_count, person_room;
  share *shares; /* by priority, highest first */
  size_t share_count, share_room;
  double now, half_life;
};

void cm_queue_order_free(cm_queue_order *order)
{
  if (order == NULL)
    return;
  free(order->people);
  free(order->shares);
  free(order);
}

static cm_status no_memory(cm_error *error)
{
  return cm_fail(error, CM_NO_MEMORY, "out of memory while reading the queue");
}

#define GROW(array, count, room) \
  ((count) < (room) || ((room) = 2 * (room) + 8, grow((void **)&(array), (room) * sizeof *(array))))

static bool grow(void **array, size_t bytes)
{
  void *larger = realloc(*array, bytes);
  if (larger == NULL)
    return false;
  *array = larger;
  return true;
}

/* Use, when it was written, and share of a user t.user. */
#define STANDING \
  "(SELECT amount_ms FROM usage u WHERE u.user = t.user), (SELECT at FROM usage u WHERE u.user = t.user)," \
  " coalesce((SELECT share FROM users p WHERE p.name = t.user), 1)"

/* Finds a user, or adds it (a NULL name is one that memory did not suffice for); the row has STANDING from `column` on. */
static cm_status find_person(cm_queue_order *order, const char *name, sqlite3_stmt *row, int column, uint32_t *found,
                             cm_error *error)
{
  if (name == NULL)
    return no_memory(error);
  for (size_t i = 0; i < order->person_count; i++)
    if (strcmp(order->people[i].name, name) == 0) {
      *found = (uint32_t)i;
      return CM_OK;
    }
  if (!GROW(order->people, order->person_count, order->person_room))
    return no_memory(error);
  person *who = &order->people[order->person_count];
  who->held = false;
  (void)snprintf(who->name, sizeof who->name, "%s", name);
  who->weight = sqlite3_column_int64(row, column + 2);
  double ms = cm_usage_faded(sqlite3_column_double(row, column), order->now - sqlite3_column_double(row, column + 1),
                             order->half_life);
  who->used = (int64_t)fmin(rint(ms), 1e14) * 1000 / who->weight;
  for (int lane = 0; lane < CM_LANES; lane++)
    who->played[lane] = who->used;
  *found = (uint32_t)order->person_count++;
  return CM_OK;
}

/* A user by name, who need not have a ready job. */
static cm_status find_by_name(cm_queue_order *order, sqlite3 *handle, const char *name, uint32_t *found, cm_error *error)
{
  sqlite3_stmt *statement;
  bool row = false;
  for (size_t i = 0; i < order->person_count; i++)
    if (strcmp(order->people[i].name, name) == 0) {
      *found = (uint32_t)i;
      return CM_OK;
    }
  cm_status status =
      cm_sql_prepare(handle, &statement, error, "SELECT " STANDING " FROM (SELECT ? AS user) t", "t", name);
  if (status == CM_OK)
    status = cm_sql_step(statement, &row, error);
  if (status == CM_OK)
    status = find_person(order, name, statement, 0, found, error);
  return cm_sql_end(statement, status, error);
}

/* Whose quota of running jobs is used up; looked at only where there is one. */
static cm_status hold(cm_queue_order *order, sqlite3 *handle, cm_error *error)
{
  for (size_t i = 0; i < order->person_count; i++)
    if (cm_quota_holds_in(handle, order->people[i].name, &order->people[i].held, error) != CM_OK)
      return error->status;
  return CM_OK;
}

static cm_status read_shares(cm_queue_order *order, sqlite3 *handle, cm_error *error)
{
  sqlite3_stmt *statement;
  bool row = true;
  cm_status status =
      cm_sql_prepare(handle, &statement, error, "SELECT priority, lane, user, ready, ready_ms, (SELECT sequence FROM jobs j INDEXED BY jobs_ready WHERE"
                     " j.user = t.user AND j.lane = t.lane AND j.priority = t.priority AND " CM_JOB_IS_READY
                     " ORDER BY sequence LIMIT 1), " STANDING
                     " FROM queue_totals t INDEXED BY queue_priority WHERE ready > 0 ORDER BY priority DESC, lane", "");
  while (status == CM_OK && row) {
    status = cm_sql_step(statement, &row, error);
    if (status != CM_OK || !row)
      break;
    if (!GROW(order->shares, order->share_count, order->share_room)) {
      status = no_memory(error);
      break;
    }
    share *s = &order->shares[order->share_count];
    memset(s, 0, sizeof *s);
    s->priority = sqlite3_column_int(statement, 0);
    s->lane = sqlite3_column_int(statement, 1) == CM_LANE_OF_SHORT ? CM_LANE_OF_SHORT : CM_LANE_OF_LONG;
    s->ready = (uint64_t)sqlite3_column_int64(statement, 3);
    s->ready_ms = sqlite3_column_int64(statement, 4);
    s->first = sqlite3_column_int64(statement, 5);
    status = find_person(order, (const char *)sqlite3_column_text(statement, 2), statement, 6, &s->person, error);
    if (status != CM_OK)
      break;
    s->step = s->ready_ms / (int64_t)s->ready * 1000 / order->people[s->person].weight;
    if (s->step < 1)
      s->step = 1;
    order->share_count++;
  }
  return cm_sql_end(statement, status, error);
}

/* Starts all ready jobs, priority by priority. */
static void play(cm_queue_order *order)
{
  for (size_t i = 0; i < order->share_count; i++) {
    share *s = &order->shares[i];
    int64_t *used = &order->people[s->person].played[s->lane];
    s->used = *used;
    *used += (int64_t)s->ready * s->step;
  }
}

cm_status cm_queue_order_load(sqlite3 *handle, cm_queue_order **order, cm_error *error)
{
  cm_queue_order *made = calloc(1, sizeof *made);
  if (made == NULL)
    return no_memory(error);
  made->now = cm_store_time();
  cm_status status = cm_usage_half_life_in(handle, &made->half_life, error);
  if (status == CM_OK)
    status = read_shares(made, handle, error);
  if (status == CM_OK)
    status = hold(made, handle, error);
  if (status != CM_OK) {
    cm_queue_order_free(made);
    return status;
  }
  play(made);
  *order = made;
  return CM_OK;
}

/* ---- turns ---- */

/* Whether the user of the first has used less for his share; among equals, the one whose name comes first; of one user's
 * lanes, the one whose oldest job is older. */
static bool comes_first(const cm_queue_order *order, const share *x, const share *y)
{
  const person *a = &order->people[x->person], *b = &order->people[y->person];
  if (a == b)
    return x->first < y->first;
  return a->used != b->used ? a->used < b->used : strcmp(a->name, b->name) < 0;
}

bool cm_queue_order_next(const cm_queue_order *order, cm_claim claim, cm_turn *turn)
{
  const share *best = NULL;
  for (size_t i = 0; i < order->share_count; i++) {
    const share *s = &order->shares[i];
    if ((claim == CM_CLAIM_SHORT && s->lane != CM_LANE_OF_SHORT) || order->people[s->person].held)
      continue;
    if (best != NULL && s->priority < best->priority)
      break;
    if (best == NULL || comes_first(order, s, best))
      best = s;
  }
  if (best == NULL)
    return false;
  memcpy(turn->user, order->people[best->person].name, sizeof turn->user);
  turn->priority = best->priority;
  turn->lane = best->lane;
  return true;
}

cm_status cm_queue_least_use(sqlite3 *handle, bool *any, double *least_ms, cm_error *error)
{
  sqlite3_stmt *statement;
  double half_life, now = cm_store_time(), least = INFINITY;
  bool row = true;
  if (cm_usage_half_life_in(handle, &half_life, error) != CM_OK)
    return error->status;
  cm_status status = cm_sql_prepare(handle, &statement, error, "SELECT " STANDING
                                    " FROM (SELECT DISTINCT user FROM queue_totals) t", "");
  while (status == CM_OK && row) {
    status = cm_sql_step(statement, &row, error);
    if (status != CM_OK || !row)
      break;
    double ms = cm_usage_faded(sqlite3_column_double(statement, 0), now - sqlite3_column_double(statement, 1), half_life);
    least = fmin(least, ms / (double)sqlite3_column_int64(statement, 2));
  }
  status = cm_sql_end(statement, status, error);
  if (status == CM_OK) {
    *any = isfinite(least);
    *least_ms = least;
  }
  return status;
}

/* ---- places ---- */

/* Ready jobs of the same user and priority with a lower sequence: whole blocks of each level, then rows. */
static cm_status count_before(sqlite3 *handle, const cm_job *job, uint64_t *before, cm_error *error)
{
#define LEVEL(level, shift, wider) \
  " UNION ALL SELECT sum(jobs) FROM queue_ranks WHERE user = ?1 AND lane = ?4 AND priority = ?2 AND level = " level \
  " AND bucket >= (?3 >> " wider ") << 6 AND bucket < ?3 >> " shift
  int64_t count;
  if (cm_sql_number(handle, 0, &count, error,
                    "SELECT sum(n) FROM (SELECT count(*) AS n FROM jobs j INDEXED BY jobs_ready WHERE user = ?1 AND lane = ?4 AND priority = ?2"
                    " AND " CM_JOB_IS_READY " AND sequence >= (?3 >> 6) << 6 AND sequence < ?3"
                    LEVEL("0", "6", "12") LEVEL("1", "12", "18") LEVEL("2", "18", "24") LEVEL("3", "24", "30")
                    LEVEL("4", "30", "36") ")", "tiii", job->owner.user, (int64_t)job->priority, job->sequence, (int64_t)job->lane) != CM_OK)
    return error->status;
#undef LEVEL
  *before = (uint64_t)count;
  return CM_OK;
}

/* How many jobs of a share start before its user's use reaches `level`; also the one that reaches it, if he `wins`. */
static uint64_t starts_before(const share *s, int64_t level, bool wins)
{
  int64_t room = level - s->used;
  if (room < 0 || (room == 0 && !wins))
    return 0;
  uint64_t starts = (uint64_t)(room / s->step) + (room % s->step != 0 || wins ? 1 : 0);
  return starts < s->ready ? starts : s->ready;
}

static double mean_ms(const share *s)
{
  return s->ready > 0 ? (double)s->ready_ms / (double)s->ready : 0;
}

cm_status cm_queue_order_place(cm_queue_order *order, sqlite3 *handle, cm_job *job, bool successive, cm_error *error)
{
  share absent = {.priority = job->priority, .step = 1}, *mine = &absent;
  uint64_t position = 1;
  double ahead_ms = 0;
  if (find_by_name(order, handle, job->owner.user, &absent.person, error) != CM_OK)
    return error->status;
  const person *me = &order->people[absent.person];
  absent.used = me->used;
  for (size_t i = 0; i < order->share_count && order->shares[i].priority >= job->priority; i++) {
    share *s = &order->shares[i];
    if (s->lane != job->lane)
      continue;
    if (s->priority > job->priority) {
      position += s->ready;
      ahead_ms += (double)s->ready_ms;
      if (s->person == absent.person)
        absent.used = s->used + (int64_t)s->ready * s->step;
    } else if (s->person == absent.person)
      mine = s;
  }
  if (mine != &absent && successive && mine->placed > job->sequence)
    mine->before -= job->ready ? 1 : 0;
  else if (mine != &absent && count_before(handle, job, &mine->before, error) != CM_OK)
    return error->status;
  mine->placed = job->sequence;
  int64_t level = mine->used + (int64_t)mine->before * mine->step;
  position += mine->before;
  ahead_ms += (double)mine->before * mean_ms(mine);
  for (size_t i = 0; i < order->share_count && order->shares[i].priority >= job->priority; i++) {
    const share *other = &order->shares[i];
    if (other == mine || other->lane != job->lane || other->priority != job->priority)
      continue;
    uint64_t starts = starts_before(other, level, strcmp(order->people[other->person].name, me->name) < 0);
    position += starts;
    ahead_ms += (double)starts * mean_ms(other);
  }
  job->held = me->held;
  job->position = position;
  job->ahead_seconds = ahead_ms / 1000;
  return CM_OK;
}
