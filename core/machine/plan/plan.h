/* A model cut in pieces that fit on the chip: values in tiles, operators in pieces.
 *
 * A value is kept on the chip in tiles, the cells of a grid over its dimensions; a piece makes one tile from parts of
 * others. Views (reshapes, concatenations, slices) are no operators here: what reads them reads parts of the values
 * behind them. Internal to core/machine. */
#pragma once

#include "base/run.h"
#include "core/operators/evaluate.h"
#include "core/machine/cost.h"
#include "core/machine/hops.h"
#include "core/machine/plan/packs.h"
#include "core/machine/plan/settings.h"
#include "core/operators/tiling/split.h"

enum {
  CM_ALIGNMENT = 64,  /* of addresses and sizes on the chip */
  CM_TILE_SHARE = 16, /* of the memory, at most: a tile where nothing else decides */
  CM_SMALL_SHARE = 128, /* of the memory, at most: a constant that comes whole however it is cut */
};

typedef enum cm_value_kind {
  CM_VALUE_UNUSED,
  CM_VALUE_CONSTANT,
  CM_VALUE_INPUT, /* of the graph: lies outside at the start */
  CM_VALUE_MADE,  /* by pieces */
  CM_VALUE_VIEW,  /* of other values */
} cm_value_kind;

/* Tiles of unlike extents along one axis: each device has a stretch in tiles of its own extent, or each unit one by how far it is from others. */
typedef struct cm_stretches {
  uint32_t axis;
  int64_t count;          /* tiles along it */
  const int64_t *edge;    /* where each tile begins, and where the last one ends; NULL: tiles are alike */
  const uint32_t *device; /* of each tile along the axis; NULL: the operator's shares say */
  const uint32_t *lane;   /* of each tile: whose memory should have it; NULL: any */
} cm_stretches;

typedef struct cm_plan_value {
  cm_value_kind kind;
  bool output;    /* of the graph: has to lie outside at the end */
  bool host;      /* a host makes it, whole: it lies outside from then on */
  bool host_reads; /* a host reads it outside */
  bool copied;    /* a view that has to be made all the same: a graph output */
  bool solid;     /* a view that has to be made by its operator: its parts are no boxes */
  cm_box whole;   /* what pieces make of it: in a program of turns the rows of the first one */
  int64_t step[CM_RANK_MAX]; /* extents of a tile; the last one of a row may be smaller */
  int64_t count[CM_RANK_MAX]; /* tiles along each axis */
  cm_stretches stretches;    /* the axis along which they differ by device */
  uint32_t first_tile, tile_count; /* row-major over count */
} cm_plan_value;

typedef struct cm_tile {
  uint32_t value;
  uint32_t piece;    /* that makes it; CM_NONE: it lies outside */
  uint32_t last_op;  /* place in the order of the last operator that reads it on the chip */
  bool grid;         /* a cell of its value's grid; else a box of its own, loaded from outside */
  bool constant;
  bool host;         /* a host reads or makes it outside: it takes no room on the chip, and nothing moves it */
  bool used;
  bool must_home;    /* has to be stored: a graph output, or boxes of it are loaded */
  uint32_t mark;     /* of the last gathering that met it */
  uint64_t bytes;    /* aligned */
  cm_box box;
} cm_tile;

typedef struct cm_piece {
  uint32_t op;
  uint64_t first_tile;    /* in plan->piece_tiles: inputs, then outputs */
  uint32_t input_count, output_count;
  uint32_t in_place; /* input tile whose room the output may take; CM_NONE */
  bool dead;         /* nobody needs what it makes */
  uint32_t device;   /* that its operator's shares give it to */
  uint32_t lane;     /* of it, whose memory should have what is loaded and made; CM_NONE: any */
  cm_work work;      /* multiplications or element operations; bytes of operands */
  uint64_t boxed;    /* bit i: input i is loaded as a box of its own (inputs from 64 on: never) */
} cm_piece;

