/* An operator graph as micro-operators that devices share (SPEC TILE-2, TILE-4; seed 4, operator tiling).
 *
 * Each operator's output is shared out among the devices by their capability and cut in boxes of what one core completes
 * at once; every element is computed by exactly one of them. Between micro-operators go the bytes of one's output that
 * the other reads, halos included, and seen through operators that only rename elements (Reshape, Concat, Slice, ...). */
#ifndef CM_OPERATORS_TILE_H
#define CM_OPERATORS_TILE_H

#include "core/operators/tiling/split.h"
#include "core/operators/tiling/tile_share.h"

typedef struct cm_tile_options {
  const cm_tile_device *devices;
  uint32_t device_count;
  uint32_t pieces_max; /* micro-operators of one operator: where there would be more, each does several rounds in a row */
} cm_tile_options;

typedef struct cm_micro {
  uint32_t node; /* of the model */
  uint32_t device;
  cm_box output;     /* of output 0 */
  uint64_t elements; /* of output 0 */
  uint64_t bytes;    /* of its outputs, and of the constants that it reads */
  uint64_t latency_ns; /* least time: T_i for each full length, in proportion for the rest; at least 1 */
} cm_micro;

typedef struct cm_tile_arc {
  uint32_t from, to;
  uint64_t bytes;
} cm_tile_arc;

typedef struct cm_tiling {
  uint32_t micro_count;
  cm_micro *micro; /* in the order of the model's nodes, then device by device along the output */
  uint64_t arc_count;
  cm_tile_arc *arc; /* by from, then to; distinct */
} cm_tiling;

/* Tiles a model (after cm_infer). Nodes that depend on constants alone are left out; what cannot be cut is one
 * micro-operator on the most capable device. Same model and options: same tiling, for any number of threads. The caller's:
 * cm_tiling_free. Time: linear in the elements of all activations, plus what micro-operators read, a row at a time.
 * Errors: CM_BAD_CHIP as cm_tile_devices_check, CM_BAD_NETWORK for an unknown operator or shape (names the node),
 * CM_TOO_LARGE for more than 2^24 micro-operators; memory, CM_CANCELLED, CM_TIME_LIMIT. */
cm_status cm_tile_model(cm_model *model, const cm_tile_options *options, cm_run *run, cm_tiling **made,
                        cm_error *error);
void cm_tiling_free(cm_tiling *tiling); /* NULL is allowed */

/* Cuts an output (of a call that can be cut, all shapes known) in boxes for each device in turn: *boxes and *devices have
 * *count entries and are the caller's (cm_free). The boxes are disjoint and cover the output. */
cm_status cm_tile_cut(const cm_call *call, const cm_tile_options *options, cm_memory *memory, cm_box **boxes,
                      uint32_t **devices, uint32_t *count, cm_error *error);

#endif
