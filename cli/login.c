/* coremap login, logout: the token by which the other commands sign in to a server. */
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cli/remote.h"
#include "cli/context.h"

enum { REVOKE = 1 };

static const cli_flag login_flags[] = {
  {"server", "URL", CLI_SERVER, "unless given, $COREMAP_SERVER, the context's, or http://127.0.0.1:8080"},
  {"context", "NAME", CLI_CONTEXT, "keep server and token under this name, and have the other commands talk to it: coremap context"},
  CLI_JSON_FLAG,
  {0}};

static const cli_flag logout_flags[] = {
  {"revoke", NULL, REVOKE, "have the server revoke it too, so that no copy of it is good any more"},
  CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}};

typedef struct arguments {
  cli_where where;
  const char *context; /* to keep */
  bool revoke;
} arguments;

/* Negative: go on. */
static int parse(const cli_command *command, int argc, char **argv, arguments *a)
{
  for (int flag; (flag = cli_next(command, argc, argv)) != -1;)
    if (flag == REVOKE)
      a->revoke = true;
    else if (!cli_where_take(&a->where, flag))
      return cli_ended(flag);
  return optind < argc ? cli_usage(argv[0], "no argument is taken: the token is read from standard input") : -1;
}

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
static cm_status keep_open(cli_server *server, const arguments *a, bool *open, cm_error *error)
{
  cli_reply reply = {0};
  const cli_request me = {.method = "GET", .path = "/v1/me"};
  library_client_use(server, "");
  *open = library_client_ask(server, &me, &reply, error) == CM_OK;
  if (!*open) /* as wrong a token, or no server, the one that is read now is told of */
    return CM_OK;
  cm_status status = cli_context_keep(a->context, library_client_url(server), "", error);
  if (status == CM_OK && a->where.json)
    cli_print_json(reply.json);
  else if (status == CM_OK)
    (void)cli_printf(stdout, "context %s is %s, which wants no token\n", a->context, library_client_url(server));
  json_decref(reply.json);
  return status;
}

static cm_status sign_in(cli_server *server, const arguments *a, cm_error *error)
{
  char token[LIBRARY_TOKEN_MAX];
  cli_reply reply = {0};
  const cli_request me = {.method = "GET", .path = "/v1/me"};
  bool open = false;
  if (a->context != NULL && (keep_open(server, a, &open, error) != CM_OK || open))
    return open ? CM_OK : error->status;
  CM_TRY(library_token_safe(library_client_url(server), error));
  CM_TRY(read_token(token, error));
  library_client_use(server, token);
  cm_status status = library_client_ask(server, &me, &reply, error);
  if (status == CM_OK)
    status = a->context != NULL ? cli_context_keep(a->context, library_client_url(server), token, error)
                                : library_token_keep(library_client_url(server), token, NULL, error);
  if (status == CM_OK && a->where.json)
    cli_print_json(reply.json);
  else if (status == CM_OK)
    (void)cli_printf(stdout, "signed in to %s as %s\n", library_client_url(server), cli_text(reply.json, "user"));
  json_decref(reply.json);
  memset(token, 0, sizeof token);
  return status;
}

static cm_status end_token(cli_server *server, cm_error *error)
{
  cli_reply me = {0}, gone = {0};
  char path[80];
  const cli_request ask = {.method = "GET", .path = "/v1/me"}, end = {.method = "DELETE", .path = path};
  CM_TRY(library_client_ask(server, &ask, &me, error));
  const char *id = json_string_value(json_object_get(json_object_get(me.json, "token"), "id"));
  (void)snprintf(path, sizeof path, "/v1/tokens/%.40s", id != NULL ? id : "none");
  cm_status status = library_client_ask(server, &end, &gone, error);
  json_decref(gone.json);
  json_decref(me.json);
  return status;
}

static cm_status sign_out(cli_server *server, const arguments *a, cm_error *error)
{
  bool known = false;
  cli_context context;
  if (a->revoke && end_token(server, error) != CM_OK)
    return error->status;
  CM_TRY(cli_context_find(a->where.context, &context, error));
  bool of_context = context.name[0] != '\0' && strcmp(context.url, library_client_url(server)) == 0 && a->where.server == NULL;
  cm_status status = of_context ? cli_context_forget(context.name, &known, error)
                                : library_token_keep(library_client_url(server), NULL, &known, error);
  if (status != CM_OK)
    return status;
  if (a->where.json) {
    json_t *told = json_pack("{s:s, s:b}", "server", library_client_url(server), "token_was_kept", known);
    cli_print_json(told);
    json_decref(told);
  } else
    (void)cli_printf(stdout, known ? "signed out of %s\n" : "no token is kept for %s\n", library_client_url(server));
  return CM_OK;
}

static int on_server(const arguments *a, cm_status (*step)(cli_server *server, const arguments *a, cm_error *error))
{
  cm_error error;
  cli_run cli;
  cli_server *server = NULL;
  cli_run_begin(&cli, true);
  cm_status status = cli_server_open(&a->where, cli.run.cancel, &server, &error);
  CM_THEN(status, step(server, a, &error));
  cli_run_end(&cli);
  coremap_client_free(server);
  return status == CM_OK ? EXIT_DONE : cli_fail(&error);
}

static int login(int argc, char **argv)
{
  arguments a = {0};
  int status = parse(&cli_command_login, argc, argv, &a);
  a.context = a.where.context; /* it is made here */
  a.where.context = NULL;
  return status < 0 ? on_server(&a, sign_in) : status;
}

static int logout(int argc, char **argv)
{
  arguments a = {0};
  int status = parse(&cli_command_logout, argc, argv, &a);
  return status < 0 ? on_server(&a, sign_out) : status;
}

const cli_command cli_command_login = {
  .name = "login", .what = "sign in to a server: keep a token for it", .run = login, .server = true,
  .usage = "[--server URL] [--context NAME]",
  .about = "Reads a token from standard input (without echo on a terminal), asks the server whose it is, and keeps it for the commands\n"
           "that talk to that server, in ~/.config/coremap/tokens, which nobody else can read. $COREMAP_TOKEN goes before what is kept.\n"
           "A server that has no users wants no token: with --context it is kept by name alone.",
  .flags = login_flags};

const cli_command cli_command_logout = {
  .name = "logout", .what = "forget the token of a server", .run = logout, .server = true, .usage = "[--server URL] [--revoke]",
  .about = "Forgets the token that is kept for a server.", .flags = logout_flags};
