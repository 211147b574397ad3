/* coremap login, logout: the token by which the other commands sign in to a server. */
#include <termios.h>
#include <unistd.h>

#include "cli/remote.h"
#include "cli/context.h"

typedef struct arguments {
  cli_line line;
  const char *kept; /* the name of a context */
  bool revoke;
} arguments;

static const cli_flag login_flags[] = {
  CLI_SERVER_FLAG,
  {"context", "NAME", CLI_TEXT, "keep server and token under this name, and have the other commands talk to it: coremap context", CLI_AT(kept)},
  CLI_JSON_FLAG,
  {0}};

static const cli_flag logout_flags[] = {
  {"revoke", NULL, CLI_ON, "have the server revoke it too, so that no copy of it is good any more", CLI_AT(revoke)},
  CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}};

/* A line of standard input, not shown while it is typed. */
static cm_status read_token(char token[LIBRARY_TOKEN_MAX], cm_error *error)
{
  struct termios before, quiet;
  bool terminal = tcgetattr(STDIN_FILENO, &before) == 0;
  if (terminal) {
    quiet = before;
    quiet.c_lflag &= ~(tcflag_t)ECHO;
    (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
    (void)fputs("token: ", stderr);
  }
  bool got = fgets(token, LIBRARY_TOKEN_MAX, stdin) != NULL;
  if (terminal) {
    (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    (void)fputs("\n", stderr);
  }
  if (got)
    token[strcspn(token, "\r\n")] = '\0';
  return got && token[0] != '\0' ? CM_OK : cm_fail(error, CM_BAD_REQUEST, "no token came on standard input");
}

/* A server without users wants no token: it is kept as a context alone. */
static cm_status keep_open(cli_server *server, const arguments *a, bool *open, json_t **report, cm_error *error)
{
  cli_reply reply = {0};
  library_client_use(server, "");
  *open = cli_ask(server, "GET", "/v1/me", NULL, &reply, error) == CM_OK;
  if (!*open) /* as wrong a token, or no server, the one that is read now is told of */
    return CM_OK;
  cm_status status = cli_context_keep(a->kept, library_client_url(server), "", error);
  if (status == CM_OK && !a->line.json)
    (void)cli_printf(stdout, "context %s is %s, which wants no token\n", a->kept, library_client_url(server));
  *report = reply.json;
  return status;
}

static cm_status sign_in(void *given, coremap_client *server, CM_UNUSED cli_run *cli, json_t **report, cm_error *error)
{
  const arguments *a = given;
  char token[LIBRARY_TOKEN_MAX];
  cli_reply reply = {0};
  bool open = false;
  if (a->kept != NULL && (keep_open(server, a, &open, report, error) != CM_OK || open))
    return open ? CM_OK : error->status;
  CM_TRY(library_token_safe(library_client_url(server), error));
  CM_TRY(read_token(token, error));
  library_client_use(server, token);
  cm_status status = cli_ask(server, "GET", "/v1/me", NULL, &reply, error);
  if (status == CM_OK)
    status = a->kept != NULL ? cli_context_keep(a->kept, library_client_url(server), token, error)
                                : library_token_keep(library_client_url(server), token, NULL, error);
  if (status == CM_OK && !a->line.json)
    (void)cli_printf(stdout, "signed in to %s as %s\n", library_client_url(server), cli_text(reply.json, "user"));
  *report = reply.json;
  memset(token, 0, sizeof token);
  return status;
}

static cm_status end_token(cli_server *server, cm_error *error)
{
  cli_reply me = {0}, gone = {0};
  CM_TRY(cli_ask(server, "GET", "/v1/me", NULL, &me, error));
  const char *id = json_string_value(json_object_get(json_object_get(me.json, "token"), "id"));
  cm_status status = cli_ask(server, "DELETE", cm_say("/v1/tokens/%.40s", id != NULL ? id : "none").text, NULL, &gone, error);
  json_decref(gone.json);
  json_decref(me.json);
  return status;
}

static cm_status sign_out(void *given, coremap_client *server, CM_UNUSED cli_run *cli, json_t **report, cm_error *error)
{
  const arguments *a = given;
  bool known = false;
  cli_context context;
  CM_TRY_IF(a->revoke, end_token(server, error));
  CM_TRY(cli_context_find(a->line.context, &context, error));
  bool of_context = context.name[0] != '\0' && strcmp(context.url, library_client_url(server)) == 0 && a->line.server == NULL;
  cm_status status = of_context ? cli_context_forget(context.name, &known, error)
                                : library_token_keep(library_client_url(server), NULL, &known, error);
  if (status != CM_OK)
    return status;
  *report = json_pack("{s:s, s:b}", "server", library_client_url(server), "token_was_kept", known);
  if (!a->line.json)
    (void)cli_printf(stdout, known ? "signed out of %s\n" : "no token is kept for %s\n", library_client_url(server));
  return CM_OK;
}

/* A token on the command line is not told again. */
static int check(void *given)
{
  const cli_line *line = given;
  return line->count == 0 ? -1 : cli_usage(line->command->name, "no argument is taken: the token is read from standard input");
}

/* It was told already. */
static void print_nothing(CM_UNUSED const void *given, CM_UNUSED const json_t *report)
{
}

const cli_command cli_command_login = {
  .name = "login", .what = "sign in to a server: keep a token for it", .check = check, .most = CLI_ANY, .ask = sign_in, .print = print_nothing, .size = sizeof(arguments), .server = true,
  .usage = "[--server URL] [--context NAME]",
  .about = "Reads a token from standard input (without echo on a terminal), asks the server whose it is, and keeps it for the commands\n"
           "that talk to that server, in ~/.config/coremap/tokens, which nobody else can read. $COREMAP_TOKEN goes before what is kept.\n"
           "A server that has no users wants no token: with --context it is kept by name alone.",
  .flags = login_flags};

const cli_command cli_command_logout = {
  .name = "logout", .what = "forget the token of a server", .check = check, .most = CLI_ANY, .ask = sign_out, .print = print_nothing, .size = sizeof(arguments), .server = true, .usage = "[--server URL] [--revoke]",
  .about = "Forgets the token that is kept for a server.", .flags = logout_flags};
