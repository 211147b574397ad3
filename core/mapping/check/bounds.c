/* Lower bounds. What a part sends to others cannot all go to its nearest neighbour: its partners sit on distinct cores,
 * so the heaviest flow goes at best to the nearest core, the next to the second nearest, and so on. How many cores lie
 * within r steps is counted around the usable core that has most of them. Each pair of parts has two ends and may be
 * counted at either, in any shares; four ways to share are tried and the best bound counts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mapping/check/bounds_ways.h"
#include "core/mapping/check/certificate.h"
#include "core/partition/partition.h"

/* Discs are counted exactly up to so many visits of rows. */
static const double DISC_WORK_MAX = 4e8;

/* Pairs up to which the other ways to share are tried. */
enum { PAIRS_FOR_ALL_WAYS = 1 << 25 };

typedef struct pair {
  uint32_t to;
  double packets;
} pair;

/* All that two parts say to each other, seen from one of them. */
typedef struct partner {
  uint32_t other;
  double sent, received;
} partner;

typedef struct work {
  const cm_topology *topology;
  const cm_chip *chip;
  const uint32_t *part;
  uint32_t parts;
  cm_run *run;
  size_t *first;       /* [parts + 1] */
  pair *pair;          /* by source: first[from] .. first[from + 1] - 1 */
  uint64_t pair_count, pair_room;
  size_t *partner_first; /* [parts + 1] the same in both directions; NULL when there are too many */
  partner *partner;
  uint32_t *partners;  /* [parts] distinct parts that a part talks with */
  uint32_t most;       /* highest number of distinct partners */
  double *hops, *cost; /* [most] least hops and energy to the i-th nearest other core */
  double packets;      /* all */
  double axons, tree_links; /* packets of axons that leave their part; the same times the links they need */
} work;

/* ---- what parts say to each other ---- */

static cm_status put_pair(work *w, uint32_t to, double packets, cm_error *error)
{
  if (CM_ROOM(w->run->memory, w->pair, &w->pair_room, w->pair_count + 1, error) != CM_OK)
    return error->status;
  w->pair[w->pair_count++] = (pair){to, packets};
  return CM_OK;
}

/* Links that an axon to `targets` other cores needs at least: one to each router beyond its own. */
static double links_for(const cm_chip *chip, uint32_t targets)
{
  return (double)(targets / (chip->router_x * chip->router_y));
}

/* The flows of one part: `sum` and `seen` are [parts] scratch. */
static cm_status gather_part(work *w, uint32_t part, const uint32_t *net, uint32_t nets, double *sum, uint32_t *seen,
                             uint32_t *used, uint8_t *open, cm_error *error)
{
  const cm_topology *t = w->topology;
  double unit = (double)t->weight_scale * (t->directed ? 1 : 2);
  uint32_t reached = 0;
  for (uint32_t i = 0; i < nets; i++) {
    uint32_t targets = 0;
    double rate = t->directed ? (double)cm_topology_net_weight(t, net[i]) / unit : 0;
    for (uint64_t k = t->net_first[net[i]]; k < t->net_first[net[i] + 1]; k++) {
      uint32_t p = w->part[t->pin[k]];
      if (p == part || (t->directed && seen[p] == net[i] + 1))
        continue;
      seen[p] = net[i] + 1;
      targets++;
      if (!open[p]) {
        open[p] = 1;
        used[reached++] = p;
      }
      sum[p] += t->directed ? rate : (double)cm_topology_pin_weight(t, net[i], k) / unit;
    }
    w->axons += targets > 0 ? rate : 0;
    w->tree_links += rate * links_for(w->chip, targets);
  }
  cm_status status = CM_OK;
  for (uint32_t i = 0; i < reached && status == CM_OK; i++) {
    uint32_t p = used[i];
    w->packets += sum[p];
    status = put_pair(w, p, sum[p], error);
    sum[p] = 0;
    open[p] = 0;
  }
  return status;
}

