/* What the search for an order of operators found. */
#pragma once

#include "core/machine/order.h"

typedef struct cm_order_figures {
  uint64_t key_nodes, subgraphs, scored;
  double file_ns, best_ns;  /* by the cost model: of the order of the file, and of what was found */
  uint64_t measured_ns[2];  /* the same by a command, where that decided; 0: it did not */
  const cm_piece_order *pieces; /* scored 0: they were not searched */
} cm_order_figures;

/* *report (new reference): what cm_order_search says. Makes one more candidate. Errors: those of cm_plan_candidate_make. */
cm_status cm_order_report(const cm_draft_task *task, const cm_order_figures *figures, json_t **report, cm_error *error);
