#include "core/machine/schedule/search_parts.h"

#include <math.h>
#include <string.h>

#include "base/threads.h"

enum { NUMBERS = CM_SETTINGS_NUMBERS, ALIKE = 10, STRETCH = 10, BY_WAY = 3, BATCH_MAX = 10, SCORES_MIN = 12, SCORES_MAX = 72 };

/* What a byte that is moved costs beside time: moving everything that must be moved once, a share of the time. */
static const double BYTES_SHARE = 0.04;

static const double fills[] = {0.35, 0.45, 0.55, 0.65, 0.75, 0.82, 0.88, 0.93};
static const double shares[] = {0, 0.12, 0.25, 0.5, 0.75, 1, 1.5};
static const double units[] = {1, 2, 3, 4, 6, 8, 12, 16};
static const double issues[] = {1, 2, 4, 10, 20, 40};
static const double splits[] = {0.25, 0.5, 1, 2, 4, 8};
static const double packs[] = {0, 1, 2, 3, 4};
static const double windows[] = {1, 32, 256, 2048};
static const double stretches[] = {0, 1, 2, 3};
static const double leans[] = {0.92, 0.95, 0.965, 0.98, 0.99, 1, 1.01, 1.02, 1.04};
static const double aheads[] = {0, 0.12, 0.25, 0.4, 0.6, 0.8};
/* Sizes are absolute, so that more memory leaves the candidates for less among the choices. */
static const double sizes[] = {1 << 9,  1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16, 1 << 17,
                               1 << 18, 1 << 19, 1 << 20, 1 << 21, 1 << 22, 1 << 23, 1 << 24};

typedef struct ladder {
  const double *value;
  int count;
} ladder;

/* In the order of the settings; from `stretches` on: of devices that differ, but for BY_WAY. */
#define LADDER(values) {values, sizeof values / sizeof *values}
static const ladder ladders[NUMBERS] = {LADDER(fills), LADDER(shares), LADDER(units), LADDER(sizes), LADDER(sizes), LADDER(issues),
                                        LADDER(aheads), LADDER(packs), LADDER(splits), LADDER(windows), LADDER(stretches), LADDER(leans)};

/* A place on every ladder. */
typedef struct point {
  int at[NUMBERS];
} point;

typedef struct searching {
  cm_model *model;
  const cm_plan_options *options;
  cm_run *run;
  cm_run untimed; /* what is begun is finished: the search ends between two candidates */
  point batch[BATCH_MAX];
  cm_plan_candidate made[BATCH_MAX];
  bool failed[BATCH_MAX];
  point seen[SCORES_MAX * 8];
  uint32_t seen_count;
  uint64_t scored, beside, most; /* candidates: of the budget, and pieces by way where the best has none */
  uint64_t effort, effort_max; /* of all candidates together; 0: any */
  double until;
  double until_ns, least_ns; /* the search is done when the second is as low as the first */
  double told;               /* of the budget, as progress */
  double reference_ns, reference_bytes;
  bool differ, by_way; /* several devices do one kind of work; all are alike, and cores have memories of their own */
} searching;

static cm_settings settings_of(const point *p)
{
  double v[NUMBERS] = {0};
  cm_settings made;
  for (int i = 0; i < NUMBERS; i++)
    v[i] = ladders[i].value[p->at[i]];
  memcpy(&made, v, sizeof made);
  return made;
}

static int nearest(const ladder *l, double value)
{
  int best = 0;
  for (int i = 1; i < l->count; i++)
    if (fabs(l->value[i] - value) < fabs(l->value[best] - value))
      best = i;
  return best;
}

static point point_of(const cm_settings *s)
{
  double v[NUMBERS];
  point p = {0};
  memcpy(v, s, sizeof v);
  for (int i = 0; i < NUMBERS; i++)
    p.at[i] = nearest(&ladders[i], v[i]);
  return p;
}

cm_status cm_plan_candidate_make(cm_model *model, const uint32_t *order, const cm_plan_options *options, cm_run *run,
                            cm_plan_candidate *candidate, cm_error *error)
{
  cm_plan *plan = NULL;
  cm_sequence sequence = {0};
  cm_timetable table = {0};
  cm_status status = cm_plan_new(model, order, options, run, &plan, error);
  CM_THEN(status, cm_sequence_make(plan, &sequence, error));
  CM_THEN(status, cm_timetable_make(plan, &sequence, false, run, &table, error));
  if (status == CM_OK)
    *candidate = (cm_plan_candidate){.settings = *options->settings, .time_ns = table.time_ns, .score = table.time_ns,
                                .bytes = table.traffic.loaded + table.traffic.stored + table.traffic.parameters,
                                .pieces = plan->piece_count, .effort = table.effort};
  cm_timetable_free(&table);
  cm_memory_plan_free(&sequence);
  cm_plan_free(plan);
  return status;
}

