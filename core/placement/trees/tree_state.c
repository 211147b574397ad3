#include "core/placement/trees/tree_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/placement/axes.h"

/* ---- axes ---- */

static uint64_t length_of_run(const cm_tree_axis *axis, uint32_t from, int32_t steps)
{
  const uint64_t *sum = axis->sum + from;
  return steps >= 0 ? sum[steps] - sum[0] : sum[axis->length] - sum[(int64_t)axis->length + steps];
}

static int32_t steps_on(const cm_tree_axis *axis, uint32_t from, uint32_t to)
{
  int32_t direct = (int32_t)to - (int32_t)from, size = (int32_t)axis->length;
  if (!axis->torus)
    return direct;
  int32_t forward = direct >= 0 ? direct : direct + size;
  return 2 * (int64_t)forward <= size ? forward : forward - size;
}

static cm_status axis_new(const cm_chip *chip, bool along_x, cm_memory *memory, cm_tree_axis *axis, cm_error *error)
{
  cm_hop_units units = cm_hop_units_of(chip);
  uint32_t step = along_x ? chip->router_x : chip->router_y * chip->width;
  *axis = (cm_tree_axis){.length = along_x ? cm_chip_routers_x(chip) : cm_chip_routers_y(chip),
                         .torus = along_x ? chip->torus_x : chip->torus_y};
  CM_TRY(CM_NEW(memory, axis->sum, 2 * (size_t)axis->length + 1, error));
  for (uint32_t i = 0; i < 2 * axis->length; i++) {
    uint32_t from = i % axis->length, to = (i + 1) % axis->length;
    bool link = axis->torus || to > from;
    axis->sum[i + 1] = axis->sum[i] + (link ? cm_hop_units_pay(&units, cm_chip_hops(chip, from * step, to * step)) : 0);
  }
  return CM_OK;
}

cm_tree_spot cm_trees_spot(const cm_trees *t, uint32_t core)
{
  uint32_t x = core % t->chip->width / t->chip->router_x, y = core / t->chip->width / t->chip->router_y;
  return t->chip->routing == CM_ROUTING_XY ? (cm_tree_spot){x, y} : (cm_tree_spot){y, x};
}

/* ---- keys ---- */

static inline uint32_t key_of(const cm_trees *t, cm_tree_spot from, cm_tree_spot to)
{
  uint32_t line = (uint32_t)(steps_on(&t->trunk, from.line, to.line) + (int32_t)t->trunk.length);
  uint32_t place = (uint32_t)(steps_on(&t->branch, from.place, to.place) + (int32_t)t->branch.length);
  return line << t->key_shift | place;
}

uint32_t cm_trees_key(const cm_trees *t, const cm_tree_net *net, uint32_t u)
{
  return key_of(t, net->at, t->spot[u]);
}

static inline int32_t line_of(const cm_trees *t, uint32_t key)
{
  return (int32_t)(key >> t->key_shift) - (int32_t)t->trunk.length;
}

static inline int32_t place_of(const cm_trees *t, uint32_t key)
{
  return (int32_t)(key & ((UINT32_C(1) << t->key_shift) - 1)) - (int32_t)t->branch.length;
}

static void make_keys(cm_trees *t, uint32_t e)
{
  const cm_tree_net *net = &t->net[e];
  const uint32_t *target = t->casts->target + net->first;
  uint32_t *key = t->key + net->first;
  for (uint32_t i = 0; i < net->size; i++)
    key[i] = key_of(t, net->at, t->spot[target[i]]);
  qsort(key, net->size, sizeof *key, cm_ascending);
}

static void make_keys_of(cm_trees *t, uint32_t part)
{
  uint32_t e, end;
  for (cm_casts_of_part(t->casts, part, &e, &end); e < end; e++)
    make_keys(t, e);
}

