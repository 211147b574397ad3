/* Uploads are read as jobs are carried out: in a job folder, by a thread or in a confined child. */
#pragma once

#include "daemon/executor.h"
#include "storage/networks.h"

typedef struct cm_import_options {
  const cm_executor *executor;
  unsigned threads;
} cm_import_options;

/* Reads a file, writes what is stored of it and fills what it tells into `network`: format, gzipped, directed, labels, all counts,
 * plain_bytes. Its format, unless "", is what the file is to be read as, and its name is the file's. Errors: as of cm_import and
 * cm_onnx_read, and of the executor. */
cm_status cm_import_upload_file(cm_store *store, const cm_import_options *options, const cm_network_source *source, cm_network *network,
                                cm_error *error);
