/* Who sends to whom, between groups: a net for what each sender reaches alone, and one for what a family reaches in common. */
#pragma once

#include "core/fabric/fabric_place.h"

/* Nets of more groups than this pull nobody: all of their groups cannot be near. */
enum { CM_FABRIC_NET_MAX = 64 };

typedef struct cm_fabric_nets {
  uint32_t count;
  uint64_t *first;    /* [count + 1]: where its targets begin */
  uint64_t *source;   /* [count]: where its sources do, behind the targets */
  uint32_t *pin;      /* groups */
  uint32_t *weight;   /* [count]: senders */
  uint64_t *of_first; /* [groups + 1] */
  uint32_t *of;       /* nets of a group, once for each pin, twice the number and 1 more where it is a source */
} cm_fabric_nets;

/* O(targets). The caller's: cm_fabric_nets_free. */
cm_status cm_fabric_nets_make(const cm_flows *flows, const cm_fabric_groups *groups, cm_memory *memory, cm_fabric_nets *nets, cm_error *error);
void cm_fabric_nets_free(cm_fabric_nets *nets);

static inline bool cm_fabric_net_pulls(const cm_fabric_nets *nets, uint32_t net)
{
  const uint64_t size = nets->first[net + 1] - nets->first[net];
  return size > 1 && size <= CM_FABRIC_NET_MAX;
}
