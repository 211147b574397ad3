/* Between the files of the check of routes. */
#pragma once

#include "core/chip/geometry.h"
#include "core/verify/check_ways.h"
#include "core/verify/check.h"
#include "core/verify/check_report.h"

/* One entry of a router's table. */
typedef struct cm_stated_entry {
  uint64_t key, open;  /* it is for keys that equal `key` but for the bits of `open` */
  uint64_t cores;      /* bit: core behind the router */
  bool used;
  uint64_t out;        /* the first of its links in cm_routes_checking.out, */
  uint32_t outs;       /* and how many */
} cm_stated_entry;

/* That a packet waits on one channel for another one; a channel on an interconnect is virtual channel * links + link. */
typedef struct cm_waiting {
  uint64_t channel, next; /* next UINT64_MAX: the channel is in use */
} cm_waiting;

typedef struct cm_routes_checking cm_routes_checking;

/* What the check asks of a chip's geometry. Links are known by `out`: on a mesh a direction, on an interconnect its number. */
typedef struct cm_routes_geometry {
  uint32_t start;           /* how a packet came that is at its source */
  json_type path;           /* of paths in files */
  const char *table_router; /* the members by which a table names its router */
  /* The stated rule against deadlock, for ever; NULL: none that is known. */
  const char *(*rule)(const char *name);
  /* What packets need; links_max too. CM_BAD_MAPPING: the file's figures are out of range. */
  cm_status (*prepare)(cm_routes_checking *c, cm_error *error);
  json_int_t (*router_of_table)(const cm_routes_checking *c, const json_t *table); /* out of range: none */
  json_t *(*router_json)(const cm_routes_checking *c, uint32_t router);
  /* Reads where an entry sends packets, behind what c->out has; there is room for as many as the value has members or letters. */
  bool (*read_outs)(cm_routes_checking *c, uint32_t router, const json_t *value, cm_stated_entry *entry);
  uint32_t (*beyond)(const cm_routes_checking *c, uint32_t router, uint32_t out); /* UINT32_MAX: no router */
  uint32_t (*straight)(const cm_routes_checking *c, uint32_t in);                 /* UINT32_MAX: nothing lies straight on */
  /* One hop of the packet under way, `weight` heavy: the router that it leads to, UINT32_MAX after a violation; `who` names
   * the packet in sentences. */
  uint32_t (*hop)(cm_routes_checking *c, uint32_t router, uint32_t in, uint32_t out, uint64_t weight, const char *who);
  /* Walks a path from router to router; false after a violation. */
  bool (*walk)(cm_routes_checking *c, const json_t *path, uint32_t from, uint32_t to, uint64_t weight, const char *who);
  /* Puts the first shape of the packet's way between two cores on plain_load, each link once a packet. */
  void (*plain)(cm_routes_checking *c, uint32_t from_core, uint32_t to_core, uint64_t weight);
  /* Takes channels that wait for nobody away until none is left: those that stay wait in a ring. */
  cm_status (*rings)(cm_routes_checking *c, uint64_t *channels, uint64_t *dependencies, cm_error *error);
  /* Adds figures of its own to the true ones; false: no memory. */
  bool (*figures)(const cm_routes_checking *c, const json_t *stated, json_t *truth);
} cm_routes_geometry;

extern const cm_routes_geometry cm_routes_on_mesh, cm_routes_on_ways;

/* What the check holds. */
struct cm_routes_checking {
  const cm_demand *demand;
  const cm_chip *chip;
  cm_run *run;
  cm_check_result *result;
  json_t *json;                /* the file */
  uint32_t *part, *core, parts;
  uint32_t routers_x, routers_y, routers;
  uint32_t link_count;         /* routers * CM_DIRECTIONS, or those of the interconnect */
  const cm_routes_geometry *geometry;
  uint32_t links_max;          /* of a router */
  bool exact;                  /* packets take the first shape of their ways */
  const char *rule;            /* stated turn rule; NULL: none that is known */
  bool multicast;
  unsigned key_bits, rank_bits;
  cm_stated_entry *entry;      /* by router; by key, or where the chip limits tables as the file has them: the first counts */
  uint64_t *first;             /* [routers + 1] of its entries */
  uint32_t *block;             /* [parts] where the chip limits tables: a part's keys begin at block << rank_bits */
  uint8_t *dead;               /* [routers * CM_DIRECTIONS] */
  uint32_t *out;               /* links of entries */
  uint64_t outs, out_capacity;
  /* On an interconnect, else NULL and 0: */
  const cm_interconnect *net;
  uint32_t *order;             /* [routers] place of each: by the stated root */
  uint32_t *channel;           /* [routers] virtual channel on which the packet under way came */
  uint32_t channels;           /* that were used */
  bool shared;                 /* tables under a limit: a packet may come a hop later, over as many links in all */
  uint32_t *hops;              /* [routers] that the packet under way took */
  uint64_t plain_links;        /* of all trees by the shortest ways */
  uint32_t last_channel;       /* as stated: a packet never takes a higher one */
  cm_check_ways ways;
  uint32_t *way;               /* [routers] links of a way */
  cm_waiting *waiting;         /* [waiting_room] a hash table; channel UINT64_MAX: nothing */
  uint64_t waiting_count, waiting_room;
  bool widened;                /* stated: packets may come to cores that hold no target of them */
  /* What the packets do. */
  uint64_t wider;              /* of which some do, */
  double dropped;              /* as many times */
  uint64_t flows, links, traffic;
  uint64_t *load, *plain_load; /* [link_count]: stated, and with every way in its first shape */
  uint8_t *used, *next;        /* [routers * CM_DIRECTIONS] a packet takes the link; bit d: and goes on in direction d */
  uint32_t *met;               /* [routers] last packet that was there, plus 1 */
  uint32_t *linked;            /* [link_count] last packet whose plain tree has the link, plus 1 */
  uint32_t packet;             /* number of the one under way */
  /* The net under way. */
  uint32_t *stamp, reached;    /* [parts] number of the last look at a net that reached the part; looks so far */
  uint32_t *target, targets;   /* its parts; its own only where packets come back to it over the router */
};

#define routes_violation(c, ...) cm_check_violation((c)->result, __VA_ARGS__)

/* Reads "tables" into entries. Entries that are none are violations. */
cm_status cm_routes_read_tables(cm_routes_checking *c, cm_error *error);

/* Carries every axon over the tables; entries that serve nobody are violations. */
cm_status cm_routes_follow_tables(cm_routes_checking *c, cm_error *error);

/* Carries every pair of parts over its path. */
cm_status cm_routes_follow_paths(cm_routes_checking *c, cm_error *error);

/* A whole number among an object's members, -1 where there is none. */
json_int_t cm_routes_whole_of(const json_t *object, const char *name);

uint32_t cm_routes_router_of(const cm_routes_checking *c, uint32_t core);

/* The parts that a net reaches, its own only in tables under a limit, in c->target [c->targets]. */
void cm_routes_reach(cm_routes_checking *c, uint32_t net);
