/* Reservoirs (docs/generators.md).
 *
 * The local targets of a neuron are drawn without replacement with probability proportional to
 * exp(-(distance/width)^2/2) among the eligible neurons. Two exact ways to do so:
 *
 * - Race: neuron j arrives at a random time, exponential with its weight as rate; the first k to arrive are the
 *   sample (Efraimidis, Spirakis 2006). Times are kept as logarithms, for weights underflow a few widths away. Cells
 *   are visited in cubes around the source until even the smallest time that the random numbers can give comes too
 *   late at that distance. Cheap where the k nearest take most of the weight.
 * - Proposals: single draws with replacement, repeats ignored, are the same sample. Draws come from a table over
 *   cells at bounding weights, and are accepted in proportion. Cheap where neurons are dense on the scale of the
 *   width. When a neuron uses up its budget of proposals, a race among the rest draws what is missing.
 *
 * Every neuron has random streams of its own, so threads do not matter. What can fail: memory, the run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"
#include "core/base/threads.h"
#include "core/generate/generate.h"

#define WIDTH 0.01             /* of the bell, the cube being 1 wide */
#define LONG_RANGE_SHARE 0.01
#define MINUS_SHARE 0.1        /* of the neurons have direction -1 */
#define RATE_VARIATION 1.58    /* coefficient of variation; the median is 1 */
#define BELL_FACTOR (0.5 / (WIDTH * WIDTH))
/* -log of the smallest time of a race: V = 2^-54 below. */
#define RACE_HEADSTART (54 * M_LN2)
#define WEIGHT_SUM_MAX (UINT64_C(1) << 50)

enum {
  CELLS_A_SIDE_MAX = 100,  /* cells are at least a width wide */
  NEURONS_A_CELL = 12,
  BLOCK = 1024,            /* neurons a task */
  SLICES = 64,             /* calls of cm_parallel, for progress between them */
  PROPOSALS_A_TARGET = 256,
  TABLE_REACH = 6,         /* widths; farther ones have 7e-8 of the bell's mass and are never proposed */
  POISSON_CHUNK = 500,
  WEIGHT_SCALE_BITS = 20,
};

/* Random streams of a neuron. */
enum { STREAM_BODY = 1, STREAM_TARGETS = 2 };

#define MINUS (UINT32_C(1) << 31)

typedef struct body {
  float at[3];
  uint32_t tag; /* its number, MINUS set for direction -1 */
} body;

/* One entry of the table that proposals come from (Walker's alias method). */
typedef struct proposal {
  int8_t cell[3];   /* relative to the source's */
  uint8_t minus;    /* which neurons of the cell */
  uint32_t alias;
  uint32_t keep;    /* probability of this entry against its alias, times 2^32 */
  float bound;      /* no neuron of the cell weighs more */
} proposal;

typedef struct reservoir {
  cm_run *run;
  uint32_t count;
  double fan_out;
  int side;              /* cells a side */
  body *drawn;           /* [count] by number; freed once sorted */
  body *sorted;          /* [count] by cell, direction +1 first */
  uint32_t *first;       /* [2 side^3 + 1] where the +1 (even) and -1 (odd) neurons of each cell start */
  uint32_t *fan;         /* [count] targets: first wanted, then found */
  proposal *table;       /* NULL: only races */
  uint32_t table_count;
  uint32_t slots[2];     /* most neurons of either direction in a cell */
  cm_topology *made;
  uint32_t slice_begin;  /* the block that task 0 handles */
} reservoir;

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
  reservoir *r = context;
  uint32_t begin = (uint32_t)block * BLOCK, end = r->count - begin < BLOCK ? r->count : begin + BLOCK;
  double deviation = sqrt(log(1 + RATE_VARIATION * RATE_VARIATION));
  for (uint32_t v = begin; v < end; v++) {
    cm_random random;
    cm_random_init(&random, r->run->seed, STREAM_BODY, v);
    for (int axis = 0; axis < 3; axis++)
      r->drawn[v].at[axis] = (float)(cm_random_next(&random) >> 40) * 0x1p-24f;
    r->drawn[v].tag = v | (cm_random_unit(&random) < MINUS_SHARE ? MINUS : 0);
    uint32_t fan = draw_poisson(&random, r->fan_out);
    r->fan[v] = fan < r->count ? fan : r->count - 1;
    double rate = exp(deviation * draw_normal(&random)) * (double)(1 << WEIGHT_SCALE_BITS);
    r->made->net_weight[v] = rate < 1 ? 1 : (uint64_t)llround(rate);
  }
  return cm_run_check(r->run, error);
}

