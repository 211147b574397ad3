/* A mapping that need not look at constraints -> where it breaks some, what need not move stays -> else a search that keeps them -> a verdict. What can fail: constraints that leave
 * no room, what mapping can, memory. */
#include "core/solver/driver/under_constraints.h"

#include "base/json.h"
#include "core/constraints/areas.h"
#include "core/limits/leaving.h"
#include "core/limits/shared.h"
#include "core/mapping/options.h"
#include "core/solver/driver/into_areas.h"
#include "core/verify/constraints_check.h"

typedef struct work {
  const cm_map_input *job;
  cm_map_input constrained; /* the same on cores of finer kinds */
  cm_areas *areas;
  cm_map_function *map;
  cm_run *run;
  cm_mapping *made;         /* NULL: none */
  char words[CM_BROKEN_WORDS_MAX]; /* the first constraint that it breaks; "": it breaks none */
} work;

/* Of a mapping, or any of a set. */
static cm_status judge_one(work *w, const cm_mapping *m, cm_error *error)
{
  const cm_mapped mapped = cm_mapped_by(m, w->job->demand, w->job->chip);
  w->words[0] = '\0';
  for (uint32_t i = 0; i < w->areas->constraints.count && w->words[0] == '\0'; i++)
    if (cm_constraint_check(&mapped, &w->areas->subjects, &w->areas->constraints, i, w->words, error) != CM_OK)
      return error->status;
  for (uint32_t k = 0; k < m->point_count && w->words[0] == '\0'; k++)
    if (k != m->point_chosen && judge_one(w, m->points[k], error) != CM_OK)
      return error->status;
  return CM_OK;
}

/* The mapping of an input, judged; a refusal for room or limits leaves none. */
static cm_status make(work *w, const cm_map_input *input, double share, cm_error *error)
{
  const size_t mark = cm_run_enter(w->run, share);
  cm_status status = w->map(input, w->run, &w->made, error);
  cm_run_leave(w->run, mark);
  if (status == CM_OK)
    return judge_one(w, w->made, error);
  w->made = NULL;
  return status == CM_NO_ROOM || status == CM_LIMIT_BROKEN ? CM_OK : status;
}

static void drop(work *w)
{
  cm_mapping_free(w->made);
  w->made = NULL;
}

static cm_status map_freely(work *w, cm_error *error)
{
  cm_variant variant;
  const cm_map_input *in = cm_vary(w->job, &variant);
  variant.options.constraints = NULL;
  if (make(w, in, 0.6, error) != CM_OK)
    return error->status;
  return w->made == NULL ? CM_OK : cm_json_set(w->made->options, "constraints", json_incref(w->job->options->constraints), "the report", error);
}

/* What breaks constraints goes, and what comes of moving its parts and neurons takes its place, where that breaks none. */
static cm_status mend(work *w, cm_error *error)
{
  cm_moved moved = {.part = NULL};
  cm_map_input in = w->constrained;
  const bool can = w->job->part == NULL && w->made->point_count == 0 && w->made->copied == NULL && !(w->areas->relations && cm_limits_are_shared(w->job->chip));
  cm_status status = can ? cm_move_into_areas(&w->constrained, w->job->chip, w->made, w->run, &moved, error) : CM_OK;
  drop(w);
  if (status != CM_OK || moved.part == NULL)
    return status;
  in.part = moved.part;
  in.core = moved.core;
  in.part_count = moved.parts;
  status = make(w, &in, 0.3, error);
  cm_moved_clear(&moved);
  if (status == CM_OK && w->words[0] != '\0')
    drop(w);
  return status;
}

/* Nothing that was made keeps them: the search for parts that do. */
static cm_status search(work *w, cm_error *error)
{
  static const char *const blind[] = {[CM_MAPPER_BISECTION] = "bisection", [CM_MAPPER_INTEGRATED] = "integrated", [CM_MAPPER_LEARNED] = "learned", [CM_MAPPER_AUTO] = NULL};
  const uint32_t mapper = w->job->options->mapper;
  if (blind[mapper] != NULL)
    return cm_option_refuse(error, "mapper", w->words[0] != '\0' ? "\"auto\" or \"two-phase\": what this one makes breaks constraints, and moving its parts and neurons does not mend it"
                                                                : "\"auto\" or \"two-phase\": this one makes no mapping here");
  if (cm_leaving_is_limited(&w->job->chip->limits))
    return cm_option_refuse(error, "constraints", "left out, or the chip's near_synapses_per_neuron and far_synapses_per_neuron: no mapping was found that keeps both");
  cm_status status = w->map(&w->constrained, w->run, &w->made, error);
  if (status == CM_OK)
    status = judge_one(w, w->made, error);
  return status == CM_OK && w->words[0] != '\0' ? cm_fail(error, CM_INTERNAL, "%s, which is a defect of coremapd", w->words) : status;
}

/* An old mapping's parts keep pin and not_here, and relations as it happens. */
static cm_status map_again(work *w, cm_error *error)
{
  cm_status status = w->map(&w->constrained, w->run, &w->made, error);
  if (status == CM_OK)
    status = judge_one(w, w->made, error);
  return status == CM_OK && w->words[0] != '\0' ? cm_fail(error, CM_LIMIT_BROKEN, "%s, when the old mapping's parts stay: map afresh, without from", w->words) : status;
}

cm_status cm_map_constrained(const cm_map_input *input, cm_map_function *map, cm_run *run, cm_mapping **mapping, cm_error *error)
{
  const cm_area_input in = {.list = input->options->constraints, .demand = input->demand, .chip = input->chip, .occupancy = input->occupancy,
                            .part = input->part, .part_count = input->part_count, .part_size_max = input->options->max_part_size};
  work w = {.job = input, .constrained = *input, .map = map, .run = run};
  cm_run_phase(run, "constraints");
  if (cm_areas_open(&in, run, &w.areas, error) != CM_OK)
    return error->status;
  w.constrained.areas = w.areas;
  w.constrained.chip = &w.areas->chip;
  cm_status status = input->from != NULL ? map_again(&w, error) : map_freely(&w, error);
  if (status == CM_OK && w.made != NULL && w.words[0] != '\0')
    status = mend(&w, error);
  if (status == CM_OK && w.made == NULL)
    status = search(&w, error);
  cm_areas_close(w.areas);
  if (status == CM_OK)
    *mapping = w.made;
  else
    drop(&w);
  return status;
}
