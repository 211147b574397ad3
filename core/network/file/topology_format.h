/* What writer and reader of the topology file share; docs/reference/topology-file.md describes the format. */
#pragma once

#include <stdint.h>
#include <zip.h>

#include "core/network/topology_file.h"

enum {
  CM_TOPOLOGY_VERSION = 1,
  CM_TOPOLOGY_VERSION_SIGNED = 2, /* of files with signs, delays, populations or what else version 1 has not */
  CM_TOPOLOGY_VERSION_SCENARIOS = 3, /* of files with scenarios */
  CM_TOPOLOGY_VERSION_DYNAMICS = 4, /* of files that say how the network runs */
  CM_WEIGHT_EXPONENT_MAX = 1100,  /* either way */
  CM_GROUP_BYTES = 1 << 20,      /* a member is closed after the vertex that takes it past this */
  CM_MANIFEST_BYTES_MAX = 1 << 26,
  CM_CHECKSUM_BYTES = 32,        /* BLAKE2b-256 */
  CM_MEMBER_NAME_MAX = 24,
  CM_MEMBER_DATE = 1 << 5 | 1,   /* as zips have it: the first of 1980, at midnight, so that equal content gives equal bytes */
};

/* Flags of an edge. Without the first two the last value of the member is repeated. */
enum {
  CM_EDGE_SIZE = 1,       /* the size of the other vertex follows */
  CM_EDGE_WEIGHT = 2,     /* the weight follows */
  CM_EDGE_DIFFERENCE = 4, /* the vertex is the difference to the one before */
  CM_EDGE_AXON = 8,       /* a new axon starts here: its rate follows; weights start as the rate */
  CM_EDGE_FLAGS = 15
};

#define CM_MANIFEST_NAME "manifest.json"
#define CM_TOPOLOGY_FORMAT_NAME "coremapd topology"

/* Opens a reader on any libzip source, which it takes over also on failure; `path` is for messages. */
cm_status cm_topology_reader_open_source(zip_source_t *source, const char *path, cm_memory *memory,
                                         cm_topology_reader **reader, cm_error *error);

/* Sum of the lengths of all members once unpacked. */
uint64_t cm_topology_reader_bytes(const cm_topology_reader *reader);

/* Reads and verifies all that a reader at its first row holds; the caller owns *topology. */
cm_status cm_topology_read(cm_topology_reader *reader, cm_run *run, cm_topology **topology, cm_error *error);

/* What failed in libzip on the topology file `name`, when that was the machine's want and not the file's fault:
 * CM_NO_MEMORY, CM_IO, CM_DISK_FULL; else CM_OK and *error as it was. Set errno to 0 before the call: libzip takes some
 * failed reads for the end of the file. */
cm_status cm_topology_machine_failed(zip_error_t *cause, const char *name, cm_error *error);