static cm_status make_one(void *context, size_t index, cm_error *error)
{
  searching *s = context;
  const cm_settings settings = settings_of(&s->batch[index]);
  cm_plan_options options = *s->options;
  options.settings = &settings;
  cm_status status = cm_plan_candidate_make(s->model, NULL, &options, &s->untimed, &s->made[index], error);
  s->made[index].score += BYTES_SHARE * s->reference_ns * (double)s->made[index].bytes / s->reference_bytes;
  /* Where the sizes of a candidate do not fit, another one's may. */
  s->failed[index] = status == CM_TOO_LARGE;
  return status == CM_TOO_LARGE ? CM_OK : status;
}

static bool seen_before(searching *s, const point *p)
{
  for (uint32_t i = 0; i < s->seen_count; i++)
    if (memcmp(&s->seen[i], p, sizeof *p) == 0)
      return true;
  return false;
}

/* Puts a point in the batch unless it was scored already or the budget is spent. */
static void add(searching *s, const point *p, uint32_t *count)
{
  if (*count == BATCH_MAX || s->scored + *count >= s->most || s->seen_count == sizeof s->seen / sizeof *s->seen ||
      seen_before(s, p))
    return;
  s->seen[s->seen_count++] = *p;
  s->batch[(*count)++] = *p;
}

/* What takes as little as is asked for is better than what does not. */
static bool better_than(const searching *s, const cm_plan_candidate *a, const cm_plan_candidate *b)
{
  const bool reaches = a->time_ns <= s->until_ns, reached = b->time_ns <= s->until_ns;
  return reaches != reached ? reaches : a->score < b->score;
}

static void tell(searching *s)
{
  const double used = fmax((double)s->scored / (double)s->most, s->effort_max > 0 ? (double)s->effort / (double)s->effort_max : 0);
  cm_run_add(s->run, used - s->told);
  s->told = used;
}

/* Scores the batch; the best of it becomes *best when it is better. Among equals the first stays. */
static cm_status score(searching *s, uint32_t count, point *at, cm_plan_candidate *best, bool *better, cm_error *error)
{
  *better = false;
  if (count == 0)
    return CM_OK;
  CM_TRY(cm_parallel(s->run, count, make_one, s, error));
  const bool here = at->at[STRETCH] == BY_WAY;
  for (uint32_t i = 0; i < count; i++) {
    const bool beside = s->by_way && !here && s->batch[i].at[STRETCH] == BY_WAY; /* what is not by way gets the whole budget all the same */
    *(beside ? &s->beside : &s->scored) += 1;
    if (s->failed[i])
      continue;
    s->effort += beside ? 0 : s->made[i].effort;
    s->least_ns = fmin(s->least_ns, s->made[i].time_ns);
  }
  tell(s);
  for (uint32_t i = 0; i < count; i++)
    if (!s->failed[i] && better_than(s, &s->made[i], best)) {
      *best = s->made[i];
      *at = s->batch[i];
      *better = true;
    }
  return CM_OK;
}

bool cm_search_timed_out(double until, const cm_run *run)
{
  const double now = cm_now();
  return (until > 0 && now >= until) || (run->deadline > 0 && now >= run->deadline);
}

static bool spent(const searching *s)
{
  return s->scored >= s->most || s->least_ns <= s->until_ns || (s->effort_max > 0 && s->effort >= s->effort_max) || cm_search_timed_out(s->until, s->run);
}

