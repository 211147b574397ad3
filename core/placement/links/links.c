/* Happy path: loads of all links -> annealing of the sum of the sixth powers of their times, a swap or a move to an empty
 * core at a time -> the best seen stays where its busiest link is no busier than before. What can fail: memory, a stop. */
#include "core/placement/links/links.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/annealing.h"
#include "base/random.h"
#include "core/partition/options.h"
#include "core/placement/trades.h"

enum { LINKS_MAX = 1 << 22, SAMPLES = 64, CHECK_EVERY = 64 };

/* Temperatures in mean changes by a random swap. */
static const double hot = 0.05, cold = 0.0005;

typedef struct state {
  const cm_flows *flows;
  const cm_place_task *task;
  cm_flows *in;        /* by target */
  uint32_t *core;      /* [parts] */
  uint32_t *occupant;  /* [cores of the chip] part, or CM_NOBODY */
  double *load;        /* [links] whole numbers: exact while below 2^53 */
  double *hold;        /* [links] ns a packet, over the mean time of a link in use */
  uint32_t columns;
  double looks;
} state;

static double power(double t)
{
  double square = t * t;
  return square * square * square;
}

static double add(state *s, size_t link, double weight)
{
  double before = power(s->load[link] * s->hold[link]);
  s->load[link] += weight;
  return power(s->load[link] * s->hold[link]) - before;
}

/* The change of the sum. */
static double book(state *s, uint32_t from, uint32_t to, double weight)
{
  cm_straight along[2];
  double sum[2] = {0};
  cm_chip_straights(s->task->chip, from, to, along);
  s->looks += along[0].hops + along[1].hops + 2;
  for (int axis = 0; axis < 2; axis++)
    while (along[axis].hops > 0)
      sum[axis] += add(s, cm_straight_next(&along[axis]), weight);
  return sum[0] + sum[1];
}

/* Books all that a part sends and gets, but for what it shares with `without`; sign 1 or -1. */
static double book_part(state *s, uint32_t part, uint32_t without, double sign)
{
  const cm_flows *f = s->flows;
  double sum = 0;
  for (uint64_t i = f->first[part]; i < f->first[part + 1]; i++)
    if (f->target[i] != without)
      sum += book(s, s->core[part], s->core[f->target[i]], sign * (double)f->weight[i]);
  for (uint64_t i = s->in->first[part]; i < s->in->first[part + 1]; i++)
    if (s->in->target[i] != without)
      sum += book(s, s->core[s->in->target[i]], s->core[part], sign * (double)s->in->weight[i]);
  return sum;
}

/* Lets a part change places with what is on another core; the change of the sum. */
static double swap(state *s, uint32_t part, uint32_t there)
{
  uint32_t other = s->occupant[there];
  double sum = 0;
  for (int turn = 0; turn < 2; turn++) {
    sum += book_part(s, part, CM_NOBODY, turn == 0 ? -1 : 1);
    if (other != CM_NOBODY)
      sum += book_part(s, other, part, turn == 0 ? -1 : 1);
    if (turn == 0)
      cm_trade_places(s->core, s->occupant, part, there);
  }
  return sum;
}

static double busiest(const state *s)
{
  size_t links = (size_t)s->columns * cm_chip_routers_y(s->task->chip) * CM_DIRECTIONS;
  double most = 0;
  for (size_t l = 0; l < links; l++)
    most = fmax(most, s->load[l] * s->hold[l]);
  return most;
}

static uint32_t any_core(const state *s, cm_random *random)
{
  return s->task->region->cores[cm_random_below(random, s->task->region->core_count)];
}

/* The mean change of the sum by a random swap. */
static double unit_of(state *s, cm_random *random)
{
  double sum = 0;
  for (int i = 0; i < SAMPLES; i++) {
    uint32_t part = (uint32_t)cm_random_below(random, s->flows->parts), there = any_core(s, random),
             here = s->core[part];
    if (there == here)
      continue;
    sum += fabs(swap(s, part, there));
    (void)swap(s, part, here);
  }
  return sum / SAMPLES;
}

