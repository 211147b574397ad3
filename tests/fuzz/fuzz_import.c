/* Any network, recognised by content as an upload is. */
#include "network.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  return fuzz_import(NULL, data, size);
}
