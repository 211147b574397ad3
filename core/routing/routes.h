/* Routes of a mapping: one tree an axon (or one path a pair of parts), free of deadlock under a turn rule, spread so
 * that the fullest link carries less where the rule leaves a choice, and routing tables for them. */
#pragma once

#include "core/chip/geometry.h"
#include "core/chip/turn_trees.h"
#include "core/mapping/input.h"
#include "core/mapping/mapping.h"

enum { CM_LOCAL_CORES_MAX = 60 }; /* cores behind a router that tables know */

typedef struct cm_routes {
  const cm_demand *demand; /* of the caller; they must outlive the routes */
  const cm_chip *chip;
  const uint32_t *part, *core; /* [vertices], [parts] */
  uint32_t parts;
  cm_turn_rule rule;
  bool multicast;              /* a flow is an axon's tree; else a pair of parts' path */
  double unit;                 /* of weights and loads: divide by it */
  uint32_t flow_count;
  uint64_t *first;             /* [flow_count + 1] */
  uint32_t *target;            /* target parts of a flow, ascending, its own part excepted; where keys are widened more than it has */
  uint32_t *needed;            /* [flow_count] how many it has; NULL: no key is widened */
  uint32_t *source;            /* [flow_count] part, ascending */
  uint32_t *net; /* [flow_count] multicast: the net, those of a part with equal targets together; else NULL */
  uint64_t *weight;            /* [flow_count] */
  uint8_t *shapes;             /* [flow_count] as cm_trace takes them */
  uint32_t *part_first;        /* [part_count + 1] flows of each part; */
  unsigned rank_bits;          /* a flow's key is its part << rank_bits | its rank there; keys have key_bits */
  unsigned key_bits;
  uint32_t first_router, router_count; /* no tree has others: rows around those in use */
  uint64_t *load;              /* [router_count * CM_DIRECTIONS]; on an interconnect [links] */
  uint64_t load_max, load_max_before; /* with the shapes chosen, and with the first shape everywhere */
  uint64_t links;              /* sum over flows of the links of their trees */
  double traffic;              /* the same times the weight, divided by `unit` */
  uint64_t channels, dependencies; /* of the channel dependency graph, which is acyclic */
  uint32_t *entries;           /* [router_count] of its routing table; NULL unless multicast */
  uint64_t entries_total, routers_over; /* all; routers with more than the chip's limit */
  /* Where the chip limits tables they are minimised, else NULL: */
  uint32_t *key_block;         /* [part_count] a part's keys begin at its block << rank_bits */
  struct cm_table_entry *table; /* [entries_total] by router, the first that matches counts */
  uint64_t *table_first;       /* [router_count + 1] */
  uint32_t fullest;            /* router with most entries */
  bool hasty;                  /* tables over the limit are left so: keys are widened instead */
  /* On an interconnect: */
  uint32_t virtual_channels;   /* that the links need; else 0 */
  struct cm_rehung *rehung;    /* routers that hang elsewhere than the ways say, so that trees share entries */
  uint64_t *rehung_first;      /* [flow_count + 1] of each flow; NULL: none do */
  struct cm_words *words;      /* ways out of routers, which tables tell by number */
} cm_routes;

/* Entries of a router's table. */
uint32_t cm_routes_entries(const cm_routes *routes, uint32_t router);

/* What keys may match where a chip limits tables. */
typedef enum cm_key_width {
  CM_KEYS_ANY,   /* their axon, and others too where tables do not fit otherwise */
  CM_KEYS_EXACT, /* their axon alone */
  CM_KEYS_WIDE,  /* as CM_KEYS_ANY where it is known that exact keys do not fit */
} cm_key_width;

typedef struct cm_route_options {
  cm_turn_rule rule;
  bool multicast;     /* ignored for undirected networks, whose edges are pairs */
  bool other_rule;    /* where tables do not fit, the other of XY and YX is tried */
  cm_key_width keys;
  uint64_t links_max; /* CM_TOO_LARGE when flows are longer together; 0: no limit */
} cm_route_options;

/* What job options ask for on a chip; *own is false when they leave the rule to the chip. */
cm_route_options cm_routes_wanted(const cm_map_options *options, const cm_chip *chip, bool *own);

/* Makes the routes of a mapping. Opens phase "routes". O(pins log(targets) + rounds * shapes * total links), of which
 * the second factor is 1 under XY and YX; the rounds are fewer on large inputs. CM_NO_ROUTE names the neuron (or parts)
 * that dead links cut off. Where the chip limits the entries of tables (docs/explanation/routes.md, "Tables that fit"), keys are widened if
 * they must be, and CM_LIMIT_BROKEN names the router whose table needs most. On an interconnect routes are its ways, whatever the rule. Same result for any thread
 * count. */
cm_status cm_routes_make(const cm_mapped *mapped, const cm_route_options *options, cm_run *run, cm_routes **routes,
                         cm_error *error);
void cm_routes_free(cm_routes *routes); /* NULL is allowed */

/* The figures of routes as a JSON object; NULL when out of memory. */
json_t *cm_routes_json(const cm_routes *routes);

typedef enum cm_routes_view { CM_ROUTES_JSON, CM_ROUTES_CSV, CM_ROUTES_BINARY } cm_routes_view;

/* What the JSON view says where there are no routes: why. */
cm_status cm_routes_write_refusal(const cm_error *why, FILE *stream, cm_error *error);

/* Writes tables (or paths) as JSON or CSV, or the link loads as in CM_VIEW_LINKS_BINARY. docs/explanation/routes.md describes them.
 * Memory: at most 400 MB for tables, whatever their size. O(total links) times the passes that this takes. */
cm_status cm_routes_write(const cm_routes *routes, cm_routes_view view, cm_run *run, FILE *stream, cm_error *error);
