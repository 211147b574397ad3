#include "storage/digest.h"

#include <sodium.h>

void cm_store_sha256(const void *bytes, size_t size, char *hex)
{
  unsigned char digest[crypto_hash_sha256_BYTES];
  crypto_hash_sha256(digest, bytes, size);
  sodium_bin2hex(hex, 2 * sizeof digest + 1, digest, sizeof digest);
}
