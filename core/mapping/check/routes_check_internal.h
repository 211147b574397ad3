/* Between the files of the check of routes. */
#ifndef CM_MAPPING_ROUTES_CHECK_INTERNAL_H
#define CM_MAPPING_ROUTES_CHECK_INTERNAL_H

#include "core/mapping/check/check_internal.h"
#include "core/mapping/check/routes_check.h"

/* One entry of a router's table. */
typedef struct cm_stated_entry {
  uint64_t key, open;  /* it is for keys that equal `key` but for the bits of `open` */
  uint64_t cores;      /* bit: core behind the router */
  uint8_t links;       /* bit: cm_direction */
  bool used;
} cm_stated_entry;

/* What the check holds. */
typedef struct cm_routes_checking {
  const cm_topology *topology;
  const cm_chip *chip;
  cm_run *run;
  cm_check_result *result;
  bool out_of_memory;
  json_t *json;                /* the file */
  uint32_t *part, *core, parts;
  uint32_t routers_x, routers_y, routers;
  const char *rule;            /* stated turn rule; NULL: none that is known */
  bool multicast;
  unsigned key_bits, rank_bits;
  cm_stated_entry *entry;      /* by router; by key, or where the chip limits tables as the file has them: the first counts */
  uint64_t *first;             /* [routers + 1] of its entries */
  uint32_t *block;             /* [parts] where the chip limits tables: a part's keys begin at block << rank_bits */
  uint8_t *dead;               /* [routers * CM_DIRECTIONS] */
  /* What the packets do. */
  uint64_t flows, links, traffic;
  uint64_t *load, *plain_load; /* [routers * CM_DIRECTIONS]: stated, and with every way in its first shape */
  uint8_t *used, *next;        /* [routers * CM_DIRECTIONS] a packet takes the link; bit d: and goes on in direction d */
  uint32_t *met;               /* [routers] last packet that was there, plus 1 */
  uint32_t *linked;            /* [routers * CM_DIRECTIONS] last packet whose plain tree has the link, plus 1 */
  uint32_t packet;             /* number of the one under way */
  /* The net under way. */
  uint32_t *stamp, reached;    /* [parts] number of the last look at a net that reached the part; looks so far */
  uint32_t *target, targets;   /* its parts but its own */
} cm_routes_checking;

#define routes_violation(c, ...) cm_check_violation((c)->result, &(c)->out_of_memory, __VA_ARGS__)

/* Reads "tables" into entries. Entries that are none are violations. */
cm_status cm_routes_read_tables(cm_routes_checking *c, cm_error *error);

/* Carries every axon over the tables; entries that serve nobody are violations. */
cm_status cm_routes_follow_tables(cm_routes_checking *c, cm_error *error);

/* Carries every pair of parts over its path. */
cm_status cm_routes_follow_paths(cm_routes_checking *c, cm_error *error);

/* One hop of the packet under way, `weight` heavy: the router that it leads to, UINT32_MAX after a violation; `who` names
 * the packet in sentences. `in`: how it came, CM_DIRECTIONS at the source. */
uint32_t cm_routes_hop(cm_routes_checking *c, uint32_t router, unsigned in, unsigned out, uint64_t weight, const char *who);

/* Puts the first shape of the packet's way to a router on plain_load: along x first where the rule allows the turn, else
 * along y first, each link once a packet. */
void cm_routes_plain_way(cm_routes_checking *c, uint32_t from, uint32_t to, uint64_t weight);

/* The parts but its own that a net reaches, in c->target [c->targets]. */
void cm_routes_reach(cm_routes_checking *c, uint32_t net);

#endif
