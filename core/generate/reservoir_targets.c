/* Targets of the neurons of a reservoir.
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
 *   width. When a neuron uses up its budget of proposals, a race among the rest draws what is missing. */
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "core/generate/reservoir.h"

#define LONG_RANGE_SHARE 0.01
#define BELL_FACTOR (0.5 / (CM_BELL_WIDTH * CM_BELL_WIDTH))
/* -log of the smallest time of a race: V = 2^-54 below. */
#define RACE_HEADSTART (54 * M_LN2)

enum {
  PROPOSALS_A_TARGET = 256,
  TABLE_REACH = 6, /* widths; farther ones have 7e-8 of the bell's mass and are never proposed */
};

/* ---- the table of proposals ---- */

static double axis_gap(int cells, double cell_width)
{
  int between = abs(cells) - 1;
  return between > 0 ? between * cell_width : 0;
}

/* Fills cells, directions and bounds of the entries; NULL `entry` only counts them. */
static uint32_t list_proposals(const cm_reservoir *r, cm_proposal *entry)
{
  double width = 1.0 / r->side;
  int reach = (int)ceil(TABLE_REACH * CM_BELL_WIDTH / width) + 1;
  uint32_t count = 0;
  for (int x = -reach; x <= reach; x++)
    for (int y = -reach; y <= reach; y++)
      for (int z = -reach; z <= reach; z++) {
        double gx = axis_gap(x, width), gy = axis_gap(y, width), gz = axis_gap(z, width);
        double square = gx * gx + gy * gy + gz * gz;
        if (square > TABLE_REACH * TABLE_REACH * CM_BELL_WIDTH * CM_BELL_WIDTH)
          continue;
        /* Above the source's layer only direction +1 is eligible, below it only -1. */
        for (int minus = z < 0; minus <= (z <= 0); minus++, count++)
          if (entry != NULL)
            entry[count] = (cm_proposal){.cell = {(int8_t)x, (int8_t)y, (int8_t)z}, .minus = (uint8_t)minus,
                                      .bound = nextafterf((float)exp(-BELL_FACTOR * square), 2)};
      }
  return count;
}

