/* Labels: what users write on jobs, mappings, programs and networks, key=value, to find them again. In the database they are one text,
 * ",key=value,key=value," in order of the keys; "": none. Of a thing of several owners each has his own (storage/holders.h). */
#pragma once

#include <jansson.h>

#include "storage/owners.h"

enum { CM_LABELS_MAX = 1024, CM_LABEL_KEY_MAX = 64, CM_LABEL_VALUE_MAX = 128 };

/* An object of texts as labels. CM_BAD_OPTION: a key has other characters than letters, digits and . _ - /, a value a comma or control
 * characters, or they are too long (together, or one). */
cm_status cm_labels_read(const json_t *object, char labels[CM_LABELS_MAX], cm_error *error);

/* The same of "key=value,key=value", as query arguments have it. */
cm_status cm_labels_parse(const char *text, char labels[CM_LABELS_MAX], cm_error *error);

/* Labels as an object; NULL: no memory. */
json_t *cm_labels_json(const char *labels);

/* What must stand in the labels that "key=value", or "key", asks for. CM_BAD_OPTION. */
cm_status cm_label_sought(const char *text, size_t length, char sought[CM_LABEL_KEY_MAX + CM_LABEL_VALUE_MAX + 4], cm_error *error);

/* Those of a thing as a viewer has or sees them (SQL): his own, else those of the first owner who shows it to him. `t` is the table,
 * the others parameters as of CM_VIEWER_SEES. */
#define CM_LABELS_SHARED(t, all, user, group) \
  "coalesce((SELECT o.label_set FROM owners o WHERE o.thing = " t ".id AND o.user = " user "), CASE WHEN " CM_VIEWER_SEES(t, all, user, group) \
  " THEN " t ".label_set ELSE (SELECT o.label_set FROM owners o WHERE o.thing = " t ".id AND " CM_VIEWER_SEES("o", all, user, group) \
  " ORDER BY o.user LIMIT 1) END)"

/* Labels of a job, network, mapping or program, as the viewer sees them, and in place of those that he had given it; of others than
 * owners: of the first. CM_NOT_FOUND. */
cm_status cm_labels_get(cm_store *store, cm_object object, const char *id, const cm_viewer *viewer, char labels[CM_LABELS_MAX], cm_error *error);
cm_status cm_labels_put(cm_store *store, cm_object object, const char *id, const cm_viewer *viewer, const char *labels, cm_error *error);

/* Inside closures: adds a job's labels to those that its user has given a result; of equal keys the job's stay. */
cm_status cm_labels_inherit_in(sqlite3 *handle, const char *job, const char *result, const char *user, cm_error *error);
