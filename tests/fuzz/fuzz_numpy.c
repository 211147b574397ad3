/* Arrays of NumPy: an odd first byte, and the rest is one (.npy); else pieces of a name's number, a length and as many bytes are
 * the members of an archive made in memory, so that what is tried is our reader. (Damaged zips are libzip's matter, and are
 * read in a confined process.) */
#include "network.h"

#include <string.h>
#include <zip.h>

static const char *const names[] = {"format", "shape", "data", "indices", "indptr", "row", "col", "pre", "post", "weight",
                                    "delay", "n", "names", "population", "edge_index", "W", "delays", "edges", "other"};

/* Adds the members; false: libzip has no memory. */
static bool put_members(zip_t *zip, const uint8_t *at, const uint8_t *end)
{
  enum { HEAD = 3 };
  while (end - at >= HEAD) {
    char name[24];
    size_t length = at[1] | (size_t)at[2] << 8;
    (void)snprintf(name, sizeof name, "%s.npy", names[at[0] % (sizeof names / sizeof *names)]);
    at += HEAD;
    length = length < (size_t)(end - at) ? length : (size_t)(end - at);
    zip_source_t *bytes = zip_source_buffer(zip, at, length, 0);
    if (bytes == NULL || zip_file_add(zip, name, bytes, ZIP_FL_OVERWRITE) < 0)
      return false;
    at += length;
  }
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  zip_stat_t about;
  if (size == 0)
    return 0;
  if (data[0] & 1)
    return fuzz_import(cm_import_numpy, data + 1, size - 1);
  zip_source_t *made = zip_source_buffer_create(NULL, 0, 0, NULL);
  zip_t *zip = made != NULL ? zip_open_from_source(made, ZIP_TRUNCATE, NULL) : NULL;
  if (zip == NULL)
    return 0;
  zip_source_keep(made);
  if (!put_members(zip, data + 1, data + size) || zip_close(zip) != 0)
    zip_discard(zip);
  else if (zip_source_stat(made, &about) == 0 && zip_source_open(made) == 0) {
    uint8_t *image = malloc((size_t)about.size + 1);
    if (image != NULL && zip_source_read(made, image, about.size) == (zip_int64_t)about.size)
      (void)fuzz_import(NULL, image, (size_t)about.size);
    free(image);
    zip_source_close(made);
  }
  zip_source_free(made);
  return 0;
}
