/* Happy path: a caller queues its closure and sleeps; the writer takes all that wait, runs each under a savepoint
 * in one transaction, commits once (one fsync), and wakes them all.
 *
 * What can fail: a closure (rolled back alone, the others go on); the engine while a closure runs, when SQLite
 * rolls the whole transaction back (full disk, no memory: the closures that ran before it are run again in
 * a transaction of their own, so one caller's misfortune is not another's); the commit itself (all of the group
 * fail with its error, nothing of them is stored). */
#include "storage/database.h"

#include "base/hold.h"
#include "storage/audit.h"
#include "storage/changes.h"
#include "storage/connection.h"

enum { READERS_KEPT = 8, GROUP_MAX = 256 };

typedef struct task {
  cm_database_work work;
  void *context;
  cm_error *error;
  const cm_audit_entry *cause; /* noted with it; NULL: none */
  bool carried;                /* by an earlier write: this one must tell an effect to be noted */
  cm_status status;
  bool done;
  struct task *next;
} task;

struct cm_database {
  char path[CM_PATH_MAX];
  cm_connection writer;
  cm_changes *changes;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t arrived, finished;
  task *first, **last;
  bool stopping;
  double moved; /* when the writer last ended a group, or got work after a rest; 0: it rests */
  uint64_t transactions, writes;

  pthread_mutex_t reader_lock;
  cm_connection readers[READERS_KEPT];
  int reader_count;
};

/* ---- the writer ---- */

/* BEGIN and the like, of which there is one text each. */
static cm_status control(sqlite3 *handle, const char *sql, cm_error *error)
{
  return cm_sql_run(handle, NULL, error, sql, "");
}

/* Rolls back what is open; false when the connection cannot even do that. */
static bool end_transaction(sqlite3 *handle)
{
  if (sqlite3_get_autocommit(handle) == 0)
    (void)sqlite3_exec(handle, "ROLLBACK", NULL, NULL, NULL);
  return sqlite3_get_autocommit(handle) != 0;
}

/* A connection that is stuck in a transaction is replaced by a new one. */
static cm_status free_writer(cm_database *database, cm_error *error)
{
  cm_connection fresh;
  if (end_transaction(database->writer.handle))
    return CM_OK;
  CM_TRY(cm_connection_open(database->path, false, false, &fresh, error));
  CM_TRY_OR(cm_changes_watch(database->changes, fresh.handle, error), cm_connection_close(&fresh));
  cm_connection_close(&database->writer);
  database->writer = fresh;
  return CM_OK;
}

/* One task under a savepoint; nothing of it stays when it fails. False: the whole transaction must go, because SQLite has
 * dropped it already, or could not take the task alone back. */
static bool run_task(sqlite3 *handle, task *t)
{
  cm_error ignored;
  t->status = control(handle, "SAVEPOINT one", t->error);
  if (t->status != CM_OK)
    return sqlite3_get_autocommit(handle) == 0;
  cm_audit_forget_effect();
  t->status = t->work(handle, t->context, t->error);
  if (t->status == CM_OK && t->cause != NULL && (!t->carried || cm_audit_has_effect()))
    t->status = cm_audit_note_in(handle, t->cause, t->error);
  if (sqlite3_get_autocommit(handle) != 0) {
    if (t->status == CM_OK)
      t->status = cm_fail(t->error, CM_INTERNAL, "a write ended its transaction by itself");
    return false;
  }
  if (t->status != CM_OK && control(handle, "ROLLBACK TO one", &ignored) != CM_OK)
    return false;
  if (control(handle, "RELEASE one", &ignored) == CM_OK)
    return true;
  if (t->status == CM_OK) {
    *t->error = ignored;
    t->status = ignored.status;
  }
  return false;
}

/* Runs the tasks of a group in one transaction. Returns `count`, or the index of a task with which the whole transaction
 * went: that task has its status, the others must run again. */
static size_t run_group(cm_database *database, task **group, size_t count)
{
  cm_error error;
  cm_status status = free_writer(database, &error);
  sqlite3 *handle = database->writer.handle;
  (void)cm_statements_use(database->writer.statements);
  if (status != CM_OK || control(handle, "BEGIN IMMEDIATE", &error) != CM_OK) {
    for (size_t i = 0; i < count; i++) {
      *group[i]->error = error;
      group[i]->status = error.status;
    }
    return count;
  }
  for (size_t i = 0; i < count; i++)
    if (!run_task(handle, group[i]))
      return i;
  if (control(handle, "COMMIT", &error) != CM_OK) {
    (void)end_transaction(handle);
    for (size_t i = 0; i < count; i++)
      if (group[i]->status == CM_OK) {
        *group[i]->error = error;
        group[i]->status = error.status;
      }
  }
  return count;
}

