/* What a compiler must know of a chip that runs programs: on-chip memory, and devices.
 *
 * A device is a set of units that are alike and lie on named cores. Its units either compute, each with a throughput per
 * kind of operation and data type, or move data between outside memory and the chip through ports. */
#pragma once

#include <jansson.h>

#include "base/status.h"

enum {
  CM_TARGET_RATES_MAX = 64,    /* data types and operators that a unit may state for a kind of operation */
  CM_TARGET_DEVICES_MAX = 64,
  CM_TARGET_LANES_MAX = 4096,  /* queues of a chip: ports of units that move data, and units that compute */
  CM_TARGET_NAME_MAX = 32,
  CM_TARGET_MEMORIES_MAX = 1024,
  CM_TARGET_WINDOW_MAX = 256,
  CM_TARGET_CODE_MAX = 65536,
};

/* In place of a core: of a memory that all cores share. */
#define CM_CORE_SHARED UINT32_MAX

/* Largest on-chip memory that can be stated; addresses of programs stay below it. */
#define CM_TARGET_MEMORY_MAX (UINT64_C(1) << 40)

/* Kinds of work. */
typedef enum cm_unit_kind {
  CM_UNIT_DATA,
  CM_UNIT_MATRIX,
  CM_UNIT_VECTOR,
  CM_UNIT_HOST, /* whatever no unit of the two kinds before does; a chip may have none */
  CM_UNIT_KINDS
} cm_unit_kind;

/* Operations a nanosecond on one data type. */
typedef struct cm_rate {
  char type[CM_TARGET_NAME_MAX]; /* "float32", "int8", ..., of one operator "Softmax/float32", or "other" for all that are not named */
  double per_ns;
} cm_rate;

typedef struct cm_device {
  char name[CM_TARGET_NAME_MAX];
  uint32_t units;
  uint32_t ports;      /* of one unit that moves data: transfers under way at once; 1 of one that computes */
  bool moves;          /* data between outside memory and the chip; else it computes */
  double bytes_per_ns; /* of one port; of a unit that computes: between it and the memory of the chip, 0: as fast as need be */
  double latency_ns;   /* before the first byte of a transfer, or the first operation */
  uint64_t memory_bytes; /* that each of its cores has and this device states; 0: none, or stated by another */
  bool pipelined;      /* a unit that computes reads, computes and writes at the same time; else one after the other */
  cm_rate rate[CM_UNIT_KINDS][CM_TARGET_RATES_MAX]; /* of one unit, by kind of operation; none of CM_UNIT_DATA */
  uint32_t rate_count[CM_UNIT_KINDS];
  uint32_t first_lane; /* of its lanes: unit by unit, port by port */
  uint32_t first_unit; /* in cm_target.core */
} cm_device;

/* The grid that cores lie on, and what a hop takes: what chip.h says of a chip, as far as hops go. */
typedef struct cm_core_grid {
  uint32_t width, height, die_width, die_height, router_x, router_y;
  bool torus_x, torus_y;
  double router_ns, east_west_ns, north_south_ns, die_to_die_ns;
} cm_core_grid;

/* A memory of a core: the addresses from where the one before ends up to `to`. */
typedef struct cm_core_memory {
  uint32_t core;
  uint64_t to;
} cm_core_memory;

typedef struct cm_target {
  uint64_t memory_bytes; /* on the chip, all memories together */
  double link_bytes_per_ns; /* between a unit and a memory on another core; 0: as fast as need be */
  double issue_ns;       /* before every instruction; a unit issues in order */
  uint32_t window;       /* instructions of one stream for all lanes that wait for theirs, at most; 0: a stream a lane */
  uint32_t code_bytes;   /* of an instruction, read over a port; with window > 0 */
  uint32_t device_count, lane_count;
  cm_device device[CM_TARGET_DEVICES_MAX];
  uint32_t core[CM_TARGET_LANES_MAX]; /* that each unit lies on, device by device */
  cm_core_grid grid;
  uint32_t memory_count;  /* 0: one memory, that all cores share */
  cm_core_memory memory[CM_TARGET_MEMORIES_MAX];
} cm_target;

/* The memory that has an address; with memory_count > 0. O(log memories). */
uint32_t cm_memory_at(const cm_core_memory *memory, uint32_t count, uint64_t address);

/* Makes memories of `bytes` together out of a target's, each of as large a share, in multiples of `unit`. */
void cm_memories_scale(const cm_target *target, uint64_t bytes, uint64_t unit, cm_core_memory *made);

/* Bytes of the smallest of a target's memories; of all where they share one. O(memories). */
uint64_t cm_target_memory_least(const cm_target *target);

/* "data", "matrix", "vector", "host". */
const char *cm_unit_name(cm_unit_kind kind);

/* Units or ports that do a kind of work. O(devices). */
uint32_t cm_target_lanes(const cm_target *target, cm_unit_kind kind);

/* Bytes a nanosecond of all ports. */
double cm_target_bandwidth(const cm_target *target);

/* True when the lanes of a device do a kind of work, on some data type. */
bool cm_device_does(const cm_device *device, cm_unit_kind kind);

/* Operations of a kind a nanosecond of one unit on a data type, or "operator/type"; 0 when it has none. */
double cm_device_rate(const cm_device *device, cm_unit_kind kind, const char *type);

/* The device of a lane, and the core that the lane's unit lies on. */
uint32_t cm_lane_device(const cm_target *target, uint32_t lane);
uint32_t cm_lane_core(const cm_target *target, uint32_t lane);

/* Nanoseconds from core to core: d links and d + 1 routers; 0 on one core. */
double cm_grid_ns(const cm_core_grid *grid, uint32_t from, uint32_t to);

/* Copies what there is of a numbered target: most of its room is for devices and lanes that few have. O(devices + lanes). */
void cm_target_copy(cm_target *to, const cm_target *from);

/* Numbers lanes and units after devices, units and ports are set. Errors: CM_BAD_CHIP for more lanes than can be. */
cm_status cm_target_number(cm_target *target, cm_error *error);

struct cm_chip;

/* Reads the "machine" object of a chip file (docs/reference/chip-file.md) whose grid is that of `chip` (without its target). The
 * caller frees *target with cm_free. Errors: CM_BAD_CHIP with the place as a JSON pointer: unknown or missing fields,
 * numbers out of range, a device without throughput, cores that are dead or not there; the form with "units", with what to
 * write instead. */
cm_status cm_target_read(const json_t *object, const struct cm_chip *chip, cm_target **target, cm_error *error);

/* The same as a new JSON object; NULL when out of memory. */
json_t *cm_target_json(const cm_target *target);
