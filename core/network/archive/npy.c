/* Happy path: the header, a Python dictionary of three items, then elements. What can fail: other types, other layouts, an
 * end before the last element. The header's sizes are claims: nothing is allocated for them here. */
#include "core/network/archive/npy.h"

#include <ctype.h>
#include <endian.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONVERT_TABLE "this line converts a table of synapses: python3 -c \"import numpy, pandas; " \
  "pandas.DataFrame(numpy.load('FILE')).to_csv('net.csv', index=False)\""

/* ---- header ---- */

/* What follows `'key':` in the header; NULL: nothing. */
static const char *value_of(const char *header, const char *key)
{
  const char *at = strstr(header, key);
  if (at == NULL)
    return NULL;
  at += strlen(key);
  while (*at == ' ')
    at++;
  if (*at != ':')
    return NULL;
  for (at++; *at == ' ';)
    at++;
  return at;
}

static cm_status parse_type(const cm_bytes *stream, const char *at, cm_npy *npy, cm_error *error)
{
  static const char sizes[][2] = {{'b', 1}, {'i', 1}, {'i', 2}, {'i', 4}, {'i', 8}, {'u', 1}, {'u', 2},
                                  {'u', 4}, {'u', 8}, {'f', 2}, {'f', 4}, {'f', 8}};
  char *end;
  if (*at == '[')
    return cm_bytes_bad(stream, "it is a structured array: " CONVERT_TABLE, error);
  size_t length = *at == '\'' ? strcspn(at + 1, "'") : 0;
  if (length < 2 || length >= sizeof npy->type || strchr("<>|=", at[1]) == NULL)
    return cm_bytes_bad(stream, "its header names no type of elements", error);
  memcpy(npy->type, at + 1, length);
  npy->type[length] = '\0';
  npy->kind = npy->type[1];
  unsigned long size = isdigit((unsigned char)npy->type[2]) ? strtoul(npy->type + 2, &end, 10) : 0;
  bool texts = (npy->kind == 'S' || npy->kind == 'U') && size > 0 && size < CM_NPY_TEXT_MAX / 4, numbers = false;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    numbers = numbers || (npy->kind == sizes[i][0] && size == (unsigned long)sizes[i][1]);
  if (npy->kind == 'O' || (!texts && !numbers))
    return cm_bytes_bad(stream, cm_say("its elements are %s (%s), not numbers: save it with a number type, in Python numpy.save('net.npy', "
            "numpy.load('FILE'%s).astype(float))", npy->kind == 'O' ? "pickled objects" : npy->kind == 'c' ? "complex numbers" : "of another type",
            npy->type, npy->kind == 'O' ? ", allow_pickle=True" : "").text, error);
  npy->size = (unsigned)size * (npy->kind == 'U' ? 4 : 1);
  npy->swap = npy->type[0] == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '>' : '<');
  return CM_OK;
}

static cm_status parse_shape(const cm_bytes *stream, const char *at, cm_npy *npy, cm_error *error)
{
  npy->count = 1;
  if (*at != '(')
    return cm_bytes_bad(stream, "its header has no shape", error);
  for (at++; *at != ')';) {
    char *end;
    if (!isdigit((unsigned char)*at) || npy->rank == CM_NPY_RANK_MAX)
      return cm_bytes_bad(stream, "its header has a shape that makes no sense, or of more than 8 dimensions", error);
    unsigned long long dim = strtoull(at, &end, 10);
    npy->dim[npy->rank++] = dim;
    if (__builtin_mul_overflow(npy->count, dim, &npy->count) || npy->count > UINT64_MAX / 8 / CM_NPY_TEXT_MAX)
      return cm_bytes_bad(stream, "its header claims an impossible size", error);
    at = end;
    while (*at == ',' || *at == ' ' || *at == 'L') /* Python 2 wrote 3L */
      at++;
  }
  return CM_OK;
}

cm_status cm_npy_open(cm_bytes *stream, cm_npy *npy, cm_error *error)
{
  enum { HEADER_MAX = 1 << 16 };
  static const char magic[] = "\x93NUMPY";
  uint8_t head[12];
  char header[4096] = "";
  cm_npy made = {0};
  CM_TRY(cm_bytes_take(stream, head, 10, error));
  if (memcmp(head, magic, sizeof magic - 1) != 0)
    return cm_bytes_bad(stream, "it is no array of NumPy", error);
  size_t length = head[8] + ((size_t)head[9] << 8);
  if (head[6] > 1) {
    CM_TRY(cm_bytes_take(stream, head + 10, 2, error));
    length += ((size_t)head[10] << 16) + ((size_t)head[11] << 24);
  }
  if (head[6] < 1 || head[6] > 3 || length >= HEADER_MAX)
    return cm_bytes_bad(stream, "its header is of an unknown version, or too long", error);
  for (size_t read = 0; read < length;) { /* what lies behind the first 4 KiB of a header are fields of a table */
    size_t here = length - read < sizeof header - 1 ? length - read : sizeof header - 1;
    char rest[sizeof header], *into = read == 0 ? header : rest;
    CM_TRY(cm_bytes_take(stream, into, here, error));
    into[here] = '\0';
    read += here;
  }
  header[length < sizeof header ? length : sizeof header - 1] = '\0';
  const char *type = value_of(header, "'descr'"), *order = value_of(header, "'fortran_order'"),
             *shape = value_of(header, "'shape'");
  if (type == NULL)
    return cm_bytes_bad(stream, "its header names no type of elements", error);
  CM_TRY(parse_type(stream, type, &made, error));
  if (order == NULL || shape == NULL)
    return cm_bytes_bad(stream, "its header has no shape or no order of elements", error);
  made.columns_first = strncmp(order, "True", 4) == 0;
  CM_TRY(parse_shape(stream, shape, &made, error));
  *npy = made;
  return CM_OK;
}

