/* lava-dl networks: the input's bytes choose layers, their types, shapes and weights. */
#include "hdf5_file.h"

static void put_text(hid_t group, const char *name, const char *text)
{
  hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(type, strlen(text) + 1);
  hid_t data = H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text);
  H5Dclose(data);
  H5Sclose(space);
  H5Tclose(type);
}

static void put_numbers(hid_t group, const char *name, bytes *b, int rank, const hsize_t *dims, double scale)
{
  static double values[4096];
  hsize_t count = 1;
  for (int i = 0; i < rank; i++)
    count *= dims[i];
  for (hsize_t i = 0; i < count && i < 4096; i++)
    values[i] = (double)(next(b) % 16) * scale;
  hid_t space = H5Screate_simple(rank, dims, NULL);
  hid_t data = H5Dcreate2(group, name, H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (data >= 0 && count <= 4096)
    H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  H5Dclose(data);
  H5Sclose(space);
}

static void put_layer(hid_t all, int number, bytes *b)
{
  static const char *const types[] = {"input", "dense", "conv", "pool", "flatten", "dense_rec", "dense_comp", "average"};
  static const char *const windows[] = {"stride", "padding", "dilation", "groups"};
  const char name[] = {(char)('0' + number), '\0'};
  hid_t group = H5Gcreate2(all, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  unsigned flags = next(b);
  hsize_t dims[5], one = 1, two = 2;
  put_text(group, "type", types[number == 0 && flags < 250 ? 0 : next(b) % 8]);
  hsize_t rank = 1 + next(b) % 4;
  put_numbers(group, "shape", b, 1, &rank, 1);
  for (int i = 0; i < 4; i++)
    if (flags >> i & 1)
      put_numbers(group, windows[i], b, 1, i == 3 ? &one : &two, 1);
  for (int i = 0; i < 5; i++)
    dims[i] = 1 + next(b) % (i < 2 ? 8 : 3);
  int weight_rank = (int)(next(b) % 6);
  if (flags & 16) {
    hid_t complex = H5Gcreate2(group, "weight", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    put_numbers(complex, "real", b, weight_rank, dims, 0.5);
    put_numbers(complex, "imag", b, weight_rank, dims, 0.5);
    H5Gclose(complex);
  } else
    put_numbers(group, "weight", b, weight_rank, dims, -0.5);
  if (flags & 32) {
    hsize_t count = 1 + next(b) % 16;
    put_numbers(group, "delay", b, 1, &count, 1);
  }
  if (flags & 64)
    put_numbers(group, "weight_rec", b, 2, (hsize_t[]){dims[0], dims[0]}, 1);
  H5Gclose(group);
}

static void put_layers(hid_t all, bytes *b)
{
  for (int i = 0, count = (int)(next(b) % 5); i < count; i++)
    put_layer(all, i, b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  hdf5_import(data, size, "layer", put_layers);
  return 0;
}
