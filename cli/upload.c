#include "cli/upload.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/remote.h"
#include "library/private/stored.h"

enum { SPIKES_BYTES_MAX = 1 << 20 };

const char *cli_base_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

cm_status cli_read_spikes(const char *path, json_t *options, cm_error *error)
{
  char *text;
  size_t size;
  if (path == NULL)
    return CM_OK;
  CM_TRY(cm_file_read(path, SPIKES_BYTES_MAX, &text, &size, error));
  json_t *spikes = json_stringn(text, size);
  free(text);
  return spikes != NULL && json_object_set_new(options, "spikes", spikes) == 0
           ? CM_OK : cm_fail(error, CM_BAD_OPTION, "--input %s is no text of lines STEP,NEURON", path);
}

/* Adds the options for reading to a path that has a query; false: no room. */
static bool add_read_options(cli_server *server, char *path, size_t size)
{
  const json_t *option;
  size_t i;
  json_array_foreach(cli_table("reading"), i, option) {
    const char *name = cli_text(option, "name"), *value = cli_read_option(name);
    if (value == NULL || json_is_true(json_object_get(option, "file")))
      continue;
    char *segment = library_client_segment(server, value);
    size_t used = strlen(path);
    bool fits = segment != NULL && snprintf(path + used, size - used, "&%s=%s", name, segment) < (int)(size - used);
    free(segment);
    if (!fits)
      return false;
  }
  return true;
}

static const char *text_of(const json_t *object, const char *name)
{
  const char *text = json_string_value(json_object_get(object, name));
  return text != NULL ? text : "";
}

/* Whether one may take a network for one's own: it is the lab's, or one has sent it oneself. Others show what they have to
 * those who run the server, who do not send it for them. */
static bool is_ours(cli_server *server, const json_t *network)
{
  cm_error ignored;
  cli_reply me = {0};
  if (strcmp(text_of(network, "visibility"), "lab") == 0)
    return true;
  bool ours = cli_ask(server, "GET", "/v1/me", NULL, &me, &ignored) == CM_OK && strcmp(text_of(me.json, "user"), text_of(network, "user")) == 0;
  json_decref(me.json);
  return ours;
}

/* A network with these bytes that the server has and shows; NULL: none, or it cannot tell. */
static json_t *find_by_hash(cli_server *server, const cli_upload *what)
{
  char sha256[65];
  uint64_t bytes;
  cm_error ignored;
  cli_reply reply = {0};
  json_t *found = NULL, *one;
  size_t i;
  const json_t *option;
  json_array_foreach(cli_table("reading"), i, option)
    if (cli_read_option(cli_text(option, "name")) != NULL && !json_is_true(json_object_get(option, "file")))
      return NULL; /* the same bytes, read otherwise, are another network */
  if (cm_file_hash(what->path, sha256, &bytes, &ignored) != CM_OK)
    return NULL;
  if (cli_ask(server, "GET", cm_say("/v1/networks?sha256=%s", sha256).text, NULL, &reply, &ignored) != CM_OK)
    return NULL;
  json_array_foreach(json_object_get(reply.json, "networks"), i, one)
    if (found == NULL && (what->format == NULL || strcmp(what->format, text_of(one, "format")) == 0) &&
        (what->visibility == NULL || strcmp(what->visibility, text_of(one, "visibility")) == 0) && is_ours(server, one))
      found = json_incref(one);
  json_decref(reply.json);
  return found;
}

static cm_status send_file(cli_server *server, cli_run *cli, const cli_upload *what, json_t **network, cm_error *error)
{
  char path[512];
  cli_reply reply = {0};
  FILE *file = fopen(what->path, "rb");
  char *name = library_client_segment(server, cli_base_name(what->name)),
       *format = library_client_segment(server, what->format != NULL ? what->format : "");
  cm_status status = CM_OK;
  if (file == NULL)
    status = cm_fail_errno(error, errno, "cannot open", what->path);
  else if (name == NULL || format == NULL ||
           snprintf(path, sizeof path, "/v1/networks?name=%s%s%s%s%s", name, what->format != NULL ? "&format=" : "", format,
                    what->visibility != NULL ? "&visibility=" : "", what->visibility != NULL ? what->visibility : "") >=
             (int)sizeof path)
    status = cm_fail(error, CM_BAD_REQUEST, "the file name %s is too long for a request", what->path);
  else if (!add_read_options(server, path, sizeof path))
    status = cm_fail(error, CM_BAD_REQUEST, "the options for reading %s are too long", what->path);
  else {
    cm_run_phase(&cli->run, "upload");
    status = library_client_ask(server, &(cli_request){.method = "POST", .path = path, .upload = file, .run = &cli->run}, &reply, error);
  }
  free(name);
  free(format);
  if (file != NULL)
    (void)fclose(file);
  if (status == CM_OK)
    *network = reply.json;
  return status;
}

/* The network with the table that an option of reading names, if it is given: another one. */
static cm_status send_table(cli_server *server, cli_run *cli, const char *option, json_t **network, cm_error *error)
{
  cli_reply reply = {0};
  const char *table = cli_read_option(option);
  if (table == NULL)
    return CM_OK;
  FILE *file = fopen(cli_input(table), "rb");
  if (file == NULL)
    return cm_fail_errno(error, errno, "cannot open", table);
  cm_run_phase(&cli->run, "upload");
  cm_status status = library_client_ask(server, &(cli_request){.method = "POST", .path = cm_say("/v1/networks/%.100s/%s", text_of(*network, "id"), option).text, .upload = file, .run = &cli->run}, &reply, error);
  (void)fclose(file);
  if (status != CM_OK)
    return status;
  json_decref(*network);
  *network = reply.json;
  return CM_OK;
}

