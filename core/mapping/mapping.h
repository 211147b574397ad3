/* The mapping: which neuron runs on which core, with its metrics and what made it. */
#pragma once

#include <jansson.h>

#include "base/run.h"
#include "core/chip/region.h"
#include "core/limits/bound.h"
#include "core/mapping/detail.h"
#include "core/mapping/mapped.h"

/* One try of the partition stage (retried when a limit broke). */
typedef struct cm_attempt {
  uint64_t capacity;      /* effective core capacity */
  uint32_t parts;
  double edge_cut;
  uint32_t levels;        /* coarsened levels */
  uint32_t levels_available; /* of them, matched along the heaviest edges available, because the heaviest did not do */
  bool coarsening_cached; /* true: taken from the cache, no coarsening was done */
  uint64_t pairs_carried, pairs_matched; /* of levels that were carried over from another network's, now and not from the cache */
  double saved_seconds;   /* that the partition took when it was made: it was in the cache; 0: it was not */
  bool only;              /* no other partition keeps the terms: a part a neuron, nothing was searched */
  bool by_axons;          /* made by the method for axons, which keeps more limits, then refined for objective edge */
  bool moved;             /* single moves after the method made it legal */
  char broken[160];       /* "" when legal, else the first broken limit in words */
} cm_attempt;

enum { CM_ATTEMPTS_MAX = 16 };

/* Events of a core that are counted in a step: neurons of it that spike, packets that come in from other cores, and that go out to them. */
typedef enum cm_peak { CM_PEAK_SPIKES, CM_PEAK_PACKETS_IN, CM_PEAK_PACKETS_OUT, CM_PEAKS } cm_peak;

/* The most of a step, and the first step that has it. */
typedef struct cm_peak_at {
  uint64_t most;
  uint32_t step;
} cm_peak_at;

/* Attempts as a JSON array; `how` says too what came from the cache, which is no part of a result. NULL when out of
 * memory. */
json_t *cm_attempts_json(const cm_attempt *attempts, uint32_t count, bool how);

typedef struct cm_mapping {
  uint32_t vertex_count, part_count;
  uint32_t *part;  /* [vertex_count] part of each neuron */
  uint32_t *core;  /* [part_count] core number of each part */
  cm_region *region;
  cm_pacing pacing; /* its turns are the mapping's own */
  cm_metrics metrics;
  cm_metrics_detail detail;
  cm_attempt attempts[CM_ATTEMPTS_MAX];
  uint32_t attempt_count;
  cm_bound bound;  /* how few parts the limits allow */
  json_t *options; /* the options that shape a result, as resolved */
  /* Objective pareto: all mappings of the set; the chosen one's arrays are this mapping's own. Else none. */
  struct cm_mapping **points;
  uint32_t point_count, point_chosen;
  /* Of a network whose rates vary: the metrics in every scenario, and which of them the objective was about. */
  uint32_t scenario_count;
  cm_metrics *scenario; /* [scenario_count] */
  bool scenarios_worst; /* the worst; else their mean */
  cm_peak_at *peak; /* [part_count * CM_PEAKS] of a network that ran; else NULL */
  cm_topology *copied; /* the network that it is of, where that has copies of neurons; NULL: the job's */
  json_t *report;  /* what the stages want to tell: placement costs before and after, merged counts, ... */
} cm_mapping;

/* A figure over all scenarios, of which there are some. */
double cm_mapping_mean(const cm_mapping *mapping, cm_metric_figure *figure);
double cm_mapping_worst(const cm_mapping *mapping, cm_metric_figure *figure);

/* A figure as the objective sees it: of a network whose rates vary that of the worst scenario, or their mean. */
double cm_mapping_aimed(const cm_mapping *mapping, cm_metric_figure *figure);

/* A mapping of that network on that chip; valid as long as all three. */
static inline cm_mapped cm_mapped_by(const cm_mapping *m, const cm_demand *demand, const cm_chip *chip)
{
  return (cm_mapped){.demand = demand, .chip = chip, .part = m->part, .parts = m->part_count, .core = m->core,
                     .pacing = m->pacing.turn != NULL ? &m->pacing : NULL};
}

void cm_mapping_free(cm_mapping *mapping); /* NULL is allowed */
