/* What is said of a program and of its pieces, and what is verified. */
#pragma once

#include <jansson.h>

#include "core/machine/baselines.h"
#include "core/machine/compile.h"
#include "core/machine/order.h"
#include "core/machine/run/analysis.h"
#include "core/machine/time_bound.h"

/* Computes the model given and what was made of it (`program`, or `after` when that is NULL) on random inputs, and adds
 * "verified" to the report. */
cm_status cm_compile_verify(cm_model *before, cm_model *after, const cm_program *program, cm_run *run, json_t *report,
                            cm_error *error);

/* What explains the time of a program. */
typedef struct cm_program_times {
  const cm_analysis *analysis;
  const cm_time_bound *bound;
  cm_baselines baselines;
} cm_program_times;

/* What is said of a program (docs/explanation/programs.md). Takes the reference to `order` (of cm_order_search; NULL: no search), and adds
 * `search` (of cm_settings_search). NULL when memory is short. */
json_t *cm_program_report(const cm_draft *draft, const cm_program *program, const cm_program_times *times, json_t *order,
                          json_t *search);

/* Writes pieces of a plan to `path` as JSON, in the order given, or `by_operator`: in that of the file's operators
 * (docs/explanation/programs.md). Errors: memory, CM_IO, CM_DISK_FULL. */
cm_status cm_pieces_write(const cm_plan *plan, const uint32_t *pieces, size_t count, bool by_operator, const char *path,
                          cm_error *error);

/* {"computed", "cut", "pieces"}: the operators of a plan; a new reference, NULL when memory is short. */
json_t *cm_pieces_report(const cm_plan *plan);

/* [{"node", "operator", "reads": [{"from": the node that makes the value, or the name of an input, "value", "type", "shape"}]}], in an order in
 * which each stands behind what it reads; constants are left out. A new reference, NULL when memory is short. O(nodes and their inputs). */
json_t *cm_graph_report(const cm_model *model);

/* What the search for an order of operators found. */
typedef struct cm_order_figures {
  uint64_t key_nodes, subgraphs, scored;
  double file_ns, best_ns;  /* by the cost model: of the order of the file, and of what was found */
  uint64_t measured_ns[2];  /* the same by a command, where that decided; 0: it did not */
  const cm_piece_order *pieces; /* scored 0: they were not searched */
} cm_order_figures;

/* *report (new reference): what cm_order_search says. Makes one more candidate. Errors: those of cm_plan_candidate_make. */
cm_status cm_order_report(const cm_draft_task *task, const cm_order_figures *figures, json_t **report, cm_error *error);