static void *write_loop(void *argument)
{
  cm_database *database = argument;
  pthread_mutex_lock(&database->lock);
  for (;;) {
    while (database->first == NULL && !database->stopping)
      pthread_cond_wait(&database->arrived, &database->lock);
    if (database->first == NULL)
      break;
    database->moved = cm_now();
    task *group[GROUP_MAX];
    size_t count = 0;
    while (database->first != NULL && count < GROUP_MAX) {
      group[count++] = database->first;
      database->first = database->first->next;
    }
    if (database->first == NULL)
      database->last = &database->first;
    database->writes += count;
    while (count > 0) {
      database->transactions++;
      pthread_mutex_unlock(&database->lock);
      size_t fault = run_group(database, group, count);
      cm_changes_tell(database->changes);
      pthread_mutex_lock(&database->lock);
      /* A task belongs to its caller again from the moment it is done. */
      if (fault < count) {
        group[fault]->done = true;
        group[fault] = group[--count];
      } else {
        for (size_t i = 0; i < count; i++)
          group[i]->done = true;
        count = 0;
      }
      database->moved = cm_now();
      pthread_cond_broadcast(&database->finished);
    }
    database->moved = 0;
  }
  pthread_mutex_unlock(&database->lock);
  return NULL;
}

double cm_database_waiting(cm_database *database)
{
  pthread_mutex_lock(&database->lock);
  double moved = database->moved;
  pthread_mutex_unlock(&database->lock);
  return moved > 0 ? cm_now() - moved : 0;
}

cm_status cm_database_write(cm_database *database, cm_database_work work, void *context, cm_error *error)
{
  task mine = {.work = work, .context = context, .error = error};
  mine.cause = cm_audit_due(&mine.carried);
  pthread_mutex_lock(&database->lock);
  /* This frame outlives its place in the queue: the call waits until the task is done. */
  *database->last = &mine;
  // cppcheck-suppress autoVariables
  database->last = &mine.next;
  pthread_cond_signal(&database->arrived);
  while (!mine.done)
    pthread_cond_wait(&database->finished, &database->lock);
  pthread_mutex_unlock(&database->lock);
  if (mine.status == CM_OK)
    cm_audit_done();
  return mine.status;
}

/* ---- readers ---- */

cm_status cm_reading_begin(cm_database *database, bool looks, cm_reading *reading, cm_error *error)
{
  cm_connection mine = {0};
  pthread_mutex_lock(&database->reader_lock);
  if (database->reader_count > 0)
    mine = database->readers[--database->reader_count];
  pthread_mutex_unlock(&database->reader_lock);
  *reading = (cm_reading){0};
  CM_TRY_IF(mine.handle == NULL, cm_connection_open(database->path, false, true, &mine, error));
  *reading = (cm_reading){mine.handle, database, mine.statements, cm_statements_use(mine.statements), looks};
  return looks ? CM_OK : control(mine.handle, "BEGIN", error);
}

cm_status cm_reading_end(cm_reading *r, cm_status status)
{
  cm_error ignored;
  cm_connection mine = {r->handle, r->statements};
  if (mine.handle == NULL)
    return status;
  bool usable = (!r->looks && control(mine.handle, "COMMIT", &ignored) == CM_OK) || end_transaction(mine.handle);
  (void)cm_statements_use(r->before);
  pthread_mutex_lock(&r->database->reader_lock);
  if (usable && r->database->reader_count < READERS_KEPT) {
    r->database->readers[r->database->reader_count++] = mine;
    mine = (cm_connection){0};
  }
  pthread_mutex_unlock(&r->database->reader_lock);
  cm_connection_close(&mine);
  return status;
}

/* ---- one statement ---- */

cm_status cm_database_find(cm_database *database, bool *found, cm_error *error, const char *sql, const char *types, ...)
{
  cm_reading r;
  va_list arguments;
  va_start(arguments, types);
  cm_status status = cm_reading_begin(database, true, &r, error);
  CM_THEN(status, cm_sql_find_of(r.handle, found, error, sql, types, &arguments));
  va_end(arguments);
  return cm_reading_end(&r, status);
}

