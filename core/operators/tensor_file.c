/* The .npy format (NumPy Enhancement Proposal 1): magic, version, a header that is a Python dictionary, elements. */
#include "core/operators/tensor_file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "base/file.h"

static const struct {
  const char *descr;
  cm_type type;
} npy_types[] = {{"f4", CM_FLOAT}, {"f8", CM_DOUBLE}, {"f2", CM_FLOAT16}, {"i1", CM_INT8}, {"u1", CM_UINT8},
                 {"i2", CM_INT16}, {"u2", CM_UINT16}, {"i4", CM_INT32}, {"u4", CM_UINT32}, {"i8", CM_INT64},
                 {"u8", CM_UINT64}, {"b1", CM_BOOL}};
enum { NPY_TYPES = sizeof npy_types / sizeof *npy_types, NPY_MAGIC = 6 };

/* Puts a number into element `index`. */
/* The nearest that a type can hold: what lies beyond has no defined conversion. NaN is 0. */
static int64_t whole(double x, int64_t least, int64_t most)
{
  if (!(x > (double)least))
    return x < 0 ? least : 0;
  return x < (double)most ? (int64_t)x : most;
}

static void set_number(cm_tensor *t, uint64_t index, double x)
{
  switch (t->type) {
  case CM_FLOAT: ((float *)t->data)[index] = (float)x; break;
  case CM_DOUBLE: ((double *)t->data)[index] = x; break;
  case CM_INT8: ((int8_t *)t->data)[index] = (int8_t)whole(x, INT8_MIN, INT8_MAX); break;
  case CM_UINT8: ((uint8_t *)t->data)[index] = (uint8_t)whole(x, 0, UINT8_MAX); break;
  case CM_BOOL: ((uint8_t *)t->data)[index] = x != 0; break;
  case CM_INT16: ((int16_t *)t->data)[index] = (int16_t)whole(x, INT16_MIN, INT16_MAX); break;
  case CM_UINT16: ((uint16_t *)t->data)[index] = (uint16_t)whole(x, 0, UINT16_MAX); break;
  case CM_INT32: ((int32_t *)t->data)[index] = (int32_t)whole(x, INT32_MIN, INT32_MAX); break;
  case CM_UINT32: ((uint32_t *)t->data)[index] = (uint32_t)whole(x, 0, UINT32_MAX); break;
  case CM_INT64: ((int64_t *)t->data)[index] = whole(x, INT64_MIN, INT64_MAX); break;
  case CM_UINT64:
    ((uint64_t *)t->data)[index] = !(x >= 0x1p63) ? (uint64_t)whole(x, 0, INT64_MAX)
                                   : x < 0x1p64   ? (uint64_t)x
                                                  : UINT64_MAX;
    break;
  default: ((uint16_t *)t->data)[index] = (uint16_t)cm_narrow_encode(t->type, (float)x, false);
  }
}

/* Numbers of as many, which may be of another type. */
static void convert(const cm_tensor *from, cm_tensor *to)
{
  if (from->type == to->type)
    memcpy(to->data, from->data, (size_t)to->count * cm_type_bytes(to->type));
  else
    for (uint64_t i = 0; i < to->count; i++)
      set_number(to, i, cm_tensor_number(from, i));
}

static cm_status damaged(const char *path, cm_error *error)
{
  return cm_fail(error, CM_BAD_REQUEST, "%s: the .npy header makes no sense", path);
}

