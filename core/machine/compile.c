/* Read, understand, optimise; for a chip: split, order, emit, link; verify when asked, write. */
#include "core/machine/compile.h"

#include "base/json.h"
#include "core/machine/order.h"
#include "core/machine/plan/partial_sums.h"
#include "core/machine/plan/recurrent_steps.h"
#include "core/machine/plan/row_turns.h"
#include "core/machine/report.h"
#include "core/machine/run/node_table.h"
#include "core/machine/run/timeline.h"
#include "core/machine/schedule/search.h"
#include "core/machine/smallest.h"
#include "core/machine/tiles/compile_tiles.h"
#include "core/operators/control.h"
#include "core/operators/evaluate.h"
#include "core/operators/model_check.h"
#include "core/operators/onnx/onnx.h"
#include "core/operators/operator.h"
#include "core/operators/permute/permutations.h"
#include "core/operators/quantized.h"

enum { PACKED_SHARE = 256 }; /* of the memory: a constant in a pack at most */

/* Of the seconds for searches; the rest is for the order of operators. */
static const double SETTINGS_SHARE = 0.7;

typedef struct compiling {
  const cm_compile_options *options;
  const cm_chip *chip;
  cm_run *run;
  uint64_t memory; /* bytes on the chip that a program may use; 0: nothing is made for a chip */
  cm_model *given, *made;
  cm_model *cut;   /* `made` with sums cut; NULL: nothing is to be cut, or it does not pay */
  cm_sums sums;
  uint32_t turns;  /* of the program */
  cm_compile_stage last;
  cm_draft draft;
  cm_program *program;
  json_t *report, *search;
  cm_quantized quantized;
  cm_packs packs;
  cm_plan_candidate best; /* settings that the search found */
  cm_target *part;   /* of the chip, that they are for; NULL: there was no search */
} compiling;

/* ---- from the model to a program ---- */

/* Takes the reference to what a stage has to say. */
static cm_status add_report(compiling *c, const char *name, json_t *report, cm_error *error)
{
  return cm_json_set(c->report, name, report, "the report", error);
}

/* What the program is of. */
static cm_model *planned(const compiling *c)
{
  return c->cut != NULL ? c->cut : c->made;
}

static void forget_cut(compiling *c)
{
  cm_model_free(c->cut);
  c->cut = NULL;
}

static cm_status make_packs(compiling *c, const cm_plan_options *options, cm_error *error)
{
  cm_packs_free(&c->packs);
  c->packs = (cm_packs){0};
  return cm_packs_make(planned(c), c->chip->target, options->memory_bytes / PACKED_SHARE, c->run, &c->packs, error);
}

/* Of the time that is left: the first search, where two models are searched; a program from what was found. */
static const double share_of_first_search = 0.4, share_of_draft = 0.02;

/* Searches the settings; where sums may be cut, of the model with and without, and takes the faster. */
static cm_status search_settings(compiling *c, const cm_plan_options *options, const cm_search_options *search, cm_error *error)
{
  cm_model *cut = c->cut;
  cm_plan_candidate best;
  json_t *report;
  if (cut == NULL || c->sums.needed)
    return cm_settings_search(planned(c), options, search, c->run, &c->best, &c->search, error);
  c->cut = NULL;
  const size_t mark = cm_run_enter(c->run, share_of_first_search);
  if (make_packs(c, options, error) != CM_OK ||
      cm_settings_search(c->made, options, search, c->run, &c->best, &c->search, error) != CM_OK) {
    c->cut = cut;
    return error->status;
  }
  cm_run_leave(c->run, mark);
  c->cut = cut;
  cm_status status = make_packs(c, options, error);
  CM_THEN(status, cm_settings_search(cut, options, search, c->run, &best, &report, error));
  if (status != CM_OK && status != CM_TOO_LARGE)
    return status;
  if (status == CM_OK && best.time_ns < c->best.time_ns) {
    json_decref(c->search);
    c->search = report;
    c->best = best;
    return CM_OK;
  }
  if (status == CM_OK)
    json_decref(report);
  forget_cut(c); /* slower, or a piece of it does not fit where the whole ones do */
  return make_packs(c, options, error);
}

