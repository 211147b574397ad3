/* The constraints that a mapping's options state, read from the file and judged (constraints_check.h). */
#include "core/verify/checker.h"
#include "core/verify/constraints_check.h"

cm_status cm_checker_constraints(cm_checker *c, cm_error *error)
{
  static const char where[] = "/options/constraints";
  const json_t *list = json_object_get(json_object_get(c->file.rest, "options"), "constraints");
  char words[CM_BROKEN_WORDS_MAX];
  cm_subjects subjects;
  cm_constraints constraints = {.count = 0};
  if (list == NULL)
    return CM_OK;
  if (cm_subjects_open(c->given->demand->network, c->mapped.part, c->parts, c->given->run->memory, &subjects, error) != CM_OK)
    return error->status;
  cm_status status = cm_subject_constraints(list, where, &subjects, c->given->chip, &constraints, error);
  if (status == CM_BAD_OPTION) {
    violation(c, "the mapping's options cannot be read: %s", error->detail);
    status = CM_OK;
  }
  for (uint32_t i = 0; i < constraints.count && status == CM_OK; i++) {
    status = cm_constraint_check(&c->mapped, &subjects, &constraints, i, words, error);
    if (status == CM_OK && words[0] != '\0')
      violation(c, "%s", words);
  }
  cm_constraints_clear(&constraints);
  cm_subjects_clear(&subjects);
  return status;
}
