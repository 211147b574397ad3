/* coremap remap: a job of a server that starts from an earlier mapping. */

#include "cli/remote.h"
#include "cli/upload.h"

typedef struct arguments {
  cli_line line; /* its body is the job */
  const char *chip, *name;
} arguments;

static const cli_flag flags[] = {
  {"chip", "NAME", CLI_TEXT, "another chip of the server than before", CLI_AT(chip)},
  {"name", "TEXT", CLI_TEXT, "the job's name", CLI_AT(name)},
  {"reserve", NULL, CLI_BODY_VALUE, "lease the region's cores when the job is done"},
  {"priority", "N", CLI_BODY_VALUE, "-100 to 100, higher first"},
  CLI_VISIBILITY_FLAG,
  CLI_WAIT_FLAG,
  CLI_SERVER_FLAGS, CLI_JSON_FLAG, CLI_QUIET_FLAG, {0}};

static int check(void *given)
{
  const cli_line *line = given;
  return json_object_get(line->options, "from") == NULL ? -1 : cli_usage("remap", "the mapping to start from is named without --from");
}

/* The mapping that an id stands for, as the server describes it; the caller decrefs. */
static cm_status find_mapping(cli_server *server, const char *given, char id[80], json_t **about, cm_error *error)
{
  cli_reply reply = {0};
  (void)snprintf(id, 80, "%.64s", given);
  if (cli_ask(server, "GET", cm_say("/v1/jobs/%s", id).text, NULL, &reply, error) == CM_OK) {
    const char *mapping = cli_id(reply.json, "mapping");
    if (mapping[0] == '\0')
      (void)cm_fail(error, CM_CONFLICT, "job %s is %s and has made no mapping", id, cli_text(reply.json, "state"));
    (void)snprintf(id, 80, "%s", mapping);
    json_decref(reply.json);
    if (id[0] == '\0')
      return error->status;
  } else if (error->status != CM_NOT_FOUND)
    return error->status;
  CM_TRY(cli_ask(server, "GET", cm_say("/v1/mappings/%s", id).text, NULL, &reply, error));
  *about = reply.json;
  return CM_OK;
}

/* The job's options: those of the old mapping, which may be of the version before, then those that are given. */
static cm_status set_options(const arguments *a, const json_t *about, const char *id, cm_error *error)
{
  json_t *options = json_deep_copy(json_object_get(about, "options"));
  if (options == NULL)
    return cm_fail(error, CM_BAD_MAPPING, "mapping %s says nothing of its options", id);
  (void)json_object_set_new(a->line.body, "options", options);
  CM_TRY(library_options_rename("map", options, NULL, error));
  CM_TRY(cli_rename_options("map", a->line.options, error));
  (void)json_object_del(options, "baseline");
  (void)json_object_update(options, a->line.options);
  (void)json_object_set_new(options, "from", json_string(id));
  return cli_check_options("map", options, error);
}

static cm_status remap_job(cli_server *server, cli_run *cli, const arguments *a, cli_reply *job, cm_error *error)
{
  char id[80];
  json_t *about = NULL, *network = NULL;
  CM_TRY(find_mapping(server, a->line.words[0], id, &about, error));
  const json_t *old = json_object_get(json_object_get(about, "network"), "id");
  const char *chip = a->chip != NULL ? a->chip : cli_text(json_object_get(about, "chip"), "name");
  char name[200];
  (void)snprintf(name, sizeof name, "%s%s", a->name != NULL ? "" : "remap of ", a->name != NULL ? a->name : id);
  (void)json_object_set_new(a->line.body, "kind", json_string("map"));
  (void)json_object_set_new(a->line.body, "chip", json_string(chip));
  (void)json_object_set_new(a->line.body, "name", json_string(name));
  cm_status status = set_options(a, about, id, error);
  if (status == CM_OK && a->line.count == 2) {
    const cli_upload file = {cli_input(a->line.words[1]), a->line.words[1], NULL, json_string_value(json_object_get(a->line.body, "visibility"))};
    status = cli_upload_network(server, cli, &file, &network, error);
    old = json_object_get(network, "id");
  }
  if (status == CM_OK)
    (void)json_object_set(a->line.body, "network", (json_t *)(uintptr_t)old);
  json_decref(network);
  json_decref(about);
  return status == CM_OK ? cli_post_job(&a->line, server, job, error) : status;
}

static cm_status remap(void *given, coremap_client *server, cli_run *cli, json_t **report, cm_error *error)
{
  cli_reply job = {0};
  CM_TRY(remap_job(server, cli, given, &job, error));
  return cli_job_made(given, server, cli, &job, report, error);
}

const cli_command cli_command_remap = {
  .name = "remap", .what = "map again on a server, from an earlier mapping", .check = check, .ask = remap, .print = cli_print_job, .judge = cli_judge_job,
  .word = "id", .least = 1, .most = 2, .size = sizeof(arguments), .reads = true, .server = true,
  .options = CLI_OPTIONS_MAP, .usage = "MAPPING|JOB [NETWORK|ID] [--chip NAME] [OPTION...]",
  .about = "Queues a job that starts from an earlier mapping (docs/explanation/remapping.md), after cores broke, say, or with NETWORK changed a\n"
           "little: what can stay stays. Options are those of that mapping where no flag says otherwise. Prints the job's id.",
  .flags = flags};
