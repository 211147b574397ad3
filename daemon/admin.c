#include "daemon/admin.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/number.h"
#include "daemon/owner.h"
#include "storage/audit.h"
#include "storage/tokens.h"

enum { EXIT_USAGE = 2, WORDS_MAX = 64 };

const char cm_admin_usage[] =
  "usage: coremapd user add NAME [--role user|operator|admin] [--group NAME] [--share N]\n"
  "       coremapd user set NAME [--role ROLE] [--group NAME|none] [--share N]\n"
  "       coremapd user list [--json]\n"
  "       coremapd user disable|enable|remove NAME\n"
  "       coremapd token add --user NAME [--name TEXT] [--scope read|submit|reserve|admin[,...]] [--expires 90d|12h|never]\n"
  "       coremapd token list [--user NAME] [--json]\n"
  "       coremapd token revoke ID\n"
  "\n"
  "Changes users and tokens in the data folder (--data FOLDER, --config FILE, as of the server); a server that works on\n"
  "it knows at once. token add prints the token, which is not stored: it is shown once. Unless told otherwise a token\n"
  "has the scopes submit and reserve, and lasts 90 days (docs/users.md).\n";

/* What the words say; NULL: not said. */
typedef struct arguments {
  const char *verb, *name;
  const char *role, *group, *user, *label, *scope, *expires, *share;
  bool json;
  cm_config config;
} arguments;

static int wrong(const char *what, const char *word)
{
  (void)fprintf(stderr, "coremapd: %s%s; coremapd user --help says more\n", what, word);
  return EXIT_USAGE;
}

static int fail(const cm_error *error)
{
  (void)fprintf(stderr, "coremapd: %s\n", error->detail);
  return error->status == CM_BAD_OPTION ? EXIT_USAGE : EXIT_FAILURE;
}

/* Where the value of a flag goes; NULL: a flag of the server's. */
static const char **place_of(arguments *a, const char *flag, size_t length)
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
static int read_words(int count, char **words, arguments *a)
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
      return wrong("too many words: ", word);
    else if (strcmp(word, "--json") == 0)
      a->json = true;
    else {
      const char **place = place_of(a, word, length);
      if (word[length] == '\0' && i + 1 == count)
        return wrong("a value is missing after ", word);
      if (place != NULL)
        *place = word[length] == '=' ? word + length + 1 : words[++i];
      else if (used + 2 < WORDS_MAX) {
        rest[used++] = words[i];
        if (word[length] == '\0')
          rest[used++] = words[++i];
      } else
        return wrong("too many words: ", word);
    }
  }
  cm_error error;
  return cm_owner_config(used, rest, &a->config, &error) == CM_OK ? -1 : fail(&error);
}

/* "90d", "12h", "30m", "3600s"; "never" is 0 seconds. */
static bool read_span(const char *text, double *seconds)
{
  char *end;
  double value = strtod(text, &end);
  const char *units = "smhd", *unit = end[0] != '\0' && end[1] == '\0' ? strchr(units, end[0]) : NULL;
  static const double seconds_of[] = {1, 60, 3600, 86400};
  if (strcmp(text, "never") == 0)
    value = 0;
  else if (text[0] < '0' || text[0] > '9' || unit == NULL ||
           !((value *= seconds_of[unit - units]) >= 1 && value <= cm_token_seconds_max))
    return false;
  *seconds = value;
  return true;
}

/* Seconds since 1970 as a date; "never" for 0. */
static const char *date_of(double seconds, char text[32])
{
  time_t whole = (time_t)floor(seconds);
  struct tm parts;
  if (seconds <= 0 || gmtime_r(&whole, &parts) == NULL || strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
    (void)snprintf(text, 32, "never");
  return text;
}

static int print_json(json_t *list, const char *name)
{
  json_t *body = json_pack("{s:o}", name, list);
  bool printed = body != NULL && cm_json_dumpf(body, stdout, JSON_INDENT(2)) == 0 && puts("") >= 0;
  json_decref(body);
  return printed ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- users ---- */

static int list_users(cm_database *database, const arguments *a, cm_error *error)
{
  cm_user *users;
  size_t count;
  if (cm_users_list(database, &users, &count, error) != CM_OK)
    return fail(error);
  json_t *list = json_array();
  if (!a->json && count == 0)
    (void)puts("no users: whoever reaches the server's loopback address may do all");
  for (size_t i = 0; i < count; i++) {
    const cm_user *u = &users[i];
    if (a->json)
      (void)json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:b, s:i}", "name", u->name, "role", cm_role_name(u->role),
                                                  "group", u->group, "disabled", u->disabled, "share",
                                                  u->share));
    else
      (void)printf("%-20s %-9s %-20s share %-4d %s\n", u->name, cm_role_name(u->role), u->group[0] != '\0' ? u->group : "-", u->share,
                   u->disabled ? "disabled" : "enabled");
  }
  free(users);
  if (a->json)
    return print_json(list, "users");
  json_decref(list);
  return EXIT_SUCCESS;
}

