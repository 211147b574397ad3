/* Models to programs. */
#include "base/json.h"
#include "core/machine/compile.h"
#include "core/operators/evaluate.h"
#include "core/operators/onnx/onnx.h"
#include "core/operators/permute/permutations.h"
#include "library/internal.h"

/* The model, what it becomes, and files beside that, "": not made. */
typedef struct beside {
  const char *model, *out;
  char timeline[CM_PATH_MAX], tiles[CM_PATH_MAX], mapping[CM_PATH_MAX], measure[CM_PATH_MAX], scratch[CM_PATH_MAX], program[CM_PATH_MAX];
  bool weights;
} beside;

enum { MEASURE_SECONDS = 60 };

static cm_status read_beside(const char *text, beside *b, cm_error *error)
{
  json_t *object = NULL;
  CM_TRY(library_options(text, &object, error));
  const json_t *weights = json_object_get(object, "beside");
  b->weights = !json_is_false(weights);
  cm_status status = weights == NULL || json_is_boolean(weights) ? CM_OK : cm_option_refuse(error, "beside", "true or false");
  (void)json_object_del(object, "beside");
  CM_THEN(status, library_take_text(object, "timeline", b->timeline, error));
  CM_THEN(status, library_take_text(object, "tiles", b->tiles, error));
  CM_THEN(status, library_take_text(object, "mapping", b->mapping, error));
  CM_THEN(status, library_take_text(object, "measure", b->measure, error));
  CM_THEN(status, library_nothing_left(object, "files beside a program", error));
  json_decref(object);
  return status;
}

static const char *or_none(const char *path)
{
  return path[0] != '\0' ? path : NULL;
}

/* With a folder for what is measured. */
static cm_status compile(const coremap_chip *chip, cm_compile_options *options, beside *b, cm_run *run, json_t **report, cm_error *error)
{
  cm_error ignored;
  if (b->measure[0] != '\0' && (cm_folder_scratch(b->scratch, error) != CM_OK || cm_path(b->program, error, "%s/program", b->scratch) != CM_OK))
    return error->status;
  options->beside = b->weights;
  options->tiles = or_none(b->tiles);
  options->mapping = or_none(b->mapping);
  options->measure = or_none(b->measure);
  options->measure_path = b->program;
  options->measure_seconds = MEASURE_SECONDS;
  cm_status status =
    cm_compile(b->model, options, chip != NULL ? chip->chip : NULL, run, b->out, or_none(b->timeline), report, error);
  if (b->scratch[0] != '\0')
    (void)cm_folder_remove(b->scratch, &ignored);
  return status;
}

static cm_status read_options(const char *text, cm_compile_options *options, cm_error *error)
{
  json_t *object = NULL;
  cm_status status = library_options(text, &object, error);
  CM_THEN(status, cm_compile_options_read(object, options, error));
  json_decref(object);
  return status;
}

int coremap_compile_files(const char *model, const coremap_chip *chip, const char *options_text, const char *files, const char *out,
                          coremap_progress progress, void *user, char **report, coremap_error **error)
{
  cm_error e;
  library_run r;
  cm_compile_options options;
  beside b = {.model = model, .out = out};
  json_t *made = NULL;
  cm_status status = read_options(options_text, &options, &e);
  CM_THEN(status, read_beside(files, &b, &e));
  if (status != CM_OK)
    return library_tell(status, &e, error);
  library_begin(&r, progress, user);
  status = compile(chip, &options, &b, r.run, &made, &e);
  cm_run_finish(r.run);
  return library_tell(library_text_of(status, made, JSON_COMPACT, report, &e), &e, error);
}

int coremap_compile(const char *model, const coremap_chip *chip, const char *options, const char *out, coremap_progress progress,
                    void *user, char **report, coremap_error **error)
{
  return coremap_compile_files(model, chip, options, NULL, out, progress, user, report, error);
}

int coremap_compile_last(const char *text, const coremap_chip *chip, const char **stage, coremap_error **error)
{
  cm_error e;
  cm_compile_options options;
  cm_status status = read_options(text, &options, &e);
  if (status == CM_OK)
    *stage = cm_compile_stage_name(cm_compile_last_stage(&options, chip != NULL ? chip->chip : NULL));
  return library_tell(status, &e, error);
}

/* ---- what a model is ---- */

static json_t *dims_json(const cm_value *v)
{
  json_t *dims = json_array();
  for (uint32_t k = 0; k < v->shape.rank; k++)
    (void)json_array_append_new(dims, v->shape.dims[k] >= 0     ? json_integer(v->shape.dims[k])
                                      : v->dim_names[k] != NULL ? json_string(v->dim_names[k])
                                                                : json_null());
  return dims;
}

static json_t *ends_json(const cm_model *model, const uint32_t *values, size_t count)
{
  json_t *ends = json_array();
  for (size_t i = 0; i < count; i++) {
    const cm_value *v = &model->values[values[i]];
    (void)json_array_append_new(ends, json_pack("{s:s, s:s, s:o*}", "name", v->name, "type", cm_type_name(v->shape.type), "dims",
                                                v->shape.rank != CM_UNKNOWN_RANK ? dims_json(v) : NULL));
  }
  return ends;
}

static cm_status describe(const cm_model *model, char **json, cm_error *error)
{
  const uint64_t refusals = cm_json_refusals();
  return library_whole_text(json_pack("{s:I, s:s, s:I, s:I, s:o, s:o}", "opset", (json_int_t)model->opset, "producer", model->producer_name,
                                "operators", (json_int_t)model->order_count, "permutation_bytes", (json_int_t)cm_permutation_bytes(model),
                                "inputs", ends_json(model, model->inputs, model->input_count), "outputs",
                                ends_json(model, model->outputs, model->output_count)),
                      refusals, json, error);
}

int coremap_model_about(const char *path, const char *options_text, char **json, coremap_error **error)
{
  cm_error e;
  library_run r;
  cm_compile_options options;
  cm_model *model;
  cm_status status = read_options(options_text, &options, &e);
  library_begin(&r, NULL, NULL);
  CM_THEN(status, cm_onnx_read_beside(path, r.run, &model, &e));
  if (status != CM_OK)
    return library_tell(status, &e, error);
  status = cm_model_state_shapes(model, &options.shapes, &e);
  CM_THEN(status, cm_infer(model, r.run, &e));
  CM_THEN(status, describe(model, json, &e));
  cm_model_free(model);
  return library_tell(status, &e, error);
}