cm_status cm_reservoir_table(cm_reservoir *r, cm_error *error)
{
  uint32_t count = list_proposals(r, NULL), small = 0, large = count;
  double *share = NULL, total = 0;
  uint32_t *order = NULL;
  if (CM_NEW_ALL(r->run->memory, error, CM_ARRAY(r->table, count), CM_ARRAY(share, count), CM_ARRAY(order, count)) != CM_OK) {
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
  CM_FREE(share, order);
  return CM_OK;
}

/* ---- targets of one neuron ---- */

typedef struct runner {
  double time; /* logarithm */
  uint32_t place;
} runner;

typedef struct hunt {
  const cm_reservoir *r;
  uint32_t self;     /* place of the source among the sorted bodies */
  const cm_body *source;
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

static double square_between(const cm_body *a, const cm_body *b)
{
  double dx = (double)a->at[0] - (double)b->at[0], dy = (double)a->at[1] - (double)b->at[1];
  double dz = (double)a->at[2] - (double)b->at[2];
  return dx * dx + dy * dy + dz * dz;
}

static bool eligible(const cm_body *source, const cm_body *target)
{
  float offset = target->at[2] - source->at[2];
  return target->tag & CM_MINUS ? offset <= 0 : offset >= 0;
}

static void propose(hunt *h)
{
  const cm_reservoir *r = h->r;
  for (uint64_t left = (uint64_t)h->wanted * PROPOSALS_A_TARGET; left > 0 && h->found_count < h->wanted; left--) {
    uint64_t bits = cm_random_next(&h->random);
    const cm_proposal *p = &r->table[(bits >> 32) * r->table_count >> 32];
    if (p->alias != (uint32_t)(p - r->table) && (uint32_t)bits >= p->keep)
      p = &r->table[p->alias];
    int x = h->cell[0] + p->cell[0], y = h->cell[1] + p->cell[1], z = h->cell[2] + p->cell[2];
    if (x < 0 || y < 0 || z < 0 || x >= r->side || y >= r->side || z >= r->side)
      continue;
    bits = cm_random_next(&h->random);
    uint32_t slot = (uint32_t)((bits >> 32) * r->slots[p->minus] >> 32);
    size_t group = 2 * cm_reservoir_cell_index(r, x, y, z) + p->minus;
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
  const cm_reservoir *r = h->r;
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
  const cm_reservoir *r = h->r;
  double width = 1.0 / r->side;
  double square = square_to_slab((double)h->source->at[0], x, width) + square_to_slab((double)h->source->at[1], y, width) +
                  square_to_slab((double)h->source->at[2], z, width);
  /* A hair is left for rounding: a neuron may lie just outside the cell it is counted in. */
  if (BELL_FACTOR * square * (1 - 1e-5) - RACE_HEADSTART > h->latest)
    return;
  const uint32_t *first = r->first + 2 * cm_reservoir_cell_index(r, x, y, z);
  if (z >= h->cell[2])
    race_group(h, first[0], first[1], z == h->cell[2]);
  if (z <= h->cell[2])
    race_group(h, first[1], first[2], z == h->cell[2]);
}

/* The cells at distance `ring` in cells, the largest of the three axes. */
static void race_ring(hunt *h, int ring)
{
  int last = h->r->side - 1;
  int x0 = cm_clamp(h->cell[0] - ring, 0, last), x1 = cm_clamp(h->cell[0] + ring, 0, last);
  int y0 = cm_clamp(h->cell[1] - ring, 0, last), y1 = cm_clamp(h->cell[1] + ring, 0, last);
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
  const cm_reservoir *r = h->r;
  uint32_t neuron = h->source->tag & ~CM_MINUS, fan = r->fan[neuron];
  uint32_t far = (uint32_t)lround(LONG_RANGE_SHARE * fan), *row = r->made->pin + r->made->net_first[neuron];
  cm_random_init(&h->random, r->run->seed, CM_RESERVOIR_PICKS, neuron);
  h->found = row;
  h->found_count = 0;
  h->wanted = fan - far;
  if (r->table != NULL)
    propose(h);
  if (h->found_count < h->wanted)
    race(h);
  uint32_t count = h->found_count;
  for (uint32_t i = 0; i < count; i++)
    row[i] = r->sorted[row[i]].tag & ~CM_MINUS;
  for (uint32_t end = count + far; count < end;) {
    uint32_t target = (uint32_t)cm_random_below(&h->random, r->count);
    if (target != neuron && !among(row, count, target))
      row[count++] = target;
  }
  sort_row(row, count);
  r->fan[neuron] = count;
}

cm_status cm_reservoir_targets(void *context, size_t index, cm_error *error)
{
  cm_reservoir *r = context;
  uint32_t begin = (r->slice_begin + (uint32_t)index) * CM_RESERVOIR_BLOCK, most = 0;
  uint32_t end = r->count - begin < CM_RESERVOIR_BLOCK ? r->count : begin + CM_RESERVOIR_BLOCK;
  for (uint32_t place = begin; place < end; place++) {
    uint32_t fan = r->fan[r->sorted[place].tag & ~CM_MINUS];
    most = fan > most ? fan : most;
  }
  hunt h = {.r = r};
  CM_TRY(CM_NEW(r->run->memory, h.field, 2 * (size_t)most + 1, error));
  cm_status status = CM_OK;
  for (uint32_t place = begin; place < end && status == CM_OK; place++) {
    h.self = place;
    h.source = &r->sorted[place];
    for (int axis = 0; axis < 3; axis++)
      h.cell[axis] = cm_reservoir_cell(r, h.source->at[axis]);
    find_targets(&h);
    if (place % 64 == 0)
      status = cm_run_check(r->run, error);
  }
  cm_free(h.field);
  return status;
}