/* 0 when none is named; false: it is no share. */
static bool read_share(const arguments *a, int *share)
{
  uint64_t value = 0;
  if (a->share != NULL && (!cm_whole_parse(a->share, &value) || value < 1 || value > CM_SHARE_MAX))
    return false;
  *share = (int)value;
  return true;
}

static int change_user(cm_database *database, const arguments *a, const cm_role *role, cm_error *error)
{
  const bool disable = strcmp(a->verb, "disable") == 0, set = strcmp(a->verb, "set") == 0;
  const char *group = a->group != NULL && strcmp(a->group, "none") == 0 ? "" : a->group;
  int share = 0;
  if (!read_share(a, &share))
    return wrong("a share is a whole number from 1 to 1000, not ", a->share);
  if (set && role == NULL && group == NULL && share == 0)
    return wrong("nothing to set: --role, --group or --share is needed", "");
  const cm_user_change change = {.role = set ? role : NULL, .group = set ? group : NULL, .disabled = set ? NULL : &disable,
                                 .share = set && share > 0 ? &share : NULL};
  if (cm_users_change(database, a->name, &change, error) != CM_OK)
    return fail(error);
  (void)printf("user %s: %s\n", a->name, set ? "changed" : disable ? "disabled; its tokens are not accepted any more" : "enabled");
  return EXIT_SUCCESS;
}

static int add_user(cm_database *database, const arguments *a, cm_role role, cm_error *error)
{
  cm_user user = {.role = role};
  if (!read_share(a, &user.share))
    return wrong("a share is a whole number from 1 to 1000, not ", a->share);
  if (strlen(a->name) >= sizeof user.name || (a->group != NULL && strlen(a->group) >= sizeof user.group))
    return wrong("too long a name: ", a->name);
  (void)snprintf(user.name, sizeof user.name, "%s", a->name);
  (void)snprintf(user.group, sizeof user.group, "%s", a->group != NULL && strcmp(a->group, "none") != 0 ? a->group : "");
  if (cm_users_add(database, &user, error) != CM_OK)
    return fail(error);
  (void)printf("user %s: added; coremapd token add --user %s makes a token\n", user.name, user.name);
  return EXIT_SUCCESS;
}

static int remove_user(cm_database *database, const arguments *a, cm_error *error)
{
  if (cm_users_remove(database, a->name, error) != CM_OK)
    return fail(error);
  (void)printf("user %s: removed, with all tokens\n", a->name);
  return EXIT_SUCCESS;
}

static int on_users(cm_database *database, const arguments *a)
{
  cm_error error;
  cm_role role = a->role != NULL ? cm_role_of(a->role) : CM_ROLE_USER;
  if (role == CM_ROLES)
    return wrong("a role is user, operator or admin, not ", a->role);
  if (strcmp(a->verb, "list") == 0)
    return list_users(database, a, &error);
  if (a->name == NULL)
    return wrong("a user's name is needed after ", a->verb);
  if (strcmp(a->verb, "add") == 0)
    return add_user(database, a, role, &error);
  if (strcmp(a->verb, "remove") == 0)
    return remove_user(database, a, &error);
  return change_user(database, a, a->role != NULL ? &role : NULL, &error);
}

/* ---- tokens ---- */

static bool read_scopes(const char *text, unsigned *scopes)
{
  *scopes = 0;
  while (*text != '\0') {
    char word[16];
    size_t length = strcspn(text, ",");
    unsigned scope = 0;
    if (length < sizeof word) {
      (void)snprintf(word, sizeof word, "%.*s", (int)length, text);
      scope = cm_scope_of(word);
    }
    if (scope == 0)
      return false;
    *scopes |= scope;
    text += length + (text[length] == ',');
  }
  return *scopes != 0;
}

static int add_token(cm_database *database, const arguments *a, cm_error *error)
{
  cm_token token = {.scopes = CM_SCOPE_SUBMIT | CM_SCOPE_RESERVE};
  char text[CM_TOKEN_TEXT_MAX], date[32];
  double seconds = cm_token_seconds_default;
  if (a->user == NULL)
    return wrong("whose token? --user NAME is needed", "");
  if (a->scope != NULL && !read_scopes(a->scope, &token.scopes))
    return wrong("scopes are read, submit, reserve and admin, with commas between them, not ", a->scope);
  if (a->expires != NULL && !read_span(a->expires, &seconds))
    return wrong("a token expires after a time such as 90d, 12h or 30m, or never, not ", a->expires);
  if (strlen(a->user) >= sizeof token.user || (a->label != NULL && strlen(a->label) >= sizeof token.name))
    return wrong("too long a name: ", a->user);
  (void)snprintf(token.user, sizeof token.user, "%s", a->user);
  (void)snprintf(token.name, sizeof token.name, "%s", a->label != NULL ? a->label : "");
  token.expires = seconds > 0 ? cm_store_time() + seconds : 0;
  if (cm_tokens_add(database, &token, text, error) != CM_OK)
    return fail(error);
  (void)fprintf(stderr, "token %s of %s, expires: %s; this is the only time that it is shown:\n", token.id, token.user,
                date_of(token.expires, date));
  (void)puts(text);
  memset(text, 0, sizeof text);
  return EXIT_SUCCESS;
}

