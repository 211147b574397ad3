/* Happy path: the words make a row of limits by name (storage/limits.h), which is set; flags are the names with dashes. */
#include "daemon/limits.h"

#include <jansson.h>
#include <math.h>

#include "base/json.h"
#include "daemon/command.h"
#include "storage/audit.h"
#include "storage/quotas.h"
#include "storage/retention.h"

const char cm_limit_command_usage[] =
  "usage: coremapd quota set NAME|--group NAME [--bytes|--networks|--queued|--running|--core-hours|--cpu-seconds NUMBER|none]...\n"
  "       coremapd quota list [--json]\n"
  "       coremapd retention set NAME [--networks-days|--mappings-days|--jobs-days|--bytes NUMBER|none]...\n"
  "       coremapd retention list [--json]\n"
  "\n"
  "Quotas (docs/how-to/queue.md) and rules of how long things stay (docs/how-to/retention.md), in the data folder (--data FOLDER,\n"
  "--config FILE, as of the server); a server that works on it knows at once. NAME is that of a user, or after --group of a\n"
  "group; '*' is every one that has none of its own. none takes a limit away.\n";

static const struct {
  const char *word;
  const cm_limit_kind *kind;
} commands[] = {{"quota", &cm_quota_kind}, {"retention", &cm_keep_kind}};
enum { COMMANDS = sizeof commands / sizeof *commands };

typedef struct arguments {
  const cm_limit_kind *kind;
  const char *verb;
  cm_limit_row row;
  bool named, json, any;
  cm_config config;
} arguments;

static bool read_limit(const cm_limit_kind *kind, const char *text, double *most)
{
  char *end;
  if (strcmp(text, "none") == 0) {
    *most = -1;
    return true;
  }
  const double value = strtod(text, &end);
  if (text[0] < '0' || text[0] > '9' || *end != '\0' || !cm_limit_is_sound(kind, value))
    return false;
  *most = value;
  return true;
}

/* Negative: go on. */
static int read_words(int count, char **words, arguments *a)
{
  const char *name = NULL, *group = NULL, *limits[CM_LIMITS_MAX] = {NULL}, **const named[] = {&a->verb, &name};
  cm_command_flag flags[CM_LIMITS_MAX + 2] = {{"json", NULL, &a->json}};
  cm_command command = {.name = "quota", .usage = cm_limit_command_usage, .flags = flags, .words = named, .flag_count = 1, .word_count = 2};
  for (size_t i = 0; i < a->kind->count; i++)
    flags[command.flag_count++] = (cm_command_flag){a->kind->names[i], &limits[i], NULL};
  if (a->kind->groups)
    flags[command.flag_count++] = (cm_command_flag){"group", &group, NULL};
  const int read = cm_command_read(&command, count, words);
  if (read >= 0)
    return read;
  for (size_t i = 0; i < a->kind->count; i++) {
    if (limits[i] != NULL && !read_limit(a->kind, limits[i], &a->row.most[i]))
      return cm_command_wrong("quota", a->kind->zero ? "a limit is a number from 0 to 1e15, or none, not " : "a rule is a number above 0, to 1e15, or none, not ",
                              limits[i]);
    a->any = a->any || limits[i] != NULL;
  }
  if (name != NULL && group != NULL)
    return cm_command_wrong("quota", "too many names: ", group);
  a->row.group = group != NULL;
  a->named = a->row.group || name != NULL;
  name = a->row.group ? group : name;
  if (a->named && snprintf(a->row.name, sizeof a->row.name, "%s", name) >= (int)sizeof a->row.name)
    return cm_command_wrong("quota", "too long a name: ", name);
  return cm_command_settle(&command, &a->config);
}

static json_t *row_json(const cm_limit_kind *kind, const cm_limit_row *row)
{
  json_t *one = json_pack("{s:s, s:s}", "of", row->group ? "group" : "user", "name", row->name);
  for (size_t i = 0; i < kind->count; i++)
    (void)json_object_set_new(one, kind->names[i], row->most[i] < 0 ? json_null() : json_real(row->most[i]));
  return one;
}

static void print_row(const cm_limit_kind *kind, const cm_limit_row *row)
{
  (void)printf("%s%-20s", row->group ? "group " : "user  ", row->name);
  for (size_t i = 0; i < kind->count; i++)
    if (row->most[i] >= 0)
      (void)printf(" %s %.15g", kind->names[i], row->most[i]);
  (void)puts("");
}

static int list(cm_database *database, const arguments *a, cm_error *error)
{
  cm_limit_row *rows;
  size_t count;
  if (cm_limits_list(database, a->kind, &rows, &count, error) != CM_OK)
    return cm_command_fail(error);
  json_t *all = a->json ? json_array() : NULL;
  if (!a->json && count == 0)
    (void)puts("none are set");
  for (size_t i = 0; i < count; i++)
    if (a->json)
      (void)json_array_append_new(all, row_json(a->kind, &rows[i]));
    else
      print_row(a->kind, &rows[i]);
  free(rows);
  if (!a->json)
    return EXIT_SUCCESS;
  json_t *body = json_pack("{s:o}", "limits", all);
  bool printed = body != NULL && cm_json_dumpf(body, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0 && puts("") >= 0;
  json_decref(body);
  return printed ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int set(cm_database *database, const arguments *a, cm_error *error)
{
  if (cm_limits_set(database, a->kind, &a->row, error) != CM_OK)
    return cm_command_fail(error);
  (void)printf("%s %s: changed\n", a->row.group ? "group" : "user", a->row.name);
  return EXIT_SUCCESS;
}

static const cm_limit_kind *kind_of(const char *word)
{
  for (int i = 0; i < COMMANDS; i++)
    if (strcmp(commands[i].word, word) == 0)
      return commands[i].kind;
  return NULL;
}

bool cm_limit_command_knows(const char *word)
{
  return kind_of(word) != NULL;
}

int cm_limit_command_run(int count, char **words)
{
  cm_error error;
  cm_database *database;
  arguments a = {.kind = kind_of(words[1])};
  for (size_t i = 0; i < CM_LIMITS_MAX; i++)
    a.row.most[i] = NAN;
  int status = read_words(count, words, &a);
  if (status >= 0)
    return status;
  const bool lists = a.verb != NULL && strcmp(a.verb, "list") == 0;
  if (a.verb == NULL || (!lists && strcmp(a.verb, "set") != 0))
    return cm_command_wrong("quota", "what to do is set or list, not ", a.verb != NULL ? a.verb : "nothing");
  if (lists && (a.named || a.any))
    return cm_command_wrong("quota", "list takes --json alone", "");
  if (!lists && (!a.named || !a.any || a.json))
    return cm_command_wrong("quota", "set takes a name ('*' for all) and at least one limit", "");
  if (cm_store_open_beside(a.config.data, false, &database, &error) != CM_OK)
    return cm_command_fail(&error);
  cm_audit_entry cause = {.address = "local"};
  (void)snprintf(cause.action, sizeof cause.action, "%s %s", words[1], a.verb);
  (void)snprintf(cause.object, sizeof cause.object, "%s%s", a.row.group ? "group " : "", a.row.name);
  cm_audit_cause(&cause);
  status = lists ? list(database, &a, &error) : set(database, &a, &error);
  cm_audit_cause(NULL);
  cm_database_close(database);
  return status;
}
