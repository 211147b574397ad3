/* Certificates as `coremap check --certificate` reads them, of a legal mapping. */
#include "old_mapping.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static cm_status check(const char *path, old_mapping *old, cm_check_result *result, cm_error *error)
{
  return cm_certificate_check(
    path, old->mapping_path,
    &(cm_check_context){.demand = CM_DEMAND_OF(&old->network), .chip = old->chip, .network_id = "00", .run = &old->run}, result, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  old_mapping_check(data, size, check);
  return 0;
}
