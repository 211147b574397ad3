/* From constraints to areas, a mapping that need not look at them, else one that does, and a verdict. What can fail: constraints that leave no room, what mapping can, memory. */
#include "core/solver/driver/under_constraints.h"

#include "base/json.h"
#include "core/constraints/areas.h"
#include "core/mapping/options.h"
#include "core/verify/constraints_check.h"

/* words: the first constraint that is broken, by any mapping of a set; "" where none is. */
static cm_status judge(const cm_areas *areas, const cm_map_input *input, const cm_mapping *m, char words[CM_BROKEN_WORDS_MAX], cm_error *error)
{
  const cm_mapped mapped = cm_mapped_by(m, input->demand, input->chip);
  words[0] = '\0';
  for (uint32_t i = 0; i < areas->constraints.count && words[0] == '\0'; i++)
    if (cm_constraint_check(&mapped, &areas->subjects, &areas->constraints, i, words, error) != CM_OK)
      return error->status;
  for (uint32_t k = 0; k < m->point_count && words[0] == '\0'; k++)
    if (k != m->point_chosen && judge(areas, input, m->points[k], words, error) != CM_OK)
      return error->status;
  return CM_OK;
}

/* A mapping without a look at the constraints, which may keep them all; *made NULL: it does not, or there is none. */
static cm_status map_freely(const cm_areas *areas, const cm_map_input *input, cm_map_function *map, cm_run *run, cm_mapping **made, cm_error *error)
{
  char words[CM_BROKEN_WORDS_MAX];
  cm_variant variant;
  const cm_map_input *in = cm_vary(input, &variant);
  variant.options.constraints = NULL;
  const size_t mark = cm_run_enter(run, 0.5);
  cm_status status = map(in, run, made, error);
  cm_run_leave(run, mark);
  if (status != CM_OK)
    return status == CM_NO_ROOM || status == CM_LIMIT_BROKEN ? CM_OK : status;
  status = judge(areas, input, *made, words, error);
  if (status == CM_OK && words[0] == '\0')
    return cm_json_set((*made)->options, "constraints", json_incref(input->options->constraints), "the report", error);
  cm_mapping_free(*made);
  *made = NULL;
  return status;
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
  char words[CM_BROKEN_WORDS_MAX] = "";
  cm_status status = input->from == NULL ? map_freely(areas, input, map, run, &made, error) : CM_OK;
  const bool look = status == CM_OK && made == NULL;
  if (look)
    status = map(&constrained, run, &made, error);
  if (look && status == CM_OK)
    status = judge(areas, input, made, words, error);
  if (status == CM_OK && words[0] != '\0')
    status = cm_fail(error, CM_INTERNAL, "%s, which is a defect of coremapd", words);
  cm_areas_close(areas);
  if (status == CM_OK)
    *mapping = made;
  else
    cm_mapping_free(made);
  return status;
}
