/* Between the writers of network formats. */
#pragma once

#include "core/network/export.h"
#include "core/network/formats/sink.h"

typedef struct cm_export_writer {
  const cm_topology *topology;
  cm_sink *sink;
  cm_run *run;
  char separator;
  bool list; /* of PyNN: columns in a comment, numbers for names */
} cm_export_writer;

/* Looks at the sink and the run now and then. */
cm_status cm_export_step(const cm_export_writer *w, uint64_t done, uint64_t all, cm_error *error);

/* A line of numbers, field by field. */
typedef struct cm_export_line {
  cm_sink *sink;
  bool begun;
} cm_export_line;
void cm_export_field(cm_export_line *l, uint64_t value);

/* The writers. Errors: the disk, memory, those of the run. */
cm_status cm_export_snn(const cm_export_writer *w, cm_error *error);
cm_status cm_export_edges(const cm_export_writer *w, cm_error *error);
cm_status cm_export_matrix(const cm_export_writer *w, cm_error *error);
cm_status cm_export_graph(const cm_export_writer *w, cm_error *error);
cm_status cm_export_nir(const cm_export_writer *w, cm_error *error);
cm_status cm_export_hypergraph(const cm_export_writer *w, cm_error *error);
