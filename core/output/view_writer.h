/* What the files that write views share. */
#pragma once

#include "core/output/views.h"

/* One view under way; the stream keeps its errors. */
typedef struct cm_view_writer {
  const cm_mapping *mapping;
  const cm_demand *demand;
  const cm_chip *chip;
  const char *network_id;
  FILE *stream;
  cm_error *error;
} cm_view_writer;

void cm_view_put_text(cm_view_writer *w, const char *text);
void cm_view_put_count(cm_view_writer *w, uint64_t value);

/* The shortest decimal that reads back as the same double. */
void cm_view_put_real(cm_view_writer *w, double value);

/* The cores as the full view has them: from `lead`, which opens the list, to its end. */
void cm_put_cores(cm_view_writer *w, const char *lead);

cm_status cm_write_cores_json(cm_view_writer *w);
cm_status cm_write_cores_csv(cm_view_writer *w);
cm_status cm_write_links_json(cm_view_writer *w);
cm_status cm_write_links_csv(cm_view_writer *w);
cm_status cm_write_neurons_binary(cm_view_writer *w);
cm_status cm_write_cores_binary(cm_view_writer *w);
cm_status cm_write_links_binary(cm_view_writer *w);
