/* Happy path: rows are encoded into groups, groups spooled to a scratch file; close lets libzip compress them from there
 * into the file under construction (base/file.h), which is then committed.
 * What can fail: rows out of order (CM_INTERNAL: the caller's defect), no room on disk, no memory. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include "base/file.h"
#include "base/json.h"
#include "base/varint.h"
#include "core/network/topology_file.h"
#include "core/network/file/topology_format.h"

enum { DEFLATE_LEVEL = 1 }; /* three times as fast as 6, 5 % larger on spiking networks */

typedef struct bytes {
  uint8_t *data;
  size_t used, room;
} bytes;

struct cm_topology_writer {
  cm_topology_header header;
  const uint32_t *sizes;
  cm_file out;
  char spool_path[CM_PATH_MAX];
  FILE *spool;
  uint64_t spooled;
  bool stored;           /* members are not packed */
  cm_run *run;           /* whose end ends close; NULL: nothing does */
  json_t *members;
  json_t *populations;   /* NULL: none */
  json_t *scenarios;     /* names; NULL: none */
  bytes vertex;          /* encoded edges of the vertex under way */
  bytes group;           /* encoded vertices of the group under way */
  uint64_t vertex_edges; /* edges in `vertex` */
  uint32_t next;         /* the vertex under way */
  uint32_t group_first, group_number;
  uint64_t group_rows, group_pins, last_weight;
  uint32_t last_size;
};

void cm_topology_writer_abort(cm_topology_writer *w)
{
  if (w == NULL)
    return;
  if (w->spool != NULL)
    fclose(w->spool);
  if (w->spool_path[0] != '\0')
    unlink(w->spool_path);
  cm_file_discard(&w->out);
  json_decref(w->members);
  json_decref(w->populations);
  json_decref(w->scenarios);
  cm_free(w->vertex.data);
  cm_free(w->group.data);
  cm_free(w);
}

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
    return cm_fail(error, CM_NO_MEMORY, "out of memory while starting %s", w->out.path);
  }
  return CM_OK;
}

cm_status cm_topology_writer_open(const char *path, const cm_topology_header *header, const uint32_t *sizes,
                                  cm_topology_writer **writer, cm_error *error)
{
  cm_topology_writer *w;
  if (CM_NEW(NULL, w, 1, error) != CM_OK)
    return error->status;
  w->header = (cm_topology_header){.directed = header->directed,
                                   .vertex_count = header->vertex_count,
                                   .weight_scale = header->weight_scale,
                                   .finer_count = header->finer_count,
                                   .duplicate_count = header->duplicate_count,
                                   .self_loop_count = header->self_loop_count,
                                   .empty_net_count = header->empty_net_count,
                                   .zero_count = header->zero_count,
                                   .weight_exponent = header->weight_exponent,
                                   .delay_unit_ns = header->delay_unit_ns,
                                   .size_total = header->vertex_count};
  w->sizes = sizes;
  w->last_size = 1;
  w->last_weight = 1;
  cm_status status = cm_file_create(&w->out, path, error);
  if (status == CM_OK)
    status = open_spool(w, error);
  w->members = json_array();
  if (status == CM_OK && w->members == NULL)
    status = cm_fail(error, CM_NO_MEMORY, "out of memory while starting %s", path);
  if (status != CM_OK) {
    cm_topology_writer_abort(w);
    return status;
  }
  *writer = w;
  return CM_OK;
}

static cm_status reserve(bytes *b, size_t more, cm_error *error)
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

static cm_status append(bytes *b, const void *data, size_t size, cm_error *error)
{
  if (size == 0)
    return CM_OK;
  if (reserve(b, size, error) != CM_OK)
    return error->status;
  memcpy(b->data + b->used, data, size);
  b->used += size;
  return CM_OK;
}

/* Needs room for CM_VARINT_BYTES_MAX. */
static void put(bytes *b, uint64_t value)
{
  b->used += cm_varint_encode(value, b->data + b->used);
}

/* Writes one member's bytes to the spool and describes it; `about` is stolen. */
static cm_status spool_member(cm_topology_writer *w, const char *name, const uint8_t *data, size_t size, json_t *about,
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
    return cm_fail(error, CM_NO_MEMORY, "out of memory while writing %s", w->out.path);
  }
  json_decref(about);
  if (size > 0 && fwrite(data, 1, size, w->spool) != size)
    return cm_fail_errno(error, errno, "cannot write", w->spool_path);
  w->spooled += size;
  return CM_OK;
}

