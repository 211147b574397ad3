/* Lower bounds. What a part sends to others cannot all go to its nearest neighbour: its partners sit on distinct cores,
 * so the heaviest flow goes at best to the nearest core, the next to the second nearest, and so on. How many cores lie
 * within r steps is counted around the usable core that has most of them. Each pair of parts has two ends and may be
 * counted at either, in any shares; four ways to share are tried and the best bound counts. */
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/verify/bounds_near.h"
#include "core/verify/certificate.h"
#include "core/network/nets_by_part.h"

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
  const cm_demand *demand;
  const cm_chip *chip;
  const uint32_t *part;
  uint32_t parts;
  cm_run *run;
  size_t *first;       /* [parts + 1] */
  pair *pair;          /* by source: first[from] .. first[from + 1] - 1 */
  uint64_t pair_count, pair_capacity;
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
  CM_TRY(CM_ROOM(w->run->memory, w->pair, &w->pair_capacity, w->pair_count + 1, error));
  w->pair[w->pair_count++] = (pair){to, packets};
  return CM_OK;
}

/* Links that an axon to `targets` other cores needs at least: one to each router beyond its own. */
static double links_for(const cm_chip *chip, uint32_t targets)
{
  return (double)(targets / (chip->router_x * chip->router_y));
}

/* What one part says to each other one; between parts nothing is open. */
typedef struct flows {
  double *sum;    /* [parts] */
  uint32_t *seen; /* [parts] last net with a target there, plus 1 */
  uint32_t *used; /* [parts] those that are open */
  uint8_t *open;  /* [parts] */
} flows;

static cm_status gather_part(work *w, uint32_t part, const uint32_t *net, uint32_t nets, flows *f, cm_error *error)
{
  const cm_topology *t = w->demand->network;
  double unit = (double)t->weight_scale * (t->directed ? 1 : 2);
  uint32_t reached = 0;
  for (uint32_t i = 0; i < nets; i++) {
    uint32_t targets = 0;
    double rate = t->directed ? (double)cm_demand_net_weight(w->demand, net[i]) / unit : 0;
    for (uint64_t k = t->net_first[net[i]]; k < t->net_first[net[i] + 1]; k++) {
      uint32_t p = w->part[t->pin[k]];
      if (p == part || (t->directed && f->seen[p] == net[i] + 1))
        continue;
      f->seen[p] = net[i] + 1;
      targets++;
      if (!f->open[p]) {
        f->open[p] = 1;
        f->used[reached++] = p;
      }
      f->sum[p] += t->directed ? rate : (double)cm_demand_pin_weight(w->demand, net[i], k) / unit;
    }
    w->axons += targets > 0 ? rate : 0;
    w->tree_links += rate * links_for(w->chip, targets);
  }
  cm_status status = CM_OK;
  for (uint32_t i = 0; i < reached && status == CM_OK; i++) {
    uint32_t p = f->used[i];
    w->packets += f->sum[p];
    status = put_pair(w, p, f->sum[p], error);
    f->sum[p] = 0;
    f->open[p] = 0;
  }
  return status;
}

static cm_status gather(work *w, cm_error *error)
{
  cm_memory *memory = w->run->memory;
  uint32_t *first = NULL, *net = NULL;
  flows f = {0};
  cm_status status = cm_nets_by_part(w->demand->network, w->part, w->parts, w->run, &first, &net, error);
  CM_THEN(status, CM_NEW_ALL(memory, error, CM_ARRAY(w->first, (size_t)w->parts + 1), CM_ARRAY(f.seen, w->parts),
                             CM_ARRAY(f.used, w->parts), CM_ARRAY(f.open, w->parts), CM_ARRAY(f.sum, w->parts)));
  for (uint32_t p = 0; p < w->parts && status == CM_OK; p++) {
    status = gather_part(w, p, net + first[p], first[p + 1] - first[p], &f, error);
    w->first[p + 1] = w->pair_count;
    CM_THEN_IF(status, p % 64 == 0, cm_run_check(w->run, error));
  }
  CM_FREE(first, net, f.seen, f.used, f.open, f.sum);
  return status;
}

/* ---- bounds ---- */

enum { AT_SOURCE, AT_TARGET, AT_BOTH, AT_BUSIER, WAYS };

/* Lists each part's partners, what is sent and received together. */
static cm_status meet(work *w, cm_error *error)
{
  uint32_t parts = w->parts;
  size_t *slot = NULL, *begin = NULL, kept = 0; /* slot: where a partner of the part under way stands, plus 1 */
  CM_TRY_OR(CM_NEW_ALL(w->run->memory, error, CM_ARRAY(w->partner_first, (size_t)parts + 1),
                       CM_ARRAY(w->partner, 2 * w->pair_count), CM_ARRAY(slot, parts), CM_ARRAY(begin, (size_t)parts + 2)),
            cm_free(slot));
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
  CM_FREE(slot, begin);
  return CM_OK;
}

/* Distinct partners of every part and the highest number; without lists, those that it sends to. */
static cm_status count_partners(work *w, cm_error *error)
{
  CM_TRY(CM_NEW(w->run->memory, w->partners, w->parts, error));
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
  qsort(flow, count, sizeof *flow, cm_ascending_real);
  for (size_t i = 0; i < count; i++) {
    *hops += flow[count - 1 - i] * w->hops[i];
    *energy += flow[count - 1 - i] * w->cost[i];
  }
}

static cm_status bound(const work *w, cm_bounds *best, cm_error *error)
{
  double *flow;
  CM_TRY(CM_NEW(w->run->memory, flow, w->most, error));
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

cm_status cm_bounds_compute(const cm_mapped *mapped, const uint8_t *usable, cm_run *run, cm_bounds *bounds, cm_error *error)
{
  work w = {.demand = mapped->demand, .chip = mapped->chip, .part = mapped->part, .parts = mapped->parts, .run = run};
  const cm_chip *chip = mapped->chip;
  cm_bounds b = {0};
  cm_status status = gather(&w, error);
  CM_THEN_IF(status, w.pair_count <= PAIRS_FOR_ALL_WAYS, meet(&w, error));
  CM_THEN(status, count_partners(&w, error));
  CM_THEN(status, CM_NEW_ALL(run->memory, error, CM_ARRAY(w.hops, w.most), CM_ARRAY(w.cost, w.most)));
  CM_THEN(status, cm_bound_nearness(&(cm_nearness){chip, w.most, w.hops, w.cost}, usable, run, error));
  CM_THEN(status, bound(&w, &b, error));
  if (status == CM_OK) {
    const cm_hop_cost *e = &chip->energy_pj;
    b.energy_pj += w.packets * e->router;
    b.multicast_hops = mapped->demand->network->directed ? w.tree_links : b.hop_traffic;
    b.multicast_energy_pj = mapped->demand->network->directed ? w.axons * e->router + w.tree_links * cm_bound_step_pj(chip) : b.energy_pj;
  }
  CM_FREE(w.first, w.pair, w.partner_first, w.partner, w.partners, w.hops, w.cost);
  CM_END(status, *bounds = b, );
}
