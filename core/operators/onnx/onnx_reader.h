/* Between the files that read a model: names and values, attributes, nodes. */
#pragma once

#include "core/operators/onnx/onnx_proto.h"

typedef struct cm_onnx_reader {
  cm_model *model;
  cm_run *run; /* looked at between large parts; NULL in those that read none */
  cm_memory *memory;
  ProtobufCAllocator allocator;
  cm_proto_account account;
  uint32_t *table; /* open addressing: value + 1 by name */
  size_t table_size;
} cm_onnx_reader;

/* The table's place for a name; 0 there: no value has it. */
uint32_t *cm_onnx_slot_of(const cm_onnx_reader *r, const char *name);

/* The value of a name, made when it is new; CM_NONE of "". Errors: memory. */
cm_status cm_onnx_value_of(cm_onnx_reader *r, const char *name, uint32_t *value, cm_error *error);

/* A text (NULL: "") in the model's arena; NULL and the error when memory is short. */
const char *cm_onnx_keep(cm_onnx_reader *r, const char *text, cm_error *error);

/* A message as bytes in the model's arena. Errors: memory. */
cm_status cm_onnx_pack(cm_onnx_reader *r, const ProtobufCMessage *message, const uint8_t **packed, size_t *size, cm_error *error);

/* Takes over the type of a graph input, output or inner value. Errors: CM_BAD_NETWORK, memory. */
cm_status cm_onnx_read_type(cm_onnx_reader *r, const Onnx__ValueInfoProto *info, uint32_t value, cm_error *error);

/* The ends of a graph. Errors: CM_BAD_NETWORK, CM_TOO_LARGE, memory. */
cm_status cm_onnx_read_initializers(cm_onnx_reader *r, const Onnx__GraphProto *g, cm_error *error);
cm_status cm_onnx_read_inputs(cm_onnx_reader *r, const Onnx__GraphProto *g, cm_error *error);
cm_status cm_onnx_read_outputs(cm_onnx_reader *r, const Onnx__GraphProto *g, cm_error *error);

/* Notes every outer value that a subgraph's nodes read. Errors: memory. */
cm_status cm_onnx_capture(cm_onnx_reader *r, const Onnx__GraphProto *g, uint32_t **list, size_t *capacity, uint32_t *count,
                          cm_error *error);

/* One attribute of a node. Errors: CM_BAD_NETWORK, memory. */
cm_status cm_onnx_read_attribute(cm_onnx_reader *r, const Onnx__AttributeProto *p, cm_attribute *a, cm_error *error);