/* Starts that differ in how large pieces are and how full the memory is. */
static cm_status try_starts(searching *s, point *at, cm_plan_candidate *best, cm_error *error)
{
  static const int moves[][ALIKE] = {
    {2, 1, 0, 1, 1, 0, 0, 1, 0, 0},   {-2, -1, 0, 1, -1, 0, 1, 0, 0, 0}, {1, 0, 0, -1, -1, 1, -2, 0, 0, -2},
    {-1, 2, -2, 0, 1, 0, 0, 0, 0, 0}, {1, -3, 0, -1, -1, 1, 2, 0, 0, 0},  {0, -3, 0, 0, 0, 0, 2, 2, 0, 0},
    {0, 0, -3, 2, 0, 2, 0, 3, 0, -2},  {1, -3, 0, -1, -1, 1, 2, 0, 0, -2},
    {-1, 0, 2, -2, -1, 0, 1, 0, -1, 0},
    {1, 3, -3, -5, -6, -3, -2, 0, 0, -1}}; /* small pieces, by way */
  const point first = *at;
  uint32_t count = 0;
  bool better;
  const size_t starts = sizeof moves / sizeof *moves;
  for (size_t m = 0; m < (s->by_way ? starts : starts - 1); m++) {
    point p = first;
    for (int i = 0; i < ALIKE; i++) {
      int to = p.at[i] + moves[m][i];
      p.at[i] = to < 0 ? 0 : to >= ladders[i].count ? ladders[i].count - 1 : to;
    }
    p.at[STRETCH] = m == starts - 1 ? BY_WAY : p.at[STRETCH];
    add(s, &p, &count);
  }
  return score(s, count, at, best, &better, error);
}

/* True when several devices do one kind of work. */
static bool devices_differ(const cm_target *target)
{
  for (cm_unit_kind k = CM_UNIT_MATRIX; k < CM_UNIT_KINDS; k++) {
    uint32_t count = 0;
    for (uint32_t d = 0; d < target->device_count; d++)
      count += target->device[d].units > 0 && cm_device_does(&target->device[d], k) ? 1 : 0;
    if (count > 1)
      return true;
  }
  return false;
}

static cm_status descend(searching *s, point *at, cm_plan_candidate *best, cm_error *error)
{
  static const int turn[NUMBERS + 1] = {STRETCH, 11, 9, 7, 8, 0, 3, 4, 1, 6, 2, 5, STRETCH};
  const int first = s->differ ? 0 : NUMBERS - ALIKE, end = s->by_way ? NUMBERS + 1 : NUMBERS;
  for (bool any = true; any && !spent(s);) {
    any = false;
    for (int k = first; k < end && !spent(s); k++)
      /* Where devices differ either of two may end last, so that there are two valleys. */
      for (int step = 1, i = turn[k], far = i < ALIKE ? 2 : ladders[i].count; step <= far && !spent(s); step++) {
        uint32_t count = 0;
        bool better;
        for (int sign = -1; sign <= 1; sign += 2) {
          point p = *at;
          p.at[i] += sign * step;
          if (p.at[i] >= 0 && p.at[i] < ladders[i].count && (i != STRETCH || (p.at[i] == BY_WAY ? s->by_way : s->differ || p.at[i] == 1)))
            add(s, &p, &count);
        }
        CM_TRY(score(s, count, at, best, &better, error));
        any = any || better;
        step = better ? 0 : step; /* on from there */
      }
  }
  return CM_OK;
}

cm_status cm_chip_search(cm_model *model, const cm_plan_options *options, const cm_search_options *search, double until,
                         cm_run *run, cm_found *found, cm_error *error)
{
  searching *s;
  CM_TRY(CM_NEW(run->memory, s, 1, error));
  s->model = model;
  s->options = options;
  s->run = run;
  s->untimed = *run;
  s->untimed.deadline = 0;
  s->until = until;
  cm_plan_candidate first = found->first;
  cm_status status = CM_OK;
  double held = (double)CM_SEARCH_EFFORT / (double)(first.effort + 1);
  s->most = search->scores > 0 ? search->scores : held < SCORES_MIN ? SCORES_MIN : held > SCORES_MAX ? SCORES_MAX : (uint64_t)held;
  s->differ = devices_differ(options->target);
  s->by_way = !s->differ && options->target->memory_count > 0 && s->most >= SCORES_MAX; /* of fewer none is to spare */
  s->scored = 1;
  s->effort = first.effort;
  s->effort_max = search->scores > 0 ? 0 : CM_SEARCH_EFFORT + SCORES_MIN / 2 * first.effort;
  s->until_ns = search->until_ns;
  s->least_ns = s->reference_ns = first.time_ns;
  s->reference_bytes = (double)first.bytes + 1;
  first.score += BYTES_SHARE * first.time_ns;
  cm_plan_candidate best = first;
  point at = point_of(options->settings);
  if (!spent(s))
    status = try_starts(s, &at, &best, error);
  CM_THEN(status, descend(s, &at, &best, error));
  if (status == CM_OK)
    *found = (cm_found){.first = first, .best = best, .scored = s->scored + s->beside, .effort = s->effort};
  cm_free(s);
  return status;
}
