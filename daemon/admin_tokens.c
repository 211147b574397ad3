/* coremapd token ... */
#include <math.h>
#include <time.h>

#include "daemon/admin_words.h"
#include "storage/tokens.h"

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

static int add_token(cm_database *database, const cm_admin_words *a, cm_error *error)
{
  cm_token token = {.scopes = CM_SCOPE_SUBMIT | CM_SCOPE_RESERVE};
  char text[CM_TOKEN_TEXT_MAX], date[32];
  double seconds = cm_token_seconds_default;
  if (a->user == NULL)
    return cm_command_wrong("user", "whose token? --user NAME is needed", "");
  if (a->scope != NULL && !read_scopes(a->scope, &token.scopes))
    return cm_command_wrong("user", "scopes are read, submit, reserve and admin, with commas between them, not ", a->scope);
  if (a->expires != NULL && !read_span(a->expires, &seconds))
    return cm_command_wrong("user", "a token expires after a time such as 90d, 12h or 30m, or never, not ", a->expires);
  if (strlen(a->user) >= sizeof token.user || (a->label != NULL && strlen(a->label) >= sizeof token.name))
    return cm_command_wrong("user", "too long a name: ", a->user);
  (void)snprintf(token.user, sizeof token.user, "%s", a->user);
  (void)snprintf(token.name, sizeof token.name, "%s", a->label != NULL ? a->label : "");
  token.expires = seconds > 0 ? cm_store_time() + seconds : 0;
  if (cm_tokens_add(database, &token, text, error) != CM_OK)
    return cm_command_fail(error);
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

static int list_tokens(cm_database *database, const cm_admin_words *a, cm_error *error)
{
  cm_token *tokens;
  size_t count;
  char created[32], expires[32], used[32];
  if (cm_tokens_list(database, a->user, &tokens, &count, error) != CM_OK)
    return cm_command_fail(error);
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
    return cm_admin_print(list, "tokens");
  json_decref(list);
  return EXIT_SUCCESS;
}

int cm_admin_tokens(cm_database *database, const cm_admin_words *a)
{
  cm_error error;
  if (strcmp(a->verb, "add") == 0)
    return a->name == NULL ? add_token(database, a, &error) : cm_command_wrong("user", "whose token? --user NAME is needed, not ", a->name);
  if (strcmp(a->verb, "list") == 0)
    return list_tokens(database, a, &error);
  if (a->name == NULL)
    return cm_command_wrong("user", "the id of a token is needed: coremapd token list", "");
  if (cm_tokens_revoke(database, a->name, NULL, &error) != CM_OK)
    return cm_command_fail(&error);
  (void)printf("token %s: revoked\n", a->name);
  return EXIT_SUCCESS;
}
