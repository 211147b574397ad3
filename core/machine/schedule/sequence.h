/* The sequence in which pieces are given memory: segments of operators, in each depth first. Internal to core/machine. */
#pragma once

#include "core/machine/memory/ordering.h"
#include "core/machine/memory/segment.h"
#include "core/machine/plan/settings.h"

typedef cm_memory_plan cm_sequence; /* without events and traffic */

/* Segments as long as the parameters that they read fit in a share of the memory; inside, the pieces of the operators that
 * nothing in the segment reads draw what they need. Linear in what the pieces read, but for sorting. The caller's:
 * cm_memory_plan_free. Errors: memory. */
cm_status cm_sequence_make(cm_plan *plan, cm_sequence *made, cm_error *error);

/* The same for the operators at places [first, end) of an order, which the ordering holds. */
cm_status cm_sequence_part(cm_ordering *ordering, uint32_t first, uint32_t end, cm_sequence *made, cm_error *error);

/* An ordering as sequences need it; free it with cm_ordering_end, also after a failure. Errors: memory. */
cm_status cm_sequence_ordering(cm_plan *plan, const cm_ordering *like, cm_ordering *ordering, cm_error *error);
