/* A chip's description inside a transaction: a preset's, or one that was put. */
#include "storage/internal.h"

#include <string.h>

#include "base/memory.h"

cm_status cm_chips_text_in(sqlite3 *handle, const char *name, char **text, bool *preset, cm_error *error)
{
  const char *known = library_chip_preset_text(name);
  if (known != NULL) {
    *preset = true;
    *text = strdup(known);
    return cm_whole(*text != NULL, "the text of a chip", error);
  }
  sqlite3_stmt *statement;
  bool row = false;
  cm_status status =
      cm_sql_prepare(handle, &statement, error, "SELECT description FROM chips WHERE name = ?", "t", name);
  CM_THEN(status, cm_sql_step(statement, &row, error));
  if (status == CM_OK && !row)
    status = cm_fail(error, CM_NOT_FOUND, "there is no chip \"%.64s\"; GET /v1/chips lists those there are", name);
  CM_THEN(status, cm_sql_text(statement, 0, text, error));
  status = cm_sql_end(statement, status, error);
  if (status == CM_OK)
    *preset = false;
  return status;
}
