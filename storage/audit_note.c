/* What a write's entry in the audit trail says: the cause that its thread carries, and what it does. */
#include "storage/audit.h"

#include <stdarg.h>

static _Thread_local const cm_audit_entry *cause;
static _Thread_local bool carried;
static _Thread_local char effect[CM_AUDIT_EFFECT_MAX]; /* of the write under way, on the thread that writes */

void cm_audit_cause(const cm_audit_entry *entry)
{
  cause = entry;
  carried = false;
}

const cm_audit_entry *cm_audit_due(bool *was_carried)
{
  *was_carried = carried;
  return cause;
}

void cm_audit_done(void)
{
  carried = true;
}

void cm_audit_effect(const char *format, ...)
{
  const size_t used = strlen(effect);
  const int begun = snprintf(effect + used, sizeof effect - used, "%s", used > 0 ? "; " : "");
  va_list arguments;
  va_start(arguments, format);
  if (used + (size_t)begun < sizeof effect)
    (void)vsnprintf(effect + used + begun, sizeof effect - used - (size_t)begun, format, arguments);
  va_end(arguments);
}

void cm_audit_forget_effect(void)
{
  effect[0] = '\0';
}

bool cm_audit_has_effect(void)
{
  return effect[0] != '\0';
}

cm_status cm_audit_note_in(sqlite3 *handle, const cm_audit_entry *e, cm_error *error)
{
  return cm_sql_run(handle, NULL, error, "INSERT INTO audit(at, user, address, action, object, request, effect)"
                    " VALUES(?, ?, ?, ?, ?, ?, ? || ?)", "dttttttt",
                    cm_store_time(), e->user, e->address, e->action, e->object, e->request, e->effect, effect);
}
