/* What a program is run on. */
#include "library/program_inputs.h"

#include "core/operators/tensor_file.h"

enum { INPUT_STREAM = 0x72756e, SHAPE_TEXT_MAX = 32 + 22 * CM_RANK_MAX };

static const char *file_at(const library_program_given *given, size_t k)
{
  return json_string_value(json_array_get(given->files, k));
}

/* The file in NAME=FILE where NAME is an input of the program, else NULL: all of it is a file's name. */
static const char *file_named(const char *text, const char *name)
{
  size_t length = strlen(name);
  return strncmp(text, name, length) == 0 && text[length] == '=' ? text + length + 1 : NULL;
}

static bool names_input(const char *text, const cm_program *p)
{
  for (uint32_t i = 0; i < p->input_count; i++)
    if (file_named(text, p->tensors[p->inputs[i]].name) != NULL)
      return true;
  return false;
}

/* float32 [1, 3, 8, 8] */
static void shape_text(cm_type type, uint32_t rank, const int64_t *dims, char text[SHAPE_TEXT_MAX])
{
  int length = snprintf(text, SHAPE_TEXT_MAX, "%s [", cm_type_name(type));
  for (uint32_t d = 0; d < rank; d++)
    length += snprintf(text + length, SHAPE_TEXT_MAX - (size_t)length, "%s%lld", d > 0 ? ", " : "", (long long)dims[d]);
  (void)snprintf(text + length, SHAPE_TEXT_MAX - (size_t)length, "]");
}

static cm_status refuse_array(const cm_tensor *array, const cm_program_tensor *input, cm_error *error)
{
  char is[SHAPE_TEXT_MAX], needed[SHAPE_TEXT_MAX];
  shape_text(array->type, array->rank, array->dims, is);
  shape_text(input->type, input->rank, input->dims, needed);
  return cm_fail(error, CM_BAD_REQUEST, "array %s is %s; the program's input is %s", input->name, is, needed);
}

static const cm_tensor *array_for(const library_program_given *given, const char *name)
{
  return given->arrays != NULL ? library_array(given->arrays, name) : NULL;
}

/* Every array is an input, of its type and shape. */
static cm_status check_arrays(const library_program_given *given, const cm_program *p, cm_error *error)
{
  const char *name;
  for (size_t k = 0; given->arrays != NULL && (name = library_array_name(given->arrays, k)) != NULL; k++) {
    const cm_tensor *array = library_array(given->arrays, name);
    uint32_t i = 0;
    while (i < p->input_count && strcmp(p->tensors[p->inputs[i]].name, name) != 0)
      i++;
    if (i == p->input_count)
      return cm_fail(error, CM_BAD_REQUEST, "array %s is none of the program's %u inputs; the first is %s", name, p->input_count,
                     p->input_count > 0 ? p->tensors[p->inputs[0]].name : "missing");
    const cm_program_tensor *t = &p->tensors[p->inputs[i]];
    bool fits = array->type == t->type && array->rank == t->rank;
    for (uint32_t d = 0; fits && d < t->rank; d++)
      fits = array->dims[d] == t->dims[d];
    if (!fits)
      return refuse_array(array, t, error);
  }
  return CM_OK;
}

/* files[i]: the file for input i, by its name or as the next of those that neither a name nor an array has; NULL: none is given. */
static cm_status match_files(const library_program_given *given, const cm_program *p, const char **files, cm_error *error)
{
  uint32_t next = 0;
  for (uint32_t i = 0; i < p->input_count; i++)
    for (size_t k = 0; k < json_array_size(given->files) && files[i] == NULL; k++)
      files[i] = file_named(file_at(given, k), p->tensors[p->inputs[i]].name);
  for (size_t k = 0; k < json_array_size(given->files); k++) {
    if (names_input(file_at(given, k), p))
      continue;
    while (next < p->input_count && (files[next] != NULL || array_for(given, p->tensors[p->inputs[next]].name) != NULL))
      next++;
    if (next == p->input_count)
      return cm_fail(error, CM_BAD_REQUEST, "input %s is for none of the program's %u inputs; the first is %s",
                     file_at(given, k), p->input_count, p->input_count > 0 ? p->tensors[p->inputs[0]].name : "missing");
    files[next] = file_at(given, k);
    /* One .npz holds them all. */
    bool all = json_array_size(given->files) == 1 && strstr(file_at(given, k), ".npz") != NULL;
    for (uint32_t i = 0; all && i < p->input_count; i++)
      if (array_for(given, p->tensors[p->inputs[i]].name) == NULL)
        files[i] = file_at(given, k);
  }
  return CM_OK;
}

cm_status library_program_inputs(const library_program_given *given, const cm_program *p, cm_memory *memory, cm_tensor **inputs,
                                 const char **any, cm_error *error)
{
  cm_random random;
  const char **files = NULL;
  cm_status status = CM_NEW(memory, files, p->input_count + 1, error);
  CM_THEN(status, check_arrays(given, p, error));
  CM_THEN(status, match_files(given, p, files, error));
  cm_random_init(&random, given->seed, INPUT_STREAM, 0);
  for (uint32_t i = 0; status == CM_OK && i < p->input_count; i++) {
    const cm_program_tensor *t = &p->tensors[p->inputs[i]];
    const cm_tensor *array = array_for(given, t->name);
    if (array != NULL && files[i] != NULL) {
      status = cm_fail(error, CM_BAD_REQUEST, "input %s is given as an array and by file %s", t->name, files[i]);
      continue;
    }
    if (array != NULL) { /* a copy: counting who shares one is not for several threads */
      status = cm_tensor_reshaped(memory, array, t->rank, t->dims, &inputs[i], error);
      continue;
    }
    if (files[i] != NULL) {
      status = cm_tensor_read(files[i], &(cm_tensor_wanted){t->name, i, t->type, t->rank, t->dims}, memory, &inputs[i], error);
      continue;
    }
    status = cm_tensor_new(memory, t->type, t->rank, t->dims, &inputs[i], error);
    if (status == CM_OK)
      cm_tensor_fill_random(inputs[i], &random);
    *any = *any == NULL ? t->name : *any;
  }
  cm_free((void *)files);
  return status;
}
