/* The first partition of a coarsest graph: recursive bisection by greedy growing and two-way FM, of large graphs through levels of
 * their own. */
#pragma once

#include "core/partition/edge/csr_graph.h"

typedef struct cm_initial_options {
  uint32_t parts;
  uint64_t most;   /* a part is to hold at most so much; approached, not promised */
  uint32_t tries;  /* growings per bisection, the best stays */
  uint32_t passes; /* of FM, at most */
  uint64_t seed, stream;
} cm_initial_options;

/* Fills part [vertex_count] with numbers below options->parts: halves the parts and the vertices in proportion,
 * again and again. Each half is grown from a random vertex by the best gain, then refined; the limit's slack is
 * shared out over the bisections to come. Graphs of CM_DEEP_VERTICES or more are coarsened first, and a block is halved on the
 * coarsest level on which its halves have vertices enough. Runs on any thread. O(tries * entries * log(parts) *
 * log(vertices)), of large graphs O(tries * entries * log(vertices)). The graph is only read. */
cm_status cm_initial_partition(cm_csr_graph *graph, const cm_initial_options *options, cm_run *run, uint32_t *part,
                               cm_error *error);

enum { CM_DEEP_VERTICES = 1 << 15 };

/* ---- initial_split.c, initial_deep.c ---- */

/* A graph that is to become so many parts, numbered from `base` on. */
typedef struct cm_initial_block {
  const cm_csr_graph *graph;
  const uint32_t *vertex; /* [vertices] what each is called in the result; of no matter to cm_initial_halve */
  uint32_t parts, base;
  uint64_t node;          /* a number of its own, for its random choices */
} cm_initial_block;

/* Halves a block of 2 parts at least: side [vertices] 0 or 1, the first for parts / 2 of them. */
cm_status cm_initial_halve(const cm_initial_block *block, const cm_initial_options *options, cm_run *run, uint32_t *side, cm_error *error);

/* Recursive bisection of a block, on its graph as it is: part[vertex[v]] becomes base or a number after it. */
cm_status cm_initial_split(const cm_initial_block *block, const cm_initial_options *options, cm_run *run, uint32_t *part, cm_error *error);

/* As cm_initial_partition, through levels. */
cm_status cm_initial_deep(cm_csr_graph *graph, const cm_initial_options *options, cm_run *run, uint32_t *part, cm_error *error);
