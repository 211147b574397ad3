/* Happy path: open, ask for the shape, check it against the limits, read all at once. What can fail: everything, for a
 * damaged file; libhdf5 says only that it failed, the place comes from us. */
#include "core/network/hdf5/h5.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/network/formats/source.h"

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

/* ---- files ---- */

cm_status cm_h5_open(cm_h5 *h5, cm_source *source, const cm_import_limits *limits, cm_run *run, const char *format,
                     cm_error *error)
{
  size_t size = 0;
  *h5 = (cm_h5){.file = -1, .format = format, .run = run, .memory = run->memory};
  bool plain = cm_source_memory(source, &size) == NULL && !source->gzipped && source->raw_size > 0;
  CM_TRY_IF(!plain, cm_source_image(source, run->memory, &h5->image, &size, error));
  uint64_t bytes = plain ? source->raw_size : size;
  double most = limits->ratio_max * (double)bytes;
  h5->bytes_max = most < (double)limits->bytes_max ? (uint64_t)most : limits->bytes_max;
  if (h5->bytes_max < CM_RATIO_FROM_BYTES)
    h5->bytes_max = CM_RATIO_FROM_BYTES;
  pthread_mutex_lock(&one_at_a_time);
  (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  unsigned no_plugins = 0;
  (void)H5PLset_loading_state(no_plugins);
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (access >= 0 && (plain || (H5Pset_fapl_core(access, CM_RATIO_FROM_BYTES, false) >= 0 &&
                                H5Pset_file_image(access, h5->image, size) >= 0)))
    h5->file = H5Fopen(plain ? source->path : "memory", H5F_ACC_RDONLY, access);
  (void)H5Pclose(access);
  source->plain_bytes = bytes;
  if (plain)
    source->raw_bytes = bytes;
  if (h5->file >= 0)
    return CM_OK;
  cm_h5_close(h5);
  cm_fail(error, CM_BAD_NETWORK, "the HDF5 file is damaged or cut off: libhdf5 cannot open it");
  return cm_fail_at(error, "byte 0");
}

cm_status cm_h5_make(cm_h5 *h5, const char *format, cm_run *run, cm_error *error)
{
  *h5 = (cm_h5){.file = -1, .format = format, .run = run, .memory = run->memory};
  pthread_mutex_lock(&one_at_a_time);
  (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  hid_t access = H5Pcreate(H5P_FILE_ACCESS), plain = H5Pcreate(H5P_FILE_CREATE);
  (void)H5Pset_obj_track_times(plain, false); /* equal content gives equal bytes */
  if (H5Pset_fapl_core(access, CM_RATIO_FROM_BYTES, false) >= 0)
    h5->file = H5Fcreate("memory", H5F_ACC_TRUNC, plain, access);
  (void)H5Pclose(access);
  (void)H5Pclose(plain);
  if (h5->file >= 0)
    return CM_OK;
  cm_h5_close(h5);
  return cm_fail(error, CM_IO, "libhdf5 cannot start a file in memory");
}

cm_status cm_h5_image(const cm_h5 *h5, void **image, size_t *size, cm_error *error)
{
  char *made = NULL;
  (void)H5Fflush(h5->file, H5F_SCOPE_GLOBAL);
  const ssize_t bytes = H5Fget_file_image(h5->file, NULL, 0);
  CM_TRY_IF(bytes > 0, CM_NEW(h5->memory, made, (size_t)bytes, error));
  if (bytes <= 0 || H5Fget_file_image(h5->file, made, (size_t)bytes) != bytes) {
    cm_free(made);
    return cm_fail(error, CM_IO, "libhdf5 cannot give the file that it made");
  }
  *image = made;
  *size = (size_t)bytes;
  return CM_OK;
}

void cm_h5_close(cm_h5 *h5)
{
  if (h5->file >= 0)
    (void)H5Fclose(h5->file);
  cm_free(h5->image);
  h5->image = NULL;
  h5->file = -1;
  pthread_mutex_unlock(&one_at_a_time);
}

cm_status cm_h5_bad(const cm_h5 *h5, hid_t parent, const char *name, const char *what, cm_error *error)
{
  char place[200] = "";
  if (H5Iget_name(parent, place, sizeof place) < 0)
    place[0] = '\0';
  size_t used = strlen(place);
  if (name != NULL && used + 1 < sizeof place)
    (void)snprintf(place + used, sizeof place - used, "%s%s", used > 0 && place[used - 1] == '/' ? "" : "/", name);
  for (char *c = place; *c != '\0'; c++)
    *c = (unsigned char)*c < ' ' ? '?' : *c;
  cm_fail(error, CM_BAD_NETWORK, "%s, %s: %s", h5->format, place, what);
  return cm_fail_at(error, "%s", place);
}

/* ---- members ---- */

bool cm_h5_has(hid_t parent, const char *name)
{
  H5L_info_t about;
  return H5Lexists(parent, name, H5P_DEFAULT) > 0 && H5Lget_info(parent, name, &about, H5P_DEFAULT) >= 0 &&
         about.type == H5L_TYPE_HARD;
}

cm_status cm_h5_object(const cm_h5 *h5, hid_t parent, const char *name, hid_t *object, cm_error *error)
{
  if (!cm_h5_has(parent, name))
    return cm_h5_bad(h5, parent, name, "it is missing", error);
  hid_t opened = H5Oopen(parent, name, H5P_DEFAULT);
  if (opened < 0)
    return cm_h5_bad(h5, parent, name, "it cannot be opened: the file is damaged", error);
  *object = opened;
  return CM_OK;
}

void cm_h5_texts_free(cm_h5_texts *texts)
{
  CM_FREE(texts->text, texts->first);
  *texts = (cm_h5_texts){0};
}

static cm_status add_text(const cm_h5 *h5, cm_h5_texts *texts, const char *text, size_t length, cm_error *error)
{
  CM_TRY(CM_ROOM(h5->memory, texts->text, &texts->text_room, texts->used + length + 1, error));
  CM_TRY(CM_ROOM(h5->memory, texts->first, &texts->first_room, texts->count + 1, error));
  memcpy(texts->text + texts->used, text, length);
  texts->text[texts->used + length] = '\0';
  texts->first[texts->count++] = texts->used;
  texts->used += length + 1;
  return CM_OK;
}

static int naturally(const void *a, const void *b, void *texts)
{
  const cm_h5_texts *t = texts;
  return strverscmp(t->text + *(const uint64_t *)a, t->text + *(const uint64_t *)b);
}

cm_status cm_h5_names(const cm_h5 *h5, hid_t group, cm_h5_texts *names, cm_error *error)
{
  H5G_info_t about;
  *names = (cm_h5_texts){0};
  if (H5Iget_type(group) != H5I_GROUP || H5Gget_info(group, &about) < 0)
    return cm_h5_bad(h5, group, NULL, "a group is expected", error);
  if (about.nlinks > CM_H5_NAMES_MAX)
    return cm_h5_bad(h5, group, NULL, "it has more than 1048576 members", error);
  for (hsize_t i = 0; i < about.nlinks; i++) {
    char name[CM_H5_TEXT_MAX];
    ssize_t length = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT);
    if (length <= 0 || (size_t)length >= sizeof name) {
      cm_h5_texts_free(names);
      return cm_h5_bad(h5, group, NULL, length <= 0 ? "a member's name cannot be read: the file is damaged"
                                                    : "a member's name has more than 255 bytes", error);
    }
    if (add_text(h5, names, name, (size_t)length, error) != CM_OK) {
      cm_h5_texts_free(names);
      return error->status;
    }
  }
  if (names->count > 1)
    qsort_r(names->first, names->count, sizeof *names->first, naturally, names);
  return CM_OK;
}

/* ---- datasets ---- */

/* Opens a dataset that lies in this file, with its shape checked against the limits. */
static cm_status open_data(const cm_h5 *h5, hid_t parent, const char *name, hid_t *data, cm_h5_extents *is, cm_error *error)
{
  const char *wrong = NULL;
  hsize_t extents[CM_H5_RANK_MAX] = {0};
  uint64_t all = 1;
  CM_TRY(cm_h5_object(h5, parent, name, data, error));
  if (H5Iget_type(*data) != H5I_DATASET)
    wrong = "a dataset is expected";
  hid_t space = wrong == NULL ? H5Dget_space(*data) : -1, creation = wrong == NULL ? H5Dget_create_plist(*data) : -1;
  if (wrong == NULL && (space < 0 || creation < 0))
    wrong = "it cannot be read: the file is damaged";
  if (wrong == NULL && (H5Pget_layout(creation) == H5D_VIRTUAL || H5Pget_external_count(creation) > 0))
    wrong = "its numbers lie in other files: copy them into this one (h5repack)";
  int found = wrong == NULL ? H5Sget_simple_extent_ndims(space) : 0;
  H5S_class_t kind = wrong == NULL ? H5Sget_simple_extent_type(space) : H5S_SCALAR;
  if (wrong == NULL && (kind == H5S_NULL || kind == H5S_NO_CLASS || found < 0))
    wrong = "it holds nothing";
  if (wrong == NULL && found > CM_H5_RANK_MAX)
    wrong = "it has more than 8 dimensions";
  if (wrong == NULL && found > 0 && H5Sget_simple_extent_dims(space, extents, NULL) < 0)
    wrong = "it has no shape";
  for (int i = 0; i < found && wrong == NULL; i++) {
    is->dim[i] = extents[i];
    if (__builtin_mul_overflow(all, is->dim[i], &all) || all > h5->bytes_max)
      wrong = "it holds more than a file of this length can: it would not fit the limits";
  }
  (void)H5Sclose(space);
  (void)H5Pclose(creation);
  if (wrong != NULL) {
    (void)cm_h5_bad(h5, parent, name, wrong, error);
    (void)H5Oclose(*data);
    return error->status;
  }
  is->rank = found;
  is->count = all;
  return CM_OK;
}

cm_status cm_h5_shape(const cm_h5 *h5, hid_t parent, const char *name, cm_h5_extents *is, cm_error *error)
{
  hid_t data;
  CM_TRY(open_data(h5, parent, name, &data, is, error));
  (void)H5Oclose(data);
  return CM_OK;
}

static bool is_number(hid_t data)
{
  hid_t type = H5Dget_type(data);
  H5T_class_t class = H5Tget_class(type);
  (void)H5Tclose(type);
  return class == H5T_INTEGER || class == H5T_FLOAT;
}

/* How many slices along the first axis are read at once: some millions of numbers, and whole chunks, which are unpacked whole. */
static uint64_t slices_at_once(hid_t data, uint64_t each)
{
  enum { NUMBERS = 1 << 21 };
  hsize_t chunk[CM_H5_RANK_MAX];
  uint64_t slices = each < NUMBERS ? NUMBERS / each : 1;
  hid_t creation = H5Dget_create_plist(data);
  bool chunked = creation >= 0 && H5Pget_layout(creation) == H5D_CHUNKED && H5Pget_chunk(creation, CM_H5_RANK_MAX, chunk) > 0;
  (void)H5Pclose(creation);
  return chunked ? (slices + chunk[0] - 1) / chunk[0] * chunk[0] : slices;
}

/* All numbers of an array of at least one dimension, whole slices along its first axis at a time. */
static cm_status read_slices(const cm_h5 *h5, hid_t data, double *values, bool *read, cm_error *error)
{
  hsize_t start[CM_H5_RANK_MAX] = {0}, block[CM_H5_RANK_MAX];
  hid_t from = H5Dget_space(data), to;
  const int rank = H5Sget_simple_extent_dims(from, block, NULL);
  const uint64_t all = block[0], each = (uint64_t)H5Sget_simple_extent_npoints(from) / all, rows = slices_at_once(data, each);
  cm_status status = CM_OK;
  for (*read = true; start[0] < all && *read && status == CM_OK; start[0] += rows) {
    block[0] = all - start[0] < rows ? all - start[0] : rows;
    to = H5Screate_simple(rank, block, NULL);
    *read = to >= 0 && H5Sselect_hyperslab(from, H5S_SELECT_SET, start, NULL, block, NULL) >= 0 &&
            H5Dread(data, H5T_NATIVE_DOUBLE, to, from, H5P_DEFAULT, values + start[0] * each) >= 0;
    (void)H5Sclose(to);
    status = cm_run_progress(h5->run, (double)start[0] / (double)all, -1, 0, NAN, error);
  }
  (void)H5Sclose(from);
  return status;
}

cm_status cm_h5_reals(const cm_h5 *h5, hid_t parent, const char *name, double **values, cm_h5_extents *is, cm_error *error)
{
  hid_t data;
  double *made = NULL;
  bool read = true;
  CM_TRY(open_data(h5, parent, name, &data, is, error));
  cm_status status = is_number(data) ? CM_NEW(h5->memory, made, is->count, error)
                                     : cm_h5_bad(h5, parent, name, "numbers are expected", error);
  if (status == CM_OK && is->rank > 0 && is->count > 0)
    status = read_slices(h5, data, made, &read, error);
  else if (status == CM_OK && is->count > 0)
    read = H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, made) >= 0;
  if (status == CM_OK && !read)
    status = cm_h5_bad(h5, parent, name, "its numbers cannot be read: the file is damaged", error);
  (void)H5Oclose(data);
  CM_END(status, *values = made, cm_free(made));
}

