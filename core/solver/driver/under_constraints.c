/* A mapping that need not look at constraints -> where it breaks some, what need not move stays -> else its parts cut by constraints and placed anew -> a verdict. What can fail:
 * constraints that leave no room, what mapping can, memory. */
#include "core/solver/driver/under_constraints.h"

#include <string.h>

#include "base/json.h"
#include "core/constraints/areas.h"
#include "core/limits/leaving.h"
#include "core/mapping/options.h"
#include "core/solver/driver/decide.h"
#include "core/verify/constraints_check.h"

/* `words`: the first constraint that a mapping, or one of a set, breaks; "": it breaks none. */
static cm_status judge(const cm_map_input *in, const cm_areas *areas, const cm_mapping *m, char words[CM_BROKEN_WORDS_MAX], cm_error *error)
{
  const cm_mapped mapped = cm_mapped_by(m, in->demand, in->chip);
  words[0] = '\0';
  for (uint32_t i = 0; i < areas->constraints.count && words[0] == '\0'; i++)
    CM_TRY(cm_constraint_check(&mapped, &areas->subjects, &areas->constraints, i, words, error));
  for (uint32_t k = 0; k < m->point_count && words[0] == '\0'; k++)
    CM_TRY_IF(k != m->point_chosen, judge(in, areas, m->points[k], words, error));
  return CM_OK;
}

/* ---- one mapping ---- */

typedef struct work {
  const cm_map_input *job;
  cm_map_once *once;
  const cm_step_bound *bound;
  cm_run *run;
  cm_mapping *free, *made; /* NULL: none */
  cm_error why;            /* the last one was refused */
  bool proved;             /* there is none */
} work;

bool cm_has_constraints_left(const cm_map_input *in)
{
  return in->areas != NULL && in->chip != &in->areas->chip;
}

/* A refusal for room or limits leaves none. */
static cm_status make(work *w, const cm_map_input *input, double share, cm_mapping **made, cm_error *error)
{
  const size_t mark = cm_run_enter(w->run, share);
  cm_status status = w->once(input, w->bound, w->run, made, error);
  cm_run_leave(w->run, mark);
  if (status == CM_NO_ROOM || status == CM_LIMIT_BROKEN) {
    w->why = *error;
    *made = NULL;
    return CM_OK;
  }
  return status;
}

/* Without a look at constraints; `everywhere`: on cores that are for pinned neurons, too. */
static cm_status map_freely(work *w, bool everywhere, cm_error *error)
{
  cm_variant variant;
  cm_map_input *in = cm_vary(w->job, &variant);
  cm_chip chip = *w->job->chip;
  variant.options.constraints = NULL;
  in->areas = NULL;
  if (everywhere) {
    CM_TRY(CM_NEW(w->run->memory, chip.classes, chip.class_count, error));
    for (uint32_t k = 0; k < chip.class_count; k++) {
      chip.classes[k] = w->job->chip->classes[k];
      chip.classes[k].pinned_only = false;
    }
    in->chip = &chip;
  }
  cm_status status = make(w, in, 0.6, &w->free, error);
  if (everywhere)
    cm_free(chip.classes);
  return status;
}

/* A mapping on the kinds of cores that constraints split; one that breaks some is none. */
static cm_status make_on_areas(work *w, const cm_moved *moved, cm_error *error)
{
  cm_map_input in = *w->job;
  char words[CM_BROKEN_WORDS_MAX];
  in.chip = &w->job->areas->chip;
  in.near_miss = NULL;
  if (moved != NULL) {
    in.part = moved->part;
    in.core = moved->core;
    in.part_count = moved->parts;
  }
  cm_status status = make(w, &in, 0.3, &w->made, error);
  if (status != CM_OK || w->made == NULL)
    return status;
  status = judge(w->job, w->job->areas, w->made, words, error);
  if (status != CM_OK || words[0] == '\0')
    return status;
  cm_mapping_free(w->made);
  w->made = NULL;
  (void)cm_fail(&w->why, CM_LIMIT_BROKEN, "%s", words);
  return CM_OK;
}

/* Parts and neurons of the free mapping move; where that does not do, its parts are cut by what constraints name, and placed anew. */
static cm_status mend(work *w, cm_error *error)
{
  cm_map_input in = *w->job;
  cm_moved moved = {.part = NULL};
  in.chip = &w->job->areas->chip;
  cm_status status = cm_move_into_areas(&in, w->job->chip, w->free, w->run, &moved, error);
  CM_THEN_IF(status, moved.part != NULL, make_on_areas(w, &moved, error));
  cm_moved_clear(&moved);
  if (status != CM_OK || w->made != NULL)
    return status;
  (void)cm_fail(&w->why, CM_LIMIT_BROKEN, "the parts that constraints need are more than the cores");
  status = cm_part_by_areas(&in, w->free, w->run, &moved, error);
  CM_THEN_IF(status, moved.part != NULL, make_on_areas(w, &moved, error));
  cm_moved_clear(&moved);
  return status;
}