static cm_status gather(work *w, cm_error *error)
{
  cm_memory *memory = w->run->memory;
  uint32_t *first = NULL, *net = NULL, *seen = NULL, *used = NULL;
  uint8_t *open = NULL;
  double *sum = NULL;
  cm_status status = cm_nets_by_part(w->topology, w->part, w->parts, w->run, &first, &net, error);
  if (status == CM_OK &&
      (CM_NEW(memory, w->first, (size_t)w->parts + 1, error) != CM_OK ||
       CM_NEW(memory, seen, w->parts, error) != CM_OK || CM_NEW(memory, used, w->parts, error) != CM_OK ||
       CM_NEW(memory, open, w->parts, error) != CM_OK || CM_NEW(memory, sum, w->parts, error) != CM_OK))
    status = error->status;
  for (uint32_t p = 0; p < w->parts && status == CM_OK; p++) {
    status = gather_part(w, p, net + first[p], first[p + 1] - first[p], sum, seen, used, open, error);
    w->first[p + 1] = w->pair_count;
    if (status == CM_OK && p % 64 == 0)
      status = cm_run_check(w->run, error);
  }
  cm_free(first);
  cm_free(net);
  cm_free(seen);
  cm_free(used);
  cm_free(open);
  cm_free(sum);
  return status;
}

/* ---- how near other cores can be ---- */

/* Usable cores by router, summed along rows from the west: at (x, y) those of routers west of x; a torus twice over. */
typedef struct field {
  uint32_t routers_x, routers_y, width;
  bool torus_x, torus_y;
  const cm_chip *chip;
  const uint8_t *usable;
  uint8_t *filled; /* [routers_y] rows that are summed, when first asked for */
  uint32_t *sum; /* [routers_y * (width + 1)] */
} field;

static cm_status field_new(const cm_chip *chip, const uint8_t *usable, cm_memory *memory, field *f, cm_error *error)
{
  *f = (field){.routers_x = cm_chip_routers_x(chip), .routers_y = cm_chip_routers_y(chip), .torus_x = chip->torus_x,
               .torus_y = chip->torus_y, .chip = chip, .usable = usable};
  f->width = f->torus_x ? 2 * f->routers_x : f->routers_x;
  if (CM_NEW(memory, f->filled, f->routers_y, error) != CM_OK)
    return error->status;
  f->sum = cm_reserve(memory, ((size_t)f->width + 1) * f->routers_y, sizeof *f->sum, error);
  return f->sum != NULL ? CM_OK : error->status;
}

static void field_free(field *f)
{
  cm_free(f->filled);
  cm_free(f->sum);
}

static cm_status fill_row(field *f, uint32_t y, cm_error *error)
{
  const cm_chip *chip = f->chip;
  uint32_t *sum = f->sum + (size_t)y * (f->width + 1);
  if (cm_book_reserved(f->sum, ((size_t)f->width + 1) * sizeof *sum, error) != CM_OK)
    return error->status;
  for (uint32_t c = y * chip->router_y * chip->width; c < (y + 1) * chip->router_y * chip->width; c++)
    sum[c % chip->width / chip->router_x + 1] += f->usable[c] != 0;
  for (uint32_t x = f->routers_x; x < f->width; x++)
    sum[x + 1] = sum[x + 1 - f->routers_x];
  for (uint32_t x = 0; x < f->width; x++)
    sum[x + 1] += sum[x];
  f->filled[y] = 1;
  return CM_OK;
}

/* Makes the rows that discs around a row look at. */
static cm_status fill_rows(field *f, uint32_t y, uint32_t radius, cm_error *error)
{
  uint32_t reach = radius < f->routers_y ? radius : f->routers_y - 1;
  for (uint32_t d = 0; d <= reach; d++) {
    uint32_t up = y >= d ? y - d : f->torus_y ? y + f->routers_y - d : y;
    uint32_t down = y + d < f->routers_y ? y + d : f->torus_y ? y + d - f->routers_y : y;
    if ((!f->filled[up] && fill_row(f, up, error) != CM_OK) || (!f->filled[down] && fill_row(f, down, error) != CM_OK))
      return error->status;
  }
  return CM_OK;
}

static uint32_t row_between(const field *f, uint32_t x, uint32_t y, uint32_t reach)
{
  const uint32_t *sum = f->sum + (size_t)y * (f->width + 1);
  if (!f->torus_x)
    return sum[x + reach + 1 < f->width ? x + reach + 1 : f->width] - sum[x > reach ? x - reach : 0];
  if (2 * reach + 1 >= f->routers_x)
    return sum[f->routers_x];
  uint32_t from = x >= reach ? x - reach : x + f->routers_x - reach;
  return sum[from + 2 * reach + 1] - sum[from];
}

