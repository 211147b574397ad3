#include "storage/drain.h"

#include "storage/audit.h"

static cm_status ask(sqlite3 *handle, void *context, cm_error *error)
{
  const bool *drain = context;
  cm_audit_effect(*drain ? "drains" : "takes jobs again");
  return *drain ? cm_sql_run(handle, NULL, error, "INSERT INTO meta(name, value) VALUES('drain', 1) ON CONFLICT DO NOTHING", "")
                : cm_sql_run(handle, NULL, error, "DELETE FROM meta WHERE name = 'drain'", "");
}

cm_status cm_drain_ask(cm_database *database, bool drain, cm_error *error)
{
  return cm_database_write(database, ask, &drain, error);
}

cm_status cm_drain_asked(cm_database *database, bool *asked, cm_error *error)
{
  return cm_database_find(database, NULL, error, "SELECT EXISTS (SELECT 1 FROM meta WHERE name = 'drain')", ">b", asked);
}
