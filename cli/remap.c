/* coremap remap: a job of a server that starts from an earlier mapping. */

#include "cli/remote.h"
#include "cli/upload.h"

enum { CHIP = 1, NAME, WAIT, RESERVE, PRIORITY, VISIBILITY };

static const cli_flag flags[] = {
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
  const char *chip, *name;
  json_t *options, *job;
  bool wait;
} arguments;

/* Negative: go on. */
static int parse(int argc, char **argv, arguments *a)
{
  for (int flag; (flag = cli_next(&cli_command_remap, argc, argv)) != -1;)
    switch (flag) {
    case CHIP: a->chip = optarg; break;
    case NAME: a->name = optarg; break;
    case WAIT: a->wait = true; break;
    case VISIBILITY:
      if (!cli_is_visibility(optarg))
        return cli_usage("remap", "--visibility is \"%s\"; it must be lab, group or private", optarg);
      (void)json_object_set_new(a->job, "visibility", json_string(optarg));
      break;
    case RESERVE: (void)json_object_set_new(a->job, "reserve", json_true()); break;
    case PRIORITY: (void)json_object_set_new(a->job, "priority", cli_option_value(optarg)); break;
    case CLI_TAKES_OPTION:
      if (!cli_option_set(a->options, cli_taken(), optarg))
        return cli_usage("remap", "--%s \"%s\" is not text", cli_taken(), optarg);
      break;
    default:
      if (!cli_where_take(&a->where, flag))
        return cli_ended(flag);
    }
  a->words = argv + optind;
  a->count = argc - optind;
  if (a->count == 0 || a->count > 2)
    return cli_usage("remap", a->count == 0 ? "no id is named" : "at most a mapping and a network can be named");
  if (!cli_is_id(a->words[0]))
    return cli_usage("remap", "\"%s\" is no id", a->words[0]);
  return json_object_get(a->options, "from") == NULL ? -1 : cli_usage("remap", "the mapping to start from is named without --from");
}

/* The mapping that an id stands for, as the server describes it; the caller decrefs. */
static cm_status find_mapping(cli_server *server, const char *given, char id[80], json_t **about, cm_error *error)
{
  char path[120];
  cli_reply reply = {0};
  (void)snprintf(id, 80, "%.64s", given);
  (void)snprintf(path, sizeof path, "/v1/jobs/%s", id);
  if (cli_ask(server, "GET", path, NULL, &reply, error) == CM_OK) {
    const char *mapping = cli_id(reply.json, "mapping");
    if (mapping[0] == '\0')
      (void)cm_fail(error, CM_CONFLICT, "job %s is %s and has made no mapping", id, cli_text(reply.json, "state"));
    (void)snprintf(id, 80, "%s", mapping);
    json_decref(reply.json);
    if (id[0] == '\0')
      return error->status;
  } else if (error->status != CM_NOT_FOUND)
    return error->status;
  (void)snprintf(path, sizeof path, "/v1/mappings/%s", id);
  CM_TRY(cli_ask(server, "GET", path, NULL, &reply, error));
  *about = reply.json;
  return CM_OK;
}

/* The job's options: those of the old mapping, which may be of the version before, then those that are given. */
static cm_status set_options(const arguments *a, const json_t *about, const char *id, cm_error *error)
{
  json_t *options = json_deep_copy(json_object_get(about, "options"));
  if (options == NULL)
    return cm_fail(error, CM_BAD_MAPPING, "mapping %s says nothing of its options", id);
  (void)json_object_set_new(a->job, "options", options);
  CM_TRY(library_options_rename("map", options, NULL, error));
  CM_TRY(cli_rename_options("map", a->options, error));
  (void)json_object_del(options, "baseline");
  (void)json_object_update(options, a->options);
  (void)json_object_set_new(options, "from", json_string(id));
  return cli_check_options("map", options, error);
}

static cm_status remap_job(cli_server *server, cli_run *cli, const arguments *a, cli_reply *job, cm_error *error)
{
  char id[80];
  json_t *about = NULL, *network = NULL;
  CM_TRY(find_mapping(server, a->words[0], id, &about, error));
  const json_t *old = json_object_get(json_object_get(about, "network"), "id");
  const char *chip = a->chip != NULL ? a->chip : cli_text(json_object_get(about, "chip"), "name");
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
  return status == CM_OK ? library_client_ask(server, &post, job, error) : status;
}

static int remap_step(cli_server *server, cli_run *cli, const void *given, cm_error *error)
{
  const arguments *a = given;
  cli_reply job = {0};
  return remap_job(server, cli, a, &job, error) == CM_OK ? cli_tell_job(server, cli, &job, &a->where, a->wait, error) : -1;
}

static int remap(int argc, char **argv)
{
  arguments a = {.options = json_object(), .job = json_object()};
  int status = parse(argc, argv, &a);
  if (status < 0)
    status = cli_on_server(&a.where, remap_step, &a);
  json_decref(a.options);
  json_decref(a.job);
  return status;
}

const cli_command cli_command_remap = {
  .name = "remap", .what = "map again on a server, from an earlier mapping", .run = remap, .reads = true, .server = true,
  .options = CLI_OPTIONS_MAP, .usage = "MAPPING|JOB [NETWORK|ID] [--chip NAME] [OPTION...]",
  .about = "Queues a job that starts from an earlier mapping (docs/explanation/remapping.md), after cores broke, say, or with NETWORK changed a\n"
           "little: what can stay stays. Options are those of that mapping where no flag says otherwise. Prints the job's id.",
  .flags = flags};