/* Usable cores within `radius` steps of a router. */
static uint32_t disc(const field *f, uint32_t x, uint32_t y, uint32_t radius)
{
  uint32_t count = row_between(f, x, y, radius);
  for (uint32_t d = 1; d <= radius; d++) {
    uint32_t reach = radius - d;
    if (!f->torus_y) {
      count += y + d < f->routers_y ? row_between(f, x, y + d, reach) : 0;
      count += y >= d ? row_between(f, x, y - d, reach) : 0;
    } else if (2 * d <= f->routers_y) {
      count += row_between(f, x, (y + d) % f->routers_y, reach);
      count += 2 * d < f->routers_y ? row_between(f, x, (y + f->routers_y - d) % f->routers_y, reach) : 0;
    }
  }
  return count;
}

/* The most usable cores that any usable core has within `radius`, itself included. */
static cm_status fullest_disc(field *f, const cm_chip *chip, uint32_t radius, uint64_t *fullest, cm_error *error)
{
  /* No disc has more: where one has so many, as on any chip with room, the others need not be looked at. */
  uint64_t whole = (2 * (uint64_t)radius * (radius + 1) + 1) * chip->router_x * chip->router_y;
  double rows = (double)f->routers_x * f->routers_y * (2.0 * radius + 1);
  if (rows > DISC_WORK_MAX / (radius + 1)) {
    *fullest = whole;
    return CM_OK;
  }
  uint32_t most = 0, first = radius < f->routers_y ? radius : f->routers_y - 1;
  for (uint32_t j = 0; j < f->routers_y && most < whole; j++) {
    uint32_t y = first + j < f->routers_y ? first + j : first + j - f->routers_y;
    if (fill_rows(f, y, radius, error) != CM_OK)
      return error->status;
    for (uint32_t x = 0; x < f->routers_x && most < whole; x++) {
      if (row_between(f, x, y, 0) == 0)
        continue;
      uint32_t here = disc(f, x, y, radius);
      most = here > most ? here : most;
    }
  }
  *fullest = most;
  return CM_OK;
}

static int by_cost(const void *a, const void *b)
{
  double p = *(const double *)a, q = *(const double *)b;
  return p < q ? -1 : p > q;
}

/* What the i-th nearest core costs at least on an endless chip, cost [most]; steps along x and y cost `x` and `y`. */
static cm_status endless_costs(const work *w, double x, double y, double *cost, cm_error *error)
{
  uint32_t behind = w->chip->router_x * w->chip->router_y, radius = 0;
  double least = x < y ? x : y, most = x < y ? y : x;
  while ((2 * (uint64_t)radius * (radius + 1) + 1) * behind - 1 < w->most)
    radius++;
  /* Whatever the i-th nearest is, a disc by hops of that radius holds enough: none of them costs more than its rim. */
  double rim = radius * most;
  uint64_t reach = least > 0 ? (uint64_t)fmin(rim / least, 2.0 * radius + 4) : 2 * (uint64_t)radius + 4, count = 0;
  double *all;
  if (CM_NEW(w->run->memory, all, (2 * reach * (reach + 1) + 1) * behind, error) != CM_OK)
    return error->status;
  for (int64_t j = -(int64_t)reach; j <= (int64_t)reach; j++)
    for (int64_t i = -((int64_t)reach - llabs(j)); i <= (int64_t)reach - llabs(j); i++)
      for (uint32_t b = i == 0 && j == 0 ? 1 : 0; b < behind; b++)
        all[count++] = (double)llabs(i) * x + (double)llabs(j) * y;
  qsort(all, count, sizeof *all, by_cost);
  for (uint32_t i = 0; i < w->most; i++) {
    double beyond = least * (double)(reach + 1); /* what lies outside the disc costs at least this */
    cost[i] = i < count && all[i] < beyond ? all[i] : beyond;
  }
  cm_free(all);
  return CM_OK;
}

/* Energy of a step along an axis, its router included, at least: links between dies may be cheaper. */
static double step_pj(const cm_hop_cost *cost, double inside, uint32_t dies)
{
  return cost->router + (dies > 1 && cost->die_to_die < inside ? cost->die_to_die : inside);
}

