/* Between the files that read a topology file. */
#pragma once

#include <sodium.h>

#include "core/network/file/topology_format.h"

enum { CM_STREAM_BYTES = 1 << 16 };

/* A member as the manifest describes it. */
typedef struct cm_topology_member {
  char name[CM_MEMBER_NAME_MAX];
  uint32_t first_vertex, vertices;
  uint64_t rows, pins, bytes;
  uint8_t digest[CM_CHECKSUM_BYTES];
} cm_topology_member;

/* What version 4 adds. */
typedef struct cm_topology_dynamics {
  bool has_models, has_weights;
  uint8_t parameter[CM_NEURON_PARAMETERS], parameters; /* rows of cm_neuron_parameters in the order of the file */
  uint64_t parallel_count, number_count;
  cm_topology_member model_runs, parameter_runs, weights, parallel, nodes, numbers;
} cm_topology_dynamics;

/* One member being inflated. */
typedef struct cm_stream {
  const cm_topology_member *about;
  zip_file_t *file;
  crypto_generichash_state *hash; /* apart, for it must be aligned to 64 bytes */
  uint64_t inflated;   /* bytes taken from the zip */
  size_t begin, end;   /* unread part of block */
  uint8_t block[CM_STREAM_BYTES];
} cm_stream;

/* An edge as it stands in the file. */
typedef struct cm_topology_edge {
  uint32_t target, size;
  uint64_t weight, rate; /* the rate is that of the axon */
  bool axon;             /* it starts a new one */
} cm_topology_edge;

struct cm_topology_reader {
  cm_topology_header header;
  cm_memory *memory;
  zip_t *zip;
  uint64_t file_bytes, packed_bytes, raw_bytes; /* of the file; of all members, packed and not */
  cm_topology_member *members; /* [member_count] adjacency members, in order */
  uint32_t member_count;
  cm_topology_dynamics dynamics;
  cm_topology_member sizes, labels, parents, signs, delays, population_of, scenario_rates; /* bytes 0: absent */
  cm_population *populations; /* [header.population_count] */
  cm_scenario_name *scenarios; /* [header.scenario_count] */
  cm_stream input;
  uint32_t member_next;  /* the next adjacency member to open */
  uint32_t vertex;       /* the vertex under way */
  uint64_t edges_left;   /* of that vertex */
  uint32_t vertices_left; /* of the member under way, the one under way not counted */
  uint64_t rows_left, pins_left;
  bool alike;            /* the edges of the row under way, so far: size and weight do not hold them */
  bool begun, row_open;  /* an axon's first edge has been read but not yet given */
  uint32_t last_size;
  uint64_t last_weight, weight_sum;
  uint32_t *target, *size; /* [room] the row under way */
  uint64_t *weight;        /* [room] */
  uint64_t room;
  cm_topology_edge held; /* the first edge of the next axon of the same vertex */
};

/* The failure of a file that is no topology, or whose parts do not go together. */
cm_status cm_topology_damaged(cm_error *error, const char *what);

/* Reads the manifest of r->zip: the header, the members and where they are. Errors: CM_BAD_NETWORK, memory. */
cm_status cm_topology_manifest(cm_topology_reader *r, cm_error *error);

/* ---- one member ---- */

cm_status cm_stream_open(cm_topology_reader *r, const cm_topology_member *about, cm_error *error);
void cm_stream_close(cm_stream *s); /* also one that is not open */

/* Bytes not read yet. */
uint64_t cm_stream_left(const cm_stream *s);

/* Makes at least `wanted` (small) bytes available, fewer only at the member's end. */
cm_status cm_stream_fill(cm_stream *s, size_t wanted, cm_error *error);

/* Reads a number; fails with `what` when it exceeds `most`. */
cm_status cm_stream_number(cm_stream *s, uint64_t most, const char *what, uint64_t *value, cm_error *error);

/* Reads bytes as they lie. */
cm_status cm_stream_bytes(cm_stream *s, void *into, uint64_t bytes, cm_error *error);

/* At a member's end: nothing left over, and the checksum holds. */
cm_status cm_stream_finish(cm_stream *s, cm_error *error);

/* The failure of what was read last. */
cm_status cm_stream_wrong(const cm_stream *s, const char *what, cm_error *error);