static cm_status read_npy(const uint8_t *bytes, size_t size, const char *path, cm_memory *memory, cm_tensor **made,
                          cm_error *error)
{
  char header[1024];
  if (size < 12)
    return damaged(path, error);
  size_t length = bytes[8] + ((size_t)bytes[9] << 8), at = 10;
  if (bytes[6] > 1) {
    length += ((size_t)bytes[10] << 16) + ((size_t)bytes[11] << 24);
    at = 12;
  }
  if (length >= sizeof header || length > size - at)
    return damaged(path, error);
  memcpy(header, bytes + at, length);
  header[length] = '\0';
  const char *descr = strstr(header, "'descr'"), *order = strstr(header, "'fortran_order'"), *shape = strstr(header, "'shape'");
  const char *type = descr != NULL ? strpbrk(descr + 7, "<|>=") : NULL;
  const char *open = shape != NULL ? strchr(shape, '(') : NULL;
  if (type == NULL || open == NULL || order == NULL || *type == '>' || strncmp(order, "'fortran_order': False", 22) != 0)
    return cm_fail(error, CM_BAD_REQUEST, "%s: only little-endian .npy in C order is read", path);
  cm_type is = CM_TYPE_NONE;
  for (size_t i = 0; i < NPY_TYPES; i++)
    if (strncmp(type + 1, npy_types[i].descr, 2) == 0)
      is = npy_types[i].type;
  int64_t dims[CM_RANK_MAX];
  uint32_t rank = 0;
  for (const char *c = open + 1; *c != ')' && *c != '\0';) {
    char *end;
    long long dim = strtoll(c, &end, 10);
    if (end == c || dim < 0 || rank == CM_RANK_MAX)
      return damaged(path, error);
    dims[rank++] = dim;
    c = end + strspn(end, ", ");
  }
  uint64_t count;
  if (is == CM_TYPE_NONE || !cm_dims_count(rank, dims, &count) || count > (size - at - length) / cm_type_bytes(is))
    return damaged(path, error);
  CM_TRY(cm_tensor_new(memory, is, rank, dims, made, error));
  memcpy((*made)->data, bytes + at + length, (size_t)count * cm_type_bytes(is));
  return CM_OK;
}

static zip_t *open_zip(const cm_tensor_bytes *file)
{
  zip_error_t ignored;
  zip_error_init(&ignored);
  zip_source_t *source = zip_source_buffer_create(file->bytes, file->size, 0, &ignored);
  zip_t *zip = source != NULL ? zip_open_from_source(source, ZIP_RDONLY, &ignored) : NULL;
  if (zip == NULL && source != NULL)
    zip_source_free(source);
  zip_error_fini(&ignored);
  return zip;
}

cm_status cm_zip_read(struct zip *zip, uint64_t member, uint64_t most, cm_memory *memory, cm_tensor_bytes *read, cm_error *error)
{
  zip_stat_t about;
  char *made = NULL;
  zip_file_t *file = zip_stat_index(zip, member, 0, &about) == 0 ? zip_fopen_index(zip, member, 0) : NULL;
  cm_status status = CM_OK;
  if (file == NULL)
    return cm_fail(error, CM_BAD_REQUEST, "%s: member %llu cannot be unpacked", read->name, (unsigned long long)member);
  if (about.size > most)
    status = cm_fail(error, CM_BAD_REQUEST, "%s: member %.200s claims %llu bytes, where at most %llu are expected", read->name, about.name, (unsigned long long)about.size,
                     (unsigned long long)most);
  else if (CM_NEW(memory, made, about.size + 1, error) != CM_OK)
    status = error->status;
  else if (zip_fread(file, made, about.size) != (zip_int64_t)about.size)
    status = cm_fail(error, CM_BAD_REQUEST, "%s: member %.200s is damaged", read->name, about.name);
  (void)zip_fclose(file);
  if (status == CM_OK)
    *read = (cm_tensor_bytes){read->name, made, (size_t)about.size};
  else
    cm_free(made);
  return status;
}

/* The member of an input: by its name, or by its place. */
static cm_status read_member(const cm_tensor_bytes *from, const cm_tensor_wanted *wanted, uint64_t most, cm_memory *memory, cm_tensor_bytes *read,
                             cm_error *error)
{
  char member[512];
  zip_t *zip = open_zip(from);
  if (zip == NULL)
    return cm_fail(error, CM_BAD_REQUEST, "%s is a damaged .npz file", from->name);
  (void)snprintf(member, sizeof member, "%.500s.npy", wanted->name);
  read->name = from->name;
  const zip_int64_t named = zip_name_locate(zip, member, 0), at = named < 0 ? (zip_int64_t)wanted->index : named;
  const cm_status status = at < zip_get_num_entries(zip, 0)
                             ? cm_zip_read(zip, (uint64_t)at, most, memory, read, error)
                             : cm_fail(error, CM_BAD_REQUEST, "%s has no member %s and no member %zu", from->name, member, wanted->index);
  zip_discard(zip);
  return status;
}

