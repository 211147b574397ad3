/* coremap context, and the file of contexts: {"current": NAME, "contexts": {NAME: {"server": URL, "token": TOKEN}}}. */
#include "cli/context.h"

#include "cli/cli.h"

static const char kept[] = "contexts";

static cm_status check_name(const char *name, cm_error *error)
{
  static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
  if (name[0] != '\0' && strlen(name) < CLI_CONTEXT_NAME_MAX && strspn(name, good) == strlen(name))
    return CM_OK;
  return cm_fail(error, CM_BAD_REQUEST, "\"%.80s\" is no name for a context: letters, digits, '.', '-' and '_', at most %d", name,
                 CLI_CONTEXT_NAME_MAX - 1);
}

/* The file with both members there; the caller decrefs. */
static cm_status read_file(json_t **all, cm_error *error)
{
  CM_TRY(library_kept_read(kept, all, error));
  if (!json_is_object(json_object_get(*all, "contexts")))
    (void)json_object_set_new(*all, "contexts", json_object());
  return CM_OK;
}

cm_status cli_context_find(const char *name, cli_context *context, cm_error *error)
{
  json_t *all;
  const char *wanted = name != NULL ? name : getenv("COREMAP_CONTEXT");
  memset(context, 0, sizeof *context);
  if (wanted != NULL && wanted[0] == '\0' && name == NULL)
    wanted = NULL;
  if (read_file(&all, error) != CM_OK)
    return error->status == CM_NOT_FOUND && wanted == NULL ? CM_OK : error->status;
  if (wanted == NULL)
    wanted = cli_text(all, "current");
  const json_t *found = json_object_get(json_object_get(all, "contexts"), wanted);
  if (found != NULL) {
    (void)snprintf(context->name, sizeof context->name, "%s", wanted);
    (void)snprintf(context->url, sizeof context->url, "%s", cli_text(found, "server"));
    (void)snprintf(context->token, sizeof context->token, "%s", cli_text(found, "token"));
  } else if (wanted[0] != '\0')
    (void)cm_fail(error, CM_NOT_FOUND, "there is no context \"%.64s\"; coremap context lists them, coremap login --context makes one",
                  wanted);
  bool good = found != NULL || wanted[0] == '\0';
  json_decref(all);
  return good ? CM_OK : CM_NOT_FOUND;
}

cm_status cli_context_keep(const char *name, const char *url, const char *token, cm_error *error)
{
  json_t *all;
  CM_TRY(check_name(name, error));
  CM_TRY(read_file(&all, error));
  json_t *made = json_pack("{s:s, s:s*}", "server", url, "token", token[0] != '\0' ? token : NULL);
  bool good = made != NULL && json_object_set_new(json_object_get(all, "contexts"), name, made) == 0 &&
              json_object_set_new(all, "current", json_string(name)) == 0;
  cm_status status = cm_whole(good, "the contexts", error);
  CM_THEN(status, library_kept_write(kept, all, error));
  json_decref(all);
  return status;
}

cm_status cli_context_forget(const char *name, bool *known, cm_error *error)
{
  json_t *all;
  CM_TRY(read_file(&all, error));
  *known = json_object_del(json_object_get(all, "contexts"), name) == 0;
  if (strcmp(cli_text(all, "current"), name) == 0)
    (void)json_object_del(all, "current");
  cm_status status = *known ? library_kept_write(kept, all, error) : CM_OK;
  json_decref(all);
  return status;
}

/* ---- coremap context ---- */

typedef struct arguments {
  cli_line line;
  bool none, forget;
} arguments;

static const cli_flag flags[] = {
  {"none", NULL, CLI_ON, "leave the current context: no context is current", CLI_AT(none)},
  {"remove", NULL, CLI_ON, "forget the context that is named, and its token", CLI_AT(forget)},
  CLI_JSON_FLAG,
  {0}};

static void print(const json_t *all, bool json)
{
  const char *name, *current = cli_text(all, "current");
  json_t *one, *list = json_array();
  json_object_foreach(json_object_get(all, "contexts"), name, one)
  {
    bool is = strcmp(name, current) == 0, token = json_object_get(one, "token") != NULL;
    if (json)
      (void)json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:b}", "name", name, "server", cli_text(one, "server"),
                                                  "current", is, "token", token));
    else
      cli_printf(stdout, "%c %-16s %s%s\n", is ? '*' : ' ', name, cli_text(one, "server"), token ? "" : "  (no token)");
  }
  if (json) {
    json_t *told = json_pack("{s:O}", "contexts", list);
    cli_print_json(told);
    json_decref(told);
  }
  json_decref(list);
}

static int context_command(void *given)
{
  const arguments *a = given;
  const bool json = a->line.json, none = a->none, forget = a->forget;
  bool known = true;
  cm_error error;
  json_t *all;
  const char *name = a->line.words[0];
  if (a->line.count > 1 || (none && name != NULL) || (forget && name == NULL))
    return cli_usage("context", forget ? "name the context to forget" : "name one context, or --none");
  if (forget) {
    if (cli_context_forget(name, &known, &error) != CM_OK)
      return cli_fail(&error);
    if (!known)
      (void)cm_fail(&error, CM_NOT_FOUND, "there is no context \"%.64s\"", name);
    return known ? EXIT_DONE : cli_fail(&error);
  }
  cli_context context;
  if (name != NULL && cli_context_find(name, &context, &error) != CM_OK)
    return cli_fail(&error);
  if (read_file(&all, &error) != CM_OK)
    return cli_fail(&error);
  cm_status status = CM_OK;
  if (none)
    (void)json_object_del(all, "current");
  if (name != NULL)
    (void)json_object_set_new(all, "current", json_string(name));
  if (none || name != NULL)
    status = library_kept_write(kept, all, &error);
  if (status == CM_OK && !none && (name == NULL || json))
    print(all, json);
  json_decref(all);
  return status == CM_OK ? EXIT_DONE : cli_fail(&error);
}

const cli_command cli_command_context = {
  .name = "context", .what = "list the servers that are kept by name, or choose one", .run = context_command, .most = CLI_ANY, .size = sizeof(arguments), .server = true,
  .usage = "[NAME [--remove]] [--none] [--json]",
  .about = "Contexts are names for a server and the token for it, which coremap login --context keeps in ~/.config/coremap/contexts,\n"
           "which nobody else can read. Without NAME they are listed, the current one marked; with NAME, that one is current from\n"
           "then on. $COREMAP_CONTEXT or --context NAME choose one for a command; $COREMAP_SERVER or --server URL go before it.",
  .flags = flags};
