/* Happy path: the wish is written to the database, where the server looks every second; the folder's lock is free once the
 * server has ended. What can fail: no server works on the folder; the wait is over before the jobs are. */
#include "daemon/drain.h"

#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "base/run.h"
#include "daemon/command.h"
#include "storage/audit.h"
#include "storage/drain.h"
#include "storage/folder.h"
#include "storage/jobs.h"

static const char usage[] =
  "usage: coremapd drain [--wait SECONDS | --undo]\n"
  "\n"
  "The server on the data folder (--data FOLDER, --config FILE, as of the server) takes no new jobs and uploads, lets the\n"
  "running jobs end, and stops; what waits in the queue runs at the next start. The command ends with the server, or after\n"
  "--wait SECONDS with status 1: the server goes on draining. --undo takes it back.\n";

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

/* For ever where `seconds` is negative. */
static cm_status wait_for(const char *folder, double seconds, bool *served, cm_error *error)
{
  const struct timespec while_ = {.tv_nsec = 200000000};
  const double end = cm_now() + seconds;
  do {
    (void)nanosleep(&while_, NULL);
    CM_TRY(is_served(folder, served, error));
  } while (*served && (seconds < 0 || cm_now() < end));
  return CM_OK;
}

int cm_drain_run(int count, char **words)
{
  cm_error error;
  cm_config config;
  cm_database *database;
  bool served = false, undo = false;
  const char *wait = NULL;
  uint64_t seconds = 0;
  const cm_command_flag flags[] = {{"wait", &wait, NULL}, {"undo", NULL, &undo}};
  cm_command command = {"drain", usage, flags, .flag_count = 2};
  int status = cm_command_read(&command, count, words);
  if (status < 0 && wait != NULL && !cm_whole_parse(wait, &seconds))
    return cm_command_wrong("drain", "--wait needs seconds", "");
  if (status >= 0 || (status = cm_command_settle(&command, &config)) >= 0)
    return status;
  if (is_served(config.data, &served, &error) != CM_OK)
    return cm_command_fail(&error);
  if (!served) {
    (void)cm_fail(&error, CM_CONFLICT, "no server works on the data folder %s", config.data);
    return cm_command_fail(&error);
  }
  if (cm_store_open_beside(config.data, false, &database, &error) != CM_OK)
    return cm_command_fail(&error);
  const cm_audit_entry cause = {.address = "local", .action = "drain"};
  cm_audit_cause(&cause);
  cm_status asked = cm_drain_ask(database, !undo, &error);
  cm_audit_cause(NULL);
  cm_database_close(database);
  if (asked != CM_OK)
    return cm_command_fail(&error);
  if (undo) {
    (void)puts("the server takes jobs again");
    return EXIT_SUCCESS;
  }
  if (wait_for(config.data, wait != NULL ? (double)seconds : -1, &served, &error) != CM_OK)
    return cm_command_fail(&error);
  (void)puts(served ? "jobs are still running; the server stops when they have ended" : "the server has stopped");
  return served ? EXIT_FAILURE : EXIT_SUCCESS;
}
