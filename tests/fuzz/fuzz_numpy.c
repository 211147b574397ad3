/* Arrays of NumPy: an odd first byte, and the rest is one (.npy); else pieces of a name's number, a length and as many bytes are
 * the members of an archive. */
#include "zip_file.h"

static const char *const names[] = {"format", "shape", "data", "indices", "indptr", "row", "col", "pre", "post", "weight",
                                    "delay", "n", "names", "population", "edge_index", "W", "delays", "edges", "other"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  enum { HEAD = 3 };
  zip_file f;
  if (size == 0)
    return 0;
  if (data[0] & 1)
    return fuzz_import(cm_import_numpy, data + 1, size - 1);
  if (!zip_begin(&f))
    return 0;
  for (const uint8_t *at = data + 1, *end = data + size; end - at >= HEAD;) {
    char name[24];
    size_t length = at[1] | (size_t)at[2] << 8;
    (void)snprintf(name, sizeof name, "%s.npy", names[at[0] % (sizeof names / sizeof *names)]);
    at += HEAD;
    length = length < (size_t)(end - at) ? length : (size_t)(end - at);
    if (!zip_put(&f, name, at, length))
      break;
    at += length;
  }
  zip_import(&f);
  return 0;
}
