#include "daemon/usage.h"

#include <inttypes.h>

#include "daemon/command.h"
#include "daemon/owner.h"
#include "storage/ledger.h"

enum { WORDS_MAX = 64 };

const char cm_usage_command_usage[] =
  "usage: coremapd usage [--since YYYY-MM] [--csv]\n"
  "\n"
  "What each user has used by month (UTC): hours of leased cores, seconds of processor time, and bytes stored at the\n"
  "month's end. --csv is for a spreadsheet. A removed user's months stay, as \"NAME (removed)\".\n";

typedef struct arguments {
  const char *since;
  bool csv;
  cm_config config;
} arguments;

/* Negative: go on. */
static int read_words(int count, char **words, arguments *a)
{
  char *rest[WORDS_MAX] = {words[0]};
  int used = 1;
  for (int i = 2; i < count; i++) {
    if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0) {
      (void)fputs(cm_usage_command_usage, stdout);
      return EXIT_SUCCESS;
    }
    if (strcmp(words[i], "--csv") == 0)
      a->csv = true;
    else if (strcmp(words[i], "--since") == 0 && i + 1 < count)
      a->since = words[++i];
    else if (strncmp(words[i], "--since=", 8) == 0)
      a->since = words[i] + 8;
    else if (used == WORDS_MAX)
      return cm_command_wrong("usage", "unexpected argument: ", words[i]);
    else
      rest[used++] = words[i];
  }
  if (a->since != NULL && !cm_ledger_is_month(a->since))
    return cm_command_wrong("usage", "--since takes a month like 2026-11, not ", a->since);
  cm_error error;
  return cm_owner_config(used, rest, &a->config, &error) == CM_OK ? -1 : cm_command_fail(&error);
}

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
  arguments a = {0};
  int status = read_words(count, words, &a);
  if (status >= 0)
    return status;
  if (cm_store_open_beside(a.config.data, false, &database, &error) != CM_OK)
    return cm_command_fail(&error);
  status = EXIT_SUCCESS;
  if (cm_ledger_list(database, a.since, NULL, &rows, &rows_count, &error) == CM_OK) {
    print(rows, rows_count, a.csv);
    free(rows);
  } else
    status = cm_command_fail(&error);
  cm_database_close(database);
  return status;
}
