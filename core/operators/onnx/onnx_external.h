/* Tensor data that a model keeps in other files: members of its zip, or files of its folder, nowhere else. */
#pragma once

#include <zip.h>

#include "core/operators/onnx/onnx_proto.h"

enum { CM_EXTERNAL_FILES_MAX = 256 };

typedef struct cm_external {
  int folder; /* descriptor of the model's folder; -1: files beside it are not read */
  zip_t *zip; /* the zip that the model was in, or NULL */
  const char *prefix; /* of member names: the folder of the model in its zip, "" or with a final slash */
  /* Members that have been read, each on the account of the run. */
  struct {
    char *name;
    uint8_t *bytes;
    uint64_t size;
  } member[CM_EXTERNAL_FILES_MAX];
  size_t member_count;
} cm_external;

/* Puts the data of every tensor of a model that lies elsewhere into the message, as if it had been in the file; what is
 * filled in belongs to the message. `source` NULL: there is nothing to read from. Errors: CM_BAD_NETWORK for a tensor whose
 * data is not there, lies outside the folder or zip (absolute, "..", a link), or has another length than its shape and type
 * need; CM_TOO_LARGE, CM_IO, memory, stops, which are heard within a large file. */
cm_status cm_external_fill(Onnx__ModelProto *model, cm_external *source, cm_run *run, ProtobufCAllocator *allocator,
                           cm_error *error);

/* Member of a zip, decompressed, on the account; the caller frees it with cm_free. Errors: CM_TOO_LARGE above `most`
 * bytes, CM_BAD_NETWORK when it is not there or damaged, memory, stops. */
cm_status cm_external_member(zip_t *zip, const char *name, uint64_t most, cm_run *run, uint8_t **bytes, uint64_t *size,
                             cm_error *error);

/* Frees what members were read. */
void cm_external_end(cm_external *source);
