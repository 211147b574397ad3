/* ONNX tensors, alone and inside models, and protobuf-c's memory. */
#include <string.h>

#include "core/operators/onnx/onnx.h"
#include "core/operators/onnx/onnx_check.h"
#include "core/operators/onnx/onnx_proto.h"

/* ---- protobuf-c on our account ---- */

/* Blocks of so many bytes take time to be filled: before one the run is looked at. */
enum { LARGE = 1 << 20 };

static void *account_allocate(void *data, size_t size)
{
  cm_proto_account *a = data;
  if (a->run != NULL && size >= LARGE && cm_run_check(a->run, &a->error) != CM_OK)
    return NULL;
  return cm_allocate(a->memory, size, 1, &a->error);
}

static void account_free(void *data, void *block)
{
  (void)data;
  cm_free(block);
}

ProtobufCAllocator cm_proto_allocator(cm_proto_account *account)
{
  return (ProtobufCAllocator){.alloc = account_allocate, .free = account_free, .allocator_data = account};
}

ProtobufCMessage *cm_proto_unpack(const ProtobufCMessageDescriptor *kind, const uint8_t *bytes, size_t size,
                                  ProtobufCAllocator *allocator, cm_error *error)
{
  cm_proto_account *a = allocator->allocator_data;
  a->error = (cm_error){.status = CM_OK};
  if (cm_onnx_check(kind, bytes, size, error) != CM_OK)
    return NULL;
  ProtobufCMessage *message = protobuf_c_message_unpack(kind, allocator, size, bytes);
  if (message == NULL && a->error.status != CM_OK)
    *error = a->error;
  else if (message == NULL)
    (void)cm_fail(error, CM_BAD_NETWORK, "damaged ONNX model: the bytes are no %s", kind->short_name);
  return message;
}

/* ---- tensors ---- */

/* Copies little-endian numbers of the file, unpacking those narrower than a byte. */
static void copy_raw(cm_tensor *t, const uint8_t *raw)
{
  unsigned bits = cm_type_bits(t->type);
  if (t->count == 0)
    return;
  if (bits >= 8) {
    memcpy(t->data, raw, t->count * cm_type_bytes(t->type));
    if (t->type == CM_BOOL)
      for (uint64_t i = 0; i < t->count; i++)
        ((uint8_t *)t->data)[i] = raw[i] != 0;
    return;
  }
  bool is_signed = t->type == CM_INT4 || t->type == CM_INT2;
  for (uint64_t i = 0; i < t->count; i++) {
    unsigned code = (unsigned)raw[i * bits / 8] >> (i * bits % 8) & ((1U << bits) - 1);
    ((uint8_t *)t->data)[i] = (uint8_t)(is_signed && code >> (bits - 1) ? code | ~((1U << bits) - 1) : code);
  }
}

/* Numbers that a typed list must hold for this tensor. */
static uint64_t listed_count(const cm_tensor *t)
{
  unsigned bits = cm_type_bits(t->type);
  return bits < 8 ? (t->count * bits + 7) / 8 : t->type == CM_COMPLEX64 || t->type == CM_COMPLEX128 ? t->count * 2 : t->count;
}

static cm_status copy_int32(cm_tensor *t, const int32_t *list, cm_memory *memory, cm_error *error)
{
  uint64_t count = listed_count(t);
  if (cm_type_bits(t->type) < 8) {
    uint8_t *raw;
    CM_TRY(CM_NEW(memory, raw, count, error));
    for (uint64_t i = 0; i < count; i++)
      raw[i] = (uint8_t)list[i];
    copy_raw(t, raw);
    cm_free(raw);
    return CM_OK;
  }
  for (uint64_t i = 0; i < count; i++)
    switch (cm_type_bytes(t->type)) {
    case 1:
      ((uint8_t *)t->data)[i] = t->type == CM_BOOL ? list[i] != 0 : (uint8_t)list[i];
      break;
    case 2:
      ((uint16_t *)t->data)[i] = (uint16_t)list[i];
      break;
    default:
      ((int32_t *)t->data)[i] = list[i];
    }
  return CM_OK;
}

/* The typed list of a tensor: its length, and the bytes when they can be copied as they are (NULL: int32_data or
 * uint64). */
static size_t typed_list(const Onnx__TensorProto *p, cm_type type, const void **copyable)
{
  switch ((int)type) {
  case CM_FLOAT:
  case CM_COMPLEX64:
    *copyable = p->float_data;
    return p->n_float_data;
  case CM_DOUBLE:
  case CM_COMPLEX128:
    *copyable = p->double_data;
    return p->n_double_data;
  case CM_INT64:
    *copyable = p->int64_data;
    return p->n_int64_data;
  case CM_UINT64:
    *copyable = p->uint64_data;
    return p->n_uint64_data;
  case CM_UINT32:
    *copyable = NULL;
    return p->n_uint64_data;
  default:
    *copyable = NULL;
    return p->n_int32_data;
  }
}

