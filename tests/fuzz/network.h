/* What the fuzz targets of the importers share: an import either fails with a reason or gives a valid topology. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "core/network/formats/readers.h"
#include "core/network/import.h"

typedef cm_status (*fuzzed_import)(const cm_reading_of *in, cm_error *error);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Imports with one importer, or (NULL) as cm_import recognises the bytes. */
static inline int fuzz_import(fuzzed_import import, const uint8_t *data, size_t size)
{
  const cm_import_limits limits = {
      .bytes_max = 1 << 24, .ratio_max = 1000, .vertices_max = 1 << 16, .pins_max = 1 << 20};
  cm_error error = {.status = CM_OK};
  cm_memory memory;
  cm_run run;
  cm_topology *topology = NULL;
  cm_memory_init(&memory, 256 << 20);
  cm_run_init(&run);
  run.memory = &memory;
  cm_status status;
  if (import == NULL) {
    status = cm_import_memory(data, size, &(cm_import_hint){0}, &limits, &run, &topology, NULL, &error);
  } else {
    cm_source source;
    status = cm_source_open_memory(&source, data, size, &limits, &run, &error);
    if (status == CM_OK) {
      status = CM_NEW(&memory, topology, 1, &error);
      CM_THEN(status, import(&(cm_reading_of){&source, &limits, &run, topology}, &error));
      cm_source_close(&source);
      if (status != CM_OK) {
        cm_topology_free(topology);
        topology = NULL;
      }
    }
  }
  if (status == CM_OK && cm_topology_verify(topology, &error) != CM_OK) {
    fprintf(stderr, "imported, but: %s\n", error.detail);
    abort();
  }
  if (status != CM_OK && (status != error.status || error.detail[0] == '\0' || topology != NULL)) {
    fprintf(stderr, "a failure without a reason\n");
    abort();
  }
  if (status == CM_INTERNAL || status == CM_MEMORY_LIMIT || status == CM_NO_MEMORY) {
    fprintf(stderr, "%s\n", error.detail);
    abort();
  }
  cm_topology_free(topology);
  if (memory.used_bytes != 0) {
    fprintf(stderr, "%llu bytes are still on the account\n", (unsigned long long)memory.used_bytes);
    abort();
  }
  return 0;
}
