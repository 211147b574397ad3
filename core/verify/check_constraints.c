/* The constraints that a mapping's options state, read from the file and judged (constraints_check.h). */
#include "core/verify/check_constraints.h"

#include "core/chip/classes.h"
#include "core/verify/checker.h"
#include "core/verify/constraints_check.h"

static const char where[] = "/options/constraints";

cm_status cm_check_unpinned(const cm_mapped *mapped, const json_t *list, cm_run *run, cm_check_unpinned_found *found, cm_error *error)
{
  const cm_chip *chip = mapped->chip;
  const uint32_t n = mapped->demand->network->vertex_count;
  cm_subjects subjects = {.count = 0};
  cm_constraints all = {.count = 0};
  uint8_t *pinned = NULL;
  *found = (cm_check_unpinned_found){.first = UINT32_MAX};
  if (cm_chip_pinned_kinds(chip) == 0)
    return CM_OK;
  cm_status status = list == NULL ? CM_OK : cm_subjects_open(mapped->demand->network, mapped->part, mapped->parts, run->memory, &subjects, error);
  CM_THEN(status, list == NULL ? CM_OK : cm_subject_constraints(list, where, &subjects, chip, &all, error));
  CM_THEN(status, CM_NEW(run->memory, pinned, n, error));
  for (uint32_t i = 0; status == CM_OK && i < all.count; i++)
    for (uint32_t k = 0; k < all.constraint[i].of_count && all.constraint[i].kind == CM_PIN; k++)
      for (uint32_t m = 0; m < cm_subject_size(&subjects, all.constraint[i].of[k]); m++)
        pinned[cm_subject_neuron(&subjects, all.constraint[i].of[k], m)] = 1;
  for (uint32_t v = 0; status == CM_OK && v < n; v++) {
    const uint32_t number = chip->class_of[mapped->core[mapped->part[v]]];
    if (number == 0 || !chip->classes[number - 1].pinned_only || pinned[v] || cm_demand_is_outside(mapped->demand, v))
      continue;
    found->first = found->count[number]++ == 0 && found->first == UINT32_MAX ? v : found->first;
  }
  cm_constraints_clear(&all);
  cm_subjects_clear(&subjects);
  cm_free(pinned);
  return status;
}

/* Cores for pinned neurons alone have no others. */
static cm_status find_unpinned(cm_checker *c, const json_t *list, cm_error *error)
{
  cm_check_unpinned_found found;
  CM_TRY(cm_check_unpinned(&c->mapped, list, c->given->run, &found, error));
  if (found.first == UINT32_MAX)
    return CM_OK;
  const uint32_t core = c->core[c->file.neuron[found.first]];
  violation(c, "neuron %u lies on core (%u, %u) of class \"%s\", which is for pinned neurons, and no constraint pins it", found.first, core % c->given->chip->width,
            core / c->given->chip->width, c->given->chip->classes[c->given->chip->class_of[core] - 1].name);
  return CM_OK;
}

cm_status cm_checker_constraints(cm_checker *c, cm_error *error)
{
  const json_t *list = json_object_get(json_object_get(c->file.rest, "options"), "constraints");
  char words[CM_BROKEN_WORDS_MAX];
  cm_subjects subjects = {.count = 0};
  cm_constraints constraints = {.count = 0};
  if (list == NULL)
    return find_unpinned(c, NULL, error);
  CM_TRY(cm_subjects_open(c->given->demand->network, c->mapped.part, c->parts, c->given->run->memory, &subjects, error));
  cm_status status = cm_subject_constraints(list, where, &subjects, c->given->chip, &constraints, error);
  if (status == CM_BAD_OPTION) {
    violation(c, "the mapping's options cannot be read: %s", error->detail);
    list = NULL;
    status = CM_OK;
  }
  for (uint32_t i = 0; i < constraints.count && status == CM_OK; i++) {
    status = cm_constraint_check(&c->mapped, &subjects, &constraints, i, words, error);
    if (status == CM_OK && words[0] != '\0')
      violation(c, "%s", words);
  }
  CM_THEN(status, find_unpinned(c, list, error));
  cm_constraints_clear(&constraints);
  cm_subjects_clear(&subjects);
  return status;
}
