#include "storage/derive.h"

cm_status cm_owner_derive(cm_owner *made, bool asked, const cm_owner *source, cm_error *error)
{
  if (asked && cm_owner_widens(source, made))
    return cm_fail(error, CM_BAD_OPTION,
                   "visibility %s would show others what is made of something that they do not see; leave it out, and show the result with"
                   " PUT .../access if they may know",
                   cm_visibility_name(made->visibility));
  cm_owner_narrow(made, source);
  return CM_OK;
}

#define OPTION(path) "CASE WHEN json_valid(?3) THEN json_extract(?3, '" path "') END"
#define OWNER_OF(table, condition) "SELECT user, team, visibility FROM " table " WHERE " condition

cm_status cm_job_derive_in(sqlite3 *handle, const cm_job *job, cm_owner *owner, bool asked, cm_error *error)
{
  sqlite3_stmt *statement;
  cm_owner source;
  cm_status status = cm_sql_prepare(
      handle, &statement, error,
      OWNER_OF("networks", "id IN (?1, " OPTION("$.levels_from") ")") " UNION ALL " OWNER_OF("chips", "name = ?2") " UNION ALL " OWNER_OF(
          "mappings", "id IN (" OPTION("$.from") ", " OPTION("$.mapping") ")") " UNION ALL " OWNER_OF("uploads", "id = " OPTION("$.spikes.upload")),
      "ttt", job->network, job->chip, job->options);
  while (cm_sql_next(statement, &status, error)) {
    cm_owner_from_row(statement, 0, &source);
    status = cm_owner_derive(owner, asked, &source, error);
  }
  return cm_sql_end(statement, status, error);
}
