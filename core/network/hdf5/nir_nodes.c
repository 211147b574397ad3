/* The graph of a NIR file as it stands there, kept so that it can be written again: groups are objects; datasets are objects of
 * "@shape" and one of "@text", "@whole" (integers) and "@at" (where its numbers begin among cm_dynamics' number).
 *
 * Happy path: all groups and datasets below the root, in order of their names. What can fail: memory, a damaged file, too deep a
 * nest. What is neither text nor number is left out. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "core/network/hdf5/nir.h"

enum { DEEPEST = 80, WHOLE_MAX = 4096 };

typedef struct keeper {
  const cm_h5 *h5;
  nir_graph *graph; /* takes the numbers */
} keeper;

static json_t *shape_json(int rank, const uint64_t *dims)
{
  json_t *list = json_array();
  for (int i = 0; i < rank; i++)
    (void)json_array_append_new(list, json_integer((json_int_t)dims[i]));
  return list;
}

static cm_status keep_text(const keeper *k, hid_t group, const char *name, json_t *made, cm_error *error)
{
  cm_h5_texts texts;
  cm_h5_extents is;
  CM_TRY(cm_h5_strings(k->h5, group, name, &texts, &is, error));
  json_t *list = json_array();
  for (uint64_t i = 0; i < texts.count; i++)
    (void)json_array_append_new(list, json_string(cm_h5_text_at(&texts, i)));
  cm_h5_texts_free(&texts);
  (void)json_object_set_new(made, name, json_pack("{s:o, s:o}", "@shape", shape_json(is.rank, is.dim), "@text", list));
  return CM_OK;
}

static cm_status keep_numbers(const keeper *k, hid_t group, const char *name, bool whole, json_t *made, cm_error *error)
{
  nir_graph *g = k->graph;
  double *value;
  uint64_t count = 1;
  cm_h5_extents is;
  CM_TRY(cm_h5_reals(k->h5, group, name, &value, &is, error));
  for (int i = 0; i < is.rank; i++)
    count *= is.dim[i];
  json_t *data = json_pack("{s:o}", "@shape", shape_json(is.rank, is.dim));
  cm_status status = CM_OK;
  if (whole && count <= WHOLE_MAX) {
    json_t *list = json_array();
    for (uint64_t i = 0; i < count; i++)
      (void)json_array_append_new(list, json_integer((json_int_t)value[i]));
    (void)json_object_set_new(data, "@whole", list);
  } else {
    (void)json_object_set_new(data, "@at", json_integer((json_int_t)g->number_count));
    status = CM_ROOM(g->memory, g->number, &g->number_room, g->number_count + count, error);
    for (uint64_t i = 0; status == CM_OK && i < count; i++)
      g->number[g->number_count++] = (float)value[i];
  }
  cm_free(value);
  (void)json_object_set_new(made, name, data);
  return status;
}

static cm_status keep_group(const keeper *k, hid_t group, int depth, json_t *made, cm_error *error);

static cm_status keep_member(const keeper *k, hid_t group, const char *name, int depth, json_t *made, cm_error *error)
{
  hid_t object;
  if (!cm_h5_has(group, name) || name[0] == '@')
    return CM_OK;
  CM_TRY(cm_h5_object(k->h5, group, name, &object, error));
  cm_status status = CM_OK;
  if (H5Iget_type(object) == H5I_GROUP) {
    json_t *inner = json_object();
    status = keep_group(k, object, depth + 1, inner, error);
    (void)json_object_set_new(made, name, inner);
  } else if (H5Iget_type(object) == H5I_DATASET) {
    hid_t type = H5Dget_type(object);
    const H5T_class_t class = H5Tget_class(type);
    (void)H5Tclose(type);
    if (class == H5T_STRING)
      status = keep_text(k, group, name, made, error);
    else if (class == H5T_INTEGER || class == H5T_FLOAT)
      status = keep_numbers(k, group, name, class == H5T_INTEGER, made, error);
  }
  (void)H5Oclose(object);
  return status;
}

static cm_status keep_group(const keeper *k, hid_t group, int depth, json_t *made, cm_error *error)
{
  cm_h5_texts names;
  if (depth > DEEPEST)
    return cm_h5_bad(k->h5, group, NULL, "graphs are nested more than 32 deep", error);
  cm_status status = cm_h5_names(k->h5, group, &names, error);
  for (uint64_t i = 0; status == CM_OK && i < names.count; i++)
    status = keep_member(k, group, cm_h5_text_at(&names, i), depth, made, error);
  cm_h5_texts_free(&names);
  return status;
}

cm_status nir_keep_nodes(const cm_h5 *h5, nir_graph *g, cm_error *error)
{
  const uint64_t refusals = cm_json_refusals();
  json_t *made = json_object();
  hid_t root = H5Gopen2(h5->file, "/", H5P_DEFAULT);
  cm_status status = keep_group(&(keeper){h5, g}, root, 0, made, error);
  (void)H5Gclose(root);
  char *text = status == CM_OK ? cm_json_dumps(made, JSON_COMPACT) : NULL;
  json_decref(made);
  CM_THEN(status, cm_json_whole(refusals, "the nodes", error));
  CM_THEN(status, CM_NEW(g->memory, g->nodes, strlen(text) + 1, error));
  if (status == CM_OK)
    memcpy(g->nodes, text, strlen(text) + 1);
  free(text);
  return status;
}
