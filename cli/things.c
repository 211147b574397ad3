/* coremap log, rm, download, remap: single things of a server. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/remote.h"
#include "cli/upload.h"
#include "core/base/file.h"
#include "core/mapping/map.h"

enum { FOLLOW = 1, CHIP, NAME, WAIT, RESERVE, PRIORITY, VISIBILITY };

static const cli_flag log_flags[] = {
  {"follow", NULL, FOLLOW, "go on until the job has ended"}, CLI_SERVER_FLAGS, {"json", NULL, CLI_JSON, "an object with one member, log"}, {0}};
static const cli_flag rm_flags[] = {CLI_SERVER_FLAGS, CLI_JSON_FLAG, {0}};
static const cli_flag download_flags[] = {
  {"output", "DIR|FILE", CLI_OUTPUT, "where it goes: a folder that is made, of a network the file; unless given, the id is its name"},
  CLI_SERVER_FLAGS, CLI_JSON_FLAG, CLI_QUIET_FLAG, {0}};
static const cli_flag remap_flags[] = {
  {"chip", "NAME", CHIP, "another chip of the server than before"},
  {"name", "TEXT", NAME, "the job's name"},
  {"reserve", NULL, RESERVE, "lease the region's cores when the job is done"},
  {"priority", "N", PRIORITY, "-100 to 100, higher first"},
  {"visibility", "lab|group|private", VISIBILITY, "who sees what is sent and made: every user, your group, nobody else; else as the server's settings say"},
  {"wait", NULL, WAIT, "wait until the job has ended, as coremap wait does"},
  CLI_SERVER_FLAGS, CLI_JSON_FLAG, CLI_QUIET_FLAG, {0}};

typedef struct arguments {
  cli_where where;
  char **words;
  int count;
  const char *output, *chip, *name;
  json_t *options, *job;
  bool follow, wait;
} arguments;

static const char *text_of(const json_t *object, const char *name)
{
  const char *text = json_string_value(json_object_get(object, name));
  return text != NULL ? text : "";
}

/* Negative: go on. */
static int parse(const cli_command *command, int argc, char **argv, int most, arguments *a)
{
  for (int flag; (flag = cli_next(command, argc, argv)) != -1;)
    switch (flag) {
    case FOLLOW: a->follow = true; break;
    case CLI_OUTPUT: a->output = optarg; break;
    case CHIP: a->chip = optarg; break;
    case NAME: a->name = optarg; break;
    case WAIT: a->wait = true; break;
    case VISIBILITY:
      if (!cli_is_visibility(optarg))
        return cli_usage(command->name, "--visibility is \"%s\"; it must be lab, group or private", optarg);
      (void)json_object_set_new(a->job, "visibility", json_string(optarg));
      break;
    case RESERVE: (void)json_object_set_new(a->job, "reserve", json_true()); break;
    case PRIORITY: (void)json_object_set_new(a->job, "priority", cli_option_value(optarg)); break;
    case CLI_TAKES_OPTION:
      if (!cli_option_set(a->options, cli_taken(), optarg))
        return cli_usage(command->name, "--%s \"%s\" is not text", cli_taken(), optarg);
      break;
    default:
      if (!cli_where_take(&a->where, flag))
        return cli_ended(flag);
    }
  a->words = argv + optind;
  a->count = argc - optind;
  if (a->count == 0 || a->count > most)
    return cli_usage(command->name, a->count == 0 ? "no id is named" : "too much is named");
  return -1;
}

static cm_status ask(cli_server *server, const char *method, const char *path, const char *known, cli_reply *reply, cm_error *error)
{
  const cli_request request = {.method = method, .path = path, .known = known};
  *reply = (cli_reply){0};
  return cli_server_ask(server, &request, reply, error);
}

typedef int (*step)(cli_server *server, cli_run *cli, const arguments *a, cm_error *error);

/* Takes a step that gives the exit status, or -1 with an error. */
static int on_server(const arguments *a, step take)
{
  cm_error error;
  cli_run cli;
  cli_server *server = NULL;
  cli_run_begin(&cli, a->where.quiet);
  int status = cli_server_open(&a->where, cli.run.cancel, &server, &error) == CM_OK ? take(server, &cli, a, &error) : -1;
  cli_run_end(&cli);
  cli_server_close(server);
  if (status < 0)
    return cli_fail(&error);
  return fflush(stdout) == 0 ? status : EXIT_REFUSED;
}

