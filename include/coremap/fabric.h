/* coremap: vertices that are made already, onto boards of chips with multicast routers such as SpiNNaker's. */
#ifndef COREMAP_FABRIC_H
#define COREMAP_FABRIC_H

#include <coremap/error.h>
#include <coremap/run.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COREMAP_NO_CHIP UINT32_MAX

/* Chips on a grid, chip x, y being number y * width + x; y grows north. Arrays are [width * height]. */
typedef struct coremap_fabric {
  uint32_t width, height;
  int wrap_x, wrap_y;     /* not 0: links lead from the last column, row to the first */
  const uint8_t *links;   /* bit l: link l works; 0 east, 1 north-east, 2 north, 3 west, 4 south-west, 5 south. 0: there is no chip */
  const uint32_t *cores;  /* that are free */
  const uint64_t *memory; /* bytes that are free */
} coremap_fabric;

/* Groups of vertices that stand on one chip together, and who sends to whom. A family is senders whose keys lie side by side: those of a population. */
typedef struct coremap_flows {
  const coremap_fabric *fabric;
  uint32_t vertices, groups, families, senders;
  const uint32_t *group;         /* [vertices] */
  const uint32_t *group_cores;   /* [groups]: that it takes of a chip; 0 of a device outside */
  const uint64_t *group_memory;  /* [groups]: bytes */
  const uint32_t *group_pin;     /* [groups]: the chip that it is fixed to; COREMAP_NO_CHIP: any */
  const uint32_t *family_first;  /* [families + 1]: where its senders begin */
  const uint32_t *sender;        /* [senders]: the vertex */
  const uint64_t *common_first;  /* [families + 1] */
  const uint32_t *common;        /* vertices that all senders of the family reach */
  const uint64_t *own_first;     /* [senders + 1] */
  const uint32_t *own;           /* vertices that the sender reaches beside */
  const uint32_t *local;         /* [vertices]: the bit of a route by which a vertex is reached on its chip; NULL where nothing is routed */
} coremap_flows;

/* Gives each group a chip, chip [groups], within cores, memory and pins, so that trees have few links and tables few entries. With `start` [vertices] a group stays where its first vertex
 * is there, the largest first, or comes to the nearest chip with room; NULL: none. The same input gives the same places. O(pins of what stands on each chip * log). Errors: no-room,
 * bad-chip, bad-network (a number out of range), cancelled, no-memory. */
int coremap_fabric_place(const coremap_flows *flows, const uint32_t *start, coremap_progress progress, void *user, uint32_t *chip,
                         coremap_error **error);

typedef struct coremap_fabric_routes coremap_fabric_routes;

/* Where packets go from a chip's router. */
typedef struct coremap_fabric_entry {
  uint32_t chip, family;
  uint32_t sender; /* COREMAP_NO_CHIP: all senders of the family that come by */
  uint32_t route;  /* bits 0 to 5: links, the others as `local` has them; 0: they end here */
  uint32_t from;   /* the link that they come in by; COREMAP_NO_CHIP: from a core, or by several links */
} coremap_fabric_entry;

/* Routes what each sender sends by a tree over links that work both ways, with one entry for a family wherever all its senders that come by a chip leave it alike. chip [vertices] says where vertices
 * stand. Memory and time: the chips of all trees. Errors: no-route names a chip, bad-chip, bad-network, no-memory. */
int coremap_fabric_route(const coremap_flows *flows, const uint32_t *chip, coremap_progress progress, void *user, coremap_fabric_routes **routes, coremap_error **error);

/* Its entries by chip, family and sender [*count], and the links of all senders' trees: they live as long as the routes. O(1). */
const coremap_fabric_entry *coremap_fabric_entries(const coremap_fabric_routes *routes, uint64_t *count, uint64_t *links);

void coremap_fabric_routes_free(coremap_fabric_routes *routes); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
