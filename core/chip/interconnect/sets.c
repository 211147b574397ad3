/* Happy path: balls around centres -> the cheapest, each improved by exchanges -> those that differ, cheapest first. What can
 * fail: memory, a stop. */
#include "core/chip/interconnect/sets.h"

#include <math.h>

#include "base/order.h"
#include "core/chip/interconnect/interconnect.h"
#include "core/chip/turns.h"

enum { CENTRES_MAX = 96, EXCHANGES_MAX = 512, SAMPLE_BITS = 24, SORTED_MAX = 64, SAMPLED = 32 };

/* ---- the price of a set ---- */

cm_status cm_interconnect_set_cost(const cm_chip *chip, const uint32_t *cores, uint32_t count, cm_memory *memory, double *cost,
                                   cm_error *error)
{
  const cm_interconnect *net = chip->interconnect;
  uint32_t grid = net->columns * net->rows, used = 0, *members, *router;
  *cost = 0;
  if (count < 2)
    return CM_OK;
  CM_TRY(cm_interconnect_prepare(net, error));
  CM_TRY(CM_NEW(memory, members, grid, error));
  CM_TRY_OR(CM_NEW(memory, router, grid, error), cm_free(members));
  for (uint32_t i = 0; i < count; i++)
    members[cm_router_of(chip, cores[i])]++;
  for (uint32_t r = 0; r < grid; r++)
    if (members[r] > 0)
      router[used++] = r;
  double sum = 0, pairs = 0;
  uint64_t all = (uint64_t)used * used, stride = 1 + (all >> SAMPLE_BITS);
  stride += stride > 1 && used % stride == 0; /* else the same columns again and again */
  for (uint64_t k = 0; k < all; k += stride) {
    uint32_t a = router[k / used], b = router[k % used];
    double between = (double)members[a] * (a == b ? members[a] - 1.0 : members[b]);
    pairs += between;
    sum += a == b ? 0 : between * cm_interconnect_units(net, a, b);
  }
  *cost = pairs > 0 ? sum / pairs * net->unit_pj : 0;
  CM_FREE(members, router);
  return CM_OK;
}

/* ---- candidates ---- */

typedef struct centre {
  double cost;
  uint32_t router;
} centre;

CM_ORDER(by_cost, centre, CM_RISING(cost) CM_RISING(router))

typedef struct near {
  uint32_t units, router;
} near;

CM_ORDER(by_units, near, CM_RISING(units) CM_RISING(router))

typedef struct search {
  const cm_chip *chip;
  const cm_interconnect *net;
  const uint8_t *usable;
  cm_run *run;
  uint32_t count, grid;
  uint32_t *here;    /* [grid] usable cores behind each router */
  near *order;       /* [grid] */
  uint32_t *members; /* [grid] of the set under way */
  double *price;     /* [grid] of a core there to all members */
} search;

/* Takes cores behind listed routers, from the first of the list on, `left` at most; how many are still wanted. */
static uint32_t take_listed(search *s, const near *list, uint32_t count, uint32_t left, double *sum)
{
  for (uint32_t i = 0; i < count && left > 0; i++) {
    uint32_t taken = s->here[list[i].router] < left ? s->here[list[i].router] : left;
    s->members[list[i].router] = taken;
    *sum += (double)taken * list[i].units;
    left -= taken;
  }
  return left;
}

/* Where about this share of the list ends, by a sample of it; never the least of it. */
static near pivot_of(const near *list, uint32_t count, double share)
{
  near sample[SAMPLED];
  const uint32_t stride = count / SAMPLED;
  for (uint32_t i = 0; i < SAMPLED; i++)
    sample[i] = list[i * stride + (uint32_t)(i * UINT64_C(2654435761) % stride)];
  qsort(sample, SAMPLED, sizeof *sample, by_units);
  return sample[1 + (uint32_t)(share * (SAMPLED - 2))];
}

