/* Interconnects that are no plain mesh or torus: routers and the links between them, with distances and ways by one
 * interface. Regular kinds (grid, hexagonal, tree, all-to-all) know distances by formula, dead links of trees included; a graph of
 * routers, and every kind with dead links, by a table of all pairs (8 bytes each, at most CM_TABLE_ROUTERS_MAX routers); larger
 * grids with dead links by detours.h.
 *
 * Routers with cores are numbered as on grids, y * cm_chip_routers_x + x; switches, which have none, follow. Every link has
 * a twin in the opposite direction; either may be dead. Links are numbered by the router they leave, then by the one they
 * lead to.
 *
 * The way from a router to others is a tree: the last link of the way from s to t is, among those that end a shortest way,
 * the one from the router of the lowest number. A way is short by its hops, on a graph by the energy of its hops. */
#pragma once

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

#include "core/chip/chip.h"

enum {
  CM_TABLE_ROUTERS_MAX = 4096, /* of a table of all pairs: 128 MiB */
  CM_ALL_TO_ALL_MAX = 1024,    /* routers that each have a link to every other one */
  CM_TREE_LEVELS_MAX = 12,
  CM_NO_LINK = -1
};
#define CM_NO_WAY UINT32_MAX

struct cm_detours;

typedef enum cm_interconnect_kind {
  CM_GRID,       /* four links a router, edges joined as the chip's torus says: distances go around dead links */
  CM_HEXAGONAL,  /* six: also north-east and south-west, as SpiNNaker's */
  CM_TREE,       /* switches over blocks of routers, over blocks of switches, up to one */
  CM_ALL_TO_ALL, /* a link between any two routers */
  CM_GRAPH,      /* links as listed */
  CM_INTERCONNECT_KINDS
} cm_interconnect_kind;

/* "grid", "hexagonal", "tree", "all-to-all", "graph". */
const char *cm_interconnect_kind_name(cm_interconnect_kind kind);

typedef struct cm_link {
  uint32_t from, to;
  uint32_t twin;     /* number of the link back */
  uint32_t length;   /* by which ways are compared: 1, of a graph `units` */
  uint32_t units;    /* energy of the link and a router, in units of cm_interconnect.unit_pj, at least 1 */
  bool dead;
  double energy_pj, latency_ns; /* of the link alone */
  double bandwidth;  /* times what the chip's costs say of a link */
} cm_link;

typedef struct cm_tree_level {
  uint32_t x, y;          /* block of routers (or switches of the level below) under a switch */
  double cost, bandwidth; /* of the links to them: times the chip's link */
  uint32_t width, height; /* switches of this level */
  uint32_t first;         /* router number of the first of them */
} cm_tree_level;

typedef struct cm_way {
  uint32_t units; /* sum of the links' units */
  uint16_t hops;
  uint16_t last;  /* among the links that leave t: the twin of the way's last */
} cm_way;

struct cm_interconnect {
  cm_interconnect_kind kind;
  uint32_t columns, rows; /* routers with cores */
  bool ring_x, ring_y;    /* joined edges; never of fewer than 3 routers */
  uint32_t routers;       /* all, switches included */
  uint32_t link_count, dead_count;
  uint32_t *first;        /* [routers + 1] links of a router */
  cm_link *link;          /* [link_count] */
  double unit_pj;         /* energy of a unit; 1 where hops cost nothing: a unit is a hop then */
  double *cost;           /* [link_count] of a graph as its file states them; else NULL */
  cm_tree_level level[CM_TREE_LEVELS_MAX]; /* [levels] from the routers up */
  uint32_t levels;
  cm_way *_Atomic way;    /* [routers * routers] by from, to: made on first use */
  struct cm_detours *_Atomic detours; /* likewise */
  pthread_mutex_t making;
};

/* Reads the field "interconnect" of a chip file whose other fields but the dead ones are read; NULL stays NULL: a plain mesh or
 * torus. Then its "dead_links", and the links of its "dead_routers" (rectangles that were read once). O(links). Errors: CM_BAD_CHIP with a JSON pointer. */
cm_status cm_interconnect_read(const json_t *value, const cm_chip *chip, cm_interconnect **made, cm_error *error);
cm_status cm_interconnect_read_dead(const json_t *links, const json_t *routers, cm_interconnect *net, cm_error *error);
json_t *cm_interconnect_json(const cm_interconnect *net);
json_t *cm_interconnect_dead_json(const cm_interconnect *net);
void cm_interconnect_free(cm_interconnect *net); /* NULL is allowed */

/* Makes the table or the detours where they are needed; to be called before what follows below, by any thread. O(1) when they are
 * there; else O(routers * links), times a logarithm on graphs, and of detours O(links). A plain mesh or torus (NULL) needs none. */
cm_status cm_interconnect_prepare(const cm_interconnect *net, cm_error *error);

/* Hops of the way between two routers; CM_NO_WAY where there is none. O(1); of trees O(levels); detours are told in detours.h. */
uint32_t cm_interconnect_hops(const cm_interconnect *net, uint32_t from, uint32_t to);

/* Energy of that way in units, a router a hop; above CM_TABLE_ROUTERS_MAX routers hops of grids count as their cheapest. */
uint32_t cm_interconnect_units(const cm_interconnect *net, uint32_t from, uint32_t to);

/* The last link of the way; from and to differ and there is a way. O(links of `to`) by formula, else O(1). */
uint32_t cm_interconnect_last(const cm_interconnect *net, uint32_t from, uint32_t to);

/* The link from one router to another, CM_NO_LINK: none. O(log links). */
int64_t cm_interconnect_link(const cm_interconnect *net, uint32_t from, uint32_t to);

/* Marks in reached [routers] which routers both reach and are reached from `from` over living links. O(links). */
cm_status cm_interconnect_component(const cm_interconnect *net, uint32_t from, cm_memory *memory, uint8_t *reached,
                                    cm_error *error);
