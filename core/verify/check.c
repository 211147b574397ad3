/* The independent check of a mapping file. Happy path: read the file, check its shape (neurons, parts, cores),
 * recompute every figure, compare with the core limits and with what the file states (check_figures.c). What can fail: the file cannot
 * be read or understood, memory, a stop. Everything else is a violation and listed. */
#include "core/verify/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "core/verify/checker.h"

static void check_header(cm_checker *c)
{
  cm_checker_count(c, c->file.rest, "parts", "the number of parts", c->file.core_count);
}

/* Why a core cannot be used; NULL: it can. */
static const char *unusable(const cm_checker *c, uint32_t core)
{
  if (c->dead[core])
    return "dead";
  if (c->given->occupancy == NULL || c->given->occupancy->state[core] == CM_CORE_FREE)
    return NULL;
  return c->given->occupancy->state[core] == CM_CORE_BROKEN ? "broken" : "occupied";
}

static bool outside_region(const json_t *region, const cm_check_core *core)
{
  json_int_t x = json_integer_value(json_object_get(region, "x")), y = json_integer_value(json_object_get(region, "y"));
  json_int_t width = json_integer_value(json_object_get(region, "width"));
  json_int_t height = json_integer_value(json_object_get(region, "height"));
  json_int_t at_x = (json_int_t)core->x, at_y = (json_int_t)core->y;
  return at_x < x || at_y < y || at_x - x >= width || at_y - y >= height;
}

static void check_core(cm_checker *c, const cm_check_core *core, uint8_t *placed, uint32_t *occupant)
{
  if (core->part >= c->parts) {
    violation(c, "\"cores\" names part %" PRIu64 ", but there are %" PRIu32 " parts", core->part, c->parts);
    c->sound = false;
    return;
  }
  if (placed[core->part]) {
    violation(c, "part %" PRIu64 " is placed twice", core->part);
    c->sound = false;
    return;
  }
  placed[core->part] = 1;
  if (core->x >= c->given->chip->width || core->y >= c->given->chip->height) {
    violation(c, "part %" PRIu64 " is on core (%" PRIu64 ", %" PRIu64 "), outside the chip of %" PRIu32 " x %" PRIu32, core->part,
              core->x, core->y, c->given->chip->width, c->given->chip->height);
    c->sound = false;
    return;
  }
  uint32_t number = (uint32_t)(core->y * c->given->chip->width + core->x);
  c->core[core->part] = number;
  if (occupant[number] != 0)
    violation(c, "parts %" PRIu32 " and %" PRIu64 " share core (%" PRIu64 ", %" PRIu64 ")", occupant[number] - 1,
              core->part, core->x, core->y);
  occupant[number] = (uint32_t)core->part + 1;
  const char *why = unusable(c, number);
  if (why != NULL)
    violation(c, "part %" PRIu64 " is on core (%" PRIu64 ", %" PRIu64 "), which is %s", core->part, core->x, core->y,
              why);
  const json_t *region = json_object_get(c->file.rest, "region");
  if (json_is_object(region) && outside_region(region, core))
    violation(c, "part %" PRIu64 " is on core (%" PRIu64 ", %" PRIu64 "), outside the stated region", core->part,
              core->x, core->y);
}

static cm_status check_cores(cm_checker *c, cm_error *error)
{
  uint8_t *placed = NULL;
  uint32_t *occupant = NULL; /* part on each core, plus 1 */
  if (c->file.core_count > c->file.kept_cores) {
    violation(c, "%" PRIu64 " parts are more than the chip's %" PRIu32 " cores", c->file.core_count,
              cm_chip_cores(c->given->chip));
    c->sound = false;
  }
  c->parts = (uint32_t)c->file.kept_cores;
  cm_status status = CM_NEW_ALL(c->given->run->memory, error, CM_ARRAY(c->core, c->parts),
                                CM_ARRAY(c->dead, cm_chip_cores(c->given->chip)), CM_ARRAY(placed, c->parts),
                                CM_ARRAY(occupant, cm_chip_cores(c->given->chip)));
  for (uint32_t i = 0; status == CM_OK && i < c->given->chip->dead_core_count; i++)
    c->dead[c->given->chip->dead_cores[i]] = 1;
  for (uint64_t i = 0; status == CM_OK && i < c->file.kept_cores; i++)
    check_core(c, &c->file.core[i], placed, occupant);
  for (uint32_t p = 0; status == CM_OK && p < c->parts; p++)
    if (!placed[p]) {
      violation(c, "part %" PRIu32 " has no core", p);
      c->sound = false;
    }
  CM_FREE(placed, occupant);
  return status;
}

