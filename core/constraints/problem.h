/* A placement problem without a network or a chip: nodes that need room, nets between them, an array of tiles, constraints. */
#pragma once

#include "core/constraints/constraints.h"

enum {
  CM_PROBLEM_TILES_MAX = 4096,
  CM_PROBLEM_NODES_MAX = 4096,
  CM_PROBLEM_KINDS_MAX = 256,
  CM_PROBLEM_BYTES_MAX = 16 << 20,
  CM_NO_KIND = 0xffff /* of a tile: there is none; of a node: any */
};

/* What the nodes of a tile take together. */
typedef enum cm_tile_limit { CM_TILE_NODES, CM_TILE_MEMORY, CM_TILE_CHANNELS_IN, CM_TILE_CHANNELS_OUT, CM_TILE_LIMITS } cm_tile_limit;
/* Limits by number: those of tiles, kinds of tiles, circuits. */
enum { CM_LIMIT_KINDS = CM_TILE_LIMITS, CM_LIMIT_CIRCUITS, CM_LIMITS_ALL };
extern const char *const cm_tile_limit_names[CM_TILE_LIMITS]; /* "nodes", "memory", "channels_in", "channels_out" */

/* What circuits are limited in: each edge between nodes behind different routers is one. */
typedef enum cm_circuit_place { CM_CIRCUITS_LINK, CM_CIRCUITS_IN, CM_CIRCUITS_OUT, CM_CIRCUIT_PLACES } cm_circuit_place;

typedef struct cm_problem_node {
  char *name;
  uint16_t kind; /* CM_NO_KIND: any */
  uint64_t need[CM_TILE_LIMITS];
} cm_problem_node;

typedef struct cm_problem_tile {
  uint16_t kind;
  uint64_t limit[CM_TILE_LIMITS]; /* UINT64_MAX: none */
} cm_problem_tile;

/* Nets cost weight times half the perimeter of the box around their nodes, in hops: of an edge, its hops. */
typedef struct cm_problem {
  uint32_t width, height;                    /* in tiles */
  uint32_t router_x, router_y, chip_x, chip_y; /* tiles of a router, of a chip */
  uint32_t node_count, net_count, kind_count, group_count;
  uint32_t edge_count; /* the first of the nets, with a source and a target; the same node: one pin */
  cm_problem_tile *tile; /* [width * height], y * width + x */
  uint64_t router_limit[CM_TILE_LIMITS], chip_limit[CM_TILE_LIMITS]; /* what the tiles of one take together; UINT64_MAX: no limit */
  bool circuits;                             /* these are limited: */
  uint64_t circuit_limit[CM_CIRCUIT_PLACES]; /* of a link each way, into a router, out of one; UINT64_MAX: no limit */
  cm_problem_node *node;
  char **kind;   /* [kind_count] */
  uint32_t *first, *pin; /* nodes of net n: pin[first[n]] .. pin[first[n + 1] - 1], distinct */
  uint64_t *weight;      /* [net_count] */
  char **group;          /* [group_count] names of groups */
  uint32_t *group_of;    /* [node_count] a node's group plus 1, 0: none */
  cm_constraints constraints;
} cm_problem;

static inline uint32_t cm_problem_tiles(const cm_problem *problem)
{
  return problem->width * problem->height;
}

/* Corners of routers. */
typedef struct cm_router_box {
  uint32_t low[2], high[2];
} cm_router_box;

static inline cm_router_box cm_router_box_none(void)
{
  return (cm_router_box){{UINT32_MAX, UINT32_MAX}, {0, 0}};
}

/* Makes a box take a tile's router in. */
static inline void cm_router_box_take(const cm_problem *p, uint32_t tile, cm_router_box *b)
{
  const uint32_t at[2] = {tile % p->width / p->router_x, tile / p->width / p->router_y};
  for (int axis = 0; axis < 2; axis++) {
    b->low[axis] = at[axis] < b->low[axis] ? at[axis] : b->low[axis];
    b->high[axis] = at[axis] > b->high[axis] ? at[axis] : b->high[axis];
  }
}

/* Half of its perimeter. */
static inline uint64_t cm_router_box_hops(const cm_router_box *b)
{
  return (uint64_t)(b->high[0] - b->low[0]) + (b->high[1] - b->low[1]);
}

/* Reads a problem (docs/reference/constraints.md). The caller's: cm_problem_free. O(text + constraints * nodes). Errors: CM_BAD_OPTION at the JSON
 * pointer of what is wrong; CM_TOO_LARGE; memory. */
cm_status cm_problem_read(const json_t *root, cm_memory *memory, cm_problem **problem, cm_error *error);
cm_status cm_problem_parse(const char *text, size_t size, cm_memory *memory, cm_problem **problem, cm_error *error);

void cm_problem_free(cm_problem *problem); /* NULL is allowed */

/* The cost of places, tiles of all nodes. O(pins). */
uint64_t cm_problem_cost(const cm_problem *problem, const uint32_t *place);
