/* coremap submit: a network or a model to a server, and a job for it. */
#include <coremap/network.h>
#include <unistd.h>

#include "cli/remote.h"
#include "cli/upload.h"

typedef struct arguments {
  cli_line line; /* its body is the job */
  const char *format, *spikes, *constraints;
} arguments;

static const cli_flag flags[] = {
  {"chip", "NAME", CLI_BODY, "a chip of the server"},
  {"format", "NAME", CLI_TEXT, "the network's format, whatever it looks like: onnx, @N", CLI_AT(format)},
  {"name", "TEXT", CLI_BODY, "the job's name; the file's unless given"},
  {"input", "SPIKES", CLI_IN, "with --profile: which inputs fire when, a line STEP,NEURON each (more than 1 MiB: an upload, docs/reference/http.md)", CLI_AT(spikes)},
  {"spikes", "SPIKES", CLI_IN, NULL, CLI_AT(spikes)},
  {"constraints", "FILE", CLI_IN, "where neurons and populations may lie (docs/reference/constraints.md)", CLI_AT(constraints)},
  {"reserve", NULL, CLI_BODY_VALUE, "lease the region's cores when the job is done"},
  {"priority", "N", CLI_BODY_VALUE, "-100 to 100, higher first"},
  {"cluster", "auto|always|never", CLI_BODY, "whether it goes to the server's cluster (auto: by what it is expected to take)"},
  CLI_VISIBILITY_FLAG,
  {"label", "KEY=VALUE", CLI_LABEL, "a label of the job, and of what it makes; give it again for more"},
  CLI_WAIT_FLAG,
  {"set", "NAME=VALUE", CLI_SET, "a job option (docs/reference/options.md) by the name that it has over HTTP"},
  CLI_SERVER_FLAGS, CLI_JSON_FLAG, CLI_QUIET_FLAG,
  {0}};

/* What can be known to be wrong before anything is sent: the options, and the chip. */
static cm_status check_job(cli_server *server, const arguments *a, cm_error *error)
{
  const char *chip = json_string_value(json_object_get(a->line.body, "chip"));
  unsigned looks = 0;
  if (access(a->line.file, R_OK) == 0) { /* of an id the server tells what it is, and checks */
    CM_TRY(library_status(coremap_look(a->line.file, a->format, &looks, &cli_why), &cli_why, error));
    const bool model = (looks & COREMAP_LOOKS_LIKE_MODEL) != 0;
    CM_TRY(cli_check_options(model ? "compile" : "map", a->line.options, error));
    if (!model && chip == NULL)
      return cm_fail(error, CM_BAD_REQUEST, "a network is mapped on a chip: name one of the server's with --chip (coremap chips)");
  }
  if (chip == NULL)
    return CM_OK;
  char path[512], *segment = library_client_segment(server, chip);
  cli_reply reply = {0};
  (void)snprintf(path, sizeof path, "/v1/chips/%.400s", segment != NULL ? segment : "");
  free(segment);
  cm_status status = cli_ask(server, "GET", path, NULL, &reply, error);
  json_decref(reply.json);
  return status;
}

static cm_status queue(cli_server *server, cli_run *cli, const arguments *a, cli_reply *reply, cm_error *error)
{
  json_t *network = NULL;
  const char *name = strcmp(a->line.words[0], "-") == 0 ? "standard input" : a->line.words[0];
  const cli_upload file = {a->line.file, name, a->format, json_string_value(json_object_get(a->line.body, "visibility"))};
  CM_TRY(cli_read_spikes(a->spikes, a->line.options, error));
  CM_TRY(cli_read_constraints(a->constraints, a->line.options, error));
  CM_TRY(check_job(server, a, error));
  CM_TRY(cli_upload_network(server, cli, &file, &network, error));
  const char *format = json_string_value(json_object_get(network, "format"));
  bool model = format != NULL && strcmp(format, "onnx") == 0;
  const char *kind = model ? "compile" : "map";
  CM_TRY_OR(cli_rename_options(kind, a->line.options, error), json_decref(network));
  (void)json_object_set_new(a->line.body, "kind", json_string(kind));
  (void)json_object_set(a->line.body, "network", json_object_get(network, "id"));
  if (json_object_get(a->line.body, "name") == NULL)
    (void)json_object_set_new(a->line.body, "name", json_string(cli_base_name(name)));
  json_decref(network);
  return cli_post_job(&a->line, server, reply, error);
}

static cm_status submit(void *given, coremap_client *server, cli_run *cli, json_t **report, cm_error *error)
{
  const arguments *a = given;
  cli_reply job = {0};
  (void)json_object_set(a->line.body, "options", a->line.options);
  const cm_status status = queue(server, cli, a, &job, error);
  if (status == CM_OK)
    return cli_job_made(&a->line, server, cli, &job, report, error);
  cli_place_in_file(a->constraints, "/options/constraints", error);
  return status;
}

const cli_command cli_command_submit = {
  .name = "submit", .what = "queue a job on a server", .ask = submit, .print = cli_print_job, .judge = cli_judge_job,
  .word = "network", .size = sizeof(arguments), .reads = true, .server = true,
  .options = CLI_OPTIONS_JOB,
  .usage = "NETWORK|MODEL.onnx|ID [--chip NAME] [OPTION...]",
  .about = "Uploads a network or an ONNX model to a server and queues a job that maps or compiles it; the id of one that the\n"
           "server has serves as well. Prints the job's id.",
  .flags = flags};
