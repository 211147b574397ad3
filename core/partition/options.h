/* What shapes the partition stage of the source's method (source 0, steps s2 to s5), and the random streams of
 * the stages: every random choice comes from (seed, stream, level or try), never from shared state. */
#pragma once

#include <stdint.h>

typedef enum cm_matching {
  CM_MATCHING_AUTO,      /* HEAVIEST; AVAILABLE on a level that would end coarsening by it */
  CM_MATCHING_HEAVIEST,  /* the document's letter: only neighbours on a heaviest edge are asked */
  CM_MATCHING_AVAILABLE, /* the heaviest edge among those whose ends may still be paired */
} cm_matching;

typedef struct cm_partition_options {
  uint64_t capacity;         /* of a core, in vertex size; at least 1 */
  uint32_t parts;            /* 0: as many as the capacity asks for; else exactly so many */
  uint32_t coarsening_share; /* a merged vertex is at most capacity / share (15) */
  uint32_t coarsening_tries; /* 4 to 8 */
  double coarsening_stop;    /* stop when a level shrinks by less than this (0.20) */
  cm_matching matching;
  uint32_t bisection_tries;  /* 4 to 8 */
  uint32_t refinement_passes; /* visits of all vertices per level (1) */
  uint64_t coarsening_seed, seed;
} cm_partition_options;

enum cm_random_stream {
  CM_STREAM_COARSENING = 1,
  CM_STREAM_BISECTION,
  CM_STREAM_REFINEMENT,
  CM_STREAM_PLACEMENT,
  CM_STREAM_LEGALITY = 32,
  CM_STREAM_ASSIGNMENT = 48,
  CM_STREAM_BREEDING,
  CM_STREAM_MESH,
  CM_STREAM_BLOCKS,
  CM_STREAM_TREES,
  CM_STREAM_RELIEF,
  CM_STREAM_LINKS,
  CM_STREAM_COMMUNITIES = 64,
  CM_STREAM_REWARD,
  CM_STREAM_HOPS,
  CM_STREAM_POLICY = 72,
  CM_STREAM_EPISODES,
  CM_STREAM_EXAMPLES,
  CM_STREAM_STEP = 80,
  CM_STREAM_SIMULATION,
  CM_STREAM_TURNS,
  CM_STREAM_NETS = 96,
  CM_STREAM_NETS_FM,
  CM_STREAM_NETS_FLOW,
  CM_STREAM_EDGE_FLOW,
  CM_STREAM_EDGE_MEMBERS,
  CM_STREAM_LEAVING,
  CM_STREAM_CIRCUITS,
};
