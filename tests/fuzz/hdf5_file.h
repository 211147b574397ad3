/* HDF5 files made in memory of the input's bytes, so that what is tried is our readers. (Damaged HDF5 is libhdf5's matter, and
 * is read in a confined process.) */
#pragma once

#include <hdf5.h>
#include <string.h>

#include "network.h"

typedef struct bytes {
  const uint8_t *at, *end;
} bytes;

static inline unsigned next(bytes *b)
{
  return b->at < b->end ? *b->at++ : 0;
}

/* A list of numbers as a dataset of `type`; `population`, unless NULL, is its attribute node_population. */
static inline void hdf5_put_list(hid_t group, const char *name, hid_t type, const double *values, hsize_t count,
                                 const char *population)
{
  hid_t space = H5Screate_simple(1, &count, NULL);
  hid_t data = H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (data >= 0 && count > 0)
    H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  if (data >= 0 && population != NULL) {
    hid_t text = H5Tcopy(H5T_C_S1), one = H5Screate(H5S_SCALAR);
    H5Tset_size(text, strlen(population) + 1);
    hid_t attribute = H5Acreate2(data, "node_population", text, one, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, text, population);
    H5Aclose(attribute);
    H5Sclose(one);
    H5Tclose(text);
  }
  H5Dclose(data);
  H5Sclose(space);
}

/* The image of a file whose group `name` the bytes fill by `put`; free(). NULL: there is none. */
static inline void *hdf5_image(const char *name, void (*put)(hid_t group, bytes *b), bytes *b, size_t *size)
{
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(access, 1 << 16, false);
  hid_t file = H5Fcreate("fuzz", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  put(group, b);
  H5Gclose(group);
  H5Fflush(file, H5F_SCOPE_GLOBAL);
  ssize_t made = H5Fget_file_image(file, NULL, 0);
  void *image = made > 0 ? malloc((size_t)made) : NULL;
  if (image != NULL && H5Fget_file_image(file, image, (size_t)made) != made) {
    free(image);
    image = NULL;
  }
  H5Fclose(file);
  H5Pclose(access);
  *size = made > 0 ? (size_t)made : 0;
  return image;
}

/* Reads as a network the file whose group `name` the bytes fill by `put`. */
static inline void hdf5_import(const uint8_t *data, size_t size, const char *name, void (*put)(hid_t group, bytes *b))
{
  bytes b = {data, data + size};
  void *image = hdf5_image(name, put, &b, &size);
  if (image != NULL)
    (void)fuzz_import(NULL, image, size);
  free(image);
}