static void check_neurons(cm_checker *c)
{
  if (c->file.neuron_count != c->given->demand->network->vertex_count) {
    violation(c, "\"neurons\" has %" PRIu64 " entries, the network %" PRIu32 " neurons", c->file.neuron_count,
              c->given->demand->network->vertex_count);
    c->sound = false;
  }
  for (uint64_t v = 0; v < c->file.kept_neurons; v++)
    if (c->file.neuron[v] >= c->parts) {
      violation(c, "neuron %" PRIu64 " is in part %" PRIu32 ", but there are %" PRIu32 " parts", v,
                c->file.neuron[v], c->parts);
      c->sound = false;
    }
}

static cm_status check_all(cm_checker *c, cm_error *error)
{
  const char *format = json_string_value(json_object_get(c->file.rest, "format"));
  if (format == NULL || strcmp(format, "coremapd mapping 1") != 0)
    return cm_fail(error, CM_BAD_MAPPING, "the file's \"format\" is %.60s; expected \"coremapd mapping 1\"",
                   format == NULL ? "missing" : format);
  if (!c->file.has_neurons || !c->file.has_cores)
    return cm_fail(error, CM_BAD_MAPPING, "the mapping file has no \"%s\"; only the full JSON view can be checked",
                   c->file.has_neurons ? "cores" : "neurons");
  c->sound = true;
  check_header(c);
  CM_TRY(check_cores(c, error));
  check_neurons(c);
  if (!c->sound)
    return CM_OK;
  c->mapped = (cm_mapped){
    .demand = c->given->demand, .chip = c->given->chip, .part = c->file.neuron, .parts = c->parts, .core = c->core};
  cm_status status = cm_check_measure(&c->mapped, c->given->run, &c->truth, error);
  CM_TRY(status);
  cm_checker_limits(c);
  cm_checker_leaving(c);
  CM_TRY(cm_checker_neuron_copies(c, error));
  CM_TRY(cm_checker_shared(c, error));
  CM_TRY(cm_checker_circuits(c, error));
  if (cm_checker_classes(c, error) != CM_OK || cm_checker_constraints(c, error) != CM_OK || cm_checker_populations(c, error) != CM_OK)
    return error->status;
  CM_TRY(cm_checker_pacing(c, error));
  cm_checker_loads(c);
  cm_checker_metrics(c);
  CM_TRY(cm_checker_added_neurons(c, error));
  CM_TRY(cm_checker_scenarios(c, error));
  return cm_checker_facts(c, error);
}

cm_status cm_check_mapping_stream(FILE *stream, const cm_check_context *context, cm_check_result *result, cm_error *error)
{
  cm_checker c = {.given = context};
  CM_TRY(CM_NEW(NULL, c.result.violations, CM_CHECK_LISTED_MAX, error));
  uint64_t refusals = cm_json_refusals();
  cm_status status =
    cm_check_read(stream, context->demand->network->vertex_count, cm_chip_cores(context->chip), context->run, &c.file, error);
  CM_THEN(status, check_all(&c, error));
  if (status == CM_OK) /* what was compared is whole */
    status = cm_json_whole(refusals, "the check", error);
  CM_THEN(status, cm_check_whole(&c.result, error));
  cm_check_file_free(&c.file);
  CM_FREE(c.core, c.dead, c.truth.core);
  CM_END(status, *result = c.result, cm_check_result_free(&c.result));
}

cm_status cm_mapping_read_summary(const char *path, cm_run *run, json_t **summary, cm_error *error)
{
  FILE *stream = fopen(path, "rbe");
  cm_check_file file = {0};
  if (stream == NULL)
    return cm_fail_errno(error, errno, "cannot open", path);
  cm_status status = cm_check_read(stream, 0, 0, run, &file, error);
  fclose(stream);
  if (status == CM_OK) {
    (void)json_object_del(file.rest, "neurons");
    (void)json_object_del(file.rest, "cores");
    *summary = json_incref(file.rest);
  }
  cm_check_file_free(&file);
  return status;
}

cm_status cm_check_mapping(const char *path, const cm_check_context *context, cm_check_result *result, cm_error *error)
{
  FILE *stream = fopen(path, "rbe");
  if (stream == NULL)
    return cm_fail_errno(error, errno, "cannot open", path);
  cm_status status = cm_check_mapping_stream(stream, context, result, error);
  (void)fclose(stream);
  return status;
}
