#include "base/varint.h"

size_t cm_varint_encode(uint64_t value, uint8_t *bytes)
{
  size_t length = 1;
  for (uint64_t rest = value >> 7; rest != 0; rest >>= 7)
    length++;
  for (size_t i = length; i-- > 0; value >>= 7)
    bytes[i] = (uint8_t)((value & 0x7f) | (i + 1 < length ? 0x80 : 0));
  return length;
}

size_t cm_varint_decode(const uint8_t *bytes, size_t size, uint64_t *value)
{
  uint64_t result = 0;
  for (size_t i = 0; i < size && i < CM_VARINT_BYTES_MAX; i++) {
    if (result >> 57 != 0)
      return 0;
    result = (result << 7) | (bytes[i] & 0x7f);
    if ((bytes[i] & 0x80) == 0) {
      *value = result;
      return i + 1;
    }
  }
  return 0;
}
