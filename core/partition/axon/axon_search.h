/* The inside of cm_partition_axons: what its steps share. axon.c is the driver; axon_effort.c knows what the network's size
 * allows, axon_starts.c makes first partitions through the levels, axon_flat.c on the network itself, axon_given.c takes those of the
 * caller, axon_descend.c refines them level by level, axon_cycle.c goes up and down again, axon_places.c gives parts cores. Parts are arrays of the vertices of the coarsest level that is there, in its numbers. */
#pragma once

#include "base/random.h"
#include "core/partition/axon/anneal.h"
#include "core/partition/axon/axon.h"
#include "core/partition/axon/axon_levels.h"

/* On coarse levels parts look fuller than they are: refinement below will sort their axons. The limit is raised there
 * by this much a level, and that on neurons where these have copies. */
#define CM_AXON_SLACK 0.025

/* The temperature at which annealing ends, and settles. */
#define CM_AXON_COLD 0.01

/* A partition, and what it costs. */
typedef struct cm_axon_solution {
  uint32_t *part; /* [vertices of the coarsest level] */
  uint32_t parts;
  double cost; /* with penalties; INFINITY: it is none that is legal, or there is none */
} cm_axon_solution;

typedef struct cm_axon_search {
  const cm_axon_options *options;
  cm_run *run;
  uint64_t seed;      /* of the attempt under way */
  cm_axon_levels levels;
  uint32_t *scratch, *trial; /* [vertices]; trial: of what is tried to be better than the best */
  const cm_prices *prices; /* NULL: parts have no places yet */
  double mean_price;  /* of what is paid */
  uint32_t needed;    /* parts of a first partition that has far too many of them; 0: none had */
  bool flat;          /* nothing to coarsen by: no levels but the first */
  bool grown;         /* parts were grown on the network itself */
} cm_axon_search;

/* One way down from the coarsest level. */
typedef struct cm_axon_descent {
  uint32_t number;    /* names its random stream */
  double slack;       /* of inbound axons, a level */
  double hot, cold;   /* temperatures */
  bool dissolve;      /* one part fewer, to begin with */
  double bias;        /* in mean prices: every part that an axon reaches costs so much more, wherever it is */
} cm_axon_descent;

/* Random streams of descents, beside those of cycles that are counted: mending a start, the cycle of the caller's other
 * parts, which dissolves a part as the first of a count does, and sweeps of what was grown. */
enum { CM_AXON_START_MENDED = 1 << 16, CM_AXON_OTHER_CYCLE, CM_AXON_GROWN };

/* Fewer sweeps and starts for a large network, and less shaping. O(1). */
void cm_axon_spare_sweeps(cm_axon_options *options, uint64_t pins);

/* Visits of all vertices for moves that pay and keep the limits, at the end. */
static inline uint32_t cm_axon_last_sweeps(const cm_axon_search *w)
{
  return w->options->work > 0;
}

/* The limits of a level: with so much more room for axons, and copies of neurons, a level. */
cm_limits cm_axon_level_limits(const cm_axon_search *search, uint32_t level, double slack);

/* Makes a solution better on the level of the options; on level 0 it keeps the limits afterwards. `d` dissolves on that level.
 * O(sweeps * pins). CM_NO_ROOM when parts_max are too few. */
cm_status cm_axon_refine_level(cm_axon_search *w, const cm_axon_descent *d, const cm_anneal_options *options, cm_random *random,
                               cm_axon_solution *s, cm_error *error);

/* Turns part from the coarsest level to the next finer one; the coarsest is dropped. */
void cm_axon_step_down(cm_axon_search *w, uint32_t *part);

/* Refines part, given for the coarsest level, on that level and all below, which are dropped one by one; part then is
 * of level 0. Phase "refine". */
cm_status cm_axon_descend(cm_axon_search *w, const cm_axon_descent *d, cm_axon_solution *s, cm_error *error);

/* A complete attempt: levels, the best of several starts on the coarsest, refinement; it stays where it is better. *found: it found room.
 * CM_NO_ROOM where it did not and nothing is known. Phases "coarsen", "initial", "refine". */
cm_status cm_axon_attempt(cm_axon_search *w, uint32_t number, cm_axon_solution *best, bool *found, cm_error *error);

/* Sweeps of the network itself from given parts, then the way to the limits. The cost is INFINITY, and the parts are of no use, where
 * there is no room for as many as that takes. `number` names the random stream. O(sweeps * pins). */
cm_status cm_axon_sweep_flat(cm_axon_search *w, uint32_t number, const cm_anneal_options *sweeps, cm_axon_solution *s,
                             cm_error *error);

/* Parts grown on the network itself, from the first vertex of the topology, as anybody's would. They are refined, and kept where that is
 * better. */
cm_status cm_axon_grow_flat(cm_axon_search *w, cm_axon_solution *best, cm_error *error);

/* The same where sources that reach several parts have copies: grown once without them, then with the room that they took. Refined where
 * that may pay. */
cm_status cm_axon_grow_with_copies(cm_axon_search *w, cm_axon_solution *best, cm_error *error);

/* Whether growing alone is both cheaper and better, on large dense networks: on levels, parts too full of neurons that all share little
 * are split, and most axons reach both halves. Where axons limit parts, levels are better. */
bool cm_axon_is_for_growing(const cm_axon_search *w);

/* How many parts an axon reaches on average, its own aside. O(nets). */
double cm_axon_reached_parts(const cm_axon_search *w, double cost);

/* Where there is nothing to coarsen by: parts filled on the network itself. They may be more than there are cores. */
cm_status cm_axon_fill_flat(cm_axon_search *w, cm_axon_solution *best, cm_error *error);

/* Gives the parts of the network itself cores, or when they have some better ones; parts are named by cores then. */
cm_status cm_axon_take_places(cm_axon_search *w, cm_axon_solution *s, cm_error *error);

/* Parts that the caller knows, `start` [vertices] in the topology's numbers; where they break a limit by more than is soon mended
 * there are none, at a cost of INFINITY. O(pins), and what mending takes. */
cm_status cm_axon_measure_start(cm_axon_search *w, const uint32_t *start, cm_axon_solution *made, cm_error *error);

/* Improves a legal partition: coarser levels whose vertices keep to their parts, and down again, every other time with one part fewer:
 * the first time, where there is room for what it holds. The better one is kept, the old one where there is no room for the new. O(sweeps *
 * pins). */
cm_status cm_axon_cycle(cm_axon_search *w, uint32_t number, cm_axon_solution *best, cm_error *error);

/* Takes over a solution of the network itself where it costs less. */
void cm_axon_keep_better(const cm_axon_search *w, const cm_axon_solution *candidate, cm_axon_solution *best);
