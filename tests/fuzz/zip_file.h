/* Zip archives made in memory, so that what is tried is our readers. (Damaged zips are libzip's matter, and are read in a
 * confined process.) */
#pragma once

#include <zip.h>

#include "network.h"

typedef struct zip_file {
  zip_source_t *made;
  zip_t *zip;
} zip_file;

/* False: libzip has no memory. */
static inline bool zip_begin(zip_file *f)
{
  f->made = zip_source_buffer_create(NULL, 0, 0, NULL);
  f->zip = f->made != NULL ? zip_open_from_source(f->made, ZIP_TRUNCATE, NULL) : NULL;
  if (f->zip != NULL)
    zip_source_keep(f->made);
  return f->zip != NULL;
}

/* The bytes must last until zip_import. */
static inline bool zip_put(zip_file *f, const char *name, const void *data, size_t size)
{
  zip_source_t *source = zip_source_buffer(f->zip, data, size, 0);
  return source != NULL && zip_file_add(f->zip, name, source, ZIP_FL_OVERWRITE) >= 0;
}

/* Reads it as a network, and frees it. */
static inline void zip_import(zip_file *f)
{
  zip_stat_t about;
  if (zip_close(f->zip) != 0)
    zip_discard(f->zip);
  else if (zip_source_stat(f->made, &about) == 0 && zip_source_open(f->made) == 0) {
    uint8_t *image = malloc((size_t)about.size + 1);
    if (image != NULL && zip_source_read(f->made, image, about.size) == (zip_int64_t)about.size)
      (void)fuzz_import(NULL, image, (size_t)about.size);
    free(image);
    zip_source_close(f->made);
  }
  zip_source_free(f->made);
}