/* A node that computes. */
typedef struct cm_plan_op {
  cm_call call;    /* node, shapes and constants */
  uint32_t copied; /* the view that it copies into tiles; CM_NONE: an ordinary node */
  uint32_t first_piece, piece_count;
  cm_unit_kind kind; /* of units that compute it */
  const double *rates; /* by device: of a unit on its data type, operations a nanosecond; 0: it cannot */
  double rate;     /* of the fastest unit; where pieces are shared evenly, of the mean one */
  double units;    /* of that speed that all units together come to */
} cm_plan_op;

typedef struct cm_plan {
  cm_model *model;
  cm_memory *memory;
  const cm_target *target;
  const cm_settings *settings; /* the caller's, as long as it is laid out; NULL: by bytes alone */
  cm_division division;
  cm_hop_times hops;
  uint64_t memory_bytes; /* of the chip, aligned */
  cm_core_memory *core_memory; /* memories of cores, scaled to that; memory_count of them: 0: all cores share the one that it has */
  uint32_t memory_count;
  uint64_t cut_bytes;    /* that pieces are cut for: the smallest memory of a core */
  uint32_t turns;        /* of the program; pieces are those of the first one */
  cm_arena arena;
  cm_plan_value *values;
  cm_plan_op *ops;       /* in the order of execution */
  uint32_t op_count;
  cm_tile *tiles;
  size_t tile_count;
  cm_piece *pieces;
  size_t piece_count;
  uint32_t *piece_tiles;
  uint64_t *piece_tile_bytes; /* that the piece reads of each; of what it makes, all */
  size_t piece_tile_count;
  uint64_t tile_capacity, piece_room, piece_tile_capacity, piece_bytes_capacity;
  uint32_t *box_table; /* open addressing: tile + 1 */
  size_t box_table_size, box_count;
  cm_call **calls;     /* by node */
  const cm_pack *pack; /* where small constants lie together; NULL: nowhere */
  uint32_t pack_values;
  uint32_t marks;
} cm_plan;

typedef struct cm_plan_options {
  uint64_t memory_bytes;
  const cm_target *target;
  const char *chip_name;       /* for messages */
  const cm_settings *settings; /* pieces for every unit; NULL: by bytes alone, tiles about memory / tile_share large */
  uint32_t tile_share;
  const cm_packs *packs;       /* of the model; NULL: none */
  cm_division division;        /* with settings */
  uint32_t turns;              /* with settings: what cm_turns_find says; 0: one */
} cm_plan_options;

/* Cuts a model (after cm_infer, all shapes known) for a chip; `order` names its computing and view nodes in the order
 * of execution (NULL: the model's). The plan borrows the model. Errors: CM_BAD_NETWORK (unknown operator or shape, with
 * the node's name), CM_TOO_LARGE when the smallest piece of an operator exceeds the memory (figures "needed_bytes" and
 * "memory_bytes"), memory. */
cm_status cm_plan_new(cm_model *model, const uint32_t *order, const cm_plan_options *options, cm_run *run,
                      cm_plan **made, cm_error *error);
void cm_plan_free(cm_plan *plan); /* NULL is allowed */

/* ---- what the files of this folder share ---- */

/* A part of an operand: elements of a tile, and where they go in the operand (row-major, in elements). */
typedef struct cm_part {
  uint32_t tile;
  uint32_t rank;
  int64_t extent[CM_RANK_MAX], from, from_stride[CM_RANK_MAX], to, to_stride[CM_RANK_MAX];
} cm_part;

typedef cm_status (*cm_part_visitor)(void *user, const cm_part *part, cm_error *error);

/* Who visits parts, and how. */
typedef struct cm_part_visit {
  cm_part_visitor visit;
  void *user;
  bool boxed;        /* of values behind the operand whole boxes are taken, not tiles of the grid; constants always are */
  uint32_t *blocked; /* gets the view whose part is no box, else CM_NONE: nothing of it is visited then; NULL: there is none */
} cm_part_visit;

/* Visits the parts that make up `box` of an operator's input: of one that copies a view, of what lies behind that, though it has
 * tiles of its own. */
cm_status cm_plan_operand_parts(cm_plan *plan, const cm_plan_op *op, uint32_t input, const cm_box *box,
                                const cm_part_visit *visit, cm_error *error);

