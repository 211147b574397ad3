/* coremap submit: a network or a model to a server, and a job for it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/http.h"
#include "cli/remote.h"

enum { FORMAT = 1, CHIP, NAME, RESERVE, PRIORITY, WAIT, SET };

static const cli_flag flags[] = {
  {"chip", "NAME", CHIP, "a chip of the server"},
  {"format", "NAME", FORMAT, "the network's format, whatever it looks like: onnx, @N"},
  {"name", "TEXT", NAME, "the job's name; the file's unless given"},
  {"reserve", NULL, RESERVE, "lease the region's cores when the job is done"},
  {"priority", "N", PRIORITY, "-100 to 100, higher first"},
  {"wait", NULL, WAIT, "wait until the job has ended, as coremap wait does"},
  {"set", "NAME=VALUE", SET, "a job option (docs/options.md) by the name that it has over HTTP"},
  CLI_SERVER_FLAGS,
  CLI_JSON_FLAG,
  CLI_QUIET_FLAG,
  {0}};

typedef struct arguments {
  const char *network, *network_name, *format;
  cli_where where;
  json_t *job, *options;
  bool wait;
} arguments;

static bool set_option(arguments *a, const char *name, const char *value)
{
  if (strcmp(name, "shape") == 0)
    cli_shape_set(a->options, value);
  return strcmp(name, "shape") == 0 || cli_option_set(a->options, name, value);
}

/* Negative: go on. */
static int parse(int argc, char **argv, arguments *a)
{
  char name[64];
  bool good;
  for (int flag; (flag = cli_next(&cli_command_submit, argc, argv)) != -1;) {
    good = true;
    switch (flag) {
    case FORMAT: a->format = optarg; break;
    case CHIP:
    case NAME: good = json_object_set_new(a->job, cli_taken(), json_string(optarg)) == 0; break;
    case PRIORITY: good = json_object_set_new(a->job, "priority", cli_option_value(optarg)) == 0; break;
    case RESERVE: (void)json_object_set_new(a->job, "reserve", json_true()); break;
    case WAIT: a->wait = true; break;
    case SET:
      if (strchr(optarg, '=') == NULL || strcspn(optarg, "=") >= sizeof name)
        return cli_usage("submit", "--set \"%s\" is not of the form NAME=VALUE", optarg);
      (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(optarg, "="), optarg);
      good = set_option(a, name, strchr(optarg, '=') + 1);
      break;
    case CLI_TAKES_OPTION: good = set_option(a, cli_taken(), optarg); break;
    default:
      if (!cli_where_take(&a->where, flag))
        return cli_ended(flag);
    }
    if (!good)
      return cli_usage("submit", "--%s \"%s\" is not text", cli_taken(), optarg);
  }
  if (optind + 1 != argc)
    return cli_usage("submit", optind == argc ? "no network is named" : "more than one network is named");
  a->network = cli_input(argv[optind]);
  a->network_name = strcmp(argv[optind], "-") == 0 ? "standard input" : argv[optind];
  return -1;
}

static const char *base_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

/* Adds the options for reading to a path that has a query; false: no room. */
static bool add_read_options(cli_server *server, char *path, size_t size)
{
  for (int id = 0; id < CM_READ_OPTIONS; id++) {
    const char *value = cli_read_option((cm_read_option_id)id);
    if (value == NULL)
      continue;
    char *segment = cli_url_segment(server, value);
    size_t used = strlen(path);
    bool fits = segment != NULL &&
                snprintf(path + used, size - used, "&%s=%s", cm_read_options[id].name, segment) < (int)(size - used);
    free(segment);
    if (!fits)
      return false;
  }
  return true;
}

/* The server's description of the network: what is there under that id, or what is uploaded. */
static cm_status find_network(cli_server *server, const arguments *a, json_t **network, cm_error *error)
{
  char path[512];
  cli_reply reply = {0};
  if (access(a->network, F_OK) != 0 && cli_is_id(a->network)) {
    (void)snprintf(path, sizeof path, "/v1/networks/%s", a->network);
    const cli_request look = {.method = "GET", .path = path};
    if (cli_server_ask(server, &look, &reply, error) != CM_OK)
      return error->status;
    *network = reply.json;
    return CM_OK;
  }
  FILE *file = fopen(a->network, "rb");
  char *name = cli_url_segment(server, base_name(a->network_name)),
       *format = cli_url_segment(server, a->format != NULL ? a->format : "");
  cm_status status = CM_OK;
  if (file == NULL)
    status = cm_fail_errno(error, errno, "cannot open", a->network);
  else if (name == NULL || format == NULL ||
           snprintf(path, sizeof path, "/v1/networks?name=%s%s%s", name, a->format != NULL ? "&format=" : "", format) >=
             (int)sizeof path)
    status = cm_fail(error, CM_BAD_REQUEST, "the name of %s is too long", a->network);
  else if (!add_read_options(server, path, sizeof path))
    status = cm_fail(error, CM_BAD_REQUEST, "the options for reading %s are too long", a->network);
  else {
    const cli_request upload = {.method = "POST", .path = path, .upload = file};
    status = cli_server_ask(server, &upload, &reply, error);
  }
  free(name);
  free(format);
  if (file != NULL)
    (void)fclose(file);
  if (status == CM_OK)
    *network = reply.json;
  return status;
}

static cm_status queue(cli_server *server, arguments *a, cli_reply *reply, cm_error *error)
{
  json_t *network = NULL;
  if (find_network(server, a, &network, error) != CM_OK)
    return error->status;
  const char *format = json_string_value(json_object_get(network, "format"));
  bool model = format != NULL && strcmp(format, "onnx") == 0;
  (void)json_object_set_new(a->job, "kind", json_string(model ? "compile" : "map"));
  (void)json_object_set(a->job, "network", json_object_get(network, "id"));
  if (json_object_get(a->job, "name") == NULL)
    (void)json_object_set_new(a->job, "name", json_string(base_name(a->network_name)));
  json_decref(network);
  const cli_request post = {.method = "POST", .path = "/v1/jobs", .body = a->job};
  return cli_server_ask(server, &post, reply, error);
}

static int submit(arguments *a)
{
  cm_error error;
  cli_run cli;
  cli_server *server = NULL;
  cli_reply job = {0};
  cli_run_begin(&cli, a->where.quiet);
  (void)json_object_set(a->job, "options", a->options);
  cm_status status = cli_server_open(&a->where, cli.run.cancel, &server, &error);
  if (status == CM_OK)
    status = queue(server, a, &job, &error);
  if (status == CM_OK && a->wait)
    status = cli_follow(server, &cli, job.etag, &job.json, &error);
  cli_run_end(&cli);
  cli_server_close(server);
  int exit_status = status == CM_OK ? cli_print_job(job.json, a->where.json, a->wait) : cli_fail(&error);
  json_decref(job.json);
  return exit_status;
}

static int submit_command(int argc, char **argv)
{
  arguments a = {.job = json_object(), .options = json_object()};
  int status = parse(argc, argv, &a);
  if (status < 0)
    status = submit(&a);
  json_decref(a.job);
  json_decref(a.options);
  return status;
}

const cli_command cli_command_submit = {
  .name = "submit", .what = "queue a job on a server", .run = submit_command, .reads = true, .server = true,
  .options = CLI_OPTIONS_JOB,
  .usage = "NETWORK|MODEL.onnx|ID [--chip NAME] [OPTION...]",
  .about = "Uploads a network or an ONNX model to a server and queues a job that maps or compiles it; the id of one that the\n"
           "server has serves as well. Prints the job's id.",
  .flags = flags};
