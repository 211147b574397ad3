/* MatrixMarket. */
#include "network.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  return fuzz_import(cm_import_matrix, data, size);
}
