/* Happy path: triggers of the writing connection note what a transaction changes; when it is over, and before its caller is told, the
 * numbers of what was noted grow by one. Who reads a number before a row knows later by the same number that the row is as it was.
 *
 * What can fail: the file cannot be made or mapped; then the database does not open. Numbers that grow for a transaction that did not
 * take cost a look. Nothing of the file must outlive the processes: a fresh one will do. */
#include "storage/changes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "storage/internal.h"

struct cm_changes {
  atomic_uint_fast64_t *counts; /* [CM_WATCHED], mapped */
  unsigned noted;               /* bits; of the writer's thread */
};

enum { BYTES = CM_WATCHED * sizeof(atomic_uint_fast64_t) };

cm_status cm_changes_open(const char *database_path, cm_changes **changes, cm_error *error)
{
  char path[CM_PATH_MAX];
  CM_TRY(cm_path(path, error, "%s-changes", database_path));
  cm_changes *made;
  CM_TRY(CM_HEAP(made, 1, "the database", error));
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  void *mapped = MAP_FAILED;
  if (file >= 0 && ftruncate(file, BYTES) == 0)
    mapped = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const int failure = errno;
  if (file >= 0)
    (void)close(file);
  if (mapped == MAP_FAILED) {
    free(made);
    return cm_fail_errno(error, failure, "cannot map", path);
  }
  made->counts = mapped;
  *changes = made;
  return CM_OK;
}

void cm_changes_close(cm_changes *changes)
{
  if (changes == NULL)
    return;
  (void)munmap(changes->counts, BYTES);
  free(changes);
}

static void note(sqlite3_context *call, CM_UNUSED int count, sqlite3_value **values)
{
  cm_changes *changes = sqlite3_user_data(call);
  changes->noted |= 1u << sqlite3_value_int(values[0]);
}

cm_status cm_changes_watch(cm_changes *changes, sqlite3 *writer, cm_error *error)
{
#define NOTE(number) " BEGIN SELECT cm_changed(" number "); END;"
#define WATCH(name, table, number) \
  "CREATE TEMP TRIGGER " name "_update AFTER UPDATE ON main." table NOTE(number) \
  "CREATE TEMP TRIGGER " name "_insert AFTER INSERT ON main." table NOTE(number) \
  "CREATE TEMP TRIGGER " name "_delete AFTER DELETE ON main." table NOTE(number)
#define HALF_LIFE " WHEN new.name = 'half_life'"
#define ENDED " WHEN old.state NOT IN ('queued', 'running')"
  static const char triggers[] =
    WATCH("watch_users", "users", "0") WATCH("watch_tokens", "tokens", "0")
    "CREATE TEMP TRIGGER watch_jobs_update AFTER UPDATE ON main.jobs" ENDED NOTE("1")
    "CREATE TEMP TRIGGER watch_jobs_delete AFTER DELETE ON main.jobs" ENDED NOTE("1")
    WATCH("watch_totals", "queue_totals", "2") WATCH("watch_usage", "usage", "2") WATCH("watch_quotas", "quotas", "2")
    WATCH("watch_shares", "users", "2")
    "CREATE TEMP TRIGGER watch_half_life_update AFTER UPDATE ON main.meta" HALF_LIFE NOTE("2")
    "CREATE TEMP TRIGGER watch_half_life_insert AFTER INSERT ON main.meta" HALF_LIFE NOTE("2");
  _Static_assert(CM_WATCHED_PEOPLE == 0 && CM_WATCHED_ENDED == 1 && CM_WATCHED_QUEUE == 2, "the triggers name them by their numbers");
  const int code = sqlite3_create_function(writer, "cm_changed", 1, SQLITE_UTF8, changes, note, NULL, NULL);
  return code == SQLITE_OK ? cm_sql_execute(writer, triggers, error) : cm_sql_fail(writer, code, "function", error);
}

void cm_changes_tell(cm_changes *changes)
{
  for (unsigned i = 0; i < CM_WATCHED; i++)
    if ((changes->noted & 1u << i) != 0)
      atomic_fetch_add(&changes->counts[i], 1);
  changes->noted = 0;
}

uint64_t cm_changes_version(const cm_changes *changes, cm_watched what)
{
  return atomic_load(&changes->counts[what]);
}
