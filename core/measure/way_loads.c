#include "core/measure/way_loads.h"

#include "core/chip/interconnect/interconnect.h"
#include "core/chip/turns.h"

cm_status cm_way_tally_new(const cm_chip *chip, cm_memory *memory, cm_way_tally *tally, cm_error *error)
{
  const cm_interconnect *net = chip->interconnect;
  *tally = (cm_way_tally){.chip = chip};
  if (CM_NEW(memory, tally->packets, net->link_count, error) == CM_OK &&
      CM_NEW(memory, tally->trees, net->link_count, error) == CM_OK && CM_NEW(memory, tally->stamp, net->routers, error) == CM_OK)
    return CM_OK;
  cm_way_tally_free(tally);
  return error->status;
}

void cm_way_tally_free(cm_way_tally *tally)
{
  cm_free(tally->packets);
  cm_free(tally->trees);
  cm_free(tally->stamp);
  *tally = (cm_way_tally){0};
}

void cm_way_tally_add(cm_way_tally *sum, const cm_way_tally *other)
{
  for (uint32_t i = 0; i < sum->chip->interconnect->link_count; i++) {
    sum->packets[i] += other->packets[i];
    sum->trees[i] += other->trees[i];
  }
}

cm_status cm_way_book(cm_way_tally *tally, uint32_t source_core, uint32_t target_core, uint64_t packets, cm_passage *way,
                      cm_error *error)
{
  const cm_chip *chip = tally->chip;
  const cm_interconnect *net = chip->interconnect;
  uint32_t from = cm_router_of(chip, source_core), at = cm_router_of(chip, target_core);
  *way = (cm_passage){.ns = chip->latency_ns.router};
  if (cm_interconnect_hops(net, from, at) == CM_NO_WAY)
    return cm_fail(error, CM_NO_ROUTE, "dead links leave no way from core (%u, %u) to core (%u, %u)", source_core % chip->width,
                   source_core / chip->width, target_core % chip->width, target_core / chip->width);
  while (at != from) {
    uint32_t link = cm_interconnect_last(net, from, at);
    tally->packets[link] += packets;
    way->ns += net->link[link].latency_ns + chip->latency_ns.router;
    way->hops++;
    at = net->link[link].from;
  }
  return CM_OK;
}

void cm_way_book_tree(cm_way_tally *tally, const cm_cast *cast, uint32_t target_core)
{
  const cm_interconnect *net = tally->chip->interconnect;
  uint32_t from = cm_router_of(tally->chip, cast->core), at = cm_router_of(tally->chip, target_core);
  if (cm_interconnect_hops(net, from, at) == CM_NO_WAY) /* cm_way_book says so */
    return;
  while (at != from && tally->stamp[at] != cast->net + 1) {
    uint32_t link = cm_interconnect_last(net, from, at);
    tally->stamp[at] = cast->net + 1;
    tally->trees[link] += cast->packets;
    at = net->link[link].from;
  }
}

cm_way_sums cm_way_sum(const cm_chip *chip, const uint64_t *tally, double unit, double *load)
{
  const cm_interconnect *net = chip->interconnect;
  cm_way_sums sum = {0};
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

double cm_way_congestion(const cm_chip *chip, const uint64_t *packets, const double *begun, double unit, double *congestion)
{
  const cm_interconnect *net = chip->interconnect;
  double most = 0;
  for (uint32_t r = 0; r < net->routers; r++) {
    double here = r < net->columns * net->rows ? begun[r] : 0;
    for (uint32_t i = net->first[r]; i < net->first[r + 1]; i++)
      here += (double)packets[net->link[i].twin] / unit;
    most = here > most ? here : most;
    if (r < net->columns * net->rows)
      congestion[r] = here;
  }
  return most;
}

uint32_t cm_living_links(const cm_chip *chip)
{
  return chip->interconnect->link_count - chip->interconnect->dead_count;
}

cm_status cm_refuse_ways(const cm_chip *chip, const char *what, cm_error *error)
{
  if (chip->interconnect == NULL)
    return CM_OK;
  return cm_fail(error, CM_BAD_OPTION, "%s is for a plain mesh or torus; the interconnect of chip %s is \"%s\"", what, chip->name,
                 cm_interconnect_kind_name(chip->interconnect->kind));
}