/* ---- log ---- */

/* The log as it is now, a text of the caller's. */
static cm_status read_log(cli_server *server, const char *id, char **text, cm_error *error)
{
  char path[120];
  size_t size;
  FILE *sink = open_memstream(text, &size);
  cli_reply reply = {0};
  (void)snprintf(path, sizeof path, "/v1/jobs/%.64s/log", id);
  if (sink == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory");
  const cli_request request = {.method = "GET", .path = path, .download = sink};
  cm_status status = cli_server_ask(server, &request, &reply, error);
  if (fclose(sink) != 0 && status == CM_OK)
    status = cm_fail(error, CM_NO_MEMORY, "out of memory");
  if (status != CM_OK)
    free(*text);
  return status;
}

static int log_step(cli_server *server, cli_run *cli, const arguments *a, cm_error *error)
{
  char path[120], etag[sizeof((cli_reply *)0)->etag] = "", *text;
  size_t shown = 0;
  (void)cli;
  for (bool ended = !a->follow;;) {
    cli_reply job = {0};
    (void)snprintf(path, sizeof path, "/v1/jobs/%.64s%s", a->words[0], etag[0] != '\0' ? "?wait=10s" : "");
    if (a->follow && ask(server, "GET", path, etag, &job, error) != CM_OK)
      return -1;
    if (job.json != NULL) {
      const char *state = text_of(job.json, "state");
      ended = strcmp(state, "queued") != 0 && strcmp(state, "running") != 0;
      (void)snprintf(etag, sizeof etag, "%s", job.etag);
      json_decref(job.json);
    }
    if (read_log(server, a->words[0], &text, error) != CM_OK)
      return -1;
    if (a->where.json) {
      json_t *told = json_pack("{s:s}", "log", text);
      if (ended)
        cli_print_json(told);
      json_decref(told);
    } else if (strlen(text) > shown) {
      fputs(text + shown, stdout);
      shown = strlen(text);
      (void)fflush(stdout);
    }
    free(text);
    if (ended)
      return EXIT_DONE;
  }
}

static int log_command(int argc, char **argv)
{
  arguments a = {.where.quiet = true};
  int status = parse(&cli_command_log, argc, argv, 1, &a);
  if (status < 0 && !cli_is_id(a.words[0]))
    status = cli_usage("log", "\"%s\" is no id", a.words[0]);
  return status < 0 ? on_server(&a, log_step) : status;
}

/* ---- rm ---- */

/* Removes what has that name, of the first kind that knows it. */
static cm_status remove_one(cli_server *server, const char *name, const char **kind, cm_error *error)
{
  static const char *const kinds[] = {"jobs", "mappings", "programs", "networks", "chips"};
  char path[300], *segment = cli_url_segment(server, name);
  cli_reply reply = {0};
  cm_status status = CM_NOT_FOUND;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds && status == CM_NOT_FOUND && segment != NULL; k++) {
    *kind = kinds[k];
    (void)snprintf(path, sizeof path, "/v1/%s/%.200s", kinds[k], segment);
    status = ask(server, "DELETE", path, NULL, &reply, error);
    json_decref(reply.json);
  }
  free(segment);
  if (status == CM_NOT_FOUND)
    return cm_fail(error, CM_NOT_FOUND, "the server has no job, mapping, program, network or chip \"%.64s\"", name);
  return status;
}

static int rm_step(cli_server *server, cli_run *cli, const arguments *a, cm_error *error)
{
  json_t *list = json_array();
  int status = EXIT_DONE;
  (void)cli;
  for (int i = 0; i < a->count && status == EXIT_DONE; i++) {
    const char *kind = "";
    if (a->words[i][0] == '\0' || strchr(a->words[i], '/') != NULL)
      (void)cm_fail(error, CM_BAD_REQUEST, "\"%.64s\" is no id or name", a->words[i]);
    if (a->words[i][0] == '\0' || strchr(a->words[i], '/') != NULL || remove_one(server, a->words[i], &kind, error) != CM_OK)
      status = -1;
    else if (a->where.json)
      (void)json_array_append_new(list, json_pack("{s:s, s:s}", "kind", kind, "id", a->words[i]));
    else
      printf("removed %.*s %s\n", (int)strlen(kind) - 1, kind, a->words[i]);
  }
  if (a->where.json) {
    json_t *told = json_pack("{s:O}", "removed", list);
    cli_print_json(told);
    json_decref(told);
  }
  json_decref(list);
  return status;
}