static cm_status close_group(cm_topology_writer *w, cm_error *error)
{
  if (w->next == w->group_first)
    return CM_OK;
  char name[CM_MEMBER_NAME_MAX];
  (void)snprintf(name, sizeof name, "edges/%06u", w->group_number);
  json_t *about = json_pack("{s:I, s:I, s:I, s:I}", "first_vertex", (json_int_t)w->group_first, "vertices",
                            (json_int_t)(w->next - w->group_first), "rows", (json_int_t)w->group_rows, "pins",
                            (json_int_t)w->group_pins);
  if (spool_member(w, name, w->group.data, w->group.used, about, error) != CM_OK)
    return error->status;
  w->group.used = 0;
  w->group_number++;
  w->group_first = w->next;
  w->group_rows = w->group_pins = 0;
  w->last_size = 1;
  w->last_weight = 1;
  return CM_OK;
}

/* Closes the vertex under way: number of edges, then the edges. */
static cm_status close_vertex(cm_topology_writer *w, cm_error *error)
{
  if (reserve(&w->group, CM_VARINT_BYTES_MAX, error) != CM_OK)
    return error->status;
  put(&w->group, w->vertex_edges);
  if (append(&w->group, w->vertex.data, w->vertex.used, error) != CM_OK)
    return error->status;
  w->vertex.used = 0;
  w->vertex_edges = 0;
  w->next++;
  return w->group.used >= CM_GROUP_BYTES ? close_group(w, error) : CM_OK;
}

/* The edges after the first of a row that weigh as the one before, in sizes of 1: nearly all of nearly all networks. Returns
 * where the others begin. */
static uint64_t encode_plain_edges(cm_topology_writer *w, const cm_topology_row *row, uint64_t i)
{
  uint8_t *at = w->vertex.data + w->vertex.used;
  const uint32_t *target = row->target;
  const uint64_t *weight = row->weight, count = row->count, from = i, last_weight = w->last_weight;
  uint32_t last = target[i - 1], vertices = w->header.vertex_count;
  if (w->sizes != NULL || w->last_size != 1 || (row->weight == NULL && w->last_weight != row->net_weight))
    return i;
  for (; i < count && target[i] > last && target[i] < vertices && (weight == NULL || weight[i] == last_weight); i++) {
    uint32_t difference = target[i] - last;
    last = target[i];
    *at++ = CM_EDGE_DIFFERENCE;
    if (difference >= 1 << 14) {
      at += cm_varint_encode(difference, at);
      continue;
    }
    /* One byte or two without a branch, for which of them it is nobody foresees; the second is written over by what follows. */
    unsigned two = difference >= 0x80;
    at[0] = (uint8_t)(two << 7 | difference >> (7 * two));
    at[1] = difference & 0x7f;
    at += 1 + two;
  }
  w->vertex.used = (size_t)(at - w->vertex.data);
  w->header.weight_total += (i - from) * last_weight;
  return i;
}

static void encode_edge(cm_topology_writer *w, const cm_topology_row *row, uint64_t i, bool axon)
{
  bytes *b = &w->vertex;
  uint64_t weight = row->weight != NULL ? row->weight[i] : row->net_weight;
  uint32_t size = w->sizes != NULL ? w->sizes[row->target[i]] : 1;
  uint64_t expected = axon ? row->net_weight : w->last_weight;
  bool difference = i > 0;
  unsigned flags = (size != w->last_size ? CM_EDGE_SIZE : 0u) | (weight != expected ? CM_EDGE_WEIGHT : 0u) |
                   (difference ? CM_EDGE_DIFFERENCE : 0u) | (axon ? CM_EDGE_AXON : 0u);
  b->data[b->used++] = (uint8_t)flags;
  put(b, difference ? row->target[i] - row->target[i - 1] : row->target[i]);
  if (flags & CM_EDGE_SIZE)
    put(b, size);
  if (flags & CM_EDGE_WEIGHT)
    put(b, weight);
  if (axon)
    put(b, row->net_weight);
  w->last_size = size;
  w->last_weight = weight;
  w->header.weight_total += weight;
}

