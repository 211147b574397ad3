/* A mesh of routers with queues that hold a step's packets until it ends (catalyst-n1, rtl/async_noc_mesh.v, rtl/async_router.v). */
#pragma once

#include "base/memory.h"

/* Each router has a queue for each input, its core's and its four neighbours', and room for one packet at each output; packets go by x first. */
typedef struct cm_router_queues {
  uint32_t width, height, length; /* packets of a queue */
  uint32_t *queue;                /* [5 * length a router] cores that packets go to, from the head on */
  uint32_t *head, *held;          /* [5 a router] of its queues */
  uint32_t *out;                  /* [5 a router] cores that packets at outputs go to, plus 1; 0: none */
  uint32_t *used;                 /* [routers] those to be emptied */
  uint32_t *pending;              /* [routers] those that may have something to move */
  bool *is_used, *is_pending;     /* [routers] */
  uint32_t uses, pendings;
} cm_router_queues;

/* Queues of so many packets. No memory. O(routers * length). */
cm_status cm_router_queues_make(uint32_t width, uint32_t height, uint32_t length, cm_memory *memory, cm_router_queues *queues, cm_error *error);
void cm_router_queues_free(cm_router_queues *queues); /* harmless on a zeroed one */

/* Empties them: a step begins. O(routers used). */
void cm_router_queues_empty(cm_router_queues *queues);

/* Sends a packet, and moves all that can move; false: its core's queue is full, the packet is lost. Amortised O(routers on its way). */
bool cm_router_queues_send(cm_router_queues *queues, uint32_t from, uint32_t to);
