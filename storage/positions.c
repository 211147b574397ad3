/* Happy path: read the shares of users in each priority; play the priorities from the highest down, so that each share
 * knows how many jobs its user runs and in which order users come when its priority's turn comes; then a job's place is
 * a sum over the shares of its priority. */
#include "storage/positions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/jobs_internal.h"

/* A user as the priorities are played. */
typedef struct person {
  char name[CM_USER_MAX];
  int64_t really_running, running; /* now, and as the priorities are played */
  double really_last, last;        /* order of last starts: real ones, then played ones */
} person;

/* The ready jobs of a user in one priority. `running` and `last` are the user's when this priority's turn comes. */
typedef struct share {
  int priority;
  uint32_t person;
  uint64_t ready;
  int64_t first; /* sequence of the oldest */
  int64_t running;
  double last, last_after; /* before and after this priority is played */
  /* The job placed last: how many ready ones come before it. */
  int64_t placed;
  uint64_t before;
} share;

struct cm_queue_order {
  person *people;
  size_t person_count, person_room;
  share *shares; /* by priority, highest first */
  size_t share_count, share_room;
  double plays; /* starts played so far */
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

/* Running jobs of a user t.user, and its last start. */
#define STANDING \
  "(SELECT count(*) FROM jobs r WHERE r.state = 'running' AND r.user = t.user)," \
  " (SELECT max(s.started) FROM jobs s WHERE s.user = t.user)"

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
  (void)snprintf(who->name, sizeof who->name, "%s", name);
  who->running = who->really_running = sqlite3_column_int64(row, column);
  who->last = who->really_last = sqlite3_column_double(row, column + 1);
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

static cm_status read_shares(cm_queue_order *order, sqlite3 *handle, cm_error *error)
{
  sqlite3_stmt *statement;
  bool row = true;
  cm_status status =
      cm_sql_prepare(handle, &statement, error,
                     "SELECT priority, user, ready, (SELECT sequence FROM jobs j INDEXED BY jobs_ready WHERE"
                     " j.user = t.user AND j.priority = t.priority AND " CM_JOB_IS_READY " ORDER BY sequence LIMIT 1), "
                     STANDING " FROM queue_totals t INDEXED BY queue_priority WHERE ready > 0 ORDER BY priority DESC", "");
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
    s->ready = (uint64_t)sqlite3_column_int64(statement, 2);
    s->first = sqlite3_column_int64(statement, 3);
    status = find_person(order, (const char *)sqlite3_column_text(statement, 1), statement, 4, &s->person, error);
    if (status == CM_OK)
      order->share_count++;
  }
  return cm_sql_end(statement, status, error);
}

/* Whether `a` is served before `b` on a level of running jobs that both have reached: the one that reached it with jobs
 * that really run comes first, then the one whose last start is longer ago. */
static bool goes_before(const share *a, const share *b)
{
  if (a->running != b->running)
    return a->running > b->running;
  return a->last != b->last ? a->last < b->last : a->first < b->first;
}

/* By their last start, when all jobs of the priority have been started. */
static int by_last_start(const void *left, const void *right)
{
  const share *a = *(const share *const *)left, *b = *(const share *const *)right;
  int64_t x = a->running + (int64_t)a->ready, y = b->running + (int64_t)b->ready;
  if (x != y)
    return x < y ? -1 : 1;
  return a == b ? 0 : goes_before(a, b) ? -1 : 1;
}

/* Starts all jobs of the shares [begin, end) of one priority. */
static cm_status play(cm_queue_order *order, size_t begin, size_t end, cm_error *error)
{
  share **sorted = malloc((end - begin) * sizeof *sorted);
  if (sorted == NULL)
    return no_memory(error);
  for (size_t i = begin; i < end; i++) {
    share *s = &order->shares[i];
    s->running = order->people[s->person].running;
    s->last = order->people[s->person].last;
    sorted[i - begin] = s;
  }
  qsort(sorted, end - begin, sizeof *sorted, by_last_start);
  for (size_t i = 0; i < end - begin; i++) {
    person *who = &order->people[sorted[i]->person];
    who->running += (int64_t)sorted[i]->ready;
    who->last = sorted[i]->last_after = 1e15 + ++order->plays; /* later than any real start */
  }
  free(sorted);
  return CM_OK;
}