cm_status cm_h5_slice(const cm_h5 *h5, hid_t parent, const char *name, hid_t type, uint64_t begin, uint64_t count,
                      void *values, cm_error *error)
{
  hid_t data;
  cm_h5_extents is;
  CM_TRY(open_data(h5, parent, name, &data, &is, error));
  cm_status status = CM_OK;
  if (!is_number(data) || is.rank != 1 || begin > is.count || count > is.count - begin)
    status = cm_h5_bad(h5, parent, name, "a list of as many numbers as its neighbours is expected", error);
  hsize_t start = begin, block = count;
  hid_t from = status == CM_OK ? H5Dget_space(data) : -1, to = status == CM_OK ? H5Screate_simple(1, &block, NULL) : -1;
  if (status == CM_OK && count > 0 &&
      (from < 0 || to < 0 || H5Sselect_hyperslab(from, H5S_SELECT_SET, &start, NULL, &block, NULL) < 0 ||
       H5Dread(data, type, to, from, H5P_DEFAULT, values) < 0))
    status = cm_h5_bad(h5, parent, name, "its numbers cannot be read: the file is damaged", error);
  (void)H5Sclose(from);
  (void)H5Sclose(to);
  (void)H5Oclose(data);
  return status;
}

static cm_status read_fixed(const cm_h5 *h5, hid_t data, hid_t type, uint64_t count, cm_h5_texts *texts, bool *read,
                            cm_error *error)
{
  size_t size = H5Tget_size(type);
  char *made = NULL;
  *read = size > 0 && size <= h5->bytes_max / (count > 0 ? count : 1);
  if (!*read)
    return CM_OK;
  cm_status status = CM_NEW(h5->memory, made, count * size, error);
  *read = status == CM_OK && H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, made) >= 0;
  for (uint64_t i = 0; *read && i < count && status == CM_OK; i++)
    status = add_text(h5, texts, made + i * size, strnlen(made + i * size, size), error);
  cm_free(made);
  return status;
}

