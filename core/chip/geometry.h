/* Where packets go on a chip, by one interface whatever its interconnect: routers, the links between them, how far cores are apart and
 * what ways cost. A plain mesh or torus knows all of it by formula, along its axes; any other interconnect is
 * core/chip/interconnect. Who has a faster way along axes keeps one of each in a table by cm_geometry_of.
 *
 * Links of a mesh are numbered router * CM_DIRECTIONS + cm_direction, those at an open edge, which are not there, included. */
#pragma once

#include "core/chip/interconnect/interconnect.h"
#include "core/chip/turns.h"

typedef enum cm_geometry {
  CM_BY_AXES, /* ways go along rows and columns, so that distances and prices are sums of two */
  CM_BY_WAYS, /* ways are what the interconnect says */
  CM_GEOMETRIES
} cm_geometry;

static inline cm_geometry cm_geometry_of(const cm_chip *chip)
{
  return chip->interconnect == NULL ? CM_BY_AXES : CM_BY_WAYS;
}

/* Its kind; a plain mesh or torus is a grid. */
static inline cm_interconnect_kind cm_interconnect_kind_of(const cm_chip *chip)
{
  return chip->interconnect == NULL ? CM_GRID : chip->interconnect->kind;
}

/* All routers, switches included; all links. O(1). */
uint32_t cm_chip_routers(const cm_chip *chip);
uint32_t cm_chip_links(const cm_chip *chip);

/* A link; one of a mesh that is not there, at an open edge, leads round to the other side. O(log dead links). */
cm_link cm_chip_link(const cm_chip *chip, uint32_t link);

/* Links that are there: of an interconnect those that live, of a mesh the dead ones too. O(1). */
double cm_chip_links_there(const cm_chip *chip);

enum { CM_LINK_TEXT_MAX = 2 * CM_ROUTER_NAME_MAX + 20 };

/* A router in words (cm_router_name). */
void cm_chip_router_name(const cm_chip *chip, uint32_t router, char name[CM_ROUTER_NAME_MAX]);

/* A link by which its ends are told: in words, "the link east of router (3, 4)" or "the link from router (3, 4) to switch 17"; as members
 * of a JSON object, "\"x\": 3, \"y\": 4, \"direction\": \"east\"" or "\"from\": 1, \"to\": 2"; and as fields of CSV, "3,4,east" or "1,2". */
typedef enum cm_link_form { CM_LINK_IN_WORDS, CM_LINK_AS_JSON, CM_LINK_AS_CSV } cm_link_form;
void cm_chip_link_text(const cm_chip *chip, uint32_t link, cm_link_form form, char text[CM_LINK_TEXT_MAX]);

/* The names of these fields: "x,y,direction" or "from,to". */
const char *cm_chip_link_columns(const cm_chip *chip);

/* The link that such fields tell; false: there is none. O(log links). */
bool cm_chip_find_link(const cm_chip *chip, const char *text, uint32_t *link);

/* Whether packets from core to core pass a link under the chip's own routing. The interconnect is prepared. O(1); of an interconnect O(hops). */
bool cm_chip_way_passes(const cm_chip *chip, uint32_t core_a, uint32_t core_b, uint32_t link);

/* The links of the way from core to core under the chip's own routing, in whatever order; none where there is no way. The interconnect is prepared. O(1) each, of
 * grids by formula O(links of a router). */
typedef struct cm_way_links {
  const cm_interconnect *net;
  uint32_t from, at;
  cm_straight along[2];
} cm_way_links;
cm_way_links cm_chip_way_links(const cm_chip *chip, uint32_t core_a, uint32_t core_b);
bool cm_way_links_next(cm_way_links *way, uint32_t *link);

/* Integer cost of a hop of each kind. */
typedef struct cm_hop_units {
  uint32_t east_west, north_south, die_to_die;
  uint32_t cheapest; /* units of the cheapest hop: 1 where all hops cost the same energy, else 64 */
  double pj;         /* energy of the cheapest hop */
} cm_hop_units;

cm_hop_units cm_hop_units_of(const cm_chip *chip);

/* Units of the chip's cheapest hop, or of an interconnect's cheapest link: what divides costs into hops. O(1); O(links). */
uint32_t cm_cheapest_hop_units(const cm_chip *chip);

static inline uint64_t cm_hop_units_pay(const cm_hop_units *units, cm_hops hops)
{
  return (uint64_t)units->east_west * hops.east_west + (uint64_t)units->north_south * hops.north_south +
         (uint64_t)units->die_to_die * hops.die_to_die;
}

/* Units of the ways from core to core and back, together. The interconnect is prepared. O(1). */
uint64_t cm_chip_both_ways(const cm_chip *chip, const cm_hop_units *units, uint32_t core_a, uint32_t core_b);

/* Energy of `packets` on their way from core to core, links and routers but one, in pJ. The interconnect is prepared. O(1). */
double cm_chip_way_pj(const cm_chip *chip, double packets, uint32_t core_a, uint32_t core_b);

/* Time that packets take over a link at the rate that the chip's costs state of links, in ns. O(1). */
double cm_chip_step_ns(const cm_chip *chip, uint32_t link, double packets);

/* Hops from the border of the chip to a core, by the nearest router of the border, of several that whose packets cost least. None where
 * there is no border: along axes that wrap around, and on other interconnects than meshes. O(1). */
cm_hops cm_chip_hops_from_border(const cm_chip *chip, uint32_t core);

/* By what routes are free of deadlock: a turn rule by its name, or "up-down" on an interconnect (path_trees.h). */
const char *cm_chip_rule_name(const cm_chip *chip, cm_turn_rule rule);

/* Turns from one axis to the other that a rule forbids, of the eight; none on other interconnects than meshes, whose ways know no turns. */
uint32_t cm_chip_forbidden_turns(const cm_chip *chip, cm_turn_rule rule);

/* What a packet pays for such hops and the router where it begins. */
double cm_hops_cost(const cm_hop_cost *cost, cm_hops hops);
