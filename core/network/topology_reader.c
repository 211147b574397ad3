/* Happy path: the manifest says what there is; members are inflated in small blocks, decoded row by row, and their
 * checksum is compared at their end. Nothing is allocated on a count that the bytes cannot hold.
 * What can fail: no zip, no manifest, impossible counts, a member cut short, a checksum that differs. */
#include <errno.h>
#include <jansson.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#include "core/base/varint.h"
#include "core/network/names.h"
#include "core/network/topology_file.h"
#include "core/network/topology_format.h"

enum { BLOCK = 1 << 16, DEFLATE_RATIO_MAX = 1040, CHECK_EVERY = 4096 };

/* A member as the manifest describes it. */
typedef struct member {
  char name[CM_MEMBER_NAME_MAX];
  uint32_t first_vertex, vertices;
  uint64_t rows, pins, bytes;
  uint8_t digest[CM_CHECKSUM_BYTES];
} member;

/* One member being inflated. */
typedef struct stream {
  const member *about;
  zip_file_t *file;
  crypto_generichash_state *hash; /* apart, for it must be aligned to 64 bytes */
  uint64_t inflated;   /* bytes taken from the zip */
  size_t begin, end;   /* unread part of block */
  uint8_t block[BLOCK];
} stream;

struct cm_topology_reader {
  cm_topology_header header;
  cm_memory *memory;
  zip_t *zip;
  uint64_t file_bytes, packed_bytes, raw_bytes; /* of the file; of all members, packed and not */
  member *members; /* [member_count] adjacency members, in order */
  uint32_t member_count;
  member sizes, labels, parents; /* bytes 0: absent */
  stream input;
  uint32_t member_next;  /* the next adjacency member to open */
  uint32_t vertex;       /* the vertex under way */
  uint64_t edges_left;   /* of that vertex */
  uint32_t vertices_left; /* of the member under way, the one under way not counted */
  uint64_t rows_left, pins_left;
  bool begun, row_open;  /* an axon's first edge has been read but not yet given */
  uint32_t last_size;
  uint64_t last_weight, weight_sum;
  uint32_t *target, *size; /* [room] the row under way */
  uint64_t *weight;        /* [room] */
  uint64_t room;
  uint32_t held_target, held_size; /* the first edge of the next axon of the same vertex */
  uint64_t held_weight, held_rate;
};

/* ---- manifest ---- */

static cm_status damaged(cm_error *error, const char *what)
{
  cm_fail(error, CM_BAD_NETWORK, "damaged topology file: %s", what);
  return cm_fail_at(error, CM_MANIFEST_NAME);
}

static bool number(const json_t *object, const char *name, uint64_t most, uint64_t *value)
{
  const json_t *found = json_object_get(object, name);
  json_int_t n = json_integer_value(found);
  if (!json_is_integer(found) || n < 0 || (uint64_t)n > most)
    return false;
  *value = (uint64_t)n;
  return true;
}

static bool parse_member(const json_t *json, member *m)
{
  uint64_t first = 0, vertices = 0;
  const char *name = json_string_value(json_object_get(json, "name"));
  const char *hex = json_string_value(json_object_get(json, "blake2b"));
  size_t digest_size;
  *m = (member){0};
  if (name == NULL || strlen(name) >= sizeof m->name || hex == NULL || !number(json, "bytes", INT64_MAX, &m->bytes) ||
      sodium_hex2bin(m->digest, sizeof m->digest, hex, strlen(hex), NULL, &digest_size, NULL) != 0 ||
      digest_size != sizeof m->digest)
    return false;
  (void)snprintf(m->name, sizeof m->name, "%s", name);
  if (strncmp(name, "edges/", 6) != 0)
    return true;
  if (!number(json, "first_vertex", CM_VERTICES_MAX, &first) || !number(json, "vertices", CM_VERTICES_MAX, &vertices) ||
      !number(json, "rows", UINT32_MAX, &m->rows) || !number(json, "pins", CM_PINS_MAX, &m->pins))
    return false;
  m->first_vertex = (uint32_t)first;
  m->vertices = (uint32_t)vertices;
  return true;
}

