/* NIR graphs: the input's bytes choose nodes, parameters and edges of an HDF5 file. */
#include "hdf5_file.h"

static void put_text(hid_t group, const char *name, const char *text)
{
  hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(type, strlen(text) + 1);
  hid_t data = H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (data >= 0)
    H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text);
  H5Dclose(data);
  H5Sclose(space);
  H5Tclose(type);
}

static void put_numbers(hid_t group, const char *name, int rank, const hsize_t *dims, bytes *b, bool whole)
{
  static double values[4096];
  hsize_t count = 1;
  for (int i = 0; i < rank; i++)
    count *= dims[i];
  if (count > 4096)
    return;
  for (hsize_t i = 0; i < count; i++)
    values[i] = whole ? next(b) % 8 : (next(b) - 128) / 8.0;
  hid_t space = rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, dims, NULL);
  hid_t data = H5Dcreate2(group, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (data >= 0)
    H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  H5Dclose(data);
  H5Sclose(space);
}

static void put_graph(hid_t group, bytes *b, int depth)
{
  static const char *const types[] = {"Input", "Output", "IF", "LIF", "CubaLIF", "I", "LI", "CubaLI", "Threshold", "Affine",
                                      "Linear", "Conv1d", "Conv2d", "SumPool2d", "AvgPool2d", "Flatten", "Scale", "Delay",
                                      "NIRGraph", "None"};
  static const char *const parameters[] = {"shape", "weight", "tau", "stride", "padding", "dilation", "groups", "kernel_size",
                                           "input_shape", "scale", "delay", "start_dim", "end_dim", "v_threshold"};
  enum { NAMES = 6, NAME_SIZE = 2, EDGES_MAX = 12 };
  put_text(group, "type", "NIRGraph");
  hid_t nodes = H5Gcreate2(group, "nodes", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  for (unsigned i = 0, count = next(b) % NAMES; i < count; i++) {
    const char name[] = {(char)('a' + i), '\0'};
    const char *type = types[next(b) % (sizeof types / sizeof *types)];
    hid_t node = H5Gcreate2(nodes, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (strcmp(type, "NIRGraph") == 0 && depth < 3) {
      put_graph(node, b, depth + 1);
    } else {
      put_text(node, "type", type);
      for (unsigned k = 0, given = next(b) % 8; k < given; k++) {
        const char *parameter = parameters[next(b) % (sizeof parameters / sizeof *parameters)];
        hsize_t dims[5];
        int rank = (int)(next(b) % 6);
        for (int d = 0; d < rank; d++)
          dims[d] = next(b) % 5;
        if (H5Lexists(node, parameter, H5P_DEFAULT) == 0)
          put_numbers(node, parameter, rank, dims, b, next(b) % 4 != 0);
      }
    }
    H5Gclose(node);
  }
  H5Gclose(nodes);
  hsize_t dims[2] = {next(b) % EDGES_MAX, 2};
  char ends[EDGES_MAX][2][NAME_SIZE] = {0};
  for (hsize_t i = 0; i < dims[0]; i++)
    for (int k = 0; k < 2; k++)
      ends[i][k][0] = (char)('a' + next(b) % NAMES);
  hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(2, dims, NULL);
  H5Tset_size(type, NAME_SIZE);
  hid_t data = H5Dcreate2(group, "edges", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (data >= 0 && dims[0] > 0)
    H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, ends);
  H5Dclose(data);
  H5Sclose(space);
  H5Tclose(type);
}

static void put_root(hid_t group, bytes *b)
{
  put_graph(group, b, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  hdf5_import(data, size, "node", put_root);
  return 0;
}
