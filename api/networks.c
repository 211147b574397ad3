/* /v1/networks: upload, list, describe, give back, delete.
 *
 * Upload, happy path: the file has arrived whole and hashed; when its hash is unknown it is read by core/network,
 * written as a topology file beside (daemon/job/import.c), and published with its row. What can fail: the file (400 with the place), its
 * size (413), the disk (507), memory (503); in each case nothing is stored. */
#include <sodium.h>
#include <unistd.h>

#include "api/handlers.h"
#include "base/json.h"
#include "library/private/base.h"
#include "storage/derive.h"

/* Beside the formats of networks. */
#define MODEL_FORMAT "onnx"

/* Without its id, owner and labels. */
static json_t *network_json(const cm_network *n)
{
  return json_pack("{s:s, s:s, s:s, s:b, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:I, s:I, s:I, s:b, s:{s:I, s:I, s:I, s:I}, s:o}", "sha256",
                   n->sha256, "name", n->name, "format", n->format, "gzipped", n->gzipped, "directed", n->directed, "neurons",
                   (json_int_t)n->neurons, "hyperedges", (json_int_t)n->hyperedges, "synapses", (json_int_t)n->synapses, "operators", (json_int_t)n->operators, "bytes", (json_int_t)n->bytes,
                   "plain_bytes", (json_int_t)n->plain_bytes, "named", n->named, "inputs", (json_int_t)n->inputs,
                   "inhibitory", (json_int_t)n->inhibitory, "populations", (json_int_t)n->populations, "delays", n->delays, "report", "duplicates",
                   (json_int_t)n->duplicates, "self_loops", (json_int_t)n->self_loops, "empty_nets",
                   (json_int_t)n->empty_nets, "zeros", (json_int_t)n->zeros, "created", cm_time_json(n->created));
}

void cm_network_write(cm_writer *w, const cm_request *request, const char *id)
{
  cm_error ignored;
  cm_network network;
  const char *name;
  json_t *body = cm_networks_get(request->store, id, &network, &ignored) == CM_OK ? network_json(&network) : NULL, *value;
  json_object_foreach(body, name, value) {
    char *text = cm_json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    if (text != NULL)
      cm_write_json(w, name, text);
    free(text);
  }
  json_decref(body);
}

/* The whole, with what was understood of its file, where that is known. */
static json_t *whole_network_json(const cm_network *n)
{
  json_t *body = json_pack("{s:s}", "id", n->id), *more = network_json(n);
  (void)json_object_update(body, more);
  json_decref(more);
  cm_owner_add(body, &n->owner);
  (void)json_object_set_new(body, "labels", cm_labels_json(n->labels));
  json_t *reading = n->reading[0] != '\0' ? cm_json_loadb(n->reading, strlen(n->reading), 0, NULL) : NULL;
  if (reading != NULL)
    (void)json_object_set_new(body, "reading", reading);
  return body;
}

/* With its labels as the caller has or sees them; false: the reply is set. */
static bool label(cm_request *request, cm_network *network)
{
  return cm_reply_ok(request, cm_labels_get(request->store, CM_OBJECT_NETWORK, network->id, &request->viewer, network->labels, &request->error));
}

/* The labels that a query gives to what is uploaded, "" where it gives none; false: the reply is set. */
static bool wanted_labels(cm_request *request, char labels[CM_LABELS_MAX])
{
  const char *text = cm_request_query(request, "label");
  labels[0] = '\0';
  if (text == NULL || cm_labels_parse(text, labels, &request->error) == CM_OK)
    return true;
  return cm_reply_error(request, &request->error);
}

static void reply_network(cm_request *request, unsigned status, cm_network *network)
{
  char labels[CM_LABELS_MAX];
  if (!wanted_labels(request, labels))
    return;
  if (labels[0] != '\0' && cm_labels_put(request->store, CM_OBJECT_NETWORK, network->id, &request->viewer, labels, &request->error) != CM_OK) {
    cm_reply_error(request, &request->error);
    return;
  }
  if (!label(request, network))
    return;
  cm_reply_json(request, status, whole_network_json(network));
  cm_reply_location(request, "/v1/networks/%s", network->id);
}

/* The format that a query names, "" when it names none; false when there is no such, and the reply is made. */
static bool wanted_format(cm_request *request, const char **format)
{
  char names[400];
  const char *named = cm_request_query(request, "format");
  *format = named != NULL ? named : "";
  const uint64_t refusals = cm_json_refusals();
  json_t *row = named == NULL || strcmp(named, MODEL_FORMAT) == 0 ? json_true() : library_row("formats", named);
  if (row == NULL && cm_json_refusals() != refusals)
    cm_reply_json(request, 200, NULL); /* no memory to know it by */
  else if (row == NULL)
    CM_REPLY_BAD(request, "format must be one of %s, %s, not \"%.40s\"", library_names("formats", ", ", names, sizeof names),
                 MODEL_FORMAT, named);
  json_decref(row);
  return row != NULL;
}

