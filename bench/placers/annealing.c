#include "bench/placers/annealing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/random.h"

enum { NOBODY = UINT32_MAX, SAMPLES = 500, CLOCK_EVERY = 64 };

typedef struct annealer {
  const cm_graph *parts;
  const cm_chip *chip;
  const uint32_t *site;
  uint32_t sites, nodes;
  uint32_t *on;      /* [cores of the chip] node */
  uint32_t *core;    /* [nodes] */
  uint8_t *usable;   /* [cores of the chip] */
  int32_t *way_x, *way_y; /* [2 * width], [2 * height] distance by difference of coordinates */
  uint16_t *x, *y;   /* [cores of the chip] routers */
  cm_random random;
} annealer;

double bench_cpu_seconds(void)
{
  struct timespec now;
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline int64_t distance(const annealer *a, uint32_t from, uint32_t to)
{
  return a->way_x[a->x[to] - a->x[from] + (int32_t)a->chip->width] +
         a->way_y[a->y[to] - a->y[from] + (int32_t)a->chip->height];
}

/* Change of the cost when v goes from its core to `to`, where `other` comes from (NOBODY: from nowhere). */
static int64_t change_of(const annealer *a, uint32_t v, uint32_t to, uint32_t other)
{
  const cm_graph *g = a->parts;
  uint32_t from = a->core[v];
  int64_t change = 0;
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
    uint32_t u = g->neighbour[i];
    if (u != other)
      change += (int64_t)g->weight[i] * (distance(a, to, a->core[u]) - distance(a, from, a->core[u]));
  }
  return change;
}

static int64_t try_trade(const annealer *a, uint32_t v, uint32_t to)
{
  uint32_t other = a->on[to];
  return change_of(a, v, to, other) + (other == NOBODY ? 0 : change_of(a, other, a->core[v], v));
}

static void trade(annealer *a, uint32_t v, uint32_t to)
{
  uint32_t other = a->on[to], from = a->core[v];
  a->on[from] = other;
  a->on[to] = v;
  a->core[v] = to;
  if (other != NOBODY)
    a->core[other] = from;
}

/* A usable core within the window around v's, other than its own; NOBODY when the draw fails. */
static uint32_t draw(annealer *a, uint32_t v, uint32_t window)
{
  uint32_t from = a->core[v], width = a->chip->width, height = a->chip->height;
  uint64_t wide = 2 * (uint64_t)window + 1, number = cm_random_below(&a->random, wide * wide);
  int64_t x = (int64_t)(from % width) + (int64_t)(number % wide) - window;
  int64_t y = (int64_t)(from / width) + (int64_t)(number / wide) - window;
  if (x < 0 || y < 0 || x >= width || y >= height)
    return NOBODY;
  uint32_t to = (uint32_t)y * width + (uint32_t)x;
  return to != from && a->usable[to] ? to : NOBODY;
}

static double spread_of_changes(annealer *a, uint32_t window)
{
  double sum = 0, squares = 0;
  uint32_t count = 0;
  for (uint32_t k = 0; k < SAMPLES; k++) {
    uint32_t v = (uint32_t)cm_random_below(&a->random, a->nodes), to = draw(a, v, window);
    if (to == NOBODY)
      continue;
    double change = (double)try_trade(a, v, to);
    sum += change;
    squares += change * change;
    count++;
  }
  return count == 0 ? 0 : sqrt(squares / count - sum / count * (sum / count));
}

static void run(annealer *a, double seconds, uint32_t *best)
{
  uint32_t widest = a->chip->width > a->chip->height ? a->chip->width : a->chip->height;
  double begin = bench_cpu_seconds(), start = 2 * spread_of_changes(a, widest), heat = start, used = 0, window = widest;
  double accepted = 0.44;
  int64_t cost = 0, best_cost = 0;
  memcpy(best, a->core, a->nodes * sizeof *best);
  for (uint64_t k = 1; used < 1; k++) {
    if (k % CLOCK_EVERY == 0) {
      used = (bench_cpu_seconds() - begin) / seconds;
      heat = start * pow(1e-4, used);
      window *= 1 - 0.44 + accepted; /* as wide as keeps the acceptance at 44 % */
      window = window < 1 ? 1 : window > widest ? widest : window;
    }
    uint32_t v = (uint32_t)cm_random_below(&a->random, a->nodes), to = draw(a, v, (uint32_t)window);
    if (to == NOBODY)
      continue;
    int64_t change = try_trade(a, v, to);
    bool take = (double)change <= -heat * log(1 - cm_random_unit(&a->random));
    accepted += ((take ? 1.0 : 0.0) - accepted) / 512;
    if (!take)
      continue;
    trade(a, v, to);
    cost += change;
    if (cost < best_cost && used > 0.5) {
      best_cost = cost;
      memcpy(best, a->core, a->nodes * sizeof *best);
    }
  }
  if (cost < best_cost)
    memcpy(best, a->core, a->nodes * sizeof *best);
}

bool bench_anneal(const cm_graph *parts, const cm_chip *chip, const uint32_t *free_core, uint32_t count,
                  double seconds, uint64_t seed, uint32_t *core)
{
  uint32_t cores = cm_chip_cores(chip), nodes = parts->vertex_count;
  annealer a = {.parts = parts, .chip = chip, .site = free_core, .sites = count, .nodes = nodes};
  uint32_t *best = calloc(nodes + 1, sizeof *best);
  a.on = malloc(cores * sizeof *a.on);
  a.core = malloc((nodes + 1) * sizeof *a.core);
  a.usable = calloc(cores, sizeof *a.usable);
  a.way_x = calloc(2 * (size_t)chip->width + 1, sizeof *a.way_x);
  a.way_y = calloc(2 * (size_t)chip->height + 1, sizeof *a.way_y);
  a.x = calloc(cores, sizeof *a.x);
  a.y = calloc(cores, sizeof *a.y);
  bool enough = best != NULL && a.on != NULL && a.core != NULL && a.usable != NULL && a.way_x != NULL &&
                a.way_y != NULL && a.x != NULL && a.y != NULL;
  if (enough && nodes > 1) {
    memset(a.on, 0xff, cores * sizeof *a.on);
    memcpy(a.core, core, nodes * sizeof *a.core);
    for (uint32_t v = 0; v < nodes; v++)
      a.on[core[v]] = v;
    for (uint32_t i = 0; i < count; i++)
      a.usable[free_core[i]] = 1;
    for (uint32_t c = 0; c < cores; c++) {
      a.x[c] = (uint16_t)(c % chip->width);
      a.y[c] = (uint16_t)(c / chip->width);
    }
    for (uint32_t d = 0; d < chip->width; d++)
      a.way_x[chip->width + d] = a.way_x[chip->width - d] = (int32_t)cm_chip_distance(chip, 0, d);
    for (uint32_t d = 0; d < chip->height; d++)
      a.way_y[chip->height + d] = a.way_y[chip->height - d] = (int32_t)cm_chip_distance(chip, 0, d * chip->width);
    cm_random_init(&a.random, seed, 1000, 0);
    run(&a, seconds, best);
    memcpy(core, best, nodes * sizeof *core);
  }
  free(best);
  free(a.on);
  free(a.core);
  free(a.usable);
  free(a.way_x);
  free(a.way_y);
  free(a.x);
  free(a.y);
  return enough;
}
