/* What a handler reads of a request; what is wrong with it is replied. */
#include "api/internal.h"

#include <errno.h>

#include "base/json.h"

bool cm_reply_ok(cm_request *request, cm_status status)
{
  return status == CM_OK || cm_reply_error(request, &request->error);
}

bool cm_reply_ok_at(cm_request *request, cm_status status, const char *where)
{
  if (status != CM_OK)
    (void)cm_fail_at(&request->error, "%s", where);
  return cm_reply_ok(request, status);
}

bool cm_reply_bad_member(cm_request *request, cm_status status, const char *where, const char *why)
{
  (void)cm_fail(&request->error, status, "%s: %s", where, why);
  return cm_reply_ok_at(request, status, where);
}

bool cm_request_number(cm_request *request, const char *name, uint64_t low, uint64_t high, uint64_t fallback,
                       uint64_t *value)
{
  const char *text = cm_request_query(request, name);
  if (text == NULL) {
    *value = fallback;
    return true;
  }
  char *end;
  errno = 0;
  unsigned long long number = strtoull(text, &end, 10);
  if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || number < low || number > high)
    return CM_REPLY_BAD(request, "query argument %s must be a number from %llu to %llu", name, (unsigned long long)low,
                        (unsigned long long)high);
  *value = number;
  return true;
}

bool cm_request_word(cm_request *request, const json_t *object, const char *name, char *word, size_t size)
{
  const json_t *member = json_object_get(object, name);
  char where[40];
  word[0] = '\0';
  (void)snprintf(where, sizeof where, "/%s", name);
  if (member != NULL && (!json_is_string(member) || json_string_length(member) != strlen(json_string_value(member)) ||
                         !cm_text_is_sound(json_string_value(member), size)))
    return cm_reply_bad_member(request, CM_BAD_REQUEST, where, "expected a short text without control characters");
  if (member != NULL)
    (void)snprintf(word, size, "%s", json_string_value(member));
  return true;
}

static json_t *read_json(cm_request *request, bool lists)
{
  json_error_t why;
  uint64_t refusals = cm_json_refusals();
  json_t *object = cm_json_loadb(request->body != NULL ? request->body : "", request->body_size,
                              JSON_REJECT_DUPLICATES, &why);
  if (json_is_object(object) || (lists && json_is_array(object)))
    return object;
  if (object != NULL)
    (void)cm_fail(&request->error, CM_BAD_REQUEST, "the body must be one JSON object%s", lists ? ", or an array of such" : "");
  else if (cm_json_whole(refusals, "the request", &request->error) == CM_OK) {
    (void)cm_fail(&request->error, CM_BAD_REQUEST, "the body is no JSON: %s", why.text);
    (void)cm_fail_at(&request->error, "line %d, column %d", why.line, why.column);
  }
  json_decref(object);
  cm_reply_error(request, &request->error);
  return NULL;
}

json_t *cm_request_json(cm_request *request)
{
  return read_json(request, false);
}

json_t *cm_request_json_or_list(cm_request *request)
{
  return read_json(request, true);
}

bool cm_request_members(cm_request *request, const json_t *object, const char *const *names)
{
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)object, key, value)
  {
    size_t i = 0;
    while (names[i] != NULL && strcmp(names[i], key) != 0)
      i++;
    if (names[i] == NULL) {
      (void)cm_fail(&request->error, CM_BAD_OPTION, "unknown member \"%.60s\"", key);
      (void)cm_fail_at(&request->error, "/%.60s", key);
      return cm_reply_error(request, &request->error);
    }
  }
  return true;
}

bool cm_request_if_match(cm_request *request, char *etag, size_t size)
{
  const char *text = cm_request_header(request, "If-Match");
  if (text == NULL)
    return cm_reply_problem(request, 428, "precondition-required", "The change needs a condition",
                            "send If-Match with the entity tag of the state that you have read (or *)");
  size_t length = strlen(text);
  if (strcmp(text, "*") != 0 && (length < 2 || text[0] != '"' || text[length - 1] != '"' || length - 2 >= size))
    return CM_REPLY_BAD(request, "If-Match must be one entity tag in double quotes, or *");
  if (text[0] == '*')
    (void)snprintf(etag, size, "*");
  else
    (void)snprintf(etag, size, "%.*s", (int)(length - 2), text + 1);
  return true;
}