/* What deflate could not have made, and what the vertices and pins cannot need, is refused before memory is taken. */
static cm_status check_member(cm_topology_reader *r, const member *m, cm_error *error)
{
  zip_stat_t about;
  uint64_t least = (uint64_t)m->vertices + 2 * m->pins;
  if (m->bytes == 0)
    return CM_OK;
  if (zip_stat(r->zip, m->name, 0, &about) != 0)
    cm_fail(error, CM_BAD_NETWORK, "damaged topology file: member %s is missing", m->name);
  else if ((about.valid & ZIP_STAT_SIZE) == 0 || (about.valid & ZIP_STAT_COMP_SIZE) == 0 || about.size != m->bytes ||
           about.size / DEFLATE_RATIO_MAX > about.comp_size)
    cm_fail(error, CM_BAD_NETWORK, "damaged topology file: member %s has not the %llu bytes that the manifest says",
            m->name, (unsigned long long)m->bytes);
  else if (m->bytes < least || m->rows > m->pins)
    cm_fail(error, CM_BAD_NETWORK,
            "damaged topology file: the %llu bytes of member %s cannot hold %u vertices with %llu edges",
            (unsigned long long)m->bytes, m->name, m->vertices, (unsigned long long)m->pins);
  else if (about.comp_size > r->file_bytes - r->packed_bytes)
    cm_fail(error, CM_BAD_NETWORK, "damaged topology file: the members up to %s are longer than the file", m->name);
  else {
    r->packed_bytes += about.comp_size;
    r->raw_bytes += m->bytes;
    return CM_OK;
  }
  return cm_fail_at(error, "%s", m->name);
}

static cm_status parse_members(cm_topology_reader *r, const json_t *list, cm_error *error)
{
  size_t count = json_array_size(list);
  uint64_t vertices = 0, rows = 0, pins = 0;
  if (!json_is_array(list))
    return damaged(error, "the manifest has no list of members");
  if (CM_NEW(r->memory, r->members, count, error) != CM_OK)
    return error->status;
  for (size_t i = 0; i < count; i++) {
    member m;
    if (!parse_member(json_array_get(list, i), &m))
      return damaged(error, "the manifest describes a member wrongly");
    if (check_member(r, &m, error) != CM_OK)
      return error->status;
    if (strcmp(m.name, "sizes") == 0)
      r->sizes = m;
    else if (strcmp(m.name, "labels") == 0)
      r->labels = m;
    else if (strcmp(m.name, "parents") == 0)
      r->parents = m;
    else if (strncmp(m.name, "edges/", 6) != 0 || m.first_vertex != vertices || m.vertices == 0)
      return damaged(error, "the members do not follow each other");
    else {
      vertices += m.vertices;
      rows += m.rows;
      pins += m.pins;
      r->members[r->member_count++] = m;
    }
  }
  if (vertices != r->header.vertex_count || rows != r->header.net_count || pins != r->header.pin_count)
    return damaged(error, "the members' counts do not add up to the manifest's");
  if ((r->header.has_sizes && r->sizes.bytes < r->header.vertex_count) ||
      (r->header.has_labels && r->labels.bytes < r->header.vertex_count) || r->parents.bytes < r->header.finer_count)
    return damaged(error, "sizes, labels or parents are missing");
  return CM_OK;
}

