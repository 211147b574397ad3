/* Uploads are read as jobs are carried out: in a job folder, by a thread or in a confined child. */
#pragma once

#include "daemon/executor.h"
#include "storage/networks.h"

typedef struct cm_import_options {
  const cm_executor *executor;
  unsigned threads;
  uint64_t memory_limit;     /* bytes; 0: none */
  const atomic_bool *cancel; /* NULL: cannot be cancelled */
} cm_import_options;

/* Reads the file `path` of any format (taking it away), writes what is stored of it to `made` and fills what it tells into
 * `network`: format, gzipped, directed, labels, all counts, plain_bytes. `table`, unless NULL, is what it is
 * given beside. Its format, unless "", is what the file is to be read as, and its name is the file's. Both paths on the store's file system. Errors:
 * as of cm_import and cm_onnx_read, and of the executor. */
cm_status cm_import_upload_file(cm_store *store, const cm_import_options *options, const char *path, const cm_network_table *table, const char *made,
                                cm_network *network, cm_error *error);