static cm_status read_variable(const cm_h5 *h5, hid_t data, uint64_t count, cm_h5_texts *texts, bool *read, cm_error *error)
{
  char **made = NULL;
  hid_t type = H5Tcopy(H5T_C_S1), space = H5Dget_space(data), own = H5Dget_type(data);
  cm_status status = CM_NEW(h5->memory, made, count, error);
  *read = status == CM_OK && H5Tset_size(type, H5T_VARIABLE) >= 0 && H5Tset_cset(type, H5Tget_cset(own)) >= 0 &&
          H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, made) >= 0;
  for (uint64_t i = 0; *read && i < count && status == CM_OK; i++)
    status = add_text(h5, texts, made[i] != NULL ? made[i] : "", made[i] != NULL ? strlen(made[i]) : 0, error);
  if (*read)
    (void)H5Dvlen_reclaim(type, space, H5P_DEFAULT, made);
  (void)H5Tclose(own);
  (void)H5Sclose(space);
  (void)H5Tclose(type);
  cm_free(made);
  return status;
}

cm_status cm_h5_strings(const cm_h5 *h5, hid_t parent, const char *name, cm_h5_texts *texts, cm_h5_extents *is, cm_error *error)
{
  hid_t data;
  *texts = (cm_h5_texts){0};
  CM_TRY(open_data(h5, parent, name, &data, is, error));
  hid_t type = H5Dget_type(data);
  cm_status status = CM_OK;
  bool read = true;
  if (H5Tget_class(type) != H5T_STRING && is->count > 0)
    status = cm_h5_bad(h5, parent, name, "texts are expected", error);
  else if (is->count > 0)
    status = H5Tis_variable_str(type) > 0 ? read_variable(h5, data, is->count, texts, &read, error)
                                          : read_fixed(h5, data, type, is->count, texts, &read, error);
  if (status == CM_OK && !read)
    status = cm_h5_bad(h5, parent, name, "its texts cannot be read: the file is damaged", error);
  (void)H5Tclose(type);
  (void)H5Oclose(data);
  if (status != CM_OK)
    cm_h5_texts_free(texts);
  return status;
}

