/* An assignment before anybody has a part. What can fail: labels that nobody takes; memory. */
#include "core/solver/incremental/assignment.h"

#include <string.h>

#include "core/limits/limits.h"
#include "core/mapping/options.h"
#include "core/solver/stage/kinds_of_neurons.h"

cm_limits cm_stated_limits(const cm_map_input *input, cm_limits limits)
{
  const uint64_t most = input->options->max_part_size;
  if (most != 0 && (limits.neurons == 0 || most < limits.neurons))
    limits.neurons = most;
  return limits;
}

/* The same, and how large parts are to be where nothing is stated: on a bare grid, which constraints may have split into kinds. */
static cm_limits limits_of(const cm_map_input *in, cm_limits limits, uint64_t as_large)
{
  limits = cm_stated_limits(in, limits);
  bool bare = (in->areas != NULL || !cm_cores_differ(in->chip)) && limits.memory_bits == 0;
  for (cm_resource k = 0; k < CM_RESOURCES; k++)
    bare = bare && cm_limit(&limits, k) == 0;
  if (bare)
    limits.neurons = as_large;
  return limits;
}

cm_status cm_assignment_open(cm_assignment *s, const cm_map_input *in, uint32_t parts, uint64_t as_large, cm_run *run, cm_error *error)
{
  const cm_chip *chip = in->chip;
  const uint32_t n = in->demand->network->vertex_count;
  *s = (cm_assignment){.demand = in->demand, .chip = chip, .limits = limits_of(in, cm_chip_widest_limits(chip), as_large), .parts = parts, .kinds = cm_chip_kinds(chip),
                       .occupancy = in->occupancy};
  for (uint32_t k = 0; k < s->kinds; k++)
    s->of_kind[k] = limits_of(in, *cm_chip_kind_limits(chip, k), as_large);
  for (uint32_t c = 0; c < cm_chip_cores(chip); c++) {
    const bool usable = in->occupancy->state[c] == CM_CORE_FREE;
    s->cores[cm_chip_kind_of(chip, c)] += usable;
    s->parts_max += usable;
  }
  s->room = s->parts > s->parts_max ? s->parts : s->parts_max;
  CM_TRY(CM_NEW_ALL(run->memory, error, CM_ARRAY(s->part, n), CM_ARRAY(s->kind, (size_t)s->room + 1), CM_ARRAY(s->core, (size_t)s->room + 1)));
  memset(s->part, 0xff, n * sizeof *s->part);
  memset(s->core, 0xff, ((size_t)s->room + 1) * sizeof *s->core);
  if (s->kinds == 1)
    return CM_OK;
  return CM_NEW(run->memory, s->allowed, n, error) == CM_OK ? cm_allowed_kinds(in, s->cores, run, s->allowed, error) : error->status;
}

void cm_assignment_clear(cm_assignment *s)
{
  CM_FREE(s->part, s->kind, s->core, s->allowed, s->held);
}