cm_status cm_queue_order_load(sqlite3 *handle, cm_queue_order **order, cm_error *error)
{
  cm_queue_order *made = calloc(1, sizeof *made);
  if (made == NULL)
    return no_memory(error);
  cm_status status = read_shares(made, handle, error);
  for (size_t begin = 0, end; status == CM_OK && begin < made->share_count; begin = end) {
    for (end = begin; end < made->share_count && made->shares[end].priority == made->shares[begin].priority;)
      end++;
    status = play(made, begin, end, error);
  }
  if (status != CM_OK) {
    cm_queue_order_free(made);
    return status;
  }
  *order = made;
  return CM_OK;
}

/* Ready jobs of the same user and priority with a lower sequence: whole blocks of each level, then rows. */
static cm_status count_before(sqlite3 *handle, const cm_job *job, uint64_t *before, cm_error *error)
{
#define LEVEL(level, shift, wider) \
  " UNION ALL SELECT sum(jobs) FROM queue_ranks WHERE user = ?1 AND priority = ?2 AND level = " level \
  " AND bucket >= (?3 >> " wider ") << 6 AND bucket < ?3 >> " shift
  int64_t count;
  if (cm_sql_number(handle, 0, &count, error,
                    "SELECT sum(n) FROM (SELECT count(*) AS n FROM jobs j INDEXED BY jobs_ready WHERE user = ?1 AND priority = ?2"
                    " AND " CM_JOB_IS_READY " AND sequence >= (?3 >> 6) << 6 AND sequence < ?3"
                    LEVEL("0", "6", "12") LEVEL("1", "12", "18") LEVEL("2", "18", "24") LEVEL("3", "24", "30")
                    LEVEL("4", "30", "36") ")", "tii", job->owner.user, (int64_t)job->priority, job->sequence) != CM_OK)
    return error->status;
#undef LEVEL
  *before = (uint64_t)count;
  return CM_OK;
}

static uint64_t clamp(int64_t value, uint64_t most)
{
  return value <= 0 ? 0 : (uint64_t)value < most ? (uint64_t)value : most;
}

/* The share of a user none of whose jobs in this priority is ready, when its turn comes: [0, end) are the shares of higher
 * priorities. */
static void fill_absent(const cm_queue_order *order, size_t end, share *absent)
{
  const person *who = &order->people[absent->person];
  absent->running = who->really_running;
  absent->last = who->really_last;
  for (size_t i = 0; i < end; i++)
    if (order->shares[i].person == absent->person) {
      absent->running += (int64_t)order->shares[i].ready;
      absent->last = order->shares[i].last_after;
    }
}

cm_status cm_queue_order_place(cm_queue_order *order, sqlite3 *handle, cm_job *job, bool successive, cm_error *error)
{
  share absent = {.priority = job->priority, .first = job->sequence}, *mine = &absent;
  size_t begin = 0, end;
  uint64_t position = 1;
  if (find_by_name(order, handle, job->owner.user, &absent.person, error) != CM_OK)
    return error->status;
  for (; begin < order->share_count && order->shares[begin].priority > job->priority; begin++)
    position += order->shares[begin].ready;
  for (end = begin; end < order->share_count && order->shares[end].priority == job->priority; end++)
    if (order->shares[end].person == absent.person)
      mine = &order->shares[end];
  if (mine == &absent)
    fill_absent(order, begin, &absent);
  else if (successive && mine->placed > job->sequence)
    mine->before -= job->ready ? 1 : 0;
  else if (count_before(handle, job, &mine->before, error) != CM_OK)
    return error->status;
  mine->placed = job->sequence;
  int64_t level = mine->running + (int64_t)mine->before;
  position += mine->before;
  for (size_t i = begin; i < end; i++) {
    const share *other = &order->shares[i];
    if (other != mine)
      position += clamp(level - other->running + (goes_before(other, mine) ? 1 : 0), other->ready);
  }
  job->position = position;
  return CM_OK;
}
