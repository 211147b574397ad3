/* Happy path: the wish is written to the database, where the server looks every second; the folder's lock is free once the
 * server has ended. What can fail: no server works on the folder; the wait is over before the jobs are. */
#include "daemon/drain.h"

#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "daemon/command.h"
#include "daemon/owner.h"
#include "storage/audit.h"
#include "storage/drain.h"
#include "storage/folder.h"
#include "storage/jobs.h"

enum { WORDS_MAX = 64 };

static const char usage[] =
  "usage: coremapd drain [--wait SECONDS | --undo]\n"
  "\n"
  "The server on the data folder (--data FOLDER, --config FILE, as of the server) takes no new jobs and uploads, lets the\n"
  "running jobs end, and stops; what waits in the queue runs at the next start. The command ends with the server, or after\n"
  "--wait SECONDS with status 1: the server goes on draining. --undo takes it back.\n";

typedef struct arguments {
  bool undo, waits;
  uint64_t wait; /* seconds */
  cm_config config;
} arguments;

/* Negative: go on. */
static int read_words(int count, char **words, arguments *a)
{
  char *rest[WORDS_MAX] = {words[0]};
  cm_error error;
  int used = 1;
  for (int i = 2; i < count; i++) {
    if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0) {
      (void)fputs(usage, stdout);
      return EXIT_SUCCESS;
    }
    if (strcmp(words[i], "--undo") == 0)
      a->undo = true;
    else if (strcmp(words[i], "--wait") == 0) {
      if (i + 1 == count || !cm_whole_parse(words[++i], &a->wait))
        return cm_command_wrong("drain", "--wait needs seconds", "");
      a->waits = true;
    } else if (used + 1 < WORDS_MAX)
      rest[used++] = words[i];
  }
  return cm_owner_config(used, rest, &a->config, &error) == CM_OK ? -1 : cm_command_fail(&error);
}

/* Whether a server holds the folder. */
static cm_status is_served(const char *folder, bool *served, cm_error *error)
{
  int lock;
  cm_status status = cm_folder_lock(folder, &lock, error);
  if (status == CM_OK)
    (void)close(lock);
  *served = status == CM_CONFLICT;
  return status == CM_CONFLICT ? CM_OK : status;
}

static cm_status wait_for(const arguments *a, bool *served, cm_error *error)
{
  const struct timespec while_ = {.tv_nsec = 200000000};
  struct timespec now, end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_sec += (time_t)a->wait;
  do {
    (void)nanosleep(&while_, NULL);
    CM_TRY(is_served(a->config.data, served, error));
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (*served && (!a->waits || now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec)));
  return CM_OK;
}

int cm_drain_run(int count, char **words)
{
  cm_error error;
  arguments a = {0};
  cm_database *database;
  bool served = false;
  int status = read_words(count, words, &a);
  if (status >= 0)
    return status;
  if (is_served(a.config.data, &served, &error) != CM_OK)
    return cm_command_fail(&error);
  if (!served) {
    (void)cm_fail(&error, CM_CONFLICT, "no server works on the data folder %s", a.config.data);
    return cm_command_fail(&error);
  }
  if (cm_store_open_beside(a.config.data, false, &database, &error) != CM_OK)
    return cm_command_fail(&error);
  const cm_audit_entry cause = {.address = "local", .action = "drain"};
  cm_audit_cause(&cause);
  cm_status asked = cm_drain_ask(database, !a.undo, &error);
  cm_audit_cause(NULL);
  cm_database_close(database);
  if (asked != CM_OK)
    return cm_command_fail(&error);
  if (a.undo) {
    (void)puts("the server takes jobs again");
    return EXIT_SUCCESS;
  }
  if (wait_for(&a, &served, &error) != CM_OK)
    return cm_command_fail(&error);
  (void)puts(served ? "jobs are still running; the server stops when they have ended" : "the server has stopped");
  return served ? EXIT_FAILURE : EXIT_SUCCESS;
}