/* NumPy's name of a type, NULL: it has none, and the numbers are written as float32. */
static const char *descr_of(cm_type type)
{
  for (size_t i = 0; i < NPY_TYPES; i++)
    if (npy_types[i].type == type)
      return npy_types[i].descr;
  return NULL;
}

/* The ending of files of raw elements of a type, ".f32". */
static void ending_of(cm_type type, char ending[8])
{
  const char *descr = descr_of(type);
  descr = descr != NULL ? descr : "f4";
  (void)snprintf(ending, 8, ".%c%d", descr[0], 8 * (descr[1] - '0'));
}

/* Whether the name says raw elements, whatever the first of them look like. */
static bool is_named_raw(const char *path, cm_type type)
{
  char ending[8];
  ending_of(type, ending);
  return strlen(path) > strlen(ending) && cm_path_ends_in(path, ending);
}

static bool is_npy(const cm_tensor_bytes *file)
{
  return file->size > NPY_MAGIC && memcmp(file->bytes, "\x93NUMPY", NPY_MAGIC) == 0;
}

/* The numbers of a file as they stand there, of the type that is wanted unless the file says another. */
static cm_status parse_any(const cm_tensor_bytes *file, bool npy, cm_type type, cm_memory *memory, cm_tensor **made, cm_error *error)
{
  if (npy)
    return read_npy(file->bytes, file->size, file->name, memory, made, error);
  CM_TRY(cm_tensor_new(memory, type, 1, (int64_t[]){(int64_t)(file->size / cm_type_bytes(type))}, made, error));
  memcpy((*made)->data, file->bytes, (size_t)(*made)->count * cm_type_bytes(type));
  return CM_OK;
}

/* Whether so many numbers are the tensor, or with `many` several of it. */
static bool suits(uint64_t count, uint64_t one, bool many)
{
  return count == one || (many && one > 0 && count > 0 && count % one == 0);
}

cm_status cm_tensor_parse(const cm_tensor_bytes *file, const cm_tensor_wanted *wanted, cm_memory *memory, uint64_t *times, cm_tensor **made, cm_error *error)
{
  enum { ELEMENT_MAX = 8, HEADER_MAX = 1 << 17 }; /* of .npy, in bytes */
  const size_t width = cm_type_bytes(wanted->type);
  uint64_t one;
  cm_tensor *given = NULL, *tensor = NULL;
  cm_tensor_bytes from = *file, member = {0};
  if (!cm_dims_count(wanted->rank, wanted->dims, &one))
    return cm_fail(error, CM_TOO_LARGE, "input '%.80s' is too large to be read", wanted->name);
  const bool raw = file->size % width == 0 && suits(file->size / width, one, times != NULL) && is_named_raw(file->name, wanted->type);
  cm_status status = CM_OK;
  if (!raw && file->size > 4 && memcmp(file->bytes, "PK\3\4", 4) == 0) {
    status = read_member(file, wanted, times != NULL ? CM_TENSOR_FILE_BYTES_MAX : one * ELEMENT_MAX + HEADER_MAX, memory, &member, error);
    from = member;
  }
  const bool npy = status == CM_OK && !raw && is_npy(&from); /* raw elements may look like its beginning */
  CM_THEN(status, parse_any(&from, npy, wanted->type, memory, &given, error));
  if (status == CM_OK && npy && !suits(given->count, one, times != NULL))
    status = cm_fail(error, CM_BAD_REQUEST, "%s holds %llu numbers; %llu are needed", from.name, (unsigned long long)given->count, (unsigned long long)one);
  else if (status == CM_OK && !npy && (from.size % width != 0 || !suits(given->count, one, times != NULL)))
    status = cm_fail(error, CM_BAD_REQUEST, "%s has %zu bytes; %llu elements of %s would have %llu", from.name, from.size, (unsigned long long)one,
                     cm_type_name(wanted->type), (unsigned long long)(one * width));
  if (status == CM_OK)
    status = times != NULL ? cm_tensor_new(memory, wanted->type, 1, (int64_t[]){(int64_t)given->count}, &tensor, error)
                           : cm_tensor_new(memory, wanted->type, wanted->rank, wanted->dims, &tensor, error);
  cm_free((void *)(uintptr_t)member.bytes);
  if (status == CM_OK) {
    convert(given, tensor);
    *made = tensor;
    if (times != NULL)
      *times = one > 0 ? given->count / one : 1;
  }
  cm_tensor_free(given);
  return status;
}

