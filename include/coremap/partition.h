/* coremap: parts of a network that keep the limits of a core, without places on a chip. */
#ifndef COREMAP_PARTITION_H
#define COREMAP_PARTITION_H

#include <coremap/chip.h>
#include <coremap/network.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coremap_partition coremap_partition;

/* Cuts a network into parts; `chip` has the limits, a part a free core at most, NULL: only the options do. `options` as of
 * coremap_map, and beside them "cache" and "alone". Errors: those of coremap_map. Path "fixed", with parts: a
 * line a vertex, the part that it belongs to or -1. */
int coremap_partition_make(const coremap_network *network, const coremap_chip *chip, const char *options, coremap_progress progress,
                           void *user, coremap_partition **partition, coremap_error **error);

/* The part of each neuron [*neurons]: as long as the partition lives. O(1). */
const uint32_t *coremap_partition_parts(const coremap_partition *partition, uint64_t *neurons);

/* A figure of "metrics" below by its name ("connectivity", "cut_net", "edge_cut", "imbalance", ...). O(metrics). Errors: not-found,
 * no-memory. */
int coremap_partition_metric(const coremap_partition *partition, const char *name, double *value, coremap_error **error);

/* {"parts", "bound", "metrics", "limits": {name: {"limit", "most", "mean_use"}}, "attempts"}, and "shown" as of mappings; the
 * caller's. */
int coremap_partition_about(const coremap_partition *partition, char **json, coremap_error **error);

/* One part number a line. Errors: disk-full, io. */
int coremap_partition_write(const coremap_partition *partition, const char *path, coremap_error **error);

void coremap_partition_free(coremap_partition *partition); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
