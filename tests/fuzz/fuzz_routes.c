/* Routes as `coremap check --routes` reads them, of a legal mapping: a reason, or a list of what is wrong. */
#include "core/mapping/check/routes_check.h"
#include "core/mapping/export.h"
#include "core/mapping/metrics.h"
#include "old.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static uint32_t part[] = {0, 0, 1}, core[] = {0, 3};
  cm_topology network = old_network();
  cm_chip *chip = old_chip();
  cm_mapping mapping = {.vertex_count = 3, .part_count = 2, .part = part, .core = core};
  cm_error error;
  cm_run run;
  cm_check_result result = {0};
  char path[64], mapping_path[64], *text;
  size_t length;
  int handle, mapping_handle;
  cm_run_init(&run);
  FILE *stream = open_memstream(&text, &length);
  if (cm_metrics_compute(&network, chip, part, 2, core, &run, &mapping.metrics, &mapping.detail, &error) != CM_OK ||
      cm_mapping_write(&mapping, &network, chip, NULL, CM_VIEW_FULL_JSON, stream, &error) != CM_OK)
    abort();
  fclose(stream);
  old_file(text, length, &mapping_handle, mapping_path);
  old_file(data, size, &handle, path);
  cm_status status = cm_routes_check(path, mapping_path, &network, chip, &run, &result, &error);
  if (status == CM_OK)
    cm_check_result_free(&result);
  else if ((status != CM_BAD_MAPPING && status != CM_TOO_LARGE) || error.detail[0] == '\0')
    abort();
  cm_metrics_detail_free(&mapping.detail);
  cm_chip_free(chip);
  free(text);
  close(handle);
  close(mapping_handle);
  return 0;
}