cm_status cm_tensor_read(const char *path, const cm_tensor_wanted *wanted, cm_memory *memory, cm_tensor **made, cm_error *error)
{
  char *bytes;
  size_t size;
  CM_TRY(cm_file_read(path, CM_TENSOR_FILE_BYTES_MAX, &bytes, &size, error));
  const cm_status status = cm_tensor_parse(&(cm_tensor_bytes){path, bytes, size}, wanted, memory, NULL, made, error);
  free(bytes);
  return status;
}

/* ---- writing ---- */

/* Writes the elements and commits the file, or discards it. */
static cm_status finish(cm_file *file, const cm_tensor *tensor, const char *path, cm_error *error)
{
  bool as_float = descr_of(tensor->type) == NULL;
  for (uint64_t i = 0; as_float && i < tensor->count; i++)
    (void)fwrite(&(float){(float)cm_tensor_number(tensor, i)}, sizeof(float), 1, file->stream);
  if (!as_float && tensor->count > 0)
    (void)fwrite(tensor->data, cm_type_bytes(tensor->type), (size_t)tensor->count, file->stream);
  if (ferror(file->stream) != 0) {
    cm_file_discard(file);
    return cm_fail(error, CM_DISK_FULL, "cannot write %s", path);
  }
  return cm_file_commit(file, error);
}

cm_status cm_tensor_write_npy(const cm_tensor *tensor, const char *path, cm_error *error)
{
  const char *descr = descr_of(tensor->type);
  char shape[256] = "", header[512];
  cm_file file = {0};
  for (uint32_t i = 0, used = 0; i < tensor->rank; i++)
    used += (uint32_t)snprintf(shape + used, sizeof shape - used, "%lld,", (long long)tensor->dims[i]);
  int length = snprintf(header, sizeof header, "{'descr': '%s%s', 'fortran_order': False, 'shape': (%s), }",
                        descr != NULL && descr[1] == '1' ? "|" : "<", descr != NULL ? descr : "f4", shape);
  /* The elements begin at a multiple of 64 bytes. */
  int padded = (length + 1 + 10 + 63) / 64 * 64 - 10;
  CM_TRY(cm_file_create(&file, path, error));
  (void)fwrite("\x93NUMPY\1\0", 1, 8, file.stream);
  (void)fputc(padded & 255, file.stream);
  (void)fputc(padded >> 8, file.stream);
  (void)fprintf(file.stream, "%s%*s\n", header, padded - length - 1, "");
  return finish(&file, tensor, path, error);
}

cm_status cm_tensor_write_raw(const cm_tensor *tensor, const char *folder, const char *name, cm_error *error)
{
  char safe[256], path[CM_PATH_MAX], ending[8];
  cm_file file = {0};
  (void)snprintf(safe, sizeof safe, "%s", name);
  for (char *c = safe; *c != '\0'; c++)
    if (!isalnum((unsigned char)*c) && strchr("._-", *c) == NULL)
      *c = '_';
  ending_of(tensor->type, ending);
  CM_TRY(cm_path(path, error, "%s/%s%s", folder, safe, ending));
  CM_TRY(cm_file_create(&file, path, error));
  return finish(&file, tensor, path, error);
}
