/* The search on the chip and on parts of it: half of its memory, units or ports, without slow devices, and parts of those.
 * What smaller chips are searched for is searched here in the same way, so that a program for more is no slower. Parts
 * whose bound says that they cannot gain are left, and what is smaller still with them. */
#include "core/machine/schedule/search_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/machine/time_bound.h"

enum { PARTS_MAX = 48, NAMED_MAX = 600 }; /* parts that are searched; and with those that are left */

/* A program that is made for a part of the chip has to be faster by this share of its time. */
static const double GAIN_MIN = 0.004;

/* What is smaller than a part is tried where the part is at most by so much slower than the best. */
static const double NEAR = 1.4;

/* Steps that all searches together may take where nobody says how many settings are scored. */
static const uint64_t EFFORT_ALL = 2 * CM_SEARCH_EFFORT;

typedef struct part {
  cm_subchip chip;
  double time_ns; /* of the best program found for it */
  bool expanded;
} part;

typedef struct exploring {
  cm_model *model;
  const cm_plan_options *options; /* of the whole */
  const cm_search_options *search;
  cm_run *run;
  cm_target *target; /* scratch: that of a part */
  part *parts;       /* searched, or left */
  uint32_t count, searched;
  double until;
  uint64_t scored, effort, effort_first;
  cm_plan_candidate best;
} exploring;

/* Whether there is work left for another part: the cheapest search is a dozen candidates. */
static bool may_go_on(const exploring *e)
{
  return e->best.time_ns > e->search->until_ns && e->searched < PARTS_MAX && e->count < NAMED_MAX && !cm_search_timed_out(e->until, e->run) &&
         (e->search->scores > 0 || e->effort + e->effort_first <= EFFORT_ALL);
}

/* Whether a program for a part of the chip may be faster than the best: its bound may say no, or it is too small,
 * or cannot do all. */
static cm_status may_gain(exploring *e, const cm_plan_options *options, bool *may, cm_error *error)
{
  cm_plan *plan;
  double bound;
  cm_status status = cm_plan_new(e->model, NULL, options, e->run, &plan, error);
  *may = false;
  if (status != CM_OK)
    return status == CM_TOO_LARGE || status == CM_BAD_CHIP ? CM_OK : status;
  status = cm_time_bound_plain(plan, options->target, e->run, &bound, error);
  cm_plan_free(plan);
  *may = status == CM_OK && bound < e->best.time_ns * (1 - GAIN_MIN);
  return status;
}

/* Programs whose timetable takes so many steps are large; searching a chip takes so many timetables, mostly. */
static const double effort_large = 1e7;
enum { SCORES_MOSTLY = 50 };

/* What the searches of parts take together, mostly: so many steps, or as many as so many chips. */
static const double effort_mostly = 2.2e9, chips_mostly = 40;

/* Of what is left of the search: the next part. Half of what all took so far is left always: where some parts are searched, more are. */
static double share_of_part(const exploring *e)
{
  const double each = (double)e->effort_first + 1, all = fmin(effort_mostly, chips_mostly * each);
  return each / fmax(all - (double)e->effort, each + (double)e->effort / 2);
}

/* Of all that is left to be done: the search for settings. Large programs are searched for an order too. */
static double share_of_search(const cm_plan_candidate *first)
{
  return (double)first->effort > effort_large ? 0.6 : 0.97;
}

/* Searches a part; the best becomes its best where that is faster. */
static cm_status try_part(exploring *e, const cm_subchip *chip, cm_error *error)
{
  cm_plan_options options = *e->options;
  cm_found found;
  bool may;
  for (uint32_t i = 0; i < e->count; i++)
    if (e->parts[i].chip.memory == chip->memory && e->parts[i].chip.units == chip->units &&
        e->parts[i].chip.ports == chip->ports && e->parts[i].chip.without == chip->without)
      return CM_OK;
  part *p = &e->parts[e->count++];
  *p = (part){.chip = *chip, .expanded = true};
  cm_target_copy(e->target, e->options->target);
  if (!cm_subchip_make(chip, e->target, &options.memory_bytes))
    return CM_OK;
  const cm_settings settings = cm_settings_default(options.memory_bytes);
  options.target = e->target;
  options.settings = &settings;
  CM_TRY(may_gain(e, &options, &may, error));
  if (!may)
    return CM_OK;
  const size_t mark = cm_run_within(e->run, share_of_part(e));
  cm_status status = cm_plan_candidate_make(e->model, NULL, &options, e->run, &found.first, error);
  CM_THEN(status, cm_chip_search(e->model, &options, e->search, e->until, e->run, &found, error));
  if (status != CM_OK)
    return status == CM_TOO_LARGE ? CM_OK : status;
  cm_run_leave(e->run, mark);
  e->scored += found.scored;
  e->effort += found.effort;
  e->searched++;
  p->time_ns = found.best.time_ns;
  p->expanded = false;
  if (found.best.time_ns < e->best.time_ns * (1 - GAIN_MIN)) {
    e->best = found.best;
    e->best.part = *chip;
  }
  return CM_OK;
}