static int rm(int argc, char **argv)
{
  arguments a = {.where.quiet = true};
  int status = parse(&cli_command_rm, argc, argv, argc, &a);
  return status < 0 ? on_server(&a, rm_step) : status;
}

/* ---- download ---- */

typedef struct view {
  const char *path, *file; /* after /v1/KIND/ID/ */
} view;

static const view mapping_views[] = {{"content", "mapping.json"},        {"part", "mapping.part"},
                                     {"placement", "placement.csv"},    {"cores?format=csv", "cores.csv"},
                                     {"neurons?format=csv", "neurons.csv"}, {"links?format=csv", "links.csv"},
                                     {"routes?format=json", "routes.json"}, {"certificate", "certificate.json"}, {NULL, NULL}};
static const view program_views[] = {{"model", "model.onnx"},   {"program", "model.program"}, {"report", "report.json"},
                                     {"schedule", "schedule.json"}, {"tiles", "tiles.zip"},   {"mapping", "mapping.json"},
                                     {"pieces", "pieces.json"}, {NULL, NULL}};

static cm_status fetch_file(cli_server *server, cli_run *cli, const char *path, const char *to, cm_error *error)
{
  cm_file file;
  cli_reply reply = {0};
  if (cm_file_create(&file, to, error) != CM_OK)
    return error->status;
  const cli_request request = {.method = "GET", .path = path, .download = file.stream, .run = &cli->run};
  cm_status status = cli_server_ask(server, &request, &reply, error);
  json_decref(reply.json);
  if (status == CM_OK)
    return cm_file_commit(&file, error);
  cm_file_discard(&file);
  return status;
}

/* All views of a mapping or program that there are, into a folder. */
static cm_status fetch_folder(cli_server *server, cli_run *cli, const char *kind, const char *id, const view *views,
                              const char *folder, json_t *files, cm_error *error)
{
  if (cm_folder_make(folder, error) != CM_OK)
    return error->status;
  for (const view *v = views; v->path != NULL; v++) {
    char path[200], to[CM_PATH_MAX];
    (void)snprintf(path, sizeof path, "/v1/%s/%.64s/%s", kind, id, v->path);
    if (cm_path(to, error, "%s/%s", folder, v->file) != CM_OK)
      return error->status;
    cm_run_phase(&cli->run, v->file);
    cm_status status = fetch_file(server, cli, path, to, error);
    if (status == CM_OK)
      (void)json_array_append_new(files, json_string(to));
    else if (status != CM_NOT_FOUND) /* a program has not all of them */
      return status;
  }
  return CM_OK;
}

static cm_status fetch_network(cli_server *server, cli_run *cli, const arguments *a, const json_t *about, json_t *files, cm_error *error)
{
  char path[200], to[CM_PATH_MAX];
  const char *id = text_of(about, "id");
  bool model = strcmp(text_of(about, "format"), "onnx") == 0;
  if (a->output != NULL ? cm_path(to, error, "%s", cli_output(a->output)) != CM_OK
                        : cm_path(to, error, "%.16s.%s", id, model ? "onnx" : "zip") != CM_OK)
    return error->status;
  (void)snprintf(path, sizeof path, "/v1/networks/%.64s/content", id);
  cm_run_phase(&cli->run, "download");
  cm_status status = fetch_file(server, cli, path, to, error);
  if (status == CM_OK)
    (void)json_array_append_new(files, json_string(a->output != NULL ? a->output : to));
  return status;
}

