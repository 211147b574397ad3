#include "core/machine/smallest.h"

#include <string.h>

#include "core/machine/order.h"
#include "core/machine/plan/partial_sums.h"
#include "core/machine/plan/recurrent_steps.h"
#include "core/machine/schedule/search.h"

typedef struct trying {
  const cm_model *model;
  const cm_plan_options *options;
  bool traffic;
  cm_run *run;
  uint32_t tried;
} trying;

/* CM_TOO_LARGE: it does not do. */
static cm_status try_memory(trying *t, uint64_t bytes, cm_error *error)
{
  cm_plan_options options = *t->options;
  const cm_settings settings = cm_settings_default(bytes);
  cm_model *model = NULL, *cut = NULL;
  cm_plan_candidate candidate;
  cm_draft draft = {0};
  cm_steps steps;
  cm_sums sums = {0};
  options.memory_bytes = bytes;
  options.settings = t->traffic ? NULL : &settings;
  t->tried++;
  CM_TRY(cm_run_check(t->run, error));
  CM_TRY(cm_model_copy(t->model, t->run->memory, &model, error));
  memcpy(model->order, t->model->order, model->order_count * sizeof *model->order); /* a copy is sorted anew */
  cm_status status = cm_steps_unfold(model, options.target, bytes, t->run, &steps, error);
  CM_THEN(status, cm_sums_cut(model, options.target, cm_cut_bytes(options.target, bytes), t->run, &cut, &sums, error));
  const cm_draft_task task = {.model = sums.needed ? cut : model, .options = &options, .chip = options.chip_name, .target = options.target, .run = t->run};
  if (status == CM_OK)
    status = t->traffic ? cm_draft_make(&task, NULL, &draft, error) : cm_plan_candidate_make(task.model, NULL, &options, t->run, &candidate, error);
  cm_draft_free(&draft);
  cm_model_free(cut);
  cm_model_free(model);
  return status;
}

/* What the refusal names as needed. */
static uint64_t named_need(const cm_error *why)
{
  for (size_t i = 0; i < why->figure_count; i++)
    if (strcmp(why->figures[i].name, "needed_bytes") == 0)
      return cm_aligned(why->figures[i].value);
  return 0;
}

/* Where to look next: at the size that seems right, if it is between those known; else at half of what does, until one does not, and then
 * between both. */
static uint64_t next_size(uint64_t refused, uint64_t does, uint64_t seems)
{
  const uint64_t middle = (refused + (does - refused) / 2) / CM_ALIGNMENT * CM_ALIGNMENT;
  return refused < seems && seems < does ? seems : middle;
}

cm_status cm_smallest_memory(const cm_model *model, const cm_plan_options *options, bool traffic, cm_run *run, cm_smallest *found, cm_error *error)
{
  trying t = {.model = model, .options = options, .traffic = traffic, .run = run};
  cm_smallest made = {.bytes = cm_aligned(options->memory_bytes)};
  uint64_t refused = 0, seems = 0;
  cm_run_phase(run, "memory");
  cm_status status = CM_TOO_LARGE;
  while (status == CM_TOO_LARGE) {
    status = try_memory(&t, made.bytes, error);
    if (status != CM_TOO_LARGE || made.bytes > CM_TARGET_MEMORY_MAX / 2)
      break;
    memcpy(made.below, error->detail, sizeof made.below);
    refused = made.bytes;
    seems = named_need(error);
    made.bytes *= 2;
  }
  while (status == CM_OK && made.bytes - refused > CM_ALIGNMENT) {
    const uint64_t at = next_size(refused, made.bytes, seems);
    status = try_memory(&t, at, error);
    if (status == CM_OK) {
      seems = at == seems ? at - CM_ALIGNMENT : 0;
      made.bytes = at;
    } else if (status == CM_TOO_LARGE) {
      memcpy(made.below, error->detail, sizeof made.below);
      refused = at;
      seems = named_need(error);
      status = CM_OK;
    }
  }
  made.tried = t.tried;
  if (status == CM_OK)
    *found = made;
  return status;
}