/* All parts that are one step smaller than one that was searched. */
static cm_status expand(exploring *e, part *from, cm_error *error)
{
  const cm_subchip chip = from->chip;
  cm_subchip smaller;
  from->expanded = true;
  for (uint32_t step = 0; step < CM_SUBCHIP_STEPS && may_go_on(e); step++) {
    uint64_t memory = e->options->memory_bytes;
    cm_target_copy(e->target, e->options->target);
    (void)cm_subchip_make(&chip, e->target, &memory);
    CM_TRY_IF(cm_subchip_step(&chip, e->target, step, &smaller), try_part(e, &smaller, error));
  }
  return CM_OK;
}

static cm_status explore(exploring *e, const cm_plan_candidate *first, double *first_ns, cm_error *error)
{
  cm_found found = {.first = *first};
  const double all = fmin(effort_mostly, chips_mostly * SCORES_MOSTLY * (double)first->effort);
  const size_t mark = cm_run_within(e->run, fmin(0.8, SCORES_MOSTLY * (double)first->effort / all));
  CM_TRY(cm_chip_search(e->model, e->options, e->search, e->until, e->run, &found, error));
  cm_run_leave(e->run, mark);
  *first_ns = found.first.time_ns;
  e->best = found.best;
  e->scored = found.scored;
  e->effort = found.effort;
  e->effort_first = found.effort;
  e->parts[e->count++] = (part){.time_ns = found.best.time_ns};
  while (e->options->division == CM_DIVISION_CAPABILITY && may_go_on(e)) {
    part *next = NULL;
    for (uint32_t i = 0; i < e->count; i++)
      if (!e->parts[i].expanded && e->parts[i].time_ns < NEAR * e->best.time_ns && (next == NULL || e->parts[i].time_ns < next->time_ns))
        next = &e->parts[i];
    if (next == NULL)
      return CM_OK;
    CM_TRY(expand(e, next, error));
  }
  return CM_OK;
}

static cm_status report_of(const exploring *e, double first_ns, json_t **report, cm_error *error)
{
  const cm_plan_candidate *best = &e->best;
  char name[256];
  static const char *const names[] = CM_SETTINGS_NAMES;
  double numbers[CM_SETTINGS_NUMBERS];
  json_t *settings = json_object();
  memcpy(numbers, &best->settings, sizeof numbers);
  for (int i = 0; i < CM_SETTINGS_NUMBERS; i++)
    (void)json_object_set_new(settings, names[i], json_real(numbers[i]));
  cm_subchip_name(&best->part, e->options->target, name, sizeof name);
  *report = json_pack("{s:I, s:f, s:f, s:s, s:o}", "scored", (json_int_t)e->scored, "first_ns", first_ns, "best_ns", best->time_ns, "made_for", name,
                      "settings", settings);
  return cm_whole(*report != NULL, "the report", error);
}

cm_status cm_settings_search(cm_model *model, const cm_plan_options *options, const cm_search_options *search, cm_run *run,
                             cm_plan_candidate *found, json_t **report, cm_error *error)
{
  exploring e = {.model = model, .options = options, .search = search, .run = run};
  double first_ns = 0;
  e.until = search->seconds > 0 ? cm_now() + search->seconds : 0;
  cm_plan_candidate first;
  cm_run_phase(run, "split");
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(e.target, 1), CM_ARRAY(e.parts, NAMED_MAX));
  CM_THEN(status, cm_plan_candidate_make(model, NULL, options, run, &first, error));
  if (status == CM_OK) {
    const size_t mark = cm_run_enter(run, share_of_search(&first));
    cm_run_phase(run, "search");
    status = explore(&e, &first, &first_ns, error);
    cm_run_leave(run, mark);
  }
  CM_THEN(status, report_of(&e, first_ns, report, error));
  CM_FREE(e.target, e.parts);
  if (status == CM_OK)
    *found = e.best;
  return status;
}