static cm_status refuse_leaving(cm_error *error)
{
  return cm_option_refuse(error, "constraints", "left out, or the chip's near_synapses_per_neuron and far_synapses_per_neuron: no mapping was found that keeps both");
}

static bool is_unknown(const cm_error *error)
{
  return strstr(error->detail, "unknown") != NULL;
}

/* Small networks are searched through; without a mapping that looks at no constraints its refusal counts more than one that does. */
static cm_status decide(work *w, cm_error *error)
{
  cm_map_input in = *w->job;
  cm_moved made;
  cm_error why;
  if (in.part != NULL || cm_leaving_is_limited(&in.chip->limits))
    return CM_OK;
  in.chip = &in.areas->chip;
  cm_status status = cm_decide_small(&in, w->job->chip, w->run, &made, &why);
  w->proved = status == CM_LIMIT_BROKEN && w->free != NULL && !is_unknown(&why);
  if (w->proved)
    w->why = why;
  if (status != CM_OK) {
    *error = why;
    return status == CM_LIMIT_BROKEN || status == CM_TOO_LARGE || status == CM_NEURON_TOO_LARGE ? CM_OK : status;
  }
  CM_THEN_IF(status, made.part != NULL, make_on_areas(w, &made, error));
  cm_moved_clear(&made);
  return status;
}

/* No refusal of parts that were made says that there are no others. */
static cm_status refuse(const work *w, cm_error *error)
{
  if (w->free != NULL && cm_leaving_is_limited(&w->job->chip->limits))
    return refuse_leaving(error);
  *error = w->why;
  if (w->job->part == NULL && w->free != NULL && !w->proved && !is_unknown(error))
    cm_fail_more(error, "; whether another mapping keeps the constraints is unknown");
  return error->status;
}

cm_status cm_map_once_constrained(const cm_map_input *input, cm_map_once *once, const cm_step_bound *bound, cm_run *run, cm_mapping **mapping, cm_error *error)
{
  work w = {.job = input, .once = once, .bound = bound, .run = run};
  const bool copied = input->demand->network->vertex_count != input->areas->subjects.topology->vertex_count;
  char words[CM_BROKEN_WORDS_MAX] = "";
  cm_status status = map_freely(&w, false, error);
  CM_THEN_IF(status, w.free != NULL, judge(input, input->areas, w.free, words, error));
  const bool kept = w.free != NULL && (words[0] == '\0' || copied);
  CM_THEN_IF(status, w.free == NULL && cm_chip_pinned_kinds(input->chip) != 0, map_freely(&w, true, error));
  if (status == CM_OK && kept) {
    w.made = w.free;
    w.free = NULL;
    status = cm_json_set(w.made->options, "constraints", json_incref(input->options->constraints), "the report", error);
  } else if (status == CM_OK && w.free != NULL)
    status = input->part != NULL ? make_on_areas(&w, NULL, error) : mend(&w, error);
  const cm_error free_why = w.why;
  CM_THEN_IF(status, w.made == NULL, decide(&w, error));
  if (w.free == NULL)
    w.why = free_why;
  if (status == CM_OK && w.made == NULL)
    status = refuse(&w, error);
  cm_mapping_free(w.free);
  CM_END(status, *mapping = w.made, cm_mapping_free(w.made));
}

/* ---- the job ---- */

static cm_status refuse_broken(const cm_map_input *input, const char *words, cm_error *error)
{
  if (input->from != NULL) /* whose parts keep pin and not_here, and relations as it happens */
    return cm_fail(error, CM_LIMIT_BROKEN, "%s, when the old mapping's parts stay: map afresh, without from", words);
  if (cm_leaving_is_limited(&input->chip->limits)) /* copies stand where they were made */
    return refuse_leaving(error);
  return cm_fail(error, CM_INTERNAL, "%s, which is a defect of coremapd", words);
}

cm_status cm_map_constrained(const cm_map_input *input, cm_map_function *map, cm_run *run, cm_mapping **mapping, cm_error *error)
{
  const cm_area_input in = {.list = input->options->constraints, .demand = input->demand, .chip = input->chip, .occupancy = input->occupancy,
                            .part = input->part, .part_count = input->part_count, .part_size_max = input->options->max_part_size};
  cm_map_input constrained = *input;
  cm_areas *areas;
  cm_mapping *made = NULL;
  char words[CM_BROKEN_WORDS_MAX] = "";
  cm_run_phase(run, "constraints");
  CM_TRY(cm_areas_open(&in, run, &areas, error));
  constrained.areas = areas;
  if (input->from != NULL)
    constrained.chip = &areas->chip;
  cm_status status = map(&constrained, run, &made, error);
  CM_THEN(status, judge(input, areas, made, words, error));
  CM_THEN_IF(status, words[0] != '\0', refuse_broken(input, words, error));
  cm_areas_close(areas);
  CM_END(status, *mapping = made, cm_mapping_free(made));
}
