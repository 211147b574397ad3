#include "core/mapping/mapping.h"

#include "core/mapping/metrics.h"

void cm_mapping_free(cm_mapping *mapping)
{
  if (mapping == NULL)
    return;
  cm_free(mapping->part);
  cm_free(mapping->core);
  cm_region_free(mapping->region);
  cm_metrics_detail_free(&mapping->detail);
  json_decref(mapping->options);
  json_decref(mapping->report);
  cm_free(mapping);
}
