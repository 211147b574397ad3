/* Writing and checking certificates. What can fail: memory, a stop, the stream; a file that is no certificate. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "core/verify/certificate_facts.h"
#include "core/verify/check_measure.h"
#include "core/verify/check_read.h"
#include "core/verify/check_report.h"

enum { FILE_BYTES_MAX = 64 << 20 };

typedef cm_certificate_facts facts;

/* What the mapping says of how it was made. */
static bool put_told(json_t *json, json_t *options, json_t *widened)
{
  return (options == NULL || json_object_set(json, "options", options) == 0) &&
         (widened == NULL || json_object_set(json, "widened", widened) == 0);
}

cm_status cm_certificate_write(const cm_certified *made, const cm_check_context *context, FILE *stream, cm_error *error)
{
  cm_run_phase(context->run, "certificate");
  facts f = {.made = made, .given = context};
  cm_status status = cm_certificate_find(&f, error);
  cm_free(f.usable);
  json_t *json = status == CM_OK ? cm_certificate_json(&f) : NULL;
  cm_free(f.populations);
  CM_TRY(status);
  if (json != NULL && !put_told(json, made->options, made->widened)) {
    json_decref(json);
    json = NULL;
  }
  char *text;
  CM_TRY(cm_json_text(json, JSON_INDENT(1) | JSON_REAL_PRECISION(17), "the certificate", &text, error));
  errno = 0;
  int failed = fputs(text, stream) < 0 || fputc('\n', stream) < 0 || fflush(stream) != 0;
  free(text);
  return failed ? cm_fail_errno(error, errno != 0 ? errno : EIO, "cannot write", "the certificate") : CM_OK;
}

/* ---- check ---- */

/* A gap is a difference of nearly equal numbers: what a relative error of 1e-6 in its value makes of it is no lie. */
static void compare_gaps(cm_check_result *found, const char *where, const json_t *stated, const json_t *truth)
{
  const json_t *list = json_object_get(stated, "bounds"), *is_list = json_object_get(truth, "bounds");
  for (size_t i = 0; i < json_array_size(is_list); i++) {
    const json_t *says = json_object_get(json_array_get(list, i), "gap_percent"),
                 *is = json_object_get(json_array_get(is_list, i), "gap_percent");
    double gap = json_number_value(is);
    if (json_is_null(is) ? json_is_null(says)
                         : json_is_number(says) && fabs(json_number_value(says) - gap) <= 1e-4 * (2 + fabs(gap) / 100))
      continue;
    cm_check_violation(found, "certificate %s/bounds/%zu/gap_percent is stated as %.17g, but is %.17g", where, i,
                       json_number_value(says), gap);
  }
}

/* The figures of all scenarios; *figures is the caller's. */
static cm_status measure_scenarios(const facts *f, cm_metrics **figures, cm_error *error)
{
  cm_run *run = f->given->run;
  cm_status status = CM_NEW(run->memory, *figures, f->given->demand->scenario_count, error);
  for (uint32_t k = 0; k < f->given->demand->scenario_count && status == CM_OK; k++) {
    cm_check_truth truth = {0};
    const cm_demand view = cm_demand_in_scenario(f->given->demand, k);
    cm_mapped mapped = f->made->mapped;
    mapped.demand = &view;
    status = cm_check_measure(&mapped, run, &truth, error);
    (*figures)[k] = truth.metrics;
    cm_free(truth.core);
  }
  return status;
}

/* All that a certificate of this mapping says, `mapping` being the rest of its file. */
static void compare(cm_check_result *found, json_t *stated, json_t *truth, const json_t *mapping)
{
  cm_check_comparison comparison = {.result = found, .what = "certificate", .except = "gap_percent"};
  compare_gaps(found, "", stated, truth);
  const json_t *scenarios = json_object_get(truth, "scenarios");
  for (size_t i = 0; i < json_array_size(scenarios); i++) {
    char where[32];
    (void)snprintf(where, sizeof where, "/scenarios/%zu", i);
    compare_gaps(found, where, json_array_get(json_object_get(stated, "scenarios"), i), json_array_get(scenarios, i));
  }
  json_t *whole = json_copy(truth);
  if (whole == NULL ||
      !put_told(whole, json_object_get(mapping, "options"), cm_report_widened(json_object_get(mapping, "report"))))
    found->out_of_memory = true;
  else
    cm_check_compare(&comparison, "", stated, whole);
  json_decref(whole);
}

