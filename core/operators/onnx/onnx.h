/* ONNX files in and out.
 *
 * Read: ONNX opsets 6 to 27, every IR version, initializers listed as inputs or not (they are constants either
 * way, and written without the listing where the IR version allows), raw and typed tensor data. Refused with
 * a reason: sparse initializers, training graphs, tensors of more than 8 dimensions. Subgraphs and model-local functions
 * are kept as they stand; control.h unrolls them. A zip holds one member *.onnx and the files with its external data. */
#pragma once

#include "core/operators/graph.h"

enum { CM_OPSET_MIN = 6, CM_OPSET_MAX = 27 };

/* Largest file, the limit of protocol buffers. */
#define CM_ONNX_BYTES_MAX ((size_t)INT32_MAX)

/* Reads a model from a file or from memory, on the run's account. The caller frees it with cm_model_free; what
 * `bytes` holds is copied. Time and memory linear in the size.
 * Errors: CM_BAD_NETWORK (damaged or refused: what, and at which byte or node), CM_TOO_LARGE, CM_NOT_FOUND, CM_IO,
 * memory. */
cm_status cm_onnx_read(const char *path, cm_run *run, cm_model **made, cm_error *error);

/* The same for a file of the user's own: external data may lie in the folder of the model too, below it and not behind
 * links. Never for what others send: the folder would be the server's. */
cm_status cm_onnx_read_beside(const char *path, cm_run *run, cm_model **made, cm_error *error);

cm_status cm_onnx_read_memory(const void *bytes, size_t size, cm_run *run, cm_model **made, cm_error *error);

/* Reads one tensor or sequence as the node tests store them (a TensorProto or SequenceProto). */
cm_status cm_onnx_read_tensor(const void *bytes, size_t size, bool sequence, cm_memory *memory, cm_tensor **made,
                              cm_error *error);

/* Writes a model as an ONNX file, whole or not at all. Errors: CM_TOO_LARGE (2 GiB), CM_IO, CM_DISK_FULL, memory. */
cm_status cm_onnx_write(const cm_model *model, const char *path, cm_error *error);

/* The same into a new block on the model's account; the caller frees it with cm_free. */
cm_status cm_onnx_write_memory(const cm_model *model, uint8_t **bytes, size_t *size, cm_error *error);

/* Whether a file looks like an ONNX model: a ModelProto that begins with its IR version, or a zip with a member *.onnx.
 * Errors: CM_NO_MEMORY, CM_IO and what else keeps it from being looked at. */
cm_status cm_onnx_looks_like(const char *path, bool *looks, cm_error *error);

/* Appends the nodes of a subgraph, an attribute that is kept packed, to the graph around it; the order is not made anew. O(nodes of the subgraph * values). Errors:
 * CM_BAD_NETWORK (other numbers of inputs or outputs, a name that nobody makes), memory; the model is good for freeing
 * only then. */
cm_status cm_onnx_splice(cm_model *model, const cm_attribute *graph, const cm_body_values *values, cm_error *error);

/* The same for a node that calls one of the model's own functions; *found is false when it does not. */
cm_status cm_onnx_splice_function(cm_model *model, const cm_node *caller, bool *found, uint32_t *outputs, cm_error *error);