cm_status cm_h5_string(const cm_h5 *h5, hid_t parent, const char *name, char *text, size_t size, cm_error *error)
{
  cm_h5_texts texts;
  cm_h5_extents is;
  CM_TRY(cm_h5_strings(h5, parent, name, &texts, &is, error));
  cm_status status = CM_OK;
  if (texts.count != 1 || strlen(cm_h5_text_at(&texts, 0)) >= size)
    status = cm_h5_bad(h5, parent, name, "one short text is expected", error);
  else
    (void)snprintf(text, size, "%s", cm_h5_text_at(&texts, 0));
  cm_h5_texts_free(&texts);
  return status;
}

void cm_h5_attribute(hid_t object, const char *name, char *text, size_t size)
{
  text[0] = '\0';
  if (H5Aexists(object, name) <= 0)
    return;
  hid_t attribute = H5Aopen(object, name, H5P_DEFAULT), type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  char *made = NULL;
  if (H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_npoints(space) == 1) {
    if (H5Tis_variable_str(type) > 0) {
      if (H5Aread(attribute, type, &made) >= 0 && made != NULL) {
        (void)snprintf(text, size, "%s", made);
        (void)H5free_memory(made);
      }
    } else if (H5Tget_size(type) < size && H5Aread(attribute, type, text) >= 0)
      text[H5Tget_size(type)] = '\0';
    else
      text[0] = '\0';
  }
  (void)H5Sclose(space);
  (void)H5Tclose(type);
  (void)H5Aclose(attribute);
}
