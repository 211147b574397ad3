/* Mapping files as `coremap check` reads them, against a network of three neurons on a chip of 2 x 2. */
#include <stdio.h>
#include <stdlib.h>

#include "base/run.h"
#include "core/verify/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static uint64_t first[] = {0, 2, 3, 3}, rate[] = {4, 2, 1};
  static uint32_t pin[] = {1, 2, 0};
  const cm_topology network = {.directed = true, .vertex_count = 3, .net_count = 3, .pin_count = 3,
                               .net_first = first, .net_weight = rate, .pin = pin, .size_total = 3,
                               .weight_scale = 1};
  if (size == 0)
    return 0;
  cm_error error;
  cm_chip *chip;
  FILE *stream = fmemopen((void *)(uintptr_t)data, size, "r");
  if (stream == NULL || cm_chip_mesh(2, 2, &chip, &error) != CM_OK)
    abort();
  cm_run run;
  cm_run_init(&run);
  cm_check_result result;
  cm_status status =
    cm_check_mapping_stream(stream, &(cm_check_context){.demand = CM_DEMAND_OF(&network), .chip = chip, .run = &run}, &result, &error);
  if (status == CM_OK)
    cm_check_result_free(&result);
  else if (status != CM_BAD_MAPPING || error.detail[0] == '\0')
    abort();
  cm_chip_free(chip);
  fclose(stream);
  return 0;
}
