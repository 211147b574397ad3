/* protobuf-c says only that a message is damaged, recurses as deep as the bytes ask, and makes some hundred bytes of
 * every empty message. So the bytes are walked first. */
#include "core/operators/onnx/onnx_check.h"

#include <protobuf-c/protobuf-c.h>
#include <string.h>

enum { DEPTH_MAX = 64, MESSAGES_MAX = 1 << 24 };

typedef struct walk {
  const uint8_t *bytes;
  size_t messages;
  bool known; /* it is what it should be: a field of a model has been read, or it is no whole model */
  cm_error *error;
} walk;

static cm_status damaged(walk *w, size_t at, const char *what, const char *where)
{
  if (w->known)
    (void)cm_fail(w->error, CM_BAD_NETWORK, "damaged ONNX model at byte %zu: %s in %s", at, what, where);
  else
    (void)cm_fail(w->error, CM_BAD_NETWORK, "the file is no ONNX model: read as one, it has %s in %s at byte %zu", what, where, at);
  return cm_fail_at(w->error, "byte %zu", at);
}

static int read_number(walk *w, size_t *at, size_t end, uint64_t *number)
{
  *number = 0;
  for (unsigned shift = 0; shift < 70 && *at < end; shift += 7) {
    uint8_t byte = w->bytes[(*at)++];
    if (shift < 64)
      *number |= (uint64_t)(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0)
      return 1;
  }
  return 0;
}

/* The wire type that a field's values have when they are not packed. */
static unsigned wire_of(ProtobufCType type)
{
  switch (type) {
  case PROTOBUF_C_TYPE_SFIXED32:
  case PROTOBUF_C_TYPE_FIXED32:
  case PROTOBUF_C_TYPE_FLOAT:
    return 5;
  case PROTOBUF_C_TYPE_SFIXED64:
  case PROTOBUF_C_TYPE_FIXED64:
  case PROTOBUF_C_TYPE_DOUBLE:
    return 1;
  case PROTOBUF_C_TYPE_STRING:
  case PROTOBUF_C_TYPE_BYTES:
  case PROTOBUF_C_TYPE_MESSAGE:
    return 2;
  default:
    return 0;
  }
}

static cm_status check_packed(walk *w, const ProtobufCFieldDescriptor *field, size_t at, size_t end)
{
  unsigned wire = wire_of(field->type);
  if (wire == 5 || wire == 1)
    return (end - at) % (wire == 5 ? 4 : 8) == 0 ? CM_OK : damaged(w, at, "a list whose length does not fit", field->name);
  while (at < end) {
    uint64_t number;
    if (!read_number(w, &at, end, &number))
      return damaged(w, at, "an unfinished number", field->name);
  }
  return CM_OK;
}

/* Walks bytes [at, end) as a message. NOLINT: it recurses, at most DEPTH_MAX deep. */
static cm_status check_message(walk *w, const ProtobufCMessageDescriptor *kind, size_t at, size_t end, unsigned depth)
{
  if (depth > DEPTH_MAX)
    return cm_fail(w->error, CM_TOO_LARGE, "an ONNX model may nest at most %d messages (byte %zu, %s)", DEPTH_MAX, at,
                   kind->short_name);
  if (++w->messages > MESSAGES_MAX)
    return cm_fail(w->error, CM_TOO_LARGE, "an ONNX model may hold at most %d messages", MESSAGES_MAX);
  while (at < end) {
    uint64_t tag, length = 0;
    size_t start = at;
    if (!read_number(w, &at, end, &tag) || tag >> 3 == 0 || tag >> 3 > UINT32_MAX >> 3)
      return damaged(w, start, "a field number that is none", kind->short_name);
    const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field(kind, (unsigned)(tag >> 3));
    unsigned wire = tag & 7;
    const char *name = field != NULL ? field->name : kind->short_name;
    if (wire == 0) {
      if (!read_number(w, &at, end, &length))
        return damaged(w, start, "an unfinished number", name);
    } else if (wire == 1 || wire == 5) {
      size_t width = wire == 1 ? 8 : 4;
      if (end - at < width)
        return damaged(w, start, "an unfinished number", name);
      at += width;
    } else if (wire == 2) {
      if (!read_number(w, &at, end, &length) || length > end - at)
        return damaged(w, start, "a length that reaches past its end", name);
      at += length;
    } else
      return damaged(w, start, "a field of unknown kind", name);
    if (field == NULL)
      continue;
    int packed = wire == 2 && wire_of(field->type) != 2 && field->label == PROTOBUF_C_LABEL_REPEATED;
    if (wire != wire_of(field->type) && !packed)
      return damaged(w, start, "a field of another kind than it should be", name);
    if (packed && check_packed(w, field, at - length, at) != CM_OK)
      return w->error->status;
    if (field->type == PROTOBUF_C_TYPE_MESSAGE && check_message(w, field->descriptor, at - length, at, depth + 1) != CM_OK)
      return w->error->status;
    w->known = true;
  }
  return CM_OK;
}

cm_status cm_onnx_check(const ProtobufCMessageDescriptor *kind, const uint8_t *bytes, size_t size, cm_error *error)
{
  walk w = {.bytes = bytes, .known = strcmp(kind->short_name, "ModelProto") != 0, .error = error};
  return check_message(&w, kind, 0, size, 0);
}
