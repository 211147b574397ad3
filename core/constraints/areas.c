/* Kinds of cores and choices of neurons, split constraint by constraint. What can fail: constraints that say nothing or too much; memory. */
#include "core/constraints/areas.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"

enum { NONE = UINT32_MAX };

typedef struct splitting {
  cm_areas *a;
  const cm_area_input *in;
  cm_run *run;
  uint32_t *seen, *split; /* [vertices] the last constraint that named a neuron, plus 1; [choices] where its choice goes for it */
  uint64_t takes_room, before_room, by_room, split_room;
} splitting;

static bool lies_in(const cm_constraint *c, uint32_t x, uint32_t y)
{
  for (uint32_t i = 0; i < c->at_count; i++)
    if (x >= c->at[i].x0 && x <= c->at[i].x1 && y >= c->at[i].y0 && y <= c->at[i].y1)
      return true;
  return false;
}

/* ---- cores ---- */

/* A kind for those cores of kind `from` that a constraint names. */
static cm_status add_kind(splitting *s, uint32_t from, uint32_t constraint, uint8_t *number, cm_error *error)
{
  cm_chip *chip = &s->a->chip;
  char before[sizeof chip->classes->name];
  if (cm_chip_kinds(chip) == CM_KINDS_MAX)
    return cm_json_fail(error, CM_BAD_OPTION, "/options/constraints", "the constraints tell apart more than %d kinds of cores: name fewer areas", CM_KINDS_MAX);
  cm_core_class *made = &chip->classes[chip->class_count++];
  if (from > 0)
    *made = chip->classes[from - 1];
  memcpy(before, from > 0 ? made->name : "constraint", from > 0 ? sizeof before : sizeof "constraint");
  (void)snprintf(made->name, sizeof made->name, "%.50s %u", before, constraint + 1);
  *number = (uint8_t)chip->class_count;
  s->a->base[*number] = s->a->base[from];
  return CM_OK;
}

/* Kinds with cores inside and outside of what a constraint names become two. */
static cm_status split_kinds(splitting *s, uint32_t number, cm_error *error)
{
  cm_chip *chip = &s->a->chip;
  const cm_constraint *c = &s->a->constraints.constraint[number];
  uint32_t all[CM_KINDS_MAX] = {0}, inside[CM_KINDS_MAX] = {0};
  uint8_t to[CM_KINDS_MAX];
  for (uint32_t core = 0; core < cm_chip_cores(chip); core++) {
    all[chip->class_of[core]]++;
    inside[chip->class_of[core]] += lies_in(c, core % chip->width, core / chip->width);
  }
  for (uint32_t k = 0, kinds = cm_chip_kinds(chip); k < kinds; k++) {
    to[k] = (uint8_t)k;
    CM_TRY_IF(inside[k] > 0 && inside[k] < all[k], add_kind(s, k, number, &to[k], error));
  }
  for (uint32_t core = 0; core < cm_chip_cores(chip); core++)
    if (lies_in(c, core % chip->width, core / chip->width))
      chip->class_of[core] = to[chip->class_of[core]];
  return CM_OK;
}

static cm_status make_kinds(splitting *s, cm_error *error)
{
  cm_areas *a = s->a;
  const cm_chip *chip = s->in->chip;
  a->chip = *chip;
  for (uint32_t k = 0; k < cm_chip_kinds(chip); k++)
    a->base[k] = (uint8_t)k;
  a->chip.classes = NULL;
  a->chip.class_of = NULL;
  CM_TRY(CM_NEW_ALL(s->run->memory, error, CM_ARRAY(a->chip.classes, CM_KINDS_MAX), CM_ARRAY(a->chip.class_of, cm_chip_cores(chip)),
                                           CM_ARRAY(a->inside, a->constraints.count)));
  if (chip->class_count > 0) {
    memcpy(a->chip.classes, chip->classes, chip->class_count * sizeof *chip->classes);
    memcpy(a->chip.class_of, chip->class_of, cm_chip_cores(chip) * sizeof *chip->class_of);
  }
  for (uint32_t i = 0; i < a->constraints.count; i++)
    CM_TRY_IF(cm_is_area(&a->constraints.constraint[i]), split_kinds(s, i, error));
  for (uint32_t i = 0; i < a->constraints.count; i++)
    for (uint32_t core = 0; core < cm_chip_cores(chip); core++)
      if (lies_in(&a->constraints.constraint[i], core % chip->width, core / chip->width))
        a->inside[i] |= UINT64_C(1) << a->chip.class_of[core];
  return CM_OK;
}

