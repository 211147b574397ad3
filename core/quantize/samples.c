#include "core/quantize/samples.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zip.h>

#include "base/file.h"
#include "base/random.h"
#include "core/operators/operator.h"
#include "core/operators/tensor_file.h"

enum { SAMPLE_STREAM = 0x73616d };

static cm_status need_shapes(const cm_model *m, cm_error *error)
{
  for (size_t i = 0; i < m->input_count; i++)
    if (!cm_shape_known(&m->values[m->inputs[i]].shape))
      return cm_fail(error, CM_BAD_NETWORK, "input '%.80s' of the model has an open shape: state it with option shape",
                     m->values[m->inputs[i]].name);
  return CM_OK;
}

static cm_status begin(const cm_model *m, size_t count, cm_memory *memory, cm_samples *s, cm_error *error)
{
  *s = (cm_samples){.count = count, .inputs = m->input_count};
  return need_shapes(m, error) == CM_OK ? CM_NEW(memory, s->tensors, count * m->input_count + 1, error) : error->status;
}

void cm_samples_free(cm_samples *samples)
{
  for (size_t i = 0; samples->tensors != NULL && i < samples->count * samples->inputs; i++)
    cm_tensor_free(samples->tensors[i]);
  cm_free(samples->tensors);
  *samples = (cm_samples){0};
}

/* ---- random ones ---- */

cm_status cm_samples_random(const cm_model *model, size_t count, uint64_t seed, cm_memory *memory, cm_samples *samples, cm_error *error)
{
  cm_random random;
  cm_status status = begin(model, count, memory, samples, error);
  cm_random_init(&random, seed, SAMPLE_STREAM, 0);
  for (size_t k = 0; status == CM_OK && k < count * samples->inputs; k++) {
    const cm_shape *shape = &model->values[model->inputs[k % samples->inputs]].shape;
    status = cm_tensor_new(memory, shape->type, shape->rank, shape->dims, &samples->tensors[k], error);
    if (status == CM_OK)
      cm_tensor_fill_random(samples->tensors[k], &random);
  }
  if (status != CM_OK)
    cm_samples_free(samples);
  return status;
}

/* ---- those of files ---- */

/* What samples are read from: a zip file, a folder or one file, and the names of the files in it, sorted by bytes. */
typedef struct bundle {
  const cm_model *model;
  cm_memory *memory;
  const char *path, *shown; /* the last part of it, for messages: a server does not tell where its files are */
  zip_t *zip; /* NULL: it is none */
  char **name; /* under the path, with at most one '/'; "": the path itself */
  size_t count, room;
  cm_samples *samples;
  uint64_t samples_room;
} bundle;

static cm_status add_name(bundle *b, const char *folder, const char *name, cm_error *error)
{
  char path[CM_PATH_MAX];
  if (name[0] == '.')
    return CM_OK;
  CM_TRY(cm_path(path, error, "%s%s", folder, name));
  CM_TRY(CM_HEAP_GROW(b->name, &b->room, b->count + 1, "samples", error));
  return cm_whole((b->name[b->count] = strdup(path)) != NULL && ++b->count > 0, "samples", error);
}

/* The files of a folder, and of those in it. */
static cm_status list(bundle *b, const char *inside, cm_error *error)
{
  char path[CM_PATH_MAX], below[CM_PATH_MAX];
  struct stat about;
  CM_TRY(cm_path(path, error, "%s/%s", b->path, inside));
  DIR *folder = opendir(path);
  if (folder == NULL)
    return cm_fail_errno(error, errno, "cannot read the folder", path);
  cm_status status = CM_OK;
  for (const struct dirent *d; status == CM_OK && (d = readdir(folder)) != NULL;) {
    if (d->d_name[0] == '.' || cm_path(path, error, "%s/%s%s", b->path, inside, d->d_name) != CM_OK)
      continue;
    if (inside[0] == '\0' && stat(path, &about) == 0 && S_ISDIR(about.st_mode))
      status = cm_path(below, error, "%s/", d->d_name) == CM_OK ? list(b, below, error) : error->status;
    else
      status = add_name(b, inside, d->d_name, error);
  }
  (void)closedir(folder);
  return status;
}

static cm_status list_members(bundle *b, cm_error *error)
{
  cm_status status = CM_OK;
  const zip_int64_t members = zip_get_num_entries(b->zip, 0);
  for (zip_int64_t i = 0; status == CM_OK && i < members; i++) {
    const char *name = zip_get_name(b->zip, (zip_uint64_t)i, 0);
    if (name != NULL && name[0] != '\0' && name[strlen(name) - 1] != '/')
      status = add_name(b, "", name, error);
  }
  return status;
}

