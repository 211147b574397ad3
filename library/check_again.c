#include "library/check_again.h"

#include <errno.h>
#include <inttypes.h>

#include "base/file.h"
#include "core/output/views.h"
#include "core/output/renamed.h"
#include "core/solver/map.h"
#include "core/mapping/options.h"
#include "core/verify/check_read.h"
#include "core/verify/check_report.h"

static cm_status read_file(const char *path, const cm_check_context *context, cm_check_file *file, cm_error *error)
{
  FILE *stream = fopen(path, "rbe");
  if (stream == NULL)
    return cm_fail_errno(error, errno, "cannot open", path);
  cm_status status =
    cm_check_read(stream, context->demand->network->vertex_count, cm_chip_cores(context->chip), context->run, file, error);
  (void)fclose(stream);
  return status;
}

/* Maps with the stated options and writes the result to `path`. */
static cm_status map_again(const json_t *stated, cm_map_input *input, cm_run *run, const char *path, cm_error *error)
{
  cm_map_options *options;
  cm_mapping *mapping = NULL;
  cm_file file = {0};
  CM_TRY(cm_map_options_parse(stated, &options, error));
  input->options = options;
  unsigned threads = run->threads;
  cm_map_options_apply(options, run);
  run->threads = threads;
  cm_status status = cm_map_options_from(options) == NULL
                         ? cm_map(input, run, &mapping, error)
                         : cm_fail(error, CM_BAD_OPTION,
                                   "the mapping was made from an older one: making it again cannot be compared");
  CM_THEN(status, cm_file_create(&file, path, error));
  cm_demand copied = {.network = NULL};
  if (status == CM_OK && mapping->copied != NULL) {
    copied = cm_demand_of(mapping->copied);
    status = input->demand->outside_count > 0 ? cm_demand_set_outside(&copied, run->memory, error) : CM_OK;
  }
  CM_THEN(status, cm_mapping_write(mapping, mapping->copied != NULL ? &copied : input->demand, input->chip, input->network_id, CM_VIEW_FULL_JSON, file.stream, error));
  status = cm_file_end(&file, status, error);
  cm_demand_clear(&copied);
  cm_mapping_free(mapping);
  cm_map_options_free(options);
  return status;
}

static void compare(const cm_check_comparison *c, const cm_check_file *stated, const cm_check_file *made)
{
  uint64_t apart = 0, first = 0, count = stated->kept_neurons < made->kept_neurons ? stated->kept_neurons : made->kept_neurons;
  cm_check_compare(c, "", stated->rest, made->rest);
  for (uint64_t v = 0; v < count; v++)
    if (stated->neuron[v] != made->neuron[v]) {
      first = apart == 0 ? v : first;
      apart++;
    }
  if (stated->neuron_count != made->neuron_count)
    cm_check_violation(c->result, "%s /neurons has %" PRIu64 " entries, not %" PRIu64, c->what, stated->neuron_count,
                       made->neuron_count);
  if (apart > 0)
    cm_check_violation(
      c->result, "%s /neurons/%" PRIu64 " is stated as %" PRIu32 ", but is %" PRIu32 "; %" PRIu64 " neurons are in other parts",
      c->what, first, stated->neuron[first], made->neuron[first], apart);
  for (uint64_t p = 0; p < stated->kept_cores && p < made->kept_cores; p++) {
    const cm_check_core *a = &stated->core[p], *b = &made->core[p];
    if (a->part != b->part || a->x != b->x || a->y != b->y)
      cm_check_violation(c->result,
                         "%s /cores/%" PRIu64 " is part %" PRIu64 " on (%" PRIu64 ", %" PRIu64 "), but is part %" PRIu64
                         " on (%" PRIu64 ", %" PRIu64 ")",
                         c->what, p, a->part, a->x, a->y, b->part, b->x, b->y);
  }
}

cm_status cm_check_again(const char *path, const cm_check_context *context, const char *scratch_folder, cm_check_result *result,
                         cm_error *error)
{
  cm_check_file stated = {0}, made = {0};
  char again[CM_PATH_MAX];
  cm_demand whole = cm_demand_of(context->network != NULL ? context->network : context->demand->network);
  cm_map_input input = {.demand = context->network != NULL ? &whole : context->demand,
                        .network_id = context->network_id,
                        .chip = context->chip,
                        .occupancy = context->occupancy,
                        .scratch_folder = scratch_folder};
  cm_check_comparison comparison = {.result = result, .what = "made again:"};
  if (result->violations == NULL && CM_NEW(NULL, result->violations, CM_CHECK_LISTED_MAX, error) != CM_OK)
    return error->status;
  cm_status status = cm_path(again, error, "%s/again.json", scratch_folder);
  CM_THEN_IF(status, context->network != NULL && context->demand->outside_count > 0, cm_demand_set_outside(&whole, context->run->memory, error));
  CM_THEN(status, read_file(path, context, &stated, error));
  CM_THEN(status, cm_mapping_rename(stated.rest, error));
  if (status == CM_OK) {
    if (json_is_null(json_object_get(json_object_get(stated.rest, "network"), "id")))
      input.network_id = NULL;
    status = map_again(json_object_get(stated.rest, "options"), &input, context->run, again, error);
  }
  CM_THEN(status, read_file(again, context, &made, error));
  if (status == CM_OK)
    compare(&comparison, &stated, &made);
  CM_THEN(status, cm_check_whole(result, error));
  cm_demand_clear(&whole);
  cm_check_file_free(&stated);
  cm_check_file_free(&made);
  return status;
}
