/* An operator-level model from file to file, through the stages of the compiler. */
#pragma once

#include <jansson.h>

#include "base/option.h"
#include "base/run.h"
#include "core/chip/chip.h"
#include "core/operators/shapes.h"

typedef enum cm_compile_stage {
  CM_STAGE_DEFAULT,      /* program where a chip is given, else permutations */
  CM_STAGE_PERMUTATIONS, /* an ONNX model */
  CM_STAGE_SPLIT,        /* the pieces of the program in the order of the file, as JSON */
  CM_STAGE_ORDER,        /* the same in the order in which they begin */
  CM_STAGE_TILE,         /* the pieces of the program as a network (core/machine/tiles/tiles.h) */
  CM_STAGE_PROGRAM,      /* a program file for a chip */
  CM_STAGE_MAPPING,      /* the pieces of the program on the chip's cores, as coremap map -o writes it */
} cm_compile_stage;

/* "permutations", "split", ...; NULL for CM_STAGE_DEFAULT. */
const char *cm_compile_stage_name(cm_compile_stage stage);

typedef enum cm_compile_order {
  CM_COMPILE_ORDER_SEARCH, /* every order of a subgraph where there are few, else tree search */
  CM_COMPILE_ORDER_FILE,   /* none: operators stay in the order of the file */
  CM_COMPILE_ORDER_TREE,   /* tree search alone */
  CM_COMPILE_ORDER_SAMPLE, /* random orders biased by height */
} cm_compile_order;

typedef struct cm_compile_options {
  uint64_t seed, memory_limit; /* bytes; 0: none */
  uint32_t threads;
  double time_limit; /* seconds; 0: none */
  bool verify;       /* compute before and after on random inputs and compare */
  uint32_t stop_after; /* cm_compile_stage */
  uint64_t memory;   /* on-chip bytes instead of the chip file's; 0: the chip's */
  bool smallest_memory; /* the least that does, instead of that */
  uint32_t order;    /* cm_compile_order: how the search for an order of operators goes */
  uint32_t division; /* cm_division: of operators among devices; all but CM_DIVISION_CAPABILITY stay in the order of the file */
  cm_stated_shapes shapes; /* of graph inputs; what is made for a chip needs every extent */
  uint64_t scores;   /* candidates that the search scores, and orders; 0: as many as the size of the program allows */
  double until_ns;   /* searches end with the first program that takes no longer; 0: none */
  double search_seconds; /* after which the search ends with the best found; 0: never. The result depends on the machine */
  bool least_traffic; /* the fewest bytes between the chip and outside come first, not the least time */
  bool beside;       /* set by the caller, not read: external data may lie in the model's folder */
  bool make_tiles;   /* else the next two are left alone */
  /* Set by the caller, not read: files beside a program (core/machine/tiles/tiles.h). */
  const char *tiles;   /* its pieces as a network, NULL: not made */
  const char *mapping; /* that network on the chip's cores, NULL: not made */
  /* A command that scores orders on the real target (docs/explanation/orders.md), NULL: the cost model does; where each program is
   * written for it, and seconds that one run may take. Never taken from a job. */
  const char *measure, *measure_path;
  double measure_seconds;
} cm_compile_options;

/* For the rules of the options: no chip is named. */
enum { CM_COMPILE_NO_CHIP = 1 };

/* The options of a job, in the order of docs/reference/options.md. */
extern const cm_options cm_compile_option_table;

/* Reads {NAME: value, ...} of the options above; NULL: all as they are unless given. Errors: CM_BAD_OPTION with the name as
 * place. */
cm_status cm_compile_options_read(const json_t *object, cm_compile_options *options, cm_error *error);

/* The stage that these options and this chip (NULL: none) end in. */
cm_compile_stage cm_compile_last_stage(const cm_compile_options *options, const cm_chip *chip);

/* Compiles the ONNX file at `path` for a chip (NULL: stops after permutations) and writes what the last stage makes to
 * `out`; of a program also when each unit of the chip does what to `timeline` (NULL: not; Chrome trace JSON), and the
 * tiles that the options ask for. Phases read, shapes, permutations, split, order, emit, link, verify, write, tile,
 * schedule and those of cm_map. *report (new reference): {"stage", "opset", "operators", "copy_bytes", "permutation_bytes", "moves",
 * "permutations", "verified"}, "partial_sums" where sums were cut, of a program "nodes" (core/machine/run/node_table.h) and "graph" (core/machine/report.h), "smallest_memory" (core/machine/smallest.h) where that was asked for, and by stage "split", "order", "program", "tiles" (docs/explanation/programs.md, docs/explanation/tiling.md).
 * Errors: CM_BAD_NETWORK, CM_TOO_LARGE (a piece that does not fit: node, figures "needed_bytes" and "memory_bytes"),
 * CM_BAD_CHIP (a unit without throughput), CM_BAD_OPTION (open dimensions whose extents are not stated), memory, cancel and time, CM_IO, CM_DISK_FULL; CM_INTERNAL when verification
 * finds that numbers changed. */
cm_status cm_compile(const char *path, const cm_compile_options *options, const cm_chip *chip, cm_run *run,
                     const char *out, const char *timeline, json_t **report, cm_error *error);
