/* Constraints as a record. */
#include "core/constraints/constraints.h"

#include <stdio.h>

void cm_constraints_clear(cm_constraints *constraints)
{
  for (uint32_t i = 0; i < constraints->count; i++) {
    CM_FREE(constraints->constraint[i].of, constraints->constraint[i].to, constraints->constraint[i].at);
  }
  cm_free(constraints->constraint);
  *constraints = (cm_constraints){0};
}

const char *const cm_constraint_kind_names[CM_CONSTRAINT_KINDS + 1] = {"pin", "not_here", "together", "apart", "adjacent", "connected", "order", NULL};

void cm_constraint_text(const cm_constraints *constraints, uint32_t number, const char *what, char *text, size_t size)
{
  const cm_constraint *c = &constraints->constraint[number];
  const uint32_t members = c->of_count + c->to_count;
  (void)snprintf(text, size, "constraint %u%s%s%s (%s of %u %s%s)", number + 1, c->name[0] != '\0' ? " \"" : "", c->name,
                 c->name[0] != '\0' ? "\"" : "", cm_constraint_kind_names[c->kind], members, what, members == 1 ? "" : "s");
}

/* The last * is where to go back to when what follows it does not match. O(pattern * name). */
bool cm_name_matches(const char *pattern, const char *name)
{
  const char *star = NULL, *from = NULL;
  while (*name != '\0') {
    if (*pattern == '*') {
      star = ++pattern;
      from = name;
    } else if (*pattern == *name || *pattern == '?') {
      pattern++;
      name++;
    } else if (star != NULL) {
      pattern = star;
      name = ++from;
    } else {
      return false;
    }
  }
  while (*pattern == '*')
    pattern++;
  return *pattern == '\0';
}
