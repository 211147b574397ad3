/* The check's own routes between the cores of two parts: on a plain mesh column by column and row by row as the chip routes, else
 * over check_ways.h. */
#pragma once

#include "core/verify/check_ways.h"

typedef struct cm_check_walk cm_check_walk;

/* One link of a route: what it adds to a packet's energy and time. */
typedef struct cm_check_hop {
  size_t link;
  double energy_pj, latency_ns;
  double bandwidth; /* times what the chip's costs say of a link */
} cm_check_hop;
typedef void (*cm_check_visit)(const cm_check_hop *hop, void *user);

/* Of a plain mesh, and of an interconnect. */
typedef struct cm_check_walk_kind {
  /* What it takes, and how many links are there. */
  cm_status (*survey)(cm_check_walk *walk, cm_memory *memory, cm_error *error);
  /* Hops between two parts' cores. */
  cm_status (*hops)(cm_check_walk *walk, uint32_t from, uint32_t to, double *hops, cm_error *error);
  /* Visits each link of the route whose hops were asked for last. */
  void (*route)(const cm_check_walk *walk, uint32_t from, uint32_t to, cm_check_visit visit, void *user);
  /* Adds what passes each router to passing [routers]: on a mesh under random minimal routing, row by row, the whole packet in the
   * first router; else on the way whose hops were asked for last. */
  void (*pass)(cm_check_walk *walk, uint32_t from, uint32_t to, double packets, double *passing);
} cm_check_walk_kind;

struct cm_check_walk {
  const cm_check_walk_kind *kind;
  const cm_chip *chip;
  const uint32_t *core;  /* [parts], the caller's */
  int64_t columns, rows; /* routers */
  double *wave[2];       /* [columns + 1] of a mesh */
  cm_check_ways ways;    /* of an interconnect that is no plain mesh */
  uint32_t *way, way_count; /* [routers] links of the way under way, the last first */
  size_t routers, links;    /* switches included; of arrays by link */
  double links_there;       /* of those, by which means are taken: but for dead ones of an interconnect */
};

/* After a failure too the caller frees it. */
cm_status cm_check_walk_new(const cm_chip *chip, const uint32_t *core, cm_memory *memory, cm_check_walk *walk, cm_error *error);
void cm_check_walk_free(cm_check_walk *walk);
