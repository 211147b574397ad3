/* Happy path: the table, its picture, and each mapping in a file of its own. What can fail: memory, writing. */
#include "core/output/pareto_files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "core/output/views.h"

typedef struct output {
  const cm_mapping *mapping;
  const cm_demand *demand;
  const cm_chip *chip;
  const char *network_id;
  const json_t *table;
} output;

static cm_status write_table(const json_t *table, FILE *stream, cm_error *error)
{
  uint64_t refusals = cm_json_refusals();
  int failed = cm_json_dumpf(table, stream, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
  CM_TRY(cm_json_whole(refusals, CM_PARETO_TABLE, error));
  return failed == 0 && fputc('\n', stream) != EOF ? CM_OK : cm_fail_errno(error, EIO, "cannot write", CM_PARETO_TABLE);
}

static cm_status write_file(const output *o, const char *folder, const char *name, const cm_mapping *point, cm_error *error)
{
  char path[CM_PATH_MAX];
  cm_file file = {0};
  CM_TRY(cm_path(path, error, "%s/%s", folder, name));
  CM_TRY(cm_file_create(&file, path, error));
  cm_status status = CM_OK;
  if (point != NULL)
    status = cm_mapping_write(point, o->demand, o->chip, o->network_id, CM_VIEW_FULL_JSON, file.stream, error);
  else if (strcmp(name, CM_PARETO_PLOT) == 0)
    status = cm_pareto_draw(o->table, file.stream, error);
  else
    status = write_table(o->table, file.stream, error);
  return cm_file_end(&file, status, error);
}

cm_status cm_pareto_write_folder(const cm_mapping *mapping, const cm_demand *demand, const cm_chip *chip,
                                 const char *network_id, const char *folder, cm_error *error)
{
  output o = {mapping, demand, chip, network_id, json_object_get(mapping->report, "pareto")};
  char name[CM_PARETO_NAME_MAX];
  if (mapping->point_count == 0)
    return CM_OK;
  cm_status status = cm_folder_make(folder, error);
  CM_THEN(status, write_file(&o, folder, CM_PARETO_TABLE, NULL, error));
  CM_THEN(status, write_file(&o, folder, CM_PARETO_PLOT, NULL, error));
  for (uint32_t i = 0; i < mapping->point_count && status == CM_OK; i++) {
    cm_pareto_name(i + 1, name);
    status = write_file(&o, folder, name, mapping->points[i], error);
  }
  return status;
}

void cm_pareto_name(uint32_t number, char name[CM_PARETO_NAME_MAX])
{
  (void)snprintf(name, CM_PARETO_NAME_MAX, "pareto-%u.json", number);
}
