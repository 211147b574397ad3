/* Between the reader's files: the walk over protocol buffers before anything is made of them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct ProtobufCMessageDescriptor;

/* Walks a message of the given kind without allocating: every length inside its parent, every field of the kind it
 * should be, at most 64 levels and 2^24 messages. Errors: CM_BAD_NETWORK with the byte and the field, CM_TOO_LARGE. */
cm_status cm_onnx_check(const struct ProtobufCMessageDescriptor *kind, const uint8_t *bytes, size_t size, cm_error *error);
