#include "core/machine/order_report.h"

#include "base/json.h"
#include "core/machine/schedule/search.h"

/* The time when every lane takes pieces in the order of the file as they get their memory, and nothing is loaded ahead: what
 * order and schedule gain over. */
static cm_status fixed_order(const cm_draft_task *task, double *ns, cm_error *error)
{
  cm_plan_candidate candidate;
  cm_settings settings = *task->options->settings;
  cm_plan_options options = *task->options;
  settings.window = 1;
  settings.ahead = 0;
  options.settings = &settings;
  CM_TRY(cm_plan_candidate_make(task->model, NULL, &options, task->run, &candidate, error));
  *ns = candidate.time_ns;
  return CM_OK;
}

static double gain(double before, double after)
{
  return after > 0 ? before / after - 1 : 0;
}

cm_status cm_order_report(const cm_draft_task *task, const cm_order_figures *f, json_t **report, cm_error *error)
{
  double fixed_ns = f->file_ns;
  CM_TRY_IF(task->options->settings != NULL, fixed_order(task, &fixed_ns, error));
  json_t *measured = f->measured_ns[0] == 0 ? NULL
                                            : json_pack("{s:I, s:I}", "file_order_ns", (json_int_t)f->measured_ns[0],
                                                        "found_order_ns", (json_int_t)f->measured_ns[1]);
  json_t *pieces = f->pieces->scored == 0 ? NULL
                                          : json_pack("{s:I, s:f, s:f}", "scored", (json_int_t)f->pieces->scored, "given_ns",
                                                      f->pieces->before_ns, "best_ns", f->pieces->best_ns);
  *report = json_pack("{s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:o*, s:o*}", "key_nodes", (json_int_t)f->key_nodes, "subgraphs",
                      (json_int_t)f->subgraphs, "scored", (json_int_t)f->scored, "fixed_order_ns", fixed_ns, "file_order_ns",
                      f->file_ns, "best_ns", f->best_ns, "schedule_gain", gain(fixed_ns, f->file_ns), "order_gain",
                      gain(f->file_ns, f->best_ns), "measured", measured, "pieces", pieces);
  return cm_whole(*report != NULL, "the report", error);
}