static cm_status make_draft(compiling *c, cm_plan_options *options, json_t **order, cm_error *error)
{
  const double seconds = c->options->search_seconds, start = cm_now();
  const cm_search_options search = {c->options->scores, seconds * SETTINGS_SHARE, c->options->until_ns};
  const cm_order_limits limits = {c->options->scores, seconds > 0 ? start + seconds : 0, c->options->until_ns,
                                  c->options->order == CM_COMPILE_ORDER_SAMPLE ? CM_ORDER_SAMPLE : CM_ORDER_AUTO,
                                  c->options->order != CM_COMPILE_ORDER_SEARCH};
  if (options->settings != NULL) {
    CM_TRY(search_settings(c, options, &search, error));
    options->settings = &c->best.settings;
    CM_TRY(CM_NEW(c->run->memory, c->part, 1, error));
    cm_target_copy(c->part, c->chip->target);
    (void)cm_subchip_make(&c->best.part, c->part, &options->memory_bytes);
    options->target = c->part;
  }
  const cm_order_measure measure = {c->options->measure, c->options->measure_path, c->options->measure_seconds};
  const cm_draft_task task = {
    .model = planned(c), .options = options, .chip = c->chip->name, .target = c->chip->target, .run = c->run};
  const size_t mark = cm_run_enter(c->run, share_of_draft);
  CM_TRY(cm_draft_make(&task, NULL, &c->draft, error));
  cm_run_leave(c->run, mark);
  return c->options->order == CM_COMPILE_ORDER_FILE || options->division != CM_DIVISION_CAPABILITY
           ? CM_OK
           : cm_order_search(&task, measure.command != NULL ? &measure : NULL, &limits, &c->draft, order, error);
}

/* Times of what is compared with. */
static cm_status compare(compiling *c, cm_baselines *made, cm_error *error)
{
  const cm_settings settings = cm_settings_default(c->memory);
  const cm_plan_options options = {.memory_bytes = c->memory, .tile_share = CM_TILE_SHARE, .chip_name = c->chip->name,
                                   .target = c->chip->target, .settings = &settings,
                                   .packs = c->packs.value_count > 0 ? &c->packs : NULL, .turns = c->turns};
  return cm_baselines_make(planned(c), &options, c->search != NULL ? &c->best.settings : &settings, c->run, made, error);
}

/* The plan that bounds are of: of a program for a part of the chip, one for the whole; of one whose sums are cut, one with
 * none cut, which may need more memory than there is. */
static cm_status whole_plan(compiling *c, cm_plan **whole, cm_error *error)
{
  const uint64_t memory = c->cut != NULL ? CM_TARGET_MEMORY_MAX : c->memory;
  const cm_settings settings = cm_settings_default(c->memory);
  const cm_plan_options options = {.memory_bytes = memory, .tile_share = CM_TILE_SHARE, .target = c->chip->target,
                                   .chip_name = c->chip->name, .settings = &settings, .turns = c->turns};
  *whole = NULL;
  if (c->part == NULL && c->cut == NULL)
    return CM_OK;
  CM_TRY(cm_plan_new(c->made, NULL, &options, c->run, whole, error));
  (*whole)->memory_bytes = c->memory / CM_ALIGNMENT * CM_ALIGNMENT;
  return CM_OK;
}

/* Takes the reference to what the search for an order has to say. */
static cm_status make_program(compiling *c, json_t *order, cm_error *error)
{
  cm_time_bound bound;
  cm_analysis analysis = {0};
  cm_plan *whole = NULL;
  json_t *nodes = NULL;
  cm_program_times times = {.analysis = &analysis, .bound = &bound};
  cm_run_phase(c->run, "bound");
  cm_status status = whole_plan(c, &whole, error);
  CM_THEN(status, cm_time_bound_make(whole != NULL ? whole : c->draft.plan, c->chip->target, c->run, &bound, error));
  CM_THEN(status, compare(c, &times.baselines, error));
  cm_run_phase(c->run, "link");
  CM_THEN(status, cm_link(&c->draft.emission, &c->program, error));
  CM_THEN(status, cm_analysis_make(c->program, c->run, &analysis, error));
  if (status == CM_OK)
    status = add_report(c, "program", cm_program_report(&c->draft, c->program, &times, order, c->search), error);
  else
    json_decref(order);
  CM_THEN(status, cm_node_table(c->program, &analysis, &nodes, error));
  CM_THEN(status, add_report(c, "nodes", nodes, error));
  CM_THEN(status, add_report(c, "graph", cm_graph_report(c->draft.plan->model), error));
  cm_analysis_free(&analysis);
  cm_plan_free(whole);
  return status;
}