cm_status cm_database_list(cm_database *database, const cm_row_kind *kind, void *rows, size_t *count, cm_error *error, ...)
{
  cm_reading r;
  va_list arguments;
  va_start(arguments, error);
  cm_status status = cm_reading_begin(database, true, &r, error);
  CM_THEN(status, cm_sql_list_of(r.handle, kind, rows, count, error, &arguments));
  va_end(arguments);
  return cm_reading_end(&r, status);
}

typedef struct statement {
  int *changes;
  const char *sql, *types;
  va_list *arguments;
} statement;

static cm_status run(sqlite3 *handle, void *context, cm_error *error)
{
  const statement *s = context;
  va_list arguments;
  va_copy(arguments, *s->arguments);
  cm_status status = cm_sql_run_of(handle, s->changes, error, s->sql, s->types, &arguments);
  va_end(arguments);
  return status;
}

cm_status cm_database_run(cm_database *database, int *changes, cm_error *error, const char *sql, const char *types, ...)
{
  va_list arguments;
  va_start(arguments, types);
  cm_status status = cm_database_write(database, run, &(statement){changes, sql, types, &arguments}, error);
  va_end(arguments);
  return status;
}

/* ---- opening and closing ---- */

/* Once no thread uses it. */
static void free_database(cm_database *database)
{
  for (int i = 0; i < database->reader_count; i++)
    cm_connection_close(&database->readers[i]);
  cm_connection_close(&database->writer);
  cm_changes_close(database->changes);
  free(database);
}

/* `join`: the schema must be ours, and is not brought up to date. */
static cm_status begin(const char *path, bool must_exist, bool join, cm_database **database, cm_error *error)
{
  cm_database *made;
  CM_TRY(CM_HEAP(made, 1, "the database", error));
  made->last = &made->first;
  if (cm_path(made->path, error, "%s", path) != CM_OK ||
      cm_connection_open(path, true, must_exist, &made->writer, error) != CM_OK ||
      (join ? cm_connection_check_version(made->writer.handle, path, error) : cm_connection_upgrade(made->writer.handle, error)) != CM_OK ||
      cm_changes_open(path, &made->changes, error) != CM_OK ||
      cm_changes_watch(made->changes, made->writer.handle, error) != CM_OK) {
    free_database(made);
    return error->status;
  }
  pthread_mutex_init(&made->lock, NULL);
  pthread_mutex_init(&made->reader_lock, NULL);
  pthread_cond_init(&made->arrived, NULL);
  pthread_cond_init(&made->finished, NULL);
  if (pthread_create(&made->thread, NULL, write_loop, made) != 0) {
    free_database(made);
    return cm_fail(error, CM_NO_MEMORY, "the database's writer thread cannot be started");
  }
  *database = made;
  return CM_OK;
}

cm_status cm_database_open(const char *path, bool must_exist, cm_database **database, cm_error *error)
{
  return begin(path, must_exist, false, database, error);
}

cm_status cm_database_join(const char *path, cm_database **database, cm_error *error)
{
  return begin(path, true, true, database, error);
}

void cm_database_close(cm_database *database)
{
  if (database == NULL)
    return;
  pthread_mutex_lock(&database->lock);
  database->stopping = true;
  pthread_cond_signal(&database->arrived);
  pthread_mutex_unlock(&database->lock);
  pthread_join(database->thread, NULL);
  pthread_mutex_destroy(&database->lock);
  pthread_mutex_destroy(&database->reader_lock);
  pthread_cond_destroy(&database->arrived);
  pthread_cond_destroy(&database->finished);
  free_database(database);
}

uint64_t cm_database_version(const cm_database *database, cm_watched what)
{
  return cm_changes_version(database->changes, what);
}

void cm_database_counts(cm_database *database, uint64_t *transactions, uint64_t *writes)
{
  CM_HOLD(&database->lock);
  *transactions = database->transactions;
  *writes = database->writes;
}

static cm_status limit_pages(void *handle, uint32_t pages, cm_error *error)
{
  char sql[64];
  (void)snprintf(sql, sizeof sql, "PRAGMA max_page_count = %u", pages != 0 ? pages : 1073741823u);
  return cm_sql_execute(handle, sql, error);
}

cm_status cm_database_limit_pages(cm_database *database, uint32_t pages, cm_error *error)
{
  /* The pragma belongs to the writer's connection, which is idle: nothing is queued while tests call this. */
  CM_HOLD(&database->lock);
  return limit_pages(database->writer.handle, pages, error);
}