/* ---- elements ---- */

static uint64_t bits_of(const cm_npy *npy, const uint8_t *bytes)
{
  uint64_t value = 0;
  bool big = npy->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  for (unsigned i = 0; i < npy->size; i++)
    value = value << 8 | bytes[big ? i : npy->size - 1 - i];
  return value;
}

static double half(uint64_t bits)
{
  int exponent = (int)(bits >> 10 & 31);
  double fraction = (double)(bits & 1023), value;
  if (exponent == 31)
    value = fraction != 0 ? NAN : INFINITY;
  else
    value = exponent == 0 ? ldexp(fraction, -24) : ldexp(fraction + 1024, exponent - 25);
  return bits >> 15 != 0 ? -value : value;
}

static int64_t extend(uint64_t bits, unsigned size)
{
  unsigned unused = 64 - 8 * size;
  return (int64_t)(bits << unused) >> unused;
}

static double real_of(const cm_npy *npy, uint64_t bits)
{
  float single;
  double wide;
  if (npy->kind == 'b')
    return bits != 0;
  if (npy->kind == 'i')
    return (double)extend(bits, npy->size);
  if (npy->kind == 'u')
    return (double)bits;
  if (npy->size == 2)
    return half(bits);
  if (npy->size == 8) {
    memcpy(&wide, &bits, sizeof wide);
    return wide;
  }
  uint32_t narrow = (uint32_t)bits;
  memcpy(&single, &narrow, sizeof single);
  return (double)single;
}

cm_status cm_npy_reals(const cm_npy *npy, cm_bytes *stream, size_t count, double *values, cm_error *error)
{
  uint8_t bytes[CM_NPY_SLICE * 8];
  CM_TRY(cm_bytes_take(stream, bytes, count * npy->size, error));
  for (size_t i = 0; i < count; i++)
    values[i] = real_of(npy, bits_of(npy, bytes + i * npy->size));
  return CM_OK;
}

static bool index_of(const cm_npy *npy, uint64_t bits, uint64_t *value)
{
  double real;
  if (npy->kind == 'f') { /* tables of one type keep their ids as numbers like 3.0 */
    real = real_of(npy, bits);
    *value = real >= 0 && real <= 0x1p53 ? (uint64_t)real : 0;
    return real >= 0 && real <= 0x1p53 && real == trunc(real);
  }
  *value = npy->kind == 'i' ? (uint64_t)extend(bits, npy->size) : bits;
  return npy->kind != 'i' || extend(bits, npy->size) >= 0;
}

cm_status cm_npy_indices(const cm_npy *npy, cm_bytes *stream, size_t count, uint64_t *values, cm_error *error)
{
  uint8_t bytes[CM_NPY_SLICE * 8];
  CM_TRY(cm_bytes_take(stream, bytes, count * npy->size, error));
  for (size_t i = 0; i < count; i++)
    if (!index_of(npy, bits_of(npy, bytes + i * npy->size), &values[i]))
      return cm_bytes_bad(stream, cm_say("the number %g is no index: whole numbers from 0 on are expected", real_of(npy, bits_of(npy,
                                                            bytes + i * npy->size))).text, error);
  return CM_OK;
}

static size_t put_utf8(char *text, uint64_t c)
{
  if (c < 0x80) {
    text[0] = (char)c;
    return 1;
  }
  size_t more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
  for (size_t i = more; i > 0; i--, c >>= 6)
    text[i] = (char)(0x80 | (c & 63));
  text[0] = (char)(first[more] | (unsigned char)c);
  return more + 1;
}

cm_status cm_npy_text(const cm_npy *npy, cm_bytes *stream, char text[CM_NPY_TEXT_MAX], cm_error *error)
{
  uint8_t bytes[CM_NPY_TEXT_MAX];
  uint64_t value;
  if (cm_npy_numbers(npy)) {
    CM_TRY(cm_npy_indices(npy, stream, 1, &value, error));
    (void)snprintf(text, CM_NPY_TEXT_MAX, "%llu", (unsigned long long)value);
    return CM_OK;
  }
  CM_TRY(cm_bytes_take(stream, bytes, npy->size, error));
  size_t used = 0;
  for (unsigned i = 0; npy->kind == 'S' && i < npy->size && bytes[i] != 0; i++)
    text[used++] = (char)bytes[i];
  const cm_npy letter = {.size = 4, .swap = npy->swap};
  for (unsigned i = 0; npy->kind == 'U' && i < npy->size; i += 4) {
    uint64_t c = bits_of(&letter, bytes + i);
    if (c == 0)
      break;
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
      return cm_bytes_bad(stream, "a text is not Unicode", error);
    used += put_utf8(text + used, c);
  }
  text[used] = '\0';
  return CM_OK;
}
