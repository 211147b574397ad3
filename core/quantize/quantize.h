/* Float32 models in 8-bit integers: QuantizeLinear and DequantizeLinear (QDQ) go around their products, with scales that follow
 * from what the model computes on samples. */
#pragma once

#include <jansson.h>

#include "base/option_upload.h"
#include "core/operators/shapes.h"
#include "core/quantize/samples.h"

/* How the range of a value follows from the numbers that were seen. */
typedef enum cm_range_method {
  CM_RANGE_ALL,        /* from the least to the largest */
  CM_RANGE_PERCENTILE, /* without the outermost */
  CM_RANGE_ERROR,      /* the one with the least mean squared error; of weights too */
} cm_range_method;

typedef struct cm_quantize_options {
  uint32_t method; /* cm_range_method */
  double percentile;
  double threshold; /* layers with a larger error stay in float32; 0: none */
  uint32_t samples; /* random ones, or at most so many of those given; 0: all, or 8 random ones */
  char upload[CM_UPLOAD_ID_MAX]; /* of samples, which a server has; "": none */
  cm_stated_shapes shapes;
  uint64_t seed, memory_limit; /* bytes; 0: none */
  double time_limit;           /* seconds; 0: none */
  bool beside;                 /* set by the caller, not read: external data may lie in the model's folder */
  const char *data;            /* the same: where samples are (samples.h); NULL: they are random */
} cm_quantize_options;

/* The options of a job, in the order of docs/reference/options.md. */
extern const cm_options cm_quantize_option_table;

/* Reads {NAME: value, ...} of the options above; NULL: all as they are unless given. Errors: CM_BAD_OPTION with the name as place. */
cm_status cm_quantize_options_read(const json_t *object, cm_quantize_options *options, cm_error *error);

/* Quantizes the ONNX file at `path` into another at `out`: int8 activations with one scale a value, int8 weights with one a channel, 32-bit
 * biases; ONNX opset 13 or later. BatchNormalization goes into the Conv before it, a bias behind a MatMul makes it a Gemm. Values differ
 * from those of the model by the error that the report tells. Phases read, shapes, calibrate, judge, write. *report (new reference):
 * docs/reference/options.md. The same file, samples and options make the same bytes. Errors: CM_BAD_NETWORK (damaged, what is not computed, no
 * product to quantize, open shapes), CM_BAD_REQUEST (samples), memory, CM_CANCELLED, CM_TIME_LIMIT, CM_IO, CM_DISK_FULL. */
cm_status cm_quantize(const char *path, const cm_quantize_options *options, cm_run *run, const char *out, json_t **report, cm_error *error);
