/* Happy path: the manifest says what there is; members are decoded row by row (tables beside them: topology_read_tables.c).
 * What can fail: no zip, no manifest, impossible counts, a member cut short, a checksum that differs. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/varint.h"
#include "core/network/file/plain_edges.h"
#include "core/network/file/topology_reader.h"

/* ---- open and close ---- */

void cm_topology_reader_close(cm_topology_reader *r)
{
  if (r == NULL)
    return;
  cm_stream_close(&r->input);
  if (r->zip != NULL)
    zip_discard(r->zip);
  free(r->input.hash);
  CM_FREE(r->members, r->populations, r->scenarios, r->target, r->size, r->weight, r);
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
    /* For want of memory libzip may say that there is no zip: asked twice, only a file without one has none. */
    for (int asked = 0; r->zip == NULL && asked < 2; asked++)
      if ((r->zip = zip_open_from_source(source, ZIP_RDONLY, &cause)) == NULL)
        (void)zip_source_close(source);
    if (r->input.hash == NULL)
      status = cm_whole(false, path, error);
    else if (r->zip == NULL)
      status = zip_error_code_zip(&cause) == ZIP_ER_MEMORY ? cm_whole(false, path, error)
               : zip_error_code_system(&cause) != 0
                 ? cm_fail_errno(error, zip_error_code_system(&cause), "cannot open", path)
                 : cm_topology_damaged(error, "it is not a zip, or its directory at the end is damaged");
  }
  if (r == NULL || r->zip == NULL)
    zip_source_free(source);
  zip_error_fini(&cause);
  CM_THEN(status, cm_topology_manifest(r, error));
  CM_THEN(status, cm_topology_reader_rewind(r, error));
  CM_END(status, *reader = r, cm_topology_reader_close(r));
}

