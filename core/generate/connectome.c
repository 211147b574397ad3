/* Synthetic connectomes (docs/reference/generators.md): regions of uneven sizes, neurons whose numbers of targets and of sources have
 * heavy tails, most targets in the own region and a few that it is tied to. */
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/random.h"
#include "base/threads.h"
#include "core/generate/generate.h"

enum { BLOCK = 1024, RATE_SCALE = 1024, REGIONS_MAX = 78, REGION_MEAN = 600, PARTNERS = 4, TRIES = 32, CHECK_EVERY = 64 };

/* Random streams: of a neuron's degrees, of its targets, of a region. */
enum { STREAM_DEGREE = 20, STREAM_TARGETS, STREAM_REGION };

static const double size_deviation = 0.9, out_deviation = 1.1, in_deviation = 1, rate_deviation = 0.8;
static const double own_share = 0.75, partner_share = 0.2, fill_max = 0.25;

typedef struct region {
  uint32_t first, count, partner[PARTNERS];
} region;

typedef struct connectome {
  cm_run *run;
  cm_topology *made;
  uint32_t regions;
  region region[REGIONS_MAX];
  double *strength; /* [neurons + 1] running sum of what draws axons */
} connectome;

static double draw_normal(cm_random *random)
{
  double radius = sqrt(-2 * log(1 - cm_random_unit(random)));
  return radius * cos(2 * 3.14159265358979323846 * cm_random_unit(random));
}

/* Sizes are log-normal; every region has a neuron at least. */
static void draw_regions(connectome *c)
{
  uint32_t n = c->made->vertex_count, wanted = n / REGION_MEAN;
  double weight[REGIONS_MAX], sum = 0, before = 0;
  c->regions = wanted < 1 ? 1 : wanted < REGIONS_MAX ? wanted : REGIONS_MAX;
  for (uint32_t k = 0; k < c->regions; k++) {
    cm_random random;
    cm_random_init(&random, c->run->seed, STREAM_REGION, k);
    weight[k] = exp(size_deviation * draw_normal(&random));
    sum += weight[k];
    for (uint32_t j = 0; j < PARTNERS; j++)
      c->region[k].partner[j] = (uint32_t)cm_random_below(&random, c->regions);
  }
  for (uint32_t k = 0; k < c->regions; k++) {
    c->region[k].first = k + (uint32_t)floor(before / sum * (n - c->regions));
    before += weight[k];
    if (k > 0)
      c->region[k - 1].count = c->region[k].first - c->region[k - 1].first;
  }
  c->region[c->regions - 1].count = n - c->region[c->regions - 1].first;
}

/* Numbers of targets that add up to fan_out * neurons, but for those that no network of this size has room for. */
static cm_status draw_degrees(connectome *c, double fan_out, cm_error *error)
{
  cm_topology *t = c->made;
  uint32_t n = t->vertex_count;
  double *weight, sum = 0, before = 0, most = fmax(1, fill_max * n);
  CM_TRY(CM_NEW(c->run->memory, weight, n, error));
  for (uint32_t v = 0; v < n; v++) {
    cm_random random;
    cm_random_init(&random, c->run->seed, STREAM_DEGREE, v);
    weight[v] = exp(out_deviation * draw_normal(&random));
    sum += weight[v];
    c->strength[v + 1] = c->strength[v] + exp(in_deviation * draw_normal(&random));
    t->net_source[v] = v;
    t->net_weight[v] = 1 + (uint64_t)(RATE_SCALE * fmin(exp(rate_deviation * draw_normal(&random)), 1000));
  }
  for (uint32_t v = 0; v < n; v++) {
    double targets = floor((before + weight[v]) / sum * fan_out * n + 0.5) - floor(before / sum * fan_out * n + 0.5);
    t->net_first[v + 1] = t->net_first[v] + (uint64_t)fmin(fmax(targets, 1), most);
    before += weight[v];
  }
  t->pin_count = t->net_first[n];
  cm_free(weight);
  return CM_OK;
}

