/* GraphML and GEXF, as their outermost element says. */
#include "network.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  return fuzz_import(NULL, data, size);
}
