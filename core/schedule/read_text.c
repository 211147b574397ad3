/* Texts of workloads: numbers, ends and arcs, with the line in what is refused. */
#include "core/schedule/read_text.h"

#include <stdio.h>
#include <string.h>

void cm_text_skip_blanks(cm_text *text)
{
  for (;;) {
    char c = *text->at;
    if (c == '#')
      while (*text->at != '\0' && *text->at != '\n')
        text->at++;
    else if (c == '\n')
      text->line++, text->at++;
    else if (c == ' ' || c == '\t' || c == '\r')
      text->at++;
    else
      return;
  }
}

cm_status cm_text_arc(cm_text *text, uint64_t from, uint64_t to, uint64_t weight, cm_error *error)
{
  if (from >= text->tasks || to >= text->tasks) {
    (void)cm_fail(error, CM_BAD_NETWORK, "line %u: task %llu waits for task %llu, but there are only %u tasks", text->line,
                  (unsigned long long)to, (unsigned long long)from, text->tasks);
    return cm_fail_at(error, "line %u", text->line);
  }
  CM_TRY(CM_ROOM(text->memory, text->arcs, &text->arc_capacity, text->arc_count + 1, error));
  text->arcs[text->arc_count++] = (cm_arc){(uint32_t)from, (uint32_t)to, weight};
  return CM_OK;
}

cm_status cm_text_room(cm_text *text, uint64_t tasks, uint64_t processors, uint64_t resources, cm_error *error)
{
  const uint64_t numbers = tasks * (processors + resources);
  if (numbers > strlen(text->at))
    return cm_fail(error, CM_BAD_NETWORK, "the file is too short for %llu tasks with %llu numbers each", (unsigned long long)tasks,
                   (unsigned long long)(processors + resources));
  text->tasks = (uint32_t)tasks;
  text->processors = (uint32_t)processors;
  text->resources = (uint32_t)resources;
  return CM_NEW_ALL(text->memory, error, CM_ARRAY(text->time, processors > 0 ? numbers : tasks), CM_ARRAY(text->demand, numbers),
                    CM_ARRAY(text->capacity, resources));
}

cm_status cm_text_fail(const cm_text *text, const char *what, cm_error *error)
{
  char found[24];
  size_t size = strcspn(text->at, " \t\r\n");
  (void)snprintf(found, sizeof found, "%.*s", size < sizeof found ? (int)size : (int)sizeof found - 1, text->at);
  if (*text->at == '\0')
    (void)cm_fail(error, CM_BAD_NETWORK, "line %u: the file ends where %s is expected", text->line, what);
  else
    (void)cm_fail(error, CM_BAD_NETWORK, "line %u: \"%s\" where %s is expected", text->line, found, what);
  return cm_fail_at(error, "line %u", text->line);
}

cm_status cm_text_number(cm_text *text, const char *what, uint64_t maximum, uint64_t *number, cm_error *error)
{
  uint64_t value = 0;
  const char *c;
  cm_text_skip_blanks(text);
  for (c = text->at; *c >= '0' && *c <= '9'; c++)
    if (__builtin_mul_overflow(value, 10u, &value) || __builtin_add_overflow(value, (unsigned)(*c - '0'), &value))
      return cm_text_fail(text, what, error);
  if (c == text->at || (*c != '\0' && strchr(" \t\r\n#", *c) == NULL))
    return cm_text_fail(text, what, error);
  if (value > maximum) {
    (void)cm_fail(error, CM_TOO_LARGE, "line %u: %s is %llu, more than %llu", text->line, what,
                  (unsigned long long)value, (unsigned long long)maximum);
    return cm_fail_at(error, "line %u", text->line);
  }
  text->at = c;
  *number = value;
  return CM_OK;
}

cm_status cm_text_end(cm_text *text, cm_error *error)
{
  cm_text_skip_blanks(text);
  return *text->at == '\0' ? CM_OK : cm_text_fail(text, "the end of the file", error);
}
