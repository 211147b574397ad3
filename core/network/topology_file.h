/* The topology file (source 0, step s1): a zip (deflate) whose members hold the adjacency by
 * vertex in variable-length integers. Uploaded networks, coarsened levels and exports share it.
 * docs/reference/topology-file.md describes every byte.
 *
 * Both directions stream: the writer spools encoded groups to a scratch file beside the target and
 * compresses on close; the reader holds one row. Equal content gives equal bytes (fixed time stamps). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/run.h"
#include "core/network/topology.h"

typedef struct cm_topology_header {
  bool directed;
  uint32_t vertex_count;
  uint32_t net_count;       /* rows in the file: those with at least one pin */
  uint64_t pin_count;
  uint64_t size_total;
  uint64_t weight_total;    /* sum of scaled pin weights */
  uint64_t weight_scale;
  bool has_weights;         /* synapses or edges have weights of their own */
  bool has_sizes, has_labels;
  bool has_signs, has_delays, has_dynamics;
  int weight_exponent;
  uint64_t delay_unit_ns;
  uint32_t population_count;
  uint32_t scenario_count;
  uint64_t zero_count;
  uint32_t finer_count;     /* vertices of the finer level that this one was coarsened from; 0: none */
  uint64_t duplicate_count, self_loop_count;
  uint32_t empty_net_count;
} cm_topology_header;

/* One axon (directed) or the whole adjacency of one vertex (undirected). */
typedef struct cm_topology_row {
  uint32_t vertex;        /* source */
  uint64_t net_weight;    /* scaled rate; undirected: ignored */
  uint64_t count;         /* at least 1 */
  const uint32_t *target; /* [count] ascending, distinct */
  const uint64_t *weight; /* [count] scaled; NULL: net_weight each, of directed networks alone when reading */
  const uint32_t *size;   /* [count] sizes of the targets, reading only; NULL: 1 each, and of those networks' rows where weight is NULL too */
} cm_topology_row;

/* ---- writing ---- */
typedef struct cm_topology_writer cm_topology_writer;

/* Starts a file. Of `header` these are read: directed, vertex_count, weight_scale, weight_exponent, delay_unit_ns,
 * finer_count, duplicate_count, self_loop_count, empty_net_count, zero_count; the rest is counted. `sizes` [vertex_count] or NULL (1 each) must stay valid
 * until close. */
cm_status cm_topology_writer_open(const char *path, const cm_topology_header *header, const uint32_t *sizes,
                                  cm_topology_writer **writer, cm_error *error);

/* Adds a row; vertices must ascend (equal ones only in directed files). */
cm_status cm_topology_writer_row(cm_topology_writer *writer, const cm_topology_row *row, cm_error *error);

/* Optional, any time before close: names [vertex_count] as in cm_topology; and for a coarsened level the
 * coarse vertex of each finer vertex, parent [finer_count]. Both are copied to the spool at once. */
cm_status cm_topology_writer_labels(cm_topology_writer *writer, const char *label_text,
                                    const uint64_t *label_first, cm_error *error);
cm_status cm_topology_writer_parents(cm_topology_writer *writer, const uint32_t *parent, cm_error *error);

/* Optional, any time before close, of all pins in the order of the rows: signs as in cm_topology (bits, pins of them),
 * delays; and the populations and which of them each vertex is of. Spooled at once. A file with any of them, or with a
 * weight_exponent or a zero_count, is of version 2, any other of version 1. */
cm_status cm_topology_writer_signs(cm_topology_writer *writer, const uint64_t *negative, uint64_t pins, cm_error *error);
cm_status cm_topology_writer_delays(cm_topology_writer *writer, const uint32_t *delay, uint64_t pins, cm_error *error);
cm_status cm_topology_writer_populations(cm_topology_writer *writer, const cm_population *population, uint32_t count,
                                         const uint32_t *population_of, cm_error *error);

/* The members are to lie in the zip as they are: for files that are read more often than moved. Each is then
 * in the file as soon as it is complete. Before any row or table. */
void cm_topology_writer_stored(cm_topology_writer *writer);

/* Optional, any time before close: the rates of all rows in the order in which they are written, in each of `count` scenarios,
 * rate [count * rows]. Such a file is of version 3. */
