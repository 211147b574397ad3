/* Resource-constrained projects as PSPLIB (Kolisch, Sprecher 1997) keeps them. */
#include <string.h>

#include "core/schedule/read_text.h"

static cm_status read_amounts(cm_text *text, const char *what, uint32_t *amount, uint32_t count, cm_error *error)
{
  for (uint32_t r = 0; r < count; r++) {
    uint64_t number;
    CM_TRY(cm_text_number(text, what, UINT32_MAX, &number, error));
    amount[r] = (uint32_t)number;
  }
  return CM_OK;
}

static cm_status read_demands(cm_text *text, uint32_t task, cm_error *error)
{
  CM_TRY(cm_text_number(text, "a duration", CM_TASK_TIME_MAX, &text->time[task], error));
  return read_amounts(text, "a demand", text->demand + (size_t)task * text->resources, text->resources, error);
}

static cm_status read_successors(cm_text *text, uint32_t task, cm_error *error)
{
  uint64_t count, after;
  CM_TRY(cm_text_number(text, "the number of successors", text->tasks, &count, error));
  for (uint64_t i = 0; i < count; i++) {
    CM_TRY(cm_text_number(text, "a successor", UINT32_MAX, &after, error));
    if (after == 0)
      return cm_text_fail(text, "a successor (jobs count from 1)", error);
    CM_TRY(cm_text_arc(text, task, after - 1, 0, error));
  }
  return CM_OK;
}

/* Jobs, resources, capacities; then a row a job: duration, demands, successors. */
cm_status cm_read_patterson(cm_text *text, cm_error *error)
{
  uint64_t tasks, resources;
  CM_TRY(cm_text_number(text, "the number of jobs", CM_TASKS_MAX, &tasks, error));
  CM_TRY(cm_text_number(text, "the number of resources", CM_RESOURCES_MAX, &resources, error));
  CM_TRY(cm_text_room(text, tasks, 0, resources, error));
  CM_TRY(read_amounts(text, "a capacity", text->capacity, text->resources, error));
  for (uint32_t v = 0; v < text->tasks; v++) {
    CM_TRY(read_demands(text, v, error));
    CM_TRY(read_successors(text, v, error));
  }
  return cm_text_end(text, error);
}

/* Goes behind `label`, to the end of the line it stands on when `whole_line`. */
static cm_status seek(cm_text *text, const char *label, bool whole_line, cm_error *error)
{
  const char *found = strstr(text->at, label);
  if (found == NULL)
    return cm_fail(error, CM_BAD_NETWORK, "a ProGen project without \"%s\" behind line %u", label, text->line);
  found += strlen(label);
  if (whole_line)
    found += strcspn(found, "\n");
  for (; text->at < found; text->at++)
    text->line += *text->at == '\n';
  return CM_OK;
}

static cm_status read_labelled(cm_text *text, const char *label, uint64_t maximum, uint64_t *number, cm_error *error)
{
  CM_TRY(seek(text, label, false, error));
  text->at += strcspn(text->at, ":\n");
  text->at += *text->at == ':';
  return cm_text_number(text, label, maximum, number, error);
}

/* The number that begins a job's row. */
static cm_status read_job(cm_text *text, uint32_t task, cm_error *error)
{
  uint64_t number;
  CM_TRY(cm_text_number(text, "the number of a job", UINT32_MAX, &number, error));
  return number == task + 1 ? CM_OK : cm_text_fail(text, "the row of the next job in order (jobs count from 1)", error);
}

/* Modes must be one: choice among several is another problem. */
static cm_status read_one(cm_text *text, const char *what, cm_error *error)
{
  uint64_t number;
  CM_TRY(cm_text_number(text, what, UINT32_MAX, &number, error));
  return number == 1 ? CM_OK
                     : cm_fail(error, CM_BAD_NETWORK, "line %u: %s is %llu; only projects with one mode a job are read",
                               text->line, what, (unsigned long long)number);
}

/* A row a job: its number, a mode that must be one, and what else it has. */
static cm_status read_rows(cm_text *text, const char *mode, cm_status (*rest)(cm_text *, uint32_t, cm_error *), cm_error *error)
{
  for (uint32_t v = 0; v < text->tasks; v++) {
    CM_TRY(read_job(text, v, error));
    CM_TRY(read_one(text, mode, error));
    CM_TRY(rest(text, v, error));
  }
  return CM_OK;
}

cm_status cm_read_progen(cm_text *text, cm_error *error)
{
  uint64_t tasks, resources;
  CM_TRY(read_labelled(text, "jobs (incl. supersource/sink )", CM_TASKS_MAX, &tasks, error));
  CM_TRY(read_labelled(text, "- renewable", CM_RESOURCES_MAX, &resources, error));
  CM_TRY(cm_text_room(text, tasks, 0, resources, error));
  CM_TRY(seek(text, "PRECEDENCE RELATIONS", true, error));
  CM_TRY(seek(text, "#successors", true, error));
  CM_TRY(read_rows(text, "the number of modes", read_successors, error));
  CM_TRY(seek(text, "REQUESTS/DURATIONS", true, error));
  CM_TRY(seek(text, "----", true, error));
  CM_TRY(read_rows(text, "the mode", read_demands, error));
  CM_TRY(seek(text, "RESOURCEAVAILABILITIES", true, error));
  CM_TRY(seek(text, "\n", true, error)); /* the line that names the resources */
  return read_amounts(text, "a capacity", text->capacity, text->resources, error);
}
