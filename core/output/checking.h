/* What the independent check of a mapping costs beside what making it did. */
#pragma once

#include "core/mapping/mapping.h"

/* Whether the check (core/verify/check.h) takes less than a tenth of the work that the mapping took: an estimate from sizes alone, so
 * that equal jobs get equal answers. O(parts). */
bool cm_checking_is_cheap(const cm_mapping *mapping, const cm_topology *topology, const cm_chip *chip);
