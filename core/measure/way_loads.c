/* Loads of the links of an interconnect (core/chip/interconnect), one by one: every packet takes the way of cm_interconnect_last.
 * What can fail: memory, dead links that leave no way. */
#include "core/chip/geometry.h"
#include "core/chip/turns.h"
#include "core/measure/metrics_tally.h"

static cm_status prepare(cm_metrics_work *w, cm_error *error)
{
  const cm_interconnect *net = w->chip->interconnect;
  cm_memory *memory = w->run->memory;
  for (uint32_t i = 0; i < w->tasks; i++) {
    cm_way_tally *t = &w->tally[i].ways;
    t->links = net->link_count;
    CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(t->packets, net->link_count), CM_ARRAY(t->trees, net->link_count),
                      CM_ARRAY(t->stamp, net->routers)));
  }
  return CM_OK;
}

static cm_offset way_to(CM_UNUSED const cm_chip *chip, CM_UNUSED uint32_t source_core, uint32_t target_core)
{
  return (cm_offset){.x = (int32_t)target_core};
}

/* Grows the tree by what is missing of each way. */
static void book_cast(const cm_metrics_work *w, cm_metrics_tally *sum, CM_UNUSED cm_tree_scratch *scratch, const cm_cast *cast,
                      const cm_offset *reached, uint32_t count)
{
  const cm_interconnect *net = w->chip->interconnect;
  const cm_way_tally *tally = &sum->ways;
  uint32_t from = cm_router_of(w->chip, cast->core);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t at = cm_router_of(w->chip, (uint32_t)reached[i].x);
    if (cm_interconnect_hops(net, from, at) == CM_NO_WAY) /* book_lane says so */
      continue;
    while (at != from && tally->stamp[at] != cast->net + 1) {
      uint32_t link = cm_interconnect_last(net, from, at);
      tally->stamp[at] = cast->net + 1;
      tally->trees[link] += cast->packets;
      at = net->link[link].from;
    }
  }
}

static cm_status book_lane(const cm_metrics_work *w, cm_metrics_tally *sum, const cm_lane *l, cm_passage *way, cm_error *error)
{
  const cm_chip *chip = w->chip;
  const cm_interconnect *net = chip->interconnect;
  uint32_t source = w->core[l->source], target = w->core[l->target], from = cm_router_of(chip, source), at = cm_router_of(chip, target);
  *way = (cm_passage){.ns = chip->latency_ns.router};
  if (cm_interconnect_hops(net, from, at) == CM_NO_WAY)
    return cm_fail(error, CM_NO_ROUTE, "dead links leave no way from core (%u, %u) to core (%u, %u)", source % chip->width,
                   source / chip->width, target % chip->width, target / chip->width);
  while (at != from) {
    uint32_t link = cm_interconnect_last(net, from, at);
    sum->ways.packets[link] += l->packets;
    way->ns += net->link[link].latency_ns + chip->latency_ns.router;
    way->hops++;
    at = net->link[link].from;
  }
  sum->total.way_hops += (cm_wide)l->packets * way->hops;
  return CM_OK;
}

static void add(cm_metrics_tally *sum, const cm_metrics_tally *other)
{
  for (uint32_t i = 0; i < sum->ways.links; i++) {
    sum->ways.packets[i] += other->ways.packets[i];
    sum->ways.trees[i] += other->ways.trees[i];
  }
}

/* Sums over links in units of the weights: the highest load, packets times links, and times what these cost in pJ and ns. */
typedef struct way_sums {
  double most, hops, energy_pj, latency_ns;
} way_sums;

/* Of loads that go to load [links]; NULL: they are not wanted. */
static way_sums sum_over(const cm_chip *chip, const uint64_t *tally, double unit, double *load)
{
  const cm_interconnect *net = chip->interconnect;
  way_sums sum = {0};
  for (uint32_t i = 0; i < net->link_count; i++) {
    double here = (double)tally[i] / unit;
    if (load != NULL)
      load[i] = here;
    sum.most = here > sum.most ? here : sum.most;
    sum.hops += here;
    sum.energy_pj += here * net->link[i].energy_pj;
    sum.latency_ns += here * net->link[i].latency_ns;
  }
  return sum;
}

static void fill_costs(const cm_metrics_work *w, double unit, const cm_metrics_totals *sum, cm_metrics *m)
{
  const cm_hop_cost *e = &w->chip->energy_pj, *l = &w->chip->latency_ns;
  bool directed = w->demand->network->directed;
  way_sums all = sum_over(w->chip, w->tally[0].ways.packets, unit, NULL), trees = sum_over(w->chip, w->tally[0].ways.trees, unit, NULL);
  double packets = (double)sum->packets, passed = packets / unit + m->hop_traffic;
  m->energy_pj = passed * e->router + all.energy_pj;
  m->latency_mean_ns = packets > 0 ? (passed * l->router + all.latency_ns) / (packets / unit) : 0;
  m->multicast_hops = directed ? trees.hops : m->hop_traffic;
  m->multicast_energy_pj =
    directed ? ((double)sum->tree_packets / unit + trees.hops) * e->router + trees.energy_pj : m->energy_pj;
}

/* Packets through each router: those that begin there and those that come by links; the most may be through a switch. */
static cm_status fill_loads(const cm_metrics_work *w, double unit, cm_metrics *m, cm_metrics_detail *d, cm_error *error)
{
  const cm_interconnect *net = w->chip->interconnect;
  const cm_way_tally *ways = &w->tally[0].ways;
  uint32_t grid = net->columns * net->rows;
  double *begun;
  CM_TRY(CM_NEW(w->run->memory, begun, grid, error));
  for (uint32_t p = 0; p < w->part_count; p++)
    begun[cm_router_of(w->chip, w->core[p])] += (double)w->outgoing[p] / unit;
  for (uint32_t r = 0; r < net->routers; r++) {
    double here = r < grid ? begun[r] : 0;
    for (uint32_t i = net->first[r]; i < net->first[r + 1]; i++)
      here += (double)ways->packets[net->link[i].twin] / unit;
    m->congestion_max = here > m->congestion_max ? here : m->congestion_max;
    if (r < grid)
      d->congestion[r] = here;
  }
  m->link_load_max = sum_over(w->chip, ways->packets, unit, d->link_load).most;
  m->multicast_link_load_max = w->demand->network->directed ? sum_over(w->chip, ways->trees, unit, NULL).most : m->link_load_max;
  cm_free(begun);
  return CM_OK;
}

const cm_link_count cm_way_count = {prepare, way_to, book_cast, book_lane, add, fill_costs, fill_loads};