/* ---- neurons ---- */

/* A choice for those of choice `from` that a constraint names. */
static cm_status add_choice(splitting *s, uint32_t from, uint32_t constraint, cm_error *error)
{
  cm_areas *a = s->a;
  const uint64_t wanted = (uint64_t)a->choices + 1;
  cm_memory *memory = s->run->memory;
  if (CM_ROOM(memory, a->takes, &s->takes_room, wanted, error) != CM_OK || CM_ROOM(memory, a->before, &s->before_room, wanted, error) != CM_OK ||
      CM_ROOM(memory, a->by, &s->by_room, wanted, error) != CM_OK || CM_ROOM(memory, s->split, &s->split_room, wanted, error) != CM_OK)
    return error->status;
  const bool first = a->choices == 0;
  a->takes[a->choices] = first ? ~UINT64_C(0) : a->takes[from] & cm_area_of(a, constraint);
  a->before[a->choices] = from;
  a->by[a->choices] = constraint;
  s->split[a->choices] = NONE;
  if (!first)
    s->split[from] = a->choices;
  a->choices++;
  return CM_OK;
}

static cm_status split_choices(splitting *s, uint32_t number, cm_error *error)
{
  cm_areas *a = s->a;
  const cm_constraint *c = &a->constraints.constraint[number];
  for (uint32_t i = 0; i < a->choices; i++)
    s->split[i] = NONE;
  for (uint32_t k = 0; k < c->of_count; k++)
    for (uint32_t i = 0; i < cm_subject_size(&a->subjects, c->of[k]); i++) {
      const uint32_t v = cm_subject_neuron(&a->subjects, c->of[k], i), from = a->choice_of[v];
      if (s->seen[v] == number + 1)
        continue;
      s->seen[v] = number + 1;
      CM_TRY_IF(s->split[from] == NONE, add_choice(s, from, number, error));
      a->choice_of[v] = s->split[from];
    }
  return CM_OK;
}

static cm_status make_choices(splitting *s, cm_error *error)
{
  cm_areas *a = s->a;
  const uint32_t n = s->in->demand->network->vertex_count;
  CM_TRY(CM_NEW_ALL(s->run->memory, error, CM_ARRAY(a->choice_of, n), CM_ARRAY(s->seen, n)));
  CM_TRY(add_choice(s, 0, NONE, error));
  for (uint32_t i = 0; i < a->constraints.count; i++)
    CM_TRY_IF(cm_is_area(&a->constraints.constraint[i]), split_choices(s, i, error));
  CM_TRY(CM_NEW(s->run->memory, a->pinned, a->choices, error));
  for (uint32_t i = 1; i < a->choices; i++)
    a->pinned[i] = a->pinned[a->before[i]] || a->constraints.constraint[a->by[i]].kind == CM_PIN;
  return CM_OK;
}

/* ---- both ---- */

cm_status cm_areas_open(const cm_area_input *input, cm_run *run, cm_areas **areas, cm_error *error)
{
  splitting s = {.in = input, .run = run};
  cm_areas *a;
  CM_TRY(CM_NEW(run->memory, a, 1, error));
  s.a = a;
  cm_status status = cm_subjects_open(input->demand->network, input->part, input->part_count, run->memory, &a->subjects, error);
  CM_THEN(status, cm_subject_constraints(input->list, "/options/constraints", &a->subjects, input->chip, &a->constraints, error));
  CM_THEN(status, make_kinds(&s, error));
  CM_THEN(status, make_choices(&s, error));
  CM_THEN(status, cm_areas_make_cells(a, input->demand->network->vertex_count, run->memory, error));
  CM_THEN(status, cm_areas_check_room(a, input, run, error));
  CM_FREE(s.seen, s.split);
  CM_END(status, *areas = a, cm_areas_close(a));
}

void cm_areas_close(cm_areas *a)
{
  if (a == NULL)
    return;
  cm_subjects_clear(&a->subjects);
  cm_constraints_clear(&a->constraints);
  CM_FREE(a->chip.classes, a->chip.class_of, a->choice_of, a->takes, a->cell_of, a->whole, a->before, a->by, a->pinned, a->inside, a);
}
