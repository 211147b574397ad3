/* Happy path: what a proposal costs says how many the budget allows, or of which sample of the casts -> parts are annealed from where
 * they are -> kept when all casts cost less. What can fail: memory, a stop. */
#include "core/placement/trees/way_trees.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/annealing.h"
#include "base/order.h"
#include "base/random.h"
#include "core/chip/turns.h"
#include "core/partition/options.h"
#include "core/placement/trees/groups.h"
#include "core/placement/trees/way_state.h"

enum { SAMPLES = 400, CHECK_EVERY = 256, STEPS_MAX = 3 };

/* Temperatures in mean changes of a proposal; what is left of the effort is spent going downhill; proposals a part that a sample of
 * the casts is to allow, and casts a part that it keeps at least. */
static const double hot = 0.3, cold = 0.01, annealed = 0.9, sweeps_min = 40, casts_min = 20;

typedef struct walk {
  const cm_place_task *task;
  const cm_interconnect *net;
  cm_way_trees *trees;
  cm_random random;
  uint32_t *first_slot; /* [grid + 1] cores of the region by router, in slot */
  uint32_t *slot;       /* [cores of the region] their numbers */
  uint32_t *seat;       /* [parts] number of each part's core */
  uint32_t *occupant;   /* [cores of the region] CM_NO_PART: empty */
  uint64_t swaps;
  double steps, sweeps; /* that it may take */
} walk;

static void walk_free(walk *w)
{
  cm_way_trees_free(w->trees);
  cm_free(w->first_slot);
  cm_free(w->slot);
  cm_free(w->seat);
  cm_free(w->occupant);
  w->trees = NULL;
  w->first_slot = w->slot = w->seat = w->occupant = NULL;
}

static cm_status walk_new(walk *w, const cm_casts *casts, const uint32_t *core, cm_error *error)
{
  const cm_region *r = w->task->region;
  cm_memory *memory = w->task->run->memory;
  uint32_t grid = w->net->columns * w->net->rows;
  if (CM_NEW(memory, w->first_slot, (size_t)grid + 2, error) != CM_OK || CM_NEW(memory, w->slot, r->core_count, error) != CM_OK ||
      CM_NEW(memory, w->seat, casts->parts, error) != CM_OK || CM_NEW(memory, w->occupant, r->core_count, error) != CM_OK)
    return error->status;
  for (uint32_t i = 0; i < r->core_count; i++) {
    w->first_slot[cm_router_of(w->task->chip, r->cores[i]) + 2]++;
    w->occupant[i] = CM_NO_PART;
  }
  for (uint32_t at = 0; at < grid; at++)
    w->first_slot[at + 2] += w->first_slot[at + 1];
  for (uint32_t i = 0; i < r->core_count; i++)
    w->slot[w->first_slot[cm_router_of(w->task->chip, r->cores[i]) + 1]++] = i;
  for (uint32_t p = 0; p < casts->parts; p++) {
    const uint32_t *found = bsearch(&core[p], r->cores, r->core_count, sizeof *r->cores, cm_ascending);
    w->seat[p] = (uint32_t)(found - r->cores);
    w->occupant[w->seat[p]] = p;
  }
  return cm_way_trees_new(casts, w->task->chip, core, w->task->run, &w->trees, error);
}

/* ---- proposals ---- */

static uint32_t slots_of(const walk *w, uint32_t router)
{
  return router < w->net->columns * w->net->rows ? w->first_slot[router + 1] - w->first_slot[router] : 0;
}

/* A router with cores of the region some random living links from one: the last that was met. */
static uint32_t wander(walk *w, uint32_t router, unsigned steps)
{
  const cm_interconnect *net = w->net;
  uint32_t found = router;
  for (unsigned i = 0; i < steps + STEPS_MAX && (i < steps || slots_of(w, router) == 0); i++) {
    uint32_t degree = net->first[router + 1] - net->first[router];
    if (degree == 0)
      break;
    const cm_link *link = &net->link[net->first[router] + (uint32_t)cm_random_below(&w->random, degree)];
    router = link->dead ? router : link->to;
    found = slots_of(w, router) > 0 ? router : found;
  }
  return found;
}

typedef struct proposal {
  uint32_t part, other, seat;
  int64_t change;
} proposal;

/* Draws an exchange of parts behind two routers; false: nothing to exchange. */
static bool propose(walk *w, proposal *p)
{
  cm_way_trees *t = w->trees;
  uint64_t bits = cm_random_next(&w->random);
  p->part = (uint32_t)cm_random_below(&w->random, t->casts->parts);
  uint32_t near = bits & 3 ? cm_relative_part(t->casts, &t->inbound, &w->random, p->part) : p->part;
  uint32_t router = wander(w, t->router[near], bits & 12 ? (unsigned)(bits >> 4 & 1) : 1 + (unsigned)(bits >> 4 & 1));
  if (router == t->router[p->part])
    return false;
  p->seat = w->slot[w->first_slot[router] + (uint32_t)cm_random_below(&w->random, slots_of(w, router))];
  const uint32_t *cores = w->task->region->cores;
  const uint8_t *class = w->task->chip->class_of;
  if (class != NULL && class[cores[p->seat]] != class[cores[w->seat[p->part]]])
    return false;
  p->other = w->occupant[p->seat];
  p->change = cm_way_trees_look(t, p->part, p->other, router);
  return true;
}

