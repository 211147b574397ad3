/* Chip files and occupancies: what parses prints, and what prints parses to the same text. The first line of the
 * input is the chip, the rest an occupancy for it. */
#include <stdlib.h>
#include <string.h>

#include "base/run.h"
#include "core/chip/reach.h"
#include "core/chip/region.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool truth)
{
  if (!truth)
    abort();
}

static void try_occupancy(const cm_chip *chip, const char *text, size_t size)
{
  cm_error error;
  cm_occupancy *occupancy, *again;
  if (cm_occupancy_parse(chip, text, size, &occupancy, &error) != CM_OK) {
    must(error.detail[0] != '\0');
    return;
  }
  char *first, *second;
  must(cm_occupancy_print(occupancy, chip, &first, &error) == CM_OK);
  must(cm_occupancy_parse(chip, first, strlen(first), &again, &error) == CM_OK);
  must(cm_occupancy_print(again, chip, &second, &error) == CM_OK);
  must(strcmp(first, second) == 0);
  cm_run run;
  cm_run_init(&run);
  cm_region *region;
  uint32_t usable_count, cores = cm_chip_cores(chip);
  uint8_t *usable = malloc(cores);
  must(usable != NULL);
  must(cm_usable_cores(chip, occupancy, NULL, usable, &usable_count, &error) == CM_OK);
  free(usable);
  must(usable_count <= cm_occupancy_free_count(occupancy));
  uint32_t wanted = usable_count / 2 + 1, found = 0;
  cm_status status = cm_region_choose(chip, occupancy, wanted, &run, &region, &error);
  must(status == (wanted > usable_count ? CM_NO_ROOM : CM_OK));
  cm_region *several[2];
  must(cores > 4096 || cm_region_candidates(chip, occupancy, wanted, 2, &run, several, &found, &error) == status);
  for (uint32_t i = 0; i < found; i++) {
    must(several[i]->core_count == wanted);
    cm_region_free(several[i]);
  }
  if (status == CM_OK) {
    must(region->core_count == wanted);
    cm_region_free(region);
  }
  free(first);
  free(second);
  cm_occupancy_free(occupancy);
  cm_occupancy_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *text = (const char *)data;
  const char *end = size == 0 ? NULL : memchr(text, '\n', size);
  size_t line = end == NULL ? size : (size_t)(end - text);
  cm_error error;
  cm_chip *chip, *again;
  if (cm_chip_parse(text, line, &chip, &error) != CM_OK) {
    must(error.detail[0] != '\0');
    return 0;
  }
  char *first, *second;
  must(cm_chip_print(chip, &first, &error) == CM_OK);
  must(cm_chip_parse(first, strlen(first), &again, &error) == CM_OK);
  must(cm_chip_print(again, &second, &error) == CM_OK);
  must(strcmp(first, second) == 0);
  if (end != NULL && cm_chip_cores(chip) <= 4096) /* larger ones only cost time */
    try_occupancy(chip, end + 1, size - line - 1);
  free(first);
  free(second);
  cm_chip_free(chip);
  cm_chip_free(again);
  return 0;
}
