#include "core/learning/pilot/pilot.h"

#include <math.h>

#include "core/learning/agent/trade.h"
#include "core/partition/options.h"

enum { TRIES = 600, SAMPLES = 200, LOOKS_A_TRY = 12 /* what a try costs besides its neighbours */ };

/* What a kernel did in the last stretch. */
typedef struct record {
  uint32_t tries, accepted, saved;
} record;

typedef struct flight {
  const cm_environment *environment;
  uint32_t *at, *on, *best; /* [nodes] site; [sites] node; [nodes] */
  uint32_t *core_at;        /* [nodes] core of each: as at, but where it lies */
  cm_random random;
  record of[CM_KERNELS];
  uint32_t window;
  double unit;              /* mean size of what a trade anywhere changes at the start */
  int64_t cost, least;      /* beside that at the start */
} flight;

/* 32 random bits at a time. */
static inline uint32_t bits(cm_random *random)
{
  return (uint32_t)(cm_random_next(random) >> 32);
}

static inline uint32_t pick(cm_random *random, uint32_t bound)
{
  return (uint32_t)(((uint64_t)bits(random) * bound) >> 32);
}

/* The heavier of two of v's neighbours, drawn at random. */
static uint32_t friend_of(flight *f, uint32_t v)
{
  const cm_graph *g = f->environment->graph;
  uint64_t first = g->first[v];
  uint32_t degree = (uint32_t)(g->first[v + 1] - first);
  uint64_t a = first + pick(&f->random, degree), b = first + pick(&f->random, degree);
  return g->neighbour[g->weight[a] >= g->weight[b] ? a : b];
}

/* A site that a kernel proposes for v, or CM_NOBODY. */
static uint32_t propose(flight *f, cm_kernel kernel, uint32_t v)
{
  const cm_environment *s = f->environment;
  int32_t width = (int32_t)s->chip->width, height = (int32_t)s->chip->height, x, y;
  uint32_t reach = kernel == CM_KERNEL_WINDOW ? f->window : 1;
  if (kernel == CM_KERNEL_WINDOW) {
    x = (int32_t)f->core_at[v] % width;
    y = (int32_t)f->core_at[v] / width;
  } else if (s->graph->first[v + 1] == s->graph->first[v])
    return CM_NOBODY;
  else if (kernel == CM_KERNEL_NEIGHBOUR) {
    int32_t core = (int32_t)f->core_at[friend_of(f, v)];
    x = core % width;
    y = core / width;
  } else {
    int32_t a = (int32_t)f->core_at[friend_of(f, v)], b = (int32_t)f->core_at[friend_of(f, v)];
    int32_t c = (int32_t)f->core_at[friend_of(f, v)];
    x = (int32_t)cm_middle(a % width, b % width, c % width);
    y = (int32_t)cm_middle(a / width, b / width, c / width);
  }
  uint64_t number = cm_random_next(&f->random);
  uint32_t wide = 2 * reach + 1;
  x += (int32_t)(((number & 0xffffffff) * wide) >> 32) - (int32_t)reach;
  y += (int32_t)(((number >> 32) * wide) >> 32) - (int32_t)reach;
  if (x < 0 || y < 0 || x >= width || y >= height)
    return CM_NOBODY;
  uint32_t to = s->site_on[(size_t)y * (size_t)width + (size_t)x];
  return to != f->at[v] ? to : CM_NOBODY;
}

static void settle(flight *f, uint32_t v, uint32_t site)
{
  f->at[v] = site;
  f->on[site] = v;
  f->core_at[v] = f->environment->site[site];
}

/* One try; returns what it cost in looks. */
static uint64_t attempt(flight *f, cm_kernel kernel, double heat)
{
  const cm_graph *g = f->environment->graph;
  uint32_t v = pick(&f->random, f->environment->nodes), to = propose(f, kernel, v);
  record *r = &f->of[kernel];
  r->tries++;
  if (to == CM_NOBODY)
    return LOOKS_A_TRY / 2;
  uint32_t other = f->on[to], from = f->at[v];
  int64_t change = cm_trade_change(f->environment, f->at, f->on, v, to);
  uint64_t looks = g->first[v + 1] - g->first[v] + LOOKS_A_TRY + (other == CM_NOBODY ? 0 : g->first[other + 1] - g->first[other]);
  if (change > 0 && (double)change > -heat * log((bits(&f->random) + 1.0) / 0x1p32))
    return looks;
  settle(f, v, to);
  f->on[from] = CM_NOBODY;
  if (other != CM_NOBODY)
    settle(f, other, from);
  f->cost += change;
  r->accepted++;
  r->saved += change < 0;
  return looks;
}

/* Mean size of what trades anywhere change. */
static double roughness(flight *f)
{
  double sum = 0;
  uint32_t count = 0;
  for (uint32_t k = 0; k < SAMPLES; k++) {
    uint32_t v = pick(&f->random, f->environment->nodes), to = pick(&f->random, f->environment->sites);
    if (to == f->at[v])
      continue;
    int64_t change = cm_trade_change(f->environment, f->at, f->on, v, to);
    sum += fabs((double)change);
    count++;
  }
  return count > 0 && sum > 0 ? sum / count : 1;
}