static cm_status parse_manifest(cm_topology_reader *r, const json_t *json, cm_error *error)
{
  cm_topology_header *h = &r->header;
  const json_t *merged = json_object_get(json, "merged");
  const char *format = json_string_value(json_object_get(json, "format"));
  uint64_t version = 0, vertices = 0, nets = 0, finer = 0, empty = 0;
  if (format == NULL || strcmp(format, CM_TOPOLOGY_FORMAT_NAME) != 0 || !number(json, "version", UINT32_MAX, &version))
    return damaged(error, "the manifest is not one of a topology");
  if (version != CM_TOPOLOGY_VERSION)
    return cm_fail(error, CM_BAD_NETWORK, "topology file of version %llu; this program reads version %d",
                   (unsigned long long)version, CM_TOPOLOGY_VERSION);
  if (!number(json, "vertices", CM_VERTICES_MAX, &vertices) || !number(json, "nets", UINT32_MAX, &nets) ||
      !number(json, "pins", CM_PINS_MAX, &h->pin_count) || !number(json, "size_total", INT64_MAX, &h->size_total) ||
      !number(json, "weight_total", INT64_MAX, &h->weight_total) ||
      !number(json, "weight_scale", INT64_MAX, &h->weight_scale) || h->weight_scale == 0 ||
      !number(json, "finer_vertices", CM_VERTICES_MAX, &finer) ||
      !number(merged, "duplicates", INT64_MAX, &h->duplicate_count) ||
      !number(merged, "self_loops", INT64_MAX, &h->self_loop_count) ||
      !number(merged, "empty_nets", UINT32_MAX, &empty))
    return damaged(error, "a number of the manifest is missing or out of range");
  h->vertex_count = (uint32_t)vertices;
  h->net_count = (uint32_t)nets;
  h->finer_count = (uint32_t)finer;
  h->empty_net_count = (uint32_t)empty;
  h->directed = json_is_true(json_object_get(json, "directed"));
  h->has_weights = json_is_true(json_object_get(json, "has_weights"));
  h->has_sizes = json_is_true(json_object_get(json, "has_sizes"));
  h->has_labels = json_is_true(json_object_get(json, "has_labels"));
  return parse_members(r, json_object_get(json, "members"), error);
}

static cm_status read_manifest(cm_topology_reader *r, cm_error *error)
{
  zip_stat_t about;
  zip_file_t *file = zip_fopen(r->zip, CM_MANIFEST_NAME, 0);
  if (file == NULL || zip_stat(r->zip, CM_MANIFEST_NAME, 0, &about) != 0 || about.size > CM_MANIFEST_BYTES_MAX) {
    if (file != NULL)
      zip_fclose(file);
    return damaged(error, "the zip has no manifest.json, so it is not a topology file");
  }
  char *text;
  if (CM_NEW(r->memory, text, about.size + 1, error) != CM_OK) {
    zip_fclose(file);
    return error->status;
  }
  /* One byte more than there are: libzip compares its own checksum only when it meets the end. */
  zip_int64_t got = zip_fread(file, text, about.size + 1);
  if (got == (zip_int64_t)about.size && zip_fread(file, text + got, 1) != 0)
    got = -1;
  zip_fclose(file);
  json_error_t where;
  json_t *json = got == (zip_int64_t)about.size ? json_loadb(text, about.size, JSON_REJECT_DUPLICATES, &where) : NULL;
  cm_free(text);
  cm_status status = json == NULL ? damaged(error, "the manifest is not JSON") : parse_manifest(r, json, error);
  json_decref(json);
  return status;
}

/* ---- members ---- */

static cm_status cut_short(const stream *s, cm_error *error)
{
  cm_fail(error, CM_BAD_NETWORK, "damaged topology file: member %s ends or errs at byte %llu of %llu", s->about->name,
          (unsigned long long)s->inflated, (unsigned long long)s->about->bytes);
  return cm_fail_at(error, "%s byte %llu", s->about->name, (unsigned long long)s->inflated);
}

static cm_status stream_wrong(const stream *s, const char *what, cm_error *error)
{
  uint64_t at = s->inflated - (s->end - s->begin);
  cm_fail(error, CM_BAD_NETWORK, "damaged topology file: member %s, byte %llu: %s", s->about->name,
          (unsigned long long)at, what);
  return cm_fail_at(error, "%s byte %llu", s->about->name, (unsigned long long)at);
}

