/* How many connections an address has. */
#pragma once

#define HASH_NONFATAL_OOM 1 /* the default ends the process */
#include <uthash.h>

#include "api/internal.h"

/* An IPv4 address, or the network of an IPv6 address: who has one of those has 2^64 addresses. */
typedef struct cm_client {
  unsigned char key[CM_ADDRESS_KEY];
  uint64_t connections, cut; /* cut: of them, shut down and not gone yet */
  UT_hash_handle hh;
} cm_client;

/* NULL: it has none. */
cm_client *cm_client_find(cm_client *all, const unsigned char key[CM_ADDRESS_KEY]);

/* Counts one more; NULL: no memory. */
cm_client *cm_client_enter(cm_client **all, const unsigned char key[CM_ADDRESS_KEY]);

/* Counts one less, and forgets who has none. NULL is allowed. */
void cm_client_leave(cm_client **all, cm_client *c);
