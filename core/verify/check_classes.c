/* Which labels stand on cores of which class: taken from the chip file's text and the network, core by core; nothing is shared
 * with what gives neurons out. */
#include <inttypes.h>
#include <string.h>

#include "core/verify/checker.h"

/* Whether a class lists a label; cores without a class, and classes without a list, take all. */
static bool listed(const cm_core_class *c, const cm_population *p)
{
  if (c->label_count == 0)
    return true;
  for (uint32_t i = 0; i < c->label_count; i++)
    if (strcmp(c->label[i], p != NULL ? p->name : "") == 0 || strcmp(c->label[i], p != NULL ? p->kind : "") == 0)
      return true;
  return false;
}

cm_status cm_checker_classes(cm_checker *c, cm_error *error)
{
  const cm_topology *topology = c->given->demand->network;
  const cm_chip *chip = c->given->chip;
  const uint32_t *part = c->file.neuron, *core = c->core;
  uint32_t *wrong = NULL, *first = NULL;
  if (chip->class_count == 0)
    return CM_OK;
  cm_status status = CM_NEW_ALL(c->given->run->memory, error, CM_ARRAY(wrong, c->parts), CM_ARRAY(first, c->parts));
  for (uint32_t v = 0; status == CM_OK && v < topology->vertex_count; v++) {
    uint32_t number = chip->class_of[core[part[v]]];
    const cm_population *p = topology->population != NULL ? &topology->population[topology->population_of[v]] : NULL;
    if (number == 0 || cm_demand_is_outside(c->given->demand, v) || listed(&chip->classes[number - 1], p))
      continue;
    if (wrong[part[v]]++ == 0)
      first[part[v]] = v;
  }
  for (uint32_t p = 0; status == CM_OK && p < c->parts; p++)
    if (wrong[p] > 0)
      violation(c, "part %" PRIu32 " on core (%" PRIu32 ", %" PRIu32 ") of class \"%s\" has %" PRIu32
                " neurons whose label it does not take, the first is neuron %" PRIu32 " of \"%.60s\"", p, core[p] % chip->width,
                core[p] / chip->width, chip->classes[chip->class_of[core[p]] - 1].name, wrong[p], first[p],
                topology->population != NULL ? topology->population[topology->population_of[first[p]]].name : "");
  CM_FREE(wrong, first);
  return status;
}

const cm_limits *cm_check_limits_at(const cm_chip *chip, uint32_t core)
{
  uint32_t number = chip->class_count > 0 ? chip->class_of[core] : 0;
  return number > 0 && chip->classes[number - 1].own_limits ? &chip->classes[number - 1].limits : &chip->limits;
}