static cm_status anneal(state *s, const cm_links_budget *b, uint32_t *best, uint64_t *swaps, cm_error *error)
{
  cm_random random;
  cm_random_init(&random, s->task->seed, CM_STREAM_LINKS, 0);
  double unit = unit_of(s, &random), least = 0, sum = 0, done = 0;
  for (uint64_t k = 0; done < 1; k++) {
    CM_TRY_IF(k % CHECK_EVERY == 0, cm_run_progress(s->task->run, done, -1, s->flows->parts, sum, error));
    done = fmax(s->looks / b->looks, (double)k / (b->swaps * s->flows->parts));
    double warmth = cm_cooled(unit * hot, cold / hot, done);
    uint32_t part = (uint32_t)cm_random_below(&random, s->flows->parts), there = any_core(s, &random),
             here = s->core[part];
    s->looks++;
    if (there == here)
      continue;
    double change = swap(s, part, there);
    if (!cm_metropolis(&random, change, warmth, INFINITY)) {
      (void)swap(s, part, here);
      continue;
    }
    sum += change;
    ++*swaps;
    if (sum < least) {
      least = sum;
      memcpy(best, s->core, s->flows->parts * sizeof *best);
    }
  }
  return CM_OK;
}

/* All flows anew on the cores of s->core. */
static void stand(state *s, size_t links)
{
  const cm_flows *f = s->flows;
  memset(s->load, 0, links * sizeof *s->load);
  memset(s->occupant, 0xff, cm_chip_cores(s->task->chip) * sizeof *s->occupant);
  for (uint32_t p = 0; p < f->parts; p++)
    s->occupant[s->core[p]] = p;
  for (uint32_t p = 0; p < f->parts; p++)
    for (uint64_t i = f->first[p]; i < f->first[p + 1]; i++)
      (void)book(s, s->core[p], s->core[f->target[i]], (double)f->weight[i]);
}

static cm_status search(state *s, size_t links, const cm_links_budget *b, uint32_t *best, cm_links_result *made, cm_error *error)
{
  double time = 0, used = 0;
  for (size_t l = 0; l < links; l++)
    s->hold[l] = cm_chip_link_ns(s->task->chip, l);
  stand(s, links);
  for (size_t l = 0; l < links; l++) {
    time += s->load[l] * s->hold[l];
    used += s->load[l] > 0;
  }
  made->done = true;
  made->before = made->after = busiest(s);
  if (time <= 0)
    return CM_OK;
  double mean = time / used;
  for (size_t l = 0; l < links; l++)
    s->hold[l] /= mean;
  memcpy(best, s->core, s->flows->parts * sizeof *best);
  s->looks = 0;
  CM_TRY(anneal(s, b, best, &made->swaps, error));
  memcpy(s->core, best, s->flows->parts * sizeof *best);
  stand(s, links);
  made->after = busiest(s) * mean;
  return CM_OK;
}

cm_status cm_place_by_links(const cm_flows *flows, const cm_place_task *task, const cm_links_budget *budget, uint32_t *core,
                            cm_links_result *result, cm_error *error)
{
  state s = {.flows = flows, .task = task, .columns = cm_chip_routers_x(task->chip)};
  cm_memory *memory = task->run->memory;
  size_t links = (size_t)s.columns * cm_chip_routers_y(task->chip) * CM_DIRECTIONS;
  uint32_t *best = NULL;
  cm_links_result made = {0};
  cm_run_phase(task->run, "links");
  if (links > LINKS_MAX || flows->parts < 2) {
    *result = made;
    return CM_OK;
  }
  cm_status status = cm_flows_turned(flows, task->run, &s.in, error);
  CM_THEN(status, CM_NEW_ALL(memory, error, CM_ARRAY(s.core, flows->parts), CM_ARRAY(best, flows->parts),
                             CM_ARRAY(s.occupant, cm_chip_cores(task->chip)), CM_ARRAY(s.load, links), CM_ARRAY(s.hold, links)));
  if (status == CM_OK) {
    memcpy(s.core, core, flows->parts * sizeof *core);
    status = search(&s, links, budget, best, &made, error);
  }
  if (status == CM_OK && made.after < made.before)
    memcpy(core, s.core, flows->parts * sizeof *core);
  if (status == CM_OK) {
    made.after = fmin(made.after, made.before);
    *result = made;
  }
  cm_flows_free(s.in);
  CM_FREE(s.core, s.occupant, s.load, s.hold, best);
  return status;
}