cm_status cm_topology_writer_row(cm_topology_writer *w, const cm_topology_row *row, cm_error *error)
{
  if (row->vertex >= w->header.vertex_count || row->count == 0 || row->vertex < w->next ||
      (!w->header.directed && w->vertex_edges > 0 && row->vertex == w->next))
    return cm_fail(error, CM_INTERNAL, "a row of vertex %u with %llu targets after vertex %u", row->vertex,
                   (unsigned long long)row->count, w->next);
  while (w->next < row->vertex)
    if (close_vertex(w, error) != CM_OK)
      return error->status;
  if (reserve(&w->vertex, row->count * (1 + 4 * (size_t)CM_VARINT_BYTES_MAX), error) != CM_OK)
    return error->status;
  for (uint64_t i = 0; i < row->count; i++) {
    if (i > 0 && (i = encode_plain_edges(w, row, i)) == row->count)
      break;
    if (row->target[i] >= w->header.vertex_count || (i > 0 && row->target[i] <= row->target[i - 1]))
      return cm_fail(error, CM_INTERNAL, "target %u of vertex %u is out of range or of order", row->target[i],
                     row->vertex);
    encode_edge(w, row, i, w->header.directed && i == 0);
  }
  w->header.has_weights |= row->weight != NULL;
  w->vertex_edges += row->count;
  w->header.net_count++;
  w->header.pin_count += row->count;
  w->group_rows++;
  w->group_pins += row->count;
  return CM_OK;
}

/* A table of numbers as a member of its own. */
static cm_status spool_numbers(cm_topology_writer *w, const char *name, const uint32_t *value, uint32_t count,
                               cm_error *error)
{
  bytes b = {0};
  cm_status status = reserve(&b, (size_t)count * 5 + CM_VARINT_BYTES_MAX, error);
  for (uint32_t i = 0; i < count && status == CM_OK; i++)
    put(&b, value[i]);
  if (status == CM_OK)
    status = spool_member(w, name, b.data, b.used, json_object(), error);
  cm_free(b.data);
  return status;
}

cm_status cm_topology_writer_labels(cm_topology_writer *w, const char *label_text, const uint64_t *label_first,
                                    cm_error *error)
{
  w->header.has_labels = w->header.vertex_count > 0;
  return spool_member(w, "labels", (const uint8_t *)label_text, label_first[w->header.vertex_count], json_object(),
                      error);
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
  return spool_member(w, "signs", (const uint8_t *)negative, (size_t)((pins + 63) / 64 * 8), json_object(), error);
}

cm_status cm_topology_writer_delays(cm_topology_writer *w, const uint32_t *delay, uint64_t pins, cm_error *error)
{
  w->header.has_delays = true;
  return spool_member(w, "delays", (const uint8_t *)delay, (size_t)pins * 4, json_object(), error);
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
    return cm_fail(error, CM_NO_MEMORY, "out of memory while writing %s", w->out.path);
  json_decref(w->populations);
  w->populations = list;
  w->header.population_count = count;
  return spool_numbers(w, "populations", population_of, w->header.vertex_count, error);
}

