/* coremap login, logout: the token by which the other commands sign in to a server. */
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cli/remote.h"
#include "cli/token.h"

static const char login_usage[] =
  "usage: coremap login [--server URL]\n"
  "\n"
  "Reads a token from standard input (without echo on a terminal), asks the server whose it is, and keeps it for the commands\n"
  "that talk to that server, in ~/.config/coremap/tokens, which nobody else can read. $COREMAP_TOKEN goes before what is kept.\n"
  "\n"
  "  --server URL   $COREMAP_SERVER, else http://127.0.0.1:8080\n";

static const char logout_usage[] =
  "usage: coremap logout [--server URL] [--revoke]\n"
  "\n"
  "Forgets the token that is kept for a server.\n"
  "\n"
  "  --revoke       have the server revoke it too, so that no copy of it is good any more\n"
  "  --server URL   $COREMAP_SERVER, else http://127.0.0.1:8080\n";

typedef struct arguments {
  const char *server;
  bool revoke;
} arguments;

/* Negative: go on. */
static int parse(int argc, char **argv, const char *usage, arguments *a)
{
  static const struct option flags[] = {{"server", required_argument, NULL, 's'},
                                        {"revoke", no_argument, NULL, 'r'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
  for (int flag; (flag = getopt_long(argc, argv, "", flags, NULL)) != -1;)
    switch (flag) {
    case 's': a->server = optarg; break;
    case 'r': a->revoke = true; break;
    case 'h': fputs(usage, stdout); return EXIT_DONE;
    default: return EXIT_USAGE;
    }
  if (a->revoke && usage == login_usage)
    return cli_usage(argv[0], "--revoke is logout's");
  return optind < argc ? cli_usage(argv[0], "too much is named: tokens are read from standard input") : -1;
}

/* A line of standard input, not shown while it is typed. */
static cm_status read_token(char token[CLI_TOKEN_MAX], cm_error *error)
{
  struct termios before, quiet;
  bool terminal = tcgetattr(STDIN_FILENO, &before) == 0;
  if (terminal) {
    quiet = before;
    quiet.c_lflag &= ~(tcflag_t)ECHO;
    (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
    (void)fputs("token: ", stderr);
  }
  bool got = fgets(token, CLI_TOKEN_MAX, stdin) != NULL;
  if (terminal) {
    (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    (void)fputs("\n", stderr);
  }
  if (got)
    token[strcspn(token, "\r\n")] = '\0';
  return got && token[0] != '\0' ? CM_OK : cm_fail(error, CM_BAD_REQUEST, "no token came on standard input");
}

static cm_status sign_in(cli_server *server, cm_error *error)
{
  char token[CLI_TOKEN_MAX];
  cli_reply reply = {0};
  const cli_request me = {.method = "GET", .path = "/v1/me"};
  if (cli_token_safe(cli_server_url(server), error) != CM_OK || read_token(token, error) != CM_OK)
    return error->status;
  cli_server_use(server, token);
  cm_status status = cli_server_ask(server, &me, &reply, error);
  if (status == CM_OK)
    status = cli_token_keep(cli_server_url(server), token, NULL, error);
  if (status == CM_OK)
    (void)printf("signed in to %s as %s\n", cli_server_url(server), json_string_value(json_object_get(reply.json, "user")));
  json_decref(reply.json);
  memset(token, 0, sizeof token);
  return status;
}

static cm_status end_token(cli_server *server, cm_error *error)
{
  cli_reply me = {0}, gone = {0};
  char path[80];
  const cli_request ask = {.method = "GET", .path = "/v1/me"}, end = {.method = "DELETE", .path = path};
  if (cli_server_ask(server, &ask, &me, error) != CM_OK)
    return error->status;
  const char *id = json_string_value(json_object_get(json_object_get(me.json, "token"), "id"));
  (void)snprintf(path, sizeof path, "/v1/tokens/%.40s", id != NULL ? id : "none");
  cm_status status = cli_server_ask(server, &end, &gone, error);
  json_decref(gone.json);
  json_decref(me.json);
  return status;
}

static int on_server(const arguments *a, bool in)
{
  cm_error error;
  cli_run cli;
  cli_server *server = NULL;
  bool known = false;
  cli_run_begin(&cli, true);
  cm_status status = cli_server_open(a->server, cli.run.cancel, &server, &error);
  if (status == CM_OK && in)
    status = sign_in(server, &error);
  else if (status == CM_OK) {
    if (a->revoke)
      status = end_token(server, &error);
    if (status == CM_OK)
      status = cli_token_keep(cli_server_url(server), NULL, &known, &error);
    if (status == CM_OK)
      (void)printf(known ? "signed out of %s\n" : "no token is kept for %s\n", cli_server_url(server));
  }
  cli_run_end(&cli);
  cli_server_close(server);
  return status == CM_OK ? EXIT_DONE : cli_fail(&error);
}

int cli_login(int argc, char **argv)
{
  arguments a = {0};
  int status = parse(argc, argv, login_usage, &a);
  return status < 0 ? on_server(&a, true) : status;
}

int cli_logout(int argc, char **argv)
{
  arguments a = {0};
  int status = parse(argc, argv, logout_usage, &a);
  return status < 0 ? on_server(&a, false) : status;
}