/* First of n keys that is not below `key`. */
static inline uint32_t find(const uint32_t *keys, uint32_t n, uint32_t key)
{
  uint32_t low = 0;
  for (; n > 1; n -= n / 2)
    low += keys[low + n / 2 - 1] < key ? n / 2 : 0;
  return low + (n == 1 && keys[low] < key);
}

/* ---- what a tree costs ---- */

/* Links of a stretch along an axis that reaches from `low` to `high` around a router at `from`, 0 included. */
static inline int64_t stretch(const cm_tree_axis *axis, uint32_t from, int32_t low, int32_t high)
{
  int64_t sum = high > 0 ? (int64_t)length_of_run(axis, from, high) : 0;
  return low < 0 ? sum + (int64_t)length_of_run(axis, from, low) : sum;
}

static int64_t cost_of_net(const cm_trees *t, const cm_tree_net *net)
{
  const uint32_t *key = t->key + net->first;
  int64_t sum = stretch(&t->trunk, net->at.line, line_of(t, key[0]), line_of(t, key[net->size - 1]));
  for (uint32_t i = 0; i < net->size;) {
    uint32_t begin = i, line = key[i] >> t->key_shift;
    while (i < net->size && key[i] >> t->key_shift == line)
      i++;
    sum += stretch(&t->branch, net->at.place, place_of(t, key[begin]), place_of(t, key[i - 1]));
  }
  return sum * net->weight;
}

int64_t cm_trees_sum(const cm_trees *t)
{
  int64_t sum = 0;
  for (uint32_t e = 0; e < t->casts->count; e++)
    sum += cost_of_net(t, &t->net[e]);
  return sum;
}

/* What a key adds to a tree between its neighbours in the order, NULL where it would be the first or the last. */
static inline int64_t adds(const cm_trees *t, const cm_tree_net *net, const uint32_t *before, uint32_t key,
                           const uint32_t *after)
{
  uint32_t line = key >> t->key_shift;
  bool joins_before = before != NULL && *before >> t->key_shift == line;
  bool joins_after = after != NULL && *after >> t->key_shift == line;
  if (joins_before && joins_after)
    return 0;
  int32_t place = place_of(t, key);
  if (joins_before || joins_after) {
    int32_t end = place_of(t, joins_before ? *before : *after);
    return stretch(&t->branch, net->at.place, joins_before ? end : place, joins_before ? place : end) -
           stretch(&t->branch, net->at.place, end, end);
  }
  int64_t sum = stretch(&t->branch, net->at.place, place, place);
  int32_t steps = line_of(t, key);
  if (after == NULL && steps > 0) {
    int32_t old = before != NULL ? line_of(t, *before) : 0;
    sum += (int64_t)length_of_run(&t->trunk, net->at.line, steps) -
           (old > 0 ? (int64_t)length_of_run(&t->trunk, net->at.line, old) : 0);
  }
  if (before == NULL && steps < 0) {
    int32_t old = after != NULL ? line_of(t, *after) : 0;
    sum += (int64_t)length_of_run(&t->trunk, net->at.line, steps) -
           (old < 0 ? (int64_t)length_of_run(&t->trunk, net->at.line, old) : 0);
  }
  return sum;
}

/* What the tree costs more when one of its keys becomes another. */
static int64_t change_of(const cm_trees *t, const cm_tree_net *net, uint32_t from, uint32_t to)
{
  const uint32_t *key = t->key + net->first;
  uint32_t n = net->size, i = find(key, n, from), j = find(key, n, to);
  int64_t left = adds(t, net, i > 0 ? key + i - 1 : NULL, from, i + 1 < n ? key + i + 1 : NULL);
  uint32_t above = j == i ? i + 1 : j; /* the neighbours of `to` once `from` is gone */
  int64_t below = j == i + 1 ? (int64_t)i - 1 : (int64_t)j - 1;
  return net->weight * (adds(t, net, below >= 0 ? key + below : NULL, to, above < n ? key + above : NULL) - left);
}