cm_status cm_topology_writer_scenarios(cm_topology_writer *w, const cm_scenario_name *name, uint32_t count,
                                       const uint64_t *rate, uint32_t rows, cm_error *error)
{
  json_t *list = json_array();
  bytes b = {0};
  for (uint32_t i = 0; i < count; i++)
    if (json_array_append_new(list, json_string(name[i])) != 0) {
      json_decref(list);
      list = NULL;
    }
  if (list == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory while writing %s", w->out.path);
  json_decref(w->scenarios);
  w->scenarios = list;
  w->header.scenario_count = count;
  cm_status status = CM_OK;
  for (size_t i = 0; i < (size_t)count * rows && status == CM_OK; i++) {
    status = reserve(&b, CM_VARINT_BYTES_MAX, error);
    if (status == CM_OK)
      put(&b, rate[i]);
  }
  if (status == CM_OK)
    status = spool_member(w, "scenarios", b.data, b.used, json_object(), error);
  cm_free(b.data);
  return status;
}

void cm_topology_writer_stored(cm_topology_writer *w)
{
  w->stored = true;
}

void cm_topology_writer_heed(cm_topology_writer *w, cm_run *run)
{
  w->run = run;
}

void cm_topology_writer_merged(cm_topology_writer *w, uint64_t duplicate_count, uint64_t self_loop_count)
{
  w->header.duplicate_count = duplicate_count;
  w->header.self_loop_count = self_loop_count;
}

static cm_status spool_sizes(cm_topology_writer *w, cm_error *error)
{
  if (w->sizes == NULL)
    return CM_OK;
  w->header.size_total = 0;
  for (uint32_t v = 0; v < w->header.vertex_count; v++)
    w->header.size_total += w->sizes[v];
  w->header.has_sizes = true;
  return spool_numbers(w, "sizes", w->sizes, w->header.vertex_count, error);
}

/* What version 1 has not; false: no memory. */
static bool print_signed(const cm_topology_writer *w, json_t *manifest)
{
  const cm_topology_header *h = &w->header;
  json_t *more = json_pack("{s:i, s:b, s:b, s:i, s:I}", "version",
                           w->scenarios != NULL ? CM_TOPOLOGY_VERSION_SCENARIOS : CM_TOPOLOGY_VERSION_SIGNED, "has_signs", h->has_signs,
                           "has_delays", h->has_delays, "weight_exponent", h->weight_exponent, "delay_unit_ns",
                           (json_int_t)h->delay_unit_ns);
  bool printed = json_object_update(manifest, more) == 0 &&
                 json_object_set_new(json_object_get(manifest, "merged"), "zeros", json_integer((json_int_t)h->zero_count)) == 0 &&
                 (w->populations == NULL || json_object_set(manifest, "populations", w->populations) == 0) &&
                 (w->scenarios == NULL || json_object_set(manifest, "scenarios", w->scenarios) == 0);
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
  bool more = h->has_signs || h->has_delays || w->populations != NULL || w->scenarios != NULL || h->weight_exponent != 0 ||
              h->zero_count != 0;
  char *text = manifest != NULL && (!more || print_signed(w, manifest)) ? cm_json_dumps(manifest, JSON_INDENT(1)) : NULL;
  json_decref(manifest);
  return text;
}

/* Why libzip cannot do `what` ("cannot write x.zip"). Where it names no cause, it found no memory for one. */
static cm_status zip_failed(zip_t *zip, const char *name, const char *what, cm_error *error)
{
  if (cm_topology_machine_failed(zip_get_error(zip), name, error) != CM_OK)
    return error->status;
  bool silent = zip_error_code_zip(zip_get_error(zip)) == ZIP_ER_OK;
  return silent ? cm_fail(error, CM_NO_MEMORY, "out of memory: cannot %s", what)
                : cm_fail(error, CM_IO, "cannot %s: %s", what, zip_strerror(zip));
}

/* Adds one member; takes the source. Time stamps are fixed so that equal content gives equal bytes. */
static cm_status add_member(zip_t *zip, const char *name, zip_source_t *source, bool stored, cm_error *error)
{
  zip_int64_t index = source != NULL ? zip_file_add(zip, name, source, ZIP_FL_ENC_UTF_8) : -1;
  if (index < 0) {
    zip_source_free(source);
    return zip_failed(zip, "the topology file", "add a member to a topology file", error);
  }
  enum { FIRST_OF_1980 = 1 << 5 | 1 };
  if (zip_file_set_dostime(zip, (zip_uint64_t)index, 0, FIRST_OF_1980, 0) != 0 ||
      zip_set_file_compression(zip, (zip_uint64_t)index, stored ? ZIP_CM_STORE : ZIP_CM_DEFLATE, stored ? 0 : DEFLATE_LEVEL) != 0)
    return zip_failed(zip, "the topology file", "describe a member of a topology file", error);
  return CM_OK;
}

static cm_status add_members(cm_topology_writer *w, zip_t *zip, const char *manifest, cm_error *error)
{
  cm_status status = add_member(zip, CM_MANIFEST_NAME, zip_source_buffer(zip, manifest, strlen(manifest), 0), w->stored, error);
  uint64_t offset = 0;
  size_t i;
  json_t *about;
  json_array_foreach(w->members, i, about)
  {
    uint64_t size = (uint64_t)json_integer_value(json_object_get(about, "bytes"));
    if (status != CM_OK || size == 0)
      continue; /* to libzip a length of 0 would mean the rest of the file */
    status = add_member(zip, json_string_value(json_object_get(about, "name")),
                        zip_source_file(zip, w->spool_path, offset, (zip_int64_t)size), w->stored, error);
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

static cm_status compress(cm_topology_writer *w, cm_error *error)
{
  int code;
  char *manifest = print_manifest(w);
  if (manifest == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory while closing %s", w->out.path);
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
  if (status == CM_OK)
    status = write_zip(w, zip, error);
  if (status != CM_OK && zip != NULL)
    zip_discard(zip);
  free(manifest);
  return status;
}

cm_status cm_topology_writer_close(cm_topology_writer *w, cm_error *error)
{
  cm_status status = CM_OK;
  while (status == CM_OK && w->next < w->header.vertex_count)
    status = close_vertex(w, error);
  if (status == CM_OK)
    status = close_group(w, error);
  if (status == CM_OK)
    status = spool_sizes(w, error);
  if (status == CM_OK && fflush(w->spool) != 0)
    status = cm_fail_errno(error, errno, "cannot write", w->spool_path);
  if (status == CM_OK)
    status = compress(w, error);
  if (status == CM_OK)
    status = cm_file_reopen(&w->out, error);
  if (status == CM_OK)
    status = cm_file_commit(&w->out, error);
  cm_topology_writer_abort(w);
  return status;
}
