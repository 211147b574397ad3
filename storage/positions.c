/* Happy path: read the shares of users in each priority and lane, with what their users have used; play the priorities from
 * the highest down, so that each share knows what its user will have used when its priority's turn comes; then a job's place
 * is a sum over the shares of its priority and lane. What was read is kept for the next who asks, until it changes.
 *
 * Use is counted in thousandths of a millisecond per unit of a user's share, in whole numbers: equal is equal. */
#include "storage/positions.h"

#include <stdatomic.h>

#include "base/order.h"
#include "storage/turns.h"
#include "storage/quotas.h"
#include "storage/usage.h"

/* The ready jobs of a user in one priority and lane. */
typedef struct share {
  int priority;
  cm_lane_of_jobs lane;
  uint32_t person;
  uint64_t ready;
  int64_t ready_ms;
  int64_t step;        /* what a start adds to the use */
  int64_t used;        /* when this priority's turn comes */
  /* The job placed last: how many ready ones come before it. */
  int64_t placed;
  uint64_t before;
} share;

struct cm_queue_order {
  uint64_t version; /* of CM_WATCHED_QUEUE, from before it was read */
  cm_queue_person *people;
  size_t person_count, person_capacity;
  share *shares; /* by priority, highest first */
  size_t share_count, share_capacity;
  double half_life;
};

void cm_queue_order_free(cm_queue_order *order)
{
  if (order == NULL)
    return;
  free(order->people);
  free(order->shares);
  free(order);
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

static cm_status add_person(cm_queue_order *order, sqlite3 *handle, const char *name, uint32_t *added, cm_error *error)
{
  if (!GROW(order->people, order->person_count, order->person_capacity))
    return cm_whole(false, "the queue", error);
  CM_TRY(cm_queue_person_read(handle, name, cm_store_time(), order->half_life, &order->people[order->person_count], error));
  *added = (uint32_t)order->person_count++;
  return CM_OK;
}

/* A user, who need not have a ready job. */
static cm_status find_person(cm_queue_order *order, sqlite3 *handle, const char *name, uint32_t *found, cm_error *error)
{
  for (size_t i = 0; i < order->person_count; i++)
    if (strcmp(order->people[i].name, name) == 0) {
      *found = (uint32_t)i;
      return CM_OK;
    }
  return add_person(order, handle, name, found, error);
}

/* ---- the order of all ---- */

static cm_status add_share(cm_queue_order *order, sqlite3 *handle, sqlite3_stmt *row, cm_error *error)
{
  const char *user = (const char *)sqlite3_column_text(row, 0);
  if (user == NULL || !GROW(order->shares, order->share_count, order->share_capacity))
    return cm_whole(false, "the queue", error);
  share *s = &order->shares[order->share_count];
  *s = (share){.lane = cm_queue_lane_of(sqlite3_column_int(row, 1)),
               .priority = sqlite3_column_int(row, 2), .ready = (uint64_t)sqlite3_column_int64(row, 3),
               .ready_ms = sqlite3_column_int64(row, 4)};
  /* Rows come user by user. */
  if (order->person_count > 0 && strcmp(order->people[order->person_count - 1].name, user) == 0)
    s->person = (uint32_t)order->person_count - 1;
  else if (add_person(order, handle, user, &s->person, error) != CM_OK)
    return error->status;
  s->step = s->ready_ms / (int64_t)s->ready * 1000 / order->people[s->person].weight;
  if (s->step < 1)
    s->step = 1;
  order->share_count++;
  return CM_OK;
}

CM_ORDER(by_priority, share, CM_FALLING(priority) CM_RISING(lane))

static cm_status read_shares(cm_queue_order *order, sqlite3 *handle, cm_error *error)
{
  sqlite3_stmt *statement;
  cm_status status = cm_sql_prepare(handle, &statement, error,
                                    "SELECT user, lane, priority, ready, ready_ms FROM queue_totals WHERE ready > 0"
                                    " ORDER BY user, lane, priority", "");
  while (cm_sql_next(statement, &status, error))
    status = add_share(order, handle, statement, error);
  if (order->share_count > 0)
    qsort(order->shares, order->share_count, sizeof *order->shares, by_priority);
  return cm_sql_end(statement, status, error);
}

static cm_status hold(cm_queue_order *order, sqlite3 *handle, cm_error *error)
{
  bool any = false;
  CM_TRY(cm_queue_any_held(handle, &any, error));
  for (size_t i = 0; any && i < order->person_count; i++)
    CM_TRY(cm_quota_holds_in(handle, order->people[i].name, &order->people[i].held, error));
  return CM_OK;
}

/* Starts all ready jobs, priority by priority, from what each user has used by now. */
static void play(cm_queue_order *order)
{
  const double now = cm_store_time();
  for (size_t i = 0; i < order->person_count; i++) {
    cm_queue_person *who = &order->people[i];
    cm_queue_person_fade(who, now, order->half_life);
    for (int lane = 0; lane < CM_LANES; lane++)
      who->played[lane] = who->used;
  }
  for (size_t i = 0; i < order->share_count; i++) {
    share *s = &order->shares[i];
    int64_t *used = &order->people[s->person].played[s->lane];
    s->placed = 0;
    s->used = *used;
    *used += (int64_t)s->ready * s->step;
  }
}

cm_status cm_queue_order_load(sqlite3 *handle, uint64_t version, cm_queue_order **order, cm_error *error)
{
  cm_queue_order *made = calloc(1, sizeof *made);
  if (made == NULL)
    return cm_whole(false, "the queue", error);
  made->version = version;
  cm_status status = cm_usage_half_life_in(handle, &made->half_life, error);
  CM_THEN(status, read_shares(made, handle, error));
  CM_THEN(status, hold(made, handle, error));
  CM_TRY_OR(status, cm_queue_order_free(made));
  play(made);
  *order = made;
  return CM_OK;
}

cm_queue_order *cm_queue_order_take(cm_store *store, uint64_t version)
{
  cm_queue_order *order = atomic_exchange(&store->order, NULL);
  if (order != NULL && order->version != version) {
    cm_queue_order_free(order);
    order = NULL;
  }
  if (order != NULL)
    play(order);
  return order;
}

void cm_queue_order_keep(cm_store *store, cm_queue_order *order)
{
  if (order != NULL)
    cm_queue_order_free(atomic_exchange(&store->order, order));
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
  CM_TRY(find_person(order, handle, job->owner.user, &absent.person, error));
  const cm_queue_person *me = &order->people[absent.person];
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
