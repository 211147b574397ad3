/* What a check finds: sentences about what is wrong, and comparisons of what is stated with what is true. */
#include "core/verify/checker.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "core/verify/check_report.h"

enum { SENTENCE_MAX = 300 };
static const double TOLERANCE = 1e-6;

void cm_check_violation(cm_check_result *result, const char *format, ...)
{
  result->violation_count++;
  if (result->listed == CM_CHECK_LISTED_MAX)
    return;
  char text[SENTENCE_MAX];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  size_t size = length < 0 ? 0 : (size_t)length >= sizeof text ? sizeof text - 1 : (size_t)length;
  cm_error error;
  char *copy;
  if (CM_NEW(NULL, copy, size + 1, &error) != CM_OK) {
    result->out_of_memory = true;
    return;
  }
  memcpy(copy, text, size);
  result->violations[result->listed++] = copy;
}

cm_status cm_check_whole(const cm_check_result *result, cm_error *error)
{
  return cm_whole(!result->out_of_memory, "the list of violations", error);
}

void cm_check_result_free(cm_check_result *result)
{
  for (uint32_t i = 0; i < result->listed; i++)
    cm_free(result->violations[i]);
  cm_free(result->violations);
  *result = (cm_check_result){0};
}

bool cm_check_differs(double stated, double truth)
{
  return !(fabs(stated - truth) <= TOLERANCE * fmax(fabs(stated), fabs(truth)));
}

static void differ(const cm_check_comparison *c, const char *where, const json_t *stated, const json_t *truth)
{
  char *says = stated == NULL ? NULL : cm_json_dumps(stated, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17)),
       *is = truth == NULL ? NULL : cm_json_dumps(truth, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
  if (stated == NULL)
    cm_check_violation(c->result, "%s %s is missing; it is %.80s", c->what, where, is != NULL ? is : "?");
  else if (truth == NULL)
    cm_check_violation(c->result, "%s %s does not belong there (%.80s)", c->what, where, says != NULL ? says : "?");
  else
    cm_check_violation(c->result, "%s %s is stated as %.80s, but is %.80s", c->what, where, says != NULL ? says : "?",
                       is != NULL ? is : "?");
  free(says);
  free(is);
}

static void compare_objects(const cm_check_comparison *c, const char *where, const json_t *stated, const json_t *truth)
{
  char place[200];
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)truth, name, value) {
    (void)snprintf(place, sizeof place, "%s/%s", where, name);
    cm_check_compare(c, place, json_object_get(stated, name), value);
  }
  json_object_foreach((json_t *)(uintptr_t)stated, name, value) {
    if (c->partial || json_object_get(truth, name) != NULL || (c->except != NULL && strcmp(name, c->except) == 0))
      continue;
    (void)snprintf(place, sizeof place, "%s/%s", where, name);
    differ(c, place, value, NULL);
  }
}

void cm_check_compare(const cm_check_comparison *c, const char *where, const json_t *stated, const json_t *truth)
{
  const char *name = strrchr(where, '/');
  if (c->except != NULL && name != NULL && strcmp(name + 1, c->except) == 0)
    return;
  if (json_is_object(truth) && json_is_object(stated)) {
    compare_objects(c, where, stated, truth);
    return;
  }
  if (json_is_array(truth) && json_is_array(stated) && json_array_size(truth) == json_array_size(stated)) {
    char place[200];
    for (size_t i = 0; i < json_array_size(truth); i++) {
      (void)snprintf(place, sizeof place, "%s/%zu", where, i);
      cm_check_compare(c, place, json_array_get(stated, i), json_array_get(truth, i));
    }
    return;
  }
  bool same = json_is_number(truth) && json_is_number(stated)
                  ? !cm_check_differs(json_number_value(stated), json_number_value(truth))
                  : json_equal(stated, truth);
  if (!same)
    differ(c, where, stated, truth);
}
