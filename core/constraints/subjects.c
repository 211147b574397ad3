/* Subjects of constraints. What can fail: names that match nothing; memory. */
#include "core/constraints/subjects.h"

#include <stdio.h>
#include <string.h>

static uint32_t populations_of(const cm_topology *t)
{
  return t->population_of != NULL ? t->population_count : 0;
}

cm_status cm_subjects_open(const cm_topology *t, const uint32_t *part, uint32_t part_count, cm_memory *memory, cm_subjects *subjects, cm_error *error)
{
  const uint32_t n = t->vertex_count, populations = populations_of(t), parts = part != NULL ? part_count : 0, groups = populations + parts;
  const uint64_t named = (uint64_t)n * ((populations > 0 ? 1U : 0) + (parts > 0 ? 1U : 0));
  cm_subjects made = {.topology = t, .memory = memory, .part_count = parts, .count = n + groups};
  cm_status status = named > UINT32_MAX - groups ? cm_fail(error, CM_TOO_LARGE, "constraints are for networks of at most 2^31 neurons")
                                                 : CM_NEW(memory, made.first, (size_t)groups + 1, error);
  CM_THEN(status, CM_NEW(memory, made.member, named, error));
  CM_TRY_OR(status, cm_subjects_clear(&made));
  for (uint32_t v = 0; v < n; v++) {
    if (populations > 0)
      made.first[t->population_of[v]]++;
    if (parts > 0)
      made.first[populations + part[v]]++;
  }
  for (uint32_t g = 0, sum = 0; g <= groups; g++) {
    sum += g < groups ? made.first[g] : 0;
    made.first[g] = sum;
  }
  for (uint32_t v = n; v-- > 0;) {
    if (populations > 0)
      made.member[--made.first[t->population_of[v]]] = v;
    if (parts > 0)
      made.member[--made.first[populations + part[v]]] = v;
  }
  *subjects = made;
  return CM_OK;
}

void cm_subjects_clear(cm_subjects *subjects)
{
  CM_FREE(subjects->first, subjects->member);
  *subjects = (cm_subjects){.count = 0};
}

static const char *name_of(const void *context, uint32_t subject)
{
  const cm_subjects *s = context;
  const uint32_t n = s->topology->vertex_count;
  if (subject < n)
    return cm_topology_label(s->topology, subject);
  return subject - n < populations_of(s->topology) ? s->topology->population[subject - n].name : NULL;
}

static bool find_group(const void *context, const char *what, const json_t *name, void (*take)(void *user, uint32_t member), void *user)
{
  const cm_subjects *s = context;
  const uint32_t n = s->topology->vertex_count, populations = populations_of(s->topology);
  bool found = false;
  if (strcmp(what, "part") == 0) {
    found = json_is_integer(name) && json_integer_value(name) >= 0 && json_integer_value(name) < (json_int_t)s->part_count;
    if (found)
      take(user, n + populations + (uint32_t)json_integer_value(name));
    return found;
  }
  for (uint32_t p = 0; p < populations && json_is_string(name); p++)
    if (strcmp(s->topology->population[p].name, json_string_value(name)) == 0) {
      take(user, n + p);
      found = true;
    }
  return found;
}

cm_status cm_subject_constraints(const json_t *list, const char *where, const cm_subjects *s, const cm_chip *chip, cm_constraints *constraints,
                                 cm_error *error)
{
  static const char *const groups[] = {"population", "part", NULL};
  const cm_constraint_world world = {.what = s->topology->population_of != NULL ? "population or neuron" : "neuron", .count = s->count,
                                     .numbered = s->topology->vertex_count, .name = name_of, .group = find_group, .groups = groups, .context = s,
                                     .width = chip->width, .height = chip->height, .router_x = chip->router_x, .router_y = chip->router_y,
                                     .chip_x = chip->die_width, .chip_y = chip->die_height, .status = CM_BAD_OPTION};
  return cm_constraints_read(list, where, &world, s->memory, constraints, error);
}

static void add_text(char *text, size_t size, const char *more)
{
  const size_t used = strlen(text);
  (void)snprintf(text + used, size - used, "%s", more);
}

void cm_subjects_text(const cm_subjects *s, const cm_constraints *constraints, uint32_t number, char *text, size_t size)
{
  enum { NAMED_MAX = 3 };
  const cm_constraint *c = &constraints->constraint[number];
  const uint32_t count = c->of_count + c->to_count, named = count > NAMED_MAX ? NAMED_MAX : count, n = s->topology->vertex_count;
  char one[CM_CONSTRAINT_NAME_MAX + 40];
  (void)snprintf(text, size, "constraint %u%s%s%s (%s of ", number + 1, c->name[0] != '\0' ? " \"" : "", c->name, c->name[0] != '\0' ? "\"" : "",
                 cm_constraint_kind_names[c->kind]);
  for (uint32_t i = 0; i < named; i++) {
    const uint32_t subject = i < c->of_count ? c->of[i] : c->to[i - c->of_count], populations = populations_of(s->topology);
    const char *name = name_of(s, subject);
    if (name != NULL)
      (void)snprintf(one, sizeof one, "%.60s", name);
    else
      (void)snprintf(one, sizeof one, subject < n ? "neuron %u" : "part %u", subject < n ? subject : subject - n - populations);
    add_text(text, size, i == 0 ? "" : i + 1 == count ? " and " : ", ");
    add_text(text, size, one);
  }
  (void)snprintf(one, sizeof one, " and %u more", count - named);
  add_text(text, size, count > named ? one : "");
  add_text(text, size, ")");
}
