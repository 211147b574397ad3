/* What a job is told that found no room. */
#pragma once

#include "storage/jobs.h"

/* Adds to the refusal of a mapping for lack of room, or of a neuron that is too large, which other chips that the job's owner sees would take
 * the network, with what is free there now; nothing to other failures, or of networks above LIBRARY_LOOKED_AT_MAX synapses. */
void cm_refusal_name_chips(cm_store *store, const cm_job *job, cm_error *why);
