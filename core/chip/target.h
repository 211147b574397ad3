/* What a compiler must know of a chip that runs programs: on-chip memory, units, devices (SPEC ORDER-3, TILE-1). */
#ifndef CM_CHIP_TARGET_H
#define CM_CHIP_TARGET_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/status.h"

enum {
  CM_TARGET_RATES_MAX = 16,    /* data types that a unit may state */
  CM_TARGET_DEVICES_MAX = 64,
  CM_TARGET_LANES_MAX = 4096,  /* queues of a chip: ports of data units, matrix units, vector units */
  CM_TARGET_NAME_MAX = 32,
};

/* Largest on-chip memory that can be stated; addresses of programs stay below it. */
#define CM_TARGET_MEMORY_MAX (UINT64_C(1) << 40)

typedef enum cm_unit_kind { CM_UNIT_DATA, CM_UNIT_MATRIX, CM_UNIT_VECTOR, CM_UNIT_KINDS } cm_unit_kind;

/* Operations a nanosecond on one data type. */
typedef struct cm_rate {
  char type[CM_TARGET_NAME_MAX]; /* "float32", "int8", ..., or "other" for all that are not named */
  double per_ns;
} cm_rate;

typedef struct cm_unit {
  uint32_t count;       /* units of this kind */
  uint32_t ports;       /* of one data unit: transfers under way at once; 1 for the others */
  double bytes_per_ns;  /* of one port of a data unit, between outside memory and the chip */
  double latency_ns;    /* before the first byte of a transfer */
  cm_rate rate[CM_TARGET_RATES_MAX];
  uint32_t rate_count;
} cm_unit;

/* A device of the tiling model. */
typedef struct cm_device {
  char name[CM_TARGET_NAME_MAX];
  uint32_t cores;
  uint64_t length;    /* elements that one core completes at once */
  double transfer_ns; /* reading the input or writing the output of that length */
  double compute_ns;
  bool pipelined;     /* transfers and computation overlap */
} cm_device;

typedef struct cm_target {
  uint64_t memory_bytes; /* on the chip */
  double issue_ns;       /* before every instruction; a unit issues in order */
  cm_unit unit[CM_UNIT_KINDS];
  uint32_t device_count;
  cm_device device[CM_TARGET_DEVICES_MAX];
} cm_target;

/* "data", "matrix", "vector". */
const char *cm_unit_name(cm_unit_kind kind);

/* Queues of a kind of unit that work at the same time: count * ports. */
uint32_t cm_target_lanes(const cm_target *target, cm_unit_kind kind);

/* Operations a nanosecond of a unit on a data type; 0 when it has none. */
double cm_unit_rate(const cm_unit *unit, const char *type);

/* Reads the "machine" object of a chip file (docs/chip-file.md). The caller frees *target with cm_free. Errors:
 * CM_BAD_CHIP with the place as a JSON pointer: unknown or missing fields, numbers out of range, a device or unit
 * without throughput. */
cm_status cm_target_read(const json_t *object, cm_target **target, cm_error *error);

/* The same as a new JSON object; NULL when out of memory. */
json_t *cm_target_json(const cm_target *target);

#endif
