/* Between the reader's files, the only ones beside onnx_write.c that know protocol buffers' types. */
#pragma once

#include <protobuf-c/protobuf-c.h>

#include "core/operators/onnx/onnx.pb-c.h"
#include "core/operators/graph.h"

/* protobuf-c's memory on our account. */
typedef struct cm_proto_account {
  cm_run *run; /* NULL: nobody can stop it */
  cm_memory *memory;
  cm_error error; /* of the last allocation that failed */
} cm_proto_account;

ProtobufCAllocator cm_proto_allocator(cm_proto_account *account);

/* Walks the bytes (onnx_check.h), then unpacks them; NULL and the error. */
ProtobufCMessage *cm_proto_unpack(const ProtobufCMessageDescriptor *kind, const uint8_t *bytes, size_t size,
                                  ProtobufCAllocator *allocator, cm_error *error);

/* A tensor of a message; `name` is for errors. Errors: CM_BAD_NETWORK, CM_TOO_LARGE, memory. */
cm_status cm_proto_tensor(const Onnx__TensorProto *message, const char *name, cm_memory *memory, cm_tensor **made,
                          cm_error *error);

struct cm_external;

/* A model from bytes, with the data that lies elsewhere (onnx_external.h; NULL: nowhere). */
cm_status cm_onnx_read_bytes(const void *bytes, size_t size, struct cm_external *source, cm_run *run, cm_model **made,
                             cm_error *error);

/* One attribute; what it keeps lives in the model. Errors: CM_BAD_NETWORK, memory. */
cm_status cm_onnx_attribute(cm_model *model, const Onnx__AttributeProto *message, cm_attribute *made, cm_error *error);

/* Where a file leaves outputs out, those behind the last that is there go, unless their number says something (of a Split, or a Loop);
 * a node that makes nothing is removed. Whoever reads a file makes a value of each that is still CM_NONE, so that every
 * output of a node in a model is one and every node has a first: nothing that walks outputs has to ask. */
void cm_onnx_trim_outputs(cm_node *node);
