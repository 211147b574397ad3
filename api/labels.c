/* Labels of jobs, networks, mappings and programs: read, set, and shown. */
#include "api/handlers.h"
#include "base/json.h"

void cm_write_labels(cm_writer *w, const char *labels)
{
  json_t *object = cm_labels_json(labels);
  char *text = object != NULL ? cm_json_dumps(object, JSON_COMPACT) : NULL;
  cm_write_json(w, "labels", text != NULL ? text : "{}");
  w->failed = w->failed || text == NULL;
  free(text);
  json_decref(object);
}

bool cm_labels_of(cm_request *request, const json_t *object, char labels[CM_LABELS_MAX])
{
  const json_t *given = json_object_get(object, "labels");
  labels[0] = '\0';
  if (given == NULL || cm_labels_read(given, labels, &request->error) == CM_OK)
    return true;
  (void)cm_fail_at(&request->error, "/labels");
  return cm_reply_error(request, &request->error);
}

static void reply(cm_request *request)
{
  char labels[CM_LABELS_MAX];
  if (cm_reply_ok(request, cm_labels_get(request->store, request->route->object, request->param[0], &request->viewer, labels,
                  &request->error)))
    cm_reply_json(request, 200, json_pack("{s:o}", "labels", cm_labels_json(labels)));
}

void cm_get_labels(cm_request *request)
{
  reply(request);
}

void cm_put_labels(cm_request *request)
{
  static const char *const names[] = {"labels", NULL};
  char labels[CM_LABELS_MAX];
  json_t *object = cm_request_json(request);
  if (object == NULL)
    return;
  if (json_object_get(object, "labels") == NULL && json_object_size(object) == 0)
    CM_REPLY_BAD(request, "the body must be {\"labels\": {\"key\": \"value\"}}");
  else if (!cm_request_members(request, object, names) || !cm_labels_of(request, object, labels))
    ;
  else if (cm_reply_ok(request, cm_labels_put(request->store, request->route->object, request->param[0], &request->viewer,
                       labels, &request->error)))
    reply(request);
  json_decref(object);
}
