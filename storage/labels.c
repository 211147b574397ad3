#include "storage/labels.h"

#include "storage/audit.h"
#include "storage/internal.h"

/* ---- texts ---- */

static bool key_is_sound(const char *key, size_t length)
{
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";
  return length > 0 && length < CM_LABEL_KEY_MAX && strspn(key, allowed) >= length;
}

static bool value_is_sound(const char *value, size_t length)
{
  for (size_t i = 0; i < length; i++)
    if ((unsigned char)value[i] < ' ' || value[i] == 0x7f || value[i] == ',')
      return false;
  return length < CM_LABEL_VALUE_MAX;
}

static cm_status bad_key(const char *key, size_t length, cm_error *error)
{
  return cm_fail(error, CM_BAD_OPTION, "\"%.*s\" is no key of a label: it has 1 to 63 letters, digits and . _ - /", (int)(length < 80 ? length : 80), key);
}

static cm_status bad_value(const char *key, size_t length, cm_error *error)
{
  return cm_fail(error, CM_BAD_OPTION, "the value of label \"%.*s\" must be a text of at most 127 bytes without commas and control characters",
                 (int)length, key);
}

static int by_key(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

enum { LABELS_COUNT_MAX = 64 };

cm_status cm_labels_read(const json_t *object, char labels[CM_LABELS_MAX], cm_error *error)
{
  const char *keys[LABELS_COUNT_MAX], *key;
  size_t count = 0, used = 0;
  json_t *value;
  labels[0] = '\0';
  if (!json_is_object(object))
    return cm_fail(error, CM_BAD_OPTION, "labels are an object of texts, such as {\"paper\": \"fig3\"}");
  json_object_foreach((json_t *)(uintptr_t)object, key, value) {
    if (!key_is_sound(key, strlen(key)))
      return bad_key(key, strlen(key), error);
    if (!json_is_string(value) || strlen(json_string_value(value)) != json_string_length(value) ||
        !value_is_sound(json_string_value(value), json_string_length(value)))
      return bad_value(key, strlen(key), error);
    if (count == LABELS_COUNT_MAX)
      return cm_fail(error, CM_BAD_OPTION, "a thing has at most %d labels", LABELS_COUNT_MAX);
    keys[count++] = key;
  }
  qsort(keys, count, sizeof *keys, by_key);
  for (size_t i = 0; i < count; i++) {
    const int more = snprintf(labels + used, CM_LABELS_MAX - used, "%s%s=%s,", i == 0 ? "," : "", keys[i], json_string_value(json_object_get(object, keys[i])));
    used += (size_t)more;
    if (used >= CM_LABELS_MAX)
      return cm_fail(error, CM_BAD_OPTION, "labels take at most %d bytes together", CM_LABELS_MAX - 1);
  }
  return CM_OK;
}

cm_status cm_labels_parse(const char *text, char labels[CM_LABELS_MAX], cm_error *error)
{
  json_t *object = json_object();
  cm_status status = cm_whole(object != NULL, "labels", error);
  for (const char *p = text; status == CM_OK;) {
    const size_t key = strcspn(p, "=,"), size = strcspn(p, ",");
    if (key == size)
      status = cm_fail(error, CM_BAD_OPTION, "\"%.*s\" is no label: labels are key=value, several between commas", (int)(size < 80 ? size : 80), p);
    else if (json_object_setn_new(object, p, key, json_stringn(p + key + 1, size - key - 1)) != 0)
      status = cm_fail(error, CM_BAD_OPTION, "labels must be UTF-8");
    if (p[size] == '\0')
      break;
    p += size + 1;
  }
  CM_THEN(status, cm_labels_read(object, labels, error));
  json_decref(object);
  return status;
}

json_t *cm_labels_json(const char *labels)
{
  json_t *object = json_object();
  for (const char *key = labels[0] == ',' ? labels + 1 : ""; *key != '\0' && object != NULL;) {
    const size_t length = strcspn(key, "="), size = strcspn(key, ",");
    if (length >= size || json_object_setn_new(object, key, length, json_stringn(key + length + 1, size - length - 1)) != 0) {
      json_decref(object);
      return NULL;
    }
    key += size + 1;
  }
  return object;
}

cm_status cm_label_sought(const char *text, size_t length, char sought[CM_LABEL_KEY_MAX + CM_LABEL_VALUE_MAX + 4], cm_error *error)
{
  const char *equal = memchr(text, '=', length);
  const size_t key = equal != NULL ? (size_t)(equal - text) : length;
  if (!key_is_sound(text, key))
    return bad_key(text, key, error);
  if (equal != NULL && !value_is_sound(equal + 1, length - key - 1))
    return bad_value(text, key, error);
  (void)snprintf(sought, CM_LABEL_KEY_MAX + CM_LABEL_VALUE_MAX + 4, equal != NULL ? ",%.*s," : ",%.*s=", (int)length, text);
  return CM_OK;
}

/* ---- rows ---- */

typedef struct label_work {
  cm_object object;
  const char *id, *given;
  const cm_viewer *viewer;
} label_work;

static const char *table_of(cm_object object)
{
  return object == CM_OBJECT_JOB ? "jobs" : object == CM_OBJECT_NETWORK ? "networks" : "mappings";
}

static cm_status get(sqlite3 *handle, cm_object object, const char *id, const cm_viewer *viewer, char labels[CM_LABELS_MAX], cm_error *error)
{
  static const char of_job[] = "SELECT label_set FROM jobs WHERE id = ?1",
                    of_network[] = "SELECT " CM_LABELS_SHARED("t", "?2", "?3", "?4") " FROM networks t WHERE id = ?1",
                    of_result[] = "SELECT " CM_LABELS_SHARED("t", "?2", "?3", "?4") " FROM mappings t WHERE id = ?1";
  bool found = false;
  if (object == CM_OBJECT_JOB)
    CM_TRY(cm_sql_find(handle, &found, error, of_job, "t>t", id, labels, (size_t)CM_LABELS_MAX));
  else
    CM_TRY(cm_sql_find(handle, &found, error, object == CM_OBJECT_NETWORK ? of_network : of_result, "titt>t", id, CM_VIEWER_VALUES(viewer), labels,
                       (size_t)CM_LABELS_MAX));
  return found ? CM_OK : cm_fail(error, CM_NOT_FOUND, "there is nothing of the id %.64s", id);
}

cm_status cm_labels_get(cm_store *store, cm_object object, const char *id, const cm_viewer *viewer, char labels[CM_LABELS_MAX], cm_error *error)
{
  cm_reading r;
  cm_status status = cm_reading_begin(store->database, true, &r, error);
  CM_THEN(status, get(r.handle, object, id, viewer, labels, error));
  return cm_reading_end(&r, status);
}

/* In the row of this owner, or where he is none beside the first, in the thing's own. */
static cm_status set(sqlite3 *handle, cm_object object, const char *id, const char *user, const char *labels, cm_error *error)
{
  char query[80];
  int changes = 0;
  if (object != CM_OBJECT_JOB &&
      (cm_sql_run(handle, &changes, error, "UPDATE owners SET label_set = ?3 WHERE thing = ?1 AND user = ?2", "ttt", id, user, labels) != CM_OK ||
       changes > 0))
    return changes > 0 ? CM_OK : error->status;
  (void)snprintf(query, sizeof query, "UPDATE %s SET label_set = ?2 WHERE id = ?1", table_of(object));
  CM_TRY(cm_sql_run(handle, &changes, error, query, "tt", id, labels));
  return changes == 1 ? CM_OK : cm_fail(error, CM_NOT_FOUND, "there is nothing of the id %.64s", id);
}

static cm_status put(sqlite3 *handle, void *context, cm_error *error)
{
  const label_work *w = context;
  cm_audit_effect("labels %s", w->given[0] != '\0' ? w->given : "none");
  return set(handle, w->object, w->id, w->viewer->user, w->given, error);
}

cm_status cm_labels_put(cm_store *store, cm_object object, const char *id, const cm_viewer *viewer, const char *labels, cm_error *error)
{
  return cm_database_write(store->database, put, &(label_work){.object = object, .id = id, .viewer = viewer, .given = labels}, error);
}

cm_status cm_labels_inherit_in(sqlite3 *handle, const char *job, const char *result, const char *user, cm_error *error)
{
  const cm_viewer owner = {user, "", true};
  char of_job[CM_LABELS_MAX], of_result[CM_LABELS_MAX], both[CM_LABELS_MAX];
  CM_TRY(get(handle, CM_OBJECT_JOB, job, &owner, of_job, error));
  CM_TRY(get(handle, CM_OBJECT_MAPPING, result, &owner, of_result, error));
  if (of_job[0] == '\0')
    return CM_OK;
  json_t *all = cm_labels_json(of_result), *more = cm_labels_json(of_job);
  cm_error full;
  cm_status status = cm_whole(all != NULL && more != NULL && json_object_update(all, more) == 0, "labels", error);
  if (status == CM_OK && cm_labels_read(all, both, &full) != CM_OK) /* there is no room for both */
    memcpy(both, of_job, sizeof both);
  json_decref(all);
  json_decref(more);
  return status == CM_OK ? set(handle, CM_OBJECT_MAPPING, result, user, both, error) : status;
}
