#include "daemon/usage.h"

#include <inttypes.h>

#include "daemon/command.h"
#include "storage/ledger.h"

const char cm_usage_command_usage[] =
  "usage: coremapd usage [--since YYYY-MM] [--csv]\n"
  "\n"
  "What each user has used by month (UTC): hours of leased cores, seconds of processor time, and bytes stored at the\n"
  "month's end. --csv is for a spreadsheet. A removed user's months stay, as \"NAME (removed)\".\n";

/* No cell is read as a formula, nor needs quotes: names of users begin with a letter or digit, and have no others but '.', '_' and '-'. */
static void print(const cm_ledger_row *rows, size_t count, bool csv)
{
  (void)printf(csv ? "%s,%s,%s,%s,%s\n" : "%-8s %-24s %14s %14s %16s\n", "month", "user", "core_hours", "cpu_seconds", "bytes");
  for (size_t i = 0; i < count; i++)
    (void)printf(csv ? "%s,%s,%.3f,%.3f,%" PRIu64 "\n" : "%-8s %-24s %14.3f %14.3f %16" PRIu64 "\n", rows[i].month,
                 csv || rows[i].user[0] != '\0' ? rows[i].user : "-", rows[i].core_hours, rows[i].cpu_seconds, rows[i].bytes);
}

int cm_usage_command_run(int count, char **words)
{
  cm_error error;
  cm_database *database;
  cm_ledger_row *rows;
  size_t rows_count;
  const char *since = NULL;
  bool csv = false;
  cm_config config;
  const cm_command_flag flags[] = {{"since", &since, NULL}, {"csv", NULL, &csv}};
  cm_command command = {"usage", cm_usage_command_usage, flags, .flag_count = 2};
  int status = cm_command_read(&command, count, words);
  if (status < 0 && since != NULL && !cm_ledger_is_month(since))
    return cm_command_wrong("usage", "--since takes a month like 2026-11, not ", since);
  if (status >= 0 || (status = cm_command_settle(&command, &config)) >= 0)
    return status;
  if (cm_store_open_beside(config.data, false, &database, &error) != CM_OK)
    return cm_command_fail(&error);
  status = EXIT_SUCCESS;
  if (cm_ledger_list(database, since, NULL, &rows, &rows_count, &error) == CM_OK) {
    print(rows, rows_count, csv);
    free(rows);
  } else
    status = cm_command_fail(&error);
  cm_database_close(database);
  return status;
}
