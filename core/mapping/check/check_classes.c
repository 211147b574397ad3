/* Which labels stand on cores of which class: taken from the chip file's text and the network, core by core; nothing is shared
 * with what gives neurons out. */
#include <inttypes.h>
#include <string.h>

#include "core/mapping/check/check_internal.h"

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

void cm_check_classes(const cm_topology *topology, const cm_chip *chip, const uint32_t *part, const uint32_t *core,
                      cm_check_result *result, bool *out_of_memory)
{
  for (uint32_t v = 0; chip->class_count > 0 && v < topology->vertex_count; v++) {
    uint32_t at = core[part[v]], number = chip->class_of[at];
    const cm_population *p = topology->population != NULL ? &topology->population[topology->population_of[v]] : NULL;
    if (number == 0 || cm_topology_is_outside(topology, v) || listed(&chip->classes[number - 1], p))
      continue;
    cm_check_violation(result, out_of_memory, "neuron %" PRIu32 " of label \"%.60s\" is on core (%" PRIu32 ", %" PRIu32
                       ") of class \"%s\", which does not take it", v, p != NULL ? p->name : "", at % chip->width, at / chip->width,
                       chip->classes[number - 1].name);
  }
}

const cm_limits *cm_check_limits_at(const cm_chip *chip, uint32_t core)
{
  uint32_t number = chip->class_count > 0 ? chip->class_of[core] : 0;
  return number > 0 && chip->classes[number - 1].own_limits ? &chip->classes[number - 1].limits : &chip->limits;
}
