/* SONATA circuits: the input's bytes choose nodes, edges and spikes of HDF5 files, and are the tables of types. */
#include "hdf5_file.h"
#include "zip_file.h"

enum { LIST_MAX = 32 };

static const char config[] =
  "{\"networks\": {\"nodes\": [{\"nodes_file\": \"$N/n.h5\", \"node_types_file\": \"./n.csv\"}],"
  " \"edges\": [{\"edges_file\": \"e.h5\", \"edge_types_file\": \"e.csv\"}]}, \"run\": {\"tstop\": 100}}";

static void put_list(hid_t group, const char *name, bytes *b, hsize_t count, unsigned below, const char *population)
{
  double values[LIST_MAX];
  for (hsize_t i = 0; i < count; i++)
    values[i] = next(b) % below;
  hdf5_put_list(group, name, H5T_STD_U32LE, values, count, population);
}

static void put_nodes(hid_t nodes, bytes *b)
{
  for (unsigned i = 0, count = next(b) % 3; i < count; i++) {
    hid_t group = H5Gcreate2(nodes, i == 0 ? "a" : "b", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    put_list(group, "node_type_id", b, next(b) % LIST_MAX, 3, NULL);
    H5Gclose(group);
  }
}

static void put_edges(hid_t edges, bytes *b)
{
  hid_t group = H5Gcreate2(edges, "p", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  hsize_t count = next(b) % LIST_MAX;
  unsigned flags = next(b);
  put_list(group, "source_node_id", b, count, 8, flags & 1 ? "a" : "b");
  put_list(group, "target_node_id", b, count, 8, flags & 2 ? "a" : "b");
  if (flags & 4)
    put_list(group, "edge_type_id", b, flags & 8 ? count : next(b) % LIST_MAX, 4, NULL);
  H5Gclose(group);
}

static void put_spikes(hid_t spikes, bytes *b)
{
  hsize_t count = next(b) % LIST_MAX;
  bool old = next(b) % 2 == 0;
  hid_t group = old ? spikes : H5Gcreate2(spikes, "a", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  put_list(group, "timestamps", b, count, 100, NULL);
  put_list(group, old ? "gids" : "node_ids", b, next(b) % 8 ? count : count / 2, 16, NULL);
  if (!old)
    H5Gclose(group);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const char *const names[] = {"x/n.h5", "x/e.h5", "x/s.h5"}, *const groups[] = {"nodes", "edges", "spikes"};
  static void (*const put[])(hid_t group, bytes *b) = {put_nodes, put_edges, put_spikes};
  bytes b = {data, data + size};
  void *image[3] = {NULL};
  zip_file f;
  if (!zip_begin(&f))
    return 0;
  unsigned flags = next(&b);
  for (int i = 0; i < (flags & 1 ? 3 : 2); i++) {
    size_t made = 0;
    image[i] = hdf5_image(groups[i], put[i], &b, &made);
    if (image[i] != NULL)
      (void)zip_put(&f, names[i], image[i], made);
  }
  size_t left = (size_t)(b.end - b.at), half = left / 2;
  (void)(zip_put(&f, "x/config.json", config, sizeof config - 1) && zip_put(&f, "x/e.csv", b.at, half) &&
         zip_put(&f, "x/n.csv", b.at + half, left - half));
  zip_import(&f);
  for (int i = 0; i < 3; i++)
    free(image[i]);
  return 0;
}