/* Puts those before the pivot first; how many, and how many cores they have. */
static uint32_t divide(const search *s, near *list, uint32_t count, near pivot, uint64_t *cores)
{
  uint32_t before = 0;
  *cores = 0;
  for (uint32_t i = 0; i < count; i++)
    if (by_units(&list[i], &pivot) < 0) {
      near other = list[before];
      *cores += s->here[list[i].router];
      list[before++] = list[i];
      list[i] = other;
    }
  return before;
}

/* Takes the nearest usable cores around a router: so many behind each in s->members. Their prices to the centre, summed.
 * The list is divided, and only what holds the last core wanted divided again: O(routers) expected. */
static double ball(search *s, uint32_t middle)
{
  uint32_t listed = 0, left = s->count;
  uint64_t there = 0;
  double sum = 0;
  memset(s->members, 0, s->grid * sizeof *s->members);
  for (uint32_t r = 0; r < s->grid; r++)
    if (s->here[r] > 0) {
      s->order[listed++] = (near){cm_interconnect_units(s->net, middle, r), r};
      there += s->here[r];
    }
  near *list = s->order;
  while (listed > SORTED_MAX) {
    uint64_t cores;
    uint32_t before = divide(s, list, listed, pivot_of(list, listed, (double)left / (double)there), &cores);
    if (cores >= left) {
      listed = before;
      there = cores;
      continue;
    }
    left = take_listed(s, list, before, left, &sum);
    list += before;
    listed -= before;
    there -= cores;
  }
  qsort(list, listed, sizeof *list, by_units);
  (void)take_listed(s, list, listed, left, &sum);
  return sum;
}

static void book(search *s, uint32_t router, double sign)
{
  for (uint32_t r = 0; r < s->grid; r++)
    if (s->here[r] > 0)
      s->price[r] += sign * (cm_interconnect_units(s->net, router, r) + (double)cm_interconnect_units(s->net, r, router));
}

/* Exchanges the dearest member for the cheapest core outside while that pays. */
static cm_status improve(search *s, cm_error *error)
{
  double work = 0;
  for (uint32_t r = 0; r < s->grid; r++)
    work += s->members[r] > 0;
  if (work * s->grid > 1 << 25) /* the ball stays as it is */
    return CM_OK;
  memset(s->price, 0, s->grid * sizeof *s->price);
  for (uint32_t r = 0; r < s->grid; r++)
    if (s->members[r] > 0)
      book(s, r, s->members[r]);
  for (uint32_t i = 0; i < EXCHANGES_MAX; i++) {
    uint32_t goes = UINT32_MAX, comes = UINT32_MAX;
    double least = INFINITY;
    for (uint32_t r = 0; r < s->grid; r++)
      if (s->members[r] > 0 && (goes == UINT32_MAX || s->price[r] > s->price[goes]))
        goes = r;
    for (uint32_t r = 0; r < s->grid; r++) {
      if (s->members[r] >= s->here[r] || r == goes)
        continue;
      double without = s->price[r] - cm_interconnect_units(s->net, goes, r) - (double)cm_interconnect_units(s->net, r, goes);
      if (without < least) {
        least = without;
        comes = r;
      }
    }
    if (comes == UINT32_MAX || least >= s->price[goes])
      break;
    s->members[goes]--;
    s->members[comes]++;
    book(s, goes, -1);
    book(s, comes, 1);
    CM_TRY(cm_run_check(s->run, error));
  }
  return CM_OK;
}

/* The cores of the set under way, ascending. */
static cm_status take(const search *s, uint32_t **set, cm_error *error)
{
  uint32_t *cores, found = 0;
  CM_TRY(CM_NEW(s->run->memory, cores, s->count, error));
  const cm_chip *chip = s->chip;
  for (uint32_t r = 0; r < s->grid; r++) {
    uint32_t left = s->members[r], x = r % s->net->columns * chip->router_x, y = r / s->net->columns * chip->router_y;
    for (uint32_t i = 0; left > 0 && i < chip->router_x * chip->router_y; i++) {
      uint32_t core = (y + i / chip->router_x) * chip->width + x + i % chip->router_x;
      if (!s->usable[core])
        continue;
      cores[found++] = core;
      left--;
    }
  }
  qsort(cores, found, sizeof *cores, cm_ascending);
  *set = cores;
  return CM_OK;
}