static void look_around(const flight *f, double start, double tries, double done, float *input)
{
  const cm_environment *s = f->environment;
  double degree = (double)s->graph->entry_count / s->nodes;
  input[CM_PILOT_DONE] = (float)(2 * done - 1);
  input[CM_PILOT_DONE_SQUARED] = (float)(2 * done * done - 1);
  for (int k = 0; k < CM_KERNELS; k++) {
    double asked = fmax(f->of[k].tries, 1);
    input[CM_PILOT_ACCEPTED + k] = (float)(f->of[k].accepted / asked);
    input[CM_PILOT_SAVED + k] = (float)(f->of[k].saved / asked);
  }
  input[CM_PILOT_COST] = (float)log(fmax((start + (double)f->cost) / start, 1e-3));
  input[CM_PILOT_SIZE] = (float)(log2(s->nodes) / 10);
  input[CM_PILOT_DENSITY] = (float)sqrt(degree / s->nodes);
  input[CM_PILOT_TRIES] = (float)(log(tries + 1) / 8);
  input[CM_PILOT_ROUGH] = (float)log(f->unit / (start / s->nodes));
  input[CM_PILOT_ONE] = 1;
}

/* How often each kernel is asked, of 2^16. */
static void shares(const float *logit, uint32_t *until)
{
  double sum = 0, power[CM_KERNELS], up = 0;
  for (int k = 0; k < CM_KERNELS; k++)
    sum += power[k] = 0.02 + exp(fmin(fmax((double)logit[k], -6), 6));
  for (int k = 0; k < CM_KERNELS; k++)
    until[k] = (uint32_t)(65536 * (up += power[k] / sum));
}

static cm_status fly(flight *f, const cm_pilot_task *task, double start, cm_run *run, cm_error *error)
{
  const cm_environment *s = f->environment;
  uint32_t columns = s->axes->columns, rows = s->axes->rows, most = columns > rows ? columns : rows;
  float input[CM_PILOT_INPUTS], output[CM_PILOT_OUTPUTS];
  double used = 0, looks = task->tries * (2 * (double)s->graph->entry_count + (double)LOOKS_A_TRY * s->nodes);
  f->unit = roughness(f);
  for (uint32_t stretch = 0; stretch < CM_PILOT_STRETCHES; stretch++) {
    uint32_t until[CM_KERNELS];
    look_around(f, start, task->tries, (double)stretch / CM_PILOT_STRETCHES, input);
    cm_pilot_ask(task->pilot, input, output);
    memset(f->of, 0, sizeof f->of);
    shares(output + CM_PILOT_KERNEL, until);
    double heat = stretch + 1 < CM_PILOT_STRETCHES ? f->unit * exp(fmin((double)output[CM_PILOT_HEAT] - 3, 2)) : 0;
    double wide = most * exp(fmin((double)output[CM_PILOT_WINDOW] - 1, 0));
    f->window = wide < 1 ? 1 : (uint32_t)wide;
    for (double end = looks * (stretch + 1) / CM_PILOT_STRETCHES; used < end;) {
      uint32_t number = bits(&f->random) & 65535;
      cm_kernel kernel = number < until[0] ? CM_KERNEL_WINDOW : number < until[1] ? CM_KERNEL_CENTRE : CM_KERNEL_NEIGHBOUR;
      used += (double)attempt(f, kernel, heat);
    }
    if (f->cost < f->least) {
      f->least = f->cost;
      memcpy(f->best, f->at, s->nodes * sizeof *f->best);
    }
    CM_TRY(cm_run_check(run, error));
  }
  return CM_OK;
}

cm_status cm_pilot_fly(const cm_pilot_task *task, cm_run *run, uint32_t *at, uint64_t *hops, cm_error *error)
{
  const cm_environment *environment = task->environment;
  flight f = {.environment = environment, .at = at};
  uint64_t start = cm_environment_hops(environment, at);
  if (environment->nodes < 2 || start == 0) {
    *hops = start;
    return CM_OK;
  }
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(f.on, environment->sites), CM_ARRAY(f.best, environment->nodes),
                                CM_ARRAY(f.core_at, environment->nodes));
  if (status == CM_OK) {
    memset(f.on, 0xff, environment->sites * sizeof *f.on);
    memcpy(f.best, at, environment->nodes * sizeof *at);
    for (uint32_t v = 0; v < environment->nodes; v++)
      settle(&f, v, at[v]);
    cm_random_init(&f.random, task->seed, CM_STREAM_HOPS, 1);
    status = fly(&f, task, (double)start, run, error);
    memcpy(at, f.best, environment->nodes * sizeof *at);
    *hops = (uint64_t)((int64_t)start + f.least);
  }
  CM_FREE(f.on, f.best, f.core_at);
  return status;
}

cm_status cm_pilot_act(const cm_pilot_task *task, cm_run *run, cm_acted *acted, cm_error *error)
{
  cm_acted made[CM_LAYOUTS] = {0};
  cm_status status = CM_OK;
  const cm_environment *environment = task->environment;
  const double tries = task->tries > 0 ? task->tries : TRIES;
  for (int l = 0; l < CM_LAYOUTS && status == CM_OK; l++) {
    status = CM_NEW(run->memory, made[l].at, environment->nodes, error);
    CM_THEN(status, cm_environment_layout(environment, (cm_layout)l, run, made[l].at, error));
    if (status == CM_OK)
      made[l].before = made[l].after = cm_environment_hops(environment, made[l].at);
  }
  uint32_t best = status == CM_OK ? cm_acted_best(made) : 0;
  for (uint32_t l = 0; l < CM_LAYOUTS && status == CM_OK; l++) {
    made[l].steps = (uint32_t)(l == best ? tries : tries / 7);
    status = cm_pilot_fly(&(cm_pilot_task){task->pilot, environment, made[l].steps, task->seed + l}, run, made[l].at, &made[l].after, error);
  }
  CM_END(status, memcpy(acted, made, sizeof made), cm_acted_free(made));
}
