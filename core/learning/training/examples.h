/* Environments to learn from: part graphs of families that networks fall into, drawn at random, and part graphs of real
 * networks. */
#pragma once

#include "core/learning/agent/environment.h"

/* An environment that owns what it stands on. */
typedef struct cm_example {
  char name[128];
  cm_flows *flows;
  cm_graph *graph;
  cm_multicast multicast;
  cm_chip *chip;
  cm_environment *environment;
} cm_example;

typedef enum cm_family {
  CM_FAMILY_GRID,      /* neighbours on a sheet, some cut away */
  CM_FAMILY_GEOMETRIC, /* near points of a square, heavier the nearer */
  CM_FAMILY_LAYERS,    /* windows from layer to layer: tiles of a feed-forward model */
  CM_FAMILY_BLOCKS,    /* communities */
  CM_FAMILY_DENSE,     /* everybody with everybody, nodes of very different strength */
  CM_FAMILY_RING,      /* a ring with short cuts */
  CM_FAMILY_TREE,
  CM_FAMILY_HUBS,      /* preferential attachment */
  CM_FAMILIES
} cm_family;

/* Draws a graph of a family: who talks to whom, and how much. At least 2 nodes. O(nodes^2) for dense ones. */
cm_status cm_example_draw(cm_family family, uint32_t nodes, uint64_t seed, cm_run *run, cm_flows **flows,
                          cm_error *error);

/* Multicast nodes for a drawn graph: about half of the nodes that talk to several others reach them all with one axon.
 * O(flows). */
cm_status cm_example_cast(const cm_flows *flows, uint64_t seed, cm_run *run, cm_multicast *multicast, cm_error *error);

/* What the parts of an example say to each other. */
typedef struct cm_example_traffic {
  cm_flows *flows;
  cm_multicast multicast; /* zeroed: none */
} cm_example_traffic;

/* The part graph of a network for `parts` parts: partitioned for the least edge cut where it has more vertices, else
 * taken as it is. */
cm_status cm_example_partition(const cm_demand *demand, uint32_t parts, uint64_t seed, cm_run *run,
                               cm_example_traffic *traffic, cm_error *error);

/* Where an example stands. */
typedef struct cm_example_site {
  const cm_chip *chip;
  double taken;  /* share of the cores, 0 to below 1, drawn at random */
  uint64_t seed; /* of that */
} cm_example_site;

/* Puts traffic on a chip; the region is chosen as the pipeline chooses it. Takes over the traffic, and nothing of the chip, of which it
 * keeps a copy of its own. On failure the caller still owns it. */
cm_status cm_example_new(const char *name, const cm_example_traffic *traffic, const cm_example_site *site, cm_run *run,
                         cm_example **example, cm_error *error);
void cm_example_free(cm_example *example); /* NULL is allowed */
