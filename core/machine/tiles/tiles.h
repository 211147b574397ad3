/* From a model to tiles on cores (SPEC TILE-1 to TILE-4): the micro-operators of a model as a topology that the mapping
 * core places, and as a schedule on the devices of a chip. */
#ifndef CM_MACHINE_TILES_TILES_H
#define CM_MACHINE_TILES_TILES_H

#include <jansson.h>

#include "core/base/run.h"
#include "core/chip/chip.h"
#include "core/mapping/mapping.h"
#include "core/network/topology.h"
#include "core/operators/shapes.h"
#include "core/operators/tiling/tile.h"
#include "core/schedule/schedule.h"

enum { CM_TILE_PIECES = 64 }; /* micro-operators of one operator at most, unless somebody says otherwise */

/* The devices of a chip as the tiling takes them; names are borrowed from the chip. Errors: CM_BAD_CHIP when the chip
 * runs no programs or names no devices. */
cm_status cm_tiles_devices(const cm_chip *chip, cm_tile_device devices[CM_TARGET_DEVICES_MAX], uint32_t *count,
                           cm_error *error);

/* A tiling as a directed topology: a vertex a micro-operator, its size the bytes that it holds; a net an arc, its weight
 * the bytes that go along it. Vertices are called NODE[k]@DEVICE. The caller's: cm_topology_free. O(micro-operators +
 * arcs). Errors: CM_TOO_LARGE for a micro-operator that holds 4 GiB or more, or more arcs than a topology has nets;
 * memory. */
cm_status cm_tiles_topology(const cm_model *model, const cm_tiling *tiling, const cm_tile_device *devices,
                            cm_memory *memory, cm_topology **made, cm_error *error);

/* Schedules a tiling on the devices' cores, the highest first (TILE-3); times in nanoseconds, units left open. The
 * caller's: cm_schedule_free. Errors: memory, CM_CANCELLED. */
cm_status cm_tiles_schedule(const cm_tiling *tiling, const cm_tile_device *devices, uint32_t device_count,
                            cm_run *run, cm_schedule **made, cm_error *error);

/* Writes a schedule of a tiling as a Chrome trace, a lane a core of a device. Errors: CM_IO, CM_DISK_FULL; memory. */
cm_status cm_tiles_write_trace(const cm_model *model, const cm_tiling *tiling, const cm_tile_device *devices,
                               uint32_t device_count, const cm_schedule *schedule, cm_memory *memory, FILE *stream,
                               cm_error *error);

/* {"operators", "micro_operators", "arcs", "bytes_moved", "bytes_held", "largest_bytes", "makespan_ns",
 * "lower_bound_ns", "devices": [{"name", "cores", "capability_per_ns", "micro_operators", "elements", "busy_ns"}]}; a new
 * reference, NULL when out of memory. */
json_t *cm_tiles_report(const cm_tiling *tiling, const cm_tile_device *devices, uint32_t device_count,
                        const cm_schedule *schedule);

/* Lays the tiles on the chip's cores (TILE-4): cm_map on a chip that is all free, with `options` (job options as in
 * docs/options.md; NULL: none). Unless they say otherwise: preset fast, and a part for each core, as even as the largest
 * micro-operator allows. Coarsened levels go to `scratch_folder`. The caller's: cm_mapping_free. */
cm_status cm_tiles_map(const cm_topology *topology, const cm_chip *chip, const json_t *options,
                       const char *scratch_folder, cm_run *run, cm_mapping **made, cm_error *error);

typedef struct cm_tiles_options {
  uint32_t pieces_max; /* cm_tile_options; 0: CM_TILE_PIECES */
  const char *trace;   /* file for the schedule, NULL: none */
  const char *mapping; /* file for the mapping of the tiles on the chip's cores, NULL: they are not mapped */
  const json_t *map_options; /* of that mapping, borrowed; NULL: all defaults */
  const char *scratch_folder;
  const cm_stated_shapes *shapes; /* of the inputs, for cm_tiles_make_file; NULL: all are in the model */
} cm_tiles_options;

/* Tiles a model (after cm_infer) for a chip and writes the topology to `output` (by its ending: core/network/export.h; NULL: not)
 * and what else the options name. Phases tile, schedule, those of cm_map, write. *report (new reference) as above, with
 * "mapping": {"parts", "metrics"} where there is one. Errors: those of all steps. */
cm_status cm_tiles_make(cm_model *model, const cm_chip *chip, const cm_tiles_options *options, cm_run *run,
                        const char *output, json_t **report, cm_error *error);

/* The same for an ONNX file of the user's own: phases read and shapes before. */
cm_status cm_tiles_make_file(const char *path, const cm_chip *chip, const cm_tiles_options *options, cm_run *run,
                             const char *output, json_t **report, cm_error *error);

#endif