static void stream_close(stream *s)
{
  if (s->file != NULL)
    zip_fclose(s->file);
  s->file = NULL;
}

static cm_status stream_open(cm_topology_reader *r, const member *about, cm_error *error)
{
  stream *s = &r->input;
  stream_close(s);
  s->about = about;
  s->begin = s->end = 0;
  s->inflated = 0;
  crypto_generichash_init(s->hash, NULL, 0, CM_CHECKSUM_BYTES);
  s->file = zip_fopen(r->zip, about->name, 0);
  return s->file != NULL ? CM_OK : cut_short(s, error);
}

static uint64_t stream_left(const stream *s)
{
  return s->about->bytes - s->inflated + (s->end - s->begin);
}

/* Makes at least `wanted` (small) bytes available, fewer only at the member's end. */
static cm_status stream_fill(stream *s, size_t wanted, cm_error *error)
{
  if (s->end - s->begin >= wanted || s->inflated == s->about->bytes)
    return CM_OK;
  memmove(s->block, s->block + s->begin, s->end - s->begin);
  s->end -= s->begin;
  s->begin = 0;
  while (s->end < sizeof s->block && s->inflated < s->about->bytes) {
    uint64_t left = s->about->bytes - s->inflated, room = sizeof s->block - s->end;
    zip_int64_t got = zip_fread(s->file, s->block + s->end, left < room ? left : room);
    if (got <= 0)
      return cut_short(s, error);
    crypto_generichash_update(s->hash, s->block + s->end, (unsigned long long)got);
    s->end += (size_t)got;
    s->inflated += (uint64_t)got;
  }
  return CM_OK;
}

static cm_status read_number(stream *s, uint64_t most, const char *what, uint64_t *value, cm_error *error)
{
  if (stream_fill(s, CM_VARINT_BYTES_MAX, error) != CM_OK)
    return error->status;
  uint64_t number = 0;
  size_t used = cm_varint_decode(s->block + s->begin, s->end - s->begin, &number);
  if (used == 0 || number > most)
    return stream_wrong(s, what, error);
  s->begin += used;
  *value = number;
  return CM_OK;
}

/* At a member's end: nothing left over, and the checksum holds. */
static cm_status stream_finish(stream *s, cm_error *error)
{
  unsigned char digest[CM_CHECKSUM_BYTES];
  if (stream_left(s) != 0)
    return stream_wrong(s, "bytes are left over", error);
  crypto_generichash_final(s->hash, digest, sizeof digest);
  stream_close(s);
  if (sodium_memcmp(digest, s->about->digest, sizeof digest) != 0)
    return stream_wrong(s, "the checksum does not match", error);
  return CM_OK;
}

/* ---- open and close ---- */

void cm_topology_reader_close(cm_topology_reader *r)
{
  if (r == NULL)
    return;
  stream_close(&r->input);
  if (r->zip != NULL)
    zip_discard(r->zip);
  free(r->input.hash);
  cm_free(r->members);
  cm_free(r->target);
  cm_free(r->size);
  cm_free(r->weight);
  cm_free(r);
}

