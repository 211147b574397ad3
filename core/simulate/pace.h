/* When cores send: spread over the step so that packets come in about as fast as cores process them, instead of standing in each other's
 * way (docs/explanation/step-time.md, "Pacing"). */
#pragma once

#include <jansson.h>

#include "base/run.h"
#include "core/mapping/mapped.h"

/* Whether a mapping may be paced: of a directed network of one set of rates, on a chip that receives beside sending. */
bool cm_pace_is_possible(const cm_demand *demand, const cm_chip *chip);

typedef struct cm_pace_task {
  bool multicast;
  double busiest_ns;  /* that the busiest core takes without contention */
  double links_ns;    /* that the busiest link takes at least */
  double barrier_ns;  /* from there to the next step */
  double packet_hops; /* of a step, about */
} cm_pace_task;

/* The pacing under which a step is shortest, of those that are simulated: in two orders of neurons, as numbered and as cm_turns_choose has them,
 * without waiting and over some lengths around the time of the busiest core. Where simulating that often would take long there is one: the order
 * chosen, a little longer than the busiest core; of a step with very many packet hops it is not simulated, but at least links_ns. pacing->turn is the caller's (cm_free), and NULL where no step came to its end. *report says what was
 * tried. The same for any number of threads. O(tries * simulating a step). Errors: memory, stops. */
cm_status cm_pace_choose(const cm_mapped *mapped, const cm_pace_task *task, cm_run *run, cm_pacing *pacing, json_t **report,
                         cm_error *error);
