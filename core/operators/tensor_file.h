/* Tensors in files: NumPy's .npy and .npz, and raw little-endian elements. */
#pragma once

#include "core/operators/tensor.h"

/* Largest tensor file. */
#define CM_TENSOR_FILE_BYTES_MAX ((size_t)1 << 32)

/* A tensor that is to be read. */
typedef struct cm_tensor_wanted {
  const char *name; /* of its member in a .npz, */
  size_t index;     /* or the number of it, where none has that name */
  cm_type type;
  uint32_t rank;
  const int64_t *dims;
} cm_tensor_wanted;

/* A file as it stands in memory. */
typedef struct cm_tensor_bytes {
  const char *name;
  const void *bytes;
  size_t size;
} cm_tensor_bytes;

/* Unpacks a member of a zip file, which messages call read->name, onto the account; its bytes are freed with cm_free. `most`: bytes that it may have, as a few
 * packed ones may claim to be gigabytes. Errors: CM_BAD_REQUEST (with the member), memory. */
struct zip;
cm_status cm_zip_read(struct zip *zip, uint64_t member, uint64_t most, cm_memory *memory, cm_tensor_bytes *read, cm_error *error);

/* Makes one tensor of a type and shape that are known: a .npy file (numbers of another type are converted), a member
 * of a .npz, else raw elements of the type. The kind is known by the first bytes, but for files of the right size that the name says to be raw
 * (".f32"). With `times` a file may hold the tensor *times times over, one after the other: *made then has one dimension. Errors: CM_BAD_REQUEST (damaged,
 * another number of elements; what there should be), memory. */
cm_status cm_tensor_parse(const cm_tensor_bytes *file, const cm_tensor_wanted *wanted, cm_memory *memory, uint64_t *times, cm_tensor **made, cm_error *error);

/* Reads a file and makes one tensor of it. Errors: CM_NOT_FOUND, CM_IO, CM_TOO_LARGE, those of cm_tensor_parse. */
cm_status cm_tensor_read(const char *path, const cm_tensor_wanted *wanted, cm_memory *memory, cm_tensor **made, cm_error *error);

/* Writes a tensor as a .npy file, whole or not at all. Types that NumPy does not have are written as float32. */
cm_status cm_tensor_write_npy(const cm_tensor *tensor, const char *path, cm_error *error);

/* Writes the elements alone, little-endian, to folder/name with the type as ending (.f32, .f64, .f16, .i8 to .i64, .u8 to
 * .u64, .b8), whole or not at all; what a file name cannot hold of `name` becomes _. Other types become float32. */
cm_status cm_tensor_write_raw(const cm_tensor *tensor, const char *folder, const char *name, cm_error *error);
