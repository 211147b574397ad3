/* Programs of random models against what is expected of them: numbers, and the bound on their time. */
#pragma once

#include "models.h"

#include "core/machine/run/run_lanes.h"
#include "core/machine/time_bound.h"

UNUSED static cm_plan_options plain(uint64_t bytes, cm_settings *settings)
{
  *settings = cm_settings_default(bytes);
  return options_for(bytes, settings);
}

/* The program of a model, run with all checks, against `expected` of another. */
enum { OUTPUTS_MAX = 3 };

UNUSED static void check_numbers(cm_model *model, uint64_t bytes, cm_tensor **inputs, cm_tensor **expected, double *time_ns)
{
  const cm_simulation_options how = {.compute = true, .check = true};
  cm_settings settings;
  cm_plan_options options = plain(bytes, &settings);
  cm_draft draft;
  cm_program *program;
  cm_simulation result;
  cm_tensor *output[2][OUTPUTS_MAX];
  ck_ok(cm_draft_make(&(cm_draft_task){model, &options, "test", chip->target, &run, NULL}, NULL, &draft, &error));
  ck_ok(cm_link(&draft.emission, &program, &error));
  for (int k = 0; k < 2; k++)
    ck_ok(cm_simulate(program, inputs, &how, &run, output[k], &result, &error));
  ck_assert_uint_le(result.peak_bytes, bytes);
  for (size_t o = 0; o < model->output_count; o++) {
    ck_assert_int_eq(cm_tensor_deviates(output[0][o], expected[o], 1e-4, 1e-4), -1);
    ck_assert(cm_tensor_equal(output[0][o], output[1][o]));
    cm_tensor_free(output[0][o]);
    cm_tensor_free(output[1][o]);
  }
  *time_ns = result.time_ns;
  cm_program_free(program);
  cm_draft_free(&draft);
}

/* The bound, of the model as it is before sums are cut, whatever the memory, holds for programs of it. */
UNUSED static void check_bound(cm_model *model, uint64_t bytes, double time_ns)
{
  cm_settings settings;
  cm_plan_options options = plain(1 << 30, &settings);
  cm_plan *plan;
  cm_time_bound bound;
  ck_ok(cm_plan_new(model, NULL, &options, &run, &plan, &error));
  plan->memory_bytes = bytes;
  ck_ok(cm_time_bound_make(plan, chip->target, &run, &bound, &error));
  ck_assert_msg(bound.ns <= time_ns * (1 + 1e-9), "%g ns, bound %g", time_ns, bound.ns);
  cm_plan_free(plan);
}

UNUSED static void set_text(graph *g, const char *name, const char *text)
{
  cm_node *n = graph_last(g);
  cm_attribute *all = cm_arena_allocate(&g->model->arena, n->attribute_count + 1, sizeof *all, &error);
  ck_assert_ptr_nonnull(all);
  for (size_t i = 0; i < n->attribute_count; i++)
    all[i] = n->attributes[i];
  all[n->attribute_count++] = (cm_attribute){.name = name, .kind = CM_ATTRIBUTE_STRING, .text = text, .count = strlen(text)};
  n->attributes = all;
}
