/* A legal mapping of the network and chip of old.h as a file, for targets that read what is said of a mapping. */
#pragma once

#include "core/verify/check.h"
#include "core/output/views.h"
#include "core/measure/measure.h"
#include "old.h"

typedef struct old_mapping {
  cm_topology network;
  cm_chip *chip;
  cm_run run;
  char mapping_path[64];
} old_mapping;

/* Reads the bytes as a file by `check`: it passes, or says what is wrong. */
static inline void old_mapping_check(const void *bytes, size_t size,
                                     cm_status (*check)(const char *path, old_mapping *old, cm_check_result *result,
                                                        cm_error *error))
{
  static uint32_t part[] = {0, 0, 1}, core[] = {0, 3};
  old_mapping old = {.network = old_network(), .chip = old_chip()};
  cm_mapping mapping = {.vertex_count = 3, .part_count = 2, .part = part, .core = core};
  cm_error error;
  cm_check_result result = {0};
  char path[64], *text;
  size_t length;
  int handle, mapping_handle;
  cm_run_init(&old.run);
  FILE *stream = open_memstream(&text, &length);
  if (cm_metrics_compute(&(cm_mapped){CM_DEMAND_OF(&old.network), old.chip, part, 2, core, NULL}, &old.run, &mapping.metrics, &mapping.detail,
                         &error) != CM_OK ||
      cm_mapping_write(&mapping, CM_DEMAND_OF(&old.network), old.chip, NULL, CM_VIEW_FULL_JSON, stream, &error) != CM_OK)
    abort();
  fclose(stream);
  old_file(text, length, &mapping_handle, old.mapping_path);
  old_file(bytes, size, &handle, path);
  cm_status status = check(path, &old, &result, &error);
  if (status == CM_OK)
    cm_check_result_free(&result);
  else if ((status != CM_BAD_MAPPING && status != CM_TOO_LARGE) || error.detail[0] == '\0')
    abort();
  cm_metrics_detail_free(&mapping.detail);
  cm_chip_free(old.chip);
  free(text);
  close(handle);
  close(mapping_handle);
}
