/* A topology file from what was spooled: the manifest, and libzip's packing of the members. What can fail: no room on disk, no
 * memory, a run told to stop. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "core/network/file/topology_writer.h"

enum { DEFLATE_LEVEL = 1 }; /* three times as fast as 6, 5 % larger on spiking networks */

/* What version 1 has not; false: no memory. */
static bool print_signed(const cm_topology_writer *w, json_t *manifest)
{
  const cm_topology_header *h = &w->header;
  const int version = w->dynamics != NULL    ? CM_TOPOLOGY_VERSION_DYNAMICS
                      : w->scenarios != NULL ? CM_TOPOLOGY_VERSION_SCENARIOS
                                             : CM_TOPOLOGY_VERSION_SIGNED;
  json_t *more = json_pack("{s:i, s:b, s:b, s:i, s:I}", "version", version, "has_signs", h->has_signs, "has_delays", h->has_delays,
                           "weight_exponent", h->weight_exponent, "delay_unit_ns", (json_int_t)h->delay_unit_ns);
  bool printed = json_object_update(manifest, more) == 0 &&
                 json_object_set_new(json_object_get(manifest, "merged"), "zeros", json_integer((json_int_t)h->zero_count)) == 0 &&
                 (w->populations == NULL || json_object_set(manifest, "populations", w->populations) == 0) &&
                 (w->scenarios == NULL || json_object_set(manifest, "scenarios", w->scenarios) == 0) &&
                 (w->dynamics == NULL || json_object_set(manifest, "dynamics", w->dynamics) == 0);
  json_decref(more);
  return printed;
}

static char *print_manifest(const cm_topology_writer *w)
{
  const cm_topology_header *h = &w->header;
  json_t *manifest = json_pack(
    "{s:s, s:i, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:b, s:b, s:I, s:{s:I, s:I, s:I}, s:O}", "format",
    CM_TOPOLOGY_FORMAT_NAME, "version", CM_TOPOLOGY_VERSION, "directed", h->directed, "vertices",
    (json_int_t)h->vertex_count, "nets", (json_int_t)h->net_count, "pins", (json_int_t)h->pin_count, "size_total",
    (json_int_t)h->size_total, "weight_total", (json_int_t)h->weight_total, "weight_scale",
    (json_int_t)h->weight_scale, "has_weights", h->has_weights, "has_sizes", h->has_sizes, "has_labels",
    h->has_labels, "finer_vertices", (json_int_t)h->finer_count, "merged", "duplicates",
    (json_int_t)h->duplicate_count, "self_loops", (json_int_t)h->self_loop_count, "empty_nets",
    (json_int_t)h->empty_net_count, "members", w->members);
  bool more = h->has_signs || h->has_delays || w->populations != NULL || w->scenarios != NULL || w->dynamics != NULL ||
              h->weight_exponent != 0 || h->zero_count != 0;
  char *text = manifest != NULL && (!more || print_signed(w, manifest)) ? cm_json_dumps(manifest, JSON_INDENT(1)) : NULL;
  json_decref(manifest);
  return text;
}

/* Why libzip cannot do `what` ("cannot write x.zip"). Where it names no cause, it found no memory for one. */
static cm_status zip_failed(zip_t *zip, const char *name, const char *what, cm_error *error)
{
  CM_TRY(cm_topology_machine_failed(zip_get_error(zip), name, error));
  bool silent = zip_error_code_zip(zip_get_error(zip)) == ZIP_ER_OK;
  return silent ? cm_whole(false, name, error) : cm_fail(error, CM_IO, "cannot %s: %s", what, zip_strerror(zip));
}

/* Adds one member; takes the source. Time stamps are fixed so that equal content gives equal bytes. */
static cm_status add_member(zip_t *zip, const char *name, zip_source_t *source, cm_error *error)
{
  zip_int64_t index = source != NULL ? zip_file_add(zip, name, source, ZIP_FL_ENC_UTF_8) : -1;
  if (index < 0) {
    zip_source_free(source);
    return zip_failed(zip, "the topology file", "add a member to a topology file", error);
  }
  if (zip_file_set_dostime(zip, (zip_uint64_t)index, 0, CM_MEMBER_DATE, 0) != 0 ||
      zip_set_file_compression(zip, (zip_uint64_t)index, ZIP_CM_DEFLATE, DEFLATE_LEVEL) != 0)
    return zip_failed(zip, "the topology file", "describe a member of a topology file", error);
  return CM_OK;
}

static cm_status add_members(cm_topology_writer *w, zip_t *zip, const char *manifest, cm_error *error)
{
  cm_status status = add_member(zip, CM_MANIFEST_NAME, zip_source_buffer(zip, manifest, strlen(manifest), 0), error);
  uint64_t offset = 0;
  size_t i;
  json_t *about;
  json_array_foreach(w->members, i, about)
  {
    uint64_t size = (uint64_t)json_integer_value(json_object_get(about, "bytes"));
    if (status != CM_OK || size == 0)
      continue; /* to libzip a length of 0 would mean the rest of the file */
    status = add_member(zip, json_string_value(json_object_get(about, "name")),
                        zip_source_file(zip, w->spool_path, offset, (zip_int64_t)size), error);
    offset += size;
  }
  return status;
}

/* Asked by libzip while it packs: members of gigabytes take minutes. */
typedef struct heeding {
  cm_run *run;
  cm_error *error;
} heeding;

static int told_to_stop(zip_t *zip, void *user)
{
  const heeding *h = user;
  (void)zip;
  return cm_run_check(h->run, h->error) != CM_OK;
}

static cm_status write_zip(const cm_topology_writer *w, zip_t *zip, cm_error *error)
{
  cm_error stopped = {.status = CM_OK};
  heeding heeded = {w->run, &stopped};
  if (w->run != NULL && zip_register_cancel_callback_with_state(zip, told_to_stop, NULL, &heeded) != 0)
    return zip_failed(zip, w->out.path, "write the topology file", error);
  if (zip_close(zip) == 0)
    return CM_OK;
  if (stopped.status != CM_OK) {
    *error = stopped;
    return error->status;
  }
  return zip_failed(zip, w->out.path, "write the topology file", error);
}

static cm_status pack(cm_topology_writer *w, const char *manifest, cm_error *error)
{
  int code;
  zip_t *zip = zip_open(w->out.scratch, ZIP_CREATE | ZIP_TRUNCATE, &code);
  zip_error_t cause;
  cm_status status = CM_OK;
  if (zip == NULL) {
    zip_error_init_with_code(&cause, code);
    if (cm_topology_machine_failed(&cause, w->out.path, error) == CM_OK)
      (void)cm_fail(error, CM_IO, "cannot start %s (libzip error %d)", w->out.scratch, code);
    status = error->status;
    zip_error_fini(&cause);
  } else
    status = add_members(w, zip, manifest, error);
  CM_THEN(status, write_zip(w, zip, error));
  if (status != CM_OK && zip != NULL)
    zip_discard(zip);
  return status;
}

cm_status cm_topology_pack(cm_topology_writer *w, cm_error *error)
{
  char *manifest = print_manifest(w);
  if (manifest == NULL)
    return cm_whole(false, w->out.path, error);
  cm_status status = w->stored ? cm_topology_store_end(w, manifest, error) : pack(w, manifest, error);
  free(manifest);
  return status;
}
