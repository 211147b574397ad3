/* coremap submit: a network or a model to a server, and a job for it. */
#include <coremap/network.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/remote.h"
#include "cli/upload.h"

enum { FORMAT = 1, CHIP, NAME, RESERVE, PRIORITY, VISIBILITY, WAIT, SET, LABEL, INPUT, CONSTRAINTS, CLUSTER };

static const cli_flag flags[] = {
  {"chip", "NAME", CHIP, "a chip of the server"},
  {"format", "NAME", FORMAT, "the network's format, whatever it looks like: onnx, @N"},
  {"name", "TEXT", NAME, "the job's name; the file's unless given"},
  {"input", "SPIKES", INPUT, "with --profile: which inputs fire when, a line STEP,NEURON each (more than 1 MiB: an upload, docs/reference/http.md)"},
  {"spikes", "SPIKES", INPUT, NULL},
  {"constraints", "FILE", CONSTRAINTS, "where neurons and populations may lie (docs/reference/constraints.md)"},
  {"reserve", NULL, RESERVE, "lease the region's cores when the job is done"},
  {"priority", "N", PRIORITY, "-100 to 100, higher first"},
  {"cluster", "auto|always|never", CLUSTER, "whether it goes to the server's cluster (auto: by what it is expected to take)"},
  {"visibility", "lab|group|private", VISIBILITY, "who sees what is sent and made: every user, your group, nobody else; else as the server's settings say"},
  {"label", "KEY=VALUE", LABEL, "a label of the job, and of what it makes; give it again for more"},
  {"wait", NULL, WAIT, "wait until the job has ended, as coremap wait does"},
  {"set", "NAME=VALUE", SET, "a job option (docs/reference/options.md) by the name that it has over HTTP"},
  CLI_SERVER_FLAGS,
  CLI_JSON_FLAG,
  CLI_QUIET_FLAG,
  {0}};

typedef struct arguments {
  const char *network, *network_name, *format, *spikes, *constraints;
  cli_where where;
  json_t *job, *options;
  bool wait;
} arguments;

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
    case CLUSTER:
    case NAME: good = json_object_set_new(a->job, cli_taken(), json_string(optarg)) == 0; break;
    case PRIORITY: good = json_object_set_new(a->job, "priority", cli_option_value(optarg)) == 0; break;
    case RESERVE: (void)json_object_set_new(a->job, "reserve", json_true()); break;
    case VISIBILITY:
      if (!cli_is_visibility(optarg))
        return cli_usage("submit", "--visibility is \"%s\"; it must be lab, group or private", optarg);
      (void)json_object_set_new(a->job, "visibility", json_string(optarg));
      break;
    case LABEL:
      if (!cli_label_add(a->job, optarg))
        return cli_usage("submit", "--label \"%s\" is not of the form KEY=VALUE", optarg);
      break;
    case WAIT: a->wait = true; break;
    case INPUT: a->spikes = cli_input(optarg); break;
    case CONSTRAINTS: a->constraints = cli_input(optarg); break;
    case SET:
      if (strchr(optarg, '=') == NULL || strcspn(optarg, "=") >= sizeof name)
        return cli_usage("submit", "--set \"%s\" is not of the form NAME=VALUE", optarg);
      (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(optarg, "="), optarg);
      good = cli_option_set(a->options, name, strchr(optarg, '=') + 1);
      break;
    case CLI_TAKES_OPTION: good = cli_option_set(a->options, cli_taken(), optarg); break;
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

/* What can be known to be wrong before anything is sent: the options, and the chip. */
static cm_status check_job(cli_server *server, const arguments *a, cm_error *error)
{
  const char *chip = json_string_value(json_object_get(a->job, "chip"));
  coremap_error *why = NULL;
  unsigned looks = 0;
  if (access(a->network, R_OK) == 0) { /* of an id the server tells what it is, and checks */
    CM_TRY(library_status(coremap_look(a->network, a->format, &looks, &why), &why, error));
    const bool model = (looks & COREMAP_LOOKS_LIKE_MODEL) != 0;
    CM_TRY(cli_check_options(model ? "compile" : "map", a->options, error));
    if (!model && chip == NULL)
      return cm_fail(error, CM_BAD_REQUEST, "a network is mapped on a chip: name one of the server's with --chip (coremap chips)");
  }
  if (chip == NULL)
    return CM_OK;
  char path[512], *segment = library_client_segment(server, chip);
  cli_reply reply = {0};
  (void)snprintf(path, sizeof path, "/v1/chips/%.400s", segment != NULL ? segment : "");
  free(segment);
  const cli_request look = {.method = "GET", .path = path};
  cm_status status = library_client_ask(server, &look, &reply, error);
  json_decref(reply.json);
  return status;
}

static cm_status queue(cli_server *server, cli_run *cli, const arguments *a, cli_reply *reply, cm_error *error)
{
  json_t *network = NULL;
  const cli_upload file = {a->network, a->network_name, a->format, json_string_value(json_object_get(a->job, "visibility"))};
  if (cli_read_spikes(a->spikes, a->options, error) != CM_OK || cli_read_constraints(a->constraints, a->options, error) != CM_OK || check_job(server, a, error) != CM_OK || cli_upload_network(server, cli, &file, &network, error) != CM_OK)
    return error->status;
  const char *format = json_string_value(json_object_get(network, "format"));
  bool model = format != NULL && strcmp(format, "onnx") == 0;
  const char *kind = model ? "compile" : "map";
  if (cli_rename_options(kind, a->options, error) != CM_OK) {
    json_decref(network);
    return error->status;
  }
  (void)json_object_set_new(a->job, "kind", json_string(kind));
  (void)json_object_set(a->job, "network", json_object_get(network, "id"));
  if (json_object_get(a->job, "name") == NULL)
    (void)json_object_set_new(a->job, "name", json_string(cli_base_name(a->network_name)));
  json_decref(network);
  const cli_request post = {.method = "POST", .path = "/v1/jobs", .body = a->job};
  return library_client_ask(server, &post, reply, error);
}

static int submit_step(cli_server *server, cli_run *cli, const void *given, cm_error *error)
{
  const arguments *a = given;
  cli_reply job = {0};
  (void)json_object_set(a->job, "options", a->options);
  if (queue(server, cli, a, &job, error) == CM_OK)
    return cli_tell_job(server, cli, &job, &a->where, a->wait, error);
  cli_place_in_file(a->constraints, "/options/constraints", error);
  return -1;
}

static int submit_command(int argc, char **argv)
{
  arguments a = {.job = json_object(), .options = json_object()};
  int status = parse(argc, argv, &a);
  if (status < 0)
    status = cli_on_server(&a.where, submit_step, &a);
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
