/* Arrays by name. */
#include <coremap/arrays.h>

#include "base/json.h"
#include "library/arrays.h"
#include "library/internal.h"

typedef struct named {
  char *name;
  cm_tensor *tensor;
} named;

struct coremap_arrays {
  size_t count;
  named *of;
};

static named *find(const coremap_arrays *arrays, const char *name)
{
  for (size_t i = 0; i < arrays->count; i++)
    if (strcmp(arrays->of[i].name, name) == 0)
      return &arrays->of[i];
  return NULL;
}

const cm_tensor *library_array(const coremap_arrays *arrays, const char *name)
{
  const named *found = find(arrays, name);
  return found != NULL ? found->tensor : NULL;
}

const char *library_array_name(const coremap_arrays *arrays, size_t index)
{
  return index < arrays->count ? arrays->of[index].name : NULL;
}

void library_arrays_swap(coremap_arrays *a, coremap_arrays *b)
{
  coremap_arrays kept = *a;
  *a = *b;
  *b = kept;
}

/* Takes the tensor, also on failure. */
static cm_status put(coremap_arrays *arrays, const char *name, cm_tensor *tensor, cm_error *error)
{
  named *place = find(arrays, name);
  if (place != NULL) {
    cm_tensor_free(place->tensor);
    place->tensor = tensor;
    return CM_OK;
  }
  char *copy = strdup(name);
  named *more = copy != NULL ? realloc(arrays->of, (arrays->count + 1) * sizeof *more) : NULL;
  if (more == NULL) {
    free(copy);
    cm_tensor_free(tensor);
    return cm_whole(false, name, error);
  }
  arrays->of = more;
  more[arrays->count].name = copy;
  more[arrays->count++].tensor = tensor;
  return CM_OK;
}

cm_status library_arrays_put(coremap_arrays *arrays, const char *name, const cm_tensor *tensor, cm_error *error)
{
  cm_tensor *copy;
  CM_TRY(cm_tensor_reshaped(NULL, tensor, tensor->rank, tensor->dims, &copy, error));
  return put(arrays, name, copy, error);
}

json_t *library_array_json(const char *name, cm_type type, uint32_t rank, const int64_t *dims)
{
  json_t *extents = json_array();
  for (uint32_t k = 0; k < rank; k++)
    (void)json_array_append_new(extents, json_integer(dims[k]));
  return json_pack("{s:s, s:s, s:o}", "name", name, "type", cm_type_name(type), "dims", extents);
}

/* ---- the interface ---- */

int coremap_arrays_new(coremap_arrays **arrays, coremap_error **error)
{
  cm_error e;
  coremap_arrays *made = calloc(1, sizeof *made);
  if (made == NULL)
    return library_tell(cm_whole(false, "arrays", &e), &e, error);
  *arrays = made;
  return 0;
}

static cm_status new_tensor(const char *name, const char *type, size_t rank, const uint64_t *dims, cm_tensor **made, cm_error *error)
{
  int64_t extents[CM_RANK_MAX];
  int t = 0;
  while (t < CM_TYPE_COUNT && (cm_type_bytes((cm_type)t) == 0 || strcmp(cm_type_name((cm_type)t), type) != 0))
    t++;
  if (t == CM_TYPE_COUNT)
    return cm_fail(error, CM_BAD_REQUEST, "array %s: \"%s\" is no type of numbers; float32, uint8 and int64 are some", name, type);
  if (rank > CM_RANK_MAX)
    return cm_fail(error, CM_BAD_REQUEST, "array %s: %zu dims; %d are the most", name, rank, CM_RANK_MAX);
  for (size_t k = 0; k < rank; k++) {
    if (dims[k] > INT64_MAX)
      return cm_fail(error, CM_TOO_LARGE, "array %s: dim %zu is %llu", name, k, (unsigned long long)dims[k]);
    extents[k] = (int64_t)dims[k];
  }
  return cm_tensor_new(NULL, (cm_type)t, (uint32_t)rank, extents, made, error);
}

int coremap_arrays_put(coremap_arrays *arrays, const char *name, const char *type, size_t rank, const uint64_t *dims, const void *elements,
                       coremap_error **error)
{
  cm_error e;
  cm_tensor *tensor;
  cm_status status = new_tensor(name, type, rank, dims, &tensor, &e);
  if (status == CM_OK) {
    if (tensor->count > 0)
      memcpy(tensor->data, elements, tensor->count * cm_type_bytes(tensor->type));
    status = put(arrays, name, tensor, &e);
  }
  return library_tell(status, &e, error);
}

const void *coremap_arrays_elements(const coremap_arrays *arrays, const char *name, uint64_t *bytes)
{
  const cm_tensor *tensor = library_array(arrays, name);
  if (tensor == NULL)
    return NULL;
  if (bytes != NULL)
    *bytes = tensor->count * cm_type_bytes(tensor->type);
  return tensor->data;
}

int coremap_arrays_about(const coremap_arrays *arrays, char **json, coremap_error **error)
{
  cm_error e;
  const uint64_t refusals = cm_json_refusals();
  json_t *all = json_array();
  for (size_t i = 0; i < arrays->count; i++) {
    const cm_tensor *t = arrays->of[i].tensor;
    (void)json_array_append_new(all, library_array_json(arrays->of[i].name, t->type, t->rank, t->dims));
  }
  return library_tell(library_whole_text(all, refusals, json, &e), &e, error);
}

void coremap_arrays_free(coremap_arrays *arrays)
{
  for (size_t i = 0; arrays != NULL && i < arrays->count; i++) {
    free(arrays->of[i].name);
    cm_tensor_free(arrays->of[i].tensor);
  }
  if (arrays != NULL)
    free(arrays->of);
  free(arrays);
}
