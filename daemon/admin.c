#include "daemon/admin.h"

#include <jansson.h>

#include "base/json.h"
#include "daemon/admin_words.h"
#include "storage/audit.h"

const char cm_admin_usage[] =
  "usage: coremapd user add NAME [--role user|operator|admin] [--group NAME] [--share N]\n"
  "       coremapd user set NAME [--role ROLE] [--group NAME|none] [--share N]\n"
  "       coremapd user import FILE.csv\n"
  "       coremapd user list [--json]\n"
  "       coremapd user disable|enable|remove NAME\n"
  "       coremapd token add --user NAME [--name TEXT] [--scope read|submit|reserve|admin[,...]] [--expires 90d|12h|never]\n"
  "       coremapd token list [--user NAME] [--json]\n"
  "       coremapd token revoke ID\n"
  "\n"
  "Changes users and tokens in the data folder (--data FOLDER, --config FILE, as of the server); a server that works on\n"
  "it knows at once. user import adds all users of a table, or none: its first line names the columns name, role, group and\n"
  "share, of which all but name may be missing. token add prints the token, which is not stored: it is shown once. Unless told otherwise a token\n"
  "has the scopes submit and reserve, and lasts 90 days (docs/how-to/users.md).\n";

/* Negative: go on. */
static int read_words(int count, char **words, cm_admin_words *a)
{
  const cm_command_flag flags[] = {{"role", &a->role, NULL}, {"group", &a->group, NULL}, {"user", &a->user, NULL}, {"name", &a->label, NULL},
                                   {"scope", &a->scope, NULL}, {"expires", &a->expires, NULL}, {"share", &a->share, NULL}, {"json", NULL, &a->json}};
  const char **const named[] = {&a->verb, &a->name};
  cm_command command = {.name = "user", .usage = cm_admin_usage, .flags = flags, .words = named, .flag_count = sizeof flags / sizeof *flags, .word_count = 2};
  const int read = cm_command_read(&command, count, words);
  return read >= 0 ? read : cm_command_settle(&command, &a->config);
}

static const struct {
  const char *word, *verb, *flags; /* that it has */
  int (*run)(cm_database *database, const cm_admin_words *a);
} commands[] = {{"user", "add", " --role --group --share ", cm_admin_users},
                {"user", "set", " --role --group --share ", cm_admin_users},
                {"user", "import", "", cm_admin_import},
                {"user", "list", " --json ", cm_admin_users},
                {"user", "disable", "", cm_admin_users},
                {"user", "enable", "", cm_admin_users},
                {"user", "remove", "", cm_admin_users},
                {"token", "add", " --user --name --scope --expires ", cm_admin_tokens},
                {"token", "list", " --user --json ", cm_admin_tokens},
                {"token", "revoke", "", cm_admin_tokens}};
enum { COMMANDS = sizeof commands / sizeof *commands };

/* The first flag that was given and that the command does not have; NULL: none. */
static const char *stray_flag(const cm_admin_words *a, const char *flags)
{
  const struct {
    const char *flag;
    bool given;
  } all[] = {{" --role ", a->role != NULL},   {" --group ", a->group != NULL}, {" --user ", a->user != NULL},
             {" --name ", a->label != NULL}, {" --scope ", a->scope != NULL}, {" --expires ", a->expires != NULL},
             {" --share ", a->share != NULL}, {" --json ", a->json}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].given && strstr(flags, all[i].flag) == NULL)
      return all[i].flag;
  return NULL;
}

bool cm_admin_knows(const char *word)
{
  for (int i = 0; i < COMMANDS; i++)
    if (strcmp(commands[i].word, word) == 0)
      return true;
  return false;
}

int cm_admin_run(int count, char **words)
{
  cm_error error;
  cm_admin_words a = {0};
  cm_database *database;
  int status = read_words(count, words, &a), i = 0;
  if (status >= 0)
    return status;
  if (a.verb == NULL)
    return cm_command_wrong("user", "what to do is missing after ", words[1]);
  while (i < COMMANDS && (strcmp(commands[i].word, words[1]) != 0 || strcmp(commands[i].verb, a.verb) != 0))
    i++;
  if (i == COMMANDS)
    return cm_command_wrong("user", "there is no such command: ", a.verb);
  const char *stray = stray_flag(&a, commands[i].flags);
  if (stray != NULL)
    return cm_command_wrong("user", "this command has no flag", stray);
  if (cm_store_open_beside(a.config.data, strcmp(a.verb, "add") == 0 || strcmp(a.verb, "import") == 0, &database, &error) != CM_OK)
    return cm_command_fail(&error);
  cm_audit_entry cause = {.address = "local"};
  (void)snprintf(cause.action, sizeof cause.action, "%s %s", words[1], a.verb);
  (void)snprintf(cause.object, sizeof cause.object, "%s", a.name != NULL ? a.name : a.user != NULL ? a.user : "");
  cm_audit_cause(&cause);
  status = commands[i].run(database, &a);
  cm_audit_cause(NULL);
  cm_database_close(database);
  return status;
}
