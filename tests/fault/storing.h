/* What operations of storage have in common: one store, in which things are made, and how it is judged. */
#pragma once

#include "storage/store.h"
#include "tests/fault/operations.h"

extern cm_store *storing_store;
extern char storing_network[CM_SHA_MAX]; /* a network in it */

/* The store, a chip "toy" of 8 x 8 cores and a network, once a process. */
void storing_ready(void);

/* What was stored must also be there after a new start. */
void storing_anew(void);

/* After a success it must be as asked, else as before. */
void storing_expect(cm_status status, bool as_asked, bool as_before, const char *what);