static cm_status download_it(cli_server *server, cli_run *cli, const arguments *a, json_t *files, cm_error *error)
{
  static const char *const kinds[] = {"jobs", "mappings", "programs", "networks"};
  char path[200], id[80];
  cli_reply reply = {0};
  cm_status status = CM_NOT_FOUND;
  size_t k = 0;
  for (; k < sizeof kinds / sizeof *kinds && status == CM_NOT_FOUND; k++) {
    (void)snprintf(path, sizeof path, "/v1/%s/%.64s", kinds[k], a->words[0]);
    status = ask(server, "GET", path, NULL, &reply, error);
  }
  if (status == CM_NOT_FOUND)
    return cm_fail(error, CM_NOT_FOUND, "the server has no job, mapping, program or network %.64s", a->words[0]);
  if (status != CM_OK)
    return status;
  const char *kind = kinds[k - 1], *mapping = text_of(reply.json, "mapping"), *program = text_of(reply.json, "program");
  (void)snprintf(id, sizeof id, "%s", a->words[0]);
  if (strcmp(kind, "networks") == 0)
    status = fetch_network(server, cli, a, reply.json, files, error);
  else {
    if (strcmp(kind, "jobs") == 0 && mapping[0] == '\0' && program[0] == '\0')
      status = cm_fail(error, CM_CONFLICT, "job %s is %s and has made nothing (yet)", id, text_of(reply.json, "state"));
    else if (strcmp(kind, "jobs") == 0) {
      kind = mapping[0] != '\0' ? "mappings" : "programs";
      (void)snprintf(id, sizeof id, "%s", mapping[0] != '\0' ? mapping : program);
    }
    if (status == CM_OK)
      status = fetch_folder(server, cli, kind, id, strcmp(kind, "mappings") == 0 ? mapping_views : program_views,
                            a->output != NULL ? a->output : id, files, error);
  }
  json_decref(reply.json);
  return status;
}

static int download_step(cli_server *server, cli_run *cli, const arguments *a, cm_error *error)
{
  json_t *files = json_array(), *one;
  size_t i;
  cm_status status = download_it(server, cli, a, files, error);
  if (status == CM_OK && a->where.json) {
    json_t *told = json_pack("{s:O}", "files", files);
    cli_print_json(told);
    json_decref(told);
  } else if (status == CM_OK)
    json_array_foreach(files, i, one)
      puts(json_string_value(one));
  json_decref(files);
  return status == CM_OK ? EXIT_DONE : -1;
}

static int download(int argc, char **argv)
{
  arguments a = {0};
  int status = parse(&cli_command_download, argc, argv, 1, &a);
  if (status < 0 && !cli_is_id(a.words[0]))
    status = cli_usage("download", "\"%s\" is no id", a.words[0]);
  return status < 0 ? on_server(&a, download_step) : status;
}

/* ---- remap ---- */

/* The mapping that an id stands for, as the server describes it; the caller decrefs. */
static cm_status find_mapping(cli_server *server, const char *given, char id[80], json_t **about, cm_error *error)
{
  char path[120];
  cli_reply reply = {0};
  (void)snprintf(id, 80, "%.64s", given);
  (void)snprintf(path, sizeof path, "/v1/jobs/%s", id);
  if (ask(server, "GET", path, NULL, &reply, error) == CM_OK) {
    const char *mapping = text_of(reply.json, "mapping");
    if (mapping[0] == '\0')
      (void)cm_fail(error, CM_CONFLICT, "job %s is %s and has made no mapping", id, text_of(reply.json, "state"));
    (void)snprintf(id, 80, "%s", mapping);
    json_decref(reply.json);
    if (id[0] == '\0')
      return error->status;
  } else if (error->status != CM_NOT_FOUND)
    return error->status;
  (void)snprintf(path, sizeof path, "/v1/mappings/%s", id);
  if (ask(server, "GET", path, NULL, &reply, error) != CM_OK)
    return error->status;
  *about = reply.json;
  return CM_OK;
}

/* The job's options: those of the old mapping, then those that are given. */
static cm_status set_options(const arguments *a, const json_t *about, const char *id, cm_error *error)
{
  json_t *options = json_deep_copy(json_object_get(about, "options"));
  cm_map_options *parsed;
  if (options == NULL)
    return cm_fail(error, CM_BAD_MAPPING, "mapping %s says nothing of its options", id);
  (void)json_object_del(options, "compare");
  (void)json_object_update(options, a->options);
  (void)json_object_set_new(options, "from", json_string(id));
  (void)json_object_set_new(a->job, "options", options);
  if (cm_map_options_parse(options, &parsed, error) != CM_OK)
    return error->status;
  cm_map_options_free(parsed);
  return CM_OK;
}