/* Shapes of what the rewrite made, products in integers, and whether all of it can be computed. */
static cm_status understand(compiling *c, cm_error *error)
{
  const cm_quantized *q = &c->quantized;
  if (cm_infer(c->made, c->run, error) != CM_OK || cm_model_quantize(c->made, c->run, &c->quantized, error) != CM_OK ||
      cm_infer(c->made, c->run, error) != CM_OK || cm_model_check(c->made, error) != CM_OK)
    return error->status;
  CM_TRY_IF(q->products + q->moves > 0, add_report(c, "quantized", json_pack("{s:i, s:i}", "products", (int)q->products, "moves", (int)q->moves), error));
  return CM_OK;
}

/* Looks for the memory where that is asked for. */
static cm_status find_memory(compiling *c, const cm_plan_options *options, cm_error *error)
{
  cm_smallest found;
  if (!c->options->smallest_memory)
    return CM_OK;
  CM_TRY(cm_smallest_memory(c->made, options, c->options->least_traffic, c->run, &found, error));
  c->memory = found.bytes;
  return add_report(c, "smallest_memory", json_pack("{s:I, s:i, s:i, s:s*}", "bytes", (json_int_t)found.bytes, "step_bytes", CM_ALIGNMENT, "tried",
                                                    (int)found.tried, "below", found.below[0] != '\0' ? found.below : NULL), error);
}

/* Recurrent operators in steps and sums in parts, as the memory needs it. */
static cm_status unfold(compiling *c, cm_error *error)
{
  cm_steps steps;
  CM_TRY(cm_steps_unfold(c->made, c->chip->target, c->memory, c->run, &steps, error));
  CM_TRY_IF(steps.operators > 0, add_report(c, "recurrent", json_pack("{s:i, s:i}", "operators", (int)steps.operators, "steps", (int)steps.steps), error));
  return cm_sums_cut(c->made, c->chip->target, cm_cut_bytes(c->chip->target, c->memory), c->run, &c->cut, &c->sums, error);
}

/* The stages after permutations, up to the last one. */
static cm_status make(compiling *c, cm_error *error)
{
  json_t *order = NULL;
  if (c->last == CM_STAGE_PERMUTATIONS)
    return CM_OK;
  cm_plan_options options = {.tile_share = CM_TILE_SHARE, .target = c->chip->target, .chip_name = c->chip->name,
                             .memory_bytes = c->memory, .division = c->options->division};
  if (c->options->least_traffic && options.target->memory_count > 0)
    return cm_fail(error, CM_BAD_OPTION, "objective \"traffic\" plans for one memory, and cores of chip %s have memories of their "
                   "own: objective \"time\" knows them", c->chip->name);
  cm_status status = understand(c, error);
  CM_THEN(status, find_memory(c, &options, error));
  CM_THEN(status, unfold(c, error));
  const cm_settings settings = cm_settings_default(c->memory);
  options.memory_bytes = c->memory;
  options.settings = c->options->least_traffic ? NULL : &settings;
  if (!c->sums.needed && options.settings == NULL)
    forget_cut(c);
  CM_THEN_IF(status, options.settings != NULL, make_packs(c, &options, error));
  if (status == CM_OK && options.settings != NULL && c->last == CM_STAGE_PROGRAM && c->cut == NULL && c->chip->target->window == 0 &&
      cm_target_lanes(c->chip->target, CM_UNIT_HOST) == 0) /* which works on whole tensors */
    status = cm_turns_find(c->made, c->memory, c->run, &c->turns, error);
  if (status != CM_OK)
    return status;
  options.turns = c->turns;
  options.packs = &c->packs;
  status = make_draft(c, &options, &order, error);
  CM_THEN(status, add_report(c, "split", cm_pieces_report(c->draft.plan), error));
  if (status == CM_OK && c->cut != NULL)
    status = add_report(c, "partial_sums", json_pack("{s:i, s:i}", "operators", (int)c->sums.operators, "parts", (int)c->sums.parts),
                        error);
  if (status == CM_OK && c->last >= CM_STAGE_TILE)
    return make_program(c, order, error);
  if (status == CM_OK && order != NULL && c->last == CM_STAGE_ORDER)
    return add_report(c, "order", order, error);
  json_decref(order);
  return status;
}

/* ---- the pipeline ---- */

