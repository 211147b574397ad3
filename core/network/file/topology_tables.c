/* Members of a topology file: bytes on their way to the spool, and the tables beside the rows (sizes, labels, parents, signs, delays,
 * populations, scenarios). What can fail: no room on disk, no memory. */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/varint.h"
#include "core/network/file/topology_writer.h"

/* The spool stands beside the file under construction. */
static cm_status open_spool(cm_topology_writer *w, cm_error *error)
{
  if (cm_path(w->spool_path, error, "%s.tmp-XXXXXX", w->out.scratch) != CM_OK) {
    w->spool_path[0] = '\0';
    return error->status;
  }
  int descriptor = mkostemp(w->spool_path, O_CLOEXEC);
  if (descriptor < 0) {
    w->spool_path[0] = '\0';
    return cm_fail_errno(error, errno, "cannot create a file beside", w->out.path);
  }
  w->spool = fdopen(descriptor, "w+b");
  if (w->spool == NULL) {
    (void)close(descriptor);
    return cm_whole(false, w->out.path, error);
  }
  return CM_OK;
}

cm_status cm_topology_reserve(cm_topology_bytes *b, size_t more, cm_error *error)
{
  if (b->room - b->used >= more)
    return CM_OK;
  size_t room = b->used + more + b->room;
  uint8_t *data = cm_reallocate(NULL, b->data, room, 1, error);
  if (data == NULL)
    return error->status;
  b->data = data;
  b->room = room;
  return CM_OK;
}

void cm_topology_put(cm_topology_bytes *b, uint64_t value)
{
  b->used += cm_varint_encode(value, b->data + b->used);
}

cm_status cm_topology_spool(cm_topology_writer *w, const char *name, const uint8_t *data, size_t size, json_t *about,
                              cm_error *error)
{
  unsigned char digest[CM_CHECKSUM_BYTES];
  char hex[2 * CM_CHECKSUM_BYTES + 1];
  crypto_generichash(digest, sizeof digest, data, size, NULL, 0);
  sodium_bin2hex(hex, sizeof hex, digest, sizeof digest);
  if (about == NULL || json_object_set_new(about, "name", json_string(name)) != 0 ||
      json_object_set_new(about, "bytes", json_integer((json_int_t)size)) != 0 ||
      json_object_set_new(about, "blake2b", json_string(hex)) != 0 || json_array_append(w->members, about) != 0) {
    json_decref(about);
    return cm_whole(false, w->out.path, error);
  }
  json_decref(about);
  if (size == 0)
    return CM_OK;
  if (w->stored)
    return cm_topology_store_member(w, name, data, size, error);
  CM_TRY_IF(w->spool == NULL, open_spool(w, error));
  return fwrite(data, 1, size, w->spool) == size ? CM_OK : cm_fail_errno(error, errno, "cannot write", w->spool_path);
}

/* A table of numbers as a member of its own. */
static cm_status spool_numbers(cm_topology_writer *w, const char *name, const uint32_t *value, uint32_t count, cm_error *error)
{
  cm_topology_bytes b = {0};
  cm_status status = cm_topology_reserve(&b, (size_t)count * 5 + CM_VARINT_BYTES_MAX, error);
  for (uint32_t i = 0; i < count && status == CM_OK; i++)
    cm_topology_put(&b, value[i]);
  CM_THEN(status, cm_topology_spool(w, name, b.data, b.used, json_object(), error));
  cm_free(b.data);
  return status;
}

cm_status cm_topology_writer_labels(cm_topology_writer *w, const char *label_text, const uint64_t *label_first, cm_error *error)
{
  w->header.has_labels = w->header.vertex_count > 0;
  return cm_topology_spool(w, "labels", (const uint8_t *)label_text, label_first[w->header.vertex_count], json_object(), error);
}

cm_status cm_topology_writer_parents(cm_topology_writer *w, const uint32_t *parent, cm_error *error)
{
  return spool_numbers(w, "parents", parent, w->header.finer_count, error);
}

/* Bits and numbers lie in the file as they lie in memory. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "signs and delays are written as they lie");

cm_status cm_topology_writer_signs(cm_topology_writer *w, const uint64_t *negative, uint64_t pins, cm_error *error)
{
  w->header.has_signs = true;
  return cm_topology_spool(w, "signs", (const uint8_t *)negative, (size_t)((pins + 63) / 64 * 8), json_object(), error);
}

cm_status cm_topology_writer_delays(cm_topology_writer *w, const uint32_t *delay, uint64_t pins, cm_error *error)
{
  w->header.has_delays = true;
  return cm_topology_spool(w, "delays", (const uint8_t *)delay, (size_t)pins * 4, json_object(), error);
}

cm_status cm_topology_writer_populations(cm_topology_writer *w, const cm_population *population, uint32_t count,
                                         const uint32_t *population_of, cm_error *error)
{
  json_t *list = json_array();
  for (uint32_t i = 0; i < count; i++)
    if (json_array_append_new(list, json_pack("[s, s]", population[i].name, population[i].kind)) != 0) {
      json_decref(list);
      list = NULL;
    }
  if (list == NULL)
    return cm_whole(false, w->out.path, error);
  json_decref(w->populations);
  w->populations = list;
  w->header.population_count = count;
  return spool_numbers(w, "populations", population_of, w->header.vertex_count, error);
}

cm_status cm_topology_writer_scenarios(cm_topology_writer *w, const cm_scenario_name *name, uint32_t count,
                                       const uint64_t *rate, uint32_t rows, cm_error *error)
{
  json_t *list = json_array();
  cm_topology_bytes b = {0};
  for (uint32_t i = 0; i < count; i++)
    if (json_array_append_new(list, json_string(name[i])) != 0) {
      json_decref(list);
      list = NULL;
    }
  if (list == NULL)
    return cm_whole(false, w->out.path, error);
  json_decref(w->scenarios);
  w->scenarios = list;
  w->header.scenario_count = count;
  cm_status status = CM_OK;
  for (size_t i = 0; i < (size_t)count * rows && status == CM_OK; i++) {
    status = cm_topology_reserve(&b, CM_VARINT_BYTES_MAX, error);
    if (status == CM_OK)
      cm_topology_put(&b, rate[i]);
  }
  CM_THEN(status, cm_topology_spool(w, "scenarios", b.data, b.used, json_object(), error));
  cm_free(b.data);
  return status;
}

cm_status cm_topology_spool_sizes(cm_topology_writer *w, cm_error *error)
{
  if (w->sizes == NULL)
    return CM_OK;
  w->header.size_total = 0;
  for (uint32_t v = 0; v < w->header.vertex_count; v++)
    w->header.size_total += w->sizes[v];
  w->header.has_sizes = true;
  return spool_numbers(w, "sizes", w->sizes, w->header.vertex_count, error);
}
