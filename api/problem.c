#include "api/problem.h"

#include "base/foreign.h"

unsigned cm_problem_status(cm_status status)
{
  switch (status) {
  case CM_BAD_NETWORK:
  case CM_BAD_CHIP:
  case CM_BAD_OCCUPANCY:
  case CM_BAD_OPTION:
  case CM_BAD_MAPPING:
  case CM_BAD_REQUEST:
    return 400;
  case CM_NOT_FOUND:
    return 404;
  case CM_NO_ROOM:
  case CM_CONFLICT:
  case CM_CANCELLED:
    return 409;
  case CM_TOO_LARGE:
    return 413;
  case CM_NEURON_TOO_LARGE:
  case CM_NO_ROUTE:
  case CM_LIMIT_BROKEN:
  case CM_MEMORY_LIMIT:
  case CM_TIME_LIMIT:
    return 422;
  case CM_QUOTA_USED:
    return 429;
  case CM_NO_MEMORY:
    return 503;
  case CM_DISK_FULL:
    return 507;
  case CM_OK:
  case CM_DAMAGED:
  case CM_IO:
  case CM_INTERNAL:
    break;
  }
  return 500;
}

json_t *cm_problem_plain(unsigned status, const char *code, const char *title, const char *detail)
{
  char type[96];
  (void)snprintf(type, sizeof type, "urn:coremapd:problem:%s", code);
  json_t *problem =
      json_pack("{s:s, s:s, s:i, s:s}", "type", type, "title", title, "status", (int)status, "code", code);
  if (problem != NULL && detail != NULL) {
    /* Details may quote foreign bytes, or half a character where a quote is cut. */
    char shown[sizeof((cm_error *)0)->detail];
    json_t *text = json_string(detail);
    if (text == NULL)
      text = json_string(cm_foreign_copy(detail, CM_FOREIGN_LINES, shown, sizeof shown));
    (void)json_object_set_new(problem, "detail", text);
  }
  return problem;
}

json_t *cm_problem_json(const cm_error *error)
{
  json_t *problem = cm_problem_plain(cm_problem_status(error->status), cm_status_code(error->status),
                                     cm_status_title(error->status), error->detail);
  if (problem == NULL)
    return NULL;
  if (error->where[0] != '\0')
    (void)json_object_set_new(problem, "where", json_string(error->where));
  if (error->limit_name != NULL)
    (void)json_object_set_new(problem, "limit_name", json_string(error->limit_name));
  for (size_t i = 0; i < error->figure_count; i++)
    (void)json_object_set_new(problem, error->figures[i].name, json_integer((json_int_t)error->figures[i].value));
  return problem;
}
