/* From pins of populations to kinds of cores. What can fail: constraints that are of another kind or leave nothing; memory. */
#include "core/constraints/population_areas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "core/chip/classes.h"

enum { CONSTRAINTS_MAX = 64, BYTES_MAX = 16 << 20 };
static const char nobody[] = "(no population)"; /* a class that takes nobody has to name somebody */

typedef struct core_kind {
  uint32_t before;  /* the chip's kind */
  uint64_t inside;  /* constraints whose areas the core is in */
} core_kind;

typedef struct constraining {
  const cm_chip *chip;
  const cm_topology *t;
  const cm_constraints *constraints;
  cm_chip *made;
  core_kind kinds[CM_CORE_CLASSES_MAX]; /* of the classes that are made */
  uint64_t *pinned, *barred;       /* [populations] constraints that are about one */
  bool *placed;                    /* [populations] some core takes it */
} constraining;

/* ---- reading ---- */

static const char *name_of(const void *context, uint32_t population)
{
  return ((const cm_topology *)context)->population[population].name;
}

static bool population_named(const void *context, const char *what, const json_t *name, void (*take)(void *user, uint32_t member), void *user)
{
  const cm_topology *t = context;
  bool found = false;
  (void)what;
  for (uint32_t p = 0; p < t->population_count && json_is_string(name); p++)
    if (strcmp(t->population[p].name, json_string_value(name)) == 0) {
      take(user, p);
      found = true;
    }
  return found;
}

static cm_status check_kinds(const cm_constraints *constraints, cm_error *error)
{
  char where[CM_JSON_PLACE_MAX];
  if (constraints->count > CONSTRAINTS_MAX)
    return cm_json_fail(error, CM_BAD_OPTION, "/constraints", "%u constraints: mappings keep at most %d", constraints->count, CONSTRAINTS_MAX);
  for (uint32_t i = 0; i < constraints->count; i++)
    if (constraints->constraint[i].kind != CM_PIN && constraints->constraint[i].kind != CM_NOT_HERE)
      return cm_json_fail(error, CM_BAD_OPTION, cm_json_place(where, "/constraints/%u/kind", i), "%s: mappings keep pin and not_here; the other kinds are for coremap solve",
                          where);
  return CM_OK;
}

cm_status cm_population_constraints(const char *text, size_t size, const cm_topology *t, const cm_chip *chip, cm_constraints *constraints,
                                    cm_error *error)
{
  static const char *const groups[] = {"population", NULL}, *const fields[] = {"constraints", NULL};
  const cm_constraint_world world = {.what = "population", .count = t->population_count, .name = name_of, .group = population_named, .groups = groups,
                                     .context = t, .width = chip->width, .height = chip->height, .router_x = chip->router_x,
                                     .router_y = chip->router_y, .chip_x = chip->die_width, .chip_y = chip->die_height, .status = CM_BAD_OPTION};
  json_t *root;
  if (cm_json_load(text, size, &(cm_document){"file of constraints", BYTES_MAX, CM_BAD_OPTION}, &root, error) != CM_OK)
    return error->status;
  cm_status status = cm_json_known_fields(root, "", fields, CM_BAD_OPTION, error);
  if (status == CM_OK)
    status = cm_constraints_read(json_object_get(root, "constraints"), "/constraints", &world, NULL, constraints, error);
  json_decref(root);
  if (status != CM_OK || check_kinds(constraints, error) == CM_OK)
    return status;
  cm_constraints_clear(constraints);
  return error->status;
}

/* ---- kinds of cores ---- */

static bool inside(const cm_constraint *c, uint32_t x, uint32_t y)
{
  for (uint32_t i = 0; i < c->at_count; i++)
    if (x >= c->at[i].x0 && x <= c->at[i].x1 && y >= c->at[i].y0 && y <= c->at[i].y1)
      return true;
  return false;
}

/* Whether a population may lie on cores of such a kind. */
static bool may(const constraining *c, const core_kind *k, uint32_t population)
{
  const cm_population *p = &c->t->population[population];
  return (c->pinned[population] & ~k->inside) == 0 && (c->barred[population] & k->inside) == 0 &&
         cm_chip_kind_takes(c->chip, k->before, p->name, p->kind);
}

static cm_status add_label(cm_core_class *class, const char *name, cm_error *error)
{
  if (CM_NEW(NULL, class->label[class->label_count], strlen(name) + 1, error) != CM_OK)
    return error->status;
  memcpy(class->label[class->label_count++], name, strlen(name) + 1);
  return CM_OK;
}

/* The class of a kind, made where it is new; 0: cores of no class take whatever comes, and may. */
static cm_status class_of_kind(constraining *c, core_kind k, uint8_t *number, cm_error *error)
{
  cm_chip *made = c->made;
  uint32_t allowed = 0;
  for (*number = 0; *number < made->class_count; ++*number)
    if (c->kinds[*number].before == k.before && c->kinds[*number].inside == k.inside) {
      ++*number;
      return CM_OK;
    }
  for (uint32_t p = 0; p < c->t->population_count; p++)
    allowed += may(c, &k, p);
  if (k.before == 0 && allowed == c->t->population_count) {
    *number = 0;
    return CM_OK;
  }
  if (made->class_count == CM_CORE_CLASSES_MAX || allowed > CM_CLASS_LABELS_MAX)
    return cm_fail(error, CM_BAD_OPTION, "the constraints make more than %d kinds of cores, or one of more than %d populations", CM_CORE_CLASSES_MAX,
                   CM_CLASS_LABELS_MAX);
  cm_core_class *class = &made->classes[made->class_count];
  if (k.before > 0)
    *class = c->chip->classes[k.before - 1];
  class->label = NULL;
  class->label_count = 0;
  c->kinds[made->class_count++] = k;
  (void)snprintf(class->name, sizeof class->name, "%.40s %u", k.before > 0 ? c->chip->classes[k.before - 1].name : "constrained", made->class_count);
  cm_status status = CM_NEW(NULL, class->label, allowed > 0 ? allowed : 1, error);
  for (uint32_t p = 0; p < c->t->population_count && status == CM_OK; p++)
    if (may(c, &k, p))
      status = add_label(class, c->t->population[p].name, error);
  if (status == CM_OK && allowed == 0)
    status = add_label(class, nobody, error);
  *number = (uint8_t)made->class_count;
  return status;
}