static cm_status fill(cm_tensor *t, const Onnx__TensorProto *p, const char *name, cm_memory *memory, cm_error *error)
{
  if (p->has_raw_data && p->n_float_data + p->n_int32_data + p->n_int64_data + p->n_double_data + p->n_uint64_data > 0)
    return cm_fail(error, CM_BAD_NETWORK, "tensor '%.80s' holds raw bytes and a list of numbers: one of them should be there", name);
  if (p->has_raw_data) {
    uint64_t expected = (t->count * cm_type_bits(t->type) + 7) / 8;
    if (p->raw_data.len != expected)
      return cm_fail(error, CM_BAD_NETWORK, "tensor '%.80s' holds %zu bytes, but its shape and type need %llu", name,
                     p->raw_data.len, (unsigned long long)expected);
    copy_raw(t, p->raw_data.data);
    return CM_OK;
  }
  const void *copyable;
  size_t held = typed_list(p, t->type, &copyable);
  if (held != listed_count(t))
    return cm_fail(error, CM_BAD_NETWORK, "tensor '%.80s' holds %zu numbers, but its shape and type need %llu", name,
                   held, (unsigned long long)listed_count(t));
  if (held == 0)
    return CM_OK;
  if (copyable != NULL)
    memcpy(t->data, copyable, t->count * cm_type_bytes(t->type));
  else if (t->type == CM_UINT32)
    for (uint64_t i = 0; i < t->count; i++)
      ((uint32_t *)t->data)[i] = (uint32_t)p->uint64_data[i];
  else
    return copy_int32(t, p->int32_data, memory, error);
  return CM_OK;
}

/* Strings are kept as the packed message: nothing here computes with them. */
static cm_status keep_strings(cm_tensor *t, const Onnx__TensorProto *p, cm_memory *memory, cm_error *error)
{
  size_t size = onnx__tensor_proto__get_packed_size(p);
  uint8_t *packed = cm_reallocate(memory, t->data, size + 1, 1, error);
  if (packed == NULL)
    return error->status;
  t->data = packed;
  t->packed_bytes = onnx__tensor_proto__pack(p, packed);
  return CM_OK;
}

cm_status cm_proto_tensor(const Onnx__TensorProto *p, const char *name, cm_memory *memory, cm_tensor **made, cm_error *error)
{
  cm_tensor *t;
  uint64_t count;
  cm_type type = (cm_type)p->data_type;
  if (p->n_external_data > 0 || p->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
    return cm_fail(error, CM_BAD_NETWORK, "tensor '%.80s' keeps its data in another file (external data)", name);
  if (p->segment != NULL)
    return cm_fail(error, CM_BAD_NETWORK, "tensor '%.80s' is stored in segments, which is not supported", name);
  if (type != CM_STRING && cm_type_bits(type) == 0)
    return cm_fail(error, CM_BAD_NETWORK, "tensor '%.80s' has element type %d, which is none of ONNX", name, p->data_type);
  if (p->n_dims > CM_RANK_MAX)
    return cm_fail(error, CM_TOO_LARGE, "tensor '%.80s' has %zu dimensions, at most %d are supported", name, p->n_dims,
                   CM_RANK_MAX);
  /* Before memory is asked for: a tensor cannot be larger than what the file holds. */
  if (!cm_dims_count((uint32_t)p->n_dims, p->dims, &count))
    return cm_fail(error, CM_BAD_NETWORK, "tensor '%.80s' has an impossible shape", name);
  size_t held = p->raw_data.len + p->n_float_data + p->n_int32_data + p->n_int64_data + p->n_double_data +
                p->n_uint64_data + p->n_string_data;
  if (count / 8 > held)
    return cm_fail(error, CM_BAD_NETWORK, "tensor '%.80s' has a shape of %llu elements, but no data for them", name,
                   (unsigned long long)count);
  CM_TRY(cm_tensor_new(memory, type, (uint32_t)p->n_dims, p->dims, &t, error));
  cm_status status = type == CM_STRING ? keep_strings(t, p, memory, error) : fill(t, p, name, memory, error);
  CM_END(status, *made = t, cm_tensor_free(t));
}

/* ---- single tensors ---- */

static cm_status read_one(const uint8_t *bytes, size_t size, cm_memory *memory, cm_tensor **made, cm_error *error)
{
  cm_proto_account own = {.memory = memory};
  ProtobufCAllocator allocator = cm_proto_allocator(&own);
  ProtobufCMessage *p = cm_proto_unpack(&onnx__tensor_proto__descriptor, bytes, size, &allocator, error);
  if (p == NULL)
    return error->status;
  const Onnx__TensorProto *tensor = (const Onnx__TensorProto *)p;
  cm_status status = cm_proto_tensor(tensor, tensor->name != NULL ? tensor->name : "", memory, made, error);
  protobuf_c_message_free_unpacked(p, &allocator);
  return status;
}

enum { SEQUENCE_TENSORS_TAG = 3 << 3 | 2, SEQUENCE_ITEMS_MAX = 4096 };

/* SequenceProto is not in Debian's file: its tensors are field 3, one after another. */
static cm_status read_sequence(const uint8_t *bytes, size_t size, cm_memory *memory, cm_tensor **made, cm_error *error)
{
  cm_tensor *items[SEQUENCE_ITEMS_MAX];
  size_t count = 0, at = 0;
  cm_status status = CM_OK;
  while (status == CM_OK && at < size) {
    uint64_t tag = bytes[at++], length = 0;
    unsigned shift = 0;
    do
      length |= at < size && shift < 64 ? (uint64_t)(bytes[at] & 0x7f) << shift : 0, shift += 7;
    while (at < size && bytes[at++] & 0x80);
    if ((tag & 7) == 2 && length > size - at)
      status = cm_fail(error, CM_BAD_NETWORK, "damaged sequence at byte %zu", at);
    else if (tag == SEQUENCE_TENSORS_TAG && count < SEQUENCE_ITEMS_MAX)
      status = read_one(bytes + at, length, memory, &items[count], error), count += status == CM_OK;
    if ((tag & 7) == 2)
      at += length;
  }
  CM_THEN(status, cm_tensor_sequence(memory, items, count, made, error));
  while (count > 0)
    cm_tensor_free(items[--count]);
  return status;
}

cm_status cm_onnx_read_tensor(const void *bytes, size_t size, bool sequence, cm_memory *memory, cm_tensor **made, cm_error *error)
{
  return (sequence ? read_sequence : read_one)(bytes, size, memory, made, error);
}
