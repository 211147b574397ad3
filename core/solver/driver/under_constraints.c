/* From constraints to areas, a mapping, and a verdict. What can fail: constraints that leave no room, what mapping can, memory. */
#include "core/solver/driver/under_constraints.h"

#include "core/constraints/areas.h"
#include "core/mapping/options.h"
#include "core/verify/constraints_check.h"

static cm_status judge(const cm_areas *areas, const cm_map_input *input, const cm_mapping *m, cm_error *error)
{
  const cm_mapped mapped = cm_mapped_by(m, input->demand, input->chip);
  char words[CM_BROKEN_WORDS_MAX];
  for (uint32_t i = 0; i < areas->constraints.count; i++) {
    if (cm_constraint_check(&mapped, &areas->subjects, &areas->constraints, i, words, error) != CM_OK)
      return error->status;
    if (words[0] != '\0')
      return cm_fail(error, CM_INTERNAL, "%s, which is a defect of coremapd", words);
  }
  for (uint32_t k = 0; k < m->point_count; k++)
    if (k != m->point_chosen && judge(areas, input, m->points[k], error) != CM_OK)
      return error->status;
  return CM_OK;
}

cm_status cm_map_constrained(const cm_map_input *input, cm_map_function *map, cm_run *run, cm_mapping **mapping, cm_error *error)
{
  const cm_area_input in = {.list = input->options->constraints, .demand = input->demand, .chip = input->chip, .occupancy = input->occupancy,
                            .part = input->part, .part_count = input->part_count, .part_size_max = input->options->max_part_size};
  cm_map_input constrained = *input;
  cm_areas *areas;
  cm_mapping *made = NULL;
  cm_run_phase(run, "constraints");
  if (cm_areas_open(&in, run, &areas, error) != CM_OK)
    return error->status;
  if (areas->relations && input->from != NULL) {
    cm_areas_close(areas);
    return cm_option_refuse(error, "from", "left out: an old mapping's parts keep pin and not_here, and no other kind of constraint");
  }
  constrained.areas = areas;
  constrained.chip = &areas->chip;
  cm_status status = map(&constrained, run, &made, error);
  if (status == CM_OK)
    status = judge(areas, input, made, error);
  cm_areas_close(areas);
  if (status == CM_OK)
    *mapping = made;
  else
    cm_mapping_free(made);
  return status;
}
