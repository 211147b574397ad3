/* Windows on nets of many targets: a few targets of such a net, without reading those before them. */
#pragma once

#include "core/partition/axon/hypergraph.h"

enum { CM_WINDOW_TARGETS = 8, CM_WINDOWS_APART = 64 };

typedef struct cm_net_windows {
  const cm_hypergraph *graph;
  uint64_t *first;   /* [net_count + 1] where the places of a net begin; NULL: no net is large */
  cm_targets *place; /* every CM_WINDOWS_APART-th in the targets of large nets */
} cm_net_windows;

/* Those on all nets of more than `least` targets. O(pins of these + nets). */
cm_status cm_net_windows_new(const cm_hypergraph *graph, uint32_t least, cm_run *run, cm_net_windows *windows, cm_error *error);
void cm_net_windows_free(cm_net_windows *windows); /* harmless on a zeroed one */

/* The targets that are looked at for vertex v: all, of a large net a few, which vertices of neighbouring numbers share. They are
 * as few because all who look through one window want the same cluster, in which most of them find no room. */
cm_targets cm_net_windows_of(const cm_net_windows *windows, uint32_t net, uint32_t v);