/* Classes of all cores, and whom free ones take. */
static cm_status make_classes(constraining *c, const cm_occupancy *occupancy, cm_error *error)
{
  const cm_constraints *all = c->constraints;
  uint64_t met = 0;
  char where[CM_JSON_PLACE_MAX];
  for (uint32_t core = 0; core < cm_chip_cores(c->chip); core++) {
    core_kind k = {.before = cm_chip_kind_of(c->chip, core)};
    for (uint32_t i = 0; i < all->count; i++)
      k.inside |= inside(&all->constraint[i], core % c->chip->width, core / c->chip->width) ? UINT64_C(1) << i : 0;
    if (class_of_kind(c, k, &c->made->class_of[core], error) != CM_OK)
      return error->status;
    if (occupancy->state[core] != CM_CORE_FREE)
      continue;
    met |= k.inside;
    for (uint32_t p = 0; p < c->t->population_count; p++)
      c->placed[p] = c->placed[p] || may(c, &k, p);
  }
  for (uint32_t i = 0; i < all->count; i++)
    if (all->constraint[i].kind == CM_PIN && (met >> i & 1) == 0)
      return cm_json_fail(error, CM_BAD_OPTION, cm_json_place(where, "/constraints/%u/at", i), "%s: none of these cores is free: choose others", where);
  for (uint32_t p = 0; p < c->t->population_count; p++)
    if (!c->placed[p] && (c->pinned[p] | c->barred[p]) != 0)
      return cm_fail(error, CM_BAD_OPTION, "population %s has no free core: its constraints leave it none together", c->t->population[p].name);
  return CM_OK;
}

/* Labels are names: populations of one name are told apart by nothing. */
static cm_status note_populations(constraining *c, cm_error *error)
{
  const cm_constraints *all = c->constraints;
  for (uint32_t i = 0; i < all->count; i++)
    for (uint32_t k = 0; k < all->constraint[i].of_count; k++)
      (all->constraint[i].kind == CM_PIN ? c->pinned : c->barred)[all->constraint[i].of[k]] |= UINT64_C(1) << i;
  for (uint32_t p = 0; p < c->t->population_count; p++)
    for (uint32_t q = 0; q < p && (c->pinned[p] | c->barred[p]) != 0; q++)
      if (strcmp(c->t->population[p].name, c->t->population[q].name) == 0 && (c->pinned[p] != c->pinned[q] || c->barred[p] != c->barred[q]))
        return cm_fail(error, CM_BAD_OPTION, "two populations are called %s: constraints go by names", c->t->population[p].name);
  return CM_OK;
}

/* The chip again, without its classes. */
static cm_status copy_chip(const cm_chip *chip, cm_chip **made, cm_error *error)
{
  char *text;
  if (cm_chip_print(chip, &text, error) != CM_OK)
    return error->status;
  cm_status status = cm_chip_parse(text, strlen(text), made, error);
  free(text);
  if (status != CM_OK)
    return status;
  for (uint32_t k = 0; k < (*made)->class_count; k++) {
    for (uint32_t i = 0; i < (*made)->classes[k].label_count; i++)
      cm_free((*made)->classes[k].label[i]);
    cm_free((*made)->classes[k].label);
  }
  (*made)->class_count = 0;
  cm_free((*made)->classes);
  cm_free((*made)->class_of);
  (*made)->classes = NULL;
  (*made)->class_of = NULL;
  status = CM_NEW(NULL, (*made)->classes, CM_CORE_CLASSES_MAX, error);
  return status == CM_OK ? CM_NEW(NULL, (*made)->class_of, cm_chip_cores(chip), error) : status;
}

cm_status cm_chip_constrain(const cm_chip *chip, const cm_occupancy *occupancy, const cm_topology *t, const cm_constraints *constraints, cm_chip **made,
                            cm_error *error)
{
  constraining c = {.chip = chip, .t = t, .constraints = constraints};
  cm_status status = copy_chip(chip, &c.made, error);
  if (status == CM_OK)
    status = CM_NEW(NULL, c.pinned, t->population_count, error);
  if (status == CM_OK)
    status = CM_NEW(NULL, c.barred, t->population_count, error);
  if (status == CM_OK)
    status = CM_NEW(NULL, c.placed, t->population_count, error);
  if (status == CM_OK)
    status = note_populations(&c, error);
  if (status == CM_OK)
    status = make_classes(&c, occupancy, error);
  cm_free(c.pinned);
  cm_free(c.barred);
  cm_free(c.placed);
  if (status == CM_OK)
    *made = c.made;
  else
    cm_chip_free(c.made);
  return status;
}