static int cell_of(const reservoir *r, float coordinate)
{
  int cell = (int)(coordinate * (float)r->side);
  return cell < r->side ? cell : r->side - 1;
}

static size_t cell_index(const reservoir *r, int x, int y, int z)
{
  return ((size_t)x * (size_t)r->side + (size_t)y) * (size_t)r->side + (size_t)z;
}

static size_t group_of(const reservoir *r, const body *b)
{
  return 2 * cell_index(r, cell_of(r, b->at[0]), cell_of(r, b->at[1]), cell_of(r, b->at[2])) + (b->tag >> 31);
}

/* Sorts the bodies by cell and direction. */
static cm_status sort_bodies(reservoir *r, cm_error *error)
{
  size_t groups = 2 * (size_t)r->side * (size_t)r->side * (size_t)r->side;
  if (CM_NEW(r->run->memory, r->sorted, r->count, error) != CM_OK ||
      CM_NEW(r->run->memory, r->first, groups + 2, error) != CM_OK)
    return error->status;
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

/* ---- the table of proposals ---- */

static double axis_gap(int cells, double cell_width)
{
  int between = abs(cells) - 1;
  return between > 0 ? between * cell_width : 0;
}

/* Fills cells, directions and bounds of the entries; NULL `entry` only counts them. */
static uint32_t list_proposals(const reservoir *r, proposal *entry)
{
  double width = 1.0 / r->side;
  int reach = (int)ceil(TABLE_REACH * WIDTH / width) + 1;
  uint32_t count = 0;
  for (int x = -reach; x <= reach; x++)
    for (int y = -reach; y <= reach; y++)
      for (int z = -reach; z <= reach; z++) {
        double gx = axis_gap(x, width), gy = axis_gap(y, width), gz = axis_gap(z, width);
        double square = gx * gx + gy * gy + gz * gz;
        if (square > TABLE_REACH * TABLE_REACH * WIDTH * WIDTH)
          continue;
        /* Above the source's layer only direction +1 is eligible, below it only -1. */
        for (int minus = z < 0; minus <= (z <= 0); minus++, count++)
          if (entry != NULL)
            entry[count] = (proposal){.cell = {(int8_t)x, (int8_t)y, (int8_t)z}, .minus = (uint8_t)minus,
                                      .bound = nextafterf((float)exp(-BELL_FACTOR * square), 2)};
      }
  return count;
}

/* Walker's tables, each entry weighing its bound times the slots of a cell. */
static cm_status make_table(reservoir *r, cm_error *error)
{
  uint32_t count = list_proposals(r, NULL), small = 0, large = count;
  double *share = NULL, total = 0;
  uint32_t *order = NULL;
  if (CM_NEW(r->run->memory, r->table, count, error) != CM_OK || CM_NEW(r->run->memory, share, count, error) != CM_OK ||
      CM_NEW(r->run->memory, order, count, error) != CM_OK) {
    cm_free(share);
    return error->status;
  }
  r->table_count = list_proposals(r, r->table);
  for (uint32_t i = 0; i < count; i++)
    total += share[i] = (double)r->table[i].bound * r->slots[r->table[i].minus];
  for (uint32_t i = 0; i < count; i++) {
    share[i] *= count / total;
    order[share[i] < 1 ? small++ : --large] = i;
    r->table[i].alias = i;
  }
  /* order [0, small) lacks probability, [large, count) has more than its share. */
  while (small > 0 && large < count) {
    uint32_t low = order[--small], high = order[large];
    r->table[low].keep = (uint32_t)(share[low] * 0x1p32);
    r->table[low].alias = high;
    share[high] -= 1 - share[low];
    if (share[high] < 1) {
      large++;
      order[small++] = high;
    }
  }
  cm_free(share);
  cm_free(order);
  return CM_OK;
}

/* ---- targets of one neuron ---- */

typedef struct runner {
  double time; /* logarithm */
  uint32_t place;
} runner;

typedef struct hunt {
  const reservoir *r;
  uint32_t self;     /* place of the source among the sorted bodies */
  const body *source;
  int cell[3];
  cm_random random;
  uint32_t *found;   /* places */
  uint32_t found_count, wanted;
  runner *field;     /* of the race; room for 2 * wanted + 1 */
  uint32_t field_count, field_wanted;
  double latest;     /* time of the last one that would be taken so far */
} hunt;

static bool among(const uint32_t *list, uint32_t count, uint32_t value)
{
  for (uint32_t i = 0; i < count; i++)
    if (list[i] == value)
      return true;
  return false;
}

static double square_between(const body *a, const body *b)
{
  double dx = (double)a->at[0] - (double)b->at[0], dy = (double)a->at[1] - (double)b->at[1];
  double dz = (double)a->at[2] - (double)b->at[2];
  return dx * dx + dy * dy + dz * dz;
}

static bool eligible(const body *source, const body *target)
{
  float offset = target->at[2] - source->at[2];
  return target->tag & MINUS ? offset <= 0 : offset >= 0;
}

static void propose(hunt *h)
{
  const reservoir *r = h->r;
  for (uint64_t left = (uint64_t)h->wanted * PROPOSALS_A_TARGET; left > 0 && h->found_count < h->wanted; left--) {
    uint64_t bits = cm_random_next(&h->random);
    const proposal *p = &r->table[(bits >> 32) * r->table_count >> 32];
    if (p->alias != (uint32_t)(p - r->table) && (uint32_t)bits >= p->keep)
      p = &r->table[p->alias];
    int x = h->cell[0] + p->cell[0], y = h->cell[1] + p->cell[1], z = h->cell[2] + p->cell[2];
    if (x < 0 || y < 0 || z < 0 || x >= r->side || y >= r->side || z >= r->side)
      continue;
    bits = cm_random_next(&h->random);
    uint32_t slot = (uint32_t)((bits >> 32) * r->slots[p->minus] >> 32);
    size_t group = 2 * cell_index(r, x, y, z) + p->minus;
    uint32_t place = r->first[group] + slot;
    if (place >= r->first[group + 1] || place == h->self || !eligible(h->source, &r->sorted[place]))
      continue;
    double weight = exp(-BELL_FACTOR * square_between(h->source, &r->sorted[place]));
    if (((double)(uint32_t)bits + 0.5) * 0x1p-32 * (double)p->bound < weight && !among(h->found, h->found_count, place))
      h->found[h->found_count++] = place;
  }
}

static bool earlier(const runner *a, const runner *b)
{
  return a->time < b->time || (a->time == b->time && a->place < b->place);
}

/* Keeps the earliest field_wanted of the field (Hoare's selection) and notes the latest of them. */
static void close_field(hunt *h)
{
  runner *field = h->field;
  uint32_t begin = 0, end = h->field_count, nth = h->field_wanted - 1;
  while (end - begin > 1) {
    runner pivot = field[begin + (end - 1 - begin) / 2]; /* never the last, so both sides shrink */
    uint32_t i = begin, j = end - 1;
    for (;;) {
      while (earlier(&field[i], &pivot))
        i++;
      while (earlier(&pivot, &field[j]))
        j--;
      if (i >= j)
        break;
      runner other = field[i];
      field[i++] = field[j];
      field[j--] = other;
    }
    if (nth <= j)
      end = j + 1;
    else
      begin = j + 1;
  }
  h->field_count = h->field_wanted;
  h->latest = field[nth].time;
}

/* Lets the neurons [begin, end) run. */
static void race_group(hunt *h, uint32_t begin, uint32_t end, bool same_layer)
{
  const reservoir *r = h->r;
  for (uint32_t place = begin; place < end; place++) {
    double delay = BELL_FACTOR * square_between(h->source, &r->sorted[place]);
    if (delay - RACE_HEADSTART > h->latest || (same_layer && !eligible(h->source, &r->sorted[place])))
      continue;
    /* With V uniform, -log(1 - V) is exponential and at least V: most late ones need no logarithm. */
    uint64_t bits = cm_random_next(&h->random) | UINT64_C(1) << 10;
    if (delay - (__builtin_clzll(bits) + 1) * M_LN2 > h->latest)
      continue;
    double v = ((double)(bits >> 11) + 0.5) * 0x1p-53, time = delay + log(-log1p(-v));
    if (time > h->latest || place == h->self || among(h->found, h->found_count, place))
      continue;
    h->field[h->field_count++] = (runner){time, place};
    if (h->field_count > 2 * h->field_wanted)
      close_field(h);
  }
}

static double square_to_slab(double at, int cell, double width)
{
  double below = cell * width - at, above = at - (cell + 1) * width;
  double gap = below > 0 ? below : above > 0 ? above : 0;
  return gap * gap;
}

static void race_cell(hunt *h, int x, int y, int z)
{
  const reservoir *r = h->r;
  double width = 1.0 / r->side;
  double square = square_to_slab((double)h->source->at[0], x, width) +
                  square_to_slab((double)h->source->at[1], y, width) +
                  square_to_slab((double)h->source->at[2], z, width);
  /* A hair is left for rounding: a neuron may lie just outside the cell it is counted in. */
  if (BELL_FACTOR * square * (1 - 1e-5) - RACE_HEADSTART > h->latest)
    return;
  const uint32_t *first = r->first + 2 * cell_index(r, x, y, z);
  if (z >= h->cell[2])
    race_group(h, first[0], first[1], z == h->cell[2]);
  if (z <= h->cell[2])
    race_group(h, first[1], first[2], z == h->cell[2]);
}

static int clamp(int value, int low, int high)
{
  return value < low ? low : value > high ? high : value;
}

/* The cells at distance `ring` in cells, the largest of the three axes. */
static void race_ring(hunt *h, int ring)
{
  int last = h->r->side - 1;
  int x0 = clamp(h->cell[0] - ring, 0, last), x1 = clamp(h->cell[0] + ring, 0, last);
  int y0 = clamp(h->cell[1] - ring, 0, last), y1 = clamp(h->cell[1] + ring, 0, last);
  for (int x = x0; x <= x1; x++)
    for (int y = y0; y <= y1; y++) {
      bool face = abs(x - h->cell[0]) == ring || abs(y - h->cell[1]) == ring;
      for (int z = h->cell[2] - ring; z <= h->cell[2] + ring; z += face || ring == 0 ? 1 : 2 * ring)
        if (z >= 0 && z <= last)
          race_cell(h, x, y, z);
    }
}

/* The shortest way from the source to any cell outside the cube of `ring`; infinite when there is none. */
static double way_out(const hunt *h, int ring)
{
  double width = 1.0 / h->r->side, shortest = INFINITY;
  for (int axis = 0; axis < 3; axis++) {
    int low = h->cell[axis] - ring, high = h->cell[axis] + ring + 1;
    if (low > 0)
      shortest = fmin(shortest, (double)h->source->at[axis] - low * width);
    if (high < h->r->side)
      shortest = fmin(shortest, high * width - (double)h->source->at[axis]);
  }
  return shortest;
}

static void race(hunt *h)
{
  h->field_count = 0;
  h->field_wanted = h->wanted - h->found_count;
  h->latest = INFINITY;
  for (int ring = 0;; ring++) {
    race_ring(h, ring);
    if (h->field_count > h->field_wanted)
      close_field(h);
    double gap = way_out(h, ring);
    if (isinf(gap) || BELL_FACTOR * gap * gap * (1 - 1e-5) - RACE_HEADSTART > h->latest)
      break;
  }
  for (uint32_t i = 0; i < h->field_count; i++)
    h->found[h->found_count++] = h->field[i].place;
}

/* Shell sort with Ciura's gaps: rows are short. */
static void sort_row(uint32_t *row, uint32_t count)
{
  static const uint32_t gaps[] = {1750, 701, 301, 132, 57, 23, 10, 4, 1};
  for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
    for (uint32_t i = gaps[g]; i < count; i++) {
      uint32_t value = row[i], at = i;
      for (; at >= gaps[g] && row[at - gaps[g]] > value; at -= gaps[g])
        row[at] = row[at - gaps[g]];
      row[at] = value;
    }
}

/* Draws the targets of one neuron into its row of pins, and notes how many there are. */
static void find_targets(hunt *h)
{
  const reservoir *r = h->r;
  uint32_t neuron = h->source->tag & ~MINUS, fan = r->fan[neuron];
  uint32_t far = (uint32_t)lround(LONG_RANGE_SHARE * fan), *row = r->made->pin + r->made->net_first[neuron];
  cm_random_init(&h->random, r->run->seed, STREAM_TARGETS, neuron);
  h->found = row;
  h->found_count = 0;
  h->wanted = fan - far;
  if (r->table != NULL)
    propose(h);
  if (h->found_count < h->wanted)
    race(h);
  uint32_t count = h->found_count;
  for (uint32_t i = 0; i < count; i++)
    row[i] = r->sorted[row[i]].tag & ~MINUS;
  for (uint32_t end = count + far; count < end;) {
    uint32_t target = (uint32_t)cm_random_below(&h->random, r->count);
    if (target != neuron && !among(row, count, target))
      row[count++] = target;
  }
  sort_row(row, count);
  r->fan[neuron] = count;
}

static cm_status find_block(void *context, size_t index, cm_error *error)
{
  reservoir *r = context;
  uint32_t begin = (r->slice_begin + (uint32_t)index) * BLOCK, most = 0;
  uint32_t end = r->count - begin < BLOCK ? r->count : begin + BLOCK;
  for (uint32_t place = begin; place < end; place++) {
    uint32_t fan = r->fan[r->sorted[place].tag & ~MINUS];
    most = fan > most ? fan : most;
  }
  hunt h = {.r = r};
  if (CM_NEW(r->run->memory, h.field, 2 * (size_t)most + 1, error) != CM_OK)
    return error->status;
  cm_status status = CM_OK;
  for (uint32_t place = begin; place < end && status == CM_OK; place++) {
    h.self = place;
    h.source = &r->sorted[place];
    for (int axis = 0; axis < 3; axis++)
      h.cell[axis] = cell_of(r, h.source->at[axis]);
    find_targets(&h);
    if (place % 64 == 0)
      status = cm_run_check(r->run, error);
  }
  cm_free(h.field);
  return status;
}

/* ---- the whole ---- */

static cm_status find_all(reservoir *r, cm_error *error)
{
  uint32_t blocks = r->count / BLOCK + (r->count % BLOCK != 0), step = blocks / SLICES + 1;
  for (r->slice_begin = 0; r->slice_begin < blocks; r->slice_begin += step) {
    uint32_t here = blocks - r->slice_begin < step ? blocks - r->slice_begin : step;
    if (cm_parallel(r->run, here, find_block, r, error) != CM_OK ||
        cm_run_progress(r->run, (double)(r->slice_begin + here) / blocks, -1, r->count, NAN, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

/* Moves the rows together where some are shorter than wanted, and drops empty ones. */
static cm_status close_rows(reservoir *r, cm_error *error)
{
  cm_topology *made = r->made;
  uint64_t used = 0;
  uint32_t nets = 0;
  bool short_rows = false, empty_rows = false;
  for (uint32_t v = 0; v < r->count; v++) {
    short_rows = short_rows || made->net_first[v] + r->fan[v] != made->net_first[v + 1];
    empty_rows = empty_rows || r->fan[v] == 0;
  }
  if (empty_rows && CM_NEW(r->run->memory, made->net_source, r->count, error) != CM_OK)
    return error->status;
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

static cm_status generate(reservoir *r, cm_error *error)
{
  cm_memory *memory = r->run->memory;
  cm_topology *made = r->made;
  if (CM_NEW(memory, made->net_weight, r->count, error) != CM_OK ||
      CM_NEW(memory, r->drawn, r->count, error) != CM_OK || CM_NEW(memory, r->fan, r->count, error) != CM_OK ||
      cm_parallel(r->run, r->count / BLOCK + (r->count % BLOCK != 0), draw_bodies, r, error) != CM_OK ||
      sort_bodies(r, error) != CM_OK ||
      CM_NEW(memory, made->net_first, (size_t)r->count + 1, error) != CM_OK)
    return error->status;
  for (uint32_t v = 0; v < r->count; v++)
    made->net_first[v + 1] = made->net_first[v] + r->fan[v];
  if (CM_NEW(memory, made->pin, made->net_first[r->count], error) != CM_OK)
    return error->status;
  /* Proposals pay where half a ball of two widths holds the targets. */
  double near = r->count * (2 * M_PI / 3) * pow(2 * WIDTH, 3);
  if (near > r->fan_out && make_table(r, error) != CM_OK)
    return error->status;
  if (find_all(r, error) != CM_OK || close_rows(r, error) != CM_OK)
    return error->status;
  settle_scale(made);
  return CM_OK;
}

cm_status cm_generate_reservoir(uint32_t neurons, double fan_out, cm_run *run, cm_topology **topology,
                                cm_error *error)
{
  if (neurons < 2 || neurons > CM_VERTICES_MAX)
    return cm_fail(error, CM_BAD_OPTION, "a reservoir of %u neurons cannot be made: 2 to %u are expected", neurons,
                   CM_VERTICES_MAX);
  if (!(fan_out >= 1 && fan_out <= CM_FAN_OUT_MAX))
    return cm_fail(error, CM_BAD_OPTION, "a mean fan-out of %g cannot be had: 1 to %d is expected", fan_out,
                   CM_FAN_OUT_MAX);
  cm_run_phase(run, "generate");
  reservoir r = {.run = run, .count = neurons, .fan_out = fan_out};
  r.side = clamp((int)cbrt((double)neurons / NEURONS_A_CELL), 1, CELLS_A_SIDE_MAX);
  cm_status status = CM_NEW(run->memory, r.made, 1, error);
  if (status == CM_OK) {
    r.made->directed = true;
    r.made->vertex_count = neurons;
    r.made->size_total = neurons;
    status = generate(&r, error);
  }
  cm_free(r.drawn);
  cm_free(r.sorted);
  cm_free(r.first);
  cm_free(r.fan);
  cm_free(r.table);
  if (status != CM_OK) {
    cm_topology_free(r.made);
    return status;
  }
  *topology = r.made;
  return CM_OK;
}
