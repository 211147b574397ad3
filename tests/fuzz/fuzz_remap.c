/* Old mappings as `coremap map --from` reads them: whatever they say, the new mapping is legal, or they are refused. */
#include "core/limits/limits.h"
#include "core/mapping/options.h"
#include "core/solver/map.h"
#include "old.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  cm_topology network = old_network();
  cm_chip *chip = old_chip();
  cm_error error;
  cm_run run;
  cm_map_options *options;
  cm_mapping *mapping;
  char path[64];
  int handle;
  old_file(data, size, &handle, path);
  cm_run_init(&run);
  json_t *json = json_pack("{s:s}", "preset", "fast");
  if (cm_map_options_parse(json, &options, &error) != CM_OK)
    abort();
  cm_map_input input = {.demand = CM_DEMAND_OF(&network), .chip = chip, .options = options, .scratch_folder = "/tmp", .from = path};
  cm_status status = cm_map(&input, &run, &mapping, &error);
  if (status == CM_OK) {
    uint64_t use[4 * CM_RESOURCES];
    if (mapping->part_count > 4 ||
        cm_count_use(CM_DEMAND_OF(&network), mapping->part, mapping->part_count, &run, use, &error) != CM_OK ||
        cm_find_violation(&chip->limits, use, mapping->part_count).broken_parts > 0)
      abort();
    cm_mapping_free(mapping);
  } else if (status != CM_BAD_MAPPING || error.detail[0] == '\0')
    abort();
  cm_map_options_free(options);
  json_decref(json);
  cm_chip_free(chip);
  close(handle);
  return 0;
}
