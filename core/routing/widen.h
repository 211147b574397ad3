/* Keys widened where tables do not fit: axons of a part get targets of each other, so that they leave a router alike and share its
 * entry. Packets then come to cores too that hold no target of them, which drop them. */
#pragma once

#include "core/routing/walk.h"

/* Widens flows for the routers whose tables, as they were just made, are over the chip's limit: among aligned blocks of a part's
 * keys those first that cost least packets for an entry less, until as many entries are saved as are too many, in later rounds
 * more. Only targets beyond the router are added. Flows of a neuron that has several stay as they are, so that a key still tells
 * which of them it is. *wider is false where no key can be widened: nothing changes. The walker is of no use any more.
 * O(links of all trees + pins by part * routers over the limit on their ways, times logarithms). */
cm_status cm_routes_widen(cm_routes *routes, cm_walker *walker, uint32_t round, cm_run *run, bool *wider, cm_error *error);
