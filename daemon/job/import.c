/* Kind import: a file of any format that is read in, our own file or a model that has been read to its end out. */
#include <coremap/network.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/json.h"
#include "daemon/job/work_parts.h"

static cm_status tell_model(cm_work *w, uint64_t operators, cm_error *error)
{
  return cm_work_tell(w, "import", json_pack("{s:s, s:b, s:I}", "format", "onnx", "directed", 1, "operators",
                                             (json_int_t)operators), error);
}

/* An operator-level model is kept as it came, once it has been read to its end. */
static cm_status keep_model(cm_work *w, const char *path, cm_error *error)
{
  uint64_t operators;
  coremap_error *wrong = NULL;
  CM_TRY(library_status(library_model_read(path, library_on_run, &w->run, &operators, &wrong), &wrong, error));
  int file = open(path, O_RDONLY | O_CLOEXEC);
  bool lasts = file >= 0 && fdatasync(file) == 0;
  int why = errno;
  if (file >= 0)
    (void)close(file);
  if (!lasts)
    return cm_fail_errno(error, why, "cannot keep", path);
  return tell_model(w, operators, error);
}

/* What is told of a network, in the order of the server's own description. */
static cm_status tell_network(cm_work *w, const coremap_network *network, cm_error *error)
{
  static const char *const plain[] = {"format", "gzipped", "directed", "labels", "plain_bytes", "neurons", "hyperedges", "synapses", NULL},
                           *const merged[] = {"duplicates", "self_loops", "empty_nets", "zeros", NULL};
  char *text;
  coremap_error *why = NULL;
  CM_TRY(library_status(coremap_network_about(network, 0, &text, &why), &why, error));
  const uint64_t refusals = cm_json_refusals();
  json_t *about = library_json(text), *told = json_object();
  for (const char *const *name = plain; *name != NULL; name++)
    (void)json_object_set(told, *name, json_object_get(about, *name));
  for (const char *const *name = merged; *name != NULL; name++)
    (void)json_object_set(told, *name, json_object_get(json_object_get(about, "report"), *name));
  (void)json_object_set(told, "inputs", json_object_get(about, "inputs"));
  (void)json_object_set(told, "inhibitory", json_object_get(about, "inhibitory"));
  (void)json_object_set_new(told, "populations", json_integer((json_int_t)json_array_size(json_object_get(about, "populations"))));
  (void)json_object_set(told, "reading", json_object_get(about, "reading"));
  (void)json_object_set(told, "delays", json_object_get(about, "delays"));
  json_decref(about);
  if (cm_json_whole(refusals, "what the network is", error) == CM_OK)
    return cm_work_tell(w, "import", told, error);
  json_decref(told);
  return error->status;
}

/* Whether the network came with a table of that name. */
static bool table_beside(const cm_work *w, const char *name, char path[CM_PATH_MAX])
{
  char inner[64];
  cm_error ignored;
  (void)snprintf(inner, sizeof inner, "in/%.60s", name);
  return cm_work_path(w, inner, path, &ignored) == CM_OK && access(path, F_OK) == 0;
}

/* How the file is to be read: this process is confined already where its format asks for it. */
static cm_status make_options(const cm_work *w, char **text, cm_error *error)
{
  char path[CM_PATH_MAX];
  const json_t *row, *read = json_object_get(w->job.options, "read");
  const uint64_t refusals = cm_json_refusals();
  json_t *options = json_is_object(read) ? json_copy((json_t *)(uintptr_t)read) : json_object(), *known = library_table("reading");
  static const char *const names[] = {"format", "name"};
  for (size_t n = 0; n < sizeof names / sizeof *names; n++)
    if (json_object_get(w->job.options, names[n]) != NULL)
      (void)json_object_set(options, names[n], json_object_get(w->job.options, names[n]));
  size_t i;
  json_array_foreach(known, i, row) {
    const char *name = json_string_value(json_object_get(row, "name"));
    if (json_is_true(json_object_get(row, "file")) && table_beside(w, name, path))
      (void)json_object_set_new(options, name, json_string(path));
  }
  json_decref(known);
  (void)json_object_set_new(options, "id", json_false());
  (void)json_object_set_new(options, "confined", json_true());
  if (cm_json_whole(refusals, "how the file is to be read", error) == CM_OK)
    return cm_work_text(options, text, error);
  json_decref(options);
  return error->status;
}

static cm_status import(cm_work *w, const char *path, coremap_network **network, cm_error *error)
{
  char *options;
  coremap_error *why = NULL;
  CM_TRY(make_options(w, &options, error));
  cm_status status = library_status(coremap_network_read(path, options, library_on_run, &w->run, network, &why), &why, error);
  free(options);
  return status;
}

cm_status cm_work_import(cm_work *work, cm_error *error)
{
  coremap_network *network;
  coremap_error *wrong = NULL;
  cm_error why;
  char path[CM_PATH_MAX];
  unsigned looks = 0;
  work->memory.limit_bytes = work->job.memory_limit;
  CM_TRY(cm_work_path(work, CM_WORK_NETWORK, path, error));
  const char *format = json_string_value(json_object_get(work->job.options, "format"));
  const bool told = format != NULL && format[0] != '\0';
  CM_TRY(library_status(coremap_look(path, format, &looks, &wrong), &wrong, error));
  const bool model = (looks & COREMAP_LOOKS_LIKE_MODEL) != 0;
  if (model && keep_model(work, path, &why) == CM_OK)
    return CM_OK;
  if (model && (told || why.status != CM_BAD_NETWORK)) {
    *error = why;
    return why.status;
  }
  if (import(work, path, &network, error) != CM_OK) {
    /* A few bytes at the beginning may deceive: what no topology is either was meant as a model. */
    if (model)
      *error = why;
    return error->status;
  }
  cm_status status = library_status(library_network_store(network, work->made, library_on_run, &work->run, &wrong), &wrong, error);
  CM_THEN(status, tell_network(work, network, error));
  coremap_network_free(network);
  return status;
}