/* The call of a node with what the model knows of its values; it lives in the plan's arena. */
cm_status cm_plan_call(cm_plan *plan, const cm_node *node, const cm_call **call, cm_error *error);

/* True for nodes that only name elements of other values. */
bool cm_plan_is_view(const cm_model *model, const cm_node *node);

/* Where output `o` of a Slice or Split that is a view begins in its input. Errors: CM_BAD_NETWORK when nobody knows. */
cm_status cm_plan_part_offset(cm_plan *plan, const cm_node *node, uint32_t o, int64_t offset[CM_RANK_MAX], cm_error *error);

/* Dimensions [a, a_end) of one shape hold as many elements as [b, b_end) of the other. */
typedef struct cm_dims_group {
  uint32_t a, a_end, b, b_end;
} cm_dims_group;

/* The next group of dimensions of a reshape that correspond, the first one after {0}; false when both shapes are used up. */
bool cm_plan_next_group(const cm_shape *a, const cm_shape *b, cm_dims_group *group);

/* Decides the grid of what an operator makes, so that no piece is estimated to need more than `memory` bytes; of a graph
 * input. */
cm_status cm_plan_grid(cm_plan *plan, const cm_plan_op *op, const cm_plan_options *options, uint64_t memory,
                       cm_plan_value *value, cm_error *error);

/* The same for the units of a chip (options->settings). */
cm_status cm_plan_grid_for_units(cm_plan *plan, const cm_plan_op *op, const cm_plan_options *options, uint64_t memory,
                                 cm_plan_value *value, cm_error *error);

/* The failure of an operator whose smallest piece needs `needed` bytes. */
cm_status cm_plan_too_small(const cm_plan *plan, const cm_node *node, uint64_t needed, cm_error *error);
void cm_plan_input_grid(const cm_plan *plan, const cm_plan_options *options, uint64_t width, cm_plan_value *value);

/* Follows views to the first value that has tiles; CM_NONE when there is none or it has another rank. */
uint32_t cm_plan_source(const cm_plan *plan, uint32_t value);

/* The tile for a box of a value that is loaded from outside, or read there by a host; made when it is new. */
cm_status cm_plan_box_tile(cm_plan *plan, uint32_t value, const cm_box *box, bool host, uint32_t *tile, cm_error *error);

/* The box of a constant that is loaded for one that is read: small constants come whole, however they are cut. */
cm_box cm_plan_constant_box(const cm_plan *plan, uint32_t value, const cm_box *box);

/* Along an axis of a value's grid: the cell that has a place, and the places that a cell has. O(log cells). */
int64_t cm_grid_cell(const cm_plan_value *value, uint32_t axis, int64_t place);
int64_t cm_grid_to(const cm_plan_value *value, uint32_t axis, int64_t cell);

/* The tile number of a cell of a value's grid. */
uint32_t cm_plan_tile_at(const cm_plan_value *value, const int64_t *cell);

/* The tiles of a made value's grid that a box meets, one after the other. cm_cells_begin is false when there are none:
 * the value of `box` is not made by pieces. */
typedef struct cm_cells {
  const cm_plan_value *value;
  int64_t first[CM_RANK_MAX], extent[CM_RANK_MAX], index[CM_RANK_MAX];
} cm_cells;
bool cm_cells_begin(const cm_plan *plan, const cm_tile *box, cm_cells *cells);
bool cm_cells_next(cm_cells *cells);
uint32_t cm_cells_tile(const cm_cells *cells);

/* The elements of a value, unaligned bytes of a box of it. */
uint64_t cm_plan_bytes(const cm_plan *plan, uint32_t value, const cm_box *box);

static inline uint64_t cm_aligned(uint64_t bytes)
{
  return (bytes + CM_ALIGNMENT - 1) / CM_ALIGNMENT * CM_ALIGNMENT;
}

static inline const uint32_t *cm_piece_inputs(const cm_plan *plan, const cm_piece *piece)
{
  return plan->piece_tiles + piece->first_tile;
}

static inline const uint32_t *cm_piece_outputs(const cm_plan *plan, const cm_piece *piece)
{
  return plan->piece_tiles + piece->first_tile + piece->input_count;
}
