#include "library/private/job_kinds.h"

#include <stdio.h>
#include <string.h>

#define JOB_KIND(kind, ...) {.name = #kind, __VA_ARGS__},
static const library_job_kind kinds[] = {
#include "library/private/job_kinds.def"
};
#undef JOB_KIND

enum { KINDS = sizeof kinds / sizeof *kinds };

const library_job_kind *library_job_kind_at(size_t number)
{
  return number < KINDS ? &kinds[number] : NULL;
}

const library_job_kind *library_job_kind_of(const char *name)
{
  static const library_job_kind none;
  for (size_t i = 0; i < KINDS; i++)
    if (strcmp(kinds[i].name, name) == 0)
      return &kinds[i];
  return &none;
}

const char *library_job_kind_names(char *names, size_t size)
{
  size_t used = 0;
  for (size_t i = 0; i < KINDS && used < size; i++)
    used += (size_t)snprintf(names + used, size - used, "%s\"%s\"", i == 0 ? "" : i + 1 < KINDS ? ", " : " and ", kinds[i].name);
  return names;
}
