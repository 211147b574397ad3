/* NIR as it is written: the nodes that the network was read with, their neurons with the parameters that they have now.
 *
 * Happy path: the kept graph is walked and made again in memory, then goes to the sink. Neurons are written as their models say:
 * type, parameters as float32, of one number where all are equal and the file had one. What can fail: a network that was not read
 * from NIR, neurons of one node that are of several models, memory, the disk. */
#include <hdf5.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "core/network/formats/export_writer.h"
#include "core/network/hdf5/nir.h"

typedef struct writing {
  const cm_topology *t;
  const cm_dynamics *d;
  cm_memory *memory;
  char path[2 * CM_H5_TEXT_MAX]; /* of the node under way: "outer.inner" */
} writing;

/* Neurons of one node. */
typedef struct unit {
  uint32_t first, count;
  cm_neuron_model model;
} unit;

/* A dataset to be made. */
typedef struct dataset {
  hid_t group;
  const char *name;
  int rank;
  hsize_t dims[CM_H5_RANK_MAX];
} dataset;

static cm_status bad(const writing *w, const char *what, cm_error *error)
{
  return cm_fail(error, CM_BAD_NETWORK, "NIR, node '%.100s': %s", w->path, what);
}

/* ---- datasets ---- */

/* Without the time of day, so that equal content gives equal bytes. */
static cm_status write_data(const writing *w, const dataset *m, hid_t type, const void *values, cm_error *error)
{
  hid_t space = m->rank > 0 ? H5Screate_simple(m->rank, m->dims, NULL) : H5Screate(H5S_SCALAR), plain = H5Pcreate(H5P_DATASET_CREATE);
  (void)H5Pset_obj_track_times(plain, false);
  hid_t data = H5Dcreate2(m->group, m->name, type, space, H5P_DEFAULT, plain, H5P_DEFAULT);
  (void)H5Pclose(plain);
  (void)H5Sclose(space);
  const bool written = data >= 0 && H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
  if (data >= 0)
    (void)H5Dclose(data);
  return written ? CM_OK : bad(w, "libhdf5 cannot write it", error);
}

static cm_status write_texts(const writing *w, const dataset *m, const json_t *list, cm_error *error)
{
  const char **text = NULL;
  const size_t count = json_array_size(list);
  CM_TRY(CM_NEW(w->memory, text, count, error));
  cm_status status = CM_OK;
  for (size_t i = 0; i < count && status == CM_OK; i++)
    if ((text[i] = json_string_value(json_array_get(list, i))) == NULL)
      status = bad(w, "what should be text is none", error);
  hid_t type = H5Tcopy(H5T_C_S1);
  (void)H5Tset_size(type, H5T_VARIABLE);
  (void)H5Tset_cset(type, H5T_CSET_UTF8);
  CM_THEN(status, write_data(w, m, type, text, error));
  (void)H5Tclose(type);
  cm_free(text);
  return status;
}

static cm_status write_whole(const writing *w, const dataset *m, const json_t *list, cm_error *error)
{
  int64_t *value = NULL;
  const size_t count = json_array_size(list);
  CM_TRY(CM_NEW(w->memory, value, count, error));
  for (size_t i = 0; i < count; i++)
    value[i] = json_integer_value(json_array_get(list, i));
  cm_status status = write_data(w, m, H5T_NATIVE_INT64, value, error);
  cm_free(value);
  return status;
}

/* The shape of a kept dataset; its rank is -1 where it has none. */
static void read_shape(const json_t *data, dataset *m, uint64_t *count)
{
  const json_t *shape = json_object_get(data, "@shape");
  const size_t rank = json_array_size(shape);
  *count = 1;
  m->rank = json_is_array(shape) && rank <= CM_H5_RANK_MAX ? (int)rank : -1;
  for (int i = 0; i < m->rank; i++) {
    const json_int_t extent = json_integer_value(json_array_get(shape, (size_t)i));
    m->dims[i] = (hsize_t)extent;
    if (extent < 0 || __builtin_mul_overflow(*count, (uint64_t)extent, count))
      m->rank = -1;
  }
}

static cm_status write_kept(const writing *w, hid_t group, const char *name, const json_t *data, cm_error *error)
{
  dataset m = {.group = group, .name = name};
  uint64_t count;
  const json_t *text = json_object_get(data, "@text"), *whole = json_object_get(data, "@whole"), *at = json_object_get(data, "@at");
  const uint64_t first = (uint64_t)json_integer_value(at);
  read_shape(data, &m, &count);
  if (m.rank >= 0 && text != NULL && json_array_size(text) == count)
    return write_texts(w, &m, text, error);
  if (m.rank >= 0 && whole != NULL && json_array_size(whole) == count)
    return write_whole(w, &m, whole, error);
  if (m.rank < 0 || at == NULL || first > w->d->number_count || count > w->d->number_count - first)
    return bad(w, "what was kept of it is damaged", error);
  return write_data(w, &m, H5T_NATIVE_FLOAT, w->d->number + first, error);
}

