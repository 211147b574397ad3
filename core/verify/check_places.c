/* Who is where, out of a mapping file, for those who neither check it nor map again. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/chip/chip.h"
#include "core/network/copied.h"
#include "core/verify/check.h"
#include "core/verify/check_read.h"

static cm_status verify(const cm_check_file *file, uint32_t neurons, cm_error *error)
{
  if (!file->has_neurons || !file->has_cores)
    return cm_fail(error, CM_BAD_MAPPING, "the mapping has no \"%s\": give the full JSON view (coremap map -o FILE)",
                   file->has_neurons ? "cores" : "neurons");
  if (file->neuron_count != neurons)
    return cm_fail(error, CM_BAD_MAPPING, "the mapping is of a network of %llu neurons, and this one has %u",
                   (unsigned long long)file->neuron_count, neurons);
  for (uint32_t v = 0; v < neurons; v++)
    if (file->neuron[v] >= file->core_count)
      return cm_fail(error, CM_BAD_MAPPING, "neuron %u is in part %u, but the mapping has %llu parts", v, file->neuron[v],
                     (unsigned long long)file->core_count);
  return CM_OK;
}

static cm_status place(const cm_check_file *file, const cm_chip *chip, uint8_t *used, uint32_t *core, cm_error *error)
{
  memset(core, 0xff, file->kept_cores * sizeof *core);
  for (uint64_t i = 0; i < file->kept_cores; i++) {
    const cm_check_core *c = &file->core[i];
    if (c->part >= file->kept_cores || c->x >= chip->width || c->y >= chip->height)
      return cm_fail(error, CM_BAD_MAPPING, "part %llu is on core (%llu, %llu), which this chip or mapping does not have",
                     (unsigned long long)c->part, (unsigned long long)c->x, (unsigned long long)c->y);
    uint32_t number = (uint32_t)(c->y * chip->width + c->x);
    if (used[number] || core[c->part] != UINT32_MAX)
      return cm_fail(error, CM_BAD_MAPPING, "part %llu or core (%llu, %llu) stands in the mapping twice",
                     (unsigned long long)c->part, (unsigned long long)c->x, (unsigned long long)c->y);
    used[number] = 1;
    core[c->part] = number;
  }
  return CM_OK;
}

json_t *cm_report_widened(const json_t *report)
{
  return json_object_get(json_object_get(report, "tables"), "widened");
}

/* What the report says of tables that had to fit. */
static void read_tables(const json_t *rest, cm_mapping_places *places)
{
  const json_t *report = json_object_get(rest, "report"), *widened = cm_report_widened(report);
  const char *rule = json_string_value(json_object_get(json_object_get(report, "tables"), "routing"));
  (void)snprintf(places->tables_rule, sizeof places->tables_rule, "%s", rule != NULL ? rule : "");
  places->wider = (uint64_t)json_integer_value(json_object_get(widened, "axons"));
  places->dropped = json_number_value(json_object_get(widened, "packets"));
}

cm_status cm_mapping_read_places(const char *path, uint32_t neurons, const cm_chip *chip, cm_run *run, cm_mapping_places *places,
                                 cm_error *error)
{
  cm_check_file file = {0};
  uint32_t *cores = NULL;
  uint8_t *used = NULL;
  FILE *stream = fopen(path, "rbe");
  if (stream == NULL)
    return cm_fail_errno(error, errno, "cannot open", path);
  cm_status status = cm_check_read(stream, neurons, cm_chip_cores(chip), run, &file, error);
  fclose(stream);
  CM_TRY(status);
  status = verify(&file, neurons, error);
  CM_THEN(status, CM_NEW_ALL(run->memory, error, CM_ARRAY(cores, file.kept_cores), CM_ARRAY(used, cm_chip_cores(chip))));
  CM_THEN(status, place(&file, chip, used, cores, error));
  cm_free(used);
  cm_pacing pacing;
  CM_THEN(status, cm_check_file_pacing(&file, file.neuron, run, &pacing, error));
  if (status == CM_OK) {
    *places = (cm_mapping_places){.part = file.neuron, .parts = (uint32_t)file.kept_cores, .core = cores, .pacing = pacing};
    read_tables(file.rest, places);
    file.neuron = NULL;
  } else
    cm_free(cores);
  cm_check_file_free(&file);
  return status;
}

