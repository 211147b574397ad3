#include "base/order.h"
#include "core/fabric/fabric_placing.h"

/* How far along the curve a place of a square of 2^bits a side is. */
static uint64_t along_curve(unsigned bits, uint32_t x, uint32_t y)
{
  uint64_t along = 0;
  for (uint32_t side = 1u << bits >> 1; side > 0; side >>= 1) {
    const uint32_t right = (x & side) != 0, up = (y & side) != 0;
    along += (uint64_t)side * side * ((3 * right) ^ up);
    if (up == 0) {
      if (right != 0) {
        x = side - 1 - (x & (side - 1));
        y = side - 1 - (y & (side - 1));
      }
      const uint32_t swap = x;
      x = y;
      y = swap;
    }
  }
  return along;
}

/* How far a place is along bands of so many rows, whose columns all begin at the lowest row: one to the right, the next to the left. */
static uint64_t along_bands(const cm_chip_grid *f, uint32_t rows, uint32_t x, uint32_t y)
{
  const uint32_t band = y / rows;
  return ((uint64_t)band * f->width + (band & 1 ? f->width - 1 - x : x)) * rows + y % rows;
}

void cm_fabric_order_chips(const cm_chip_grid *f, uint32_t rows, uint64_t *order)
{
  unsigned bits = 0;
  while (1u << bits < f->width || 1u << bits < f->height)
    bits++;
  for (uint32_t chip = 0; chip < cm_fabric_chips(f); chip++) {
    const uint32_t x = chip % f->width, y = chip / f->width;
    order[chip] = (rows > 0 ? along_bands(f, rows, x, y) : along_curve(bits, x, y)) << 32 | chip;
  }
  qsort(order, cm_fabric_chips(f), sizeof *order, cm_ascending_long);
}

typedef struct laying {
  cm_fabric_placing *p;
  uint64_t *order;  /* chips, in the lower half */
  bool *follows;    /* [groups]: it is of the population of the group before */
  uint32_t *ahead;  /* [groups + 1]: chips that populations take from a group on, each from a chip of its own on, were all chips as large as the largest */
  uint32_t rows;    /* of a band; 0: along the curve */
  uint32_t at, left; /* the chip in hand, and chips from there on */
} laying;

/* Groups follow each other where both send in one family, or one sender reaches both. */
static void mark_populations(laying *l, const cm_flows *flows)
{
  const cm_fabric_nets *nets = l->p->nets;
  const uint32_t *of = l->p->groups->of;
  for (uint32_t k = 0; k < flows->families; k++)
    for (uint32_t s = flows->family_first[k] + 1; s < flows->family_first[k + 1]; s++)
      if (of[flows->sender[s]] == of[flows->sender[s - 1]] + 1)
        l->follows[of[flows->sender[s]]] = true;
  for (uint32_t net = 0; net < nets->count; net++)
    for (uint64_t i = nets->first[net] + 1; i < nets->source[net]; i++)
      if (nets->pin[i] == nets->pin[i - 1] + 1)
        l->follows[nets->pin[i]] = true;
}

/* Returns the chips of the population that takes most. */
static uint32_t count_ahead(laying *l)
{
  const cm_fabric_placing *p = l->p;
  uint32_t largest = 1, cores = 0, most = 0;
  for (uint32_t c = 0; c < cm_fabric_chips(p->f); c++)
    largest = p->cores[c] > largest ? p->cores[c] : largest;
  for (uint32_t g = p->groups->count; g-- > 0;) {
    cores += p->chip[g] == CM_NO_CHIP ? p->groups->cores[g] : 0;
    l->ahead[g] = l->ahead[g + 1];
    if (l->follows[g])
      continue;
    const uint32_t chips = (cores + largest - 1) / largest;
    l->ahead[g] += chips;
    most = chips > most ? chips : most;
    cores = 0;
  }
  return most;
}

static void next_chip(laying *l)
{
  l->left -= l->p->f->cores[(uint32_t)l->order[l->at]] > 0;
  l->at++;
}

/* The first chip of a population, where there are enough: one that has nothing yet and, in bands, a column that it fits into. */
static void begin_population(laying *l, uint32_t group, bool used)
{
  const uint32_t chips = cm_fabric_chips(l->p->f), width = l->p->f->width;
  if (used && l->left > l->ahead[group])
    next_chip(l);
  if (l->rows == 0 || l->at == chips)
    return;
  uint32_t end = group + 1, behind = l->at, room = 0;
  while (end < l->p->groups->count && l->follows[end])
    end++;
  for (; behind < chips && (uint32_t)l->order[behind] % width == (uint32_t)l->order[l->at] % width; behind++)
    room += l->p->f->cores[(uint32_t)l->order[behind]] > 0;
  if (room < l->ahead[group] - l->ahead[end] && l->left >= l->ahead[group] + room)
    while (l->at < behind)
      next_chip(l);
}

static void lay(laying *l)
{
  const uint32_t chips = cm_fabric_chips(l->p->f);
  bool used = false;
  for (uint32_t g = 0; g < l->p->groups->count && l->at < chips; g++) {
    if (l->p->chip[g] != CM_NO_CHIP)
      continue;
    if (!l->follows[g])
      begin_population(l, g, used);
    while (l->at < chips && !cm_fabric_fits(l->p, g, (uint32_t)l->order[l->at]))
      next_chip(l);
    if (l->at < chips)
      cm_fabric_put(l->p, g, (uint32_t)l->order[l->at]);
    used = true;
  }
}

cm_status cm_fabric_lay(cm_fabric_placing *p, const cm_flows *flows, bool bands, cm_run *run, cm_error *error)
{
  const uint32_t chips = cm_fabric_chips(p->f), groups = p->groups->count;
  laying l = {.p = p};
  cm_status status = CM_NEW(run->memory, l.order, chips, error);
  CM_THEN(status, CM_NEW_ALL(run->memory, error, CM_ARRAY(l.follows, (size_t)groups + 1), CM_ARRAY(l.ahead, (size_t)groups + 1)));
  if (status == CM_OK) {
    mark_populations(&l, flows);
    const uint32_t most = count_ahead(&l);
    l.rows = bands ? (most > p->f->height ? p->f->height : most) : 0;
    for (uint32_t c = 0; c < chips; c++)
      l.left += p->f->cores[c] > 0;
    cm_fabric_order_chips(p->f, l.rows, l.order);
    lay(&l);
  }
  CM_FREE(l.order, l.follows, l.ahead);
  return status;
}