static cm_status upload_network(cli_server *server, cli_run *cli, const cli_upload *what, json_t **network, cm_error *error)
{
  if (access(what->path, F_OK) != 0 && cli_is_id(what->path)) {
    cli_reply reply = {0};
    CM_TRY(cli_ask(server, "GET", cm_say("/v1/networks/%.400s", what->path).text, NULL, &reply, error));
    *network = reply.json;
    return CM_OK;
  }
  if (access(what->path, R_OK) != 0)
    return cm_fail_errno(error, errno, "cannot open", what->path);
  *network = find_by_hash(server, what);
  if (*network == NULL)
    return send_file(server, cli, what, network, error);
  if (!cli->quiet)
    cli_printf(stderr, "%s is on the server already: nothing is sent\n", what->name);
  return CM_OK;
}

cm_status cli_upload_network(cli_server *server, cli_run *cli, const cli_upload *what, json_t **network, cm_error *error)
{
  json_t *made = NULL;
  CM_TRY(upload_network(server, cli, what, &made, error));
  CM_TRY_OR(send_table(server, cli, "rates", &made, error), json_decref(made));
  CM_END(send_table(server, cli, "parameters", &made, error), *network = made, json_decref(made));
}

cm_status cli_run_errand(cli_server *server, cli_run *cli, const cli_upload *file, const cli_errand *errand, json_t **job, cm_error *error)
{
  cli_reply reply = {0};
  json_t *network;
  CM_TRY(cli_upload_network(server, cli, file, &network, error));
  json_t *body = json_pack("{s:s, s:O, s:s*, s:O, s:s}", "kind", errand->kind, "network", json_object_get(network, "id"), "chip", errand->chip, "options",
                           errand->options, "name", cli_base_name(file->name));
  cm_status status = cm_whole(body != NULL, "a job", error);
  CM_THEN(status, library_client_ask(server, &(cli_request){.method = "POST", .path = "/v1/jobs", .body = body}, &reply, error));
  json_decref(body);
  json_decref(network);
  CM_THEN(status, cli_follow(server, cli, reply.etag, &reply.json, error));
  if (status == CM_OK && strcmp(cli_text(reply.json, "state"), "done") != 0)
    status = cm_fail(error, CM_CONFLICT, "job %s %s: %s", cli_text(reply.json, "id"), strcmp(cli_text(reply.json, "state"), "failed") == 0 ? "failed" : "was cancelled",
                     cli_text(json_object_get(reply.json, "problem"), "detail"));
  CM_THEN_IF(status, cli_id(reply.json, "program")[0] == '\0', cm_fail(error, CM_IO, "the server's answer has no id of what was made"));
  CM_END(status, *job = reply.json, json_decref(reply.json));
}

/* ---- uploads that jobs name ---- */

static cm_status send_bytes(cli_server *server, cli_run *cli, FILE *file, const char *of, char upload[80], cm_error *error)
{
  cli_reply reply = {0};
  struct stat about;
  if (fstat(fileno(file), &about) != 0)
    return cm_fail_errno(error, errno, "cannot read", of);
  json_t *body = json_pack("{s:s, s:I}", "name", of, "size", (json_int_t)about.st_size);
  cm_status status = cm_whole(body != NULL, "an upload", error);
  cm_run_phase(&cli->run, "upload");
  CM_THEN(status, library_client_ask(server, &(cli_request){.method = "POST", .path = "/v1/uploads", .body = body}, &reply, error));
  json_decref(body);
  if (status != CM_OK)
    return status;
  (void)snprintf(upload, 80, "%s", cli_id(reply.json, "id"));
  json_decref(reply.json);
  cli_reply sent = {0};
  status = upload[0] != '\0' ? library_client_ask(server, &(cli_request){.method = "PATCH", .path = cm_say("/v1/uploads/%s?of=%s", upload, of).text, .upload = file, .offset = "0", .run = &cli->run}, &sent, error) : cm_fail(error, CM_IO, "the server's answer has no id of the upload");
  json_decref(sent.json);
  if (status != CM_OK)
    cli_drop_upload(server, upload);
  return status;
}

cm_status cli_send_upload(cli_server *server, cli_run *cli, const char *path, const char *of, char upload[80], cm_error *error)
{
  char folder[CM_PATH_MAX] = "", packed[CM_PATH_MAX] = "";
  struct stat about;
  cm_error ignored;
  cm_status status = stat(path, &about) == 0 ? CM_OK : cm_fail_errno(error, errno, "cannot read", path);
  if (status == CM_OK && S_ISDIR(about.st_mode)) {
    status = cm_folder_scratch(folder, error);
    CM_THEN(status, cm_path(packed, error, "%s/samples.zip", folder));
    CM_THEN(status, library_status(library_samples_pack(path, packed, &cli_why), &cli_why, error));
  }
  FILE *file = status == CM_OK ? fopen(packed[0] != '\0' ? packed : path, "rbe") : NULL;
  CM_THEN_IF(status, file == NULL, cm_fail_errno(error, errno, "cannot open", path));
  CM_THEN(status, send_bytes(server, cli, file, of, upload, error));
  if (file != NULL)
    (void)fclose(file);
  if (folder[0] != '\0')
    (void)cm_folder_remove(folder, &ignored);
  return status;
}

void cli_drop_upload(cli_server *server, const char *upload)
{
  cm_error ignored;
  cli_reply reply = {0};
  if (upload[0] != '\0' && cli_ask(server, "DELETE", cm_say("/v1/uploads/%s", upload).text, NULL, &reply, &ignored) == CM_OK)
    json_decref(reply.json);
}