/* ---- neurons ---- */

/* The neurons of the node under way; count 0: it has none. */
static cm_status find_unit(const writing *w, unit *found, cm_error *error)
{
  const cm_topology *t = w->t;
  uint32_t p = 0;
  *found = (unit){.count = 0};
  while (p < t->population_count && strcmp(t->population[p].name, w->path) != 0)
    p++;
  for (uint32_t v = 0; p < t->population_count && v < t->vertex_count; v++) {
    if (t->population_of[v] != p)
      continue;
    found->first = found->count == 0 ? v : found->first;
    found->model = found->count == 0 ? w->d->model[v] : found->model;
    if (w->d->model[v] != found->model || v != found->first + found->count++)
      return bad(w, "its neurons are of several models, or not one after another, which one node cannot say", error);
  }
  return CM_OK;
}

/* The shape of neurons by the name of the last: "node[1,15,15]". */
static nir_shape shape_by_name(const writing *w, const unit *u)
{
  const char *label = cm_topology_label(w->t, u->first + u->count - 1), *at = label != NULL ? strrchr(label, '[') : NULL;
  nir_shape made = {.rank = 0, .count = 1};
  for (char *end; at != NULL && (*at == '[' || *at == ',') && made.rank < NIR_RANK_MAX; at = end) {
    made.dim[made.rank] = strtoull(at + 1, &end, 10) + 1;
    made.count *= made.dim[made.rank++];
  }
  return made.count == u->count && made.rank > 0 ? made : (nir_shape){1, {u->count}, u->count};
}

/* Whether the neurons' values are those of a smaller shape, broadcast; `few` [shape.count] takes them. */
static bool narrows(const nir_shape *shape, const nir_shape *whole, const float *value, float *few)
{
  for (uint64_t v = whole->count; v-- > 0;)
    few[shape->count == 1 ? 0 : nir_broadcast(shape, whole, v)] = value[v];
  for (uint64_t v = 0; v < whole->count; v++)
    if (few[shape->count == 1 ? 0 : nir_broadcast(shape, whole, v)] != value[v])
      return false;
  return true;
}

/* One parameter, in the shape that the file had where that can say it. */
static cm_status write_parameter(const writing *w, hid_t group, const unit *u, cm_neuron_parameter p, const json_t *node, cm_error *error)
{
  const cm_neuron_parameter_row *row = &cm_neuron_parameters[p];
  const bool other = row->nir_name != NULL && (p == CM_PARAMETER_TAU ? cm_neuron_has(u->model, CM_PARAMETER_TAU_SYN)
                                                                     : u->model == CM_NEURON_THRESHOLD);
  dataset m = {.group = group, .name = other ? row->nir_name : row->name};
  const json_t *kept = json_object_get(node, m.name);
  const float *value = w->d->parameter[p] + u->first;
  const nir_shape whole = shape_by_name(w, u);
  nir_shape shape = {.count = 1};
  float *few;
  if (kept != NULL)
    read_shape(kept, &m, &shape.count);
  shape.rank = m.rank <= NIR_RANK_MAX ? m.rank : -1;
  for (int i = 0; i < shape.rank; i++)
    shape.dim[i] = m.dims[i];
  if (kept != NULL && shape.rank >= 0 && shape.count == u->count)
    return write_data(w, &m, H5T_NATIVE_FLOAT, value, error);
  const nir_shape trimmed = nir_without_leading(&shape, whole.rank);
  const bool fits = shape.rank >= 0 && (shape.count == 1 || nir_broadcasts(&trimmed, &whole));
  CM_TRY(CM_NEW(w->memory, few, u->count, error));
  cm_status status = CM_OK;
  if (fits && narrows(&trimmed, &whole, value, few)) {
    if (kept != NULL || few[0] != row->otherwise)
      status = write_data(w, &m, H5T_NATIVE_FLOAT, few, error);
  } else {
    m.rank = whole.rank;
    for (int i = 0; i < whole.rank; i++)
      m.dims[i] = whole.dim[i];
    status = write_data(w, &m, H5T_NATIVE_FLOAT, value, error);
  }
  cm_free(few);
  return status;
}

