/* A search by levels under way, and several of them combined. */
#pragma once

#include "core/partition/edge/edge.h"
#include "core/partition/multilevel.h"

/* Levels of up to so many entries are refined over all parts at once, by one thread; on larger ones all threads refine pairs of
 * parts. */
#define CM_EDGE_ALL_ENTRIES UINT64_C(1000000)

typedef struct cm_edge_search {
  const cm_edge_options *options;
  cm_run *run;
  cm_hierarchy hierarchy;
  bool draft; /* cycles follow, which refine the finer levels again */
  bool tells; /* one level at a time is refined, whose steps tell progress */
} cm_edge_search;

/* Size that a part may have on a level: more than in the end where parts are full or vertices coarse. */
uint64_t cm_edge_most_on(const cm_edge_search *search, const cm_csr_graph *graph);

/* A level that is refined: how many levels from the coarsest, how hot annealing begins there, and its random choices. */
typedef struct cm_edge_level {
  uint32_t level;
  double depth, hot;
  uint64_t stream;
} cm_edge_level;

/* Refines part on a level: annealing, the colder the deeper, label propagation, then all parts at once and flows, or pairs. The
 * finest level ends within the limit: CM_LIMIT_BROKEN when no way was found. */
cm_status cm_edge_refine_level(cm_edge_search *search, const cm_edge_level *at, uint32_t *part, cm_error *error);

/* A search from a first partition with options->cycles: best [vertices]; part [vertices] is scratch. Uses no other partition. */
cm_status cm_edge_search_anew(cm_csr_graph *graph, const cm_edge_options *options, cm_run *run, uint32_t *part, uint32_t *best,
                              cm_error *error);

/* Coarsens without crossing the labels, inside which `part` is the same, and refines it on the way down. `number`: of its random
 * choices, from 1 on. */
cm_status cm_edge_search_inside(cm_csr_graph *graph, const cm_edge_options *options, const uint32_t *label, uint32_t number,
                                cm_run *run, uint32_t *part, cm_error *error);

/* The same with options->below: several results of it are combined. */
cm_status cm_edge_combine(cm_csr_graph *graph, const cm_edge_options *options, cm_run *run, uint32_t *best, cm_error *error);