cm_status cm_topology_reader_open_source(zip_source_t *source, const char *path, cm_memory *memory,
                                         cm_topology_reader **reader, cm_error *error)
{
  cm_topology_reader *r = NULL;
  zip_stat_t about;
  zip_error_t cause;
  zip_error_init(&cause);
  cm_status status = CM_NEW(memory, r, 1, error);
  if (status == CM_OK) {
    r->memory = memory;
    r->input.hash = aligned_alloc(64, (crypto_generichash_statebytes() + 63) / 64 * 64);
    r->file_bytes = zip_source_stat(source, &about) == 0 && (about.valid & ZIP_STAT_SIZE) ? about.size : UINT64_MAX;
    r->zip = zip_open_from_source(source, ZIP_RDONLY, &cause);
    if (r->input.hash == NULL)
      status = cm_fail(error, CM_NO_MEMORY, "out of memory while opening %s", path);
    else if (r->zip == NULL)
      status = zip_error_code_zip(&cause) == ZIP_ER_MEMORY
                 ? cm_fail(error, CM_NO_MEMORY, "out of memory while opening %s", path)
             : zip_error_code_system(&cause) != 0
                 ? cm_fail_errno(error, zip_error_code_system(&cause), "cannot open", path)
                 : damaged(error, "it is not a zip, or its directory at the end is damaged");
  }
  if (r == NULL || r->zip == NULL)
    zip_source_free(source);
  zip_error_fini(&cause);
  if (status == CM_OK)
    status = read_manifest(r, error);
  if (status == CM_OK)
    status = cm_topology_reader_rewind(r, error);
  if (status != CM_OK) {
    cm_topology_reader_close(r);
    return status;
  }
  *reader = r;
  return CM_OK;
}

