/* Happy path: rows are encoded into groups, groups and tables (topology_tables.c) spooled to a scratch file; close packs them
 * (topology_pack.c) into the file under construction (base/file.h), which is then committed. Those that are stored are in it at once
 * (topology_stored.c).
 * What can fail: rows out of order (CM_INTERNAL: the caller's defect), no room on disk, no memory. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/varint.h"
#include "core/network/file/topology_writer.h"

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
  json_decref(w->dynamics);
  CM_FREE(w->vertex.data, w->group.data, w->stored_member, w);
}

cm_status cm_topology_writer_open(const char *path, const cm_topology_header *header, const uint32_t *sizes,
                                  cm_topology_writer **writer, cm_error *error)
{
  cm_topology_writer *w;
  CM_TRY(CM_NEW(NULL, w, 1, error));
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
  w->members = json_array();
  if (status == CM_OK && w->members == NULL)
    status = cm_whole(false, path, error);
  CM_END(status, *writer = w, cm_topology_writer_abort(w));
}

static cm_status append(cm_topology_bytes *b, const void *data, size_t size, cm_error *error)
{
  if (size == 0)
    return CM_OK;
  CM_TRY(cm_topology_reserve(b, size, error));
  memcpy(b->data + b->used, data, size);
  b->used += size;
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
  CM_TRY(cm_topology_spool(w, name, w->group.data, w->group.used, about, error));
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
  CM_TRY(cm_topology_reserve(&w->group, CM_VARINT_BYTES_MAX, error));
  cm_topology_put(&w->group, w->vertex_edges);
  CM_TRY(append(&w->group, w->vertex.data, w->vertex.used, error));
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
  cm_topology_bytes *b = &w->vertex;
  uint64_t weight = row->weight != NULL ? row->weight[i] : row->net_weight;
  uint32_t size = w->sizes != NULL ? w->sizes[row->target[i]] : 1;
  uint64_t expected = axon ? row->net_weight : w->last_weight;
  bool difference = i > 0;
  unsigned flags = (size != w->last_size ? CM_EDGE_SIZE : 0u) | (weight != expected ? CM_EDGE_WEIGHT : 0u) |
                   (difference ? CM_EDGE_DIFFERENCE : 0u) | (axon ? CM_EDGE_AXON : 0u);
  b->data[b->used++] = (uint8_t)flags;
  cm_topology_put(b, difference ? row->target[i] - row->target[i - 1] : row->target[i]);
  if (flags & CM_EDGE_SIZE)
    cm_topology_put(b, size);
  if (flags & CM_EDGE_WEIGHT)
    cm_topology_put(b, weight);
  if (axon)
    cm_topology_put(b, row->net_weight);
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
    CM_TRY(close_vertex(w, error));
  CM_TRY(cm_topology_reserve(&w->vertex, row->count * (1 + 4 * (size_t)CM_VARINT_BYTES_MAX), error));
  for (uint64_t i = 0; i < row->count; i++) {
    if (i > 0 && (i = encode_plain_edges(w, row, i)) == row->count)
      break;
    if (row->target[i] >= w->header.vertex_count || (i > 0 && row->target[i] <= row->target[i - 1]))
      return cm_fail(error, CM_INTERNAL, "target %u of vertex %u is out of range or of order", row->target[i], row->vertex);
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

cm_status cm_topology_writer_close(cm_topology_writer *w, cm_error *error)
{
  cm_status status = CM_OK;
  while (status == CM_OK && w->next < w->header.vertex_count)
    status = close_vertex(w, error);
  CM_THEN(status, close_group(w, error));
  CM_THEN(status, cm_topology_spool_sizes(w, error));
  if (status == CM_OK && w->spool != NULL && fflush(w->spool) != 0)
    status = cm_fail_errno(error, errno, "cannot write", w->spool_path);
  CM_THEN(status, cm_topology_pack(w, error));
  if (status == CM_OK && !w->stored)
    status = cm_file_reopen(&w->out, error);
  CM_THEN(status, cm_file_commit(&w->out, error));
  cm_topology_writer_abort(w);
  return status;
}
