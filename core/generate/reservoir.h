/* Between the files that make a reservoir. */
#pragma once

#include "core/generate/generate.h"

#define CM_BELL_WIDTH 0.01 /* of the cube's side */
#define CM_MINUS (UINT32_C(1) << 31)

enum {
  CM_RESERVOIR_BLOCK = 1024, /* neurons a task */
  CM_RESERVOIR_BODY = 1,     /* random streams of a neuron */
  CM_RESERVOIR_PICKS = 2,
};

typedef struct cm_body {
  float at[3];
  uint32_t tag; /* its number, CM_MINUS set for direction -1 */
} cm_body;

/* One entry of the table that proposals come from (Walker's alias method). */
typedef struct cm_proposal {
  int8_t cell[3];   /* relative to the source's */
  uint8_t minus;    /* which neurons of the cell */
  uint32_t alias;
  uint32_t keep;    /* probability of this entry against its alias, times 2^32 */
  float bound;      /* no neuron of the cell weighs more */
} cm_proposal;

typedef struct cm_reservoir {
  cm_run *run;
  uint32_t count;
  double fan_out;
  int side;              /* cells a side */
  cm_body *drawn;           /* [count] by number; freed once sorted */
  cm_body *sorted;          /* [count] by cell, direction +1 first */
  uint32_t *first;       /* [2 side^3 + 1] where the +1 (even) and -1 (odd) neurons of each cell start */
  uint32_t *fan;         /* [count] targets: first wanted, then found */
  cm_proposal *table;       /* NULL: only races */
  uint32_t table_count;
  uint32_t slots[2];     /* most neurons of either direction in a cell */
  cm_topology *made;
  uint32_t slice_begin;  /* the block that task 0 handles */
} cm_reservoir;

static inline int cm_reservoir_cell(const cm_reservoir *r, float coordinate)
{
  int cell = (int)(coordinate * (float)r->side);
  return cell < r->side ? cell : r->side - 1;
}

static inline size_t cm_reservoir_cell_index(const cm_reservoir *r, int x, int y, int z)
{
  return ((size_t)x * (size_t)r->side + (size_t)y) * (size_t)r->side + (size_t)z;
}

static inline int cm_clamp(int value, int low, int high)
{
  return value < low ? low : value > high ? high : value;
}

/* The table that proposals come from: Walker's, each entry weighing its bound times the slots of a cell. Errors: memory. */
cm_status cm_reservoir_table(cm_reservoir *r, cm_error *error);

/* Task `index` of a slice: draws the targets of a block of neurons (by place) into their rows of pins, and notes in r->fan
 * how many there are. Errors: memory, those of the run. */
cm_status cm_reservoir_targets(void *reservoir, size_t index, cm_error *error);