static cm_status remap_job(cli_server *server, cli_run *cli, const arguments *a, cli_reply *job, cm_error *error)
{
  char id[80];
  json_t *about = NULL, *network = NULL;
  if (find_mapping(server, a->words[0], id, &about, error) != CM_OK)
    return error->status;
  const json_t *old = json_object_get(json_object_get(about, "network"), "id");
  const char *chip = a->chip != NULL ? a->chip : text_of(json_object_get(about, "chip"), "name");
  char name[200];
  (void)snprintf(name, sizeof name, "%s%s", a->name != NULL ? "" : "remap of ", a->name != NULL ? a->name : id);
  (void)json_object_set_new(a->job, "kind", json_string("map"));
  (void)json_object_set_new(a->job, "chip", json_string(chip));
  (void)json_object_set_new(a->job, "name", json_string(name));
  cm_status status = set_options(a, about, id, error);
  if (status == CM_OK && a->count == 2) {
    const cli_upload file = {cli_input(a->words[1]), a->words[1], NULL, json_string_value(json_object_get(a->job, "visibility"))};
    status = cli_upload_network(server, cli, &file, &network, error);
    old = json_object_get(network, "id");
  }
  if (status == CM_OK)
    (void)json_object_set(a->job, "network", (json_t *)(uintptr_t)old);
  json_decref(network);
  json_decref(about);
  const cli_request post = {.method = "POST", .path = "/v1/jobs", .body = a->job};
  return status == CM_OK ? cli_server_ask(server, &post, job, error) : status;
}

static int remap_step(cli_server *server, cli_run *cli, const arguments *a, cm_error *error)
{
  cli_reply job = {0};
  cm_status status = remap_job(server, cli, a, &job, error);
  if (status == CM_OK && a->wait)
    status = cli_follow(server, cli, job.etag, &job.json, error);
  int exit_status = status == CM_OK ? cli_print_job(job.json, a->where.json, a->wait) : -1;
  json_decref(job.json);
  return exit_status;
}

static int remap(int argc, char **argv)
{
  arguments a = {.options = json_object(), .job = json_object()};
  int status = parse(&cli_command_remap, argc, argv, 2, &a);
  if (status < 0 && !cli_is_id(a.words[0]))
    status = cli_usage("remap", "\"%s\" is no id", a.words[0]);
  if (status < 0 && json_object_get(a.options, "from") != NULL)
    status = cli_usage("remap", "the mapping to start from is named without --from");
  if (status < 0)
    status = on_server(&a, remap_step);
  json_decref(a.options);
  json_decref(a.job);
  return status;
}

const cli_command cli_command_log = {
  .name = "log", .what = "print the log of a server's job", .run = log_command, .server = true, .usage = "JOB [--follow] [--json]",
  .about = "Prints what a job has told so far.", .flags = log_flags};
const cli_command cli_command_rm = {
  .name = "rm", .what = "remove jobs, mappings, programs, networks or chips from a server", .run = rm, .server = true,
  .usage = "ID|CHIP... [--json]",
  .about = "Removes what has these ids or, of chips, names, one after another; it ends with the first that is not there or may not go.",
  .flags = rm_flags};
const cli_command cli_command_download = {
  .name = "download", .what = "get all files of a mapping or program, or a network", .run = download, .server = true,
  .usage = "ID [-o DIR|FILE] [--json] [--quiet]",
  .about = "Gets all that a mapping or program (or the one that a job made) has into a folder, file by file, or a network as a topology\n"
           "file, a model as ONNX. `coremap get` gets one view.",
  .flags = download_flags};
const cli_command cli_command_remap = {
  .name = "remap", .what = "map again on a server, from an earlier mapping", .run = remap, .reads = true, .server = true,
  .options = CLI_OPTIONS_MAP, .usage = "MAPPING|JOB [NETWORK|ID] [--chip NAME] [OPTION...]",
  .about = "Queues a job that starts from an earlier mapping (docs/remapping.md), after cores broke, say, or with NETWORK changed a\n"
           "little: what can stay stays. Options are those of that mapping where no flag says otherwise. Prints the job's id.",
  .flags = remap_flags};
