/* Between the files that read .snn: hyperedges one by one (import_snn.c) and many at once (snn_batch.c). */
#pragma once

#include "core/network/formats/rows.h"
#include "core/network/formats/source.h"
#include "core/network/import_limits.h"
#include "core/network/topology.h"

typedef struct cm_snn_batch cm_snn_batch;

typedef struct cm_snn_reader {
  cm_source *source;
  const cm_import_limits *limits;
  cm_run *run;
  cm_memory *memory;
  cm_topology *made;
  float *rate;
  uint64_t first_room, source_room, rate_room, pin_room;
  uint32_t hyperedges; /* announced */
  bool sources_ascend;
  cm_row_sorter sorter;
  cm_snn_batch *batch;
} cm_snn_reader;

/* A hyperedge that has been read. */
typedef struct cm_snn_net {
  uint64_t pin;         /* where its targets begin among the pins */
  uint64_t count, kept; /* of its targets, and of distinct ones */
  uint32_t source, selves; /* targets that are the source */
  float rate;
} cm_snn_net;

/* Appends a net whose targets, at least one, stand behind those of the one before. */
cm_status cm_snn_keep(cm_snn_reader *reader, const cm_snn_net *net, cm_error *error);

/* Takes up to `most` hyperedges that lie whole in the source's window, which is filled when it holds none, on the run's threads: as they
 * would be read one by one. *taken 0: the next one does not, or something is wrong with it. Errors: of the source; memory. */
cm_status cm_snn_batch_take(cm_snn_reader *reader, uint32_t most, uint32_t *taken, cm_error *error);

cm_status cm_snn_batch_new(cm_snn_reader *reader, cm_error *error);
void cm_snn_batch_free(cm_snn_reader *reader);