/* A neuron of a run, as likely as it is strong: the running sum is searched by bisection. */
static uint32_t draw_target(const connectome *c, uint32_t first, uint32_t count, cm_random *random)
{
  double from = c->strength[first], at = from + (c->strength[first + count] - from) * cm_random_unit(random);
  uint32_t low = first, high = first + count - 1;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (c->strength[middle + 1] > at)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* Up to `wanted` further targets of a run; what has been drawn too often is left out. */
static uint32_t draw_some(const connectome *c, uint32_t first, uint32_t count, uint32_t wanted, uint32_t neuron,
                          cm_random *random, uint32_t *taken, uint32_t *row)
{
  uint32_t found = 0, room = (uint32_t)(fill_max * count);
  wanted = wanted < room ? wanted : room;
  for (uint64_t tries = 0; found < wanted && tries < (uint64_t)TRIES * wanted; tries++) {
    uint32_t to = draw_target(c, first, count, random);
    if (to == neuron || taken[to] == neuron + 1)
      continue;
    taken[to] = neuron + 1;
    row[found++] = to;
  }
  return found;
}

static void draw_row(const connectome *c, const region *r, uint32_t v, uint32_t *taken)
{
  cm_topology *t = c->made;
  uint32_t *row = t->pin + t->net_first[v], wanted = (uint32_t)(t->net_first[v + 1] - t->net_first[v]), found, n = t->vertex_count;
  cm_random random;
  cm_random_init(&random, c->run->seed, STREAM_TARGETS, v);
  found = draw_some(c, r->first, r->count, (uint32_t)(own_share * wanted + 0.5), v, &random, taken, row);
  for (uint32_t j = 0; j < PARTNERS; j++) {
    const region *other = &c->region[r->partner[j]];
    uint32_t share = (uint32_t)(partner_share / PARTNERS * wanted);
    found += draw_some(c, other->first, other->count, share, v, &random, taken, row + found);
  }
  for (uint64_t tries = 0; found < wanted && tries < (uint64_t)TRIES * wanted; tries++) {
    uint32_t to = draw_target(c, 0, n, &random);
    if (to == v || taken[to] == v + 1)
      continue;
    taken[to] = v + 1;
    row[found++] = to;
  }
  for (uint32_t at = (v + 1) % n; found < wanted; at = (at + 1) % n)
    if (at != v && taken[at] != v + 1) {
      taken[at] = v + 1;
      row[found++] = at;
    }
  qsort(row, wanted, sizeof *row, cm_ascending);
}

static cm_status draw_block(void *context, size_t index, cm_error *error)
{
  connectome *c = context;
  uint32_t n = c->made->vertex_count, begin = (uint32_t)index * BLOCK, end = n - begin < BLOCK ? n : begin + BLOCK, k = 0, *taken;
  CM_TRY(CM_NEW(c->run->memory, taken, n, error));
  cm_status status = CM_OK;
  for (uint32_t v = begin; v < end && status == CM_OK; v++) {
    while (v - c->region[k].first >= c->region[k].count || v < c->region[k].first)
      k++;
    draw_row(c, &c->region[k], v, taken);
    if (v % CHECK_EVERY == 0)
      status = cm_run_check(c->run, error);
  }
  cm_free(taken);
  return status;
}

static cm_status name_regions(connectome *c, cm_error *error)
{
  uint32_t *size;
  CM_TRY(CM_NEW(c->run->memory, size, c->regions, error));
  for (uint32_t k = 0; k < c->regions; k++)
    size[k] = c->region[k].count;
  cm_status status = cm_name_runs(c->made, "region", c->regions, size, 0, c->run->memory, error);
  cm_free(size);
  return status;
}

static cm_status generate(connectome *c, double fan_out, cm_error *error)
{
  cm_topology *t = c->made;
  cm_memory *memory = c->run->memory;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(t->net_first, (size_t)t->net_count + 1), CM_ARRAY(t->net_source, t->net_count),
                    CM_ARRAY(t->net_weight, t->net_count), CM_ARRAY(c->strength, (size_t)t->vertex_count + 1)));
  draw_regions(c);
  CM_TRY(draw_degrees(c, fan_out, error));
  CM_TRY(CM_NEW(memory, t->pin, t->pin_count, error));
  CM_TRY(name_regions(c, error));
  return cm_parallel(c->run, (t->vertex_count + BLOCK - 1) / BLOCK, draw_block, c, error);
}

cm_status cm_generate_connectome(uint32_t neurons, double fan_out, cm_run *run, cm_topology **topology, cm_error *error)
{
  if (neurons < 16 || neurons > CM_VERTICES_MAX || !(fan_out >= 1 && fan_out <= CM_FAN_OUT_MAX && fan_out <= neurons / 16.0))
    return cm_fail(error, CM_BAD_OPTION,
                   "a connectome of %u neurons with %g targets each cannot be made: 16 neurons or more, and 1 to %d targets, "
                   "no more than a sixteenth of the neurons, are expected", neurons, fan_out, CM_FAN_OUT_MAX);
  connectome c = {.run = run};
  cm_run_phase(run, "generate");
  CM_TRY(CM_NEW(run->memory, c.made, 1, error));
  c.made->directed = true;
  c.made->vertex_count = c.made->net_count = neurons;
  c.made->size_total = neurons;
  c.made->weight_scale = RATE_SCALE;
  cm_status status = generate(&c, fan_out, error);
  cm_free(c.strength);
  CM_END(status, *topology = c.made, cm_topology_free(c.made));
}