cm_status cm_topology_writer_scenarios(cm_topology_writer *writer, const cm_scenario_name *name, uint32_t count,
                                       const uint64_t *rate, uint32_t rows, cm_error *error);

/* Optional, any time before close: how the network of `pins` pins runs, spooled at once. Such a file is of version 4. */
cm_status cm_topology_writer_dynamics(cm_topology_writer *writer, const cm_dynamics *dynamics, uint64_t pins, cm_error *error);

/* Sets the counts of what was merged or kept, for a caller who learns them only while writing. Any time before
 * close. */
void cm_topology_writer_merged(cm_topology_writer *writer, uint64_t duplicate_count, uint64_t self_loop_count);

/* Makes close stop when the run is to stop (cm_run_check); `run` outlives the writer. Any time before close. */
void cm_topology_writer_heed(cm_topology_writer *writer, cm_run *run);

/* Compresses, writes, syncs and renames into place; frees the writer whether it succeeds or not. */
cm_status cm_topology_writer_close(cm_topology_writer *writer, cm_error *error);

/* Drops an unfinished file; NULL is allowed. */
void cm_topology_writer_abort(cm_topology_writer *writer);

/* ---- reading ---- */
typedef struct cm_topology_reader cm_topology_reader;

/* Opens a file and checks its manifest. Every member's length and checksum is verified as it is read;
 * damage is CM_BAD_NETWORK with member and byte offset. Limits: a row's pins are checked against
 * pin_count before memory is taken. */
cm_status cm_topology_reader_open(const char *path, cm_memory *memory, cm_topology_reader **reader, cm_error *error);
const cm_topology_header *cm_topology_reader_header(const cm_topology_reader *reader);

/* The next row in `row` (valid until the next call), or *end = true after the last. */
cm_status cm_topology_reader_next(cm_topology_reader *reader, cm_topology_row *row, bool *end, cm_error *error);
/* Starts over at the first row. */
cm_status cm_topology_reader_rewind(cm_topology_reader *reader, cm_error *error);

/* Reads the sizes member into sizes [vertex_count] (ones when the file has none). */
cm_status cm_topology_reader_sizes(cm_topology_reader *reader, uint32_t *sizes, cm_error *error);
/* Reads parent [finer_count]; CM_BAD_NETWORK when the file is no coarsened level. */
cm_status cm_topology_reader_parents(cm_topology_reader *reader, uint32_t *parent, cm_error *error);
/* Reads the names as in cm_topology; both arrays are the caller's (cm_free). Only when header->has_labels. The three
 * side tables may be read any time; reading one starts the rows over. */
cm_status cm_topology_reader_labels(cm_topology_reader *reader, char **text, uint64_t **first, cm_error *error);
/* Reads signs, [pin_count] bits in whole words, when header->has_signs; delays [pin_count] when header->has_delays; which
 * population each vertex is of [vertex_count], and the populations [population_count], when that is not 0. */
cm_status cm_topology_reader_signs(cm_topology_reader *reader, uint64_t *negative, cm_error *error);
cm_status cm_topology_reader_delays(cm_topology_reader *reader, uint32_t *delay, cm_error *error);
cm_status cm_topology_reader_populations(cm_topology_reader *reader, cm_population *population, uint32_t *population_of,
                                         cm_error *error);

/* Reads the scenarios' names [scenario_count] and rates [scenario_count * net_count], when header->scenario_count is not 0. */
cm_status cm_topology_reader_scenarios(cm_topology_reader *reader, cm_scenario_name *name, uint64_t *rate, cm_error *error);

/* Reads how the network runs, when header->has_dynamics; the caller owns *dynamics. */
cm_status cm_topology_reader_dynamics(cm_topology_reader *reader, cm_dynamics **dynamics, cm_error *error);

void cm_topology_reader_close(cm_topology_reader *reader); /* NULL is allowed */

/* ---- whole topologies ---- */
cm_status cm_topology_save(const cm_topology *topology, const char *path, cm_run *run, cm_error *error);

/* As cm_topology_save, members not packed (cm_topology_writer_stored): half as large again, and read without inflating. */
cm_status cm_topology_store(const cm_topology *topology, const char *path, cm_run *run, cm_error *error);

cm_status cm_topology_load(const char *path, cm_run *run, cm_topology **topology, cm_error *error);
