/* The line of a command: its flags and words go where the command's tables say, and what it then finds is told. */
#include <ctype.h>

#include "cli/context.h"
#include "cli/remote.h"

bool cli_is_id(const char *text)
{
  for (const char *c = text; *c != '\0'; c++)
    if (!isalnum((unsigned char)*c))
      return false;
  return *text != '\0';
}

bool cli_label_add(json_t *body, const char *pair)
{
  const size_t key = strcspn(pair, "=");
  if (json_object_get(body, "labels") == NULL)
    (void)json_object_set_new(body, "labels", json_object());
  return key > 0 && pair[key] == '=' && json_object_setn_new(json_object_get(body, "labels"), pair, key, json_string(pair + key + 1)) == 0;
}

bool cli_list_add(json_t *object, const char *name, json_t *value)
{
  if (json_object_get(object, name) == NULL)
    (void)json_object_set_new(object, name, json_array());
  return json_array_append_new(json_object_get(object, name), value) == 0;
}

/* Flag --poisson: a number is of all inputs, all else a file; false: it is no finite number. */
static bool take_poisson(json_t *options, const char **file)
{
  char *end;
  const double hertz = strtod(optarg, &end);
  if (end != optarg && *end == '\0')
    return json_object_set_new(options, "poisson", json_real(hertz)) == 0;
  *file = cli_input(optarg);
  return true;
}

static int set_pair(cli_line *line)
{
  const size_t length = strcspn(optarg, "=");
  if (optarg[length] == '\0')
    return cli_usage(line->command->name, "--set \"%s\" is not of the form NAME=VALUE", optarg);
  return cli_option_set(line->options, cm_say("%.*s", (int)length, optarg).text, optarg + length + 1) ? -1 : cli_usage(line->command->name, "--set \"%s\" is not text", optarg);
}

/* Puts a flag's value where it goes; negative: go on, else an exit status. */
static int take(cli_line *line, int code, size_t at)
{
  const char *command = line->command->name, *name = cli_taken();
  void *to = (char *)line + at;
  bool good = true;
  switch (code) {
  case CLI_TEXT: *(const char **)to = optarg; break;
  case CLI_IN: *(const char **)to = cli_input(optarg); break;
  case CLI_OUT: *(const char **)to = cli_output(optarg); break;
  case CLI_ON: *(bool *)to = true; break;
  case CLI_WHOLE: return cli_whole(optarg, 0, INT64_MAX, to) ? -1 : cli_usage(command, "--%s is a whole number, not \"%s\"", name, optarg);
  case CLI_POISSON: return take_poisson(line->options, to) ? -1 : cli_usage(command, "--poisson %s is no finite number", optarg);
  case CLI_OPTION: good = cli_option_set(line->options, name, optarg); break;
  case CLI_SET: return set_pair(line);
  case CLI_BODY_VALUE: good = json_object_set_new(line->body, name, optarg != NULL ? cli_option_value(optarg) : json_true()) == 0; break;
  case CLI_BODY_LIST: good = cli_list_add(line->body, name, json_string(optarg)); break;
  case CLI_LABEL: return cli_label_add(line->body, optarg) ? -1 : cli_usage(command, "--label \"%s\" is not of the form KEY=VALUE", optarg);
  case CLI_VISIBILITY:
    if (strcmp(optarg, "lab") != 0 && strcmp(optarg, "group") != 0 && strcmp(optarg, "private") != 0)
      return cli_usage(command, "--visibility is \"%s\"; it must be lab, group or private", optarg);
    /* fall through */
  case CLI_BODY: good = json_object_set_new(line->body, name, json_string(optarg)) == 0; break;
  default: return line->command->take(line, code);
  }
  return good ? -1 : cli_usage(command, "--%s \"%s\" is not text", name, optarg);
}

/* What stands beside the flags; negative: go on. */
static int read_words(cli_line *line)
{
  const cli_command *c = line->command;
  const bool ids = c->word != NULL && strcmp(c->word, "id") == 0;
  const int least = c->word == NULL || c->most > 0 ? c->least : 1, most = c->word == NULL || c->most > 0 ? c->most : 1;
  if (line->count < least)
    return cli_usage(c->name, "no %s is named", c->word);
  if (line->count > most)
    return most == 1 && c->word != NULL ? cli_usage(c->name, "more than one %s is named", c->word) : cli_usage(c->name, "\"%s\" is one word too many", line->words[most]);
  if (ids && !cli_is_id(line->words[0]))
    return cli_usage(c->name, "\"%s\" is no id", line->words[0]);
  if (c->word != NULL && most == 1 && !ids)
    line->file = cli_input(line->words[0]);
  return -1;
}

