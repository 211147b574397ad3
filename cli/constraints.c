/* Constraints in files, and what is wrong with them. */
#include "cli/cli.h"
#include "base/json.h"

enum { CONSTRAINTS_BYTES_MAX = 16 << 20 };

cm_status cli_read_constraints(const char *path, json_t *options, cm_error *error)
{
  char *text;
  size_t size;
  json_error_t trouble;
  if (path == NULL)
    return CM_OK;
  CM_TRY(cm_file_read(path, CONSTRAINTS_BYTES_MAX, &text, &size, error));
  json_t *root = cm_json_loadb(text, size, 0, &trouble);
  const bool good = json_is_array(json_object_get(root, "constraints")) && json_object_set(options, "constraints", json_object_get(root, "constraints")) == 0;
  cm_status status = good ? CM_OK : root != NULL ? cm_fail(error, CM_BAD_OPTION, "%s: expected {\"constraints\": [...]}", path)
                                                : cm_fail(error, CM_BAD_OPTION, "%s is not valid JSON: line %d, column %d", path, trouble.line, trouble.column);
  json_decref(root);
  free(text);
  return status;
}

void cli_place_in_file(const char *file, const char *place, cm_error *error)
{
  char detail[CM_ERROR_DETAIL_MAX];
  const size_t cut = (size_t)(strrchr(place, '/') - place);
  const bool told = strncmp(error->detail, place, strlen(place)) == 0;
  if (file == NULL || !(told || strncmp(error->where, place, strlen(place)) == 0))
    return;
  (void)snprintf(detail, sizeof detail, "%s", error->detail + (told ? cut : 0));
  (void)snprintf(error->detail, sizeof error->detail, "%.200s: %s%s%.*s", file, told ? "" : error->where + cut, told ? "" : ": ", (int)(sizeof detail - 303), detail);
}