void cm_mapping_places_free(cm_mapping_places *places)
{
  CM_FREE(places->part, places->core, places->pacing.turn);
  *places = (cm_mapping_places){0};
}

/* ---- copies ---- */

cm_status cm_mapping_copied(const json_t *summary, const cm_topology *topology, cm_run *run, cm_topology **made, cm_error *error)
{
  const json_t *list = json_object_get(json_object_get(json_object_get(summary, "report"), "leaving"), "copies");
  cm_neuron_copies copies;
  *made = NULL;
  if (list == NULL)
    return CM_OK;
  if (!cm_topology_takes_copies(topology))
    return cm_fail(error, CM_BAD_MAPPING, "/report/leaving/copies: the network is undirected, or a neuron has several axons, and takes no copies");
  CM_TRY(cm_neuron_copies_read(list, topology->vertex_count, run->memory, &copies, error));
  const cm_status status = cm_topology_copied(topology, &copies, run, made, error);
  cm_neuron_copies_free(&copies);
  return status;
}

/* ---- rates ---- */

static cm_status take_measured(cm_check_file *file, uint32_t neurons, cm_measured *measured, cm_error *error)
{
  const json_t *told = json_object_get(file->rest, "measured");
  const json_int_t steps = json_integer_value(json_object_get(told, "steps")), windows = json_integer_value(json_object_get(told, "windows"));
  if (steps < 1 || steps > CM_SPIKE_STEPS_MAX || windows < 1 || windows > CM_SCENARIOS_MAX || windows > steps)
    return cm_fail(error, CM_BAD_MAPPING, "/measured: steps from 1 to %d and windows from 1 to %d, at most one a step, are expected", CM_SPIKE_STEPS_MAX,
                   CM_SCENARIOS_MAX);
  if (file->spikes.count != (uint64_t)windows * neurons)
    return cm_fail(error, CM_BAD_MAPPING, "/spikes has %llu numbers, but %lld windows of %u neurons are expected",
                   (unsigned long long)file->spikes.count, (long long)windows, neurons);
  for (uint64_t i = 0; i < file->spikes.kept; i++)
    if (file->spikes.number[i] > UINT32_MAX)
      return cm_fail(error, CM_BAD_MAPPING, "/spikes/%llu is above 2^32", (unsigned long long)i);
  for (uint64_t i = 0; i < file->stimulus.kept; i++)
    if (file->stimulus.number[i] >= (i % 2 == 0 ? (uint64_t)steps : neurons) || file->stimulus.kept % 2 != 0)
      return cm_fail(error, CM_BAD_MAPPING, "/stimulus/%llu: pairs of a step below %lld and a neuron below %u are expected", (unsigned long long)i,
                     (long long)steps, neurons);
  *measured = (cm_measured){.neurons = neurons, .steps = (uint32_t)steps, .windows = (uint32_t)windows, .spikes = file->spikes.number,
                            .dt = json_number_value(json_object_get(told, "dt")), .stimulus = file->stimulus.number, .inputs = file->stimulus.kept / 2};
  const char *semantics = json_string_value(json_object_get(told, "semantics"));
  (void)snprintf(measured->semantics, sizeof measured->semantics, "%s", semantics != NULL ? semantics : "");
  file->spikes.number = file->stimulus.number = NULL;
  return CM_OK;
}

cm_status cm_mapping_read_measured(const char *path, uint32_t neurons, cm_run *run, cm_measured *measured, cm_error *error)
{
  cm_check_file file = {0};
  FILE *stream = fopen(path, "rbe");
  if (stream == NULL)
    return cm_fail_errno(error, errno, "cannot open", path);
  cm_status status = cm_check_read(stream, neurons, 0, run, &file, error);
  fclose(stream);
  *measured = (cm_measured){.neurons = 0};
  if (status == CM_OK && file.has_spikes != (json_object_get(file.rest, "measured") != NULL))
    status = cm_fail(error, CM_BAD_MAPPING, "/measured and /spikes belong together, and there is only one of them: give the full JSON view (coremap map -o FILE)");
  CM_THEN_IF(status, file.has_spikes, take_measured(&file, neurons, measured, error));
  cm_check_file_free(&file);
  return status;
}