/* Reads a file in and stores it as a network, which is read back. */
static cm_status import(cm_request *request, const char *path, const cm_network_table *table, cm_network *network, bool *there,
                        cm_error *error)
{
  char scratch[CM_PATH_MAX], id[CM_ID_MAX];
  cm_network stored;
  const cm_server_options *o = &request->server->options;
  cm_store_id(id);
  CM_TRY(cm_path(scratch, error, "%s/incoming/%s.zip", request->store->folder, id));
  const cm_network_source source = {path, table, scratch, cm_server_limits_now(request->server).memory_limit, &request->server->stopping};
  cm_status status = o->import(o->user, &source, network, error);
  if (status == CM_OK) {
    status = cm_networks_publish(request->store, network, scratch, there, error);
    (void)unlink(scratch); /* gone already unless publishing failed */
  }
  CM_THEN(status, cm_networks_known(request->store, network->sha256, &network->owner, &stored, error));
  CM_END(status, *network = stored, );
}

/* How a query says that the bytes are to be read, as JSON with its names in order, "" when it says nothing; false when an
 * option has no such value, and the reply is made. */
static bool wanted_options(cm_request *request, char text[CM_READ_AS_MAX])
{
  const uint64_t refusals = cm_json_refusals();
  json_t *options = json_object(), *known = library_table("reading");
  const json_t *row;
  size_t i;
  json_array_foreach(known, i, row) {
    const char *name = json_string_value(json_object_get(row, "name"));
    const char *value = json_is_true(json_object_get(row, "file")) ? NULL : cm_request_query(request, name);
    if (value != NULL)
      (void)json_object_set_new(options, name, json_string(value));
  }
  json_decref(known);
  if (cm_json_refusals() != refusals) {
    json_decref(options);
    cm_reply_json(request, 200, NULL);
    return false;
  }
  char *given = json_object_size(options) > 0 ? cm_json_dumps(options, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
  json_decref(options);
  coremap_error *wrong = NULL;
  bool right = given == NULL || coremap_options_read("read", given, NULL, NULL, &wrong) == 0,
       fits = given == NULL || strlen(given) < CM_READ_AS_MAX;
  (void)snprintf(text, CM_READ_AS_MAX, "%s", given != NULL ? given : "");
  free(given);
  if (!right || !fits)
    CM_REPLY_BAD(request, "%s", !right ? coremap_error_detail(wrong) : "columns is too long");
  coremap_error_free(wrong);
  return right && fits;
}

/* The bytes are there: they are this user's too from now on. */
static void reply_known(cm_request *request, cm_network *known)
{
  if (cm_reply_ok(request, cm_networks_join(request->store, known->id, request->who.user, &request->error)))
    reply_network(request, 200, known);
}

/* One that has been read in; another may have been faster with the same bytes. */
static void reply_made(cm_request *request, bool there, cm_network *network)
{
  if (there)
    reply_known(request, network);
  else
    reply_network(request, 201, network);
}

cm_status cm_import_upload(cm_request *request, const cm_import_file *file)
{
  const char *format;
  char read_as[CM_READ_AS_MAX], labels[CM_LABELS_MAX];
  if (!wanted_format(request, &format) || !wanted_options(request, read_as) || !wanted_labels(request, labels))
    return CM_BAD_REQUEST;
  cm_network network = {.bytes = file->bytes, .created = cm_store_time(), .owner = file->owner}, known;
  bool there = false;
  (void)snprintf(network.sha256, sizeof network.sha256, "%s", file->sha256);
  (void)snprintf(network.name, sizeof network.name, "%s", file->name);
  (void)snprintf(network.format, sizeof network.format, "%s", format);
  (void)snprintf(network.read_as, sizeof network.read_as, "%s", read_as);
  cm_networks_id(network.sha256, &network.owner, network.id);
  /* Only among what the same people see: the same bytes of others are read anew, and so show nowhere. */
  cm_status status = cm_networks_known(request->store, network.sha256, &network.owner, &known, &request->error);
  if (status == CM_OK) {
    bool as_read = read_as[0] == '\0' || strcmp(read_as, known.read_as) == 0;
    if ((format[0] == '\0' || strcmp(format, known.format) == 0) && as_read) {
      reply_known(request, &known);
      return CM_OK;
    }
    cm_reply_problem(request, 409, "conflict", "The state of a thing forbids the change",
                     "these bytes are network %s already, read as %s%s%s: to read them %s%s, delete it first", known.id,
                     known.format, known.read_as[0] != '\0' ? " with " : "", known.read_as,
                     as_read ? "as " : "with ", as_read ? format : read_as);
    return CM_CONFLICT;
  }
  if (status == CM_NOT_FOUND)
    status = import(request, file->path, NULL, &network, &there, &request->error);
  if (status == CM_OK)
    reply_made(request, there, &network);
  else if (status == CM_CANCELLED) /* nobody else stops the reading of a file */
    cm_reply_problem(request, 503, "draining", "The server is going down", "nothing new is accepted; try again soon");
  else {
    atomic_fetch_add(&request->server->counters.imports_failed, 1);
    cm_reply_error(request, &request->error);
  }
  return status;
}

void cm_post_network(cm_request *request)
{
  const char *name = cm_request_query(request, "name");
  if (name != NULL && !cm_text_is_sound(name, CM_NAME_MAX)) {
    CM_REPLY_BAD(request, "name must be UTF-8 without control characters, of at most %d bytes", CM_NAME_MAX - 1);
    return;
  }
  cm_import_file file = {.path = request->file_path, .sha256 = request->file_sha, .name = name != NULL ? name : "",
                         .bytes = request->file_bytes};
  if (cm_access_owner(request, cm_request_query(request, "visibility"), &file.owner))
    (void)cm_import_upload(request, &file);
}

static bool find(cm_request *request, cm_network *network)
{
  return cm_reply_ok(request, cm_networks_get(request->store, request->param[0], network, &request->error));
}

/* The same network with a table is another: its bytes, as it were, are the hashes of both files one after the other, and the table's name before
 * them where it is not the first kind that there was. */
static void hash_of_both(const char *network, const char *option, const char *sha, char hex[CM_SHA_MAX])
{
  unsigned char digest[crypto_hash_sha256_BYTES];
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  if (strcmp(option, "rates") != 0)
    crypto_hash_sha256_update(&state, (const unsigned char *)option, strlen(option));
  crypto_hash_sha256_update(&state, (const unsigned char *)network, CM_SHA_MAX - 1);
  crypto_hash_sha256_update(&state, (const unsigned char *)sha, CM_SHA_MAX - 1);
  crypto_hash_sha256_final(&state, digest);
  sodium_bin2hex(hex, CM_SHA_MAX, digest, sizeof digest);
}

/* Makes another network of one and the table in the body. */
static void add_table(cm_request *request, const char *option)
{
  cm_network base, network, known;
  char path[CM_PATH_MAX];
  bool there = false;
  const char *asked = cm_request_query(request, "visibility");
  if (!find(request, &base))
    return;
  if (strcmp(base.format, MODEL_FORMAT) == 0) {
    cm_reply_problem(request, 409, "conflict", "The state of a thing forbids the change",
                     "network %s is an operator-level model: it has no neurons that %s are of", base.id, option);
    return;
  }
  network = base;
  network.sequence = 0;
  network.created = cm_store_time();
  network.bytes = base.bytes + request->file_bytes;
  (void)snprintf(network.format, sizeof network.format, "topology");
  if (!cm_access_owner(request, asked, &network.owner))
    return;
  if (!cm_reply_ok(request, cm_owner_derive(&network.owner, asked != NULL, &base.owner, &request->error)))
    return;
  (void)snprintf(network.read_as, sizeof network.read_as, "{\"%s\":\"%s\"}", option, request->file_sha);
  hash_of_both(base.sha256, option, request->file_sha, network.sha256);
  cm_networks_id(network.sha256, &network.owner, network.id);
  cm_status status = cm_networks_known(request->store, network.sha256, &network.owner, &known, &request->error);
  if (status == CM_OK) {
    reply_known(request, &known);
    return;
  }
  if (status == CM_NOT_FOUND)
    status = cm_networks_path(request->store, base.id, path, &request->error);
  const cm_network_table table = {option, request->file_path};
  CM_THEN(status, import(request, path, &table, &network, &there, &request->error));
  if (status == CM_OK)
    reply_made(request, there, &network);
  else {
    atomic_fetch_add(&request->server->counters.imports_failed, 1);
    cm_reply_error(request, &request->error);
  }
}

void cm_post_network_rates(cm_request *request)
{
  add_table(request, "rates");
}

void cm_post_network_parameters(cm_request *request)
{
  add_table(request, "parameters");
}

void cm_get_network(cm_request *request)
{
  cm_network network;
  char tag[CM_SHA_MAX + 12], hash[CM_SHA_MAX];
  if (!find(request, &network) || !label(request, &network))
    return;
  cm_store_sha256(network.labels, strlen(network.labels), hash); /* all else never changes */
  (void)snprintf(tag, sizeof tag, "%s%s%.8s", network.id, network.labels[0] != '\0' ? "-" : "", network.labels[0] != '\0' ? hash : "");
  if (!cm_reply_unchanged(request, tag)) {
    cm_reply_json(request, 200, whole_network_json(&network));
    cm_reply_header(request, "ETag", "\"%s\"", tag);
  }
}

void cm_get_network_content(cm_request *request)
{
  cm_network network;
  char path[CM_PATH_MAX];
  if (!find(request, &network))
    return;
  if (!cm_reply_ok(request, cm_networks_path(request->store, network.id, path, &request->error)))
    return;
  bool model = strcmp(network.format, MODEL_FORMAT) == 0;
  cm_reply_file(request, path, model ? "application/octet-stream" : "application/zip", network.id, "");
  cm_reply_header(request, "Content-Disposition", "attachment; filename=\"%.16s.%s\"", network.id,
                  model ? "onnx" : "zip");
}

void cm_delete_network(cm_request *request)
{
  cm_network network;
  if (find(request, &network))
    cm_request_delete(request, CM_OBJECT_NETWORK, network.id);
}
