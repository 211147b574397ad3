#include "core/network/formats/table.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

const cm_network_format cm_network_formats[CM_FORMATS] = {
  [CM_FORMAT_TOPOLOGY] = {.name = "topology", .about = "topology zip", .ending = {".zip"}, .packed = true,
                          .import = cm_import_topology},
  [CM_FORMAT_SNN] = {.name = "snn", .about = ".snn", .ending = {".snn"}, .import = cm_import_snn,
                     .write = cm_export_snn},
  [CM_FORMAT_METIS] = {.name = "metis", .about = "METIS .graph", .ending = {".graph"}, .import = cm_import_metis,
                       .write = cm_export_graph},
  [CM_FORMAT_HYPERGRAPH] = {.name = "hmetis", .about = "hMETIS .hgr", .ending = {".hgr"},
                            .import = cm_import_hypergraph, .write = cm_export_hypergraph},
  [CM_FORMAT_MATRIX] = {.name = "matrix-market", .about = "MatrixMarket .mtx", .ending = {".mtx"},
                        .import = cm_import_matrix, .write = cm_export_matrix},
  [CM_FORMAT_EDGES] = {.name = "edges", .about = "csv/tsv edge list", .ending = {".csv", ".tsv", ".conn"},
                       .import = cm_import_edges, .write = cm_export_edges},
  [CM_FORMAT_NIR] = {.name = "nir", .about = ".nir", .ending = {".nir"}, .packed = true, .confined = true,
                     .import = cm_import_nir},
  [CM_FORMAT_SONATA] = {.name = "sonata", .about = "SONATA edges .h5", .ending = {".h5"}, .packed = true, .confined = true,
                        .import = cm_import_sonata},
  [CM_FORMAT_LAVA] = {.name = "lava-dl", .about = "lava-dl .net", .ending = {".net"}, .packed = true, .confined = true,
                      .import = cm_import_lava},
  [CM_FORMAT_NUMPY] = {.name = "numpy", .about = "NumPy .npy/.npz", .ending = {".npy", ".npz"}, .packed = true,
                       .confined = true, .import = cm_import_numpy},
  [CM_FORMAT_GRAPHML] = {.name = "graphml", .about = "GraphML", .ending = {".graphml"}, .confined = true,
                         .import = cm_import_graphml},
  [CM_FORMAT_GEXF] = {.name = "gexf", .about = "GEXF", .ending = {".gexf"}, .confined = true, .import = cm_import_gexf},
};

bool cm_path_ends(const char *path, size_t length, const char *ending)
{
  size_t tail = strlen(ending);
  return length >= tail && strncasecmp(path + length - tail, ending, tail) == 0;
}

const char *cm_format_ending(const cm_network_format *format, const char *path)
{
  size_t length = strlen(path);
  if (!format->packed && cm_path_ends(path, length, ".gz"))
    length -= strlen(".gz");
  for (size_t i = 0; i < CM_FORMAT_ENDINGS_MAX && format->ending[i] != NULL; i++)
    if (cm_path_ends(path, length, format->ending[i]))
      return format->ending[i];
  return NULL;
}

const cm_network_format *cm_network_format_find(const char *name)
{
  for (size_t i = 0; i < CM_FORMATS; i++)
    if (strcmp(cm_network_formats[i].name, name) == 0)
      return &cm_network_formats[i];
  return NULL;
}

const cm_network_format *cm_network_format_by_ending(const char *path)
{
  for (size_t i = 0; i < CM_FORMATS; i++)
    if (cm_format_ending(&cm_network_formats[i], path) != NULL)
      return &cm_network_formats[i];
  return NULL;
}

const char *cm_network_format_name(const cm_network_format *format)
{
  return format->name;
}

const char *cm_network_format_name_at(size_t index)
{
  return index < CM_FORMATS ? cm_network_formats[index].name : NULL;
}

cm_status cm_network_format_file_name(const char *said, char name[CM_FORMAT_FILE_NAME_MAX], cm_error *error)
{
  char names[CM_FORMAT_NAMES_MAX], made[CM_FORMAT_FILE_NAME_MAX];
  const cm_network_format *format = cm_network_format_find(said);
  int length = snprintf(made, sizeof made, "network%s%s", format != NULL || said[0] == '.' ? "" : ".",
                        format != NULL ? format->ending[0] : said);
  const cm_network_format *written = length < (int)sizeof made ? cm_network_format_by_ending(made) : NULL;
  if (written != NULL && written->confined)
    return cm_fail(error, CM_BAD_OPTION, "networks are not written as %s, only read", written->name);
  if (written == NULL)
    return cm_fail(error, CM_BAD_OPTION, "there is no network format \"%.40s\"; the formats are %s", said,
                   cm_network_format_names(names));
  (void)snprintf(name, CM_FORMAT_FILE_NAME_MAX, "%s", made);
  return CM_OK;
}

/* "A, B, C" of one text of every row. */
static const char *list(char *text, size_t size, bool about)
{
  size_t used = 0;
  for (size_t i = 0; i < CM_FORMATS && used < size; i++) {
    int more = snprintf(text + used, size - used, "%s%s", i == 0 ? "" : ", ",
                        about ? cm_network_formats[i].about : cm_network_formats[i].name);
    used += more > 0 ? (size_t)more : 0;
  }
  return text;
}

const char *cm_network_format_names(char text[CM_FORMAT_NAMES_MAX])
{
  return list(text, CM_FORMAT_NAMES_MAX, false);
}

const char *cm_network_formats_about(char text[CM_FORMAT_NAMES_MAX])
{
  return list(text, CM_FORMAT_NAMES_MAX, true);
}