static cm_status look_around(search *s, cm_core_sets *sets, cm_error *error)
{
  centre list[CENTRES_MAX] = {0};
  uint32_t with_cores = 0, centres = 0, next = 0;
  for (uint32_t r = 0; r < s->grid; r++)
    with_cores += s->here[r] > 0;
  uint32_t wanted = with_cores < CENTRES_MAX ? with_cores : CENTRES_MAX;
  for (uint32_t r = 0, seen = 0; r < s->grid; r++) {
    if (s->here[r] == 0)
      continue;
    if ((uint64_t)seen++ * wanted / with_cores < next)
      continue;
    next++;
    list[centres++] = (centre){ball(s, r), r};
    if (centres == CENTRES_MAX || cm_run_check(s->run, error) != CM_OK)
      break;
  }
  qsort(list, centres, sizeof *list, by_cost);
  for (uint32_t i = 0; i < centres && i < 2 * sets->capacity && sets->count < sets->capacity; i++) {
    uint32_t **made = &sets->set[sets->count];
    (void)ball(s, list[i].router);
    CM_TRY(improve(s, error));
    CM_TRY(take(s, made, error));
    bool known = false;
    for (uint32_t j = 0; j < sets->count; j++)
      known = known || memcmp(sets->set[j], *made, s->count * sizeof **made) == 0;
    if (known)
      cm_free(*made);
    else
      sets->count++;
  }
  return cm_run_check(s->run, error);
}

cm_status cm_interconnect_sets(const cm_chip *chip, const uint8_t *usable, cm_run *run, cm_core_sets *sets, cm_error *error)
{
  const cm_interconnect *net = chip->interconnect;
  search s = {.chip = chip, .net = net, .usable = usable, .run = run, .count = sets->cores, .grid = net->columns * net->rows};
  sets->count = 0;
  if (sets->cores == 0 || sets->capacity == 0)
    return CM_OK;
  CM_TRY(cm_interconnect_prepare(net, error));
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(s.here, s.grid), CM_ARRAY(s.order, s.grid),
                                CM_ARRAY(s.members, s.grid), CM_ARRAY(s.price, s.grid));
  for (uint32_t c = 0; status == CM_OK && c < cm_chip_cores(chip); c++)
    s.here[cm_router_of(chip, c)] += usable[c];
  CM_THEN(status, look_around(&s, sets, error));
  CM_FREE(s.here, s.order, s.members, s.price);
  if (status == CM_OK)
    return CM_OK;
  while (sets->count > 0)
    cm_free(sets->set[--sets->count]);
  return status;
}

/* ---- who can talk to each other ---- */

cm_status cm_interconnect_usable(const cm_chip *chip, cm_memory *memory, uint8_t *usable, cm_error *error)
{
  const cm_interconnect *net = chip->interconnect;
  uint32_t cores = cm_chip_cores(chip), best = 0;
  uint8_t *reached = NULL, *chosen = NULL, *seen = NULL;
  if (net->dead_count == 0)
    return CM_OK;
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(reached, net->routers), CM_ARRAY(chosen, net->routers),
                                CM_ARRAY(seen, net->routers));
  for (uint32_t core = 0; core < cores && status == CM_OK; core++) {
    uint32_t router = cm_router_of(chip, core), members = 0;
    if (!usable[core] || seen[router])
      continue;
    status = cm_interconnect_component(net, router, memory, reached, error);
    for (uint32_t r = 0; status == CM_OK && r < net->routers; r++)
      seen[r] |= reached[r];
    for (uint32_t c = 0; status == CM_OK && c < cores; c++)
      members += usable[c] && reached[cm_router_of(chip, c)];
    if (status == CM_OK && members > best) {
      best = members;
      memcpy(chosen, reached, net->routers);
    }
  }
  for (uint32_t c = 0; status == CM_OK && c < cores; c++)
    usable[c] = usable[c] && chosen[cm_router_of(chip, c)];
  CM_FREE(reached, chosen, seen);
  return status;
}
