/* What a preset has its methods spend, and which it asks for: core/mapping/presets.def has the rows. Methods are handed what is theirs
 * of a row, and know no presets. */
#pragma once

#include "core/mapping/options.h"
#include "core/partition/axon/axon.h"
#include "core/partition/edge/edge.h"
#include "core/partition/nets/nets.h"
#include "core/partition/step/step.h"
#include "core/placement/arrange.h"
#include "core/placement/links/links.h"
#include "core/placement/mesh/mesh.h"
#include "core/placement/trees/trees.h"

/* Of placing parts. */
typedef struct cm_place_effort {
  bool roams;              /* few parts are placed with cores to choose from too, as the last candidate */
  bool routers_from_order; /* where whole routers are placed, parts stand in their order before */
  cm_arrange_budget arrange;
  cm_trees_budget trees;
  cm_links_budget links;
  /* On cores of several kinds: entries of the graph looked at, and all of them so many times at most; both above 0. */
  double kind_entries, kind_sweeps;
  uint32_t related; /* effort (core/constraints/solution.h) where constraints relate parts; above 0 */
} cm_place_effort;

/* Of the integrated mapper for axons. */
typedef struct cm_mesh_axons_effort {
  uint32_t cycles;     /* times that parts with their places are coarsened and refined again, 1 and more */
  uint32_t vain;       /* cycles without gain in a row that are the last; 0: they go on */
  uint64_t cycle_pins; /* fewer of them where all together would visit more pins */
  const cm_arrange_budget *last; /* of placing parts anew at last; NULL: they are not */
} cm_mesh_axons_effort;

typedef struct cm_effort {
  const struct cm_effort *below; /* the preset with the next smaller effort; NULL: there is none */
  /* Methods. */
  bool integrated;       /* the integrated mapper is taken unasked */
  uint64_t policy_draws; /* placements that the letter is trained on */
  double policy_looks;   /* at pairs of cores, when annealing what swaps have left of a policy's placement; 0: swaps alone */
  /* Partitions: limits, parts and seed are the task's. */
  cm_axon_options axons;
  const struct cm_effort *second; /* whose partition by edges, or by nets where axons reach many, is a second start; NULL: none */
  bool second_always;             /* not only where axons reach few */
  cm_mesh_axons_effort axons_on_mesh;
  cm_edge_options edges;
  /* By nets, where the number of parts is given, and where it is free: there nets are those of neurons, larger and in few parts, and
   * what is found varies more from start to start. */
  cm_nets_options nets, nets_free;
  uint64_t nets_pins; /* with more pins the least effort below, or none where the number is free */
  cm_step_options steps;
  cm_mesh_options mesh;
  /* Places. */
  const struct cm_effort *arranged_as; /* whose budgets of places it has, but for kinds; NULL: its own */
  cm_place_effort place;
} cm_effort;

extern const cm_effort cm_efforts[CM_PRESETS];

static inline const cm_effort *cm_effort_of(const cm_map_options *options)
{
  return &cm_efforts[options->preset];
}

static inline cm_preset cm_effort_preset(const cm_effort *effort)
{
  return (cm_preset)(effort - cm_efforts);
}

/* The smallest effort below one, or itself: quick looks ahead, and what stands in where the own effort takes too long or finds nothing. */
const cm_effort *cm_effort_least(const cm_effort *effort);
