/* Reservoirs (docs/reference/generators.md): bodies are drawn and sorted in cells; reservoir_targets.c draws who is connected.
 *
 * Every neuron has random streams of its own, so threads do not matter. What can fail: memory, the run. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/threads.h"
#include "core/generate/reservoir.h"

#define MINUS_SHARE 0.1        /* of the neurons have direction -1 */
#define RATE_VARIATION 1.58    /* coefficient of variation; the median is 1 */
#define WEIGHT_SUM_MAX (UINT64_C(1) << 50)

enum {
  CELLS_A_SIDE_MAX = 100,  /* cells are at least a width wide */
  NEURONS_A_CELL = 12,
  SLICES = 64,             /* calls of cm_parallel, for progress between them */
  POISSON_CHUNK = 500,
  WEIGHT_SCALE_BITS = 20,
};

double cm_reservoir_fan_out(uint32_t neurons)
{
  return neurons <= 32768 ? 128 : neurons <= 131072 ? 192 : 256;
}

/* ---- bodies: place, direction, fan-out, rate ---- */

/* Uniform in (0, 1). */
static double unit_open(cm_random *random)
{
  return ((double)(cm_random_next(random) >> 11) + 0.5) * 0x1p-53;
}

/* Knuth's product of uniforms, in chunks that do not underflow. O(mean). */
static uint32_t draw_poisson(cm_random *random, double mean)
{
  uint32_t events = 0;
  for (; mean > 0; mean -= POISSON_CHUNK) {
    double least = exp(-fmin(mean, POISSON_CHUNK));
    for (double product = unit_open(random); product > least; product *= unit_open(random))
      events++;
  }
  return events;
}

static double draw_normal(cm_random *random)
{
  double radius = sqrt(-2 * log(unit_open(random)));
  return radius * cos(2 * M_PI * cm_random_unit(random));
}

static cm_status draw_bodies(void *context, size_t block, cm_error *error)
{
  cm_reservoir *r = context;
  uint32_t begin = (uint32_t)block * CM_RESERVOIR_BLOCK;
  uint32_t end = r->count - begin < CM_RESERVOIR_BLOCK ? r->count : begin + CM_RESERVOIR_BLOCK;
  double deviation = sqrt(log(1 + RATE_VARIATION * RATE_VARIATION));
  for (uint32_t v = begin; v < end; v++) {
    cm_random random;
    cm_random_init(&random, r->run->seed, CM_RESERVOIR_BODY, v);
    for (int axis = 0; axis < 3; axis++)
      r->drawn[v].at[axis] = (float)(cm_random_next(&random) >> 40) * 0x1p-24f;
    r->drawn[v].tag = v | (cm_random_unit(&random) < MINUS_SHARE ? CM_MINUS : 0);
    uint32_t fan = draw_poisson(&random, r->fan_out);
    r->fan[v] = fan < r->count ? fan : r->count - 1;
    double rate = exp(deviation * draw_normal(&random)) * (double)(1 << WEIGHT_SCALE_BITS);
    r->made->net_weight[v] = rate < 1 ? 1 : (uint64_t)llround(rate);
  }
  return cm_run_check(r->run, error);
}

static size_t group_of(const cm_reservoir *r, const cm_body *b)
{
  int x = cm_reservoir_cell(r, b->at[0]), y = cm_reservoir_cell(r, b->at[1]), z = cm_reservoir_cell(r, b->at[2]);
  return 2 * cm_reservoir_cell_index(r, x, y, z) + (b->tag >> 31);
}

/* Sorts the bodies by cell and direction. */
static cm_status sort_bodies(cm_reservoir *r, cm_error *error)
{
  size_t groups = 2 * (size_t)r->side * (size_t)r->side * (size_t)r->side;
  CM_TRY(CM_NEW_ALL(r->run->memory, error, CM_ARRAY(r->sorted, r->count), CM_ARRAY(r->first, groups + 2)));
  /* Counted one place too far, so that filling in moves every start to its place. */
  for (uint32_t v = 0; v < r->count; v++)
    r->first[group_of(r, &r->drawn[v]) + 2]++;
  for (size_t g = 0; g < groups; g++) {
    uint32_t here = r->first[g + 2];
    r->slots[g % 2] = here > r->slots[g % 2] ? here : r->slots[g % 2];
    r->first[g + 2] += r->first[g + 1];
  }
  for (uint32_t v = 0; v < r->count; v++)
    r->sorted[r->first[group_of(r, &r->drawn[v]) + 1]++] = r->drawn[v];
  cm_free(r->drawn);
  r->drawn = NULL;
  return CM_OK;
}

/* ---- the whole ---- */

static cm_status find_all(cm_reservoir *r, cm_error *error)
{
  uint32_t blocks = r->count / CM_RESERVOIR_BLOCK + (r->count % CM_RESERVOIR_BLOCK != 0), step = blocks / SLICES + 1;
  for (r->slice_begin = 0; r->slice_begin < blocks; r->slice_begin += step) {
    uint32_t here = blocks - r->slice_begin < step ? blocks - r->slice_begin : step;
    CM_TRY(cm_parallel(r->run, here, cm_reservoir_targets, r, error));
    CM_TRY(cm_run_progress(r->run, (double)(r->slice_begin + here) / blocks, -1, r->count, NAN, error));
  }
  return CM_OK;
}