static cm_status read_certificate(const char *path, json_t **json, cm_error *error)
{
  char *text;
  size_t size;
  json_error_t trouble;
  CM_TRY(cm_file_read(path, FILE_BYTES_MAX, &text, &size, error));
  uint64_t refusals = cm_json_refusals();
  json_t *root = cm_json_loadb(text, size, JSON_REJECT_DUPLICATES, &trouble);
  free(text);
  CM_TRY_IF(root == NULL, cm_json_whole(refusals, "the certificate", error));
  if (root == NULL)
    return cm_fail(error, CM_BAD_MAPPING, "the certificate is not valid JSON: line %d: %s", trouble.line, trouble.text);
  const char *format = json_string_value(json_object_get(root, "format"));
  if (format == NULL || strcmp(format, "coremapd certificate 1") != 0) {
    json_decref(root);
    return cm_fail(error, CM_BAD_MAPPING,
                   "the file is no certificate: its \"format\" is not \"coremapd certificate 1\"");
  }
  CM_END(cm_whole(cm_metrics_rename(root), "the certificate", error), *json = root, json_decref(root));
}

/* Parts and cores of a mapping file that cm_check_mapping has found sound. */
static cm_status read_mapping(const char *path, const cm_check_context *context, cm_check_file *file, uint32_t **core,
                              cm_error *error)
{
  FILE *stream = fopen(path, "rbe");
  if (stream == NULL)
    return cm_fail_errno(error, errno, "cannot open", path);
  cm_status status =
    cm_check_read(stream, context->demand->network->vertex_count, cm_chip_cores(context->chip), context->run, file, error);
  fclose(stream);
  CM_THEN(status, CM_NEW(context->run->memory, *core, file->kept_cores, error));
  for (uint64_t i = 0; status == CM_OK && i < file->kept_cores; i++)
    (*core)[file->core[i].part] = (uint32_t)(file->core[i].y * context->chip->width + file->core[i].x);
  return status;
}

/* Everything that a certificate says, from the mapping file and what it is of. */
static cm_status compare_all(const char *mapping_path, const cm_check_context *context, json_t *stated, cm_check_result *found,
                             cm_error *error)
{
  cm_check_file file = {0};
  cm_check_truth truth = {0};
  uint32_t *core = NULL;
  cm_metrics *scenario = NULL;
  cm_certified made = {.metrics = &truth.metrics};
  facts f = {.made = &made, .given = context};
  uint64_t refusals = cm_json_refusals();
  cm_status status = read_mapping(mapping_path, context, &file, &core, error);
  made.mapped = (cm_mapped){
    .demand = context->demand, .chip = context->chip, .part = file.neuron, .parts = (uint32_t)file.kept_cores, .core = core};
  CM_THEN(status, cm_check_measure(&made.mapped, context->run, &truth, error));
  CM_THEN(status, cm_check_paced_step(&file, file.neuron, context->run, &truth.metrics, error));
  made.load = truth.core;
  made.options = json_object_get(file.rest, "options");
  CM_THEN(status, measure_scenarios(&f, &scenario, error));
  made.scenario = scenario;
  CM_THEN(status, cm_certificate_find(&f, error));
  json_t *true_json = status == CM_OK ? cm_certificate_json(&f) : NULL;
  if (true_json != NULL)
    compare(found, stated, true_json, file.rest);
  CM_THEN(status, cm_json_whole(refusals, "the check of the certificate", error));
  CM_THEN(status, cm_check_whole(found, error));
  json_decref(true_json);
  cm_check_file_free(&file);
  CM_FREE(core, truth.core, scenario, f.usable, f.populations);
  return status;
}

cm_status cm_certificate_check(const char *path, const char *mapping_path, const cm_check_context *context,
                               cm_check_result *result, cm_error *error)
{
  cm_check_result found;
  json_t *stated = NULL;
  CM_TRY(read_certificate(path, &stated, error));
  cm_status status = cm_check_mapping(mapping_path, context, &found, error);
  if (status == CM_OK && found.violation_count == 0) { /* figures of an illegal mapping certify nothing */
    status = compare_all(mapping_path, context, stated, &found, error);
    if (status != CM_OK)
      cm_check_result_free(&found);
  }
  json_decref(stated);
  CM_END(status, *result = found, );
}
