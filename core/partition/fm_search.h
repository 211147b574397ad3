/* What localised FM over all parts shares (Sanders and Schulz 2011; Akhremtsev, Sanders and Schulz 2020): each search starts with
 * a few vertices on borders, moves what gains most, the losing too, and goes back to the best state that it met. What a vertex
 * gains, and who is offered after a move, is the method's: for cuts of edges kway_fm.c, of nets net_fm.c. */
#pragma once

#include "base/random.h"
#include "base/run.h"
#include "core/partition/fm_walk.h"
#include "core/partition/indexed_heap.h"

enum { CM_FM_FREE, CM_FM_MOVED, CM_FM_KEPT };

typedef struct cm_fm_search {
  uint32_t vertices;
  cm_run *run;
  uint64_t work;          /* that is left of the round, counted down by the method */
  double share;           /* of the run's stretch that a round tells as progress; 0: nothing */
  cm_indexed_heap heap;   /* of the vertices offered */
  uint32_t *place;        /* [vertices] in it */
  uint8_t *done;          /* [vertices] CM_FM_MOVED in this search, CM_FM_KEPT by an earlier one of the round */
  uint32_t *order;        /* [vertices] on borders, in the order of their turns */
  uint32_t *moved, *from; /* [vertices] moves of the search */
  uint32_t *before;       /* [vertices] parts before a loose round */
  uint32_t moves, kept;   /* of the search: all, and those up to its best state */
  int64_t sum, best;      /* what they gain */
  cm_fm_walk walk;
} cm_fm_search;

typedef struct cm_fm_method {
  bool (*on_border)(const void *context, uint32_t v);
  cm_status (*offer)(void *context, uint32_t v, cm_error *error); /* puts v into the heap where it may move */
  cm_status (*search)(void *context, cm_error *error);            /* moves vertices of the heap as long as it pays */
  void (*move)(void *context, uint32_t v, uint32_t to);
} cm_fm_method;

/* To be freed with cm_fm_search_free also after a failure. */
cm_status cm_fm_search_new(uint32_t vertices, cm_run *run, cm_fm_search *s, cm_error *error);
void cm_fm_search_free(cm_fm_search *s);

/* Searches from all border vertices, in random order, while work is left; adds what they gain. */
cm_status cm_fm_round(cm_fm_search *s, const cm_fm_method *method, void *context, cm_random *random, int64_t *gain,
                      cm_error *error);

/* Counts a move of the search that gained so much; `evener`: the part that v came to has less than the other had. False: the
 * search is to end. */
bool cm_fm_moved(cm_fm_search *s, uint32_t v, uint32_t from, int64_t gain, bool evener);

/* Back to the parts in `before`. */
void cm_fm_go_back(const cm_fm_search *s, const cm_fm_method *method, void *context, const uint32_t *part);
