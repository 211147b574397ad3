/* An operator-level model from file to file, through the stages of the compiler. */
#ifndef CM_OPERATORS_COMPILE_H
#define CM_OPERATORS_COMPILE_H

#include <jansson.h>

#include "core/base/run.h"

typedef struct cm_compile_options {
  uint64_t seed, memory_limit; /* bytes; 0: none */
  unsigned threads;
  double time_limit; /* seconds; 0: none */
  bool verify;       /* evaluate before and after on random inputs and compare */
} cm_compile_options;

/* Reads options: {"stop_after": "permutations", "verify": bool, "seed", "threads", "memory_limit", "time_limit"}; NULL:
 * all defaults. Errors: CM_BAD_OPTION with the name as place. */
cm_status cm_compile_options_read(const json_t *object, cm_compile_options *options, cm_error *error);

/* Compiles the ONNX file at `path` and writes the model to `out`. Phases read, shapes, permutations, verify, write.
 * *report (new reference): {"stage", "opset", "operators", "permutation_bytes", "moves", "permutations", "verified"}.
 * Errors: CM_BAD_NETWORK, CM_TOO_LARGE, memory, cancel and time, CM_IO, CM_DISK_FULL; CM_INTERNAL when verification
 * finds that numbers changed. */
cm_status cm_compile(const char *path, const cm_compile_options *options, cm_run *run, const char *out, json_t **report,
                     cm_error *error);

#endif
