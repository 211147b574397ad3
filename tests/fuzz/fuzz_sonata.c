/* SONATA edges: the input's bytes choose populations, lists and groups of an HDF5 file. */
#include "hdf5_file.h"

static void put_list(hid_t group, const char *name, bytes *b, hsize_t count, unsigned below, const char *population)
{
  static double values[64];
  for (hsize_t i = 0; i < count; i++)
    values[i] = next(b) % (below + 1) - (below == 255 ? 128.0 : 0);
  unsigned odd = next(b);
  hdf5_put_list(group, name, odd % 3 == 0 ? H5T_NATIVE_DOUBLE : odd % 3 == 1 ? H5T_STD_U16BE : H5T_STD_I64LE, values, count,
                population);
}

static void put_edges(hid_t edges, const char *name, bytes *b)
{
  static const char *const populations[] = {"a", "b", "c[0]", NULL}, *const properties[] = {"syn_weight", "delay", "nsyns"};
  enum { EDGES_MAX = 64 };
  hid_t group = H5Gcreate2(edges, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  hsize_t count = next(b) % EDGES_MAX;
  unsigned flags = next(b);
  put_list(group, "source_node_id", b, count, 15, populations[flags % 4]);
  put_list(group, "target_node_id", b, flags & 16 ? count / 2 : count, 15, populations[flags / 4 % 4]);
  if (!(flags & 32)) {
    put_list(group, "edge_group_id", b, count, 2, NULL);
    put_list(group, "edge_group_index", b, count, 63, NULL);
  }
  for (int g = 0; g < 3; g++) {
    const char number[] = {(char)('0' + g), '\0'};
    hid_t here = H5Gcreate2(group, number, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (unsigned k = 0, which = next(b); k < 3; k++)
      if (which >> k & 1)
        put_list(here, properties[k], b, next(b) % EDGES_MAX, next(b) % 2 ? 255 : 7, NULL);
    H5Gclose(here);
  }
  H5Gclose(group);
}

static void put_all_edges(hid_t edges, bytes *b)
{
  for (unsigned i = 0, count = next(b) % 4; i < count; i++)
    put_edges(edges, (const char[]){(char)('p' + i), '\0'}, b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  hdf5_import(data, size, "edges", put_all_edges);
  return 0;
}
