/* The order in which the operators of a model are executed. Internal to core/machine. */
#pragma once

#include <jansson.h>

#include "core/machine/emit/object.h"
#include "core/machine/piece_order.h"
#include "core/schedule/orders.h"

/* A program before it is linked, for one order. */
typedef struct cm_draft {
  cm_plan *plan;
  cm_memory_plan memory;
  cm_emission emission;
} cm_draft;

void cm_draft_free(cm_draft *draft);

/* What drafts are made of. */
typedef struct cm_draft_task {
  cm_model *model;
  const cm_plan_options *options;
  const char *chip;        /* its name */
  const cm_target *target; /* the whole of it; options->target may be a part */
  cm_run *run;
  cm_piece_order *pieces;  /* searched for and filled in; NULL: pieces keep the order of the sequence */
} cm_draft_task;

/* Cuts, lays out and emits for an order of all nodes (NULL: the model's). Errors: those of the steps. */
cm_status cm_draft_make(const cm_draft_task *task, const uint32_t *order, cm_draft *draft, cm_error *error);

/* Scores measured by a command on the real target instead of by the cost model: core/schedule/target_command.h. */
typedef struct cm_order_measure {
  const char *command;
  const char *path; /* where each program is written for it */
  double seconds_max; /* of one run */
} cm_order_measure;

typedef struct cm_order_limits {
  uint64_t scores; /* orders that are scored; 0: as many as the size of the program allows */
  double until;    /* by cm_now: none are scored after; 0: none. What is found then depends on the machine */
  double until_ns; /* no order is searched where the file's takes no longer; 0: none */
  cm_order_method method;
  bool never_all;  /* the method is used where there are few orders too, which would all be scored */
} cm_order_limits;

/* Searches for an order that takes less time by the cost model; of a chip that issues in order, then for one of the pieces. With options->settings each subgraph is scored alone, laid
 * out in time from the state of the chip when it begins, on all threads; what was found is joined as far as the whole
 * gains by it. Else, and with `measure` (NULL: none), whose command then scores, whole programs are made. `first` is the
 * draft for the order of the file; it is replaced when a better one is found, so that the result is never slower and,
 * where options->settings is NULL, moves no more bytes. The same result for any number of threads. *report (new
 * reference): {"key_nodes", "subgraphs", "scored", "fixed_order_ns", "file_order_ns", "best_ns", "order_gain", "schedule_gain"} by the cost
 * model, the first time that of a schedule whose lanes keep the order of the file; with `measure` "measured"; where pieces were searched "pieces". Errors:
 * memory, cancel, those of cm_measure. */
cm_status cm_order_search(const cm_draft_task *task, const cm_order_measure *measure, const cm_order_limits *limits,
                          cm_draft *first, json_t **report, cm_error *error);