static cm_status begin(compiling *c, cm_error *error)
{
  cm_run *run = c->run;
  const cm_compile_options *options = c->options;
  run->seed = options->seed;
  run->threads = options->threads;
  run->deadline = options->time_limit > 0 ? cm_now() + options->time_limit : 0;
  if (run->memory != NULL && options->memory_limit > 0)
    run->memory->limit_bytes = options->memory_limit;
  c->last = cm_compile_last_stage(options, c->chip);
  CM_TRY(cm_options_check(&cm_compile_option_table, options, c->chip == NULL ? CM_COMPILE_NO_CHIP : 0, NULL, error));
  if (c->last == CM_STAGE_PERMUTATIONS)
    return CM_OK;
  if (c->chip->target == NULL) {
    (void)cm_fail(error, CM_BAD_CHIP, "chip %s runs no programs, as its file has no \"machine\" with memory and units: name one that does "
                  "(npu-embedded), or none to rewrite the model",
                  c->chip->name);
    return cm_fail_at(error, "/machine");
  }
  c->memory = options->memory > 0 ? options->memory : c->chip->target->memory_bytes;
  return CM_OK;
}

/* What is asked for beside a program, or instead. */
static cm_status write_tiles(compiling *c, const char *out, cm_error *error)
{
  const cm_compile_options *o = c->options;
  const char *network = c->last == CM_STAGE_TILE ? out : o->tiles, *mapping = c->last == CM_STAGE_MAPPING ? out : o->mapping;
  const cm_tiles_input input = {c->draft.plan, c->program, c->draft.emission.pieces, c->chip, o->verify};
  if (c->last == CM_STAGE_PROGRAM && (o->tiles == NULL || !o->make_tiles))
    return CM_OK;
  return cm_compile_tiles(&input, network, mapping, c->run, c->report, error);
}

static cm_status write_last(compiling *c, const char *out, const char *timeline, cm_error *error)
{
  const cm_draft *d = &c->draft;
  switch (c->last) {
  case CM_STAGE_SPLIT: return cm_pieces_write(d->plan, d->emission.pieces, d->emission.piece_count, true, out, error);
  case CM_STAGE_ORDER: return cm_pieces_write(d->plan, d->emission.pieces, d->emission.piece_count, false, out, error);
  case CM_STAGE_TILE:
  case CM_STAGE_MAPPING:
  case CM_STAGE_PROGRAM:
    if ((c->last == CM_STAGE_PROGRAM && cm_program_write(c->program, out, error) != CM_OK) ||
        (timeline != NULL && cm_timeline_write(c->program, c->chip->name, c->run, timeline, error) != CM_OK))
      return error->status;
    return write_tiles(c, out, error);
  default: return cm_onnx_write(c->made, out, error);
  }
}

static cm_status run_stages(compiling *c, const char *path, const char *out, const char *timeline, cm_error *error)
{
  cm_run_phase(c->run, "read");
  if ((c->options->beside ? cm_onnx_read_beside : cm_onnx_read)(path, c->run, &c->given, error) != CM_OK)
    return error->status;
  cm_run_phase(c->run, "shapes");
  bool whole = c->last != CM_STAGE_PERMUTATIONS; /* without a chip, dimensions may stay open and subgraphs stay */
  if (cm_model_state_shapes(c->given, &c->options->shapes, error) != CM_OK ||
      (whole && cm_model_need_shapes(c->given, error) != CM_OK) ||
      (whole ? cm_model_unroll : cm_infer)(c->given, c->run, error) != CM_OK ||
      cm_permutations_optimise(c->given, c->run, &c->made, &c->report, error) != CM_OK || make(c, error) != CM_OK)
    return error->status;
  /* What is computed in integers differs from the model given by steps of its scales: the program is beside those. */
  cm_model *before = c->quantized.products + c->quantized.moves > 0 ? c->made : c->given;
  CM_TRY_IF(c->options->verify, cm_compile_verify(before, c->made, c->program, c->run, c->report, error));
  cm_run_phase(c->run, "write");
  (void)json_object_set_new(c->report, "stage", json_string(cm_compile_stage_name(c->last)));
  (void)json_object_set_new(c->report, "opset", json_integer(c->given->opset));
  return write_last(c, out, timeline, error);
}

cm_status cm_compile(const char *path, const cm_compile_options *options, const cm_chip *chip, cm_run *run,
                     const char *out, const char *timeline, json_t **report, cm_error *error)
{
  compiling c = {.options = options, .chip = chip, .run = run};
  uint64_t refusals = cm_json_refusals();
  cm_status status = begin(&c, error);
  CM_THEN(status, run_stages(&c, path, out, timeline, error));
  CM_THEN(status, cm_json_whole(refusals, "the report", error));
  if (status == CM_OK)
    *report = json_incref(c.report);
  json_decref(c.report);
  json_decref(c.search);
  cm_packs_free(&c.packs);
  cm_program_free(c.program);
  cm_draft_free(&c.draft);
  cm_free(c.part);
  cm_model_free(c.cut);
  cm_model_free(c.made);
  cm_model_free(c.given);
  return status;
}
