#include "core/network/import_limits.h"

cm_import_limits cm_import_limits_default(void)
{
  return (cm_import_limits){.bytes_max = UINT64_C(1) << 36,
                            .ratio_max = 1000,
                            .vertices_max = UINT32_C(1) << 30,
                            .pins_max = UINT64_C(1) << 36};
}
