/* A fabric: chips on a grid, each with cores, a memory and a multicast router, joined by six links a chip, as SpiNNaker's boards are. Links have SpiNNaker's numbers: 0 east, 1 north-east,
 * 2 north, 3 west, 4 south-west, 5 south; y grows north. A packet that its sender gives to the router is copied by tables to links and to cores (Furber, Galluppi, Temple, Plana: The
 * SpiNNaker Project, Proceedings of the IEEE 2014). What stands on chips are groups of vertices, a core each. */
#pragma once

#include "base/memory.h"

enum { CM_FABRIC_LINKS = 6 };
#define CM_NO_CHIP UINT32_MAX

typedef struct cm_chip_grid {
  uint32_t width, height;   /* chip x, y has number y * width + x */
  bool wrap_x, wrap_y;      /* links lead from the last column, row to the first */
  const uint8_t *links;     /* [chips]: bit l is set where link l works; 0 of what is no chip */
  const uint32_t *cores;    /* [chips]: free ones */
  const uint64_t *memory;   /* [chips]: free bytes */
} cm_chip_grid;

/* Who sends to whom. Senders are of families, whose keys lie side by side: those of one have common targets, and each its own. */
typedef struct cm_flows {
  const cm_chip_grid *fabric;
  uint32_t vertices, families, senders;
  const uint32_t *local;        /* [vertices]: the bit of a route by which a vertex is reached on its chip; NULL: nobody routes */
  const uint32_t *family_first; /* [families + 1]: its senders */
  const uint32_t *sender;       /* [senders]: the vertex */
  const uint64_t *common_first; /* [families + 1] */
  const uint32_t *common;       /* vertices that all senders of the family reach */
  const uint64_t *own_first;    /* [senders + 1] */
  const uint32_t *own;          /* vertices that the sender reaches beside */
} cm_flows;

static inline uint32_t cm_fabric_chips(const cm_chip_grid *f)
{
  return f->width * f->height;
}

/* Where link l of a chip leads, whether it works or not. */
uint32_t cm_fabric_neighbour(const cm_chip_grid *f, uint32_t chip, unsigned link);

/* Links on a shortest way between two chips, were all links there. */
uint32_t cm_fabric_distance(const cm_chip_grid *f, uint32_t from, uint32_t to);

/* Checks what callers give: that numbers are in range. Errors: CM_BAD_CHIP, CM_BAD_NETWORK. */
cm_status cm_flows_check(const cm_flows *flows, cm_error *error);
