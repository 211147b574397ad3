/* Policy files as --policy and checkpoints bring them. The checksum is made right first, so that what lies behind it is reached. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "core/learning/policy/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  cm_error error = {.status = CM_OK};
  cm_policy *policy = NULL;
  uint8_t *bytes = malloc(size + crypto_hash_sha256_BYTES);
  if (bytes == NULL || sodium_init() < 0)
    abort();
  memcpy(bytes, data, size);
  crypto_hash_sha256(bytes + size, bytes, size);
  if (cm_policy_parse(bytes, size + crypto_hash_sha256_BYTES, "the file", &policy, &error) == CM_OK)
    cm_policy_free(policy);
  else if (error.status == CM_INTERNAL || error.detail[0] == '\0')
    abort();
  free(bytes);
  return 0;
}