/* The same on an interconnect that is no plain mesh: nearest cores by hops, each hop as cheap as the cheapest. */
static cm_status measure_ways(work *w, const uint8_t *usable, cm_error *error)
{
  if (CM_NEW(w->run->memory, w->hops, w->most, error) != CM_OK || CM_NEW(w->run->memory, w->cost, w->most, error) != CM_OK ||
      cm_bound_ways(w->chip, usable, w->most, w->run, w->hops, error) != CM_OK)
    return error->status;
  for (uint32_t i = 0; i < w->most; i++)
    w->cost[i] = w->hops[i] * cm_cheapest_hop(w->chip);
  return CM_OK;
}

static cm_status measure_nearness(work *w, const uint8_t *usable, cm_error *error)
{
  if (w->chip->interconnect != NULL)
    return measure_ways(w, usable, error);
  const cm_hop_cost *e = &w->chip->energy_pj;
  double x = step_pj(e, e->east_west, w->chip->dies_x), y = step_pj(e, e->north_south, w->chip->dies_y);
  if (CM_NEW(w->run->memory, w->hops, w->most, error) != CM_OK ||
      CM_NEW(w->run->memory, w->cost, w->most, error) != CM_OK)
    return error->status;
  field f;
  cm_status status = field_new(w->chip, usable, w->run->memory, &f, error);
  uint32_t filled = 0, radius_max = f.routers_x + f.routers_y;
  for (uint32_t radius = 0; status == CM_OK && filled < w->most && radius <= radius_max; radius++) {
    uint64_t within = 0;
    status = fullest_disc(&f, w->chip, radius, &within, error);
    for (; status == CM_OK && filled < w->most && filled + 1 < within; filled++)
      w->hops[filled] = radius;
    status = status == CM_OK ? cm_run_check(w->run, error) : status;
  }
  for (; filled < w->most; filled++)
    w->hops[filled] = radius_max; /* more partners than cores: no placement at all */
  field_free(&f);
  if (status == CM_OK)
    status = endless_costs(w, x, y, w->cost, error);
  for (uint32_t i = 0; status == CM_OK && i < w->most; i++)
    w->cost[i] = fmax(w->cost[i], w->hops[i] * (x < y ? x : y));
  return status;
}

/* ---- bounds ---- */

enum { AT_SOURCE, AT_TARGET, AT_BOTH, AT_BUSIER, WAYS };

/* Lists each part's partners, what is sent and received together. */
static cm_status meet(work *w, cm_error *error)
{
  uint32_t parts = w->parts;
  size_t *slot = NULL, *begin = NULL, kept = 0; /* slot: where a partner of the part under way stands, plus 1 */
  if (CM_NEW(w->run->memory, w->partner_first, (size_t)parts + 1, error) != CM_OK ||
      CM_NEW(w->run->memory, w->partner, 2 * w->pair_count, error) != CM_OK ||
      CM_NEW(w->run->memory, slot, parts, error) != CM_OK ||
      CM_NEW(w->run->memory, begin, (size_t)parts + 2, error) != CM_OK) {
    cm_free(slot);
    return error->status;
  }
  for (uint32_t from = 0; from < parts; from++)
    for (size_t i = w->first[from]; i < w->first[from + 1]; i++) {
      begin[from + 2]++;
      begin[w->pair[i].to + 2]++;
    }
  for (uint32_t p = 0; p < parts; p++)
    begin[p + 2] += begin[p + 1];
  for (uint32_t from = 0; from < parts; from++) /* begin[p + 1] moves from the start of p's to its end */
    for (size_t i = w->first[from]; i < w->first[from + 1]; i++) {
      uint32_t to = w->pair[i].to;
      w->partner[begin[from + 1]++] = (partner){to, w->pair[i].packets, 0};
      w->partner[begin[to + 1]++] = (partner){from, 0, w->pair[i].packets};
    }
  for (uint32_t p = 0; p < parts; p++) {
    size_t first = kept;
    for (size_t i = begin[p]; i < begin[p + 1]; i++) {
      partner both = w->partner[i];
      if (slot[both.other] > first) {
        w->partner[slot[both.other] - 1].sent += both.sent;
        w->partner[slot[both.other] - 1].received += both.received;
      } else {
        w->partner[kept++] = both;
        slot[both.other] = kept;
      }
    }
    w->partner_first[p + 1] = kept;
  }
  cm_free(slot);
  cm_free(begin);
  return CM_OK;
}

