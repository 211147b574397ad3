#include "daemon/admin.h"

#include <jansson.h>

#include "base/json.h"
#include "daemon/admin_words.h"
#include "daemon/owner.h"
#include "storage/audit.h"

enum { WORDS_MAX = 64 };

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

/* Where the value of a flag goes; NULL: a flag of the server's. */
static const char **place_of(cm_admin_words *a, const char *flag, size_t length)
{
  const struct {
    const char *flag;
    const char **place;
  } flags[] = {{"--role", &a->role},   {"--group", &a->group}, {"--user", &a->user},
               {"--name", &a->label}, {"--scope", &a->scope}, {"--expires", &a->expires},
               {"--share", &a->share}};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
    if (strlen(flags[i].flag) == length && strncmp(flags[i].flag, flag, length) == 0)
      return flags[i].place;
  return NULL;
}

/* Negative: go on. */
static int read_words(int count, char **words, cm_admin_words *a)
{
  char *rest[WORDS_MAX] = {words[0]};
  int used = 1;
  for (int i = 2; i < count; i++) {
    const char *word = words[i];
    const size_t length = strcspn(word, "=");
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
      (void)fputs(cm_admin_usage, stdout);
      return EXIT_SUCCESS;
    }
    if (word[0] != '-' && a->verb == NULL)
      a->verb = word;
    else if (word[0] != '-' && a->name == NULL)
      a->name = word;
    else if (word[0] != '-')
      return cm_command_wrong("user", "unexpected argument: ", word);
    else if (strcmp(word, "--json") == 0)
      a->json = true;
    else {
      const char **place = place_of(a, word, length);
      if (word[length] == '\0' && i + 1 == count)
        return cm_command_wrong("user", "a value is missing after ", word);
      if (place != NULL)
        *place = word[length] == '=' ? word + length + 1 : words[++i];
      else if (used + 2 < WORDS_MAX) {
        rest[used++] = words[i];
        if (word[length] == '\0')
          rest[used++] = words[++i];
      } else
        return cm_command_wrong("user", "unexpected argument: ", word);
    }
  }
  cm_error error;
  return cm_owner_config(used, rest, &a->config, &error) == CM_OK ? -1 : cm_command_fail(&error);
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