static json_t *scopes_json(unsigned scopes)
{
  json_t *list = json_array();
  for (unsigned i = 0; cm_scope_names[i] != NULL; i++)
    if ((scopes & 1u << i) != 0)
      (void)json_array_append_new(list, json_string(cm_scope_names[i]));
  return list;
}

static void print_token(const cm_token *t)
{
  char expires[32], used[32], scopes[64] = "";
  for (unsigned i = 0; cm_scope_names[i] != NULL; i++)
    if ((t->scopes & 1u << i) != 0) {
      size_t length = strlen(scopes);
      (void)snprintf(scopes + length, sizeof scopes - length, "%s%s", length > 0 ? "," : "", cm_scope_names[i]);
    }
  (void)printf("%s %-20s %-26s expires %-20s used %-20s %s\n", t->id, t->user, scopes, date_of(t->expires, expires),
               date_of(t->used, used), t->name);
}

static int list_tokens(cm_database *database, const arguments *a, cm_error *error)
{
  cm_token *tokens;
  size_t count;
  char created[32], expires[32], used[32];
  if (cm_tokens_list(database, a->user, &tokens, &count, error) != CM_OK)
    return fail(error);
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++) {
    const cm_token *t = &tokens[i];
    if (!a->json)
      print_token(t);
    else
      (void)json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o, s:s, s:s, s:s}", "id", t->id, "user", t->user, "name",
                                                  t->name, "scopes", scopes_json(t->scopes), "created",
                                                  date_of(t->created, created), "expires", date_of(t->expires, expires),
                                                  "last_used", date_of(t->used, used)));
  }
  free(tokens);
  if (a->json)
    return print_json(list, "tokens");
  json_decref(list);
  return EXIT_SUCCESS;
}

static int on_tokens(cm_database *database, const arguments *a)
{
  cm_error error;
  if (strcmp(a->verb, "add") == 0)
    return a->name == NULL ? add_token(database, a, &error) : wrong("whose token? --user NAME is needed, not ", a->name);
  if (strcmp(a->verb, "list") == 0)
    return list_tokens(database, a, &error);
  if (a->name == NULL)
    return wrong("the id of a token is needed: coremapd token list", "");
  if (cm_tokens_revoke(database, a->name, NULL, &error) != CM_OK)
    return fail(&error);
  (void)printf("token %s: revoked\n", a->name);
  return EXIT_SUCCESS;
}

/* ---- which command ---- */

static const struct {
  const char *word, *verb, *flags; /* that it has */
  int (*run)(cm_database *database, const arguments *a);
} commands[] = {{"user", "add", " --role --group ", on_users},
                {"user", "set", " --role --group ", on_users},
                {"user", "list", " --json ", on_users},
                {"user", "disable", "", on_users},
                {"user", "enable", "", on_users},
                {"user", "remove", "", on_users},
                {"token", "add", " --user --name --scope --expires ", on_tokens},
                {"token", "list", " --user --json ", on_tokens},
                {"token", "revoke", "", on_tokens}};
enum { COMMANDS = sizeof commands / sizeof *commands };

/* The first flag that was given and that the command does not have; NULL: none. */
static const char *stray_flag(const arguments *a, const char *flags)
{
  const struct {
    const char *flag;
    bool given;
  } all[] = {{" --role ", a->role != NULL},   {" --group ", a->group != NULL}, {" --user ", a->user != NULL},
             {" --name ", a->label != NULL}, {" --scope ", a->scope != NULL}, {" --expires ", a->expires != NULL},
             {" --json ", a->json}};
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
  arguments a = {0};
  cm_database *database;
  int status = read_words(count, words, &a), i = 0;
  if (status >= 0)
    return status;
  if (a.verb == NULL)
    return wrong("what to do is missing after ", words[1]);
  while (i < COMMANDS && (strcmp(commands[i].word, words[1]) != 0 || strcmp(commands[i].verb, a.verb) != 0))
    i++;
  if (i == COMMANDS)
    return wrong("there is no such command: ", a.verb);
  const char *stray = stray_flag(&a, commands[i].flags);
  if (stray != NULL)
    return wrong("this command has no flag", stray);
  if (cm_store_open_beside(a.config.data, strcmp(a.verb, "add") == 0, &database, &error) != CM_OK)
    return fail(&error);
  cm_audit_entry cause = {.address = "local"};
  (void)snprintf(cause.action, sizeof cause.action, "%s %s", words[1], a.verb);
  (void)snprintf(cause.object, sizeof cause.object, "%s", a.name != NULL ? a.name : a.user != NULL ? a.user : "");
  cm_audit_cause(&cause);
  status = commands[i].run(database, &a);
  cm_audit_cause(NULL);
  cm_database_close(database);
  return status;
}