static cm_status take(walk *w, const proposal *p, cm_error *error)
{
  uint32_t old = w->seat[p->part], router = cm_router_of(w->task->chip, w->task->region->cores[p->seat]);
  if (cm_way_trees_swap(w->trees, p->part, p->other, router, p->change, error) != CM_OK)
    return error->status;
  w->seat[p->part] = p->seat;
  w->occupant[p->seat] = p->part;
  w->occupant[old] = p->other;
  if (p->other != CM_NO_PART)
    w->seat[p->other] = old;
  w->swaps++;
  return CM_OK;
}

/* What proposals change on average; *steps: what one looks at. */
static double mean_change(walk *w, double *steps)
{
  double sum = 0, before = w->trees->steps;
  uint32_t counted = 0;
  for (uint32_t i = 0; i < SAMPLES; i++) {
    proposal p;
    if (!propose(w, &p))
      continue;
    sum += fabs((double)p.change);
    counted++;
  }
  *steps = 1 + (w->trees->steps - before) / SAMPLES;
  return counted > 0 ? sum / counted : 0;
}

/* Until so many proposals are made, or so many routers looked at: exchanges look too, at other places than proposals. */
static cm_status anneal(walk *w, double proposals, double steps, double mean, uint64_t *made, cm_error *error)
{
  double temperature = 0, begin = w->trees->steps, done = mean > 0 ? 0 : 1;
  for (*made = 0; done < 1; ++*made) {
    proposal p;
    if (*made % CHECK_EVERY == 0) {
      done = fmax((double)*made / proposals, (w->trees->steps - begin) / steps);
      temperature = done > annealed ? 0 : cm_cooled(mean * hot, cold / hot, done / annealed);
      if (cm_run_progress(w->task->run, fmin(done, 1), -1, w->trees->casts->parts, NAN, error) != CM_OK)
        return error->status;
    }
    if (!propose(w, &p))
      continue;
    if (cm_metropolis(&w->random, (double)p.change, temperature, CM_HOPELESS) && take(w, &p, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

/* ---- effort ---- */

/* The cost of all casts, and which share of them allows enough proposals. */
static cm_status survey(walk *w, const cm_casts *casts, const uint32_t *core, uint64_t *cost, double *share, cm_error *error)
{
  double each;
  cm_status status = walk_new(w, casts, core, error);
  if (status == CM_OK) {
    double least = casts_min * casts->parts / ((double)casts->first[casts->count] + 1);
    *cost = (uint64_t)w->trees->sum << w->trees->weight_shift;
    (void)mean_change(w, &each);
    *share = fmin(fmax(w->steps / (each * sweeps_min * casts->parts), least), 1);
  }
  walk_free(w);
  return status;
}

/* Anneals these casts; `core` becomes where their parts stand then. */
static cm_status improve(walk *w, const cm_casts *casts, uint32_t *core, uint32_t *made, cm_error *error)
{
  double each;
  uint64_t proposals = 0;
  cm_status status = walk_new(w, casts, core, error);
  if (status == CM_OK) {
    double mean = mean_change(w, &each);
    status = anneal(w, w->sweeps * casts->parts, w->steps, mean, &proposals, error);
  }
  for (uint32_t p = 0; p < casts->parts && status == CM_OK; p++)
    core[p] = w->task->region->cores[w->seat[p]];
  walk_free(w);
  *made = (uint32_t)(proposals / casts->parts);
  return status;
}

static cm_status cost_of(const walk *w, const cm_casts *casts, const uint32_t *core, uint64_t *cost, cm_error *error)
{
  cm_way_trees *trees;
  if (cm_way_trees_new(casts, w->task->chip, core, w->task->run, &trees, error) != CM_OK)
    return error->status;
  *cost = (uint64_t)trees->sum << trees->weight_shift;
  cm_way_trees_free(trees);
  return CM_OK;
}

/* Parts one by one, from where they stand. */
static cm_status place_parts(const cm_casts *casts, const cm_place_task *task, const cm_trees_budget *budget, uint32_t *core,
                             cm_trees_result *result, cm_error *error)
{
  walk w = {.task = task, .net = task->chip->interconnect, .steps = budget->way_looks, .sweeps = budget->way_sweeps};
  cm_trees_result made = {.starts = 1};
  cm_casts *sample = NULL;
  uint32_t *trial;
  double share = 1;
  if (CM_NEW(task->run->memory, trial, casts->parts, error) != CM_OK)
    return error->status;
  memcpy(trial, core, casts->parts * sizeof *trial);
  cm_random_init(&w.random, task->seed, CM_STREAM_TREES, 0);
  cm_status status = survey(&w, casts, core, &made.before, &share, error);
  made.sampled = share < 1;
  if (status == CM_OK && made.sampled)
    status =
      cm_casts_sample(casts, (uint64_t)(share * (double)casts->first[casts->count]), task->seed, task->run, &sample, error);
  if (status == CM_OK)
    status = improve(&w, made.sampled ? sample : casts, trial, &made.sweeps, error);
  cm_casts_free(sample);
  made.swaps = w.swaps;
  if (status == CM_OK)
    status = cost_of(&w, casts, trial, &made.after, error);
  if (status == CM_OK && made.after < made.before)
    memcpy(core, trial, casts->parts * sizeof *core);
  made.after = made.after < made.before ? made.after : made.before;
  cm_free(trial);
  if (status == CM_OK)
    *result = made;
  return status;
}

/* ---- whole routers ---- */

/* Parts are moved one by one too where the entries of whole routers are less than this of their cost, or these are no better; not
 * where links are at most this much of what the number of targets alone asks for. */
static const double few_entries = 0.2, near_bound = 1.05;

/* A cast needs a link to each router but one of so many as its targets fill. */
static double bound_of(const cm_casts *casts, const cm_chip *chip)
{
  uint32_t room = chip->router_x * chip->router_y;
  double sum = 0;
  for (uint32_t e = 0; e < casts->count; e++)
    sum += (double)casts->weight[e] * (double)((casts->first[e + 1] - casts->first[e]) / room);
  return sum * cm_cheapest_hop_units(chip);
}

/* Parts one by one from where they stand, where that costs less; *cost is what they come to. */
static cm_status refine(const cm_casts *casts, const cm_place_task *task, const cm_trees_budget *budget, uint32_t *core,
                        cm_group_cost *cost, cm_trees_result *made, cm_error *error)
{
  cm_group_cost refined = {0};
  cm_trees_result result;
  uint32_t *trial;
  if (CM_NEW(task->run->memory, trial, casts->parts, error) != CM_OK)
    return error->status;
  memcpy(trial, core, casts->parts * sizeof *core);
  cm_status status = place_parts(casts, task, budget, trial, &result, error);
  if (status == CM_OK)
    status = cm_group_cost_of(casts, task->chip, trial, task->run, &refined, error);
  if (status == CM_OK && refined.sum < cost->sum) {
    result.before = made->before;
    result.groups = made->groups;
    memcpy(core, trial, casts->parts * sizeof *core);
    *cost = refined;
    *made = result;
  }
  cm_free(trial);
  return status;
}

static cm_status place_groups(const cm_casts *casts, const cm_place_task *task, const cm_trees_budget *budget, uint32_t *core,
                              cm_trees_result *result, cm_error *error)
{
  cm_group_cost cost, groups;
  const cm_chip *chip = task->chip;
  cm_trees_result made = {.starts = 1};
  uint32_t *trial;
  double steps = fmin(budget->group_looks * casts->parts, budget->group_looks_max);
  if (CM_NEW(task->run->memory, trial, casts->parts, error) != CM_OK)
    return error->status;
  cm_status status = cm_group_cost_of(casts, chip, core, task->run, &cost, error);
  if (status == CM_OK)
    status = cm_place_by_groups(casts, task, steps, trial, &groups, error);
  if (status == CM_OK) {
    made.before = (uint64_t)cost.links;
    if (groups.sum < cost.sum) {
      memcpy(core, trial, casts->parts * sizeof *core);
      cost = groups;
      made.groups = groups.order;
    }
    bool by_links = cost.sum - cost.links < few_entries * cost.sum;
    if ((by_links || made.groups == NULL) && cost.links > near_bound * bound_of(casts, chip))
      status = refine(casts, task, budget, core, &cost, &made, error);
  }
  cm_free(trial);
  if (status != CM_OK)
    return status;
  made.after = (uint64_t)cost.links;
  *result = made;
  return CM_OK;
}

bool cm_has_groups(const cm_chip *chip)
{
  return cm_geometry_of(chip) == CM_BY_WAYS && chip->table_entries != 0 && chip->class_of == NULL && chip->router_x * chip->router_y > 1;
}

cm_status cm_place_by_way_trees(const cm_casts *casts, const cm_place_task *task, const cm_trees_budget *budget, uint32_t *core,
                                cm_trees_result *result, cm_error *error)
{
  return cm_has_groups(task->chip) ? place_groups(casts, task, budget, core, result, error)
                                   : place_parts(casts, task, budget, core, result, error);
}