/* Distinct partners of every part and the highest number; without lists, those that it sends to. */
static cm_status count_partners(work *w, cm_error *error)
{
  if (CM_NEW(w->run->memory, w->partners, w->parts, error) != CM_OK)
    return error->status;
  const size_t *first = w->partner_first != NULL ? w->partner_first : w->first;
  for (uint32_t p = 0; p < w->parts; p++) {
    w->partners[p] = (uint32_t)(first[p + 1] - first[p]);
    w->most = w->partners[p] > w->most ? w->partners[p] : w->most;
  }
  return CM_OK;
}

static double share_of(const work *w, int way, uint32_t at, const partner *both)
{
  switch (way) {
    case AT_SOURCE: return both->sent;
    case AT_TARGET: return both->received;
    case AT_BOTH: return (both->sent + both->received) / 2;
    default: {
      uint32_t mine = w->partners[at], theirs = w->partners[both->other];
      return mine > theirs || (mine == theirs && at < both->other) ? both->sent + both->received : 0;
    }
  }
}

/* The heaviest flow to the nearest core, and so on; `flow` [count] is sorted. */
static void lay_out(const work *w, double *flow, size_t count, double *hops, double *energy)
{
  qsort(flow, count, sizeof *flow, by_cost);
  for (size_t i = 0; i < count; i++) {
    *hops += flow[count - 1 - i] * w->hops[i];
    *energy += flow[count - 1 - i] * w->cost[i];
  }
}

static cm_status bound(const work *w, cm_bounds *best, cm_error *error)
{
  double *flow;
  if (CM_NEW(w->run->memory, flow, w->most, error) != CM_OK)
    return error->status;
  for (int way = 0; way < (w->partner != NULL ? WAYS : 1); way++) {
    double hops = 0, energy = 0;
    for (uint32_t p = 0; p < w->parts; p++) {
      size_t count = 0;
      if (w->partner == NULL)
        for (size_t i = w->first[p]; i < w->first[p + 1]; i++)
          flow[count++] = w->pair[i].packets;
      else
        for (size_t i = w->partner_first[p]; i < w->partner_first[p + 1]; i++) {
          double share = share_of(w, way, p, &w->partner[i]);
          if (share > 0)
            flow[count++] = share;
        }
      lay_out(w, flow, count, &hops, &energy);
    }
    best->hop_traffic = fmax(best->hop_traffic, hops);
    best->energy_pj = fmax(best->energy_pj, energy);
  }
  cm_free(flow);
  return CM_OK;
}

cm_status cm_bounds_compute(const cm_topology *topology, const cm_chip *chip, const uint32_t *part, uint32_t part_count,
                            const uint8_t *usable, cm_run *run, cm_bounds *bounds, cm_error *error)
{
  work w = {.topology = topology, .chip = chip, .part = part, .parts = part_count, .run = run};
  cm_bounds b = {0};
  cm_status status = gather(&w, error);
  if (status == CM_OK && w.pair_count <= PAIRS_FOR_ALL_WAYS)
    status = meet(&w, error);
  if (status == CM_OK)
    status = count_partners(&w, error);
  if (status == CM_OK)
    status = measure_nearness(&w, usable, error);
  if (status == CM_OK)
    status = bound(&w, &b, error);
  if (status == CM_OK) {
    const cm_hop_cost *e = &chip->energy_pj;
    double x = step_pj(e, e->east_west, chip->dies_x), y = step_pj(e, e->north_south, chip->dies_y);
    if (chip->interconnect != NULL)
      x = y = cm_cheapest_hop(chip);
    b.energy_pj += w.packets * e->router;
    b.multicast_hops = topology->directed ? w.tree_links : b.hop_traffic;
    b.multicast_energy_pj = topology->directed ? w.axons * e->router + w.tree_links * fmin(x, y) : b.energy_pj;
  }
  cm_free(w.first);
  cm_free(w.pair);
  cm_free(w.partner_first);
  cm_free(w.partner);
  cm_free(w.partners);
  cm_free(w.hops);
  cm_free(w.cost);
  if (status == CM_OK)
    *bounds = b;
  return status;
}