/* Negative: go on. */
static int read_line(cli_line *line, int argc, char **argv)
{
  const cli_command *c = line->command;
  size_t at;
  line->quiet = true;
  for (const cli_flag *f = c->flags; f != NULL && f->name != NULL; f++)
    if (strcmp(f->name, "quiet") == 0)
      line->quiet = false;
  for (int code, ended; (code = cli_next(c, argc, argv, &at)) != -1;)
    if (code < 0)
      return code == CLI_HELPED ? EXIT_DONE : EXIT_USAGE;
    else if ((ended = take(line, code, at)) >= 0)
      return ended;
  line->words = argv + optind;
  line->count = argc - optind;
  const int ended = read_words(line);
  for (const cli_flag *f = c->flags; ended < 0 && f != NULL && f->name != NULL; f++)
    if (f->needed != NULL && *(const char **)(void *)((char *)line + f->at) == NULL)
      return strcmp(f->name, "output") == 0 ? cli_usage(c->name, "-o is needed: %s", f->needed) : cli_usage(c->name, "--%s is needed: %s", f->name, f->needed);
  return ended >= 0 || c->check == NULL ? ended : c->check(line);
}

bool cli_names_server(const cli_line *line)
{
  return line->server != NULL || line->context != NULL;
}

cm_status cli_server_open(const cli_line *line, const atomic_bool *cancel, cli_server **made, cm_error *error)
{
  cli_context context = {.name = ""};
  const char *given = line->server, *environment = getenv("COREMAP_SERVER");
  if (given != NULL && line->context != NULL)
    return cm_fail(error, CM_BAD_REQUEST, "a context is a server: name either --server or --context");
  if (given == NULL && line->context == NULL && environment != NULL && environment[0] != '\0')
    given = environment;
  CM_TRY_IF(given == NULL, cli_context_find(line->context, &context, error));
  const bool own = context.token[0] != '\0' && getenv("COREMAP_TOKEN") == NULL;
  const char *url = context.name[0] != '\0' ? context.url : given != NULL ? given : "http://127.0.0.1:8080";
  return library_client_open(url, own ? context.token : NULL, cancel, made, error);
}

static cm_status ask(cli_line *line, cli_run *cli, json_t **report, cm_error *error)
{
  cli_server *server = NULL;
  CM_TRY(cli_server_open(line, cli->run.cancel, &server, error));
  const cm_status status = line->command->ask(line, server, cli, report, error);
  coremap_client_free(server);
  return status;
}

static int carry_out(cli_line *line)
{
  const cli_command *c = line->command;
  cm_error error;
  cli_run cli;
  json_t *report = NULL;
  cli_run_begin(&cli, line->quiet);
  const cm_status status = c->ask != NULL && (c->make == NULL || cli_names_server(line)) ? ask(line, &cli, &report, &error) : c->make(line, &cli, &report, &error);
  cli_run_end(&cli);
  if (status == CM_OK && report != NULL && (line->json || c->print == NULL))
    cli_print_json(report);
  else if (status == CM_OK && !line->json && c->print != NULL)
    c->print(line, report);
  const int ended = status != CM_OK ? cli_fail(&error) : c->judge != NULL ? c->judge(line, report) : EXIT_DONE;
  json_decref(report);
  return fflush(stdout) == 0 || status != CM_OK ? ended : EXIT_REFUSED;
}

int cli_carry_out(const cli_command *command, int argc, char **argv)
{
  const size_t size = command->size > 0 ? command->size : sizeof(cli_line);
  cli_line *line = calloc(1, size);
  cm_error error;
  if (line == NULL) {
    (void)cm_whole(false, "the command", &error);
    return cli_fail(&error);
  }
  if (command->defaults != NULL)
    memcpy(line, command->defaults, size);
  line->command = command;
  line->options = json_object();
  line->body = json_object();
  int ended = read_line(line, argc, argv);
  if (ended < 0)
    ended = command->run != NULL ? command->run(line) : carry_out(line);
  json_decref(line->options);
  json_decref(line->body);
  free(line);
  return ended;
}
