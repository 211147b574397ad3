#include "library/private/job_kinds.h"

#include "core/mapping/options.h"

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

double library_job_guess(const char *likeness, double size)
{
  char class[64];
  for (cm_preset i = 0; i < CM_PRESETS; i++) {
    const cm_preset_facts *facts = cm_preset_facts_of(i);
    const int length = snprintf(class, sizeof class, "map %s", facts->name);
    if (strncmp(likeness, class, (size_t)length) == 0)
      return facts->least_s + facts->element_ns * 1e-9 * size;
  }
  return strncmp(likeness, "compile", 7) == 0 ? 0.5 + 1e-7 * size : 10;
}
