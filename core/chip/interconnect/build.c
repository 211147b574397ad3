/* Links of an interconnect: drafts of the regular kinds, numbering, prices. What can fail: memory, links given twice. */
#include <math.h>

#include "base/order.h"
#include "core/chip/interconnect/internal.h"
#include "core/chip/json.h"

/* Units of the cheapest hop, and of the dearest: sums over the longest way stay below 2^31. */
enum { UNITS_PER_HOP = 64, UNITS_MAX = 500000 };

const char *const cm_six_names[CM_SIX] = {"east", "north-east", "north", "west", "south-west", "south"};

cm_status cm_draft_add(cm_draft *draft, cm_draft_link link, cm_error *error)
{
  CM_TRY(CM_ROOM(NULL, draft->link, &draft->room, draft->count + 1, error));
  draft->link[draft->count++] = link;
  return CM_OK;
}

cm_status cm_draft_grid(const cm_interconnect *net, const cm_chip *chip, cm_draft *draft, cm_error *error)
{
  const cm_hop_cost *e = &chip->energy_pj, *l = &chip->latency_ns;
  double energy[] = {e->east_west, e->diagonal, e->north_south}, latency[] = {l->east_west, l->diagonal, l->north_south};
  for (uint32_t r = 0; r < net->columns * net->rows; r++)
    for (unsigned d = 0; d < CM_SIX / 2; d++) { /* the other three are their twins */
      uint32_t to = cm_interconnect_beside(net, r, d);
      if (to == CM_NO_WAY || (net->kind == CM_GRID && d == 1))
        continue;
      CM_TRY(cm_draft_add(draft, (cm_draft_link){r, to, 1, 1, energy[d], latency[d]}, error));
    }
  return CM_OK;
}

cm_status cm_draft_tree(const cm_interconnect *net, cm_draft *draft, cm_error *error)
{
  uint32_t width = net->columns, height = net->rows, first = 0;
  for (uint32_t k = 0; k < net->levels; k++) {
    const cm_tree_level *level = &net->level[k];
    for (uint32_t i = 0; i < width * height; i++) {
      uint32_t above = level->first + i / width / level->y * level->width + i % width / level->x;
      CM_TRY(cm_draft_add(draft, (cm_draft_link){first + i, above, level->cost, level->bandwidth, -1, -1}, error));
    }
    first = level->first;
    width = level->width;
    height = level->height;
  }
  return CM_OK;
}

cm_status cm_draft_all(const cm_interconnect *net, cm_draft *draft, cm_error *error)
{
  for (uint32_t a = 0; a < net->routers; a++)
    for (uint32_t b = a + 1; b < net->routers; b++)
      CM_TRY(cm_draft_add(draft, (cm_draft_link){a, b, 1, 1, -1, -1}, error));
  return CM_OK;
}

/* ---- numbers ---- */

CM_ORDER(by_ends, cm_link, CM_RISING(from) CM_RISING(to))

static bool between_dies(const cm_interconnect *net, const cm_chip *chip, uint32_t a, uint32_t b)
{
  uint32_t x = chip->die_width / chip->router_x, y = chip->die_height / chip->router_y;
  if (a >= net->columns * net->rows || b >= net->columns * net->rows)
    return false;
  /* A link that closes a ring leads from one die to another where there are several. */
  return a % net->columns / x != b % net->columns / x || a / net->columns / y != b / net->columns / y;
}

static cm_link priced(const cm_interconnect *net, const cm_chip *chip, const cm_draft_link *d)
{
  bool dies = between_dies(net, chip, d->from, d->to), own = d->energy_pj < 0;
  const cm_hop_cost *e = &chip->energy_pj, *l = &chip->latency_ns;
  double energy = dies ? e->die_to_die : own ? e->east_west : d->energy_pj;
  double latency = dies ? l->die_to_die : own ? l->east_west : d->latency_ns;
  return (cm_link){.from = d->from, .to = d->to, .energy_pj = energy * d->cost, .latency_ns = latency * d->cost,
                   .bandwidth = d->bandwidth};
}

/* Energies as whole numbers: 1 a hop where all hops cost the same, else 64 for the cheapest that costs anything. */
static void set_units(cm_interconnect *net, const cm_chip *chip)
{
  double least = INFINITY, most = 0;
  for (uint32_t i = 0; i < net->link_count; i++) {
    double pj = chip->energy_pj.router + net->link[i].energy_pj;
    least = pj > 0 && pj < least ? pj : least;
    most = fmax(most, pj);
  }
  bool even = most == 0 || (least == most && isfinite(least));
  for (uint32_t i = 0; even && i < net->link_count; i++)
    even = most == 0 || chip->energy_pj.router + net->link[i].energy_pj == most;
  net->unit_pj = most == 0 ? 1 : even ? most : least / UNITS_PER_HOP;
  for (uint32_t i = 0; i < net->link_count; i++) {
    cm_link *k = &net->link[i];
    double units = even ? 1 : rint((chip->energy_pj.router + k->energy_pj) / net->unit_pj);
    k->units = units < 1 ? 1 : units > UNITS_MAX ? UNITS_MAX : (uint32_t)units;
    k->length = net->kind == CM_GRAPH ? k->units : 1;
  }
}

cm_status cm_interconnect_build(cm_interconnect *net, const cm_chip *chip, cm_draft *draft, cm_error *error)
{
  net->link_count = (uint32_t)(2 * draft->count);
  CM_TRY(CM_NEW_ALL(NULL, error, CM_ARRAY(net->link, net->link_count), CM_ARRAY(net->first, (size_t)net->routers + 1)));
  for (uint64_t i = 0; i < draft->count; i++) {
    cm_link link = priced(net, chip, &draft->link[i]);
    net->link[2 * i] = link;
    link.from = draft->link[i].to;
    link.to = draft->link[i].from;
    net->link[2 * i + 1] = link;
  }
  if (net->link_count > 0)
    qsort(net->link, net->link_count, sizeof *net->link, by_ends);
  for (uint32_t i = 0; i < net->link_count; i++) {
    net->first[net->link[i].from + 1]++;
    if (i > 0 && by_ends(&net->link[i - 1], &net->link[i]) == 0)
      return cm_json_fail(error, CM_BAD_CHIP, "/interconnect/links",
                          "/interconnect/links: routers %u and %u are joined twice; give one link with more bandwidth",
                          net->link[i].from, net->link[i].to);
  }
  for (uint32_t r = 0; r < net->routers; r++)
    net->first[r + 1] += net->first[r];
  for (uint32_t i = 0; i < net->link_count; i++)
    net->link[i].twin = (uint32_t)cm_interconnect_link(net, net->link[i].to, net->link[i].from);
  set_units(net, chip);
  return CM_OK;
}
