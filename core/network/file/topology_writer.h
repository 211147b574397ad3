/* Between the files that write a topology: rows (topology_writer.c), tables (topology_tables.c) and the file they are packed into
 * (topology_pack.c) or stored in (topology_stored.c). A writer owns all that it points to but `sizes` and `run`, which are the caller's. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "base/file.h"
#include "core/network/file/topology_format.h"

typedef struct cm_topology_bytes {
  uint8_t *data;
  size_t used, room;
} cm_topology_bytes;

/* A member that lies in the file. */
typedef struct cm_stored_member {
  uint64_t at, bytes; /* of its record; its data's */
  uint32_t crc;
  char name[CM_MEMBER_NAME_MAX];
} cm_stored_member;

struct cm_topology_writer {
  cm_topology_header header;
  const uint32_t *sizes;
  cm_file out;
  char spool_path[CM_PATH_MAX];
  FILE *spool;           /* NULL: nothing is spooled yet */
  bool stored;           /* members are not packed, and lie in `out` already */
  cm_stored_member *stored_member; /* [stored_count] */
  uint32_t stored_count;
  uint64_t stored_room, written; /* bytes of `out` */
  cm_run *run;           /* whose end ends close; NULL: nothing does */
  json_t *members;
  json_t *populations;   /* NULL: none */
  json_t *scenarios;     /* names; NULL: none */
  json_t *dynamics;      /* NULL: none */
  cm_topology_bytes vertex; /* encoded edges of the vertex under way */
  cm_topology_bytes group; /* encoded vertices of the group under way */
  uint64_t vertex_edges; /* edges in `vertex` */
  uint32_t next;         /* the vertex under way */
  uint32_t group_first, group_number;
  uint64_t group_rows, group_pins, last_weight;
  uint32_t last_size;
};

/* Room for `more` bytes behind those used. */
cm_status cm_topology_reserve(cm_topology_bytes *b, size_t more, cm_error *error);

/* Needs room for CM_VARINT_BYTES_MAX. */
void cm_topology_put(cm_topology_bytes *b, uint64_t value);

/* Writes one member's bytes to the spool, or to where it is stored, and describes it; `about` is stolen. */
cm_status cm_topology_spool(cm_topology_writer *w, const char *name, const uint8_t *data, size_t size, json_t *about,
                            cm_error *error);

/* The table of the vertices' sizes, where they have any. */
cm_status cm_topology_spool_sizes(cm_topology_writer *w, cm_error *error);

/* Writes a member behind those that are stored; its name is shorter than CM_MEMBER_NAME_MAX. */
cm_status cm_topology_store_member(cm_topology_writer *w, const char *name, const void *data, size_t size, cm_error *error);

/* Stores the manifest as the last one, and the zip's directory. */
cm_status cm_topology_store_end(cm_topology_writer *w, const char *manifest, cm_error *error);

/* Packs the manifest and all that was spooled into the file under construction, or ends one that is stored. */
cm_status cm_topology_pack(cm_topology_writer *w, cm_error *error);