static cm_status write_unit(const writing *w, hid_t group, const unit *u, const json_t *node, cm_error *error)
{
  const char *name;
  json_t *value, *type = json_pack("[s]", cm_neuron_models[u->model].name);
  cm_status status = write_texts(w, &(dataset){.group = group, .name = "type"}, type, error);
  json_decref(type);
  for (cm_neuron_parameter p = 0; p < CM_PARAMETER_BIAS && status == CM_OK; p++)
    if (cm_neuron_has(u->model, p))
      status = write_parameter(w, group, u, p, node, error);
  json_object_foreach((json_t *)node, name, value) {
    if (status != CM_OK || strcmp(name, "type") == 0 || cm_neuron_parameter_find(name, strlen(name)) < CM_NEURON_PARAMETERS)
      continue;
    if (json_object_get(value, "@shape") != NULL)
      status = write_kept(w, group, name, value, error);
  }
  return status;
}

/* ---- the graph ---- */

static cm_status write_group(writing *w, hid_t group, const json_t *object, bool of_nodes, cm_error *error);

/* A member of a group; in a group of nodes it is one, whose name goes behind the path. */
static cm_status write_member(writing *w, hid_t group, const char *name, const json_t *value, bool of_nodes, cm_error *error)
{
  const size_t used = strlen(w->path);
  unit u = {.count = 0};
  if (json_object_get(value, "@shape") != NULL)
    return write_kept(w, group, name, value, error);
  if (of_nodes)
    (void)snprintf(w->path + used, sizeof w->path - used, "%s%s", used > 0 ? "." : "", name);
  CM_TRY_IF(of_nodes, find_unit(w, &u, error));
  hid_t plain = H5Pcreate(H5P_GROUP_CREATE);
  (void)H5Pset_obj_track_times(plain, false);
  hid_t made = H5Gcreate2(group, name, H5P_DEFAULT, plain, H5P_DEFAULT);
  (void)H5Pclose(plain);
  cm_status status = made < 0                                              ? bad(w, "libhdf5 cannot write it", error)
                     : u.count > 0 && u.model != CM_NEURON_INPUT ? write_unit(w, made, &u, value, error)
                                                                 : write_group(w, made, value, strcmp(name, "nodes") == 0 && !of_nodes, error);
  if (made >= 0)
    (void)H5Gclose(made);
  w->path[used] = '\0';
  return status;
}

static cm_status write_group(writing *w, hid_t group, const json_t *object, bool of_nodes, cm_error *error)
{
  const char *name;
  json_t *value;
  cm_status status = CM_OK;
  json_object_foreach((json_t *)object, name, value)
    CM_THEN(status, write_member(w, group, name, value, of_nodes, error));
  return status;
}

cm_status cm_export_nir(const cm_export_writer *e, cm_error *error)
{
  writing w = {.t = e->topology, .d = e->topology->dynamics, .memory = e->run->memory};
  cm_h5 h5;
  json_error_t where;
  if (w.d == NULL || w.d->nodes == NULL || w.d->model == NULL || w.t->population_of == NULL)
    return cm_fail(error, CM_BAD_REQUEST, "only a network that was read from NIR can be written as NIR: this one has none of its nodes");
  if (w.d->parameter[CM_PARAMETER_REFRACTORY] != NULL)
    return cm_fail(error, CM_BAD_REQUEST, "neurons have refractory times, which NIR has not: give them parameters without, or keep the network as topology");
  if (w.d->parameter[CM_PARAMETER_TAU_SYN_INHIBITORY] != NULL)
    return cm_fail(error, CM_BAD_REQUEST, "neurons have a second current, tau_syn_inhibitory, which NIR has not: give them parameters without, or keep the network as topology");
  const uint64_t refusals = cm_json_refusals();
  json_t *nodes = cm_json_loadb(w.d->nodes, strlen(w.d->nodes), JSON_REJECT_DUPLICATES, &where);
  CM_TRY(cm_json_whole(refusals, "the nodes", error));
  if (!json_is_object(nodes)) {
    json_decref(nodes);
    return cm_fail(error, CM_BAD_NETWORK, "the nodes that the network keeps are damaged");
  }
  cm_status status = cm_h5_make(&h5, "NIR network", e->run, error);
  if (status == CM_OK) {
    void *image;
    size_t size;
    status = write_group(&w, h5.file, nodes, false, error);
    if (status == CM_OK && (status = cm_h5_image(&h5, &image, &size, error)) == CM_OK) {
      cm_sink_bytes(e->sink, image, size);
      cm_free(image);
    }
    cm_h5_close(&h5);
  }
  json_decref(nodes);
  return status;
}
