/* A chip's description inside a transaction: a preset's, or one that was put. */
#include "storage/internal.h"

cm_status cm_chips_text_in(sqlite3 *handle, const char *name, char **text, bool *preset, cm_error *error)
{
  const char *known = library_chip_preset_text(name);
  if (known != NULL) {
    *preset = true;
    *text = strdup(known);
    return cm_whole(*text != NULL, "the text of a chip", error);
  }
  bool found = false;
  *text = NULL;
  *preset = false;
  CM_TRY(cm_sql_find(handle, &found, error, "SELECT description FROM chips WHERE name = ?", "t>s", name, text));
  return found ? CM_OK : cm_fail(error, CM_NOT_FOUND, "there is no chip \"%.64s\"; GET /v1/chips lists those there are", name);
}
