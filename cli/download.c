/* coremap download: all files of a mapping or program, or a network, from a server. */

#include "cli/remote.h"

typedef struct arguments {
  cli_line line;
  const char *output;
} arguments;

static const cli_flag flags[] = {
  {"output", "DIR|FILE", CLI_TEXT, "where it goes: a folder that is made, of a network the file; unless given, the id is its name", CLI_AT(output)},
  CLI_SERVER_FLAGS, CLI_JSON_FLAG, CLI_QUIET_FLAG, {0}};

typedef struct view {
  const char *path, *file; /* after /v1/KIND/ID/ */
} view;

static const view mapping_views[] = {{"content", "mapping.json"},        {"part", "mapping.part"},
                                     {"placement", "placement.csv"},    {"cores?format=csv", "cores.csv"},
                                     {"neurons?format=csv", "neurons.csv"}, {"links?format=csv", "links.csv"},
                                     {"routes?format=json", "routes.json"}, {"certificate", "certificate.json"}, {NULL, NULL}};
static const view program_views[] = {{"model", "model.onnx"},   {"program", "model.program"}, {"report", "report.json"},
                                     {"schedule", "schedule.json"}, {"tiles", "tiles.zip"},   {"mapping", "mapping.json"},
                                     {"pieces", "pieces.json"}, {"images", "images.json"},   {"binary", "images.bin"},
                                     {"commands", "commands.txt"}, {"bench", "bench.mem"},   {"inputs", "inputs.csv"},    {"expected", "expected.txt"},
                                     {"spikes", "spikes.csv"}, {NULL, NULL}};

cm_status cli_fetch_file(cli_server *server, cli_run *cli, const char *path, const char *to, cm_error *error)
{
  cm_file file;
  cli_reply reply = {0};
  CM_TRY(cm_file_create(&file, to, error));
  cm_status status = library_client_ask(server, &(cli_request){.method = "GET", .path = path, .download = file.stream, .run = &cli->run}, &reply, error);
  json_decref(reply.json);
  return cm_file_end(&file, status, error);
}

/* All views of a mapping or program that there are, into a folder. */
static cm_status fetch_folder(cli_server *server, cli_run *cli, const cli_found *of, const char *folder, json_t *files, cm_error *error)
{
  CM_TRY(cm_folder_make(folder, error));
  for (const view *v = strcmp(of->kind, "mappings") == 0 ? mapping_views : program_views; v->path != NULL; v++) {
    char to[CM_PATH_MAX];
    CM_TRY(cm_path(to, error, "%s/%s", folder, v->file));
    cm_run_phase(&cli->run, v->file);
    cm_status status = cli_fetch_file(server, cli, cm_say("/v1/%s/%.64s/%s", of->kind, of->id, v->path).text, to, error);
    if (status == CM_OK)
      (void)json_array_append_new(files, json_string(to));
    else if (status != CM_NOT_FOUND) /* a program has not all of them */
      return status;
  }
  return CM_OK;
}

cm_status cli_fetch_program(cli_server *server, cli_run *cli, const char *id, const char *folder, cm_error *error)
{
  json_t *files = json_array();
  cli_found program = {.kind = "programs"};
  (void)snprintf(program.id, sizeof program.id, "%s", id);
  const cm_status status = fetch_folder(server, cli, &program, folder, files, error);
  json_decref(files);
  return status;
}

static cm_status fetch_network(cli_server *server, cli_run *cli, const arguments *a, const json_t *about, json_t *files, cm_error *error)
{
  char to[CM_PATH_MAX];
  const char *id = cli_id(about, "id");
  bool model = strcmp(cli_text(about, "format"), "onnx") == 0;
  if (id[0] == '\0')
    return cm_fail(error, CM_IO, "the server's answer has no id of the network");
  if (a->output != NULL ? cm_path(to, error, "%s", cli_output(a->output)) != CM_OK
                        : cm_path(to, error, "%.16s.%s", id, model ? "onnx" : "zip") != CM_OK)
    return error->status;
  cm_run_phase(&cli->run, "download");
  cm_status status = cli_fetch_file(server, cli, cm_say("/v1/networks/%.64s/content", id).text, to, error);
  if (status == CM_OK)
    (void)json_array_append_new(files, json_string(a->output != NULL ? a->output : to));
  return status;
}

static cm_status download_it(cli_server *server, cli_run *cli, const arguments *a, json_t *files, cm_error *error)
{
  static const char *const kinds[] = {"jobs", "mappings", "programs", "networks", NULL};
  cli_found f;
  CM_TRY(cli_find(server, &(cli_search){"GET", kinds, a->line.words[0], ""}, "job, mapping, program or network", true, &f, error));
  cm_status status = strcmp(f.kind, "networks") == 0 ? fetch_network(server, cli, a, f.about, files, error)
                                                     : fetch_folder(server, cli, &f, a->output != NULL ? a->output : f.id, files, error);
  json_decref(f.about);
  return status;
}

static cm_status download(void *given, coremap_client *server, cli_run *cli, json_t **report, cm_error *error)
{
  json_t *files = json_array();
  *report = json_pack("{s:o}", "files", files);
  return download_it(server, cli, given, files, error);
}

static void print_files(CM_UNUSED const void *given, const json_t *told)
{
  const json_t *one;
  size_t i;
  json_array_foreach(json_object_get(told, "files"), i, one)
    cli_puts(json_string_value(one));
}

const cli_command cli_command_download = {
  .name = "download", .what = "get all files of a mapping or program, or a network", .ask = download, .print = print_files, .word = "id", .size = sizeof(arguments), .server = true,
  .usage = "ID [-o DIR|FILE] [--json] [--quiet]",
  .about = "Gets all that a mapping or program (or the one that a job made) has into a folder, file by file, or a network as a topology\n"
           "file, a model as ONNX. `coremap get` gets one view.",
  .flags = flags};
