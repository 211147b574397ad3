#include "core/quantize/samples.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

static void fill(cm_tensor *t, cm_random *random)
{
  for (uint64_t k = 0; t->type == CM_FLOAT && k < t->count; k++)
    ((float *)t->data)[k] = (float)(2 * cm_random_unit(random) - 1);
  for (uint64_t k = 0; (t->type == CM_UINT8 || t->type == CM_INT8) && k < t->count; k++)
    ((uint8_t *)t->data)[k] = (uint8_t)cm_random_below(random, 256);
}

cm_status cm_samples_random(const cm_model *model, size_t count, uint64_t seed, cm_memory *memory, cm_samples *samples, cm_error *error)
{
  cm_random random;
  cm_status status = begin(model, count, memory, samples, error);
  cm_random_init(&random, seed, SAMPLE_STREAM, 0);
  for (size_t k = 0; status == CM_OK && k < count * samples->inputs; k++) {
    const cm_shape *shape = &model->values[model->inputs[k % samples->inputs]].shape;
    status = cm_tensor_new(memory, shape->type, shape->rank, shape->dims, &samples->tensors[k], error);
    if (status == CM_OK)
      fill(samples->tensors[k], &random);
  }
  if (status != CM_OK)
    cm_samples_free(samples);
  return status;
}

/* ---- those of a folder ---- */

static int is_seen(const struct dirent *entry)
{
  return entry->d_name[0] != '.';
}

static int in_order(const struct dirent **a, const struct dirent **b)
{
  return strcmp((*a)->d_name, (*b)->d_name);
}

/* The names in a folder, sorted by bytes. */
typedef struct listing {
  struct dirent **entry;
  size_t count;
} listing;

static cm_status list(const char *folder, listing *l, cm_error *error)
{
  const int count = scandir(folder, &l->entry, is_seen, in_order);
  if (count < 0)
    return cm_fail_errno(error, errno, "cannot read the folder", folder);
  l->count = (size_t)count;
  return CM_OK;
}

static void forget(listing *l)
{
  for (size_t i = 0; i < l->count; i++)
    free(l->entry[i]);
  free(l->entry);
}

static cm_status read_input(const cm_model *m, size_t input, const char *path, cm_memory *memory, cm_tensor **made, cm_error *error)
{
  const cm_value *v = &m->values[m->inputs[input]];
  return cm_tensor_read(path, &(cm_tensor_wanted){v->name, input, v->shape.type, v->shape.rank, v->shape.dims}, memory, made, error);
}

/* The file of an input in a sample's folder: the one that is named after it, else by its place. */
static size_t file_of(const cm_model *m, size_t input, const listing *l)
{
  const char *name = m->values[m->inputs[input]].name;
  const size_t length = strlen(name);
  for (size_t i = 0; i < l->count; i++)
    if (strncmp(l->entry[i]->d_name, name, length) == 0 && l->entry[i]->d_name[length] == '.')
      return i;
  return input;
}

static cm_status read_folder(const cm_model *m, const char *folder, cm_memory *memory, cm_tensor **inputs, cm_error *error)
{
  char path[CM_PATH_MAX];
  listing l = {0};
  cm_status status = list(folder, &l, error);
  if (status == CM_OK && l.count != m->input_count)
    status = cm_fail(error, CM_BAD_REQUEST, "sample %s has %zu files; the model has %zu inputs", folder, l.count, m->input_count);
  for (size_t i = 0; status == CM_OK && i < m->input_count; i++) {
    status = cm_path(path, error, "%s/%s", folder, l.entry[file_of(m, i, &l)]->d_name);
    if (status == CM_OK)
      status = read_input(m, i, path, memory, &inputs[i], error);
  }
  forget(&l);
  return status;
}

static cm_status read_sample(const cm_model *m, const char *path, cm_memory *memory, cm_tensor **inputs, cm_error *error)
{
  struct stat about;
  if (stat(path, &about) != 0)
    return cm_fail_errno(error, errno, "cannot read", path);
  if (S_ISDIR(about.st_mode))
    return read_folder(m, path, memory, inputs, error);
  if (m->input_count > 1 && (strlen(path) < 4 || strcmp(path + strlen(path) - 4, ".npz") != 0))
    return cm_fail(error, CM_BAD_REQUEST, "sample %s is one file, and the model has %zu inputs: a .npz or a folder holds them all", path,
                   m->input_count);
  for (size_t i = 0; i < m->input_count; i++)
    if (read_input(m, i, path, memory, &inputs[i], error) != CM_OK)
      return error->status;
  return CM_OK;
}

cm_status cm_samples_read(const cm_model *model, const char *folder, size_t most, cm_memory *memory, cm_samples *samples, cm_error *error)
{
  char path[CM_PATH_MAX];
  listing l = {0};
  *samples = (cm_samples){0};
  cm_status status = list(folder, &l, error);
  if (status == CM_OK && l.count == 0)
    status = cm_fail(error, CM_BAD_REQUEST, "%s has no samples: each is a .npy, .npz or raw file, or a folder with one for each input", folder);
  if (status == CM_OK)
    status = begin(model, most > 0 && most < l.count ? most : l.count, memory, samples, error);
  for (size_t i = 0; status == CM_OK && i < samples->count; i++) {
    status = cm_path(path, error, "%s/%s", folder, l.entry[i]->d_name);
    if (status == CM_OK)
      status = read_sample(model, path, memory, samples->tensors + i * samples->inputs, error);
  }
  forget(&l);
  if (status != CM_OK)
    cm_samples_free(samples);
  return status;
}
