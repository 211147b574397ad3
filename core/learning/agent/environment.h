/* A placement problem as a policy sees it: logical nodes, physical nodes, and which processor runs what. */
#pragma once

#include "core/chip/region.h"
#include "core/learning/policy/policy.h"
#include "core/placement/axes.h"

typedef struct cm_environment {
  const cm_graph *graph;     /* of the nodes; borrowed */
  const cm_chip *chip;       /* borrowed */
  cm_memory *memory;         /* of the environment, and of scratch */
  uint32_t nodes, sites;
  uint32_t *site;            /* [sites] cores that may be used */
  cm_axes *axes;             /* under the sites */
  uint32_t processors;
  uint32_t *node_first, *node;   /* [processors + 1], [nodes] the nodes that each is to run, ascending */
  uint32_t *site_first, *site_of; /* [processors + 1], [sites] its sites, ascending indices into `site` */
  cm_laplacian *laplacian;
  float *feature;            /* [nodes * CM_FEATURES] normalised */
  uint64_t *priority;        /* [nodes] interaction weight */
  uint32_t *site_on;         /* [cores of the chip] index into `site`, UINT32_MAX: none */
} cm_environment;

/* What an environment is made of; all borrowed, of which graph and chip must outlive the environment. */
typedef struct cm_environment_parts {
  const cm_graph *graph;
  const cm_flows *flows;
  const cm_multicast *multicast; /* NULL: no node is one */
  const cm_chip *chip;
  const uint32_t *site;          /* [sites] cores that are free, ascending */
  uint32_t sites;
  uint32_t processors;           /* 0 or 1: one for all, and the two arrays below are not looked at */
  const uint32_t *node_processor, *site_processor; /* [nodes], [sites] */
} cm_environment_parts;

/* CM_NO_ROOM when a processor has fewer sites than nodes. O(entries + sites + cores of the chip). */
cm_status cm_environment_new(const cm_environment_parts *parts, cm_run *run, cm_environment **environment, cm_error *error);
void cm_environment_free(cm_environment *environment); /* NULL is allowed */

/* The same for the processors of the chip: communities of the nodes are brought to the dies that the sites lie on
 * (cm_processors_share). What `parts` says of processors is not looked at. */
cm_status cm_environment_new_shared(const cm_environment_parts *parts, uint64_t seed, cm_run *run, cm_environment **environment,
                              cm_error *error);

/* The same environment as one processor: everybody may go everywhere. What it shows is borrowed, but for the lists of one
 * processor; give it back with cm_environment_joined_free, before the environment. O(nodes + sites). */
cm_status cm_environment_join(const cm_environment *environment, cm_environment *joined, cm_error *error);
void cm_environment_joined_free(cm_environment *joined); /* harmless on a zeroed one */

/* The sites as a region; borrowed. */
cm_region cm_environment_region(const cm_environment *environment);

/* The network's input for nodes that stand on sites at [nodes]: input [2 nodes * CM_POLICY_INPUTS].
 * O(entries + nodes * (columns + rows)). */
cm_status cm_environment_observe(const cm_environment *environment, const uint32_t *at, float *input, cm_error *error);

/* How nodes that want to be somewhere come to sites of their own. */
typedef enum cm_rule {
  CM_RULE_NEAREST, /* the likeliest core, conflicts to the nearest free ones by priority (cm_assign) */
  CM_RULE_SLICES,  /* by x into the columns, by y inside each: nobody is far from where its like are */
  CM_RULES
} cm_rule;

/* Nodes that want to be at position [2 nodes] (x, y in -bound .. bound) to sites of their own, processor by processor.
 * Fills at [nodes]. As cm_assign, or O((nodes + sites) log(sites)). */
cm_status cm_environment_assign(const cm_environment *environment, cm_rule rule, const float *position, double bound,
                                uint32_t *at, cm_error *error);

/* Sum over edges of weight * distance (cm_axes_cost). O(entries). */
uint64_t cm_environment_hops(const cm_environment *environment, const uint32_t *at);

/* What each node pays, loss [nodes]: traffic * distance of its edges, and of these the larger of left and right and the
 * larger of above and below once more, as the source's reward has it (reward.h). In scaled weights. O(entries). */
void cm_environment_losses(const cm_environment *environment, const uint32_t *at, double *loss);

/* ---- where nodes stand before a policy has said anything ---- */

typedef enum cm_layout {
  CM_LAYOUT_SPECTRAL, /* by two of the slowest modes of the graph, cut in columns and these in rows */
  CM_LAYOUT_CURVE,    /* in the order of cm_order_parts along Hilbert's curve */
  CM_LAYOUTS
} cm_layout;

/* Fills at [nodes]. Spectral: O(entries) times some hundred; curve: O(entries log(nodes)). */
cm_status cm_environment_layout(const cm_environment *environment, cm_layout layout, cm_run *run, uint32_t *at, cm_error *error);
