#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "core/limits/limits.h"
#include "core/verify/check.h"
#include "core/output/exports/exports.h"
#include "core/mapping/options.h"

cm_status cm_mapped_chip(const json_t *summary, const char *path, cm_chip **chip, cm_error *error)
{
  json_t *described = json_object_get(summary, "chip");
  if (!json_is_object(described))
    return cm_fail(error, CM_BAD_MAPPING, "%s does not describe its chip: name the chip", path);
  (void)json_object_del(described, "width"); /* what a chip file does not state, but follows from it */
  (void)json_object_del(described, "height");
  char *text = cm_json_dumps(described, JSON_COMPACT);
  if (text == NULL)
    return cm_fail(error, CM_NO_MEMORY, "no memory for the chip that %s describes", path);
  cm_status status = cm_chip_parse(text, strlen(text), chip, error);
  free(text);
  return status;
}

/* The network at the rates that the mapping was made at. */
static cm_status set_rates(const char *path, cm_run *run, cm_mapped_file *file, cm_error *error)
{
  cm_measured measured;
  CM_TRY(cm_mapping_read_measured(path, file->topology->vertex_count, run, &measured, error));
  CM_TRY(cm_topology_measured(file->topology, &measured, run, &file->measured, error));
  file->demand = cm_demand_of(file->measured);
  return CM_OK;
}

cm_status cm_mapped_open(const char *path, cm_topology *topology, const char *chip, cm_run *run, cm_mapped_file *file,
                         cm_error *error)
{
  *file = (cm_mapped_file){.topology = topology, .demand = cm_demand_of(topology)};
  cm_status status = cm_mapping_read_summary(path, run, &file->summary, error);
  if (status == CM_OK && json_object_get(file->summary, "measured") != NULL)
    status = set_rates(path, run, file, error);
  else if (status == CM_OK && (status = cm_mapping_copied(file->summary, topology, run, &file->measured, error)) == CM_OK && file->measured != NULL)
    file->demand = cm_demand_of(file->measured);
  CM_THEN(status, cm_mapping_set_inputs(file->summary, &file->demand, run->memory, error));
  if (status == CM_OK)
    status = chip != NULL ? cm_chip_open(chip, &file->chip, error) : cm_mapped_chip(file->summary, path, &file->chip, error);
  CM_THEN(status, cm_chip_limit_neurons(file->chip, &file->demand, run->memory, error));
  CM_THEN(status, cm_mapping_read_places(path, file->demand.network->vertex_count, file->chip, run, &file->places, error));
  CM_TRY_OR(status, cm_mapped_close(file));
  file->mapped = cm_mapped_at(&file->places, &file->demand, file->chip);
  return CM_OK;
}

void cm_mapped_close(cm_mapped_file *file)
{
  json_decref(file->summary);
  cm_demand_clear(&file->demand);
  cm_topology_free(file->measured);
  cm_topology_free(file->topology);
  cm_chip_free(file->chip);
  cm_mapping_places_free(&file->places);
  memset(file, 0, sizeof *file);
}

cm_status cm_mapping_file_set_inputs(const char *path, const cm_chip *chip, cm_demand *demand, cm_run *run, cm_error *error)
{
  json_t *summary;
  if (cm_topology_inputs(demand->network) == 0)
    return cm_chip_limit_neurons(chip, demand, run->memory, error);
  CM_TRY(cm_mapping_read_summary(path, run, &summary, error));
  cm_status status = cm_mapping_set_inputs(summary, demand, run->memory, error);
  json_decref(summary);
  return status == CM_OK ? cm_chip_limit_neurons(chip, demand, run->memory, error) : status;
}
