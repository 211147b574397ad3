/* The constraints that a mapping's options state, read from the file and judged (constraints_check.h). */
#include "core/verify/checker.h"
#include "core/verify/constraints_check.h"

/* Cores for pinned neurons alone have no others; `all` are of the subjects, and none where there are no constraints. */
static cm_status find_unpinned(cm_checker *c, const cm_subjects *subjects, const cm_constraints *all, cm_error *error)
{
  const cm_chip *chip = c->given->chip;
  const uint32_t n = c->given->demand->network->vertex_count;
  uint8_t *pinned;
  CM_TRY(CM_NEW(c->given->run->memory, pinned, n, error));
  for (uint32_t i = 0; i < all->count; i++)
    for (uint32_t k = 0; k < all->constraint[i].of_count && all->constraint[i].kind == CM_PIN; k++)
      for (uint32_t m = 0; m < cm_subject_size(subjects, all->constraint[i].of[k]); m++)
        pinned[cm_subject_neuron(subjects, all->constraint[i].of[k], m)] = 1;
  for (uint32_t v = 0; v < n && chip->class_count > 0; v++) {
    const uint32_t core = c->core[c->file.neuron[v]], number = chip->class_of[core];
    if (number == 0 || !chip->classes[number - 1].pinned_only || pinned[v] || cm_demand_is_outside(c->given->demand, v))
      continue;
    violation(c, "neuron %u lies on core (%u, %u) of class \"%s\", which is for pinned neurons, and no constraint pins it", v, core % chip->width, core / chip->width,
              chip->classes[number - 1].name);
    break;
  }
  cm_free(pinned);
  return CM_OK;
}

cm_status cm_checker_constraints(cm_checker *c, cm_error *error)
{
  static const char where[] = "/options/constraints";
  const json_t *list = json_object_get(json_object_get(c->file.rest, "options"), "constraints");
  char words[CM_BROKEN_WORDS_MAX];
  cm_subjects subjects = {.count = 0};
  cm_constraints constraints = {.count = 0};
  if (list == NULL)
    return find_unpinned(c, &subjects, &constraints, error);
  CM_TRY(cm_subjects_open(c->given->demand->network, c->mapped.part, c->parts, c->given->run->memory, &subjects, error));
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
  CM_THEN(status, find_unpinned(c, &subjects, &constraints, error));
  cm_constraints_clear(&constraints);
  cm_subjects_clear(&subjects);
  return status;
}