static int in_order(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_zip(const char *path)
{
  char magic[4] = "";
  FILE *file = fopen(path, "rbe");
  const bool is = file != NULL && fread(magic, 1, sizeof magic, file) == sizeof magic && memcmp(magic, "PK\3\4", sizeof magic) == 0;
  if (file != NULL)
    (void)fclose(file);
  return is;
}

/* One .npz with an array for each of several inputs, not a zip file of samples. */
static bool is_sample(const bundle *b)
{
  for (size_t i = 0; i < b->count; i++)
    if (strchr(b->name[i], '/') != NULL || cm_path_ends_in(b->name[i], ".npz"))
      return false;
  return b->model->input_count > 1;
}

static cm_status no_samples(const char *path, cm_error *error)
{
  return cm_fail(error, CM_BAD_REQUEST, "%s has no samples: each is a .npy, .npz or raw file, or a folder with one for each input", path);
}

static cm_status open_bundle(bundle *b, cm_error *error)
{
  struct stat about;
  if (stat(b->path, &about) != 0)
    return cm_fail_errno(error, errno, "cannot read", b->path);
  cm_status status = CM_OK;
  if (S_ISDIR(about.st_mode))
    status = list(b, "", error);
  else if (is_zip(b->path)) {
    if ((b->zip = zip_open(b->path, ZIP_RDONLY, NULL)) == NULL)
      return cm_fail(error, CM_BAD_REQUEST, "%s is a damaged zip file", b->shown);
    status = list_members(b, error);
    if (status == CM_OK && is_sample(b)) {
      zip_discard(b->zip);
      b->zip = NULL;
      while (b->count > 0)
        free(b->name[--b->count]);
    }
  }
  if (status == CM_OK && b->count == 0 && !S_ISDIR(about.st_mode) && b->zip == NULL)
    return cm_whole(CM_HEAP_GROW(b->name, &b->room, 1, "samples", error) == CM_OK && (b->name[b->count++] = strdup("")) != NULL, "samples", error);
  if (status == CM_OK && b->count == 0)
    status = no_samples(b->shown, error);
  if (status == CM_OK)
    qsort(b->name, b->count, sizeof *b->name, in_order);
  return status;
}

static void close_bundle(bundle *b)
{
  for (size_t i = 0; i < b->count; i++)
    free(b->name[i]);
  free(b->name);
  if (b->zip != NULL)
    zip_discard(b->zip);
}

/* An input's numbers in a file, of one sample or of several. */
static cm_status read_input(const bundle *b, size_t input, const char *name, uint64_t *times, cm_tensor **made, cm_error *error)
{
  char path[CM_PATH_MAX], *text;
  cm_tensor_bytes file = {0};
  const cm_value *v = &b->model->values[b->model->inputs[input]];
  const cm_tensor_wanted wanted = {v->name, input, v->shape.type, v->shape.rank, v->shape.dims};
  if (b->zip != NULL) {
    file.name = b->shown;
    CM_TRY(cm_zip_read(b->zip, (uint64_t)zip_name_locate(b->zip, name, 0), CM_TENSOR_FILE_BYTES_MAX, b->memory, &file, error));
    file.name = name;
    const cm_status status = cm_tensor_parse(&file, &wanted, b->memory, times, made, error);
    cm_free((void *)(uintptr_t)file.bytes);
    return status;
  }
  CM_TRY(cm_path(path, error, name[0] != '\0' ? "%s/%s" : "%s", b->path, name));
  CM_TRY(cm_file_read(path, CM_TENSOR_FILE_BYTES_MAX, &text, &file.size, error));
  file.name = name[0] != '\0' ? path : b->shown;
  file.bytes = text;
  const cm_status status = cm_tensor_parse(&file, &wanted, b->memory, times, made, error);
  free(text);
  return status;
}

/* The file of an input among those of a sample's folder: the one that is named after it, else by its place. */
static const char *file_of(const bundle *b, size_t input, size_t first)
{
  const char *name = b->model->values[b->model->inputs[input]].name;
  const size_t length = strlen(name);
  for (size_t i = first; i < first + b->model->input_count; i++) {
    const char *file = strchr(b->name[i], '/') + 1;
    if (strncmp(file, name, length) == 0 && file[length] == '.')
      return b->name[i];
  }
  return b->name[first + input];
}

/* Appends `times` samples, whose inputs stand one after the other. */
static cm_status append(bundle *b, cm_tensor *const *inputs, uint64_t times, cm_error *error)
{
  cm_samples *s = b->samples;
  CM_TRY(CM_ROOM(b->memory, s->tensors, &b->samples_room, (s->count + times) * s->inputs, error));
  memset(s->tensors + s->count * s->inputs, 0, (size_t)times * s->inputs * sizeof(cm_tensor *));
  for (uint64_t k = 0; k < times; k++) {
    s->count++;
    for (size_t i = 0; i < s->inputs; i++) {
      const cm_shape *shape = &b->model->values[b->model->inputs[i]].shape;
      cm_tensor **one = &s->tensors[(s->count - 1) * s->inputs + i];
      CM_TRY(cm_tensor_new(b->memory, shape->type, shape->rank, shape->dims, one, error));
      const size_t bytes = (size_t)(*one)->count * cm_type_bytes(shape->type);
      memcpy((*one)->data, (const char *)inputs[i]->data + k * bytes, bytes);
    }
  }
  return CM_OK;
}

/* The samples of an entry, whose files are `files` from number `first` on: a file, or with a '/' those of a folder. */
static cm_status read_entry(bundle *b, size_t first, size_t files, uint64_t most, cm_error *error)
{
  const cm_model *m = b->model;
  const char *name = b->name[first][0] != '\0' ? b->name[first] : b->shown;
  const bool folder = strchr(b->name[first], '/') != NULL;
  cm_tensor **inputs;
  uint64_t times = 0, one = 0;
  if (folder && files != m->input_count)
    return cm_fail(error, CM_BAD_REQUEST, "sample %.*s has %zu files; the model has %zu inputs", (int)strcspn(name, "/"), name, files, m->input_count);
  if (!folder && m->input_count > 1 && !cm_path_ends_in(name, ".npz") && !(b->name[first][0] == '\0' && is_zip(b->path)))
    return cm_fail(error, CM_BAD_REQUEST, "sample %s is one file, and the model has %zu inputs: a .npz or a folder holds them all", name, m->input_count);
  CM_TRY(CM_NEW(b->memory, inputs, m->input_count + 1, error));
  cm_status status = CM_OK;
  for (size_t i = 0; status == CM_OK && i < m->input_count; i++) {
    status = read_input(b, i, folder ? file_of(b, i, first) : b->name[first], &one, &inputs[i], error);
    if (status == CM_OK && i > 0 && one != times)
      status = cm_fail(error, CM_BAD_REQUEST, "%s holds %llu samples of an input and %llu of another", name, (unsigned long long)times, (unsigned long long)one);
    times = one;
  }
  CM_THEN(status, append(b, inputs, times < most ? times : most, error));
  for (size_t i = 0; i < m->input_count; i++)
    cm_tensor_free(inputs[i]);
  cm_free(inputs);
  return status;
}

cm_status cm_samples_read(const cm_model *model, const char *path, size_t most, cm_memory *memory, cm_samples *samples, cm_error *error)
{
  cm_samples made = {0};
  bundle b = {.model = model, .memory = memory, .path = path, .shown = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path, .samples = &made};
  cm_status status = begin(model, 0, memory, &made, error);
  b.samples_room = 1;
  CM_THEN(status, open_bundle(&b, error));
  for (size_t i = 0, next; status == CM_OK && i < b.count && (most == 0 || made.count < most); i = next) {
    const size_t folder = strchr(b.name[i], '/') != NULL ? strcspn(b.name[i], "/") + 1 : 0;
    next = i + 1;
    while (folder > 0 && next < b.count && strncmp(b.name[i], b.name[next], folder) == 0)
      next++;
    status = read_entry(&b, i, next - i, most > 0 ? most - made.count : UINT64_MAX, error);
  }
  close_bundle(&b);
  CM_END(status, *samples = made, cm_samples_free(&made));
}

cm_status cm_samples_pack(const char *folder, const char *out, cm_error *error)
{
  bundle b = {.path = folder};
  zip_t *zip = NULL;
  char path[CM_PATH_MAX];
  cm_status status = list(&b, "", error);
  if (status == CM_OK && b.count == 0)
    status = no_samples(folder, error);
  if (status == CM_OK && (zip = zip_open(out, ZIP_CREATE | ZIP_TRUNCATE, NULL)) == NULL)
    status = cm_fail(error, CM_IO, "cannot create %s", out);
  if (status == CM_OK)
    qsort(b.name, b.count, sizeof *b.name, in_order);
  for (size_t i = 0; status == CM_OK && i < b.count; i++) {
    status = cm_path(path, error, "%s/%s", folder, b.name[i]);
    zip_source_t *source = status == CM_OK ? zip_source_file(zip, path, 0, -1) : NULL;
    const zip_int64_t at = source != NULL ? zip_file_add(zip, b.name[i], source, 0) : -1;
    if (source != NULL && at < 0)
      zip_source_free(source);
    if (status == CM_OK && (at < 0 || zip_file_set_mtime(zip, (zip_uint64_t)at, 0, 0) != 0))
      status = cm_fail(error, CM_IO, "cannot pack %s", path);
  }
  if (status == CM_OK && zip_close(zip) != 0)
    status = cm_fail(error, CM_IO, "cannot pack %s: %s", folder, zip_strerror(zip));
  if (zip != NULL && status != CM_OK)
    zip_discard(zip);
  close_bundle(&b);
  return status;
}