cm_status cm_topology_reader_open(const char *path, cm_memory *memory, cm_topology_reader **reader, cm_error *error)
{
  if (access(path, R_OK) != 0)
    return cm_fail_errno(error, errno, "cannot open", path);
  zip_source_t *source = zip_source_file_create(path, 0, 0, NULL);
  if (source == NULL)
    return cm_whole(false, path, error);
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
  cm_stream_close(&r->input);
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
    return cm_stream_wrong(&r->input, "fewer edges than the manifest says", error);
  CM_TRY_IF(r->begun, cm_stream_finish(&r->input, error));
  r->begun = false;
  *end = r->member_next == r->member_count;
  if (*end)
    return CM_OK;
  const cm_topology_member *m = &r->members[r->member_next++];
  CM_TRY(cm_stream_open(r, m, error));
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
  CM_TRY(cm_stream_number(&r->input, r->pins_left, "more edges than the manifest says", &r->edges_left, error));
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

/* One edge: the first of a row, or after the one to target `previous`. */
static cm_status read_edge(cm_topology_reader *r, bool first, uint32_t previous, cm_topology_edge *edge, cm_error *error)
{
  cm_stream *s = &r->input;
  uint64_t flags, vertex, value;
  *edge = (cm_topology_edge){0};
  CM_TRY(cm_stream_number(s, CM_EDGE_FLAGS, "unknown edge flags", &flags, error));
  edge->axon = (flags & CM_EDGE_AXON) != 0;
  if (edge->axon != (r->header.directed && (first || edge->axon)) || (edge->axon && (flags & CM_EDGE_DIFFERENCE)) ||
      (!edge->axon && !first && !(flags & CM_EDGE_DIFFERENCE)))
    return cm_stream_wrong(s, "edge flags that do not belong here", error);
  CM_TRY(cm_stream_number(s, r->header.vertex_count - 1, "a vertex out of range", &vertex, error));
  if (flags & CM_EDGE_DIFFERENCE) {
    if (first || vertex == 0 || vertex > r->header.vertex_count - 1 - previous)
      return cm_stream_wrong(s, "a vertex difference out of range", error);
    vertex += previous;
  }
  edge->target = (uint32_t)vertex;
  if (flags & CM_EDGE_SIZE) {
    CM_TRY(cm_stream_number(s, UINT32_MAX, "a size out of range", &value, error));
    r->last_size = (uint32_t)value;
  }
  bool weighs = (flags & CM_EDGE_WEIGHT) != 0;
  CM_TRY_IF(weighs, cm_stream_number(s, INT64_MAX, "a weight out of range", &r->last_weight, error));
  CM_TRY_IF(edge->axon, cm_stream_number(s, INT64_MAX, "a rate out of range", &edge->rate, error));
  if (edge->axon && !weighs)
    r->last_weight = edge->rate;
  if (r->last_weight > INT64_MAX - r->weight_sum)
    return cm_stream_wrong(s, "weights that add up to more than 63 bits", error);
  r->weight_sum += r->last_weight;
  edge->size = r->last_size;
  edge->weight = r->last_weight;
  return CM_OK;
}

/* Plain edges, a difference and the size and weight of the one before, as long as they follow each other: nearly all edges of
 * nearly all networks. At least one edge of the axon has been read. Stops in front of any other, and where what is left of the
 * block might end inside an edge. */
static cm_status read_plain_edges(cm_topology_reader *r, uint64_t *count, cm_error *error)
{
  enum { EDGE_BYTES_MAX = 1 + CM_VARINT_BYTES_MAX, ROOM = 4096 };
  cm_stream *s = &r->input;
  uint32_t last = r->target[*count - 1], highest = r->header.vertex_count - 1;
  uint64_t most = r->edges_left < ROOM ? r->edges_left : ROOM, n = 0;
  if (most > highest - last) /* targets of an axon rise */
    most = highest - last;
  CM_TRY(grow_row(r, *count + most, error));
  uint32_t *target = r->target + *count;
  const uint8_t *at = s->block + s->begin, *const end = s->block + s->end;
  while (n < most) {
    n += cm_plain_edges_take(&at, end, most - n, &last, highest, target + n);
    if (n == most || end - at < EDGE_BYTES_MAX || at[0] != CM_EDGE_DIFFERENCE)
      break;
    uint64_t difference;
    size_t used = cm_varint_decode(at + 1, CM_VARINT_BYTES_MAX, &difference);
    if (used == 0 || difference == 0 || difference > highest - last)
      break;
    target[n++] = last += (uint32_t)difference;
    at += 1 + used;
  }
  if (r->last_weight != 0 && n > (uint64_t)(INT64_MAX - r->weight_sum) / r->last_weight)
    return CM_OK; /* the slow way finds the edge that is too much */
  s->begin = (size_t)(at - s->block);
  r->weight_sum += n * r->last_weight;
  for (uint64_t i = 0; !r->alike && i < n; i++) {
    r->size[*count + i] = r->last_size;
    r->weight[*count + i] = r->last_weight;
  }
  *count += n;
  r->edges_left -= n;
  r->pins_left -= n;
  return CM_OK;
}

/* An edge behind `count` of its row. As long as all are of size 1 and of their axon's rate, neither is written down. */
static void add_edge(cm_topology_reader *r, uint64_t count, uint64_t rate, const cm_topology_edge *edge)
{
  const bool alike = r->header.directed && edge->size == 1 && edge->weight == rate && (count == 0 || r->alike);
  for (uint64_t i = 0; r->alike && !alike && i < count; i++) {
    r->size[i] = 1;
    r->weight[i] = rate;
  }
  r->alike = alike;
  r->target[count] = edge->target;
  if (alike)
    return;
  r->size[count] = edge->size;
  r->weight[count] = edge->weight;
}

/* The next axon of the vertex under way (undirected: its whole row). */
static cm_status read_row(cm_topology_reader *r, cm_topology_row *row, cm_error *error)
{
  uint64_t count = 0, rate = 0;
  if (r->rows_left == 0)
    return cm_stream_wrong(&r->input, "more rows than the manifest says", error);
  r->rows_left--;
  if (r->row_open) {
    CM_TRY(grow_row(r, 1, error));
    rate = r->held.rate;
    add_edge(r, 0, rate, &r->held);
    count = 1;
    r->row_open = false;
  }
  while (r->edges_left > 0) {
    cm_topology_edge edge;
    CM_TRY(grow_row(r, count + 1, error));
    CM_TRY(read_edge(r, count == 0, count > 0 ? r->target[count - 1] : 0, &edge, error));
    r->edges_left--;
    r->pins_left--;
    if (edge.axon && count > 0) {
      r->held = edge;
      r->row_open = true;
      break;
    }
    rate = edge.axon ? edge.rate : rate;
    add_edge(r, count++, rate, &edge);
    CM_TRY_IF(r->edges_left > 0, read_plain_edges(r, &count, error));
  }
  *row = (cm_topology_row){.vertex = r->vertex,
                           .net_weight = rate,
                           .count = count,
                           .target = r->target,
                           .weight = r->alike ? NULL : r->weight,
                           .size = r->alike ? NULL : r->size};
  return CM_OK;
}

cm_status cm_topology_reader_next(cm_topology_reader *r, cm_topology_row *row, bool *end, cm_error *error)
{
  *end = false;
  while (!r->row_open && r->edges_left == 0) {
    if (r->vertices_left == 0) {
      CM_TRY(next_member(r, end, error));
      if (*end)
        return r->weight_sum == r->header.weight_total ? CM_OK
                                                       : cm_topology_damaged(error, "weight_total is not what they add up to");
    }
    CM_TRY(next_vertex(r, error));
  }
  return read_row(r, row, error);
}