/* The cost of a cast if its sender stood at `from` and part v at `of_v`. */
static int64_t cost_from(cm_trees *t, const cm_tree_net *net, cm_tree_spot from, uint32_t v, cm_tree_spot of_v)
{
  const uint32_t *target = t->casts->target + net->first;
  int32_t low = 0, high = 0;
  int64_t sum = 0;
  t->mark = cm_next_mark(t->mark, t->stamp, t->trunk.length);
  for (uint32_t i = 0; i < net->size; i++) {
    cm_tree_spot to = target[i] == v ? of_v : t->spot[target[i]];
    int32_t line = steps_on(&t->trunk, from.line, to.line), place = steps_on(&t->branch, from.place, to.place);
    low = line < low ? line : low;
    high = line > high ? line : high;
    if (t->stamp[to.line] != t->mark) {
      t->stamp[to.line] = t->mark;
      t->lowest[to.line] = t->highest[to.line] = 0;
    }
    if (place > t->highest[to.line]) {
      sum += stretch(&t->branch, from.place, 0, place) - stretch(&t->branch, from.place, 0, t->highest[to.line]);
      t->highest[to.line] = place;
    } else if (place < t->lowest[to.line]) {
      sum += stretch(&t->branch, from.place, place, 0) - stretch(&t->branch, from.place, t->lowest[to.line], 0);
      t->lowest[to.line] = place;
    }
  }
  return net->weight * (sum + stretch(&t->trunk, from.line, low, high));
}

/* ---- swaps ---- */

/* The change of the casts of part u when it goes to `there` and v to where it was. */
static int64_t change_of_own(cm_trees *t, uint32_t u, cm_tree_spot there, uint32_t v)
{
  int64_t sum = 0;
  for (uint32_t e = t->casts->of_part[u]; e < t->casts->of_part[u + 1]; e++)
    sum += cost_from(t, &t->net[e], there, v, t->spot[u]) - cost_of_net(t, &t->net[e]);
  return sum;
}

int64_t cm_trees_look(cm_trees *t, uint32_t u, uint32_t v, uint32_t there)
{
  cm_tree_spot here = t->spot[u], to = cm_trees_spot(t, there);
  if (here.line == to.line && here.place == to.place)
    return 0; /* behind the same router */
  int64_t sum = change_of_own(t, u, to, v);
  if (v != CM_NO_PART)
    sum += change_of_own(t, v, here, u);
  for (cm_cast_walk w = cm_cast_walk_of(&t->inbound, u, v); cm_cast_walk_next(&w);) {
    const cm_tree_net *net = &t->net[w.cast];
    uint32_t from = key_of(t, net->at, here), onto = key_of(t, net->at, to);
    sum += w.is_u ? change_of(t, net, from, onto) : change_of(t, net, onto, from);
  }
  return sum;
}

static void replace(cm_trees *t, const cm_tree_net *net, uint32_t from, uint32_t to)
{
  uint32_t *key = t->key + net->first, n = net->size, i = find(key, n, from), j = find(key, n, to);
  if (j > i + 1)
    memmove(key + i, key + i + 1, (j - i - 1) * sizeof *key);
  else if (j < i)
    memmove(key + j + 1, key + j, (i - j) * sizeof *key);
  key[j > i ? j - 1 : j] = to;
}

static void leave(cm_trees *t, uint32_t u, uint32_t core, cm_tree_spot spot)
{
  t->core[u] = core;
  t->spot[u] = spot;
  for (uint32_t e = t->casts->of_part[u]; e < t->casts->of_part[u + 1]; e++)
    t->net[e].at = spot;
}

void cm_trees_swap(cm_trees *t, uint32_t u, uint32_t v, uint32_t there)
{
  uint32_t core = t->core[u];
  cm_tree_spot here = t->spot[u], to = cm_trees_spot(t, there);
  for (cm_cast_walk w = cm_cast_walk_of(&t->inbound, u, v); cm_cast_walk_next(&w);) {
    const cm_tree_net *net = &t->net[w.cast];
    uint32_t from = key_of(t, net->at, here), onto = key_of(t, net->at, to);
    replace(t, net, w.is_u ? from : onto, w.is_u ? onto : from);
  }
  leave(t, u, there, to);
  if (v != CM_NO_PART)
    leave(t, v, core, here);
  if (here.line == to.line && here.place == to.place)
    return;
  make_keys_of(t, u);
  make_keys_of(t, v);
}

