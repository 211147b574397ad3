/* Variable-length integers of the topology file (source 0, step s1): seven bits a byte in
 * reading order (most significant first), high bit 1 = more bytes follow, 0 = last byte. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { CM_VARINT_BYTES_MAX = 10 };

/* Writes `value` to `bytes` (room for CM_VARINT_BYTES_MAX); returns the number of bytes, 1 to 10. */
size_t cm_varint_encode(uint64_t value, uint8_t *bytes);

/* Reads one integer from at most `size` bytes; returns the bytes used, or 0 when the integer does not
 * end inside them or exceeds 64 bits. `value` is untouched then. */
size_t cm_varint_decode(const uint8_t *bytes, size_t size, uint64_t *value);