cm_status cm_topology_reader_open(const char *path, cm_memory *memory, cm_topology_reader **reader, cm_error *error)
{
  if (access(path, R_OK) != 0)
    return cm_fail_errno(error, errno, "cannot open", path);
  zip_source_t *source = zip_source_file_create(path, 0, 0, NULL);
  if (source == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory while opening %s", path);
  return cm_topology_reader_open_source(source, path, memory, reader, error);
}

uint64_t cm_topology_reader_bytes(const cm_topology_reader *reader)
{
  return reader->raw_bytes;
}

const cm_topology_header *cm_topology_reader_header(const cm_topology_reader *reader)
{
  return &reader->header;
}

cm_status cm_topology_reader_rewind(cm_topology_reader *r, cm_error *error)
{
  (void)error;
  stream_close(&r->input);
  r->member_next = 0;
  r->edges_left = r->vertices_left = 0;
  r->rows_left = r->pins_left = 0;
  r->begun = r->row_open = false;
  r->weight_sum = 0;
  return CM_OK;
}

/* ---- rows ---- */

static cm_status next_member(cm_topology_reader *r, bool *end, cm_error *error)
{
  if (r->begun && (r->rows_left != 0 || r->pins_left != 0))
    return stream_wrong(&r->input, "fewer edges than the manifest says", error);
  if (r->begun && stream_finish(&r->input, error) != CM_OK)
    return error->status;
  r->begun = false;
  *end = r->member_next == r->member_count;
  if (*end)
    return CM_OK;
  const member *m = &r->members[r->member_next++];
  if (stream_open(r, m, error) != CM_OK)
    return error->status;
  r->begun = true;
  r->vertices_left = m->vertices;
  r->vertex = m->first_vertex - 1; /* stepped to the first one by next_vertex; wraps for 0 */
  r->rows_left = m->rows;
  r->pins_left = m->pins;
  r->last_size = 1;
  r->last_weight = 1;
  return CM_OK;
}

static cm_status next_vertex(cm_topology_reader *r, cm_error *error)
{
  if (read_number(&r->input, r->pins_left, "more edges than the manifest says", &r->edges_left, error) != CM_OK)
    return error->status;
  r->vertices_left--;
  r->vertex++;
  return CM_OK;
}

static cm_status grow_row(cm_topology_reader *r, uint64_t wanted, cm_error *error)
{
  if (wanted <= r->room)
    return CM_OK;
  uint64_t room = wanted + r->room;
  uint32_t *target = cm_reallocate(r->memory, r->target, room, sizeof *target, error);
  if (target == NULL)
    return error->status;
  r->target = target;
  uint32_t *size = cm_reallocate(r->memory, r->size, room, sizeof *size, error);
  if (size == NULL)
    return error->status;
  r->size = size;
  uint64_t *weight = cm_reallocate(r->memory, r->weight, room, sizeof *weight, error);
  if (weight == NULL)
    return error->status;
  r->weight = weight;
  r->room = room;
  return CM_OK;
}

/* One edge after `previous` targets of the same axon; *axon tells that it starts a new one. */
static cm_status read_edge(cm_topology_reader *r, bool first, uint32_t previous, uint32_t *target, uint32_t *size,
                           uint64_t *weight, bool *axon, uint64_t *rate, cm_error *error)
{
  stream *s = &r->input;
  uint64_t flags, vertex, value;
  if (read_number(s, CM_EDGE_FLAGS, "unknown edge flags", &flags, error) != CM_OK)
    return error->status;
  *axon = (flags & CM_EDGE_AXON) != 0;
  if (*axon != (r->header.directed && (first || *axon)) || (*axon && (flags & CM_EDGE_DIFFERENCE)) ||
      (!*axon && !first && !(flags & CM_EDGE_DIFFERENCE)))
    return stream_wrong(s, "edge flags that do not belong here", error);
  if (read_number(s, r->header.vertex_count - 1, "a vertex out of range", &vertex, error) != CM_OK)
    return error->status;
  if (flags & CM_EDGE_DIFFERENCE) {
    if (first || vertex == 0 || vertex > r->header.vertex_count - 1 - previous)
      return stream_wrong(s, "a vertex difference out of range", error);
    vertex += previous;
  }
  *target = (uint32_t)vertex;
  if (flags & CM_EDGE_SIZE) {
    if (read_number(s, UINT32_MAX, "a size out of range", &value, error) != CM_OK)
      return error->status;
    r->last_size = (uint32_t)value;
  }
  bool weighs = (flags & CM_EDGE_WEIGHT) != 0;
  if (weighs && read_number(s, INT64_MAX, "a weight out of range", &r->last_weight, error) != CM_OK)
    return error->status;
  if (*axon && read_number(s, INT64_MAX, "a rate out of range", rate, error) != CM_OK)
    return error->status;
  if (*axon && !weighs)
    r->last_weight = *rate;
  if (r->last_weight > INT64_MAX - r->weight_sum)
    return stream_wrong(s, "weights that add up to more than 63 bits", error);
  r->weight_sum += r->last_weight;
  *size = r->last_size;
  *weight = r->last_weight;
  return CM_OK;
}

/* The next axon of the vertex under way (undirected: its whole row). */
static cm_status read_row(cm_topology_reader *r, cm_topology_row *row, cm_error *error)
{
  uint64_t count = 0, rate = 0;
  if (r->rows_left == 0)
    return stream_wrong(&r->input, "more rows than the manifest says", error);
  r->rows_left--;
  if (r->row_open) {
    if (grow_row(r, 1, error) != CM_OK)
      return error->status;
    r->target[0] = r->held_target;
    r->size[0] = r->held_size;
    r->weight[0] = r->held_weight;
    rate = r->held_rate;
    count = 1;
    r->row_open = false;
  }
  while (r->edges_left > 0) {
    uint32_t target = 0, size = 0;
    uint64_t weight = 0, new_rate = 0;
    bool axon = false;
    if (grow_row(r, count + 1, error) != CM_OK || read_edge(r, count == 0, count > 0 ? r->target[count - 1] : 0,
                                                            &target, &size, &weight, &axon, &new_rate, error) != CM_OK)
      return error->status;
    r->edges_left--;
    r->pins_left--;
    if (axon && count > 0) {
      r->held_target = target;
      r->held_size = size;
      r->held_weight = weight;
      r->held_rate = new_rate;
      r->row_open = true;
      break;
    }
    rate = axon ? new_rate : rate;
    r->target[count] = target;
    r->size[count] = size;
    r->weight[count++] = weight;
  }
  *row = (cm_topology_row){.vertex = r->vertex,
                           .net_weight = rate,
                           .count = count,
                           .target = r->target,
                           .weight = r->weight,
                           .size = r->size};
  return CM_OK;
}

cm_status cm_topology_reader_next(cm_topology_reader *r, cm_topology_row *row, bool *end, cm_error *error)
{
  *end = false;
  while (!r->row_open && r->edges_left == 0) {
    if (r->vertices_left == 0) {
      if (next_member(r, end, error) != CM_OK)
        return error->status;
      if (*end)
        return r->weight_sum == r->header.weight_total ? CM_OK
                                                       : damaged(error, "weight_total is not what they add up to");
    }
    if (next_vertex(r, error) != CM_OK)
      return error->status;
  }
  return read_row(r, row, error);
}

/* ---- side tables ---- */

static cm_status read_numbers(cm_topology_reader *r, const member *m, uint32_t *value, uint32_t count,
                              uint32_t most, cm_error *error)
{
  cm_status status = stream_open(r, m, error);
  for (uint32_t i = 0; i < count && status == CM_OK; i++) {
    uint64_t number = 0;
    status = read_number(&r->input, most, "a number out of range", &number, error);
    value[i] = (uint32_t)number;
  }
  if (status == CM_OK)
    status = stream_finish(&r->input, error);
  stream_close(&r->input);
  r->begun = false;
  if (status == CM_OK)
    status = cm_topology_reader_rewind(r, error);
  return status;
}

cm_status cm_topology_reader_sizes(cm_topology_reader *r, uint32_t *sizes, cm_error *error)
{
  if (r->header.has_sizes && r->header.vertex_count > 0)
    return read_numbers(r, &r->sizes, sizes, r->header.vertex_count, UINT32_MAX, error);
  for (uint32_t v = 0; v < r->header.vertex_count; v++)
    sizes[v] = 1;
  return CM_OK;
}

cm_status cm_topology_reader_parents(cm_topology_reader *r, uint32_t *parent, cm_error *error)
{
  if (r->header.finer_count == 0)
    return cm_fail(error, CM_BAD_NETWORK, "the topology file is no coarsened level: it names no parents");
  if (r->header.vertex_count == 0)
    return damaged(error, "finer vertices without a coarse one");
  return read_numbers(r, &r->parents, parent, r->header.finer_count, r->header.vertex_count - 1, error);
}

cm_status cm_topology_reader_labels(cm_topology_reader *r, char **text, uint64_t **first, cm_error *error)
{
  char *made = NULL;
  uint64_t *starts = NULL, used = 0;
  uint32_t vertex = 0;
  stream *s = &r->input;
  cm_status status = CM_NEW(r->memory, made, r->labels.bytes, error);
  if (status == CM_OK)
    status = CM_NEW(r->memory, starts, (size_t)r->header.vertex_count + 1, error);
  if (status == CM_OK)
    status = stream_open(r, &r->labels, error);
  while (status == CM_OK && stream_left(s) > 0) {
    status = stream_fill(s, 1, error);
    for (; status == CM_OK && s->begin < s->end; s->begin++) {
      made[used++] = (char)s->block[s->begin];
      if (made[used - 1] != '\0')
        continue;
      if (vertex == r->header.vertex_count)
        status = stream_wrong(s, "more labels than vertices", error);
      else
        starts[++vertex] = used;
    }
  }
  if (status == CM_OK && (vertex != r->header.vertex_count || starts[vertex] != used))
    status = stream_wrong(s, "fewer labels than vertices", error);
  if (status == CM_OK)
    status = stream_finish(s, error);
  stream_close(s);
  r->begun = false;
  if (status == CM_OK)
    status = cm_topology_reader_rewind(r, error);
  for (uint32_t v = 0; v < r->header.vertex_count && status == CM_OK; v++)
    if (!cm_name_valid(made + starts[v], (size_t)(starts[v + 1] - starts[v] - 1)))
      status = damaged(error, "a label is not UTF-8 or has control characters");
  if (status != CM_OK) {
    cm_free(made);
    cm_free(starts);
    return status;
  }
  *text = made;
  *first = starts;
  return CM_OK;
}
