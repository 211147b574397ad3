/* coremap submit: a network or a model to a server, and a job for it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/http.h"
#include "cli/remote.h"

static const char usage[] =
  "usage: coremap submit NETWORK|MODEL.onnx|ID [--chip NAME] [OPTION...]\n"
  "\n"
  "Uploads a network or an ONNX model to a server and queues a job that maps or compiles it; the id of one that the\n"
  "server has serves as well. Prints the job's id.\n"
  "\n"
  "  --server URL         $COREMAP_SERVER, else http://127.0.0.1:8080\n"
  "  --format NAME        the network's format, whatever it looks like: onnx,\n"
  "                       @N\n"
  "  --chip NAME          a chip of the server\n"
  "  --name TEXT          the job's name; the file's unless given\n"
  "  --reserve            lease the region's cores when the job is done\n"
  "  --priority N         -100 to 100, higher first\n"
  "  --wait               wait until the job has ended, as coremap wait does\n"
  "  --json               print the job as JSON\n"
  "  --quiet              no progress\n"
  "  --OPTION VALUE       any job option (docs/options.md): --preset best, --seed 7, --memory-limit 2G\n";

typedef struct arguments {
  const char *network, *network_name, *server, *format;
  json_t *job, *options;
  bool wait, json, quiet;
} arguments;

/* A flag that takes no value. */
static bool set_switch(arguments *a, const char *flag)
{
  bool *is = strcmp(flag, "wait") == 0 ? &a->wait : strcmp(flag, "json") == 0 ? &a->json
             : strcmp(flag, "quiet") == 0 ? &a->quiet : NULL;
  if (is != NULL)
    *is = true;
  else if (strcmp(flag, "reserve") == 0)
    (void)json_object_set_new(a->job, "reserve", json_true());
  else
    return false;
  return true;
}

static bool set_value(arguments *a, const char *flag, const char *value)
{
  if (strcmp(flag, "server") == 0)
    a->server = value;
  else if (strcmp(flag, "format") == 0)
    a->format = value;
  else if (strcmp(flag, "chip") == 0 || strcmp(flag, "name") == 0)
    return json_object_set_new(a->job, flag, json_string(value)) == 0;
  else if (strcmp(flag, "priority") == 0)
    return json_object_set_new(a->job, flag, cli_option_value(value)) == 0;
  else
    return cli_option_set(a->options, flag, value);
  return true;
}

/* Negative: go on. The flags are taken by hand: which options a job has is the server's business. */
static int parse(int argc, char **argv, arguments *a)
{
  for (int i = 1; i < argc; i++) {
    const char *flag = argv[i];
    if (strncmp(flag, "--", 2) != 0) {
      if (a->network != NULL)
        return cli_usage("submit", "more than one network is named");
      a->network = cli_input(flag);
      a->network_name = strcmp(flag, "-") == 0 ? "standard input" : flag;
      continue;
    }
    if (strcmp(flag, "--help") == 0)
      return cli_help(usage);
    if (set_switch(a, flag + 2))
      continue;
    if (i + 1 == argc)
      return cli_usage("submit", "%s needs a value", flag);
    if (!set_value(a, flag + 2, argv[++i]))
      return cli_usage("submit", "%s \"%s\" is not text", flag, argv[i]);
  }
  return a->network != NULL ? -1 : cli_usage("submit", "no network is named");
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
  cli_run_begin(&cli, a->quiet);
  (void)json_object_set(a->job, "options", a->options);
  cm_status status = cli_server_open(a->server, cli.run.cancel, &server, &error);
  if (status == CM_OK)
    status = queue(server, a, &job, &error);
  if (status == CM_OK && a->wait)
    status = cli_follow(server, &cli, job.etag, &job.json, &error);
  cli_run_end(&cli);
  cli_server_close(server);
  int exit_status = status == CM_OK ? cli_print_job(job.json, a->json, a->wait) : cli_fail(&error);
  json_decref(job.json);
  return exit_status;
}

int cli_submit(int argc, char **argv)
{
  arguments a = {.job = json_object(), .options = json_object()};
  int status = parse(argc, argv, &a);
  if (status < 0)
    status = submit(&a);
  json_decref(a.job);
  json_decref(a.options);
  return status;
}