/* ---- making ---- */

/* How far weights must be shifted right for all sums to stay within 62 bits. */
static unsigned weight_shift_of(const cm_trees *t)
{
  const cm_casts *c = t->casts;
  double most = 0;
  for (uint32_t e = 0; e < c->count; e++) /* a tree has no more branches than targets */
    most += (double)c->weight[e] * ((double)(c->first[e + 1] - c->first[e]) * (double)t->branch.sum[2 * t->branch.length] +
                                    (double)t->trunk.sum[2 * t->trunk.length]);
  unsigned shift = 0;
  while (ldexp(most, -(int)shift) > 0x1p61)
    shift++;
  return shift;
}

static cm_status room(cm_trees *t, cm_error *error)
{
  const cm_casts *c = t->casts;
  cm_memory *memory = t->run->memory;
  uint64_t pins = c->first[c->count];
  if (CM_NEW(memory, t->key, pins, error) != CM_OK || CM_NEW(memory, t->net, c->count, error) != CM_OK ||
      cm_inbound_casts_new(c, memory, &t->inbound, error) != CM_OK || CM_NEW(memory, t->core, c->parts, error) != CM_OK ||
      CM_NEW(memory, t->spot, c->parts, error) != CM_OK || CM_NEW(memory, t->stamp, t->trunk.length, error) != CM_OK ||
      CM_NEW(memory, t->lowest, t->trunk.length, error) != CM_OK)
    return error->status;
  return CM_NEW(memory, t->highest, t->trunk.length, error);
}

static cm_status fill(cm_trees *t, const uint32_t *core, cm_error *error)
{
  const cm_casts *c = t->casts;
  memcpy(t->core, core, c->parts * sizeof *core);
  for (uint32_t p = 0; p < c->parts; p++)
    t->spot[p] = cm_trees_spot(t, core[p]);
  for (uint32_t p = 0; p < c->parts; p++) {
    for (uint32_t e = c->of_part[p]; e < c->of_part[p + 1]; e++) {
      t->net[e] = (cm_tree_net){.first = c->first[e], .size = (uint32_t)(c->first[e + 1] - c->first[e]), .at = t->spot[p], .weight = (int64_t)(c->weight[e] >> t->weight_shift)};
      make_keys(t, e);
    }
    CM_TRY(cm_run_check(t->run, error));
  }
  return CM_OK;
}

cm_status cm_trees_new(const cm_casts *casts, const cm_chip *chip, const uint32_t *core, cm_run *run, cm_trees **trees,
                       cm_error *error)
{
  cm_trees *t;
  bool xy = chip->routing == CM_ROUTING_XY;
  CM_TRY(CM_NEW(run->memory, t, 1, error));
  t->casts = casts;
  t->chip = chip;
  t->run = run;
  cm_status status = axis_new(chip, xy, run->memory, &t->trunk, error);
  CM_THEN(status, axis_new(chip, !xy, run->memory, &t->branch, error));
  CM_THEN(status, room(t, error));
  if (status == CM_OK) {
    while (UINT32_C(1) << t->key_shift < 2 * t->branch.length)
      t->key_shift++;
    t->weight_shift = weight_shift_of(t);
    status = fill(t, core, error);
  }
  CM_END(status, *trees = t, cm_trees_free(t));
}

void cm_trees_free(cm_trees *t)
{
  if (t == NULL)
    return;
  CM_FREE(t->trunk.sum, t->branch.sum, t->key, t->net);
  cm_inbound_casts_free(&t->inbound);
  CM_FREE(t->core, t->spot, t->stamp, t->lowest, t->highest, t);
}