/* Moves the rows together where some are shorter than wanted, and drops empty ones. */
static cm_status close_rows(cm_reservoir *r, cm_error *error)
{
  cm_topology *made = r->made;
  uint64_t used = 0;
  uint32_t nets = 0;
  bool short_rows = false, empty_rows = false;
  for (uint32_t v = 0; v < r->count; v++) {
    short_rows = short_rows || made->net_first[v] + r->fan[v] != made->net_first[v + 1];
    empty_rows = empty_rows || r->fan[v] == 0;
  }
  CM_TRY_IF(empty_rows, CM_NEW(r->run->memory, made->net_source, r->count, error));
  for (uint32_t v = 0; v < r->count && (short_rows || empty_rows); v++) {
    uint64_t begin = made->net_first[v];
    if (r->fan[v] == 0)
      continue;
    memmove(made->pin + used, made->pin + begin, r->fan[v] * sizeof *made->pin);
    made->net_first[nets] = used;
    made->net_weight[nets] = made->net_weight[v];
    if (made->net_source != NULL)
      made->net_source[nets] = v;
    used += r->fan[v];
    nets++;
  }
  made->net_count = short_rows || empty_rows ? nets : r->count;
  if (short_rows || empty_rows)
    made->net_first[nets] = used;
  made->pin_count = made->net_first[made->net_count];
  made->empty_net_count = r->count - made->net_count;
  return CM_OK;
}

/* Makes the scale coarser until all synapses' weights add up within what the core sums exactly. */
static void settle_scale(cm_topology *made)
{
  unsigned shift = 0;
  uint64_t sum = 0;
  for (uint32_t e = 0; e < made->net_count; e++)
    sum += made->net_weight[e] * (made->net_first[e + 1] - made->net_first[e]);
  while (shift < WEIGHT_SCALE_BITS && sum >> shift > WEIGHT_SUM_MAX / 2)
    shift++;
  for (uint32_t e = 0; e < made->net_count && shift > 0; e++) {
    uint64_t weight = made->net_weight[e] >> shift;
    made->net_weight[e] = weight > 0 ? weight : 1;
  }
  made->weight_scale = UINT64_C(1) << (WEIGHT_SCALE_BITS - shift);
}

static cm_status generate(cm_reservoir *r, cm_error *error)
{
  cm_memory *memory = r->run->memory;
  cm_topology *made = r->made;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(made->net_weight, r->count), CM_ARRAY(r->drawn, r->count),
                    CM_ARRAY(r->fan, r->count)));
  CM_TRY(cm_parallel(r->run, r->count / CM_RESERVOIR_BLOCK + (r->count % CM_RESERVOIR_BLOCK != 0), draw_bodies, r, error));
  CM_TRY(sort_bodies(r, error));
  CM_TRY(CM_NEW(memory, made->net_first, (size_t)r->count + 1, error));
  for (uint32_t v = 0; v < r->count; v++)
    made->net_first[v + 1] = made->net_first[v] + r->fan[v];
  CM_TRY(CM_NEW(memory, made->pin, made->net_first[r->count], error));
  /* Proposals pay where half a ball of two widths holds the targets. */
  double near = r->count * (2 * M_PI / 3) * pow(2 * CM_BELL_WIDTH, 3);
  CM_TRY_IF(near > r->fan_out, cm_reservoir_table(r, error));
  CM_TRY(find_all(r, error));
  CM_TRY(close_rows(r, error));
  settle_scale(made);
  return CM_OK;
}

cm_status cm_generate_reservoir(uint32_t neurons, double fan_out, cm_run *run, cm_topology **topology, cm_error *error)
{
  if (neurons < 2 || neurons > CM_VERTICES_MAX)
    return cm_fail(error, CM_BAD_OPTION, "a reservoir of %u neurons cannot be made: 2 to %u are expected", neurons,
                   CM_VERTICES_MAX);
  if (!(fan_out >= 1 && fan_out <= CM_FAN_OUT_MAX))
    return cm_fail(error, CM_BAD_OPTION, "a mean fan-out of %g cannot be had: 1 to %d is expected", fan_out, CM_FAN_OUT_MAX);
  cm_run_phase(run, "generate");
  cm_reservoir r = {.run = run, .count = neurons, .fan_out = fan_out};
  r.side = cm_clamp((int)cbrt((double)neurons / NEURONS_A_CELL), 1, CELLS_A_SIDE_MAX);
  cm_status status = CM_NEW(run->memory, r.made, 1, error);
  if (status == CM_OK) {
    r.made->directed = true;
    r.made->vertex_count = neurons;
    r.made->size_total = neurons;
    status = generate(&r, error);
  }
  CM_FREE(r.drawn, r.sorted, r.first, r.fan, r.table);
  CM_END(status, *topology = r.made, cm_topology_free(r.made));
}
